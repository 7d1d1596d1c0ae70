/*
 * branch.c
 *		Rows of _sfflow.branch: read, lock, write.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/error/debug_point.h"
#include "store/branch/net_job_rows.h"
#include "store/branch/park.h"
#include "store/feature.h"

SF_COLUMN_NUMBERS(SF_BRANCH_COLUMNS);
#define NCOLUMNS	(COL_end - 1)

#define ROW SfBranch
SF_ROW_TYPE(row_type, SF_BRANCH_COLUMNS, branch, 2);

#define SELECT_BRANCH \
	"SELECT " SF_BRANCH_COLUMNS(SF_SELECT) "ctid FROM _sfflow.branch b "

/* Draw the number of a new branch. */
int64
sf_branch_next_no(void)
{
	return sf_sequence_next("branch_no");
}

/* Read a row, with its documents or without them. */
static SfBranch *
read_row(HeapTuple tuple, TupleDesc desc, bool documents)
{
	SfBranch   *branch = palloc0(sizeof(SfBranch));
	bool		isnull;

	if (documents)
		sf_row_read(&row_type, tuple, desc, NCOLUMNS, branch);
	else
		sf_row_read_without(&row_type, tuple, desc, COL_payload, COL_item, branch);
	/* a query returns the address after the columns of the row */
	branch->row.tid = desc->natts == NCOLUMNS ? tuple->t_self :
		*(ItemPointer) DatumGetPointer(heap_getattr(tuple, NCOLUMNS + 1, desc, &isnull));
	return branch;
}

/* Append the branch of a row to a list, or the jobs that share the row. */
static void
append_row(List **list, SfBranch *branch)
{
	*list = sf_branch_is_shared_row(branch) ? sf_branch_unshare_row(*list, branch) : lappend(*list, branch);
}

/* Append a branch to a list. */
static void
append_branch(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfBranch   *branch = read_row(tuple, desc, true);

	branch->row.stored = true;
	branch->row.was_inside = sf_branch_is_inside(branch);
	append_row(arg, branch);
}

/* Append a branch to a list without its documents. */
static void
append_without_documents(HeapTuple tuple, TupleDesc desc, void *arg)
{
	append_row(arg, read_row(tuple, desc, false));
}

/* Read one branch by key; NULL: it is not there, or locked (SF_LOCK_SKIP). */
SfBranch *
sf_branch_read(SfBranchKey key, SfLock lock)
{
	List	   *list = NIL;

	sf_row_fetch(&row_type.key, lock, NULL, append_branch, &list, SF_BRANCH_KEY(key));
	return sf_list_first(list);
}

/* Does a branch wait for a client, in a generation? */
static bool
waits_outside(HeapTuple tuple, TupleDesc desc, void *arg)
{
	return sf_row_number(tuple, desc, COL_phase, -1) == SF_PHASE_EXTERNAL &&
		sf_row_number(tuple, desc, COL_generation, -1) == *(const int *) arg;
}

/* Lock a branch that waits for a client, unless another session has it locked. */
bool
sf_branch_lock_outside(SfBranchKey key, int generation)
{
	return sf_row_fetch(&row_type.key, SF_LOCK_SKIP, waits_outside, NULL, &generation, SF_BRANCH_KEY(key));
}

/*
 * Read the children of a branch, by index.  Not by place, which may change between two calls: what is unparked is so
 * without the lock of its execution.
 */
List *
sf_branch_children(SfBranchKey parent, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		SELECT_BRANCH "WHERE b.execution_no = $1 AND b.parent_no = $2"
		" ORDER BY b.branch_index");

	return sf_db_list(&plans[lock], append_branch, SF_ARGS(SF_BRANCH_KEY(parent)));
}

static const SfIndex by_parent = {"branch", "branch_parent"};

/*
 * Read the rows of jobs of a JobNet: those that wait for others, or those that have begun.  Of these those that are
 * parked are not read: who asks looks for jobs that have ended.
 */
