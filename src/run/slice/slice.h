/*
 * slice.h
 *		A slice: claim due branches of one owner and advance them for up to
 *		slice_ms, within the transaction of the caller.
 *
 * Its callers, and where the transactions are:
 *
 *	worker:		Start; sf_slice_run(); Commit		-- and again
 *				when the result says LONG_TASK, the slice that was committed just
 *				now has announced a long SQL task; the worker then does
 *				Start; sf_long_task_run(key, generation); Commit
 *				and what follows the task is an ordinary slice, given the same
 *				key to begin with.
 *	session:	sf_step, sf_run: inside the caller's transaction; long tasks run
 *				inline.
 *
 * After a slice that ran user code the user id is still the owner's, until
 * after the commit: the worker notes its own before and takes it back after
 * (base/role/role.h).
 *
 * What follows a slice that failed is said at the end of this header.
 */
#ifndef SF_RUN_SLICE_H
#define SF_RUN_SLICE_H

#include "base/error/errors.h"
#include "base/hooks.h"
#include "store/branch/due.h"

/* Which branches a slice takes, and from where */
typedef enum SfSliceMode
{
	/* in a worker */
	SF_SLICE_MODE_KEYS,			/* those of keys that are due and free, and what may begin in queues */
	SF_SLICE_MODE_ANNOUNCED,	/* one announced long task, found in the tables */
	SF_SLICE_MODE_BRANCH,		/* one by itself */
	/* in a session, which runs long tasks in place and never asks for a commit */
	SF_SLICE_MODE_EXECUTION,	/* what is due of an execution and its item executions */
	SF_SLICE_MODE_OWNER,		/* what is due of an owner */
	SF_SLICE_MODE_SESSION_BRANCH		/* one by itself */
} SfSliceMode;

/* Which SQL tasks a worker's slice takes on; it announces the others as long */
typedef enum SfSliceTasks
{
	SF_SLICE_TASKS_NONE = 0,	/* none, so it enters no user code */
	SF_SLICE_TASKS_SHORT = 1,	/* runs those that are known to be short */
	SF_SLICE_TASKS_LONG = 2,	/* hands the caller one announced task to run next */
	SF_SLICE_TASKS_ALL = SF_SLICE_TASKS_SHORT | SF_SLICE_TASKS_LONG
} SfSliceTasks;

/* Which announced tasks of an owner a slice may take on */
typedef enum SfOwnerTasks
{
	SF_OWNER_TASKS_NONE,
	SF_OWNER_TASKS_NEW,			/* those that are not known to be long */
	SF_OWNER_TASKS_ALL
} SfOwnerTasks;

/* What is left of the share of processes of an owner whose tasks occupy some already */
typedef struct SfOwnerShare
{
	Oid			owner;
	SfOwnerTasks tasks;
} SfOwnerShare;

/* Owners whose announced tasks a search goes through */
#define SF_ANNOUNCERS	256

/*
 * Announced tasks that no search has come to.  If more owners have some than can be listed,
 * each who is listed has one turn and leaves the list.  When it is empty, the owners whose
 * turns come behind are looked for: so each has one turn before any has a second one.
 */
typedef struct SfAnnounced
{
	TimestampTz from;			/* they were announced then or later; DT_NOEND: there are none */
	bool		others;			/* maybe also of owners that are not listed, */
	Oid			upto;			/* ... whose turns come behind this one */
	int			nowners;
	Oid			owners[SF_ANNOUNCERS];
} SfAnnounced;

/* When a slice ends that still has work */
typedef enum SfSliceLength
{
	SF_SLICE_LENGTH_TIMED,		/* once its time is up */
	SF_SLICE_LENGTH_ONE_BRANCH	/* after one branch, when that rests */
} SfSliceLength;

/* KEYS: what to take */
typedef struct SfSliceKeys
{
	const SfWorkKey *keys;		/* branches are claimed by primary key */
	int			nkeys;
	Oid			owner;			/* of the branches; InvalidOid: any */
} SfSliceKeys;

/* ANNOUNCED: what to take */
typedef struct SfSliceSearch
{
	SfAnnounced *announced;		/* where to search; then: what is left, if the slice succeeds */
	SfOwnerTurns owners;		/* all owners, in the order of their turns */
} SfSliceSearch;

