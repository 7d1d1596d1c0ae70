/*
 * park.h
 *		Branches that a feature keeps from going on: rows of _sfflow.parked.
 */
#ifndef SF_STORE_PARK_H
#define SF_STORE_PARK_H

#include "store/branch/branch.h"

/*
 * How a branch is parked: symbol, number, which is the kind of its row.  What is in a queue comes in the order of the
 * kinds; AHEAD is what has had its turn there and waits for something else.
 *
 *	FOR_OBJECT	until an object of the feature lets it go, as a hold
 *	IN_LINE		until it is the turn of its execution, which the feature's own rows tell
 *	AHEAD		in a queue of an object of the feature, before all that is QUEUED there
 *	QUEUED		in such a queue
 */
#define SF_PARKED_LIST(X) \
	X(FOR_OBJECT, 0) \
	X(IN_LINE, 1) \
	X(AHEAD, 2) \
	X(QUEUED, 3)

#define SF_PARKED_ENUM(sym, number) SF_PARKED_##sym = (number),
typedef enum SfParkedKind
{
	SF_PARKED_LIST(SF_PARKED_ENUM)
} SfParkedKind;

/* Columns of _sfflow.parked; see sql/parts/store/branch.sql. */
#define SF_PARKED_COLUMNS(X) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(int64, branch_no, INT8, NOT_NULL) \
	X(char *, feature, TEXT, NOT_NULL) \
	X(int64, object_no, INT8, NULL_IS(SF_NO_QUEUE_OBJECT))	/* IN_LINE: none */ \
	X(int64, queue, INT8, NULL_IS(SF_NO_QUEUE_HASH))	/* no queue, by kind */ \
	X(TimestampTz, as_if_since, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* no queue */ \
	X(TimestampTz, since, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* no queue */ \
	X(SfParkedKind, kind, INT2, NOT_NULL)

/* sf_branch_is_parked of a row b, in SQL; an argument of the query, which is SF_PARKED_PLACE */
#define SF_IS_PARKED(place)	"b.place = " place
#define SF_PARKED_PLACE		SF_INT2(SF_BRANCH_PLACE_PARKED)

/* sf_parked_in_queue of a row w, in SQL: as the partial indexes on the rows in queues have it, not by the kind */
#define SF_IS_IN_QUEUE		"w.queue IS NOT NULL"

/* A branch that is parked.  Read the queue by sf_parked_object_no and sf_parked_queue. */
typedef struct SfParked
{
	SfBranchKey key;
	const char *feature;		/* its name */
	SfParkedKind kind;
	SfQueue		queue;			/* FOR_OBJECT: without a hash; IN_LINE: SF_NO_QUEUE */
} SfParked;

/* Is what is parked so in a queue? */
static inline bool
sf_parked_in_queue(SfParkedKind kind)
{
	return kind == SF_PARKED_AHEAD || kind == SF_PARKED_QUEUED;
}

/* What keeps a branch that waits for an object or in a queue of it, by the feature's number of it. */
static inline int64
sf_parked_object_no(const SfParked *parked)
{
	Assert(parked->kind != SF_PARKED_IN_LINE);
	return parked->queue.object_no;
}

/* The queue in which a branch waits. */
static inline SfQueue
sf_parked_queue(const SfParked *parked)
{
	Assert(sf_parked_in_queue(parked->kind));
	return parked->queue;
}

extern void sf_park_for_object(SfBranch *branch, const char *feature, int64 object_no);
extern void sf_park_in_line(SfBranch *branch, const char *feature);
extern const char *sf_park_feature(SfBranchKey key);
extern List *sf_park_list(int64 execution_no);
extern List *sf_park_list_of(int machine_no, Oid owner);

/* The columns of a row that is listed */
#define SF_PARKED_SELECT	"w.execution_no, w.branch_no, w.feature, w.object_no, w.queue, w.kind"

/* What waits for objects for roles (for_owner) that have no rights of the machine's owner, or not any more: a query */
#define SF_PARKED_OF_OTHERS(feature, table, number) \
	"SELECT " SF_PARKED_SELECT " FROM _sfflow." table " x" \
	" JOIN _sfflow.parked w ON w.object_no = x." number " AND w.feature = '" feature "'" \
	" JOIN _sfflow.execution e ON e.execution_no = w.execution_no" \
	" JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no" \
	" WHERE NOT pg_catalog.pg_has_role(x.for_owner::pg_catalog.oid, m.owner::pg_catalog.oid, 'USAGE')" \
	" ORDER BY w.execution_no, w.branch_no"

extern List *sf_park_list_by(SfPlan *plan);
extern bool sf_park_end(SfBranch *branch);
extern void sf_park_check_unchanged(const char *feature, int64 object_no);

/* Parked branches are due again, each for a reason of its own; each branch asks anew whether it may go on */
extern int64 sf_park_unpark_object(const char *feature, int64 object_no);
extern void sf_park_unpark_queues(const char *feature, int64 object_no);
extern int64 sf_park_unpark_next(const char *feature, int64 execution_no);
extern void sf_park_unpark_within(SfQueue queue, int64 execution_no);
extern void sf_park_unpark_items(int64 execution_no);

extern int64 sf_park_count(const char *feature, int64 execution_no);
extern void sf_park_unpark_arrived(const Jsonb *keys);

/* --- in queues --- */

/* Does a queue come behind another one in the order of sf_park_queues? */
static inline bool
sf_park_queue_is_behind(SfQueue a, SfQueue b)
{
	return a.object_no > b.object_no || (a.object_no == b.object_no && a.hash > b.hash);
}

/* Where in a queue a branch waits, and since when */
typedef struct SfQueueOrder
{
	SfParkedKind kind;			/* AHEAD, or QUEUED; then */
	TimestampTz as_if_since;	/* in the order of this time: it comes as if it had waited since then */
	TimestampTz since;			/* when it could have begun */
} SfQueueOrder;

/* What a branch waits for room for, in a queue */
typedef enum SfQueuedFor
{
	SF_QUEUED_FOR_NOTHING,		/* it does not wait: its row is left over */
	SF_QUEUED_FOR_STEP,			/* its next step, which a slice begins */
	SF_QUEUED_FOR_TASK			/* its task, which is announced */
} SfQueuedFor;

/* A branch that has a row in a queue */
typedef struct SfQueuedBranch
{
	SfBranchKey key;
	Oid			owner;
	SfQueuedFor waits_for;
	SfParkedKind kind;			/* AHEAD, or QUEUED; then */
	TimestampTz as_if_since;	/* in this order */
	TransactionId made_by;		/* has written its row */
} SfQueuedBranch;

/* Does a branch with some order come before one that waits, in the order of their queue? */
static inline bool
sf_park_is_before(SfQueueOrder order, const SfQueuedBranch *other)
{
	return order.kind != other->kind ? order.kind < other->kind : order.as_if_since < other->as_if_since;
}

/* How many branches of a queue are read at once: symbol, number */
#define SF_FRONT_LIST(X) \
	X(FIRST, 1) \
	X(FEW, 4) \
	X(MANY, 64)

#define SF_FRONT_ENUM(sym, number) SF_FRONT_##sym = (number),
typedef enum SfFront
{
	SF_FRONT_LIST(SF_FRONT_ENUM)
} SfFront;

extern void sf_park_in_queue(SfBranch *branch, const char *feature, SfQueue queue, SfQueueOrder order);
extern bool sf_park_leave_queue(SfBranch *branch);
extern int	sf_park_front(SfQueue queue, const SfQueuedBranch *after, SfQueuedBranch *front, SfFront size);
extern void sf_park_delete_left_over(const SfQueuedBranch *row);
extern bool sf_park_is_any_queued(void);
extern int64 sf_park_greatest_queue(void);
extern bool sf_park_is_queued(SfQueue queue);
extern int	sf_park_queues(SfQueue after, SfQueue *queues, Oid *owners, int size);
extern int	sf_park_queued_of(int64 execution_no, SfBranchKey *keys, SfQueue *queues, int size);

#endif							/* SF_STORE_PARK_H */
