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
	SfMapRun   *run;

	call->missing = "Resource not found";
	sf_arg_map_run(id, needed, &execution_no, &map_run_no);
	*execution = sf_execution_read(execution_no, SF_LOCK_NONE, false);
	run = sf_map_run_read(execution_no, map_run_no, SF_LOCK_NONE);
	if (*execution == NULL || run == NULL)
		sf_arg_map_run_missing(id);
	return run;
}

/* The state that a run is of. */
static const SfState *
state_of(const SfExecution *execution, const SfMapRun *run)
{
	const SfProgram *program = sf_program_cache_get(execution->machine_no, execution->version);

	if (!sf_program_has_state(program, run->state) ||
		!sf_state_is_distributed(&program->states[run->state]))
		elog(ERROR, "state %d of execution \"%s\" is no Distributed Map", run->state, execution->execution_id);
	return &program->states[run->state];
}

/* Find the run that a child belongs to, and its execution; NULL: it is no child of one. */
static SfMapRun *
find_run(const SfExecution *child, SfExecution **parent)
{
	if (!sf_execution_is_map_child(child))
		return NULL;
	*parent = sf_execution_read(child->parent_execution_no, SF_LOCK_NONE, false);
	return *parent == NULL ? NULL :
		sf_map_run_read(child->parent_execution_no, child->map_run_no, SF_LOCK_NONE);
}

/* Add the ARN of the run that a child belongs to, if any. */
void
sf_mapped_answer_arn(SfCall *call, const SfExecution *child)
{
	SfExecution *parent;
	SfMapRun   *run = find_run(child, &parent);

	if (run != NULL)
		sf_json_add_string(&call->answer, "mapRunArn", sf_map_arn(parent, state_of(parent, run), run->uuid));
}

/* Add the label of the Map state whose run a child belongs to, if any: its own, or the one of its run. */
void
sf_mapped_answer_label(SfCall *call, const SfExecution *child)
{
	SfExecution *parent;
	SfMapRun   *run = find_run(child, &parent);
	const char *label = run == NULL ? NULL : sf_state_map(state_of(parent, run))->distributed->label;

	if (run != NULL)
		sf_json_add_string(&call->answer, "label", label != NULL ? label : run->uuid);
}

