/*
 * csv.c
 *		Read comma-separated values (RFC 4180) from memory.
 *
 * A field that begins with a quote ends at the next quote that is not doubled;
 * it may contain delimiters and line ends.  Text between that quote and the next
 * delimiter is kept unchanged, because such files exist.  A row ends with CR, LF
 * or both; the last row may end without them.  A quote that is not closed makes one
 * field of all that follows, which the caller has to refuse (is_unclosed).
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "json/csv.h"

/* Does a field end here? */
static bool
at_end_of_field(const SfCsv *csv)
{
	return csv->pos == csv->end || *csv->pos == csv->delimiter ||
		*csv->pos == '\n' || *csv->pos == '\r';
}

/* Read quoted text; the opening quote has been read. */
static void
read_quoted(SfCsv *csv, StringInfo field)
{
	while (csv->pos < csv->end)
	{
		if (*csv->pos == '"')
		{
			csv->pos++;
			if (csv->pos == csv->end || *csv->pos != '"')
				return;
		}
		appendStringInfoCharMacro(field, *csv->pos++);
	}
	csv->is_unclosed = true;
}

/* Read a field, up to the delimiter or the line end after it. */
static char *
read_field(SfCsv *csv)
{
	StringInfoData field;
	const char *start;

	if (csv->pos < csv->end && *csv->pos == '"')
	{
		initStringInfo(&field);
		csv->pos++;
		read_quoted(csv, &field);
		while (!at_end_of_field(csv))
			appendStringInfoCharMacro(&field, *csv->pos++);
		return field.data;
	}
	start = csv->pos;
	while (!at_end_of_field(csv))
		csv->pos++;
	return pnstrdup(start, csv->pos - start);
}

/* Read a line end, if there is one. */
static void
skip_line_end(SfCsv *csv)
{
	if (csv->pos < csv->end && *csv->pos == '\r')
		csv->pos++;
	if (csv->pos < csv->end && *csv->pos == '\n')
		csv->pos++;
}

/*
 * Read the next row into a List of strings; false at the end.  Lines without
 * anything are no rows.
 */
bool
sf_csv_next(SfCsv *csv, List **fields)
{
	CHECK_FOR_INTERRUPTS();
	while (csv->pos < csv->end && (*csv->pos == '\n' || *csv->pos == '\r'))
		csv->pos++;
	if (csv->pos == csv->end)
		return false;
	*fields = list_make1(read_field(csv));
	while (csv->pos < csv->end && *csv->pos == csv->delimiter)
	{
		CHECK_FOR_INTERRUPTS();
		csv->pos++;
		*fields = lappend(*fields, read_field(csv));
	}
	skip_line_end(csv);
	return true;
}
