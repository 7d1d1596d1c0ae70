/*
 * key_value.c
 *		Settings by their key, and files of "key = value" with [sections]; lists of names.
 */
#include "postgres_fe.h"

#include <ctype.h>
#include <sys/stat.h>

#include "tools/client/key_value.h"
#include "tools/client/log.h"

/* No string in jsonb is longer; written as JSON it has less than the 2 GB of a PQExpBuffer. */
#define MAX_SIZE (256 * 1024 * 1024 - 1)

/* Tell whether a name is one of some. */
bool
sfc_is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* Read a number with an optional unit, in the smallest unit; false: it is none. */
static bool
parse_amount(const char *value, SfcType type, int64_t *amount)
{
	static const struct
	{
		SfcType		type;
		const char *unit;
		double		factor;
	}			units[] = {
		{SFC_TYPE_COUNT, "", 1},
		{SFC_TYPE_TIME, "", 1000}, {SFC_TYPE_TIME, "ms", 1}, {SFC_TYPE_TIME, "s", 1000},
		{SFC_TYPE_TIME, "min", 60000}, {SFC_TYPE_TIME, "h", 3600000},
		{SFC_TYPE_SIZE, "", 1}, {SFC_TYPE_SIZE, "B", 1}, {SFC_TYPE_SIZE, "kB", 1024}, {SFC_TYPE_SIZE, "MB", 1048576},
	};
	char	   *end;
	double		number = strtod(value, &end);

	/* The first comparison is false for "nan"; a count has no fraction. */
	if (end == value || !(number >= 0 && number <= 1e9) ||
		(type == SFC_TYPE_COUNT && number != (double) (int64_t) number))
		return false;
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < lengthof(units); i++)
	{
		if (units[i].type == type && strcmp(units[i].unit, end) == 0)
		{
			*amount = (int64_t) (number * units[i].factor);
			return true;
		}
	}
	return false;
}

/* Store on or off. */
static bool
store_flag(bool *field, const char *value)
{
	*field = strcmp(value, "on") == 0;
	return *field || strcmp(value, "off") == 0;
}

/* Store a value in its field. */
static bool
store(const SfcSetting *setting, const char *value)
{
	int64_t		amount;

	if (setting->type == SFC_TYPE_TEXT)
	{
		char	  **field = setting->field;

		free(*field);
		*field = pg_strdup(value);
		return true;
	}
	if (setting->type == SFC_TYPE_FLAG)
		return store_flag(setting->field, value);
	if (!parse_amount(value, setting->type, &amount) || amount < setting->least || (setting->type == SFC_TYPE_COUNT && amount > setting->most))
		return false;
	if (setting->type == SFC_TYPE_COUNT)
		*(int *) setting->field = (int) amount;
	else if (setting->type == SFC_TYPE_SIZE)
		*(size_t *) setting->field = (size_t) Min(amount, MAX_SIZE);
	else
		*(int64_t *) setting->field = amount;
	return true;
}

/* Store a setting: one of a list, or one of the log. */
bool
sfc_settings_store(const SfcSetting *settings, int n, const char *key, const char *value, char **problem)
{
	bool		good;
	int			i = 0;

	while (i < n && strcmp(settings[i].key, key) != 0)
		i++;
	if (i < n)
		good = store(&settings[i], value);
	else if (strcmp(key, "log-level") == 0)
		good = sfc_log_set_level(value);
	else if (strcmp(key, "log-format") == 0)
		good = sfc_log_set_format(value);
	else
	{
		*problem = psprintf("unknown setting \"%s\"", key);
		return false;
	}
	if (!good)
		*problem = psprintf("invalid value for \"%s\": \"%s\"", key, value);
	return good;
}

/* Cut white space off both ends, in place. */
static char *
trim(char *text)
{
	char	   *end;

	while (isspace((unsigned char) *text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char) end[-1]))
		*--end = '\0';
	return text;
}

/* Read one line of the file; *in_section tells whether a section began before it. */
static bool
read_line(char *line, const SfcFileReader *reader, bool *in_section, char **problem)
{
	char	   *equals;
	char	   *key;
	char	   *value;

	if (*line == '\0' || *line == '#' || *line == ';')
		return true;
	if (*line == '[')
	{
		*in_section = true;
		return reader->begin_section(line, problem);
	}
	equals = strchr(line, '=');
	if (equals == NULL)
	{
		*problem = psprintf("expected key = value, not \"%s\"", line);
		return false;
	}
	*equals = '\0';
	key = trim(line);
	value = trim(equals + 1);
	return *in_section ? reader->set_in_section(key, value, problem) : reader->set(key, value, problem);
}

/* Read a file of settings; *others_can_read tells whether other users can, too. */
bool
sfc_file_read(const char *path, const SfcFileReader *reader, bool *others_can_read, char **problem)
{
	FILE	   *file = fopen(path, "re");
	char	   *line = NULL;
	size_t		size = 0;
	bool		in_section = false;
	int			number = 0;
	bool		good = true;
	struct stat st;

	if (file == NULL)
	{
		*problem = psprintf("cannot open \"%s\": %s", path, strerror(errno));
		return false;
	}
	while (good && getline(&line, &size, file) >= 0)
	{
		char	   *reason = NULL;

		number++;
		good = read_line(trim(line), reader, &in_section, &reason);
		if (!good)
			*problem = psprintf("%s:%d: %s", path, number, reason);
		free(reason);
	}
	*others_can_read = fstat(fileno(file), &st) == 0 && (st.st_mode & (S_IRGRP | S_IROTH)) != 0;
	free(line);
	fclose(file);
	return good;
}
