/*
 * test_state.c
 *		One state by itself, as the service's TestState runs it.
 *
 * The state's own handler does the work, on a run that was never stored:
 *
 *		advance() --> SF_STEP_TASK    the mock, or run_task(), is its outcome
 *		          --> phase WAIT      its time has come
 *		          --> phase JOIN      the mock is what the children did; of a JobNet,
 *		                              what each job does (test_net.c)
 *		then advance() again
 *
 * A Distributed Map goes through its steps in between, on items in memory.
 *
 * The branch begins in phase RUN, as one that was entered before, so that it
 * can have retries behind it.  What the data flow shows to an SfInspection becomes
 * the inspection data; which of that the service shows for which type of
 * state stands in the table below.
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"

#include "base/name/name.h"
#include "feature/test_state/test_state.h"

/* Names of what never was, in the context object that is made up */
#define TEST_MACHINE	"sf_test_state"
#define TEST_EXECUTION	"test"
#define TEST_STATE		"StateName"

#define BIT(field)	(1u << SF_INSPECTION_##field)
#define ALWAYS		(BIT(INPUT) | BIT(VARIABLES))
#define RESULTS		(BIT(AFTER_RESULT_SELECTOR) | BIT(AFTER_RESULT_PATH))
#define TOLERANCE \
	(BIT(MAX_CONCURRENCY) | BIT(TOLERATED_FAILURE_COUNT) | BIT(TOLERATED_FAILURE_PERCENTAGE))

/* What the service shows of a state, by its type and query language */
static const struct
{
	uint32		jsonpath;
	uint32		jsonata;
}			shown[] = {
	[SF_STATE_PASS] = {BIT(AFTER_INPUT_PATH) | BIT(AFTER_PARAMETERS) | RESULTS, 0},
	[SF_STATE_TASK] = {
		BIT(AFTER_INPUT_PATH) | BIT(AFTER_PARAMETERS) | BIT(RESULT) | RESULTS,
		BIT(AFTER_ARGUMENTS) | BIT(RESULT)
	},
	[SF_STATE_CHOICE] = {BIT(AFTER_INPUT_PATH), 0},
	[SF_STATE_WAIT] = {BIT(AFTER_INPUT_PATH), 0},
	[SF_STATE_SUCCEED] = {BIT(AFTER_INPUT_PATH), 0},
	[SF_STATE_FAIL] = {BIT(AFTER_INPUT_PATH), 0},
	[SF_STATE_PARALLEL] = {RESULTS, 0},
	[SF_STATE_JOBNET] = {RESULTS, 0},
	[SF_STATE_MAP] = {
		BIT(AFTER_INPUT_PATH) | BIT(AFTER_ITEMS_PATH) | BIT(AFTER_ITEMS_POINTER) |
		BIT(AFTER_ITEM_SELECTOR) | BIT(AFTER_ITEM_BATCHER) | TOLERANCE | RESULTS,
		BIT(AFTER_ITEMS_POINTER) | BIT(AFTER_ITEM_SELECTOR) | BIT(AFTER_ITEM_BATCHER) | TOLERANCE
	},
};

static const char *const field_names[] = {
#define FIELD_NAME(sym, name) [SF_INSPECTION_##sym] = name,
	SF_INSPECTION_LIST(FIELD_NAME)
};

/* The values that are shown of a state. */
static uint32
shown_of(const SfState *state)
{
	if (state->language == SF_QL_JSONATA)
		return ALWAYS | shown[state->type].jsonata;
	/* a Result makes the service skip the input's part of the data flow */
	if (state->type == SF_STATE_PASS && sf_state_pass(state)->result != NULL)
		return ALWAYS | BIT(RESULT) | RESULTS;
	return ALWAYS | shown[state->type].jsonpath;
}

