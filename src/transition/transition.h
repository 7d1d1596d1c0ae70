/*
 * transition.h
 *		A transition of a branch: what it is given, and what it says
 *		shall be.
 *
 *		(what was loaded, branch, stimulus, now) → (branch', effects)
 *
 * It reads no table, no catalogue and no clock, and changes nothing
 * that it is given.  run/ loads what a state needs before the call and carries
 * the effects out afterwards (run/apply/apply.c).  A transition may turn out to need
 * something that was not loaded: then its "needs" say what, the rest of it is
 * void, and the caller loads that and calls again.
 */
#ifndef SF_TRANSITION_TRANSITION_H
#define SF_TRANSITION_TRANSITION_H

#include "asl/program.h"
#include "store/execution/execution.h"
#include "store/history/history_event.h"
#include "store/history/history_event_types.h"
#include "store/map_run/map_run.h"
#include "store/state_machine/machine.h"
#include "store/task/task.h"

/*
 * What sf_test_state shows of a state's data, in the words of the service's
 * inspectionData: symbol, name.
 */
#define SF_INSPECTION_LIST(X) \
	X(INPUT, "input") \
	X(AFTER_INPUT_PATH, "afterInputPath") \
	X(AFTER_PARAMETERS, "afterParameters") \
	X(AFTER_ARGUMENTS, "afterArguments") \
	X(AFTER_ITEMS_PATH, "afterItemsPath") \
	X(AFTER_ITEMS_POINTER, "afterItemsPointer") \
	X(AFTER_ITEM_SELECTOR, "afterItemSelector") \
	X(AFTER_ITEM_BATCHER, "afterItemBatcher") \
	X(RESULT, "result") \
	X(AFTER_RESULT_SELECTOR, "afterResultSelector") \
	X(AFTER_RESULT_PATH, "afterResultPath") \
	X(MAX_CONCURRENCY, "maxConcurrency") \
	X(TOLERATED_FAILURE_COUNT, "toleratedFailureCount") \
	X(TOLERATED_FAILURE_PERCENTAGE, "toleratedFailurePercentage") \
	X(VARIABLES, "variables")

#define SF_INSPECTION_ENUM(sym, name) SF_INSPECTION_##sym,
typedef enum SfInspectionField
{
	SF_INSPECTION_LIST(SF_INSPECTION_ENUM)
	SF_INSPECTION_COUNT
} SfInspectionField;

/* Where the number of a retrier or a catcher may stand: none matches */
#define SF_NO_RETRIER	(-1)
#define SF_NO_CATCHER	(-1)

/* Where the delay of a retry may stand: there is none */
#define SF_NO_RETRY		(-1)

/* What a test of a state is told; with it causes have no prefix */
typedef struct SfInspection
{
	Jsonb	   *context;		/* $$, but for Map.Item while items are made */
	Jsonb	   *values[SF_INSPECTION_COUNT];
	const char *next_name;		/* where the state leads, NULL: nowhere */
	bool		failed;			/* it met an error … */
	SfError		error;			/* … this one, … */
	int			retrier;		/* … which this one matched, or SF_NO_RETRIER, … */
	int			catcher;		/* … and this one, or SF_NO_CATCHER */
	int64		delay_us;		/* until the next attempt, or SF_NO_RETRY */
} SfInspection;

/* --- what goes in --- */

/* What was loaded for a transition, besides the branch */
typedef struct SfLoaded
{
	const SfExecution *execution;
	const SfProgram *program;
	SfHistoryLevel history;
	int			max_transitions;	/* of the execution, or SF_UNLIMITED */
	SfInspection *inspection;	/* sf_test_state; else NULL */
	int			nevents;		/* events that wait to be written (sf_event_provisional_id) */
	uint32		has;			/* SF_NEED_…: which of the following are loaded */

	int			base_event_id;	/* EVENT_IDS: the last id in the table */
	Jsonb	   *input;			/* CONTEXT: of the execution, NULL: not looked at, */
	const char *role;			/* ... public name of its role; NULL: unknown */
	bool		is_synchronous; /* ... it runs within the call that started it, and is never redriven */
	Jsonb	   *jobs;			/* ... what came before in a JobNet, NULL: not looked at */
	const char *token;			/* TOKEN: of the task that is to be handed out */
	SfMapRun   *map_run;		/* MAP_RUN: of the branch, or named for a new one */
	Jsonb	  **items;			/* ITEMS: from branch->next_index on */
	int			nitems;
	bool		may_begin;		/* ITEMS: the owner's quota has room for an execution */
	double		random;			/* RANDOM: from 0 to 1, for the jitter of a delay */
} SfLoaded;

