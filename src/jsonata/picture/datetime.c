/*
 * datetime.c
 *		Times by picture strings: reading the picture, and formatting.
 *
 * A time is a number of milliseconds since 1970, as in JavaScript.  A number
 * beyond ±8.64e15 is no time, and its components are NaN.
 */
#include "postgres.h"

#include <math.h>

#include "utils/datetime.h"

#include "jsonata/function/functions.h"
#include "jsonata/picture/picture.h"

#define MS_PER_DAY 86400000.0
#define DAYS_PER_ERA 146097		/* 400 years */
#define MAX_TIME 8.64e15

const char *const sf_jn_months[12] = {
	"January", "February", "March", "April", "May", "June", "July", "August",
	"September", "October", "November", "December"
};

const char *const sf_jn_days[8] = {
	"", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
};

/* Components: letter, presentation when none is given */
static const struct
{
	char		component;
	const char *presentation;
}			components[] =
{
	{'Y', "1"}, {'M', "1"}, {'D', "1"}, {'d', "1"}, {'F', "n"}, {'W', "1"},
	{'w', "1"}, {'X', "1"}, {'x', "1"}, {'H', "1"}, {'h', "1"}, {'P', "n"},
	{'m', "01"}, {'s', "01"}, {'f', "1"}, {'Z', "01:01"}, {'z', "01:01"},
	{'C', "n"}, {'E', "n"}
};

/* --- the calendar --- */

/*
 * Days from 1970-01-01 to the first of a month; months may overflow.  PostgreSQL's
 * calendar has no years so far away, but it repeats after 400 years.
 */
static double
days_to_month(double year, double month)
{
	double		y = year + floor(month / 12);
	int			m = (int) (month - floor(month / 12) * 12);	/* 0..11 */
	double		era = floor(y / 400);

	return era * DAYS_PER_ERA + date2j((int) (y - era * 400), m + 1, 1) -
		UNIX_EPOCH_JDATE;
}

/*
 * Milliseconds of a date and time, as Date.UTC: years of two digits are of
 * the twentieth century; NaN out of range.
 */
double
sf_jn_utc(double year, double month, double day, double hour, double minute,
		  double second, double milli)
{
	double		millis;

	if (!isfinite(year) || !isfinite(month) || fabs(year) > 400000 || fabs(month) > 4e6)
		return NAN;
	if (year >= 0 && year <= 99)
		year += 1900;
	millis = (days_to_month(year, month) + day - 1) * MS_PER_DAY + hour * 3600000 +
		minute * 60000 + second * 1000 + milli;
	return fabs(millis) <= MAX_TIME ? millis : NAN;
}

/* Split days since 1970 into year, month (from 0) and day of the month. */
static void
split_days(double days, double *year, int *month, int *day)
{
	double		era = floor(days / DAYS_PER_ERA);
	int			year_of_era;

	j2date((int) (days - era * DAYS_PER_ERA) + UNIX_EPOCH_JDATE, &year_of_era, month, day);
	*month -= 1;
	*year = year_of_era + era * 400;
}

/* Day of the week, 1 is Monday. */
static int
week_day(double days)
{
	double		d = days + 3;	/* 1970-01-01 was a Thursday */

	return (int) (d - floor(d / 7) * 7) + 1;
}

/* Find the Monday of the first week of a year or month, the one with its first Thursday. */
static double
first_week(double year, int month)
{
	double		first = days_to_month(year, month);
	int			day = week_day(first);

	return day > 4 ? first + 8 - day : first - (day - 1);
}

/* Week of the year (months 12, month 0) or of a month (months 1). */
static double
week_number(double days, double year, int month, int months)
{
	double		week = floor((days - first_week(year, month)) / 7) + 1;

	if (week > (months == 12 ? 52 : 4))
	{
		if (days >= first_week(year, month + months))
			week = 1;
	}
	else if (week < 1)
		week = floor((days - first_week(year, month - months)) / 7) + 1;
	return week;
}

