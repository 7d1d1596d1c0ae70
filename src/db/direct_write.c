/*
 * direct_write.c
 *		Write single rows without the executor.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/readfuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/error/errors.h"
#include "base/time/clock.h"
#include "base/version/compat.h"
#include "db/direct.h"
#include "db/direct_internal.h"

struct SfTable
{
	EState	   *estate;
	ResultRelInfo *rri;
	TupleTableSlot *slot;
	TupleTableSlot *old;		/* the row to be replaced or deleted; at least its tid */
	TupleTableSlot *rows[SF_TABLE_MAX_ROWS];	/* made when first needed */
};

/* Tell whether a table has triggers that writing a row fires. */
static bool
has_row_triggers(const SfTable *table)
{
	const TriggerDesc *triggers = table->rri->ri_TrigDesc;

	return triggers != NULL &&
		(triggers->trig_insert_before_row || triggers->trig_insert_after_row ||
		 triggers->trig_update_before_row || triggers->trig_update_after_row ||
		 triggers->trig_delete_before_row || triggers->trig_delete_after_row);
}

/*
 * The tables have no triggers for rows.  Triggers that a user adds, such as those
 * of a foreign key to an execution, run as at the end of a query.
 */
static void
begin_triggers(SfTable *table)
{
	if (!has_row_triggers(table))
		return;
	table->estate->es_opened_result_relations = list_make1(table->rri);
	AfterTriggerBeginQuery();
}

/* Run the triggers that rows have queued, as the owner of the tables. */
static void
end_triggers(SfTable *table)
{
	SfDbIdentity saved;

	if (!has_row_triggers(table))
		return;
	sf_db_enter(&saved);
	AfterTriggerEndQuery(table->estate);
	sf_db_leave(&saved);
	ExecResetTupleTable(table->estate->es_tupleTable, false);
}

/* --- check constraints --- */

/* Tables whose check constraints are kept, at most; those of others the executor reads for each use */
#define MAX_CHECKED	16

/*
 * The check constraints of a table, parsed, planned and compiled.  The executor would do that for each use of the
 * table, which costs more than to write a row; a backend does it once, until their text changes.  A constraint that
 * calls a function that is not PostgreSQL's own, which a user can have added, is planned and compiled for each use:
 * such a function can be replaced, can write to the same table, and can keep something for the time of a query.
 */
typedef struct Checks
{
	Oid			table;
	bool		stale;			/* the table may have others since */
	MemoryContext context;		/* of what follows */
	int			count;
	char	  **texts;
	ExprState **compiled;		/* NULL: for each use, if it is enforced at all */
} Checks;

static Checks checked[MAX_CHECKED];
static int	nchecked = 0;

/* Are constraints those that a table has? */
static bool
are_current(const Checks *checks, const TupleConstr *constraints)
{
	if (checks->count != constraints->num_check)
		return false;
	for (int i = 0; i < checks->count; i++)
		if ((checks->compiled[i] != NULL && !SF_IS_ENFORCED(&constraints->check[i])) ||
			strcmp(checks->texts[i], constraints->check[i].ccbin) != 0)
			return false;
	return true;
}

/* Note that the description of a table, or of all (InvalidOid), may have changed. */
static void
note_change(Datum arg, Oid table)
{
	for (int i = 0; i < nchecked; i++)
		if (table == InvalidOid || checked[i].table == table)
			checked[i].stale = true;
}

/* Is a function not one of PostgreSQL's own? */
static bool
is_added(Oid function, void *context)
{
	return function >= FirstUnpinnedObjectId;
}

/*
 * Does an expression call functions that are not PostgreSQL's own, or have what cannot be kept compiled: constraints of
 * a domain, which change by themselves, or a whole row, whose description is that of a query?
 */
static bool
must_compile_anew(Node *node, void *context)
{
	return node != NULL &&
		(IsA(node, CoerceToDomain) || (IsA(node, Var) && ((Var *) node)->varattno == InvalidAttrNumber) ||
		 check_functions_in_node(node, is_added, NULL) || expression_tree_walker(node, must_compile_anew, NULL));
}

/* Plan and compile a constraint in the memory context at hand. */
static ExprState *
compile(Node *constraint)
{
	return ExecInitExpr(expression_planner((Expr *) constraint), NULL);
}

