/*
 * due.c
 *		Finding branches that are due, by the index branch_due or by execution.
 *
 * Nothing is locked: whoever claims what was found looks at it again.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "base/debug_point.h"
#include "store/due.h"
#include "store/table.h"

#define EQ " OPERATOR(pg_catalog.=) "

typedef struct KeyList
{
	SfBranchKey *keys;
	TimestampTz *dues;			/* since when, or NULL: not asked for */
	int			size;
	int			count;
} KeyList;

/* Read a key. */
static void
read_key(HeapTuple tuple, TupleDesc desc, void *arg)
{
	KeyList    *list = arg;

	if (list->count < list->size)
	{
		list->keys[list->count].execution_no = sf_row_int64(tuple, desc, 1);
		list->keys[list->count].branch_no = sf_row_int64(tuple, desc, 2);
		if (list->dues != NULL)
			list->dues[list->count] = sf_row_time(tuple, desc, 3, DT_NOEND);
		list->count++;
	}
}

/* Find the keys that a plan returns, at most size of them. */
static int
find_keys(SfPlan *plan, Datum *args, SfBranchKey *keys, TimestampTz *dues, int size)
{
	KeyList		list = {keys, dues, size, 0};

	sf_store_query(plan, args, NULL, 0, read_key, &list);
	return list.count;
}

/* What waits for a time, of an owner: the first columns of the index branch_due */
#define OF_OWNER " WHERE b.priority" EQ "0 AND b.owner" EQ "$1"

/* Put owners into the order in which it is their turn. */
static List *
by_turn(List *owners, Oid after)
{
	List	   *first = NIL;
	List	   *rest = NIL;
	ListCell   *lc;

	list_sort(owners, list_oid_cmp);
	foreach(lc, owners)
	{
		if (lfirst_oid(lc) > after)
			first = lappend_oid(first, lfirst_oid(lc));
		else
			rest = lappend_oid(rest, lfirst_oid(lc));
	}
	return list_concat(first, rest);
}

/* List the owners of branches that are due or wait for a time: a probe an owner. */
List *
sf_branch_owners(Oid after)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.owner FROM _sfflow.branch b WHERE b.priority" EQ "0"
		" AND b.owner OPERATOR(pg_catalog.>) $1 AND b.due_at IS NOT NULL"
		" ORDER BY b.priority, b.owner LIMIT 1", 1, OIDOID);
	List	   *owners = NIL;
	Oid			owner = InvalidOid;

	for (;;)
	{
		Datum		args[1] = {ObjectIdGetDatum(owner)};

		CHECK_FOR_INTERRUPTS();
		if (sf_store_query(&plan, args, NULL, 1, sf_row_read_oid, &owner) == 0)
			return by_turn(owners, after);
		owners = lappend_oid(owners, owner);
	}
}

/* Put owners that are known into that order. */
List *
sf_owners_by_turn(const Oid *owners, int nowners, Oid after)
{
	List	   *list = NIL;

	for (int i = 0; i < nowners; i++)
		list = lappend_oid(list, owners[i]);
	return by_turn(list, after);
}

/* What has become due in a span of time, of an owner, in some phase */
#define DUE_BETWEEN(phase) \
	"SELECT b.execution_no, b.branch_no, b.due_at FROM _sfflow.branch b" OF_OWNER \
	" AND b.due_at OPERATOR(pg_catalog.>=) $2 AND b.due_at OPERATOR(pg_catalog.<=) $3" \
	" AND b.phase" phase " ORDER BY b.due_at LIMIT $4"

/* Find what has become due in a span of time, without locking it. */
static int
find_due_between(SfPlan *plan, Oid owner, TimestampTz from, TimestampTz to,
				 SfBranchKey *keys, TimestampTz *dues, int size)
{
	Datum		args[4] = {ObjectIdGetDatum(owner), TimestampTzGetDatum(from),
	TimestampTzGetDatum(to), Int64GetDatum(size)};

	return find_keys(plan, args, keys, dues, size);
}

/* Find due branches of an owner, without locking them. */
int
sf_branch_due_of(Oid owner, TimestampTz from, TimestampTz to, SfBranchKey *keys,
				 int size)
{
	static SfPlan plan = SF_PLAN(DUE_BETWEEN(" OPERATOR(pg_catalog.<>) 4"),
								 4, OIDOID, TIMESTAMPTZOID, TIMESTAMPTZOID, INT8OID);

	return find_due_between(&plan, owner, from, to, keys, NULL, size);
}

/* Find long tasks of an owner that have been announced, without locking them. */
int
sf_branch_announced(Oid owner, TimestampTz from, TimestampTz to,
					SfBranchKey *keys, TimestampTz *dues, int size)
{
	static SfPlan plan = SF_PLAN(DUE_BETWEEN(EQ "4"),
								 4, OIDOID, TIMESTAMPTZOID, TIMESTAMPTZOID, INT8OID);

	if (SF_DEBUG_MUTATION("announced"))
		return 0;
	return find_due_between(&plan, owner, from, to, keys, dues, size);
}

/* Find due branches of an execution or of its children, without locking them. */
static int
find_due_within(SfPlan *plan, int64 execution_no, TimestampTz at, bool skip_waits,
				SfBranchKey *keys, int size)
{
	Datum		args[4] = {TimestampTzGetDatum(at), Int64GetDatum(size),
	Int64GetDatum(execution_no), BoolGetDatum(skip_waits)};

	return find_keys(plan, args, keys, NULL, size);
}

