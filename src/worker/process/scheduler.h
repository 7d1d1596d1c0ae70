/*
 * scheduler.h
 *		What a worker does next.
 */
#ifndef SF_WORKER_SCHEDULER_H
#define SF_WORKER_SCHEDULER_H

#include "worker/turn/turn.h"

extern SfWorkState sf_scheduler_next(SfTurn *turn);
extern void sf_scheduler_publish(SfTurn *turn);
extern int	sf_scheduler_gather_us(void);
extern uint32 sf_scheduler_registrations(void);

#endif							/* SF_WORKER_SCHEDULER_H */
