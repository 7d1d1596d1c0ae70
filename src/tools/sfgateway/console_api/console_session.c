/*
 * console_session.c
 *		Sessions of the console: a role, and its connection to the database.
 *
 * The role and the password of a session are those of its connection, so that
 * pg_hba.conf, expiry and locks of roles hold, and the rights of the role are
 * what one sees and may do.  A session ends when no person used it for a while,
 * in any case after some hours, and when an operator ends its connection.
 *
 * When the connection is lost because the database was restarted, the session
 * has a new one made with the next request of its page.  The server asks for the
 * password again, so that the role must exist, may log in and is not expired; it
 * must also be the one that it was (sf_console_session).  The gateway has the
 * password encrypted, with a key made of the cookie and the token.  It keeps only
 * the digests of these, so that the password can be read while a request of the
 * page is handled, and not between.  A session that the gateway kept in a file while
 * it was restarted (session_file.c) is like one whose connection was lost.
 *
 * A password is good only if the server asked for it: with trust or peer in
 * pg_hba.conf the server would let each text pass for each role.
 */
#include "postgres_fe.h"

#include "tools/client/log.h"
#include "tools/client/sqlstate.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"

/* Calls of a session that wait for its connection */
#define MOST_QUEUED 32

#define CHECK_INTERVAL 1000

/* Sessions of one role */
#define MOST_OF_ROLE 10

/* Roles without a session that may sign in at the same time when there is no room */
#define MOST_BEYOND 5

/* Milliseconds between attempts to connect a session anew */
#define RETRY 1000

/* A database that ends, ends its connections within this time, in milliseconds. */
#define END_OF_DATABASE 10000

/*
 * When a backend crashes, the server ends the others a moment later: that one of them answers says that the database
 * is there from this time on, in milliseconds.
 */
#define END_OF_CRASH 5000

static dlist_head sessions = DLIST_STATIC_INIT(sessions);
static int	n_sessions;
static SfgSignedIn signed_in;	/* there is one kind of signing in */

/* Forget what only the page has from now on. */
static void
forget_secrets(SfgConsoleSession *session)
{
	if (session->secrets != NULL)
		explicit_bzero(session->secrets, sizeof(SfgConsoleSecrets));
	free(session->secrets);
	session->secrets = NULL;
}

/* Free a session that is over; the callbacks of its connection have returned. */
static void
free_session(void *arg)
{
	SfgConsoleSession *session = arg;

	/* The answer to the probe will have it freed. */
	if (session->probe == SFG_PROBE_SENT)
		return;
	sfg_pool_free(&session->pool);
	sfg_sealed_free(&session->password);
	forget_secrets(session);
	free(session->role);
	free(session->writes);
	free(session->version);
	free(session);
}

/* Say what an SQLSTATE tells of the database, "" if it gave no answer. */
static const char *
trouble_of(const char *sqlstate)
{
	if (sfc_sqlstate_is(sqlstate, ERRCODE_CANNOT_CONNECT_NOW))
		return "the database is starting up, recovering or shutting down";
	if (sfc_sqlstate_is(sqlstate, ERRCODE_TOO_MANY_CONNECTIONS))
		return "the database has no connection free";
	return "there is no connection to the database";
}

/* End a session; a client that signs in is refused, or told that the database does not answer. */
static void
end_session(SfgConsoleSession *session, const char *why, bool refused)
{
	SfgRequest *request = session->sign_in;
	const char *trouble = refused ? NULL : trouble_of(session->pool.connections[0].db.sqlstate);

	if (session->status == SFG_SESSION_OVER)
		return;
	session->status = SFG_SESSION_OVER;
	session->sign_in = NULL;
	if (session->probe == SFG_PROBE_DUE)
	{
		sfc_timer_clear(&session->probe_timer);
		session->probe = SFG_PROBE_NONE;
	}
	dlist_delete(&session->node);
	n_sessions--;
	sfc_log(SFC_LOG_INFO, "a session of the console ends", "role", session->role, "reason", why, NULL);
	sfg_pool_stop(&session->pool);
	sfc_timer_set(&session->timer, 0, free_session, session);
	if (request != NULL)
		signed_in(request, NULL, trouble);
}

/* End a session. */
void
sfg_console_session_end(SfgConsoleSession *session, const char *why)
{
	end_session(session, why, false);
}

