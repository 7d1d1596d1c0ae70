/*
 * gate.h
 *		Whether a step may begin.
 */
#ifndef SF_RUN_GATE_H
#define SF_RUN_GATE_H

#include "run/draft/draft.h"
#include "store/feature.h"

extern SfGateVerdict sf_gate_admit(SfDraft *draft, SfBranch *branch, SfError *error);
extern SfGateVerdict sf_gate_put_off(SfDraft *draft, SfBranch *branch, int ms);
extern bool sf_gate_take_mark(const SfDraft *draft, const SfBranch *branch, SfStimulus *stimulus);

/* Names that a Task state uses, at most; of events beyond that the limits do not count */
#define SF_GATE_NAMES	20

/* What a Task state uses, by the names that holds and limits have */
typedef struct SfGateNames
{
	const char *resources[SF_GATE_NAMES];	/* as the definition has it, and as it is mapped; each event that it waits for */
	int			nresources;
	const char *activity;		/* NULL: none */
} SfGateNames;

extern void sf_gate_name_resources(Oid owner, const SfState *state, SfGateNames *names);
/* --- gate_recheck.c --- */

extern void sf_gate_recheck_branches(SfDraft *draft);
extern void sf_gate_recheck_machine(int machine_no);
extern void sf_gate_recheck_owner(Oid owner);
extern SfTick sf_gate_recheck_roles(void);

/* --- gate_queues.c --- */

/* Which queues a round is at, of those in their order */
typedef enum SfRoundPart
{
	SF_ROUND_PART_BEHIND,		/* those behind the one where it began */
	SF_ROUND_PART_UP_TO,		/* from the first one of all up to that */
	SF_ROUND_PART_OVER			/* all were found */
} SfRoundPart;

/* How far a process has come in going through the queues, once around */
typedef struct SfQueueRound
{
	Oid			owner;			/* whose queues are looked for; InvalidOid: of all roles */
	SfQueue		from;			/* where it began */
	SfQueue		read;			/* the last one that was found */
	SfRoundPart part;
} SfQueueRound;

extern bool sf_gate_find_first(SfQueue queue, SfQueuedBranch *first);
extern SfQueueRound sf_gate_begin_round(Oid owner);
extern int	sf_gate_next_queues(SfQueueRound *round, SfQueue *queues, Oid *owners, int size);
extern void sf_gate_end_round(SfQueue queue);
extern bool sf_gate_has_room(SfQueue queue, const SfQueuedBranch *first);
extern SfTick sf_gate_tend(void);
extern SfTick sf_gate_wake_queues(void);

#endif							/* SF_RUN_GATE_H */
