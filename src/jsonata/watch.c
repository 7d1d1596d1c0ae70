/*
 * watch.c
 *		Keep the time limit of an evaluation during a regular expression match.
 *
 * PostgreSQL's regular expressions have no time limit, but they check for query
 * cancel.  When the time is up, a timer sets QueryCancelPending, and the error
 * that follows becomes the error of the evaluation.  A real cancel that is
 * already pending takes precedence.
 */
#include "postgres.h"

#include "base/errors.h"
#include "base/hooks.h"
#include "jsonata/eval.h"
#include "jsonata/watch.h"
#include "miscadmin.h"
#include "utils/timeout.h"

#define CHEAP_LEN 5000			/* code points that are searched soon enough */

static TimeoutId watch_id = MAX_TIMEOUTS;	/* not registered yet */
static volatile sig_atomic_t watch_fired = false;

/* Request a cancel (a signal handler). */
static void
ring(void)
{
	if (QueryCancelPending)
		return;
	watch_fired = true;
	InterruptPending = true;
	QueryCancelPending = true;
}

/* Disable the timer; true when it has fired. */
static bool
end_watch(void)
{
	bool		fired;

	disable_timeout(watch_id, false);
	fired = watch_fired;
	watch_fired = false;
	if (fired && !sf_hooks.cancel_requested())
		QueryCancelPending = false;
	return fired;
}

/*
 * Search the decoded subject of ev from a code point on; a code of
 * regex/regex.h.  Throws U1002 when the time is up.
 */
int
sf_jn_regexec(SfJnEval *ev, regex_t *re, size_t from, int nmatch, regmatch_t *match)
{
	bool		costly = ev->nwide - from > CHEAP_LEN ||
		(re->re_info & (REG_UBACKREF | REG_ULOOKAROUND)) != 0;
	volatile int rc = REG_OKAY;

	if (ev->deadline == 0 || !costly)
	{
		rc = pg_regexec(re, ev->wide, ev->nwide, from, NULL, nmatch, match, 0);
		CHECK_FOR_INTERRUPTS();
		return rc;
	}

	if (watch_id == MAX_TIMEOUTS)
		watch_id = RegisterTimeout(USER_TIMEOUT, ring);
	watch_fired = false;
	enable_timeout_after(watch_id,
						 (int) Max((ev->deadline - sf_tick_now()) / 1000, 1));
#if PG_VERSION_NUM >= 160000
	/* The engine raises the cancel itself. */
	PG_TRY();
	{
		rc = pg_regexec(re, ev->wide, ev->nwide, from, NULL, nmatch, match, 0);
	}
	PG_CATCH();
	{
		if (!end_watch())
			PG_RE_THROW();
		FlushErrorState();
		ereport(ERROR,
				(errcode(ERRCODE_SF_EVALUATION_LIMIT),
				 errmsg("Expression evaluation timeout: Check for infinite loop")));
	}
	PG_END_TRY();
#else
	rc = pg_regexec(re, ev->wide, ev->nwide, from, NULL, nmatch, match, 0);
#endif
	if (end_watch())
		sf_jn_fail(ev, SF_JN_U1002);
	CHECK_FOR_INTERRUPTS();
	return rc;
}
