/*
 * due.c
 *		Finding branches that are due, by the index branch_due or by execution.
 *
 * Nothing is locked: the session that claims a branch looks at it again.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/error/debug_point.h"
#include "store/branch/branch.h"
#include "store/branch/due.h"
#include "store/execution/status.h"

SF_COLUMN_NUMBERS(SF_BRANCH_COLUMNS);

typedef struct KeyList
{
	SfBranchKey *keys;
	TimestampTz *dues;			/* since when each is due, or NULL */
	int			size;
	int			count;
} KeyList;

/* Read a key. */
static void
read_key(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_due_at};
	KeyList    *list = arg;

	if (list->count < list->size)
	{
		list->keys[list->count].execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
		list->keys[list->count].branch_no = sf_row_number(tuple, desc, COL_branch_no, 0);
		if (list->dues != NULL)
			list->dues[list->count] = sf_row_number(tuple, desc, COL_due_at, DT_NOEND);
		list->count++;
	}
}

/* Find the keys that a plan returns, at most size of them. */
static int
find_keys(SfPlan *plan, SfBranchKey *keys, TimestampTz *dues, int size,
		  const SfArg *args, int nargs)
{
	KeyList		list = {keys, dues, size, 0};

	sf_db_run(InvalidOid, plan, read_key, &list, args, nargs);
	return list.count;
}

/* The lowest known owner above one; InvalidOid: there is none. */
static Oid
next_known(const SfOwnerTurns *turns)
{
	Oid			owner = InvalidOid;

	for (int i = 0; i < turns->nknown; i++)
	{
		if (turns->known[i] > turns->last && (!OidIsValid(owner) || turns->known[i] < owner))
			owner = turns->known[i];
	}
	return owner;
}

/* Find whose turn it is next: one probe of the index branch_due, unless owners are known. */
Oid
sf_branch_next_owner(SfOwnerTurns *turns)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.owner FROM _sfflow.branch b WHERE b.owner > $1"
		" AND b.due_at IS NOT NULL ORDER BY b.owner LIMIT 1");

	for (;;)
	{
		Oid			owner = turns->known != NULL ? next_known(turns) :
			sf_db_number(&plan, InvalidOid, SF_ROLE(turns->last));

		if (OidIsValid(owner) && (!turns->wrapped || owner <= turns->until))
		{
			turns->last = owner;
			return owner;
		}
		if (turns->wrapped)
			return InvalidOid;
		turns->wrapped = true;
		turns->last = InvalidOid;
	}
}

/* List the owners whose turns come next, at most so many. */
List *
sf_branch_owners(SfOwnerTurns *turns, int max)
{
	List	   *owners = NIL;
	Oid			owner;

	while (list_length(owners) < max && OidIsValid(owner = sf_branch_next_owner(turns)))
	{
		CHECK_FOR_INTERRUPTS();
		owners = lappend_oid(owners, owner);
	}
	return owners;
}

/* What has become due in a span of time, of an owner; announced ones apart */
#define DUE_BETWEEN(operator) \
	"SELECT b.execution_no, b.branch_no, b.due_at FROM _sfflow.branch b" \
	" WHERE b.owner = $1 AND b.due_at >= $2 AND b.due_at <= $3" \
	" AND b.phase" operator "$4 ORDER BY b.due_at LIMIT $5"
#define DUE_BETWEEN_ARGS(owner, from, to, size) \
	SF_ARGS(SF_ROLE(owner), SF_TIME(from), SF_TIME(to), \
			SF_INT2(SF_PHASE_ANNOUNCED), SF_INT8(size))

/* Find due branches of an owner, in the order of their times, without locking them. */
int
sf_branch_due_of(Oid owner, TimestampTz from, TimestampTz to, SfBranchKey *keys,
				 TimestampTz *dues, int size)
{
	static SfPlan plan = SF_PLAN(DUE_BETWEEN(" <> "));

	return find_keys(&plan, keys, dues, size, DUE_BETWEEN_ARGS(owner, from, to, size));
}

