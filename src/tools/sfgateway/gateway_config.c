/*
 * gateway_config.c
 *		The settings of the gateway, from options and from a file.
 *
 * The file has the long options' names as keys, and sections of access keys:
 *
 *		listen = 127.0.0.1:8083
 *		dsn = dbname=shop user=sfgateway
 *
 *		[key AKIAIOSFODNN7EXAMPLE]
 *		role = nightly
 *		secret = ...
 *
 * An option on the command line overrides the file, which is read first.
 */
#include "postgres_fe.h"

#include "tools/client/key_value.h"
#include "tools/client/log.h"
#include "tools/client/secrets.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/mcp/mcp.h"
#include "tools/sfgateway/otlp/otlp_internal.h"

SfgConfig	sfg_config = {
	.database_connections = 4,
	.sync_connections = 4,
	.connections = 1000,
	.waits_per_client = 250,
	.max_body = 2 * 1024 * 1024,
	.request_timeout = 30000,
	.statement_timeout = 30000,
	.sync_timeout = 360000,
	.connect_timeout = 10000,
	.drain_timeout = 30000,
	.sessions = 50,
	.session_idle = 30 * 60000,
	.session_max = 12 * 3600000,
	.otlp_timeout = 10000,
	.otlp_interval = 5000,
	.otlp_batch = 100,
	.otlp_batch_bytes = 512 * 1024,
};

#define SETTING_ROW(key, type, field, least, most, argument, help) {key, SFC_TYPE_##type, &sfg_config.field, least, most},
static const SfcSetting settings[] = {SFG_SETTING_LIST(SETTING_ROW)};

/* Store the setting of an option or of a line of the file. */
bool
sfg_config_set(const char *key, const char *value, char **problem)
{
	if (strcmp(key, "origin") == 0)
	{
		simple_string_list_append(&sfg_config.origins, value);
		return true;
	}
	if (strcmp(key, "otlp-header") == 0)
	{
		if (sfg_otlp_check_header(value))
		{
			simple_string_list_append(&sfg_config.otlp_headers, value);
			return true;
		}
		/* The value may be a secret. */
		*problem = pg_strdup("otlp-header is NAME: VALUE, one line of printable characters");
		return false;
	}
	return sfc_settings_store(settings, lengthof(settings), key, value, problem);
}

/* Begin the section that a line like [key ID] names. */
static bool
begin_section(const char *line, char **problem)
{
	SfgFileAccessKey *key;
	char		id[129];
	int			end = 0;

	if (sscanf(line, "[key %128[A-Za-z0-9_]]%n", id, &end) != 1 || end == 0 || line[end] != '\0')
	{
		*problem = psprintf("expected [key ID], not %s", line);
		return false;
	}
	key = pg_malloc0(sizeof(SfgFileAccessKey));
	key->id = pg_strdup(id);
	key->next = sfg_config.keys;
	sfg_config.keys = key;
	return true;
}

/* Set a key of the section that began last. */
static bool
set_in_section(const char *key, const char *value, char **problem)
{
	if (strcmp(key, "role") == 0)
		sfg_config.keys->role = pg_strdup(value);
	else if (strcmp(key, "secret") == 0)
		sfg_config.keys->secret.text = pg_strdup(value);
	else
	{
		*problem = psprintf("unknown key \"%s\" in a section [key]", key);
		return false;
	}
	return true;
}

/* Tell whether the settings read so far have a secret in them. */
static bool
has_secrets(void)
{
	return sfg_config.keys != NULL || sfg_config.metrics_token != NULL || sfg_config.otlp_headers.head != NULL ||
		(sfg_config.otlp_dsn != NULL && sfc_secrets_in_conninfo(sfg_config.otlp_dsn)) ||
		(sfg_config.dsn != NULL && sfc_secrets_in_conninfo(sfg_config.dsn)) ||
		(sfg_config.metrics_dsn != NULL && sfc_secrets_in_conninfo(sfg_config.metrics_dsn));
}

/* Read a file of settings. */
bool
sfg_config_read(const char *path, char **problem)
{
	static const SfcFileReader reader = {sfg_config_set, begin_section, set_in_section};
	bool		others_can_read;

	if (!sfc_file_read(path, &reader, &others_can_read, problem))
		return false;
	if (others_can_read && has_secrets())
		sfc_log(SFC_LOG_WARNING, "the configuration holds secrets and others can read it", "file", path, NULL);
	return true;
}

/* Fill in defaults, and check settings that depend on each other. */
bool
sfg_config_check(char **problem)
{
	if (sfg_config.listen == NULL)
		sfg_config.listen = pg_strdup("127.0.0.1:8083");
	if (sfg_config.dsn == NULL)
		sfg_config.dsn = pg_strdup("");
	if ((sfg_config.tls_certificate == NULL) != (sfg_config.tls_key == NULL))
	{
		*problem = pg_strdup("tls-certificate and tls-key belong together");
		return false;
	}
	if (sfg_config.mcp_write != NULL && !sfg_config.mcp)
	{
		*problem = pg_strdup("mcp-write needs mcp = on");
		return false;
	}
	if (sfg_config.mcp_write != NULL && !sfg_mcp_set_writing(sfg_config.mcp_write, problem))
		return false;
	if (sfg_config.otlp != NULL && !sfg_otlp_check(problem))
		return false;
	for (const SfgFileAccessKey *key = sfg_config.keys; key != NULL; key = key->next)
	{
		if (key->role == NULL || key->secret.text == NULL)
		{
			*problem = psprintf("section [key %s] needs a role and a secret", key->id);
			return false;
		}
	}
	return true;
}
