/*
 * session.h
 *		Sessions with PostgreSQL that the event loop drives.
 */
#ifndef SFW_SESSION_H
#define SFW_SESSION_H

#include <libpq-fe.h>

#include "tools/client/loop.h"

typedef void (*SfwSessionEvent) (void *arg);

/* Set it to zero and fd to -1 before its first use. */
typedef struct SfwSession
{
	PGconn	   *conn;
	int			fd;				/* that the loop watches; libpq may change it */
	SfwTimer	connect_timer;
	SfwSessionEvent connected;
	SfwSessionEvent failed;		/* there is no connection; PQerrorMessage(conn) may say why */
	SfwSessionEvent talk;		/* the server has sent something, or takes more */
	void	   *arg;
} SfwSession;

extern void sfw_session_begin(SfwSession *session, PGconn *conn, int64_t timeout);
extern void sfw_session_watch(SfwSession *session);
extern void sfw_session_end(SfwSession *session);

extern const char *sfw_sqlstate(const PGresult *result);
extern char *sfw_message(const char *message);
extern char *sfw_primary_message(const PGresult *result);

#endif							/* SFW_SESSION_H */
