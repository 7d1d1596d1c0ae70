/*
 * result_writer.c
 *		ResultWriter: have the results of a Distributed Map written.
 *
 * Results are read page by page and handed out in parts, so that memory does
 * not grow with their number.  A resource written as that of S3 is called once
 * a file, with {"Bucket", "Key", "Body"}: SUCCEEDED_0.json, SUCCEEDED_1.json …,
 * likewise FAILED, and at last manifest.json, as in Step Functions.  A sql:
 * resource is called once a part with its parameters and {"MapRunArn",
 * "Results"}; a sql:query gets the results as its last argument.
 *
 * All calls happen in the transaction that records that they did.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/arn.h"
#include "base/subtransaction.h"
#include "run/map_run.h"

/* Results read at once, and bytes after which a part is complete */
#define PAGE		50
#define PART_BYTES	(4 * 1024 * 1024)

typedef struct Writer
{
	const SfMapRun *map_run;
	const SfRun *run;
	const SfState *state;
	const SfTaskCall *call;
	SfResultForm form;
	bool		lines;			/* JSON Lines rather than an array */
	bool		files;			/* as S3 wants it */
	const char *bucket;
	const char *folder;			/* "prefix/uuid" */
	MemoryContext context;		/* of the part at hand */
	List	   *written[2];		/* names of files, and their sizes: succeeded, failed */
	int64		results;
	SfTaskOutcome outcome;		/* of the last call */
} Writer;

typedef struct WrittenFile
{
	char	   *key;
	int64		size;
} WrittenFile;

static const char *const kinds[] = {"SUCCEEDED", "FAILED"};

/* --- the form of results --- */

/* The form that WriterConfig asks for. */
SfResultForm
sf_result_form(const Jsonb *writer_config, SfResultForm otherwise)
{
	const char *name = writer_config == NULL ? NULL :
		sf_json_get_cstring(writer_config, "Transformation");

	if (name == NULL)
		return otherwise;
	if (strcmp(name, "COMPACT") == 0)
		return SF_RESULT_COMPACT;
	if (strcmp(name, "FLATTEN") == 0)
		return SF_RESULT_FLATTEN;
	return SF_RESULT_NONE;
}

/* {"Error": …, "Cause": …} in place of the output that a child does not have. */
static Jsonb *
failure_output(const SfMapResult *result)
{
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	sf_json_add_string(&b, "Error", result->error);
	sf_json_add_string(&b, "Cause", result->cause);
	return sf_json_finish(&b);
}

/* {"Included": true}, which goes with each payload. */
static void
add_included(SfJsonBuilder *b, const char *key)
{
	sf_json_open_object(b, key);
	sf_json_add_bool(b, "Included", true);
	sf_json_close_object(b);
}

/* All that is known of a child, as the service writes it. */
static Jsonb *
described(const SfMapResult *result, const char *machine)
{
	bool		succeeded = result->status == SF_STATUS_SUCCEEDED;
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	sf_json_add_string(&b, "ExecutionArn", sf_arn_execution(result->execution_id));
	sf_json_add_string(&b, "Name", strchr(result->execution_id, ':') + 1);
	sf_json_add_string(&b, "StateMachineArn", sf_arn_state_machine(machine));
	sf_json_add_string(&b, "Status", sf_status_name(result->status));
	sf_json_add_string(&b, "Input", sf_json_to_cstring(result->input));
	add_included(&b, "InputDetails");
	if (result->output != NULL)
	{
		sf_json_add_string(&b, "Output", sf_json_to_cstring(result->output));
		add_included(&b, "OutputDetails");
	}
	sf_json_add_string(&b, "Error", result->error);
	sf_json_add_string(&b, "Cause", result->cause);
	sf_json_add_int(&b, "RedriveCount", result->redrive_count);
	sf_json_add_string(&b, "RedriveStatus", succeeded ? "NOT_REDRIVABLE" : "REDRIVABLE_BY_MAP_RUN");
	if (succeeded)
		sf_json_add_string(&b, "RedriveStatusReason",
						   "Execution is SUCCEEDED and cannot be redriven");
	if (result->started_at != DT_NOBEGIN)
		sf_json_add_string(&b, "StartDate", sf_timestamp_print(result->started_at));
	if (result->stopped_at != DT_NOBEGIN)
		sf_json_add_string(&b, "StopDate", sf_timestamp_print(result->stopped_at));
	return sf_json_finish(&b);
}

