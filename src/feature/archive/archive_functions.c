/*
 * archive_functions.c
 *		sf_take_archive_batch(), sf_read_archive_batch(), sf_confirm_archive_batch(): what a program calls that writes
 *		executions into an archive.
 *
 * The program takes a batch, whose name and executions are stored then, reads it, writes files by that name, and
 * confirms, which deletes the executions.  A batch that was not confirmed is handed out again, and has the same
 * executions: they do not change (SfFeatureTable.freezes).  So a program may die at any moment, and what another one
 * writes in its place replaces what it has written.  A batch belongs to the session that holds its lock; a session
 * has one at a time.
 */
#include "postgres.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "copy/instance.h"
#include "db/lock_tag.h"
#include "feature/archive/batch.h"
#include "run/execution/lifecycle.h"
#include "run/slice/dispatch.h"
#include "store/history/history_event_types.h"
#include "store/purge/purge.h"

/* Executions of a batch at most, and how many where the caller does not say */
#define MAX_EXECUTIONS	100000
#define DEFAULT_EXECUTIONS	1000

/* A batch is full when the histories of its executions take this much, compressed as they are stored */
#define MAX_BYTES		(256 * INT64CONST(1024) * 1024)

/* A batch that is being collected */
typedef struct Collected
{
	SfArchiveBatch *batch;		/* NULL: nothing is due yet */
	int			activity_no;
	const char *worker;
	int			most;			/* executions */
	int64		bytes;
} Collected;

/* The tag of the lock of a batch. */
static LOCKTAG
lock_tag(int64 batch_no)
{
	LOCKTAG		tag;

	tag = sf_lock_tag("archive_batch", (uint32) batch_no);
	return tag;
}

/* The batch that belongs to this session, 0: none */
static int64 mine = 0;

/* Give the batch back that belongs to this session, now or with the end of the transaction. */
static void
unlock_mine(bool at_end)
{
	LOCKTAG		tag;

	if (mine == 0)
		return;
	tag = lock_tag(mine);
	mine = 0;
	if (at_end)
		(void) LockAcquire(&tag, ExclusiveLock, false, false);
	(void) LockRelease(&tag, ExclusiveLock, true);
}

/* Have a batch belong to this session, which gives back another one; false: it is another session's. */
static bool
lock_batch(int64 batch_no)
{
	LOCKTAG		tag = lock_tag(batch_no);
	LockAcquireResult got = LockAcquire(&tag, ExclusiveLock, true, true);

	if (got == LOCKACQUIRE_NOT_AVAIL)
		return false;
	if (mine == batch_no)
	{
		/* DISCARD ALL may have released it meanwhile */
		if (got != LOCKACQUIRE_OK)
			(void) LockRelease(&tag, ExclusiveLock, true);
		return true;
	}
	unlock_mine(false);
	mine = batch_no;
	return true;
}

/* Delete executions that are in an archive, but for those that a session is holding. */
static int64
delete_archived(const List *numbers)
{
	return sf_purge_delete(sf_purge_lock_executions(numbers));
}

/* Put executions that are to go into the batch; returns for how many more there is room. */
static int
add_to_batch(const List *numbers, void *arg)
{
	Collected  *c = arg;

	if (c->batch == NULL)
		c->batch = sf_archive_batch_make(c->activity_no, c->worker);
	sf_archive_batch_add(c->batch->batch_no, numbers);
	c->batch->executions += list_length(numbers);
	c->bytes += sf_archive_batch_bytes(numbers);
	return c->bytes >= MAX_BYTES ? 0 : Max(c->most - c->batch->executions, 0);
}

/*
 * Find a batch of an activity that a program has left, and claim it; NULL: there is none.  One whose executions were
 * deleted with their machine is deleted.
 */
static SfArchiveBatch *
claim_left(int activity_no, const char *worker)
{
	foreach_ptr(const int64, batch_no, sf_archive_batch_unconfirmed(activity_no))
	{
		SfArchiveBatch *batch;

		if (!lock_batch(*batch_no))
			continue;
		/* the session that had the lock may have confirmed it */
		batch = sf_archive_batch_read(*batch_no, SF_LOCK_WAIT);
		if (batch != NULL && !batch->confirmed)
		{
			batch->executions = list_length(sf_archive_batch_members(*batch_no, 0, PG_INT32_MAX));
			if (batch->executions > 0)
			{
				sf_archive_batch_set_size(*batch_no, batch->executions);
				sf_archive_batch_claim(*batch_no, worker);
				return batch;
			}
			sf_archive_batch_delete(*batch_no);
		}
		unlock_mine(true);
	}
	return NULL;
}