/* How the slice of a worker shares time and processes with others */
typedef struct SfWorkerTerms
{
	SfSliceTasks tasks;
	int			yield_ms;		/* commit after this long, if another owner waits; 0: never */
	bool		lock_briefly;	/* wait for the row of an execution for SF_NEXT_ROW_LOCK_MS only */
	const SfOwnerShare *shares; /* owners that are not listed occupy no process */
	int			nshares;
	bool		new_owners_only;	/* tasks of owners that are listed are left to another process */
} SfWorkerTerms;

/* What a session wants of its slices */
typedef struct SfSessionTerms
{
	int64		execution_no;	/* EXECUTION: it and its item executions */
	bool		synchronous;	/* ... it runs within the call that started it (StartSyncExecution) */
	Oid			only_owner;		/* OWNER; InvalidOid: any */
	bool		skip_waits;		/* Wait states and retry delays are due */
	bool		releases_locks_on_rollback; /* the caller ends the transaction of a
											 * slice that was rolled back */
	int			max_transitions;	/* or SF_UNLIMITED */
} SfSessionTerms;

/*
 * A slice that is to be run.  The mode says which member of "take" counts, and whose terms do.  In a session
 * the branch of SESSION_BRANCH is one that failed in a slice on the same terms.
 */
typedef struct SfSliceRequest
{
	SfSliceMode mode;
	SfSliceLength length;
	int			slice_ms;		/* TIMED: commit after this long */
	bool		last_try;		/* a task that cannot be serialized has failed;
								 * else the slice is rolled back (40001) */
	union
	{
		SfSliceKeys keys;		/* KEYS */
		SfSliceSearch search;	/* ANNOUNCED */
		SfBranchKey branch;		/* BRANCH, SESSION_BRANCH */
	}			take;
	union
	{
		SfWorkerTerms worker;	/* sf_slice_worker(request) */
		SfSessionTerms session; /* sf_slice_session(request) */
	};
} SfSliceRequest;

/* Does a session run the slice, and no worker? */
static inline bool
sf_slice_in_session(const SfSliceRequest *request)
{
	switch (request->mode)
	{
		case SF_SLICE_MODE_KEYS:
		case SF_SLICE_MODE_ANNOUNCED:
		case SF_SLICE_MODE_BRANCH:
			return false;
		case SF_SLICE_MODE_EXECUTION:
		case SF_SLICE_MODE_OWNER:
		case SF_SLICE_MODE_SESSION_BRANCH:
			return true;
	}
	pg_unreachable();
}

/* On what terms a worker runs the slice. */
static inline const SfWorkerTerms *
sf_slice_worker(const SfSliceRequest *request)
{
	Assert(!sf_slice_in_session(request));
	return &request->worker;
}

/* On what terms a session runs the slice. */
static inline const SfSessionTerms *
sf_slice_session(const SfSliceRequest *request)
{
	Assert(sf_slice_in_session(request));
	return &request->session;
}

/* Does the slice take no more than the branch of its request? */
static inline bool
sf_slice_is_of_branch(const SfSliceRequest *request)
{
	return request->mode == SF_SLICE_MODE_BRANCH || request->mode == SF_SLICE_MODE_SESSION_BRANCH;
}

/* What a slice of KEYS is to take. */
static inline const SfSliceKeys *
sf_slice_keys(const SfSliceRequest *request)
{
	Assert(request->mode == SF_SLICE_MODE_KEYS);
	return &request->take.keys;
}

/* Where a slice of ANNOUNCED is to search. */
static inline const SfSliceSearch *
sf_slice_search(const SfSliceRequest *request)
{
	Assert(request->mode == SF_SLICE_MODE_ANNOUNCED);
	return &request->take.search;
}

/* The branch that a slice of BRANCH or SESSION_BRANCH is to take. */
static inline SfBranchKey
sf_slice_branch(const SfSliceRequest *request)
{
	Assert(sf_slice_is_of_branch(request));
	return request->take.branch;
}

/* May a slice take on a task of an owner who may have such tasks? */
static inline bool
sf_owner_may_have(SfOwnerTasks tasks, bool known_long)
{
	switch (tasks)
	{
		case SF_OWNER_TASKS_NONE:
			return false;
		case SF_OWNER_TASKS_NEW:
			return !known_long;
		case SF_OWNER_TASKS_ALL:
			return true;
	}
	pg_unreachable();
}

