/*
 * test_state_functions.c
 *		sf_test_state(): one state by itself, without an execution.
 *
 * Everything that the service refuses is refused before the state runs, in
 * its words where they are known.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "feature/test_state/test_state.h"
#include "run/task/service.h"
#include "run/task/task_runner.h"
#include "store/feature.h"

/* Refuse something about an argument; detail NULL: nothing more is known. */
static void
refuse_with(const char *argument, const char *problem, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("%s", problem),
			 errdetail("Argument %s of sf_test_state() is not valid.%s%s", argument,
					   detail ? " " : "", detail ? detail : "")));
}

/* Refuse something about an argument. */
static void
refuse(const char *argument, const char *problem)
{
	refuse_with(argument, problem, NULL);
}

/* Refuse a value in the words in which AWS refuses a parameter of an API. */
static void
refuse_value(const char *argument, const char *value, const char *member,
			 const char *constraint)
{
	refuse(argument, psprintf("Value '%s' at '%s' failed to satisfy constraint: Member must %s",
							  value, member, constraint));
}

/* Compile the definition and find the state. */
static void
read_definition(SfStateTest *test, const char *definition, const char *state_name)
{
	List	   *diagnostics = NIL;

	if (state_name != NULL && sf_asl_has_unknown_type(definition, strlen(definition), state_name))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("The field 'Type' should have one of these values: [Task, Wait, Pass, Succeed, Fail, Choice, Parallel, Map]"),
				 errdetail("State \"%s\" of the definition has another one.", state_name)));
	test->program = sf_asl_compile_state(definition, strlen(definition), state_name,
										 CurrentMemoryContext, &test->state,
										 &diagnostics);
	if (test->program == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg("%s", sf_diagnostics_print(diagnostics)),
				 errhint("The definition is one state; with state_name, it is a whole state machine.")));
	if (test->state == SF_NO_STATE)
		refuse("state_name", "State not found in definition");
}

/* A member that must be a string; NULL if absent. */
static const char *
string_member(const Jsonb *object, const char *key)
{
	const char *text = sf_json_get_cstring(object, key);

	if (text == NULL && sf_json_get(object, key) != NULL)
		refuse("mock", psprintf("%s must be a string", key));
	return text;
}

/* Refuse members of an object that are not among those known. */
static void
check_members(const Jsonb *object, const char *what, const char *const *known)
{
	SfJsonMember *members;
	JsonbValue	root;
	int			n;

	sf_json_root(object, &root);
	if (!sf_json_is_object(&root))
		refuse("mock", psprintf("%s must be a JSON object", what));
	members = sf_json_members(&root, &n);
	for (int i = 0; i < n; i++)
	{
		const char *key = pnstrdup(members[i].key.val.string.val,
								   members[i].key.val.string.len);
		const char *const *name = known;

		while (*name != NULL && strcmp(*name, key) != 0)
			name++;
		if (*name == NULL)
			refuse("mock", psprintf("unknown member \"%s\" of %s", key, what));
	}
}

/* fieldValidationMode: how closely a result is looked at. */
static void
read_validation_mode(const Jsonb *mock, SfMock *out)
{
	const char *mode = string_member(mock, "fieldValidationMode");

	if (mode == NULL || strcmp(mode, "STRICT") == 0)
		out->check = SF_MOCK_CHECK_STRICT;
	else if (strcmp(mode, "PRESENT") == 0)
		out->check = SF_MOCK_CHECK_PRESENT;
	else if (strcmp(mode, "NONE") == 0)
		out->check = SF_MOCK_CHECK_NONE;
	else
		refuse_value("mock", mode, "mock.fieldValidationMode",
					 "satisfy enum value set: [STRICT, PRESENT, NONE]");
}

/* Refuse a text with more characters than the API takes. */
static void
check_length(const char *text, const char *member, int most)
{
	if (text != NULL && pg_mbstrlen(text) > most)
		refuse("mock", psprintf("Value at '%s' failed to satisfy constraint: Member must have length less than or equal to %d",
								member, most));
}

