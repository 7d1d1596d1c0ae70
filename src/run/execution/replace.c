/*
 * replace.c
 *		An execution that has not begun gets another input, other labels, another version and another time.
 *
 * Its root branch has the input and the time, and a worker that begins it has locked that row, without waiting for it.
 * Who replaces the execution locks the same row, and waits: so the worker begins it with what was there before, and it
 * is not replaced; or it is replaced, and the worker comes again after the commit.  The row of the execution is locked
 * after that of the branch, as slices do.  A slice that has read it before sees the version there when it locks it.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "run/execution/lifecycle.h"
#include "store/branch/park.h"
#include "store/feature.h"
#include "store/state_machine/program_cache.h"

/* Lock the root branch of an execution that has not begun, and read the execution; NULL: it has begun, or is over. */
static SfExecution *
lock_waiting(int64 execution_no, SfBranch **root)
{
	SfBranchKey key = {execution_no, SF_BRANCH_ROOT};
	SfExecution *execution;

	*root = sf_branch_read(key, SF_LOCK_WAIT);
	if (*root == NULL || (*root)->phase != SF_PHASE_ENTER)
		return NULL;
	execution = sf_execution_read(execution_no, SF_LOCK_WAIT, true);
	if (execution == NULL || execution->status != SF_STATUS_RUNNING || execution->started_at != DT_NOBEGIN ||
		sf_execution_is_of_item(execution))
		return NULL;
	return execution;
}

/*
 * Have a root branch enter the first state of a version, when the start says; one that waits in a queue keeps its
 * place.
 */
static void
change_root(const SfExecution *execution, SfBranch *root)
{
	const SfBranch *anew;

	anew = sf_lifecycle_root(execution, sf_program_cache_get(execution->machine_no, execution->version)->scopes[0].start,
							 execution->input);
	root->state = anew->state;
	sf_branch_carry(root, sf_branch_input(anew), SF_NO_EVENT);
	if (!sf_park_end(root) || anew->due_at > GetCurrentTimestamp())
		sf_branch_come_at(root, anew->due_at);
}

/*
 * Give an execution that has not begun the input, the labels, the trace, the version and the time of a start.
 * Waits for a worker that is beginning it.  False: it has begun, or is over.
 */
bool
sf_lifecycle_replace(int64 execution_no, const SfExecution *wanted)
{
	SfBranch   *root;
	SfExecution *execution = lock_waiting(execution_no, &root);
	const Jsonb *before;
	SfDraft    *draft;

	if (execution == NULL)
		return false;
	before = execution->labels;
	sf_transition_execution_replace(execution, wanted);
	sf_feature_labels_changed(execution, before);
	SF_TELL(on_begun_anew, execution, SF_ANEW_REPLACED);
	change_root(execution, root);

	draft = sf_draft_make_locked(execution);
	draft->branches = list_make1(root);
	sf_drafts_write(list_make1(draft));
	return true;
}
