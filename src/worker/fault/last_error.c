/*
 * last_error.c
 *		The last error of a database's workers that no execution shows.
 *
 * Two kinds of errors leave no trace in the tables: those that are not the
 * fault of a branch (no disk space, no memory), after which the worker pauses
 * and tries again, and those that end the worker's process.  The last one of
 * each database is kept in shared memory for sf_health.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/elog.h"

#include "worker/fault/fault.h"

static emit_log_hook_type next_log_hook = NULL;

/* Note an error of this worker. */
void
sf_last_error_note(int sqlstate, const char *message)
{
	int			length = pg_mbcliplen(message, strlen(message), SF_LAST_ERROR_SIZE - 1);
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	if (database)
	{
		database->last_error.at = sf_tick_now();
		database->last_error.in_a_row++;
		database->last_error.sqlstate = sqlstate;
		memcpy(database->last_error.message, message, length);
		database->last_error.message[length] = '\0';
	}
	LWLockRelease(sf_shared_lock);
}

/* Note what makes this process exit, unless it was asked to. */
static void
note_exit(ErrorData *edata)
{
	if (next_log_hook)
		next_log_hook(edata);
	if (edata->elevel == FATAL && edata->sqlerrcode != ERRCODE_ADMIN_SHUTDOWN &&
		!LWLockHeldByMe(sf_shared_lock))
		sf_last_error_note(edata->sqlerrcode,
						   edata->message ? edata->message : "unknown error");
}

/* Have this process note what makes it exit. */
void
sf_last_error_watch_exit(void)
{
	next_log_hook = emit_log_hook;
	emit_log_hook = note_exit;
}

/* Copy what is noted of this database; false when there is nothing. */
bool
sf_last_error_read(SfLastError *out)
{
	SfDatabase *database;

	memset(out, 0, sizeof(*out));
	database = sf_shared_lock_database(MyDatabaseId);
	if (database)
		*out = database->last_error;
	LWLockRelease(sf_shared_lock);
	return out->at != SF_TICK_UNSET;
}