/* Find long tasks of an owner that have been announced, without locking them. */
int
sf_branch_announced(Oid owner, TimestampTz from, TimestampTz to,
					SfBranchKey *keys, TimestampTz *dues, int size)
{
	static SfPlan plan = SF_PLAN(DUE_BETWEEN(" = "));

	if (SF_DEBUG_MUTATION("announced"))
		return 0;
	return find_keys(&plan, keys, dues, size, DUE_BETWEEN_ARGS(owner, from, to, size));
}

/* The branches of an execution that have a time */
typedef struct TimedBranch
{
	int64		branch_no;
	TimestampTz due_at;
	SfPhase		phase;
} TimedBranch;

typedef struct TimedBranches
{
	TimedBranch *branches;
	int			count;
	int			size;
	TimestampTz last_wait;		/* the latest time that a Wait state waits for */
} TimedBranches;

/* Read a branch if it has a time. */
static void
read_timed(HeapTuple tuple, TupleDesc desc, void *arg)
{
	TimedBranches *timed = arg;
	TimestampTz due_at = sf_row_number(tuple, desc, COL_due_at, DT_NOEND);
	TimedBranch *branch;

	if (due_at == DT_NOEND)
		return;
	if (timed->count == timed->size)
	{
		timed->size = Max(timed->size * 2, 8);
		timed->branches = timed->branches == NULL ?
			palloc(sizeof(TimedBranch) * timed->size) :
			repalloc_huge(timed->branches, sizeof(TimedBranch) * timed->size);
	}
	branch = &timed->branches[timed->count++];
	branch->branch_no = sf_row_number(tuple, desc, COL_branch_no, 0);
	branch->due_at = due_at;
	branch->phase = sf_row_number(tuple, desc, COL_phase, 0);
	if (branch->phase == SF_PHASE_WAIT)
		timed->last_wait = Max(timed->last_wait, due_at);
}

/* Does a branch that is not due become so because waits are skipped? */
static bool
is_skipped(const TimedBranch *branch, const TimedBranches *timed)
{
	switch (branch->phase)
	{
		case SF_PHASE_RUN:
		case SF_PHASE_WAIT:
			return true;
		case SF_PHASE_TIMEOUT:
			/* the machine's timeout comes if something waits beyond it */
			return timed->last_wait >= branch->due_at;
		case SF_PHASE_ENTER:
		case SF_PHASE_JOIN:
		case SF_PHASE_ANNOUNCED:
		case SF_PHASE_ANSWERED:
		case SF_PHASE_EXTERNAL:
		case SF_PHASE_DONE:
		case SF_PHASE_FAILED:
		case SF_PHASE_ABORTED:
		case SF_PHASE_STOP:
		case SF_PHASE_NET:
		case SF_PHASE_KEPT:
		case SF_PHASE_MAP_WRITE:
		case SF_PHASE_MAP_ANSWERED:
			return false;
	}
	return false;
}

/* Order branches by time, then by number. */
static int
compare_timed(const void *a, const void *b)
{
	const TimedBranch *x = a;
	const TimedBranch *y = b;

	if (x->due_at != y->due_at)
		return x->due_at < y->due_at ? -1 : 1;
	return x->branch_no < y->branch_no ? -1 : x->branch_no > y->branch_no;
}

/* Find the keys of due branches of an execution, announced ones too. */
int
sf_branch_due(int64 execution_no, TimestampTz at, bool skip_waits,
			  SfBranchKey *keys, int size)
{
	static const SfIndex by_key = {"branch", "branch_pkey"};
	TimedBranches timed = {.last_wait = DT_NOBEGIN};
	int			n = 0;

	sf_rows_read(&by_key, PG_INT32_MAX, read_timed, &timed, SF_INT8(execution_no));
	if (timed.count > 1)
		qsort(timed.branches, timed.count, sizeof(TimedBranch), compare_timed);
	for (int i = 0; i < timed.count && n < size; i++)
	{
		const TimedBranch *branch = &timed.branches[i];

		if (branch->due_at <= at || (skip_waits && is_skipped(branch, &timed)))
			keys[n++] = (SfBranchKey) {execution_no, branch->branch_no};
	}
	if (timed.branches != NULL)
		pfree(timed.branches);
	return n;
}

