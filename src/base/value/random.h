/*
 * random.h
 *		UUIDs as text in the current memory context.
 */
#ifndef SF_BASE_RANDOM_H
#define SF_BASE_RANDOM_H

#include "common/pg_prng.h"

#include "base/time/timing.h"

extern char *sf_uuid_v4(void);
extern char *sf_uuid_v7(void);

/*
 * The random numbers of java.util.Random, which Step Functions draws with a
 * seed: a linear congruential generator of 48 bits.
 */

#define SF_JAVA_MULTIPLIER	UINT64CONST(0x5DEECE66D)
#define SF_JAVA_MASK		((UINT64CONST(1) << 48) - 1)

/* Return the state of a generator with a seed. */
static inline uint64
sf_java_random_seed(int64 seed)
{
	return ((uint64) seed ^ SF_JAVA_MULTIPLIER) & SF_JAVA_MASK;
}

/* Draw so many random bits. */
static inline uint32
sf_java_random_bits(uint64 *state, int bits)
{
	*state = (*state * SF_JAVA_MULTIPLIER + 0xB) & SF_JAVA_MASK;
	return (uint32) (*state >> (48 - bits));
}

/* --- the time to wait before another attempt --- */

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

#endif							/* SF_BASE_RANDOM_H */
