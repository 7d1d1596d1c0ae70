/*
 * table.c
 *		Queries over the extension's tables.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "db/table.h"

/* Where the names in a query of sfflow are looked up; workers have it throughout */
#define SF_SAFE_SEARCH_PATH	"pg_catalog, pg_temp"

/* Arguments of a query, at most */
#define MAX_ARGS	21

/* Tables and indexes that are found without a look into the catalogue */
#define MAX_FOUND	100

/* Rows that a scan fetches at a time */
#define SCAN_BATCH	1000

/* Find the owner of the schema that holds the tables. */
Oid
sf_db_owner(void)
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
static void
enter_as(SfDbIdentity *saved, Oid role)
{
	saved->role = sf_role_current();
	SetUserIdAndSecContext(role, saved->role.sec_context | SECURITY_LOCAL_USERID_CHANGE);
	saved->guc_nest_level = pin_names();
}

/* Take on the rights of the extension's owner. */
void
sf_db_enter(SfDbIdentity *saved)
{
	enter_as(saved, sf_db_owner());
}

/* Give rights and names back. */
void
sf_db_leave(const SfDbIdentity *saved)
{
	if (saved->guc_nest_level != 0)
		AtEOXact_GUC(true, saved->guc_nest_level);
	sf_role_restore(saved->role);
}

/* Run a command that was put together, once, as the owner of the tables; expected: what SPI says of such a command. */
void
sf_db_command(const char *command, int expected)
{
	SfDbIdentity saved;

	sf_db_enter(&saved);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(command, false, 0) != expected)
		elog(ERROR, "SPI_execute failed: %s", command);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	sf_db_leave(&saved);
}

/* A relation that was found, until a relation or a schema changes */
typedef struct FoundRelation
{
	const char *name;
	Oid			oid;
} FoundRelation;

static FoundRelation found[MAX_FOUND];
static int	nfound = 0;
static bool has_callback = false;	/* that forgets them */
static uint64 nchanges = 0;

/* Forget the relations: a row of pg_class or pg_namespace has changed. */
static void
forget_found(Datum arg, int cacheid, uint32 hashvalue)
{
	nfound = 0;
	nchanges++;
}

/* Remember a relation, unless something has changed since a count of changes. */
static void
remember_found(const char *name, Oid oid, uint64 since)
{
	if (!has_callback)
	{
		CacheRegisterSyscacheCallback(RELNAMENSP, forget_found, (Datum) 0);
		CacheRegisterSyscacheCallback(NAMESPACENAME, forget_found, (Datum) 0);
		has_callback = true;
	}
	else if (OidIsValid(oid) && nchanges == since && nfound < MAX_FOUND)
		found[nfound++] = (FoundRelation) {name, oid};
}

/*
 * Find a table or index of the extension.  Each name is a constant, so that its address
 * identifies it: an execution opens some thirty tables and indexes.
 */
Oid
sf_db_relation(const char *name)
{
	uint64		since = nchanges;
	Oid			oid;

	for (int i = 0; i < nfound; i++)
		if (found[i].name == name)
			return found[i].oid;
	oid = get_relname_relid(name, get_namespace_oid("_sfflow", true));
	remember_found(name, oid, since);
	return oid;
}

/* Tell every session, at commit, that what it has cached of a table is stale. */
void
sf_db_invalidate(const char *table)
{
	CacheInvalidateRelcacheByRelid(sf_db_relation(table));
}

/* --- queries --- */

/* Prepare a plan once; it stays for the life of the backend. */
static void
prepare(SfPlan *plan, const SfArg *args, int nargs)
{
	Oid			types[MAX_ARGS];
	SPIPlanPtr	prepared;

	if (plan->plan != NULL)
		return;
	for (int i = 0; i < nargs; i++)
		types[i] = args[i].type;
	prepared = SPI_prepare(plan->query, nargs, types);
	if (prepared == NULL)
		elog(ERROR, "SPI_prepare failed: %s: %s",
			 SPI_result_code_string(SPI_result), plan->query);
	if (SPI_keepplan(prepared) != 0)
		elog(ERROR, "SPI_keepplan failed");
	plan->plan = prepared;
}

/* Connect to SPI and take arguments apart as SPI wants them. */
static void
begin_query(SfPlan *plan, const SfArg *args, int nargs, Datum *values, char *nulls)
{
	if (unlikely(nargs > MAX_ARGS))
		elog(ERROR, "too many arguments of a query: %s", plan->query);
	for (int i = 0; i < nargs; i++)
	{
		values[i] = args[i].value;
		nulls[i] = args[i].isnull ? 'n' : ' ';
	}
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	prepare(plan, args, nargs);
}

/* Disconnect from SPI and give rights and names back. */
static void
end_query(const SfDbIdentity *saved, MemoryContext caller)
{
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	sf_db_leave(saved);
	MemoryContextSwitchTo(caller);
}

