/*
 * failures.c
 *		A line in the server's log for each execution that failed.
 *
 * The line is made when the end is written, and logged when that has committed
 * (wake.c).  It names the execution, its state and the error, but not the cause,
 * which may quote the execution's data.
 *
 * A Map with thousands of iterations may fail in thousands of executions.  The
 * first lines of each second are logged, and the others are counted; the launcher
 * logs the count when the second is over.
 */
#include "postgres.h"

#include "commands/dbcommands.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "base/error/debug_point.h"
#include "base/settings.h"
#include "worker/fault/fault.h"
#include "worker/shared_memory/shared.h"

/* Lines of one second, in all databases */
#define LINES_PER_SECOND	10

/* Longest name of an error in a line: a task may give it any */
#define MAX_ERROR_NAME	200

/* Make the line of an execution that has failed or timed out; NULL: none is wanted. */
char *
sf_failures_line(const char *execution_id, const char *state, const char *error,
				 bool timed_out)
{
	const char *where = state ? psprintf(" in state \"%s\"", state) : "";
	const char *database;

	if (!sf_setting_log_failures)
		return NULL;
	database = get_database_name(MyDatabaseId);
	if (timed_out || error == NULL)
		return psprintf("execution \"%s\" of database \"%s\" %s%s",
						execution_id, database ? database : "",
						timed_out ? "timed out" : "failed", where);
	return psprintf("execution \"%s\" of database \"%s\" failed%s: %.*s",
					execution_id, database ? database : "", where,
					pg_mbcliplen(error, strlen(error), MAX_ERROR_NAME), error);
}

/*
 * Begin another second when the last one is over; returns how many lines were
 * left out in the last one.
 */
static int64
begin_second(void)
{
	SfTick		now = sf_tick_now();
	int64		suppressed = sf_shared->failures_suppressed;

	if (now < sf_shared->failures_until)
		return 0;
	sf_shared->failures_until = sf_tick_plus_ms(now, 1000);
	sf_shared->failures_logged = 0;
	sf_shared->failures_suppressed = 0;
	return suppressed;
}

/* Say that lines were left out. */
static void
log_suppressed(int64 count)
{
	if (count > 0)
		ereport(LOG_SERVER_ONLY,
				(errmsg(INT64_FORMAT " more executions failed", count),
				 errhint("sf_alerts lists them."),
				 errhidestmt(true), errhidecontext(true)));
}

/* Log a line, to the server alone and without its statement: that may hold a payload. */
void
sf_failures_log(const char *text)
{
	int64		suppressed;
	bool		may;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	suppressed = begin_second();
	may = sf_shared->failures_logged < LINES_PER_SECOND;
	if (may)
		sf_shared->failures_logged++;
	else if (sf_shared->failures_suppressed++ == 0)
		sf_shared_check_by(sf_shared->failures_until);
	LWLockRelease(sf_shared_lock);

	SF_DEBUG_POINT("failure_log");
	log_suppressed(suppressed);
	if (may)
		ereport(LOG_SERVER_ONLY,
				(errmsg_internal("%s", text),
				 errhidestmt(true), errhidecontext(true)));
}

/*
 * Log how many lines were left out, when it is time to: the launcher's job.
 * Returns when to call again.
 */
SfTick
sf_failures_tell_suppressed(void)
{
	SfTick		next = SF_TICK_NEVER;
	int64		suppressed = 0;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	if (sf_shared->failures_suppressed > 0)
	{
		suppressed = begin_second();
		if (suppressed == 0)
			next = sf_shared->failures_until;
	}
	LWLockRelease(sf_shared_lock);
	log_suppressed(suppressed);
	return next;
}