/* What happened to the branch since its last transition */
typedef enum SfStimulusKind
{
	SF_STIMULUS_DUE,			/* its time has come */
	SF_STIMULUS_MARKED,			/* so, and an operator has marked its job */
	SF_STIMULUS_THROTTLED,		/* so, and a feature has its state fail */
	SF_STIMULUS_TASK,			/* its task has an outcome, with which the state goes on */
	SF_STIMULUS_STORED_OUTCOME, /* its task has one that its row is to store; the
								 * state goes on in a later slice */
	SF_STIMULUS_ANNOUNCED,		/* its task is long and gets transactions of its own */
	SF_STIMULUS_HANDED_OUT,		/* its task is of an activity, and waits for a client to take it */
	SF_STIMULUS_WAITS,			/* its task is asked for: the branch waits for its token,
								 * its nested execution, a person or an event */
	SF_STIMULUS_JOINED,			/* its children have ended */
	SF_STIMULUS_NOT_YET,		/* nothing: it is to be looked at again */
	SF_STIMULUS_ABORTED,		/* the join above it gives up */
	SF_STIMULUS_CONDEMNED,		/* its step cannot be run: it fails with an error */
	SF_STIMULUS_OVER,			/* its execution has ended */
	SF_STIMULUS_REDRIVEN,		/* its execution goes on: the branch runs again */
	/* of the execution as a whole; the branch is one in phase STOP or TIMEOUT */
	SF_STIMULUS_STOPPED,		/* it is to end as ABORTED */
	SF_STIMULUS_ORPHANED,		/* so, as its Distributed Map is over */
	SF_STIMULUS_TIMED_OUT		/* its time is up */
} SfStimulusKind;

/* DUE: a join goes on, or what rests begins again */
typedef struct SfDue
{
	int			last_inner_event;	/* of the child of a Map that ended last: without MapIterationSucceeded;
									 * SF_NO_EVENT: there is none, or it is not looked for */
} SfDue;

/* TASK, STORED_OUTCOME: what comes of an SfTaskOutcome, or of what a client, a person or an event gives */
typedef struct SfOutcome
{
	bool		ok;
	Jsonb	   *output;			/* if it is ok */
	SfError		error;			/* if not */
	SfTask	   *task;			/* its row, or NULL; TASK: it is over, STORED_OUTCOME: it has changed */
} SfOutcome;

/* How a job is to end that an operator has marked */
typedef enum SfMarkedKind
{
	SF_MARKED_PASS,				/* with success; the state's input is its output */
	SF_MARKED_OUTPUT,			/* with success and an output */
	SF_MARKED_ERROR				/* with an error */
} SfMarkedKind;

/* MARKED */
typedef struct SfMarked
{
	SfMarkedKind kind;
	Jsonb	   *output;			/* OUTPUT */
	SfError		error;			/* ERROR */
	Jsonb	   *details;		/* of the event */
} SfMarked;

/* A task that is answered later */
typedef struct SfTaskWait
{
	SfTask	   *task;			/* the row with which it is handed out, or NULL */
	TimestampTz due;			/* until when to rest */
} SfTaskWait;

/* ANNOUNCED */
typedef struct SfAnnouncement
{
	SfTaskWait	wait;
	Jsonb	   *payload;		/* of the task */
} SfAnnouncement;

/* WAITS */
typedef struct SfAnswerWait
{
	SfTaskWait	wait;
	Jsonb	   *output;			/* of TaskSubmitted: the request's, or what says whom the branch waits for */
} SfAnswerWait;

/* What of children their join has */
typedef enum SfJoinedKind
{
	SF_JOINED_FAILED,			/* it fails, as its branch tells */
	SF_JOINED_UNWRITTEN,		/* a ResultWriter is to write what there is */
	SF_JOINED_OUTPUTS,
	SF_JOINED_RESULT,			/* of a Distributed Map without ResultWriter, or of a test */
	SF_JOINED_TOO_LARGE			/* that result is */
} SfJoinedKind;

