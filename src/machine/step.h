/*
 * step.h
 *		One transition of a branch: what a state handler gets and what it says.
 *
 * A handler is a function of the program, the branch, the stimulus and the
 * time.  It changes its own copy of the branch and fills in effects; it reads
 * no table and writes none.  apply.c carries the effects out.
 *
 *		(program, execution, branch, stimulus, now) → (branch', effects)
 */
#ifndef SF_MACHINE_STEP_H
#define SF_MACHINE_STEP_H

#include <limits.h>

#include "asl/program.h"
#include "asl/event_types.h"
#include "store/event.h"
#include "store/execution.h"
#include "store/machine.h"
#include "store/task.h"

/*
 * What somebody who looks on (sf_test_state) sees of a state's data, in the
 * words of the service's inspectionData: symbol, name.
 */
#define SF_TRACE_LIST(X) \
	X(INPUT, "input") \
	X(AFTER_INPUT_PATH, "afterInputPath") \
	X(AFTER_PARAMETERS, "afterParameters") \
	X(AFTER_ARGUMENTS, "afterArguments") \
	X(AFTER_ITEMS_PATH, "afterItemsPath") \
	X(AFTER_ITEM_SELECTOR, "afterItemSelector") \
	X(AFTER_ITEM_BATCHER, "afterItemBatcher") \
	X(RESULT, "result") \
	X(AFTER_RESULT_SELECTOR, "afterResultSelector") \
	X(AFTER_RESULT_PATH, "afterResultPath") \
	X(MAX_CONCURRENCY, "maxConcurrency") \
	X(TOLERATED_FAILURE_COUNT, "toleratedFailureCount") \
	X(TOLERATED_FAILURE_PERCENTAGE, "toleratedFailurePercentage") \
	X(VARIABLES, "variables")

#define SF_TRACE_ENUM(sym, name) SF_TRACE_##sym,
typedef enum SfTraceField
{
	SF_TRACE_LIST(SF_TRACE_ENUM)
	SF_TRACE_COUNT
} SfTraceField;

/* A run that is looked at: causes have no prefix, the context is given */
typedef struct SfTrace
{
	Jsonb	   *context;		/* $$, but for Map.Item while items are made */
	Jsonb	   *values[SF_TRACE_COUNT];
	const char *next_name;		/* where the state leads, NULL: nowhere */
	bool		failed;			/* it met an error … */
	SfError		error;			/* … this one, … */
	int			retrier;		/* … and the retrier (-1: none) and catcher that */
	int			catcher;		/* matched it */
	int64		delay_us;		/* until the next attempt, -1: none */
} SfTrace;

struct SfMapRun;

/* An execution while a slice works on it */
typedef struct SfRun
{
	SfExecution *execution;
	const SfProgram *program;
	SfHistoryLevel history;

	/* pending effects; apply.c carries them out */
	List	   *events;			/* SfEvent; ids -1, -2 … until they are written */
	List	   *branches;		/* SfBranch that changed, or are new */
	List	   *deltas;			/* SfParentDelta */
	List	   *tasks;			/* SfTask to hand out */
	List	   *settled;		/* SfTask that are over */
	List	   *children;		/* SfBranch: roots of executions that begin */
	struct SfFinish *finish;	/* the execution ends */
	bool		began;			/* the execution begins in this run */

	/* what a handler may have to ask for; any may be NULL */
	int			(*event_id) (struct SfRun *run, int provisional);
	Jsonb	   *(*input) (struct SfRun *run);	/* of the execution */
	Jsonb	   *(*map_item) (struct SfRun *run, const SfBranch *iteration);
	SfTask	   *(*make_task) (struct SfRun *run, const SfBranch *branch);

	/* the same for Distributed Maps; NULL: there are none here */
	void		(*name_map_run) (struct SfRun *run, struct SfMapRun *map_run);
	struct SfMapRun *(*map_run) (struct SfRun *run, const SfBranch *branch);
	int			(*read_map_items) (struct SfRun *run, const SfBranch *branch,
								   int first, int n, Jsonb **items);
	bool		(*may_begin) (struct SfRun *run);	/* a further child */
	void	   *arg;

	SfTrace    *trace;			/* somebody looks on; else NULL */

	int			max_transitions;	/* of the execution; 0: no limit */

	bool		impatient;		/* a worker's: wait for that lock for a moment only */
	bool		locked;			/* the execution's row is locked by us */
	int			base_event_id;	/* last id in the table, once locked */
} SfRun;

/* Children that ended, to be taken into account by their parent */
typedef struct SfParentDelta
{
	int64		branch_no;		/* the parent */
	int			ended;			/* how many children ended */
	int			transitions;	/* that they made */
	bool		failed;			/* one of them failed … */
	int			failed_event;	/* … with this event … */
	const char *error;			/* … and this error */
	const char *cause;
	bool		uncatchable;
} SfParentDelta;

