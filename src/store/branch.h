/*
 * branch.h
 *		Rows of _sfflow.branch: strands of control, and what phase each is in.
 */
#ifndef SF_STORE_BRANCH_H
#define SF_STORE_BRANCH_H

#include "base/hooks.h"
#include "json/json.h"
#include "nodes/pg_list.h"
#include "store/direct.h"

/*
 * Phases, with the phases that may follow.  "due" says whether due_at is set.
 *
 *	ENTER		due			about to enter its state			→ any below, ENTER
 *	RUN			due			entered; to do the state's work again (retry; a
 *							child state's redrive)				→ as ENTER
 *	WAIT		due			Wait state until due_at				→ ENTER, DONE
 *	JOIN		when ready	Parallel, Map: until its children have ended
 *																→ ENTER, RUN, DONE, FAILED
 *	ANNOUNCED	due			long SQL task visible as running, to be run by
 *							whoever claims it					→ ANSWERED, ANNOUNCED
 *	ANSWERED	due			outcome of its task is in the row	→ as ENTER
 *	EXTERNAL	timeouts	handed out to a program outside		→ ANSWERED
 *	DONE		no			ended; payload is its output; until the join
 *	FAILED		no			ended with error and cause
 *	ABORTED		no			ended because a sibling or the execution did
 *	DEADLINE	due			not a strand of control: the machine's timeout
 *	STOP		due			nor this: the execution is to end as ABORTED
 *
 * The numbers are stored.
 */
#define SF_PHASE_LIST(X) \
	X(ENTER, 0) \
	X(RUN, 1) \
	X(WAIT, 2) \
	X(JOIN, 3) \
	X(ANNOUNCED, 4) \
	X(ANSWERED, 5) \
	X(EXTERNAL, 6) \
	X(DONE, 7) \
	X(FAILED, 8) \
	X(ABORTED, 9) \
	X(DEADLINE, 10) \
	X(STOP, 11)

#define SF_PHASE_ENUM(sym, number) SF_PHASE_##sym = number,
typedef enum SfPhase
{
	SF_PHASE_LIST(SF_PHASE_ENUM)
} SfPhase;

#define SF_BRANCH_ROOT		INT64CONST(0)
#define SF_BRANCH_DEADLINE	INT64CONST(-1)
#define SF_BRANCH_STOP		INT64CONST(-2)

/* Execution status as stored: number, name */
#define SF_STATUS_LIST(X) \
	X(RUNNING, 0) \
	X(SUCCEEDED, 1) \
	X(FAILED, 2) \
	X(TIMED_OUT, 3) \
	X(ABORTED, 4)

#define SF_STATUS_ENUM(sym, number) SF_STATUS_##sym = number,
typedef enum SfStatus
{
	SF_STATUS_LIST(SF_STATUS_ENUM)
} SfStatus;

extern const char *sf_status_name(SfStatus status);

/* A strand of control, as a row holds it; see sql/parts/10-tables.sql. */
typedef struct SfBranch
{
	SfBranchKey key;
	Oid			owner;			/* of the machine */
	int64		parent_no;		/* -1: no parent */
	int			branch_index;
	int			scope;
	int			state;
	SfPhase		phase;
	int			priority;
	int			attempt;
	int			generation;
	int			entered_event;	/* event ids; negative ones are provisional, */
	int			last_event;		/* see src/run/apply.c */
	int			payload_event;
	int			pending;
	int			next_index;
	int			total;
	int			max_concurrency;
	int			failed_event;
	int			transitions;	/* of it and of its children that have ended */
	int64		map_run_no;		/* Distributed Map: the run; 0: none */
	bool		failing;
	bool		aborting;
	bool		uncatchable;
	TimestampTz due_at;			/* DT_NOEND: not due by itself */
	TimestampTz entered_at;		/* DT_NOBEGIN: not yet */
	TimestampTz started_at;
	TimestampTz deadline;		/* DT_NOEND: none */
	int			niterations;
	int		   *iterations;
	int			nretries;
	int		   *retry_counts;
	char	   *error;
	char	   *cause;
	Jsonb	   *payload;
	Jsonb	   *variables;
	Jsonb	   *result;

	/* not stored */
	ItemPointerData tid;		/* of the row, when it was read and locked */
	struct SfStoredDocument
	{
		Datum		stored;		/* as it stands in the row, if out of line */
		Jsonb	   *document;	/* what was read from there */
	}			as_read[3];		/* payload, variables, result: so that an
								 * unchanged large one is not stored anew */
	bool		stored;			/* there is a row */
	bool		gone;			/* the row is to be deleted */
	bool		is_parent;		/* scratch of a redrive: has children */
} SfBranch;

/* A key as the first two arguments of a query, or as the values of branch_pkey. */
#define SF_BRANCH_KEY_DATUMS(key) \
	Int64GetDatum((key).execution_no), Int64GetDatum((key).branch_no)

/* Tell whether a branch has ended (a parked outcome of a stopped one too). */
extern bool sf_branch_has_ended(const SfBranch *branch);

extern SfBranch *sf_branch_make(int64 execution_no, Oid owner, int64 branch_no);

/* A number for a new branch. */
extern int64 sf_branch_next_no(void);

/* One branch by key; NULL when it is not there, or locked with SF_LOCK_SKIP. */
extern SfBranch *sf_branch_read(SfBranchKey key, SfLock lock);

/*
 * Lock and read a branch that is due and that nobody else has; NULL when it
 * is not to be had.  Joins and deadlines are left out: they are claimed with
 * sf_branch_read() under the lock of their execution (see run/slice.c).
 * With skip_waits, Wait states and retry delays count as due.
 */
extern SfBranch *sf_branch_claim(SfBranchKey key, SfLock lock, TimestampTz at,
								 bool skip_waits);

/* The children of a branch, by index; a List of SfBranch. */
extern List *sf_branch_children(SfBranchKey parent, SfLock lock);

/* Every branch of an execution, by number. */
extern List *sf_branch_all(int64 execution_no, SfLock lock);

/*
 * The columns of a join that its children look at and change: state, phase,
 * counters, flags, error.  Documents are left out (NULL): a Map's items may
 * be large, and its children are many.  Write one that is locked with
 * sf_branch_update_join().
 */
extern SfBranch *sf_branch_read_join(SfBranchKey key, SfLock lock);
extern void sf_branch_update_join(SfBranch *join);

/*
 * Outputs of the children that there are, in the order of their index; the
 * largest last_event of any of them goes to *last_event.
 */
extern Jsonb **sf_branch_outputs(SfBranchKey parent, int *count,
								 int *last_event);

/* The last inner event of the child that ended last, 0 when there is none. */
extern int	sf_branch_last_inner_event(SfBranchKey parent);

/* Delete a branch, unless it is locked, whose execution went with its machine. */
extern void sf_branch_delete_orphan(SfBranchKey key);

/* Write branches: inserts, updates or deletes by stored and gone. */
extern void sf_branch_write(List *branches);

/* Make a branch that is due, and that nobody holds, due later. */
extern void sf_branch_put_off(SfBranchKey key, TimestampTz until);

/* Delete all descendants of a branch; waits for none of them. */
extern void sf_branch_delete_children(SfBranchKey parent);

/* Delete every branch of an execution. */
extern void sf_branch_delete_all(int64 execution_no);

/*
 * End what is left of an execution that has ended: branches that nobody holds
 * become ABORTED (parked outcomes and joins keep their phase) and not due.
 */
extern void sf_branch_quiesce(int64 execution_no);

#endif							/* SF_STORE_BRANCH_H */
