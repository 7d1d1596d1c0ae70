/*
 * row.c
 *		Rows of tables as structs.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "utils/array.h"
#include "utils/datum.h"

#include "base/version/compat.h"
#include "db/row.h"

/* --- reading --- */

/* Read an int4[]; NULL and 0 where it is empty. */
static int *
read_array(Datum value, int *count)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int		   *numbers;

	*count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (*count == 0)
		return NULL;
	numbers = palloc(sizeof(int) * *count);
	memcpy(numbers, ARR_DATA_PTR(array), sizeof(int) * *count);
	return numbers;
}

/* Read a text or a document; one that is stored out of line may be kept as it is. */
static void
read_pointer(const SfColumn *column, Datum value, void *field)
{
	bytea	   *bytes;

	switch (column->type)
	{
		case SF_SQL_TEXT:
		case SF_SQL_JSON:
			*(char **) field = TextDatumGetCString(value);
			break;
		case SF_SQL_BYTEA:
			bytes = DatumGetByteaPP(value);
			if (VARSIZE_ANY_EXHDR(bytes) == column->size)
				memcpy(field, VARDATA_ANY(bytes), column->size);
			break;
		case SF_SQL_BYTES:
		case SF_SQL_JSONB_ARRAY:
			*(struct varlena **) field = (struct varlena *) DatumGetPointer(value);
			break;
		case SF_SQL_INT4_ARRAY:
			*(int **) field = read_array(value, (int *) ((int **) field + 1));
			break;
		default:
			*(Jsonb **) field = DatumGetJsonbPCopy(value);
			if (column->type == SF_SQL_JSONB_KEPT &&
				VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(value)))
				*(SfStored *) ((Jsonb **) field + 1) =
					(SfStored) {datumCopy(value, false, -1), *(Jsonb **) field};
	}
}

/* Read a column into its field, which is zero so far. */
static void
read_column(const SfColumn *column, Datum value, bool isnull, void *field)
{
	switch (column->type)
	{
		case SF_SQL_BOOL:
			*(bool *) field = !isnull && DatumGetBool(value);
			break;
		case SF_SQL_INT2:
			*(int *) field = isnull ? (int) column->null : DatumGetInt16(value);
			break;
		case SF_SQL_INT4:
			*(int *) field = isnull ? (int) column->null : DatumGetInt32(value);
			break;
		case SF_SQL_INT8:
		case SF_SQL_TIMESTAMPTZ:
		case SF_SQL_XID8:
			*(int64 *) field = isnull ? column->null : DatumGetInt64(value);
			break;
		case SF_SQL_FLOAT8:
			*(double *) field = isnull ? 0 : DatumGetFloat8(value);
			break;
		case SF_SQL_OID:
		case SF_SQL_REGROLE:
			*(Oid *) field = isnull ? InvalidOid : DatumGetObjectId(value);
			break;
		case SF_SQL_WORD:
			*(int *) field = isnull && column->nullable ? (int) column->null :
				sf_word_number(isnull ? NULL : TextDatumGetCString(value), column->name,
							   column->words, column->nwords);
			break;
		default:
			if (!isnull)
				read_pointer(column, value, field);
	}
}

/* Read the columns of a row from one up to another, counted from 1, into a struct. */
static void
read_columns(const SfRowType *type, const Datum *values, const bool *nulls, int first, int last, void *row)
{
	for (int i = first - 1; i < last; i++)
		read_column(&type->columns[i], values[i], nulls[i],
					(char *) row + type->columns[i].offset);
}

/* Lay out a row that is to have so many columns. */
static void
deform(const SfRowType *type, HeapTuple tuple, TupleDesc desc, int ncolumns, Datum *values, bool *nulls)
{
	if (desc->natts < ncolumns || desc->natts > SF_MAX_COLUMNS)
		elog(ERROR, "a row of %s has %d columns", type->key.table ? type->key.table : "a query", desc->natts);
	heap_deform_tuple(tuple, desc, values, nulls);
}

