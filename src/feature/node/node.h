/*
 * node.h
 *		The nodes of several servers that this one asks: rows of _sfflow.node, questions, answers.
 *
 * A node is an SfPeer here; an SfTreeNode is one of a JSON document that was parsed.
 */
#ifndef SF_FEATURE_NODE_H
#define SF_FEATURE_NODE_H

#include "db/table.h"
#include "store/feature.h"

/* A row of _sfflow.node */
typedef struct SfPeer
{
	int			number;
	char	   *name;
	char	   *dsn;			/* NULL: it is this database */
} SfPeer;

/* What a node has answered */
typedef struct SfPeerAnswer
{
	const SfPeer *node;
	List	   *rows;			/* of char *; NULL: a null */
	char	   *error;			/* NULL: it has answered */
} SfPeerAnswer;

/* What a question takes */
typedef enum SfPeerEffort
{
	SF_PEER_READS,				/* the node reads, within sfflow.node_timeout */
	SF_PEER_WRITES,				/* the statement may write, and has more time */
	SF_PEER_WRITES_LONG			/* ... and has a day, but waits no longer for a lock */
} SfPeerEffort;

/* A question: a statement with one argument, $1, and one column, both of them JSON */
typedef struct SfPeerQuestion
{
	const char *statement;
	const char *argument;
	SfPeerEffort effort;
	bool		is_unnoted;		/* sf_nodes does not show who has answered it */
} SfPeerQuestion;

/* --- node_functions.c --- */
extern List *sf_peer_list(void);

/* --- node_apply.c --- */
extern void sf_peer_health(SfHealthPut put, void *arg);

/* --- node_link.c --- */
extern List *sf_peer_ask(const List *nodes, const SfPeerQuestion *question);
extern char *sf_peer_dsn_problem(const char *dsn);

/* --- node_seen.c: when each node has answered last --- */

typedef struct SfPeerSeen
{
	TimestampTz answered_at;	/* DT_NOBEGIN: never since the start of the server */
	TimestampTz failed_at;		/* likewise */
	char		error[200];
} SfPeerSeen;

extern void sf_peer_seen_init(void);
extern void sf_peer_note(int number, const char *error);
extern SfPeerSeen sf_peer_seen(int number);
extern void sf_peer_forget(int number);
extern void sf_peer_forget_all(Oid database);

#endif							/* SF_FEATURE_NODE_H */
