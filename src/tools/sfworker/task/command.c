/*
 * command.c
 *		The command that a task is, as its payload describes it, and the variables that it sees.
 */
#include "postgres_fe.h"

#include <fnmatch.h>
#include <unistd.h>

#include "tools/sfworker/config.h"
#include "tools/sfworker/task/command.h"

#define MAX_ARGUMENTS 4096

/* Members of Env: each is compared with all variables before it */
#define MAX_VARIABLES 1000

/* Patterns of the names of variables that commands see of the worker's environment */
static const char *const passed[] = {
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR",
};

/* Append a pointer to a list that ends in NULL. */
static void
add(char ***list, char *text)
{
	size_t		n = 0;

	while (*list != NULL && (*list)[n] != NULL)
		n++;
	*list = pg_realloc(*list, sizeof(char *) * (n + 2));
	(*list)[n] = text;
	(*list)[n + 1] = NULL;
}

/* Release a list and what is in it. */
static void
free_list(char **list)
{
	for (size_t n = 0; list != NULL && list[n] != NULL; n++)
		free(list[n]);
	free(list);
}

/* Release a command. */
void
sfw_command_free(SfwCommand *command)
{
	free_list(command->argv);
	free_list(command->env);
	free(command->directory);
	free(command->input);
}

/* Tell whether a value is a string, a number or a boolean. */
static bool
is_scalar(SfcJson value)
{
	return strchr("\"0tf", sfc_json_type(value)) != NULL;
}

/* Read Command; gives what is wrong with it, or NULL. */
static char *
read_command(SfcJson value, SfwCommand *command)
{
	SfcJsonWalk	walk;
	SfcJson		element;

	if (sfc_json_type(value) == '"')
	{
		/* After -- a script that begins with a minus is not taken for an option. */
		add(&command->argv, pg_strdup("/bin/sh"));
		add(&command->argv, pg_strdup("-c"));
		add(&command->argv, pg_strdup("--"));
		add(&command->argv, sfc_json_text(value));
		return NULL;
	}
	if (sfc_json_type(value) != '[')
		return pg_strdup("Command must be a string or an array of strings");
	walk = sfc_json_walk(value);
	for (int n = 0; sfc_json_next(&walk, NULL, &element); n++)
	{
		if (n == MAX_ARGUMENTS || !is_scalar(element))
			return psprintf("the elements of Command must be strings, at most %d", MAX_ARGUMENTS);
		add(&command->argv, sfc_json_text(element));
	}
	if (command->argv == NULL || command->argv[0][0] == '\0')
		return pg_strdup("the first element of Command is missing or empty");
	return NULL;
}

/* Tell whether a text can be the name of a variable. */
static bool
is_variable(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return *name != '\0' && (*name < '0' || *name > '9') && name[strspn(name, letters)] == '\0';
}

/* Set a variable, in place of an earlier value. */
void
sfw_command_set_variable(SfwCommand *command, const char *name, const char *value)
{
	char	 ***env = &command->env;
	size_t		len = strlen(name);
	char	   *entry = psprintf("%s=%s", name, value);

	for (size_t n = 0; *env != NULL && (*env)[n] != NULL; n++)
	{
		if (strncmp((*env)[n], name, len) == 0 && (*env)[n][len] == '=')
		{
			free((*env)[n]);
			(*env)[n] = entry;
			return;
		}
	}
	add(env, entry);
}

/*
 * Tell whether commands see a variable that a pattern matches.  libpq's
 * passwords are seen only where --pass-env has their full name.
 */
static bool
passes(const char *pattern, const char *name)
{
	return strcmp(pattern, name) == 0 ||
		(fnmatch(pattern, name, 0) == 0 && strcmp(name, "PGPASSWORD") != 0 && strcmp(name, "PGSSLPASSWORD") != 0);
}

/* Make an environment of the worker's variables that commands may see. */
static char **
base_environment(void)
{
	char	  **env = NULL;

	for (char **entry = environ; *entry != NULL; entry++)
	{
		char	   *name = pnstrdup(*entry, strcspn(*entry, "="));
		bool		pass = false;

		for (size_t i = 0; i < lengthof(passed); i++)
			pass = pass || passes(passed[i], name);
		for (SimpleStringListCell *pattern = sfw_config.pass_env.head; pattern != NULL; pattern = pattern->next)
			pass = pass || passes(pattern->val, name);
		if (pass)
			add(&env, pg_strdup(*entry));
		free(name);
	}
	if (env == NULL)
		env = pg_malloc0(sizeof(char *));
	return env;
}

/* Read Env; gives what is wrong with it, or NULL. */
static char *
read_env(SfcJson value, SfwCommand *command)
{
	SfcJsonWalk	walk;
	SfcJson		key;
	SfcJson		member;

	if (sfc_json_type(value) != '{')
		return pg_strdup("Env must be an object");
	walk = sfc_json_walk(value);
	for (int n = 0; sfc_json_next(&walk, &key, &member); n++)
	{
		char	   *name;
		char	   *text;
		char	   *problem = NULL;

		if (n == MAX_VARIABLES)
			return psprintf("Env has more than %d members", MAX_VARIABLES);
		name = sfc_json_text(key);
		if (!is_variable(name))
			problem = psprintf("\"%s\" in Env is no name of a variable", name);
		else if (!is_scalar(member))
			problem = psprintf("\"%s\" in Env must be a string", name);
		else
		{
			text = sfc_json_text(member);
			sfw_command_set_variable(command, name, text);
			free(text);
		}
		free(name);
		if (problem != NULL)
			return problem;
	}
	return NULL;
}

/* Read a payload; gives what is wrong with it, or NULL. */
char *
sfw_command_read(SfcJson payload, SfwCommand *command)
{
	SfcJson		value;
	char	   *problem;

	if (!sfc_json_get(payload, "Command", &value))
		return pg_strdup("Command is missing");
	problem = read_command(value, command);
	if (problem != NULL)
		return problem;
	command->env = base_environment();
	if (sfc_json_get(payload, "Env", &value) && (problem = read_env(value, command)) != NULL)
		return problem;
	if (sfc_json_get(payload, "Directory", &value))
	{
		if (sfc_json_type(value) != '"')
			return pg_strdup("Directory must be a string");
		command->directory = sfc_json_text(value);
	}
	else
		command->directory = sfw_config.directory != NULL ? pg_strdup(sfw_config.directory) : NULL;
	if (sfc_json_get(payload, "Input", &value))
		command->input = sfc_json_text(value);
	return NULL;
}

/* Make a command of the program that does all tasks of its kind. */
void
sfw_command_of_program(SfcJson payload, SfwCommand *command)
{
	add(&command->argv, pg_strdup(sfw_config.program));
	command->env = base_environment();
	command->directory = sfw_config.directory != NULL ? pg_strdup(sfw_config.directory) : NULL;
	command->input = pnstrdup(payload.text, payload.len);
}
