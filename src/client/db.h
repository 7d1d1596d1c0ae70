/*
 * db.h
 *		The session with the database that has the workflows.
 */
#ifndef SFW_DB_H
#define SFW_DB_H

#include <libpq-fe.h>
#include <stdbool.h>

/*
 * Called with the result of a statement, or with NULL when the connection was
 * lost before the result came: the server may have executed the statement or not.
 */
typedef void (*SfwDbDone) (const PGresult *result, void *arg);

extern void sfw_db_start(void (*connected) (void), void (*idle) (void),
						 void (*notified) (const char *activity));
extern bool sfw_db_is_idle(void);
extern bool sfw_db_failed(void);
extern void sfw_db_send(const char *statement, int n, const char *const *values,
						SfwDbDone done, void *arg);
extern const char *sfw_db_schema(void);
extern void sfw_db_stop(void);

#endif							/* SFW_DB_H */