/* Find due branches of an execution's item executions, and of theirs, without locking them. */
int
sf_branch_due_items(int64 execution_no, TimestampTz at, bool skip_waits,
					SfBranchKey *keys, int size)
{
	static const SfIndex by_parent = {"execution", "execution_parent"};

	/* OFFSET 0: else tables are read whole to be hashed, whatever the tree holds */
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE tree AS ("
		" SELECT e.execution_no FROM _sfflow.execution e"
		"  WHERE e.parent_execution_no = $1 AND e.map_run_no IS NOT NULL"
		"  AND e.status = $7"
		" UNION ALL"
		" SELECT x.execution_no FROM tree t CROSS JOIN LATERAL ("
		"  SELECT e.execution_no FROM _sfflow.execution e"
		"  WHERE e.parent_execution_no = t.execution_no"
		"  AND e.map_run_no IS NOT NULL AND e.status = $7 OFFSET 0) x)"
		" SELECT b.execution_no, b.branch_no FROM tree t CROSS JOIN LATERAL ("
		"  SELECT * FROM _sfflow.branch b WHERE b.execution_no = t.execution_no"
		"  AND (b.due_at <= $2"
		"   OR $3 AND b.due_at IS NOT NULL AND (b.phase = $5 OR b.phase = $6))"
		"  OFFSET 0) b"
		" ORDER BY b.due_at, b.execution_no, b.branch_no LIMIT $4");

	/* most executions have none, and that is known without the executor */
	if (!sf_row_fetch(&by_parent, SF_LOCK_NONE, NULL, NULL, NULL, SF_INT8(execution_no)))
		return 0;
	return find_keys(&plan, keys, NULL, size,
					 SF_ARGS(SF_INT8(execution_no), SF_TIME(at), SF_BOOL(skip_waits),
							 SF_INT8(size), SF_INT2(SF_PHASE_RUN),
							 SF_INT2(SF_PHASE_WAIT), SF_INT2(SF_STATUS_RUNNING)));
}

/*
 * Correct an owner's due times after the wall clock was set back.  Branches in
 * phases that wait for no particular time, and whose due_at now lies ahead, become
 * due now.  If it is known by how many microseconds the clock was set back (else 0),
 * the delays of retries shrink by as much.  WAIT, EXTERNAL and
 * TIMEOUT keep due_at, and so do executions that were to start in the future.
 */
void
sf_branch_set_back(Oid owner, TimestampTz now, int64 by)
{
	static SfPlan plan = SF_PLAN(
		"WITH ahead AS ("
		" SELECT b.execution_no, b.branch_no FROM _sfflow.branch b"
		"  WHERE b.owner = $1 AND b.due_at > $2"
		"  AND (b.phase = ANY ($4) OR b.phase = $5 AND $6)"
		"  AND NOT EXISTS (SELECT FROM _sfflow.delayed_start d"
		"   WHERE d.execution_no = b.execution_no AND d.start_at = b.due_at)"
		"  FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.branch b SET due_at = CASE WHEN b.phase = $5"
		"   AND b.due_at - $3 > $2"
		"   THEN b.due_at - $3 ELSE $2 END"
		"  FROM ahead a"
		"  WHERE b.execution_no = a.execution_no AND b.branch_no = a.branch_no");
	Interval	interval = {.time = by};

	sf_db_execute(&plan, SF_ROLE(owner), SF_TIME(now),
				  sf_query_arg(INTERVALOID, IntervalPGetDatum(&interval), false),
				  SF_INT2S(SF_PHASE_ENTER, SF_PHASE_JOIN, SF_PHASE_ANNOUNCED, SF_PHASES_ANSWERED, SF_PHASE_STOP,
						   SF_PHASE_NET, SF_PHASE_MAP_WRITE),
				  SF_INT2(SF_PHASE_RUN), SF_BOOL(by > 0));
}

/* Find when an owner's first timer after a time is due; DT_NOEND: never. */
TimestampTz
sf_branch_next_due(Oid owner, TimestampTz after)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.due_at FROM _sfflow.branch b WHERE b.owner = $1"
		" AND b.due_at > $2 ORDER BY b.due_at LIMIT 1");

	return sf_db_number(&plan, DT_NOEND, SF_ROLE(owner), SF_TIME(after));
}
