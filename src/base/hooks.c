/*
 * hooks.c
 *		The hooks when no worker layer is loaded: they do nothing.
 */
#include "postgres.h"

#include "base/hooks.h"

/* Ignore that a branch is due. */
static void
ignore_due(SfBranchKey key, Oid owner, TimestampTz due)
{
}

/* Ignore what concerns a branch. */
static void
ignore_branch(SfBranchKey key)
{
}

/* Ignore a call without arguments. */
static void
ignore_call(void)
{
}

/* Ignore the end of an execution. */
static void
ignore_end(int64 execution_no)
{
}

/* Ignore the failure of an execution. */
static void
ignore_failure(const char *execution_id, const char *state, const char *error,
			   bool timed_out)
{
}

/* Ignore that a step begins. */
static void
ignore_step(SfBranchKey key, Oid owner, const char *state)
{
}

/* Say that no cancel was requested. */
static bool
no_cancel(void)
{
	return false;
}

/* Ignore a deadline. */
static void
ignore_deadline(SfTick deadline)
{
}

/* Say that the duration of a task is not known. */
static int64
unknown_time(int machine_no, int version, int state)
{
	return -1;
}

/* Ignore how long a task took. */
static void
ignore_time(int machine_no, int version, int state, int64 elapsed_us)
{
}

SfHooks		sf_hooks = {
	.due = ignore_due,
	.cancel = ignore_branch,
	.cancel_now = ignore_branch,
	.branch_held = ignore_call,
	.execution_ended = ignore_end,
	.execution_failed = ignore_failure,
	.branch_claimed = ignore_branch,
	.step_begins = ignore_step,
	.step_ends = ignore_call,
	.cancel_requested = no_cancel,
	.task_deadline = ignore_deadline,
	.task_time = unknown_time,
	.note_task_time = ignore_time,
	.register_database = ignore_call,
};