/* Return a component of a time in UTC; NaN for a time out of range. */
double
sf_jn_time_component(double millis, char component)
{
	double		days = floor(millis / MS_PER_DAY);
	double		rest = millis - days * MS_PER_DAY;
	double		year;
	int			month;
	int			day;

	if (!(fabs(millis) <= MAX_TIME))
		return NAN;
	split_days(days, &year, &month, &day);
	switch (component)
	{
		case 'Y':
			return year;
		case 'M':
			return month + 1;
		case 'D':
			return day;
		case 'd':
			return days - days_to_month(year, 0) + 1;
		case 'F':
			return week_day(days);
		case 'W':
			return week_number(days, year, 0, 12);
		case 'w':
			return week_number(days, year, month, 1);
		case 'X':
			return days < first_week(year, 0) ? year - 1 :
				days >= first_week(year, 12) ? year + 1 : year;
		case 'x':
			return days < first_week(year, month) ? (month + 11) % 12 + 1 :
				days >= first_week(year, month + 1) ? (month + 1) % 12 + 1 : month + 1;
		case 'H':
			return floor(rest / 3600000);
		case 'h':
			{
				int			hour = (int) floor(rest / 3600000) % 12;

				return hour == 0 ? 12 : hour;
			}
		case 'P':
			return rest >= MS_PER_DAY / 2 ? 1 : 0;
		case 'm':
			return (int) floor(rest / 60000) % 60;
		case 's':
			return (int) floor(rest / 1000) % 60;
		case 'f':
			return fmod(rest, 1000);
		default:
			return 0;
	}
}

/* --- pictures --- */

/* Append a literal part, in which ]] stands for ]. */
static void
add_literal(SfJnEval *ev, SfJnTimePicture *picture, const char *s, const char *end)
{
	char	   *text;
	Size		n = 0;

	if (s >= end)
		return;
	text = sf_jn_alloc(&ev->arena, end - s);
	while (s < end)
	{
		if (s + 1 < end && s[0] == ']' && s[1] == ']')
			s++;
		text[n++] = *s++;
	}
	memset(&picture->parts[picture->n], 0, sizeof(SfJnPicturePart));
	picture->parts[picture->n++].literal = sf_jn_string(&ev->arena, text, n);
}

/* Read one width of a modifier: a number, or SF_JN_NO_WIDTH where there is none or a star. */
static int
parse_width(const char *s, const char *end)
{
	int			value = SF_JN_NO_WIDTH;

	for (; s < end && *s >= '0' && *s <= '9'; s++)
		value = Min((value == SF_JN_NO_WIDTH ? 0 : value) * 10 + (*s - '0'), 1000);
	return value;
}

/*
 * Read the width modifier ",min-max" off the end of a marker; returns the end
 * of what is left.
 */
static const char *
read_width(const char *s, const char *end, SfJnPicturePart *part)
{
	const char *comma = end;
	const char *dash;

	part->min_width = part->max_width = SF_JN_NO_WIDTH;
	while (comma > s && comma[-1] != ',')
		comma--;
	if (comma == s)
		return end;
	dash = memchr(comma, '-', end - comma);
	part->min_width = parse_width(comma, dash == NULL ? end : dash);
	if (dash != NULL)
		part->max_width = parse_width(dash + 1, end);
	return comma - 1;
}

/* Read the picture of a component that is a number. */
static void
read_integer(SfJnEval *ev, SfJnPicturePart *part, const char *presentation, Size len)
{
	SfJnIntegerPicture *picture = &part->integer;

	sf_jn_integer_picture(ev, presentation, len, picture);
	picture->ordinal = part->modifier == 'o';
	part->has_integer = true;
	part->year_digits = SF_JN_ALL_DIGITS;
	if (strchr("Zz", part->component) != NULL)
	{
		picture->ordinal = false;
		return;
	}
	if (part->min_width != SF_JN_NO_WIDTH && picture->style == SF_JN_STYLE_DECIMAL)
		picture->mandatory = Max(picture->mandatory, part->min_width);
	if (part->component != 'Y')
		return;
	if (part->max_width != SF_JN_NO_WIDTH)
		picture->mandatory = part->year_digits = part->max_width;
	else if (picture->style == SF_JN_STYLE_DECIMAL && picture->mandatory + picture->optional >= 2)
		part->year_digits = picture->mandatory + picture->optional;
}

