/*
 * session.h
 *		Sessions with PostgreSQL that the event loop drives.
 */
#ifndef SFC_SESSION_H
#define SFC_SESSION_H

#include <libpq-fe.h>

#include "tools/client/loop.h"

/*
 * Parameters of libpq by which a host that is gone is noticed in a minute or so: X(parameter, value).  No keepalive is
 * sent while the host has not acknowledged what it was sent; for that there is the last one, in milliseconds.
 */
#define SFC_HOST_TIMEOUTS(X) \
	X("keepalives_idle", "30") \
	X("keepalives_interval", "10") \
	X("keepalives_count", "3") \
	X("tcp_user_timeout", "60000")

typedef void (*SfcSessionEvent) (void *arg);

/* Set it to zero and fd to -1 before its first use. */
typedef struct SfcSession
{
	PGconn	   *conn;
	int			fd;				/* that the loop watches; libpq may change it */
	SfcTimer	connect_timer;
	SfcSessionEvent connected;
	SfcSessionEvent failed;		/* there is no connection; PQerrorMessage(conn) may say why */
	SfcSessionEvent talk;		/* the server has sent something, or takes more */
	void	   *arg;
} SfcSession;

extern void sfc_session_begin(SfcSession *session, PGconn *conn, int64_t timeout);
extern void sfc_session_watch(SfcSession *session);
extern void sfc_session_end(SfcSession *session);

extern const char *sfc_sqlstate(const PGresult *result);
extern char *sfc_message(const char *message);
extern char *sfc_primary_message(const PGresult *result);

#endif							/* SFC_SESSION_H */
