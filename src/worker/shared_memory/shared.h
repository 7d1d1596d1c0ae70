/*
 * shared.h
 *		What the launcher, the workers and committing sessions share.
 *
 * One fixed-size area, made when the server starts; it holds only what may be lost, and no
 * pointers.  One lock, sf_shared_lock, held exclusively, guards all of it: every section
 * is a few assignments, at most a walk over the processes.  Exceptions are marked.
 *
 * What concerns one database alone is also guarded by that lock in shared mode together
 * with the lock of the database (sf_shared_enter): its SfDatabase, its ring, and whether
 * its processes are idle or woken and in which task they are.  Commits, and tasks that
 * begin and end, need no more.  So they wait for those of their own database, and for the
 * rare sections that concern the server: which process is whose, and turns.
 *
 * Order of locks: sf_shared_lock, then that of a database.  None is taken under the
 * latter, and no other lock of sfflow under either.
 */
#ifndef SF_WORKER_SHARED_H
#define SF_WORKER_SHARED_H

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/lwlock.h"

#include "base/hooks.h"
#include "base/time/clock.h"
#include "run/slice/slice.h"
#include "store/feature.h"
#include "worker/shared_memory/ring.h"
#include "worker/shared_memory/skipped.h"

#define SF_KNOWN_OWNERS		64
#define SF_AWAIT_BUCKETS	16
#define SF_DURATIONS		2048
#define SF_SHORTAGES		64

/* Where the number of an entry of those, from 1, may stand: the last shortage is over */
#define SF_NO_SHORTAGE		0

#define SF_STATE_NAME_SIZE	(80 * 4 + 1)

/* Where the number of the launcher's PGPROC may stand: there is no launcher */
#define SF_NO_LAUNCHER		(-1)

/* The number of the launcher among the processes */
#define SF_LAUNCHER_PROCESS	0

/* What a process is: symbol, name in sf_workers */
#define SF_PROCESS_KIND_LIST(X) \
	X(LAUNCHER, "launcher") \
	X(WORKER, "worker")			/* advances executions; counts for sfflow.workers */ \
	X(TASK, "task")				/* is in a long task, or there to take one */ \
	X(KEEPER, "keeper")			/* advances executions, but runs no user code */

#define SF_PROCESS_KIND_ENUM(sym, name) SF_PROCESS_KIND_##sym,
typedef enum SfProcessKind
{
	SF_PROCESS_KIND_LIST(SF_PROCESS_KIND_ENUM)
} SfProcessKind;

/*
 * Life of a process, with what may follow each status.
 *
 *	FREE		-> STARTING		the launcher asked for a process
 *	STARTING	-> RUNNING		the process has arrived
 *				-> STANDBY		it has, and waits to be given a database
 *				-> FREE			it never came up
 *	STANDBY		-> RUNNING		the launcher named a database
 *				-> FREE
 *	RUNNING		-> IDLE			there was nothing to do
 *				-> FREE
 *	IDLE		-> WOKEN		another process set its latch for new work
 *				-> RUNNING		a timer or a poll was due
 *				-> FREE			it was asked to leave
 *	WOKEN		-> RUNNING, FREE
 */
#define SF_PROCESS_STATUS_LIST(X) \
	X(FREE, "free") \
	X(STARTING, "starting") \
	X(STANDBY, "standby") \
	X(RUNNING, "running") \
	X(IDLE, "idle") \
	X(WOKEN, "running")

#define SF_PROCESS_STATUS_ENUM(sym, name) SF_PROCESS_STATUS_##sym,
typedef enum SfProcessStatus
{
	SF_PROCESS_STATUS_LIST(SF_PROCESS_STATUS_ENUM)
} SfProcessStatus;

/* What a process was started for */
typedef enum SfErrand
{
	SF_ERRAND_WORK,
	SF_ERRAND_PROBE,			/* look at the database, and stay if it is driven */
	SF_ERRAND_PREPARE,			/* look at it and leave: sfflow.databases leaves it out */
	SF_ERRAND_SUSPECTS			/* run the suspects of a crash, alone */
} SfErrand;

