/*
 * probes.h
 *		Having each database probed after a start of the server.
 */
#ifndef SF_WORKER_PROBES_H
#define SF_WORKER_PROBES_H

#include "base/clock.h"
#include "nodes/pg_list.h"

extern void sf_probes_begin(MemoryContext context);
extern List *sf_probes_left(void);
extern SfTick sf_probes_next(void);

#endif							/* SF_WORKER_PROBES_H */
