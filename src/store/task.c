/*
 * task.c
 *		Rows of _sfflow.activity and _sfflow.task, and what they make of the
 *		branches that wait for them.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/async.h"
#include "common/base64.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "base/compat.h"
#include "store/table.h"
#include "store/task.h"

#define EQ " OPERATOR(pg_catalog.=) "

/* Milliseconds of an interval, in SQL; a month has 30 days */
#define INTERVAL_MS(column) \
	"(extract(epoch FROM " column ") OPERATOR(pg_catalog.*) 1000)::pg_catalog.int8"
#define MS_INTERVAL(arg) \
	"(CASE WHEN " arg " OPERATOR(pg_catalog.>) 0 THEN" \
	" pg_catalog.make_interval(secs => (" arg "::pg_catalog.float8" \
	" OPERATOR(pg_catalog./) 1000)) END)"

/* --- activities --- */

#define SELECT_ACTIVITY \
	"SELECT a.activity_no, a.owner::pg_catalog.oid::pg_catalog.int8, a.name," \
	" coalesce(" INTERVAL_MS("a.lease") ", 0), coalesce(a.max_receive_count, 0)," \
	" coalesce(a.last_polled_at OPERATOR(pg_catalog.>) (pg_catalog.now()" \
	"  OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval), false)" \
	" FROM _sfflow.activity a "

/* Read an activity. */
static void
read_activity(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfActivity *a = palloc0(sizeof(SfActivity));

	a->activity_no = sf_row_int(tuple, desc, 1);
	a->owner = (Oid) sf_row_int64(tuple, desc, 2);
	a->name = sf_row_text(tuple, desc, 3);
	a->lease_ms = sf_row_int64(tuple, desc, 4);
	a->max_receive_count = sf_row_int(tuple, desc, 5);
	a->polled = sf_row_bool(tuple, desc, 6);
	*(SfActivity **) arg = a;
}

/* Find an activity by name. */
SfActivity *
sf_activity_read(const char *name)
{
	static SfPlan plan = SF_PLAN(SELECT_ACTIVITY "WHERE a.name" EQ "$1",
								 1, TEXTOID);
	Datum		args[1] = {CStringGetTextDatum(name)};
	SfActivity *activity = NULL;

	sf_store_query(&plan, args, NULL, 1, read_activity, &activity);
	return activity;
}

/* Find an activity by number. */
SfActivity *
sf_activity_read_no(int activity_no)
{
	static SfPlan plan = SF_PLAN(SELECT_ACTIVITY "WHERE a.activity_no" EQ "$1",
								 1, INT4OID);
	Datum		args[1] = {Int32GetDatum(activity_no)};
	SfActivity *activity = NULL;

	sf_store_query(&plan, args, NULL, 1, read_activity, &activity);
	return activity;
}

/* Insert an activity, unless the name is taken. */
bool
sf_activity_insert(const char *name, Oid owner, Datum lease, bool no_lease,
				   int max_receive_count)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.activity (name, owner, lease, max_receive_count, created_at)"
		" VALUES ($1, $2::pg_catalog.regrole, $3, $4, pg_catalog.clock_timestamp())"
		" ON CONFLICT (name) DO NOTHING", 4, TEXTOID, OIDOID, INTERVALOID, INT4OID);
	Datum		args[4] = {CStringGetTextDatum(name), ObjectIdGetDatum(owner),
	lease, Int32GetDatum(max_receive_count)};
	char		nulls[5] = "    ";

	if (no_lease)
		nulls[2] = 'n';
	if (max_receive_count == 0)
		nulls[3] = 'n';
	return sf_store_query(&plan, args, nulls, 0, NULL, NULL) == 1;
}

/* Delete an activity with its queue. */
void
sf_activity_delete(int activity_no)
{
	static SfPlan plans[] = {
		SF_PLAN("DELETE FROM _sfflow.task t WHERE t.activity_no" EQ "$1", 1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.privilege p USING _sfflow.activity a"
				" WHERE a.activity_no" EQ "$1 AND p.object_kind" EQ "'a'"
				" AND p.object_name" EQ "a.name", 1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.activity a WHERE a.activity_no" EQ "$1",
				1, INT4OID),
	};
	Datum		args[1] = {Int32GetDatum(activity_no)};

	for (size_t i = 0; i < lengthof(plans); i++)
		sf_store_query(&plans[i], args, NULL, 0, NULL, NULL);
}