/* What the turn of a process is, as far as others have to know */
typedef enum SfTurnKind
{
	SF_TURN_KIND_ANY,
	SF_TURN_KIND_PURGES,		/* it is a PURGE */
	SF_TURN_KIND_RUNS_QUEUE,	/* it takes branches from a queue */
	SF_TURN_KIND_HELPS			/* a process for tasks advances branches of an owner for whom no worker was free */
} SfTurnKind;

/* A process of sfflow, or one that is to come; FREE: the entry of none */
typedef struct SfProcess
{
	SfProcessStatus status;
	SfProcessKind kind;
	SfErrand	errand;
	Oid			database;
	int			pid;			/* 0: not there yet */
	int			procno;			/* of its PGPROC, whose latch wakes it */
	uint32		launch;			/* tells this process from the one before it */
	bool		is_to_leave;	/* asked to leave after its turn */
	bool		may_run_task;	/* may take a long task now, or is in one */
	bool		stuck;			/* its turn takes too long to count on it */
	SfTurnKind	turn;			/* what its turn is */
	Oid			turn_owner;		/* whose branches its turn advances; InvalidOid: it does not */
	Oid			user_owner;		/* it may be in code of this owner; InvalidOid: in no
								 * user code */
	SfTick		turn_began;		/* RUNNING: UNSET before its first turn */
	int			nkeys;			/* keys of the turn that no other process knows of */
	SfTick		attached;
	SfTick		since;			/* with this status, or in this task */
	int64		tasks;			/* that it has begun */

	/* the task: written by the owner under the lock, read by its handler */
	bool		in_task;
	SfBranchKey key;
	Oid			owner;
	SfTick		deadline;		/* the task is to be over then; NEVER: no limit */
	char		state_name[SF_STATE_NAME_SIZE];

	/* cancel requests; atomics, because a signal handler reads them */
	pg_atomic_uint32 task_number;	/* one more with each task that begins or ends */
	pg_atomic_uint32 cancel;	/* number of the task that is to be cancelled */
	pg_atomic_uint32 signalled; /* signals sent for requests, not yet taken */
} SfProcess;

/* Cancel requests that a database remembers, for tasks that begin */
#define SF_RECENT_CANCELS	256

/*
 * What is known of a database, with what may follow each status.
 *
 *	UNKNOWN		-> DRIVEN, NOT_DRIVEN	a worker has looked
 *	DRIVEN		-> NOT_DRIVEN			a turn's verdict
 *				-> UNKNOWN				registered again, or a probe died
 *	NOT_DRIVEN	-> UNKNOWN				registered again
 */
typedef enum SfDatabaseStatus
{
	SF_DATABASE_UNKNOWN,
	SF_DATABASE_DRIVEN,
	SF_DATABASE_NOT_DRIVEN
} SfDatabaseStatus;

/*
 * What is done about keys that wait in the ring, with the states that may follow.
 *
 *	NONE	-> LEFT		a running worker will take them within SF_BRISK_MS
 *			-> WANTED	no worker is idle: the launcher was told
 *	LEFT	-> NONE		a worker took keys, or the launcher woke one after SF_LEFT_MS
 *			-> WANTED	... but no worker is idle then
 *	WANTED	-> NONE		the ring is empty, or one more worker starts
 */
typedef enum SfBacklog
{
	SF_BACKLOG_NONE,
	SF_BACKLOG_LEFT,
	SF_BACKLOG_WANTED
} SfBacklog;

/* Longest message of the last error, with its end */
#define SF_LAST_ERROR_SIZE	256

/* An error of a worker that no execution shows (last_error.c) */
typedef struct SfLastError
{
	SfTick		at;				/* UNSET: there was none */
	int			in_a_row;		/* since a turn last wrote something */
	int			sqlstate;
	char		message[SF_LAST_ERROR_SIZE];
} SfLastError;

