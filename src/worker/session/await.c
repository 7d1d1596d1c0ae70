/*
 * await.c
 *		Sleeping until an execution may have ended.
 *
 * Executions share a few condition variables; a session that is woken for
 * another execution looks, and sleeps again.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

#include "base/time/timing.h"
#include "base/version/compat.h"
#include "worker/session/await.h"
#include "worker/shared_memory/shared.h"

static bool listening = false;

/* When the time is over */
static SfTick give_up;

/* The transaction ended, maybe by an error while asleep. */
void
sf_await_forget(void)
{
	if (!listening)
		return;
	listening = false;
	if (sf_shared)
		pg_atomic_fetch_sub_u32(&sf_shared->awaiting, 1);
}

/* Begin to listen for the end of an execution. */
static void
start_listening(int64 execution_no)
{
	listening = true;
	if (!sf_shared)
		return;
	pg_atomic_fetch_add_u32(&sf_shared->awaiting, 1);
	ConditionVariablePrepareToSleep(sf_shared_ended(execution_no));
}

/* A process that goes away listens no longer. */
static void
stop_listening_at_exit(int code, Datum arg)
{
	sf_await_forget();
}

/* Sleep until an execution may have ended; false when the time is over. */
bool
sf_await_ended(int64 execution_no, TimestampTz until)
{
	static bool registered = false;
	int64		left;
	long		ms;

	if (!listening)
	{
		if (!registered)
			before_shmem_exit(stop_listening_at_exit, (Datum) 0);
		registered = true;
		give_up = sf_tick_of_wall(until);
		start_listening(execution_no);
		return true;
	}

	left = give_up - sf_tick_now();
	if (left <= 0)
		return false;
	ms = (long) Min((left + 999) / 1000, SF_AWAIT_RECHECK_MS);
	if (sf_shared)
		(void) ConditionVariableTimedSleep(sf_shared_ended(execution_no),
										   ms, PG_WAIT_EXTENSION);
	else
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 ms, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	CHECK_FOR_INTERRUPTS();
	return true;
}

/* Listen no longer. */
void
sf_await_done(void)
{
	if (listening && sf_shared)
		ConditionVariableCancelSleep();
	sf_await_forget();
}

/*
 * Sleep until the number of commits that have changed executions, of any database, is
 * not the one that was seen, or until a time; returns the number, 0 without the library
 * preloaded.  It looks now and then, so that those commits need not wake it.
 */
int64
sf_await_change(int64 seen, TimestampTz until)
{
	SfTick		over = sf_tick_of_wall(until);
	int64		left;

	while ((left = over - sf_tick_now()) > 0)
	{
		if (sf_shared && (int64) pg_atomic_read_u64(&sf_shared->changes) != seen)
			break;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 Min((left + 999) / 1000, SF_CHANGE_RECHECK_MS), PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return sf_shared ? (int64) pg_atomic_read_u64(&sf_shared->changes) : 0;
}
