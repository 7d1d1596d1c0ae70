/*
 * gate.h
 *		Whether a step may begin.
 */
#ifndef SF_RUN_GATE_H
#define SF_RUN_GATE_H

#include "run/apply.h"
#include "store/limit.h"

typedef enum SfGate
{
	SF_GATE_OPEN,
	SF_GATE_HELD,				/* the branch waits for the end of a hold */
	SF_GATE_LATER,				/* the hold is being released: the branch is due in a moment */
	SF_GATE_QUEUED,				/* the branch waits for a limit */
	SF_GATE_THROTTLED			/* a limit has the state fail */
} SfGate;

extern SfGate sf_gate_check(SfDraft *draft, SfBranch *branch, SfError *error);
extern bool sf_gate_takes_mark(const SfDraft *draft, const SfBranch *branch,
							   SfStimulus *stimulus);
extern void sf_gate_park_start(const char *schedule, const char *execution_id);

/* --- gate_holds.c --- */

extern int64 sf_gate_find_hold(const SfDraft *draft, const SfBranch *branch);
extern bool sf_gate_is_held_by(const SfDraft *draft, const SfBranch *branch, int64 hold_no);

/* --- gate_find.c --- */

/* A limit that applies to a step */
typedef struct SfWanted
{
	SfLimit		limit;
	SfQueue		queue;
	SfBranchKey holder;			/* execution_no not 0: a join that goes on without a slot, and is to have it */
} SfWanted;

/* What a Task state uses, by the names that holds and limits have */
typedef struct SfGateNames
{
	const char *resources[2];	/* as the definition has it, and as it is mapped */
	int			nresources;
	const char *activity;		/* NULL: none */
} SfGateNames;

extern void sf_gate_name_resources(const SfDraft *draft, const SfState *state, SfGateNames *names);
extern bool sf_gate_find_queue(const SfLimit *limit, const SfDraft *draft, const SfBranch *branch,
							   SfQueue *queue);
extern List *sf_gate_find_limits(const SfDraft *draft, const SfBranch *branch, bool *busy);
extern List *sf_gate_list_queues(const SfDraft *draft, const SfBranch *branch);

/* --- gate_limits.c --- */

extern SfGate sf_gate_check_limits(SfDraft *draft, SfBranch *branch, SfError *error);
extern bool sf_gate_shares(const SfExecution *execution, SfQueue queue);
extern void sf_gate_give_tokens_back(SfDraft *draft);
extern void sf_gate_keep_slots(void);
extern void sf_gate_queue_start(const SfExecution *execution, SfBranch *root);
extern bool sf_gate_has_room(SfQueue queue, const SfWaiting *head);

/* --- gate_queues.c --- */

/* How far a process has come in going through the queues, once around */
typedef struct SfQueueTurn
{
	Oid			owner;			/* whose queues are looked for; InvalidOid: of all roles */
	SfQueue		from;			/* where it began */
	SfQueue		read;			/* the last one that was found */
	bool		wrapped;		/* the last one of all was found */
	bool		ended;
} SfQueueTurn;

extern bool sf_gate_first_waiting(SfQueue queue, SfWaiting *head);
extern SfQueueTurn sf_gate_begin_turn(Oid owner);
extern int	sf_gate_next_queues(SfQueueTurn *turn, SfQueue *queues, Oid *owners, int size);
extern void sf_gate_end_turn(SfQueue queue);
extern SfTick sf_gate_tend(void);
extern SfTick sf_gate_ring_queues(void);

/* --- gate_adopt.c --- */

extern void sf_gate_set_limit(const SfLimit *limit);
extern SfTick sf_gate_count_late(void);
extern void sf_gate_move(SfDraft *draft);
extern void sf_gate_set_defined_limits(int machine_no, const char *machine, const SfProgram *program);

/* Does a phase end with the beginning of a step? */
static inline bool
sf_gate_stands_before(SfPhase phase)
{
	return phase == SF_PHASE_ENTER || phase == SF_PHASE_RUN || phase == SF_PHASE_ANNOUNCED;
}

#endif							/* SF_RUN_GATE_H */
