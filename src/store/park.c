/*
 * park.c
 *		Branches that a feature keeps from going on: rows of _sfflow.held.
 *
 * Such a branch is not due, and costs no queries.  Its row says which object of which feature keeps it:
 * a hold, or a limit.  What waits for a limit does so in a queue, in the order of the ranks; what waits for
 * the end of a hold is in none.  The row of a branch that went on in another way is left over and means nothing.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"

#include "db/direct.h"
#include "store/park.h"

SF_COLUMN_NUMBERS(SF_HELD_COLUMNS);

/* The phases of a branch that does not go on */
#define ENDED_PHASES	SF_INT2S(SF_PHASE_DONE, SF_PHASE_FAILED, SF_PHASE_ABORTED)

/* Note that a branch waits; the caller makes it not due. */
static void
park(SfBranchKey key, const char *feature, int64 object_no, SfArg queue, SfRank rank)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.held AS w (execution_no, branch_no, feature, object_no, queue, rank, since)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (execution_no, branch_no) DO UPDATE"
		" SET feature = excluded.feature, object_no = excluded.object_no, queue = excluded.queue,"
		" rank = excluded.rank, since = excluded.since");

	sf_store_execute(&plan, SF_KEY(key), SF_TEXT(feature), SF_INT8(object_no), queue,
					 SF_TIME_OR_NULL(rank.rank, DT_NOBEGIN), SF_TIME_OR_NULL(rank.since, DT_NOBEGIN));
}

/* Note that a branch waits for an object of a feature; the caller makes it not due. */
void
sf_park_branch(SfBranchKey key, const char *feature, int64 object_no)
{
	park(key, feature, object_no, SF_NULL(INT8OID),
		 (SfRank) {DT_NOBEGIN, DT_NOBEGIN});
}

/* Note that a branch waits in a queue; the caller makes it not due. */
void
sf_park_in_queue(SfBranchKey key, const char *feature, SfQueue queue, SfRank rank)
{
	park(key, feature, queue.limit_no, SF_INT8(queue.hash), rank);
}

/* Name the feature that a branch waits for; NULL: it waits for none. */
const char *
sf_park_feature(SfBranchKey key)
{
	static SfPlan plan = SF_PLAN(
		"SELECT w.feature FROM _sfflow.held w WHERE w.execution_no = $1 AND w.branch_no = $2");

	return sf_list_first(sf_store_texts(&plan, SF_KEY(key)));
}

/* Append what a branch waits for to a list. */
static void
append_parked(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfParked   *parked = palloc(sizeof(SfParked));

	parked->key.execution_no = sf_row_number(tuple, desc, 1, 0);
	parked->key.branch_no = sf_row_number(tuple, desc, 2, 0);
	parked->feature = sf_row_text(tuple, desc, 3);
	parked->object_no = sf_row_number(tuple, desc, 4, 0);
	parked->queue = sf_row_number(tuple, desc, 5, 0);
	*(List **) arg = lappend(*(List **) arg, parked);
}

/* List what the branches of an execution wait for: a List of SfParked. */
List *
sf_park_list(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_PARKED " FROM _sfflow.held w"
		" WHERE w.execution_no = $1 ORDER BY w.branch_no");

	return sf_store_list(&plan, append_parked, SF_ARGS(SF_INT8(execution_no)));
}

/*
 * The same of all executions of a machine (0: of all), and of those with whose owners' rights a
 * role acts (InvalidOid: of all).  Those that have not begun are in no index by machine, so this
 * reads all that wait.
 */
List *
sf_park_list_of(int machine_no, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_PARKED " FROM _sfflow.held w"
		" CROSS JOIN LATERAL (SELECT e.machine_no FROM _sfflow.execution e"
		"  WHERE e.execution_no = w.execution_no OFFSET 0) e"
		" CROSS JOIN LATERAL (SELECT s.machine_no, s.owner FROM _sfflow.state_machine s"
		"  WHERE s.machine_no = e.machine_no OFFSET 0) m"
		" WHERE ($1 = 0 OR m.machine_no = $1)"
		" AND ($2 IS NULL OR pg_catalog.pg_has_role($2::pg_catalog.oid, m.owner::pg_catalog.oid, 'USAGE'))"
		" ORDER BY w.execution_no, w.branch_no");

	return sf_store_list(&plan, append_parked,
						 SF_ARGS(SF_INT4(machine_no),
								 sf_query_arg(REGROLEOID, ObjectIdGetDatum(owner), !OidIsValid(owner))));
}

