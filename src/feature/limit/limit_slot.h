/*
 * limit_slot.h
 *		Slots of limits: locks by number, and the rows of those that are taken for longer
 *		than a transaction.
 */
#ifndef SF_FEATURE_LIMIT_SLOT_H
#define SF_FEATURE_LIMIT_SLOT_H

#include "feature/limit/limit.h"

/* What occupies a slot in this slice */
typedef enum SfOccupantKind
{
	SF_OCCUPANT_NONE,
	SF_OCCUPANT_EXECUTION,		/* an execution as a whole */
	SF_OCCUPANT_BRANCH			/* a branch, while it is in a state */
} SfOccupantKind;

/* The occupant of a slot in this slice: sf_occupant_branch and the like read what its kind has */
typedef struct SfOccupant
{
	SfOccupantKind kind;
	union
	{
		const struct SfDraft *draft;	/* EXECUTION */
		struct
		{
			const SfBranch *branch;
			int			state;	/* of the machine */
		}			in;			/* BRANCH */
	};
} SfOccupant;

/* The draft of an execution that occupies a slot. */
static inline const struct SfDraft *
sf_occupant_draft(const SfOccupant *occupant)
{
	Assert(occupant->kind == SF_OCCUPANT_EXECUTION);
	return occupant->draft;
}

/* A branch that occupies a slot. */
static inline const SfBranch *
sf_occupant_branch(const SfOccupant *occupant)
{
	Assert(occupant->kind == SF_OCCUPANT_BRANCH);
	return occupant->in.branch;
}

/* The state in which that branch does. */
static inline int
sf_occupant_state(const SfOccupant *occupant)
{
	Assert(occupant->kind == SF_OCCUPANT_BRANCH);
	return occupant->in.state;
}

/* A slot that this transaction has locked; SfLockedSlot is one of any, as the lock table has it */
typedef struct SfXactSlot
{
	SfQueue		queue;
	int			slot;
	int			level;			/* of the subtransaction that took it for its occupant */
	bool		used;			/* something occupies it, or did */
	bool		may_have_row;	/* a row may outlive the transaction */
	SfOccupant	occupant;
} SfXactSlot;

/* A slot that a branch occupies, as it was read */
typedef struct SfSlotRow
{
	SfQueue		queue;
	int			slot;
	SfBranchKey occupant;
	TransactionId written_by;	/* that inserted the row */
} SfSlotRow;

/* Slots of a queue that are given to many that run already */
typedef struct SfUncountedSlots
{
	Bitmapset  *rows;			/* had rows when that began */
	int			tried;			/* the last number that was tried */
} SfUncountedSlots;

extern SfXactSlot *sf_limit_slot_take(const SfLimit *limit, SfQueue queue);
extern void sf_limit_slot_unlock(SfXactSlot *slot);
extern SfXactSlot *sf_limit_xact_slots(int *n);
extern int	sf_limit_slot_highest(int64 limit_no);

extern void sf_limit_slot_store(SfXactSlot *slot, SfBranchKey occupant);
extern void sf_limit_slot_insert(SfQueue queue, int slot, SfBranchKey occupant);
extern bool sf_limit_slot_insert_free(const SfLimit *limit, SfQueue queue, SfBranchKey occupant);
extern int	sf_limit_slot_insert_above(const SfLimit *limit, SfQueue queue, SfBranchKey occupant);
extern SfUncountedSlots sf_limit_slots_uncounted(SfQueue queue);
extern int	sf_limit_slot_insert_uncounted(const SfLimit *limit, SfQueue queue, SfUncountedSlots *slots,
								   SfBranchKey occupant);
extern bool sf_limit_slot_has(SfBranchKey occupant, int64 limit_no);
extern bool sf_limit_slot_has_within(int64 execution_no, SfQueue queue);
extern List *sf_limit_slot_limits(int64 execution_no);
extern void sf_limit_slot_release(SfBranchKey key);
extern void sf_limit_slot_release_one(SfBranchKey key, int64 limit_no);
extern List *sf_limit_slot_branches(int64 limit_no);
extern bool sf_limit_slot_try_release(const SfSlotRow *row);
extern void sf_limit_slot_release_execution(int64 execution_no);
extern void sf_limit_slot_release_executions(SfArg numbers);
extern void sf_limit_slot_delete_of_limit(int64 limit_no);
extern void sf_limit_slot_delete_of_machine(int machine_no);
extern void sf_limit_slot_reap(void);

extern void sf_limit_slot_wake_at_commit(SfQueue queue, Oid owner);

/* sf_branch_is_inside (store/branch/branch.h) of a row b, in SQL; an argument of the query: SF_PHASES_INSIDE */
#define SF_LIMIT_SLOT_IS_OF(phases)	"b.phase = ANY (" phases ")"

#endif							/* SF_FEATURE_LIMIT_SLOT_H */
