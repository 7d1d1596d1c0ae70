/*
 * failures.c
 *		A line in the server's log for each execution that failed.
 *
 * The line is made when the end is written and logged when that has committed.
 * It names the execution, its state and the error, not the cause: that may
 * quote what the execution works on.
 *
 * A Map with thousands of iterations may fail in thousands of executions: of
 * each second the first lines are logged, by whatever process, and the others
 * are counted.  The launcher logs the count when the second is over.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/dbcommands.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/hooks.h"
#include "base/settings.h"
#include "worker/failures.h"
#include "worker/shared.h"

/* Lines of one second, in all databases */
#define LINES_PER_SECOND	10

/* Longest name of an error in a line: a task may give it any */
#define MAX_ERROR_NAME	200

/* A line that waits for the commit, and the nesting level that it belongs to */
typedef struct Line
{
	struct Line *before;
	int			level;
	char		text[FLEXIBLE_ARRAY_MEMBER];
} Line;

/* Of the current transaction, in its context; the last one */
static Line *lines = NULL;

/* Keep a line until the transaction commits. */
static void
keep(const char *text)
{
	Size		length = strlen(text) + 1;
	Line	   *line = MemoryContextAlloc(TopTransactionContext,
										  offsetof(Line, text) + length);

	line->before = lines;
	line->level = GetCurrentTransactionNestLevel();
	memcpy(line->text, text, length);
	lines = line;
}

/* An execution has failed, or timed out. */
static void
note_failure(const char *execution_id, const char *state, const char *error,
			 bool timed_out)
{
	const char *where = state ? psprintf(" in state \"%s\"", state) : "";
	const char *database;

	if (!sf_setting_log_failures)
		return;
	database = get_database_name(MyDatabaseId);
	if (timed_out || error == NULL)
		keep(psprintf("execution \"%s\" of database \"%s\" %s%s",
					  execution_id, database ? database : "",
					  timed_out ? "timed out" : "failed", where));
	else
		keep(psprintf("execution \"%s\" of database \"%s\" failed%s: %.*s",
					  execution_id, database ? database : "", where,
					  pg_mbcliplen(error, strlen(error), MAX_ERROR_NAME), error));
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
static void
log_line(const char *text)
{
	int64		suppressed;
	bool		may;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	suppressed = begin_second();
	may = sf_shared->failures_logged < LINES_PER_SECOND;
	if (may)
		sf_shared->failures_logged++;
	else if (sf_shared->failures_suppressed++ == 0)
		sf_shared_watch(sf_shared->failures_until);
	LWLockRelease(sf_shared_lock);

	log_suppressed(suppressed);
	if (may)
		ereport(LOG_SERVER_ONLY,
				(errmsg_internal("%s", text),
				 errhidestmt(true), errhidecontext(true)));
}

/* Say how many lines were left out, when the second is over. */
SfTick
sf_failures_tell_suppressed(void)
{
	SfTick next = SF_TICK_NEVER;
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

/* Log lines in the order in which they were kept; the last one is given. */
static void
log_lines(Line *line)
{
	Line	   *after = NULL;

	while (line != NULL)
	{
		Line	   *before = line->before;

		line->before = after;
		after = line;
		line = before;
	}
	for (; after != NULL; after = after->before)
		log_line(after->text);
}

/* The transaction ends. */
static void
on_transaction(XactEvent event, void *arg)
{
	Line	   *last = lines;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT &&
		event != XACT_EVENT_PREPARE)
		return;
	lines = NULL;
	if (event == XACT_EVENT_COMMIT)
		log_lines(last);
}

/* A subtransaction ends: forget its lines, or pass them on. */
static void
on_subtransaction(SubXactEvent event, SubTransactionId mine,
				  SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		while (lines != NULL && lines->level >= level)
			lines = lines->before;
	}
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
	{
		for (Line *line = lines; line != NULL && line->level >= level; line = line->before)
			line->level = level - 1;
	}
}

/* Fill the hook of base/hooks.h and register the transaction callbacks. */
void
sf_failures_init(void)
{
	sf_hooks.execution_failed = note_failure;
	RegisterXactCallback(on_transaction, NULL);
	RegisterSubXactCallback(on_subtransaction, NULL);
}
