/*
 * gate.h
 *		Whether a step may begin.
 */
#ifndef SF_RUN_GATE_H
#define SF_RUN_GATE_H

#include "run/apply.h"

typedef enum SfGate
{
	SF_GATE_OPEN,
	SF_GATE_HELD,				/* the branch waits for the end of a hold */
	SF_GATE_LATER				/* the hold is being released: the branch is due in a moment */
} SfGate;

extern SfGate sf_gate_check(SfDraft *draft, SfBranch *branch);
extern bool sf_gate_takes_mark(const SfDraft *draft, const SfBranch *branch,
							   SfStimulus *stimulus);
extern void sf_gate_park_start(const char *schedule, const char *execution_id);

/* Does a phase end with the beginning of a step? */
static inline bool
sf_gate_stands_before(SfPhase phase)
{
	return phase == SF_PHASE_ENTER || phase == SF_PHASE_RUN || phase == SF_PHASE_ANNOUNCED;
}

#endif							/* SF_RUN_GATE_H */
