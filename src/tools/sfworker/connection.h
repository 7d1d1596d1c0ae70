/*
 * connection.h
 *		Where the worker connects to.
 */
#ifndef SFW_CONNECTION_H
#define SFW_CONNECTION_H

#include "tools/client/hosts.h"

extern SfcHosts *sfw_find_hosts(const char *conninfo, bool own, int turn, SfcHostsFound found, void *arg);
extern PGconn *sfw_begin_connecting(const char *conninfo, bool own, SfcHosts *hosts);
extern PGconn *sfw_connect_now(void);

/* --- several.c: one worker for several databases --- */

extern int	sfw_several_run(int (*work) (void));

#endif							/* SFW_CONNECTION_H */