/* Hand the rows that SPI has fetched to a reader; returns how many there are. */
static uint64
read_rows(MemoryContext caller, SfRowReader reader, void *arg)
{
	SPITupleTable *rows = SPI_tuptable;
	uint64		n = SPI_processed;
	MemoryContext spi = MemoryContextSwitchTo(caller);

	for (uint64 i = 0; reader != NULL && i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		reader(rows->vals[i], rows->tupdesc, arg);
	}
	MemoryContextSwitchTo(spi);
	return n;
}

/* Run a plan as a role, with a snapshot of now or that of the transaction; see sf_db_run(). */
static uint64
run_plan(Oid role, SfPlan *plan, bool now, SfRowReader reader, void *arg, const SfArg *args, int nargs)
{
	MemoryContext caller = CurrentMemoryContext;
	SfDbIdentity saved;
	Datum		values[MAX_ARGS];
	char		nulls[MAX_ARGS];
	uint64		processed;
	int			rc;

	enter_as(&saved, OidIsValid(role) ? role : sf_db_owner());
	begin_query(plan, args, nargs, values, nulls);
	rc = now ?
		SPI_execute_snapshot(plan->plan, values, nulls, GetLatestSnapshot(), InvalidSnapshot, false, true, 0) :
		SPI_execute_plan(plan->plan, values, nulls, false, 0);
	if (rc < 0)
		elog(ERROR, "SPI_execute_plan failed: %s: %s",
			 SPI_result_code_string(rc), plan->query);
	processed = SPI_processed;
	if (SPI_tuptable != NULL)
		read_rows(caller, reader, arg);
	end_query(&saved, caller);
	return processed;
}

/*
 * Run a plan as a role (InvalidOid: the extension's owner) and hand its rows to
 * a reader, which may be NULL.  The types of the first call's arguments are
 * those of the plan.  Returns the number of rows processed.
 */
uint64
sf_db_run(Oid role, SfPlan *plan, SfRowReader reader, void *arg,
		  const SfArg *args, int nargs)
{
	return run_plan(role, plan, false, reader, arg, args, nargs);
}

/* The same as the extension's owner, of the rows that there are now. */
uint64
sf_db_run_now(SfPlan *plan, SfRowReader reader, void *arg, const SfArg *args, int nargs)
{
	return run_plan(InvalidOid, plan, true, reader, arg, args, nargs);
}

/*
 * Run a plan that only reads with the snapshot of the query that calls, and
 * fetch its rows batch by batch.  sf_db_run sees what the transaction did a
 * moment ago, which the engine needs.  What a view shows must be of one
 * snapshot, and may be more than fits in memory.  The reader runs as the
 * extension's owner.
 */
uint64
sf_snapshot_run(SfPlan *plan, SfRowReader reader, void *arg, const SfArg *args, int nargs)
{
	MemoryContext caller = CurrentMemoryContext;
	SfDbIdentity saved;
	Datum		values[MAX_ARGS];
	char		nulls[MAX_ARGS];
	Portal		portal;
	uint64		total = 0;
	uint64		n;

	sf_db_enter(&saved);
	begin_query(plan, args, nargs, values, nulls);
	portal = SPI_cursor_open(NULL, plan->plan, values, nulls, true);
	if (portal == NULL)
		elog(ERROR, "SPI_cursor_open failed: %s: %s",
			 SPI_result_code_string(SPI_result), plan->query);
	/* its locks go to the caller's owner of resources, as those of other queries do */
	ResourceOwnerNewParent(portal->resowner, CurrentResourceOwner);
	do
	{
		SPI_cursor_fetch(portal, true, SCAN_BATCH);
		n = read_rows(caller, reader, arg);
		SPI_freetuptable(SPI_tuptable);
		total += n;
	} while (n == SCAN_BATCH);
	SPI_cursor_close(portal);
	end_query(&saved, caller);
	return total;
}

/* Run a plan that only reads with a snapshot of now. */
uint64
sf_snapshot_run_now(SfPlan *plan, SfRowReader reader, void *arg, const SfArg *args, int nargs)
{
	uint64		total;

	PushActiveSnapshot(GetLatestSnapshot());
	total = sf_snapshot_run(plan, reader, arg, args, nargs);
	PopActiveSnapshot();
	return total;
}

/* A number that a query returns, and what stands for none */
typedef struct Number
{
	int64		value;
	bool		found;
} Number;

/* Read the number of the first row. */
static void
read_number(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Number	   *number = arg;

	if (!number->found)
		number->value = sf_row_number(tuple, desc, 1, number->value);
	number->found = true;
}

/* Read the number that a query returns. */
int64
sf_db_number_as(Oid role, SfPlan *plan, int64 if_none, const SfArg *args, int nargs)
{
	Number		number = {if_none, false};

	sf_db_run(role, plan, read_number, &number, args, nargs);
	return number.value;
}

