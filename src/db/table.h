/*
 * table.h
 *		Queries over the extension's tables.
 *
 * A query goes through SPI.  Its plan is prepared once per backend.  It runs with
 * the rights of the extension's owner and a search_path of pg_catalog alone,
 * whatever the calling session has.  Single rows on the hot path bypass the
 * executor: see db/direct.h.
 */
#ifndef SF_DB_TABLE_H
#define SF_DB_TABLE_H

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "base/hooks.h"
#include "base/role/role.h"
#include "json/json.h"

/* --- identity --- */

typedef struct SfDbIdentity
{
	SfRoleSwitch role;
	int			guc_nest_level; /* of the search_path; 0: it was safe before */
} SfDbIdentity;

/*
 * Switch to the extension's owner, and have names mean what they mean in
 * pg_catalog.  sf_db_leave, or an abort, undoes both.  Every query that sfflow
 * itself writes runs between the two.
 */
extern void sf_db_enter(SfDbIdentity *saved);
extern void sf_db_leave(const SfDbIdentity *saved);
extern void sf_db_command(const char *command, int expected);

/* Owner of the schema _sfflow; ereports when the extension is not there. */
extern Oid	sf_db_owner(void);

/* OID of a table of _sfflow; InvalidOid when there is none. */
extern Oid	sf_db_relation(const char *name);

extern void sf_db_invalidate(const char *table);

/* --- arguments of queries --- */

/* An argument: what $1 and so on stand for */
typedef struct SfArg
{
	Oid			type;
	Datum		value;
	bool		isnull;
} SfArg;

static inline SfArg
sf_query_arg(Oid type, Datum value, bool isnull)
{
	return (SfArg) {type, value, isnull};
}

/* A null pointer is NULL. */
static inline SfArg
sf_query_text(const char *text)
{
	return sf_query_arg(TEXTOID, text == NULL ? (Datum) 0 : CStringGetTextDatum(text), text == NULL);
}

static inline SfArg
sf_query_jsonb(const Jsonb *document)
{
	return sf_query_arg(JSONBOID, PointerGetDatum(document), document == NULL);
}

/* Numbers of an enum are arguments like others: no text of a query holds them. */
#define SF_INT2(x)	sf_query_arg(INT2OID, Int16GetDatum(x), false)
#define SF_INT4(x)	sf_query_arg(INT4OID, Int32GetDatum(x), false)
#define SF_INT8(x)	sf_query_arg(INT8OID, Int64GetDatum(x), false)
#define SF_BOOL(x)	sf_query_arg(BOOLOID, BoolGetDatum(x), false)
#define SF_CHAR(x)	sf_query_arg(CHAROID, CharGetDatum(x), false)
#define SF_ROLE(x)	sf_query_arg(REGROLEOID, ObjectIdGetDatum(x), false)
#define SF_TIME(x)	sf_query_arg(TIMESTAMPTZOID, TimestampTzGetDatum(x), false)
#define SF_TIME_OR_NULL(x, null) \
	sf_query_arg(TIMESTAMPTZOID, TimestampTzGetDatum(x), (x) == (null))
#define SF_TEXT(x)	sf_query_text(x)
#define SF_JSONB(x)	sf_query_jsonb(x)
#define SF_NULL(type)	sf_query_arg(type, (Datum) 0, true)

/* An int2[] of numbers of an enum, for = ANY ($n) */
#define SF_INT2S(...) \
	sf_query_int2s((const int[]) {__VA_ARGS__}, \
				   (int) (sizeof((const int[]) {__VA_ARGS__}) / sizeof(int)))
extern SfArg sf_query_int2s(const int *numbers, int count);
extern SfArg sf_query_oids(const List *oids);
extern SfArg sf_query_int8s(const List *numbers);

/* Both numbers of an SfBranchKey: two arguments */
#define SF_BRANCH_KEY(key)	SF_INT8((key).execution_no), SF_INT8((key).branch_no)

/* A list of arguments, as an array and its length */
#define SF_ARGS(...) \
	(const SfArg[]) {__VA_ARGS__}, \
	(int) (sizeof((const SfArg[]) {__VA_ARGS__}) / sizeof(SfArg))

/* --- queries --- */

/* A query and its plan: static SfPlan plan = SF_PLAN("…"); */
typedef struct SfPlan
{
	const char *query;
	SPIPlanPtr	plan;			/* once prepared */
} SfPlan;

#define SF_PLAN(query)	{query, NULL}

