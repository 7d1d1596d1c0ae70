/*
 * distributed_map.c
 *		Map in mode DISTRIBUTED: each item, or batch of items, is the input of
 *		an execution of its own.
 *
 *		enter ──► items are read (a task, if there is an ItemReader; a client
 *		          may answer it)
 *		      ──► JOIN: item executions begin in a window, as others end
 *		      ──► all have ended: results are put into an array; or, if there is a
 *		          ResultWriter, MAP_WRITE: they are written (a task)
 *
 * Both tasks may be announced as long, or handed out; their outcomes come in phase
 * MAP_ANSWERED.  The state's history has no events of the item executions.  branch->map_run_no
 * names the run in _sfflow.map_run from its beginning on; branch->items_unread
 * tells that its items have not been read, and so which of the two tasks it is.
 * Counted in items: total, next_index; in item executions: pending.  What the run needs
 * otherwise stands in its row.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/name/name.h"
#include "base/settings.h"
#include "transition/state/map_state.h"

/* {"…": …} around Items, in bytes */
#define BATCH_OVERHEAD	32

/* --- names --- */

/* What stands after the machine's name in ids of a run. */
static const char *
label_of(const SfState *state, const char *uuid)
{
	const char *label = sf_state_map(state)->distributed->label;

	return label != NULL ? label : uuid;
}

/* Build the public name of a run. */
char *
sf_map_arn(const SfExecution *execution, const SfState *state,
		   const char *uuid)
{
	return sf_public_name(SF_NAME_MAP_RUN,
						  psprintf("%s/%s:%s", execution->machine_name,
								   label_of(state, uuid), uuid));
}

/* What the event that a run is redriven tells. */
Jsonb *
sf_map_redriven_extra(const SfExecution *execution, const SfState *state,
					  const SfMapRun *map_run)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "mapRunArn",
					   sf_map_arn(execution, state, map_run->uuid));
	sf_json_add_int(&json, "redriveCount", map_run->redrive_count);
	return sf_json_end(&json);
}

/* The execution id of an item execution. */
char *
sf_map_execution_id(const SfExecution *execution, const SfState *state,
					const char *uuid, int index)
{
	const char *label = sf_state_map(state)->distributed->label;

	if (label == NULL)
		return psprintf("%s/%s:%d", execution->machine_name, uuid, index);
	return psprintf("%s/%s:%s-%d", execution->machine_name, label, uuid, index);
}

/* --- fields --- */

/* A count as an int. */
static bool
int_field(SfStep *step, const SfValueField *field, const char *name,
		  int *count, SfError *error)
{
	int64		value;

	if (!sf_map_integer(step, field, name, &value, error))
		return false;
	*count = (int) Max(Min(value, PG_INT32_MAX), PG_INT32_MIN);
	return true;
}

/* What a run needs to know besides its items. */
static bool
run_fields(SfStep *step, SfMapRun *map_run, SfError *error)
{
	const SfDistributedMap *map = sf_state_map(step->state)->distributed;
	int			bytes;

	if (!int_field(step, &sf_state_map(step->state)->tolerated_failure_count,
				   "ToleratedFailureCount", &map_run->tolerated_count, error))
		return false;
	if (map_run->tolerated_count < 0)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"ToleratedFailureCount cannot be negative.");
	if (!sf_map_percentage(step, &map_run->tolerated_percentage, error))
		return false;
	sf_map_show_tolerated(step, map_run->tolerated_count, map_run->tolerated_percentage);
	if (!int_field(step, &map->max_items, "MaxItems", &map_run->max_items, error) ||
		!int_field(step, &map->max_items_per_batch, "MaxItemsPerBatch",
				   &map_run->max_items_per_batch, error) ||
		!int_field(step, &map->max_input_bytes_per_batch, "MaxInputBytesPerBatch",
				   &bytes, error))
		return false;
	map_run->max_bytes_per_batch = bytes;
	map_run->max_concurrency = step->branch->max_concurrency;
	if (map->item_batcher != NULL &&
		(map_run->max_items_per_batch < 0 || bytes < 0))
		return sf_error_set(error, SF_ERR_RUNTIME,
							"ItemBatcher limits cannot be negative.");
	return true;
}

