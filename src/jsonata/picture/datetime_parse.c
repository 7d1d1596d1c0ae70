/*
 * datetime_parse.c
 *		Parse times: ISO 8601, or by a picture string.
 *
 * A picture becomes a regular expression with one group per part.  The parts
 * must give consecutive components of a date or time.  More significant
 * components are those of the current time, less significant ones are zero (one
 * for months and days).
 */
#include "postgres.h"

#include <math.h>

#include "jsonata/function/functions.h"
#include "jsonata/picture/picture.h"
#include "jsonata/regex/regex.h"

/* Values of components by letter; NaN counts as given, absent not */
typedef struct Components
{
	double		value[128];
	bool		given[128];
	bool		any;			/* some part was no literal */
} Components;

/* --- ISO 8601 --- */

typedef struct Scanner
{
	const char *p;
	const char *end;
} Scanner;

/* Read exactly so many digits; false when they are not there. */
static bool
scan_digits(Scanner *scanner, int n, double *value)
{
	const char *p = scanner->p;

	*value = 0;
	for (; n > 0; n--, p++)
	{
		if (p >= scanner->end || *p < '0' || *p > '9')
			return false;
		*value = *value * 10 + (*p - '0');
	}
	scanner->p = p;
	return true;
}

/* Read one character; false when it is another. */
static bool
scan_char(Scanner *scanner, char c)
{
	if (scanner->p >= scanner->end || *scanner->p != c)
		return false;
	scanner->p++;
	return true;
}

/* Read the offset of a zone, in minutes; false when there is none. */
static bool
scan_zone(Scanner *scanner, double *offset)
{
	double		hours;
	double		minutes;
	bool		negative;

	if (scan_char(scanner, 'Z'))
		return true;
	if (scanner->p >= scanner->end || (*scanner->p != '+' && *scanner->p != '-'))
		return false;
	negative = *scanner->p++ == '-';
	if (!scan_digits(scanner, 2, &hours))
		return false;
	scan_char(scanner, ':');
	if (!scan_digits(scanner, 2, &minutes))
		return false;
	*offset = (hours * 60 + minutes) * (negative ? -1 : 1);
	return true;
}

/*
 * Parse an ISO 8601 timestamp; without a zone it is UTC.  *millis is NaN for
 * one that has the form but names no time.
 */
static bool
parse_iso(const SfJnValue *text, double *millis)
{
	Scanner		scanner = {text->u.str, text->u.str + text->len};
	double		year;
	double		month = 1;
	double		day = 1;
	double		hour = 0;
	double		minute = 0;
	double		second = 0;
	double		fraction = 0;
	double		offset = 0;
	bool		has_time = false;
	bool		odd_fraction = false;

	if (!scan_digits(&scanner, 4, &year))
		return false;
	if (scan_char(&scanner, '-'))
	{
		if (!scan_digits(&scanner, 2, &month) || month >= 20)
			return false;
		if (scan_char(&scanner, '-') && (!scan_digits(&scanner, 2, &day) || day >= 40))
			return false;
	}
	if (scan_char(&scanner, 'T'))
	{
		has_time = true;
		if (!scan_digits(&scanner, 2, &hour) || hour >= 30 ||
			!scan_char(&scanner, ':') || !scan_digits(&scanner, 2, &minute) || minute >= 60 ||
			!scan_char(&scanner, ':') || !scan_digits(&scanner, 2, &second) || second >= 60)
			return false;
	}
	if (scan_char(&scanner, '.'))
	{
		double		digit;
		double		weight = 100;

		if (!scan_digits(&scanner, 1, &digit))
			return false;
		do
		{
			fraction += digit * weight;
			weight = floor(weight / 10);
		} while (scan_digits(&scanner, 1, &digit));
		odd_fraction = !has_time;
	}
	if (scanner.p < scanner.end && (!scan_zone(&scanner, &offset) || scanner.p < scanner.end))
		return false;

	*millis = NAN;
	if (!odd_fraction && month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
		(hour < 24 || (hour == 24 && minute == 0 && second == 0 && fraction == 0)))
	{
		/* Only Date.UTC takes the year 18 for 1918. */
		*millis = sf_jn_utc(year + 400, month - 1, day, hour, minute, second, fraction) -
			146097 * 86400000.0 - offset * 60000;
	}
	return true;
}

/* --- pictures --- */

/*
 * Append text with the characters escaped that mean something to a regular
 * expression.
 */
static void
append_escaped(StringInfo buf, const char *s, Size len)
{
	for (Size i = 0; i < len; i++)
	{
		if (strchr(".*+?^${}()|[]\\", s[i]) != NULL && s[i] != '\0')
			appendStringInfoChar(buf, '\\');
		appendStringInfoChar(buf, s[i]);
	}
}

