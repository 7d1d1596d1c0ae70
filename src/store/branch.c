/*
 * branch.c
 *		Rows of _sfflow.branch: read, lock, write.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/debug_point.h"
#include "base/hooks.h"
#include "store/branch.h"
#include "store/row.h"

/*
 * Columns in the order of the table: number and name; the queries below and
 * the writer are generated from it.
 */
#define BRANCH_COLUMNS(X) \
	X(EXECUTION_NO, "execution_no") \
	X(BRANCH_NO, "branch_no") \
	X(PARENT_NO, "parent_no") \
	X(BRANCH_INDEX, "branch_index") \
	X(SCOPE, "scope") \
	X(STATE, "state") \
	X(PHASE, "phase") \
	X(PRIORITY, "priority") \
	X(OWNER, "owner") \
	X(ATTEMPT, "attempt") \
	X(GENERATION, "generation") \
	X(ENTERED_EVENT, "entered_event") \
	X(LAST_EVENT, "last_event") \
	X(PAYLOAD_EVENT, "payload_event") \
	X(PENDING, "pending") \
	X(NEXT_INDEX, "next_index") \
	X(TOTAL, "total") \
	X(MAX_CONCURRENCY, "max_concurrency") \
	X(FAILED_EVENT, "failed_event") \
	X(TRANSITIONS, "transitions") \
	X(MAP_RUN_NO, "map_run_no") \
	X(FAILING, "failing") \
	X(ABORTING, "aborting") \
	X(UNCATCHABLE, "uncatchable") \
	X(DUE_AT, "due_at") \
	X(ENTERED_AT, "entered_at") \
	X(STARTED_AT, "started_at") \
	X(DEADLINE, "deadline") \
	X(CONCURRENCY_KEY, "concurrency_key") \
	X(ITERATIONS, "iterations") \
	X(RETRY_COUNTS, "retry_counts") \
	X(ERROR, "error") \
	X(CAUSE, "cause") \
	X(PAYLOAD, "payload") \
	X(VARIABLES, "variables") \
	X(RESULT, "result")

#define COLUMN_ENUM(sym, name) COL_##sym,
enum
{
	COL_NONE = 0,
	BRANCH_COLUMNS(COLUMN_ENUM)
	COL_CTID					/* queries return it after the row's columns */
};
#define BRANCH_NCOLUMNS (COL_CTID - 1)

#define COLUMN_SELECT(sym, name) "b." name ", "
#define SELECT_BRANCH \
	"SELECT " BRANCH_COLUMNS(COLUMN_SELECT) "b.ctid FROM _sfflow.branch b "
#define EQ " OPERATOR(pg_catalog.=) "

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

/* Tell whether a branch has ended. */
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

/* Make a branch in memory, due at once, without a row yet. */
SfBranch *
sf_branch_make(int64 execution_no, Oid owner, int64 branch_no)
{
	SfBranch   *branch = palloc0(sizeof(SfBranch));

	branch->key.execution_no = execution_no;
	branch->key.branch_no = branch_no;
	branch->owner = owner;
	branch->parent_no = -1;
	branch->phase = SF_PHASE_ENTER;
	branch->due_at = DT_NOEND;
	branch->entered_at = DT_NOBEGIN;
	branch->started_at = DT_NOBEGIN;
	branch->deadline = DT_NOEND;
	return branch;
}

/* Draw the number of a new branch. */
int64
sf_branch_next_no(void)
{
	return sf_sequence_next("branch_no");
}

/* Read a document; one that is stored out of line is remembered as it is. */
static Jsonb *
read_document(HeapTuple tuple, TupleDesc desc, int column,
			  struct SfStoredDocument *as_read)
{
	bool		isnull;
	Datum		stored = heap_getattr(tuple, column, desc, &isnull);

	if (isnull)
		return NULL;
	as_read->document = DatumGetJsonbPCopy(stored);
	if (VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(stored)))
		as_read->stored = datumCopy(stored, false, -1);
	return as_read->document;
}

