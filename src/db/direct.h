/*
 * direct.h
 *		Find, lock and write single rows without the executor.
 *
 * A query for one row by its key costs some twenty microseconds, most of them
 * to set up the executor; an index scan by hand costs three.  That matters for
 * the few rows that every execution touches.  Rows are written through the
 * executor's entry points for logical replication.  These maintain indexes,
 * check constraints and use HOT.  No rights are checked here: the callers are
 * trusted code of the extension.
 */
#ifndef SF_DB_DIRECT_H
#define SF_DB_DIRECT_H

#include "access/stratnum.h"
#include "storage/itemptr.h"

#include "db/table.h"

/* The next number of a sequence of _sfflow. */
extern int64 sf_sequence_next(const char *name);

/* --- one row by key --- */

/* A table of _sfflow and one of its unique indexes */
typedef struct SfIndex
{
	const char *table;
	const char *name;
} SfIndex;

/* Tell whether a row is wanted.  Called before the row is locked, and after. */
typedef bool (*SfRowFilter) (HeapTuple tuple, TupleDesc desc, void *arg);

/*
 * Find the row with a key, as SELECT … WHERE key = … FOR UPDATE [SKIP LOCKED]
 * does, and hand it to reader (may be NULL), whose tuple has the row's address
 * in t_self.  The key has a value for each column of the index: boolean, "char", int2, int4,
 * int8, oid, timestamptz or text.  Returns false when the row does not exist, when another
 * session has it locked, or when filter (may be NULL) does not want it.  Raises
 * 40001 as SELECT FOR UPDATE does.
 */
#define sf_row_fetch(index, lock, filter, reader, arg, ...) \
	sf_row_fetch_by(index, lock, filter, reader, arg, SF_ARGS(__VA_ARGS__))
extern bool sf_row_fetch_by(const SfIndex *index, SfLock lock, SfRowFilter filter,
							SfRowReader reader, void *arg, const SfArg *key, int nkeys);

/*
 * Hand rows with a key to reader, at most max_rows of them, in the order of the index.  The key has
 * values for the first columns of the index, or for all; an int4[] stands for any
 * of its numbers.  Nothing is locked.
 */
#define sf_rows_read(index, max_rows, reader, arg, ...) \
	sf_rows_read_by(index, max_rows, reader, arg, SF_ARGS(__VA_ARGS__))
extern void sf_rows_read_by(const SfIndex *index, int max_rows, SfRowReader reader, void *arg,
							const SfArg *key, int nkeys);

/*
 * Hand to reader the rows whose first column of an index, an int8, is a key, or
 * (from) is that or more, at most max_rows of them; returns how many.  As in a query
 * that only reads, the active snapshot decides.  Nothing is locked.
 */
extern int	sf_rows_scan(const SfIndex *index, bool from, int64 key, int max_rows,
						 SfRowReader reader, void *arg);

/*
 * Hand to reader the rows whose first column of an index, an int8, is a key, and
 * whose second, an int4, is at most a number, the last one first, at most max_rows of
 * them; returns how many.  With latest, what the transaction has written so far is
 * seen; without, the active snapshot decides.  Nothing is locked.
 */
extern int	sf_rows_scan_back(const SfIndex *index, bool latest, int64 key, int32 most,
							  int max_rows, SfRowReader reader, void *arg);

/* Hand rows of a table to reader, at most max_rows, as they are now whatever the transaction's snapshot. */
extern void sf_rows_read_latest(const SfIndex *index, int max_rows, SfRowReader reader, void *arg);

/*
 * Hand rows with the first columns of a key to reader (may be NULL), at most max_rows of them, as
 * they are now whatever the transaction's snapshot; returns how many.
 */
#define sf_rows_read_now(index, max_rows, reader, arg, ...) \
	sf_rows_read_now_by(index, max_rows, reader, arg, SF_ARGS(__VA_ARGS__))
extern int	sf_rows_read_now_by(const SfIndex *index, int max_rows, SfRowReader reader, void *arg,
								const SfArg *key, int nkeys);

/*
 * The same of rows whose first columns have the values of a key but for its last one, an int4, int8,
 * timestamptz or text, than which the next column is greater.
 */
#define sf_rows_read_behind(index, max_rows, reader, arg, ...) \
	sf_rows_read_behind_by(index, max_rows, reader, arg, SF_ARGS(__VA_ARGS__))
extern int	sf_rows_read_behind_by(const SfIndex *index, int max_rows, SfRowReader reader, void *arg,
								   const SfArg *key, int nkeys);

/*
 * Hand rows with the first columns of a key to reader (may be NULL), at most max_rows of them;
 * returns how many.  A row counts that another transaction has inserted or deleted and that
 * has not ended; one that this transaction has deleted does not.
 */
#define sf_rows_read_dirty(index, max_rows, reader, arg, ...) \
	sf_rows_read_dirty_by(index, max_rows, reader, arg, SF_ARGS(__VA_ARGS__))
extern int	sf_rows_read_dirty_by(const SfIndex *index, int max_rows, SfRowReader reader, void *arg,
								  const SfArg *key, int nkeys);

/* Hand the last row with the first columns of a key to reader, as of those above; false: there is none. */
#define sf_row_read_dirty_last(index, reader, arg, ...) \
	sf_row_read_dirty_last_by(index, reader, arg, SF_ARGS(__VA_ARGS__))
extern bool sf_row_read_dirty_last_by(const SfIndex *index, SfRowReader reader, void *arg,
									  const SfArg *key, int nkeys);

extern bool sf_row_is_any_now(const SfIndex *index, SfArg key);
extern bool sf_row_is_there(const SfIndex *index, SfRowFilter filter, SfArg key);
extern void sf_table_check_unchanged(const char *name, int column, SfArg number, int text_column,
									 const char *text);

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

/* Replace the row at tid, which the caller has locked. */
extern void sf_table_update(SfTable *table, ItemPointer tid,
							Datum *values, bool *nulls);

/*
 * Fetch the row at tid, or NULL; replace those of its columns that replace, of each
 * column, tells.
 */
extern HeapTuple sf_table_fetch(SfTable *table, ItemPointer tid, TupleDesc *desc);
extern void sf_table_replace_columns(SfTable *table, Datum *values, bool *nulls,
									 bool *replace);

extern void sf_table_delete(SfTable *table, ItemPointer tid);

/* What was written is visible to the next command. */
extern void sf_table_close(SfTable *table);

/*
 * Has an insert met a key that exists already, since the last call of
 * sf_table_forget_collision?  Then a sequence gave a number twice, and the task
 * that ran is not the cause.
 */
extern bool sf_table_has_collided(void);
extern void sf_table_forget_collision(void);

/*
 * Insert rows, laid out as for sf_table_insert_rows, each unless a row with the
 * same value in a unique column exists; inserted tells of each.  Waits for a
 * session that is inserting such a row.  The table is opened and closed here.
 */
extern void sf_table_insert_new(const char *name, int ncolumns, int unique_column, int nrows,
								Datum *values, bool *nulls, bool *inserted);

#endif							/* SF_DB_DIRECT_H */
