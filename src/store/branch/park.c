/*
 * park.c
 *		Branches that a feature keeps from going on: rows of _sfflow.parked.
 *
 * Such a branch is not due, and costs no queries.  Its row says which feature keeps it, and in which way
 * (SfParkedKind): for an object, such as a hold; in a queue of an object, such as a limit; or in a line that the
 * feature knows.  The row of a branch that went on in another way is left over and means nothing.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"

#include "db/direct.h"
#include "store/branch/park.h"
#include "store/state_machine/machine.h"

SF_COLUMN_NUMBERS(SF_PARKED_COLUMNS);

/* Note that a branch waits in a way: for an object, in a queue of it with its order there, or for neither. */
static void
park(SfBranch *branch, const char *feature, SfArg object_no, SfArg queue, SfQueueOrder order)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.parked AS w (execution_no, branch_no, feature, object_no, queue, as_if_since, since, kind)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (execution_no, branch_no) DO UPDATE"
		" SET feature = excluded.feature, object_no = excluded.object_no, queue = excluded.queue,"
		" as_if_since = excluded.as_if_since, since = excluded.since, kind = excluded.kind");

	sf_branch_stand_at(branch, SF_BRANCH_PLACE_PARKED);
	sf_db_execute(&plan, SF_BRANCH_KEY(branch->key), SF_TEXT(feature), object_no, queue,
				  SF_TIME_OR_NULL(order.as_if_since, DT_NOBEGIN), SF_TIME_OR_NULL(order.since, DT_NOBEGIN),
				  SF_INT2(order.kind));
}

/* The order of what is parked in no queue. */
static SfQueueOrder
no_order(SfParkedKind kind)
{
	return (SfQueueOrder) {.kind = kind,.as_if_since = DT_NOBEGIN,.since = DT_NOBEGIN};
}

/* Have a branch, which the caller writes, wait for an object of a feature. */
void
sf_park_for_object(SfBranch *branch, const char *feature, int64 object_no)
{
	park(branch, feature, SF_INT8(object_no), SF_NULL(INT8OID), no_order(SF_PARKED_FOR_OBJECT));
}

/* Have a branch, which the caller writes, wait for its execution's turn in a line that the feature knows. */
void
sf_park_in_line(SfBranch *branch, const char *feature)
{
	park(branch, feature, SF_NULL(INT8OID), SF_NULL(INT8OID), no_order(SF_PARKED_IN_LINE));
}

/* Have a branch, which the caller writes, wait in a queue. */
void
sf_park_in_queue(SfBranch *branch, const char *feature, SfQueue queue, SfQueueOrder order)
{
	park(branch, feature, SF_INT8(queue.object_no), SF_INT8(queue.hash), order);
}

/* Name the feature that a branch waits for; NULL: it waits for none. */
const char *
sf_park_feature(SfBranchKey key)
{
	static SfPlan plan = SF_PLAN(
		"SELECT w.feature FROM _sfflow.parked w WHERE w.execution_no = $1 AND w.branch_no = $2");

	return sf_list_first(sf_db_texts(&plan, SF_BRANCH_KEY(key)));
}

/* Append what a branch waits for to a list. */
static void
append_parked(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_feature, COL_object_no, COL_queue, COL_kind};
	SfParked   *parked = palloc(sizeof(SfParked));

	parked->key.execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	parked->key.branch_no = sf_row_number(tuple, desc, COL_branch_no, 0);
	parked->feature = sf_row_text(tuple, desc, COL_feature);
	parked->queue.object_no = sf_row_number(tuple, desc, COL_object_no, SF_NO_QUEUE_OBJECT);
	parked->queue.hash = sf_row_number(tuple, desc, COL_queue, SF_NO_QUEUE.hash);
	parked->kind = sf_row_number(tuple, desc, COL_kind, 0);
	*(List **) arg = lappend(*(List **) arg, parked);
}

