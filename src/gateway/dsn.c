/*
 * dsn.c
 *		Connections to the database, by keywords.
 *
 * libpq gets keywords and values in arrays and does not expand dbname, so that
 * the text of a user never becomes a parameter.
 */
#include "postgres_fe.h"

#include "gateway/dsn.h"

/* More than libpq has keywords */
#define MOST 64

/* Keywords and values, as libpq takes them */
typedef struct Parameters
{
	const char *keys[MOST + 1];
	const char *values[MOST + 1];
	int			n;
} Parameters;

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

/* Add a parameter. */
static void
add(Parameters *parameters, const char *key, const char *value)
{
	if (parameters->n == MOST)
		return;
	parameters->keys[parameters->n] = key;
	parameters->values[parameters->n++] = value;
}

/* Tell whether a parameter says who the gateway is: a session of another role does without it. */
static bool
is_identity(const char *key)
{
	static const char *const identity[] = {"user", "password", "passfile", "sslcert", "sslkey", "sslpassword"};

	for (size_t i = 0; i < lengthof(identity); i++)
	{
		if (strcmp(identity[i], key) == 0)
			return true;
	}
	return false;
}

/* Begin to connect; with user NULL as the gateway's own role. */
PGconn *
sfg_dsn_connect(const char *conninfo, int64_t statement_timeout, const char *user, const char *password)
{
	PQconninfoOption *options = parse(conninfo, NULL);
	Parameters	parameters = {.n = 0};
	char	   *settings = psprintf("-c statement_timeout=%lld -c client_connection_check_interval=2000"
									" -c idle_in_transaction_session_timeout=60000", (long long) statement_timeout);
	PGconn	   *conn;

	add(&parameters, "client_encoding", "UTF8");
	add(&parameters, "fallback_application_name", "sfgateway");
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
			add(&parameters, option->keyword, option->val);
	}
	add(&parameters, "options", settings);
	if (user != NULL)
	{
		add(&parameters, "user", user);
		add(&parameters, "password", password);
	}
	conn = PQconnectStartParams(parameters.keys, parameters.values, 0);
	PQconninfoFree(options);
	free(settings);
	return conn;
}
