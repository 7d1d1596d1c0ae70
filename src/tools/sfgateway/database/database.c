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

#include "tools/sfgateway/aws_api/aws_api.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"

static void listening(SfgPool *pool);

static void not_listening(SfgPool *pool);

static void notified(SfcDb *db, const PGnotify *notify);

static void late(void *arg, const char *why);

/* Calls that wait for a connection */
#define MOST_QUEUED 1000

/* Milliseconds that they wait */
#define PATIENCE 5000

/* Milliseconds between attempts to connect, at most */
#define LONGEST_DELAY 2000

/* Milliseconds that the database has to say that it is there */
#define ANSWER		3000

SfgPool		sfg_api_pool = {.most_queued = MOST_QUEUED, .patience = PATIENCE, .by_role = true};
SfgPool		sfg_keys_pool = {.most_queued = MOST_QUEUED, .patience = PATIENCE};
SfgPool		sfg_sync_pool = {.most_queued = 100, .patience = PATIENCE, .by_role = true};
SfgPool		sfg_metrics_pool = {.most_queued = 10, .patience = PATIENCE};
SfgPool		sfg_watch_pool = {.most_queued = 1, .patience = PATIENCE, .statement_timeout = 60000};

static SfgPool listen_pool = {
	.listen = "LISTEN sf_activity", .notified = notified, .connected = listening, .failing = not_listening,
	.patience = PATIENCE, .statement_timeout = 1000, .longest_delay = LONGEST_DELAY
};
static SfgPresence presence = {.pool = &listen_pool, .within = ANSWER, .late = late};
static int64_t lost_at = INT64_MIN / 2; /* when that connection was last lost or not made */
static char lost_time[32];		/* when it was lost, while it is not there again */

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
	sfg_presence_made(&presence);
	sfg_pool_hurry(&sfg_api_pool);
	sfg_pool_hurry(&sfg_keys_pool);
	sfg_pool_hurry(&sfg_sync_pool);
	sfg_pool_hurry(&sfg_watch_pool);
	sfg_pool_hurry(&sfg_metrics_pool);
	sfg_changes_note();
	sfg_activity_ask(SFG_HERE);
	sfg_nodes_refresh();
}

/* The connection that listens is lost, or cannot be made: pages are told when the database is down from now on. */
static void
not_listening(SfgPool *pool)
{
	SfgPresenceStatus before = presence.status;
	time_t		now = time(NULL);
	struct tm	utc;

	lost_at = sfc_now();
	presence.status = sfg_presence_after_loss(&presence);
	if (presence.status == SFG_PRESENCE_LOST)
		strftime(lost_time, sizeof(lost_time), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	else if (before != SFG_PRESENCE_SILENT)
		sfg_changes_note();
}

/* The connection that listens gives no answer, unless it is lost already: do without it, and make another one. */
static void
late(void *arg, const char *why)
{
	if (presence.status == SFG_PRESENCE_THERE)
		sfg_pool_give_up(&listen_pool, why);
}

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
	sfg_presence_begin(&presence);
	sfg_pool_start(&listen_pool, 1);
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
	sfg_presence_end(&presence);
	sfg_pool_stop(&sfg_api_pool);
	sfg_pool_stop(&sfg_keys_pool);
	sfg_pool_stop(&sfg_sync_pool);
	sfg_pool_stop(&listen_pool);
	sfg_pool_stop(&sfg_watch_pool);
	if (sfg_config.metrics_dsn != NULL)
		sfg_pool_stop(&sfg_metrics_pool);
}

/*
 * Whether the database is there: as the connection says that listens (presence.c).
 */

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
	return presence.status == SFG_PRESENCE_SILENT ? lost_time : NULL;
}

/* Ask the database whether it is there; the result is NULL if it is not. */
void
sfg_availability_probe(SfcDbDone done, void *arg)
{
	sfg_pool_call_first(&listen_pool, "SELECT 1", done, arg);
}
