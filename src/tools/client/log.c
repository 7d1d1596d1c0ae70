/*
 * log.c
 *		The log of a program on standard error: lines of text, or of JSON.
 *
 * Each line is one write.  A value cannot end its line: in a line of text a
 * value that is more than a word is quoted as JSON.
 */
#include "postgres_fe.h"

#include <time.h>
#include <unistd.h>

#include "tools/client/json_text.h"
#include "tools/client/log.h"

/* Bytes of a value that a line shows */
#define VALUE_MAX 2000

static SfcLevel lowest = SFC_LOG_INFO;
static bool as_json = false;

static const char *const level_names[] = {"debug", "info", "warning", "error"};

/* Choose the lowest level that is written. */
bool
sfc_log_set_level(const char *name)
{
	for (int i = SFC_LOG_DEBUG; i <= SFC_LOG_ERROR; i++)
	{
		if (strcmp(name, level_names[i]) == 0)
		{
			lowest = (SfcLevel) i;
			return true;
		}
	}
	return false;
}

/* Choose the form of the lines: text or json. */
bool
sfc_log_set_format(const char *name)
{
	as_json = strcmp(name, "json") == 0;
	return as_json || strcmp(name, "text") == 0;
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
put_field(PQExpBuffer line, const char *key, const char *value)
{
	size_t		len = strlen(value);

	if (len > VALUE_MAX)
		len = sfc_utf8_clip(value, VALUE_MAX);
	if (as_json)
		sfc_json_put_key(line, key);
	else
		appendPQExpBuffer(line, " %s=", key);
	if (!as_json && is_word(value))
		appendBinaryPQExpBuffer(line, value, len);
	else
		sfc_json_put_bytes(line, value, len);
}

/* Write one line. */
void
sfc_log(SfcLevel level, const char *message,...)
{
	PQExpBufferData line;
	struct timespec now;
	struct tm	utc;
	char		stamp[32];
	va_list		args;
	const char *key;

	if (level < lowest)
		return;
	initPQExpBuffer(&line);
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &utc);
	if (as_json)
	{
		appendPQExpBuffer(&line, "{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"pid\":%d,\"message\":",
						  stamp, now.tv_nsec / 1000000, level_names[level], (int) getpid());
		sfc_json_put_string(&line, message);
	}
	else
		appendPQExpBuffer(&line, "%s.%03ldZ [%d] %s: %s",
						  stamp, now.tv_nsec / 1000000, (int) getpid(), level_names[level], message);
	va_start(args, message);
	while ((key = va_arg(args, const char *)) != NULL)
	{
		const char *value = va_arg(args, const char *);

		if (value != NULL)
			put_field(&line, key, value);
	}
	va_end(args);
	appendPQExpBufferStr(&line, as_json ? "}\n" : "\n");
	fwrite(line.data, 1, line.len, stderr);
	termPQExpBuffer(&line);
}
