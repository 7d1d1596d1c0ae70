/*
 * first_look.h
 *		Having each database looked at after a start of the server.
 */
#ifndef SF_WORKER_FIRST_LOOK_H
#define SF_WORKER_FIRST_LOOK_H

#include "base/clock.h"
#include "nodes/pg_list.h"

extern void sf_first_look_begin(MemoryContext context);
extern List *sf_first_look_left(void);
extern SfTick sf_first_look_next(void);

#endif							/* SF_WORKER_FIRST_LOOK_H */
