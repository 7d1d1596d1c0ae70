/*
 * result_writer.c
 *		ResultWriter: pass the results of a Distributed Map to its resource.
 *
 * Results are read page by page and passed on in parts, so that memory does not
 * grow with their number.  A sql: resource is called once per part with its
 * parameters and {"MapRunArn", "Results"}; a sql:query gets the results as its
 * last argument.  Any other resource gets files: sf_service.write_files.
 *
 * All calls happen in the transaction that records their success.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/settings.h"
#include "run/distributed_map/item_reader.h"
#include "run/distributed_map/result_writer.h"
#include "run/task/service.h"
#include "transition/state/map_state.h"

/* Results read at once, and bytes after which a part is complete */
#define PAGE		50
#define OUTPUTS_PAGE	500
#define PART_BYTES	(4 * 1024 * 1024)

/* --- the form of results --- */

/* The form that WriterConfig asks for. */
static SfResultForm
result_form(const Jsonb *writer_config, SfResultForm otherwise)
{
	const char *name = writer_config == NULL ? NULL :
		sf_json_get_cstring(writer_config, "Transformation");

	if (name == NULL)
		return otherwise;
	if (strcmp(name, "COMPACT") == 0)
		return SF_RESULT_FORM_COMPACT;
	if (strcmp(name, "FLATTEN") == 0)
		return SF_RESULT_FORM_FLATTEN;
	return SF_RESULT_FORM_NONE;
}

/* {"Error": …, "Cause": …} in place of the output that an item execution does not have. */
static Jsonb *
failure_output(const SfExecution *result)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "Error", result->error);
	sf_json_add_string(&json, "Cause", result->cause);
	return sf_json_end(&json);
}

/* {"Included": true}, which goes with each payload. */
static void
add_included(SfJsonBuilder *json, const char *key)
{
	sf_json_open_object(json, key);
	sf_json_add_bool(json, "Included", true);
	sf_json_close_object(json);
}

/* All that is known of an item execution, as the service writes it. */
static Jsonb *
described(const SfExecution *result, const char *machine)
{
	bool		succeeded = result->status == SF_STATUS_SUCCEEDED;
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "ExecutionArn", sf_public_name(SF_NAME_EXECUTION, result->execution_id));
	sf_json_add_string(&json, "Name", strchr(result->execution_id, ':') + 1);
	sf_json_add_string(&json, "StateMachineArn", sf_public_name(SF_NAME_STATE_MACHINE, machine));
	sf_json_add_string(&json, "Status", sf_status_name(result->status));
	sf_json_add_string(&json, "Input", sf_json_to_cstring(result->input));
	add_included(&json, "InputDetails");
	if (result->output != NULL)
	{
		sf_json_add_string(&json, "Output", sf_json_to_cstring(result->output));
		add_included(&json, "OutputDetails");
	}
	sf_json_add_string(&json, "Error", result->error);
	sf_json_add_string(&json, "Cause", result->cause);
	sf_json_add_int(&json, "RedriveCount", result->redrive_count);
	sf_json_add_string(&json, "RedriveStatus", succeeded ? "NOT_REDRIVABLE" : "REDRIVABLE_BY_MAP_RUN");
	if (succeeded)
		sf_json_add_string(&json, "RedriveStatusReason",
						   "Execution is SUCCEEDED and cannot be redriven");
	if (result->started_at != DT_NOBEGIN)
		sf_json_add_string(&json, "StartDate", sf_timestamp_print(result->started_at));
	if (result->stopped_at != DT_NOBEGIN)
		sf_json_add_string(&json, "StopDate", sf_timestamp_print(result->stopped_at));
	return sf_json_end(&json);
}

/*
 * Add one item execution's result to an array under construction; returns how many.
 * What the array needs until it is finished goes into the context keep.
 */
static int
add_result(SfJsonBuilder *json, const SfExecution *result, SfResultForm form,
		   const char *machine, MemoryContext keep)
{
	MemoryContext old;
	const Jsonb *output = result->output != NULL ? result->output :
		failure_output(result);
	JsonbValue	root,
				element;
	int			n;

	if (form == SF_RESULT_FORM_NONE)
		output = described(result, machine);
	old = MemoryContextSwitchTo(keep);
	output = DatumGetJsonbPCopy(JsonbPGetDatum(output));
	sf_json_root(output, &root);
	if (form != SF_RESULT_FORM_FLATTEN || !sf_json_is_array(&root))
	{
		sf_json_add(json, NULL, output);
		MemoryContextSwitchTo(old);
		return 1;
	}
	for (n = 0; sf_json_element(&root, n, &element); n++)
		sf_json_add(json, NULL, sf_json_make(&element));
	MemoryContextSwitchTo(old);
	return n;
}

/* --- calls --- */

