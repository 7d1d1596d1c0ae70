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

#include "gateway/activity_poll.h"
#include "gateway/availability.h"
#include "gateway/changes.h"
#include "gateway/database.h"
#include "gateway/gateway_config.h"

/* Calls that wait for a connection */
#define MOST_QUEUED 1000

/* Milliseconds that they wait */
#define PATIENCE 5000

/* Milliseconds between looks whether the database is back, at most */
#define LOOK 2000

SfgPool		sfg_api_pool = {.most_queued = MOST_QUEUED, .patience = PATIENCE, .by_role = true};
SfgPool		sfg_keys_pool = {.most_queued = MOST_QUEUED, .patience = PATIENCE};
SfgPool		sfg_sync_pool = {.most_queued = 100, .patience = PATIENCE, .by_role = true};
SfgPool		sfg_metrics_pool = {.most_queued = 10, .patience = PATIENCE};
SfgPool		sfg_changes_pool = {.most_queued = 1, .patience = PATIENCE, .statement_timeout = 60000};

/* An activity has a new task. */
static void
notified(SfwDb *db, const PGnotify *notify)
{
	sfg_changes_heard();
	sfg_activity_notified(notify->extra);
}

/* The connection that listens is there: notifications sent before are lost. */
static void
listening(SfgPool *pool)
{
	sfg_availability_is_back();
	sfg_pool_hurry(&sfg_api_pool);
	sfg_pool_hurry(&sfg_keys_pool);
	sfg_pool_hurry(&sfg_sync_pool);
	sfg_pool_hurry(&sfg_changes_pool);
	sfg_pool_hurry(&sfg_metrics_pool);
	sfg_changes_note();
	sfg_activity_ask_all();
}

/* The connection that listens is lost, or cannot be made. */
static void
not_listening(SfgPool *pool)
{
	if (sfg_availability_is_lost())
		sfg_changes_note();
}

static SfgPool listen_pool = {
	.listen = "LISTEN sf_activity", .notified = notified, .connected = listening, .failing = not_listening,
	.patience = PATIENCE, .statement_timeout = 1000, .longest_delay = LOOK
};

/* Connect. */
void
sfg_database_start(void)
{
	sfg_api_pool.dsn = sfg_keys_pool.dsn = sfg_sync_pool.dsn = listen_pool.dsn = sfg_changes_pool.dsn = sfg_config.dsn;
	sfg_api_pool.statement_timeout = sfg_keys_pool.statement_timeout = sfg_metrics_pool.statement_timeout =
		sfg_config.statement_timeout;
	sfg_sync_pool.statement_timeout = sfg_config.sync_timeout;
	sfg_pool_start(&sfg_api_pool, sfg_config.database_connections);
	sfg_pool_start(&sfg_keys_pool, 1);
	sfg_pool_start(&sfg_sync_pool, sfg_config.sync_connections);
	sfg_pool_start(&listen_pool, 1);
	sfg_availability_watch(&listen_pool);
	sfg_pool_start(&sfg_changes_pool, 1);
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
		sfg_pool_is_connected(&listen_pool);
}

/* Close all connections. */
void
sfg_database_stop(void)
{
	sfg_pool_stop(&sfg_api_pool);
	sfg_pool_stop(&sfg_keys_pool);
	sfg_pool_stop(&sfg_sync_pool);
	sfg_pool_stop(&listen_pool);
	sfg_pool_stop(&sfg_changes_pool);
	if (sfg_config.metrics_dsn != NULL)
		sfg_pool_stop(&sfg_metrics_pool);
}