/* --- beginning, reading --- */

/* End the run of the branch. */
static void
end_run(SfStep *step, SfStatus status)
{
	SfMapRunEnd *end = &sf_step_effect(step, SF_EFFECT_END_MAP_RUN)->end_map_run;

	end->map_run_no = step->branch->map_run_no;
	end->status = status;
}

/* End the run with an error, then fail the state with it. */
static SfStepNext
fail_run(SfStep *step, SfError *error)
{
	sf_step_prefix(step, error);
	if (!sf_error_is(error, SF_ERR_RUNTIME))
		sf_step_event(step, SF_HISTORY_EVENT_MAP_RUN_FAILED, NULL,
					  sf_history_event_type_failure(error->name, error->cause));
	end_run(step, SF_STATUS_FAILED);
	return sf_step_fail(step, error);
}

/* Fail the run with an error of its own, that has no prefix. */
static SfStepNext
fail_run_with(SfStep *step, const char *name, const char *cause)
{
	SfError		error = sf_error_make(name, cause);

	return fail_run(step, &error);
}

/* Items are there: item executions may begin, once the join is claimed as one. */
static SfStepNext
await_item_executions(SfStep *step, int total)
{
	SfBranch   *branch = step->branch;

	branch->total = total;
	branch->items_unread = false;
	branch->phase = SF_PHASE_JOIN;
	branch->due_at = step->now;
	step->transition->name = SF_TRANSITION_STARTED;
	return SF_STEP_REST;
}

/* Ask for a task of the run. */
static SfStepNext
ask_for_task(SfStep *step, const SfResource *resource, Jsonb *payload)
{
	SfTaskRequest *task = palloc0(sizeof(SfTaskRequest));

	task->resource = resource;
	task->payload = payload;
	step->transition->task = task;
	step->branch->started_at = step->now;
	step->branch->deadline = DT_NOEND;
	return SF_STEP_TASK;
}

/* Parameters or Arguments of a reader or writer over the state's input. */
static bool
task_payload(SfStep *step, const SfTemplate *tmpl, const char *field,
			 Jsonb **payload, SfError *error)
{
	*payload = sf_json_empty_object();
	if (tmpl == NULL)
		return true;
	return sf_template_eval(tmpl, &step->env,
							psprintf("%s/%s", field,
									 step->state->language == SF_QL_JSONATA ?
									 "Arguments" : "Parameters"),
							payload, error);
}

/* Map: ask for the results of the run to be written. */
SfStepNext
sf_distributed_write(SfStep *step)
{
	const SfDistributedMap *map = sf_state_map(step->state)->distributed;
	Jsonb	   *payload;
	SfError		error;

	if (!sf_flow_input(step, &error) ||
		!task_payload(step, map->result_writer_parameters, "ResultWriter",
					  &payload, &error))
		return fail_run(step, &error);
	step->transition->name = SF_TRANSITION_WRITING;
	return ask_for_task(step, map->result_writer, payload);
}

/* {"mapRunArn": …} */
static Jsonb *
run_extra(const SfStep *step, const char *uuid)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "mapRunArn",
					   sf_map_arn(step->loaded->execution, step->state, uuid));
	return sf_json_end(&json);
}

/* Begin a run; items NULL: they are to be read. */
static void
begin_run(SfStep *step, SfMapRun *map_run, Jsonb *items)
{
	SfBranch   *branch = step->branch;
	SfEffect   *effect;

	map_run->execution_no = branch->key.execution_no;
	map_run->branch_no = branch->key.branch_no;
	map_run->state = step->state->number;
	map_run->status = SF_STATUS_RUNNING;
	map_run->started_at = step->now;
	map_run->stopped_at = DT_NOBEGIN;
	effect = sf_step_effect(step, SF_EFFECT_BEGIN_MAP_RUN);
	effect->begin_map_run.map_run = map_run;
	effect->begin_map_run.items = items;
	branch->map_run_no = map_run->map_run_no;
	branch->next_index = 0;
	sf_branch_wait_for_none(branch);
	sf_step_event(step, SF_HISTORY_EVENT_MAP_RUN_STARTED, NULL,
				  run_extra(step, map_run->uuid));
}

