/*
 * feature_gate.h
 *		What a feature does at the gate, where a branch is before a step: gates, holds, and queues of what waits there.
 */
#ifndef SF_STORE_FEATURE_GATE_H
#define SF_STORE_FEATURE_GATE_H

#include "base/error/errors.h"
#include "base/time/clock.h"
#include "store/branch/park.h"
#include "store/role/object_kind.h"

struct SfDraft;
struct SfStimulus;

/* What becomes of a branch that is about to begin a step */
typedef enum SfGateVerdict
{
	SF_GATE_OPEN,
	SF_GATE_HELD,				/* the branch waits for the end of a hold */
	SF_GATE_HOLD_CHANGES,		/* the hold is being released: the branch is due in a moment */
	SF_GATE_PUT_OFF,			/* a feature cannot tell yet: the branch is due in a moment */
	SF_GATE_LEFT,				/* the branch is left to another slice, since this one runs no more user code */
	SF_GATE_WAITS,				/* the branch waits in a queue, or in a line */
	SF_GATE_THROTTLED			/* the state is to fail */
} SfGateVerdict;

/* Does a branch go on at a gate, with its step or with a failure? */
static inline bool
sf_gate_lets_pass(SfGateVerdict gate)
{
	return gate == SF_GATE_OPEN || gate == SF_GATE_THROTTLED;
}

/* Whether the object that a branch is parked for still applies to it */
typedef enum SfParking
{
	SF_PARKING_OVER,
	SF_PARKING_APPLIES,
	SF_PARKING_GONE				/* the object is there no more */
} SfParking;

/* A feature that may have a branch wait before its step, or fail */
typedef struct SfFeatureGate
{
	const char *waiting_word;	/* what waiting_on says of a branch that the feature has parked */

	/*
	 * A branch is about to begin a step.  Only its row is locked, and user code may follow: locks are tried, never
	 * waited for.  The caller has read the clock, then taken in changes of others.  If the branch has to
	 * wait, it is changed to do so; or the state fails, with *error.  A feature that takes something, such
	 * as a slot, is the last of the list: none behind it may refuse.  What it takes it notes in the draft (taken).
	 */
	SfGateVerdict (*admit) (struct SfDraft *draft, SfBranch *branch, SfError *error);

	/* Does the object that the feature has parked a branch for still apply to it? */
	SfParking	(*still_parks) (const struct SfDraft *draft, const SfBranch *branch, const SfParked *parked);

	/* --- each of the others may be NULL --- */

	/*
	 * The rights of roles have changed: what the feature has parked of machines of whose owners the roles have no
	 * rights whose objects these are, a List of SfParked.
	 */
	List	   *(*parked_of_others) (void);

	/* ... and apply what else follows from them; false: not all, since another session has locked some of it. */
	bool		(*apply_roles) (void);

	/*
	 * A machine (or SF_ALL_MACHINES) has another owner, or other mappings have those with whose owners' rights a role
	 * acts (InvalidOid: all): what runs of them comes under what is for it now.
	 */
	void		(*on_uses_changed) (int machine_no, Oid owner);

	/* The branches of an execution that runs, locked, are at other states or resources: after on_states_renamed. */
	void		(*on_states_changed) (struct SfDraft *draft);
} SfFeatureGate;

/* Holds and marks, by which operators steer, are one feature's; it has a gate, too. */
typedef struct SfFeatureHolds
{
	/* A branch may begin a step: take the operator's mark of its job, if there is one; *stimulus then says how. */
	bool		(*take_mark) (const struct SfDraft *draft, const SfBranch *branch, struct SfStimulus *stimulus);

	/* Is an object held, so that it gives no work away? */
	bool		(*is_held) (SfObjectKind kind, const char *name);

	/* A schedule has started an execution in this transaction. */
	void		(*on_scheduled) (const char *schedule, const char *execution_id);
} SfFeatureHolds;

/*
 * Queues of parked branches (park.h) are one feature's; it has a gate, too.  For each branch that it lets begin, from a
 * queue or not, it takes something, such as a slot.
 */
typedef struct SfFeatureQueues
{
	/* Take what the first branch of a queue needs to begin; false: it has to wait longer. */
	bool		(*take_first) (SfQueue queue, const SfQueuedBranch *first);

	/* Whose branches alone are in a queue; InvalidOid: of all */
	Oid			(*owner_of) (SfQueue queue);

	/*
	 * With each scan for everything due: mend what errors and crashes have left.  Returns when to do so again before
	 * the next poll.
	 */
	SfTick		(*tend) (void);

	/* Tell a queue, once the transaction has committed and what it has taken is free, that something waits. */
	void		(*wake_at_commit) (SfQueue queue, Oid owner);

	/* The task of a step is announced, for a transaction of its own: what only its run needs is given back. */
	void		(*on_announced) (struct SfDraft *draft);

	/* A slice has done its work, and is written next, with what it has taken. */
	void		(*on_slice_ending) (void);

	/* Branches that may have crashed the server are about to run one by one. */
	void		(*on_suspects_running) (void);
} SfFeatureQueues;

#endif							/* SF_STORE_FEATURE_GATE_H */
