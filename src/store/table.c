/*
 * table.c
 *		Access to the extension's tables: whose rights, queries, columns of rows.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/errors.h"
#include "store/table.h"

/* Where the names in a query of sfflow are looked up; workers have it throughout */
#define SF_SAFE_SEARCH_PATH	"pg_catalog, pg_temp"

/* Find the owner of the schema that holds the tables. */
Oid
sf_store_owner(void)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACENAME,
										CStringGetDatum("_sfflow"));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("extension \"sfflow\" is not installed in this database"),
				 errhint("Run CREATE EXTENSION sfflow.")));
	owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * Take the session's search_path away; returns the nest level that gives it
 * back, 0 when it is safe already.  PostgreSQL parses a kept plan again whenever
 * the search_path differs from the one with which it was made, so it is not
 * enough to do this when a plan is made.
 */
static int
pin_names(void)
{
	int			level;

	if (strcmp(namespace_search_path, SF_SAFE_SEARCH_PATH) == 0)
		return 0;
	level = NewGUCNestLevel();
	(void) set_config_option("search_path", SF_SAFE_SEARCH_PATH, PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* Take on the rights of a role, and no names of the session. */
void
sf_store_enter_as(SfStoreIdentity *saved, Oid role)
{
	GetUserIdAndSecContext(&saved->user, &saved->sec_context);
	SetUserIdAndSecContext(role,
						   saved->sec_context | SECURITY_LOCAL_USERID_CHANGE);
	saved->guc_nest_level = pin_names();
}

/* Take on the rights of the extension's owner. */
void
sf_store_enter(SfStoreIdentity *saved)
{
	sf_store_enter_as(saved, sf_store_owner());
}

/* Give rights and names back. */
void
sf_store_leave(const SfStoreIdentity *saved)
{
	if (saved->guc_nest_level != 0)
		AtEOXact_GUC(true, saved->guc_nest_level);
	SetUserIdAndSecContext(saved->user, saved->sec_context);
}

/* Prepare a plan once; it stays for the life of the backend. */
void
sf_store_prepare(SfPlan *plan)
{
	SPIPlanPtr	prepared;

	if (plan->plan != NULL)
		return;
	prepared = SPI_prepare(plan->query, plan->nargs, plan->argtypes);
	if (prepared == NULL)
		elog(ERROR, "SPI_prepare failed: %s: %s",
			 SPI_result_code_string(SPI_result), plan->query);
	if (SPI_keepplan(prepared) != 0)
		elog(ERROR, "SPI_keepplan failed");
	plan->plan = prepared;
}

/* Run a plan and hand each row to a reader. */
uint64
sf_store_query(SfPlan *plan, Datum *args, const char *nulls, long limit,
			   SfRowReader reader, void *arg)
{
	MemoryContext caller = CurrentMemoryContext;
	SfStoreIdentity saved;
	uint64		processed;
	int			rc;

	sf_store_enter(&saved);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	sf_store_prepare(plan);

	rc = SPI_execute_plan(plan->plan, args, nulls, false, limit);
	if (rc < 0)
		elog(ERROR, "SPI_execute_plan failed: %s: %s",
			 SPI_result_code_string(rc), plan->query);
	processed = SPI_processed;

	if (reader != NULL && SPI_tuptable != NULL)
	{
		SPITupleTable *rows = SPI_tuptable;
		MemoryContext spi = MemoryContextSwitchTo(caller);

		for (uint64 i = 0; i < processed; i++)
			reader(rows->vals[i], rows->tupdesc, arg);
		MemoryContextSwitchTo(spi);
	}

	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	sf_store_leave(&saved);
	MemoryContextSwitchTo(caller);
	return processed;
}

/* Fetch a column; *isnull tells whether it has a value. */
static Datum
column_value(HeapTuple tuple, TupleDesc desc, int column, bool *isnull)
{
	return heap_getattr(tuple, column, desc, isnull);
}

/* Read a bigint column; 0 when it is null. */
int64
sf_row_int64(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		d = column_value(tuple, desc, column, &isnull);

	return isnull ? 0 : DatumGetInt64(d);
}

/* Read a column of type oid or regrole; InvalidOid when it is null. */
Oid
sf_row_oid(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		d = column_value(tuple, desc, column, &isnull);

	return isnull ? InvalidOid : DatumGetObjectId(d);
}

/* Read an integer column of any width up to four bytes. */
int
sf_row_int(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		d = column_value(tuple, desc, column, &isnull);

	if (isnull)
		return 0;
	if (TupleDescAttr(desc, column - 1)->atttypid == INT2OID)
		return DatumGetInt16(d);
	return DatumGetInt32(d);
}

/* Read a double precision column; 0 when it is null. */
double
sf_row_double(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		d = column_value(tuple, desc, column, &isnull);

	return isnull ? 0 : DatumGetFloat8(d);
}

/* Read a boolean column; false when it is null. */
bool
sf_row_bool(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		d = column_value(tuple, desc, column, &isnull);

	return isnull ? false : DatumGetBool(d);
}

/* Tell whether a column is null. */
bool
sf_row_is_null(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;

	(void) column_value(tuple, desc, column, &isnull);
	return isnull;
}

/* Read a text column as a C string of its own, NULL where it is null. */
char *
sf_row_text(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		d = column_value(tuple, desc, column, &isnull);

	return isnull ? NULL : TextDatumGetCString(d);
}

/* Read a document as a detoasted copy, NULL where it is null. */
Jsonb *
sf_row_jsonb(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		d = column_value(tuple, desc, column, &isnull);

	return isnull ? NULL : DatumGetJsonbPCopy(d);
}

/* Read a timestamp column; if_null stands for null. */
TimestampTz
sf_row_time(HeapTuple tuple, TupleDesc desc, int column, TimestampTz if_null)
{
	bool		isnull;
	Datum		d = column_value(tuple, desc, column, &isnull);

	return isnull ? if_null : DatumGetTimestampTz(d);
}

/* Read an int4[] column; NULL and 0 where it is null or empty. */
int *
sf_row_int_array(HeapTuple tuple, TupleDesc desc, int column, int *count)
{
	bool		isnull;
	Datum		d = column_value(tuple, desc, column, &isnull);
	ArrayType  *array;
	int		   *result;

	*count = 0;
	if (isnull)
		return NULL;
	array = DatumGetArrayTypePCopy(d);
	*count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (*count == 0)
		return NULL;
	result = palloc(sizeof(int) * *count);
	memcpy(result, ARR_DATA_PTR(array), sizeof(int) * *count);
	return result;
}

/* Read a row of one integer of up to four bytes. */
void
sf_row_read_int(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(int *) arg = sf_row_int(tuple, desc, 1);
}

/* Read a row of one bigint. */
void
sf_row_read_int64(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(int64 *) arg = sf_row_int64(tuple, desc, 1);
}

/* Read a row of one oid or regrole. */
void
sf_row_read_oid(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(Oid *) arg = sf_row_oid(tuple, desc, 1);
}

/* Read a row of one bigint into a List of pointers to int64. */
void
sf_row_read_int64_list(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **list = arg;
	int64	   *number = palloc(sizeof(int64));

	*number = sf_row_int64(tuple, desc, 1);
	*list = lappend(*list, number);
}

/* Find the address of a row. */
ItemPointer
sf_row_address(HeapTuple tuple, TupleDesc desc, int ctid_column)
{
	bool		isnull;

	if (desc->natts < ctid_column)
		return &tuple->t_self;
	return (ItemPointer) DatumGetPointer(column_value(tuple, desc, ctid_column, &isnull));
}

/* Make an int4[] of numbers. */
Datum
sf_int_array_datum(const int *numbers, int count)
{
	Datum	   *elements = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		elements[i] = Int32GetDatum(numbers[i]);
	return PointerGetDatum(construct_array(elements, count, INT4OID,
										   sizeof(int32), true, TYPALIGN_INT));
}