/* How a query or a fetch locks its rows */
typedef enum SfLock
{
	SF_LOCK_NONE,				/* read only */
	SF_LOCK_WAIT,				/* FOR UPDATE */
	SF_LOCK_SKIP				/* FOR UPDATE SKIP LOCKED */
} SfLock;

/* The plans of a query by SfLock */
#define SF_PLANS_BY_LOCK(query) \
	{SF_PLAN(query), SF_PLAN(query " FOR UPDATE"), \
	 SF_PLAN(query " FOR UPDATE SKIP LOCKED")}

/* Read a row: called once per row, in the caller's memory context. */
typedef void (*SfRowReader) (HeapTuple tuple, TupleDesc desc, void *arg);

extern uint64 sf_db_run(Oid role, SfPlan *plan, SfRowReader reader, void *arg,
						const SfArg *args, int nargs);
extern uint64 sf_db_run_now(SfPlan *plan, SfRowReader reader, void *arg, const SfArg *args, int nargs);
extern uint64 sf_snapshot_run(SfPlan *plan, SfRowReader reader, void *arg,
							  const SfArg *args, int nargs);
extern uint64 sf_snapshot_run_now(SfPlan *plan, SfRowReader reader, void *arg,
								  const SfArg *args, int nargs);
extern int64 sf_snapshot_number_of_now(SfPlan *plan, int64 if_none, const SfArg *args, int nargs);

/* Run a plan for its effect, or with a reader. */
#define sf_db_execute(plan, ...) \
	sf_db_run(InvalidOid, plan, NULL, NULL, SF_ARGS(__VA_ARGS__))
#define sf_db_read(plan, reader, arg, ...) \
	sf_db_run(InvalidOid, plan, reader, arg, SF_ARGS(__VA_ARGS__))
#define sf_snapshot_read(plan, reader, arg, ...) \
	sf_snapshot_run(plan, reader, arg, SF_ARGS(__VA_ARGS__))

/* Likewise with a snapshot of now, whatever that of the query or of the transaction is. */
#define sf_db_execute_now(plan, ...) \
	sf_db_run_now(plan, NULL, NULL, SF_ARGS(__VA_ARGS__))
#define sf_db_read_now(plan, reader, arg, ...) \
	sf_db_run_now(plan, reader, arg, SF_ARGS(__VA_ARGS__))
#define sf_snapshot_read_now(plan, reader, arg, ...) \
	sf_snapshot_run_now(plan, reader, arg, SF_ARGS(__VA_ARGS__))
#define sf_snapshot_number_now(plan, if_none, ...) \
	sf_snapshot_number_of_now(plan, if_none, SF_ARGS(__VA_ARGS__))

/*
 * Read the first column of the first row as sf_row_number does.  Without a row,
 * or where it is null: if_none.
 */
#define sf_db_number(plan, if_none, ...) \
	sf_db_number_as(InvalidOid, plan, if_none, SF_ARGS(__VA_ARGS__))
extern int64 sf_db_number_as(Oid role, SfPlan *plan, int64 if_none,
							 const SfArg *args, int nargs);

/* Read the first column of all rows: a List of char *, or of int64 *. */
#define sf_db_texts(plan, ...) \
	sf_db_list(plan, sf_row_append_text, SF_ARGS(__VA_ARGS__))
#define sf_db_numbers(plan, ...) \
	sf_db_list(plan, sf_row_append_number, SF_ARGS(__VA_ARGS__))

extern List *sf_db_list(SfPlan *plan, SfRowReader reader,
						const SfArg *args, int nargs);
extern void *sf_list_first(const List *list);

/* --- columns, by their numbers from 1 --- */

/* An integer of any width, a truth value, a "char", an oid or a time */
extern int64 sf_row_number(HeapTuple tuple, TupleDesc desc, int column, int64 if_null);

/* Copies; NULL where the column is null. */
extern char *sf_row_text(HeapTuple tuple, TupleDesc desc, int column);
extern int	sf_row_word(HeapTuple tuple, TupleDesc desc, int column, const char *const *words, int n);
extern int	sf_word_number(const char *text, const char *column, const char *const *words, int n);
extern Jsonb *sf_row_jsonb(HeapTuple tuple, TupleDesc desc, int column);

/* Readers of rows with one column; arg is a List **. */
extern void sf_row_append_text(HeapTuple tuple, TupleDesc desc, void *arg);
extern void sf_row_append_number(HeapTuple tuple, TupleDesc desc, void *arg);

/* An int4[] of numbers */
extern Datum sf_int_array_datum(const int *numbers, int count);

#endif							/* SF_DB_TABLE_H */