/* List what the branches of an execution wait for: a List of SfParked. */
List *
sf_park_list(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_PARKED_SELECT " FROM _sfflow.parked w"
		" WHERE w.execution_no = $1 ORDER BY w.branch_no");

	return sf_db_list(&plan, append_parked, SF_ARGS(SF_INT8(execution_no)));
}

/*
 * The same of all executions of a machine, or of SF_ALL_MACHINES, and of those with whose owners' rights a
 * role acts (InvalidOid: of all).  Those that have not begun are in no index by machine, so this
 * reads all that wait.
 */
List *
sf_park_list_of(int machine_no, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_PARKED_SELECT " FROM _sfflow.parked w"
		" CROSS JOIN LATERAL (SELECT e.machine_no FROM _sfflow.execution e"
		"  WHERE e.execution_no = w.execution_no OFFSET 0) e"
		" CROSS JOIN LATERAL (SELECT s.machine_no, s.owner FROM _sfflow.state_machine s"
		"  WHERE s.machine_no = e.machine_no OFFSET 0) m"
		" WHERE ($1 IS NULL OR m.machine_no = $1)"
		" AND ($2 IS NULL OR pg_catalog.pg_has_role($2::pg_catalog.oid, m.owner::pg_catalog.oid, 'USAGE'))"
		" ORDER BY w.execution_no, w.branch_no");

	return sf_db_list(&plan, append_parked,
					  SF_ARGS(sf_query_arg(INT4OID, Int32GetDatum(machine_no), machine_no == SF_ALL_MACHINES),
							  sf_query_arg(REGROLEOID, ObjectIdGetDatum(owner), !OidIsValid(owner))));
}

/* The same of rows that a query finds, which has SF_PARKED_SELECT. */
List *
sf_park_list_by(SfPlan *plan)
{
	return sf_db_list(plan, append_parked, NULL, 0);
}

/*
 * A branch that the caller has locked, and writes, waits no more and is due: since it has waited in a queue, so that
 * in another one it comes where it would have come, or now; false: it did not wait.
 */
bool
sf_park_end(SfBranch *branch)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.parked w WHERE w.execution_no = $1 AND w.branch_no = $2"
		" RETURNING COALESCE(w.since, pg_catalog.clock_timestamp())");
	TimestampTz since = sf_db_number(&plan, DT_NOBEGIN, SF_BRANCH_KEY(branch->key));

	if (since == DT_NOBEGIN)
		return false;
	sf_branch_come_at(branch, since);
	return true;
}

/*
 * Under REPEATABLE READ, raise 40001 if a branch has begun to wait for an object since the snapshot: a release
 * would not see it.
 */
void
sf_park_check_unchanged(const char *feature, int64 object_no)
{
	sf_table_check_unchanged("parked", COL_object_no, SF_INT8(object_no), COL_feature, feature);
}

/* Tell workers of a branch that goes on. */
static void
read_released(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_owner, COL_due_at};
	SfBranchKey key = {sf_row_number(tuple, desc, COL_execution_no, 0), sf_row_number(tuple, desc, COL_branch_no, 0)};

	sf_branch_notify_due(key, sf_row_number(tuple, desc, COL_owner, InvalidOid),
						 sf_row_number(tuple, desc, COL_due_at, DT_NOEND));
}

/*
 * The statement by which parked branches become due: their rows of parked are deleted.  Its first argument is
 * SF_PARKED_PLACE.  What another session has claimed and parked again meanwhile finds out itself.
 */
#define MAKE_DUE(lock, of, at) \
	"WITH " lock "gone AS (DELETE FROM _sfflow.parked w" of " RETURNING w.execution_no, w.branch_no, w.since)" \
	" UPDATE _sfflow.branch b SET due_at = " at ", place = DEFAULT FROM gone w" \
	" WHERE b.execution_no = w.execution_no AND b.branch_no = w.branch_no AND " SF_IS_PARKED("$1") \
	" RETURNING b.execution_no, b.branch_no, b.owner, b.due_at"
#define NOW		"pg_catalog.clock_timestamp()"

