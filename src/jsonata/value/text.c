/*
 * text.c
 *		UTF-8, and the printing of numbers as in JavaScript.
 *
 * Strings are UTF-8 and counted in code points.  An escape such as "\uD800" in an
 * expression can make a lone surrogate.  It is kept as the three bytes that UTF-8
 * would have for it; results have U+FFFD instead.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "mb/pg_wchar.h"

#include "jsonata/value/jsonata_value.h"

/* Count code points. */
Size
sf_jn_char_count(const char *s, Size len)
{
	Size		n = 0;

	for (Size i = 0; i < len; i++)
		n += (((unsigned char) s[i]) & 0xc0) != 0x80;
	return n;
}

/* Find the byte offset of code point n; len when the string is shorter. */
Size
sf_jn_char_offset(const char *s, Size len, Size n)
{
	Size		i = 0;

	while (i < len && n > 0)
	{
		i++;
		while (i < len && (((unsigned char) s[i]) & 0xc0) == 0x80)
			i++;
		n--;
	}
	return i;
}

/* Decode one code point; returns the bytes it takes (at least one). */
int
sf_jn_decode(const char *s, const char *end, uint32 *cp)
{
	int			len = pg_utf_mblen((const unsigned char *) s);

	if (len > end - s)
	{
		*cp = 0xfffd;
		return 1;
	}
	*cp = utf8_to_unicode((const unsigned char *) s);
	return len;
}

/* Encode one code point (a surrogate too); returns the bytes it takes. */
int
sf_jn_encode(uint32 cp, char *out)
{
	return pg_utf_mblen(unicode_to_utf8(cp, (unsigned char *) out));
}

/* Find a substring at or after a byte offset; false: there is none, and *index is left as it is. */
bool
sf_jn_index_of(const SfJnValue *text, const SfJnValue *needle, Size from, Size *index)
{
	const char *found;

	if (from > text->len || needle->len > text->len - from)
		return false;
	/* Linear, also where the needle nearly matches everywhere. */
	found = needle->len == 0 ? text->u.str + from :
		memmem(text->u.str + from, text->len - from, needle->u.str, needle->len);
	if (found == NULL)
		return false;
	*index = found - text->u.str;
	return true;
}

/*
 * Split the shortest decimal form of a finite number into digits and the
 * position of the point: value = 0.DIGITS × 10^point.
 */
static int
shortest_digits(double d, char *digits, int *point)
{
	char		buf[DOUBLE_SHORTEST_DECIMAL_LEN];
	int			n = 0;
	int			before = 0;
	int			exponent = 0;
	bool		seen_point = false;
	char	   *p;

	double_to_shortest_decimal_buf(d, buf);
	for (p = buf; *p != '\0'; p++)
	{
		if (*p == 'e')
		{
			exponent = atoi(p + 1);
			break;
		}
		if (*p == '.')
			seen_point = true;
		else if (*p != '-')
		{
			digits[n++] = *p;
			if (!seen_point)
				before++;
		}
	}
	*point = before + exponent;

	/* Zeros at either end say nothing. */
	p = digits;
	while (n > 1 && *p == '0')
	{
		p++;
		n--;
		(*point)--;
	}
	memmove(digits, p, n);

	/*
	 * PostgreSQL wants the decimal strictly between the neighbours' midpoints;
	 * JavaScript takes a midpoint too where it rounds to this number (1e23).
	 */
	if (n >= 16)
	{
		char		shorter[40];
		int			len = snprintf(shorter, sizeof(shorter), "%.*e", n - 2, d);

		if (strtod(shorter, NULL) == d)
		{
			p = memchr(shorter, 'e', len);
			*point = atoi(p + 1) + 1;
			n = 0;
			for (len = 0; shorter + len < p; len++)
			{
				if (shorter[len] != '.')
					digits[n++] = shorter[len];
			}
		}
	}

	while (n > 1 && digits[n - 1] == '0')
		n--;
	return n;
}

/* Print a number as ECMAScript's Number::toString does. */
int
sf_jn_print_number(double d, char *buf)
{
	char		digits[DOUBLE_SHORTEST_DECIMAL_LEN];
	char	   *out = buf;
	int			n;
	int			point;

	if (isnan(d))
		return sprintf(buf, "NaN");
	if (isinf(d))
		return sprintf(buf, d < 0 ? "-Infinity" : "Infinity");
	if (d == 0)
		return sprintf(buf, "0");
	if (fabs(d) < 1e15 && d == (double) (int64) d)
		return sprintf(buf, INT64_FORMAT, (int64) d);

	if (d < 0)
		*out++ = '-';
	n = shortest_digits(fabs(d), digits, &point);

	if (point > 0 && point <= 21)
	{
		for (int i = 0; i < Max(n, point); i++)
		{
			if (i == point)
				*out++ = '.';
			*out++ = i < n ? digits[i] : '0';
		}
	}
	else if (point > -6 && point <= 0)
	{
		*out++ = '0';
		*out++ = '.';
		for (int i = point; i < 0; i++)
			*out++ = '0';
		for (int i = 0; i < n; i++)
			*out++ = digits[i];
	}
	else
	{
		*out++ = digits[0];
		if (n > 1)
			*out++ = '.';
		for (int i = 1; i < n; i++)
			*out++ = digits[i];
		out += sprintf(out, "e%c%d", point > 0 ? '+' : '-', abs(point - 1));
	}
	*out = '\0';
	return (int) (out - buf);
}

/* Round to 15 significant digits; integers keep theirs. */
double
sf_jn_round15(double d)
{
	char		buf[64];

	if (!isfinite(d) || d == floor(d))
		return d;
	snprintf(buf, sizeof(buf), "%.14e", d);
	return strtod(buf, NULL);
}

/* Convert a JSON number.  Plain numbers of up to 15 digits need no strtod. */
double
sf_jn_parse_number(const char *s, Size len)
{
	static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8,
	1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
	char		buf[64];
	char	   *copy;
	double		result;
	int64		mantissa = 0;
	int			digits = 0;
	int			scale = 0;
	bool		seen_point = false;
	bool		negative = len > 0 && s[0] == '-';
	Size		i;

	for (i = negative ? 1 : 0; i < len && digits <= 15; i++)
	{
		if (s[i] == '.' && !seen_point)
			seen_point = true;
		else if (s[i] >= '0' && s[i] <= '9')
		{
			mantissa = mantissa * 10 + (s[i] - '0');
			digits += mantissa != 0;
			scale += seen_point;
		}
		else
			break;
	}
	if (i == len && digits <= 15 && scale <= 15)
	{
		result = (double) mantissa / power[scale];
		return negative ? -result : result;
	}

	copy = len < sizeof(buf) ? buf : palloc(len + 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	result = strtod(copy, NULL);
	if (copy != buf)
		pfree(copy);
	return result;
}

/* Read a number of so many hex digits at s; false when there are fewer. */
bool
sf_jn_hex_value(const char *s, const char *end, int digits, int *value)
{
	*value = 0;
	for (int i = 0; i < digits; i++)
	{
		char		c = s + i < end ? s[i] : '\0';

		if (c >= '0' && c <= '9')
			*value = *value * 16 + (c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			*value = *value * 16 + ((c | 0x20) - 'a' + 10);
		else
			return false;
	}
	return true;
}