/* Read the mocked result or error, if there is one. */
static void
read_outcome(const Jsonb *mock, SfMock *out)
{
	static const char *const error_members[] = {"error", "cause", NULL};
	Jsonb	   *error = sf_json_get(mock, "errorOutput");
	Jsonb	   *result = sf_json_get(mock, "result");

	if (result != NULL && error != NULL)
		refuse("mock", "A test mock should have only one of the following fields: [result, errorOutput].");
	if (result != NULL)
	{
		out->kind = SF_MOCK_KIND_RESULT;
		out->result = result;
	}
	if (error == NULL)
		return;
	check_members(error, "errorOutput", error_members);
	out->kind = SF_MOCK_KIND_ERROR;
	out->error = sf_error_make(string_member(error, "error"), string_member(error, "cause"));
	check_length(out->error.name, "mock.errorOutput.error", 256);
	check_length(out->error.cause, "mock.errorOutput.cause", 32768);
}

/* Refuse revealSecrets with a mock, which has none. */
static void
check_reveal_secrets(const Jsonb *mock, const SfMock *out)
{
	Jsonb	   *reveal = sf_json_get(mock, "revealSecrets");
	JsonbValue	root;

	if (reveal == NULL)
		return;
	sf_json_root(reveal, &root);
	if (root.type != jbvBool)
		refuse("mock", "revealSecrets must be a boolean");
	if (root.val.boolean && out->kind != SF_MOCK_KIND_NONE)
		refuse("mock", "TestState does not support RevealSecrets when a mock is specified.");
}

/* A count of stateConfiguration; 0 if absent. */
static int
count_member(const Jsonb *configuration, const char *key)
{
	Jsonb	   *value = sf_json_get(configuration, key);
	JsonbValue	root;
	int64		count;

	if (value == NULL)
		return 0;
	sf_json_root(value, &root);
	if (!sf_json_to_int64(&root, &count) || count > PG_INT32_MAX)
		refuse("mock", psprintf("%s must be a count", key));
	if (count < 0)
		refuse_value("mock", sf_json_to_cstring(value),
					 psprintf("stateConfiguration.%s", key),
					 "have value greater than or equal to 0");
	return (int) count;
}

/* Check that errorCausedByState is a state inside the one that is tested. */
static void
check_causing_state(const SfStateTest *test, const char *name)
{
	const SfProgram *program = test->program;
	int			state;
	int			scope;

	if (name == NULL)
		return;
	state = sf_program_find_state(program, name);
	scope = state == SF_NO_STATE ? 0 : program->states[state].scope;
	while (program->scopes[scope].owner_state != SF_NO_STATE)
	{
		if (program->scopes[scope].owner_state == test->state)
			return;
		scope = program->states[program->scopes[scope].owner_state].scope;
	}
	refuse("mock", psprintf("errorCausedByState '%s' is not a state of the tested Map or Parallel state",
							name));
}

/* The members of stateConfiguration */
static const char *const configuration_members[] = {
	"retrierRetryCount", "errorCausedByState", "mapIterationFailureCount",
	"mapItemReaderData", NULL
};

/* Refuse a configuration without a mock: it says what happened before the mocked outcome. */
static void
check_configuration_has_mock(const SfStateTest *test, const Jsonb *configuration)
{
	if (test->mock.kind != SF_MOCK_KIND_NONE)
		return;
	for (int i = 0; configuration_members[i] != NULL; i++)
		if (sf_json_get(configuration, configuration_members[i]) != NULL)
			refuse("mock", psprintf("TestState does not support %c%s when a mock is not specified.",
									pg_ascii_toupper(configuration_members[i][0]),
									configuration_members[i] + 1));
}