#define JOIN_BRANCH \
	" JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no"

/* What waits for an object: its rows are in the index of queues, or in that of what is in none */
#define OF_OBJECT(null)	" WHERE w.feature = $2 AND w.object_no = $3 AND w.queue IS " null
#define LOCK_OF_OBJECT(null) \
	"SELECT b.branch_no FROM _sfflow.parked w" JOIN_BRANCH \
	OF_OBJECT(null) " AND " SF_IS_PARKED("$1") \
	" ORDER BY b.execution_no, b.branch_no FOR UPDATE OF b"

/* What no session has locked, of rows w that are found */
#define MAKE_FREE_DUE(found, at) \
	MAKE_DUE("waits AS MATERIALIZED (SELECT b.execution_no, b.branch_no FROM" found \
			 " AND " SF_IS_PARKED("$1") " ORDER BY b.execution_no, b.branch_no FOR UPDATE OF b SKIP LOCKED), ", \
			 " USING waits x WHERE w.execution_no = x.execution_no AND w.branch_no = x.branch_no", at)

/* Make due what an object parks, by a statement that first locks it: it waits, since nothing else would make it due. */
static int64
unpark_all(SfPlan *lock, SfPlan *make_due, const char *feature, int64 object_no)
{
	sf_db_execute(lock, SF_PARKED_PLACE, SF_TEXT(feature), SF_INT8(object_no));
	return sf_db_read(make_due, read_released, NULL, SF_PARKED_PLACE, SF_TEXT(feature), SF_INT8(object_no));
}

/* An object is gone that has parked branches in no queue: they are due; returns how many. */
int64
sf_park_unpark_object(const char *feature, int64 object_no)
{
	static SfPlan lock = SF_PLAN(LOCK_OF_OBJECT("NULL"));
	static SfPlan make_due = SF_PLAN(MAKE_DUE("", OF_OBJECT("NULL"), NOW));

	return unpark_all(&lock, &make_due, feature, object_no);
}

/* An object is gone: what is in its queues is due. */
void
sf_park_unpark_queues(const char *feature, int64 object_no)
{
	static SfPlan lock = SF_PLAN(LOCK_OF_OBJECT("NOT NULL"));
	static SfPlan make_due = SF_PLAN(MAKE_DUE("", OF_OBJECT("NOT NULL"), NOW));

	(void) unpark_all(&lock, &make_due, feature, object_no);
}

/* An execution that a feature has parked is the next one of its line: its branches are due; returns how many. */
int64
sf_park_unpark_next(const char *feature, int64 execution_no)
{
	static SfPlan plan = SF_PLAN(MAKE_FREE_DUE(
		" _sfflow.parked w" JOIN_BRANCH " WHERE w.feature = $2 AND w.execution_no = $3", NOW));

	return sf_db_read(&plan, read_released, NULL, SF_PARKED_PLACE, SF_TEXT(feature), SF_INT8(execution_no));
}

/* An execution has what its branches, and those of its Maps' item executions, wait for in a queue: they are due. */
void
sf_park_unpark_within(SfQueue queue, int64 execution_no)
{
	static SfPlan plan = SF_PLAN(MAKE_FREE_DUE(
		" _sfflow.parked w JOIN _sfflow.execution e ON e.execution_no = w.execution_no" JOIN_BRANCH
		" WHERE w.object_no = $2 AND w.queue = $3 AND (e.execution_no = $4 OR e.parent_execution_no = $4)", "w.since"));

	sf_db_read(&plan, read_released, NULL, SF_PARKED_PLACE, SF_INT8(queue.object_no), SF_INT8(queue.hash),
			   SF_INT8(execution_no));
}

/* Item executions of an execution's Distributed Maps may wait in queues for what the Map has: they are due. */
void
sf_park_unpark_items(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(MAKE_FREE_DUE(
		" _sfflow.execution e JOIN _sfflow.parked w ON w.execution_no = e.execution_no" JOIN_BRANCH
		" WHERE e.parent_execution_no = $2 AND e.map_run_no IS NOT NULL AND " SF_IS_IN_QUEUE, "w.since"));

	sf_db_read(&plan, read_released, NULL, SF_PARKED_PLACE, SF_INT8(execution_no));
}

