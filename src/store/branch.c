/*
 * branch.c
 *		Rows of _sfflow.branch: read, lock, write.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "base/debug_point.h"
#include "store/branch.h"

SF_COLUMN_NUMBERS(SF_BRANCH_COLUMNS);
#define NCOLUMNS	(COL_end - 1)

#define ROW SfBranch
SF_ROW_TYPE(row_type, SF_BRANCH_COLUMNS, branch, 2);

#define SELECT_BRANCH \
	"SELECT " SF_BRANCH_COLUMNS(SF_SELECT) "ctid FROM _sfflow.branch b "

static const char *const status_names[] =
{
#define STATUS_NAME(sym, number) [number] = #sym,
	SF_STATUS_LIST(STATUS_NAME)
};

/* Name of an execution's status, as the views show it. */
const char *
sf_status_name(SfStatus status)
{
	return status_names[status];
}

/* Tell whether a branch has ended; one that was stopped and keeps an answer has, too. */
bool
sf_branch_has_ended(const SfBranch *branch)
{
	switch (branch->phase)
	{
		case SF_PHASE_DONE:
		case SF_PHASE_FAILED:
		case SF_PHASE_ABORTED:
			return true;
		case SF_PHASE_ANSWERED:
			return branch->due_at == DT_NOEND;
		default:
			return false;
	}
}

/* Draw the number of a new branch. */
int64
sf_branch_next_no(void)
{
	return sf_sequence_next("branch_no");
}

/* Read the first columns of a row. */
static SfBranch *
read_columns(HeapTuple tuple, TupleDesc desc, int ncolumns)
{
	SfBranch   *b = palloc0(sizeof(SfBranch));
	bool		isnull;

	sf_row_read(&row_type, tuple, desc, ncolumns, b);
	/* a query returns the address after the columns of the row */
	b->tid = desc->natts == NCOLUMNS ? tuple->t_self :
		*(ItemPointer) DatumGetPointer(heap_getattr(tuple, NCOLUMNS + 1, desc, &isnull));
	return b;
}

/* Append a branch to a list. */
static void
append_branch(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfBranch   *b = read_columns(tuple, desc, NCOLUMNS);

	b->stored = true;
	*(List **) arg = lappend(*(List **) arg, b);
}

/* Append a branch to a list without its documents, which are the last columns. */
static void
append_without_documents(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(List **) arg = lappend(*(List **) arg, read_columns(tuple, desc, COL_payload - 1));
}

/* Read one branch by key; NULL: it is not there, or locked (SF_LOCK_SKIP). */
SfBranch *
sf_branch_read(SfBranchKey key, SfLock lock)
{
	List	   *list = NIL;

	sf_row_fetch(&row_type.key, lock, NULL, append_branch, &list, SF_KEY(key));
	return sf_list_first(list);
}

/* Does a branch wait for a program outside, in a generation? */
static bool
waits_outside(HeapTuple tuple, TupleDesc desc, void *arg)
{
	return sf_row_number(tuple, desc, COL_phase, -1) == SF_PHASE_EXTERNAL &&
		sf_row_number(tuple, desc, COL_generation, -1) == *(const int *) arg;
}

/* Lock a branch that waits for a program outside, unless another session has it locked. */
bool
sf_branch_lock_outside(SfBranchKey key, int generation)
{
	return sf_row_fetch(&row_type.key, SF_LOCK_SKIP, waits_outside, NULL, &generation, SF_KEY(key));
}

/* Read the children of a branch, by index. */
List *
sf_branch_children(SfBranchKey parent, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		SELECT_BRANCH "WHERE b.execution_no" SF_EQ "$1 AND b.parent_no" SF_EQ "$2"
		" ORDER BY b.branch_index");

	return sf_store_list(&plans[lock], append_branch, SF_ARGS(SF_KEY(parent)));
}

/* Read every branch of an execution, by number. */
List *
sf_branch_all(int64 execution_no, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		SELECT_BRANCH "WHERE b.execution_no" SF_EQ "$1 ORDER BY b.branch_no");

	return sf_store_list(&plans[lock], append_branch, SF_ARGS(SF_INT8(execution_no)));
}

/* Find the branch with a number among those of sf_branch_all(); NULL: there is none. */
SfBranch *
sf_branch_by_no(List *branches, int64 branch_no)
{
	int			low = 0,
				high = list_length(branches) - 1;

	while (low <= high)
	{
		int			middle = (low + high) / 2;
		SfBranch   *branch = list_nth(branches, middle);

		if (branch->key.branch_no == branch_no)
			return branch;
		if (branch->key.branch_no < branch_no)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return NULL;
}

/*
 * Read every branch of an execution but its deadline, without documents (NULL), with
 * the snapshot of the query that calls (see sf_scan_run).
 */
List *
sf_branch_scan(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		SELECT_BRANCH "WHERE b.execution_no" SF_EQ "$1 AND b.branch_no" SF_GE "$2");
	List	   *list = NIL;

	sf_scan(&plan, append_without_documents, &list, SF_INT8(execution_no),
			SF_INT8(SF_BRANCH_ROOT));
	return list;
}

