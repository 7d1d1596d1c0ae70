/*
 * console_session.c
 *		Sessions of the console: a role, and its connection to the database.
 *
 * The role and the password of a session are those of its connection, so that
 * pg_hba.conf, expiry and locks of roles hold, and the rights of the role are
 * what one sees and may do.  A session ends with its connection, when no person
 * used it for a while, and in any case after some hours.
 *
 * A password is good only if the server asked for it: with trust or peer in
 * pg_hba.conf the server would let each text pass for each role.
 */
#include "postgres_fe.h"

#include "client/log.h"
#include "gateway/call_error.h"
#include "gateway/console_session.h"
#include "gateway/gateway_config.h"
#include "gateway/hashing.h"

/* Calls of a session that wait for its connection */
#define MOST_QUEUED 32

#define CHECK_INTERVAL 1000

/* Sessions of one role */
#define MOST_OF_ROLE 10

static dlist_head sessions = DLIST_STATIC_INIT(sessions);
static int	n_sessions;
static SfgSignedIn signed_in;	/* there is one kind of signing in */

/* Free a session that is over; the callbacks of its connection have returned. */
static void
free_session(void *arg)
{
	SfgConsoleSession *session = arg;

	sfg_pool_free(&session->pool);
	explicit_bzero(session->token, sizeof(session->token));
	free(session->role);
	free(session->writes);
	free(session->version);
	free(session);
}

/* End a session. */
void
sfg_console_session_end(SfgConsoleSession *session, const char *why)
{
	SfgRequest *request = session->sign_in;

	if (session->over)
		return;
	session->over = true;
	session->sign_in = NULL;
	dlist_delete(&session->node);
	n_sessions--;
	sfw_log(SFW_INFO, "a session of the console ends", "role", session->role, "reason", why, NULL);
	sfg_pool_stop(&session->pool);
	sfw_timer_set(&session->timer, 0, free_session, session);
	if (request != NULL)
		signed_in(request, NULL);
}

/* End a session that is too old, or look again later. */
static void
check_age(void *arg)
{
	SfgConsoleSession *session = arg;
	int64_t		now = sfw_now();

	if (now - session->begun_at >= sfg_config.session_max)
		sfg_console_session_end(session, "it is too old");
	else if (now - session->used_at >= sfg_config.session_idle && sfg_pool_is_idle(&session->pool))
		sfg_console_session_end(session, "it was not used");
	else
		sfw_timer_set(&session->timer, CHECK_INTERVAL, check_age, session);
}

/* The connection of a session is lost, or was not made. */
static void
connection_lost(SfgPool *pool)
{
	sfg_console_session_end(pool->arg, "it has no connection");
}

/* End the oldest session of a role that has too many, so that it takes no more places from others. */
static void
limit_sessions(const char *role)
{
	SfgConsoleSession *oldest = NULL;
	int			n = 0;
	dlist_iter	iter;

	dlist_foreach(iter, &sessions)
	{
		SfgConsoleSession *session = dlist_container(SfgConsoleSession, node, iter.cur);

		if (session->writes == NULL || strcmp(session->role, role) != 0)
			continue;
		if (n++ == 0)
			oldest = session;
	}
	if (n > MOST_OF_ROLE)
		sfg_console_session_end(oldest, "the role has newer ones");
}

/* The actions that write are known: the session is signed in. */
static void
actions_known(const PGresult *result, void *arg)
{
	SfgConsoleSession *session = arg;
	SfgRequest *request = session->sign_in;

	if (session->over)
		return;
	if (!sfg_call_has_value(result) || PQgetisnull(result, 0, 1))
	{
		sfg_console_session_end(session, result != NULL ? PQresultErrorMessage(result) : "it has no connection");
		return;
	}
	session->writes = psprintf(" %s ", PQgetvalue(result, 0, 0));
	session->version = pg_strdup(PQgetvalue(result, 0, 1));
	session->sign_in = NULL;
	sfw_log(SFW_INFO, "a session of the console begins", "role", session->role, NULL);
	limit_sessions(session->role);
	if (request != NULL)
		signed_in(request, session);
	else
		sfg_console_session_end(session, "the client has left");
}

/* Wipe the password of a connection. libpq keeps it for PQreset(), which a session does not call. */
static void
wipe_password(PGconn *conn)
{
	char	   *password = PQpass(conn);

	explicit_bzero(password, strlen(password));
}

/* The connection of a session is there. */
static void
connected(SfgPool *pool)
{
	SfgConsoleSession *session = pool->arg;

	wipe_password(pool->slots[0].db.session.conn);
	if (!sfg_config.console_trust && !PQconnectionUsedPassword(pool->slots[0].db.session.conn))
	{
		sfw_log(SFW_WARNING, "the database asks for no password, see pg_hba.conf", "role", session->role, NULL);
		sfg_console_session_end(session, "no password was asked for");
	}
	else
		sfg_pool_call(pool, "SELECT pg_catalog.array_to_string(@.sf_console_actions(), ' '), @.sf_console_session()",
					  0, NULL, actions_known, session);
}

/* The client that signs in has left. */
static void
forget_sign_in(SfgRequest *request)
{
	SfgConsoleSession *session = request->state;

	session->sign_in = NULL;
}

/* Begin a session for a role; done gets it, or NULL. The password is freed. */
void
sfg_console_sign_in(SfgRequest *request, const char *role, char *password, SfgSignedIn done)
{
	static int64_t last_serial;
	SfgConsoleSession *session = pg_malloc0(sizeof(SfgConsoleSession));

	session->serial = ++last_serial;
	signed_in = done;
	sfg_random_hex(session->token, SFG_TOKEN_BYTES);
	sfg_random_hex(session->csrf, SFG_TOKEN_BYTES);
	session->role = pg_strdup(role);
	session->begun_at = session->used_at = sfw_now();
	session->sign_in = request;
	request->state = session;
	request->gone = forget_sign_in;
	session->pool = (SfgPool) {
		.dsn = sfg_config.dsn,
		.user = session->role,
		.password = password,
		.statement_timeout = sfg_config.statement_timeout,
		/* A page makes several calls at once, which this one connection takes in turn. */
		.patience = sfg_config.statement_timeout,
		.most_queued = MOST_QUEUED,
		.connected = connected,
		.lost = connection_lost,
		.arg = session,
	};
	dlist_push_tail(&sessions, &session->node);
	n_sessions++;
	sfw_timer_set(&session->timer, CHECK_INTERVAL, check_age, session);
	sfg_pool_start(&session->pool, 1);
}

/* Find the session of a cookie, or NULL. */
SfgConsoleSession *
sfg_console_session_find(const char *token)
{
	dlist_iter	iter;

	dlist_foreach(iter, &sessions)
	{
		SfgConsoleSession *session = dlist_container(SfgConsoleSession, node, iter.cur);

		if (session->writes != NULL && sfg_same(session->token, token))
			return session;
	}
	return NULL;
}

/* The number of sessions, and of those that sign in. */
int
sfg_console_sessions(void)
{
	return n_sessions;
}

/* End all sessions. */
void
sfg_console_sessions_stop(void)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &sessions)
	{
		SfgConsoleSession *session = dlist_container(SfgConsoleSession, node, iter.cur);

		sfg_console_session_end(session, "the gateway leaves");
		sfw_timer_clear(&session->timer);
		free_session(session);
	}
}