/* How many branches of an execution a feature has parked, in no queue or in one. */
int64
sf_park_count(const char *feature, int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM _sfflow.parked w" JOIN_BRANCH
		" WHERE w.execution_no = $1 AND w.feature = $2 AND " SF_IS_PARKED("$3"));

	return sf_db_number(&plan, 0, SF_INT8(execution_no), SF_TEXT(feature), SF_PARKED_PLACE);
}

/*
 * Branches have come from another node where they were parked, and their rows of parked have not: they are due.  keys:
 * [[execution_no, branch_no] ...].
 */
void
sf_park_unpark_arrived(const Jsonb *keys)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.branch b SET due_at = " NOW ", place = DEFAULT"
		" FROM pg_catalog.jsonb_array_elements($1) h WHERE b.execution_no = (h ->> 0)::pg_catalog.int8"
		" AND b.branch_no = (h ->> 1)::pg_catalog.int8 AND " SF_IS_PARKED("$2"));

	sf_db_execute(&plan, SF_JSONB(keys), SF_PARKED_PLACE);
}

/* --- in queues --- */

/* Note in a branch from where it is taken. */
static void
read_left(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_object_no = 1, COL_queue, COL_as_if_since, COL_since};
	SfBranch   *branch = arg;

	branch->left_queue.queue.object_no = sf_row_number(tuple, desc, COL_object_no, SF_NO_QUEUE_OBJECT);
	branch->left_queue.queue.hash = sf_row_number(tuple, desc, COL_queue, 0);
	branch->left_queue.as_if_since = sf_row_number(tuple, desc, COL_as_if_since, 0);
	branch->left_queue.since = sf_row_number(tuple, desc, COL_since, 0);
}

/* A branch that the caller has locked leaves its queue, which it notes (SfLeftQueue); false: it is in none. */
bool
sf_park_leave_queue(SfBranch *branch)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.parked w WHERE w.execution_no = $1 AND w.branch_no = $2"
		" AND " SF_IS_IN_QUEUE " RETURNING w.object_no, w.queue, w.as_if_since, w.since");

	return sf_db_read(&plan, read_left, branch, SF_BRANCH_KEY(branch->key)) > 0;
}

/* Rows that are read into an array */
typedef struct Waitings
{
	SfQueuedBranch *rows;
	int			count;
} Waitings;

/* Read a branch that waits. */
static void
read_waiting(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_owner, COL_waits, COL_kind, COL_as_if_since, COL_announced,
		COL_may_wait, COL_made_by};
	Waitings   *waitings = arg;
	SfQueuedBranch *row = &waitings->rows[waitings->count++];
	bool		waits = sf_row_number(tuple, desc, COL_waits, 0);

	row->key.execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	row->key.branch_no = sf_row_number(tuple, desc, COL_branch_no, 0);
	row->owner = sf_row_number(tuple, desc, COL_owner, InvalidOid);
	row->kind = sf_row_number(tuple, desc, COL_kind, SF_PARKED_QUEUED);
	row->as_if_since = sf_row_number(tuple, desc, COL_as_if_since, 0);
	/*
	 * the row of a branch that waits since this slice is written when the slice ends: until then it is
	 * in the phase from which the slice took it
	 */
	row->made_by = sf_row_number(tuple, desc, COL_made_by, InvalidTransactionId);
	if (TransactionIdIsCurrentTransactionId(row->made_by))
		waits = sf_row_number(tuple, desc, COL_may_wait, 0);
	row->waits_for = !waits ? SF_QUEUED_FOR_NOTHING :
		sf_row_number(tuple, desc, COL_announced, 0) ? SF_QUEUED_FOR_TASK : SF_QUEUED_FOR_STEP;
}

/*
 * The first branches of a queue, as many as said: the number is part of the query, else each
 * call would be planned for its own number.
 */
