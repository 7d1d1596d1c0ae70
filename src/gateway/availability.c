/*
 * availability.c
 *		Whether the database is there.
 *
 * One connection of the gateway tells.  A connection that is lost and made again
 * at once is no news: an operator has ended it.  When it cannot be made again, the
 * database is down.
 */
#include "postgres_fe.h"

#include <time.h>

#include "gateway/availability.h"

static SfgPool *watched;		/* of this connection */
static int64_t lost_at = INT64_MIN / 2; /* when it was last lost or not made */
static bool failing;			/* it was lost, and is not there again */
static char lost_time[32];		/* when */
static bool down;

/* Have probes go by the one connection of a pool. */
void
sfg_availability_watch(SfgPool *pool)
{
	watched = pool;
}

/* The connection is lost or was not made; tell whether the database is down from now on. */
bool
sfg_availability_is_lost(void)
{
	bool		was_down = down;
	time_t		now = time(NULL);
	struct tm	utc;

	lost_at = sfw_now();
	if (!failing)
		strftime(lost_time, sizeof(lost_time), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	else
		down = true;
	failing = true;
	return down && !was_down;
}

/* The connection is there. */
void
sfg_availability_is_back(void)
{
	failing = down = false;
}

/* When the connection was last lost or not made, on the clock of sfw_now(). */
int64_t
sfg_availability_lost_at(void)
{
	return lost_at;
}

/* Since when the database is down, as pages show it; NULL: it is not. */
const char *
sfg_availability_down_since(void)
{
	return down ? lost_time : NULL;
}

/* Ask the database whether it is there; the result is NULL if it is not. */
void
sfg_availability_probe(SfwDbDone done, void *arg)
{
	sfg_pool_call_first(watched, "SELECT 1", done, arg);
}
