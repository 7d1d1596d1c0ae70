/*
 * database.c
 *		The gateway's own connections to the database.
 *
 *		api			calls of the AWS API
 *		keys		look-ups of its access keys, which do not wait behind its calls
 *		sync		StartSyncExecution, whose calls last
 *		metrics		/metrics, as a role of its own
 *		listen		notifications of new tasks of activities; tells whether the database is there
 *		changes		waits for changes of executions
 */
#include "postgres_fe.h"

#include <time.h>

#include "fe_utils/string_utils.h"

#include "tools/client/key_value.h"
#include "tools/client/session.h"
#include "tools/sfgateway/aws/aws_api.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"

static void watch_pool(SfgPool *pool);

static bool is_lost(void);

static void note_back(void);

/* Calls that wait for a connection */
#define MOST_QUEUED 1000

/* Milliseconds that they wait */
#define PATIENCE 5000

/* Milliseconds between attempts to connect, at most */
#define LONGEST_DELAY 2000

SfgPool		sfg_api_pool = {.most_queued = MOST_QUEUED, .patience = PATIENCE, .by_role = true};
SfgPool		sfg_keys_pool = {.most_queued = MOST_QUEUED, .patience = PATIENCE};
SfgPool		sfg_sync_pool = {.most_queued = 100, .patience = PATIENCE, .by_role = true};
SfgPool		sfg_metrics_pool = {.most_queued = 10, .patience = PATIENCE};
SfgPool		sfg_watch_pool = {.most_queued = 1, .patience = PATIENCE, .statement_timeout = 60000};

/* An activity has a new task. */
static void
notified(SfcDb *db, const PGnotify *notify)
{
	sfg_changes_heard();
	sfg_activity_notified(notify->extra, SFG_HERE);
}

/* The connection that listens is there: notifications sent before are lost. */
static void
listening(SfgPool *pool)
{
	note_back();
	sfg_pool_hurry(&sfg_api_pool);
	sfg_pool_hurry(&sfg_keys_pool);
	sfg_pool_hurry(&sfg_sync_pool);
	sfg_pool_hurry(&sfg_watch_pool);
	sfg_pool_hurry(&sfg_metrics_pool);
	sfg_changes_note();
	sfg_activity_ask(SFG_HERE);
	sfg_nodes_refresh();
}

/* The connection that listens is lost, or cannot be made. */
static void
not_listening(SfgPool *pool)
{
	if (is_lost())
		sfg_changes_note();
}

static SfgPool listen_pool = {
	.listen = "LISTEN sf_activity", .notified = notified, .connected = listening, .failing = not_listening,
	.patience = PATIENCE, .statement_timeout = 1000, .longest_delay = LONGEST_DELAY
};

/* Connect. */
void
sfg_database_start(void)
{
	sfg_api_pool.dsn = sfg_keys_pool.dsn = sfg_sync_pool.dsn = listen_pool.dsn = sfg_watch_pool.dsn = sfg_config.dsn;
	sfg_api_pool.statement_timeout = sfg_keys_pool.statement_timeout = sfg_metrics_pool.statement_timeout =
		sfg_config.statement_timeout;
	sfg_sync_pool.statement_timeout = sfg_config.sync_timeout;
	sfg_pool_start(&sfg_api_pool, sfg_config.database_connections);
	sfg_pool_start(&sfg_keys_pool, 1);
	sfg_pool_start(&sfg_sync_pool, sfg_config.sync_connections);
	sfg_pool_start(&listen_pool, 1);
	watch_pool(&listen_pool);
	sfg_pool_start(&sfg_watch_pool, 1);
	if (sfg_config.metrics_dsn != NULL)
	{
		sfg_metrics_pool.dsn = sfg_config.metrics_dsn;
		sfg_pool_start(&sfg_metrics_pool, 1);
	}
}

/* Tell whether calls can be made. */
bool
sfg_database_is_ready(void)
{
	return sfg_pool_is_connected(&sfg_api_pool) && sfg_pool_is_connected(&sfg_keys_pool) &&
		sfg_pool_is_connected(&listen_pool) && (!sfg_config.nodes || sfg_nodes_are_known());
}

/* Close all connections. */
void
sfg_database_stop(void)
{
	sfg_nodes_stop();
	sfg_pool_stop(&sfg_api_pool);
	sfg_pool_stop(&sfg_keys_pool);
	sfg_pool_stop(&sfg_sync_pool);
	sfg_pool_stop(&listen_pool);
	sfg_pool_stop(&sfg_watch_pool);
	if (sfg_config.metrics_dsn != NULL)
		sfg_pool_stop(&sfg_metrics_pool);
}

/*
 * Connections to the database, by keywords.
 *
 * libpq gets keywords and values in arrays and does not expand dbname, so that
 * the text of a user never becomes a parameter.
 */

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

/* Find an option by its keyword. */
static const char *
option_of(const PQconninfoOption *options, const char *key)
{
	while (options->keyword != NULL && strcmp(options->keyword, key) != 0)
		options++;
	return options->val;
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
		const char *of_own = is_own(key) ? option_of(own_options, key) : NULL;

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

/* Drop a notice of the server: functions of any role send them, and the gateway's log is its own. */
static void
drop_notice(void *arg, const PGresult *notice)
{
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
	/* what the connection string says of these comes behind, and so takes their place */
#define ADD(key, value) add(&parameters, key, value);
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
			add(&parameters, option->keyword, option->val);
	}
	add(&parameters, "options", settings);
	if (user != NULL)
	{
		add(&parameters, "user", user);
		add(&parameters, "password", password);
	}
	conn = PQconnectStartParams(parameters.keys, parameters.values, 0);
	PQsetNoticeReceiver(conn, drop_notice, NULL);
	PQconninfoFree(options);
	free(settings);
	return conn;
}

/*
 * Whether the database is there.
 *
 * One connection of the gateway tells.  A connection that is lost and made again
 * at once is no news: an operator has ended it.  When it cannot be made again, the
 * database is down.
 */

static SfgPool *watched;		/* of this connection */
static int64_t lost_at = INT64_MIN / 2; /* when it was last lost or not made */
static bool failing;			/* it was lost, and is not there again */
static char lost_time[32];		/* when */
static bool down;

/* Have probes go by the one connection of a pool. */
static void
watch_pool(SfgPool *pool)
{
	watched = pool;
}

/* The connection is lost or was not made; tell whether the database is down from now on. */
static bool
is_lost(void)
{
	bool		was_down = down;
	time_t		now = time(NULL);
	struct tm	utc;

	lost_at = sfc_now();
	if (!failing)
		strftime(lost_time, sizeof(lost_time), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	else
		down = true;
	failing = true;
	return down && !was_down;
}

/* The connection is there. */
static void
note_back(void)
{
	failing = down = false;
}

/* When the connection was last lost or not made, on the clock of sfc_now(). */
int64_t
sfg_availability_lost_at(void)
{
	return lost_at;
}

/* Since when the database is down, as pages show it; NULL: it is not. */
const char *
sfg_availability_down_since(void)
{
	return down ? lost_time : NULL;
}

/* Ask the database whether it is there; the result is NULL if it is not. */
void
sfg_availability_probe(SfcDbDone done, void *arg)
{
	sfg_pool_call_first(watched, "SELECT 1", done, arg);
}
