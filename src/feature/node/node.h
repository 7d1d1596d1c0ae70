/*
 * node.h
 *		The nodes of several servers that this one asks: rows of _sfflow.node, questions, answers.
 *
 * An SfTreeNode is no such node, but one of a JSON document that was parsed.
 */
#ifndef SF_FEATURE_NODE_H
#define SF_FEATURE_NODE_H

#include "db/table.h"
#include "store/feature.h"

/* A row of _sfflow.node */
typedef struct SfNode
{
	int			number;
	char	   *name;
	char	   *dsn;			/* NULL: it is this database */
} SfNode;

/* What a node has answered */
typedef struct SfNodeAnswer
{
	const SfNode *node;
	List	   *rows;			/* of char *; NULL: a null */
	char	   *error;			/* NULL: it has answered */
} SfNodeAnswer;

/* What a question takes */
typedef enum SfNodeEffort
{
	SF_NODE_READS,				/* the node reads, within sfflow.node_timeout */
	SF_NODE_WRITES,				/* the statement may write, and has more time */
	SF_NODE_WRITES_LONG			/* ... and has a day, but waits no longer for a lock */
} SfNodeEffort;

/* A question: a statement with one argument, $1, and one column, both of them JSON */
typedef struct SfNodeQuestion
{
	const char *statement;
	const char *argument;
	SfNodeEffort effort;
	bool		is_unnoted;		/* sf_nodes does not show who has answered it */
} SfNodeQuestion;

/* --- node_functions.c --- */
extern List *sf_node_list(void);

/* --- node_apply.c --- */
extern void sf_node_health(SfHealthPut put, void *arg);

/* --- node_link.c --- */
extern List *sf_node_ask(const List *nodes, const SfNodeQuestion *question);
extern char *sf_node_dsn_problem(const char *dsn);

/* --- node_seen.c: when each node has answered last --- */

typedef struct SfNodeSeen
{
	TimestampTz answered_at;	/* DT_NOBEGIN: never since the start of the server */
	TimestampTz failed_at;		/* likewise */
	char		error[200];
} SfNodeSeen;

extern void sf_node_seen_init(void);
extern void sf_node_note(int number, const char *error);
extern SfNodeSeen sf_node_seen(int number);
extern void sf_node_forget(int number);
extern void sf_node_forget_all(Oid database);

#endif							/* SF_FEATURE_NODE_H */
