/*
 * demand.h
 *		Which database gets a process next, and which process makes room for it.
 */
#ifndef SF_WORKER_DEMAND_H
#define SF_WORKER_DEMAND_H

#include "worker/shared.h"

/* A database that is to be given a process */
typedef struct SfWant
{
	Oid			database;		/* InvalidOid: none wants one */
	SfRole		role;
	bool		first;			/* it has none */
	SfTick		since;
} SfWant;

extern SfWant sf_demand_find(SfTick *next);
extern bool sf_demand_keeper_is_idle(void);
extern bool sf_demand_has_room(SfRole role);
extern bool sf_demand_make_room(const SfWant *want);

#endif							/* SF_WORKER_DEMAND_H */