/* Read the first columns of a row into a struct. */
void
sf_row_read(const SfRowType *type, HeapTuple tuple, TupleDesc desc, int ncolumns,
			void *row)
{
	Datum		values[SF_MAX_COLUMNS];
	bool		nulls[SF_MAX_COLUMNS];

	deform(type, tuple, desc, ncolumns, values, nulls);
	read_columns(type, values, nulls, 1, ncolumns, row);
}

/* Read all columns of a row into a struct, but those from one up to another, counted from 1. */
void
sf_row_read_without(const SfRowType *type, HeapTuple tuple, TupleDesc desc, int first, int last, void *row)
{
	Datum		values[SF_MAX_COLUMNS];
	bool		nulls[SF_MAX_COLUMNS];

	deform(type, tuple, desc, type->ncolumns, values, nulls);
	read_columns(type, values, nulls, 1, first - 1, row);
	read_columns(type, values, nulls, last + 1, type->ncolumns, row);
}

/* Structs that rows are read into */
typedef struct Rows
{
	const SfRowType *type;
	List	   *rows;
} Rows;

/* Read a row into a struct of its own. */
static void
append_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Rows	   *rows = arg;
	void	   *row = palloc0(rows->type->size);

	sf_row_read(rows->type, tuple, desc, rows->type->ncolumns, row);
	rows->rows = lappend(rows->rows, row);
}

/* Read the rows of a query into structs. */
List *
sf_db_rows_by(SfPlan *plan, const SfRowType *type, const SfArg *args, int nargs)
{
	Rows		rows = {type, NIL};

	sf_db_run(InvalidOid, plan, append_row, &rows, args, nargs);
	return rows.rows;
}

/* Read them with the snapshot of the query that calls. */
List *
sf_snapshot_rows_by(SfPlan *plan, const SfRowType *type, const SfArg *args, int nargs)
{
	Rows		rows = {type, NIL};

	sf_snapshot_run(plan, append_row, &rows, args, nargs);
	return rows.rows;
}

/* --- writing --- */

/* The datum of a field that points to something; false: it is NULL. */
static bool
form_pointer(const SfColumn *column, const void *field, Datum *value)
{
	const void *pointer = column->type == SF_SQL_BYTEA ? field : *(void *const *) field;
	const SfStored *stored = (const SfStored *) ((Jsonb *const *) field + 1);

	*value = (Datum) 0;
	if (pointer == NULL)
		return false;
	switch (column->type)
	{
		case SF_SQL_TEXT:
		case SF_SQL_JSON:
			*value = CStringGetTextDatum(pointer);
			return true;
		case SF_SQL_BYTEA:
			*value = PointerGetDatum(cstring_to_text_with_len(pointer, column->size));
			return true;
		case SF_SQL_INT4_ARRAY:
			if (*(const int *) stored == 0)
				return false;
			*value = sf_int_array_datum(pointer, *(const int *) stored);
			return true;
		case SF_SQL_JSONB_KEPT:
			*value = pointer == stored->document && stored->datum != (Datum) 0 ?
				stored->datum : PointerGetDatum(pointer);
			return true;
		default:
			*value = PointerGetDatum(pointer);
			return true;
	}
}

/* The datum of a field; false: it is NULL. */
static bool
form_column(const SfColumn *column, const void *field, Datum *value)
{
	int64		number;

	switch (column->type)
	{
		case SF_SQL_BOOL:
			*value = BoolGetDatum(*(const bool *) field);
			return true;
		case SF_SQL_INT2:
			number = *(const int *) field;
			*value = Int16GetDatum(number);
			break;
		case SF_SQL_INT4:
			number = *(const int *) field;
			*value = Int32GetDatum(number);
			break;
		case SF_SQL_INT8:
		case SF_SQL_TIMESTAMPTZ:
		case SF_SQL_XID8:
			number = *(const int64 *) field;
			*value = Int64GetDatum(number);
			break;
		case SF_SQL_FLOAT8:
			*value = Float8GetDatum(*(const double *) field);
			return true;
		case SF_SQL_WORD:
			*value = CStringGetTextDatum(column->words[*(const int *) field]);
			return true;
		case SF_SQL_OID:
		case SF_SQL_REGROLE:
			number = *(const Oid *) field;
			*value = ObjectIdGetDatum(number);
			break;
		default:
			return form_pointer(column, field, value);
	}
	return !column->nullable || number != column->null;
}

