/*
 * task.c
 *		Rows of _sfflow.activity and _sfflow.task.
 */
#include "postgres.h"

#include "commands/async.h"
#include "common/base64.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"

#include "base/value/encoding.h"
#include "base/version/compat.h"
#include "db/direct.h"
#include "store/execution/execution.h"
#include "store/role/named_lock.h"
#include "store/role/privilege.h"
#include "store/task/task.h"

SF_COLUMN_NUMBERS(SF_TASK_COLUMNS);

#define ROW SfTask
SF_ROW_TYPE(task_row, SF_TASK_COLUMNS, task, 2);
#undef ROW
#define ROW SfActivity
SF_ROW_TYPE(activity_row, SF_ACTIVITY_FIELDS, activity, 1);

/*
 * The status of tasks that the index task_queued has.  The planner uses it only
 * for a query that names the number, as the index does.
 */
#define QUEUED	"0"
StaticAssertDecl(SF_TASK_STATUS_QUEUED == 0, "status of the tasks in the index task_queued");

/* --- activities --- */

/* Columns of SF_ACTIVITY_FIELDS; a month of a lease has 30 days */
#define SELECT_ACTIVITY \
	"SELECT a.activity_no, a.owner, a.name, (extract(epoch FROM a.lease)" \
	" * 1000)::pg_catalog.int8, a.max_receive_count," \
	" a.last_polled_at > (pg_catalog.now()" \
	"  - '1 day'::pg_catalog.interval)" \
	" FROM _sfflow.activity a "

/* Find an activity by name. */
SfActivity *
sf_activity_read(const char *name)
{
	static SfPlan plan = SF_PLAN(SELECT_ACTIVITY "WHERE a.name = $1");

	return sf_db_row(&plan, &activity_row, SF_TEXT(name));
}

/* Find an activity by number. */
SfActivity *
sf_activity_read_no(int activity_no)
{
	static SfPlan plan = SF_PLAN(SELECT_ACTIVITY "WHERE a.activity_no = $1");

	return sf_db_row(&plan, &activity_row, SF_INT4(activity_no));
}

/* Insert an activity; false when the name is taken. */
bool
sf_activity_insert(const char *name, Oid owner, Datum lease, bool no_lease,
				   int max_receive_count)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.activity (name, owner, lease, max_receive_count, created_at)"
		" VALUES ($1, $2, $3, $4, pg_catalog.clock_timestamp())"
		" ON CONFLICT (name) DO NOTHING");

	return sf_db_execute(&plan, SF_TEXT(name), SF_ROLE(owner),
						 sf_query_arg(INTERVALOID, lease, no_lease),
						 sf_query_arg(INT4OID, Int32GetDatum(max_receive_count),
									  max_receive_count == SF_UNLIMITED)) == 1;
}

/* Delete an activity with its tasks. */
void
sf_activity_delete(int activity_no)
{
	static SfPlan tasks = SF_PLAN(
		"DELETE FROM _sfflow.task t WHERE t.activity_no = $1");
	static SfPlan activity = SF_PLAN(
		"DELETE FROM _sfflow.activity a WHERE a.activity_no = $1");

	sf_db_execute(&tasks, SF_INT4(activity_no));
	sf_db_execute(&activity, SF_INT4(activity_no));
}

/* Before an activity gets a task: keep it until the end of the transaction; false: it was dropped. */
bool
sf_activity_keep(const SfActivity *activity)
{
	static const SfIndex by_number = {"activity", "activity_pkey"};

	sf_named_lock(SF_OBJECT_ACTIVITY, activity->name, SF_NAMED_LOCK_KEEP);
	return sf_row_is_there(&by_number, NULL, SF_INT4(activity->activity_no));
}

/*
 * Count the tasks of an activity that can still be answered, now, whatever the snapshot of the transaction.  The task
 * of a branch that was aborted keeps its row: its token then says what became of it.
 */
