/*
 * db.c
 *		A session with the database that has the workflows.
 *
 * A session has one statement at a time, and no call blocks:
 *
 *		DOWN --timer--> LOOKING --> CONNECTING --> BUSY <--> READY
 *		  ^                |            |            |         |
 *		  +----------------+------------+------------+---------+   lost
 *
 * An owner whose server has a name that is to be looked up does so before it connects (LOOKING): libpq would wait.  One
 * limit holds for both together.
 * The first statements listen for notifications and find sfflow's schema.
 * When the connection is lost, the sender of the statement under way is told
 * that its outcome is unknown.  The delay before the next attempt doubles up to
 * half a minute and is partly random, so that a thousand workers do not connect
 * in the same moment when a server is back.
 *
 * A callback may stop the session, but must not free it.
 */
#include "postgres_fe.h"

#include <time.h>
#include <unistd.h>

#include "tools/client/db.h"
#include "tools/client/log.h"

#define FIRST_DELAY 250
#define LAST_DELAY	30000

static void try_connect(void *arg);

/*
 * Read the last SQLSTATE of a message of PQERRORS_VERBOSE, "FATAL:  28P01: …"; "" if it has none.  libpq adds a
 * line for each attempt.  What follows a code in its line may have the name of a role, which can look like one.
 */
static void
read_sqlstate(char sqlstate[6], const char *message)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *c = message;

	*sqlstate = '\0';
	while ((c = strstr(c, ":  ")) != NULL)
	{
		c += 3;
		if (strspn(c, digits) == 5 && c[5] == ':')
		{
			strlcpy(sqlstate, c, 6);
			c += strcspn(c, "\n");
		}
	}
}

/* Schedule the next attempt to connect. */
static void
try_again(SfcDb *db)
{
	if (db->longest_delay > 0)
		db->delay = Min(db->delay, db->longest_delay);
	sfc_timer_set(&db->retry_timer, db->delay / 2 + random() % (db->delay / 2 + 1), try_connect, db);
	if (db->failing != NULL)
		db->failing(db);
}

/* Close the session, if there is one, and schedule the next attempt to connect. */
static void
lose_for(SfcDb *db, const char *what, const char *reason)
{
	char	   *message = sfc_message(reason);
	SfcDbDone	done = db->on_done;

	db->delay = db->delay == 0 ? FIRST_DELAY : Min(db->delay * 2, LAST_DELAY);
	sfc_log(SFC_LOG_WARNING, what, "user", PQuser(db->session.conn), "reason", message, NULL);
	read_sqlstate(db->sqlstate, message);
	free(message);
	db->failed = true;
	sfc_db_stop(db);
	if (db->lost == NULL)
		try_again(db);
	if (done != NULL)
		done(NULL, db->on_done_arg);
	if (db->lost != NULL)
		db->lost(db);
}

/* The same, for what libpq says. */
static void
lose(SfcDb *db, const char *what)
{
	lose_for(db, what, PQerrorMessage(db->session.conn));
}

/* Hand the result of the statement to its sender; the session is idle then. */
static void
end_statement(SfcDb *db, PGresult *result)
{
	SfcDbDone	done = db->on_done;

	db->status = SFC_DB_READY;
	db->on_done = NULL;
	if (done != NULL)
		done(result, db->on_done_arg);
	PQclear(result);
}

/* Read the results that have arrived; after the last one the statement is finished. */
static void
read_results(SfcDb *db)
{
	while (db->status == SFC_DB_BUSY && !PQisBusy(db->session.conn))
	{
		PGresult   *result = PQgetResult(db->session.conn);

		if (result == NULL)
		{
			result = db->kept;
			db->kept = NULL;
			if (PQstatus(db->session.conn) == CONNECTION_BAD)
			{
				PQclear(result);
				lose(db, "connection lost");
			}
			else
				end_statement(db, result);
		}
		else if (db->kept != NULL && PQresultStatus(db->kept) == PGRES_FATAL_ERROR)
			PQclear(result);
		else
		{
			PQclear(db->kept);
			db->kept = result;
		}
	}
}