/* The datum for a document: the stored one when it has not changed. */
static Datum
document_datum(const Jsonb *document, const struct SfStoredDocument *as_read)
{
	if (document == as_read->document && as_read->stored != (Datum) 0)
		return as_read->stored;
	return JsonbPGetDatum(document);
}

/* Read what a branch and a join of it have in common: small columns. */
static SfBranch *
read_join_columns(HeapTuple tuple, TupleDesc desc)
{
	SfBranch   *b = palloc0(sizeof(SfBranch));

	b->key.execution_no = sf_row_int64(tuple, desc, COL_EXECUTION_NO);
	b->key.branch_no = sf_row_int64(tuple, desc, COL_BRANCH_NO);
	b->state = sf_row_int(tuple, desc, COL_STATE);
	b->phase = sf_row_int(tuple, desc, COL_PHASE);
	b->owner = sf_row_oid(tuple, desc, COL_OWNER);
	b->pending = sf_row_int(tuple, desc, COL_PENDING);
	b->next_index = sf_row_int(tuple, desc, COL_NEXT_INDEX);
	b->total = sf_row_int(tuple, desc, COL_TOTAL);
	b->max_concurrency = sf_row_int(tuple, desc, COL_MAX_CONCURRENCY);
	b->failed_event = sf_row_int(tuple, desc, COL_FAILED_EVENT);
	b->transitions = sf_row_int(tuple, desc, COL_TRANSITIONS);
	b->map_run_no = sf_row_int64(tuple, desc, COL_MAP_RUN_NO);
	b->failing = sf_row_bool(tuple, desc, COL_FAILING);
	b->aborting = sf_row_bool(tuple, desc, COL_ABORTING);
	b->uncatchable = sf_row_bool(tuple, desc, COL_UNCATCHABLE);
	b->due_at = sf_row_time(tuple, desc, COL_DUE_AT, DT_NOEND);
	b->entered_at = sf_row_time(tuple, desc, COL_ENTERED_AT, DT_NOBEGIN);
	b->error = sf_row_text(tuple, desc, COL_ERROR);
	b->cause = sf_row_text(tuple, desc, COL_CAUSE);
	b->tid = *sf_row_address(tuple, desc, COL_CTID);
	return b;
}

/* Read one row into a List of SfBranch. */
static void
read_branch(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **list = arg;
	SfBranch   *b = read_join_columns(tuple, desc);

	b->parent_no = sf_row_is_null(tuple, desc, COL_PARENT_NO) ? -1 :
		sf_row_int64(tuple, desc, COL_PARENT_NO);
	b->branch_index = sf_row_int(tuple, desc, COL_BRANCH_INDEX);
	b->scope = sf_row_int(tuple, desc, COL_SCOPE);
	b->priority = sf_row_int(tuple, desc, COL_PRIORITY);
	b->attempt = sf_row_int(tuple, desc, COL_ATTEMPT);
	b->generation = sf_row_int(tuple, desc, COL_GENERATION);
	b->entered_event = sf_row_int(tuple, desc, COL_ENTERED_EVENT);
	b->last_event = sf_row_int(tuple, desc, COL_LAST_EVENT);
	b->payload_event = sf_row_int(tuple, desc, COL_PAYLOAD_EVENT);
	b->started_at = sf_row_time(tuple, desc, COL_STARTED_AT, DT_NOBEGIN);
	b->deadline = sf_row_time(tuple, desc, COL_DEADLINE, DT_NOEND);
	b->iterations = sf_row_int_array(tuple, desc, COL_ITERATIONS,
									 &b->niterations);
	b->retry_counts = sf_row_int_array(tuple, desc, COL_RETRY_COUNTS,
									   &b->nretries);
	b->payload = read_document(tuple, desc, COL_PAYLOAD, &b->as_read[0]);
	b->variables = read_document(tuple, desc, COL_VARIABLES, &b->as_read[1]);
	b->result = read_document(tuple, desc, COL_RESULT, &b->as_read[2]);
	b->stored = true;
	*list = lappend(*list, b);
}

static const SfKey branch_key = {"branch", "branch_pkey", 2, {INT8OID, INT8OID}};

