/*
 * timer.c
 *		The time limit of a task, through PostgreSQL's timeout framework.
 *
 * A timer that runs out cancels the task, as statement_timeout does, and marks
 * itself, so that the error path knows the cause of the cancel.  If another cancel
 * is pending already, that one goes first.  Tasks can nest (a function may call
 * sf_run): timers form a stack, the alarm is set for the earliest, and each cancel
 * belongs to the timers that are marked.  The alarm repeats, because code may catch
 * query_canceled and carry on.
 *
 * PostgreSQL's timeouts follow the wall clock and come late when it is set back.
 * So the time of a task is measured by the monotonic clock, and the launcher, which
 * knows the deadline, sends a cancel when the alarm does not come.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/timeout.h"

#include "base/error/debug_point.h"
#include "base/time/timing.h"
#include "sql_task/sql_task_internal.h"

static TimeoutId timer_id = MAX_TIMEOUTS;	/* not registered yet */
static SfTimer *volatile timers = NULL;

/* Mark the timers that ran out and cancel what runs (a signal handler). */
static void
handle_alarm(void)
{
	SfTick		now = sf_tick_now();
	SfTimer    *timer;
	bool		cancel = false;

	if (QueryCancelPending)
		return;
	for (timer = timers; timer != NULL; timer = timer->outer)
	{
		if (timer->deadline <= now)
		{
			timer->fired = true;
			cancel = true;
		}
	}
	if (cancel || SF_DEBUG_MUTATION("task_limit"))
	{
		InterruptPending = true;
		QueryCancelPending = true;
		SetLatch(MyLatch);
	}
}

/* Set the alarm for the earliest deadline of the stack. */
static void
set_alarm(void)
{
	SfTimer    *timer;
	SfTick		earliest = SF_TICK_NEVER;

	for (timer = timers; timer != NULL; timer = timer->outer)
		earliest = Min(earliest, timer->deadline);

	sf_hooks.task_deadline(earliest);
	if (earliest != SF_TICK_NEVER)
	{
		if (timer_id == MAX_TIMEOUTS)
			timer_id = RegisterTimeout(USER_TIMEOUT, handle_alarm);
		enable_timeout_every(timer_id,
							 GetCurrentTimestamp() + (earliest - sf_tick_now()),
							 SF_TIMER_REPEAT_MS);
	}
	else if (timer_id != MAX_TIMEOUTS)
		disable_timeout(timer_id, false);
}

/* Fix the deadline: timeout_ms from now; 0: none. */
void
sf_timer_set(SfTimer *timer, int64 timeout_ms)
{
	timer->began = sf_tick_now();
	timer->deadline = timeout_ms <= 0 ? SF_TICK_NEVER :
		sf_tick_plus_ms(timer->began, timeout_ms);
	timer->default_ms = 0;
	timer->fired = false;
	timer->outer = NULL;
}

/* Give a running timer that has no deadline one: timeout_ms after its task began. */
void
sf_timer_set_default(SfTimer *timer, int64 timeout_ms)
{
	if (timeout_ms <= 0 || (timer->deadline != SF_TICK_NEVER && timer->default_ms == 0))
		return;
	timer->deadline = sf_tick_plus_ms(timer->began, timeout_ms);
	timer->default_ms = timeout_ms;
	set_alarm();
}

/* Tell whether the time is up, whether the alarm has come or not. */
bool
sf_timer_is_over(const SfTimer *timer)
{
	return timer->deadline <= sf_tick_now();
}

/* Let the time run. */
void
sf_timer_start(SfTimer *timer)
{
	timer->outer = timers;
	timers = timer;
	if (timer->deadline != SF_TICK_NEVER)
		set_alarm();
}

/* Stop it, on both paths. */
void
sf_timer_stop(SfTimer *timer)
{
	if (timers != timer)
		return;
	timers = timer->outer;
	if (timer->deadline != SF_TICK_NEVER && !SF_DEBUG_MUTATION("task_limit"))
		set_alarm();
}

/* Raise the cancel of a timer that ran out just when the work was done. */
void
sf_timer_check(const SfTimer *timer)
{
	if (!timer->fired)
		return;
	CHECK_FOR_INTERRUPTS();
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("canceling task due to its time limit")));
}

/*
 * Take back the cancel of a timer that was not acted on before its task ended,
 * unless another timer or sf_stop has asked for one, too.
 */
void
sf_timer_withdraw_cancel(const SfTimer *timer)
{
	const SfTimer *outer;
	bool		wanted;

	if (!timer->fired || !QueryCancelPending)
		return;
	/* before the looks: a request that comes meanwhile shows in them, or is raised after */
	QueryCancelPending = false;
	wanted = sf_hooks.cancel_requested();
	for (outer = timer->outer; outer != NULL; outer = outer->outer)
		wanted |= outer->fired;
	if (wanted)
		QueryCancelPending = true;
}
