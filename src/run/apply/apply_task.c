/*
 * apply_task.c
 *		Rows of tasks that are handed out, and the branches that wait for them.
 *
 * Locks: branch, then task.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "run/apply/apply_internal.h"
#include "store/alert/alert.h"
#include "store/alert/notice.h"

/* A task is handed out: it is written with the draft. */
void
sf_effect_hand_out_task(SfDraft *draft, const SfBranch *branch, SfTask *task)
{
	draft->tasks = lappend(draft->tasks, task);
}

/* Write a task that stays handed out, at once and not at the end of the slice. */
void
sf_effect_update_task(SfDraft *draft, const SfBranch *branch, SfTask *task)
{
	sf_task_update(task);
}

/* A task is over. */
void
sf_effect_close_task(SfDraft *draft, const SfBranch *branch, SfTask *task)
{
	draft->closed_tasks = lappend(draft->closed_tasks, task);
}

/* The nested executions that a branch waited for are to end. */
void
sf_effect_stop_nested(SfDraft *draft, const SfBranch *branch, SfNoValue none)
{
	/* one at a time asks a nested execution to stop: the session that holds the parent */
	sf_draft_lock(draft);
	sf_nested_stop(draft->execution, branch->key.branch_no);
}

/* When a task was last heard of, as sf_dead_letters has it. */
static TimestampTz
died_at(const SfTask *task)
{
	return task->lease_until != DT_NOEND ? task->lease_until :
		task->heartbeat_at != DT_NOBEGIN ? task->heartbeat_at : task->started_at;
}

/*
 * Delete a task that is over, or keep it as a dead letter: its receives are used
 * up, and its branch has failed for that.  An answered task, or one whose failure
 * was caught, is no dead letter.
 */
static void
write_closed(SfDraft *draft, SfTask *task)
{
	foreach_ptr(const SfBranch, branch, draft->branches)
	{
		if (branch->key.branch_no == task->key.branch_no &&
			branch->phase == SF_PHASE_FAILED && branch->state == task->state &&
			task->used_up)
		{
			task->status = SF_TASK_STATUS_DEAD;
			sf_task_update(task);
			sf_notice_alert(draft->execution, sf_alert_kind(SF_EXECUTION_ALERT_DEAD_LETTER), SF_ALERT_OPENED, died_at(task),
							NULL);
			return;
		}
	}
	sf_task_delete(task->key);
}

/* Write the tasks of a draft, after its branches. */
void
sf_apply_tasks(SfDraft *draft)
{
	ListCell   *lc;

	sf_task_delete_of(draft->execution->execution_no, draft->dropped_tasks);
	foreach(lc, draft->closed_tasks)
		write_closed(draft, lfirst(lc));
	foreach(lc, draft->tasks)
		sf_task_write(lfirst(lc));

	/* a nested execution that a branch waited for ends with the branch */
	foreach_ptr(const SfBranch, branch, draft->branches)
	{
		if (branch->phase == SF_PHASE_ABORTED && branch->state != SF_NO_STATE &&
			sf_task_state_stops_nested(&draft->program->states[branch->state], SF_UNANSWERED_ABORTED))
			sf_nested_stop(draft->execution, branch->key.branch_no);
	}
}

/* Hand queued tasks of an activity to a worker; a List of SfTask. */
List *
sf_apply_claim_tasks(const SfActivity *activity, const char *worker, int max_tasks)
{
	return sf_task_claim(activity, worker, max_tasks);
}

/* Put the answer of a task into its branch; the caller has locked both. */
void
sf_apply_answer(SfTask *task, bool ok, const Jsonb *output, const char *error,
				const char *cause)
{
	task->status = SF_TASK_STATUS_ANSWERED;
	sf_task_update(task);
	sf_branch_answer(task->key, ok, output, error, cause);
}

/* Put the outcome of what a branch waits for into it; the caller has locked it. */
void
sf_apply_answer_branch(SfBranchKey key, bool ok, const Jsonb *output, const char *error, const char *cause)
{
	sf_branch_answer(key, ok, output, error, cause);
}

/* Note that the worker of a task has sent a heartbeat; lease_ms 0: no lease. */
void
sf_apply_heartbeat(SfTask *task, int64 lease_ms)
{
	task->heartbeat_at = GetCurrentTimestamp();
	if (lease_ms > 0)
		task->lease_until = task->heartbeat_at + lease_ms * 1000;
	sf_task_update(task);
	if (task->submitted == NULL)
		sf_branch_set_timeout(task->key, sf_task_timer(task));
}

/* Write the number that a task's state has in another version; -1, and the task is over: delete it. */
void
sf_apply_task_migrated(SfTask *task, int state)
{
	if (state == SF_NO_STATE)
	{
		sf_task_delete(task->key);
		return;
	}
	task->state = state;
	sf_task_update(task);
}
