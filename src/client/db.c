/*
 * db.c
 *		The connection to the database with the workflows.
 *
 * One session, one statement at a time, nothing that blocks:
 *
 *		DOWN --timer--> CONNECTING --> SETUP --> READY <--> BUSY
 *		  ^                 |            |         |         |
 *		  +-----------------+------------+---------+---------+   lost
 *
 * SETUP finds sfflow's schema and listens.  When the session is lost, what was
 * asked is reported as of unknown outcome, and the next try is made after a
 * delay that doubles up to half a minute, of which a random part is taken, so
 * that a thousand workers do not all come at once when a server is back.
 */
#include "db.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "log.h"
#include "loop.h"

#define FIRST_DELAY 250
#define LAST_DELAY	30000

typedef enum State
{
	DOWN,
	CONNECTING,
	SETUP,
	READY,
	BUSY
} State;

static State state = DOWN;
static PGconn *conn;
static int	conn_fd = -1;		/* what the loop watches; libpq may change it */
static int64_t delay;			/* before the next try */
static bool failed;				/* the last try did not succeed */
static char *schema;			/* of sfflow's functions, quoted */
static SfwTimer timer;

static void (*on_connect) (void);
static void (*on_idle) (void);
static void (*on_notify) (const char *activity);
static SfwDbDone on_done;
static void *on_done_arg;

static void try_connect(void *arg);

/* Give a message of libpq without its last newline, in memory of its own. */
char *
sfw_db_message(const char *message)
{
	char	   *copy = sfw_strdup(message != NULL ? message : "");
	size_t		len = strlen(copy);

	while (len > 0 && copy[len - 1] == '\n')
		copy[--len] = '\0';
	return copy;
}

/* The SQLSTATE of a result, "" when it has none. */
const char *
sfw_db_sqlstate(const PGresult *result)
{
	const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	return code != NULL ? code : "";
}

/*
 * Begin to connect, or with wait connect.  own: to the database with the
 * workflows, as the options say; else as conninfo says alone.
 */
PGconn *
sfw_db_open(const char *conninfo, bool own, bool wait)
{
	const char *keys[16] = {0};
	const char *values[16] = {0};
	int			n = 0;

	/* What stands before dbname can be overruled by it, what follows cannot. */
	keys[n] = "connect_timeout", values[n++] = "10";
	keys[n] = "keepalives_idle", values[n++] = "30";
	keys[n] = "keepalives_interval", values[n++] = "10";
	keys[n] = "keepalives_count", values[n++] = "3";
	keys[n] = "fallback_application_name", values[n++] = "sfworker";
	keys[n] = "dbname", values[n++] = conninfo;
	keys[n] = "client_encoding", values[n++] = "UTF8";
	if (own && sfw_config.host != NULL)
		keys[n] = "host", values[n++] = sfw_config.host;
	if (own && sfw_config.port != NULL)
		keys[n] = "port", values[n++] = sfw_config.port;
	if (own && sfw_config.user != NULL)
		keys[n] = "user", values[n++] = sfw_config.user;
	return wait ? PQconnectdbParams(keys, values, 1) : PQconnectStartParams(keys, values, 1);
}

/* Watch the session's socket. */
static void
watch(short events, SfwReady ready)
{
	int			fd = PQsocket(conn);

	if (fd != conn_fd && conn_fd >= 0)
		sfw_loop_watch(conn_fd, 0, NULL, NULL);
	conn_fd = fd;
	sfw_loop_watch(fd, events, ready, NULL);
}

/* End the session and watch it no more. */
static void
end_session(void)
{
	if (conn_fd >= 0)
		sfw_loop_watch(conn_fd, 0, NULL, NULL);
	conn_fd = -1;
	PQfinish(conn);
	conn = NULL;
	state = DOWN;
}

/* Give the session up and arrange the next try. */
static void
lose(const char *what)
{
	char	   *message = sfw_db_message(conn != NULL ? PQerrorMessage(conn) : "");
	SfwDbDone	done = on_done;
	int64_t		wait;

	delay = delay == 0 ? FIRST_DELAY : delay * 2 > LAST_DELAY ? LAST_DELAY : delay * 2;
	wait = delay / 2 + random() % (delay / 2 + 1);
	sfw_log(SFW_WARNING, what, "reason", message, NULL);
	free(message);
	end_session();
	failed = true;
	on_done = NULL;
	sfw_timer_set(&timer, wait, try_connect, NULL);
	if (done != NULL)
		done(NULL, on_done_arg);
}

/* Deliver the notifications that have come. */
static void
deliver_notifications(void)
{
	PGnotify   *notify;

	while ((notify = PQnotifies(conn)) != NULL)
	{
		on_notify(notify->extra);
		PQfreemem(notify);
	}
}