/* Read jobs: what stands in for each job of a JobNet that would run. */
static void
read_jobs(SfStateTest *test, const Jsonb *jobs)
{
	static const char *const members[] = {"result", "errorOutput", NULL};
	const SfState *state = &test->program->states[test->state];
	const SfJobNetState *net;
	const char **names;

	if (state->type != SF_STATE_JOBNET)
		refuse("mock", "jobs is for JobNet states only");
	if (test->mock.kind != SF_MOCK_KIND_NONE)
		refuse("mock", "A mock of a JobNet has jobs, or the result or error of the net, not both");
	net = sf_state_net(state);
	names = palloc(sizeof(char *) * (net->njobs + 1));
	for (int i = 0; i < net->njobs; i++)
		names[i] = net->jobs[i].name;
	names[net->njobs] = NULL;
	check_members(jobs, "jobs", names);
	test->mock.kind = SF_MOCK_KIND_JOBS;
	test->mock.jobs = palloc0(sizeof(SfMock) * net->njobs);
	for (int i = 0; i < net->njobs; i++)
	{
		const Jsonb *job = sf_json_get(jobs, names[i]);

		if (job == NULL)
			continue;
		check_members(job, names[i], members);
		read_outcome(job, &test->mock.jobs[i]);
	}
}

/* Read stateConfiguration: what happened to the state before. */
static void
read_configuration(SfStateTest *test, const Jsonb *configuration)
{
	const SfState *state = &test->program->states[test->state];

	check_members(configuration, "stateConfiguration", configuration_members);
	check_configuration_has_mock(test, configuration);
	test->retries = count_member(configuration, "retrierRetryCount");
	test->failed_iterations = count_member(configuration, "mapIterationFailureCount");
	test->reader_data = sf_json_get(configuration, "mapItemReaderData");
	if (sf_json_get(configuration, "mapIterationFailureCount") != NULL && state->type != SF_STATE_MAP)
		refuse("mock", "mapIterationFailureCount is for Map states only");
	check_causing_state(test, string_member(configuration, "errorCausedByState"));
}

/* Read argument mock. */
static void
read_mock(SfStateTest *test, const Jsonb *mock)
{
	static const char *const members[] = {
		"result", "errorOutput", "jobs", "fieldValidationMode", "stateConfiguration",
		"revealSecrets", "serviceQuotas", NULL
	};
	Jsonb	   *configuration;
	const Jsonb *jobs = sf_json_get(mock, "jobs");

	check_members(mock, "mock", members);
	read_validation_mode(mock, &test->mock);
	read_outcome(mock, &test->mock);
	check_reveal_secrets(mock, &test->mock);
	if (jobs != NULL)
		read_jobs(test, jobs);
	configuration = sf_json_get(mock, "stateConfiguration");
	if (configuration != NULL)
		read_configuration(test, configuration);
}

/* Find a member of a mocked result that is no job of the net, as a complaint, or NULL. */
static const char *
find_unknown_job(const SfJobNetState *net, const Jsonb *result)
{
	uint32		known = 0;

	for (int i = 0; i < net->njobs; i++)
		known += sf_json_get(result, net->jobs[i].name) != NULL;
	return known == JB_ROOT_COUNT(result) ? NULL :
		"Mocked result of a JobNet has a member that is no job of it.";
}

/* Find what is wrong with the mocked result of a Map, a Parallel or a JobNet, or NULL. */
static const char *
check_joined_result(const SfState *state, const Jsonb *result)
{
	JsonbValue	root;

	sf_json_root(result, &root);
	if (sf_state_is_distributed(state) && sf_state_distributed(state)->result_writer != NULL)
		return sf_json_is_object(&root) ? NULL : "Mocked result must be a JSON object.";
	if (state->type == SF_STATE_JOBNET)
	{
		if (!sf_json_is_object(&root))
			return "Mocked result of a JobNet must be a JSON object: outputs by the names of jobs.";
		return find_unknown_job(sf_state_net(state), result);
	}
	if (!sf_json_is_array(&root))
		return "Mocked result must be an array.";
	if (state->type == SF_STATE_PARALLEL && sf_json_count(&root) != state->nscopes)
		return "Mocked result must contain the same number of items as number of Parallel branches.";
	return NULL;
}

