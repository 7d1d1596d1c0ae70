/*
 * apply_end.c
 *		What the end of an execution means for others: its branches, its
 *		children, the branch or the Distributed Map that started it, and the
 *		sessions that wait for it.
 */
#include "postgres.h"

#include "base/errors.h"
#include "base/hooks.h"
#include "run/apply_effects.h"
#include "run/map_run.h"
#include "run/outside.h"
#include "store/program_cache.h"

/* Put the end of a run's execution into its row. */
void
sf_apply_finish(SfRun *run, TimestampTz now)
{
	SfExecution *execution = run->execution;

	execution->status = run->finish->status;
	execution->output = run->finish->output;
	execution->error = unconstify(char *, run->finish->error.name);
	execution->cause = unconstify(char *, run->finish->error.cause);
	execution->stopped_at = now;
}

/* Does a program have a Distributed Map? */
static bool
has_distributed(const SfProgram *program)
{
	for (int i = 0; i < program->nstates; i++)
		if (sf_state_is_distributed(&program->states[i]))
			return true;
	return false;
}

/* Delete or end the rows that an ended execution does not need. */
static void
clear_rows(const SfRun *run)
{
	const SfExecution *execution = run->execution;
	bool		distributed = has_distributed(run->program);

	if (execution->status != SF_STATUS_SUCCEEDED)
	{
		sf_branch_quiesce(execution->execution_no);
		if (distributed)
			sf_map_run_abort_all(execution);
		sf_child_stop(execution, -1);
		return;
	}
	if (run->program->timeout_seconds > 0)
		sf_branch_delete_all(execution->execution_no);
	if (distributed)
		sf_map_items_delete_all(execution->execution_no);
}

/* Put the outcome of a child execution into the branch that waits for it. */
static void
answer_parent(const SfExecution *execution)
{
	SfBranchKey key = {execution->parent_execution_no, execution->parent_branch_no};
	SfBranch   *branch;
	SfExecution *parent,
			   *child;
	const SfProgram *program;

	if (execution->parent_generation == 0)
		return;
	branch = sf_branch_read(key, SF_LOCK_WAIT);
	if (branch == NULL || branch->phase != SF_PHASE_EXTERNAL ||
		branch->generation != execution->parent_generation)
		return;
	parent = sf_execution_read(key.execution_no, SF_LOCK_NONE, false);
	child = sf_execution_read(execution->execution_no, SF_LOCK_NONE, true);
	if (parent == NULL || child == NULL)
		return;
	program = sf_program_get(parent->machine_no, parent->version);
	if (child->status == SF_STATUS_SUCCEEDED)
		sf_branch_answer(key, true,
						 sf_child_output(child,
										 &sf_state_task(&program->states[branch->state])->resource),
						 NULL, NULL);
	else
		sf_branch_answer(key, false, NULL, SF_ERR_TASK_FAILED,
						 sf_child_failure(child));
}

/*
 * Wake the sessions that wait for the end of an execution, and stop the tasks
 * that still run for it; have a failure logged.
 */
static void
announce(const SfRun *run)
{
	const SfExecution *execution = run->execution;
	SfBranchKey all = {execution->execution_no, -1};
	bool		timed_out = execution->status == SF_STATUS_TIMED_OUT;
	int			state = run->finish->state;

	if (execution->status != SF_STATUS_SUCCEEDED)
		sf_hooks.cancel(all);
	sf_hooks.execution_ended(execution->execution_no);
	if (timed_out || execution->status == SF_STATUS_FAILED)
		sf_hooks.execution_failed(execution->execution_id,
								  state >= 0 ? run->program->states[state].name : NULL,
								  execution->error, timed_out);
}

/* Carry out what follows from the ends of executions whose rows are written. */
void
sf_apply_after_ends(List *runs)
{
	List	   *ends = NIL;
	ListCell   *lc;

	foreach(lc, runs)
	{
		const SfRun *run = lfirst(lc);

		if (run->finish == NULL || !run->locked)
			continue;
		clear_rows(run);
		answer_parent(run->execution);
		announce(run);
		if (run->execution->map_run_no != 0 && !run->finish->parent_knows)
			ends = lappend(ends, sf_map_run_child_end(run->execution, run->program));
	}
	sf_map_run_children_ended(ends);
}

/*
 * Ask for the end of an execution as ABORTED: the slice that claims its STOP
 * branch ends it.  This waits for no lock.
 */
void
sf_apply_stop_request(int64 execution_no, Oid owner, TimestampTz due, char *cause)
{
	SfBranch   *stop = sf_branch_make(execution_no, owner, SF_BRANCH_STOP);

	if (sf_branch_read(stop->key, SF_LOCK_NONE) != NULL)
		return;
	stop->phase = SF_PHASE_STOP;
	stop->due_at = due;
	stop->cause = cause;
	sf_branch_write(list_make1(stop));
}
