/*
 * table.h
 *		Access to the extension's tables: queries, and the columns of rows.
 *
 * Queries go through SPI, with plans that are prepared once a backend and run
 * with the rights of the extension's owner, whoever the caller is, and with a
 * search_path of pg_catalog alone, whatever the session has.  What the hot
 * path does with single rows goes around the executor: store/direct.h.
 */
#ifndef SF_STORE_TABLE_H
#define SF_STORE_TABLE_H

#include "executor/spi.h"
#include "json/json.h"

/* --- identity --- */

typedef struct SfStoreIdentity
{
	Oid			user;
	int			sec_context;
	int			guc_nest_level; /* of the search_path; 0: it was safe before */
} SfStoreIdentity;

/*
 * Switch to the extension's owner, or another role, and have names mean what
 * they mean in pg_catalog; undone by sf_store_leave or on abort.  Every query
 * that sfflow itself writes is between the two.
 */
extern void sf_store_enter(SfStoreIdentity *saved);
extern void sf_store_enter_as(SfStoreIdentity *saved, Oid role);
extern void sf_store_leave(const SfStoreIdentity *saved);

/* Owner of the schema _sfflow; ereports when the extension is not there. */
extern Oid	sf_store_owner(void);

/* --- reading --- */

/* A query and its plan: static SfPlan plan = SF_PLAN("…", 1, INT8OID); */
typedef struct SfPlan
{
	const char *query;
	int			nargs;
	Oid			argtypes[12];
	SPIPlanPtr	plan;			/* once prepared */
} SfPlan;

#define SF_PLAN(query, nargs, ...) {query, nargs, {__VA_ARGS__}, NULL}

/* Have the plan of a query, while SPI is connected. */
extern void sf_store_prepare(SfPlan *plan);

/* Read a row: called once a row with SPI's tuple, in the caller's context. */
typedef void (*SfRowReader) (HeapTuple tuple, TupleDesc desc, void *arg);

/*
 * Run a plan as the extension's owner; rows go to reader (may be NULL) in the
 * caller's memory context.  nulls as in SPI ("n"/" "), may be NULL.  Returns
 * the number of rows processed.
 */
extern uint64 sf_store_query(SfPlan *plan, Datum *args, const char *nulls,
							 long limit, SfRowReader reader, void *arg);

/* Values of a column, by 1-based number; defaults where it is null. */
extern int64 sf_row_int64(HeapTuple tuple, TupleDesc desc, int column);
extern Oid	sf_row_oid(HeapTuple tuple, TupleDesc desc, int column);
extern int	sf_row_int(HeapTuple tuple, TupleDesc desc, int column);
extern double sf_row_double(HeapTuple tuple, TupleDesc desc, int column);
extern bool sf_row_bool(HeapTuple tuple, TupleDesc desc, int column);
extern bool sf_row_is_null(HeapTuple tuple, TupleDesc desc, int column);
extern char *sf_row_text(HeapTuple tuple, TupleDesc desc, int column);
extern Jsonb *sf_row_jsonb(HeapTuple tuple, TupleDesc desc, int column);
extern TimestampTz sf_row_time(HeapTuple tuple, TupleDesc desc, int column,
							   TimestampTz if_null);
extern int *sf_row_int_array(HeapTuple tuple, TupleDesc desc, int column,
							 int *count);

/*
 * Readers of rows with one column: arg is where the value goes, int *, int64 *
 * or Oid *; for _list a List of int64 *, which grows.
 */
extern void sf_row_read_int(HeapTuple tuple, TupleDesc desc, void *arg);
extern void sf_row_read_int64(HeapTuple tuple, TupleDesc desc, void *arg);
extern void sf_row_read_oid(HeapTuple tuple, TupleDesc desc, void *arg);
extern void sf_row_read_int64_list(HeapTuple tuple, TupleDesc desc, void *arg);

/*
 * The address of a row: the ctid that a query has in a column after
 * those of the row, else where the tuple lies that sf_row_fetch (direct.h) found.
 */
extern ItemPointer sf_row_address(HeapTuple tuple, TupleDesc desc, int ctid_column);

/* An int4[] of numbers, to be written or asked for. */
extern Datum sf_int_array_datum(const int *numbers, int count);

#endif							/* SF_STORE_TABLE_H */