/* Take the answer to the statement that is under way; the session is idle then. */
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

/* Read what the server sent, send what is left to be sent. */
static void
talk(int fd, short revents, void *arg)
{
	static PGresult *last;
	PGresult   *result;
	int			flushed;

	if (!PQconsumeInput(conn) || PQstatus(conn) == CONNECTION_BAD)
	{
		PQclear(last);
		last = NULL;
		lose("connection lost");
		return;
	}
	flushed = PQflush(conn);
	while (state == BUSY && !PQisBusy(conn))
	{
		result = PQgetResult(conn);
		if (result != NULL)
		{
			/* The first error counts, else the last result. */
			if (last == NULL || PQresultStatus(last) != PGRES_FATAL_ERROR)
			{
				PQclear(last);
				last = result;
			}
			else
				PQclear(result);
			continue;
		}
		result = last;
		last = NULL;
		if (PQstatus(conn) == CONNECTION_BAD)
		{
			PQclear(result);
			lose("connection lost");
			return;
		}
		finish_statement(result);
	}
	deliver_notifications();
	if (state == READY)
		on_idle();
	if (conn != NULL && (state == READY || state == BUSY))
		watch((short) (POLLIN | (flushed == 1 || PQflush(conn) == 1 ? POLLOUT : 0)), talk);
}

/* Tell whether a statement can be sent. */
bool
sfw_db_is_idle(void)
{
	return state == READY;
}

/* Tell whether there is a session. */
bool
sfw_db_is_up(void)
{
	return state == READY || state == BUSY;
}

/* Tell whether the last try to connect did not succeed. */
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
	if (!PQsendQueryParams(conn, statement, n, NULL, values, NULL, NULL, 0))
	{
		lose("cannot send a statement");
		return;
	}
	watch((short) (POLLIN | (PQflush(conn) == 1 ? POLLOUT : 0)), talk);
}

/* Give the full name of one of sfflow's functions or views, in memory of its own. */
char *
sfw_db_function(const char *name)
{
	return sfw_format("%s.%s", schema, name);
}

/* Note where sfflow is, or try again later when it is not. */
static void
setup_done(const PGresult *result, void *arg)
{
	if (result == NULL)
		return;
	if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
	{
		char	   *message = sfw_db_message(PQresultErrorMessage(result));

		lose(PQresultStatus(result) == PGRES_TUPLES_OK ?
			 "extension sfflow is not installed in this database" : "cannot set the session up");
		sfw_log(SFW_DEBUG, "setup", "reason", message, NULL);
		free(message);
		return;
	}
	free(schema);
	schema = sfw_strdup(PQgetvalue(result, 0, 0));
	failed = false;
	delay = 0;
	sfw_log(SFW_INFO, "connected", "database", PQdb(conn), "user", PQuser(conn), NULL);
	on_connect();
}

/* Listen, then find sfflow's schema. */
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

/* Go on with connecting. */
static void
go_on_connecting(int fd, short revents, void *arg)
{
	switch (PQconnectPoll(conn))
	{
		case PGRES_POLLING_READING:
			watch(POLLIN, go_on_connecting);
			break;
		case PGRES_POLLING_WRITING:
			watch(POLLOUT, go_on_connecting);
			break;
		case PGRES_POLLING_OK:
			sfw_timer_clear(&timer);
			PQsetnonblocking(conn, 1);
			sfw_db_send("LISTEN sf_activity", 0, NULL, listening, NULL);
			break;
		default:
			lose("cannot connect");
			break;
	}
}

/* Give up a connection that does not come about: a server that does not answer. */
static void
connect_late(void *arg)
{
	lose("connecting takes too long");
}

/* Try to connect. */
static void
try_connect(void *arg)
{
	conn = sfw_db_open(sfw_config.dbname, true, false);
	if (conn == NULL || PQstatus(conn) == CONNECTION_BAD)
	{
		lose("cannot connect");
		return;
	}
	state = CONNECTING;
	sfw_timer_set(&timer, sfw_config.connect_timeout, connect_late, NULL);
	watch(POLLOUT, go_on_connecting);
}

/*
 * Begin to keep a session.  connected is called when there is a new one, idle
 * whenever a statement may be sent, notified with the name of an activity that
 * has new tasks.
 */
void
sfw_db_start(void (*connected) (void), void (*idle) (void),
			 void (*notified) (const char *activity))
{
	on_connect = connected;
	on_idle = idle;
	on_notify = notified;
	srandom((unsigned) (time(NULL) ^ getpid()));
	try_connect(NULL);
}

/* Leave. */
void
sfw_db_stop(void)
{
	sfw_timer_clear(&timer);
	end_session();
}