List *
sf_branch_net_jobs(SfBranchKey parent, const List *numbers, bool waiting)
{
	int		   *indexes = palloc(sizeof(int) * Max(list_length(numbers), 1));
	List	   *found = NIL;
	ListCell   *lc;

	foreach(lc, numbers)
		indexes[foreach_current_index(lc)] = lfirst_int(lc);
	sf_rows_read(&by_parent, PG_INT32_MAX, append_branch, &found, SF_BRANCH_KEY(parent),
				 SF_INT2(waiting ? SF_BRANCH_PLACE_WAITS : SF_BRANCH_PLACE_NONE),
				 sf_query_arg(INT4ARRAYOID, sf_int_array_datum(indexes, list_length(numbers)), false));
	pfree(indexes);
	return found;
}

/* Read the jobs of a JobNet that have a row and have not begun. */
List *
sf_branch_net_jobs_to_come(SfBranchKey parent)
{
	List	   *found = sf_branch_ready_net_jobs(parent, PG_INT32_MAX);

	sf_rows_read(&by_parent, PG_INT32_MAX, append_branch, &found, SF_BRANCH_KEY(parent),
				 SF_INT2(SF_BRANCH_PLACE_WAITS));
	return found;
}

/* Read the first jobs of a JobNet that wait for room, by number. */
List *
sf_branch_ready_net_jobs(SfBranchKey parent, int most)
{
	List	   *found = NIL;

	sf_rows_read(&by_parent, most, append_branch, &found, SF_BRANCH_KEY(parent),
				 SF_INT2(SF_BRANCH_PLACE_READY));
	return found;
}

/* Jobs that are looked for in rows that jobs share */
typedef struct Sharing
{
	const List *numbers;		/* NIL: all */
	List	   *found;
} Sharing;

/* Append the jobs that share a row, if one that is looked for is among them. */
static void
append_sharing(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Sharing    *sharing = arg;

	if (sharing->numbers == NIL ||
		sf_branch_is_shared_by(read_row(tuple, desc, false), sharing->numbers))
		append_branch(tuple, desc, &sharing->found);
}

/* Read the jobs of a JobNet that share rows: all, or those of the rows of some numbers. */
List *
sf_branch_net_jobs_of_shared_rows(SfBranchKey parent, const List *numbers)
{
	Sharing		sharing = {.numbers = numbers};

	sf_rows_read(&by_parent, PG_INT32_MAX, append_sharing, &sharing, SF_BRANCH_KEY(parent),
				 SF_INT2(SF_BRANCH_PLACE_SHARED));
	return sharing.found;
}

/* Read every branch of an execution, by number. */
List *
sf_branch_all(int64 execution_no, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		SELECT_BRANCH "WHERE b.execution_no = $1 ORDER BY b.branch_no");

	return sf_db_list(&plans[lock], append_branch, SF_ARGS(SF_INT8(execution_no)));
}

