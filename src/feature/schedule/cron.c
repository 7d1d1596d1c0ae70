/*
 * cron.c
 *		Cron expressions: when they match, in any time zone.
 *
 * The grammar is that of Vixie cron, which pg_cron uses.  If both the day of the
 * month and the weekday are restricted, a day that matches either one matches.
 *
 * A match is searched by walking over minutes.  When the day or the hour does not
 * match, the walk goes to the next day or hour at once, but only if the offset
 * from UTC is the same there.  Otherwise it goes minute by minute, so that it never
 * skips a change of clocks.  It also does so just after clocks went forward: there
 * the local times that they skipped match.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

#include "feature/schedule/calendar.h"
#include "feature/schedule/cron.h"

#define SEARCH_YEARS	40

/* A field: name in messages, range, names of values from the first on */
typedef struct CronField
{
	const char *name;
	int			low;
	int			high;
	const char *const *names;
} CronField;

static const char *const month_names[] = {
	"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct",
	"nov", "dec", NULL
};

static const char *const weekday_names[] = {
	"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL
};

enum
{
	FIELD_MINUTE, FIELD_HOUR, FIELD_DAY, FIELD_MONTH, FIELD_WEEKDAY, FIELD_COUNT
};

static const CronField fields[] = {
	{"minute", 0, 59, NULL},
	{"hour", 0, 23, NULL},
	{"day of month", 1, 31, NULL},
	{"month", 1, 12, month_names},
	{"day of week", 0, 7, weekday_names},
};

static const struct
{
	const char *name;
	const char *expression;
}			nicknames[] = {
	{"@yearly", "0 0 1 1 *"},
	{"@annually", "0 0 1 1 *"},
	{"@monthly", "0 0 1 * *"},
	{"@weekly", "0 0 * * 0"},
	{"@daily", "0 0 * * *"},
	{"@midnight", "0 0 * * *"},
	{"@hourly", "0 * * * *"},
};

/* --- parsing --- */

/* Read a number or a name; false when there is neither, or out of range. */
static bool
parse_value(const char **p, const CronField *field, int *out)
{
	if (isdigit((unsigned char) **p))
	{
		int			value = 0;

		while (isdigit((unsigned char) **p) && value <= 1000)
			value = value * 10 + (*(*p)++ - '0');
		*out = value;
		return value >= field->low && value <= field->high;
	}
	for (int i = 0; field->names != NULL && field->names[i] != NULL; i++)
		if (pg_strncasecmp(*p, field->names[i], 3) == 0)
		{
			*p += 3;
			*out = field->low + i;
			return true;
		}
	return false;
}

/* Read one element of a list: "*", "a", "a-b", each but "a" with "/step". */
static bool
parse_element(const char **p, const CronField *field, uint64 *bits)
{
	int			from = field->low;
	int			to = field->high;
	int			step = 1;

	if (**p == '*')
		(*p)++;
	else
	{
		if (!parse_value(p, field, &from))
			return false;
		to = from;
		if (**p == '-')
		{
			(*p)++;
			if (!parse_value(p, field, &to) || to < from)
				return false;
		}
		else if (**p == '/')
			return false;
	}
	if (**p == '/')
	{
		CronField	steps = {field->name, 1, field->high, NULL};

		(*p)++;
		if (!parse_value(p, &steps, &step))
			return false;
	}
	for (int i = from; i <= to; i += step)
		*bits |= UINT64CONST(1) << i;
	return true;
}

/* Read a field, up to white space or the end. */
static bool
parse_field(const char **p, const CronField *field, uint64 *bits)
{
	*bits = 0;
	for (;;)
	{
		if (!parse_element(p, field, bits))
			return false;
		if (**p != ',')
			break;
		(*p)++;
	}
	return **p == '\0' || isspace((unsigned char) **p);
}

/* Skip white space. */
static const char *
skip_space(const char *p)
{
	while (isspace((unsigned char) *p))
		p++;
	return p;
}