/* Read one branch by key. */
SfBranch *
sf_branch_read(SfBranchKey key, SfLock lock)
{
	Datum		values[2] = {SF_BRANCH_KEY_DATUMS(key)};
	List	   *list = NIL;

	sf_row_fetch(&branch_key, values, lock, NULL, read_branch, &list);
	return list == NIL ? NULL : linitial(list);
}

/* Read the children of a branch. */
List *
sf_branch_children(SfBranchKey parent, SfLock lock)
{
#define BY_PARENT SELECT_BRANCH "WHERE b.execution_no" EQ "$1 AND b.parent_no" EQ \
	"$2 ORDER BY b.branch_index"
	static SfPlan plans[] = {
		SF_PLAN(BY_PARENT, 2, INT8OID, INT8OID),
		SF_PLAN(BY_PARENT " FOR UPDATE", 2, INT8OID, INT8OID),
		SF_PLAN(BY_PARENT " FOR UPDATE SKIP LOCKED", 2, INT8OID, INT8OID),
	};
	Datum		args[2] = {SF_BRANCH_KEY_DATUMS(parent)};
	List	   *list = NIL;

	sf_store_query(&plans[lock], args, NULL, 0, read_branch, &list);
	return list;
}

/* Read every branch of an execution. */
List *
sf_branch_all(int64 execution_no, SfLock lock)
{
#define BY_EXECUTION SELECT_BRANCH "WHERE b.execution_no" EQ "$1 ORDER BY b.branch_no"
	static SfPlan plans[] = {
		SF_PLAN(BY_EXECUTION, 1, INT8OID),
		SF_PLAN(BY_EXECUTION " FOR UPDATE", 1, INT8OID),
		SF_PLAN(BY_EXECUTION " FOR UPDATE SKIP LOCKED", 1, INT8OID),
	};
	Datum		args[1] = {Int64GetDatum(execution_no)};
	List	   *list = NIL;

	sf_store_query(&plans[lock], args, NULL, 0, read_branch, &list);
	return list;
}

/* What a branch is claimed for */
typedef struct Claim
{
	TimestampTz at;
	bool		skip_waits;
	List	   *list;			/* of the one branch */
} Claim;

/* Is a branch to be had without the lock of its execution, and due? */
static bool
is_claimable(HeapTuple tuple, TupleDesc desc, void *arg)
{
	const Claim *claim = arg;
	SfPhase		phase = sf_row_int(tuple, desc, COL_PHASE);
	TimestampTz due = sf_row_time(tuple, desc, COL_DUE_AT, DT_NOEND);

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
	read_branch(tuple, desc, &((Claim *) arg)->list);
}

/* Lock and read a branch that is due. */
SfBranch *
sf_branch_claim(SfBranchKey key, SfLock lock, TimestampTz at, bool skip_waits)
{
	Datum		values[2] = {SF_BRANCH_KEY_DATUMS(key)};
	Claim		claim = {at, skip_waits, NIL};

	sf_row_fetch(&branch_key, values, lock, is_claimable, read_claimed, &claim);
	return claim.list == NIL ? NULL : linitial(claim.list);
}

/* Read a join: its small columns. */
static void
read_join(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(SfBranch **) arg = read_join_columns(tuple, desc);
}

/* Read what children look at in a join. */
SfBranch *
sf_branch_read_join(SfBranchKey key, SfLock lock)
{
	Datum		values[2] = {SF_BRANCH_KEY_DATUMS(key)};
	SfBranch   *join = NULL;

	sf_row_fetch(&branch_key, values, lock, NULL, read_join, &join);
	return join;
}

