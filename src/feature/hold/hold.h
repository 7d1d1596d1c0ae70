/*
 * hold.h
 *		Holds: the table, and a cache of it in each backend.
 */
#ifndef SF_FEATURE_HOLD_H
#define SF_FEATURE_HOLD_H

#include "db/keyed_cache.h"
#include "store/feature.h"

/* What a hold is of by a name, without a machine or an execution: the words are in a CHECK of its table */
#define SF_OBJECTS_NAMED SF_OBJECT_ACTIVITY, SF_OBJECT_EVENT, SF_OBJECT_WORKLIST, SF_OBJECT_SCHEDULE, SF_OBJECT_RESOURCE

/* hold_no: there is none */
#define SF_NO_HOLD	0

typedef struct SfHold
{
	int64		hold_no;
	SfObjectKind kind;
	const char *name;
	const char *state;			/* NULL: all */
	int			machine_no;		/* or SF_NO_MACHINE */
	int64		execution_no;	/* or SF_NO_EXECUTION */
	Oid			for_owner;		/* of a resource: for this role's machines; InvalidOid: all */
} SfHold;

/* --- the cache --- */

extern SfKeyedCache sf_hold_cache;

#define sf_hold_is_current	(sf_hold_cache.cache.is_current)

extern const SfHold *sf_hold_by_number(int64 hold_no);
extern const List *sf_hold_of_machine(int machine_no);
extern const List *sf_hold_of_name(SfObjectKind kind, const char *name);

/*
 * Tell whether there may be holds.  A hold that was committed before this call is seen.
 * Costs some nanoseconds where there is none.
 */
static inline bool
sf_hold_may_be(void)
{
	sf_table_cache_accept_changes();
	return sf_keyed_cache_may_be(&sf_hold_cache);
}

extern const SfHold *sf_hold_of(SfObjectKind kind, const char *name);
extern bool sf_hold_share(int64 hold_no);

/* Are objects of a kind held for all by their names alone?  Those of resources may be for one role's machines. */
static inline bool
sf_hold_is_of_name(SfObjectKind kind)
{
	static const SfObjectKind named[] = {SF_OBJECTS_NAMED};

	for (size_t i = 0; i < lengthof(named); i++)
		if (named[i] == kind)
			return kind != SF_OBJECT_RESOURCE;
	return false;
}

/* --- the tables --- */

extern void sf_hold_begin_of_execution(int64 execution_no);
extern void sf_hold_end_of_execution(int64 execution_no);
extern bool sf_hold_is_beginning(int64 execution_no);
extern bool sf_hold_insert(const SfHold *hold, const char *reason);
extern List *sf_hold_find(const SfHold *target, bool of_all);
extern int64 sf_hold_release(int64 hold_no);
extern void sf_hold_pass_on(Oid from, Oid to);
extern void sf_hold_rename_states(int machine_no, int64 execution_no, const Jsonb *renames);
extern List *sf_hold_list(SfObjectKind kind, const char *name);

/* --- hold_gate.c --- */

extern SfGateVerdict sf_hold_admit(struct SfDraft *draft, SfBranch *branch, SfError *error);
extern SfParking sf_hold_still_parks(const struct SfDraft *draft, const SfBranch *branch, const SfParked *parked);
extern void sf_hold_scheduled(const char *schedule, const char *execution_id);

#endif							/* SF_FEATURE_HOLD_H */
