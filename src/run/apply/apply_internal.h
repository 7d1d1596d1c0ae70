/*
 * apply_internal.h
 *		Effects that apply.c has carried out in other files.  Private to src/run/apply/.
 *
 * Each function gets the draft, the branch with its new value, and the member of
 * the effect.
 */
#ifndef SF_RUN_APPLY_INTERNAL_H
#define SF_RUN_APPLY_INTERNAL_H

#include "run/apply/apply.h"
#include "transition/state/map_state.h"

/* --- apply_task.c --- */

extern void sf_effect_hand_out_task(SfDraft *draft, const SfBranch *branch, SfTask *task);
extern void sf_effect_update_task(SfDraft *draft, const SfBranch *branch, SfTask *task);
extern void sf_effect_close_task(SfDraft *draft, const SfBranch *branch, SfTask *task);
extern void sf_effect_stop_nested(SfDraft *draft, const SfBranch *branch, SfNoValue none);
extern void sf_apply_tasks(SfDraft *draft);

/* --- apply_map_run.c --- */

extern void sf_effect_begin_map_run(SfDraft *draft, const SfBranch *branch, SfMapRunBegin begin);
extern void sf_effect_begin_item_execution(SfDraft *draft, const SfBranch *branch, SfItemExecution *item_execution);
extern void sf_effect_end_map_run(SfDraft *draft, const SfBranch *branch, SfMapRunEnd end);
extern void sf_apply_item_executions(SfDraft *draft, const SfBranch *branch);

/* --- apply_map_run.c: the ends of item executions --- */

/* An item execution has ended, in this slice or from outside. */
typedef struct SfItemExecutionEnd
{
	const SfDraft *draft;		/* of the item execution */
	SfBranchKey parent;
	int64		map_run_no;
	int			version;
	SfStatus	status;
	int			items;
} SfItemExecutionEnd;

extern SfItemExecutionEnd *sf_apply_make_item_end(const SfDraft *draft);
extern void sf_apply_count_item_ends(List *ends);

#endif							/* SF_RUN_APPLY_INTERNAL_H */