/* What a branch is claimed for */
typedef struct Claim
{
	TimestampTz at;
	bool		skip_waits;
	List	   *list;			/* of the one branch */
} Claim;

/* Is a branch due, and of a phase that is claimed without the lock of its execution? */
static bool
is_claimable(HeapTuple tuple, TupleDesc desc, void *arg)
{
	const Claim *claim = arg;
	SfPhase		phase = sf_row_number(tuple, desc, COL_phase, 0);
	TimestampTz due = sf_row_number(tuple, desc, COL_due_at, DT_NOEND);

	if (phase == SF_PHASE_JOIN || phase == SF_PHASE_DEADLINE ||
		phase == SF_PHASE_STOP || due == DT_NOEND)
		return false;
	return due <= claim->at || (claim->skip_waits &&
								(phase == SF_PHASE_RUN || phase == SF_PHASE_WAIT));
}

/* Read the branch that is claimed. */
static void
read_claimed(HeapTuple tuple, TupleDesc desc, void *arg)
{
	append_branch(tuple, desc, &((Claim *) arg)->list);
}

/*
 * Lock and read a branch that is due.  Returns NULL when it is not due, or when
 * another session has it locked and lock is SF_LOCK_SKIP.  Joins and deadlines
 * are never claimed so, but read with sf_branch_read() under the lock of their
 * execution (see run/claim.c).  With skip_waits, Wait states and retry delays
 * count as due.
 */
SfBranch *
sf_branch_claim(SfBranchKey key, SfLock lock, TimestampTz at, bool skip_waits)
{
	Claim		claim = {at, skip_waits, NIL};

	sf_row_fetch(&row_type.key, lock, is_claimable, read_claimed, &claim, SF_KEY(key));
	return sf_list_first(claim.list);
}

/* Read the row of a join without its documents. */
SfBranch *
sf_branch_read_join(SfBranchKey key, SfLock lock)
{
	List	   *list = NIL;

	sf_row_fetch(&row_type.key, lock, NULL, append_without_documents, &list, SF_KEY(key));
	return sf_list_first(list);
}

/*
 * Note for the commit when a branch is due (sf_hooks.due), unless never (DT_NOEND).
 * The owner may be InvalidOid: then a worker finds it when the branch is due.
 */
void
sf_branch_notify_due(SfBranchKey key, Oid owner, TimestampTz due)
{
	if (due != DT_NOEND)
		sf_hooks.due(key, owner, due);
}

/* Write the columns of a join that the end of a child changes. */
void
sf_branch_update_join(SfBranch *join)
{
	static const int changed[] = {
		COL_pending, COL_failing, COL_failed_event, COL_transitions,
		COL_uncatchable, COL_error, COL_cause, COL_due_at
	};

	sf_row_replace(&row_type, &join->tid, join, changed, lengthof(changed));
	sf_branch_notify_due(join->key, join->owner, join->due_at);
}

typedef struct Outputs
{
	Jsonb	  **outputs;
	int			count;
	int			size;
	int			last_event;
} Outputs;

/* Read the output of one child. */
static void
read_output(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Outputs    *o = arg;

	if (o->count == o->size)
	{
		o->size *= 2;
		o->outputs = repalloc(o->outputs, sizeof(Jsonb *) * o->size);
	}
	o->outputs[o->count++] = sf_row_jsonb(tuple, desc, 1);
	o->last_event = Max(o->last_event, (int) sf_row_number(tuple, desc, 2, 0));
}

/*
 * Read the outputs of the children of a branch, in the order of their index;
 * *last_event becomes the largest last_event of any child.
 */
Jsonb **
sf_branch_outputs(SfBranchKey parent, int *count, int *last_event)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.payload, b.last_event FROM _sfflow.branch b"
		" WHERE b.execution_no" SF_EQ "$1 AND b.parent_no" SF_EQ "$2"
		" ORDER BY b.branch_index");
	Outputs		o = {palloc(sizeof(Jsonb *) * 64), 0, 64, 0};

	sf_store_read(&plan, read_output, &o, SF_KEY(parent));
	*count = o.count;
	*last_event = o.last_event;
	return o.outputs;
}

/* Find the last inner event of the child that ended last; 0 when there is none. */
int
sf_branch_last_inner_event(SfBranchKey parent)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.entered_event FROM _sfflow.branch b"
		" WHERE b.execution_no" SF_EQ "$1 AND b.parent_no" SF_EQ "$2"
		" AND b.phase" SF_EQ "$3 ORDER BY b.last_event DESC LIMIT 1");

	return sf_store_number(&plan, 0, SF_KEY(parent), SF_INT2(SF_PHASE_DONE));
}

