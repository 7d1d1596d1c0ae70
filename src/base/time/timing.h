/*
 * timing.h
 *		How long processes wait, how often they sweep and how often they try.
 *
 * Names end in the unit.  Times that a user may want to change are settings
 * (base/settings.c); these follow from how the parts work together.  A time that one
 * feature alone uses is beside its code.
 */
#ifndef SF_BASE_TIMING_H
#define SF_BASE_TIMING_H

/* --- errors: trying again (run/slice/slice.h) --- */

/* Tries of a branch by itself; a conflict that occurs in each of them is taken for its own error */
#define SF_TRIES					5
/* Pause before the second try: a slice of another process is over by then.  It doubles, up to: */
#define SF_TRY_PAUSE_MS				50
#define SF_TRY_MAX_PAUSE_MS			1000

/* Pause after a failure of the environment or of a process; it doubles, up to a minute */
#define SF_FAILURE_PAUSE_MS			1000
#define SF_FAILURE_MAX_PAUSE_MS		60000
/* A branch that met no shortage for so long begins to count anew: it got on meanwhile */
#define SF_SHORTAGE_FORGET_MS		600000

/* Tries of a task that ends in a deadlock, before the error becomes its outcome */
#define SF_DEADLOCK_RETRIES			5
/*
 * The pause before such a try follows the time for which the task held its locks, within
 * these bounds: a shorter pause would meet the same tasks again.  It doubles, up to the last.
 */
#define SF_DEADLOCK_MIN_PAUSE_MS	10
#define SF_DEADLOCK_MAX_PAUSE_MS	1000
#define SF_DEADLOCK_LIMIT_MS		5000
/* How long a retry waits for that of another task of the owner, and how often it checks that */
#define SF_RETRY_TURN_LIMIT_MS		30000
#define SF_RETRY_TURN_RECHECK_MS		10

/* --- locks of sessions --- */

/*
 * A worker waits that long for an execution's row, which a session may hold for hours: less than deadlock_timeout, so
 * that in a deadlock it is the worker that gives way
 */
#define SF_ROW_LOCK_MS				500
/* ... and puts the branch off for that long when it did not get it */
#define SF_LOCKED_PUT_OFF_MS		3000
/* ... and waits meanwhile that long for others: of hundreds of them each would cost half a second else */
#define SF_NEXT_ROW_LOCK_MS			50
/*
 * A worker comes again to a branch that others have locked after a share of the time for which
 * it has been due, within these bounds; to a queue of a limit with such a branch after this
 */
#define SF_SKIPPED_SHARE			4
#define SF_SKIPPED_MIN_MS			100
#define SF_SKIPPED_MAX_MS			5000
#define SF_SKIPPED_QUEUE_MS			1000
/* If there are more of them than can be noted, the due index is scanned after this */
#define SF_SKIPPED_SCAN_MS			10000
/* A redrive waits that long for workers to stop what was stopped; it asks and checks that often */
#define SF_STOP_WAIT_MS				5000
#define SF_STOP_ASK_MS				100
#define SF_STOP_RECHECK_MS				5
/* A scan for what transactions began that were open when a limit was set comes again after this */
#define SF_COUNT_PAUSE_MS			200
/* What a rate lets begin is gathered for that long */
#define SF_RATE_GATHER_MS			5
/* A branch whose hold is being released is due again after this */
#define SF_RELEASE_RECHECK_MS			200
/* A join that aborts checks again its item executions, and children that a session has locked */
#define SF_ABORT_RECHECK_MS			50
#define SF_ABORT_LOCKED_RECHECK_MS		500

/* --- a worker's turn --- */

/*
 * A worker that began its turn less than this ago will soon take new keys: no other one is
 * woken.  Less for a turn that takes from a queue of a limit: the next step of the queue follows
 */
#define SF_BRISK_MS					4
#define SF_BRISK_QUEUE_MS			2
/*
 * A worker yields its processor that often.  After a yield that took long, it works for a
 * multiple of that yield before the next one.
 */
