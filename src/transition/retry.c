/*
 * retry.c
 *		Retry and Catch: which error matches, and when to try again.
 */
#include "postgres.h"

#include <math.h>

#include "utils/timestamp.h"

#include "transition/step.h"

/* Does one name of ErrorEquals match an error? */
static bool
name_matches(const SfError *error, const char *name)
{
	if (strcmp(name, SF_ERR_ALL) == 0)
		return true;
	if (error->name != NULL && strcmp(name, error->name) == 0)
		return true;

	if (error->is_heartbeat && strcmp(name, SF_ERR_HEARTBEAT_TIMEOUT) == 0)
		return true;

	/* every failure but a timeout is one of the task */
	if (strcmp(name, SF_ERR_TASK_FAILED) == 0)
		return error->name == NULL ||
			(strcmp(error->name, SF_ERR_TIMEOUT) != 0 &&
			 strcmp(error->name, SF_ERR_HEARTBEAT_TIMEOUT) != 0);

	/* an SQLSTATE, or its class */
	if (error->sqlstate != NULL && error->sqlstate[0] != '\0')
	{
		size_t		len = strlen(name);

		return (len == 5 || len == 2) &&
			strncmp(name, error->sqlstate, len) == 0;
	}
	return false;
}

/* Does an error match one of ErrorEquals? */
static bool
matches(const SfError *error, const char **names, int nnames)
{
	for (int i = 0; i < nnames; i++)
		if (name_matches(error, names[i]))
			return true;
	return false;
}

/* Tell how many attempts were counted against a retrier. */
static int
attempts_made(const SfState *state, const SfBranch *branch, int retrier)
{
	return branch->nretry_counts == state->nretriers ? branch->retry_counts[retrier] : 0;
}

/*
 * Count an attempt against a retrier, in a new array: the old one may be that of
 * the branch before the step.
 */
static void
count_attempt(const SfState *state, SfBranch *branch, int retrier)
{
	int		   *counts = palloc(sizeof(int) * state->nretriers);

	for (int i = 0; i < state->nretriers; i++)
		counts[i] = attempts_made(state, branch, i) + (i == retrier);
	branch->retry_counts = counts;
	branch->nretry_counts = state->nretriers;
}

/* Seconds to wait before attempt number made + 1. */
static double
delay_seconds(const SfRetrier *retrier, int made, double random)
{
	double		delay;

	/* nothing stays nothing, also where the power is too large for a double */
	if (retrier->interval_seconds == 0)
		return 0;
	delay = retrier->interval_seconds * pow(retrier->backoff_rate, (double) made);

	/* a year is as good as any bound, and keeps microseconds in 64 bits */
	if (!(delay < 365.25 * 86400))
		delay = 365.25 * 86400;
	if (retrier->max_delay_seconds > 0 && delay > retrier->max_delay_seconds)
		delay = retrier->max_delay_seconds;
	if (retrier->jitter == SF_JITTER_FULL)
		delay *= random;
	return delay;
}

/*
 * Decide whether to retry after an error, and count the retry in the branch.
 * Returns the delay in microseconds; SF_NO_RETRY: no retrier matches, or its attempts are
 * used up.  random: from 0 to 1, for the jitter.  *matching gets the number of the
 * retrier that matches, SF_NO_RETRIER for none.
 */
int64
sf_retry_next(const SfState *state, SfBranch *branch, const SfError *error,
			  double random, int *matching)
{
	*matching = SF_NO_RETRIER;
	for (int i = 0; i < state->nretriers; i++)
	{
		const SfRetrier *retrier = &state->retriers[i];
		int			made;

		if (!matches(error, retrier->errors, retrier->nerrors))
			continue;
		*matching = i;
		made = attempts_made(state, branch, i);
		if (made >= retrier->max_attempts)
			return SF_NO_RETRY;	/* the first retrier that matches decides */
		count_attempt(state, branch, i);
		return (int64) (delay_seconds(retrier, made, random) * USECS_PER_SEC);
	}
	return SF_NO_RETRY;
}

/* The first catcher that an error matches. */
const SfCatcher *
sf_catch_find(const SfState *state, const SfError *error)
{
	for (int i = 0; i < state->ncatchers; i++)
		if (matches(error, state->catchers[i].errors,
							 state->catchers[i].nerrors))
			return &state->catchers[i];
	return NULL;
}
