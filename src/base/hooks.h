/*
 * hooks.h
 *		Calls from the layers that make work due up to the one that does it.
 *
 * Storage and engine stand below nothing that knows of workers; they announce
 * what they did through these pointers, which the worker layer fills when the
 * library was preloaded and which are NULL otherwise.  All take effect at the
 * commit of the current transaction and are forgotten when it (or the
 * subtransaction) aborts.
 */
#ifndef SF_BASE_HOOKS_H
#define SF_BASE_HOOKS_H

#include "base/clock.h"
#include "utils/timestamp.h"

/* Key of a branch: what a claim is made by. */
typedef struct SfBranchKey
{
	int64		execution_no;
	int64		branch_no;
} SfBranchKey;

/*
 * A branch of an owner is (or will be) due at a time; due <= now means at once.
 * InvalidOid for an owner that is not at hand: it is found when it is due.
 */
typedef void (*SfDueHook) (SfBranchKey key, Oid owner, TimestampTz due);
extern SfDueHook sf_due_hook;

/*
 * Cancel what runs for an execution (branch_no -1: all its branches), after
 * commit: the worker whose slot says that it runs it gets a cancel request.
 */
typedef void (*SfCancelHook) (SfBranchKey key);
extern SfCancelHook sf_cancel_hook;

/*
 * The same, at once: for who has stopped an execution in this transaction and
 * wants what its workers hold.  Not a promise: they may begin anew, until they
 * find the execution's row locked.
 */
extern SfCancelHook sf_cancel_now_hook;

/*
 * This transaction, of a session, has a branch in hand that workers pass over
 * meanwhile: should it roll back, they have to look again.
 */
typedef void (*SfHeldHook) (void);
extern SfHeldHook sf_held_hook;

/* An execution has ended (sf_await sleeps on it). */
typedef void (*SfEndedHook) (int64 execution_no);
extern SfEndedHook sf_ended_hook;

/*
 * An execution has failed (or timed out) at this top-level state (NULL: not
 * known), for the server's log.  error may be NULL.
 */
typedef void (*SfFailedHook) (const char *execution_id, const char *state,
							  const char *error, bool timed_out);
extern SfFailedHook sf_failed_hook;

/*
 * A worker takes up this branch.  With state NULL it has claimed it: the poison
 * file is told.  With a name ("" where it is not known yet) it is about to run
 * a task: its slot notes it for sf_workers and for cancel requests, until it
 * calls with key NULL.  A cancel that commits after the call interrupts the
 * step; one that committed before must be seen in the execution's row: read
 * that after the call.  Calling again for the same branch keeps the step.
 */
typedef void (*SfRunningHook) (const SfBranchKey *key, Oid owner,
							   const char *state);
extern SfRunningHook sf_running_hook;

/*
 * Whether the task that now runs was asked to stop; called from the error
 * path to tell a cancel by sf_stop from one by an administrator.
 */
typedef bool (*SfCancelRequestedHook) (void);
extern SfCancelRequestedHook sf_cancel_requested_hook;

/*
 * When the task that now runs is to be over; 0: no limit.  The alarm that ends
 * it goes by the wall clock, which may be set back.
 */
typedef void (*SfDeadlineHook) (SfTick deadline);
extern SfDeadlineHook sf_deadline_hook;

/*
 * How long the SQL task of a state took when it ran last, in microseconds, in
 * any worker; -1: not known, SF_TASK_RUNS: it runs for the first time now.
 */
#define SF_TASK_RUNS	PG_INT64_MAX
typedef int64 (*SfTaskTimeHook) (int machine_no, int version, int state);
extern SfTaskTimeHook sf_task_time_hook;
typedef void (*SfNoteTaskTimeHook) (int machine_no, int version, int state,
									int64 elapsed_us);
extern SfNoteTaskTimeHook sf_note_task_time_hook;

/* An installation asks to be driven: this database has work. */
typedef void (*SfRegisterHook) (void);
extern SfRegisterHook sf_register_hook;

#endif							/* SF_BASE_HOOKS_H */