/* Add what a list and a description of a run both have. */
static void
answer_head(SfCall *call, const SfExecution *execution, const SfMapRun *run)
{
	sf_answer_arn(call, "executionArn", SF_NAME_EXECUTION, execution->execution_id);
	sf_json_add_string(&call->answer, "mapRunArn", sf_map_arn(execution, state_of(execution, run), run->uuid));
	sf_answer_time(call, "startDate", run->started_at);
	sf_answer_time(call, "stopDate", run->stopped_at);
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
answer_counts(SfCall *call, const char *key, const Counts *c, bool redrivable)
{
	int			unsuccessful = c->failed + c->timed_out + c->aborted;
	SfJsonBuilder *b = &call->answer;

	sf_json_open_object(b, key);
	sf_json_add_int(b, "pending", c->pending);
	sf_json_add_int(b, "running", c->running);
	sf_json_add_int(b, "succeeded", c->succeeded);
	sf_json_add_int(b, "failed", c->failed);
	sf_json_add_int(b, "timedOut", c->timed_out);
	sf_json_add_int(b, "aborted", c->aborted);
	sf_json_add_int(b, "total", c->total);
	sf_json_add_int(b, "resultsWritten", c->written);
	sf_json_add_int(b, "failuresNotRedrivable", redrivable ? 0 : unsuccessful);
	sf_json_add_int(b, "pendingRedrive", c->redriven);
	sf_json_close_object(b);
}

/* Count the items of a run.  How many failed in which way is known of executions only. */
static Counts
count_items(const SfMapRun *run, const SfBranch *branch)
{
	int			ended = run->items_succeeded + run->items_failed;
	int			taken = branch == NULL ? ended : Max(branch->next_index, ended);

	return (Counts) {
		.pending = run->total - taken,
		.running = taken - ended,
		.succeeded = run->items_succeeded,
		.failed = run->items_failed,
		.total = run->total
	};
}

/* Count the executions of a run. */
static Counts
count_executions(const SfMapRun *run)
{
	return (Counts) {
		.running = run->children - run->succeeded - run->failed - run->timed_out - run->aborted,
		.succeeded = run->succeeded,
		.failed = run->failed,
		.timed_out = run->timed_out,
		.aborted = run->aborted,
		.total = run->children
	};
}

/* The branch that waits for a run; NULL: it does no longer. */
static SfBranch *
find_branch(const SfMapRun *run)
{
	SfBranchKey key = {run->execution_no, run->branch_no};
	SfBranch   *branch = sf_branch_read_join(key, SF_LOCK_NONE);

	return branch != NULL && branch->map_run_no == run->map_run_no ? branch : NULL;
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
	SfMapRun   *run = sf_mapped_run_read(call, SF_RIGHT_READ, &execution);
	Counts		items = count_items(run, find_branch(run));
	Counts		executions = count_executions(run);
	bool		redrivable = run->status != SF_STATUS_SUCCEEDED;

	if (run->redrive_count > 0)
	{
		sf_map_run_redriven(run->execution_no, run->map_run_no, &executions.redriven, &items.redriven);
		executions.running -= executions.redriven;
		items.running -= items.redriven;
	}
	if (run->status == SF_STATUS_SUCCEEDED &&
		sf_state_map(state_of(execution, run))->distributed->result_writer != NULL)
	{
		items.written = items.succeeded + items.failed;
		executions.written = executions.total;
	}
	answer_head(call, execution, run);
	sf_json_add_string(&call->answer, "status", sf_status_name(run->status));
	sf_json_add_int(&call->answer, "maxConcurrency", run->max_concurrency == 0 ? NO_LIMIT : run->max_concurrency);
	sf_json_add_int(&call->answer, "toleratedFailureCount", run->tolerated_count);
	answer_double(call, "toleratedFailurePercentage", run->tolerated_percentage);
	answer_counts(call, "itemCounts", &items, redrivable);
	answer_counts(call, "executionCounts", &executions, redrivable);
	sf_json_add_int(&call->answer, "redriveCount", run->redrive_count);
	if (run->redrive_count > 0)
		sf_answer_time(call, "redriveDate", execution->last_redriven_at);
}

/* UpdateMapRun: while it runs; what the request does not give stays. */
void
sf_operation_update_map_run(SfCall *call)
{
	SfExecution *execution;
	SfMapRun   *run = sf_mapped_run_read(call, SF_RIGHT_OPERATE, &execution);
	Jsonb	   *percentage = sf_request_document(call, "toleratedFailurePercentage");
	SfMapRunLimits limits = {
		.sets_max_concurrency = sf_request_document(call, "maxConcurrency") != NULL,
		.sets_tolerated_count = sf_request_document(call, "toleratedFailureCount") != NULL,
		.sets_tolerated_percentage = percentage != NULL,
		.max_concurrency = sf_request_int(call, "maxConcurrency", 0),
		.tolerated_count = sf_request_int(call, "toleratedFailureCount", 0),
		.tolerated_percentage = percentage == NULL ? 0 : strtod(sf_json_to_cstring(percentage), NULL)
	};

	if (run->status != SF_STATUS_RUNNING)
		sf_refusal_raise(SF_REFUSAL_MAP_RUN_COMPLETED, "Map Run is %s and cannot be updated", sf_status_name(run->status));
	if (!sf_apply_map_run_limits(run->execution_no, run->map_run_no, &limits))
		sf_arg_map_run_missing(sf_request_id(call, "mapRunArn", SF_NAME_MAP_RUN));
}