/* Read a component, the text between brackets. */
static void
read_marker(SfJnEval *ev, SfJnTimePicture *picture, const char *s, const char *end)
{
	SfJnPicturePart *part = &picture->parts[picture->n];
	char	   *marker = sf_jn_alloc(&ev->arena, end - s + 1);
	const char *presentation = NULL;
	Size		len = 0;

	memset(part, 0, sizeof(*part));
	for (; s < end; s++)
	{
		if (!isspace((unsigned char) *s))
			marker[len++] = *s;
	}
	end = read_width(marker, marker + len, part);
	part->component = len > 0 ? marker[0] : ' ';
	if (end - marker > 1)
	{
		presentation = marker + 1;
		len = end - presentation;
		if (len > 1 && strchr("atco", presentation[len - 1]) != NULL)
			part->modifier = presentation[--len];
	}
	else
	{
		for (size_t i = 0; i < lengthof(components); i++)
		{
			if (components[i].component == part->component)
				presentation = components[i].presentation;
		}
		if (presentation == NULL)
			sf_jn_fail(ev, SF_JN_ERROR_D3132,
					   .value = sf_jn_string_copy(&ev->arena, marker, len > 0 ? 1 : 0));
		len = strlen(presentation);
	}

	if (presentation[0] == 'n' || presentation[0] == 'N')
	{
		part->has_names = true;
		part->names = presentation[0] == 'n' ? SF_JN_CASE_LOWER :
			len > 1 && presentation[1] == 'n' ? SF_JN_CASE_TITLE : SF_JN_CASE_UPPER;
	}
	else if (strchr("YMDdFWwXxHhmsf", part->component) != NULL)
	{
		SfJnPicturePart *previous = picture->n > 0 ? part - 1 : NULL;

		read_integer(ev, part, presentation, len);
		/* With nothing between them, the one before must have a fixed width. */
		if (previous != NULL && previous->has_integer)
			previous->integer.parse_width = previous->integer.mandatory;
	}
	if (strchr("Zz", part->component) != NULL)
		read_integer(ev, part, presentation, len);
	picture->n++;
}

/* Read a date/time picture. */
SfJnTimePicture *
sf_jn_time_picture(SfJnEval *ev, const char *text, Size len)
{
	SfJnTimePicture *picture = sf_jn_alloc(&ev->arena, sizeof(SfJnTimePicture));
	const char *end = text + len;
	const char *start = text;
	const char *p;

	picture->parts = sf_jn_alloc(&ev->arena, (len + 1) * sizeof(SfJnPicturePart));
	picture->n = 0;
	for (p = text; p < end; p++)
	{
		const char *close;

		if (*p != '[')
			continue;
		add_literal(ev, picture, start, p);
		if (p + 1 < end && p[1] == '[')
		{
			add_literal(ev, picture, p, p + 1);
			start = p + 2;
			p++;
			continue;
		}
		close = memchr(p, ']', end - p);
		if (close == NULL)
			sf_jn_fail(ev, SF_JN_ERROR_D3135);
		read_marker(ev, picture, p + 1, close);
		start = close + 1;
		p = close;
	}
	add_literal(ev, picture, start, end);
	return picture;
}

/* --- formatting --- */

/* The zone in which a time is shown */
typedef struct Zone
{
	double		hours;
	double		minutes;
} Zone;

/* Append the name of a month or day. */
static void
append_name(SfJnEval *ev, StringInfo buf, const SfJnPicturePart *part, double value)
{
	const char *name;
	int			len;

	if (strchr("MxF", part->component) == NULL)
		sf_jn_fail(ev, SF_JN_ERROR_D3133, .value = sf_jn_string_copy(&ev->arena, &part->component, 1));
	if (!isfinite(value))
		return;
	name = part->component == 'F' ? sf_jn_days[(int) value] : sf_jn_months[(int) value - 1];
	len = strlen(name);
	if (part->max_width != SF_JN_NO_WIDTH)
		len = Min(len, part->max_width);
	for (int i = 0; i < len; i++)
		appendStringInfoChar(buf, part->names == SF_JN_CASE_UPPER ? pg_ascii_toupper(name[i]) :
							 part->names == SF_JN_CASE_LOWER ? pg_ascii_tolower(name[i]) : name[i]);
}