/* JOINED */
typedef struct SfJoined
{
	SfJoinedKind kind;
	Jsonb	  **outputs;		/* OUTPUTS: of children, */
	int		   *indexes;		/* ... these, */
	int			noutputs;		/* ... so many */
	Jsonb	   *result;			/* RESULT */
	int			last_event;		/* of any child; SF_NO_EVENT: none of them has one */
} SfJoined;

/* NOT_YET */
typedef struct SfNotYet
{
	SfTask	   *task;			/* the row of a task that has changed, or NULL */
	TimestampTz due;			/* until when to rest */
	bool		aborting;		/* the join above it gives up */
} SfNotYet;

/* ABORTED */
typedef struct SfAborted
{
	int			after_event;	/* that the events of the end follow */
	bool		join_knows;		/* the join above knows of this end */
	TimestampTz due;			/* until when a join rests whose own children have not ended */
} SfAborted;

/* REDRIVEN */
typedef struct SfRunAgain
{
	Jsonb	   *input;			/* of the scope's first state, if the branch begins there; else NULL */
} SfRunAgain;

/* STOPPED, ORPHANED, TIMED_OUT */
typedef struct SfStopped
{
	SfError		error;
	Jsonb	   *input;			/* of the execution, which may not have started */
	int			state;			/* that the root is in; SF_NO_STATE: not known */
	int			after_event;	/* that the event of the end follows */
	bool		map_run_knows;	/* the run of the Distributed Map above knows of this end */
} SfStopped;

/* What the branch is to which something happens */
typedef enum SfAbout
{
	SF_ABOUT_BRANCH,			/* one that waits for no children */
	SF_ABOUT_JOIN				/* one that does, or will: they have been counted */
} SfAbout;

/* What happened: its kind says which member of the union counts (sf_stimulus_outcome() …) */
typedef struct SfStimulus
{
	SfStimulusKind kind;
	bool		begins_generation;	/* a task was given away: the branch's generation is one more from now on */
	SfAbout		about;
	int			children_left;	/* JOIN: so many children have not ended */
	union
	{
		SfDue		due;
		SfMarked	marked;
		SfError		error;		/* THROTTLED, CONDEMNED: with which the state or the branch fails */
		SfOutcome	outcome;
		SfAnnouncement announced;
		SfTaskWait	handed_out;
		SfAnswerWait waits;
		SfJoined	joined;
		SfNotYet	not_yet;
		SfAborted	aborted;
		SfRunAgain	redriven;
		SfStopped	stopped;
	};
} SfStimulus;

/* sf_stimulus_due(stimulus), sf_stimulus_marked(stimulus) …: the member that its kind has */
#define SF_STIMULUS_PART(part_type, part, is_of_kind) \
	static inline const part_type * \
	sf_stimulus_##part(const SfStimulus *stimulus) \
	{ \
		SfStimulusKind kind PG_USED_FOR_ASSERTS_ONLY = stimulus->kind; \
		Assert(is_of_kind); \
		return &stimulus->part; \
	}
SF_STIMULUS_PART(SfDue, due, kind == SF_STIMULUS_DUE)
SF_STIMULUS_PART(SfMarked, marked, kind == SF_STIMULUS_MARKED)
SF_STIMULUS_PART(SfError, error, kind == SF_STIMULUS_THROTTLED || kind == SF_STIMULUS_CONDEMNED)
SF_STIMULUS_PART(SfOutcome, outcome, kind == SF_STIMULUS_TASK || kind == SF_STIMULUS_STORED_OUTCOME)
SF_STIMULUS_PART(SfAnnouncement, announced, kind == SF_STIMULUS_ANNOUNCED)
SF_STIMULUS_PART(SfTaskWait, handed_out, kind == SF_STIMULUS_HANDED_OUT)
SF_STIMULUS_PART(SfAnswerWait, waits, kind == SF_STIMULUS_WAITS)
SF_STIMULUS_PART(SfJoined, joined, kind == SF_STIMULUS_JOINED)
SF_STIMULUS_PART(SfNotYet, not_yet, kind == SF_STIMULUS_NOT_YET)
SF_STIMULUS_PART(SfAborted, aborted, kind == SF_STIMULUS_ABORTED)
SF_STIMULUS_PART(SfRunAgain, redriven, kind == SF_STIMULUS_REDRIVEN)
SF_STIMULUS_PART(SfStopped, stopped, kind == SF_STIMULUS_STOPPED || kind == SF_STIMULUS_ORPHANED ||
				 kind == SF_STIMULUS_TIMED_OUT)

