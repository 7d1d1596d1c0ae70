/*
 * map_runs.c
 *		Runs of Distributed Maps.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "aws_api/operations.h"
#include "aws_api/request/call.h"
#include "run/apply/apply.h"
#include "store/state_machine/program_cache.h"
#include "transition/state/map_state.h"

/* What the service says where there is no limit */
#define NO_LIMIT	PG_INT32_MAX

/* Find the run in a request, on whose machine the caller needs a right, and its execution. */
SfMapRun *
sf_mapped_run_read(SfCall *call, SfRight needed, SfExecution **execution)
{
	const char *id = sf_request_id(call, "mapRunArn", SF_NAME_MAP_RUN);
	int64		execution_no,
				map_run_no;
	SfMapRun   *map_run;

	call->missing = "Resource not found";
	sf_arg_map_run(id, needed, &execution_no, &map_run_no);
	*execution = sf_execution_read(execution_no, SF_LOCK_NONE, false);
	map_run = sf_map_run_read(execution_no, map_run_no, SF_LOCK_NONE);
	if (*execution == NULL || map_run == NULL)
		sf_arg_map_run_missing(id);
	return map_run;
}

/* The state that a run is of. */
static const SfState *
state_of(const SfExecution *execution, const SfMapRun *map_run)
{
	const SfProgram *program = sf_program_cache_get(execution->machine_no, execution->version);

	if (!sf_program_has_state(program, map_run->state) ||
		!sf_state_is_distributed(&program->states[map_run->state]))
		elog(ERROR, "state %d of execution \"%s\" is no Distributed Map", map_run->state, execution->execution_id);
	return &program->states[map_run->state];
}

/* Find the run that an item execution belongs to, and its execution; NULL: it is none. */
static SfMapRun *
find_run(const SfExecution *execution, SfExecution **parent)
{
	if (!sf_execution_is_of_item(execution))
		return NULL;
	*parent = sf_execution_read(execution->parent_execution_no, SF_LOCK_NONE, false);
	return *parent == NULL ? NULL :
		sf_map_run_read(execution->parent_execution_no, execution->map_run_no, SF_LOCK_NONE);
}

/* Add the ARN of the run that an item execution belongs to, if any. */
void
sf_mapped_answer_arn(SfCall *call, const SfExecution *execution)
{
	SfExecution *parent;
	SfMapRun   *map_run = find_run(execution, &parent);

	if (map_run != NULL)
		sf_json_add_string(&call->answer, "mapRunArn", sf_map_arn(parent, state_of(parent, map_run), map_run->uuid));
}

/* Add the label of the Map state whose run an item execution belongs to, if any: its own, or the one of its run. */
void
sf_mapped_answer_label(SfCall *call, const SfExecution *execution)
{
	SfExecution *parent;
	SfMapRun   *map_run = find_run(execution, &parent);
	const char *label = map_run == NULL ? NULL : sf_state_map(state_of(parent, map_run))->distributed->label;

	if (map_run != NULL)
		sf_json_add_string(&call->answer, "label", label != NULL ? label : map_run->uuid);
}

/* Add what a list and a description of a run both have. */
static void
answer_head(SfCall *call, const SfExecution *execution, const SfMapRun *map_run)
{
	sf_answer_arn(call, "executionArn", SF_NAME_EXECUTION, execution->execution_id);
	sf_json_add_string(&call->answer, "mapRunArn", sf_map_arn(execution, state_of(execution, map_run), map_run->uuid));
	sf_answer_time(call, "startDate", map_run->started_at);
	sf_answer_time(call, "stopDate", map_run->stopped_at);
}

/* ListMapRuns: of an execution, in their order. */
void
sf_operation_list_map_runs(SfCall *call)
{
	const char *id = sf_request_id(call, "executionArn", SF_NAME_EXECUTION);
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_NONE, SF_RIGHT_READ);
	List	   *runs = sf_map_run_scan(execution->execution_no);
	char	   *key = sf_answer_token_key(call);
	int64		behind = key == NULL ? 0 : pg_strtoint64(key);
	int			left = sf_request_max_results(call);
	bool		has_more = false;

	sf_json_open_array(&call->answer, "mapRuns");
	foreach_ptr(const SfMapRun, run, runs)
	{
		if (run->map_run_no <= behind)
			continue;
		has_more = left-- == 0;
		if (has_more)
			break;
		behind = run->map_run_no;
		sf_json_open_object(&call->answer, NULL);
		answer_head(call, execution, run);
		sf_answer_arn(call, "stateMachineArn", SF_NAME_STATE_MACHINE, execution->machine_name);
		sf_json_close_object(&call->answer);
	}
	sf_json_close_array(&call->answer);
	if (has_more)
		sf_answer_next(call, psprintf(INT64_FORMAT, behind));
}

/* Counts of items, or of executions */
typedef struct Counts
{
	int			pending;
	int			running;
	int			succeeded;
	int			failed;
	int			timed_out;
	int			aborted;
	int			total;
	int			written;
	int			redriven;		/* that wait to go on */
} Counts;

