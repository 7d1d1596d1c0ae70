/*
 * json.c
 *		JSON read in place and written with care.
 *
 * A payload is looked at, not taken apart: a document is checked once against
 * RFC 8259, and a value is then the piece of text between its two ends.  So a
 * number of thirty digits arrives at a command as it left the database, which
 * no library does that turns numbers into C's; and a payload of ten megabytes
 * costs no more memory than its text.
 *
 * The check is an automaton with one bit a level of nesting, not a recursion.
 * It refuses what jsonb cannot hold either: the escape \u0000, a surrogate
 * without its partner, bytes that are not UTF-8.
 */
#include "json.h"

#include <stdlib.h>
#include <string.h>

/* Levels of nesting; more than jsonb's parser takes with its usual stack. */
#define MAX_DEPTH	65536

/* Skip white space. */
static const char *
skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* The value of a hexadecimal digit, or -1. */
static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Read the four digits of a \u escape; -1 when they are none. */
static int
hex4(const char *p, const char *end)
{
	int			value = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++)
	{
		int			digit = hex_digit(p[i]);

		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

/* Read the escape after a backslash; gives what follows it, or NULL. */
static const char *
check_escape(const char *p, const char *end)
{
	int			unit;

	if (p >= end)
		return NULL;
	if (strchr("\"\\/bfnrt", *p) != NULL && *p != '\0')
		return p + 1;
	if (*p != 'u' || (unit = hex4(p + 1, end)) <= 0)
		return NULL;
	p += 5;
	if (unit >= 0xDC00 && unit <= 0xDFFF)
		return NULL;
	if (unit >= 0xD800 && unit <= 0xDBFF)
	{
		if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
			return NULL;
		unit = hex4(p + 2, end);
		if (unit < 0xDC00 || unit > 0xDFFF)
			return NULL;
		p += 6;
	}
	return p;
}

/* Check the string whose opening quote is at p; gives what follows it, or NULL. */
static const char *
check_string(const char *p, const char *end)
{
	size_t		step;

	for (p++; p < end; p += step)
	{
		step = 0;
		if (*p == '"')
			return p + 1;
		if ((unsigned char) *p < 0x20)
			return NULL;
		if (*p == '\\')
		{
			p = check_escape(p + 1, end);
			if (p == NULL)
				return NULL;
			continue;
		}
		step = sfw_utf8_length(p, end);
		if (step == 0)
			return NULL;
	}
	return NULL;
}

/* Skip digits, of which there must be one. */
static const char *
check_digits(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p > start ? p : NULL;
}

/* Check the number at p; gives what follows it, or NULL. */
static const char *
check_number(const char *p, const char *end)
{
	if (p < end && *p == '-')
		p++;
	if (p < end && *p == '0')
		p++;
	else if ((p = check_digits(p, end)) == NULL)
		return NULL;
	if (p < end && *p == '.' && (p = check_digits(p + 1, end)) == NULL)
		return NULL;
	if (p < end && (*p == 'e' || *p == 'E'))
	{
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		p = check_digits(p, end);
	}
	return p;
}

/* Check the scalar at p; gives what follows it, or NULL. */
static const char *
check_scalar(const char *p, const char *end)
{
	static const char *const words[] = {"true", "false", "null"};

	if (*p == '"')
		return check_string(p, end);
	for (size_t i = 0; i < 3; i++)
	{
		size_t		len = strlen(words[i]);

		if ((size_t) (end - p) >= len && memcmp(p, words[i], len) == 0)
			return p + len;
	}
	return check_number(p, end);
}

/* Check the key of a member and its colon; gives the member's value, or NULL. */
static const char *
check_key(const char *p, const char *end)
{
	if (p >= end || *p != '"' || (p = check_string(p, end)) == NULL)
		return NULL;
	p = skip_blanks(p, end);
	if (p >= end || *p != ':')
		return NULL;
	return skip_blanks(p + 1, end);
}

/* Check the value at p; gives what follows it, or NULL. */
static const char *
check_value(const char *p, const char *end)
{
	unsigned char *object = sfw_alloc(MAX_DEPTH / 8);
	int			depth = 0;
	const char *result = NULL;

	for (;;)
	{
		bool		closed = true;

		/* A value begins here. */
		if (p == NULL || p >= end)
			break;
		if (*p == '{' || *p == '[')
		{
			bool		is_object = *p == '{';

			if (depth == MAX_DEPTH)
				break;
			if (is_object)
				object[depth / 8] |= (unsigned char) (1 << depth % 8);
			else
				object[depth / 8] &= (unsigned char) ~(1 << depth % 8);
			p = skip_blanks(p + 1, end);
			if (p < end && *p == (is_object ? '}' : ']'))
				p++;
			else
			{
				depth++;
				if (is_object)
					p = check_key(p, end);
				closed = false;
			}
		}
		else
			p = check_scalar(p, end);

		/* It has ended, and with it perhaps those around it. */
		while (closed && p != NULL && depth > 0)
		{
			bool		is_object = (object[(depth - 1) / 8] >> (depth - 1) % 8) & 1;

			p = skip_blanks(p, end);
			if (p < end && *p == ',')
			{
				p = skip_blanks(p + 1, end);
				if (is_object)
					p = check_key(p, end);
				closed = false;
			}
			else if (p < end && *p == (is_object ? '}' : ']'))
			{
				p++;
				depth--;
			}
			else
				p = NULL;
		}
		if (closed)
		{
			result = p;
			break;
		}
	}
	free(object);
	return result;
}

/* Skip the value at p, in a document that was checked. */
static const char *
skip_value(const char *p, const char *end)
{
	int			depth = 0;

	do
	{
		if (*p == '"')
		{
			for (p++; p < end && *p != '"'; p++)
			{
				if (*p == '\\')
					p++;
			}
			p++;
		}
		else if (*p == '{' || *p == '[')
		{
			depth++;
			p++;
		}
		else if (*p == '}' || *p == ']')
		{
			depth--;
			p++;
		}
		else if (depth > 0)
			p++;
		else
		{
			while (p < end && strchr(",]} \t\r\n", *p) == NULL)
				p++;
		}
	} while (depth > 0 && p < end);
	return p;
}

/*
 * Check that a text is one JSON value that jsonb can hold; *value is it, and
 * lives as long as the text.
 */
bool
sfw_json_parse(const char *text, size_t len, SfwJson *value)
{
	const char *end = text + len;
	const char *start = skip_blanks(text, end);
	const char *stop = check_value(start, end);

	if (stop == NULL || skip_blanks(stop, end) != end)
		return false;
	*value = (SfwJson) {start, (size_t) (stop - start)};
	return true;
}

/* The kind of a value: { [ " 0 t f n. */
char
sfw_json_type(SfwJson value)
{
	char		c = value.len > 0 ? value.text[0] : 'n';

	return c == '-' || (c >= '0' && c <= '9') ? '0' : c;
}

/* Begin a walk over a container; a scalar has nothing to walk over. */
SfwJsonWalk
sfw_json_walk(SfwJson container)
{
	SfwJsonWalk walk = {container.text, container.text + container.len, false};
	char		type = sfw_json_type(container);

	walk.object = type == '{';
	if (type == '{' || type == '[')
		walk.at++;
	else
		walk.at = walk.end;
	return walk;
}

/* Go to the next member or element; key may be NULL. */
bool
sfw_json_next(SfwJsonWalk *walk, SfwJson *key, SfwJson *value)
{
	const char *p = skip_blanks(walk->at, walk->end);
	const char *stop;

	if (p < walk->end && *p == ',')
		p = skip_blanks(p + 1, walk->end);
	if (p >= walk->end || *p == '}' || *p == ']')
		return false;
	if (walk->object)
	{
		stop = skip_value(p, walk->end);
		if (key != NULL)
			*key = (SfwJson) {p, (size_t) (stop - p)};
		p = skip_blanks(skip_blanks(stop, walk->end) + 1, walk->end);
	}
	stop = skip_value(p, walk->end);
	*value = (SfwJson) {p, (size_t) (stop - p)};
	walk->at = stop;
	return true;
}

/* The number of members or elements. */
size_t
sfw_json_count(SfwJson container)
{
	SfwJsonWalk walk = sfw_json_walk(container);
	SfwJson		value;
	size_t		count = 0;

	while (sfw_json_next(&walk, NULL, &value))
		count++;
	return count;
}

/* Find a member that is there and not null. */
bool
sfw_json_get(SfwJson object, const char *key, SfwJson *value)
{
	SfwJsonWalk walk;
	SfwJson		name;
	SfwJson		found;

	if (sfw_json_type(object) != '{')
		return false;
	walk = sfw_json_walk(object);
	while (sfw_json_next(&walk, &name, &found))
	{
		char	   *text = sfw_json_text(name);
		bool		same = strcmp(text, key) == 0;

		free(text);
		if (same)
		{
			*value = found;
			return sfw_json_type(found) != 'n';
		}
	}
	return false;
}

/* Append a code point as UTF-8. */
static void
put_utf8(SfwBuf *buf, unsigned int c)
{
	if (c < 0x80)
		sfw_buf_putc(buf, (char) c);
	else if (c < 0x800)
	{
		sfw_buf_putc(buf, (char) (0xC0 | c >> 6));
		sfw_buf_putc(buf, (char) (0x80 | (c & 0x3F)));
	}
	else if (c < 0x10000)
	{
		sfw_buf_putc(buf, (char) (0xE0 | c >> 12));
		sfw_buf_putc(buf, (char) (0x80 | (c >> 6 & 0x3F)));
		sfw_buf_putc(buf, (char) (0x80 | (c & 0x3F)));
	}
	else
	{
		sfw_buf_putc(buf, (char) (0xF0 | c >> 18));
		sfw_buf_putc(buf, (char) (0x80 | (c >> 12 & 0x3F)));
		sfw_buf_putc(buf, (char) (0x80 | (c >> 6 & 0x3F)));
		sfw_buf_putc(buf, (char) (0x80 | (c & 0x3F)));
	}
}

/* Append the character that the escape at p (after the backslash) stands for. */
static const char *
put_escaped(SfwBuf *buf, const char *p, const char *end)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	unsigned int c;

	if (*p != 'u')
	{
		sfw_buf_putc(buf, to[strchr(from, *p) - from]);
		return p + 1;
	}
	c = (unsigned int) hex4(p + 1, end);
	p += 5;
	if (c >= 0xD800 && c <= 0xDBFF)
	{
		c = 0x10000 + ((c - 0xD800) << 10) + ((unsigned int) hex4(p + 2, end) - 0xDC00);
		p += 6;
	}
	put_utf8(buf, c);
	return p;
}