/* Add one child's result to an array. */
int
sf_result_add(SfJsonBuilder *b, const SfMapResult *result, SfResultForm form,
			  const char *machine, MemoryContext keep)
{
	MemoryContext old;
	const Jsonb *output = result->output != NULL ? result->output :
		failure_output(result);
	JsonbValue	root,
				element;
	int			n;

	if (form == SF_RESULT_NONE)
		output = described(result, machine);
	old = MemoryContextSwitchTo(keep);
	output = DatumGetJsonbPCopy(JsonbPGetDatum(output));
	sf_json_root(output, &root);
	if (form != SF_RESULT_FLATTEN || !sf_json_is_array(&root))
	{
		sf_json_add(b, NULL, output);
		MemoryContextSwitchTo(old);
		return 1;
	}
	for (n = 0; sf_json_element(&root, n, &element); n++)
		sf_json_add(b, NULL, sf_json_make(&element));
	MemoryContextSwitchTo(old);
	return n;
}

/* --- calls --- */

/* Call the resource; false: it failed. */
static bool
call_resource(Writer *writer, Jsonb *payload)
{
	SfTaskCall	call = *writer->call;

	call.payload = payload;
	memset(&writer->outcome, 0, sizeof(writer->outcome));
	sf_task_driver.run(&call, &writer->outcome);
	return writer->outcome.ok;
}

/* Write a file. */
static bool
put_file(Writer *writer, const char *key, const char *body)
{
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	sf_json_add_string(&b, "Bucket", writer->bucket);
	sf_json_add_string(&b, "Key", key);
	sf_json_add_string(&b, "Body", body);
	return call_resource(writer, sf_json_finish(&b));
}

/* The text of a part: an array, or a line a result. */
static char *
part_text(const Writer *writer, const Jsonb *part)
{
	StringInfoData text;
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	value;

	if (!writer->lines)
		return sf_json_to_cstring(part);
	initStringInfo(&text);
	it = JsonbIteratorInit(unconstify(JsonbContainer *, &part->root));
	(void) JsonbIteratorNext(&it, &value, true);
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM)
			continue;
		sf_json_append_text(&text, &value);
		appendStringInfoChar(&text, '\n');
	}
	return text.data;
}

/* Write a part as a file, and note it for the manifest. */
static bool
put_part_file(Writer *writer, int kind, const Jsonb *part)
{
	MemoryContext old;
	WrittenFile *file;
	char	   *key = psprintf("%s/%s_%d.%s", writer->folder, kinds[kind],
							   list_length(writer->written[kind]),
							   writer->lines ? "jsonl" : "json");
	char	   *body = part_text(writer, part);

	if (!put_file(writer, key, body))
		return false;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(writer));
	file = palloc(sizeof(WrittenFile));
	file->key = pstrdup(key);
	file->size = (int64) strlen(body);
	writer->written[kind] = lappend(writer->written[kind], file);
	MemoryContextSwitchTo(old);
	return true;
}

/* The arguments of a sql:query, with the results behind them. */
static Jsonb *
with_argument(const Jsonb *payload, const Jsonb *part)
{
	Jsonb	   *arguments = sf_json_get(payload, "Arguments");
	JsonbValue	root,
				value;
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	sf_json_add_string(&b, "Statement", sf_json_get_cstring(payload, "Statement"));
	sf_json_open_array(&b, "Arguments");
	if (arguments != NULL)
	{
		sf_json_root(arguments, &root);
		for (int i = 0; sf_json_element(&root, i, &value); i++)
			sf_json_add(&b, NULL, sf_json_make(&value));
	}
	sf_json_add(&b, NULL, part);
	sf_json_close_array(&b);
	return sf_json_finish(&b);
}

