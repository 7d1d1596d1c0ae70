/*
 * wake.h
 *		Telling workers at commit what has become due, cancelled or ended.
 */
#ifndef SF_WORKER_WAKE_H
#define SF_WORKER_WAKE_H

extern void sf_wake_init(void);
extern int	sf_wake_take_concurrent_commits(void);
extern void sf_wake_register(void);
extern void sf_wake_scan(void);

#endif							/* SF_WORKER_WAKE_H */