/* Lay a struct out as the columns of its row. */
void
sf_row_form(const SfRowType *type, const void *row, Datum *values, bool *nulls)
{
	for (int i = 0; i < type->ncolumns; i++)
		nulls[i] = !form_column(&type->columns[i],
								(const char *) row + type->columns[i].offset, &values[i]);
}

/* Insert a row; the table is opened and closed here. */
void
sf_row_insert(const SfRowType *type, const void *row)
{
	SfTable    *table = sf_table_open(type->key.table, type->ncolumns);
	Datum		values[SF_MAX_COLUMNS];
	bool		nulls[SF_MAX_COLUMNS];

	sf_row_form(type, row, values, nulls);
	sf_table_insert(table, values, nulls);
	sf_table_close(table);
	CommandCounterIncrement();
}

/* Read the address of a row. */
void
sf_row_read_address(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(ItemPointer) arg = tuple->t_self;
}

/* Find the address of a row by its key. */
static bool
find_address(const SfRowType *type, const void *row, ItemPointer tid)
{
	SfArg		key[2] = {{0}};

	for (int i = 0; i < type->nkeys; i++)
	{
		key[i] = SF_NULL(INT8OID);
		key[i].isnull = !form_column(&type->columns[i],
									 (const char *) row + type->columns[i].offset, &key[i].value);
	}
	return sf_row_fetch_by(&type->key, SF_LOCK_NONE, NULL, sf_row_read_address, tid, key,
						   type->nkeys);
}

/* Fetch the row at an address, if it has the key of a struct. */
static bool
fetch_at(const SfRowType *type, SfTable *table, ItemPointer tid, const void *row)
{
	TupleDesc	desc;
	HeapTuple	tuple = sf_table_fetch(table, tid, &desc);

	if (tuple == NULL)
		return false;
	for (int i = 0; i < type->nkeys; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		bool		isnull;
		Datum		value;

		(void) form_column(&type->columns[i],
						   (const char *) row + type->columns[i].offset, &value);
		if (!datumIsEqual(heap_getattr(tuple, i + 1, desc, &isnull), value,
						  attribute->attbyval, attribute->attlen))
			return false;
	}
	return true;
}

/*
 * Replace some columns (by number) of a row that the caller has locked.  Its address,
 * where this transaction has read it, saves finding it by its key; the row may have
 * another one now.  Without an address (NULL, or an invalid one) the row may be gone.
 */
void
sf_row_update(const SfRowType *type, SfTable *table, ItemPointer tid, const void *row,
			  const int *columns, int n)
{
	Datum		values[SF_MAX_COLUMNS] = {0};
	bool		nulls[SF_MAX_COLUMNS] = {0};
	bool		replace[SF_MAX_COLUMNS] = {0};
	bool		known = ItemPointerIsValid(tid);
	ItemPointerData found;

	if (!known || !fetch_at(type, table, tid, row))
	{
		bool		there = find_address(type, row, &found);

		if (!there && !known)
			return;
		if (!there || !fetch_at(type, table, &found, row))
			elog(ERROR, "a locked row of %s is gone", type->key.table);
	}
	for (int i = 0; i < n; i++)
	{
		int			column = columns[i] - 1;

		replace[column] = true;
		nulls[column] = !form_column(&type->columns[column],
									 (const char *) row + type->columns[column].offset,
									 &values[column]);
	}
	sf_table_replace_columns(table, values, nulls, replace);
}

/* Replace some columns of one row. */
void
sf_row_replace(const SfRowType *type, ItemPointer tid, const void *row,
			   const int *columns, int n)
{
	SfTable    *table = sf_table_open(type->key.table, type->ncolumns);

	sf_row_update(type, table, tid, row, columns, n);
	sf_table_close(table);
	CommandCounterIncrement();
}