/* Lay a branch out as its row. */
static void
form_row(const SfBranch *b, Datum *values, bool *nulls)
{
	sf_row_form(&row_type, b, values, nulls);
	if (b->phase == SF_PHASE_RUN && SF_DEBUG_MUTATION("retry_timer"))
		nulls[COL_due_at - 1] = true;
}

/* Insert the rows of branches from one of a list on, as COPY does. */
static void
insert_rows(SfTable *table, const List *branches, int first)
{
	int			n = Min(list_length(branches) - first, SF_TABLE_MAX_ROWS);
	Datum	   *values = palloc(sizeof(Datum) * NCOLUMNS * n);
	bool	   *nulls = palloc(sizeof(bool) * NCOLUMNS * n);

	for (int i = 0; i < n; i++)
		form_row(list_nth(branches, first + i), values + i * NCOLUMNS, nulls + i * NCOLUMNS);
	sf_table_insert_rows(table, n, values, nulls);
}

/* Update or delete the row of a branch. */
static void
replace_row(SfTable *table, SfBranch *b)
{
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS];

	if (b->gone)
	{
		sf_table_delete(table, &b->tid);
		return;
	}
	form_row(b, values, nulls);
	sf_table_update(table, &b->tid, values, nulls);
}

/* Write branches: replace the rows of those that are stored, then insert the others. */
static void
write_rows(SfTable *table, const List *branches)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "sfflow branch row",
												  ALLOCSET_DEFAULT_SIZES);
	List	   *fresh = NIL;
	MemoryContext old;
	ListCell   *lc;

	foreach(lc, branches)
	{
		SfBranch   *b = lfirst(lc);

		if (!b->stored && !b->gone)
			fresh = lappend(fresh, b);
		if (!b->stored)
			continue;
		old = MemoryContextSwitchTo(scratch);
		replace_row(table, b);
		MemoryContextSwitchTo(old);
		MemoryContextReset(scratch);
	}
	for (int i = 0; i < list_length(fresh); i += SF_TABLE_MAX_ROWS)
	{
		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(scratch);
		insert_rows(table, fresh, i);
		MemoryContextSwitchTo(old);
		MemoryContextReset(scratch);
	}
	MemoryContextDelete(scratch);
}

/* Insert, update or delete the rows of branches, as stored and gone say. */
void
sf_branch_write(List *branches)
{
	SfTable    *table;
	ListCell   *lc;

	if (branches == NIL)
		return;
	table = sf_table_open("branch", NCOLUMNS);
	write_rows(table, branches);
	sf_table_close(table);
	foreach(lc, branches)
	{
		SfBranch   *b = lfirst(lc);

		if (b->gone)
			continue;
		b->stored = true;
		sf_branch_notify_due(b->key, b->owner, b->due_at);
	}
	CommandCounterIncrement();
}

/* Make a branch due later that is due and that no other session has locked. */
void
sf_branch_put_off(SfBranchKey key, TimestampTz until)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS (SELECT b.branch_no FROM _sfflow.branch b"
		"  WHERE b.execution_no" SF_EQ "$1 AND b.branch_no" SF_EQ "$2"
		"  AND b.due_at" SF_LT "$3 FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.branch b SET due_at = $3 FROM free"
		" WHERE b.execution_no" SF_EQ "$1 AND b.branch_no" SF_EQ "free.branch_no");

	if (sf_store_execute(&plan, SF_KEY(key), SF_TIME(until)) > 0)
		sf_branch_notify_due(key, InvalidOid, until);
}

/* Set when a branch is due. */
void
sf_branch_set_due(SfBranchKey key, TimestampTz due)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.branch b SET due_at = $3"
		" WHERE b.execution_no" SF_EQ "$1 AND b.branch_no" SF_EQ "$2");

	sf_store_execute(&plan, SF_KEY(key), SF_TIME_OR_NULL(due, DT_NOEND));
	sf_branch_notify_due(key, InvalidOid, due);
}

/* Put an answer into a branch: phase ANSWERED, due now. */
void
sf_branch_answer(SfBranchKey key, bool ok, const Jsonb *result,
				 const char *error, const char *cause)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.branch b SET phase = $3, due_at = $4,"
		" failing = $5, result = $6, error = $7, cause = $8"
		" WHERE b.execution_no" SF_EQ "$1 AND b.branch_no" SF_EQ "$2 RETURNING b.owner");
	TimestampTz now = GetCurrentTimestamp();
	Oid			owner;

	owner = sf_store_number(&plan, InvalidOid, SF_KEY(key), SF_INT2(SF_PHASE_ANSWERED),
							SF_TIME(now), SF_BOOL(!ok), SF_JSONB(result),
							SF_TEXT(error), SF_TEXT(cause));
	sf_branch_notify_due(key, owner, now);
}