/* The same of rows that a query finds, which has SF_PARKED. */
List *
sf_park_list_by(SfPlan *plan)
{
	return sf_store_list(plan, append_parked, NULL, 0);
}

/*
 * A branch that the caller has locked, and makes due, waits no more; false: it did not.
 * *since (DT_NOEND: not known): since when it has waited in a queue.
 */
bool
sf_park_end(SfBranchKey key, TimestampTz *since)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.held w WHERE w.execution_no = $1 AND w.branch_no = $2"
		" RETURNING COALESCE(w.since, 'infinity')");

	*since = sf_store_number(&plan, 0, SF_KEY(key));
	return *since != 0;
}

/*
 * Under REPEATABLE READ, raise 40001 if a branch has begun to wait for an object since the snapshot: a release would not
 * see it.
 */
void
sf_park_check_unchanged(const char *feature, int64 object_no)
{
	sf_table_check_unchanged("held", COL_object_no, SF_INT8(object_no), COL_feature, feature);
}

/* Tell workers of a branch that goes on. */
static void
read_released(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfBranchKey key = {sf_row_number(tuple, desc, 1, 0), sf_row_number(tuple, desc, 2, 0)};

	sf_branch_notify_due(key, sf_row_number(tuple, desc, 3, InvalidOid),
						 sf_row_number(tuple, desc, 4, DT_NOEND));
}

/* The row of what waits for an object is in the index of queues, or in that of what is in none */
#define OF_OBJECT(null) \
	" WHERE w.feature = $1 AND w.object_no = $2 AND w.queue IS " null
#define LOCK_PARKED(null) \
	"SELECT b.branch_no FROM _sfflow.held w JOIN _sfflow.branch b" \
	" ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no" \
	OF_OBJECT(null) " AND b.due_at IS NULL AND b.phase = ANY ($3)" \
	" ORDER BY b.execution_no, b.branch_no FOR UPDATE OF b"
#define GO_ON(null) \
	"WITH gone AS (DELETE FROM _sfflow.held w" OF_OBJECT(null) " RETURNING w.*)" \
	" UPDATE _sfflow.branch b SET due_at = pg_catalog.clock_timestamp() FROM gone w" \
	" WHERE b.execution_no = w.execution_no" \
	" AND b.branch_no = w.branch_no AND b.due_at IS NULL AND b.phase = ANY ($3)" \
	" RETURNING b.execution_no, b.branch_no, b.owner, b.due_at"

/* Make the branches due that wait for an object, in its queues or in none; returns how many. */
int64
sf_park_release(const char *feature, int64 object_no, bool queued)
{
	static SfPlan lock_queued = SF_PLAN(LOCK_PARKED("NOT NULL"));
	static SfPlan lock = SF_PLAN(LOCK_PARKED("NULL"));
	static SfPlan go_on_queued = SF_PLAN(GO_ON("NOT NULL"));
	static SfPlan go_on = SF_PLAN(GO_ON("NULL"));

	sf_store_execute(queued ? &lock_queued : &lock, SF_TEXT(feature), SF_INT8(object_no), SF_WAITING_PHASES);
	return sf_store_read(queued ? &go_on_queued : &go_on, read_released, NULL,
						 SF_TEXT(feature), SF_INT8(object_no), SF_WAITING_PHASES);
}

/* --- in queues --- */

/*
 * Make the branches due that wait in a queue for what an execution has by now: its own, and
 * those of the children of its Distributed Maps.  One that another session has claimed finds
 * that out itself.
 */
