/*
 * databases.h
 *		The databases of the server, as pg_database lists them; in the launcher.
 */
#ifndef SF_WORKER_DATABASES_H
#define SF_WORKER_DATABASES_H

#include "nodes/pg_list.h"

/*
 * List the databases that are to be looked at, in a context.  *complete becomes
 * false when a database cannot be looked at that may be driven later.
 */
extern List *sf_databases_to_probe(MemoryContext context, bool *complete);

/* Tell whether a database is (still) there and may be driven. */
extern bool sf_databases_may_drive(Oid oid);

/* ... or is there and a worker may connect to it, or is there at all. */
extern bool sf_databases_may_connect(Oid oid);
extern bool sf_databases_exists(Oid oid);

/* Forget a database that is gone, and its suspects. */
extern void sf_databases_forget(Oid oid);

#endif							/* SF_WORKER_DATABASES_H */
