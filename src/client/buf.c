/*
 * buf.c
 *		Memory that does not run out quietly, and strings that grow.
 */
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Allocate zeroed memory or end the program. */
void *
sfw_alloc(size_t size)
{
	void	   *p = calloc(1, size > 0 ? size : 1);

	if (p == NULL)
	{
		fputs("sfworker: out of memory\n", stderr);
		abort();
	}
	return p;
}

/* Change the size of an allocation or end the program. */
void *
sfw_realloc(void *old, size_t size)
{
	void	   *p = realloc(old, size > 0 ? size : 1);

	if (p == NULL)
	{
		fputs("sfworker: out of memory\n", stderr);
		abort();
	}
	return p;
}

/* Copy a string; NULL stays NULL. */
char *
sfw_strdup(const char *text)
{
	return text == NULL ? NULL : sfw_strndup(text, strlen(text));
}

/* Copy len bytes and end them with a NUL. */
char *
sfw_strndup(const char *text, size_t len)
{
	char	   *copy = sfw_alloc(len + 1);

	memcpy(copy, text, len);
	return copy;
}

/* Append what a printf format gives. */
static void
append_format(SfwBuf *buf, const char *fmt, va_list args)
{
	va_list		again;
	int			need;

	va_copy(again, args);
	need = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (need < 0)
		return;
	sfw_buf_append(buf, NULL, (size_t) need + 1);
	vsnprintf(buf->data + buf->len - need - 1, (size_t) need + 1, fmt, args);
	buf->len--;
}

/* Give what a printf format gives, in memory of its own. */
char *
sfw_format(const char *fmt,...)
{
	SfwBuf		buf = {0};
	va_list		args;

	va_start(args, fmt);
	append_format(&buf, fmt, args);
	va_end(args);
	return sfw_buf_take(&buf);
}

/* Append bytes; with NULL for data only make room for them. */
void
sfw_buf_append(SfwBuf *buf, const void *data, size_t len)
{
	if (buf->size - buf->len <= len)
	{
		size_t		size = buf->size * 2;

		if (size < buf->len + len + 1)
			size = buf->len + len + 1;
		if (size < 64)
			size = 64;
		buf->data = sfw_realloc(buf->data, size);
		buf->size = size;
	}
	if (data != NULL && len > 0)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

/* Append a string. */
void
sfw_buf_puts(SfwBuf *buf, const char *text)
{
	sfw_buf_append(buf, text, strlen(text));
}

/* Append a character. */
void
sfw_buf_putc(SfwBuf *buf, char c)
{
	sfw_buf_append(buf, &c, 1);
}

/* Append what a printf format gives. */
void
sfw_buf_printf(SfwBuf *buf, const char *fmt,...)
{
	va_list		args;

	va_start(args, fmt);
	append_format(buf, fmt, args);
	va_end(args);
}

/* Hand the string over to the caller, never NULL, and leave the buffer empty. */
char *
sfw_buf_take(SfwBuf *buf)
{
	char	   *data = buf->data != NULL ? buf->data : sfw_strdup("");

	*buf = (SfwBuf) {0};
	return data;
}

/* Release what a buffer holds. */
void
sfw_buf_free(SfwBuf *buf)
{
	free(buf->data);
	*buf = (SfwBuf) {0};
}

/* The length of a text without the character that is cut off at its end, if one is. */
size_t
sfw_utf8_clip(const char *text, size_t len)
{
	size_t		start = len;
	unsigned char lead;
	size_t		need;

	while (start > 0 && len - start < 4)
	{
		lead = (unsigned char) text[--start];
		if ((lead & 0xC0) == 0x80)
			continue;
		need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
		return len - start < need ? start : len;
	}
	return len;
}

/* The length of the valid UTF-8 sequence at p, or 0. */
size_t
sfw_utf8_length(const char *p, const char *end)
{
	const unsigned char *s = (const unsigned char *) p;
	size_t		left = (size_t) (end - p);

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xC2 && s[0] <= 0xDF)
		return left >= 2 && (s[1] & 0xC0) == 0x80 ? 2 : 0;
	if (s[0] >= 0xE0 && s[0] <= 0xEF)
	{
		if (left < 3 || (s[1] & 0xC0) != 0x80 || (s[2] & 0xC0) != 0x80)
			return 0;
		if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F))
			return 0;
		return 3;
	}
	if (s[0] >= 0xF0 && s[0] <= 0xF4)
	{
		if (left < 4 || (s[1] & 0xC0) != 0x80 || (s[2] & 0xC0) != 0x80 || (s[3] & 0xC0) != 0x80)
			return 0;
		if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
			return 0;
		return 4;
	}
	return 0;
}

/* Copy a text; bytes that are not UTF-8, and NUL, become U+FFFD. */
char *
sfw_utf8_repair(const char *text, size_t len)
{
	SfwBuf		buf = {0};
	const char *end = text + len;

	while (text < end)
	{
		size_t		step = *text == '\0' ? 0 : sfw_utf8_length(text, end);

		if (step == 0)
			sfw_buf_puts(&buf, "\xEF\xBF\xBD");
		else
			sfw_buf_append(&buf, text, step);
		text += step > 0 ? step : 1;
	}
	return sfw_buf_take(&buf);
}