/* Lock and read every branch of an execution; false: another session holds one. */
bool
sf_branch_try_all(int64 execution_no, List **branches)
{
	List	   *all = sf_branch_all(execution_no, SF_LOCK_NONE);

	*branches = sf_branch_all(execution_no, SF_LOCK_SKIP);
	return list_length(*branches) == list_length(all);
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

/* Read a branch with the snapshot of the query that calls (see sf_snapshot_run); NULL: there is none. */
SfBranch *
sf_branch_read_seen(SfBranchKey key)
{
	static SfPlan plan = SF_PLAN(
		SELECT_BRANCH "WHERE b.execution_no = $1 AND b.branch_no = $2");
	List	   *list = NIL;

	sf_snapshot_read(&plan, append_branch, &list, SF_BRANCH_KEY(key));
	return list == NIL ? NULL : linitial(list);
}

/*
 * Read every branch of an execution that is a thread of control, without documents (NULL), with
 * the snapshot of the query that calls (see sf_snapshot_run); also jobs that have no rows.
 */
List *
sf_branch_scan(int64 execution_no, const SfProgram *program)
{
	static SfPlan plan = SF_PLAN(
		SELECT_BRANCH "WHERE b.execution_no = $1 AND b.phase <> ALL ($2)");
	List	   *list = NIL;

	sf_snapshot_read(&plan, append_without_documents, &list, SF_INT8(execution_no),
					 SF_INT2S(SF_PHASES_OF_EXECUTION));
	return sf_branch_imply_all(program, list);
}

/* What a branch is claimed for */
typedef struct Claim
{
	TimestampTz at;
	uint32		also;
	List	   *list;			/* of the one branch */
} Claim;

/* Is a branch due, and of a phase that is claimed without the lock of its execution? */
static bool
is_claimable(HeapTuple tuple, TupleDesc desc, void *arg)
{
	const Claim *claim = arg;
	SfPhase		phase = sf_row_number(tuple, desc, COL_phase, 0);
	TimestampTz due = sf_row_number(tuple, desc, COL_due_at, DT_NOEND);

	if (sf_phase_is_claimed_under_lock(phase))
		return false;
	if (due == DT_NOEND)
		return (claim->also & SF_CLAIM_PARKED) && sf_row_number(tuple, desc, COL_place, 0) == SF_BRANCH_PLACE_PARKED;
	return due <= claim->at || ((claim->also & SF_CLAIM_WAITS) &&
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
 * another session has it locked and lock is SF_LOCK_SKIP.  Joins and timeouts
 * are never claimed so, but read with sf_branch_read() under the lock of their
 * execution (see run/slice/claim.c).  also is SF_CLAIM_…, of what counts as due.
 */
SfBranch *
sf_branch_claim(SfBranchKey key, SfLock lock, TimestampTz at, uint32 also)
{
	Claim		claim = {at, also, NIL};

	sf_row_fetch(&row_type.key, lock, is_claimable, read_claimed, &claim, SF_BRANCH_KEY(key));
	return sf_list_first(claim.list);
}

/* Read the row of a join without its documents. */
SfBranch *
sf_branch_read_join(SfBranchKey key, SfLock lock)
{
	List	   *list = NIL;

	sf_row_fetch(&row_type.key, lock, NULL, append_without_documents, &list, SF_BRANCH_KEY(key));
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

/* When the next branch of an execution is due, as this transaction has it; DT_NOEND: none is. */
TimestampTz
sf_branch_first_due(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.min(b.due_at) FROM _sfflow.branch b WHERE b.execution_no = $1");

	return sf_db_number(&plan, DT_NOEND, SF_INT8(execution_no));
}

/* Write the columns of a join that the end of a child changes. */
void
sf_branch_update_join(SfBranch *join)
{
	static const int changed[] = {
		COL_phase, COL_pending, COL_next_index, COL_max_concurrency, COL_failing, COL_failed_event, COL_transitions,
		COL_error, COL_cause, COL_due_at
	};

	sf_row_replace(&row_type, &join->row.tid, join, changed, lengthof(changed));
	sf_branch_notify_due(join->key, join->owner, join->due_at);
}

typedef struct Outputs
{
	Jsonb	  **outputs;
	int		   *indexes;
	int			count;
	int			size;
	int			last_event;
	bool		shared;			/* jobs share rows */
} Outputs;

/* Append the output of a child. */
static void
append_output(Outputs *outputs, int index, Jsonb *output, int last_event)
{
	if (outputs->count == outputs->size)
	{
		outputs->size *= 2;
		outputs->outputs = repalloc(outputs->outputs, sizeof(Jsonb *) * outputs->size);
		outputs->indexes = repalloc(outputs->indexes, sizeof(int) * outputs->size);
	}
	outputs->indexes[outputs->count] = index;
	outputs->outputs[outputs->count++] = output;
	outputs->last_event = Max(outputs->last_event, last_event);
}

/* Read the output of one child; those of jobs that share a row follow later. */
static void
read_output(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {OUTPUT_payload = 1, OUTPUT_last_event, OUTPUT_branch_index, OUTPUT_place};
	Outputs    *outputs = arg;
	int			index = (int) sf_row_number(tuple, desc, OUTPUT_branch_index, 0);

	if (sf_row_number(tuple, desc, OUTPUT_place, 0) == SF_BRANCH_PLACE_SHARED)
		outputs->shared = true;
	else
		append_output(outputs, index, sf_row_jsonb(tuple, desc, OUTPUT_payload),
					  (int) sf_row_number(tuple, desc, OUTPUT_last_event, 0));
}

/*
 * Read the outputs of the children of a branch, in the order of their index, and these;
 * those of jobs that share rows follow.  *last_event becomes the largest last_event of
 * any child.
 */
Jsonb **
sf_branch_outputs(SfBranchKey parent, int **indexes, int *count, int *last_event)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.payload, b.last_event, b.branch_index, b.place FROM _sfflow.branch b"
		" WHERE b.execution_no = $1 AND b.parent_no = $2"
		" ORDER BY b.place, b.branch_index");
	Outputs		outputs = {palloc(sizeof(Jsonb *) * 64), palloc(sizeof(int) * 64), 0, 64, 0, false};

	sf_db_read(&plan, read_output, &outputs, SF_BRANCH_KEY(parent));
	if (outputs.shared)
	{
		foreach_ptr(const SfBranch, job, sf_branch_net_jobs_of_shared_rows(parent, NIL))
			append_output(&outputs, job->branch_index, sf_branch_output(job), job->last_event);
	}
	*indexes = outputs.indexes;
	*count = outputs.count;
	*last_event = outputs.last_event;
	return outputs.outputs;
}

/* Find the last inner event of the child that ended last; 0 when there is none. */
int
sf_branch_last_inner_event(SfBranchKey parent)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.last_inner_event FROM _sfflow.branch b"
		" WHERE b.execution_no = $1 AND b.parent_no = $2"
		" AND b.phase = $3 ORDER BY b.last_event DESC LIMIT 1");

	return sf_db_number(&plan, 0, SF_BRANCH_KEY(parent), SF_INT2(SF_PHASE_DONE));
}

