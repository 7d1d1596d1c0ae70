/*
 * limit_wait.c
 *		The branches that wait for limits, in queues.
 *
 * A branch that waits has a row in the table held, and is not due.
 */
#include "postgres.h"

#include "access/xact.h"

#include "store/limit.h"

/* The phases of a branch that does not go on */
#define ENDED_PHASES	SF_INT2S(SF_PHASE_DONE, SF_PHASE_FAILED, SF_PHASE_ABORTED)

/* Note that a branch waits in a queue; the caller makes it not due. */
void
sf_limit_wait(SfBranchKey key, SfQueue queue, SfRank rank)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.held AS w (execution_no, branch_no, limit_no, queue, rank, since)"
		" VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (execution_no, branch_no) DO UPDATE"
		" SET hold_no = NULL, limit_no = excluded.limit_no, queue = excluded.queue,"
		" rank = excluded.rank, since = excluded.since");

	sf_store_execute(&plan, SF_KEY(key), SF_INT8(queue.limit_no), SF_INT8(queue.hash),
					 SF_TIME(rank.rank), SF_TIME(rank.since));
}

/* Does a branch wait in a queue? */
bool
sf_limit_is_waiting(SfBranchKey key)
{
	static SfPlan plan = SF_PLAN(
		"SELECT w.limit_no FROM _sfflow.held w WHERE w.execution_no" SF_EQ "$1"
		" AND w.branch_no" SF_EQ "$2 AND w.limit_no IS NOT NULL");

	return sf_store_number(&plan, 0, SF_KEY(key)) != 0;
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
sf_limit_unqueue(SfBranch *branch)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.held w WHERE w.execution_no" SF_EQ "$1 AND w.branch_no" SF_EQ "$2"
		" AND w.limit_no IS NOT NULL RETURNING w.limit_no, w.queue, w.rank, w.since");

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
	" b.due_at IS NULL AND b.phase" SF_EQ "ANY ($3), w.rank, b.phase" SF_EQ "$5," \
	" b.phase IS NULL OR b.phase" SF_NE "ALL ($8), w.made_by" \
	" FROM (SELECT h.*, h.xmin AS made_by FROM _sfflow.held h WHERE h.limit_no" SF_EQ "$1 AND h.queue" SF_EQ "$2" \
	"  AND (h.rank, h.execution_no, h.branch_no)" SF_GT "($4, $6, $7)" \
	"  ORDER BY h.limit_no, h.queue, h.rank, h.execution_no, h.branch_no LIMIT " #size ") w" \
	" LEFT JOIN LATERAL (SELECT * FROM _sfflow.branch b WHERE b.execution_no" SF_EQ "w.execution_no" \
	"  AND b.branch_no" SF_EQ "w.branch_no OFFSET 0) b ON true ORDER BY w.rank, w.execution_no, w.branch_no"

/* Read branches of a queue in their order, as many as said: those behind another one (NULL: all). */
int
sf_limit_heads(SfQueue queue, const SfWaiting *after, SfWaiting *heads, SfHeads size)
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
sf_limit_forget_left_over(const SfWaiting *row)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS MATERIALIZED (SELECT w.execution_no, w.branch_no FROM _sfflow.held w"
		" WHERE w.execution_no" SF_EQ "$1 AND w.branch_no" SF_EQ "$2 AND w.limit_no IS NOT NULL"
		" AND w.xmin" SF_EQ "$4 AND NOT EXISTS (SELECT FROM _sfflow.branch b WHERE b.execution_no" SF_EQ "$1 AND b.branch_no" SF_EQ "$2"
		"  AND b.due_at IS NULL AND b.phase" SF_EQ "ANY ($3)) FOR UPDATE OF w SKIP LOCKED)"
		" DELETE FROM _sfflow.held w USING free f WHERE w.execution_no" SF_EQ "f.execution_no"
		" AND w.branch_no" SF_EQ "f.branch_no");

	sf_store_execute(&plan, SF_KEY(row->key), SF_WAITING_PHASES,
					 sf_query_arg(XIDOID, TransactionIdGetDatum(row->made_by), false));
}

/* Does any branch wait in a queue, maybe one of a transaction that has not committed? */
bool
sf_limit_is_queued(SfQueue queue)
{
	static const SfIndex by_queue = {"held", "held_queue"};

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
sf_limit_queues(SfQueue after, SfQueue *queues, Oid *owners, int size)
{
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE q AS ("
		" (SELECT w.limit_no, w.queue, w.execution_no FROM _sfflow.held w"
		"  WHERE w.limit_no IS NOT NULL AND (w.limit_no, w.queue)" SF_GT "($2, $3)"
		"  ORDER BY w.limit_no, w.queue, w.rank LIMIT 1)"
		" UNION ALL"
		" SELECT n.* FROM q CROSS JOIN LATERAL (SELECT w.limit_no, w.queue, w.execution_no FROM _sfflow.held w"
		"  WHERE w.limit_no IS NOT NULL AND (w.limit_no, w.queue)" SF_GT "(q.limit_no, q.queue)"
		"  ORDER BY w.limit_no, w.queue, w.rank LIMIT 1) n)"
		" SELECT q.limit_no, q.queue, (SELECT m.owner FROM _sfflow.execution e JOIN _sfflow.state_machine m"
		"  ON m.machine_no" SF_EQ "e.machine_no WHERE e.execution_no" SF_EQ "q.execution_no) FROM q LIMIT $1");
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

/* List branches of an execution that wait for limits, at most size of them. */
int
sf_limit_waiting_of(int64 execution_no, SfBranchKey *keys, SfQueue *queues, int size)
{
	static SfPlan plan = SF_PLAN(
		"SELECT w.execution_no, w.branch_no, w.limit_no, w.queue FROM _sfflow.held w"
		" WHERE w.execution_no" SF_EQ "$1 AND w.limit_no IS NOT NULL ORDER BY w.rank LIMIT $2");
	Queues		q = {.queues = queues,.keys = keys};

	sf_store_read(&plan, read_waiting_of, &q, SF_INT8(execution_no), SF_INT8(size));
	return q.count;
}