/* Append the offset of a zone. */
static void
append_zone(SfJnEval *ev, StringInfo buf, const SfJnPicturePart *part, const Zone *zone)
{
	double		offset = zone->hours * 100 + zone->minutes;
	const SfJnIntegerPicture *picture = &part->integer;

	if (offset == 0 && part->modifier == 't')
	{
		appendStringInfoChar(buf, 'Z');
		return;
	}
	if (part->component == 'z')
		appendStringInfoString(buf, "GMT");
	if (offset >= 0)
		appendStringInfoChar(buf, '+');
	if (picture->regular || picture->mandatory == 3 || picture->mandatory == 4)
		sf_jn_append_integer(ev, buf, offset, picture);
	else if (picture->mandatory == 1 || picture->mandatory == 2)
	{
		sf_jn_append_integer(ev, buf, zone->hours, picture);
		/* of a zone without digits, which has no number, JavaScript prints that */
		if (isnan(zone->minutes))
			appendStringInfoString(buf, ":NaN");
		else if (zone->minutes != 0)
			appendStringInfo(buf, ":%02.0f", zone->minutes);
	}
	else
		sf_jn_fail(ev, SF_JN_ERROR_D3134, .value = sf_jn_number(&ev->arena, picture->mandatory));
}

/* Append a component of a time. */
static void
append_component(SfJnEval *ev, StringInfo buf, const SfJnPicturePart *part,
				 double millis, const Zone *zone)
{
	double		value = sf_jn_time_component(millis, part->component);

	switch (part->component)
	{
		case 'Z':
		case 'z':
			append_zone(ev, buf, part, zone);
			break;
		case 'P':
			appendStringInfoString(buf, part->has_names && part->names == SF_JN_CASE_UPPER ?
								   (value == 1 ? "PM" : "AM") : (value == 1 ? "pm" : "am"));
			break;
		case 'C':
		case 'E':
			appendStringInfoString(buf, "ISO");
			break;
		default:
			if (part->component == 'Y' && part->year_digits != SF_JN_ALL_DIGITS)
				value = fmod(value, pow(10, part->year_digits));
			if (part->has_names)
				append_name(ev, buf, part, value);
			else if (part->has_integer)
				sf_jn_append_integer(ev, buf, value, &part->integer);
			break;
	}
}

/* Read a zone such as "+0530", as JavaScript's parseInt() would. */
static void
parse_zone(const SfJnValue *text, Zone *zone)
{
	double		offset = 0;
	bool		negative;
	bool		any = false;
	const char *p = text->u.str;
	const char *end = p + text->len;

	while (p < end && isspace((unsigned char) *p))
		p++;
	negative = p < end && *p == '-';
	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
	{
		offset = offset * 10 + (*p - '0');
		any = true;
	}
	if (!any)
		offset = NAN;
	if (negative)
		offset = -offset;
	zone->hours = floor(offset / 100);
	zone->minutes = fmod(offset, 100);
}

/* Format a time; picture and zone may be undefined. */
SfJnValue *
sf_jn_format_datetime(SfJnEval *ev, double millis, SfJnValue *picture, SfJnValue *timezone)
{
	static const char iso[] = "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]";
	SfJnTimePicture *parts;
	StringInfoData buf;
	Zone		zone = {0, 0};

	if (timezone != NULL)
		parse_zone(timezone, &zone);
	parts = picture == NULL ? sf_jn_time_picture(ev, iso, strlen(iso)) :
		sf_jn_time_picture(ev, picture->u.str, picture->len);
	millis = trunc(millis + (60 * zone.hours + zone.minutes) * 60000);
	initStringInfo(&buf);
	for (int i = 0; i < parts->n; i++)
	{
		if (parts->parts[i].literal != NULL)
			appendBinaryStringInfo(&buf, parts->parts[i].literal->u.str,
								   parts->parts[i].literal->len);
		else
			append_component(ev, &buf, &parts->parts[i], millis, &zone);
	}
	return sf_jn_string_of(&ev->arena, &buf);
}