/* Lay a branch out as its row. */
static void
form_row(const SfBranch *branch, Datum *values, bool *nulls)
{
	sf_row_form(&row_type, branch, values, nulls);
	if (branch->phase == SF_PHASE_RUN && SF_DEBUG_MUTATION("retry_timer"))
	{
		nulls[COL_due_at - 1] = true;
		values[COL_place - 1] = Int16GetDatum(SF_BRANCH_PLACE_PARKED);
	}
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
replace_row(SfTable *table, SfBranch *branch)
{
	Datum		values[NCOLUMNS];
	bool		nulls[NCOLUMNS];

	if (branch->row.gone)
	{
		sf_table_delete(table, &branch->row.tid);
		return;
	}
	form_row(branch, values, nulls);
	sf_table_update(table, &branch->row.tid, values, nulls);
}

/*
 * Have a job that shares a row with others get one of its own: the shared row is gone
 * with the first of them.  A draft that has one of them has all.
 */
static void
leave_shared_row(SfTable *table, SfBranch *branch)
{
	if (!branch->row.shared->row.gone)
		sf_table_delete(table, &branch->row.shared->row.tid);
	branch->row.shared->row.gone = true;
	branch->row.shared = NULL;
	branch->row.stored = false;
	if (!branch->row.gone)
		branch->branch_no = sf_branch_next_no();
}

/* Write branches: replace the rows of those that are stored, then insert the others. */
static void
write_rows(SfTable *table, const List *branches)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "sfflow branch row",
												  ALLOCSET_DEFAULT_SIZES);
	List	   *fresh = NIL;
	List	   *sharing = NIL;
	MemoryContext old;

	foreach_ptr(SfBranch, b, branches)
	{
		if (b->row.shared != NULL)
			leave_shared_row(table, b);
		if (!b->row.stored && !b->row.gone && b->row.is_to_share)
			sharing = lappend(sharing, b);
		else if (!b->row.stored && !b->row.gone)
			fresh = lappend(fresh, b);
		if (!b->row.stored)
			continue;
		old = MemoryContextSwitchTo(scratch);
		replace_row(table, b);
		MemoryContextSwitchTo(old);
		MemoryContextReset(scratch);
	}
	fresh = list_concat(fresh, sf_branch_share_rows(sharing));
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

/*
 * Tell that a branch with a row has left a state that it was inside of.  The three ways out of a state call this: a
 * transition of a slice, after which the branch may be inside of another state before its row is written; a row that is
 * written or deleted; and an answer, which writes a row without its branch.
 */
void
sf_branch_leave_state(SfBranch *branch)
{
	SF_TELL(on_left_state, branch->key);
	branch->row.was_inside = sf_branch_is_inside(branch);
}