/* Read what the server sent, send what is not sent yet. */
static void
talk(void *arg)
{
	SfcDb	   *db = arg;
	PGnotify   *notify;

	if (!PQconsumeInput(db->session.conn) || PQstatus(db->session.conn) == CONNECTION_BAD)
	{
		lose(db, "connection lost");
		return;
	}
	read_results(db);
	while (db->session.conn != NULL && (notify = PQnotifies(db->session.conn)) != NULL)
	{
		if (db->notified != NULL)
			db->notified(db, notify);
		PQfreemem(notify);
	}
	if (db->status == SFC_DB_READY)
		db->idle(db);
	if (db->status == SFC_DB_READY || db->status == SFC_DB_BUSY)
		sfc_session_watch(&db->session);
}

/* Tell whether a statement can be sent. */
bool
sfc_db_is_idle(const SfcDb *db)
{
	return db->status == SFC_DB_READY;
}

/* A statement begins: its sender waits for the result. */
static void
begin_statement(SfcDb *db, SfcDbDone done, void *arg)
{
	db->status = SFC_DB_BUSY;
	db->on_done = done;
	db->on_done_arg = arg;
}

/* Go on after a statement was handed to libpq, or was not. */
static void
handed_over(SfcDb *db, int ok)
{
	if (ok)
		sfc_session_watch(&db->session);
	else
		lose(db, "cannot send a statement");
}

/* Send a statement with text parameters; only while the session is idle. */
void
sfc_db_send(SfcDb *db, const char *statement, int n, const char *const *values, SfcDbDone done, void *arg)
{
	begin_statement(db, done, arg);
	handed_over(db, PQsendQueryParams(db->session.conn, statement, n, NULL, values, NULL, NULL, 0));
}

/* Prepare a statement under a name; only while the session is idle. */
void
sfc_db_prepare(SfcDb *db, const char *name, const char *statement, SfcDbDone done, void *arg)
{
	begin_statement(db, done, arg);
	handed_over(db, PQsendPrepare(db->session.conn, name, statement, 0, NULL));
}

/* Send a statement that this session has prepared; only while it is idle. */
void
sfc_db_send_prepared(SfcDb *db, const char *name, int n, const char *const *values, SfcDbDone done, void *arg)
{
	begin_statement(db, done, arg);
	handed_over(db, PQsendQueryPrepared(db->session.conn, name, n, values, NULL, NULL, 0));
}

/* Keep the name of sfflow's schema; without sfflow, try again later. */
static void
setup_done(const PGresult *result, void *arg)
{
	SfcDb	   *db = arg;

	if (result == NULL)
		return;
	if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
	{
		char	   *message = sfc_message(PQresultErrorMessage(result));

		lose(db, PQresultStatus(result) == PGRES_TUPLES_OK ?
			 "extension sfflow is not installed in this database" : "cannot set the session up");
		sfc_log(SFC_LOG_DEBUG, "setup", "reason", message, NULL);
		free(message);
		return;
	}
	free(db->schema);
	db->schema = pg_strdup(PQgetvalue(result, 0, 0));
	db->has_traces = *PQgetvalue(result, 0, 1) == 't';
	db->failed = false;
	db->delay = 0;
	db->n_late = 0;
	sfc_log(SFC_LOG_INFO, "connected", "database", PQdb(db->session.conn), "user", PQuser(db->session.conn), NULL);
	db->connected(db);
}

/* Does a schema n have the function that gives tasks out with their traces? */
#define HAS_TRACES \
	"EXISTS (SELECT FROM pg_catalog.pg_proc AS p WHERE p.pronamespace OPERATOR(pg_catalog.=) n.oid" \
	" AND p.proname OPERATOR(pg_catalog.=) 'sf_get_activity_task' AND p.pronargs OPERATOR(pg_catalog.=) 4)"