/*
 * Count the tasks of an activity that can still be answered.  The task of a
 * branch that was aborted keeps its row: its token then says what became of it.
 */
int64
sf_activity_count_tasks(int activity_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM _sfflow.task t"
		" JOIN _sfflow.branch b ON b.execution_no" EQ "t.execution_no"
		" AND b.branch_no" EQ "t.branch_no AND b.generation" EQ "t.generation"
		" AND b.phase" EQ "6"
		" JOIN _sfflow.execution e ON e.execution_no" EQ "t.execution_no"
		" AND e.status" EQ "0"
		" WHERE t.activity_no" EQ "$1 AND t.status OPERATOR(pg_catalog.<) 3",
		1, INT4OID);
	Datum		args[1] = {Int32GetDatum(activity_no)};
	int64		count = 0;

	sf_store_query(&plan, args, NULL, 0, sf_row_read_int64, &count);
	return count;
}

/* Remember that somebody polls. */
void
sf_activity_note_poll(int activity_no, const char *worker)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.activity a SET last_polled_at = pg_catalog.clock_timestamp(),"
		" last_worker = $2 WHERE a.activity_no" EQ "(SELECT s.activity_no"
		" FROM _sfflow.activity s WHERE s.activity_no" EQ "$1"
		" AND (s.last_polled_at IS NULL OR s.last_polled_at OPERATOR(pg_catalog.<)"
		" (pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) '1 s'::pg_catalog.interval))"
		" FOR UPDATE SKIP LOCKED)", 2, INT4OID, TEXTOID);
	Datum		args[2] = {Int32GetDatum(activity_no),
	worker ? CStringGetTextDatum(worker) : (Datum) 0};

	sf_store_query(&plan, args, worker ? NULL : " n", 0, NULL, NULL);
}

/* Ring for the workers of an activity. */
void
sf_activity_notify(const SfActivity *activity)
{
	/* NOTIFY takes a lock of the whole cluster at commit: not for nobody */
	if (activity->polled)
		Async_Notify("sf_activity", activity->name);
}

/* --- tasks --- */

/* Insert a task, in place of an earlier one. */
void
sf_task_write(const SfTask *t)
{
	static SfPlan clear = SF_PLAN(
		"DELETE FROM _sfflow.task t WHERE t.execution_no" EQ "$1 AND t.branch_no" EQ "$2",
		2, INT8OID, INT8OID);
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.task (execution_no, branch_no, activity_no, status,"
		" generation, state, attempt, scheduled_at, timeout, heartbeat, secret,"
		" input, submitted, started_at)"
		" VALUES ($1, $2, $3, $4::pg_catalog.int2, $5, $6, $7,"
		" pg_catalog.clock_timestamp(), " MS_INTERVAL("$8") ", " MS_INTERVAL("$9")
		", $10, $11, $12, CASE WHEN $4" EQ "2 THEN pg_catalog.clock_timestamp() END)",
		12, INT8OID, INT8OID, INT4OID, INT4OID, INT4OID, INT4OID, INT4OID,
		INT8OID, INT8OID, BYTEAOID, JSONBOID, JSONBOID);
	bytea	   *secret = palloc(VARHDRSZ + SF_TASK_SECRET_BYTES);
	Datum		args[12] = {
		SF_BRANCH_KEY_DATUMS(t->key),
		Int32GetDatum(t->activity_no), Int32GetDatum(t->status),
		Int32GetDatum(t->generation), Int32GetDatum(t->state),
		Int32GetDatum(t->attempt), Int64GetDatum(t->timeout_ms),
		Int64GetDatum(t->heartbeat_ms), PointerGetDatum(secret),
		t->input ? JsonbPGetDatum(t->input) : (Datum) 0,
		t->submitted ? JsonbPGetDatum(t->submitted) : (Datum) 0
	};
	char		nulls[13] = "            ";

	SET_VARSIZE(secret, VARHDRSZ + SF_TASK_SECRET_BYTES);
	memcpy(VARDATA(secret), t->secret, SF_TASK_SECRET_BYTES);
	if (t->activity_no == 0)
		nulls[2] = 'n';
	if (t->input == NULL)
		nulls[10] = 'n';
	if (t->submitted == NULL)
		nulls[11] = 'n';
	sf_store_query(&clear, args, NULL, 0, NULL, NULL);
	sf_store_query(&plan, args, nulls, 0, NULL, NULL);
}

