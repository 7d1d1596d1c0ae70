/*
 * yield.c
 *		Have a worker leave its processor to processes that wait for one.
 *
 * A session that commits sleeps while its WAL is flushed.  When it wakes up, a worker
 * may have the processor, and the kernel may let the worker have it until its time slice
 * ends, a millisecond or more later.  The session's client waits all that time, for a
 * commit that takes a fifth of a millisecond.  Therefore a worker yields often: sessions
 * need the processor for a short time only, and the worker goes on then.
 *
 * A process that computes, a large query for example, uses its whole time slice after
 * each yield.  The worker would get very little of a busy processor.  Therefore it stops
 * yielding for a while after a yield that took long: it loses a tenth of its time at
 * most.
 */
#include "postgres.h"

#include <sched.h>

#include "base/clock.h"
#include "base/timing.h"
#include "base/yield.h"

static bool enabled = false;
static SfTick next_yield = 0;

/* Have this process yield. */
void
sf_yield_enable(void)
{
	enabled = true;
}

/* Let another process have the processor, if it is time. */
void
sf_yield(void)
{
	SfTick		began;
	SfTick		ended;

	if (!enabled)
		return;
	began = sf_tick_now();
	if (began < next_yield)
		return;
	(void) sched_yield();
	ended = sf_tick_now();
	next_yield = ended + (ended - began < SF_YIELD_LONG_US ? SF_YIELD_PAUSE_US :
						  (ended - began) * SF_YIELD_LONG_FACTOR);
}