/* The context object of an execution that never was. */
static Jsonb *
made_up_context(const SfStateTest *test, TimestampTz now)
{
	const SfState *state = &test->program->states[test->state];
	const char *time = sf_timestamp_print(now);
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_open_object(&json, "Execution");
	sf_json_add_string(&json, "Id", sf_public_name(SF_NAME_EXECUTION, TEST_MACHINE ":" TEST_EXECUTION));
	sf_json_add(&json, "Input", test->input);
	sf_json_add_string(&json, "Name", TEST_EXECUTION);
	sf_json_add_null(&json, "RoleArn");
	sf_json_add_string(&json, "StartTime", time);
	sf_json_close_object(&json);
	sf_json_open_object(&json, "StateMachine");
	sf_json_add_string(&json, "Id", sf_public_name(SF_NAME_STATE_MACHINE, TEST_MACHINE));
	sf_json_add_string(&json, "Name", TEST_MACHINE);
	sf_json_close_object(&json);
	sf_json_open_object(&json, "State");
	sf_json_add_string(&json, "Name", TEST_STATE);
	sf_json_add_string(&json, "EnteredTime", time);
	if (state->type == SF_STATE_TASK || sf_state_has_children(state))
		sf_json_add_int(&json, "RetryCount", test->retries);
	sf_json_close_object(&json);
	return sf_json_end(&json);
}

/* A test on its way */
typedef struct TestRun
{
	SfStateTest *test;
	TimestampTz now;
	SfInspection *inspection;
	SfLoaded	loaded;
	SfBranch   *branch;
	SfTransition transition;	/* the last one */
	SfMapRun	map_run;		/* of a Distributed Map, in memory */
	Jsonb	   *jobs;			/* JobNet: what became of each job */
} TestRun;

/* What is loaded for an execution that no table knows. */
static void
make_loaded(const SfStateTest *test, SfInspection *inspection, TimestampTz now,
			TestRun *run)
{
	SfExecution *execution = sf_execution_make();
	SfLoaded   *loaded = &run->loaded;

	execution->execution_id = TEST_MACHINE ":" TEST_EXECUTION;
	execution->machine_name = TEST_MACHINE;
	execution->started_at = now;
	execution->input = test->input;

	run->map_run.map_run_no = 1;
	run->map_run.uuid = "00000000-0000-0000-0000-000000000000";
	loaded->execution = execution;
	loaded->program = test->program;
	loaded->history = SF_HISTORY_LEVEL_NONE;
	loaded->inspection = inspection;
	loaded->map_run = &run->map_run;
	loaded->may_begin = true;
	loaded->random = pg_prng_double(&pg_global_prng_state);
	loaded->has = SF_NEED_EVENT_IDS | SF_NEED_CONTEXT | SF_NEED_TOKEN |
		SF_NEED_MAP_RUN | SF_NEED_ITEMS | SF_NEED_RANDOM;
}

/* A branch that stands in the state already, with the retries it has made. */
static SfBranch *
make_branch(const SfStateTest *test, TimestampTz now)
{
	const SfState *state = &test->program->states[test->state];
	SfBranch   *branch = sf_branch_make_root(0, GetUserId(), state->number, test->input, now);

	branch->scope = state->scope;
	branch->phase = SF_PHASE_RUN;
	branch->entered_at = now;
	branch->variables = test->variables;
	branch->attempt = test->retries;
	branch->nretry_counts = state->nretriers;
	branch->retry_counts = palloc(sizeof(int) * (state->nretriers + 1));
	for (int i = 0; i < state->nretriers; i++)
		branch->retry_counts[i] = test->retries;
	return branch;
}

/* Refuse more failed iterations than the Map has items, if these are known. */
static void
check_failure_count(const SfStateTest *test, const SfBranch *branch)
{
	if (branch->total > 0 && test->failed_iterations > branch->total)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("Map iteration failure count must be less than or equal to the number of Map iterations"),
				 errdetail("Argument mock of sf_test_state() is not valid: mapIterationFailureCount is %d, and the Map has " INT64_FORMAT " iterations.",
						   test->failed_iterations, (int64) branch->total)));
}

/* Have failed more iterations than a Map tolerates, as far as it says? */
static bool
exceeds_tolerance(const SfStateTest *test, const SfBranch *branch,
				  const SfInspection *inspection)
{
	const Jsonb *count = inspection->values[SF_INSPECTION_TOLERATED_FAILURE_COUNT];
	const Jsonb *percentage = inspection->values[SF_INSPECTION_TOLERATED_FAILURE_PERCENTAGE];

	if (test->failed_iterations == 0)
		return false;
	if (count != NULL &&
		test->failed_iterations > atof(sf_json_to_cstring(count)))
		return true;
	return percentage != NULL && branch->total > 0 &&
		100.0 * test->failed_iterations / branch->total >
		atof(sf_json_to_cstring(percentage));
}

