/*
 * result.c
 *		Rows as JSON, while they come.
 *
 * A receiver of the executor turns each row into jsonb and lets go of it, so
 * that a result which is too large ends the task when it has become too large
 * and not when the memory is used up.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

#include "base/error/errors.h"
#include "base/settings.h"
#include "json/json.h"
#include "sql_task/sql_task_internal.h"

/*
 * Give a row as a JSON object.  The slot may be that of the table that is
 * scanned, whose columns have other names than those of the result.
 */
static Datum
row_to_json(SfResult *result, TupleTableSlot *slot)
{
	HeapTuple	tuple;

	slot_getallattrs(slot);
	tuple = heap_form_tuple(result->desc, slot->tts_values, slot->tts_isnull);
	return FunctionCall1(&result->to_jsonb, HeapTupleGetDatum(tuple));
}

/* The first column, which is jsonb; false: it is null or void. */
static bool
first_column(SfResult *result, TupleTableSlot *slot, Datum *value)
{
	bool		isnull;

	*value = slot_getattr(slot, 1, &isnull);
	return !isnull && !result->is_void;
}

/* Receiver: take a row. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	SfResult   *result = (SfResult *) self;
	MemoryContext oldcontext = MemoryContextSwitchTo(result->row_context);
	Datum		value;
	Jsonb	   *row = NULL;
	bool		more = true;

	if (result->whole_rows)
		value = row_to_json(result, slot);
	if (result->whole_rows || first_column(result, slot, &value))
	{
		row = DatumGetJsonbP(value);
		if (result->sink != NULL)
			result->size = 0;
		result->size += sf_json_text_size(row);
	}
	if (result->size > (Size) sf_setting_max_payload_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_SF_PAYLOAD_TOO_LARGE),
				 errmsg("The state/task '%s' returned a result with a size exceeding the maximum number of bytes service limit.",
						result->resource)));

	if (result->sink != NULL)
		more = result->sink->row(result->sink, row != NULL ? row : sf_json_null());
	else
	{
		/* The builder points into what it is given. */
		MemoryContextSwitchTo(result->context);
		row = row == NULL ? sf_json_null() : DatumGetJsonbPCopy(JsonbPGetDatum(row));
		if (result->single)
			result->value = row;
		else
			sf_json_add(&result->builder, NULL, row);
	}
	result->count++;
	MemoryContextSwitchTo(oldcontext);
	MemoryContextReset(result->row_context);
	return more;
}

/* Receiver: learn what the columns are called. */
static void
start_rows(DestReceiver *self, int operation, TupleDesc desc)
{
	SfResult   *result = (SfResult *) self;
	MemoryContext oldcontext = MemoryContextSwitchTo(result->context);

	result->desc = CreateTupleDescCopy(desc);
	if (result->desc->tdtypeid != RECORDOID)
	{
		result->desc->tdtypeid = RECORDOID;
		result->desc->tdtypmod = -1;
	}
	if (result->desc->tdtypmod < 0)
		(void) BlessTupleDesc(result->desc);
	MemoryContextSwitchTo(oldcontext);
}

/* Receiver: nor after the last. */
static void
end_rows(DestReceiver *self)
{
}

/* Make a function info with which to_jsonb takes rows. */
static void
init_to_jsonb(FmgrInfo *flinfo)
{
	Const	   *row = makeNullConst(RECORDOID, -1, InvalidOid);

	fmgr_info(F_TO_JSONB, flinfo);
	fmgr_info_set_expr((Node *) makeFuncExpr(F_TO_JSONB, JSONBOID, list_make1(row),
											 InvalidOid, InvalidOid,
											 COERCE_EXPLICIT_CALL), flinfo);
}

/*
 * Prepare to receive the rows of the task that runs a resource, in the current
 * memory context, or to send them to a sink until sf_sql_result_end.  The caller
 * says what to make of them by setting single, is_void, whole_rows, and begins the
 * array.
 */
void
sf_sql_result_init(SfResult *result, const char *resource, SfRowSink *sink)
{
	memset(result, 0, sizeof(*result));
	result->receiver.receiveSlot = receive_row;
	result->receiver.rStartup = start_rows;
	result->receiver.rShutdown = end_rows;
	result->receiver.rDestroy = end_rows;
	result->receiver.mydest = DestTuplestore;
	result->resource = resource;
	result->context = CurrentMemoryContext;
	result->row_context = AllocSetContextCreate(CurrentMemoryContext, "sfflow result row",
												ALLOCSET_DEFAULT_SIZES);
	init_to_jsonb(&result->to_jsonb);
	result->sink = sink;
	if (sink != NULL)
		sink->begin(sink);
}

/* All rows have come. */
void
sf_sql_result_end(SfResult *result)
{
	if (result->sink != NULL)
		result->sink->end(result->sink);
}