/* Write what children change in a join. */
void
sf_branch_update_join(SfBranch *join)
{
	Datum		values[BRANCH_NCOLUMNS] = {0};
	bool		nulls[BRANCH_NCOLUMNS] = {0};
	bool		replace[BRANCH_NCOLUMNS] = {0};
	SfTable    *table;

	SF_REPLACE(PENDING, Int32GetDatum(join->pending));
	SF_REPLACE(FAILING, BoolGetDatum(join->failing));
	SF_REPLACE(FAILED_EVENT, Int32GetDatum(join->failed_event));
	SF_REPLACE(TRANSITIONS, Int32GetDatum(join->transitions));
	SF_REPLACE(UNCATCHABLE, BoolGetDatum(join->uncatchable));
	SF_REPLACE_NULLABLE(ERROR, join->error == NULL, CStringGetTextDatum(join->error));
	SF_REPLACE_NULLABLE(CAUSE, join->cause == NULL, CStringGetTextDatum(join->cause));
	SF_REPLACE_NULLABLE(DUE_AT, join->due_at == DT_NOEND, TimestampTzGetDatum(join->due_at));
	table = sf_table_open("branch", BRANCH_NCOLUMNS);
	sf_table_update_columns(table, &join->tid, values, nulls, replace);
	sf_table_close(table);
	CommandCounterIncrement();
	if (join->due_at != DT_NOEND)
		sf_hooks.due(join->key, join->owner, join->due_at);
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
	o->last_event = Max(o->last_event, sf_row_int(tuple, desc, 2));
}

/* Read the outputs of the children of a branch. */
Jsonb **
sf_branch_outputs(SfBranchKey parent, int *count, int *last_event)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.payload, b.last_event FROM _sfflow.branch b"
		" WHERE b.execution_no" EQ "$1 AND b.parent_no" EQ "$2"
		" ORDER BY b.branch_index", 2, INT8OID, INT8OID);
	Datum		args[2] = {SF_BRANCH_KEY_DATUMS(parent)};
	Outputs		o = {palloc(sizeof(Jsonb *) * 64), 0, 64, 0};

	sf_store_query(&plan, args, NULL, 0, read_output, &o);
	*count = o.count;
	*last_event = o.last_event;
	return o.outputs;
}

/* Find the last inner event of the child that ended last. */
int
sf_branch_last_inner_event(SfBranchKey parent)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.entered_event FROM _sfflow.branch b"
		" WHERE b.execution_no" EQ "$1 AND b.parent_no" EQ "$2 AND b.phase" EQ "7"
		" ORDER BY b.last_event DESC LIMIT 1",
		2, INT8OID, INT8OID);
	Datum		args[2] = {SF_BRANCH_KEY_DATUMS(parent)};
	int			event = 0;

	sf_store_query(&plan, args, NULL, 1, sf_row_read_int, &event);
	return event;
}

