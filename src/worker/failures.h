/*
 * failures.h
 *		A line in the server's log for each execution that failed.
 */
#ifndef SF_WORKER_FAILURES_H
#define SF_WORKER_FAILURES_H

#include "base/clock.h"

/* Fill the hook of base/hooks.h and register the transaction callbacks. */
extern void sf_failures_init(void);

/*
 * Say how many lines were left out, when it is time to: the launcher's job.
 * Returns when to call again.
 */
extern SfTick sf_failures_tell_suppressed(void);

#endif							/* SF_WORKER_FAILURES_H */