/* Read a task. */
static void
read_task(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfTask	   *t = palloc0(sizeof(SfTask));
	bool		isnull;
	bytea	   *secret;

	t->key.execution_no = sf_row_int64(tuple, desc, 1);
	t->key.branch_no = sf_row_int64(tuple, desc, 2);
	t->activity_no = sf_row_int(tuple, desc, 3);
	t->status = sf_row_int(tuple, desc, 4);
	t->generation = sf_row_int(tuple, desc, 5);
	t->state = sf_row_int(tuple, desc, 6);
	t->attempt = sf_row_int(tuple, desc, 7);
	t->receives = sf_row_int(tuple, desc, 8);
	t->scheduled_at = sf_row_time(tuple, desc, 9, DT_NOBEGIN);
	t->started_at = sf_row_time(tuple, desc, 10, DT_NOBEGIN);
	t->heartbeat_at = sf_row_time(tuple, desc, 11, DT_NOBEGIN);
	t->lease_until = sf_row_time(tuple, desc, 12, DT_NOEND);
	t->timeout_ms = sf_row_int64(tuple, desc, 13);
	t->heartbeat_ms = sf_row_int64(tuple, desc, 14);
	secret = DatumGetByteaPP(SPI_getbinval(tuple, desc, 15, &isnull));
	if (!isnull && VARSIZE_ANY_EXHDR(secret) == SF_TASK_SECRET_BYTES)
		memcpy(t->secret, VARDATA_ANY(secret), SF_TASK_SECRET_BYTES);
	t->worker = sf_row_text(tuple, desc, 16);
	t->input = sf_row_jsonb(tuple, desc, 17);
	t->submitted = sf_row_jsonb(tuple, desc, 18);
	*(List **) arg = lappend(*(List **) arg, t);
}

/* Read a task by its branch. */
SfTask *
sf_task_read(SfBranchKey key, SfLock lock)
{
#define TASK_COLUMNS \
	"t.execution_no, t.branch_no, t.activity_no, t.status, t.generation," \
	" t.state, t.attempt, t.receives, t.scheduled_at, t.started_at," \
	" t.heartbeat_at, t.lease_until, coalesce(" INTERVAL_MS("t.timeout") ", 0)," \
	" coalesce(" INTERVAL_MS("t.heartbeat") ", 0), t.secret, t.worker, t.input, t.submitted"
#define SELECT_TASK_BY_KEY \
	"SELECT " TASK_COLUMNS " FROM _sfflow.task t" \
	" WHERE t.execution_no" EQ "$1 AND t.branch_no" EQ "$2"
	static SfPlan plans[] = {
		SF_PLAN(SELECT_TASK_BY_KEY, 2, INT8OID, INT8OID),
		SF_PLAN(SELECT_TASK_BY_KEY " FOR UPDATE", 2, INT8OID, INT8OID),
		SF_PLAN(SELECT_TASK_BY_KEY " FOR UPDATE SKIP LOCKED", 2, INT8OID, INT8OID),
	};
	Datum		args[2] = {SF_BRANCH_KEY_DATUMS(key)};
	List	   *tasks = NIL;

	sf_store_query(&plans[lock], args, NULL, 1, read_task, &tasks);
	return tasks == NIL ? NULL : linitial(tasks);
}