/* Parse, plan and compile the constraints of a table. */
static Checks
read_checks(Oid table, const TupleConstr *constraints)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow check constraints",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Checks		checks = {.table = table,.context = context,.count = constraints->num_check};

	checks.texts = palloc(sizeof(char *) * checks.count);
	checks.compiled = palloc0(sizeof(ExprState *) * checks.count);
	for (int i = 0; i < checks.count; i++)
	{
		Node	   *constraint = stringToNode(constraints->check[i].ccbin);

		checks.texts[i] = pstrdup(constraints->check[i].ccbin);
		if (SF_IS_ENFORCED(&constraints->check[i]) && !must_compile_anew(constraint, NULL))
			checks.compiled[i] = compile(constraint);
	}
	MemoryContextSwitchTo(old);
	MemoryContextSetParent(context, TopMemoryContext);
	return checks;
}

/* Find the constraints of a table, which has some; NULL: those of too many tables are kept. */
static const Checks *
find_checks(Relation rel)
{
	const TupleConstr *constraints = RelationGetDescr(rel)->constr;
	int			i = 0;

	while (i < nchecked && checked[i].table != RelationGetRelid(rel))
		i++;
	if (i < nchecked && (!checked[i].stale || are_current(&checked[i], constraints)))
	{
		checked[i].stale = false;
		return &checked[i];
	}
	if (i == MAX_CHECKED)
		return NULL;
	if (nchecked == 0)
		CacheRegisterRelcacheCallback(note_change, (Datum) 0);
	if (i == nchecked)
		checked[nchecked++] = (Checks) {0};
	else
		MemoryContextDelete(checked[i].context);
	checked[i].table = InvalidOid;	/* until they are read, which may raise an error */
	checked[i] = read_checks(RelationGetRelid(rel), constraints);
	return &checked[i];
}

/* Give the executor the check constraints of a table, which rows that are written have to meet. */
static void
prepare_checks(SfTable *table)
{
	Relation	rel = table->rri->ri_RelationDesc;
	const TupleConstr *constraints = RelationGetDescr(rel)->constr;
	const Checks *checks;
	ExprState **states;
	MemoryContext old;

	if (constraints == NULL || constraints->num_check == 0 || (checks = find_checks(rel)) == NULL)
		return;
	old = MemoryContextSwitchTo(table->estate->es_query_cxt);
	states = palloc0(sizeof(ExprState *) * checks->count);
	for (int i = 0; i < checks->count; i++)
		if (checks->compiled[i] != NULL)
			states[i] = checks->compiled[i];
		else if (SF_IS_ENFORCED(&constraints->check[i]))
			states[i] = compile(stringToNode(checks->texts[i]));
	SF_CHECK_EXPRS(table->rri) = states;
	MemoryContextSwitchTo(old);
}

/* Open a table with its indexes. */
static SfTable *
open_table(const char *name, int ncolumns, bool speculative)
{
	SfTable    *table = palloc0(sizeof(SfTable));
	Relation	rel;

	PreventCommandIfReadOnly("UPDATE");
	rel = sf_direct_open(name, RowExclusiveLock);
	if (RelationGetNumberOfAttributes(rel) != ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table _sfflow.%s does not belong to this version of sfflow", name),
				 errhint("Run ALTER EXTENSION sfflow UPDATE.")));

	table->estate = CreateExecutorState();
	table->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(table->rri, rel, 0, NULL, 0);
	ExecOpenIndices(table->rri, speculative);
	prepare_checks(table);
	begin_triggers(table);
	table->slot = MakeSingleTupleTableSlot(RelationGetDescr(rel),
										   table_slot_callbacks(rel));
	table->old = MakeSingleTupleTableSlot(RelationGetDescr(rel),
										  table_slot_callbacks(rel));
	return table;
}

/* Open a table for writing. */
SfTable *
sf_table_open(const char *name, int ncolumns)
{
	return open_table(name, ncolumns, false);
}

/* Put values into a slot. */
static void
fill_slot(TupleTableSlot *slot, Datum *values, bool *nulls)
{
	int			natts = slot->tts_tupleDescriptor->natts;

	ExecClearTuple(slot);
	memcpy(slot->tts_values, values, sizeof(Datum) * natts);
	memcpy(slot->tts_isnull, nulls, sizeof(bool) * natts);
	ExecStoreVirtualTuple(slot);
}

/* An insert met a key that was there */
static bool collided = false;

/* Whether an insert met a key that is there already. */
bool
sf_table_has_collided(void)
{
	return collided;
}

/* Forget it. */
void
sf_table_forget_collision(void)
{
	collided = false;
}

/* Error context of an insert: note a key that exists already, and add a hint. */
static void
note_collision(void *arg)
{
	if (geterrcode() != ERRCODE_UNIQUE_VIOLATION)
		return;
	collided = true;
	errhint("A sequence of sfflow is behind its table, as after a logical copy: sf_check() tells which one, sf_enable() sets it right.");
}