/* How an execution ends */
typedef struct SfFinish
{
	SfStatus	status;
	Jsonb	   *output;
	const char *error;
	const char *cause;
} SfFinish;

/* What happened to the branch since its last transition */
typedef enum SfStimulusKind
{
	SF_STIMULUS_DUE,			/* its time has come */
	SF_STIMULUS_TASK,			/* its task has an outcome */
	SF_STIMULUS_SUBMITTED,		/* its request was made, the answer is to come */
	SF_STIMULUS_JOINED			/* its children have ended */
} SfStimulusKind;

typedef struct SfStimulus
{
	SfStimulusKind kind;
	/* TASK; SUBMITTED has the output only */
	bool		ok;
	Jsonb	   *output;
	const SfTask *task;			/* what was handed out, or NULL */
	SfError		error;			/* TASK: failed; */
	/* JOINED: outputs by index, or all of them; the last event of any child */
	Jsonb	  **outputs;
	int			noutputs;
	Jsonb	   *joined;
	int			last_event;
	int			last_inner_event;	/* without MapIterationSucceeded */
} SfStimulus;

/* A task that the handler wants carried out */
typedef struct SfTaskRequest
{
	const SfResource *resource;
	Jsonb	   *payload;
	int64		timeout_ms;		/* 0: none */
	int64		heartbeat_ms;	/* 0: none */
} SfTaskRequest;

typedef enum SfStepOutcome
{
	SF_STEP_GO_ON,				/* the branch is due at once: step again */
	SF_STEP_TASK,				/* run step->task, come back with its outcome */
	SF_STEP_REST,				/* waits for a time, for children, for others */
	SF_STEP_ENDED				/* the branch has ended */
} SfStepOutcome;

/* In place of an event id: the last one of the branch's chain */
#define SF_CHAIN	INT_MIN

typedef struct SfStep
{
	SfRun	   *run;
	const SfProgram *program;
	const SfState *state;		/* the branch's present state */
	SfBranch   *branch;
	const SfStimulus *stimulus;
	TimestampTz now;
	SfEnv		env;			/* input, context, variables of the state */
	Jsonb	   *map_item;		/* item for $$.Map.Item, or NULL */
	Jsonb	   *map_key;		/* its key, where items come from an object */
	int			map_index;		/* -1: none */
	int			entered_previous;	/* previous_id of the event that entered the
									 * state, SF_CHAIN: it was entered before */
	struct
	{
		Jsonb	   *payload;
		int			event;
	}			held[4];		/* payloads that events of this step hold */
	int			nheld;

	SfTask	   *token_task;		/* has the token of $$.Task, or NULL */

	/* effects */
	SfTaskRequest *task;
	List	   *spawn;			/* SfBranch: children to begin */
	bool		drop_children;	/* the join is over: delete them */
	struct SfMapRun *map_run;	/* a run of a Distributed Map begins … */
	Jsonb	   *map_items;		/* … with these items; NULL: they are read */
	List	   *children;		/* SfMapChild: child executions to begin */
	bool		map_run_ends;	/* it ends … */
	int64		map_run_no;		/* … this one … */
	SfStatus	map_run_status; /* … so */
	const char *outcome_name;	/* for sf_step: "succeeded", "retried" … */
} SfStep;

/* --- step.c: running one transition --- */

/* Advance a branch by one transition. */
extern SfStepOutcome sf_step_advance(SfRun *run, SfBranch *branch,
									 const SfStimulus *stimulus,
									 TimestampTz now, SfStep *step);

/* Fill in a step without doing anything yet. */
extern void sf_step_init(SfStep *step, SfRun *run, SfBranch *branch,
						 const SfStimulus *stimulus, TimestampTz now);

/*
 * End a branch because a sibling failed or a parent aborts: the events of its
 * state and of its iteration, and the end told to its parent.  cause: the event
 * that they follow, SF_CHAIN for the branch's own last one.
 */
extern void sf_step_abort(SfStep *step, int cause);

/* Show a value to whoever looks on. */
extern void sf_step_trace(SfStep *step, SfTraceField field, Jsonb *value);

/* Put "An error occurred while executing the state …" before a cause. */
extern void sf_step_prefix(SfStep *step, SfError *error);

/* --- for state handlers --- */