/* Take queued tasks of an activity. */
List *
sf_task_take(const SfActivity *activity, const char *worker, int max_tasks)
{
	/*
	 * Both rows are locked, or neither: a branch in the hands of a slice is
	 * about to end.  The time of a task runs from now on.
	 */
	static SfPlan plan = SF_PLAN(
		"WITH c AS MATERIALIZED (SELECT t.execution_no, t.branch_no"
		"  FROM _sfflow.task t JOIN _sfflow.branch b"
		"  ON b.execution_no" EQ "t.execution_no AND b.branch_no" EQ "t.branch_no"
		"  AND b.generation" EQ "t.generation AND b.phase" EQ "6"
		"  JOIN _sfflow.execution e ON e.execution_no" EQ "t.execution_no"
		"  AND e.status" EQ "0"
		"  WHERE t.activity_no" EQ "$1 AND t.status" EQ "0"
		"  ORDER BY t.scheduled_at LIMIT $2 FOR UPDATE OF t, b SKIP LOCKED),"
		" u AS (UPDATE _sfflow.task t SET status = 1, worker = $3,"
		"  receives = t.receives OPERATOR(pg_catalog.+) 1,"
		"  started_at = $5, heartbeat_at = $5,"
		"  lease_until = $5 OPERATOR(pg_catalog.+) " MS_INTERVAL("$4")
		"  FROM c WHERE t.execution_no" EQ "c.execution_no"
		"  AND t.branch_no" EQ "c.branch_no RETURNING t.*),"
		" d AS (UPDATE _sfflow.branch b SET due_at = least("
		"  u.started_at OPERATOR(pg_catalog.+) u.timeout,"
		"  u.heartbeat_at OPERATOR(pg_catalog.+) u.heartbeat, u.lease_until)"
		"  FROM u WHERE b.execution_no" EQ "u.execution_no"
		"  AND b.branch_no" EQ "u.branch_no)"
		" SELECT " TASK_COLUMNS " FROM u t ORDER BY t.scheduled_at",
		5, INT4OID, INT8OID, TEXTOID, INT8OID, TIMESTAMPTZOID);
	Datum		args[5] = {
		Int32GetDatum(activity->activity_no), Int64GetDatum(max_tasks),
		worker ? CStringGetTextDatum(worker) : (Datum) 0,
		Int64GetDatum(activity->lease_ms),
		TimestampTzGetDatum(GetCurrentTimestamp())
	};
	List	   *tasks = NIL;
	ListCell   *lc;

	sf_store_query(&plan, args, worker ? NULL : "  n  ", 0, read_task, &tasks);
	foreach(lc, tasks)
	{
		const SfTask *task = lfirst(lc);
		TimestampTz timer = sf_task_timer(task);

		if (timer != DT_NOEND)
			sf_hooks.due(task->key, InvalidOid, timer);
	}
	return tasks;
}

/* Update what changes of a task. */
void
sf_task_update(const SfTask *t)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.task t SET status = $3::pg_catalog.int2, receives = $4,"
		" started_at = $5, heartbeat_at = $6, lease_until = $7, worker = $8,"
		" submitted = $9"
		" WHERE t.execution_no" EQ "$1 AND t.branch_no" EQ "$2",
		9, INT8OID, INT8OID, INT4OID, INT4OID, TIMESTAMPTZOID, TIMESTAMPTZOID,
		TIMESTAMPTZOID, TEXTOID, JSONBOID);
	Datum		args[9] = {
		SF_BRANCH_KEY_DATUMS(t->key),
		Int32GetDatum(t->status), Int32GetDatum(t->receives),
		TimestampTzGetDatum(t->started_at), TimestampTzGetDatum(t->heartbeat_at),
		TimestampTzGetDatum(t->lease_until),
		t->worker ? CStringGetTextDatum(t->worker) : (Datum) 0,
		t->submitted ? JsonbPGetDatum(t->submitted) : (Datum) 0
	};
	char		nulls[10] = "         ";

	if (t->started_at == DT_NOBEGIN)
		nulls[4] = 'n';
	if (t->heartbeat_at == DT_NOBEGIN)
		nulls[5] = 'n';
	if (t->lease_until == DT_NOEND)
		nulls[6] = 'n';
	if (t->worker == NULL)
		nulls[7] = 'n';
	if (t->submitted == NULL)
		nulls[8] = 'n';
	sf_store_query(&plan, args, nulls, 0, NULL, NULL);
}

/* Delete a task. */
void
sf_task_delete(SfBranchKey key)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.task t WHERE t.execution_no" EQ "$1 AND t.branch_no" EQ "$2",
		2, INT8OID, INT8OID);
	Datum		args[2] = {SF_BRANCH_KEY_DATUMS(key)};

	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* Put an answer into a branch. */
