/*
 * log.c
 *		The worker's log on standard error: lines of text, or of JSON.
 *
 * A line is written at once, and what a payload holds cannot end it: a value
 * in a line of text is quoted as JSON when it is more than a word.
 */
#include "log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json.h"

/* Bytes of a value that a line shows */
#define VALUE_MAX 2000

static SfwLevel lowest = SFW_INFO;
static bool as_json = false;

static const char *const level_names[] = {"debug", "info", "warning", "error"};

/* Choose the lowest level that is written. */
bool
sfw_log_set_level(const char *name)
{
	for (int i = SFW_DEBUG; i <= SFW_ERROR; i++)
	{
		if (strcmp(name, level_names[i]) == 0)
		{
			lowest = (SfwLevel) i;
			return true;
		}
	}
	return false;
}

/* Choose the form of the lines: text or json. */
bool
sfw_log_set_format(const char *name)
{
	as_json = strcmp(name, "json") == 0;
	return as_json || strcmp(name, "text") == 0;
}

/* Tell whether lines of this level are written. */
bool
sfw_log_wants(SfwLevel level)
{
	return level >= lowest;
}

/* Tell whether a value can stand in a line of text as it is. */
static bool
is_word(const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:/@+-";

	return *value != '\0' && value[strspn(value, plain)] == '\0';
}

/* Append one field. */
static void
put_field(SfwBuf *line, const char *key, const char *value)
{
	size_t		len = strlen(value);

	if (len > VALUE_MAX)
		len = sfw_utf8_clip(value, VALUE_MAX);
	if (as_json)
	{
		sfw_buf_putc(line, ',');
		sfw_json_put_key(line, key);
		sfw_json_put_string(line, value, len);
		return;
	}
	sfw_buf_printf(line, " %s=", key);
	if (is_word(value))
		sfw_buf_append(line, value, len);
	else
		sfw_json_put_string(line, value, len);
}

/* Write a whole line, as far as standard error takes it. */
static void
write_line(const SfwBuf *line)
{
	size_t		done = 0;

	while (done < line->len)
	{
		ssize_t		n = write(STDERR_FILENO, line->data + done, line->len - done);

		if (n <= 0)
			return;
		done += (size_t) n;
	}
}

/* Write one line. */
void
sfw_log(SfwLevel level, const char *message,...)
{
	SfwBuf		line = {0};
	struct timespec now;
	struct tm	utc;
	char		stamp[32];
	va_list		args;
	const char *key;

	if (level < lowest)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &utc);
	if (as_json)
	{
		sfw_buf_printf(&line, "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"pid\":%d,\"message\":",
					   stamp, now.tv_nsec / 1000000, level_names[level], (int) getpid());
		sfw_json_put_string(&line, message, strlen(message));
	}
	else
		sfw_buf_printf(&line, "%s.%03ldZ [%d] %s: %s",
					   stamp, now.tv_nsec / 1000000, (int) getpid(), level_names[level], message);
	va_start(args, message);
	while ((key = va_arg(args, const char *)) != NULL)
	{
		const char *value = va_arg(args, const char *);

		if (value != NULL)
			put_field(&line, key, value);
	}
	va_end(args);
	sfw_buf_puts(&line, as_json ? "}\n" : "\n");
	write_line(&line);
	sfw_buf_free(&line);
}