void
sf_park_release_within(SfQueue queue, int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"WITH waits AS MATERIALIZED (SELECT b.execution_no, b.branch_no FROM _sfflow.held w"
		" JOIN _sfflow.execution e ON e.execution_no = w.execution_no"
		" JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no"
		" WHERE w.object_no = $1 AND w.queue = $2"
		" AND (e.execution_no = $3 OR e.parent_execution_no = $3)"
		" AND b.due_at IS NULL AND b.phase = ANY ($4)"
		" ORDER BY b.execution_no, b.branch_no FOR UPDATE OF b SKIP LOCKED),"
		" gone AS (DELETE FROM _sfflow.held w USING waits x WHERE w.execution_no = x.execution_no"
		"  AND w.branch_no = x.branch_no RETURNING w.execution_no, w.branch_no, w.since)"
		" UPDATE _sfflow.branch b SET due_at = w.since FROM gone w"
		" WHERE b.execution_no = w.execution_no AND b.branch_no = w.branch_no"
		" RETURNING b.execution_no, b.branch_no, b.owner, b.due_at");

	(void) sf_store_read(&plan, read_released, NULL, SF_INT8(queue.limit_no), SF_INT8(queue.hash),
						 SF_INT8(execution_no), SF_WAITING_PHASES);
}

/*
 * Make the branches due that wait for limits in the children of an execution's Distributed Maps:
 * they may wait for a slot of the Map.  Each finds out itself what it waits for by now.
 */
void
sf_park_release_children(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"WITH waits AS MATERIALIZED (SELECT b.execution_no, b.branch_no FROM _sfflow.execution e"
		" JOIN _sfflow.held w ON w.execution_no = e.execution_no"
		" JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no"
		" WHERE e.parent_execution_no = $1 AND e.map_run_no IS NOT NULL AND w.queue IS NOT NULL"
		" AND b.due_at IS NULL AND b.phase = ANY ($2)"
		" ORDER BY b.execution_no, b.branch_no FOR UPDATE OF b SKIP LOCKED),"
		" gone AS (DELETE FROM _sfflow.held w USING waits x WHERE w.execution_no = x.execution_no"
		"  AND w.branch_no = x.branch_no RETURNING w.execution_no, w.branch_no, w.since)"
		" UPDATE _sfflow.branch b SET due_at = w.since FROM gone w"
		" WHERE b.execution_no = w.execution_no AND b.branch_no = w.branch_no"
		" RETURNING b.execution_no, b.branch_no, b.owner, b.due_at");

	(void) sf_store_read(&plan, read_released, NULL, SF_INT8(execution_no), SF_WAITING_PHASES);
}

/*
 * Make the branches of an execution due that are parked for a feature, in no queue; false: a session works on one, which
 * waits on.
 */
bool
sf_park_release_execution(const char *feature, int64 execution_no)
{
	static SfPlan count = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM _sfflow.held w JOIN _sfflow.branch b"
		" ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no"
		" WHERE w.execution_no = $1 AND w.feature = $2 AND b.due_at IS NULL AND b.phase = ANY ($3)");
	static SfPlan plan = SF_PLAN(
		"WITH waits AS MATERIALIZED (SELECT b.execution_no, b.branch_no FROM _sfflow.held w"
		" JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no"
		" WHERE w.execution_no = $1 AND w.feature = $2 AND b.due_at IS NULL AND b.phase = ANY ($3)"
		" ORDER BY b.branch_no FOR UPDATE OF b SKIP LOCKED),"
		" gone AS (DELETE FROM _sfflow.held w USING waits x WHERE w.execution_no = x.execution_no"
		"  AND w.branch_no = x.branch_no)"
		" UPDATE _sfflow.branch b SET due_at = pg_catalog.clock_timestamp() FROM waits w"
		" WHERE b.execution_no = w.execution_no AND b.branch_no = w.branch_no"
		" RETURNING b.execution_no, b.branch_no, b.owner, b.due_at");
	int64		parked = sf_store_number(&count, 0, SF_INT8(execution_no), SF_TEXT(feature), SF_WAITING_PHASES);

	if (parked == 0)
		return true;
	return (int64) sf_store_read(&plan, read_released, NULL, SF_INT8(execution_no), SF_TEXT(feature),
								 SF_WAITING_PHASES) == parked;
}

/* Read where a branch has waited into the branch. */
static void
read_queued(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfBranch   *branch = arg;

	branch->queue_no = sf_row_number(tuple, desc, 1, 0);
	branch->queue_hash = sf_row_number(tuple, desc, 2, 0);
	branch->rank = sf_row_number(tuple, desc, 3, 0);
	branch->since = sf_row_number(tuple, desc, 4, 0);
}

