/*
 * scheduler.h
 *		What a worker does next.
 */
#ifndef SF_WORKER_SCHEDULER_H
#define SF_WORKER_SCHEDULER_H

#include "worker/turn.h"

/* Go to the next state, as the diagram of SfWorkState says; fills in the turn. */
extern SfWorkState sf_scheduler_next(SfTurn *turn);

/*
 * Publish what a turn found out in the shared area.  A verdict against the
 * database is void when it was registered again meanwhile: it is looked at again.
 */
extern void sf_scheduler_publish(SfTurn *turn);

/* How long GATHER lasts, microseconds. */
extern int	sf_scheduler_gather_us(void);

/* How often this database has been registered; to be asked before a verdict. */
extern uint32 sf_scheduler_registrations(void);

#endif							/* SF_WORKER_SCHEDULER_H */
