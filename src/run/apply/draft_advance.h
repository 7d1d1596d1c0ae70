/*
 * draft_advance.h
 *		One transition of a branch: load what it needs, call the core, pass its effects on.
 */
#ifndef SF_RUN_DRAFT_ADVANCE_H
#define SF_RUN_DRAFT_ADVANCE_H

#include "run/draft/draft.h"

extern SfTransition *sf_draft_advance(SfDraft *draft, SfBranch *branch,
									  const SfStimulus *stimulus);
extern void sf_draft_end_execution(SfDraft *draft, SfStimulusKind kind, const SfError *error);

#endif							/* SF_RUN_DRAFT_ADVANCE_H */