/* Is it about a join whose children have been counted? */
static inline bool
sf_stimulus_is_of_join(const SfStimulus *stimulus)
{
	return stimulus->about == SF_ABOUT_JOIN;
}

/* Have a stimulus be about a join, of whose children so many have not ended. */
static inline void
sf_stimulus_set_children_left(SfStimulus *stimulus, int left)
{
	stimulus->about = SF_ABOUT_JOIN;
	stimulus->children_left = left;
}

/* How many children of the join have not ended? */
static inline int
sf_stimulus_children_left(const SfStimulus *stimulus)
{
	Assert(sf_stimulus_is_of_join(stimulus));
	return stimulus->children_left;
}

/* Does the Map Run above an execution that the stimulus ends know of that? */
static inline bool
sf_stimulus_is_known_to_map_run(const SfStimulus *stimulus)
{
	return stimulus->kind == SF_STIMULUS_ORPHANED && stimulus->stopped.map_run_knows;
}

/* --- what comes out --- */

/* A task to carry out */
typedef struct SfTaskRequest
{
	const SfResource *resource;
	Jsonb	   *payload;
	int64		timeout_ms;		/* or SF_NO_TIMEOUT */
	int64		heartbeat_ms;	/* or SF_NO_TIMEOUT */
} SfTaskRequest;

/* Children that ended, to be taken into account by their parent */
typedef struct SfParentDelta
{
	int64		branch_no;		/* the parent */
	int			ended;			/* how many children ended */
	int			index;			/* of the one that ended; not of item executions */
	SfNetJobEnd end;			/* how it ended; FAILURE: one of them failed … */
	int			transitions;	/* that they made */
	int			failed_event;	/* FAILURE: … with this event … */
	SfError		error;			/* FAILURE: … and this error */
} SfParentDelta;

/* Has a child failed? */
static inline bool
sf_delta_is_failure(const SfParentDelta *delta)
{
	return delta->end == SF_NET_JOB_END_FAILURE;
}

/* How an execution ends */
typedef struct SfExecutionEnd
{
	SfStatus	status;
	Jsonb	   *output;
	SfError		error;
	int			state;			/* that the root branch was in; SF_NO_STATE: not known */
	bool		map_run_knows;	/* the run of a Distributed Map ends its executions */
} SfExecutionEnd;

/* A run of a Distributed Map begins */
typedef struct SfMapRunBegin
{
	SfMapRun   *map_run;
	Jsonb	   *items;			/* NULL: they are read */
} SfMapRunBegin;

/* An item execution begins: an execution of a Distributed Map, for an item or a batch */
typedef struct SfItemExecution
{
	Jsonb	   *input;
	int			items;			/* that it stands for */
} SfItemExecution;

/* A run of a Distributed Map ends */
typedef struct SfMapRunEnd
{
	int64		map_run_no;
	SfStatus	status;
} SfMapRunEnd;

/* A task of a state is over */
typedef struct SfTaskOver
{
	int			state;
	int			attempt;		/* 0: the first */
	int64		us;				/* how long it took */
	const SfError *error;		/* NULL: it has succeeded */
} SfTaskOver;

/* Nothing besides the kind of an effect */
typedef struct SfNoValue
{
	char		unused;
} SfNoValue;

/*
 * Effects: symbol, member of the union, which is the symbol in small letters, its type, and whether
 * what they say is written at once or at the end of the slice.  They are carried out in the order
 * in which they stand in the transition; run/apply/ has a function apply_<member>
 * for each.  test/lint/door finds out which of these functions write.
 */
#define SF_EFFECT_LIST(X) \
	X(BEGIN_EXECUTION, begin_execution, TimestampTz, AT_END)		/* it starts at that time */ \
	X(APPEND_EVENT, append_event, SfHistoryEvent *, AT_END) \
	X(SPAWN_BRANCH, spawn_branch, SfBranch *, AT_END)				/* a child, due at once */ \
	X(DROP_CHILDREN, drop_children, SfNoValue, AT_ONCE)				/* and theirs */ \
	X(COUNT_END, count_end, SfParentDelta *, AT_END)				/* tell the parent */ \
	X(HAND_OUT_TASK, hand_out_task, SfTask *, AT_END) \
	X(UPDATE_TASK, update_task, SfTask *, AT_ONCE)					/* it stays handed out */ \
	X(CLOSE_TASK, close_task, SfTask *, AT_END)						/* it is over */ \
	X(STOP_NESTED, stop_nested, SfNoValue, AT_ONCE)					/* executions that it waited for */ \
	X(BEGIN_MAP_RUN, begin_map_run, SfMapRunBegin, AT_ONCE) \
	X(BEGIN_ITEM_EXECUTION, begin_item_execution, SfItemExecution *, AT_ONCE)	/* with the others, after all effects */ \
	X(END_MAP_RUN, end_map_run, SfMapRunEnd, AT_ONCE) \
	X(COUNT_TRANSITION, count_transition, SfNoValue, AT_END)		/* it has entered a state */ \
	X(COUNT_TASK, count_task, SfTaskOver, AT_END) \
	X(COUNT_RETRY, count_retry, const char *, AT_END)				/* because of that error */ \
	X(END_EXECUTION, end_execution, SfExecutionEnd *, AT_END)

