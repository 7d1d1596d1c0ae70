/*
 * wake.h
 *		Telling workers at commit what has become due, cancelled or ended.
 */
#ifndef SF_WORKER_WAKE_H
#define SF_WORKER_WAKE_H

#include "storage/condition_variable.h"

/* Fill the hooks of base/hooks.h and register the transaction callbacks. */
extern void sf_wake_init(void);

/* The condition variable that the end of an execution rings. */
extern ConditionVariable *sf_wake_ended_variable(int64 execution_no);

/*
 * In a worker, once after a turn: how many commits of sessions made work due
 * before anybody could know what the turn has done.
 */
extern int	sf_wake_take_company(void);

/*
 * Have the current database looked at, at the commit of this transaction: it
 * has the extension, has lost it, or is (no longer) to be driven.
 */
extern void sf_wake_register(void);

#endif							/* SF_WORKER_WAKE_H */