/* Watch inserts for collisions until the end of the block that has callback. */
static void
watch_collisions(ErrorContextCallback *callback)
{
	callback->callback = note_collision;
	callback->arg = NULL;
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

/* Insert one row. */
void
sf_table_insert(SfTable *table, Datum *values, bool *nulls)
{
	ErrorContextCallback callback;

	fill_slot(table->slot, values, nulls);
	watch_collisions(&callback);
	ExecSimpleRelationInsert(table->rri, table->estate, table->slot);
	error_context_stack = callback.previous;
	ResetPerTupleExprContext(table->estate);
	sf_yield();
}

/*
 * Under REPEATABLE READ, raise 40001 when another transaction has inserted the row
 * at tid since the snapshot.
 */
static void
check_visible(SfTable *table, ItemPointer tid)
{
	Relation	rel = table->rri->ri_RelationDesc;
	TransactionId xmin;
	bool		visible,
				isnull;

	if (!IsolationUsesXactSnapshot() ||
		!table_tuple_fetch_row_version(rel, tid, SnapshotAny, table->old))
		return;
	/* the snapshot does not show what this command has inserted, either */
	xmin = DatumGetTransactionId(slot_getsysattr(table->old, MinTransactionIdAttributeNumber,
												 &isnull));
	visible = TransactionIdIsCurrentTransactionId(xmin) ||
		table_tuple_satisfies_snapshot(rel, table->old, GetTransactionSnapshot());
	ExecClearTuple(table->old);
	if (!visible)
		sf_direct_refuse_changed();
}

/* What has come of an insertion */
typedef enum Insertion
{
	INSERTED,
	NOT_INSERTED,				/* the value exists */
	INSERT_AGAIN				/* another session has inserted the same value at the same time */
} Insertion;

/*
 * Try to insert what is in the table's slot, as ExecInsert() does for ON CONFLICT
 * DO NOTHING.
 */
static Insertion
insert_speculatively(SfTable *table, List *arbiters)
{
	Relation	rel = table->rri->ri_RelationDesc;
	ItemPointerData conflict;
	uint32		token;
	bool		lost = false;

	if (!ExecCheckIndexConstraints(table->rri, table->slot, table->estate, &conflict
								   SF_CHECK_INDEX_EXTRA_ARG, arbiters))
	{
		check_visible(table, &conflict);
		return NOT_INSERTED;
	}
	token = SpeculativeInsertionLockAcquire(GetCurrentTransactionId());
	table_tuple_insert_speculative(rel, table->slot, GetCurrentCommandId(true), 0,
								   NULL, token);
	list_free(sf_insert_index_entries(table->rri, table->slot, table->estate, true, &lost, arbiters));
	table_tuple_complete_speculative(rel, table->slot, token, !lost);
	SpeculativeInsertionLockRelease(GetCurrentTransactionId());
	return lost ? INSERT_AGAIN : INSERTED;
}

/*
 * The unique indexes over one column: several while the index is being built
 * anew, and each of them may be the one that notices a conflict.
 */
static List *
unique_indexes_on(const SfTable *table, int column)
{
	List	   *indexes = NIL;

	for (int i = 0; i < table->rri->ri_NumIndices; i++)
	{
		Relation	index = table->rri->ri_IndexRelationDescs[i];

		if (index->rd_index->indisunique && index->rd_index->indnkeyatts == 1 &&
			index->rd_index->indkey.values[0] == column)
			indexes = lappend_oid(indexes, RelationGetRelid(index));
	}
	return indexes;
}

/*
 * Insert rows, each unless there is one with the same value in a unique column;
 * inserted tells of each.
 */
void
sf_table_insert_new(const char *name, int ncolumns, int unique_column, int nrows,
					Datum *values, bool *nulls, bool *inserted)
{
	SfTable    *table = open_table(name, ncolumns, true);
	List	   *arbiters = unique_indexes_on(table, unique_column);
	ErrorContextCallback callback;

	table->slot->tts_tableOid = RelationGetRelid(table->rri->ri_RelationDesc);
	watch_collisions(&callback);
	for (int i = 0; i < nrows; i++)
	{
		Insertion	result;

		fill_slot(table->slot, values + i * ncolumns, nulls + i * ncolumns);
		ExecConstraints(table->rri, table->slot, table->estate);
		while ((result = insert_speculatively(table, arbiters)) == INSERT_AGAIN)
			CHECK_FOR_INTERRUPTS();
		inserted[i] = result == INSERTED;
		if (inserted[i])
			ExecARInsertTriggers(table->estate, table->rri, table->slot, NIL, NULL);
		ResetPerTupleExprContext(table->estate);
	}
	error_context_stack = callback.previous;
	sf_table_close(table);
	CommandCounterIncrement();
}

/* Insert rows as COPY does: into pages together, into indexes one by one. */
void
sf_table_insert_rows(SfTable *table, int nrows, Datum *values, bool *nulls)
{
	Relation	rel = table->rri->ri_RelationDesc;
	int			natts = RelationGetNumberOfAttributes(rel);
	ErrorContextCallback callback;

	Assert(nrows <= SF_TABLE_MAX_ROWS);
	watch_collisions(&callback);
	for (int i = 0; i < nrows; i++)
	{
		if (table->rows[i] == NULL)
		{
			MemoryContext old = MemoryContextSwitchTo(table->estate->es_query_cxt);

			table->rows[i] = MakeSingleTupleTableSlot(RelationGetDescr(rel),
													  table_slot_callbacks(rel));
			MemoryContextSwitchTo(old);
		}
		fill_slot(table->rows[i], values + i * natts, nulls + i * natts);
		if (rel->rd_att->constr != NULL)
			ExecConstraints(table->rri, table->rows[i], table->estate);
	}
	table_multi_insert(rel, table->rows, nrows, GetCurrentCommandId(true), 0, NULL);
	for (int i = 0; i < nrows; i++)
	{
		list_free(sf_insert_index_entries(table->rri, table->rows[i], table->estate, false, NULL, NIL));
		ExecARInsertTriggers(table->estate, table->rri, table->rows[i], NIL, NULL);
		sf_yield();
	}
	error_context_stack = callback.previous;
	ResetPerTupleExprContext(table->estate);
}

/* Put what is in one slot in the place of the row in the other. */
static void
replace_row(SfTable *table)
{
	EPQState	epq;

	EvalPlanQualInit(&epq, table->estate, NULL, NIL, -1 SF_EPQ_EXTRA_ARG);
	ExecSimpleRelationUpdate(table->rri, table->estate, &epq,
							 table->old, table->slot);
	EvalPlanQualEnd(&epq);
	ResetPerTupleExprContext(table->estate);
	sf_yield();
}

/* Replace the row at tid, which the caller has locked. */
void
sf_table_update(SfTable *table, ItemPointer tid, Datum *values, bool *nulls)
{
	fill_slot(table->slot, values, nulls);
	table->old->tts_tid = *tid;
	replace_row(table);
}

/*
 * Fetch the row at tid, to replace columns of it; NULL: there is none, as this
 * transaction sees the table now.
 */
HeapTuple
sf_table_fetch(SfTable *table, ItemPointer tid, TupleDesc *desc)
{
	bool		ours;

	*desc = RelationGetDescr(table->rri->ri_RelationDesc);
	if (!table_tuple_fetch_row_version(table->rri->ri_RelationDesc, tid, SnapshotSelf,
									   table->old))
		return NULL;
	return ExecFetchSlotHeapTuple(table->old, false, &ours);
}

/* Replace some columns of the row that was fetched last, which the caller has locked. */
void
sf_table_replace_columns(SfTable *table, Datum *values, bool *nulls, bool *replace)
{
	bool		ours;
	HeapTuple	tuple = heap_modify_tuple(ExecFetchSlotHeapTuple(table->old, false, &ours),
										  RelationGetDescr(table->rri->ri_RelationDesc),
										  values, nulls, replace);

	ExecForceStoreHeapTuple(tuple, table->slot, true);
	replace_row(table);
	ExecClearTuple(table->old);
}

/* Delete the row at tid, which the caller has locked. */
void
sf_table_delete(SfTable *table, ItemPointer tid)
{
	EPQState	epq;

	EvalPlanQualInit(&epq, table->estate, NULL, NIL, -1 SF_EPQ_EXTRA_ARG);
	table->old->tts_tid = *tid;
	ExecSimpleRelationDelete(table->rri, table->estate, &epq, table->old);
	EvalPlanQualEnd(&epq);
	sf_yield();
}

/* Close a table; what was written is visible to the next command. */
void
sf_table_close(SfTable *table)
{
	Relation	rel = table->rri->ri_RelationDesc;

	end_triggers(table);
	ExecDropSingleTupleTableSlot(table->slot);
	ExecDropSingleTupleTableSlot(table->old);
	for (int i = 0; i < SF_TABLE_MAX_ROWS && table->rows[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(table->rows[i]);
	ExecCloseIndices(table->rri);
	table_close(rel, NoLock);
	FreeExecutorState(table->estate);
	pfree(table);
}
