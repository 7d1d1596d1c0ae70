/*
 * hooks.h
 *		Calls from the layers that make work due up to the one that does it.
 *
 * store/ and run/ do not know of workers.  They call the functions of sf_hooks.  If
 * the library was preloaded, the worker layer sets these to its own (worker/session/wake.c,
 * my_process.c); the initial ones do nothing.  A call takes effect at the commit of the
 * current transaction, unless its comment says otherwise, and has no effect if the
 * transaction or subtransaction aborts.
 */
#ifndef SF_BASE_HOOKS_H
#define SF_BASE_HOOKS_H

#include "utils/timestamp.h"

#include "base/name/work_key.h"
#include "base/time/clock.h"

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

/* What is known of how long a task takes */
typedef enum SfTaskTimeKind
{
	SF_TASK_TIME_UNKNOWN,		/* it has never run */
	SF_TASK_TIME_FIRST,			/* it runs for the first time now */
	SF_TASK_TIME_LAST			/* it took so long when it last ran */
} SfTaskTimeKind;

typedef struct SfTaskTime
{
	SfTaskTimeKind kind;
	int64		us;				/* LAST */
} SfTaskTime;

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
	 * At once: what waits in this queue may have room, or something has in some queue at a time.
	 */
	void		(*queue_due) (SfQueue queue, Oid owner);
	void		(*queue_later) (SfTick at);

	/*
	 * Cancel the task that a worker runs for a branch (of a whole execution: for
	 * all of its branches).
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
	void		(*branch_locked) (void);

	/*
	 * At once: a worker has passed over a branch that is due since a time, or a queue with
	 * a branch that may begin, because another transaction has the branch locked.  A worker
	 * comes again.
	 */
	void		(*branch_skipped) (SfBranchKey key, Oid owner, TimestampTz due);
	void		(*queue_skipped) (SfQueue queue, Oid owner);

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
	 * cancel requests until task_ends.  A cancel that comes after the attempt
	 * began interrupts the task, before this call or after it; one that committed
	 * earlier shows in the rows that the attempt reads.  Another call for the same
	 * branch keeps the task and replaces owner and state.
	 */
	void		(*task_begins) (SfBranchKey key, Oid owner, const char *state);
	void		(*task_ends) (void);

	/* Was the running task asked to stop (by sf_stop, not an administrator)? */
	bool		(*cancel_requested) (void);

	/*
	 * At once: the running task is to end by then (SF_TICK_NEVER: no limit).  Its own alarm
	 * follows the wall clock, which may be set back.
	 */
	void		(*task_deadline) (SfTick deadline);

	/*
	 * How long the SQL task of a state, or the last one with its resource, took when it last
	 * ran, in any worker.
	 */
	SfTaskTime	(*task_time) (SfDurationKey key);
	void		(*note_task_time) (SfDurationKey key, SfTaskTime time);

	/* At once: does an owner wait for whom no process is free?  It takes no lock, and may be wrong for once. */
	bool		(*others_wait) (void);

	/* Executions have been started, advanced or ended: sessions in sf_wait_change are to see it. */
	void		(*executions_change) (void);

	/* Runs of schedules wait for executions to end: have a worker sweep them soon, and at each end. */
	void		(*runs_wait) (void);

	/* Something that no branch is for, a deadline or a queue, is due at a time: have everything due scanned then. */
	void		(*scan_at) (TimestampTz at);

	/*
	 * A feature is to sweep what this transaction has written: have a worker do so soon
	 * (SfFeatureSweep.when_told).
	 */
	void		(*sweep_soon) (void);

	/* This database has been installed, enabled or disabled: look at it again. */
	void		(*register_database) (void);
} SfHooks;

extern SfHooks sf_hooks;

#endif							/* SF_BASE_HOOKS_H */
