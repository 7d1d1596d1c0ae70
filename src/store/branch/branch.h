/*
 * branch.h
 *		Rows of _sfflow.branch.  A branch is one thread of control of an execution:
 *		the root, a branch of a Parallel state, an iteration of a Map state, or a job
 *		of a JobNet.
 */
#ifndef SF_STORE_BRANCH_H
#define SF_STORE_BRANCH_H

#include "nodes/pg_list.h"

#include "asl/program.h"
#include "base/error/errors.h"
#include "base/hooks.h"
#include "base/name/work_key.h"
#include "base/value/one_of.h"
#include "db/row.h"
#include "json/json.h"
#include "store/branch/phase.h"

/*
 * Where a branch stands that is not due and has not begun its step; the numbers are stored:
 *
 *	NONE	nowhere
 *	WAITS	a job of a JobNet, which has not begun: for others; "pending" of its After have not ended
 *	READY	a job that has not begun: for room (MaxConcurrency)
 *	SHARED	(a row of the table) jobs that have ended share the row (net_job_rows.c)
 *	PARKED	a feature keeps it, in a phase of SF_PHASES_BEFORE_GATE: a row of _sfflow.parked says for what (park.h)
 *
 * A branch leaves its place when it becomes due, and with any transition.  The constraint branch_place says what is
 * not due for which reason.
 */
#define SF_BRANCH_PLACE_LIST(X) \
	X(NONE, 0) \
	X(WAITS, 1) \
	X(READY, 2) \
	X(SHARED, 3) \
	X(PARKED, 4)

#define SF_BRANCH_PLACE_ENUM(sym, number) SF_BRANCH_PLACE_##sym = number,
typedef enum SfBranchPlace
{
	SF_BRANCH_PLACE_LIST(SF_BRANCH_PLACE_ENUM)
} SfBranchPlace;

/* How a join, or a net between two slices, goes on; two columns that 1.0 has tell it */
typedef enum SfJoinCourse
{
	SF_JOIN_GOES_ON,
	SF_JOIN_FAILING,			/* a child has failed, or could not begin: it fails when its children have ended */
	SF_JOIN_ABORTING			/* it ends as ABORTED when its children have ended, also if one of them has failed */
} SfJoinCourse;

/*
 * Columns of _sfflow.branch; see sql/parts/store/branch.sql.
 *
 * Of a branch in one phase, two of them say what they say of no branch in another phase.  Each is one column all the
 * same, so that the row is no larger.  Two others say one thing together.  test/lint/door has other code read and set
 * all of these by functions of this file, which assert the phase:
 *
 *	pending		SF_PHASES_WITH_CHILDREN: children that have not ended; place WAITS: others that the job waits for
 *	payload		DONE: the output; any other phase: the input of the state.  NULL: it was read without its documents, or
 *				it is a job that has not begun, which has the input of its net.
 *	failing, aborting	SF_PHASES_WITH_CHILDREN: SfJoinCourse; never both
 *
 * That a failing join cannot be caught is told by its error; what 1.0 had for it, uncatchable, is always false.
 */
