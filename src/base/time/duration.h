/*
 * duration.h
 *		Durations: microseconds that something took, takes or will take; and timeouts.
 */
#ifndef SF_BASE_DURATION_H
#define SF_BASE_DURATION_H

/* Where a duration may stand: there was none, or it is not known.  It is below all durations, so Max ignores it. */
#define SF_NO_DURATION	INT64CONST(-1)

/* Is there a duration? */
static inline bool
sf_duration_is_known(int64 us)
{
	return us != SF_NO_DURATION;
}

/* Where the length of a timeout, a lease, or a time between heartbeats may stand: there is none */
#define SF_NO_TIMEOUT	0

#endif							/* SF_BASE_DURATION_H */
