/*
 * watch.c
 *		Keep the time limit of an evaluation while it is in code of PostgreSQL.
 *
 * PostgreSQL's regular expressions have no time limit, but they check for query
 * cancel.  When the time is up, a timer sets QueryCancelPending, and the error
 * that follows is taken for the end of the time.  A real cancel takes precedence,
 * whether it is pending already or comes later: SIGINT, by which all of them come,
 * is noted meanwhile.
 */
#include "postgres.h"

#include <signal.h>

#include "miscadmin.h"
#include "utils/timeout.h"

#include "base/error/debug_point.h"
#include "base/hooks.h"
#include "base/time/watch.h"

static TimeoutId watch_id = MAX_TIMEOUTS;	/* not registered yet */
static volatile sig_atomic_t watch_fired = false;
static volatile sig_atomic_t canceled = false;	/* by another than the watch */
static struct sigaction outer_cancel;	/* the handler of SIGINT outside */

/* Request a cancel (a signal handler). */
static void
time_is_up(void)
{
	if (QueryCancelPending)
		return;
	watch_fired = true;
	InterruptPending = true;
	QueryCancelPending = true;
}

/* Note whether SIGINT cancels (a signal handler, in which SIGALRM waits). */
static void
note_cancel(int signo)
{
	bool		pending = QueryCancelPending;

	QueryCancelPending = false;
	if (outer_cancel.sa_handler != SIG_DFL && outer_cancel.sa_handler != SIG_IGN)
		outer_cancel.sa_handler(signo);
	if (QueryCancelPending)
		canceled = true;
	else
		QueryCancelPending = pending;
}

/* Enable the timer. */
static void
begin_watch(SfTick deadline)
{
	struct sigaction noting = {.sa_handler = note_cancel,.sa_flags = SA_RESTART};

	if (watch_id == MAX_TIMEOUTS)
		watch_id = RegisterTimeout(USER_TIMEOUT, time_is_up);
	watch_fired = canceled = false;
	sigemptyset(&noting.sa_mask);
	sigaddset(&noting.sa_mask, SIGALRM);
	/* the handler has to know the outer one before it is called */
	sigaction(SIGINT, NULL, &outer_cancel);
	sigaction(SIGINT, &noting, NULL);
	enable_timeout_after(watch_id,
						 (int) Max((deadline - sf_tick_now()) / 1000, 1));
}

/* Disable the timer; true when it has fired, and no other cancel has come. */
static bool
end_watch(void)
{
	bool		fired;

	SF_DEBUG_POINT_HELD("regex-over");
	disable_timeout(watch_id, false);
	fired = watch_fired && !sf_hooks.cancel_requested();
	watch_fired = false;
	if (fired)
		QueryCancelPending = false;
	/* what comes from here on is not lost: it sets QueryCancelPending */
	if (fired && canceled)
	{
		fired = false;
		InterruptPending = true;
		QueryCancelPending = true;
	}
	sigaction(SIGINT, &outer_cancel, NULL);
	return fired;
}

/*
 * Do some work, which computes and does nothing else: it holds no lock, and what it has allocated may be lost.  So
 * there is nothing to roll back when it is cut short.  False when the time was up.
 */
bool
sf_watch_run(SfTick deadline, void (*work) (void *arg), void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool is_cut = false;

	begin_watch(deadline);
	PG_TRY();
	{
		work(arg);
	}
	PG_CATCH();
	{
		if (!end_watch())
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		is_cut = true;
	}
	PG_END_TRY();
	return !is_cut && !end_watch();
}