/* A branch that the caller has locked leaves its queue, and notes its rank there; false: it is in none. */
bool
sf_park_leave_queue(SfBranch *branch)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.held w WHERE w.execution_no = $1 AND w.branch_no = $2"
		" AND w.queue IS NOT NULL RETURNING w.object_no, w.queue, w.rank, w.since");

	return sf_store_read(&plan, read_queued, branch, SF_KEY(branch->key)) > 0;
}

/* Rows that are read into an array */
typedef struct Waitings
{
	SfWaiting  *rows;
	int			count;
} Waitings;

/* Read a branch that waits. */
static void
read_waiting(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Waitings   *w = arg;
	SfWaiting  *row = &w->rows[w->count++];

	row->key.execution_no = sf_row_number(tuple, desc, 1, 0);
	row->key.branch_no = sf_row_number(tuple, desc, 2, 0);
	row->owner = sf_row_number(tuple, desc, 3, InvalidOid);
	row->waits = sf_row_number(tuple, desc, 4, 0);
	row->rank = sf_row_number(tuple, desc, 5, 0);
	row->announced = sf_row_number(tuple, desc, 6, 0);
	/*
	 * the row of a branch that waits since this slice is written when the slice ends: until then it is
	 * in the phase from which the slice took it
	 */
	row->made_by = sf_row_number(tuple, desc, 8, InvalidTransactionId);
	if (TransactionIdIsCurrentTransactionId(row->made_by))
		row->waits = sf_row_number(tuple, desc, 7, 0);
}

/*
 * The first branches of a queue, as many as said: the number is part of the query, else each
 * call would be planned for its own number.
 */
#define HEADS(size) \
	"SELECT w.execution_no, w.branch_no, b.owner," \
	" b.due_at IS NULL AND b.phase = ANY ($3), w.rank, b.phase = $5," \
	" b.phase IS NULL OR b.phase <> ALL ($8), w.made_by" \
	" FROM (SELECT h.*, h.xmin AS made_by FROM _sfflow.held h WHERE h.object_no = $1 AND h.queue = $2" \
	"  AND (h.rank, h.execution_no, h.branch_no) > ($4, $6, $7)" \
	"  ORDER BY h.object_no, h.queue, h.rank, h.execution_no, h.branch_no LIMIT " #size ") w" \
	" LEFT JOIN LATERAL (SELECT * FROM _sfflow.branch b WHERE b.execution_no = w.execution_no" \
	"  AND b.branch_no = w.branch_no OFFSET 0) b ON true ORDER BY w.rank, w.execution_no, w.branch_no"

/* Read branches of a queue in their order, as many as said: those behind another one (NULL: all). */
int
sf_park_heads(SfQueue queue, const SfWaiting *after, SfWaiting *heads, SfHeads size)
{
	static SfPlan first = SF_PLAN(HEADS(1));
	static SfPlan few = SF_PLAN(HEADS(4));
	static SfPlan many = SF_PLAN(HEADS(64));
	static const SfWaiting start = {.rank = DT_NOBEGIN};
	Waitings	w = {heads, 0};

	if (after == NULL)
		after = &start;
	sf_store_read(size == SF_HEADS_FIRST ? &first : size == SF_HEADS_FEW ? &few : &many,
				  read_waiting, &w, SF_INT8(queue.limit_no), SF_INT8(queue.hash),
				  SF_WAITING_PHASES, SF_TIME(after->rank), SF_INT2(SF_PHASE_ANNOUNCED),
				  SF_KEY(after->key), ENDED_PHASES);
	return w.count;
}

/*
 * Delete the row of a branch that waits no more, unless another session does so.  The branch may
 * have begun to wait anew since the row was read: it stays if it has been written since.  That
 * is looked at in the version that is locked, of the branch in that of the snapshot.
 */
