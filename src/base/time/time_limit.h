/*
 * time_limit.h
 *		The time that an evaluation may take: a deadline, and how often to look at the clock.
 *
 * What evaluates counts the work that it does.  Only so often does it look at the clock, which takes as long as a
 * small piece of work.
 */
#ifndef SF_BASE_TIME_LIMIT_H
#define SF_BASE_TIME_LIMIT_H

#include "base/time/clock.h"

typedef struct SfTimeLimit
{
	SfTick		deadline;		/* SF_TICK_UNSET: none */
	uint32		work;			/* pieces since the last look at the clock */
	bool		is_over;
} SfTimeLimit;

/* Pieces of work between looks at the clock */
#define SF_TIME_LIMIT_LOOK	256

/* Begin a limit of so many milliseconds; 0: none. */
static inline SfTimeLimit
sf_time_limit_begin(int ms)
{
	return (SfTimeLimit) {.deadline = ms > 0 ? sf_tick_plus_ms(sf_tick_now(), ms) : SF_TICK_UNSET};
}

/* Count some pieces of work; true when the time is up, from then on at each call. */
static inline bool
sf_time_limit_spend(SfTimeLimit *limit, uint32 work)
{
	limit->work += work;
	if (limit->work >= SF_TIME_LIMIT_LOOK)
	{
		limit->work = 0;
		limit->is_over = limit->is_over ||
			(limit->deadline != SF_TICK_UNSET && sf_tick_now() > limit->deadline);
	}
	return limit->is_over;
}

#endif							/* SF_BASE_TIME_LIMIT_H */
