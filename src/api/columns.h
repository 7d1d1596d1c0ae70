/*
 * columns.h
 *		Rows that functions return, built column by column.
 *
 *		SfColumns row = {0};
 *		sf_columns_text(&row, name);
 *		sf_columns_put(fcinfo, &row);
 *
 * A value that is NULL, or a time that is not finite, is a null.
 */
#ifndef SF_API_COLUMNS_H
#define SF_API_COLUMNS_H

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "base/time/duration.h"
#include "base/version/compat.h"

#define SF_COLUMNS_MAX	14

typedef struct SfColumns
{
	int			n;
	Datum		values[SF_COLUMNS_MAX];
	bool		nulls[SF_COLUMNS_MAX];
} SfColumns;

/* Add a column. */
static inline void
sf_columns_add(SfColumns *row, Datum value, bool isnull)
{
	Assert(row->n < SF_COLUMNS_MAX);
	row->values[row->n] = value;
	row->nulls[row->n++] = isnull;
}

/* Add a text. */
static inline void
sf_columns_text(SfColumns *row, const char *text)
{
	sf_columns_add(row, text == NULL ? (Datum) 0 : CStringGetTextDatum(text), text == NULL);
}

/* Add a time. */
static inline void
sf_columns_time(SfColumns *row, TimestampTz at)
{
	sf_columns_add(row, TimestampTzGetDatum(at), TIMESTAMP_NOT_FINITE(at));
}

/* Add a duration to so many microseconds; SF_NO_DURATION is a null. */
static inline void
sf_columns_duration(SfColumns *row, int64 us, int64 unit)
{
	Interval   *interval = (Interval *) palloc0(sizeof(Interval));

	interval->time = us / unit * unit;
	sf_columns_add(row, IntervalPGetDatum(interval), !sf_duration_is_known(us));
}

/* Add a document. */
static inline void
sf_columns_jsonb(SfColumns *row, const Jsonb *document)
{
	sf_columns_add(row, JsonbPGetDatum(document), document == NULL);
}

/* Put the row into the result of a function that returns a set. */
static inline void
sf_columns_put(FunctionCallInfo fcinfo, SfColumns *row)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, row->values, row->nulls);
}

/* Make the row the result of a function that returns one. */
static inline Datum
sf_columns_datum(FunctionCallInfo fcinfo, SfColumns *row)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), row->values, row->nulls));
}

#endif							/* SF_API_COLUMNS_H */
