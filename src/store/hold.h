/*
 * hold.h
 *		Holds: the table, a copy of it in each backend, and the branches that wait.
 */
#ifndef SF_STORE_HOLD_H
#define SF_STORE_HOLD_H

#include "store/branch.h"
#include "store/keyed_copy.h"

/* Kinds of targets: symbol, name as stored */
#define SF_HOLD_LIST(X) \
	X(MACHINE, "machine") \
	X(EXECUTION, "execution") \
	X(SCHEDULE, "schedule") \
	X(ACTIVITY, "activity") \
	X(RESOURCE, "resource")

#define SF_HOLD_ENUM(sym, name) SF_HOLD_##sym,
typedef enum SfHoldKind
{
	SF_HOLD_LIST(SF_HOLD_ENUM)
} SfHoldKind;

/* Columns of _sfflow.held; see sql/parts/15-holds.sql. */
#define SF_HELD_COLUMNS(X) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(int64, branch_no, INT8, NOT_NULL) \
	X(int64, hold_no, INT8, NULL_IS(0)) \
	X(int64, limit_no, INT8, NULL_IS(0)) \
	X(int64, queue, INT8, NULL_IS(0)) \
	X(TimestampTz, rank, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, since, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))

typedef struct SfHold
{
	int64		hold_no;
	SfHoldKind	kind;
	const char *name;
	const char *state;			/* "": all */
	int			machine_no;		/* 0: none */
	int64		execution_no;	/* 0: none */
	Oid			owner;			/* of a resource; InvalidOid: for all machines */
} SfHold;

/* --- the copy --- */

extern SfKeyedCopy sf_hold_copy;

#define sf_hold_is_current	(sf_hold_copy.copy.is_current)

extern void sf_hold_accept_changes(void);
extern const SfHold *sf_hold_by_number(int64 hold_no);
extern const List *sf_hold_of_machine(int machine_no);
extern const List *sf_hold_of_name(SfHoldKind kind, const char *name);

/*
 * Tell whether there may be holds.  A hold that was committed before this call is seen.
 * Costs some nanoseconds where there is none.
 */
static inline bool
sf_hold_may_be(void)
{
	sf_hold_accept_changes();
	return sf_keyed_copy_may_be(&sf_hold_copy);
}

extern const SfHold *sf_hold_of(SfHoldKind kind, const char *name);
extern bool sf_hold_share(int64 hold_no);

/* --- the tables --- */

/* A branch that waits for the end of a hold, or (hold_no 0) in a queue of a limit */
typedef struct SfParked
{
	int64		branch_no;
	int64		hold_no;
	int64		limit_no;
	int64		queue;
} SfParked;

extern void sf_hold_begin_of_execution(int64 execution_no);
extern void sf_hold_end_of_execution(int64 execution_no);
extern bool sf_hold_is_beginning(int64 execution_no);
extern bool sf_hold_insert(const SfHold *hold, const char *reason);
extern List *sf_hold_find(const SfHold *target, bool of_all);
extern void sf_hold_park(SfBranchKey key, int64 hold_no);
extern List *sf_hold_list_parked(int64 execution_no);
extern bool sf_hold_unpark(SfBranchKey key, TimestampTz *since);
extern int64 sf_hold_release(int64 hold_no);
extern void sf_hold_pass_on(Oid from, Oid to);
extern void sf_hold_rename_states(int machine_no, int64 execution_no, const Jsonb *renames);
extern List *sf_hold_list(SfHoldKind kind, const char *name);

#endif							/* SF_STORE_HOLD_H */