/* Wait for others that make a batch of an activity, until the end of the transaction. */
static void
lock_making(int activity_no)
{
	LOCKTAG		tag = sf_lock_tag("archive_progress", (uint32) activity_no);

	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

/* Make a batch of executions that are due, and claim it; NULL: nothing is due.  *all: there is no more. */
static SfArchiveBatch *
claim_new(const SfActivity *activity, const char *worker, int most, bool *all)
{
	Collected	c = {.activity_no = activity->activity_no,.worker = worker,.most = most};

	lock_making(activity->activity_no);
	*all = sf_retention_collect(activity, most, add_to_batch, &c);
	if (*all)
		sf_archive_batch_note_progress(activity->activity_no);
	if (c.batch == NULL)
		return NULL;
	sf_archive_batch_set_size(c.batch->batch_no, c.batch->executions);
	if (!lock_batch(c.batch->batch_no))
		elog(ERROR, "a new batch is locked");
	return c.batch;
}

/* Claim a batch that was left or a new one, and delete what earlier ones could not; NULL: nothing is due. */
static SfArchiveBatch *
claim_next(const SfActivity *activity, const char *worker, int most, bool *all)
{
	SfArchiveBatch *batch;

	sf_activity_note_poll(activity->activity_no, worker);
	(void) delete_archived(sf_archive_batch_left());
	batch = claim_left(activity->activity_no, worker);
	*all = false;
	return batch != NULL ? batch : claim_new(activity, worker, most, all);
}

/* Read the name of a worker, cut where it is long; NULL: none. */
static char *
worker_argument(FunctionCallInfo fcinfo, int n)
{
	char	   *worker = sf_arg_text_or_null(fcinfo, n);

	if (worker != NULL && strlen(worker) > 1024)
		worker[pg_mbcliplen(worker, strlen(worker), 1024)] = '\0';
	return worker;
}

/*
 * sf_take_archive_batch(activity, worker_name, max_executions): a batch to write, one that was left or a new one, which
 * belongs to the session from now on: batch (NULL: nothing is due), name, executions, all_taken: nothing else is due.
 */
SF_SQL_FUNCTION(sfflow_sf_take_archive_batch)
{
	SfActivity *activity = sf_arg_activity(sf_arg_text(fcinfo, 0, "activity"), SF_RIGHT_WORK);
	char	   *worker = worker_argument(fcinfo, 1);
	int			most = sf_arg_count(fcinfo, 2, "max_executions", 1, DEFAULT_EXECUTIONS);
	SfArchiveBatch *batch = NULL;
	bool		all = true;
	SfColumns	row = {0};

	if (most > MAX_EXECUTIONS)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument max_executions must be at most %d", MAX_EXECUTIONS)));
	sf_dispatch_refuse_in_task("sf_take_archive_batch");
	if (sf_instance_takes_work())
		batch = claim_next(activity, worker, most, &all);
	else
		/* a notice: programs poll all the time, and the server's log is not to fill */
		sf_instance_tell(NOTICE, sf_instance_status(), "nothing is archived: the database is not driven");
	/* a server that forgot a batch after a crash would hand out its executions again, under another name */
	ForceSyncCommit();
	SF_DEBUG_POINT("archive-take");
	sf_columns_add(&row, Int64GetDatum(batch == NULL ? 0 : batch->batch_no), batch == NULL);
	sf_columns_text(&row, batch == NULL ? NULL : batch->name);
	sf_columns_add(&row, Int32GetDatum(batch == NULL ? 0 : batch->executions), false);
	sf_columns_add(&row, BoolGetDatum(all), false);
	return sf_columns_datum(fcinfo, &row);
}

/* Find a batch of an activity that the caller may work for and that belongs to this session, or raise. */
static SfArchiveBatch *
batch_argument(FunctionCallInfo fcinfo, SfLock lock)
{
	int64		batch_no = PG_ARGISNULL(0) ? 0 : PG_GETARG_INT64(0);
	SfArchiveBatch *batch = sf_archive_batch_read(batch_no, SF_LOCK_NONE);
	SfActivity *activity = batch == NULL ? NULL : sf_activity_read_no(batch->activity_no);

	if (activity == NULL || !sf_privilege_check(SF_OBJECT_ACTIVITY, activity->name, activity->owner, SF_RIGHT_WORK))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no batch " INT64_FORMAT " of an archive that you may write", batch_no),
				 errhint("sf_take_archive_batch() hands batches out.")));
	if (lock_batch(batch_no))
		batch = sf_archive_batch_read(batch_no, lock);
	else
		batch = NULL;
	if (batch != NULL && batch->confirmed)
		unlock_mine(false);
	if (batch == NULL || batch->confirmed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("batch " INT64_FORMAT " is confirmed, or another session has it", batch_no),
				 errhint("sf_take_archive_batch() hands the next one out.")));
	return batch;
}

/* Where the lines of a batch go */
typedef struct Lines
{
	FunctionCallInfo fcinfo;
	int64		execution_no;
} Lines;

/* Put one line into the result: of an event, or number 0, of the execution. */
static void
put_line(const Lines *lines, int event, const char *line)
{
	SfColumns	row = {0};

	sf_columns_add(&row, Int64GetDatum(lines->execution_no), false);
	sf_columns_add(&row, Int32GetDatum(event), false);
	sf_columns_text(&row, line);
	sf_columns_put(lines->fcinfo, &row);
}