/* Find due branches of an execution, without locking them. */
int
sf_branch_due(int64 execution_no, TimestampTz at, bool skip_waits,
			  SfBranchKey *keys, int size)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.execution_no, b.branch_no FROM _sfflow.branch b"
		" WHERE b.execution_no" EQ "$3"
		" AND (b.due_at OPERATOR(pg_catalog.<=) $1"
		"  OR $4 AND b.due_at IS NOT NULL AND (b.phase" EQ "1 OR b.phase" EQ "2"
		/* the machine's deadline comes if something waits beyond it */
		"   OR b.phase" EQ "10 AND EXISTS (SELECT FROM _sfflow.branch w"
		"    WHERE w.execution_no" EQ "$3 AND w.phase" EQ "2"
		"    AND w.due_at OPERATOR(pg_catalog.>=) b.due_at)))"
		" ORDER BY b.priority, b.due_at, b.branch_no LIMIT $2",
		4, TIMESTAMPTZOID, INT8OID, INT8OID, BOOLOID);

	return find_due_within(&plan, execution_no, at, skip_waits, keys, size);
}

/* Find due branches of an execution's children, without locking them. */
int
sf_branch_due_children(int64 execution_no, TimestampTz at, bool skip_waits,
					   SfBranchKey *keys, int size)
{
	/* OFFSET 0: else tables are read whole to be hashed, whatever the tree holds */
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE tree AS ("
		" SELECT e.execution_no FROM _sfflow.execution e"
		"  WHERE e.parent_execution_no" EQ "$3 AND e.map_run_no IS NOT NULL"
		"  AND e.status" EQ "0"
		" UNION ALL"
		" SELECT x.execution_no FROM tree t CROSS JOIN LATERAL ("
		"  SELECT e.execution_no FROM _sfflow.execution e"
		"  WHERE e.parent_execution_no" EQ "t.execution_no"
		"  AND e.map_run_no IS NOT NULL AND e.status" EQ "0 OFFSET 0) x)"
		" SELECT b.execution_no, b.branch_no FROM tree t CROSS JOIN LATERAL ("
		"  SELECT * FROM _sfflow.branch b WHERE b.execution_no" EQ "t.execution_no"
		"  AND (b.due_at OPERATOR(pg_catalog.<=) $1"
		"   OR $4 AND b.due_at IS NOT NULL AND (b.phase" EQ "1 OR b.phase" EQ "2))"
		"  OFFSET 0) b"
		" ORDER BY b.due_at, b.execution_no, b.branch_no LIMIT $2",
		4, TIMESTAMPTZOID, INT8OID, INT8OID, BOOLOID);

	return find_due_within(&plan, execution_no, at, skip_waits, keys, size);
}

/*
 * Have an owner's work be due that was due before the wall clock was set back.
 * Phases that wait for no time are due at once, whatever they say; the delay of
 * a retry lasts as long as it would have.
 */
void
sf_branch_set_back(Oid owner, TimestampTz now, int64 by)
{
	static SfPlan plan = SF_PLAN(
		"WITH ahead AS ("
		" SELECT b.execution_no, b.branch_no FROM _sfflow.branch b" OF_OWNER
		"  AND b.due_at OPERATOR(pg_catalog.>) $2"
		"  AND (b.phase" EQ "0 OR b.phase" EQ "3 OR b.phase" EQ "4 OR b.phase" EQ "5"
		"   OR b.phase" EQ "11 OR b.phase" EQ "1 AND $4)"
		"  FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.branch b SET due_at = CASE WHEN b.phase" EQ "1"
		"   AND b.due_at OPERATOR(pg_catalog.-) $3 OPERATOR(pg_catalog.>) $2"
		"   THEN b.due_at OPERATOR(pg_catalog.-) $3 ELSE $2 END"
		"  FROM ahead a"
		"  WHERE b.execution_no" EQ "a.execution_no AND b.branch_no" EQ "a.branch_no",
		4, OIDOID, TIMESTAMPTZOID, INTERVALOID, BOOLOID);
	Interval	interval = {.time = by};
	Datum		args[4] = {ObjectIdGetDatum(owner), TimestampTzGetDatum(now),
	IntervalPGetDatum(&interval), BoolGetDatum(by > 0)};

	(void) sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* Read a timestamp; a null leaves the default. */
static void
read_time(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(TimestampTz *) arg = sf_row_time(tuple, desc, 1, *(TimestampTz *) arg);
}

/* Find when the next timer of an owner that lies ahead is due. */
TimestampTz
sf_branch_next_due(Oid owner, TimestampTz after)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.due_at FROM _sfflow.branch b" OF_OWNER
		" AND b.due_at OPERATOR(pg_catalog.>) $2 ORDER BY b.due_at LIMIT 1",
		2, OIDOID, TIMESTAMPTZOID);
	TimestampTz due = DT_NOEND;
	Datum		args[2] = {ObjectIdGetDatum(owner), TimestampTzGetDatum(after)};

	sf_store_query(&plan, args, NULL, 1, read_time, &due);
	return due;
}