/* Hand a part to a sql: resource. */
static bool
put_part_rows(Writer *writer, const Jsonb *part)
{
	const Jsonb *payload = writer->call->payload;
	SfJsonBuilder b;

	if (writer->call->resource->kind == SF_RESOURCE_SQL_QUERY)
		return call_resource(writer, with_argument(payload, part));
	sf_json_begin_object(&b);
	sf_json_add_string(&b, "MapRunArn",
					   sf_map_run_arn(writer->run->execution, writer->state,
									  writer->map_run->uuid));
	sf_json_add(&b, "Results", part);
	return call_resource(writer, sf_json_merge(payload, sf_json_finish(&b)));
}

/* --- parts --- */

/*
 * Write the next part of a kind, from child *first on; *first moves behind it.
 * *more: there may be others.
 */
static bool
write_part(Writer *writer, int kind, int *first, bool *more)
{
	Jsonb	   *part;
	MemoryContext keep = CurrentMemoryContext;
	MemoryContext pages = AllocSetContextCreate(keep, "sfflow page of results",
												ALLOCSET_DEFAULT_SIZES);
	SfJsonBuilder b;
	Size		bytes = 0;
	int			npage;
	int			n = 0;

	sf_json_begin_array(&b);
	do
	{
		ListCell   *lc;

		List	   *page;

		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(pages);
		page = sf_map_run_results(writer->map_run->execution_no,
								  writer->map_run->map_run_no, *first, PAGE,
								  writer->form == SF_RESULT_NONE);
		foreach(lc, page)
		{
			const SfMapResult *result = lfirst(lc);

			*first = result->index + 1;
			if (writer->files && (result->status != SF_STATUS_SUCCEEDED) != (kind == 1))
				continue;
			n += sf_result_add(&b, result, writer->form,
							   writer->run->execution->machine_name, keep);
			bytes += result->input != NULL ? VARSIZE(result->input) : 0;
			bytes += result->output != NULL ? VARSIZE(result->output) : 0;
		}
		npage = list_length(page);
		MemoryContextSwitchTo(keep);
		MemoryContextReset(pages);
	} while (npage == PAGE && bytes < PART_BYTES);
	*more = npage == PAGE;
	part = sf_json_finish(&b);
	writer->results += n;
	if (n == 0)
		return true;
	return writer->files ? put_part_file(writer, kind, part) :
		put_part_rows(writer, part);
}

/* Write all parts of a kind. */
static bool
write_parts(Writer *writer, int kind)
{
	int			first = 0;
	bool		more = true;

	while (more)
	{
		MemoryContext old = MemoryContextSwitchTo(writer->context);
		bool		ok = write_part(writer, kind, &first, &more);

		MemoryContextSwitchTo(old);
		if (!ok)
			return false;
		MemoryContextReset(writer->context);
	}
	return true;
}

/* The manifest of the files that were written. */
static Jsonb *
make_manifest(const Writer *writer)
{
	SfJsonBuilder b;
	ListCell   *lc;

	sf_json_begin_object(&b);
	sf_json_add_string(&b, "DestinationBucket", writer->bucket);
	sf_json_add_string(&b, "MapRunArn",
					   sf_map_run_arn(writer->run->execution, writer->state,
									  writer->map_run->uuid));
	sf_json_open_object(&b, "ResultFiles");
	for (int kind = 0; kind < 2; kind++)
	{
		sf_json_open_array(&b, kinds[kind]);
		foreach(lc, writer->written[kind])
		{
			const WrittenFile *file = lfirst(lc);

			sf_json_open_object(&b, NULL);
			sf_json_add_string(&b, "Key", file->key);
			sf_json_add_int(&b, "Size", file->size);
			sf_json_close_object(&b);
		}
		sf_json_close_array(&b);
	}
	sf_json_open_array(&b, "PENDING");
	sf_json_close_array(&b);
	sf_json_close_object(&b);
	return sf_json_finish(&b);
}

