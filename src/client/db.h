/*
 * db.h
 *		The connection to the database with the workflows.
 */
#ifndef SFW_DB_H
#define SFW_DB_H

#include <libpq-fe.h>
#include <stdbool.h>

/*
 * Called with the result of a statement, or with NULL when the connection went
 * away before it came: then nobody knows whether the statement was carried out.
 */
typedef void (*SfwDbDone) (const PGresult *result, void *arg);

extern void sfw_db_start(void (*connected) (void), void (*idle) (void),
						 void (*notified) (const char *activity));
extern bool sfw_db_is_idle(void);
extern bool sfw_db_is_up(void);
extern bool sfw_db_failed(void);
extern void sfw_db_send(const char *statement, int n, const char *const *values,
						SfwDbDone done, void *arg);
extern char *sfw_db_function(const char *name);
extern void sfw_db_stop(void);

extern PGconn *sfw_db_open(const char *conninfo, bool own, bool wait);
extern const char *sfw_db_sqlstate(const PGresult *result);
extern char *sfw_db_message(const char *message);

#endif							/* SFW_DB_H */
