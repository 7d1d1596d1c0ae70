/*
 * times.c
 *		Schedule expressions of EventBridge, cron(…), rate(…) and at(…), as sf_schedule takes them.
 *
 * What five fields of cron cannot say becomes a calendar (the last Friday of a
 * month), several crons (every 90 minutes), or the beginning and the end of the
 * schedule (a year).  What cannot be said at all is a problem and no approximation.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/timestamp.h"

#include "cloud/cloud.h"

#define MINUTES_PER_DAY		(HOURS_PER_DAY * MINS_PER_HOUR)

/* The days of the week, in the order of their numbers in cron: 0 is SUN */
static const char *const weekdays[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

/* Read a number that is a whole text; false: it is none. */
static bool
read_number(const char *text, int *number)
{
	size_t		length = strlen(text);

	*number = atoi(text);
	return length > 0 && length < 6 && strspn(text, "0123456789") == length;
}

/* Read a day of the week, as EventBridge has it: 1 or SUN is Sunday; the number in cron.  False: it is none. */
static bool
read_weekday(const char *text, int *day)
{
	int			n;
	bool		is_number = read_number(text, &n);

	for (int i = 0; i < (int) lengthof(weekdays); i++)
	{
		if (pg_strcasecmp(text, weekdays[i]) == 0 || (is_number && n == i + 1))
		{
			*day = i;
			return true;
		}
	}
	return false;
}

/* Cut a text at a separator; the parts. */
static List *
split(const char *text, char separator)
{
	List	   *parts = NIL;
	const char *end;

	while ((end = strchr(text, separator)) != NULL)
	{
		parts = lappend(parts, pnstrdup(text, end - text));
		text = end + 1;
	}
	return lappend(parts, pstrdup(text));
}

/* --- cron --- */

/* Find the days of the week in a part of the field: "MON-FRI", "2", "1/2"; false: that is none. */
static bool
flag_weekdays(const char *part, bool *marked)
{
	char	   *text = pstrdup(part);
	char	   *slash = strchr(text, '/');
	char	   *dash;
	bool		is_all;
	int			step = 1;
	int			from = 0;
	int			to = 6;

	if (slash != NULL)
	{
		*slash = '\0';
		if (!read_number(slash + 1, &step) || step < 1)
			return false;
	}
	dash = strchr(text, '-');
	if (dash != NULL)
		*dash = '\0';
	is_all = strcmp(text, "*") == 0;
	if (!is_all && !read_weekday(text, &from))
		return false;
	if (dash != NULL && !read_weekday(dash + 1, &to))
		return false;
	if (dash == NULL && slash == NULL && !is_all)
		to = from;
	if (to < from)
		to += 7;
	for (int day = from; day <= to; day += step)
		marked[day % 7] = true;
	return true;
}

/* Translate the field of the days of the week; NULL: it is none. */
static char *
translate_weekdays(const char *field)
{
	bool		marked[7] = {false};
	StringInfoData buf;

	if (strcmp(field, "*") == 0 || strcmp(field, "?") == 0)
		return pstrdup("*");
	if (strcmp(field, "L") == 0)
		return pstrdup("SAT");
	foreach_ptr(const char, part, split(field, ','))
	{
		if (!flag_weekdays(part, marked))
			return NULL;
	}
	initStringInfo(&buf);
	for (int day = 0; day < 7; day++)
	{
		if (marked[day])
			appendStringInfo(&buf, "%s%s", buf.len > 0 ? "," : "", weekdays[day]);
	}
	return strcmp(buf.data, "MON,TUE,WED,THU,FRI") == 0 ? pstrdup("MON-FRI") : buf.data;
}

/* Translate another field: a step without an end gets the greatest value of the field for one. */
static char *
translate_field(const char *field, int greatest)
{
	StringInfoData buf;

	if (strcmp(field, "?") == 0)
		return pstrdup("*");
	initStringInfo(&buf);
	foreach_ptr(const char, part, split(field, ','))
	{
		const char *slash = strchr(part, '/');

		if (part[0] == '\0' || part[strspn(part, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*/-")] != '\0')
			return NULL;
		if (buf.len > 0)
			appendStringInfoChar(&buf, ',');
		if (slash == NULL || part[0] == '*' || strchr(part, '-') != NULL)
			appendStringInfoString(&buf, part);
		else if (slash - part == 1 && part[0] == '0')
			appendStringInfo(&buf, "*%s", slash);
		else
			appendStringInfo(&buf, "%.*s-%d%s", (int) (slash - part), part, greatest, slash);
	}
	return buf.data;
}

/* Have a calendar pick the days; false: the days are such that no calendar is needed. */
static bool
pick_days(SfCloudTimes *times, const char *monthday, const char *weekday)
{
	size_t		length = strlen(weekday);
	const char *hash = strchr(weekday, '#');
	bool		is_day = false;
	int			day;
	int			nth;

	times->rule = "'{}'";
	if (strcmp(monthday, "L") == 0)
		times->days = "'{\"MonthDays\": [-1]}'";
	else if (strcmp(monthday, "LW") == 0)
	{
		times->rule = "'{\"Weekdays\": [\"MON\", \"TUE\", \"WED\", \"THU\", \"FRI\"]}'";
		times->days = "'{\"OpenDays\": [-1]}'";
	}
	else if (strncmp(monthday, "L-", 2) == 0 && read_number(monthday + 2, &nth))
		times->days = psprintf("'{\"MonthDays\": [%d]}'", -1 - nth);
	else if (hash != NULL)
		is_day = read_weekday(pnstrdup(weekday, hash - weekday), &day) &&
			read_number(hash + 1, &nth) && nth >= 1 && nth <= 5;
	else if (length > 1 && weekday[length - 1] == 'L')
	{
		is_day = read_weekday(pnstrdup(weekday, length - 1), &day);
		nth = -1;				/* the last one */
	}
	if (is_day)
		times->days = psprintf("'{\"Weekdays\": [\"%s\"], \"Nth\": %d}'", weekdays[day], nth);
	return times->days != NULL;
}

/* Read the field of the years: they begin and end the schedule. */
static bool
read_years(SfCloudTimes *times, const char *field)
{
	const char *dash = strchr(field, '-');
	int			from;
	int			to;

	if (strcmp(field, "*") == 0 || strcmp(field, "?") == 0)
		return true;
	if (!read_number(dash == NULL ? field : pnstrdup(field, dash - field), &from))
		return false;
	to = from;
	if (dash != NULL && !read_number(dash + 1, &to))
		return false;
	if (from < 1970 || to < from || to > 2199)
		return false;
	times->starts = psprintf("%d-01-01 00:00:00", from);
	times->ends = psprintf("%d-12-31 23:59:59", to);
	return true;
}

/* Read the six fields of cron(…). */
static void
read_cron(const char *text, SfCloudTimes *times)
{
	const char *field[7] = {NULL};
	char	   *translated[5];
	int			n = 0;
	bool		picked;

	for (char *part = strtok(pstrdup(text), " \t"); part != NULL && n < 7; part = strtok(NULL, " \t"))
		field[n++] = part;
	if (n != 6)
	{
		times->problem = "it has not six fields";
		return;
	}
	picked = pick_days(times, field[2], field[4]);
	translated[0] = translate_field(field[0], 59);
	translated[1] = translate_field(field[1], 23);
	translated[2] = picked ? pstrdup("*") : translate_field(field[2], 31);
	translated[3] = translate_field(field[3], 12);
	translated[4] = picked ? pstrdup("*") : translate_weekdays(field[4]);
	if (strpbrk(field[2], "LW") != NULL && !picked)
		times->problem = "the weekday nearest to a day of the month has no counterpart: make a calendar with sf_create_calendar";
	else if (!read_years(times, field[5]))
		times->problem = "its years are not one range";
	for (int i = 0; i < 5; i++)
	{
		if (translated[i] == NULL)
			times->problem = psprintf("its field %d has no counterpart", i + 1);
	}
	if (times->problem == NULL)
		times->schedules = list_make1(psprintf("%s %s %s %s %s", translated[0], translated[1], translated[2],
											   translated[3], translated[4]));
}

/* --- rate and at --- */

/* Add a cron for each minute of the hour at which a period that divides a day falls due. */
static void
add_minutes(SfCloudTimes *times, int period)
{
	for (int minute = 0; minute < MINS_PER_HOUR; minute++)
	{
		StringInfoData hours;

		initStringInfo(&hours);
		for (int at = 0; at < MINUTES_PER_DAY; at += period)
		{
			if (at % MINS_PER_HOUR == minute)
				appendStringInfo(&hours, "%s%d", hours.len > 0 ? "," : "", at / MINS_PER_HOUR);
		}
		if (hours.len > 0)
			times->schedules = lappend(times->schedules, psprintf("%d %s * * *", minute, hours.data));
	}
}

/* Read rate(…): a number and a unit.  The times are counted from midnight. */
static void
read_rate(const char *text, SfCloudTimes *times)
{
	char		unit[8];
	int			n;
	int			period;

	if (sscanf(text, " %5d %7[a-z]", &n, unit) != 2 || n < 1)
	{
		times->problem = "it is not a number and a unit";
		return;
	}
	period = n * (strncmp(unit, "hour", 4) == 0 ? MINS_PER_HOUR : strncmp(unit, "day", 3) == 0 ? MINUTES_PER_DAY : 1);
	if (period == 1)
		times->schedules = list_make1(pstrdup("* * * * *"));
	else if (MINS_PER_HOUR % period == 0)
		times->schedules = list_make1(period == MINS_PER_HOUR ? pstrdup("0 * * * *") : psprintf("*/%d * * * *", period));
	else if (MINUTES_PER_DAY % period == 0 && period % MINS_PER_HOUR == 0)
		times->schedules = list_make1(period == MINUTES_PER_DAY ? pstrdup("0 0 * * *") :
									  psprintf("0 */%d * * *", period / MINS_PER_HOUR));
	else if (MINUTES_PER_DAY % period == 0)
		add_minutes(times, period);
	else if (period % MINUTES_PER_DAY == 0)
	{
		times->schedules = list_make1(pstrdup("0 0 * * *"));
		times->rule = "'{}'";
		times->days = psprintf("jsonb_build_object('Every', %d, 'From', current_date)", period / MINUTES_PER_DAY);
	}
	else
		times->problem = "such a period is no part of a day, nor days";
}

/* Read at(…): one run. */
static void
read_at(const char *text, SfCloudTimes *times)
{
	int			year;
	int			month;
	int			day;
	int			hour;
	int			minute;

	if (sscanf(text, " %4d-%2d-%2dT%2d:%2d", &year, &month, &day, &hour, &minute) != 5)
	{
		times->problem = "it is not a date and a time";
		return;
	}
	times->schedules = list_make1(psprintf("%d %d %d %d *", minute, hour, day, month));
	times->starts = psprintf("%04d-%02d-%02d %02d:%02d:00", year, month, day, hour, minute);
	times->ends = psprintf("%04d-%02d-%02d %02d:%02d:59", year, month, day, hour, minute);
}

/* Read the expression of a schedule. */
void
sf_cloud_read_times(const char *expression, SfCloudTimes *times)
{
	const char *open = strchr(expression, '(');
	const char *close = strrchr(expression, ')');
	char	   *inner = open == NULL || close == NULL || close < open ? NULL : pnstrdup(open + 1, close - open - 1);

	memset(times, 0, sizeof(*times));
	if (inner != NULL && strncmp(expression, "cron(", 5) == 0)
		read_cron(inner, times);
	else if (inner != NULL && strncmp(expression, "rate(", 5) == 0)
		read_rate(inner, times);
	else if (inner != NULL && strncmp(expression, "at(", 3) == 0)
		read_at(inner, times);
	else
		times->problem = "it is neither cron(...) nor rate(...) nor at(...)";
}
