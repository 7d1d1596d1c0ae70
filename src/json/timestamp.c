/*
 * timestamp.c
 *		Date-times as the language writes them: ISO-8601 extended with an
 *		offset, the profile of RFC 3339.
 */
#include "postgres.h"

#include "datatype/timestamp.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "json/json.h"

typedef struct Cursor
{
	const char *p;
	const char *end;
} Cursor;

/* Read exactly n digits as a number within bounds. */
static bool
read_number(Cursor *cursor, int n, int min, int max, int *out)
{
	int			value = 0;

	if (cursor->end - cursor->p < n)
		return false;
	for (; n > 0; n--, cursor->p++)
	{
		if (*cursor->p < '0' || *cursor->p > '9')
			return false;
		value = value * 10 + (*cursor->p - '0');
	}
	*out = value;
	return value >= min && value <= max;
}

/* Skip one of the characters of a set. */
static bool
read_char(Cursor *cursor, const char *set)
{
	if (cursor->p >= cursor->end || *cursor->p == '\0' || strchr(set, *cursor->p) == NULL)
		return false;
	cursor->p++;
	return true;
}

/* Read a fraction's digits (at least one) as microseconds; the rest is cut. */
static bool
read_fraction(Cursor *cursor, fsec_t *out)
{
	int			value = 0;
	int			ndigits = 0;

	for (; cursor->p < cursor->end && *cursor->p >= '0' && *cursor->p <= '9'; cursor->p++, ndigits++)
	{
		if (ndigits < 6)
			value = value * 10 + (*cursor->p - '0');
	}
	if (ndigits == 0)
		return false;
	for (; ndigits < 6; ndigits++)
		value *= 10;
	*out = value;
	return true;
}

/* Read Z or an offset of at most 18 hours, as seconds west of Greenwich. */
static bool
read_offset(Cursor *cursor, int *out)
{
	bool		east;
	int			hours;
	int			minutes;

	*out = 0;
	if (read_char(cursor, "Z"))
		return true;
	if (cursor->p >= cursor->end)
		return false;
	east = *cursor->p == '+';
	if (!read_char(cursor, "+-") ||
		!read_number(cursor, 2, 0, 18, &hours) || !read_char(cursor, ":") ||
		!read_number(cursor, 2, 0, 59, &minutes))
		return false;
	if (hours == 18 && minutes > 0)
		return false;
	*out = (hours * 60 + minutes) * 60;
	if (east)
		*out = -*out;
	return true;
}

/*
 * Parse an ISO-8601 extended offset date-time; false when it is not one.
 * "T" and an offset or Z are required, as are seconds; fractions may have any
 * number of digits, of which microseconds are kept.
 */
bool
sf_timestamp_parse(const char *text, int len, TimestampTz *out)
{
	Cursor		cursor = {text, text + len};
	struct pg_tm tm;
	fsec_t		fsec = 0;
	int			offset;

	memset(&tm, 0, sizeof(tm));
	if (!read_number(&cursor, 4, 1, 9999, &tm.tm_year) || !read_char(&cursor, "-") ||
		!read_number(&cursor, 2, 1, 12, &tm.tm_mon) || !read_char(&cursor, "-") ||
		!read_number(&cursor, 2, 1, 31, &tm.tm_mday) || !read_char(&cursor, "T") ||
		!read_number(&cursor, 2, 0, 23, &tm.tm_hour) || !read_char(&cursor, ":") ||
		!read_number(&cursor, 2, 0, 59, &tm.tm_min) || !read_char(&cursor, ":") ||
		!read_number(&cursor, 2, 0, 59, &tm.tm_sec))
		return false;
	if (tm.tm_mday > day_tab[isleap(tm.tm_year)][tm.tm_mon - 1])
		return false;
	if (read_char(&cursor, ".") && !read_fraction(&cursor, &fsec))
		return false;
	if (!read_offset(&cursor, &offset) || cursor.p != cursor.end)
		return false;
	return tm2timestamp(&tm, fsec, &offset, out) == 0;
}

/*
 * Print a time as the service does, in UTC with milliseconds:
 * "2025-02-05T02:00:00.123Z".
 */
char *
sf_timestamp_print(TimestampTz at)
{
	struct pg_tm tm;
	fsec_t		fsec;

	if (TIMESTAMP_NOT_FINITE(at) ||
		timestamp2tm(at, NULL, &tm, &fsec, NULL, NULL) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	return psprintf("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
					tm.tm_year, tm.tm_mon, tm.tm_mday,
					tm.tm_hour, tm.tm_min, tm.tm_sec, (int) (fsec / 1000));
}
