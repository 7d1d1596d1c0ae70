/*
 * config.c
 *		The settings of the worker, from options and from a file.
 *
 * The file has the long options' names as keys, and two kinds of sections:
 *
 *		activity = shell
 *		concurrency = 8
 *
 *		[database warehouse]
 *		conninfo = service=warehouse
 *		role = nightly
 *
 *		[connection shop]
 *		host = api.example.com
 *		header = Authorization: Bearer ...
 *
 * An option on the command line overrides the file, which is read first.
 */
#include "postgres_fe.h"

#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allow.h"
#include "claimed_task.h"
#include "config.h"
#include "log.h"

SfwConfig	sfw_config = {
	.concurrency = 1,
	.poll_interval = 10000,
	.kill_after = 10000,
	.http_timeout = 60000,
	.connect_timeout = 10000,
	.max_output = 1024 * 1024,
	.max_stderr = 8192,
	.max_redirects = 5,
};

/* No string in jsonb is longer; written as JSON it has less than the 2 GB of a PQExpBuffer. */
#define MAX_SIZE (256 * 1024 * 1024 - 1)

typedef enum Type
{
	TEXT,
	COUNT,
	TIME,
	SIZE
} Type;

typedef struct Setting
{
	const char *key;
	Type		type;
	void	   *field;
	int			least;
} Setting;

#define SETTING_ROW(letter, key, type, field, least) {key, type, &sfw_config.field, least},
static const Setting settings[] = {SFW_SETTING_LIST(SETTING_ROW)};

/* Read a number with an optional unit; gives it in the smallest unit, or -1. */
static int64_t
parse_amount(const char *value, Type type)
{
	static const struct
	{
		Type		type;
		const char *unit;
		double		factor;
	}			units[] = {
		{COUNT, "", 1}, {TIME, "", 1000}, {TIME, "ms", 1}, {TIME, "s", 1000}, {TIME, "min", 60000},
		{TIME, "h", 3600000}, {SIZE, "", 1}, {SIZE, "B", 1}, {SIZE, "kB", 1024}, {SIZE, "MB", 1048576},
	};
	char	   *end;
	double		number = strtod(value, &end);

	/* The first comparison is false for "nan"; a count has no fraction. */
	if (end == value || !(number >= 0 && number <= 1e9) ||
		(type == COUNT && number != (double) (int64_t) number))
		return -1;
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < lengthof(units); i++)
	{
		if (units[i].type == type && strcmp(units[i].unit, end) == 0)
			return (int64_t) (number * units[i].factor);
	}
	return -1;
}

/* Store a value in its field. */
static bool
store(const Setting *setting, const char *value, char **problem)
{
	int64_t		amount;

	if (setting->type == TEXT)
	{
		char	  **field = setting->field;

		free(*field);
		*field = pg_strdup(value);
		return true;
	}
	amount = parse_amount(value, setting->type);
	if (amount < setting->least || (setting->type == COUNT && amount > 1000))
	{
		*problem = psprintf("invalid value for \"%s\": \"%s\"", setting->key, value);
		return false;
	}
	if (setting->type == COUNT)
		*(int *) setting->field = (int) amount;
	else if (setting->type == SIZE)
		*(size_t *) setting->field = (size_t) Min(amount, MAX_SIZE);
	else
		*(int64_t *) setting->field = amount;
	return true;
}

/* Add an activity: NAME:KIND, or only NAME if that is also the kind. */
static bool
add_activity(const char *value, char **problem)
{
	const char *colon = strrchr(value, ':');
	SfwServed	served;

	served.name = colon != NULL ? pnstrdup(value, (size_t) (colon - value)) : pg_strdup(value);
	served.kind = sfw_kind_find(colon != NULL ? colon + 1 : value);
	if (served.name[0] == '\0' || served.kind == NULL)
	{
		*problem = psprintf("activity \"%s\" needs a kind: %s:shell, %s:http, %s:sql or %s:program",
							value, served.name, served.name, served.name, served.name);
		free(served.name);
		return false;
	}
	sfw_config.served = pg_realloc(sfw_config.served,
								   sizeof(SfwServed) * (size_t) (sfw_config.n_served + 1));
	sfw_config.served[sfw_config.n_served++] = served;
	return true;
}

/* Store the setting of an option or of a line of the file. */
bool
sfw_config_set(const char *key, const char *value, char **problem)
{
	if (strcmp(key, "activity") == 0)
		return add_activity(value, problem);
	if (strcmp(key, "allow") == 0)
		return sfw_allow_add(value, problem);
	if (strcmp(key, "pass-env") == 0)
	{
		simple_string_list_append(&sfw_config.pass_env, value);
		return true;
	}
	if (strcmp(key, "log-level") == 0 || strcmp(key, "log-format") == 0)
	{
		if (key[4] == 'l' ? sfw_log_set_level(value) : sfw_log_set_format(value))
			return true;
		*problem = psprintf("invalid value for \"%s\": \"%s\"", key, value);
		return false;
	}
	for (size_t i = 0; i < lengthof(settings); i++)
	{
		if (strcmp(key, settings[i].key) == 0)
			return store(&settings[i], value, problem);
	}
	*problem = psprintf("unknown setting \"%s\"", key);
	return false;
}