/* Return the separator between hours and minutes of a zone, or 0. */
static uint32
zone_separator(const SfJnPicturePart *part)
{
	return part->integer.regular ? part->integer.separators[0].character : 0;
}

/* Append the regular expression of one part. */
static void
append_pattern(SfJnEval *ev, StringInfo buf, const SfJnPicturePart *part)
{
	char		separator[4];

	if (part->literal != NULL)
		append_escaped(buf, part->literal->u.str, part->literal->len);
	else if (strchr("Zz", part->component) != NULL)
	{
		appendStringInfoString(buf, part->component == 'z' ? "GMT[-+][0-9]+" : "[-+][0-9]+");
		if (zone_separator(part) != 0)
		{
			append_escaped(buf, separator, sf_jn_encode(zone_separator(part), separator));
			appendStringInfoString(buf, "[0-9]+");
		}
	}
	else if (part->has_integer)
		sf_jn_integer_pattern(ev, buf, &part->integer);
	else if (strchr("MxFP", part->component) != NULL)
		appendStringInfoString(buf, "[a-zA-Z]+");
	else
		sf_jn_fail(ev, SF_JN_ERROR_D3133, .value = sf_jn_string_copy(&ev->arena, &part->component, 1));
}

/* Find a name in a list, cut to a width; NaN when it is not there. */
static double
find_name(const char *const *names, int first, int n, const SfJnValue *text, int width)
{
	int			i;

	for (i = first; i < n; i++)
	{
		Size		len = strlen(names[i]);

		if (width > 0)
			len = Min(len, (Size) width);
		if (text->len == len && memcmp(text->u.str, names[i], len) == 0)
			return i;
	}
	return NAN;
}

/* Read the offset of a zone, in minutes. */
static double
zone_value(const SfJnPicturePart *part, const SfJnValue *text)
{
	const char *p = text->u.str + (part->component == 'z' ? 3 : 0);
	const char *end = text->u.str + text->len;
	bool		negative = *p == '-';
	double		hours = 0;
	double		minutes = 0;
	bool		in_minutes = false;
	int			digits = 0;
	const char *q;

	for (q = p + 1; q < end; q++)
		digits++;
	for (q = p + 1; q < end; q++)
	{
		if (*q < '0' || *q > '9')
		{
			in_minutes = true;
			continue;
		}
		/* Without a separator the first two digits are hours. */
		if (zone_separator(part) == 0 && digits > 2 && q - p > 2)
			in_minutes = true;
		if (in_minutes)
			minutes = minutes * 10 + (*q - '0');
		else
			hours = hours * 10 + (*q - '0');
	}
	return (negative ? -hours : hours) * 60 + minutes;
}

/* Read the digits of a fraction as milliseconds. */
static double
milliseconds(const SfJnValue *text, const SfJnIntegerPicture *picture)
{
	const char *s = text->u.str;
	const char *end = s + text->len;
	double		value = 0;
	double		weight = 100;
	uint32		c;

	while (s < end)
	{
		s += sf_jn_decode(s, end, &c);
		if (c < picture->zero || c > picture->zero + 9)
			break;
		value += (c - picture->zero) * weight;
		weight = floor(weight / 10);
	}
	return value;
}

/* Read the value of a part from the text that its group matched. */
static void
read_component(SfJnEval *ev, const SfJnPicturePart *part, const SfJnValue *text,
			   Components *components)
{
	double		value;
	int			letter = (unsigned char) part->component & 127;

	if (strchr("Zz", part->component) != NULL)
		value = zone_value(part, text);
	else if (part->component == 'f' && part->integer.style == SF_JN_STYLE_DECIMAL)
		value = milliseconds(text, &part->integer);
	else if (part->has_integer)
		value = sf_jn_parse_integer(ev, text->u.str, text->len, &part->integer);
	else if (part->component == 'F')
		value = find_name(sf_jn_days, 1, 8, text, part->max_width);
	else if (part->component == 'P')
		value = text->len > 0 && (text->u.str[0] | 0x20) == 'p' ? 1 : 0;
	else
		value = find_name(sf_jn_months, 0, 12, text, part->max_width) + 1;
	components->value[letter] = value;
	/* A name that is none leaves its component out. */
	components->given[letter] = part->has_integer || !isnan(value);
	components->any = true;
}

