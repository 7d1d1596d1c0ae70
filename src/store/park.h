/*
 * park.h
 *		Branches that a feature keeps from going on: rows of _sfflow.held.
 */
#ifndef SF_STORE_PARK_H
#define SF_STORE_PARK_H

#include "store/branch.h"

/* Columns of _sfflow.held; see sql/parts/10-tables.sql. */
#define SF_HELD_COLUMNS(X) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(int64, branch_no, INT8, NOT_NULL) \
	X(char *, feature, TEXT, NOT_NULL) \
	X(int64, object_no, INT8, NOT_NULL) \
	X(int64, queue, INT8, NULL_IS(0)) \
	X(TimestampTz, rank, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, since, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))

/* The phases in which a branch is parked */
#define SF_WAITING_PHASES	SF_INT2S(SF_PHASE_ENTER, SF_PHASE_RUN, SF_PHASE_ANNOUNCED, SF_PHASE_NET)

/* A branch that is parked */
typedef struct SfParked
{
	SfBranchKey key;
	const char *feature;		/* its name */
	int64		object_no;		/* what keeps the branch, by the feature's number of it */
	int64		queue;			/* 0: it is in none */
} SfParked;

extern void sf_park_branch(SfBranchKey key, const char *feature, int64 object_no);
extern const char *sf_park_feature(SfBranchKey key);
extern List *sf_park_list(int64 execution_no);
extern List *sf_park_list_of(int machine_no, Oid owner);

/* The columns of a row that is listed */
#define SF_PARKED	"w.execution_no, w.branch_no, w.feature, w.object_no, w.queue"

/* What waits for objects of roles that have no rights of the machine's owner, or not any more: a query */
#define SF_PARKED_OF_OTHERS(feature, table, number) \
	"SELECT " SF_PARKED " FROM _sfflow." table " x" \
	" JOIN _sfflow.held w ON w.object_no = x." number " AND w.feature = '" feature "'" \
	" JOIN _sfflow.execution e ON e.execution_no = w.execution_no" \
	" JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no" \
	" WHERE NOT pg_catalog.pg_has_role(x.owner::pg_catalog.oid, m.owner::pg_catalog.oid, 'USAGE')" \
	" ORDER BY w.execution_no, w.branch_no"

extern List *sf_park_list_by(SfPlan *plan);
extern bool sf_park_end(SfBranchKey key, TimestampTz *since);
extern void sf_park_check_unchanged(const char *feature, int64 object_no);
extern int64 sf_park_release(const char *feature, int64 object_no, bool queued);

/* --- in queues --- */

/* A queue: what waits for one limit with one value of its key */
typedef struct SfQueue
{
	int64		limit_no;
	int64		hash;			/* of the value */
} SfQueue;

/* Are two queues the same? */
static inline bool
sf_park_queue_equals(SfQueue a, SfQueue b)
{
	return a.limit_no == b.limit_no && a.hash == b.hash;
}

/* Does a queue come behind another one in the order of sf_park_queues? */
static inline bool
sf_park_queue_is_behind(SfQueue a, SfQueue b)
{
	return a.limit_no > b.limit_no || (a.limit_no == b.limit_no && a.hash > b.hash);
}

/* A branch that waits in a queue */
typedef struct SfWaiting
{
	SfBranchKey key;
	Oid			owner;
	bool		waits;			/* false: its row is left over */
	bool		announced;		/* its task is announced */
	TimestampTz rank;
	TransactionId made_by;		/* has written its row */
} SfWaiting;

/* Where a branch waits: since when, and in which order */
typedef struct SfRank
{
	TimestampTz rank;			/* 0: none yet */
	TimestampTz since;
} SfRank;

/* How many branches of a queue are read at once */
typedef enum SfHeads
{
	SF_HEADS_FIRST = 1,
	SF_HEADS_FEW = 4,
	SF_HEADS_MANY = 64
} SfHeads;

extern void sf_park_in_queue(SfBranchKey key, const char *feature, SfQueue queue, SfRank rank);
extern bool sf_park_leave_queue(SfBranch *branch);
extern void sf_park_release_within(SfQueue queue, int64 execution_no);
extern bool sf_park_release_execution(const char *feature, int64 execution_no);
extern void sf_park_release_children(int64 execution_no);
extern int	sf_park_heads(SfQueue queue, const SfWaiting *after, SfWaiting *heads, SfHeads size);
extern void sf_park_forget_left_over(const SfWaiting *row);
extern bool sf_park_any_queued(void);
extern int64 sf_park_greatest_queue(void);
extern bool sf_park_is_queued(SfQueue queue);
extern int	sf_park_queues(SfQueue after, SfQueue *queues, Oid *owners, int size);
extern int	sf_park_queued_of(int64 execution_no, SfBranchKey *keys, SfQueue *queues, int size);

#endif							/* SF_STORE_PARK_H */
