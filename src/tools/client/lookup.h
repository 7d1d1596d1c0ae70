/*
 * lookup.h
 *		Addresses of names of hosts.
 */
#ifndef SFC_LOOKUP_H
#define SFC_LOOKUP_H

#include "postgres_fe.h"

#include "tools/client/loop.h"

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

#endif							/* SFC_LOOKUP_H */