/* Call the resource; false: it failed. */
bool
sf_result_writer_call(SfResultWriter *writer, Jsonb *payload)
{
	SfTaskCall	call = *writer->call;

	call.payload = payload;
	memset(&writer->outcome, 0, sizeof(writer->outcome));
	sf_task_runner.run(&call, &writer->outcome);
	return writer->outcome.ok;
}

/* The arguments of a sql:query, with the results behind them. */
static Jsonb *
with_argument(const Jsonb *payload, const Jsonb *part)
{
	Jsonb	   *arguments = sf_json_get(payload, "Arguments");
	JsonbValue	root,
				value;
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "Statement", sf_json_get_cstring(payload, "Statement"));
	sf_json_open_array(&json, "Arguments");
	if (arguments != NULL)
	{
		sf_json_root(arguments, &root);
		for (int i = 0; sf_json_element(&root, i, &value); i++)
			sf_json_add(&json, NULL, sf_json_make(&value));
	}
	sf_json_add(&json, NULL, part);
	sf_json_close_array(&json);
	return sf_json_end(&json);
}

/* Pass a part to a sql: resource. */
static bool
put_rows(SfResultWriter *writer, SfResultChoice choice, const Jsonb *part)
{
	const Jsonb *payload = writer->call->payload;
	SfJsonBuilder json;

	if (writer->call->resource->kind == SF_RESOURCE_SQL_QUERY)
		return sf_result_writer_call(writer, with_argument(payload, part));
	sf_json_begin_object(&json);
	sf_json_add_string(&json, "MapRunArn", writer->map_run_name);
	sf_json_add(&json, "Results", part);
	return sf_result_writer_call(writer, sf_json_merge(payload, sf_json_end(&json)));
}

/* --- parts --- */

/* Tell whether a result is one of those chosen. */
static bool
is_chosen(const SfExecution *result, SfResultChoice choice)
{
	return choice == SF_RESULT_CHOICE_ALL ||
		(result->status == SF_STATUS_SUCCEEDED) == (choice == SF_RESULT_CHOICE_SUCCEEDED);
}

/*
 * Write the next part of the chosen results, from item execution *first on; *first moves
 * behind it.  *more: there may be others.
 */
static bool
write_part(SfResultWriter *writer, SfResultChoice choice, int *first, bool *more)
{
	Jsonb	   *part;
	MemoryContext keep = CurrentMemoryContext;
	MemoryContext pages = AllocSetContextCreate(keep, "sfflow page of results",
												ALLOCSET_DEFAULT_SIZES);
	SfJsonBuilder json;
	Size		bytes = 0;
	int			npage;
	int			n = 0;

	sf_json_begin_array(&json);
	do
	{
		List	   *page;

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(pages);
		page = sf_execution_results(writer->map_run->execution_no,
								  writer->map_run->map_run_no, *first, PAGE,
								  writer->form == SF_RESULT_FORM_NONE);
		foreach_ptr(const SfExecution, result, page)
		{
			*first = result->map_index + 1;
			if (!is_chosen(result, choice))
				continue;
			n += add_result(&json, result, writer->form, writer->machine, keep);
			bytes += result->input != NULL ? VARSIZE(result->input) : 0;
			bytes += result->output != NULL ? VARSIZE(result->output) : 0;
		}
		npage = list_length(page);
		MemoryContextSwitchTo(keep);
		MemoryContextReset(pages);
	} while (npage == PAGE && bytes < PART_BYTES);
	*more = npage == PAGE;
	part = sf_json_end(&json);
	writer->results += n;
	return n == 0 || writer->put(writer, choice, part);
}

/* Write the chosen results in parts by writer->put; false: a call failed. */
bool
sf_result_writer_put_all(SfResultWriter *writer, SfResultChoice choice)
{
	int			first = 0;
	bool		more = true;

	while (more)
	{
		MemoryContext old = MemoryContextSwitchTo(writer->context);
		bool		ok = write_part(writer, choice, &first, &more);

		MemoryContextSwitchTo(old);
		if (!ok)
			return false;
		MemoryContextReset(writer->context);
	}
	return true;
}

/* Pass all results to a sql: resource; returns how many there were; NULL: error. */
static Jsonb *
write_rows(SfResultWriter *writer)
{
	SfJsonBuilder json;

	writer->put = put_rows;
	if (!sf_result_writer_put_all(writer, SF_RESULT_CHOICE_ALL))
		return NULL;
	sf_json_begin_object(&json);
	sf_json_add_string(&json, "Resource",
					   writer->map->result_writer->text);
	sf_json_add_int(&json, "Results", writer->results);
	return sf_json_end(&json);
}

/* Write files, as the service does; without one no results can be written. */
static Jsonb *
write_files(SfResultWriter *writer)
{
	if (sf_service.write_files != NULL)
		return sf_service.write_files(writer);
	sf_service_refuse_unmapped(writer->map->result_writer->text, &writer->outcome.error);
	return NULL;
}