/* Add counts. */
static void
answer_counts(SfCall *call, const char *key, const Counts *counts, bool redrivable)
{
	int			unsuccessful = counts->failed + counts->timed_out + counts->aborted;
	SfJsonBuilder *json = &call->answer;

	sf_json_open_object(json, key);
	sf_json_add_int(json, "pending", counts->pending);
	sf_json_add_int(json, "running", counts->running);
	sf_json_add_int(json, "succeeded", counts->succeeded);
	sf_json_add_int(json, "failed", counts->failed);
	sf_json_add_int(json, "timedOut", counts->timed_out);
	sf_json_add_int(json, "aborted", counts->aborted);
	sf_json_add_int(json, "total", counts->total);
	sf_json_add_int(json, "resultsWritten", counts->written);
	sf_json_add_int(json, "failuresNotRedrivable", redrivable ? 0 : unsuccessful);
	sf_json_add_int(json, "pendingRedrive", counts->redriven);
	sf_json_close_object(json);
}

/* Count the items of a run.  How many failed in which way is known of executions only. */
static Counts
count_items(const SfMapRun *map_run, const SfBranch *branch)
{
	int			ended = map_run->items_succeeded + map_run->items_failed;
	int			taken = branch == NULL ? ended : Max(branch->next_index, ended);

	return (Counts) {
		.pending = map_run->total - taken,
		.running = taken - ended,
		.succeeded = map_run->items_succeeded,
		.failed = map_run->items_failed,
		.total = map_run->total
	};
}

/* Count the executions of a run. */
static Counts
count_executions(const SfMapRun *map_run)
{
	return (Counts) {
		.running = map_run->children - map_run->succeeded - map_run->failed - map_run->timed_out - map_run->aborted,
		.succeeded = map_run->succeeded,
		.failed = map_run->failed,
		.timed_out = map_run->timed_out,
		.aborted = map_run->aborted,
		.total = map_run->children
	};
}

/* The branch that waits for a run; NULL: it does no longer. */
static SfBranch *
find_branch(const SfMapRun *map_run)
{
	SfBranchKey key = {map_run->execution_no, map_run->branch_no};
	SfBranch   *branch = sf_branch_read_join(key, SF_LOCK_NONE);

	return branch != NULL && branch->map_run_no == map_run->map_run_no ? branch : NULL;
}

/* Add a number that need not be an integer. */
static void
answer_double(SfCall *call, const char *key, double number)
{
	sf_json_add(&call->answer, key, sf_json_from_cstring(psprintf("%g", number)));
}

/* DescribeMapRun. */
void
sf_operation_describe_map_run(SfCall *call)
{
	SfExecution *execution;
	SfMapRun   *map_run = sf_mapped_run_read(call, SF_RIGHT_READ, &execution);
	Counts		items = count_items(map_run, find_branch(map_run));
	Counts		executions = count_executions(map_run);
	bool		redrivable = map_run->status != SF_STATUS_SUCCEEDED;

	if (map_run->redrive_count > 0)
	{
		sf_map_run_redriven(map_run->execution_no, map_run->map_run_no, &executions.redriven, &items.redriven);
		executions.running -= executions.redriven;
		items.running -= items.redriven;
	}
	if (map_run->status == SF_STATUS_SUCCEEDED &&
		sf_state_map(state_of(execution, map_run))->distributed->result_writer != NULL)
	{
		items.written = items.succeeded + items.failed;
		executions.written = executions.total;
	}
	answer_head(call, execution, map_run);
	sf_json_add_string(&call->answer, "status", sf_status_name(map_run->status));
	sf_json_add_int(&call->answer, "maxConcurrency", map_run->max_concurrency == SF_UNLIMITED ? NO_LIMIT :
					map_run->max_concurrency);
	sf_json_add_int(&call->answer, "toleratedFailureCount", map_run->tolerated_count);
	answer_double(call, "toleratedFailurePercentage", map_run->tolerated_percentage);
	answer_counts(call, "itemCounts", &items, redrivable);
	answer_counts(call, "executionCounts", &executions, redrivable);
	sf_json_add_int(&call->answer, "redriveCount", map_run->redrive_count);
	if (map_run->redrive_count > 0)
		sf_answer_time(call, "redriveDate", execution->last_redriven_at);
}

/* UpdateMapRun: while it runs; what the request does not give stays. */
void
sf_operation_update_map_run(SfCall *call)
{
	SfExecution *execution;
	SfMapRun   *map_run = sf_mapped_run_read(call, SF_RIGHT_OPERATE, &execution);
	Jsonb	   *percentage = sf_request_document(call, "toleratedFailurePercentage");
	SfMapRunLimits limits = {
		.sets_max_concurrency = sf_request_document(call, "maxConcurrency") != NULL,
		.sets_tolerated_count = sf_request_document(call, "toleratedFailureCount") != NULL,
		.sets_tolerated_percentage = percentage != NULL,
		.max_concurrency = sf_request_int(call, "maxConcurrency", 0),
		.tolerated_count = sf_request_int(call, "toleratedFailureCount", 0),
		.tolerated_percentage = percentage == NULL ? 0 : strtod(sf_json_to_cstring(percentage), NULL)
	};

	if (map_run->status != SF_STATUS_RUNNING)
		sf_refusal_raise(SF_REFUSAL_MAP_RUN_COMPLETED, "Map Run is %s and cannot be updated",
						 sf_status_name(map_run->status));
	if (!sf_apply_map_run_limits(map_run->execution_no, map_run->map_run_no, &limits))
		sf_arg_map_run_missing(sf_request_id(call, "mapRunArn", SF_NAME_MAP_RUN));
}