void
sf_park_forget_left_over(const SfWaiting *row)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS MATERIALIZED (SELECT w.execution_no, w.branch_no FROM _sfflow.held w"
		" WHERE w.execution_no = $1 AND w.branch_no = $2 AND w.queue IS NOT NULL"
		" AND w.xmin = $4 AND NOT EXISTS (SELECT FROM _sfflow.branch b WHERE b.execution_no = $1 AND b.branch_no = $2"
		"  AND b.due_at IS NULL AND b.phase = ANY ($3)) FOR UPDATE OF w SKIP LOCKED)"
		" DELETE FROM _sfflow.held w USING free f WHERE w.execution_no = f.execution_no"
		" AND w.branch_no = f.branch_no");

	sf_store_execute(&plan, SF_KEY(row->key), SF_WAITING_PHASES,
					 sf_query_arg(XIDOID, TransactionIdGetDatum(row->made_by), false));
}

static const SfIndex by_queue = {"held", "held_queue"};

/* Does any branch wait in any queue, maybe one of a transaction that has not committed? */
bool
sf_park_any_queued(void)
{
	return sf_rows_read_dirty_by(&by_queue, 1, NULL, NULL, NULL, 0) > 0;
}

/* The greatest number of a limit that has a queue; 0: there is no queue. */
int64
sf_park_greatest_queue(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT w.object_no FROM _sfflow.held w WHERE w.queue IS NOT NULL ORDER BY w.object_no DESC LIMIT 1");

	return sf_store_number_as(InvalidOid, &plan, 0, NULL, 0);
}

/* Does any branch wait in a queue, maybe one of a transaction that has not committed? */
bool
sf_park_is_queued(SfQueue queue)
{
	return sf_rows_read_dirty(&by_queue, 1, NULL, NULL, SF_INT8(queue.limit_no),
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
	Queues	   *q = arg;

	q->queues[q->count].limit_no = sf_row_number(tuple, desc, 1, 0);
	q->queues[q->count].hash = sf_row_number(tuple, desc, 2, 0);
	q->owners[q->count] = sf_row_number(tuple, desc, 3, InvalidOid);
	q->count++;
}

/* List queues that are not empty, at most size of them, those behind another one: one probe of an index each. */
int
sf_park_queues(SfQueue after, SfQueue *queues, Oid *owners, int size)
{
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE q AS ("
		" (SELECT w.object_no, w.queue, w.execution_no FROM _sfflow.held w"
		"  WHERE w.queue IS NOT NULL AND (w.object_no, w.queue) > ($2, $3)"
		"  ORDER BY w.object_no, w.queue, w.rank LIMIT 1)"
		" UNION ALL"
		" SELECT n.* FROM q CROSS JOIN LATERAL (SELECT w.object_no, w.queue, w.execution_no FROM _sfflow.held w"
		"  WHERE w.queue IS NOT NULL AND (w.object_no, w.queue) > (q.object_no, q.queue)"
		"  ORDER BY w.object_no, w.queue, w.rank LIMIT 1) n)"
		" SELECT q.object_no, q.queue, (SELECT m.owner FROM _sfflow.execution e JOIN _sfflow.state_machine m"
		"  ON m.machine_no = e.machine_no WHERE e.execution_no = q.execution_no) FROM q LIMIT $1");
	Queues		q = {.queues = queues,.owners = owners};

	sf_store_read(&plan, read_queue, &q, SF_INT8(size), SF_INT8(after.limit_no), SF_INT8(after.hash));
	return q.count;
}

/* Read a branch of an execution that waits, and its queue. */
static void
read_waiting_of(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Queues	   *q = arg;

	q->keys[q->count].execution_no = sf_row_number(tuple, desc, 1, 0);
	q->keys[q->count].branch_no = sf_row_number(tuple, desc, 2, 0);
	q->queues[q->count].limit_no = sf_row_number(tuple, desc, 3, 0);
	q->queues[q->count].hash = sf_row_number(tuple, desc, 4, 0);
	q->count++;
}

/* List branches of an execution that wait in queues, at most size of them. */
int
sf_park_queued_of(int64 execution_no, SfBranchKey *keys, SfQueue *queues, int size)
{
	static SfPlan plan = SF_PLAN(
		"SELECT w.execution_no, w.branch_no, w.object_no, w.queue FROM _sfflow.held w"
		" WHERE w.execution_no = $1 AND w.queue IS NOT NULL ORDER BY w.rank LIMIT $2");
	Queues		q = {.queues = queues,.keys = keys};

	sf_store_read(&plan, read_waiting_of, &q, SF_INT8(execution_no), SF_INT8(size));
	return q.count;
}
