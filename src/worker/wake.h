/*
 * wake.h
 *		Telling workers at commit what has become due, cancelled or ended.
 */
#ifndef SF_WORKER_WAKE_H
#define SF_WORKER_WAKE_H

/* Fill the hooks of base/hooks.h and register the transaction callbacks. */
extern void sf_wake_init(void);

/*
 * In a worker, once after a turn: how many sessions committed work before they
 * could see the effects of that turn.  They are concurrent load.
 */
extern int	sf_wake_take_concurrent_commits(void);

/*
 * Have the current database looked at when this transaction commits: the
 * extension came or went, or driving it was switched on or off.
 */
extern void sf_wake_register(void);

#endif							/* SF_WORKER_WAKE_H */