/* What the children of a join did: the mock, or too many failures. */
static void
join_outcome(TestRun *run, SfStimulus *stimulus)
{
	const SfStateTest *test = run->test;
	SfBranch   *branch = run->branch;

	*stimulus = (SfStimulus) {.kind = SF_STIMULUS_JOINED,.joined.kind = SF_JOINED_FAILED};
	if (test->mock.kind == SF_MOCK_KIND_RESULT)
		stimulus->joined = (SfJoined) {.kind = SF_JOINED_RESULT,.result = sf_mock_result(&test->mock)};
	sf_stimulus_set_children_left(stimulus, 0);
	if (test->mock.kind == SF_MOCK_KIND_JOBS)
	{
		run->jobs = test->run_jobs(test, &run->loaded, branch, &stimulus->joined, run->now);
		return;
	}
	if (sf_join_course(branch) == SF_JOIN_FAILING)
		return;					/* they could not even begin */
	check_failure_count(test, branch);
	if (test->mock.kind == SF_MOCK_KIND_ERROR)
	{
		sf_join_set_course(branch, SF_JOIN_FAILING);
		branch->error = unconstify(char *, sf_mock_error(&test->mock)->name);
		branch->cause = unconstify(char *, sf_mock_error(&test->mock)->cause);
	}
	else if (exceeds_tolerance(test, branch, run->inspection))
	{
		sf_join_set_course(branch, SF_JOIN_FAILING);
		branch->error = pstrdup(SF_ERR_EXCEED_TOLERATED_FAILURE_THRESHOLD);
		branch->cause = pstrdup("The specified tolerated failure threshold was exceeded");
	}
}

/* What a Task did: the mock, or what comes of running it. */
static void
task_outcome(TestRun *run, SfStimulus *stimulus)
{
	SfStateTest *test = run->test;
	SfOutcome  *outcome = &stimulus->outcome;

	*stimulus = (SfStimulus) {.kind = SF_STIMULUS_TASK};
	if (test->mock.kind == SF_MOCK_KIND_NONE)
	{
		test->run_task(test, &test->program->states[test->state],
					   run->transition.task, outcome);
		return;
	}
	outcome->ok = test->mock.kind == SF_MOCK_KIND_RESULT;
	if (outcome->ok)
		outcome->output = sf_mock_result(&test->mock);
	else
		outcome->error = *sf_mock_error(&test->mock);
	if (test->check_wait != NULL)
		test->check_wait(run->transition.task, outcome);
}

/* Take the branch through a transition. */
static SfStepNext
advance(TestRun *run, const SfStimulus *stimulus)
{
	sf_transition(&run->loaded, run->branch, stimulus, run->now, &run->transition);
	*run->branch = run->transition.branch;
	return run->transition.next;
}

/* Show the inputs of the executions of a Distributed Map, and the items in them. */
static void
show_item_executions(TestRun *run, List *item_executions)
{
	const SfState *state = &run->test->program->states[run->test->state];
	bool		batched = sf_state_map(state)->distributed->item_batcher != NULL;
	SfJsonBuilder inputs;
	SfJsonBuilder items;
	ListCell   *lc;

	sf_json_begin_array(&inputs);
	sf_json_begin_array(&items);
	foreach(lc, item_executions)
	{
		Jsonb	   *input = ((SfItemExecution *) lfirst(lc))->input;
		JsonbValue	array;
		JsonbValue	item;

		sf_json_add(&inputs, NULL, input);
		if (!batched)
		{
			sf_json_add(&items, NULL, input);
			continue;
		}
		sf_json_root(sf_json_get(input, "Items"), &array);
		for (int i = 0; sf_json_element(&array, i, &item); i++)
			sf_json_add_value(&items, NULL, &item);
	}
	if (batched)
		run->inspection->values[SF_INSPECTION_AFTER_ITEM_BATCHER] = sf_json_end(&inputs);
	if (sf_state_map(state)->item_selector != NULL)
		run->inspection->values[SF_INSPECTION_AFTER_ITEM_SELECTOR] = sf_json_end(&items);
}

