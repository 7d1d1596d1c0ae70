/*
 * backoff.h
 *		The time to wait before another attempt.
 */
#ifndef SF_BASE_BACKOFF_H
#define SF_BASE_BACKOFF_H

#include "base/timing.h"
#include "common/pg_prng.h"

/*
 * Milliseconds to wait before the nth (from 1) further attempt: any time up to
 * base · 2^n, and up to limit.  Two processes that met once would meet again if
 * both waited for about as long.
 */
static inline int
sf_backoff_ms(int n, int base_ms, int limit_ms)
{
	double		longest = (double) base_ms * (double) (1 << Min(n, 20));

	return (int) (pg_prng_double(&pg_global_prng_state) * Min(longest, (double) limit_ms));
}

/* Milliseconds to pause after so many failures in a row: a second, doubled up to a minute. */
static inline int
sf_backoff_doubled_ms(int failures)
{
	return Min(SF_FAILURE_PAUSE_MS << Min(Max(failures, 1) - 1, 6), SF_FAILURE_MAX_PAUSE_MS);
}

#endif							/* SF_BASE_BACKOFF_H */