/* Read the five fields. */
static bool
parse_fields(const char *p, SfCronFields *out, char **problem)
{
	uint64		bits[FIELD_COUNT] = {0};
	bool		any[FIELD_COUNT];

	for (int i = 0; i < FIELD_COUNT; i++)
	{
		p = skip_space(p);
		any[i] = *p == '*';
		if (i == FIELD_DAY && *p == '$' &&
			(p[1] == '\0' || isspace((unsigned char) p[1])))
		{
			out->last_day = true;
			p++;
			continue;
		}
		if (*p == '\0')
		{
			*problem = psprintf("The field \"%s\" is missing.", fields[i].name);
			return false;
		}
		if (!parse_field(&p, &fields[i], &bits[i]))
		{
			*problem = psprintf("The field \"%s\" takes %d to %d, ranges, lists and steps.",
								fields[i].name, fields[i].low, fields[i].high);
			return false;
		}
	}
	if (*skip_space(p) != '\0')
	{
		*problem = pstrdup("There are more than five fields.");
		return false;
	}
	out->minutes = bits[FIELD_MINUTE];
	out->hours = (uint32) bits[FIELD_HOUR];
	out->days = (uint32) bits[FIELD_DAY];
	out->months = (uint32) bits[FIELD_MONTH];
	/* Sunday is 0 and 7 */
	out->weekdays = (uint32) (bits[FIELD_WEEKDAY] | (bits[FIELD_WEEKDAY] >> 7)) & 0x7F;
	out->any_hour = any[FIELD_HOUR];
	out->any_day = any[FIELD_DAY];
	out->any_weekday = any[FIELD_WEEKDAY];
	return true;
}

/* Read "N seconds". */
static bool
parse_seconds(const char *p, int *seconds)
{
	char	   *end;
	long		n = strtol(p, &end, 10);

	if (end == p)
		return false;
	p = skip_space(end);
	if (p == end || pg_strncasecmp(p, "second", 6) != 0)
		return false;
	p += 6;
	if (*p == 's' || *p == 'S')
		p++;
	if (*skip_space(p) != '\0' || n < 1 || n > 59)
		return false;
	*seconds = (int) n;
	return true;
}

/*
 * Parse "minute hour day month weekday" (numbers, ranges, steps, lists, names,
 * "$" as day), "@hourly" and other nicknames, or "N seconds".  False with *problem
 * for other text.
 */
bool
sf_cron_parse(const char *text, SfCron *out, char **problem)
{
	const char *p = skip_space(text);
	TimestampTz match;

	memset(out, 0, sizeof(*out));
	if (parse_seconds(p, &out->seconds))
	{
		out->kind = SF_CRON_KIND_INTERVAL;
		return true;
	}
	for (size_t i = 0; i < lengthof(nicknames); i++)
	{
		size_t		len = strlen(nicknames[i].name);

		if (pg_strncasecmp(p, nicknames[i].name, len) == 0 &&
			*skip_space(p + len) == '\0')
			return parse_fields(nicknames[i].expression, &out->fields, problem);
	}
	if (*p == '@')
	{
		*problem = pstrdup("Of the names that begin with \"@\" there are @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly.");
		return false;
	}
	if (!parse_fields(p, &out->fields, problem))
		return false;
	if (!sf_cron_next(out, GetCurrentTimestamp(), pg_tzset("GMT"), &match))
	{
		*problem = pstrdup("It never matches.");
		return false;
	}
	return true;
}

/* --- matching --- */