/* Load the items that are left of an array. */
static void
load_items(TestRun *run, const Jsonb *items)
{
	SfLoaded   *loaded = &run->loaded;
	JsonbValue	array;
	JsonbValue	item;

	sf_json_root(items, &array);
	loaded->items = palloc(sizeof(Jsonb *) * (sf_json_count(&array) + 1));
	loaded->nitems = 0;
	while (sf_json_element(&array, run->branch->next_index + loaded->nitems, &item))
		loaded->items[loaded->nitems++] = sf_json_make(&item);
}

/* What a transition did to a run: the items that it found, the item executions it began. */
static void
read_effects(TestRun *run, Jsonb **items, List **item_executions)
{
	const SfTransition *transition = &run->transition;

	for (int i = 0; i < transition->neffects; i++)
	{
		if (transition->effects[i].kind == SF_EFFECT_BEGIN_MAP_RUN)
		{
			run->map_run = *transition->effects[i].begin_map_run.map_run;
			*items = transition->effects[i].begin_map_run.items;
		}
		else if (transition->effects[i].kind == SF_EFFECT_BEGIN_ITEM_EXECUTION)
			*item_executions = lappend(*item_executions, transition->effects[i].begin_item_execution);
	}
}

/* Read the items of an ItemReader out of what is given as its source. */
static Jsonb *
read_items(TestRun *run, SfOutcome *outcome)
{
	const SfStateTest *test = run->test;
	SfItemsGiven given = {0};
	SfJsonBuilder json;

	outcome->ok = test->reader_data == NULL ||
		test->parse_items(&test->program->states[test->state], run->transition.task->payload,
						  test->reader_data, run->map_run.max_items, &given, &outcome->error);
	outcome->output = sf_json_int(list_length(given.items));
	run->map_run.keyed = given.keyed;
	run->inspection->values[SF_INSPECTION_AFTER_ITEMS_POINTER] = given.pointed;
	sf_json_begin_array(&json);
	foreach_ptr(Jsonb, item, given.items)
		sf_json_add(&json, NULL, item);
	return sf_json_end(&json);
}

/* A Distributed Map has begun: read its items, and begin all item executions. */
static void
run_distributed(TestRun *run, SfStepNext next)
{
	SfBranch   *branch = run->branch;
	Jsonb	   *items = NULL;
	List	   *item_executions = NIL;
	SfStimulus	due = {.kind = SF_STIMULUS_DUE};

	read_effects(run, &items, &item_executions);
	if (next == SF_STEP_TASK)
	{
		SfStimulus	read = {.kind = SF_STIMULUS_TASK};

		items = read_items(run, &read.outcome);
		(void) advance(run, &read);
	}

	while (branch->phase == SF_PHASE_JOIN && sf_join_course(branch) == SF_JOIN_GOES_ON &&
		   branch->next_index < branch->total)
	{
		load_items(run, items);
		(void) advance(run, &due);
		read_effects(run, &items, &item_executions);
		if (branch->phase == SF_PHASE_JOIN)
			sf_branch_set_children_left(branch, 0);	/* a test shows all of them */
	}
	if (branch->phase == SF_PHASE_JOIN && sf_join_course(branch) == SF_JOIN_GOES_ON)
		show_item_executions(run, item_executions);
}

/* Take the state through its transitions; returns the last one's name. */
static SfTransitionName
run_state(TestRun *run)
{
	SfBranch   *branch = run->branch;
	SfStimulus	stimulus = {.kind = SF_STIMULUS_DUE};
	SfStepNext	next = advance(run, &stimulus);

	if (sf_branch_has_map_run(branch) && (next == SF_STEP_TASK || branch->phase == SF_PHASE_JOIN))
		run_distributed(run, next);
	else if (next == SF_STEP_TASK)
		task_outcome(run, &stimulus);

	if (branch->phase == SF_PHASE_JOIN)
		join_outcome(run, &stimulus);
	else if (stimulus.kind != SF_STIMULUS_TASK && branch->phase != SF_PHASE_WAIT)
		return run->transition.name;
	(void) advance(run, &stimulus);
	return run->transition.name;
}

