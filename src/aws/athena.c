/*
 * athena.c
 *		_sfflow.athena_rows(): a statement whose rows are given as text, with
 *		the names and types of its columns.
 *
 * Athena's queries are statements of the current role here.  The rows go into a
 * tuplestore as they are fetched, so memory does not grow with their number.
 * Dates and times are in ISO's form.
 * The number n of a row says what it holds:
 *
 *		-1		names of the columns, if there are any
 *		0		their types, as format_type() writes them
 *		1 …		the rows of the result
 *		-2		how many rows were returned or changed; always there
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "api/columns.h"
#include "api/sql_arguments.h"
#include "base/version/schema.h"

/* Rows that are fetched at once */
#define FETCH_ROWS		1000

#define ROW_COUNT		(-2)
#define ROW_NAMES		(-1)
#define ROW_TYPES		0

/* Refuse a text that is not one statement. */
static void
check_statement(const char *text)
{
	if (list_length(pg_parse_query(text)) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("Only one sql statement is allowed")));
}

/* Put a row of texts into the result; NULL is a null. */
static void
put_row(FunctionCallInfo fcinfo, int n, char **fields, int nfields)
{
	SfColumns	row = {0};
	Datum	   *values = palloc(sizeof(Datum) * Max(nfields, 1));
	bool	   *nulls = palloc(sizeof(bool) * Max(nfields, 1));
	int			lower = 1;

	for (int i = 0; i < nfields; i++)
	{
		nulls[i] = fields[i] == NULL;
		values[i] = nulls[i] ? (Datum) 0 : CStringGetTextDatum(fields[i]);
	}
	sf_columns_add(&row, Int32GetDatum(n), false);
	sf_columns_add(&row, PointerGetDatum(nfields == 0 ? construct_empty_array(TEXTOID) :
										 construct_md_array(values, nulls, 1, &nfields, &lower,
															TEXTOID, -1, false, TYPALIGN_INT)),
				   false);
	sf_columns_put(fcinfo, &row);
}

/* Put the names and the types of the columns. */
static void
put_columns(FunctionCallInfo fcinfo, TupleDesc desc)
{
	char	  **names = palloc(sizeof(char *) * Max(desc->natts, 1));
	char	  **types = palloc(sizeof(char *) * Max(desc->natts, 1));

	for (int i = 0; i < desc->natts; i++)
	{
		names[i] = SPI_fname(desc, i + 1);
		types[i] = format_type_be(TupleDescAttr(desc, i)->atttypid);
	}
	put_row(fcinfo, ROW_NAMES, names, desc->natts);
	put_row(fcinfo, ROW_TYPES, types, desc->natts);
}

/* Write a value as Athena does: as its type prints it, booleans in full. */
static char *
print_value(HeapTuple tuple, TupleDesc desc, int column)
{
	char	   *text = SPI_getvalue(tuple, desc, column);

	if (text != NULL && SPI_gettypeid(desc, column) == BOOLOID)
		return *text == 't' ? "true" : "false";
	return text;
}

/* Put the rows that were fetched, the first of which has the number n. */
static void
put_fetched(FunctionCallInfo fcinfo, int n, char **fields)
{
	TupleDesc	desc = SPI_tuptable->tupdesc;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow text row",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	for (uint64 i = 0; i < SPI_processed; i++)
	{
		for (int column = 0; column < desc->natts; column++)
			fields[column] = print_value(SPI_tuptable->vals[i], desc, column + 1);
		put_row(fcinfo, n++, fields, desc->natts);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* Run a statement that returns rows, and put them; returns how many there were. */
static uint64
put_result(FunctionCallInfo fcinfo, SPIPlanPtr plan)
{
	Portal		portal = SPI_cursor_open(NULL, plan, NULL, NULL, false);
	char	  **fields = palloc(sizeof(char *) * Max(portal->tupDesc->natts, 1));
	uint64		count = 0;

	put_columns(fcinfo, portal->tupDesc);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, FETCH_ROWS);
		if (SPI_processed == 0)
			break;
		if (count + SPI_processed > PG_INT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the result has too many rows")));
		put_fetched(fcinfo, (int) count + 1, fields);
		count += SPI_processed;
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
	return count;
}

/* Run a statement that returns none; returns how many rows it changed. */
static uint64
execute(SPIPlanPtr plan)
{
	int			rc = SPI_execute_plan(plan, NULL, NULL, false, 0);

	if (rc < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("Queries of this type are not supported")));
	return SPI_processed;
}

/* Change a setting until the nest level of settings ends. */
static void
set_locally(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/* _sfflow.athena_rows(statement, path): run a statement with this search_path. */
SF_SQL_FUNCTION(sfflow_athena_rows)
{
	char	   *text = sf_arg_text(fcinfo, 0, "statement");
	char	   *path = sf_arg_text(fcinfo, 1, "path");
	int			nest_level = NewGUCNestLevel();
	SPIPlanPtr	plan;
	char	   *count;

	InitMaterializedSRF(fcinfo, 0);
	check_statement(text);
	set_locally("search_path", path);
	set_locally("datestyle", "ISO");
	SPI_connect();
	plan = SPI_prepare(text, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	count = psprintf(UINT64_FORMAT, SPI_is_cursor_plan(plan) ? put_result(fcinfo, plan) : execute(plan));
	put_row(fcinfo, ROW_COUNT, &count, 1);
	SPI_finish();
	AtEOXact_GUC(true, nest_level);
	return (Datum) 0;
}