/* End a session that is too old, or look again later. */
static void
check_age(void *arg)
{
	SfgConsoleSession *session = arg;
	int64_t		now = sfc_now();

	if (now - session->begun_at >= sfg_config.session_max)
		sfg_console_session_end(session, "it is too old");
	else if (now - session->used_at >= sfg_config.session_idle && sfg_pool_is_idle(&session->pool))
		sfg_console_session_end(session, "it was not used");
	else
		sfc_timer_set(&session->timer, CHECK_INTERVAL, check_age, session);
}

static void probed(const PGresult *result, void *arg);

/* Ask the database whether it is there. */
static void
probe(void *arg)
{
	SfgConsoleSession *session = arg;

	session->probe = SFG_PROBE_SENT;
	sfg_availability_probe(probed, session);
}

/* It is known whether the database was lost with the connection of a session. */
static void
probed(const PGresult *result, void *arg)
{
	SfgConsoleSession *session = arg;

	session->probe = SFG_PROBE_NONE;
	if (session->status == SFG_SESSION_OVER)
	{
		if (!session->timer.armed)
			free_session(session);
	}
	else if (result == NULL || sfg_availability_lost_at() >= session->lost_at - END_OF_DATABASE)
		return;
	else if (sfc_now() - session->lost_at < END_OF_CRASH)
	{
		session->probe = SFG_PROBE_DUE;
		sfc_timer_set(&session->probe_timer, END_OF_CRASH, probe, session);
	}
	else
		sfg_console_session_end(session, "its connection was ended");
}

/* The connection of a session that is signed in is lost: was it ended, or has the database gone? */
static void
suspend(SfgConsoleSession *session)
{
	session->status = SFG_SESSION_LOST;
	session->lost_at = session->tried_at = sfc_now();
	sfg_pool_stop(&session->pool);
	if (session->probe == SFG_PROBE_NONE)
		probe(session);
}

/* Tell whether the server refused the role or its password, rather than any connection or call just now. */
static bool
is_refused(const char *sqlstate)
{
	return sfc_sqlstate_is(sqlstate, ERRCLASS_AUTHORIZATION) || sfc_sqlstate_is(sqlstate, ERRCODE_INSUFFICIENT_PRIVILEGE);
}

/* The connection of a session is lost, or was not made. */
static void
connection_lost(SfgPool *pool)
{
	SfgConsoleSession *session = pool->arg;

	bool		refused = is_refused(pool->connections[0].db.sqlstate);

	switch (session->status)
	{
		case SFG_SESSION_SIGNING_IN:
			end_session(session, "it has no connection", refused);
			break;
		case SFG_SESSION_OPEN:
		case SFG_SESSION_LOST:
			suspend(session);
			break;
		case SFG_SESSION_CONNECTING:
			if (refused)
			{
				sfg_console_session_end(session, "the database does not accept the role any more");
				break;
			}
			session->status = SFG_SESSION_LOST;
			session->tried_at = sfc_now();
			sfg_pool_stop(pool);
			break;
		case SFG_SESSION_OVER:
			break;
	}
}

/* Is a session signed in? */
static bool
is_signed_in(const SfgConsoleSession *session)
{
	return session->status != SFG_SESSION_SIGNING_IN && session->status != SFG_SESSION_OVER;
}

/* Count the sessions of a role. */
static int
count_of(const char *role)
{
	int			n = 0;
	dlist_iter	iter;

	dlist_foreach(iter, &sessions)
	{
		SfgConsoleSession *session = dlist_container(SfgConsoleSession, node, iter.cur);

		n += is_signed_in(session) && strcmp(session->role, role) == 0;
	}
	return n;
}

/* Find, of the role with the most sessions, the one that was not used for the longest time; NULL: no role has two. */
static SfgConsoleSession *
find_spare(void)
{
	SfgConsoleSession *spare = NULL;
	int			most = 1;
	dlist_iter	iter;

	dlist_foreach(iter, &sessions)
	{
		SfgConsoleSession *session = dlist_container(SfgConsoleSession, node, iter.cur);
		int			n = is_signed_in(session) ? count_of(session->role) : 0;

		if (n > most || (n == most && spare != NULL && session->used_at < spare->used_at))
		{
			most = n;
			spare = session;
		}
	}
	return spare;
}

/*
 * Tell whether a role may sign in: there is room, or it has no session and another role has several, one of which then
 * ends for it.
 */
bool
sfg_console_has_room(const char *role)
{
	if (n_sessions < sfg_config.sessions)
		return true;
	return n_sessions < sfg_config.sessions + MOST_BEYOND && sfg_config.sessions > 0 &&
		count_of(role) == 0 && find_spare() != NULL;
}