/* Match text with a picture; false when it does not. */
static bool
match_picture(SfJnEval *ev, SfJnValue *text, const SfJnTimePicture *picture,
			  Components *components)
{
	StringInfoData buf;
	SfJnRegex  *regex;
	SfJnMatch	match;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '^');
	for (int i = 0; i < picture->n; i++)
	{
		appendStringInfoChar(&buf, '(');
		append_pattern(ev, &buf, &picture->parts[i]);
		appendStringInfoChar(&buf, ')');
	}
	appendStringInfoChar(&buf, '$');
	regex = sf_jn_regex_compile(&ev->arena, &ev->thrower, buf.data, buf.len, true, false, SF_NO_POSITION);
	pfree(buf.data);
	if (!sf_jn_regex_search(ev, regex, text, 0, &match))
		return false;
	for (int i = 0; i < picture->n && i < match.ngroups; i++)
	{
		if (picture->parts[i].literal == NULL && match.groups[i] != NULL)
			read_component(ev, &picture->parts[i], match.groups[i], components);
	}
	return true;
}

/*
 * Tell whether the components that are given (and not zero) are among some,
 * and at least one of them is.
 */
static bool
are_among(const Components *components, const char *all, const char *some)
{
	bool		any = false;

	for (; *all != '\0'; all++)
	{
		double		value = components->value[(int) *all];
		bool		set = components->given[(int) *all] && value != 0 && !isnan(value);

		if (set && strchr(some, *all) == NULL)
			return false;
		any |= set;
	}
	return any;
}

/* Default the components before and after those that are given. */
static void
fill_in(SfJnEval *ev, Components *components, const char *order)
{
	bool		started = false;
	bool		ended = false;

	for (; *order != '\0'; order++)
	{
		int			letter = *order;

		if (components->given[letter])
		{
			started = true;
			if (ended)
				sf_jn_fail(ev, SF_JN_ERROR_D3136);
		}
		else if (started)
		{
			components->value[letter] = strchr("MDd", letter) != NULL ? 1 : 0;
			ended = true;
		}
		else
			components->value[letter] = sf_jn_time_component(sf_jn_now(ev), *order);
	}
}

/* Make a time of components. */
static double
make_time(SfJnEval *ev, Components *components)
{
	static const char dates[] = "YXMxWwdD";
	static const char times[] = "PHhmsf";
	bool		by_date = are_among(components, dates, "YMD");
	bool		by_day = !by_date && are_among(components, dates, "Yd");
	bool		by_month_week = are_among(components, dates, "XxwF");
	bool		by_week = !by_month_week && are_among(components, dates, "XWF");
	bool		by_24 = are_among(components, times, "Hmsf");
	bool		by_12 = !by_24 && are_among(components, times, "Phmsf");
	double		zone = components->given['Z'] && components->value['Z'] != 0 ? components->value['Z'] :
		components->given['z'] ? components->value['z'] : 0;
	double		millis;
	char		order[16];

	snprintf(order, sizeof(order), "%s%s",
			 by_day ? "YD" : by_month_week ? "XxwF" : by_week ? "XWF" : "YMD",
			 by_12 ? "Phmsf" : "Hmsf");
	fill_in(ev, components, order);
	if (by_month_week || by_week)
		sf_jn_fail(ev, SF_JN_ERROR_D3136);
	components->value['M'] = components->value['M'] > 0 ? components->value['M'] - 1 : 0;
	if (by_day)
	{
		double		derived = sf_jn_utc(components->value['Y'], 0, components->value['d'], 0, 0, 0, 0);

		components->value['M'] = sf_jn_time_component(derived, 'M') - 1;
		components->value['D'] = sf_jn_time_component(derived, 'D');
	}
	if (by_12)
		components->value['H'] = (components->value['h'] == 12 ? 0 : components->value['h']) +
			(components->value['P'] == 1 ? 12 : 0);
	millis = sf_jn_utc(components->value['Y'], components->value['M'], components->value['D'], components->value['H'],
					   components->value['m'], components->value['s'], components->value['f']);
	return millis - zone * 60000;
}

/* Parse a time; picture may be undefined. */
SfJnValue *
sf_jn_parse_datetime(SfJnEval *ev, SfJnValue *text, SfJnValue *picture)
{
	Components *components;
	double		millis;

	if (picture == NULL)
	{
		if (!parse_iso(text, &millis))
			sf_jn_fail(ev, SF_JN_ERROR_D3110, .value = text);
		return sf_jn_number(&ev->arena, millis);
	}
	components = sf_jn_alloc(&ev->arena, sizeof(Components));
	memset(components, 0, sizeof(*components));
	if (!match_picture(ev, text, sf_jn_time_picture(ev, picture->u.str, picture->len), components))
		return NULL;
	return components->any ? sf_jn_number(&ev->arena, make_time(ev, components)) : NULL;
}