/* Lay a branch out as the columns of its row. */
static void
form_branch(const SfBranch *b, Datum *values, bool *nulls)
{
	SF_SET(EXECUTION_NO, Int64GetDatum(b->key.execution_no));
	SF_SET(BRANCH_NO, Int64GetDatum(b->key.branch_no));
	SF_SET_NULLABLE(PARENT_NO, b->parent_no < 0, Int64GetDatum(b->parent_no));
	SF_SET(BRANCH_INDEX, Int32GetDatum(b->branch_index));
	SF_SET(SCOPE, Int32GetDatum(b->scope));
	SF_SET(STATE, Int32GetDatum(b->state));
	SF_SET(PHASE, Int16GetDatum(b->phase));
	SF_SET(PRIORITY, Int16GetDatum(b->priority));
	SF_SET(OWNER, ObjectIdGetDatum(b->owner));
	SF_SET(ATTEMPT, Int32GetDatum(b->attempt));
	SF_SET(GENERATION, Int32GetDatum(b->generation));
	SF_SET(ENTERED_EVENT, Int32GetDatum(b->entered_event));
	SF_SET(LAST_EVENT, Int32GetDatum(b->last_event));
	SF_SET(PAYLOAD_EVENT, Int32GetDatum(b->payload_event));
	SF_SET(PENDING, Int32GetDatum(b->pending));
	SF_SET(NEXT_INDEX, Int32GetDatum(b->next_index));
	SF_SET(TOTAL, Int32GetDatum(b->total));
	SF_SET(MAX_CONCURRENCY, Int32GetDatum(b->max_concurrency));
	SF_SET(FAILED_EVENT, Int32GetDatum(b->failed_event));
	SF_SET(TRANSITIONS, Int32GetDatum(b->transitions));
	SF_SET_NULLABLE(MAP_RUN_NO, b->map_run_no == 0, Int64GetDatum(b->map_run_no));
	SF_SET(FAILING, BoolGetDatum(b->failing));
	SF_SET(ABORTING, BoolGetDatum(b->aborting));
	SF_SET(UNCATCHABLE, BoolGetDatum(b->uncatchable));
	SF_SET_NULLABLE(DUE_AT, b->due_at == DT_NOEND ||
					(b->phase == SF_PHASE_RUN && SF_DEBUG_MUTATION("retry_timer")),
					TimestampTzGetDatum(b->due_at));
	SF_SET_NULLABLE(ENTERED_AT, b->entered_at == DT_NOBEGIN,
					TimestampTzGetDatum(b->entered_at));
	SF_SET_NULLABLE(STARTED_AT, b->started_at == DT_NOBEGIN,
					TimestampTzGetDatum(b->started_at));
	SF_SET_NULLABLE(DEADLINE, b->deadline == DT_NOEND,
					TimestampTzGetDatum(b->deadline));
	SF_SET_NULL(CONCURRENCY_KEY);
	SF_SET_NULLABLE(ITERATIONS, b->niterations == 0,
					sf_int_array_datum(b->iterations, b->niterations));
	SF_SET_NULLABLE(RETRY_COUNTS, b->nretries == 0,
					sf_int_array_datum(b->retry_counts, b->nretries));
	SF_SET_NULLABLE(ERROR, b->error == NULL, CStringGetTextDatum(b->error));
	SF_SET_NULLABLE(CAUSE, b->cause == NULL, CStringGetTextDatum(b->cause));
	SF_SET_NULLABLE(PAYLOAD, b->payload == NULL,
					document_datum(b->payload, &b->as_read[0]));
	SF_SET_NULLABLE(VARIABLES, b->variables == NULL,
					document_datum(b->variables, &b->as_read[1]));
	SF_SET_NULLABLE(RESULT, b->result == NULL,
					document_datum(b->result, &b->as_read[2]));
}

/* Write branches: new ones, changed ones, and those that are gone. */
void
sf_branch_write(List *branches)
{
	MemoryContext scratch,
				old;
	SfTable    *table;
	ListCell   *lc;

	if (branches == NIL)
		return;
	table = sf_table_open("branch", BRANCH_NCOLUMNS);
	scratch = AllocSetContextCreate(CurrentMemoryContext, "sfflow branch row",
									ALLOCSET_DEFAULT_SIZES);
	foreach(lc, branches)
	{
		SfBranch   *b = lfirst(lc);
		Datum		values[BRANCH_NCOLUMNS];
		bool		nulls[BRANCH_NCOLUMNS];

		if (b->gone)
		{
			if (b->stored)
				sf_table_delete(table, &b->tid);
			continue;
		}
		old = MemoryContextSwitchTo(scratch);
		form_branch(b, values, nulls);
		if (b->stored)
			sf_table_update(table, &b->tid, values, nulls);
		else
			sf_table_insert(table, values, nulls);
		MemoryContextSwitchTo(old);
		MemoryContextReset(scratch);
		b->stored = true;
		if (b->due_at != DT_NOEND)
			sf_hooks.due(b->key, b->owner, b->due_at);
	}
	sf_table_close(table);
	MemoryContextDelete(scratch);
	CommandCounterIncrement();
}

/* Make a branch that is due, and that nobody holds, due later. */
void
sf_branch_put_off(SfBranchKey key, TimestampTz until)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS (SELECT b.branch_no FROM _sfflow.branch b"
		"  WHERE b.execution_no" EQ "$1 AND b.branch_no" EQ "$2"
		"  AND b.due_at OPERATOR(pg_catalog.<) $3 FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.branch b SET due_at = $3 FROM free"
		" WHERE b.execution_no" EQ "$1 AND b.branch_no" EQ "free.branch_no",
		3, INT8OID, INT8OID, TIMESTAMPTZOID);
	Datum		args[3] = {SF_BRANCH_KEY_DATUMS(key), TimestampTzGetDatum(until)};

	if (sf_store_query(&plan, args, NULL, 0, NULL, NULL) > 0)
		sf_hooks.due(key, InvalidOid, until);
}