/* Refuse a mock that does not go with the state, and a state that needs one. */
static void
check_mock(const SfStateTest *test)
{
	const SfState *state = &test->program->states[test->state];
	bool		joins = sf_state_has_children(state);
	SfMockProblem problem = {0};

	if (test->mock.kind == SF_MOCK_KIND_NONE)
	{
		if (state->type == SF_STATE_JOBNET)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_DEFINITION),
					 errmsg("a JobNet can be tested with a mock only"),
					 errhint("Give a mock with the member jobs: how each job that runs ends.")));
		if (joins)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_DEFINITION),
					 errmsg("TestState API does not support Map or Parallel states. Supported state types include: [Task, Wait, Pass, Succeed, Fail, Choice]"),
					 errhint("Give a mock: what the state's branches or iterations return.")));
		return;
	}
	if (!joins && state->type != SF_STATE_TASK)
		refuse("mock", psprintf("State type '%s' is not supported when a mock is specified",
								sf_state_type_name(state->type)));
	if (test->mock.kind != SF_MOCK_KIND_RESULT)
		return;
	if (joins)
		problem.message = check_joined_result(state, sf_mock_result(&test->mock));
	else if (test->mock.check != SF_MOCK_CHECK_NONE)
		problem = sf_service.check_result(&sf_state_task(state)->resource,
										  sf_mock_result(&test->mock), test->mock.check == SF_MOCK_CHECK_STRICT);
	if (problem.message != NULL)
		refuse_with("mock", problem.message, problem.detail);
}

/* Find what runs a Task without a mock; NULL: the task fails with *error. */
static SfResource *
find_resource(const SfState *state, Jsonb **payload, SfError *error)
{
	const SfResource *written = &sf_state_task(state)->resource;
	SfResource *resource = palloc(sizeof(SfResource));

	if (!sf_service_resolve(written, GetUserId(), resource, payload, error))
	{
		if (error->name != NULL)
			return NULL;
		ereport(ERROR,
				(errcode(ERRCODE_SF_RESOURCE_DOES_NOT_EXIST),
				 errmsg("nothing runs the resource \"%s\"", written->text),
				 errhint("Give a mock, or map it with sf_map_resource().")));
	}
	if (resource->integration != SF_INTEGRATION_REQUEST_RESPONSE ||
		!sf_service_is_sql(resource))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("a Task with resource \"%s\" can be tested with a mock only",
						written->text),
				 errdetail("Only SQL tasks that end by themselves run in a test.")));
	return resource;
}

/* A task of a test */
typedef struct TestTask
{
	const SfTaskCall *call;
	SfTaskOutcome *outcome;
} TestTask;

/* Run a task, and roll its work back. */
static bool
run_and_undo(void *arg)
{
	TestTask   *task = arg;

	sf_task_runner.run(task->call, task->outcome);
	return false;
}

/*
 * Run a SQL task as the caller, and undo what it did: in a subtransaction
 * around its own.
 */
static void
run_task(SfStateTest *test, const SfState *state, const SfTaskRequest *task,
		 SfOutcome *out)
{
	SfTaskOutcome outcome;
	SfTaskCall	call;
	TestTask	run = {&call, &outcome};

	memset(&call, 0, sizeof(call));
	memset(&outcome, 0, sizeof(outcome));
	call.state = state;
	call.owner = GetUserId();
	call.payload = task->payload;
	call.resource = find_resource(state, &call.payload, &outcome.error);
	call.attempt = test->retries;
	call.timeout_ms = task->timeout_ms;
	call.in_session = true;

	/* an error that is no outcome aborts the caller's whole statement */
	if (call.resource != NULL)
	{
		ErrorData  *error = sf_subtransaction_run(run_and_undo, NULL, &run);

		if (error != NULL)
			ReThrowError(error);
		sf_service.shape_outcome(&sf_state_task(state)->resource, &outcome);
	}

	out->ok = outcome.ok;
	out->output = outcome.output ? outcome.output : sf_json_null();
	out->error = outcome.error;
	out->error.needs_prefix = false;
}

