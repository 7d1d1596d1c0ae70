/*
 * databases.h
 *		The databases of the server, as pg_database lists them; in the launcher.
 */
#ifndef SF_WORKER_DATABASES_H
#define SF_WORKER_DATABASES_H

#include "nodes/pg_list.h"

extern List *sf_databases_to_probe(MemoryContext context, bool *complete);
extern bool sf_databases_may_drive(Oid oid);

/* ... or is there and a worker may connect to it, or is there at all. */
extern bool sf_databases_may_connect(Oid oid);
extern bool sf_databases_exists(Oid oid);
extern void sf_databases_forget(Oid oid);

#endif							/* SF_WORKER_DATABASES_H */
