/*
 * first_look.h
 *		Having each database looked at after a start of the server.
 */
#ifndef SF_WORKER_FIRST_LOOK_H
#define SF_WORKER_FIRST_LOOK_H

#include "base/clock.h"
#include "nodes/pg_list.h"

/* List the databases that are to be looked at, in a context; once. */
extern void sf_first_look_begin(MemoryContext context);

/* Those that have not been looked at. */
extern List *sf_first_look_left(void);

/* Have the next database looked at; returns when to call again. */
extern SfTick sf_first_look_next(void);

#endif							/* SF_WORKER_FIRST_LOOK_H */