/* End a session if there are too many, for a role that had none. */
static void
make_room(void)
{
	SfgConsoleSession *spare = n_sessions > sfg_config.sessions ? find_spare() : NULL;

	if (spare != NULL)
		sfg_console_session_end(spare, "another role has none");
}

/* End the oldest session of a role that has too many, so that it takes no more room from others. */
static void
limit_sessions(const char *role)
{
	SfgConsoleSession *oldest = NULL;
	int			n = 0;
	dlist_iter	iter;

	dlist_foreach(iter, &sessions)
	{
		SfgConsoleSession *session = dlist_container(SfgConsoleSession, node, iter.cur);

		if (!is_signed_in(session) || strcmp(session->role, role) != 0)
			continue;
		if (n++ == 0)
			oldest = session;
	}
	if (n > MOST_OF_ROLE)
		sfg_console_session_end(oldest, "the role has newer ones");
}

/* Keep the actions that write. */
static void
set_writes(SfgConsoleSession *session, const char *actions)
{
	free(session->writes);
	session->writes = psprintf(" %s ", actions);
}

/* The role of a new session is known: it is signed in. */
static void
begin_session(SfgConsoleSession *session, const PGresult *result)
{
	SfgRequest *request = session->sign_in;

	session->status = SFG_SESSION_OPEN;
	set_writes(session, PQgetvalue(result, 0, 0));
	session->version = pg_strdup(PQgetvalue(result, 0, 1));
	session->sign_in = NULL;
	sfc_log(SFC_LOG_INFO, "a session of the console begins", "role", session->role, NULL);
	limit_sessions(session->role);
	make_room();
	if (request == NULL)
		sfg_console_session_end(session, "the client has left");
	else
		signed_in(request, session, NULL);
	forget_secrets(session);
}

/* The role of a session that has a new connection is known: it must be the one that signed in. */
static void
resume_session(SfgConsoleSession *session, const PGresult *result)
{
	if (strcmp(session->version, PQgetvalue(result, 0, 1)) != 0)
	{
		sfg_console_session_end(session, "its role was altered");
		return;
	}
	set_writes(session, PQgetvalue(result, 0, 0));
	sfc_log(SFC_LOG_INFO, "a session of the console goes on", "role", session->role, NULL);
}

/* The actions that write and the role are known. */
static void
actions_known(const PGresult *result, void *arg)
{
	SfgConsoleSession *session = arg;

	if (session->status == SFG_SESSION_OVER || (result == NULL && session->status != SFG_SESSION_SIGNING_IN))
		return;
	if (result == NULL)
		end_session(session, "it has no connection", false);
	else if (!sfg_call_has_value(result))
		end_session(session, PQresultErrorMessage(result), is_refused(sfc_sqlstate(result)));
	else if (PQgetisnull(result, 0, 1))
		end_session(session, "there is no such role", true);
	else if (session->status == SFG_SESSION_SIGNING_IN)
		begin_session(session, result);
	else
		resume_session(session, result);
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

	if (session->status == SFG_SESSION_CONNECTING)
		session->status = SFG_SESSION_OPEN;
	wipe_password(pool->connections[0].db.session.conn);
	if (!sfg_config.console_trust && !PQconnectionUsedPassword(pool->connections[0].db.session.conn))
	{
		sfc_log(SFC_LOG_WARNING, "the database asks for no password, see pg_hba.conf", "role", session->role, NULL);
		end_session(session, "no password was asked for", true);
	}
	else
		sfg_pool_call_first(pool, "SELECT pg_catalog.array_to_string(@.sf_console_actions(), ' '),"
							" @.sf_console_session()", actions_known, session);
}

/* The client that signs in has left. */
static void
forget_sign_in(SfgRequest *request)
{
	SfgConsoleSession *session = request->route_data;

	session->sign_in = NULL;
}

/* Make the key of the password of a session, of what its page has. */
static void
make_key(const char *cookie, const char *csrf, unsigned char key[SFG_DIGEST_SIZE])
{
	sfg_hmac_sha256(cookie, strlen(cookie), csrf, strlen(csrf), key);
}

