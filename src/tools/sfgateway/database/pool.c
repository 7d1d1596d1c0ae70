/*
 * pool.c
 *		Connections that take calls from a queue.
 *
 * A call is one statement with text parameters, which each connection prepares
 * when it first has it: a call is neither parsed nor planned again.  It waits
 * until a connection of the pool is idle, but not longer than the pool's
 * patience; when the queue is full it is refused.  The sender gets the result, or NULL if there was none: the
 * connection was lost, or the call waited too long.  A sender that has left
 * before forgets its call, which is sent no more; one that is under way ends by
 * itself, at the latest after statement_timeout.  A function can catch that error and go on, so some
 * seconds later the connection is closed, and another one made; the server
 * notices by client_connection_check_interval.
 *
 * A role cannot take all connections of a pool.  In the queue it has no more
 * calls than are free, so that the next role finds some.
 */
#include "postgres_fe.h"

#include "tools/client/json_text.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/database/pool.h"
#include "tools/sfgateway/gateway_config.h"

/* Milliseconds from statement_timeout to the end of the connection */
#define GRACE 3000

/* Free a call. */
static void
free_call(SfgCall *call)
{
	for (int i = 0; i < call->n; i++)
		free(call->values[i]);
	free(call->statement);
	free(call);
}

/* Give a call its result, and free it. */
static void
give_result(SfgCall *call, const PGresult *result)
{
	if (call->done != NULL)
		call->done(result, call->arg);
	free_call(call);
}

/* The result of the statement of a connection has come. */
static void
statement_done(const PGresult *result, void *arg)
{
	SfgConnection *connection = arg;
	SfgCall    *call = connection->call;

	connection->call = NULL;
	sfc_timer_clear(&connection->deadline);
	if (call != NULL)
		give_result(call, result);
}

/* Send the statement of a call that its connection has prepared. */
static void
send_prepared(SfgConnection *connection, int number)
{
	const SfgCall *call = connection->call;
	char		name[16];

	snprintf(name, sizeof(name), "%d", number);
	sfc_db_send_prepared(&connection->db, name, call->n, (const char *const *) call->values, statement_done, connection);
}

/* The statement of a call is prepared, or it is not valid. */
static void
prepared(const PGresult *result, void *arg)
{
	SfgConnection *connection = arg;

	if (PQresultStatus(result) != PGRES_COMMAND_OK)
	{
		statement_done(result, connection);
		return;
	}
	connection->prepared[connection->n_prepared++] = pg_strdup(connection->call->statement);
	if (connection->call->done == NULL)
		statement_done(NULL, connection);	/* its client has left meanwhile */
	else
		send_prepared(connection, connection->n_prepared - 1);
}

/* Prepare the statement of a call, and send it then; without a free number, send it as it is. */
static void
prepare_call(SfgConnection *connection)
{
	const SfgCall *call = connection->call;
	PQExpBufferData statement;
	char		name[16];

	initPQExpBuffer(&statement);
	for (const char *c = call->statement; *c != '\0'; c++)
	{
		if (*c == '@')
			appendPQExpBufferStr(&statement, connection->db.schema);
		else
			appendPQExpBufferChar(&statement, *c);
	}
	snprintf(name, sizeof(name), "%d", connection->n_prepared);
	if (connection->n_prepared < SFG_MOST_PREPARED)
		sfc_db_prepare(&connection->db, name, sfc_buffer_data(&statement), prepared, connection);
	else
		sfc_db_send(&connection->db, sfc_buffer_data(&statement), call->n, (const char *const *) call->values,
					statement_done, connection);
	termPQExpBuffer(&statement);
}

/* The call of a connection does not end: do without this connection. */
static void
too_late(void *arg)
{
	SfgConnection *connection = arg;

	sfc_db_drop(&connection->db, "a statement does not end at its timeout");
}