#define SF_EFFECT_ENUM(sym, member, type, when) SF_EFFECT_##sym,
typedef enum SfEffectKind
{
	SF_EFFECT_LIST(SF_EFFECT_ENUM)
} SfEffectKind;

#define SF_EFFECT_MEMBER(sym, member, type, when) type member;
typedef struct SfEffect
{
	SfEffectKind kind;
	union
	{
		SF_EFFECT_LIST(SF_EFFECT_MEMBER)
	};
} SfEffect;

typedef enum SfStepNext
{
	SF_STEP_GO_ON,				/* the branch is due at once: step again */
	SF_STEP_TASK,				/* carry out the task, come back with its outcome */
	SF_STEP_REST,				/* waits for a time, for children, for others */
	SF_STEP_ENDED				/* the branch has ended */
} SfStepNext;

/* What sf_step calls a transition; HELD, PUT_OFF and QUEUED are of a step that does not begin */
#define SF_TRANSITION_NAME_LIST(X) \
	X(SUCCEEDED, "succeeded") \
	X(FAILED, "failed") \
	X(CAUGHT, "caught") \
	X(RETRIED, "retried") \
	X(SKIPPED, "skipped") \
	X(STARTED, "started") \
	X(CONTINUED, "continued") \
	X(WAITING, "waiting") \
	X(READING, "reading") \
	X(WRITING, "writing") \
	X(JOINED, "joined") \
	X(HELD, "held") \
	X(PUT_OFF, "put off") \
	X(QUEUED, "queued")

#define SF_TRANSITION_NAME_ENUM(sym, word) SF_TRANSITION_##sym,
typedef enum SfTransitionName
{
	SF_TRANSITION_UNNAMED,
	SF_TRANSITION_NAME_LIST(SF_TRANSITION_NAME_ENUM)
} SfTransitionName;

typedef struct SfTransition
{
	uint32		needs;			/* not 0: void, call again with these loaded */
	SfStepNext	next;
	SfTaskRequest *task;		/* TASK */
	SfTransitionName name;		/* for sf_step */
	SfBranch	branch;			/* the new value */
	int			neffects;
	int			size;			/* of the array, which grows */
	SfEffect   *effects;
} SfTransition;

extern void sf_transition(const SfLoaded *loaded, const SfBranch *branch,
						  const SfStimulus *stimulus, TimestampTz now,
						  SfTransition *transition);
extern const char *sf_transition_name(SfTransitionName name);
extern uint32 sf_transition_needs(const SfProgram *program, const SfBranch *branch,
								  const SfStimulus *stimulus);
extern SfError sf_step_branch_error(const SfBranch *branch);

/*
 * execution_transition.c: what becomes of an execution, a function for each transition of its
 * row.  They change the execution in memory; the caller has locked its row and writes it.
 */
extern void sf_transition_execution_begin(SfExecution *execution, TimestampTz at);
extern void sf_transition_execution_end(SfExecution *execution, const SfExecutionEnd *end, TimestampTz now);
extern void sf_transition_execution_redrive(SfExecution *execution, TimestampTz now);
extern void sf_transition_execution_restart(SfExecution *execution, const SfExecution *wanted);
extern void sf_transition_execution_replace(SfExecution *execution, const SfExecution *wanted);
extern void sf_transition_execution_migrate(SfExecution *execution, int version);
extern void sf_transition_execution_relabel(SfExecution *execution, Jsonb *labels);
extern void sf_transition_execution_add_events(SfExecution *execution, int last_event_id);

#endif							/* SF_TRANSITION_TRANSITION_H */
