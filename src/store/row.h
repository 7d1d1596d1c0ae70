/*
 * row.h
 *		Laying out the columns of a row that is written past the executor.
 *
 * A file that writes a table has an enum of its columns, COL_…, which counts
 * from 1 in the order of the table, and where these are used arrays of all
 * columns: values, nulls and, where a row keeps some of its columns, replace.
 */
#ifndef SF_STORE_ROW_H
#define SF_STORE_ROW_H

#include "store/direct.h"

/* Set a column; the datum of one that is null is not worked out. */
#define SF_SET(col, datum)	SF_SET_COLUMN(COL_##col, false, datum)
#define SF_SET_NULL(col)	SF_SET_COLUMN(COL_##col, true, (Datum) 0)
#define SF_SET_NULLABLE(col, isnull, datum) \
	SF_SET_COLUMN(COL_##col, isnull, datum)

/* The same for a row of which other columns stay. */
#define SF_REPLACE(col, datum) \
	(replace[COL_##col - 1] = true, SF_SET_COLUMN(COL_##col, false, datum))
#define SF_REPLACE_NULLABLE(col, isnull, datum) \
	(replace[COL_##col - 1] = true, SF_SET_COLUMN(COL_##col, isnull, datum))

/* For the macros above; column is a number. */
#define SF_SET_COLUMN(column, isnull, datum) \
	((nulls[(column) - 1] = (isnull)) ? \
	 (values[(column) - 1] = (Datum) 0) : (values[(column) - 1] = (datum)))

#endif							/* SF_STORE_ROW_H */