#define FRONT(size) \
	"SELECT w.execution_no, w.branch_no, b.owner, " \
	SF_IS_PARKED("$3") " AS waits, w.kind, w.as_if_since, b.phase = $5 AS announced," \
	" b.phase IS NULL OR b.phase <> ALL ($8) AS may_wait, w.made_by" \
	" FROM (SELECT h.*, h.xmin AS made_by FROM _sfflow.parked h WHERE h.object_no = $1 AND h.queue = $2" \
	"  AND (h.kind, h.as_if_since, h.execution_no, h.branch_no) > ($9, $4, $6, $7)" \
	"  ORDER BY h.object_no, h.queue, h.kind, h.as_if_since, h.execution_no, h.branch_no LIMIT " #size ") w" \
	" LEFT JOIN LATERAL (SELECT * FROM _sfflow.branch b WHERE b.execution_no = w.execution_no" \
	"  AND b.branch_no = w.branch_no OFFSET 0) b ON true" \
	" ORDER BY w.kind, w.as_if_since, w.execution_no, w.branch_no"

/* The query that reads as many. */
static SfPlan *
front_plan(SfFront size)
{
	switch (size)
	{
#define FRONT_PLAN(sym, number) \
		case SF_FRONT_##sym: \
			{ \
				static SfPlan plan = SF_PLAN(FRONT(number)); \
\
				return &plan; \
			}
			SF_FRONT_LIST(FRONT_PLAN)
	}
	elog(ERROR, "no query reads %d branches of a queue", (int) size);
}

/* Read branches of a queue in their order, as many as said: those behind another one (NULL: all). */
int
sf_park_front(SfQueue queue, const SfQueuedBranch *after, SfQueuedBranch *front, SfFront size)
{
	static const SfQueuedBranch start = {.kind = SF_PARKED_AHEAD,.as_if_since = DT_NOBEGIN};
	Waitings	waitings = {front, 0};

	if (after == NULL)
		after = &start;
	sf_db_read(front_plan(size), read_waiting, &waitings, SF_INT8(queue.object_no), SF_INT8(queue.hash),
			   SF_PARKED_PLACE, SF_TIME(after->as_if_since), SF_INT2(SF_PHASE_ANNOUNCED),
			   SF_BRANCH_KEY(after->key), SF_INT2S(SF_PHASES_ENDED), SF_INT2(after->kind));
	return waitings.count;
}

/*
 * Delete the row of a branch that waits no more, unless another session does so.  The branch may
 * have begun to wait anew since the row was read: it stays if it has been written since.  That
 * is looked at in the version that is locked, of the branch in that of the snapshot.
 */
void
sf_park_delete_left_over(const SfQueuedBranch *row)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS MATERIALIZED (SELECT w.execution_no, w.branch_no FROM _sfflow.parked w"
		" WHERE w.execution_no = $1 AND w.branch_no = $2 AND " SF_IS_IN_QUEUE
		" AND w.xmin = $4 AND NOT EXISTS (SELECT FROM _sfflow.branch b WHERE b.execution_no = $1 AND b.branch_no = $2"
		"  AND " SF_IS_PARKED("$3") ") FOR UPDATE OF w SKIP LOCKED)"
		" DELETE FROM _sfflow.parked w USING free f WHERE w.execution_no = f.execution_no"
		" AND w.branch_no = f.branch_no");

	sf_db_execute(&plan, SF_BRANCH_KEY(row->key), SF_PARKED_PLACE,
				  sf_query_arg(XIDOID, TransactionIdGetDatum(row->made_by), false));
}

static const SfIndex by_queue = {"parked", "parked_queue"};

/* Does any branch wait in any queue, maybe one of a transaction that has not committed? */
bool
sf_park_is_any_queued(void)
{
	return sf_rows_read_dirty_by(&by_queue, 1, NULL, NULL, NULL, 0) > 0;
}

