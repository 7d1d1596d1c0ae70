/*
 * hooks.h
 *		Calls from the layers that make work due up to the one that does it.
 *
 * store/ and run/ do not know of workers.  They call the functions of sf_hooks.  If
 * the library was preloaded, the worker layer sets these to its own (worker/wake.c,
 * slot.c); the initial ones do nothing.  A call takes effect at the commit of the
 * current transaction, unless its comment says otherwise, and has no effect if the
 * transaction or subtransaction aborts.
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

/* In place of a branch's number: all branches of the execution */
#define SF_BRANCH_ALL		INT64CONST(-4)

/* Are two keys of the same branch? */
static inline bool
sf_branch_key_equals(SfBranchKey a, SfBranchKey b)
{
	return a.execution_no == b.execution_no && a.branch_no == b.branch_no;
}

/* A task time: the task runs for the first time now */
#define SF_TASK_RUNS	PG_INT64_MAX

/* What a duration is of */
typedef enum SfDurationKind
{
	SF_DURATION_STATE,			/* the task of a state, by its number */
	SF_DURATION_RESOURCE		/* the tasks of the jobs of a net with one resource, by a hash of both */
} SfDurationKind;

typedef struct SfDurationKey
{
	int			machine_no;
	int			version;
	SfDurationKind kind;
	uint32		number;
} SfDurationKey;

typedef struct SfHooks
{
	/*
	 * A branch is (or will be) due at a time.  The owner may be InvalidOid when it
	 * is not at hand: it is found when the branch is due.
	 */
	void		(*due) (SfBranchKey key, Oid owner, TimestampTz due);

	/* A delivery of a rule is due now. */
	void		(*delivery_due) (void);

	/*
	 * At once: what waits for a limit may have room, in the queue with this key
	 * (store/queue_hints.h), or has it at a time.
	 */
	void		(*queue_due) (SfBranchKey key, Oid owner);
	void		(*queue_later) (SfTick at);

	/*
	 * Cancel the task that a worker runs for a branch (SF_BRANCH_ALL: for all
	 * branches of the execution).
	 */
	void		(*cancel) (SfBranchKey key);

	/*
	 * The same, at once: for a transaction that has stopped an execution and
	 * wants the branches that workers hold.  They may claim them again until
	 * they find the execution's row locked.
	 */
	void		(*cancel_now) (SfBranchKey key);

	/*
	 * This session holds a branch, which workers skip meanwhile.  If the
	 * transaction rolls back, they have to look for it again.
	 */
	void		(*branch_held) (void);

	/* An execution has ended: wakes sf_await. */
	void		(*execution_ended) (int64 execution_no);

	/*
	 * An execution has failed or timed out at this top-level state (NULL: not
	 * known), for the server's log.  error may be NULL.
	 */
	void		(*execution_failed) (const char *execution_id, const char *state,
									 const char *error, bool timed_out);

	/* At once: a worker has claimed a branch.  The poison file notes it. */
	void		(*branch_claimed) (SfBranchKey key, Oid owner);

	/* Why the branch may not run any more: it ended workers too often.  NULL: it may. */
	char	   *(*why_condemned) (SfBranchKey key);

	/*
	 * At once: a worker begins to run a task, shown in sf_workers and open to
	 * cancel requests until step_ends.  A cancel that commits after this call
	 * interrupts the step; one that committed before must be seen in the
	 * execution's row, so read that after the call.  Another call for the same
	 * branch keeps the step and replaces owner and state.
	 */
	void		(*step_begins) (SfBranchKey key, Oid owner, const char *state);
	void		(*step_ends) (void);

	/* Was the running task asked to stop (by sf_stop, not an administrator)? */
	bool		(*cancel_requested) (void);

	/*
	 * At once: the running task is to end by then (0: no limit).  Its own alarm
	 * follows the wall clock, which may be set back.
	 */
	void		(*task_deadline) (SfTick deadline);

	/*
	 * How long the SQL task of a state, or the last one with its resource, took when it last
	 * ran, in microseconds, in any worker; -1: not known.
	 */
	int64		(*task_time) (const SfDurationKey *key);
	void		(*note_task_time) (const SfDurationKey *key, int64 elapsed_us);

	/* At once: does an owner wait for whom no process is free?  A hint that takes no lock. */
	bool		(*others_wait) (void);

	/* Executions have been started, advanced or ended: sessions in sf_wait_change are to see it. */
	void		(*executions_change) (void);

	/* Runs of schedules wait for executions to end: have a worker look soon, and at each end. */
	void		(*runs_wait) (void);

	/* Something that no branch is for, a deadline or a limit, is to be looked at at a time. */
	void		(*look) (TimestampTz at);

	/* A feature is to look at what this transaction has written: have a worker do so soon (SfFeature.looks_when_told). */
	void		(*look_soon) (void);

	/* This database has been installed, enabled or disabled: look at it again. */
	void		(*register_database) (void);
} SfHooks;

extern SfHooks sf_hooks;

#endif							/* SF_BASE_HOOKS_H */