/* A database with the extension (or that may have it) */
typedef struct SfDatabase
{
	Oid			oid;			/* InvalidOid: free */
	SfDatabaseStatus status;
	uint32		registrations;	/* a verdict from before the last one is void */
	int			leaving;		/* commands that want our processes out */
	int			failures;		/* processes that died, in a row */
	SfTick		not_before;		/* no new process earlier */
	SfTick		waiting_since;	/* wants its first worker; UNSET: does not */

	/* keys that are due */
	SfBacklog	backlog;
	SfTick		backlog_since;	/* in that state */
	SfTick		next_scan;		/* when a scan of the due index is due, */
	TimestampTz scan_from;		/* for what is due then or later; DT_NOEND: what the poll or a timer says */
	bool		wants_scan;		/* it was asked for, and has not begun: a poll that is due was not */
	SfTick		next_poll;		/* when all of it is to be scanned, wanted or not */
	SfTick		last_scan;
	SfTick		next_purge;		/* when a sweep for executions to purge, or its next batch,
								 * is due */
	SfTick		next_delivery;	/* when to look for deliveries of rules */
	SfTick		next_sweeps[SF_MAX_SWEEPS];	/* not before that, of a feature that sweeps once in a while only */
	SfTick		next_queue;		/* when something that waits in a queue may begin, by the time */
	TimestampTz next_timer;		/* the earliest timer for which no scan has begun;
								 * DT_NOEND: none */
	TimestampTz remainder_from; /* owners whose turn did not come in a scan for what is due
								 * then or later; DT_NOEND: there are none, */
	SfOwnerTurns remainder_turns;	/* ... or the turns of these */
	bool		scanned;		/* a first scan of all of the due index was done; it
								 * corrected times (set_back) */
	int64		set_back_by;	/* microseconds by which the wall clock was set back and
								 * no scan has corrected times for that yet */
	bool		sweep_wanted;	/* by features that sweep when told; taken by the worker that has them do so */
	uint32		sweeps_wait;	/* a bit for each feature that sweeps when executions have ended, too */
	int			arrivals;		/* commits of sessions that made work due, since the
								 * last turn began */
	int			key_us;			/* what a key of the ring takes on average; 0: unknown */
	SfTick		last_turn;		/* UNSET: none yet */
	SfTick		helper_since;	/* wants a process beside its workers, for such an owner; UNSET: does not */

	/* cancel requests: how many there were, and for which branches the last ones were */
	uint32		ncancels;
	SfBranchKey recent_cancels[SF_RECENT_CANCELS];

	/* announced tasks */
	SfTasksLeft tasks_left;		/* what is to be looked for */
	SfTick		tasks_since;	/* wants a process for a task; UNSET: does not */
	SfAnnounced announced;
	Oid			task_after;		/* had the last task: comes last in the next search */

	bool		owners_known;	/* all owners with work are among these: */
	int			nowners;
	Oid			owners[SF_KNOWN_OWNERS];

	SfLastError last_error;
	SfSkipped	skipped;
	SfRing		ring;
} SfDatabase;

/* How long a task took (durations.c) */
typedef struct SfDuration
{
	Oid			database;
	SfDurationKey key;
	SfTaskTime	time;
} SfDuration;

/* A branch that met a shortage when it ran by itself (shortage.c) */
typedef struct SfShortage
{
	Oid			database;		/* InvalidOid: free */
	Oid			owner;
	SfBranchKey key;
	int			tries;			/* how often, in a row */
	int			counted;		/* of these, against it */
	SfTick		last;
} SfShortage;

/* Does the launcher's process drive the databases one after the other, since no process can be had? */
typedef enum SfAlone
{
	SF_ALONE_NEVER,
	SF_ALONE_NOW,				/* ... which the log says */
	SF_ALONE_BEFORE				/* no more; the log does not say it again */
} SfAlone;