/* Write the results of the run; the outcome's output is ResultWriterDetails. */
static void
write_results(const SfMapRun *map_run, const SfDraft *draft, const SfState *state,
			  const SfTaskCall *call, SfTaskOutcome *out)
{
	SfResultWriter *writer = palloc0(sizeof(SfResultWriter));
	const SfDistributedMap *map = sf_state_map(state)->distributed;
	bool		rows = strcmp(map->result_writer->service, "sql") == 0;

	writer->map_run = map_run;
	writer->map = map;
	writer->call = call;
	writer->machine = draft->execution->machine_name;
	writer->map_run_name = sf_map_arn(draft->execution, state, map_run->uuid);
	writer->form = result_form(map->writer_config, rows ?
								  SF_RESULT_FORM_COMPACT : SF_RESULT_FORM_NONE);
	writer->context = AllocSetContextCreate(CurrentMemoryContext,
											"sfflow results",
											ALLOCSET_DEFAULT_SIZES);
	memset(out, 0, sizeof(*out));
	out->output = rows ? write_rows(writer) : write_files(writer);
	out->ok = out->output != NULL;
	if (!out->ok)
		out->error = writer->outcome.error;
}

/* Put the results of all item executions into an array; NULL: larger than a payload may be. */
Jsonb *
sf_result_writer_outputs(const SfDraft *draft, const SfBranch *branch)
{
	const SfState *state = &draft->program->states[branch->state];
	SfResultForm form = result_form(sf_state_map(state)->distributed->writer_config,
									   SF_RESULT_FORM_COMPACT);
	MemoryContext keep = CurrentMemoryContext;
	MemoryContext pages = AllocSetContextCreate(keep, "sfflow page of results",
												ALLOCSET_DEFAULT_SIZES);
	int			first = 0;
	int			npage;
	SfJsonBuilder json;

	if (sf_map_run_result_size(branch->key.execution_no, branch->map_run_no,
							   form == SF_RESULT_FORM_NONE) >
		sf_setting_max_payload_bytes)
		return NULL;
	sf_json_begin_array(&json);
	do
	{
		List	   *page;

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(pages);
		page = sf_execution_results(branch->key.execution_no, branch->map_run_no,
								  first, OUTPUTS_PAGE, form == SF_RESULT_FORM_NONE);
		foreach_ptr(const SfExecution, result, page)
		{
			(void) add_result(&json, result, form, draft->execution->machine_name,
								 keep);
			first = result->map_index + 1;
		}
		npage = list_length(page);
		MemoryContextSwitchTo(keep);
		MemoryContextReset(pages);
	} while (npage == OUTPUTS_PAGE);
	return sf_json_end(&json);
}

/* Read items or write results: what the branch has to do. */
static void
run_task(const SfDraft *draft, const SfBranch *branch, const SfTaskCall *call,
		 SfTaskOutcome *out)
{
	const SfState *state = &draft->program->states[branch->state];
	const SfMapRun *map_run = sf_apply_map_run_of(branch);

	if (map_run == NULL)
		elog(ERROR, "a run of Map \"%s\" is missing", state->name);
	if (sf_distributed_resource(state, branch) == sf_state_map(state)->distributed->item_reader)
		sf_item_reader_run(map_run, state, call, out);
	else
		write_results(map_run, draft, state, call, out);
}

/* What the task of a Distributed Map works with */
typedef struct MapTask
{
	const SfDraft *draft;
	const SfBranch *branch;
	const SfTaskCall *call;
	SfTaskOutcome *out;
} MapTask;

/* Run the task inside the subtransaction; false: it failed. */
static bool
run_in_subtransaction(void *arg)
{
	MapTask    *task = arg;

	run_task(task->draft, task->branch, task->call, task->out);
	return task->out->ok;
}

/*
 * Carry out the task that a Distributed Map is at.  It may take many calls: a
 * subtransaction around them makes them one, of which nothing stays when one
 * of them fails.
 */
void
sf_map_task_run(const SfDraft *draft, const SfBranch *branch,
				const SfTaskCall *call, SfTaskOutcome *out)
{
	MapTask		task = {draft, branch, call, out};
	ErrorData  *error;
	instr_time	start;
	instr_time	elapsed;

	INSTR_TIME_SET_CURRENT(start);
	error = sf_subtransaction_run(run_in_subtransaction, NULL, &task);
	if (error != NULL)
		ReThrowError(error);

	INSTR_TIME_SET_CURRENT(elapsed);
	INSTR_TIME_SUBTRACT(elapsed, start);
	out->elapsed_us = (int64) INSTR_TIME_GET_MICROSEC(elapsed);
	out->assigned_xid = true;
}