/* Map: begin a run, and find its items or ask for them to be read. */
SfStepNext
sf_distributed_enter(SfStep *step)
{
	const SfDistributedMap *map = sf_state_map(step->state)->distributed;
	SfBranch   *branch = step->branch;
	SfMapRun   *map_run;
	Jsonb	   *items = NULL;
	Jsonb	   *payload = NULL;
	bool		reads_none;
	JsonbValue	array;
	SfError		error;

	if (!sf_step_has(step, SF_NEED_MAP_RUN))
		return SF_STEP_REST;
	map_run = palloc(sizeof(SfMapRun));
	*map_run = *step->loaded->map_run;	/* with nothing but its names */
	if (!sf_flow_input(step, &error) ||
		(map->item_reader == NULL && !sf_map_items(step, &items, &error)) ||
		!sf_flow_concurrency(step, &sf_state_map(step->state)->max_concurrency, &error))
		return sf_step_fail(step, &error);

	if (items != NULL)
	{
		sf_json_root(items, &array);
		map_run->total = sf_json_count(&array);
	}
	sf_step_event(step, SF_HISTORY_EVENT_MAP_STATE_STARTED, NULL,
				  sf_map_length(map_run->total));
	if (!run_fields(step, map_run, &error) ||
		(items == NULL &&
		 !task_payload(step, map->item_reader_parameters, "ItemReader",
					   &payload, &error)))
		return sf_step_fail(step, &error);

	/* the run fails for it; a redrive begins another one */
	reads_none = map_run->max_items < 0;
	if (reads_none)
		map_run->max_items = SF_UNLIMITED;
	begin_run(step, map_run, items);
	if (items != NULL)
		return await_item_executions(step, map_run->total);
	branch->items_unread = true;
	if (reads_none)
		return fail_run_with(step, SF_ERR_ITEM_READER_FAILED,
							 "field MaxItems must be positive");
	step->transition->name = SF_TRANSITION_READING;
	return ask_for_task(step, map->item_reader, payload);
}

/* Does a branch wait for the items of a Distributed Map? */
bool
sf_distributed_is_reading(const SfState *state, const SfBranch *branch)
{
	return sf_state_is_distributed(state) && sf_branch_is_reading(branch);
}

/* The resource of the task that a Distributed Map is at. */
const SfResource *
sf_distributed_resource(const SfState *state, const SfBranch *branch)
{
	const SfDistributedMap *map = sf_state_map(state)->distributed;

	return sf_branch_is_reading(branch) ? map->item_reader : map->result_writer;
}

/* --- item executions --- */

/* Items as they are handed out */
typedef struct Feed
{
	SfStep	   *step;
	const SfMapRun *map_run;
	int			pos;			/* the item that comes next … */
	Jsonb	   *input;			/* … and what became of it, or NULL */
	Size		size;			/* of input */
} Feed;

/* Find the input that the next item gives; false: an error, or it is not loaded. */
static bool
feed_peek(Feed *feed, int index, SfError *error)
{
	SfStep	   *step = feed->step;
	Jsonb	   *item,
			   *value;

	if (feed->input != NULL)
		return true;
	if (feed->pos == step->loaded->nitems)
	{
		step->transition->needs |= SF_NEED_ITEMS;
		return false;
	}
	item = step->loaded->items[feed->pos];
	if (sf_state_map(step->state)->item_selector == NULL)
		feed->input = item;
	else
	{
		step->map_key = NULL;
		if (feed->map_run->keyed && (value = sf_json_get(item, "Value")) != NULL)
		{
			step->map_key = sf_json_get(item, "Key");
			item = value;
		}
		if (!sf_map_iteration_input(step, item, index, &feed->input, error))
		{
			feed->input = NULL;
			return false;
		}
	}
	feed->size = sf_json_text_size(feed->input);
	return true;
}

/* Take the input that feed_peek() found. */
static Jsonb *
feed_take(Feed *feed)
{
	Jsonb	   *input = feed->input;

	feed->input = NULL;
	feed->pos++;
	return input;
}