/* Put an event into the result. */
static void
put_event(const SfHistoryEvent *event, const char *state, const Jsonb *details, void *arg)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_int(&json, "id", event->id);
	sf_json_add_int(&json, "previous_event_id", event->previous_id);
	sf_json_add_string(&json, "timestamp", sf_timestamp_print(event->at));
	sf_json_add_string(&json, "type", sf_history_event_type_name(event->type));
	if (state != NULL)
		sf_json_add_string(&json, "state", state);
	if (details != NULL)
		sf_json_add(&json, "details", details);
	put_line(arg, event->id, sf_json_to_cstring(sf_json_end(&json)));
}

/* Read the one document of a row. */
static void
read_head(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(Jsonb **) arg = sf_row_jsonb(tuple, desc, 1);
}

/* Put an execution with its events into the result. */
static void
put_execution(Lines *lines)
{
#define AT(column) "pg_catalog.to_char(e." column " AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.jsonb_build_object("
		"'execution_id', e.execution_id, 'state_machine', m.name, 'version', e.version,"
		" 'name', pg_catalog.substr(e.execution_id, pg_catalog.length(m.name) + 2), 'status', ($3)[e.status + 1],"
		" 'input', e.input, 'output', e.output, 'error', e.error, 'cause', e.cause,"
		" 'requested_at', " AT("requested_at") ", 'requested_by', e.requested_by::pg_catalog.text,"
		" 'started_at', " AT("started_at") ", 'stopped_at', " AT("stopped_at") ","
		" 'redrive_count', e.redrive_count, 'last_redriven_at', " AT("last_redriven_at") ","
		" 'start_requests', e.start_requests, 'parent_execution_id', p.execution_id, 'labels', e.labels,"
		" 'owner', m.owner::pg_catalog.text)"
		" FROM _sfflow.execution e JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no"
		" LEFT JOIN _sfflow.execution p ON p.execution_no = e.parent_execution_no"
		" WHERE e.execution_no = $1 AND e.status <> $2");
	SfExecutionHead execution;
	Datum		names[SF_STATUS_ABORTED + 1];
	ArrayType  *statuses;
	Jsonb	   *head = NULL;

	for (int i = 0; i <= SF_STATUS_ABORTED; i++)
		names[i] = CStringGetTextDatum(sf_status_name(i));
	statuses = construct_array(names, lengthof(names), TEXTOID, -1, false, TYPALIGN_INT);
	sf_db_read(&plan, read_head, &head, SF_INT8(lines->execution_no), SF_INT2(SF_STATUS_RUNNING),
			   sf_query_arg(TEXTARRAYOID, PointerGetDatum(statuses), false));
	if (head == NULL || !sf_head_read(lines->execution_no, &execution))
		return;
	put_line(lines, 0, sf_json_to_cstring(head));
	sf_object_each_event(&execution, put_event, lines);
}

/*
 * sf_read_archive_batch(batch, after, max_executions): executions of a batch that belongs to this session, in the order
 * of their numbers: a row with event_id 0 and the execution, then one for each event, as JSON text.
 */
SF_SQL_FUNCTION(sfflow_sf_read_archive_batch)
{
	int64		after = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1);
	int			most = sf_arg_count(fcinfo, 2, "max_executions", 1, DEFAULT_EXECUTIONS);
	SfArchiveBatch *batch = batch_argument(fcinfo, SF_LOCK_NONE);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow archive", ALLOCSET_DEFAULT_SIZES);
	Lines		lines = {.fcinfo = fcinfo};

	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(const int64, number, sf_archive_batch_members(batch->batch_no, after, most))
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		lines.execution_no = *number;
		put_execution(&lines);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	return (Datum) 0;
}

/*
 * sf_confirm_archive_batch(batch, file, bytes, sha256): a batch that belongs to this session is in its archive, so its
 * executions are deleted; returns how many.
 */
SF_SQL_FUNCTION(sfflow_sf_confirm_archive_batch)
{
	char	   *file = sf_arg_text(fcinfo, 1, "file");
	char	   *sha256 = sf_arg_text(fcinfo, 3, "sha256");
	SfArchiveBatch *batch;
	int64		deleted;

	if (PG_ARGISNULL(2) || PG_GETARG_INT64(2) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument bytes must not be negative or null")));
	sf_dispatch_refuse_in_task("sf_confirm_archive_batch");
	batch = batch_argument(fcinfo, SF_LOCK_WAIT);
	SF_DEBUG_POINT("archive-confirm");
	sf_archive_batch_confirm(batch->batch_no, file, PG_GETARG_INT64(2), sha256);
	deleted = delete_archived(sf_archive_batch_members(batch->batch_no, 0, PG_INT32_MAX));
	ForceSyncCommit();
	SF_DEBUG_POINT("archive-confirmed");
	unlock_mine(true);
	PG_RETURN_INT64(deleted);
}