/* Seconds east of UTC in a zone at a time, and the local time. */
static int
local_time(TimestampTz at, pg_tz *zone, struct pg_tm *tm)
{
	int			west;
	fsec_t		fsec;

	if (timestamp2tm(at, &west, tm, &fsec, NULL, zone) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	return -west;
}

/* Seconds east of UTC in a zone at a time. */
static int
offset_at(TimestampTz at, pg_tz *zone)
{
	struct pg_tm tm;

	return local_time(at, zone, &tm);
}

/* Tell whether a local day, a Julian day, fits the fields of an expression. */
bool
sf_cron_fits_day(int day, const void *arg)
{
	const SfCronFields *cron = arg;
	int			year;
	int			month;
	int			mday;
	bool		fits;
	bool		of_week = (cron->weekdays >> j2day(day)) & 1;

	j2date(day, &year, &month, &mday);
	fits = (cron->days >> mday) & 1;
	if (cron->last_day)
		fits = mday == day_tab[isleap(year)][month - 1];
	if (!((cron->months >> month) & 1))
		return false;
	return cron->any_day || cron->any_weekday ? fits && of_week : fits || of_week;
}

/* Tell whether a local day matches. */
static bool
day_matches(const SfCronFields *cron, const struct pg_tm *tm)
{
	int			day = date2j(tm->tm_year, tm->tm_mon, tm->tm_mday);

	return cron->days_marked != NULL ? sf_days_marked(cron->days_marked, day) :
		sf_cron_fits_day(day, cron);
}

/* The local day at a time. */
int
sf_cron_local_day(TimestampTz at, pg_tz *zone)
{
	struct pg_tm tm;

	(void) local_time(at, zone, &tm);
	return date2j(tm.tm_year, tm.tm_mon, tm.tm_mday);
}

/* Tell whether clocks showed the same local time before, within three hours. */
static bool
is_repeated(TimestampTz at, int offset, pg_tz *zone)
{
	int			before = offset_at(at - 3 * USECS_PER_HOUR, zone);

	return before > offset &&
		offset_at(at - (before - offset) * USECS_PER_SEC, zone) == before;
}

/* What clocks show at a time. */
Timestamp
sf_cron_local_time(TimestampTz at, pg_tz *zone)
{
	return at + offset_at(at, zone) * USECS_PER_SEC;
}

/* Tell whether the expression matches a local time. */
static bool
local_time_matches(const SfCronFields *cron, const struct pg_tm *tm)
{
	return ((cron->hours >> tm->tm_hour) & 1) && ((cron->minutes >> tm->tm_min) & 1) &&
		day_matches(cron, tm);
}

/*
 * The seconds by which clocks went forward before a time, if that long before it
 * they had not yet, and at most three hours; else 0.  In this while the local times
 * that were skipped match: by the offset of before they are now.
 */
static int
skipped_before(TimestampTz at, int offset, pg_tz *zone)
{
	int			before = offset_at(at - 3 * USECS_PER_HOUR, zone);
	int			ahead = offset - before;

	return ahead > 0 && ahead <= 3 * SECS_PER_HOUR &&
		offset_at(at - ahead * USECS_PER_SEC, zone) == before ? ahead : 0;
}

/* Tell whether the expression matches the time that clocks would show, had they not gone forward. */
static bool
skipped_time_matches(const SfCronFields *cron, TimestampTz at, int offset)
{
	struct pg_tm tm;
	fsec_t		fsec;

	return timestamp2tm(at + offset * USECS_PER_SEC, NULL, &tm, &fsec, NULL, NULL) == 0 &&
		local_time_matches(cron, &tm);
}

/*
 * Compare a minute with the expression.  Returns 0 for a match, else the number of
 * minutes in a direction after which the field that does not match changes.
 */
static int
minutes_to_skip(const SfCronFields *cron, TimestampTz at, pg_tz *zone, SfSearchDirection direction)
{
	struct pg_tm tm;
	int			offset = local_time(at, zone, &tm);
	int			skipped = cron->any_hour ? 0 : skipped_before(at, offset, zone);
	int			skip;

	if (skipped > 0)
		return local_time_matches(cron, &tm) ||
			skipped_time_matches(cron, at, offset - skipped) ? 0 : 1;
	if (!day_matches(cron, &tm))
		skip = direction == SF_SEARCH_BACKWARD ? tm.tm_hour * 60 + tm.tm_min + 1 :
			1440 - tm.tm_hour * 60 - tm.tm_min;
	else if (!((cron->hours >> tm.tm_hour) & 1))
		skip = direction == SF_SEARCH_BACKWARD ? tm.tm_min + 1 : 60 - tm.tm_min;
	else if (!((cron->minutes >> tm.tm_min) & 1) ||
			 (!cron->any_hour && is_repeated(at, offset, zone)))
		skip = 1;
	else
		return 0;
	if (offset_at(at + direction * skip * USECS_PER_MINUTE, zone) != offset)
		skip = 1;
	return skip;
}

/* Minutes after which a search in a direction is given up. */
static int64
minutes_to_search(const SfCronFields *cron, TimestampTz at, pg_tz *zone, SfSearchDirection direction)
{
	int			day;

	if (cron->days_marked == NULL)
		return (int64) SEARCH_YEARS * 366 * 1440;
	day = sf_cron_local_day(at, zone);
	return (int64) (direction == SF_SEARCH_FORWARD ? cron->days_marked->last - day + 2 :
					day - cron->days_marked->first + 2) * 1440;
}

/* Walk from a full minute in a direction to the first match. */
static bool
search(const SfCronFields *cron, TimestampTz at, pg_tz *zone, SfSearchDirection direction,
	   TimestampTz *out)
{
	int64		left = minutes_to_search(cron, at, zone, direction);

	while (left > 0)
	{
		int			skip = minutes_to_skip(cron, at, zone, direction);

		CHECK_FOR_INTERRUPTS();
		if (skip == 0)
		{
			*out = at;
			return true;
		}
		at += direction * skip * USECS_PER_MINUTE;
		left -= skip;
	}
	return false;
}

/* Round down to a multiple of a unit, counted from 1970. */
static TimestampTz
round_down(TimestampTz at, int64 unit)
{
	int64		epoch = (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
	int64		since = at + epoch;
	int64		rest = since % unit;

	return at - (rest < 0 ? rest + unit : rest);
}

/* Find the latest match at or before a time. */
bool
sf_cron_latest(const SfCron *cron, TimestampTz now, pg_tz *zone, TimestampTz *out)
{
	if (cron->kind == SF_CRON_KIND_INTERVAL)
	{
		*out = round_down(now, sf_cron_seconds(cron) * USECS_PER_SEC);
		return true;
	}
	return search(sf_cron_fields(cron), round_down(now, USECS_PER_MINUTE), zone, SF_SEARCH_BACKWARD, out);
}

/* Find the first match after a time. */
bool
sf_cron_next(const SfCron *cron, TimestampTz after, pg_tz *zone, TimestampTz *out)
{
	if (cron->kind == SF_CRON_KIND_INTERVAL)
	{
		*out = round_down(after, sf_cron_seconds(cron) * USECS_PER_SEC) + sf_cron_seconds(cron) * USECS_PER_SEC;
		return true;
	}
	return search(sf_cron_fields(cron), round_down(after, USECS_PER_MINUTE) + USECS_PER_MINUTE, zone, SF_SEARCH_FORWARD,
				  out);
}

/* --- another zone --- */

/* Append the members of a bit set as a list, or "*" for all of them. */
static void
append_set(StringInfo buf, uint64 bits, int count)
{
	int			begin = buf->len;

	if (bits == (UINT64CONST(1) << count) - 1)
	{
		appendStringInfoChar(buf, '*');
		return;
	}
	for (int i = 0; i < count; i++)
		if ((bits >> i) & 1)
			appendStringInfo(buf, "%s%d", buf->len > begin ? "," : "", i);
}

/*
 * Make an expression for another zone: every day, at the hours and minutes that
 * the matches have there, for every offset between the two zones within the next
 * five years.
 */
char *
sf_cron_cover(const SfCronFields *cron, pg_tz *zone, pg_tz *in_zone, TimestampTz now)
{
	uint64		minutes = 0;
	uint64		hours = 0;
	int			last = PG_INT32_MAX;
	StringInfoData buf;
	int			day;

	for (day = -1; day < 5 * 366; day++)
	{
		TimestampTz at = now + day * USECS_PER_DAY;
		int			ahead = (offset_at(at, zone) - offset_at(at, in_zone)) / 60;
		int			minute;

		if (ahead == last)
			continue;
		last = ahead;
		for (minute = 0; minute < 1440; minute++)
			if (((cron->hours >> (minute / 60)) & 1) &&
				((cron->minutes >> (minute % 60)) & 1))
			{
				int			there = (minute - ahead + 2 * 1440) % 1440;

				hours |= UINT64CONST(1) << (there / 60);
				minutes |= UINT64CONST(1) << (there % 60);
			}
	}
	initStringInfo(&buf);
	append_set(&buf, minutes, 60);
	appendStringInfoChar(&buf, ' ');
	append_set(&buf, hours, 24);
	appendStringInfoString(&buf, " * * *");
	return buf.data;
}