/* Insert, update or delete the rows of branches, as stored and gone say. */
void
sf_branch_write(List *branches)
{
	SfTable    *table;

	if (branches == NIL)
		return;
	foreach_ptr(SfBranch, b, branches)
		if (b->row.stored && b->row.was_inside && (b->row.gone || !sf_branch_is_inside(b)))
			sf_branch_leave_state(b);
	table = sf_table_open("branch", NCOLUMNS);
	write_rows(table, branches);
	sf_table_close(table);
	foreach_ptr(SfBranch, b, branches)
	{
		if (b->row.gone)
			continue;
		b->row.stored = true;
		b->row.was_inside = sf_branch_is_inside(b);
		sf_branch_notify_due(b->key, b->owner, b->due_at);
	}
	CommandCounterIncrement();
}

/* Make a branch due later that is due; if another session has locked it, a worker comes again. */
void
sf_branch_put_off(SfBranchKey key, TimestampTz until)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS (SELECT b.branch_no FROM _sfflow.branch b"
		"  WHERE b.execution_no = $1 AND b.branch_no = $2"
		"  AND (b.due_at < $3 OR " SF_IS_PARKED("$4") " AND EXISTS (SELECT FROM _sfflow.parked w"
		"   WHERE w.execution_no = $1 AND w.branch_no = $2 AND " SF_IS_IN_QUEUE "))"
		"  FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.branch b SET due_at = $3, place = DEFAULT FROM free"
		" WHERE b.execution_no = $1 AND b.branch_no = free.branch_no");

	const SfBranch *locked;

	if (sf_db_execute(&plan, SF_BRANCH_KEY(key), SF_TIME(until), SF_PARKED_PLACE) > 0)
		sf_branch_notify_due(key, InvalidOid, until);
	else if ((locked = sf_branch_read_join(key, SF_LOCK_NONE)) != NULL && locked->due_at < until)
		sf_hooks.branch_skipped(key, locked->owner, locked->due_at);
}

/*
 * Set when a branch times out that waits for an answer from outside; DT_NOEND: never.  A task that is announced,
 * because the process that ran it has ended, stays due, so that another one runs it.
 */
void
sf_branch_set_timeout(SfBranchKey key, TimestampTz due)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.branch b SET due_at = $3"
		" WHERE b.execution_no = $1 AND b.branch_no = $2 AND b.phase = $4 RETURNING b.owner");

	/* with the owner: workers look for timers of owners that they know */
	sf_branch_notify_due(key, (Oid) sf_db_number(&plan, InvalidOid, SF_BRANCH_KEY(key), SF_TIME_OR_NULL(due, DT_NOEND),
												 SF_INT2(SF_PHASE_EXTERNAL)), due);
}

/* Read what an answer needs of its branch. */
static void
read_answered(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {ANSWERED_owner = 1, ANSWERED_phase};
	SfBranch   *branch = arg;

	branch->owner = (Oid) sf_row_number(tuple, desc, ANSWERED_owner, InvalidOid);
	branch->phase = (SfPhase) sf_row_number(tuple, desc, ANSWERED_phase, 0);
}

/*
 * Put an answer into a branch: phase ANSWERED or MAP_ANSWERED (sf_branch_answered_phase), due now.  No transition
 * decides that: who answers has locked the branch and not the execution, whose lock it would wait for.  The next slice
 * makes the stimulus of the answer (sf_outside_stimulus).
 */
void
sf_branch_answer(SfBranchKey key, bool ok, const Jsonb *outcome,
				 const char *error, const char *cause)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.branch b SET phase = CASE WHEN b.map_run_no IS NULL THEN $3 ELSE $9 END,"
		" due_at = $4, place = DEFAULT, task_payload = NULL, outcome_failed = $5, outcome = $6, error = $7, cause = $8"
		" WHERE b.execution_no = $1 AND b.branch_no = $2 RETURNING b.owner, b.phase");
	TimestampTz now = GetCurrentTimestamp();
	SfBranch	answered = {.key = key};

	sf_db_read(&plan, read_answered, &answered, SF_BRANCH_KEY(key), SF_INT2(SF_PHASE_ANSWERED), SF_TIME(now),
			   SF_BOOL(!ok), SF_JSONB(outcome), SF_TEXT(error), SF_TEXT(cause), SF_INT2(SF_PHASE_MAP_ANSWERED));
	sf_branch_notify_due(key, answered.owner, now);
	if (!sf_branch_is_inside(&answered))	/* a Map whose items were read still is */
		sf_branch_leave_state(&answered);
}