/*
 * The text of a value in memory of its own: what a string holds, which is free
 * of NUL because the check refuses that; of everything else its JSON.
 */
char *
sfw_json_text(SfwJson value)
{
	SfwBuf		buf = {0};
	const char *p = value.text + 1;
	const char *end = value.text + value.len - 1;

	if (sfw_json_type(value) != '"')
		return sfw_strndup(value.text, value.len);
	while (p < end)
	{
		const char *stop = memchr(p, '\\', (size_t) (end - p));

		if (stop == NULL)
			stop = end;
		sfw_buf_append(&buf, p, (size_t) (stop - p));
		p = stop < end ? put_escaped(&buf, stop + 1, end) : end;
	}
	return sfw_buf_take(&buf);
}

/* Read a number; strings are none. */
bool
sfw_json_number(SfwJson value, double *number)
{
	char	   *text;

	if (sfw_json_type(value) != '0')
		return false;
	text = sfw_json_text(value);
	*number = strtod(text, NULL);
	free(text);
	return true;
}

/*
 * Append a text as a JSON string that jsonb takes: bytes that are not UTF-8,
 * and NUL, become U+FFFD.
 */
void
sfw_json_put_string(SfwBuf *buf, const char *text, size_t len)
{
	const char *p = text;
	const char *end = text + len;

	sfw_buf_putc(buf, '"');
	while (p < end)
	{
		unsigned char c = (unsigned char) *p;
		size_t		step = sfw_utf8_length(p, end);

		if (c == '"' || c == '\\')
		{
			sfw_buf_putc(buf, '\\');
			sfw_buf_putc(buf, *p);
		}
		else if (c == '\n')
			sfw_buf_puts(buf, "\\n");
		else if (c == '\t')
			sfw_buf_puts(buf, "\\t");
		else if (c == '\0' || step == 0)
			sfw_buf_puts(buf, "\xEF\xBF\xBD");
		else if (c < 0x20)
			sfw_buf_printf(buf, "\\u%04x", c);
		else
			sfw_buf_append(buf, p, step);
		p += step > 0 ? step : 1;
	}
	sfw_buf_putc(buf, '"');
}

/* Append a key and its colon. */
void
sfw_json_put_key(SfwBuf *buf, const char *key)
{
	sfw_json_put_string(buf, key, strlen(key));
	sfw_buf_putc(buf, ':');
}