#define SF_YIELD_PAUSE_US			50
#define SF_YIELD_LONG_US			500
#define SF_YIELD_LONG_FACTOR		10
/* Keys that it has not taken after this are offered to another worker */
#define SF_LEFT_MS					10
/* A turn that has a task after this (or two slices' time) leaves its other keys to other workers */
#define SF_SLOW_MS					50
/* A turn that takes so long does not count on its worker any more: a replacement starts */
#define SF_STUCK_MS					1000
/* While the ring has plenty of keys, the due index is looked at no more often than this */
#define SF_SCAN_PAUSE_MS			1000
/* The next part of a scan waits that long for room in the ring: timers of its owners may be due */
#define SF_REMAINDER_PAUSE_MS		100
/* Work is let accumulate for three commits' time, within these bounds */
#define SF_GATHER_MIN_US			1000
#define SF_GATHER_MAX_US			10000
/* After so many turns in a row that claimed something and changed nothing, pause */
#define SF_STALLED_TURNS			1000
#define SF_STALLED_PAUSE_MS			100
/* A process for long tasks stays that long without one: tasks often follow each other */
#define SF_TASK_LINGER_MS			2000
/* The signal of a time limit is repeated that often: a task may swallow it */
#define SF_TIMER_REPEAT_MS			1000
/* A task that exceeds its limit by this is cancelled by the launcher: its alarm is late */
#define SF_OVERDUE_MS				2000
/* A slice of one branch that failed with others, or may have crashed the server: long enough to show that again */
#define SF_ALONE_SLICE_MS			1000
/* A slice in a session; the session commits by itself, so it need not be short */
#define SF_SESSION_SLICE_MS			1000

/* --- the launcher --- */

/* The postmaster starts a launcher that ended after that many seconds */
#define SF_LAUNCHER_RESTART_S		1
/* Keys wait that long with all workers busy before one more worker starts: most are gone by then */
#define SF_MORE_DELAY_MS			20
/* An owner waits that long, with all workers in turns of others, before a process for tasks starts to help */
#define SF_HELPER_DELAY_MS			5
/* A process for tasks that has helped stays that long without anything to do */
#define SF_HELPER_LINGER_MS			60000
/* A worker may be moved to another database after that; a launcher that works alone moves on */
#define SF_QUANTUM_MS				5000
/* The keeper stays in a database that long while another one wants it */
#define SF_KEEPER_QUANTUM_MS		1000
/* While no process can be started, try again that often */
#define SF_ROOM_RECHECK_MS			200
/* ... and that often whether the postmaster grants the one on standby */
#define SF_REFUSED_RECHECK_MS		500
/* When no process could be had for that long, the launcher drives databases itself */
#define SF_ALONE_AFTER_MS			3000
/* A suspect of a crash runs alone for that long, doubled each time that it is suspected again */
#define SF_SUSPECT_ALONE_MS			5000
/* Check that often whether the wall clock was set */
#define SF_CLOCK_CHECK_MS			5000
/* It was set, and not only slewed, when it moved by that much */
#define SF_CLOCK_SET_US				100000

/* --- sessions --- */

/* sf_await checks that often even if no end was announced: not all ends are */
#define SF_AWAIT_RECHECK_MS			1000

/* How often sf_wait_change checks whether executions have changed. */
#define SF_CHANGE_RECHECK_MS			250
/* Workers have that long to finish their slices before a command that needs the database empty */
#define SF_LEAVE_GRACE_MS			200
/* ... then they are terminated; after this the command runs and reports who is still there */
#define SF_LEAVE_WAIT_MS			5000
#define SF_LEAVE_RECHECK_MS			20

/*
 * A purge that is due waits for an idle worker that long; then a batch is taken
 * between slices, and the next one after a pause
 */
#define SF_PURGE_PATIENCE_MS		300000
#define SF_PURGE_PAUSE_MS			1000

/* Two sweeps of schedules while runs wait for executions to end are that far apart */
#define SF_RUNS_SWEEP_PAUSE_MS		200

/* After this a worker calls no more targets of the deliveries that it has claimed at once */
#define SF_DELIVERY_TURN_MS			1000

#endif							/* SF_BASE_TIMING_H */