typedef struct SfShared
{
	uint32		launches;		/* source of SfProcess.launch */
	int			launcher_procno;	/* or SF_NO_LAUNCHER */
	pg_atomic_uint64 launcher_checks;	/* an SfTick: when it checks turns and keys next */
	int64		clock_offset;	/* wall clock minus ticks, when it was last found to have
								 * been set, or at the start */
	SfTick		behind_until;	/* until then the wall clock, which was set back, shows
								 * times that it has shown before */
	SfTick		refused_at;		/* max_worker_processes was used up; UNSET: never */
	bool		refused;		/* ... and no process has ended or begun since */
	SfAlone		alone;
	Oid			connecting;		/* it was about to connect to this database */
	int			max_payload_bytes;	/* of the server's configuration, as the launcher reads it */
	uint32		releases;		/* times that a process stopped to count as one in a task, or
								 * more tasks may have one */
	bool		databases_exhausted;	/* sfflow.max_databases is used up */
	SfTick		failures_until; /* the second that these lines count for ends */
	int			failures_logged;	/* lines about executions that failed */
	int64		failures_suppressed;	/* ... and how many were left out */
	bool		settled;		/* no database waits to be taken over, or marked as a copy */
	Oid			last_probed;	/* the last one that a probe has looked at for that */
	ConditionVariable process_ended; /* sleepers wait for processes to leave */
	pg_atomic_uint32 awaiting;	/* sessions inside sf_await */
	pg_atomic_uint64 changes;	/* commits that have changed executions */
	ConditionVariable ended[SF_AWAIT_BUCKETS];
	SfDuration	durations[SF_DURATIONS];
	int			shortage_of;	/* number of the entry that met the last one, or
								 * SF_NO_SHORTAGE */
	SfShortage	shortages[SF_SHORTAGES];
	int			ndatabases;		/* entries for them: behind the processes */
	int			nprocesses;
	SfProcess	processes[FLEXIBLE_ARRAY_MEMBER];
} SfShared;

/* NULL unless the library was preloaded */
extern SfShared *sf_shared;
extern LWLock *sf_shared_lock;
extern LWLockPadded *sf_database_locks;	/* by the entry of the database */
extern void sf_area_init(void);
extern void sf_durations_init(void);

/* Go through the processes, also free entries; the launcher is not among them. */
#define sf_foreach_process(process) \
	for (SfProcess *process = &sf_shared->processes[1]; \
		 process < &sf_shared->processes[sf_shared->nprocesses]; process++)

/* Where the entries for databases are, behind so many processes, from the beginning of the area */
static inline Size
sf_shared_databases_at(int nprocesses)
{
	return MAXALIGN(offsetof(SfShared, processes) + sizeof(SfProcess) * nprocesses);
}

/* The first entry for a database. */
static inline SfDatabase *
sf_shared_databases(void)
{
	return (SfDatabase *) ((char *) sf_shared + sf_shared_databases_at(sf_shared->nprocesses));
}

/* Go through the entries for databases; one whose oid is not valid is free. */
#define sf_foreach_database(database) \
	for (SfDatabase *database = sf_shared_databases(); \
		 database < sf_shared_databases() + sf_shared->ndatabases; database++)

/* The condition variable that the end of an execution signals. */
static inline ConditionVariable *
sf_shared_ended(int64 execution_no)
{
	return &sf_shared->ended[(uint64) execution_no % SF_AWAIT_BUCKETS];
}

extern SfDatabase *sf_shared_lock_database(Oid oid);
extern SfDatabase *sf_shared_enter(Oid oid);
extern void sf_shared_leave(void);

/*
 * --- the caller holds sf_shared_lock in exclusive mode, or is between sf_shared_enter()
 * and sf_shared_leave() and concerned with that database alone; sf_shared_next_poll()
 * needs no lock ---
 */

extern SfDatabase *sf_shared_find_database(Oid oid);
extern SfDatabase *sf_shared_register_database(Oid oid);

