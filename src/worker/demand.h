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

/* Find the database that is to get a process first; lowers *next to when to look again. */
extern SfWant sf_demand_find(SfTick *next);

/*
 * Tell whether the keeper is idle and of no use: its database has a worker, or may
 * get one when it has something to do.  Wants the lock held.
 */
extern bool sf_demand_keeper_is_idle(void);

/* Tell whether there is a place for a process of that role. */
extern bool sf_demand_has_room(SfRole role);

/*
 * Ask one process to leave, for a database that has none: an idle one, or one
 * that has had its share of time.  False: all are in tasks, and none of them
 * can be expected to leave.
 */
extern bool sf_demand_make_room(const SfWant *want);

#endif							/* SF_WORKER_DEMAND_H */