#define SF_BRANCH_COLUMNS(X) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(int64, branch_no, INT8, NOT_NULL) \
	X(int64, parent_no, INT8, NULL_IS(SF_NO_BRANCH)) \
	X(int, branch_index, INT4, NOT_NULL) \
	X(int, scope, INT4, NOT_NULL) \
	X(int, state, INT4, NOT_NULL) \
	X(SfPhase, phase, INT2, NOT_NULL) \
	X(SfBranchPlace, place, INT2, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL)	/* of the machine */ \
	X(int, attempt, INT4, NOT_NULL) \
	X(int, generation, INT4, NOT_NULL) \
	X(int, entered_event, INT4, NOT_NULL)	/* ids of events, until they are written */ \
	X(int, last_event, INT4, NOT_NULL)	/* provisional ones, see store/history/history_event.h */ \
	X(int, payload_event, INT4, NOT_NULL) \
	X(int, pending, INT4, NOT_NULL)	/* only by sf_branch_children_left, sf_branch_net_jobs_left and what sets them */ \
	X(int, next_index, INT4, NOT_NULL) \
	X(int, total, INT4, NOT_NULL) \
	X(int, max_concurrency, INT4, NOT_NULL)	/* of a join, or SF_UNLIMITED */ \
	X(int, failed_event, INT4, NOT_NULL) \
	X(int, transitions, INT4, NOT_NULL)	/* of it and of its children that have ended */ \
	X(int64, map_run_no, INT8, NULL_IS(SF_NO_MAP_RUN))	/* Distributed Map: the run */ \
	X(bool, failing, BOOL, NOT_NULL)	/* only by sf_join_course and what sets it */ \
	X(bool, aborting, BOOL, NOT_NULL)	/* ... */ \
	X(bool, uncatchable, BOOL, NOT_NULL)	/* false */ \
	X(TimestampTz, due_at, TIMESTAMPTZ, NULL_IS(DT_NOEND))	/* never by itself */ \
	X(TimestampTz, entered_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* not yet */ \
	X(TimestampTz, started_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, deadline, TIMESTAMPTZ, NULL_IS(DT_NOEND)) \
	X(int *, iterations, INT4_ARRAY, NULLABLE) \
	X(int *, retry_counts, INT4_ARRAY, NULLABLE) \
	X(int *, jobs, INT4_ARRAY, NULLABLE)	/* place SHARED: those that share the row, see net_job_rows.c */ \
	X(char *, error, TEXT, NULLABLE) \
	X(char *, cause, TEXT, NULLABLE) \
	X(char *, sqlstate, TEXT, NULLABLE)	/* of a long task, until the next slice */ \
	X(Jsonb *, payload, JSONB_KEPT, NULLABLE)	/* only by sf_branch_input, sf_branch_output, sf_branch_carry */ \
	X(Jsonb *, variables, JSONB_KEPT, NULLABLE) \
	X(Jsonb *, task_payload, JSONB_KEPT, NULLABLE)	/* ANNOUNCED */ \
	X(Jsonb *, outcome, JSONB_KEPT, NULLABLE)	/* SF_PHASES_WITH_OUTCOME: of the task */ \
	X(Jsonb *, join_input, JSONB_KEPT, NULLABLE)	/* of a Map: items; of a net: sf_branch_input_of_net_jobs */ \
	X(Jsonb *, item, JSONB_KEPT, NULLABLE)	/* of the iteration, if a state looks at it */ \
	X(int, last_inner_event, INT4, NOT_NULL)	/* DONE: the last event before that of its end */ \
	X(bool, outcome_failed, BOOL, NOT_NULL)	/* SF_PHASES_WITH_OUTCOME: it is an error */ \
	X(bool, unmet, BOOL, NOT_NULL)	/* a job that waits: one of its After has ended in another way */ \
	X(int *, job_ends, INT4_ARRAY, NULLABLE)	/* JobNet: how its jobs have ended, see net_job_rows.h */ \
	X(bool, items_unread, BOOL, NOT_NULL)	/* SF_PHASES_READING: of the two tasks, it is the one that reads the items */

/* The row of a branch in memory */
typedef struct SfBranchRow
{
	bool		stored;			/* there is one */
	bool		gone;			/* it is to be deleted, or not to be made */
	bool		was_inside;		/* when it was read or written: sf_branch_is_inside */
	bool		is_to_share;	/* DONE: it is to be one row with those of other jobs of the net */
	ItemPointerData tid;		/* where it was when it was read and locked */
	struct SfBranch *shared;	/* the row that was read, which jobs share; NULL: the branch has its own */
} SfBranchRow;

/* The queue that a branch has left for the step that it is about to begin */
typedef struct SfLeftQueue
{
	SfQueue		queue;			/* SF_NO_QUEUE: it was in none, and the others say nothing */
	TimestampTz as_if_since;	/* its order there (SfQueueOrder) */
	TimestampTz since;			/* it has waited since then */
} SfLeftQueue;

/* Where the children of a branch in phase JOIN are, as the slice that works on it knows */
typedef enum SfChildrenSource
{
	SF_CHILDREN_STORED,			/* in rows, maybe of other sessions */
	SF_CHILDREN_NEW,			/* in memory: this slice has begun all of them */
	SF_CHILDREN_RESUMED			/* jobs of a net that goes on (phase NET): those that have not begun are in memory */
} SfChildrenSource;

/* What those know of a branch who work on it: a slice, or a session that redrives or migrates its execution */
typedef struct SfBranchWork
{
	bool		in_draft;		/* it is among the branches of the draft */
	bool		is_parent;		/* redrive, migration: it has children */
	int			unsuccessful;	/* redrive: so many of them have not succeeded */
	SfChildrenSource children;
	struct SfBranch *join;		/* the parent, where it began this branch in this slice */
	struct SfNet *net;			/* JobNet: its jobs, while they are in memory */
} SfBranchWork;

/* A branch: key is its first two columns, and what is below the columns is not stored. */
typedef struct SfBranch
{
	union
	{
		SfBranchKey key;
		struct
		{
			SF_BRANCH_COLUMNS(SF_FIELD)
		};
	};

	SfBranchRow row;
	SfLeftQueue left_queue;
	SfBranchWork work;
} SfBranch;

/* Is a branch parked before its step?  Nothing makes it due but the end of what a feature keeps it for. */
static inline bool
sf_branch_is_parked(const SfBranch *branch)
{
	return branch->place == SF_BRANCH_PLACE_PARKED;
}

/* Is a branch a job that has not begun, and waits for others to end, or for room? */
static inline bool
sf_branch_is_job_to_come(const SfBranch *branch)
{
	return SF_IS_ONE_OF(branch->place, SF_BRANCH_PLACE_WAITS, SF_BRANCH_PLACE_READY);
}

/* Has a branch ended? */
static inline bool
sf_branch_has_ended(const SfBranch *branch)
{
	return SF_IS_ONE_OF(branch->phase, SF_PHASES_ENDED);
}

/* How many children of a join, or of a net between two slices, have not ended? */
static inline int
sf_branch_children_left(const SfBranch *join)
{
	Assert(SF_IS_ONE_OF(join->phase, SF_PHASES_WITH_CHILDREN));
	return join->pending;
}

/* Have a join wait for so many children. */
static inline void
sf_branch_set_children_left(SfBranch *join, int left)
{
	Assert(SF_IS_ONE_OF(join->phase, SF_PHASES_WITH_CHILDREN) && left >= 0);
	join->pending = left;
}

/* How does a join go on, or a net between two slices? */
static inline SfJoinCourse
sf_join_course(const SfBranch *join)
{
	Assert(SF_IS_ONE_OF(join->phase, SF_PHASES_WITH_CHILDREN));
	Assert(!join->failing || !join->aborting);
	return join->aborting ? SF_JOIN_ABORTING : join->failing ? SF_JOIN_FAILING : SF_JOIN_GOES_ON;
}

/* Have a join go on in another way. */
static inline void
sf_join_set_course(SfBranch *join, SfJoinCourse course)
{
	Assert(SF_IS_ONE_OF(join->phase, SF_PHASES_WITH_CHILDREN));
	join->failing = course == SF_JOIN_FAILING;
	join->aborting = course == SF_JOIN_ABORTING;
}

/* A branch is no join any more, or its children are to begin anew. */
static inline void
sf_join_forget_course(SfBranch *branch)
{
	branch->failing = branch->aborting = false;
}

/* Does a join, which may have a failure mode, give up, so that its children have to end? */
static inline bool
sf_join_gives_up(const SfBranch *join, SfFailureMode mode)
{
	switch (sf_join_course(join))
	{
		case SF_JOIN_GOES_ON:
			return false;
		case SF_JOIN_FAILING:
			return mode == SF_FAILURE_ABORT;
		case SF_JOIN_ABORTING:
			return true;
	}
	return false;
}

/* sf_join_gives_up of a row b, in SQL; drains is an argument of the query: is its failure mode DRAIN? */
#define SF_JOIN_GIVES_UP(drains)	"(b.aborting OR b.failing AND NOT " drains ")"

/* Is a join failing with an error that its state cannot catch? */
static inline bool
sf_join_is_uncatchable(const SfBranch *join)
{
	return sf_join_course(join) == SF_JOIN_FAILING && join->error != NULL && strcmp(join->error, SF_ERR_RUNTIME) == 0;
}

/* How many jobs does a job wait for still? */
static inline int
sf_branch_net_jobs_left(const SfBranch *job)
{
	Assert(sf_branch_is_job_to_come(job));
	return job->pending;
}

/* Have a branch wait for no other one. */
static inline void
sf_branch_wait_for_none(SfBranch *branch)
{
	branch->pending = 0;
}

/* The input of the state that a branch is in, or is about to enter; NULL: a job has not been given it. */
static inline Jsonb *
sf_branch_input(const SfBranch *branch)
{
	Assert(branch->phase != SF_PHASE_DONE && !sf_phase_is_of_execution(branch->phase));
	return branch->payload;
}

/* The output of a branch that has ended with success. */
static inline Jsonb *
sf_branch_output(const SfBranch *branch)
{
	Assert(branch->phase == SF_PHASE_DONE && branch->place != SF_BRANCH_PLACE_SHARED);
	return branch->payload;
}

/*
 * Have a branch carry a document: to the state that it enters, whose input it is, or, if it ends with it, to its join.
 * An event of the branch has it, or none does (SF_NO_EVENT).
 */
static inline void
sf_branch_carry(SfBranch *branch, Jsonb *document, int event)
{
	branch->payload = document;
	branch->payload_event = event;
}

/* The input of the jobs of a net: that of its state, unless the state gives them another one. */
static inline Jsonb *
sf_branch_input_of_net_jobs(const SfBranch *net)
{
	return net->join_input != NULL ? net->join_input : sf_branch_input(net);
}

/* The payload of an announced task. */
static inline Jsonb *
sf_branch_task_payload(const SfBranch *branch)
{
	Assert(branch->phase == SF_PHASE_ANNOUNCED);
	return branch->task_payload;
}

/* Is the outcome of its task in the row of a branch, which goes on from it, now or with a redrive? */
static inline bool
sf_branch_has_outcome(const SfBranch *branch)
{
	return SF_IS_ONE_OF(branch->phase, SF_PHASES_WITH_OUTCOME);
}

/* Is that outcome an error, which is that of the branch (sf_step_branch_error)? */
static inline bool
sf_branch_outcome_failed(const SfBranch *branch)
{
	Assert(sf_branch_has_outcome(branch));
	return branch->outcome_failed;
}

/* That outcome, if it is none; NULL: it has no value. */
static inline Jsonb *
sf_branch_outcome(const SfBranch *branch)
{
	Assert(sf_branch_has_outcome(branch) && !branch->outcome_failed);
	return branch->outcome;
}

/* Is a branch one of another branch, its join?  The root is not. */
static inline bool
sf_branch_has_parent(const SfBranch *branch)
{
	return branch->parent_no != SF_NO_BRANCH;
}

/* Has a branch begun the run of a Distributed Map, and not ended it? */
static inline bool
sf_branch_has_map_run(const SfBranch *branch)
{
	return branch->map_run_no != SF_NO_MAP_RUN;
}

/* The phase of a branch that goes on from the outcome of its task. */
static inline SfPhase
sf_branch_answered_phase(const SfBranch *branch)
{
	return sf_branch_has_map_run(branch) ? SF_PHASE_MAP_ANSWERED : SF_PHASE_ANSWERED;
}

/*
 * Have a branch in memory, which the caller writes, come at a time that no transition has decided.  transition/ sets
 * due_at itself; outside of it only this and sf_branch_stand_at do.  docs/architecture.md lists the callers.
 */
static inline void
sf_branch_come_at(SfBranch *branch, TimestampTz at)
{
	branch->place = SF_BRANCH_PLACE_NONE;
	branch->due_at = at;
}

/* Have a branch in memory, which the caller writes, stand at a place: it is not due. */
static inline void
sf_branch_stand_at(SfBranch *branch, SfBranchPlace place)
{
	branch->place = place;
	branch->due_at = DT_NOEND;
}

/* Have a job that has not begun wait for so many others. */
static inline void
sf_branch_wait_for_jobs(SfBranch *job, int left)
{
	Assert(job->phase == SF_PHASE_ENTER && left > 0);
	sf_branch_stand_at(job, SF_BRANCH_PLACE_WAITS);
	job->pending = left;
}

/* One of the jobs that a job waits for has ended; returns how many have not. */
static inline int
sf_branch_count_job_end(SfBranch *job)
{
	Assert(job->place == SF_BRANCH_PLACE_WAITS && job->pending > 0);
	return --job->pending;
}

/* Have a job wait for room, and for no other one. */
static inline void
sf_branch_wait_for_room(SfBranch *job)
{
	sf_branch_stand_at(job, SF_BRANCH_PLACE_READY);
	sf_branch_wait_for_none(job);
}

/* The phase of a branch whose execution has ended. */
static inline SfPhase
sf_phase_at_end(SfPhase phase)
{
	if (SF_IS_ONE_OF(phase, SF_PHASES_ANSWERED))
		return SF_PHASE_KEPT;
	return SF_IS_ONE_OF(phase, SF_PHASES_STAYING_AT_END) ? phase : SF_PHASE_ABORTED;
}

/* A new branch, in memory, that is about to enter a state. */
static inline SfBranch *
sf_branch_make(int64 execution_no, Oid owner, int64 branch_no)
{
	SfBranch   *branch = palloc0(sizeof(SfBranch));

	branch->key.execution_no = execution_no;
	branch->key.branch_no = branch_no;
	branch->owner = owner;
	branch->parent_no = SF_NO_BRANCH;
	branch->phase = SF_PHASE_ENTER;
	branch->due_at = DT_NOEND;
	branch->entered_at = DT_NOBEGIN;
	branch->started_at = DT_NOBEGIN;
	branch->deadline = DT_NOEND;
	return branch;
}

/* The root of an execution, which is about to enter a state: the one maker of such rows. */
static inline SfBranch *
sf_branch_make_root(int64 execution_no, Oid owner, int state, Jsonb *payload, TimestampTz due)
{
	SfBranch   *root = sf_branch_make(execution_no, owner, SF_BRANCH_ROOT);

	root->state = state;
	root->payload = payload;
	root->due_at = due;
	return root;
}

/* The timeout of an execution. */
static inline SfBranch *
sf_branch_make_timeout(int64 execution_no, Oid owner, TimestampTz due)
{
	SfBranch   *timeout = sf_branch_make(execution_no, owner, SF_BRANCH_TIMEOUT);

	timeout->phase = SF_PHASE_TIMEOUT;
	timeout->due_at = due;
	return timeout;
}

/* A request to stop an execution. */
static inline SfBranch *
sf_branch_make_stop(int64 execution_no, Oid owner, TimestampTz due, char *cause)
{
	SfBranch   *stop = sf_branch_make(execution_no, owner, SF_BRANCH_STOP);

	stop->phase = SF_PHASE_STOP;
	stop->due_at = due;
	stop->cause = cause;
	return stop;
}

extern int64 sf_branch_next_no(void);
extern SfBranch *sf_branch_read(SfBranchKey key, SfLock lock);
extern bool sf_branch_lock_outside(SfBranchKey key, int generation);

/* What counts as due when a branch is claimed */
#define SF_CLAIM_DUE_ALONE	0
#define SF_CLAIM_WAITS		0x01	/* also Wait states and retry delays */
#define SF_CLAIM_PARKED		0x02	/* also what waits in a queue */

extern SfBranch *sf_branch_claim(SfBranchKey key, SfLock lock, TimestampTz at, uint32 also);
extern List *sf_branch_children(SfBranchKey parent, SfLock lock);
extern List *sf_branch_all(int64 execution_no, SfLock lock);
extern bool sf_branch_try_all(int64 execution_no, List **branches);
extern SfBranch *sf_branch_by_no(List *branches, int64 branch_no);
extern SfBranch *sf_branch_read_seen(SfBranchKey key);
extern List *sf_branch_scan(int64 execution_no, const SfProgram *program);
extern TimestampTz sf_branch_first_due(int64 execution_no);

/*
 * A join without its documents (NULL), for its children: a Map's items may be
 * large, and its children are many.  Write what they change of one that is
 * locked with sf_branch_update_join(): counters, flags, error, due_at.
 */
extern SfBranch *sf_branch_read_join(SfBranchKey key, SfLock lock);
extern void sf_branch_update_join(SfBranch *join);

extern Jsonb **sf_branch_outputs(SfBranchKey parent, int **indexes, int *count,
								 int *last_event);
extern List *sf_branch_net_jobs(SfBranchKey parent, const List *numbers, bool waiting);
extern List *sf_branch_net_jobs_to_come(SfBranchKey parent);
extern List *sf_branch_ready_net_jobs(SfBranchKey parent, int most);
extern List *sf_branch_net_jobs_of_shared_rows(SfBranchKey parent, const List *numbers);
extern int	sf_branch_last_inner_event(SfBranchKey parent);
extern void sf_branch_delete_orphan(SfBranchKey key);
extern void sf_branch_leave_state(SfBranch *branch);
extern void sf_branch_write(List *branches);
extern void sf_branch_put_off(SfBranchKey key, TimestampTz until);
extern void sf_branch_set_timeout(SfBranchKey key, TimestampTz due);
extern void sf_branch_answer(SfBranchKey key, bool ok, const Jsonb *outcome,
							 const char *error, const char *cause);
extern void sf_branch_notify_due(SfBranchKey key, Oid owner, TimestampTz due);
extern void sf_branch_delete_children(SfBranchKey parent);
extern void sf_branch_delete_all(int64 execution_no);
extern void sf_branch_delete_stops(const List *executions);
extern void sf_branch_quiesce(int64 execution_no);

/* Does a branch at a Distributed Map that has begun a run have to read its items still? */
static inline bool
sf_branch_is_reading(const SfBranch *branch)
{
	Assert(!branch->items_unread || sf_branch_has_map_run(branch));
	return branch->items_unread;
}

/* Has a branch begun the item executions of a Distributed Map? */
static inline bool
sf_branch_has_read(const SfBranch *branch)
{
	return sf_branch_has_map_run(branch) && !branch->items_unread;
}

/*
 * Is a branch inside of its state?  It is from the beginning of the step to the outcome, and holds what it has
 * taken for the state, such as slots of limits: also a net that goes on, and a Distributed Map whose items were
 * read or whose results are to be written.  A retry leaves the state.
 */
static inline bool
sf_branch_is_inside(const SfBranch *branch)
{
	return SF_IS_ONE_OF(branch->phase, SF_PHASES_INSIDE);
}

#endif							/* SF_STORE_BRANCH_H */
