/*
 * db.h
 *		A session with the database that has the workflows: one statement at a time.
 */
#ifndef SFW_DB_H
#define SFW_DB_H

#include "tools/client/session.h"

/*
 * Called with the result of a statement, or with NULL when the connection was
 * lost before the result came: the server may have executed the statement or not.
 */
typedef void (*SfwDbDone) (const PGresult *result, void *arg);

typedef enum SfwDbState
{
	SFW_DOWN,
	SFW_CONNECTING,
	SFW_BUSY,					/* a statement is under way */
	SFW_READY
} SfwDbState;

/* Set it to zero, and then its first part, before its first use. */
typedef struct SfwDb
{
	PGconn	   *(*open) (struct SfwDb *db); /* begins to connect */
	int64_t		connect_timeout;	/* milliseconds */
	const char *listen;			/* a LISTEN statement, or NULL */
	const char *schema_name;	/* of sfflow's functions; NULL: ask the catalogue */
	void		(*connected) (struct SfwDb *db);
	void		(*idle) (struct SfwDb *db); /* a statement may be sent */
	void		(*notified) (struct SfwDb *db, const PGnotify *notify);
	void		(*lost) (struct SfwDb *db); /* do not connect again, but call this; or NULL */
	void		(*failing) (struct SfwDb *db);	/* called before each wait for another attempt; or NULL */
	int64_t		longest_delay;	/* milliseconds of such a wait; 0: half a minute */
	void	   *arg;			/* of the owner */

	SfwDbState	state;
	SfwSession	session;
	int64_t		delay;			/* before the next attempt to connect */
	bool		failed;			/* the last attempt did not succeed */
	char		sqlstate[6];	/* with which the server refused it, "" if it said none, or without PQERRORS_VERBOSE */
	char	   *schema;			/* of sfflow's functions, quoted */
	bool		has_traces;		/* activities give tasks out with their traces: not in version 1.0 */
	SfwTimer	retry_timer;
	PGresult   *kept;			/* of the statement under way: the first error, else the last result */
	SfwDbDone	on_done;
	void	   *on_done_arg;
} SfwDb;

extern void sfw_db_start(SfwDb *db);
extern bool sfw_db_is_idle(const SfwDb *db);
extern void sfw_db_send(SfwDb *db, const char *statement, int n, const char *const *values,
						SfwDbDone done, void *arg);
extern void sfw_db_prepare(SfwDb *db, const char *name, const char *statement, SfwDbDone done, void *arg);
extern void sfw_db_send_prepared(SfwDb *db, const char *name, int n, const char *const *values,
								 SfwDbDone done, void *arg);
extern void sfw_db_hurry(SfwDb *db);
extern void sfw_db_drop(SfwDb *db, const char *why);
extern void sfw_db_stop(SfwDb *db);

#endif							/* SFW_DB_H */
