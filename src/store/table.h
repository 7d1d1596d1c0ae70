/*
 * table.h
 *		Access to the extension's tables: saved plans for reading, direct row
 *		access for writing.
 *
 * Reading goes through SPI with plans that are prepared once a backend.
 * Writing goes straight to the table and its indexes (the executor's entry
 * points for logical replication), which costs no planning and takes arrays
 * and documents as they are.  Both run with the rights of the extension's
 * owner, whoever the caller is.
 */
#ifndef SF_STORE_TABLE_H
#define SF_STORE_TABLE_H

#include "executor/spi.h"
#include "json/json.h"
#include "storage/itemptr.h"

/* --- identity --- */

typedef struct SfStoreIdentity
{
	Oid			user;
	int			sec_context;
} SfStoreIdentity;

/* Switch to the extension's owner; undone by sf_store_leave or on abort. */
extern void sf_store_enter(SfStoreIdentity *saved);
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

/* --- writing --- */

typedef struct SfTable SfTable;

/* Open a table of _sfflow for writing; close within the same command. */
extern SfTable *sf_table_open(const char *name, int ncolumns);
extern void sf_table_insert(SfTable *table, Datum *values, bool *nulls);

/*
 * Insert up to SF_TABLE_MAX_ROWS rows at once: values and nulls of all columns
 * of the first row, then of the second …  They share pages' WAL records.
 */
#define SF_TABLE_MAX_ROWS	64
extern void sf_table_insert_rows(SfTable *table, int nrows, Datum *values,
								 bool *nulls);
extern void sf_table_update(SfTable *table, ItemPointer tid,
							Datum *values, bool *nulls);
extern void sf_table_delete(SfTable *table, ItemPointer tid);
extern void sf_table_close(SfTable *table);

#endif							/* SF_STORE_TABLE_H */