/* Send the statement of a call. */
static void
send_call(SfgConnection *connection, SfgCall *call)
{
	connection->call = call;
	sfc_timer_set(&connection->deadline, connection->pool->statement_timeout + GRACE, too_late, connection);
	for (int i = 0; i < connection->n_prepared; i++)
	{
		if (strcmp(connection->prepared[i], call->statement) == 0)
		{
			send_prepared(connection, i);
			return;
		}
	}
	prepare_call(connection);
}

/* Forget what a connection has prepared: it is another one now. */
static void
forget_prepared(SfgConnection *connection)
{
	while (connection->n_prepared > 0)
		free(connection->prepared[--connection->n_prepared]);
}

/* Take a call off the queue. */
static void
leave_queue(SfgCall *call)
{
	dlist_delete(&call->node);
	call->pool->n_queued--;
	call->pool = NULL;
}

/* Take the oldest call off the queue, or NULL. */
static SfgCall *
take(SfgPool *pool)
{
	SfgCall    *call;

	if (dlist_is_empty(&pool->queue))
		return NULL;
	call = dlist_head_element(SfgCall, node, &pool->queue);
	leave_queue(call);
	return call;
}

/* Tell whether a role has calls under way on all connections but one, which is for others. */
static bool
is_busy(const SfgPool *pool, const char *role)
{
	int			n = 0;

	for (int i = 0; i < pool->n_connections; i++)
	{
		const SfgCall *call = pool->connections[i].call;

		n += call != NULL && strcmp(call->values[0], role) == 0;
	}
	return n >= Max(pool->n_connections - 1, 1);
}

/* Take the oldest call that may be sent now off the queue, or NULL. */
static SfgCall *
take_next(SfgPool *pool)
{
	dlist_iter	iter;

	if (!pool->by_role)
		return take(pool);
	dlist_foreach(iter, &pool->queue)
	{
		SfgCall    *call = dlist_container(SfgCall, node, iter.cur);

		if (is_busy(pool, call->values[0]))
			continue;
		leave_queue(call);
		return call;
	}
	return NULL;
}

/* Tell whether there is room for a call in the queue; one role has no more than is free. */
static bool
has_room(SfgPool *pool, const char *role)
{
	int			n = 0;
	dlist_iter	iter;

	if (!pool->by_role || role == NULL || pool->n_queued < pool->most_queued / 4)
		return pool->n_queued < pool->most_queued;
	dlist_foreach(iter, &pool->queue)
		n += strcmp(dlist_container(SfgCall, node, iter.cur)->values[0], role) == 0;
	return n < pool->most_queued - pool->n_queued;
}

/* A connection is idle: send it the next call. */
static void
idle(SfcDb *db)
{
	SfgConnection *connection = db->arg;
	SfgCall    *call;

	while ((call = take_next(connection->pool)) != NULL && call->wanted != NULL && !call->wanted(call->arg))
		give_result(call, NULL);
	if (call != NULL)
		send_call(connection, call);
}

/* End the calls that have waited too long, and look again. */
static void
end_old_calls(void *arg)
{
	SfgPool    *pool = arg;
	int64_t		now = sfc_now();

	while (!dlist_is_empty(&pool->queue) &&
		   dlist_head_element(SfgCall, node, &pool->queue)->until <= now)
		give_result(take(pool), NULL);
	if (!dlist_is_empty(&pool->queue))
		sfc_timer_set(&pool->timer, dlist_head_element(SfgCall, node, &pool->queue)->until - now, end_old_calls, pool);
}

/* The hosts of a connection were looked up. */
static void
hosts_found(void *arg, const char *problem)
{
	SfgConnection *connection = arg;

	sfc_db_found(&connection->db, problem);
}

/* Look for the hosts of a connection; false: libpq needs no help with them. */
static bool
look_for_hosts(SfcDb *db)
{
	SfgConnection *connection = db->arg;

	connection->hosts = sfg_dsn_find_hosts(connection->pool->dsn, db->n_late, hosts_found, connection);
	return connection->hosts != NULL;
}

/* Forget the hosts of a connection. */
static void
forget_hosts(SfgConnection *connection)
{
	sfc_hosts_free(connection->hosts);
	connection->hosts = NULL;
}

