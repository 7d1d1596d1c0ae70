/*
 * durations.h
 *		How long tasks took when they ran last, known to all workers.
 */
#ifndef SF_WORKER_DURATIONS_H
#define SF_WORKER_DURATIONS_H

extern void sf_durations_init(void);

#endif							/* SF_WORKER_DURATIONS_H */
