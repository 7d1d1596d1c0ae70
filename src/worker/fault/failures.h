/*
 * failures.h
 *		A line in the server's log for each execution that failed.
 */
#ifndef SF_WORKER_FAILURES_H
#define SF_WORKER_FAILURES_H

#include "base/time/clock.h"

extern char *sf_failures_line(const char *execution_id, const char *state,
							  const char *error, bool timed_out);
extern void sf_failures_log(const char *line);
extern SfTick sf_failures_tell_suppressed(void);

#endif							/* SF_WORKER_FAILURES_H */