/* Collect the numbers of deleted branches: arg is an ArrayBuildState **. */
static void
collect_number(HeapTuple tuple, TupleDesc desc, void *arg)
{
	ArrayBuildState **numbers = arg;

	*numbers = accumArrayResult(*numbers,
								Int64GetDatum(sf_row_number(tuple, desc, 1, 0)),
								false, INT8OID, CurrentMemoryContext);
}

/*
 * Delete all descendants of a branch, generation by generation: the children
 * of an array of branches are found by the index whatever the planner knows of
 * the table, which a join does not ensure.
 */
void
sf_branch_delete_children(SfBranchKey parent)
{
	static SfPlan branches = SF_PLAN(
		"DELETE FROM _sfflow.branch b WHERE b.execution_no" SF_EQ "$1"
		" AND b.parent_no" SF_EQ "ANY ($2) RETURNING b.branch_no");
	static SfPlan tasks = SF_PLAN(
		"DELETE FROM _sfflow.task t WHERE t.execution_no" SF_EQ "$1"
		" AND t.branch_no" SF_EQ "ANY ($2)");
	SfArg		execution = SF_INT8(parent.execution_no);
	Datum		number = Int64GetDatum(parent.branch_no);
	SfArg		numbers = sf_query_arg(INT8ARRAYOID,
									   PointerGetDatum(construct_array(&number, 1, INT8OID,
																	   sizeof(int64), FLOAT8PASSBYVAL,
																	   TYPALIGN_DOUBLE)), false);

	for (;;)
	{
		ArrayBuildState *children = NULL;

		CHECK_FOR_INTERRUPTS();
		if (sf_store_read(&branches, collect_number, &children, execution, numbers) == 0)
			break;
		numbers.value = makeArrayResult(children, CurrentMemoryContext);
		sf_store_execute(&tasks, execution, numbers);
	}
}

/*
 * Delete a branch whose execution was deleted with its machine, unless another
 * session has the branch locked.
 */
void
sf_branch_delete_orphan(SfBranchKey key)
{
	static SfPlan plan = SF_PLAN(
		"WITH o AS (SELECT b.execution_no, b.branch_no FROM _sfflow.branch b"
		" WHERE b.execution_no" SF_EQ "$1 AND b.branch_no" SF_EQ "$2"
		" AND NOT EXISTS (SELECT FROM _sfflow.execution e"
		"  WHERE e.execution_no" SF_EQ "b.execution_no) FOR UPDATE SKIP LOCKED)"
		" DELETE FROM _sfflow.branch b USING o"
		" WHERE b.execution_no" SF_EQ "o.execution_no AND b.branch_no" SF_EQ "o.branch_no");

	sf_store_execute(&plan, SF_KEY(key));
}

/* Delete every branch of an execution. */
void
sf_branch_delete_all(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"WITH t AS (DELETE FROM _sfflow.task t WHERE t.execution_no" SF_EQ "$1)"
		" DELETE FROM _sfflow.branch b WHERE b.execution_no" SF_EQ "$1");

	sf_store_execute(&plan, SF_INT8(execution_no));
}

/*
 * End the branches of an ended execution, except those that another session has locked:
 * they become ABORTED and not due.  Joins and branches with an answer keep their phase.
 */
void
sf_branch_quiesce(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS ("
		" SELECT b.branch_no FROM _sfflow.branch b"
		"  WHERE b.execution_no" SF_EQ "$1"
		"  AND (b.due_at IS NOT NULL OR b.phase" SF_NE "ALL ($3))"
		"  FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.branch b SET due_at = NULL,"
		"  generation = b.generation OPERATOR(pg_catalog.+) 1,"
		"  phase = CASE WHEN b.phase" SF_EQ "ANY ($2) THEN b.phase ELSE $4 END"
		"  FROM free WHERE b.execution_no" SF_EQ "$1 AND b.branch_no" SF_EQ "free.branch_no");
	static SfPlan deadline = SF_PLAN(
		"DELETE FROM _sfflow.branch b WHERE b.execution_no" SF_EQ "$1"
		" AND b.branch_no" SF_LT "$2");

	sf_store_execute(&deadline, SF_INT8(execution_no), SF_INT8(SF_BRANCH_ROOT));
	sf_store_execute(&plan, SF_INT8(execution_no),
					 SF_INT2S(SF_PHASE_JOIN, SF_PHASE_ANSWERED, SF_PHASE_DONE,
							  SF_PHASE_FAILED, SF_PHASE_ABORTED),
					 SF_INT2S(SF_PHASE_DONE, SF_PHASE_FAILED, SF_PHASE_ABORTED),
					 SF_INT2(SF_PHASE_ABORTED));
}