void
sf_branch_answer(SfBranchKey key, bool ok, const Jsonb *result,
				 const char *error, const char *cause)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.branch b SET phase = 5, due_at = $7,"
		" failing = NOT $3, result = $4, error = $5, cause = $6"
		" WHERE b.execution_no" EQ "$1 AND b.branch_no" EQ "$2 RETURNING b.owner",
		7, INT8OID, INT8OID, BOOLOID, JSONBOID, TEXTOID, TEXTOID, TIMESTAMPTZOID);
	TimestampTz now = GetCurrentTimestamp();
	Datum		args[7] = {
		SF_BRANCH_KEY_DATUMS(key),
		BoolGetDatum(ok), result ? JsonbPGetDatum(result) : (Datum) 0,
		error ? CStringGetTextDatum(error) : (Datum) 0,
		cause ? CStringGetTextDatum(cause) : (Datum) 0,
		TimestampTzGetDatum(now)
	};
	char		nulls[8] = "       ";
	Oid			owner = InvalidOid;

	if (result == NULL)
		nulls[3] = 'n';
	if (error == NULL)
		nulls[4] = 'n';
	if (cause == NULL)
		nulls[5] = 'n';
	sf_store_query(&plan, args, nulls, 0, sf_row_read_oid, &owner);
	sf_hooks.due(key, owner, now);
}

/* When nobody answers. */
TimestampTz
sf_task_timer(const SfTask *t)
{
	TimestampTz due = DT_NOEND;

	if (t->status == SF_TASK_QUEUED || t->started_at == DT_NOBEGIN)
		return DT_NOEND;		/* time runs from when it is taken */
	if (t->timeout_ms > 0)
		due = t->started_at + t->timeout_ms * 1000;
	if (t->heartbeat_ms > 0)
		due = Min(due, (t->heartbeat_at == DT_NOBEGIN ? t->started_at :
						t->heartbeat_at) + t->heartbeat_ms * 1000);
	return Min(due, t->lease_until);
}

/* Set when a branch is due. */
void
sf_branch_set_due(SfBranchKey key, TimestampTz due)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.branch b SET due_at = $3"
		" WHERE b.execution_no" EQ "$1 AND b.branch_no" EQ "$2",
		3, INT8OID, INT8OID, TIMESTAMPTZOID);
	Datum		args[3] = {SF_BRANCH_KEY_DATUMS(key), TimestampTzGetDatum(due)};

	sf_store_query(&plan, args, due == DT_NOEND ? "  n" : NULL, 0, NULL, NULL);
	if (due != DT_NOEND)
		sf_hooks.due(key, InvalidOid, due);
}

/* --- tokens --- */

/* Numbers of execution and branch, generation, secret; network byte order */
#define TOKEN_BYTES		(8 + 8 + 4 + SF_TASK_SECRET_BYTES)

/* Make the token of a task. */
char *
sf_task_token(const SfTask *task)
{
	uint64		execution_no = pg_hton64((uint64) task->key.execution_no);
	uint64		branch_no = pg_hton64((uint64) task->key.branch_no);
	uint32		generation = pg_hton32((uint32) task->generation);
	char		raw[TOKEN_BYTES];
	int			size = pg_b64_enc_len(TOKEN_BYTES);
	char	   *text = palloc(size + 1);
	int			length;

	memcpy(raw, &execution_no, 8);
	memcpy(raw + 8, &branch_no, 8);
	memcpy(raw + 16, &generation, 4);
	memcpy(raw + 20, task->secret, SF_TASK_SECRET_BYTES);
	length = pg_b64_encode(SF_B64_SRC(raw), TOKEN_BYTES, text, size);
	if (length < 0)
		elog(ERROR, "could not encode a task token");
	text[length] = '\0';
	return text;
}

/* Take a token apart. */
bool
sf_task_token_parse(const char *token, SfTask *task)
{
	int			length = strlen(token);
	int			size = pg_b64_dec_len(length);
	char	   *raw;
	uint64		execution_no,
				branch_no;
	uint32		generation;

	if (length > 200)
		return false;
	raw = palloc(size + 1);
	if (pg_b64_decode(token, length, SF_B64_DST(raw), size) != TOKEN_BYTES)
		return false;
	memcpy(&execution_no, raw, 8);
	memcpy(&branch_no, raw + 8, 8);
	memcpy(&generation, raw + 16, 4);
	memset(task, 0, sizeof(*task));
	task->key.execution_no = (int64) pg_ntoh64(execution_no);
	task->key.branch_no = (int64) pg_ntoh64(branch_no);
	task->generation = (int) pg_ntoh32(generation);
	memcpy(task->secret, raw + 20, SF_TASK_SECRET_BYTES);
	return true;
}