/* The input of an item execution that takes a batch: {"BatchInput": …, "Items": […]}. */
static SfItemExecution *
make_batch(Feed *feed, Jsonb *batch_input, Size *size, SfError *error)
{
	SfBranch   *branch = feed->step->branch;
	int			max_items = feed->map_run->max_items_per_batch;
	Size		max_bytes = (Size) sf_setting_max_payload_bytes;
	SfItemExecution *item_execution = palloc0(sizeof(SfItemExecution));
	SfJsonBuilder json;

	if (feed->map_run->max_bytes_per_batch != SF_UNLIMITED)
		max_bytes = Min(max_bytes, (Size) feed->map_run->max_bytes_per_batch);
	*size = BATCH_OVERHEAD;
	sf_json_begin_object(&json);
	if (batch_input != NULL)
	{
		sf_json_add(&json, "BatchInput", batch_input);
		*size += sf_json_text_size(batch_input);
	}
	sf_json_open_array(&json, "Items");
	while (branch->next_index < branch->total &&
		   (max_items == SF_UNLIMITED || item_execution->items < max_items))
	{
		CHECK_FOR_INTERRUPTS();
		if (!feed_peek(feed, branch->next_index, error))
			return NULL;
		if (item_execution->items > 0 && *size + feed->size + 1 > max_bytes)
			break;
		*size += feed->size + 1;
		sf_json_add(&json, NULL, feed_take(feed));
		item_execution->items++;
		branch->next_index++;
	}
	sf_json_close_array(&json);
	item_execution->input = sf_json_end(&json);
	return item_execution;
}

/* The input of an item execution that takes one item. */
static SfItemExecution *
make_single(Feed *feed, Size *size, SfError *error)
{
	SfItemExecution *item_execution = palloc0(sizeof(SfItemExecution));

	if (!feed_peek(feed, feed->step->branch->next_index, error))
		return NULL;
	*size = feed->size;
	item_execution->input = feed_take(feed);
	item_execution->items = 1;
	feed->step->branch->next_index++;
	return item_execution;
}

/*
 * Does a quota of the owner hold a run up?  One item execution may always run, or Maps
 * within Maps would wait for each other; its end has the run looked at again.
 */
static bool
must_wait(const SfStep *step, int running)
{
	return running > 0 && !step->loaded->may_begin;
}

/* Is there room for another item execution beside those that run? */
static bool
has_room(const SfBranch *branch, int running)
{
	return branch->next_index < branch->total && running < sf_map_window(branch);
}

/* Begin item executions while there is room for them, within what a step may do; *running counts those that run. */
static bool
begin_item_executions(SfStep *step, int *running, bool *waits, SfError *error)
{
	const SfDistributedMap *map = sf_state_map(step->state)->distributed;
	SfBranch   *branch = step->branch;
	Feed	   *feed = palloc0(sizeof(Feed));
	Jsonb	   *batch_input = NULL;
	int			limit = branch->next_index + SF_MAP_STEP_ITEMS;
	Size		bytes = 0;

	feed->step = step;
	feed->map_run = step->loaded->map_run;
	if (map->batch_input != NULL &&
		!sf_template_eval(map->batch_input, &step->env, "ItemBatcher/BatchInput",
						  &batch_input, error))
		return false;
	while (has_room(branch, *running) && branch->next_index < limit && bytes < SF_MAP_STEP_BYTES)
	{
		SfItemExecution *item_execution;
		Size		size;

		CHECK_FOR_INTERRUPTS();
		*waits = must_wait(step, *running);
		if (*waits || (feed->pos > 0 && feed->pos == step->loaded->nitems))
			break;				/* the next step goes on */
		item_execution = map->item_batcher != NULL ?
			make_batch(feed, batch_input, &size, error) :
			make_single(feed, &size, error);
		if (item_execution == NULL)
			return false;
		bytes += size;
		sf_step_effect(step, SF_EFFECT_BEGIN_ITEM_EXECUTION)->begin_item_execution = item_execution;
		(*running)++;
	}
	return true;
}

