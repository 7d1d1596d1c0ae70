/*
 * database.h
 *		The gateway's own connections to the database.
 */
#ifndef SFG_DATABASE_H
#define SFG_DATABASE_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/sfgateway/database/pool.h"

extern SfgPool sfg_api_pool;
extern SfgPool sfg_keys_pool;
extern SfgPool sfg_sync_pool;
extern SfgPool sfg_metrics_pool;
extern SfgPool sfg_watch_pool;

extern void sfg_database_start(void);
extern bool sfg_database_is_ready(void);
extern void sfg_database_stop(void);

/* --- connections to the database, by keywords --- */

extern bool sfg_dsn_check(const char *conninfo, char **problem);
extern char *sfg_dsn_of_node(const char *own, const char *address, const char *dbname);
extern PGconn *sfg_dsn_connect(const char *conninfo, int64_t statement_timeout,
							   const char *user, const char *password);

/* --- whether the database is there --- */

extern int64_t sfg_availability_lost_at(void);
extern const char *sfg_availability_down_since(void);
extern void sfg_availability_probe(SfcDbDone done, void *arg);

#endif							/* SFG_DATABASE_H */
