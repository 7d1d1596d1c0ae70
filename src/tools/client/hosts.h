/*
 * hosts.h
 *		Parameters of connections, and the hosts that they name.
 */
#ifndef SFC_HOSTS_H
#define SFC_HOSTS_H

#include "postgres_fe.h"

#include <libpq-fe.h>

#include "tools/client/loop.h"

/* More than libpq has keywords */
#define SFC_MOST_PARAMETERS 64

/* Keywords and values, as libpq takes them: a later one takes the place of an earlier one */
typedef struct SfcParameters
{
	const char *keys[SFC_MOST_PARAMETERS + 1];
	const char *values[SFC_MOST_PARAMETERS + 1];
	int			n;
	bool		expands;		/* dbname may be a connection string */
} SfcParameters;

/* The hosts that parameters name, of which some are looked up */
typedef struct SfcHosts SfcHosts;

/* Called when all hosts were looked up; problem says why none has an address, or is NULL. */
typedef void (*SfcHostsFound) (void *arg, const char *problem);

extern void sfc_parameters_add(SfcParameters *parameters, const char *key, const char *value);
extern const char *sfc_option_of(const PQconninfoOption *options, const char *key);

extern SfcHosts *sfc_hosts_find(const SfcParameters *parameters, int turn, int64_t patience, SfcHostsFound found, void *arg);
extern PGconn *sfc_hosts_connect(SfcHosts *hosts, SfcParameters *parameters);
extern void sfc_hosts_free(SfcHosts *hosts);

/* --- lookup.c: addresses of the name of a host --- */

struct addrinfo;

/* Called with the addresses of a host, which are good for this call; or with NULL, and why there is none. */
typedef void (*SfcLookupDone) (void *arg, const struct addrinfo *found, const char *problem);

/* A wait for them. Set it to zero before its first use. */
typedef struct SfcLookup
{
	SfcLookupDone done;
	void	   *arg;
	SfcTimer	timer;			/* the end of its patience */
	dlist_node	node;			/* zero: it does not wait */
} SfcLookup;

extern void sfc_lookup_begin(SfcLookup *lookup, const char *name, int64_t patience, SfcLookupDone done, void *arg);
extern void sfc_lookup_forget(SfcLookup *lookup);

#endif							/* SFC_HOSTS_H */
