/*
 * dsn.h
 *		Connections to the database, by keywords.
 */
#ifndef SFG_DSN_H
#define SFG_DSN_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

extern bool sfg_dsn_check(const char *conninfo, char **problem);
extern PGconn *sfg_dsn_connect(const char *conninfo, int64_t statement_timeout,
							   const char *user, const char *password);

#endif							/* SFG_DSN_H */