/* Wipe the password of a pool. */
static void
wipe_password(SfgPool *pool)
{
	if (pool->password != NULL)
		explicit_bzero(pool->password, strlen(pool->password));
	free(pool->password);
	pool->password = NULL;
}

/* Begin to connect, as the owner of the pool has said. */
static PGconn *
begin_connection(SfcDb *db)
{
	SfgConnection *connection = db->arg;
	SfgPool    *pool = connection->pool;
	PGconn	   *conn = sfg_dsn_connect(pool->dsn, connection->hosts, pool->statement_timeout, pool->user,
									   pool->password);

	/* The owner who is told of the loss needs the SQLSTATE, which libpq has in such messages alone. */
	if (pool->lost != NULL)
		PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
	forget_prepared(connection);
	forget_hosts(connection);
	wipe_password(pool);
	return conn;
}

/* A connection is there. */
static void
connected(SfcDb *db)
{
	SfgPool    *pool = ((SfgConnection *) db->arg)->pool;

	PQsetErrorVerbosity(db->session.conn, PQERRORS_DEFAULT);
	if (pool->connected != NULL)
		pool->connected(pool);
}

/* A connection is lost, and is not made again. */
static void
lost(SfcDb *db)
{
	SfgConnection *connection = db->arg;

	forget_hosts(connection);
	connection->pool->lost(connection->pool);
}

/* A connection is lost or was not made, and is tried again after a while. */
static void
failing(SfcDb *db)
{
	SfgConnection *connection = db->arg;

	forget_hosts(connection);
	if (connection->pool->failing != NULL)
		connection->pool->failing(connection->pool);
}

/* Make the connections of a pool, without connecting them. */
void
sfg_pool_prepare(SfgPool *pool, int n)
{
	dlist_init(&pool->queue);
	pool->n_connections = n;
	pool->connections = pg_malloc0(sizeof(SfgConnection) * (size_t) n);
	for (int i = 0; i < n; i++)
	{
		SfgConnection *connection = &pool->connections[i];

		connection->pool = pool;
		connection->db = (SfcDb) {
			.look = look_for_hosts,
			.connect = begin_connection,
			.connect_timeout = pool->connect_timeout > 0 ? pool->connect_timeout : sfg_config.connect_timeout,
			.attempt_timeout = sfg_config.connect_timeout,
			.listen = pool->listen,
			.schema_name = sfg_config.schema,
			.connected = connected,
			.idle = idle,
			.notified = pool->notified,
			.lost = pool->lost != NULL ? lost : NULL,
			.failing = failing,
			.longest_delay = pool->longest_delay,
			.arg = connection,
		};
	}
}

/* Connect a pool. */
void
sfg_pool_start(SfgPool *pool, int n)
{
	sfg_pool_prepare(pool, n);
	sfg_pool_reconnect(pool, pool->password);
}

/* Connect a pool that has no connection; the password is freed. */
void
sfg_pool_reconnect(SfgPool *pool, char *password)
{
	pool->password = password;
	for (int i = 0; i < pool->n_connections; i++)
		sfc_db_start(&pool->connections[i].db);
}

/* Try at once to make the connections that a pool does not have: the database is back. */
void
sfg_pool_hurry(SfgPool *pool)
{
	for (int i = 0; i < pool->n_connections; i++)
		sfc_db_hurry(&pool->connections[i].db);
}

/* The server does not answer: end all calls without a result, and make all connections anew. */
void
sfg_pool_give_up(SfgPool *pool, const char *why)
{
	SfgCall    *call;

	for (int i = 0; i < pool->n_connections; i++)
	{
		SfcDb	   *db = &pool->connections[i].db;

		if (db->status == SFC_DB_READY || db->status == SFC_DB_BUSY)
			sfc_db_drop(db, why);
	}
	while ((call = take(pool)) != NULL)
		give_result(call, NULL);
}

