/*
 * gate.h
 *		Whether a step may begin.
 */
#ifndef SF_RUN_GATE_H
#define SF_RUN_GATE_H

#include "run/apply.h"
#include "store/feature.h"

extern SfGate sf_gate_check(SfDraft *draft, SfBranch *branch, SfError *error);
extern bool sf_gate_settles(const SfDraft *draft, const SfBranch *branch, SfStimulus *stimulus);

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
/* --- gate_settle.c --- */

extern void sf_gate_move(SfDraft *draft);
extern void sf_gate_settle_machine(int machine_no);
extern void sf_gate_settle_owner(Oid owner);
extern SfTick sf_gate_settle_roles(void);

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
extern bool sf_gate_has_room(SfQueue queue, const SfWaiting *head);
extern SfTick sf_gate_tend(void);
extern SfTick sf_gate_wake_queues(void);

#endif							/* SF_RUN_GATE_H */