int64
sf_activity_count_tasks(int activity_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM _sfflow.task t"
		" JOIN _sfflow.branch b ON b.execution_no = t.execution_no"
		" AND b.branch_no = t.branch_no AND b.generation = t.generation"
		" AND b.phase = $2"
		" JOIN _sfflow.execution e ON e.execution_no = t.execution_no"
		" AND e.status = $3"
		" WHERE t.activity_no = $1 AND t.status = ANY ($4)");

	return sf_snapshot_number_now(&plan, 0, SF_INT4(activity_no), SF_INT2(SF_PHASE_EXTERNAL),
								  SF_INT2(SF_STATUS_RUNNING),
								  SF_INT2S(SF_TASK_STATUS_QUEUED, SF_TASK_STATUS_TAKEN, SF_TASK_STATUS_TOKEN));
}

/* Store that a worker polls; writes at most once per second. */
void
sf_activity_note_poll(int activity_no, const char *worker)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.activity a SET last_polled_at = pg_catalog.clock_timestamp(),"
		" last_worker = $2 WHERE a.activity_no = (SELECT s.activity_no"
		" FROM _sfflow.activity s WHERE s.activity_no = $1"
		" AND (s.last_polled_at IS NULL OR s.last_polled_at < "
		" (pg_catalog.clock_timestamp() - '1 s'::pg_catalog.interval))"
		" FOR UPDATE SKIP LOCKED)");

	sf_db_execute(&plan, SF_INT4(activity_no), SF_TEXT(worker));
}

/* NOTIFY sf_activity, unless no worker has polled for a day. */
void
sf_activity_notify(const SfActivity *activity)
{
	/* NOTIFY takes a lock of the whole cluster at commit: only where a worker may listen */
	if (activity->polled)
		Async_Notify("sf_activity", activity->name);
}

/* --- tasks --- */

/* Make a task for a branch, with a fresh secret. */
SfTask *
sf_task_make(const SfBranch *branch)
{
	SfTask	   *task = palloc0(sizeof(SfTask));

	task->key = branch->key;
	task->generation = branch->generation + 1;
	task->state = branch->state;
	task->attempt = branch->attempt;
	task->started_at = DT_NOBEGIN;
	task->heartbeat_at = DT_NOBEGIN;
	task->lease_until = DT_NOEND;
	if (!pg_strong_random(&task->secret, sizeof(task->secret)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	return task;
}

/* Insert a task, in place of an earlier one of the same branch. */
void
sf_task_write(const SfTask *task)
{
	SfTask		row = *task;

	row.scheduled_at = GetCurrentTimestamp();
	row.started_at = task->status == SF_TASK_STATUS_TOKEN ? row.scheduled_at : DT_NOBEGIN;
	row.heartbeat_at = DT_NOBEGIN;
	row.lease_until = DT_NOEND;
	row.receives = 0;
	row.worker = NULL;
	sf_task_delete(task->key);
	sf_row_insert(&task_row, &row);
}

/* Read a task by its branch; NULL: there is none. */
SfTask *
sf_task_read(SfBranchKey key, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		"SELECT " SF_TASK_COLUMNS(SF_SELECT) "1 FROM _sfflow.task t"
		" WHERE t.execution_no = $1 AND t.branch_no = $2");

	return sf_db_row(&plans[lock], &task_row, SF_BRANCH_KEY(key));
}

/* A task that is queued: what is read of it before anything is locked */
typedef struct Queued
{
	SfBranchKey key;
	int			generation;
	TimestampTz scheduled_at;
} Queued;

/* Read it. */
static void
read_queued(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_generation, COL_scheduled_at};
	Queued	   *queued = palloc(sizeof(Queued));

	queued->key.execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	queued->key.branch_no = sf_row_number(tuple, desc, COL_branch_no, 0);
	queued->generation = (int) sf_row_number(tuple, desc, COL_generation, 0);
	queued->scheduled_at = sf_row_number(tuple, desc, COL_scheduled_at, DT_NOBEGIN);
	*(List **) arg = lappend(*(List **) arg, queued);
}

/* Find the oldest queued tasks of an activity, at most max_rows of them, behind another one. */
static List *
find_queued(const SfActivity *activity, const Queued *after, int max_rows)
{
	static SfPlan plan = SF_PLAN(
		"SELECT t.execution_no, t.branch_no, t.generation, t.scheduled_at FROM _sfflow.task t"
		" WHERE t.activity_no = $1 AND t.status = " QUEUED
		" AND t.scheduled_at >= $2 AND (t.scheduled_at > $2"
		"  OR t.execution_no > $3 OR t.execution_no = $3 AND t.branch_no > $4)"
		" ORDER BY t.scheduled_at, t.execution_no, t.branch_no LIMIT $5");

	return sf_db_list(&plan, read_queued,
					  SF_ARGS(SF_INT4(activity->activity_no), SF_TIME(after->scheduled_at),
							  SF_BRANCH_KEY(after->key), SF_INT8(max_rows)));
}