/* Make the secrets of a session, and encrypt its password with them. */
static void
make_secrets(SfgConsoleSession *session, const char *password)
{
	SfgConsoleSecrets *secrets = pg_malloc0(sizeof(SfgConsoleSecrets));
	unsigned char key[SFG_DIGEST_SIZE];

	sfg_random_hex(secrets->cookie, SFG_TOKEN_BYTES);
	sfg_random_hex(secrets->csrf, SFG_TOKEN_BYTES);
	sfg_sha256_hex(secrets->cookie, strlen(secrets->cookie), session->cookie_digest);
	sfg_sha256_hex(secrets->csrf, strlen(secrets->csrf), session->csrf_digest);
	make_key(secrets->cookie, secrets->csrf, key);
	session->password = sfg_seal(key, password);
	explicit_bzero(key, sizeof(key));
	session->secrets = secrets;
}

/* Add a session, which has no connection yet. */
static void
add_session(SfgConsoleSession *session)
{
	session->pool = (SfgPool) {
		.dsn = sfg_config.dsn,
		.user = session->role,
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
	sfc_timer_set(&session->timer, CHECK_INTERVAL, check_age, session);
	sfg_pool_prepare(&session->pool, 1);
}

/* Begin a session for a role; done gets it, or NULL. The password is freed. */
void
sfg_console_sign_in(SfgRequest *request, const char *role, char *password, SfgSignedIn done)
{
	SfgConsoleSession *session = pg_malloc0(sizeof(SfgConsoleSession));

	signed_in = done;
	make_secrets(session, password);
	session->role = pg_strdup(role);
	session->begun_at = session->used_at = sfc_now();
	session->sign_in = request;
	request->route_data = session;
	request->gone = forget_sign_in;
	add_session(session);
	sfg_pool_reconnect(&session->pool, password);
}

/* Add a session that the gateway has kept. */
static void
add_kept(SfgConsoleSession *session)
{
	session->status = SFG_SESSION_LOST;
	add_session(session);
}

/* Take up the sessions that the gateway kept when it left; their next requests connect them. */
void
sfg_console_sessions_start(void)
{
	sfg_session_file_take(add_kept);
}

/* Find the session of a cookie, or NULL. */
SfgConsoleSession *
sfg_console_session_find(const char *cookie)
{
	char		digest[SFG_DIGEST_HEX];
	dlist_iter	iter;

	sfg_sha256_hex(cookie, strlen(cookie), digest);
	dlist_foreach(iter, &sessions)
	{
		SfgConsoleSession *session = dlist_container(SfgConsoleSession, node, iter.cur);

		if (is_signed_in(session) && sfg_is_same(session->cookie_digest, digest))
			return session;
	}
	return NULL;
}

/* Tell whether a token is that of a session. */
bool
sfg_console_session_has(const SfgConsoleSession *session, const char *csrf)
{
	char		digest[SFG_DIGEST_HEX];

	sfg_sha256_hex(csrf, strlen(csrf), digest);
	return sfg_is_same(session->csrf_digest, digest);
}

/* Have a session take calls, with a new connection if it has none; false: not now. */
bool
sfg_console_session_revive(SfgConsoleSession *session, const char *cookie, const char *csrf)
{
	unsigned char key[SFG_DIGEST_SIZE];
	char	   *password;

	if (!sfg_pool_is_down(&session->pool))
		return true;
	if (session->probe != SFG_PROBE_NONE || sfc_now() - session->tried_at < RETRY)
		return false;
	make_key(cookie, csrf, key);
	password = sfg_unseal(key, &session->password);
	explicit_bzero(key, sizeof(key));
	if (password == NULL)
		return false;
	session->status = SFG_SESSION_CONNECTING;
	sfg_pool_reconnect(&session->pool, password);
	return true;
}

/* What is wrong with the database, for the page of a session without a connection; NULL: it has one, or makes one. */
const char *
sfg_console_session_trouble(const SfgConsoleSession *session)
{
	return sfg_pool_is_down(&session->pool) ? trouble_of(session->pool.connections[0].db.sqlstate) : NULL;
}

/* End all sessions; with a file for them they go on when the gateway begins again. */
void
sfg_console_sessions_stop(void)
{
	dlist_mutable_iter iter;
	FILE	   *file = sfg_session_file_create();

	dlist_foreach_modify(iter, &sessions)
	{
		SfgConsoleSession *session = dlist_container(SfgConsoleSession, node, iter.cur);

		if (file != NULL && is_signed_in(session))
			sfg_session_file_put(file, session);
		sfg_console_session_end(session, "the gateway leaves");
		sfc_timer_clear(&session->timer);
		free_session(session);
	}
	if (file != NULL)
		sfg_session_file_close(file);
}
