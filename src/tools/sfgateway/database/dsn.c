/*
 * dsn.c
 *		Connections to databases, by connection strings.
 *
 * libpq gets keywords and values in arrays and does not expand dbname, so that
 * the text of a user never becomes a parameter.
 *
 * Hosts are looked up before (tools/client/hosts.c).
 */
#include "postgres_fe.h"

#include "fe_utils/string_utils.h"

#include "tools/client/json_text.h"
#include "tools/client/key_value.h"
#include "tools/client/session.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"

/* Parse a connection string; the name of a database alone is one, too. */
static PQconninfoOption *
parse(const char *conninfo, char **problem)
{
	char	   *text;
	PQconninfoOption *options;

	if (*conninfo == '\0' || strchr(conninfo, '=') != NULL || strstr(conninfo, "://") != NULL)
		return PQconninfoParse(conninfo, problem);
	text = psprintf("dbname=%s", conninfo);
	options = PQconninfoParse(text, problem);
	free(text);
	return options;
}

/* Tell whether a connection string can be parsed. */
bool
sfg_dsn_check(const char *conninfo, char **problem)
{
	char	   *reason = NULL;
	PQconninfoOption *options = parse(conninfo, &reason);

	if (options == NULL)
		*problem = pg_strdup(reason != NULL ? reason : "out of memory");
	PQconninfoFree(options);
	PQfreemem(reason);
	return options != NULL;
}

/* Tell whether a parameter says who the gateway is: a session of another role does without it. */
static bool
is_identity(const char *key)
{
	static const char *const identity[] = {"user", "password", "passfile", "sslcert", "sslkey", "sslpassword"};

	return sfc_is_one_of(key, identity, lengthof(identity));
}

/* Append a parameter to a connection string, unless it has none. */
static void
put_parameter(PQExpBuffer conninfo, const char *key, const char *value)
{
	if (value == NULL)
		return;
	appendPQExpBuffer(conninfo, "%s%s=", conninfo->len > 0 ? " " : "", key);
	appendConnStrVal(conninfo, value);
}

/* Tell whether the gateway connects to nodes as its own connection string says: as whom, and how safely. */
static bool
is_own(const char *key)
{
	static const char *const safety[] = {"ssl", "gss", "krb", "channel_binding"};

	for (size_t i = 0; i < lengthof(safety); i++)
		if (strncmp(key, safety[i], strlen(safety[i])) == 0)
			return true;
	return is_identity(key) && strcmp(key, "password") != 0;
}

/*
 * Make the connection string of a node: where it is, by the address that the coordinator has for it, and as whom, by
 * the gateway's own string.  A password of the own string is not for others: libpq finds those of nodes in its file.
 * NULL: the address is no connection string.
 */
char *
sfg_dsn_of_node(const char *own, const char *address, const char *dbname)
{
	PQconninfoOption *own_options = parse(own, NULL);
	PQconninfoOption *options = PQconninfoParse(address, NULL);
	PQExpBufferData conninfo;

	initPQExpBuffer(&conninfo);
	if (own_options == NULL)
	{
		PQconninfoFree(options);
		options = NULL;
	}
	for (const PQconninfoOption *option = options; option != NULL && option->keyword != NULL; option++)
	{
		const char *key = option->keyword;
		const char *of_own = is_own(key) ? sfc_option_of(own_options, key) : NULL;

		if (of_own != NULL)
			put_parameter(&conninfo, key, of_own);
		else if (strcmp(key, "dbname") == 0)
			put_parameter(&conninfo, key, option->val != NULL ? option->val : dbname);
		else if (!is_identity(key) && strcmp(key, "options") != 0 && strcmp(key, "service") != 0)
			put_parameter(&conninfo, key, option->val);
	}
	PQconninfoFree(own_options);
	PQconninfoFree(options);
	if (conninfo.len > 0)
		return sfc_buffer_data(&conninfo);
	termPQExpBuffer(&conninfo);
	return NULL;
}

/* --- connections --- */

/* Look up the names of hosts of a connection string, as sfc_hosts_find() does. */
SfcHosts *
sfg_dsn_find_hosts(const char *conninfo, int turn, SfcHostsFound found, void *arg)
{
	PQconninfoOption *options = parse(conninfo, NULL);
	SfcParameters parameters = {.n = 0};
	SfcHosts   *hosts;

	for (PQconninfoOption *option = options; option != NULL && option->keyword != NULL; option++)
		if (option->val != NULL)
			sfc_parameters_add(&parameters, option->keyword, option->val);
	hosts = sfc_hosts_find(&parameters, turn, sfg_config.connect_timeout, found, arg);
	PQconninfoFree(options);
	return hosts;
}

/* Drop a notice of the server: functions of any role send them, and the gateway's log is its own. */
static void
drop_notice(void *arg, const PGresult *notice)
{
}

/*
 * Begin to connect, to the hosts of the connection string that were looked up, or without any (NULL) as it says; with
 * user NULL as the gateway's own role.
 */
PGconn *
sfg_dsn_connect(const char *conninfo, SfcHosts *hosts, int64_t statement_timeout, const char *user,
				const char *password)
{
	PQconninfoOption *options = parse(conninfo, NULL);
	SfcParameters parameters = {.n = 0};
	char	   *settings = psprintf("-c statement_timeout=%lld -c client_connection_check_interval=2000"
									" -c idle_in_transaction_session_timeout=60000", (long long) statement_timeout);
	PGconn	   *conn;

	sfc_parameters_add(&parameters, "client_encoding", "UTF8");
	sfc_parameters_add(&parameters, "fallback_application_name", "sfgateway");
	/* what the connection string says of these comes behind, and so takes their place */
#define ADD(key, value) sfc_parameters_add(&parameters, key, value);
	SFC_HOST_TIMEOUTS(ADD)
	for (PQconninfoOption *option = options; option != NULL && option->keyword != NULL; option++)
	{
		if (option->val == NULL || (user != NULL && is_identity(option->keyword)))
			continue;
		if (strcmp(option->keyword, "options") == 0)
		{
			char	   *both = psprintf("%s %s", option->val, settings);

			free(settings);
			settings = both;
		}
		else if (strcmp(option->keyword, "client_encoding") != 0)
			sfc_parameters_add(&parameters, option->keyword, option->val);
	}
	sfc_parameters_add(&parameters, "options", settings);
	if (user != NULL)
	{
		sfc_parameters_add(&parameters, "user", user);
		sfc_parameters_add(&parameters, "password", password);
	}
	conn = sfc_hosts_connect(hosts, &parameters);
	PQsetNoticeReceiver(conn, drop_notice, NULL);
	PQconninfoFree(options);
	free(settings);
	return conn;
}