/* Find sfflow's schema. */
static void
find_schema(SfcDb *db)
{
	static const char *const by_extension =
		"SELECT pg_catalog.quote_ident(n.nspname), " HAS_TRACES " FROM pg_catalog.pg_extension AS e"
		" JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
		" WHERE e.extname OPERATOR(pg_catalog.=) 'sfflow'"
		" AND pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false) IS NOT NULL";
	static const char *const by_name =
		"SELECT pg_catalog.quote_ident($1), EXISTS (SELECT FROM pg_catalog.pg_namespace AS n"
		" WHERE n.nspname OPERATOR(pg_catalog.=) $1 AND " HAS_TRACES ")"
		" WHERE pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false) IS NOT NULL";
	const char *values[1] = {db->schema_name};

	if (db->schema_name != NULL)
		sfc_db_send(db, by_name, 1, values, setup_done, db);
	else
		sfc_db_send(db, by_extension, 0, NULL, setup_done, db);
}

/* After LISTEN, find sfflow's schema. */
static void
listening(const PGresult *result, void *arg)
{
	SfcDb	   *db = arg;

	if (result == NULL)
		return;
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
		lose(db, "cannot listen");
	else
		find_schema(db);
}

/* Set up a new session. */
static void
connected(void *arg)
{
	SfcDb	   *db = arg;

	if (db->listen != NULL)
		sfc_db_send(db, db->listen, 0, NULL, listening, db);
	else
		find_schema(db);
}

/* The attempt to connect failed. */
static void
not_connected(void *arg)
{
	SfcDb	   *db = arg;

	bool		late = PQstatus(db->session.conn) != CONNECTION_BAD;

	if (late)
		db->n_late++;
	lose(db, late ? "connecting takes too long" : "cannot connect");
}

/* Begin to connect: it is known where the server is. */
static void
begin_connecting(SfcDb *db)
{
	db->status = SFC_DB_CONNECTING;
	sfc_session_begin(&db->session, db->connect(db),
					  Min(db->connect_timeout, Max(db->connect_until - sfc_now(), 0)));
}

/* The owner has looked for the server: connect; problem is NULL, or says why it is nowhere. */
void
sfc_db_found(SfcDb *db, const char *problem)
{
	if (problem == NULL)
		begin_connecting(db);
	else
		lose_for(db, "cannot connect", problem);
}

/* Try to connect. */
static void
try_connect(void *arg)
{
	SfcDb	   *db = arg;

	db->status = SFC_DB_LOOKING;
	db->connect_until = sfc_now() + (db->attempt_timeout > 0 ? db->attempt_timeout : db->connect_timeout);
	if (db->look == NULL || !db->look(db))
		begin_connecting(db);
}

/* Connect, and reconnect whenever the session is lost, unless the owner wants to be told instead. */
void
sfc_db_start(SfcDb *db)
{
	db->session = (SfcSession) {
		.fd = -1, .connected = connected, .failed = not_connected, .talk = talk, .arg = db
	};
	srandom((unsigned) (time(NULL) ^ getpid()));
	try_connect(db);
}

/* Do not wait any longer for the next attempt to connect: the server is known to be back. */
void
sfc_db_hurry(SfcDb *db)
{
	if (db->retry_timer.armed)
		sfc_timer_set(&db->retry_timer, random() % FIRST_DELAY, try_connect, db);
}

/* Close the session as if the connection were lost: the statement under way does not end. */
void
sfc_db_drop(SfcDb *db, const char *why)
{
	lose(db, why);
}

/* Close the session; a statement under way gets no result. */
void
sfc_db_stop(SfcDb *db)
{
	sfc_timer_clear(&db->retry_timer);
	sfc_session_end(&db->session);
	db->status = SFC_DB_DOWN;
	db->on_done = NULL;
	PQclear(db->kept);
	db->kept = NULL;
}
