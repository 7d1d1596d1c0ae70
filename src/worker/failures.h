/*
 * failures.h
 *		A line in the server's log for each execution that failed.
 */
#ifndef SF_WORKER_FAILURES_H
#define SF_WORKER_FAILURES_H

#include "base/clock.h"

/* Make the line of an execution that has failed or timed out; NULL: none is wanted. */
extern char *sf_failures_line(const char *execution_id, const char *state,
							  const char *error, bool timed_out);

/* Log a line when its transaction has committed, unless there were too many. */
extern void sf_failures_log(const char *line);

/*
 * Log how many lines were left out, when it is time to: the launcher's job.
 * Returns when to call again.
 */
extern SfTick sf_failures_tell_suppressed(void);

#endif							/* SF_WORKER_FAILURES_H */