/* {"retryIndex", "retryBackoffIntervalSeconds", "catchIndex"} of an error. */
static void
add_error_details(SfJsonBuilder *json, const SfInspection *inspection)
{
	if (inspection->retrier == SF_NO_RETRIER && inspection->catcher == SF_NO_CATCHER)
		return;
	sf_json_open_object(json, "errorDetails");
	if (inspection->retrier != SF_NO_RETRIER)
		sf_json_add_int(json, "retryIndex", inspection->retrier);
	if (inspection->delay_us != SF_NO_RETRY)
		sf_json_add_int(json, "retryBackoffIntervalSeconds",
						inspection->delay_us / USECS_PER_SEC);
	if (inspection->catcher != SF_NO_CATCHER)
		sf_json_add_int(json, "catchIndex", inspection->catcher);
	sf_json_close_object(json);
}

/* What was seen on the way. */
static void
add_inspection_data(SfJsonBuilder *json, const TestRun *run)
{
	const SfInspection *inspection = run->inspection;
	uint32		fields = shown_of(&run->test->program->states[run->test->state]);

	sf_json_open_object(json, "inspectionData");
	for (int i = 0; i < SF_INSPECTION_COUNT; i++)
		if (fields & (1u << i))
			sf_json_add(json, field_names[i], inspection->values[i]);
	sf_json_add(json, "jobs", run->jobs);
	add_error_details(json, inspection);
	sf_json_close_object(json);
}

/* The status that TestState gives a transition */
typedef enum TestStatus
{
	TEST_SUCCEEDED,
	TEST_RETRIABLE,
	TEST_CAUGHT_ERROR,
	TEST_FAILED
} TestStatus;

static const char *const status_names[] = {
	[TEST_SUCCEEDED] = "SUCCEEDED",
	[TEST_RETRIABLE] = "RETRIABLE",
	[TEST_CAUGHT_ERROR] = "CAUGHT_ERROR",
	[TEST_FAILED] = "FAILED",
};

/* The status of a transition. */
static TestStatus
status_of(SfTransitionName transition)
{
	if (transition == SF_TRANSITION_SUCCEEDED)
		return TEST_SUCCEEDED;
	if (transition == SF_TRANSITION_RETRIED)
		return TEST_RETRIABLE;
	return transition == SF_TRANSITION_CAUGHT ? TEST_CAUGHT_ERROR : TEST_FAILED;
}

/*
 * Test a state; reads and writes no table.  The result is that of TestState:
 * {"status", "output", "error", "cause", "nextState", "inspectionData"}, values
 * as JSON and not as text.  The caller has checked mock and context.
 */
Jsonb *
sf_test_state_run(SfStateTest *test, SfInspectionLevel level, TimestampTz now)
{
	const SfState *state = &test->program->states[test->state];
	SfInspection inspection = {.retrier = SF_NO_RETRIER, .catcher = SF_NO_CATCHER, .delay_us = SF_NO_RETRY};
	TestRun		run = {.test = test,.now = now,.inspection = &inspection};
	SfBranch   *branch;
	TestStatus	status;
	SfJsonBuilder json;

	make_loaded(test, &inspection, now, &run);
	run.branch = branch = make_branch(test, now);
	inspection.context = test->context ? test->context : made_up_context(test, now);
	inspection.next_name = state->next_name;
	inspection.values[SF_INSPECTION_INPUT] = test->input;
	status = status_of(run_state(&run));
	if (branch->variables != NULL && JB_ROOT_COUNT(branch->variables) > 0)
		inspection.values[SF_INSPECTION_VARIABLES] = branch->variables;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "status", status_names[status]);
	if (inspection.failed)
	{
		sf_json_add_string(&json, "error", inspection.error.name);
		sf_json_add_string(&json, "cause", inspection.error.cause);
	}
	if (status == TEST_SUCCEEDED || status == TEST_CAUGHT_ERROR)
	{
		/* it is the root, which carries it on, also out of a state that is the last */
		sf_json_add(&json, "output", sf_branch_input(branch));
		sf_json_add_string(&json, "nextState", inspection.next_name);
	}
	if (level != SF_LEVEL_INFO)
		add_inspection_data(&json, &run);
	return sf_json_end(&json);
}
