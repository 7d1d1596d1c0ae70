/*
 * connection.h
 *		Where the worker connects to.
 */
#ifndef SFW_CONNECTION_H
#define SFW_CONNECTION_H

#include <libpq-fe.h>
#include <stdbool.h>

extern PGconn *sfw_connect(const char *conninfo, bool own, bool wait);

/* --- several.c: one worker for several databases --- */

extern int	sfw_several_run(int (*work) (void));

#endif							/* SFW_CONNECTION_H */