/* Map: item executions may begin. */
SfStepNext
sf_distributed_continue(SfStep *step)
{
	SfBranch   *branch = step->branch;
	int			next_index = branch->next_index;
	int			running = sf_branch_children_left(branch);
	int			neffects = step->transition->neffects;
	bool		waits = false;
	SfError		error;

	branch->due_at = DT_NOEND;
	if (!sf_join_wants_more(branch))
		return SF_STEP_REST;
	if (!sf_step_has(step, SF_NEED_MAP_RUN) || !sf_step_has(step, SF_NEED_ITEMS))
		return SF_STEP_REST;
	if (!sf_flow_input(step, &error))
		return sf_step_fail(step, &error);
	if (!begin_item_executions(step, &running, &waits, &error))
	{
		if (step->transition->needs != 0)
			return SF_STEP_REST;
		step->transition->neffects = neffects;	/* no item execution begins */
		branch->next_index = next_index;
		sf_join_fail(step, &error);
		return SF_STEP_REST;
	}
	sf_branch_set_children_left(branch, running);
	/* the rest of the window with the next step */
	if (has_room(branch, running) && !waits)
		branch->due_at = step->now;
	step->transition->name = SF_TRANSITION_CONTINUED;
	return SF_STEP_REST;
}

/* --- the end --- */

/* Leave the state with the result of a run that has succeeded. */
static SfStepNext
succeed_run(SfStep *step, Jsonb *result)
{
	end_run(step, SF_STATUS_SUCCEEDED);
	sf_step_event(step, SF_HISTORY_EVENT_MAP_RUN_SUCCEEDED, NULL, NULL);
	(void) sf_step_side_event(step, SF_HISTORY_EVENT_MAP_STATE_SUCCEEDED, NULL, NULL,
							  SF_CHAIN);
	return sf_step_succeed(step, result);
}

/* {"MapRunArn": …, "ResultWriterDetails": …} */
static Jsonb *
written_result(SfStep *step, Jsonb *details)
{
	const SfMapRun *map_run = step->loaded->map_run;
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "MapRunArn",
					   sf_map_arn(step->loaded->execution, step->state,
								  map_run->uuid));
	sf_json_add(&json, "ResultWriterDetails", details);
	return sf_json_end(&json);
}

/* Map: the items have been read, or the results written. */
SfStepNext
sf_distributed_resume(SfStep *step)
{
	const SfOutcome *outcome = sf_stimulus_outcome(step->stimulus);
	JsonbValue	root;
	int64		total;

	step->branch->started_at = DT_NOBEGIN;
	if (outcome->task != NULL)
		sf_step_effect(step, SF_EFFECT_CLOSE_TASK)->close_task = outcome->task;
	if (sf_branch_is_reading(step->branch))
	{
		if (!outcome->ok)
			return fail_run_with(step, SF_ERR_ITEM_READER_FAILED,
								 outcome->error.cause != NULL ? outcome->error.cause :
								 outcome->error.name);
		sf_json_root(outcome->output, &root);
		if (!sf_json_to_int64(&root, &total))
			elog(ERROR, "the number of items of a Map is missing");
		return await_item_executions(step, (int) total);
	}
	if (!sf_step_has(step, SF_NEED_MAP_RUN))
		return SF_STEP_REST;
	if (!outcome->ok)
		return fail_run_with(step, SF_ERR_RESULT_WRITER_FAILED,
							 outcome->error.cause);
	return succeed_run(step, written_result(step, outcome->output));
}

/* Map: all item executions have ended. */
SfStepNext
sf_distributed_joined(SfStep *step)
{
	SfBranch   *branch = step->branch;
	const SfJoined *joined = sf_stimulus_joined(step->stimulus);

	if (sf_join_course(branch) == SF_JOIN_FAILING)
	{
		SfError		error = sf_step_branch_error(branch);

		return fail_run(step, &error);
	}
	if (joined->kind == SF_JOINED_UNWRITTEN)
	{
		/* with another step: the execution is locked now, and this is a task */
		branch->phase = SF_PHASE_MAP_WRITE;
		branch->due_at = step->now;
		step->transition->name = SF_TRANSITION_JOINED;
		return SF_STEP_REST;
	}
	if (joined->kind != SF_JOINED_RESULT)
		return fail_run_with(step, SF_ERR_DATA_LIMIT_EXCEEDED,
							 psprintf("The state/task '%s' returned a result with a size exceeding the maximum number of bytes service limit.",
									  step->state->name));
	return succeed_run(step, joined->result);
}