/* Collect the numbers of deleted branches: arg is an ArrayBuildState **. */
static void
collect_number(HeapTuple tuple, TupleDesc desc, void *arg)
{
	ArrayBuildState **numbers = arg;

	*numbers = accumArrayResult(*numbers, Int64GetDatum(sf_row_int64(tuple, desc, 1)),
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
		"DELETE FROM _sfflow.branch b WHERE b.execution_no" EQ "$1"
		" AND b.parent_no" EQ "ANY ($2) RETURNING b.branch_no",
		2, INT8OID, INT8ARRAYOID);
	static SfPlan tasks = SF_PLAN(
		"DELETE FROM _sfflow.task t WHERE t.execution_no" EQ "$1"
		" AND t.branch_no" EQ "ANY ($2)",
		2, INT8OID, INT8ARRAYOID);
	Datum		number = Int64GetDatum(parent.branch_no);
	Datum		args[2] = {Int64GetDatum(parent.execution_no)};

	args[1] = PointerGetDatum(construct_array(&number, 1, INT8OID, sizeof(int64),
											  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	for (;;)
	{
		ArrayBuildState *children = NULL;

		CHECK_FOR_INTERRUPTS();
		if (sf_store_query(&branches, args, NULL, 0, collect_number, &children) == 0)
			break;
		args[1] = makeArrayResult(children, CurrentMemoryContext);
		sf_store_query(&tasks, args, NULL, 0, NULL, NULL);
	}
}

/* Delete a branch whose execution is gone. */
void
sf_branch_delete_orphan(SfBranchKey key)
{
	static SfPlan plan = SF_PLAN(
		"WITH o AS (SELECT b.execution_no, b.branch_no FROM _sfflow.branch b"
		" WHERE b.execution_no" EQ "$1 AND b.branch_no" EQ "$2"
		" AND NOT EXISTS (SELECT FROM _sfflow.execution e"
		"  WHERE e.execution_no" EQ "b.execution_no) FOR UPDATE SKIP LOCKED)"
		" DELETE FROM _sfflow.branch b USING o"
		" WHERE b.execution_no" EQ "o.execution_no AND b.branch_no" EQ "o.branch_no",
		2, INT8OID, INT8OID);
	Datum		args[2] = {SF_BRANCH_KEY_DATUMS(key)};

	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* Delete every branch of an execution. */
void
sf_branch_delete_all(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"WITH t AS (DELETE FROM _sfflow.task t WHERE t.execution_no" EQ "$1)"
		" DELETE FROM _sfflow.branch b WHERE b.execution_no" EQ "$1",
		1, INT8OID);
	Datum		args[1] = {Int64GetDatum(execution_no)};

	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* End what nobody holds of an execution that has ended. */
void
sf_branch_quiesce(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS ("
		" SELECT b.branch_no FROM _sfflow.branch b"
		"  WHERE b.execution_no" EQ "$1"
		"  AND b.due_at IS NOT NULL OR b.execution_no" EQ "$1 AND b.phase"
		"   OPERATOR(pg_catalog.<=) 6"
		"  FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.branch b SET due_at = NULL,"
		"  generation = b.generation OPERATOR(pg_catalog.+) 1,"
		"  phase = CASE WHEN b.phase" EQ "ANY ('{3,5,7,8,9}') THEN b.phase ELSE 9 END"
		"  FROM free WHERE b.execution_no" EQ "$1 AND b.branch_no" EQ "free.branch_no",
		1, INT8OID);
	static SfPlan deadline = SF_PLAN(
		"DELETE FROM _sfflow.branch b WHERE b.execution_no" EQ "$1"
		" AND b.branch_no OPERATOR(pg_catalog.<) 0",
		1, INT8OID);
	Datum		args[1] = {Int64GetDatum(execution_no)};

	sf_store_query(&deadline, args, NULL, 0, NULL, NULL);
	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}
