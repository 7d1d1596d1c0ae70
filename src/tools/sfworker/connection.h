/*
 * connection.h
 *		Where the worker connects to.
 */
#ifndef SFW_CONNECTION_H
#define SFW_CONNECTION_H

#include <libpq-fe.h>
#include <stdbool.h>

extern PGconn *sfw_connect(const char *conninfo, bool own, bool wait);

#endif							/* SFW_CONNECTION_H */
