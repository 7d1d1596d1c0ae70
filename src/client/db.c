/*
 * db.c
 *		The session with the database that has the workflows.
 *
 * There is one session with one statement at a time, and no call blocks:
 *
 *		DOWN --timer--> CONNECTING --> BUSY <--> READY
 *		  ^                 |            |         |
 *		  +-----------------+------------+---------+   lost
 *
 * The first two statements listen for notifications and find sfflow's schema.
 * When the connection is lost, the sender of the statement under way is told
 * that its outcome is unknown.  The delay before the next attempt doubles up to
 * half a minute and is partly random, so that a thousand workers do not connect
 * in the same moment when a server is back.
 */
#include "postgres_fe.h"

#include <time.h>
#include <unistd.h>

#include "config.h"
#include "db.h"
#include "log.h"
#include "session.h"

#define FIRST_DELAY 250
#define LAST_DELAY	30000

typedef enum State
{
	DOWN,
	CONNECTING,
	BUSY,						/* a statement is under way */
	READY
} State;

static State state = DOWN;
static SfwSession session = {.fd = -1};
static int64_t delay;			/* before the next attempt */
static bool failed;				/* the last attempt did not succeed */
static char *schema;			/* of sfflow's functions, quoted */
static SfwTimer retry_timer;

static void (*on_connect) (void);
static void (*on_idle) (void);
static void (*on_notify) (const char *activity);
static PGresult *kept;			/* of the statement under way: the first error, else the last result */
static SfwDbDone on_done;
static void *on_done_arg;

static void try_connect(void *arg);

/* Close the session and schedule the next attempt to connect. */
static void
lose(const char *what)
{
	char	   *message = sfw_message(PQerrorMessage(session.conn));
	SfwDbDone	done = on_done;

	delay = delay == 0 ? FIRST_DELAY : Min(delay * 2, LAST_DELAY);
	sfw_log(SFW_WARNING, what, "reason", message, NULL);
	free(message);
	sfw_session_end(&session);
	state = DOWN;
	failed = true;
	on_done = NULL;
	PQclear(kept);
	kept = NULL;
	sfw_timer_set(&retry_timer, delay / 2 + random() % (delay / 2 + 1), try_connect, NULL);
	if (done != NULL)
		done(NULL, on_done_arg);
}

/* Hand the result of the statement to its sender; the session is idle then. */
static void
finish_statement(PGresult *result)
{
	SfwDbDone	done = on_done;

	state = READY;
	on_done = NULL;
	if (done != NULL)
		done(result, on_done_arg);
	PQclear(result);
}

/* Read the results that have arrived; after the last one the statement is finished. */
static void
read_results(void)
{
	while (state == BUSY && !PQisBusy(session.conn))
	{
		PGresult   *result = PQgetResult(session.conn);

		if (result == NULL)
		{
			result = kept;
			kept = NULL;
			if (PQstatus(session.conn) == CONNECTION_BAD)
			{
				PQclear(result);
				lose("connection lost");
			}
			else
				finish_statement(result);
		}
		else if (kept != NULL && PQresultStatus(kept) == PGRES_FATAL_ERROR)
			PQclear(result);
		else
		{
			PQclear(kept);
			kept = result;
		}
	}
}

/* Read what the server sent, send what is not sent yet. */
static void
talk(void *arg)
{
	PGnotify   *notify;

	if (!PQconsumeInput(session.conn) || PQstatus(session.conn) == CONNECTION_BAD)
	{
		lose("connection lost");
		return;
	}
	read_results();
	while (session.conn != NULL && (notify = PQnotifies(session.conn)) != NULL)
	{
		on_notify(notify->extra);
		PQfreemem(notify);
	}
	if (state == READY)
		on_idle();
	if (state == READY || state == BUSY)
		sfw_session_watch(&session);
}

/* Tell whether a statement can be sent. */
bool
sfw_db_is_idle(void)
{
	return state == READY;
}

/* Tell whether the last attempt to connect failed. */
bool
sfw_db_failed(void)
{
	return failed;
}

/* Send a statement with text parameters; only while the session is idle. */
void
sfw_db_send(const char *statement, int n, const char *const *values, SfwDbDone done, void *arg)
{
	state = BUSY;
	on_done = done;
	on_done_arg = arg;
	if (!PQsendQueryParams(session.conn, statement, n, NULL, values, NULL, NULL, 0))
	{
		lose("cannot send a statement");
		return;
	}
	sfw_session_watch(&session);
}

/* The schema of sfflow's functions, quoted. */
const char *
sfw_db_schema(void)
{
	return schema;
}

/* Keep the name of sfflow's schema; without sfflow, try again later. */
static void
setup_done(const PGresult *result, void *arg)
{
	if (result == NULL)
		return;
	if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
	{
		char	   *message = sfw_message(PQresultErrorMessage(result));

		lose(PQresultStatus(result) == PGRES_TUPLES_OK ?
			 "extension sfflow is not installed in this database" : "cannot set the session up");
		sfw_log(SFW_DEBUG, "setup", "reason", message, NULL);
		free(message);
		return;
	}
	free(schema);
	schema = pg_strdup(PQgetvalue(result, 0, 0));
	failed = false;
	delay = 0;
	sfw_log(SFW_INFO, "connected", "database", PQdb(session.conn), "user", PQuser(session.conn), NULL);
	on_connect();
}

/* After LISTEN, find sfflow's schema. */
static void
listening(const PGresult *result, void *arg)
{
	static const char *const by_extension =
		"SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension AS e"
		" JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace"
		" WHERE e.extname OPERATOR(pg_catalog.=) 'sfflow'"
		" AND pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false) IS NOT NULL";
	static const char *const by_name =
		"SELECT pg_catalog.quote_ident($1)"
		" WHERE pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false) IS NOT NULL";
	const char *values[1];

	if (result == NULL)
		return;
	if (PQresultStatus(result) != PGRES_COMMAND_OK)
	{
		lose("cannot listen");
		return;
	}
	values[0] = sfw_config.schema;
	sfw_db_send(sfw_config.schema != NULL ? by_name : by_extension,
				sfw_config.schema != NULL ? 1 : 0, values, setup_done, NULL);
}

/* Set up a new session. */
static void
connected(void *arg)
{
	sfw_db_send("LISTEN sf_activity", 0, NULL, listening, NULL);
}

/* The attempt to connect failed. */
static void
not_connected(void *arg)
{
	lose(*PQerrorMessage(session.conn) != '\0' ? "cannot connect" : "connecting takes too long");
}

/* Try to connect. */
static void
try_connect(void *arg)
{
	state = CONNECTING;
	sfw_session_begin(&session, sfw_config.dbname, true);
}

/*
 * Connect, and reconnect whenever the session is lost.  when_connected is called when there is a new one,
 * when_idle whenever a statement may be sent, when_notified with the name of an
 * activity that has new tasks.
 */
void
sfw_db_start(void (*when_connected) (void), void (*when_idle) (void),
			 void (*when_notified) (const char *activity))
{
	on_connect = when_connected;
	on_idle = when_idle;
	on_notify = when_notified;
	session.connected = connected;
	session.failed = not_connected;
	session.talk = talk;
	srandom((unsigned) (time(NULL) ^ getpid()));
	try_connect(NULL);
}

/* Close the session. */
void
sfw_db_stop(void)
{
	sfw_timer_clear(&retry_timer);
	sfw_session_end(&session);
	state = DOWN;
}