/* Tell whether a pool has no connection, and makes none. */
bool
sfg_pool_is_down(const SfgPool *pool)
{
	for (int i = 0; i < pool->n_connections; i++)
	{
		if (pool->connections[i].db.status != SFC_DB_DOWN)
			return false;
	}
	return true;
}

/* Tell whether a connection can take calls, now or after the one under way. */
bool
sfg_pool_is_connected(const SfgPool *pool)
{
	for (int i = 0; i < pool->n_connections; i++)
	{
		if (!pool->connections[i].db.failed && pool->connections[i].db.schema != NULL)
			return true;
	}
	return false;
}

/* Tell whether no call waits or is under way. */
bool
sfg_pool_is_idle(const SfgPool *pool)
{
	for (int i = 0; i < pool->n_connections; i++)
	{
		if (pool->connections[i].call != NULL)
			return false;
	}
	return pool->n_queued == 0;
}

/* Send calls of the queue on the connections that are idle. */
static void
dispatch(void *arg)
{
	SfgPool    *pool = arg;

	for (int i = 0; i < pool->n_connections; i++)
	{
		if (sfc_db_is_idle(&pool->connections[i].db))
			idle(&pool->connections[i].db);
	}
}

/* Add a call to the end of the queue. The values are copied. */
static SfgCall *
enqueue(SfgPool *pool, const char *statement, int n, const char *const *values, SfcDbDone done, void *arg)
{
	SfgCall    *call = pg_malloc0(sizeof(SfgCall));

	call->statement = pg_strdup(statement);
	call->n = n;
	for (int i = 0; i < n; i++)
		call->values[i] = pg_strdup(values[i]);
	call->done = done;
	call->arg = arg;
	call->pool = pool;
	call->until = sfc_now() + pool->patience;
	dlist_push_tail(&pool->queue, &call->node);
	if (pool->n_queued++ == 0)
		sfc_timer_set(&pool->timer, pool->patience, end_old_calls, pool);
	if (!pool->dispatch.armed)
		sfc_timer_set(&pool->dispatch, 0, dispatch, pool);
	return call;
}

/* Make a call; NULL: the queue is full. The values are copied. */
SfgCall *
sfg_pool_call(SfgPool *pool, const char *statement, int n, const char *const *values, SfcDbDone done, void *arg)
{
	return has_room(pool, n > 0 ? values[0] : NULL) ? enqueue(pool, statement, n, values, done, arg) : NULL;
}

/* Make a call of the owner of the pool, without values, before all that wait, however many. */
void
sfg_pool_call_first(SfgPool *pool, const char *statement, SfcDbDone done, void *arg)
{
	SfgCall    *call = enqueue(pool, statement, 0, NULL, done, arg);

	dlist_delete(&call->node);
	dlist_push_head(&pool->queue, &call->node);
}

/* Do not tell the sender of a call its result, nor send the call if it waits. */
void
sfg_call_forget(SfgCall *call)
{
	call->done = NULL;
	if (call->pool == NULL)
		return;
	leave_queue(call);
	free_call(call);
}

/* Close the connections of a pool; calls get no result. */
void
sfg_pool_stop(SfgPool *pool)
{
	SfgCall    *call;

	sfc_timer_clear(&pool->timer);
	sfc_timer_clear(&pool->dispatch);
	for (int i = 0; i < pool->n_connections; i++)
	{
		sfc_db_stop(&pool->connections[i].db);
		forget_hosts(&pool->connections[i]);
		statement_done(NULL, &pool->connections[i]);
	}
	wipe_password(pool);
	while ((call = take(pool)) != NULL)
		give_result(call, NULL);
}

/* Free a pool that was stopped, but not from one of its own callbacks. */
void
sfg_pool_free(SfgPool *pool)
{
	for (int i = 0; i < pool->n_connections; i++)
	{
		forget_prepared(&pool->connections[i]);
		free(pool->connections[i].db.schema);
	}
	free(pool->connections);
	pool->connections = NULL;
	pool->n_connections = 0;
}
