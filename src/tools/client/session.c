/*
 * session.c
 *		Sessions with PostgreSQL that the event loop drives.
 *
 * A session connects without blocking.  After sfc_session_begin has returned,
 * either connected or failed is called.  After each statement that the owner of
 * the session sends, it calls sfc_session_watch, and talk is called when there is
 * something to read or write.
 */
#include "postgres_fe.h"

#include <poll.h>

#include "common/string.h"

#include "tools/client/session.h"

/* Copy a message of libpq without its last newline; NULL gives "". */
char *
sfc_message(const char *message)
{
	char	   *copy = pg_strdup(message != NULL ? message : "");

	pg_strip_crlf(copy);
	return copy;
}

/* Copy the message of an error, of the server or of libpq; "" when there is none. */
char *
sfc_primary_message(const PGresult *result)
{
	const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	return sfc_message(message != NULL ? message : PQresultErrorMessage(result));
}

/* The SQLSTATE of a result, "" when it has none. */
const char *
sfc_sqlstate(const PGresult *result)
{
	const char *code = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	return code != NULL ? code : "";
}

/* Watch the socket of a session. */
static void
watch(SfcSession *session, short events, SfcReady ready)
{
	int			fd = PQsocket(session->conn);

	if (session->fd != fd)
		sfc_loop_watch(session->fd, 0, NULL, NULL);
	session->fd = fd;
	sfc_loop_watch(fd, events, ready, session);
}

/* Let the owner read and write. */
static void
ready_to_talk(int fd, short revents, void *arg)
{
	SfcSession *session = arg;

	session->talk(session->arg);
}

/* Watch for what the server sends, and for room to send what is not sent yet. */
void
sfc_session_watch(SfcSession *session)
{
	watch(session, (short) (POLLIN | (PQflush(session->conn) == 1 ? POLLOUT : 0)), ready_to_talk);
}

/* Go on with connecting. */
static void
go_on_connecting(int fd, short revents, void *arg)
{
	SfcSession *session = arg;

	switch (PQconnectPoll(session->conn))
	{
		case PGRES_POLLING_READING:
			watch(session, POLLIN, go_on_connecting);
			break;
		case PGRES_POLLING_WRITING:
			watch(session, POLLOUT, go_on_connecting);
			break;
		case PGRES_POLLING_OK:
			sfc_timer_clear(&session->connect_timer);
			PQsetnonblocking(session->conn, 1);
			session->connected(session->arg);
			break;
		default:
			session->failed(session->arg);
			break;
	}
}

/* Give up connecting: the server does not answer, or conninfo is not valid. */
static void
give_up_connecting(void *arg)
{
	SfcSession *session = arg;

	session->failed(session->arg);
}

/* Drive a connection that was begun with PQconnectStartParams; it may take timeout milliseconds. */
void
sfc_session_begin(SfcSession *session, PGconn *conn, int64_t timeout)
{
	session->conn = conn;
	if (PQstatus(session->conn) == CONNECTION_BAD)
	{
		sfc_timer_set(&session->connect_timer, 0, give_up_connecting, session);
		return;
	}
	sfc_timer_set(&session->connect_timer, timeout, give_up_connecting, session);
	watch(session, POLLOUT, go_on_connecting);
}

/* Close a session, or stop connecting. */
void
sfc_session_end(SfcSession *session)
{
	sfc_timer_clear(&session->connect_timer);
	sfc_loop_watch(session->fd, 0, NULL, NULL);
	session->fd = -1;
	PQfinish(session->conn);
	session->conn = NULL;
}
