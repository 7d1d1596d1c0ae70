/*
 * home.h
 *		Executions in a cluster of Citus: each node is a complete sfflow, and an execution lives on the node where its
 *		key is at home.
 *
 * The key is a value of the column by which a table of Citus is distributed.  The table sf_home, with a row per
 * key, is distributed beside the data of the users: the node of the key's shard is the home of the key.  What an
 * execution does with the rows of its key is then local to its transaction.
 */
#ifndef SF_FEATURE_HOME_H
#define SF_FEATURE_HOME_H

#include "asl/program.h"
#include "copy/instance.h"
#include "json/json.h"
#include "store/execution/execution.h"
#include "store/feature.h"

/* Characters that a key may have */
#define SF_MAX_HOME_KEY	256

/* Where a key is at home, seen from this node */
typedef enum SfHomePlace
{
	SF_HOME_UNKNOWN,			/* there is no sf_home, or it is not distributed */
	SF_HOME_HERE,
	SF_HOME_ELSEWHERE
} SfHomePlace;

/* The number by which Citus knows a node; "node" in sf_home and in messages */
typedef int SfCitusGroup;

#define SF_NO_GROUP	(-1)

/* The home of a key; UNKNOWN: the others say nothing */
typedef struct SfHome
{
	SfHomePlace place;
	SfCitusGroup group;
	char	   *host;
	int			port;
} SfHome;

/* Where the executions of a key are */
typedef struct SfHomeRow
{
	bool		found;			/* the key has a row */
	SfCitusGroup group;
	SfCitusGroup from_group;	/* some are still there; or SF_NO_GROUP */
} SfHomeRow;

/* --- Citus (citus.c) --- */

extern void sf_home_init(void);
extern bool sf_home_has_citus(void);
extern Oid	sf_home_table(void);
extern uint64 sf_home_changes(void);
extern SfHome sf_home_find(const char *key);
extern char *sf_home_local_key(void);
extern int	sf_home_node_number(void);

/* --- rows of sf_home (home_row.c) --- */

extern bool sf_home_tells(void);
extern SfHomeRow sf_home_row_find(const char *key);
extern void sf_home_row_set(const char *key, SfCitusGroup group, SfCitusGroup from_group);
extern List *sf_home_keys_to_move(SfCitusGroup group);
extern SfCitusGroup sf_home_group(void);
extern char *sf_home_dsn(SfCitusGroup group);
extern void sf_home_lock(const char *key, bool shared);
extern bool sf_home_claim_known(const char *key);
extern void sf_home_claim(const char *key, SfCitusGroup here, uint64 changes);

/* --- keys of executions (execution_key.c) --- */

extern void *sf_home_compile_options(const Jsonb *options, const SfProgram *program);
extern int	sf_home_option;		/* the number of what is compiled; the registry sets it */
extern void sf_home_prepare(SfExecution *execution, const void *option);
extern void sf_home_beginning(const SfExecution *execution, SfBranch *root);
extern void sf_home_keep(int64 execution_no);

#endif							/* SF_FEATURE_HOME_H */