/* Write files and their manifest; *details says where it is. */
static bool
write_files(Writer *writer, Jsonb **details)
{
	const char *prefix = sf_json_get_cstring(writer->call->payload, "Prefix");
	char	   *key;
	SfJsonBuilder b;

	writer->bucket = sf_json_get_cstring(writer->call->payload, "Bucket");
	writer->folder = prefix == NULL || *prefix == '\0' ? writer->map_run->uuid :
		psprintf("%s/%s", prefix, writer->map_run->uuid);
	key = psprintf("%s/manifest.json", writer->folder);
	if (!write_parts(writer, 0) || !write_parts(writer, 1) ||
		!put_file(writer, key, sf_json_to_cstring(make_manifest(writer))))
		return false;
	sf_json_begin_object(&b);
	sf_json_add_string(&b, "Bucket", writer->bucket);
	sf_json_add_string(&b, "Key", key);
	*details = sf_json_finish(&b);
	return true;
}

/* Hand all results to a sql: resource; *details says how many there were. */
static bool
write_rows(Writer *writer, Jsonb **details)
{
	SfJsonBuilder b;

	if (!write_parts(writer, 0))
		return false;
	sf_json_begin_object(&b);
	sf_json_add_string(&b, "Resource",
					   sf_state_distributed(writer->state)->result_writer->text);
	sf_json_add_int(&b, "Results", writer->results);
	*details = sf_json_finish(&b);
	return true;
}

/* Write the results of the run. */
void
sf_result_writer_run(const SfMapRun *map_run, const SfRun *run,
					 const SfState *state, const SfTaskCall *call,
					 SfTaskOutcome *out)
{
	Writer	   *writer = palloc0(sizeof(Writer));
	const SfDistributedMap *map = sf_state_distributed(state);
	const char *type = map->writer_config == NULL ? NULL :
		sf_json_get_cstring(map->writer_config, "OutputType");
	Jsonb	   *details = NULL;

	writer->map_run = map_run;
	writer->run = run;
	writer->state = state;
	writer->call = call;
	writer->files = strcmp(map->result_writer->service, "sql") != 0;
	writer->form = sf_result_form(map->writer_config, writer->files ?
								  SF_RESULT_NONE : SF_RESULT_COMPACT);
	writer->lines = type != NULL && strcmp(type, "JSONL") == 0;
	writer->context = AllocSetContextCreate(CurrentMemoryContext,
											"sfflow results",
											ALLOCSET_DEFAULT_SIZES);
	memset(out, 0, sizeof(*out));
	out->ok = writer->files ? write_files(writer, &details) :
		write_rows(writer, &details);
	if (out->ok)
		out->output = details;
	else
		out->error = writer->outcome.error;
}

/* Read or write, whatever the branch is at. */
static void
run_task(const SfRun *run, const SfBranch *branch, const SfTaskCall *call,
		 SfTaskOutcome *out)
{
	const SfState *state = &run->program->states[branch->state];
	const SfMapRun *map_run = sf_map_run_of(branch);

	if (map_run == NULL)
		elog(ERROR, "a run of Map \"%s\" is missing", state->name);
	if (sf_distributed_resource(state, branch) == sf_state_distributed(state)->item_reader)
		sf_item_reader_run(map_run, state, call, out);
	else
		sf_result_writer_run(map_run, run, state, call, out);
}

/* What the task of a Distributed Map works with */
typedef struct MapTask
{
	const SfRun *run;
	const SfBranch *branch;
	const SfTaskCall *call;
	SfTaskOutcome *out;
} MapTask;

/* Run the task inside the subtransaction; false: it failed. */
static bool
run_in_subtransaction(void *arg)
{
	MapTask    *task = arg;

	run_task(task->run, task->branch, task->call, task->out);
	return task->out->ok;
}

/*
 * Carry out the task that a Distributed Map is at.  It may take many calls: a
 * subtransaction around them makes them one, of which nothing stays when one
 * of them fails.
 */
void
sf_distributed_run_task(const SfRun *run, const SfBranch *branch,
						const SfTaskCall *call, SfTaskOutcome *out)
{
	MapTask		task = {run, branch, call, out};
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
