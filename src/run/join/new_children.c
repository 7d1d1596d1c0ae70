/*
 * new_children.c
 *		What a join is told of children that it has begun in this slice.
 *
 * Neither the join nor its children have been written, so the join's counters are
 * in the draft, and so are the outputs of the children.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "run/join/children.h"
#include "transition/state/join.h"

/*
 * Count the end of the child that ran last in its join.  That of one that failed, but
 * for a net that drains, stays in the draft, and is counted when the draft is written.
 */
void
sf_new_children_count_end(SfDraft *draft, SfBranch *join)
{
	SfParentDelta *delta = draft->deltas == NIL ? NULL : llast(draft->deltas);

	if (delta == NULL || delta->branch_no != join->key.branch_no ||
		(sf_delta_is_failure(delta) && join->work.net == NULL) ||
		(sf_delta_is_failure(delta) && draft->program->states[join->state].failure_mode == SF_FAILURE_ABORT))
		return;
	draft->deltas = list_delete_last(draft->deltas);
	if (SF_DEBUG_MUTATION("count_new"))
		return;
	if (join->work.net != NULL)
		sf_dependents_count(draft, join, list_make1(delta), GetCurrentTimestamp());
	else
		sf_join_count(join, delta, &draft->program->states[join->state],
					  GetCurrentTimestamp());
}

/*
 * Give *joined the outputs of the children, all of which have ended, by index; first
 * those of the jobs of a net that ended in earlier slices.
 */
void
sf_new_children_outputs(const SfDraft *draft, const SfBranch *join, SfJoined *joined)
{
	Jsonb	  **outputs = palloc(sizeof(Jsonb *) * join->total);
	int		   *indexes = palloc(sizeof(int) * join->total);

	joined->kind = SF_JOINED_OUTPUTS;
	joined->noutputs = 0;
	if (join->work.children == SF_CHILDREN_RESUMED)
	{
		joined->outputs = sf_branch_outputs(join->key, &joined->indexes,
											&joined->noutputs, &joined->last_event);
		if (joined->noutputs > join->total)
			elog(ERROR, "branch " INT64_FORMAT " of execution " INT64_FORMAT " has outputs of %d jobs, of which there are %d",
				 join->key.branch_no, join->key.execution_no, joined->noutputs, join->total);
		memcpy(outputs, joined->outputs, sizeof(Jsonb *) * joined->noutputs);
		memcpy(indexes, joined->indexes, sizeof(int) * joined->noutputs);
	}
	joined->outputs = outputs;
	joined->indexes = indexes;
	/* branches and iterations began in the order of their index */
	foreach_ptr(const SfBranch, child, draft->branches)
	{
		if (child->parent_no != join->key.branch_no || child->row.gone)
			continue;
		joined->indexes[joined->noutputs] = child->branch_index;
		joined->outputs[joined->noutputs++] = sf_branch_output(child);
		joined->last_event = sf_event_later(joined->last_event, child->last_event);
	}
}

/* The last inner event of the child that began last; SF_NO_EVENT when there is none. */
int
sf_new_children_last_inner_event(const SfDraft *draft, const SfBranch *join)
{
	for (int i = list_length(draft->branches) - 1; i >= 0; i--)
	{
		const SfBranch *child = list_nth(draft->branches, i);

		if (child->parent_no == join->key.branch_no && !child->row.gone)
			return child->phase == SF_PHASE_DONE ? child->last_inner_event : SF_NO_EVENT;
	}
	return SF_NO_EVENT;
}