/* Is a task still queued? */
static bool
is_queued(HeapTuple tuple, TupleDesc desc, void *arg)
{
	return sf_row_number(tuple, desc, COL_status, -1) == SF_TASK_STATUS_QUEUED;
}

/* Read a task. */
static void
read_task(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfTask	   *task = palloc0(sizeof(SfTask));

	sf_row_read(&task_row, tuple, desc, task_row.ncolumns, task);
	*(SfTask **) arg = task;
}

/*
 * Claim a queued task and set the timer of its branch; its time runs from now on.
 * NULL: its execution is over, or another session has it or its branch locked.  The
 * branch comes first: one that a slice has locked is about to end.
 */
static SfTask *
claim(const Queued *queued, const SfActivity *activity, const char *worker)
{
	SfExecution *execution = sf_execution_read(queued->key.execution_no, SF_LOCK_NONE, false);
	SfTask	   *task = NULL;

	if (execution == NULL || execution->status != SF_STATUS_RUNNING ||
		!sf_branch_lock_outside(queued->key, queued->generation))
		return NULL;
	sf_row_fetch(&task_row.key, SF_LOCK_SKIP, is_queued, read_task, &task, SF_BRANCH_KEY(queued->key));
	if (task == NULL)
		return NULL;
	task->status = SF_TASK_STATUS_TAKEN;
	task->worker = worker == NULL ? NULL : pstrdup(worker);
	task->receives++;
	task->started_at = task->heartbeat_at = GetCurrentTimestamp();
	task->lease_until = activity->lease_ms == SF_NO_TIMEOUT ? DT_NOEND :
		task->started_at + activity->lease_ms * 1000;
	sf_task_update(task);
	sf_branch_set_timeout(task->key, sf_task_timer(task));
	return task;
}

/*
 * Claim queued tasks of an activity, oldest first, except those that another
 * session has locked.  Returns a List of SfTask.  Rows are found by their keys, one by
 * one: beside an old snapshot the table of branches is large, and statistics that call
 * it empty have the planner read all of it.
 */
List *
sf_task_claim(const SfActivity *activity, const char *worker, int max_tasks)
{
	Queued		after = {{0, 0}, 0, DT_NOBEGIN};
	List	   *tasks = NIL;
	List	   *queued;
	ListCell   *lc;

	do
	{
		queued = find_queued(activity, &after, max_tasks);
		foreach(lc, queued)
		{
			SfTask	   *task = list_length(tasks) == max_tasks ? NULL :
				claim(lfirst(lc), activity, worker);

			CHECK_FOR_INTERRUPTS();
			if (task != NULL)
				tasks = lappend(tasks, task);
			after = *(const Queued *) lfirst(lc);
		}
	} while (list_length(tasks) < max_tasks && list_length(queued) == max_tasks);
	return tasks;
}

/* Update what changes of a task. */
void
sf_task_update(const SfTask *task)
{
	static const int changed[] = {
		COL_status, COL_state, COL_receives, COL_started_at, COL_heartbeat_at, COL_lease_until,
		COL_worker, COL_submitted
	};

	sf_row_replace(&task_row, NULL, task, changed, lengthof(changed));
}

/*
 * Delete the tasks of some branches of an execution, of those that have one: numbers is a
 * List of int64 *.  They are found by the key, one by one: a plan may, by what it takes the
 * table for, read all tasks of the execution for a few branches.
 */
void
sf_task_delete_of(int64 execution_no, const List *numbers)
{
	SfTable    *table = NULL;
	ListCell   *lc;

	foreach(lc, numbers)
	{
		ItemPointerData tid;

		CHECK_FOR_INTERRUPTS();
		if (!sf_row_fetch(&task_row.key, SF_LOCK_WAIT, NULL, sf_row_read_address, &tid,
						  SF_INT8(execution_no), SF_INT8(*(const int64 *) lfirst(lc))))
			continue;
		if (table == NULL)
			table = sf_table_open(task_row.key.table, task_row.ncolumns);
		sf_table_delete(table, &tid);
	}
	if (table == NULL)
		return;
	sf_table_close(table);
	CommandCounterIncrement();
}