/* Read argument inspection_level. */
static SfInspectionLevel
read_level(const char *level)
{
	static const char *const names[] = {
		[SF_LEVEL_INFO] = "INFO",
		[SF_LEVEL_DEBUG] = "DEBUG",
		[SF_LEVEL_TRACE] = "TRACE",
	};

	for (size_t i = 0; i < lengthof(names); i++)
		if (strcmp(names[i], level) == 0)
			return (SfInspectionLevel) i;
	refuse_value("inspection_level", level, "inspectionLevel",
				 "satisfy enum value set: [INFO, DEBUG, TRACE]");
	return SF_LEVEL_INFO;
}

/*
 * Have the rest of a call keep to the size of payloads that Step Functions allows, if its
 * mock asks for that; returns the level to which settings go back.
 */
static int
begin_service_quotas(const Jsonb *mock)
{
	Jsonb	   *wanted = mock == NULL || !JB_ROOT_IS_OBJECT(mock) ? NULL : sf_json_get(mock, "serviceQuotas");
	int			level = NewGUCNestLevel();
	JsonbValue	root;

	if (wanted == NULL)
		return level;
	sf_json_root(wanted, &root);
	if (root.type != jbvBool)
		refuse("mock", "serviceQuotas must be a boolean");
	if (root.val.boolean)
		(void) set_config_option("sfflow.max_payload_bytes", psprintf("%dB", 256 * 1024), PGC_SUSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* A wait for what a feature gives fails if its parameters are wrong, whatever the mock says. */
static void
check_wait(const SfTaskRequest *task, SfOutcome *out)
{
	SfError		error;

	SF_FEATURES(resource, feature)
		if (feature->resource->kind == task->resource->kind && feature->resource->allows != NULL &&
			!feature->resource->allows(task->resource, task->payload, &error))
		{
			out->ok = false;
			out->error = error;
		}
}

/*
 * sf_test_state(definition, input, context, variables, mock, inspection_level,
 * state_name): run one state, write nothing.
 */
SF_SQL_FUNCTION(sfflow_sf_test_state)
{
	SfStateTest test = {
		.run_task = run_task,
		.check_wait = check_wait,
		.run_jobs = sf_test_net,
		.parse_items = sf_item_reader_parse
	};
	SfInspectionLevel level = read_level(sf_arg_text(fcinfo, 5, "inspection_level"));
	int			guc_level = begin_service_quotas(PG_ARGISNULL(4) ? NULL : PG_GETARG_JSONB_P(4));
	Jsonb	   *result;

	test.input = sf_arg_jsonb(fcinfo, 1, "input");
	test.variables = sf_arg_jsonb(fcinfo, 3, "variables");
	sf_arg_check_size(test.input, "input");
	if (!JB_ROOT_IS_OBJECT(test.variables))
		refuse("variables", "variables must be a JSON object");
	read_definition(&test, sf_arg_text(fcinfo, 0, "definition"),
					sf_arg_text_or_null(fcinfo, 6));
	if (!PG_ARGISNULL(4))
		read_mock(&test, PG_GETARG_JSONB_P(4));
	check_mock(&test);
	test.context = sf_arg_jsonb_or_null(fcinfo, 2);
	if (test.context != NULL)
	{
		const char *problem = sf_test_context_check(test.context,
													&test.program->states[test.state]);

		if (problem != NULL)
			refuse("context", problem);
	}
	result = sf_test_state_run(&test, level, GetCurrentTimestamp());
	AtEOXact_GUC(true, guc_level);
	PG_RETURN_JSONB_P(result);
}
