/*
 * hold.h
 *		Holds: the table, a copy of it in each backend, and the branches that wait.
 */
#ifndef SF_STORE_HOLD_H
#define SF_STORE_HOLD_H

#include "store/branch.h"

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

extern bool sf_hold_is_current;
extern int	sf_hold_count;

extern void sf_hold_accept_changes(void);
extern const SfHold *sf_hold_all(void);

/*
 * Tell whether there may be holds.  A hold that was committed before this call is seen.
 * Costs some nanoseconds where there is none.
 */
static inline bool
sf_hold_may_be(void)
{
	sf_hold_accept_changes();
	return !sf_hold_is_current || sf_hold_count > 0;
}

extern const SfHold *sf_hold_of(SfHoldKind kind, const char *name);
extern bool sf_hold_share(int64 hold_no);

/* --- the tables --- */

extern bool sf_hold_insert(const SfHold *hold, const char *reason);
extern List *sf_hold_find(const SfHold *target, bool of_all);
extern void sf_hold_park(SfBranchKey key, int64 hold_no);
extern int64 sf_hold_release(int64 hold_no);
extern List *sf_hold_list(SfHoldKind kind, const char *name);

#endif							/* SF_STORE_HOLD_H */