/* Read the number that a query returns with a snapshot of now. */
int64
sf_snapshot_number_of_now(SfPlan *plan, int64 if_none, const SfArg *args, int nargs)
{
	Number		number = {if_none, false};

	sf_snapshot_run_now(plan, read_number, &number, args, nargs);
	return number.value;
}

/* Read all rows by a reader whose argument is a List **. */
List *
sf_db_list(SfPlan *plan, SfRowReader reader, const SfArg *args, int nargs)
{
	List	   *list = NIL;

	sf_db_run(InvalidOid, plan, reader, &list, args, nargs);
	return list;
}

/* The first item of a list of pointers, or NULL */
void *
sf_list_first(const List *list)
{
	return list == NIL ? NULL : linitial(list);
}

/* --- columns --- */

/* Read an integer of any width, a truth value, a "char", an oid, an xid8 or a time. */
int64
sf_row_number(HeapTuple tuple, TupleDesc desc, int column, int64 if_null)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, column, desc, &isnull);

	if (isnull)
		return if_null;
	switch (TupleDescAttr(desc, column - 1)->atttypid)
	{
		case INT8OID:
		case XID8OID:
		case TIMESTAMPTZOID:
			return DatumGetInt64(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT2OID:
			return DatumGetInt16(value);
		case BOOLOID:
			return DatumGetBool(value);
		case CHAROID:
			return DatumGetChar(value);
		default:
			return DatumGetObjectId(value);
	}
}

/* Read a text column as a C string of its own, NULL where it is null. */
char *
sf_row_text(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, column, desc, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

/* Find the number among some words, which may have gaps, of the one that a column has. */
int
sf_word_number(const char *text, const char *column, const char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		if (text != NULL && words[i] != NULL && strcmp(words[i], text) == 0)
			return i;
	elog(ERROR, "column \"%s\" has \"%s\", which this library does not know", column, text == NULL ? "null" : text);
}

/* Read a text column that has one of some words: its number among them. */
int
sf_row_word(HeapTuple tuple, TupleDesc desc, int column, const char *const *words, int n)
{
	return sf_word_number(sf_row_text(tuple, desc, column), NameStr(TupleDescAttr(desc, column - 1)->attname),
						  words, n);
}

/* Read a document as a detoasted copy, NULL where it is null. */
Jsonb *
sf_row_jsonb(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, column, desc, &isnull);

	return isnull ? NULL : DatumGetJsonbPCopy(value);
}

/* Append a text to a list. */
void
sf_row_append_text(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(List **) arg = lappend(*(List **) arg, sf_row_text(tuple, desc, 1));
}

/* Append a number to a list of pointers to int64. */
void
sf_row_append_number(HeapTuple tuple, TupleDesc desc, void *arg)
{
	int64	   *number = palloc(sizeof(int64));

	*number = sf_row_number(tuple, desc, 1, 0);
	*(List **) arg = lappend(*(List **) arg, number);
}

/* Make an array of numbers of a type of up to four bytes. */
static Datum
array_datum(const int *numbers, int count, Oid type, int length, char align)
{
	Datum	   *elements = palloc(sizeof(Datum) * count);

	for (int i = 0; i < count; i++)
		elements[i] = length == 2 ? Int16GetDatum(numbers[i]) : Int32GetDatum(numbers[i]);
	return PointerGetDatum(construct_array(elements, count, type, length, true, align));
}

/* Make an int4[] of numbers. */
Datum
sf_int_array_datum(const int *numbers, int count)
{
	return array_datum(numbers, count, INT4OID, sizeof(int32), TYPALIGN_INT);
}

/* Make an argument of type oid[] of a list of oids. */
SfArg
sf_query_oids(const List *oids)
{
	int			count = list_length(oids);
	int		   *numbers = palloc(sizeof(int) * count);

	for (int i = 0; i < count; i++)
		numbers[i] = (int) list_nth_oid(oids, i);
	return sf_query_arg(OIDARRAYOID,
						array_datum(numbers, count, OIDOID, sizeof(Oid), TYPALIGN_INT), false);
}

/* Make an argument of type int8[] of a list of pointers to int64. */
SfArg
sf_query_int8s(const List *numbers)
{
	Datum	   *elements = palloc(sizeof(Datum) * list_length(numbers));
	ListCell   *lc;

	foreach(lc, numbers)
		elements[foreach_current_index(lc)] = Int64GetDatum(*(int64 *) lfirst(lc));
	return sf_query_arg(INT8ARRAYOID,
						PointerGetDatum(construct_array(elements, list_length(numbers), INT8OID,
														sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)),
						false);
}

/* Make an argument of type int2[]. */
SfArg
sf_query_int2s(const int *numbers, int count)
{
	return sf_query_arg(INT2ARRAYOID,
						array_datum(numbers, count, INT2OID, sizeof(int16), TYPALIGN_SHORT),
						false);
}
