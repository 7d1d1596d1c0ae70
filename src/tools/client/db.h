/*
 * db.h
 *		A session with the database that has the workflows: one statement at a time.
 */
#ifndef SFC_DB_H
#define SFC_DB_H

#include "tools/client/session.h"

/*
 * Called with the result of a statement, or with NULL when the connection was
 * lost before the result came: the server may have executed the statement or not.
 */
typedef void (*SfcDbDone) (const PGresult *result, void *arg);

typedef enum SfcDbStatus
{
	SFC_DB_DOWN,
	SFC_DB_LOOKING,				/* the owner looks for the server */
	SFC_DB_CONNECTING,
	SFC_DB_BUSY,				/* a statement is under way */
	SFC_DB_READY
} SfcDbStatus;

/* Set it to zero, and then its first part, before its first use. */
typedef struct SfcDb
{
	bool		(*look) (struct SfcDb *db); /* looks for the server, for sfc_db_found(); false: no need; or NULL */
	PGconn	   *(*connect) (struct SfcDb *db); /* begins to connect */
	int64_t		connect_timeout;	/* milliseconds */
	int64_t		attempt_timeout;	/* the same together with the look for the server; 0: connect_timeout */
	const char *listen;			/* a LISTEN statement, or NULL */
	const char *schema_name;	/* of sfflow's functions; NULL: ask the catalogue */
	void		(*connected) (struct SfcDb *db);
	void		(*idle) (struct SfcDb *db); /* a statement may be sent */
	void		(*notified) (struct SfcDb *db, const PGnotify *notify);
	void		(*lost) (struct SfcDb *db); /* do not connect again, but call this; or NULL */
	void		(*failing) (struct SfcDb *db);	/* called before each wait for another attempt; or NULL */
	int64_t		longest_delay;	/* milliseconds of such a wait; 0: half a minute */
	void	   *arg;			/* of the owner */

	SfcDbStatus	status;
	SfcSession	session;
	int64_t		connect_until;	/* in LOOKING: when the attempt to connect has to be over, as of sfc_now() */
	int			n_late;			/* attempts in a row that have taken too long: which host is to be tried first */
	int64_t		delay;			/* before the next attempt to connect */
	bool		failed;			/* the last attempt did not succeed */
	char		sqlstate[6];	/* with which the server refused it, "" if it said none, or without PQERRORS_VERBOSE */
	char	   *schema;			/* of sfflow's functions, quoted */
	bool		has_traces;		/* activities give tasks out with their traces: not in version 1.0 */
	SfcTimer	retry_timer;
	PGresult   *kept;			/* of the statement under way: the first error, else the last result */
	SfcDbDone	on_done;
	void	   *on_done_arg;
} SfcDb;

extern void sfc_db_start(SfcDb *db);
extern void sfc_db_found(SfcDb *db, const char *problem);
extern bool sfc_db_is_idle(const SfcDb *db);
extern void sfc_db_send(SfcDb *db, const char *statement, int n, const char *const *values,
						SfcDbDone done, void *arg);
extern void sfc_db_prepare(SfcDb *db, const char *name, const char *statement, SfcDbDone done, void *arg);
extern void sfc_db_send_prepared(SfcDb *db, const char *name, int n, const char *const *values,
								 SfcDbDone done, void *arg);
extern void sfc_db_hurry(SfcDb *db);
extern void sfc_db_drop(SfcDb *db, const char *why);
extern void sfc_db_stop(SfcDb *db);

#endif							/* SFC_DB_H */
