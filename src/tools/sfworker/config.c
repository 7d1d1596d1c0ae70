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
 * or username and password, or oauth-url, oauth-client-id and oauth-client-secret.
 *
 * An option on the command line overrides the file, which is read first.
 */
#include "postgres_fe.h"

#include <unistd.h>

#include "tools/client/key_value.h"
#include "tools/client/log.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/http/allow.h"
#include "tools/sfworker/task/claimed_task.h"

SfwConfig	sfw_config = {
	.concurrency = 1,
	.poll_interval = 10000,
	.kill_after = 10000,
	.http_timeout = 60000,
	.connect_timeout = 10000,
	.max_output = 1024 * 1024,
	.max_stderr = 8192,
	.max_redirects = 5,
	.archive_executions = 5000,
};

#define SETTING_ROW(letter, key, type, field, least) {key, SFC_TYPE_##type, &sfw_config.field, least, 1000},
static const SfcSetting settings[] = {SFW_SETTING_LIST(SETTING_ROW)};

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
		*problem = psprintf("activity \"%s\" needs a kind: %s:shell, %s:http, %s:sql, %s:program or %s:archive",
							value, served.name, served.name, served.name, served.name, served.name);
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
	if (strcmp(key, "node") == 0)
	{
		simple_string_list_append(&sfw_config.nodes, value);
		return true;
	}
	if (strcmp(key, "pass-env") == 0)
	{
		simple_string_list_append(&sfw_config.pass_env, value);
		return true;
	}
	return sfc_settings_store(settings, lengthof(settings), key, value, problem);
}

/* Begin the section that a line like [database NAME] names. */
static bool
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
		return false;
	}
	section->name = pg_strdup(name);
	section->next = sfw_config.sections;
	sfw_config.sections = section;
	return true;
}

/* Set a key of a connection; false: it is none, or its value is none. */
static bool
set_in_connection(SfwSection *section, const char *key, const char *value)
{
	struct
	{
		const char *key;
		char	  **field;
	}			texts[] = {
		{"username", &section->username},
		{"password", &section->password},
		{"oauth-url", &section->oauth_url},
		{"oauth-client-id", &section->oauth_client},
		{"oauth-client-secret", &section->oauth_secret},
	};

	for (size_t i = 0; i < lengthof(texts); i++)
	{
		if (strcmp(key, texts[i].key) == 0)
		{
			*texts[i].field = pg_strdup(value);
			return true;
		}
	}
	if (strcmp(key, "header") == 0)
		simple_string_list_append(&section->headers, value);
	else if (strcmp(key, "host") == 0)
		simple_string_list_append(&section->hosts, value);
	else if (strcmp(key, "oauth-parameter") == 0 && strchr(value, '=') != NULL)
		simple_string_list_append(&section->parameters, value);
	else if (strcmp(key, "oauth-credentials") == 0 && (strcmp(value, "body") == 0 || strcmp(value, "header") == 0))
		section->oauth_in_body = strcmp(value, "body") == 0;
	else
		return false;
	return true;
}

/* Set a key of the section that began last. */
static bool
set_in_section(const char *key, const char *value, char **problem)
{
	SfwSection *section = sfw_config.sections;
	bool		is_database = strcmp(section->kind, "database") == 0;

	if (is_database && strcmp(key, "conninfo") == 0)
		section->conninfo = pg_strdup(value);
	else if (is_database && strcmp(key, "role") == 0)
		section->role = pg_strdup(value);
	else if (is_database || !set_in_connection(section, key, value))
	{
		*problem = psprintf("key \"%s\" is unknown in a section [%s], or its value is", key, section->kind);
		return false;
	}
	return true;
}

/* Read a file of settings. */
bool
sfw_config_read(const char *path, char **problem)
{
	static const SfcFileReader reader = {sfw_config_set, begin_section, set_in_section};
	bool		others_can_read;

	if (!sfc_file_read(path, &reader, &others_can_read, problem))
		return false;
	if (others_can_read && sfw_config_section(sfw_config.sections, "connection", NULL) != NULL)
		sfc_log(SFC_LOG_WARNING, "the configuration holds credentials and others can read it",
				"file", path, NULL);
	return true;
}

/* Tell what a connection lacks that has some of its credentials; NULL: nothing. */
static char *
missing_credential(const SfwSection *section)
{
	const char *missing = NULL;

	if ((section->username == NULL) != (section->password == NULL))
		missing = section->username == NULL ? "username" : "password";
	else if (section->oauth_url != NULL && (section->oauth_client == NULL || section->oauth_secret == NULL))
		missing = section->oauth_client == NULL ? "oauth-client-id" : "oauth-client-secret";
	else if (section->oauth_url == NULL &&
			 (section->oauth_client != NULL || section->oauth_secret != NULL || section->parameters.head != NULL))
		missing = "oauth-url";
	return missing == NULL ? NULL : psprintf("section [connection %s] has no %s", section->name, missing);
}

/* Tell what does not go with an archive; NULL: nothing. */
static const char *
check_archive(void)
{
	bool		is_archive = false;

	for (int i = 0; i < sfw_config.n_served; i++)
		is_archive = is_archive || sfw_config.served[i].kind == &sfw_kind_archive;
	if (is_archive && sfw_config.archive == NULL)
		return "an activity of kind archive needs a folder, or s3://bucket/prefix (--archive)";
	if (sfw_config.archive != NULL && (!is_archive || sfw_config.n_served != 1))
		return "--archive needs one activity, of kind archive (--activity NAME:archive)";
	if (is_archive && sfw_config.dry_run)
		return "--dry-run is for tasks, and an archive has none";
	return NULL;
}

/* Fill in defaults, and check settings that depend on each other. */
bool
sfw_config_check(char **problem)
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
		if (!is_database && (*problem = missing_credential(section)) != NULL)
			return false;
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
	if (check_archive() != NULL)
	{
		*problem = pg_strdup(check_archive());
		return false;
	}
	if (sfw_config.nodes.head != NULL && (sfw_config.list || sfw_config.archive != NULL))
	{
		*problem = psprintf("--node does not go with --%s", sfw_config.list ? "list" : "archive");
		return false;
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
