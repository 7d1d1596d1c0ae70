/*
 * row.h
 *		Rows of tables as structs.
 *
 * Each table has one list of its columns, in the order of the table:
 *
 *	X(C type, column, SQL type, what NULL is in the struct)
 *
 * The fields of a struct, the select list of a query, and how a row is read
 * into the struct and written from it are generated from the list.  To add a
 * column, add one line to the list and one to the CREATE TABLE in sql/parts;
 * test/lint/columns compares the two.
 */
#ifndef SF_DB_ROW_H
#define SF_DB_ROW_H

#include "db/direct.h"

/* SQL types of columns, and how a field holds each */
typedef enum SfColumnType
{
	SF_SQL_BOOL,				/* bool */
	SF_SQL_INT2,				/* int, or an enum */
	SF_SQL_INT4,				/* int */
	SF_SQL_INT8,				/* int64 */
	SF_SQL_FLOAT8,				/* double */
	SF_SQL_OID,					/* Oid */
	SF_SQL_REGROLE,				/* Oid */
	SF_SQL_TIMESTAMPTZ,			/* TimestampTz */
	SF_SQL_XID8,				/* uint64 */
	SF_SQL_TEXT,				/* char * */
	SF_SQL_WORD,				/* an enum: a text that is one of its words */
	SF_SQL_JSON,				/* char * */
	SF_SQL_BYTEA,				/* a struct of a fixed size */
	SF_SQL_BYTES,				/* struct varlena *, as it stands in the row */
	SF_SQL_JSONB,				/* Jsonb * */
	SF_SQL_JSONB_KEPT,			/* Jsonb *, and after it an SfStored */
	SF_SQL_JSONB_ARRAY,			/* struct varlena *, as it stands in the row */
	SF_SQL_INT4_ARRAY			/* int *, and after it an int: how many */
} SfColumnType;

/*
 * A document as it stands in the row it was read from, where that is out of
 * line: a large document that has not changed is not stored anew.
 */
typedef struct SfStored
{
	Datum		datum;
	Jsonb	   *document;		/* what was read from there */
} SfStored;

typedef struct SfColumn
{
	const char *name;
	SfColumnType type;
	uint16		offset;			/* of the field */
	uint16		size;
	bool		nullable;
	int64		null;			/* value of a field of a number that is NULL */
	const char *const *words;	/* of a WORD, by the numbers of the enum */
	int			nwords;
} SfColumn;

/* A table, or what a query returns, as a struct */
typedef struct SfRowType
{
	SfIndex		key;			/* the primary key: the first columns */
	int			nkeys;
	int			ncolumns;
	size_t		size;			/* of the struct */
	const SfColumn *columns;
} SfRowType;

#define SF_MAX_COLUMNS	48

/* The last item of a list's line */
#define SF_NOT_NULL		false, 0, NULL, 0
#define SF_NULL_IS(x)	true, (x), NULL, 0	/* a number */
#define SF_NULLABLE		true, 0, NULL, 0	/* a pointer */
#define SF_WORDS(words)	false, 0, (words), lengthof(words)	/* a WORD, not NULL: an array that its file has */
#define SF_WORDS_OR(words, x)	true, (x), (words), lengthof(words)	/* a WORD, and what NULL is */

