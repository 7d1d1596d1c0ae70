/*
 * tries.c
 *		What happens to the branches of a slice that failed.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "base/time/timing.h"
#include "base/value/random.h"
#include "base/version/compat.h"
#include "run/slice/slice.h"

/* Sleep before the nth further try. */
static void
pause_before(int n)
{
	(void) WaitLatch(MyLatch, WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 sf_backoff_ms(n, SF_TRY_PAUSE_MS, SF_TRY_MAX_PAUSE_MS),
					 PG_WAIT_EXTENSION);
	CHECK_FOR_INTERRUPTS();
}

/*
 * Try a branch by itself until that need not be done again, or SF_TRIES times.
 * try_once tells whether to try again; last: it is the last try.
 */
void
sf_tries_run(bool (*try_once) (void *arg, bool last), void *arg)
{
	for (int n = 0; n < SF_TRIES; n++)
	{
		if (n > 0)
			pause_before(n);
		if (!try_once(arg, n == SF_TRIES - 1))
			return;
	}
}
