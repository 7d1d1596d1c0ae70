/*
 * limit_rate.h
 *		How much may begin now in the queues of limits with a rate.
 */
#ifndef SF_FEATURE_LIMIT_RATE_H
#define SF_FEATURE_LIMIT_RATE_H

#include "base/memory/shmem.h"
#include "feature/limit/limit.h"

/* Where rates end: microseconds from one that begins to the next, which are 1000 years */
#define SF_LIMIT_MAX_INTERVAL	(1000 * DAYS_PER_YEAR * USECS_PER_DAY)

/* A rate that something begins by, and who is to have room for its bucket */
typedef struct SfRate
{
	const SfLimit *limit;
	SfQueue		queue;
	Oid			owner;
} SfRate;

extern void sf_limit_rate_init(void);
extern bool sf_limit_rate_is_shared(void);
extern void sf_limit_rate_begin(void);
extern void sf_limit_rate_waive(void);
extern bool sf_limit_rate_draw(const SfRate *rate, SfTick *ready);
extern bool sf_limit_rate_has_token(const SfRate *rate, SfTick *ready);
extern void sf_limit_rate_return(const SfLimit *limit, SfQueue queue);
extern void sf_limit_rate_forget(Oid database, int64 limit_no);
extern void sf_limit_rate_reap(void);
extern SfHashUse sf_limit_rate_use(void);

#endif							/* SF_FEATURE_LIMIT_RATE_H */
