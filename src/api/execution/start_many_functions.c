/*
 * start_many_functions.c
 *		sf_start_many(): start thousands of executions in one call.
 *
 * What is started comes in batches.  The rows of a batch share the cost of opening
 * tables and indexes, which is most of what a start costs.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "api/columns.h"
#include "api/execution/executions.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"

/* A call, and the batch that it is collecting */
typedef struct Batch
{
	FunctionCallInfo fcinfo;
	SfStart		start;
	MemoryContext context;		/* of the executions; reset with each batch */
	SfExecution *executions[SF_TABLE_MAX_ROWS];
	int			n;
} Batch;

/* Begin to collect executions of a call. */
static Batch *
make_batch(FunctionCallInfo fcinfo, SfStart start)
{
	Batch	   *batch = palloc0(sizeof(Batch));

	batch->fcinfo = fcinfo;
	batch->start = start;
	batch->context = AllocSetContextCreate(CurrentMemoryContext, "sfflow starts",
										   ALLOCSET_DEFAULT_SIZES);
	return batch;
}

/* Begin to collect executions; the argument after if_exists is the priority. */
static Batch *
begin_batch(FunctionCallInfo fcinfo, int if_exists_arg)
{
	SfStart		start = sf_start_prepare(sf_arg_text(fcinfo, 0, "state_machine"), 0,
										 sf_start_if_exists(sf_arg_text(fcinfo, if_exists_arg, "if_exists")), true);

	if (!PG_ARGISNULL(if_exists_arg + 1))
		sf_start_set_priority(&start, PG_GETARG_INT32(if_exists_arg + 1));
	return make_batch(fcinfo, start);
}

/* Start what has been collected, and return what came of it. */
static void
start_batch(Batch *batch)
{
	MemoryContext old = MemoryContextSwitchTo(batch->context);
	SfStartOutcome outcomes[SF_TABLE_MAX_ROWS];

	CHECK_FOR_INTERRUPTS();
	if (batch->n > 0)
		sf_start_all(&batch->start, batch->executions, batch->n, outcomes);
	for (int i = 0; i < batch->n; i++)
	{
		SfColumns	row = {0};

		sf_columns_text(&row, sf_execution_name(batch->executions[i]));
		sf_columns_text(&row, sf_execution_start_outcome_name(outcomes[i]));
		sf_columns_put(batch->fcinfo, &row);
	}
	batch->n = 0;
	MemoryContextSwitchTo(old);
	MemoryContextReset(batch->context);
}

/* Add an execution; name (Datum 0: none) is a text. */
static void
add_start(Batch *batch, Datum input, Datum name)
{
	MemoryContext old = MemoryContextSwitchTo(batch->context);

	batch->executions[batch->n++] =
		sf_start_form(&batch->start, DatumGetJsonbPCopy(input),
					  name == (Datum) 0 ? NULL : TextDatumGetCString(name));
	MemoryContextSwitchTo(old);
	if (batch->n == SF_TABLE_MAX_ROWS)
		start_batch(batch);
}

/* Raise that an input is missing. */
static void
refuse_null_input(int64 number)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("input " INT64_FORMAT " must not be null", number)));
}

/* The elements of the argument names; NULL: it is null. */
static Datum *
read_names(FunctionCallInfo fcinfo, int ninputs, bool **nulls)
{
	Datum	   *names;
	int			n;

	if (PG_ARGISNULL(2))
		return NULL;
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), TEXTOID, -1, false, TYPALIGN_INT, &names,
					  nulls, &n);
	if (n != ninputs)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument names must have as many elements as inputs"),
				 errdetail("It has %d, and inputs has %d.", n, ninputs)));
	return names;
}

/* Start an execution for each element of inputs and names, and return the names and what came of each. */
static Datum
start_arrays(Batch *batch)
{
	FunctionCallInfo fcinfo = batch->fcinfo;
	Datum	   *inputs,
			   *names;
	bool	   *null_inputs,
			   *null_names;
	int			n;

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument inputs must not be null")));
	InitMaterializedSRF(fcinfo, 0);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), JSONBOID, -1, false, TYPALIGN_INT, &inputs,
					  &null_inputs, &n);
	names = read_names(fcinfo, n, &null_names);
	for (int i = 0; i < n; i++)
	{
		if (null_inputs[i])
			refuse_null_input(i + 1);
		add_start(batch, inputs[i], names == NULL || null_names[i] ? (Datum) 0 : names[i]);
	}
	start_batch(batch);
	return (Datum) 0;
}

/*
 * sf_start_many(state_machine, inputs, names, if_exists, priority): the name of each execution,
 * and what came of its start, in the order of the inputs.
 */
SF_SQL_FUNCTION(sfflow_sf_start_many)
{
	return start_arrays(begin_batch(fcinfo, 3));
}

/* sf_start_many(state_machine, inputs, names, options): likewise. */
SF_SQL_FUNCTION(sfflow_sf_start_many_options)
{
	char	   *none;

	return start_arrays(make_batch(fcinfo, sf_start_prepare_options(sf_arg_text(fcinfo, 0, "state_machine"),
																	sf_arg_jsonb(fcinfo, 3, "options"), true, &none)));
}

/* Open the query, with the caller's rights and names, and check its columns. */
static Portal
open_query(const char *query)
{
	SPIPlanPtr	plan = SPI_prepare(query, 0, NULL);
	Portal		portal;
	TupleDesc	desc;

	if (plan == NULL || !SPI_is_cursor_plan(plan))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument query must be one query that returns rows")));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, false);
	desc = portal->tupDesc;
	if (desc->natts < 1 || desc->natts > 2 || TupleDescAttr(desc, 0)->atttypid != JSONBOID ||
		(desc->natts == 2 && TupleDescAttr(desc, 1)->atttypid != TEXTOID))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument query must return an input (jsonb), or an input and a name (text)")));
	return portal;
}

/*
 * sf_start_many(state_machine, query, if_exists, priority): the same for the rows of a query: an
 * input, or an input and a name.
 */
SF_SQL_FUNCTION(sfflow_sf_start_many_query)
{
	enum {COL_input = 1, COL_name};
	Batch	   *batch = begin_batch(fcinfo, 2);
	char	   *query = sf_arg_text(fcinfo, 1, "query");
	int64		number = 0;
	Portal		portal;

	InitMaterializedSRF(fcinfo, 0);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	portal = open_query(query);
	do
	{
		SPITupleTable *rows;

		SPI_cursor_fetch(portal, true, SF_TABLE_MAX_ROWS);
		rows = SPI_tuptable;
		for (uint64 i = 0; i < rows->numvals; i++)
		{
			bool		isnull,
						no_name = true;
			Datum		input = SPI_getbinval(rows->vals[i], rows->tupdesc, COL_input, &isnull);
			Datum		name = rows->tupdesc->natts == 1 ? (Datum) 0 :
				SPI_getbinval(rows->vals[i], rows->tupdesc, COL_name, &no_name);

			number++;
			if (isnull)
				refuse_null_input(number);
			add_start(batch, input, no_name ? (Datum) 0 : name);
		}
		SPI_freetuptable(rows);
	} while (number > 0 && number % SF_TABLE_MAX_ROWS == 0 && !portal->atEnd);
	start_batch(batch);
	SPI_cursor_close(portal);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return (Datum) 0;
}