/* For the lists: a field of the struct */
#define SF_FIELD(ctype, column, type, null)		SF_FIELD_##type(ctype, column)
#define SF_FIELD_BOOL(ctype, column)			ctype column;
#define SF_FIELD_INT2(ctype, column)			ctype column;
#define SF_FIELD_INT4(ctype, column)			ctype column;
#define SF_FIELD_INT8(ctype, column)			ctype column;
#define SF_FIELD_FLOAT8(ctype, column)			ctype column;
#define SF_FIELD_OID(ctype, column)				ctype column;
#define SF_FIELD_REGROLE(ctype, column)			ctype column;
#define SF_FIELD_TIMESTAMPTZ(ctype, column)		ctype column;
#define SF_FIELD_XID8(ctype, column)			ctype column;
#define SF_FIELD_TEXT(ctype, column)			ctype column;
#define SF_FIELD_WORD(ctype, column)			ctype column;
#define SF_FIELD_JSON(ctype, column)			ctype column;
#define SF_FIELD_BYTEA(ctype, column)			ctype column;
#define SF_FIELD_BYTES(ctype, column)			ctype column;
#define SF_FIELD_JSONB(ctype, column)			ctype column;
#define SF_FIELD_JSONB_KEPT(ctype, column)		ctype column; SfStored column##_stored;
#define SF_FIELD_JSONB_ARRAY(ctype, column)		ctype column;
#define SF_FIELD_INT4_ARRAY(ctype, column)		ctype column; int n##column;

/* ... the number of the column, COL_name */
#define SF_COLUMN_NUMBER(ctype, column, type, null)	COL_##column,
#define SF_COLUMN_NUMBERS(columns) \
	enum {COL_none, columns(SF_COLUMN_NUMBER) COL_end}

/* ... the select list of a query, which ends with a comma */
#define SF_SELECT(ctype, column, type, null)	#column ", "

/* ... the description of the column; ROW is the struct */
#define SF_COLUMN_OF(ctype, column, type, null) \
	{#column, SF_SQL_##type, offsetof(ROW, column), \
	 sizeof(((ROW *) NULL)->column), SF_##null},

/* Describe the rows of a table whose primary key has that many columns. */
#define SF_ROW_TYPE(variable, list, table, nkeys) \
	static const SfColumn variable##_columns[] = {list(SF_COLUMN_OF)}; \
	static const SfRowType variable = { \
		{#table, #table "_pkey"}, nkeys, lengthof(variable##_columns), \
		sizeof(ROW), variable##_columns \
	}

/* Describe what a query returns, in the order of its columns. */
#define SF_RESULT_TYPE(variable, list) \
	static const SfColumn variable##_columns[] = {list(SF_COLUMN_OF)}; \
	static const SfRowType variable = { \
		.ncolumns = lengthof(variable##_columns), .size = sizeof(ROW), .columns = variable##_columns \
	}

extern void sf_row_read(const SfRowType *type, HeapTuple tuple, TupleDesc desc,
						int ncolumns, void *row);
extern void sf_row_read_without(const SfRowType *type, HeapTuple tuple, TupleDesc desc,
								int first, int last, void *row);

/* Read the rows of a query into new structs: a List of them, or the first or NULL. */
#define sf_db_rows(plan, type, ...) \
	sf_db_rows_by(plan, type, SF_ARGS(__VA_ARGS__))
#define sf_db_row(plan, type, ...) \
	sf_list_first(sf_db_rows_by(plan, type, SF_ARGS(__VA_ARGS__)))
extern List *sf_db_rows_by(SfPlan *plan, const SfRowType *type,
						   const SfArg *args, int nargs);

/* The same with the snapshot of the query that calls */
#define sf_snapshot_rows(plan, type, ...) \
	sf_snapshot_rows_by(plan, type, SF_ARGS(__VA_ARGS__))
extern List *sf_snapshot_rows_by(SfPlan *plan, const SfRowType *type, const SfArg *args, int nargs);

extern void sf_row_form(const SfRowType *type, const void *row, Datum *values,
						bool *nulls);

extern void sf_row_read_address(HeapTuple tuple, TupleDesc desc, void *arg);

extern void sf_row_insert(const SfRowType *type, const void *row);

extern void sf_row_update(const SfRowType *type, SfTable *table, ItemPointer tid,
						  const void *row, const int *columns, int n);

/* The same for one row, with the table opened and closed here. */
extern void sf_row_replace(const SfRowType *type, ItemPointer tid, const void *row,
						   const int *columns, int n);

#endif							/* SF_DB_ROW_H */
