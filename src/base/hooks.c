/*
 * hooks.c
 *		The hooks when no worker layer is loaded: they do nothing.
 */
#include "postgres.h"

#include "base/hooks.h"

/* Hooks: what they return, name, arguments, what they return without workers */
#define HOOK_LIST(X) \
	X(void, due, (SfBranchKey key, Oid owner, TimestampTz due),) \
	X(void, delivery_due, (void),) \
	X(void, queue_due, (SfQueue queue, Oid owner),) \
	X(void, queue_later, (SfTick at),) \
	X(void, cancel, (SfBranchKey key),) \
	X(void, cancel_now, (SfBranchKey key),) \
	X(void, branch_locked, (void),) \
	X(void, branch_skipped, (SfBranchKey key, Oid owner, TimestampTz due),) \
	X(void, queue_skipped, (SfQueue queue, Oid owner),) \
	X(void, executions_change, (void),) \
	X(void, execution_ended, (int64 execution_no),) \
	X(void, execution_failed, (const char *execution_id, const char *state, \
							   const char *error, bool timed_out),) \
	X(void, branch_claimed, (SfBranchKey key, Oid owner),) \
	X(char *, why_condemned, (SfBranchKey key), NULL) \
	X(void, task_begins, (SfBranchKey key, Oid owner, const char *state),) \
	X(void, task_ends, (void),) \
	X(bool, cancel_requested, (void), false) \
	X(void, task_deadline, (SfTick deadline),) \
	X(bool, others_wait, (void), false) \
	X(SfTaskTime, task_time, (SfDurationKey key), (SfTaskTime) {0}) \
	X(void, note_task_time, (SfDurationKey key, SfTaskTime time),) \
	X(void, runs_wait, (void),) \
	X(void, scan_at, (TimestampTz at),) \
	X(void, sweep_soon, (void),) \
	X(void, register_database, (void),)

#define HOOK_FUNCTION(type, name, arguments, result) \
	static type ignore_##name arguments { return result; }
HOOK_LIST(HOOK_FUNCTION)

#define HOOK_MEMBER(type, name, arguments, result) .name = ignore_##name,
SfHooks		sf_hooks = {HOOK_LIST(HOOK_MEMBER)};
