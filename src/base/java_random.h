/*
 * java_random.h
 *		The random numbers of java.util.Random, which Step Functions draws with a
 *		seed: a linear congruential generator of 48 bits.
 */
#ifndef SF_BASE_JAVA_RANDOM_H
#define SF_BASE_JAVA_RANDOM_H

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

#endif							/* SF_BASE_JAVA_RANDOM_H */