/* Begin the section that a line like [database NAME] names; NULL: there is no such kind. */
static SfwSection *
begin_section(const char *line, char **problem)
{
	SfwSection *section = pg_malloc0(sizeof(SfwSection));
	char		name[256];
	char		rest;

	if (sscanf(line, "[%15[a-z] %255[^]]]%c", section->kind, name, &rest) != 2 ||
		(strcmp(section->kind, "database") != 0 && strcmp(section->kind, "connection") != 0))
	{
		*problem = psprintf("expected [database NAME] or [connection NAME], not %s", line);
		free(section);
		return NULL;
	}
	section->name = pg_strdup(name);
	section->next = sfw_config.sections;
	sfw_config.sections = section;
	return section;
}

/* Set a key of a section. */
static bool
set_in_section(SfwSection *section, const char *key, const char *value, char **problem)
{
	bool		is_database = strcmp(section->kind, "database") == 0;

	if (is_database && strcmp(key, "conninfo") == 0)
		section->conninfo = pg_strdup(value);
	else if (is_database && strcmp(key, "role") == 0)
		section->role = pg_strdup(value);
	else if (!is_database && strcmp(key, "header") == 0)
		simple_string_list_append(&section->headers, value);
	else if (!is_database && strcmp(key, "host") == 0)
		simple_string_list_append(&section->hosts, value);
	else
	{
		*problem = psprintf("unknown key \"%s\" in a section [%s]", key, section->kind);
		return false;
	}
	return true;
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

/* Read one line of the file; *section is the current section, or NULL. */
static bool
read_line(char *line, SfwSection **section, char **problem)
{
	char	   *equals;
	char	   *key;
	char	   *value;

	if (*line == '\0' || *line == '#' || *line == ';')
		return true;
	if (*line == '[')
	{
		*section = begin_section(line, problem);
		return *section != NULL;
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
	if (*section != NULL)
		return set_in_section(*section, key, value, problem);
	return sfw_config_set(key, value, problem);
}

/* Read a file of settings. */
bool
sfw_config_read(const char *path, char **problem)
{
	FILE	   *file = fopen(path, "re");
	char	   *line = NULL;
	size_t		size = 0;
	SfwSection *section = NULL;
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
		good = read_line(trim(line), &section, &reason);
		if (!good)
			*problem = psprintf("%s:%d: %s", path, number, reason);
		free(reason);
	}
	if (good && sfw_config_section(sfw_config.sections, "connection", NULL) != NULL &&
		fstat(fileno(file), &st) == 0 && (st.st_mode & (S_IRGRP | S_IROTH)) != 0)
		sfw_log(SFW_WARNING, "the configuration holds credentials and others can read it",
				"file", path, NULL);
	free(line);
	fclose(file);
	return good;
}

/* Fill in defaults, and check settings that depend on each other. */
bool
sfw_config_finish(char **problem)
{
	char		host[256] = "localhost";

	for (const SfwSection *section = sfw_config.sections; section != NULL; section = section->next)
	{
		bool		is_database = strcmp(section->kind, "database") == 0;

		/* Without hosts a payload could send the headers of a connection to any host. */
		if (is_database ? section->conninfo == NULL : section->hosts.head == NULL)
		{
			*problem = psprintf("section [%s %s] has no %s", section->kind, section->name,
								is_database ? "conninfo" : "host");
			return false;
		}
	}
	if (sfw_config.name == NULL)
	{
		gethostname(host, sizeof(host) - 1);
		sfw_config.name = psprintf("%s:%d", host, (int) getpid());
	}
	for (int i = 0; i < sfw_config.n_served; i++)
	{
		if (sfw_config.served[i].kind == &sfw_kind_program && sfw_config.program == NULL)
		{
			*problem = psprintf("activity \"%s\" needs a program (--program)", sfw_config.served[i].name);
			return false;
		}
	}
	if (sfw_config.n_served == 0 && !sfw_config.list)
	{
		*problem = pg_strdup("no activity given (--activity)");
		return false;
	}
	return true;
}

/* Find the first section in a list that has a kind and, unless that is NULL, a name. */
const SfwSection *
sfw_config_section(const SfwSection *list, const char *kind, const char *name)
{
	while (list != NULL &&
		   (strcmp(list->kind, kind) != 0 || (name != NULL && strcmp(list->name, name) != 0)))
		list = list->next;
	return list;
}