/* Delete a task. */
void
sf_task_delete(SfBranchKey key)
{
	sf_task_delete_of(key.execution_no, list_make1(&key.branch_no));
}

/* Find when a task times out without an answer; DT_NOEND: never. */
TimestampTz
sf_task_timer(const SfTask *task)
{
	TimestampTz due = DT_NOEND;

	if (task->status == SF_TASK_STATUS_QUEUED || task->started_at == DT_NOBEGIN)
		return DT_NOEND;		/* time runs from when it is taken */
	if (task->timeout_ms != SF_NO_TIMEOUT)
		due = task->started_at + task->timeout_ms * 1000;
	if (task->heartbeat_ms != SF_NO_TIMEOUT)
		due = Min(due, (task->heartbeat_at == DT_NOBEGIN ? task->started_at :
						task->heartbeat_at) + task->heartbeat_ms * 1000);
	return Min(due, task->lease_until);
}

/* --- tokens --- */

/*
 * Numbers of execution and branch, generation, secret; network byte order.  Then, if
 * the task was handed out before, how many times it was: tokens of earlier times are
 * refused.  Without that number a token is of the first time, or of no activity.
 */
#define TOKEN_BYTES		(8 + 8 + 4 + SF_TASK_SECRET_BYTES)
#define MAX_TOKEN_BYTES	(TOKEN_BYTES + 4)

/* Make the token of a task, for the time that it is handed out now. */
char *
sf_task_token(const SfTask *task)
{
	uint64		execution_no = pg_hton64((uint64) task->key.execution_no);
	uint64		branch_no = pg_hton64((uint64) task->key.branch_no);
	uint32		generation = pg_hton32((uint32) task->generation);
	uint32		receives = pg_hton32((uint32) task->receives);
	char		raw[MAX_TOKEN_BYTES];

	memcpy(raw, &execution_no, 8);
	memcpy(raw + 8, &branch_no, 8);
	memcpy(raw + 16, &generation, 4);
	memcpy(raw + 20, task->secret.bytes, SF_TASK_SECRET_BYTES);
	memcpy(raw + TOKEN_BYTES, &receives, 4);
	return sf_base64_encode(raw, task->receives > 1 ? MAX_TOKEN_BYTES : TOKEN_BYTES);
}

/* Take a token apart: key, generation, receives (1 if it has none), secret; false when it is none. */
bool
sf_task_token_parse(const char *token, SfTask *task)
{
	int			length = strlen(token);
	int			size = pg_b64_dec_len(length);
	char	   *raw;
	uint64		execution_no,
				branch_no;
	uint32		generation,
				receives = pg_hton32(1);

	if (length > 200)
		return false;
	raw = palloc(size + 1);
	size = pg_b64_decode(token, length, SF_B64_DST(raw), size);
	if (size != TOKEN_BYTES && size != MAX_TOKEN_BYTES)
		return false;
	if (size == MAX_TOKEN_BYTES)
		memcpy(&receives, raw + TOKEN_BYTES, 4);
	memcpy(&execution_no, raw, 8);
	memcpy(&branch_no, raw + 8, 8);
	memcpy(&generation, raw + 16, 4);
	memset(task, 0, sizeof(*task));
	task->key.execution_no = (int64) pg_ntoh64(execution_no);
	task->key.branch_no = (int64) pg_ntoh64(branch_no);
	task->generation = (int) pg_ntoh32(generation);
	task->receives = (int) pg_ntoh32(receives);
	memcpy(task->secret.bytes, raw + 20, SF_TASK_SECRET_BYTES);
	return true;
}

/* Is there a task of a branch now, whatever the snapshot of the transaction? */
bool
sf_task_is_there(SfBranchKey key)
{
	static const SfIndex by_branch = {"task", "task_pkey"};

	return sf_rows_read_now(&by_branch, 1, NULL, NULL, SF_BRANCH_KEY(key)) > 0;
}