/* Announced tasks that were left due, as a set */
typedef enum SfTasksLeft
{
	SF_TASKS_LEFT_NONE = 0,
	SF_TASKS_LEFT_TASK = 1,		/* another process is wanted for one */
	SF_TASKS_LEFT_CAPPED = 2,	/* one's owner occupies as many processes as it may */
	SF_TASKS_LEFT_RESERVED = 4	/* one's owner may have it, but not in this process, which is reserved for
								 * owners that occupy none: a process for tasks is wanted */
} SfTasksLeft;

/* Tasks for which a process is wanted now */
#define SF_TASKS_LEFT_WANTED	(SF_TASKS_LEFT_TASK | SF_TASKS_LEFT_RESERVED)

typedef enum SfSliceEnd
{
	SF_SLICE_END_IDLE,			/* nothing that is due could be claimed */
	SF_SLICE_END_WORKED,
	SF_SLICE_END_LONG_TASK		/* of a worker: commit, then run the task */
} SfSliceEnd;

/* An announced task that is to be run next */
typedef struct SfLongTask
{
	SfBranchKey key;
	int			generation;
	bool		known_long;
	Oid			owner;
	TimestampTz due;			/* since when it has been announced */
} SfLongTask;

/* The last transition of a slice, for sf_step; NULLs: it made none */
typedef struct SfLastTransition
{
	const char *branch;			/* "root", "Parallel[1]", "Map[17]" */
	const char *state;
	const char *transition;		/* "succeeded", "waiting", "failed" … */
	const char *next_state;		/* NULL: none */
} SfLastTransition;

/* What a slice has done.  Read what only one end has by sf_slice_long_task and sf_slice_last_transition. */
typedef struct SfSliceResult
{
	SfSliceEnd	end;
	int			transitions;	/* states entered, resumed or left */
	int			nkeys_tried;	/* KEYS: hints looked at; the caller keeps the others */
	int			nqueued_tried;	/* branches that were taken from queues, or have to wait in one */
	bool		left_unrun;		/* what was to run was left to others: a task that is announced;
								 * children of a branch by itself, or its step that waits at a gate */
	SfTasksLeft tasks_left;
	union
	{
		SfLongTask	task;		/* LONG_TASK */
		SfLastTransition last;	/* WORKED, in a session */
	};
} SfSliceResult;

/* The task that a slice has announced for its worker to run. */
static inline SfLongTask
sf_slice_long_task(const SfSliceResult *result)
{
	Assert(result->end == SF_SLICE_END_LONG_TASK);
	return result->task;
}

/* The last transition of a slice in a session. */
static inline const SfLastTransition *
sf_slice_last_transition(const SfSliceResult *result)
{
	Assert(result->end == SF_SLICE_END_WORKED);
	return &result->last;
}

extern void sf_announced_add(SfAnnounced *announced, Oid owner, TimestampTz from);
extern void sf_announced_merge(SfAnnounced *announced, const SfAnnounced *left);
extern void sf_slice_run(const SfSliceRequest *request, SfSliceResult *result);
extern void sf_slice_fail_branch(const SfSliceRequest *request, const char *cause);

extern int	sf_claim_touched(SfBranchKey *keys, int size);

/*
 * --- what follows a slice that failed: tries.c ---
 *
 * When a slice fails, by an error in it or in its commit, nothing of it has
 * happened, and the error does not say which branch caused it.  The same three
 * steps follow, in a worker (each try is a transaction, worker/turn/turn.c) and in a
 * session (each is a subtransaction, api/execution/run_functions.c):
 *
 *	1.	The branches of the slice, sf_claim_touched(), run one by one.
 *	2.	A branch that fails by a conflict with others is tried again, SF_TRIES
 *		times in all, after pauses of random length.
 *	3.	When that does not help, or the error is the branch's own, it ends with
 *		States.Runtime and the error's text: sf_slice_fail_branch().
 */

extern void sf_tries_run(bool (*try_once) (void *arg, bool last), void *arg);

#endif							/* SF_RUN_SLICE_H */