/* The greatest number of an object that has a queue; 0: there is no queue. */
int64
sf_park_greatest_queue(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT w.object_no FROM _sfflow.parked w WHERE " SF_IS_IN_QUEUE " ORDER BY w.object_no DESC LIMIT 1");

	return sf_db_number_as(InvalidOid, &plan, 0, NULL, 0);
}

/* Does any branch wait in a queue, maybe one of a transaction that has not committed? */
bool
sf_park_is_queued(SfQueue queue)
{
	return sf_rows_read_dirty(&by_queue, 1, NULL, NULL, SF_INT8(queue.object_no),
							  SF_INT8(queue.hash)) > 0;
}

/* Queues that are read into arrays */
typedef struct Queues
{
	SfQueue    *queues;
	Oid		   *owners;
	SfBranchKey *keys;
	int			count;
} Queues;

/* Read a queue, and the owner of its first branch; InvalidOid: its row is left over. */
static void
read_queue(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_object_no = 1, COL_queue, COL_owner};
	Queues	   *q = arg;

	q->queues[q->count].object_no = sf_row_number(tuple, desc, COL_object_no, SF_NO_QUEUE_OBJECT);
	q->queues[q->count].hash = sf_row_number(tuple, desc, COL_queue, 0);
	q->owners[q->count] = sf_row_number(tuple, desc, COL_owner, InvalidOid);
	q->count++;
}

/* List queues that are not empty, at most size of them, those behind another one: one probe of an index each. */
int
sf_park_queues(SfQueue after, SfQueue *queues, Oid *owners, int size)
{
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE q AS ("
		" (SELECT w.object_no, w.queue, w.execution_no FROM _sfflow.parked w"
		"  WHERE " SF_IS_IN_QUEUE " AND (w.object_no, w.queue) > ($2, $3)"
		"  ORDER BY w.object_no, w.queue, w.kind, w.as_if_since LIMIT 1)"
		" UNION ALL"
		" SELECT n.* FROM q CROSS JOIN LATERAL (SELECT w.object_no, w.queue, w.execution_no FROM _sfflow.parked w"
		"  WHERE " SF_IS_IN_QUEUE " AND (w.object_no, w.queue) > (q.object_no, q.queue)"
		"  ORDER BY w.object_no, w.queue, w.kind, w.as_if_since LIMIT 1) n)"
		" SELECT q.object_no, q.queue, (SELECT m.owner FROM _sfflow.execution e JOIN _sfflow.state_machine m"
		"  ON m.machine_no = e.machine_no WHERE e.execution_no = q.execution_no) AS owner FROM q LIMIT $1");
	Queues		q = {.queues = queues,.owners = owners};

	sf_db_read(&plan, read_queue, &q, SF_INT8(size), SF_INT8(after.object_no), SF_INT8(after.hash));
	return q.count;
}

/* Read a branch of an execution that waits, and its queue. */
static void
read_waiting_of(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_object_no, COL_queue};
	Queues	   *q = arg;

	q->keys[q->count].execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	q->keys[q->count].branch_no = sf_row_number(tuple, desc, COL_branch_no, 0);
	q->queues[q->count].object_no = sf_row_number(tuple, desc, COL_object_no, SF_NO_QUEUE_OBJECT);
	q->queues[q->count].hash = sf_row_number(tuple, desc, COL_queue, 0);
	q->count++;
}

/* List branches of an execution that wait in queues, at most size of them. */
int
sf_park_queued_of(int64 execution_no, SfBranchKey *keys, SfQueue *queues, int size)
{
	static SfPlan plan = SF_PLAN(
		"SELECT w.execution_no, w.branch_no, w.object_no, w.queue FROM _sfflow.parked w"
		" WHERE w.execution_no = $1 AND " SF_IS_IN_QUEUE " ORDER BY w.kind, w.as_if_since LIMIT $2");
	Queues		q = {.queues = queues,.keys = keys};

	sf_db_read(&plan, read_waiting_of, &q, SF_INT8(execution_no), SF_INT8(size));
	return q.count;
}