/* Handlers by state type: enter (or do again), and take a stimulus. */
extern SfStepOutcome sf_pass_enter(SfStep *step);
extern SfStepOutcome sf_choice_enter(SfStep *step);
extern SfStepOutcome sf_wait_enter(SfStep *step);
extern SfStepOutcome sf_wait_resume(SfStep *step);
extern SfStepOutcome sf_succeed_enter(SfStep *step);
extern SfStepOutcome sf_fail_enter(SfStep *step);
extern SfStepOutcome sf_task_enter(SfStep *step);
extern SfStepOutcome sf_task_resume(SfStep *step);
extern SfStepOutcome sf_task_submitted(SfStep *step);
extern SfStepOutcome sf_parallel_enter(SfStep *step);
extern SfStepOutcome sf_map_enter(SfStep *step);
extern SfStepOutcome sf_map_continue(SfStep *step);
extern SfStepOutcome sf_join_resume(SfStep *step);

/*
 * Append an event that follows the branch's last one, and make it the last;
 * returns its (provisional) id, 0 when the history level leaves it out.
 */
extern int	sf_step_event(SfStep *step, SfEventType type, Jsonb *payload,
						  Jsonb *extra);

/* The same without moving the branch's chain, after any event. */
extern int	sf_step_side_event(SfStep *step, SfEventType type, Jsonb *payload,
							   Jsonb *extra, int previous);

/* Leave the state with an output: StateExited, then Next or the end. */
extern SfStepOutcome sf_step_exit(SfStep *step, Jsonb *output, int next,
								  Jsonb *assigned);

/* Leave the state with a result: its output, Assign, then as sf_step_exit(). */
extern SfStepOutcome sf_step_succeed(SfStep *step, Jsonb *result);

/* Fail the state with an error: retry, catch, or fail the branch. */
extern SfStepOutcome sf_step_fail(SfStep *step, const SfError *error);

/* End the branch with an output or an error: completes to parent, or ends it all. */
extern SfStepOutcome sf_step_end_branch(SfStep *step, Jsonb *output);
extern SfStepOutcome sf_step_fail_branch(SfStep *step, const SfError *error);

/* --- dataflow.c: InputPath … OutputPath --- */

/* step->env.input becomes the effective input (InputPath). */
extern bool sf_flow_input(SfStep *step, SfError *error);

/* Parameters or Arguments over the effective input. */
extern bool sf_flow_parameters(SfStep *step, Jsonb **result, SfError *error);

/* ResultSelector, ResultPath, OutputPath (JSONPath) or Output (JSONata). */
extern bool sf_flow_output(SfStep *step, Jsonb *result, Jsonb **output,
						   SfError *error);

/*
 * What a field has that is given by a path or by JSONata.  Where the path leads
 * nowhere (SF_EVAL_NOT_FOUND) the error says "Invalid path …"; some fields have
 * other words for it.
 */
extern SfEvalStatus sf_flow_value(SfStep *step, const SfValueField *field,
								  const char *name, Jsonb **value, SfError *error);

/*
 * A field that has to be an integer, and if it is no literal, one that is not
 * below minimum; 0 where there is none.
 */
extern bool sf_flow_integer(SfStep *step, const SfValueField *field,
							const char *name, int64 minimum, int64 *number,
							SfError *error);

/* What a …Path field refers to, as its errors show it: strings without quotes. */
extern char *sf_flow_shown(Jsonb *value);

/* What a JSONata field gave is not of the type that it has to be: false. */
extern bool sf_flow_wrong_type(const char *expression, const char *field,
							   const char *expected, Jsonb *value,
							   SfError *error);

/* False with States.DataLimitExceeded for more than a payload may be. */
extern bool sf_flow_check_size(SfStep *step, const Jsonb *output, SfError *error);

/* Assign: *assigned gets what it assigned (NULL: nothing); variables change. */
extern bool sf_flow_assign(SfStep *step, const SfTemplate *assign,
						   const char *field, Jsonb **assigned, SfError *error);

/* A path field over the environment; kind ABSENT gives the input itself. */
extern bool sf_flow_path(SfStep *step, const SfPathField *field,
						 Jsonb **result, SfError *error);

/* --- context.c --- */

/* SfEnv.make_context for a step (arg: SfStep *). */
extern Jsonb *sf_context_make(void *arg);

/* --- retry.c --- */

/* Does an error match one of ErrorEquals? */
extern bool sf_error_matches(const SfError *error, const char **names,
							 int nnames);

/*
 * Delay of the next attempt in microseconds, -1 when retries are used up.
 * *retrier gets the number of the retrier that matches, -1 for none.
 */
extern int64 sf_retry_next(const SfState *state, SfBranch *branch,
						   const SfError *error, int *retrier);

/* The catcher for an error, or NULL. */
extern const SfCatcher *sf_catch_find(const SfState *state,
									  const SfError *error);

#endif							/* SF_MACHINE_STEP_H */