/* Ask for a scan of all of the due index; this wakes no process. */
static inline void
sf_shared_want_scan(SfDatabase *database)
{
	database->wants_scan = true;
	database->next_scan = SF_TICK_AT_ONCE;
	database->scan_from = DT_NOBEGIN;
}

/*
 * Ask for a scan for what is due then or later: branches that were due before have
 * their keys in the ring, or with a worker.
 */
static inline void
sf_shared_want_scan_from(SfDatabase *database, TimestampTz from)
{
	database->wants_scan = true;
	database->next_scan = SF_TICK_AT_ONCE;
	database->scan_from = Min(database->scan_from, from);
}

/* Was that asked for, and has not been done? */
static inline bool
sf_shared_wants_scan(const SfDatabase *database)
{
	return database->wants_scan || database->remainder_from != DT_NOEND;
}

extern SfTick sf_shared_next_poll(void);
extern void sf_shared_scan_later(SfDatabase *database);
extern bool sf_shared_advances(const SfProcess *process);

/* Tell whether a process only looks at its database, so far. */
static inline bool
sf_shared_is_probe(const SfProcess *process)
{
	return process->errand == SF_ERRAND_PROBE || process->errand == SF_ERRAND_PREPARE;
}

/* Tell whether a process takes keys of the ring: a worker or the keeper. */
static inline bool
sf_shared_takes_keys(const SfProcess *process)
{
	return process->kind == SF_PROCESS_KIND_WORKER || process->kind == SF_PROCESS_KIND_KEEPER;
}

extern bool sf_shared_is_occupied(const SfProcess *process);
extern bool sf_shared_counts_as_task(const SfProcess *process);

/* The last entry, which is reserved for the keeper. */
static inline SfProcess *
sf_shared_keeper(void)
{
	return &sf_shared->processes[sf_shared->nprocesses - 1];
}

extern SfProcess *sf_shared_find_unused_process(void);
extern int	sf_shared_max_processes(void);
extern int	sf_shared_count_advancing(Oid oid);
extern int	sf_shared_count_tasks(void);
extern void sf_shared_push(SfDatabase *database, SfWorkKey key, Oid owner,
						   TimestampTz due);
extern void sf_shared_skip(SfDatabase *database, const SfSkippedBranch *branch);
extern void sf_shared_take_skipped(SfDatabase *database);
extern void sf_shared_take_keys(SfDatabase *database, SfWorkKey *keys,
								int *nkeys, int size, Oid *owner);
extern bool sf_shared_others_wait(void);
extern bool sf_shared_wants_helper(SfDatabase *database);
extern SfTick sf_shared_left_until(SfDatabase *database);
extern bool sf_shared_take_keys_as_helper(SfDatabase *database, SfWorkKey *keys, int *nkeys,
										  int size, Oid *owner);
extern void sf_shared_put_back(SfDatabase *database, const SfWorkKey *keys,
							   int nkeys, Oid owner);

/* Wake a process, or the launcher. */
extern void sf_shared_wake_process(const SfProcess *process);
extern void sf_shared_wake_launcher(void);
extern bool sf_shared_wake_idle(Oid database, SfProcessKind kind);
extern void sf_shared_wake_another(SfDatabase *database);
extern void sf_shared_wake_worker(SfDatabase *database);
extern int64 sf_shared_check_clock(void);
extern void sf_shared_check_by(SfTick at);
extern void sf_shared_check_turn_in_time(SfProcess *process, int nkeys);
extern void sf_shared_want_task(SfDatabase *database);
extern int	sf_shared_max_tasks(void);
extern void sf_shared_lower_timer(SfDatabase *database, TimestampTz at);
extern void sf_shared_lower_delivery(SfDatabase *database, SfTick at);
extern void sf_shared_want_sweep(SfDatabase *database, bool mine);
extern void sf_shared_lower_poll(SfDatabase *database, SfTick at);
extern void sf_shared_note_owner(SfDatabase *database, Oid owner);

extern void sf_shared_clear_process(SfProcess *process);

#endif							/* SF_WORKER_SHARED_H */
