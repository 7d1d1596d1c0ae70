/*
 * direct.c
 *		Find, lock and write single rows without the executor.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "commands/sequence.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "base/errors.h"
#include "store/direct.h"

/* Columns of an index, at most */
#define MAX_KEYS	4

struct SfTable
{
	EState	   *estate;
	ResultRelInfo *rri;
	TupleTableSlot *slot;
	TupleTableSlot *old;		/* the row to be replaced or deleted; at least its tid */
	TupleTableSlot *rows[SF_TABLE_MAX_ROWS];	/* made when first needed */
};

/* Raise that a table or index of _sfflow is not there. */
static void
refuse_missing(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation _sfflow.%s does not exist", name),
			 errhint("Run CREATE EXTENSION sfflow.")));
}

/* The number of a relation of _sfflow. */
static Oid
relation_oid(const char *name)
{
	Oid			oid = sf_store_relation(name);

	if (!OidIsValid(oid))
		refuse_missing(name);
	return oid;
}

/* Open a table of _sfflow; waits for a session that is dropping the extension. */
static Relation
open_relation(const char *name, LOCKMODE lockmode)
{
	Relation	rel = try_table_open(relation_oid(name), lockmode);

	if (rel == NULL)
		refuse_missing(name);
	return rel;
}

/* Draw a number. */
int64
sf_sequence_next(const char *name)
{
	return nextval_internal(relation_oid(name), false);
}

/* --- one row by key --- */

/* Compare the columns of an index with the values of a key; an array: with each of its numbers. */
static void
form_scan_keys(const SfArg *key, int nkeys, ScanKey scan_keys)
{
	Assert(nkeys <= MAX_KEYS);
	for (int i = 0; i < nkeys; i++)
	{
		ScanKeyInit(&scan_keys[i], i + 1, BTEqualStrategyNumber,
					key[i].type == INT8OID ? F_INT8EQ :
					key[i].type == INT4OID || key[i].type == INT4ARRAYOID ? F_INT4EQ :
					key[i].type == BOOLOID ? F_BOOLEQ :
					key[i].type == TIMESTAMPTZOID ? F_TIMESTAMPTZ_EQ : F_TEXTEQ,
					key[i].value);
		scan_keys[i].sk_flags |= key[i].type == INT4ARRAYOID ? SK_SEARCHARRAY : 0;
	}
}

/* Raise that a row has changed since this transaction's snapshot. */
static void
refuse_changed(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent update")));
}

/*
 * Lock the row in a slot, as nodeLockRows.c does; the slot then holds its latest
 * version.  Returns false when another session has locked or deleted it.
 */
static bool
lock_row(Relation rel, Snapshot snapshot, TupleTableSlot *slot, SfLock lock)
{
	ItemPointerData tid = slot->tts_tid;
	TM_FailureData failure;
	uint8		flags = TUPLE_LOCK_FLAG_LOCK_UPDATE_IN_PROGRESS;

	if (!IsolationUsesXactSnapshot())
		flags |= TUPLE_LOCK_FLAG_FIND_LAST_VERSION;
	switch (table_tuple_lock(rel, &tid, snapshot, slot, GetCurrentCommandId(true),
							 LockTupleExclusive,
							 lock == SF_LOCK_SKIP ? LockWaitSkip : LockWaitBlock,
							 flags, &failure))
	{
		case TM_Ok:
			return true;
		case TM_WouldBlock:
		case TM_SelfModified:
			return false;
		case TM_Updated:
		case TM_Deleted:
			if (IsolationUsesXactSnapshot())
				refuse_changed();
			return false;
		default:
			elog(ERROR, "unexpected state of a row of %s", RelationGetRelationName(rel));
	}
	return false;
}

/* Lock the row in a slot and hand it to the reader, if the filter wants it. */
static bool
take_row(Relation rel, Snapshot snapshot, TupleTableSlot *slot, SfLock lock,
		 SfRowFilter filter, SfRowReader reader, void *arg)
{
	TupleDesc	desc = RelationGetDescr(rel);
	bool		ours;

	if (filter != NULL &&
		!filter(ExecFetchSlotHeapTuple(slot, false, &ours), desc, arg))
		return false;
	if (lock != SF_LOCK_NONE)
	{
		if (!lock_row(rel, snapshot, slot, lock))
			return false;
		if (filter != NULL &&
			!filter(ExecFetchSlotHeapTuple(slot, false, &ours), desc, arg))
			return false;
	}
	if (reader != NULL)
		reader(ExecFetchSlotHeapTuple(slot, false, &ours), desc, arg);
	return true;
}

/* A scan of a table by an index */
typedef struct RowScan
{
	Relation	rel;
	Relation	index;
	TupleTableSlot *slot;
	Snapshot	snapshot;
	IndexScanDesc scan;
} RowScan;

/* Begin to scan the rows with a key, or with the first columns of one, that a snapshot sees. */
static void
begin_scan(RowScan *s, const SfIndex *by, LOCKMODE lockmode, Snapshot snapshot,
		   ScanKey scan_keys, int nkeys)
{
	s->rel = open_relation(by->table, lockmode);
	s->index = index_open(relation_oid(by->name), AccessShareLock);
	s->slot = table_slot_create(s->rel, NULL);
	s->snapshot = snapshot->snapshot_type == SNAPSHOT_DIRTY ? snapshot : RegisterSnapshot(snapshot);
	for (int i = 0; i < nkeys; i++)
		scan_keys[i].sk_collation = s->index->rd_indcollation[scan_keys[i].sk_attno - 1];
	s->scan = index_beginscan(s->rel, s->index, s->snapshot SF_INDEX_BEGINSCAN_EXTRA_ARG,
							  nkeys, 0);
	index_rescan(s->scan, scan_keys, nkeys, NULL, 0);
}

/* End a scan.  The lock on the table is kept. */
static void
end_scan(RowScan *s)
{
	ExecDropSingleTupleTableSlot(s->slot);
	index_endscan(s->scan);
	if (s->snapshot->snapshot_type != SNAPSHOT_DIRTY)
		UnregisterSnapshot(s->snapshot);
	index_close(s->index, NoLock);
	table_close(s->rel, NoLock);
}

/* Find the row with a key that a snapshot sees. */
static bool
fetch_row(const SfIndex *by, Snapshot snapshot, SfLock lock, SfRowFilter filter,
		  SfRowReader reader, void *arg, const SfArg *key, int nkeys)
{
	RowScan		s;
	ScanKeyData scan_keys[MAX_KEYS];
	bool		found;

	form_scan_keys(key, nkeys, scan_keys);
	if (lock != SF_LOCK_NONE)
		PreventCommandIfReadOnly("SELECT FOR UPDATE");
	begin_scan(&s, by, lock == SF_LOCK_NONE ? AccessShareLock : RowShareLock, snapshot,
			   scan_keys, nkeys);
	found = index_getnext_slot(s.scan, ForwardScanDirection, s.slot) &&
		take_row(s.rel, s.snapshot, s.slot, lock, filter, reader, arg);
	end_scan(&s);
	return found;
}

/* Find a row by its key; what this transaction has written so far is seen. */
bool
sf_row_fetch_by(const SfIndex *index, SfLock lock, SfRowFilter filter,
				SfRowReader reader, void *arg, const SfArg *key, int nkeys)
{
	return fetch_row(index, GetTransactionSnapshot(), lock, filter, reader, arg, key, nkeys);
}

/* Hand rows of a scan to a reader, in the order of the index; returns their number. */
static int
read_rows(const SfIndex *index, Snapshot snapshot, ScanKey scan_keys, int nkeys,
		  ScanDirection direction, int limit, SfRowReader reader, void *arg)
{
	RowScan		s;
	int			n = 0;

	begin_scan(&s, index, AccessShareLock, snapshot, scan_keys, nkeys);
	while (n < limit && index_getnext_slot(s.scan, direction, s.slot))
	{
		CHECK_FOR_INTERRUPTS();
		(void) take_row(s.rel, s.snapshot, s.slot, SF_LOCK_NONE, NULL, reader, arg);
		n++;
	}
	end_scan(&s);
	return n;
}

/* Hand rows with a key to a reader, as they are after what this statement has written so far. */
void
sf_rows_read_by(const SfIndex *index, int strategy, int limit, SfRowReader reader, void *arg,
				const SfArg *key, int nkeys)
{
	ScanKeyData scan_keys[MAX_KEYS];

	CommandCounterIncrement();
	form_scan_keys(key, nkeys, scan_keys);
	if (strategy != BTEqualStrategyNumber)
		ScanKeyInit(&scan_keys[nkeys - 1], nkeys, strategy,
					strategy == BTLessStrategyNumber ? F_INT4LT : F_INT4GE, key[nkeys - 1].value);
	(void) read_rows(index, GetTransactionSnapshot(), scan_keys, nkeys,
					 ForwardScanDirection, limit, reader, arg);
}

/* Hand rows from a key on, or with it, to a reader; see direct.h. */
int
sf_rows_scan(const SfIndex *index, bool from, int64 key, int limit,
			 SfRowReader reader, void *arg)
{
	ScanKeyData scan_key;

	ScanKeyInit(&scan_key, 1, from ? BTGreaterEqualStrategyNumber : BTEqualStrategyNumber,
				from ? F_INT8GE : F_INT8EQ, Int64GetDatum(key));
	return read_rows(index, GetActiveSnapshot(), &scan_key, 1, ForwardScanDirection, limit, reader, arg);
}

/* Hand rows from a key backwards to a reader; see direct.h. */
int
sf_rows_scan_back(const SfIndex *index, bool latest, int64 key, int32 most, int limit,
				  SfRowReader reader, void *arg)
{
	ScanKeyData scan_keys[2];

	if (latest)
		CommandCounterIncrement();
	ScanKeyInit(&scan_keys[0], 1, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(key));
	ScanKeyInit(&scan_keys[1], 2, BTLessEqualStrategyNumber, F_INT4LE, Int32GetDatum(most));
	return read_rows(index, latest ? GetTransactionSnapshot() : GetActiveSnapshot(),
					 scan_keys, 2, BackwardScanDirection, limit, reader, arg);
}

/* Hand rows to a reader that there are now, at most limit of them. */
void
sf_rows_read_latest(const SfIndex *index, int limit, SfRowReader reader, void *arg)
{
	(void) read_rows(index, GetLatestSnapshot(), NULL, 0, ForwardScanDirection, limit, reader, arg);
}

/* Hand rows to a reader, committed or not; see direct.h. */
int
sf_rows_read_dirty_by(const SfIndex *index, int limit, SfRowReader reader, void *arg,
					  const SfArg *key, int nkeys)
{
	SnapshotData dirty;
	ScanKeyData scan_keys[MAX_KEYS];

	InitDirtySnapshot(dirty);
	form_scan_keys(key, nkeys, scan_keys);
	return read_rows(index, &dirty, scan_keys, nkeys, ForwardScanDirection, limit, reader, arg);
}

/*
 * Tell whether there is a row with a key now that filter (may be NULL) wants: under
 * REPEATABLE READ one that was deleted since the snapshot is gone.
 */
bool
sf_row_is_there(const SfIndex *index, SfRowFilter filter, SfArg key)
{
	return fetch_row(index, GetLatestSnapshot(), SF_LOCK_NONE, filter, NULL, NULL, &key, 1);
}

/*
 * Under REPEATABLE READ, raise 40001 when a row that has a number in a column
 * (counted from 1) was written since the snapshot, which does not show it.
 */
void
sf_table_check_unchanged(const char *name, int column, SfArg number)
{
	Relation	rel;
	Snapshot	latest;
	TupleTableSlot *slot;
	ScanKeyData key;
	TableScanDesc scan;

	if (!IsolationUsesXactSnapshot())
		return;
	rel = open_relation(name, AccessShareLock);
	slot = table_slot_create(rel, NULL);
	latest = RegisterSnapshot(GetLatestSnapshot());
	ScanKeyInit(&key, column, BTEqualStrategyNumber,
				number.type == INT8OID ? F_INT8EQ : F_INT4EQ, number.value);
	scan = table_beginscan(rel, latest, 1, &key);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (!table_tuple_satisfies_snapshot(rel, slot, GetTransactionSnapshot()))
			refuse_changed();
	}
	table_endscan(scan);
	UnregisterSnapshot(latest);
	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, NoLock);
}

/* --- writing --- */

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
	SfStoreIdentity saved;

	if (!has_row_triggers(table))
		return;
	sf_store_enter(&saved);
	AfterTriggerEndQuery(table->estate);
	sf_store_leave(&saved);
	ExecResetTupleTable(table->estate->es_tupleTable, false);
}

/* Open a table with its indexes. */
static SfTable *
open_table(const char *name, int ncolumns, bool speculative)
{
	SfTable    *table = palloc0(sizeof(SfTable));
	Relation	rel;

	PreventCommandIfReadOnly("UPDATE");
	rel = open_relation(name, RowExclusiveLock);
	if (RelationGetNumberOfAttributes(rel) != ncolumns)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table _sfflow.%s does not belong to this version of sfflow", name),
				 errhint("Run ALTER EXTENSION sfflow UPDATE.")));

	table->estate = CreateExecutorState();
	table->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(table->rri, rel, 0, NULL, 0);
	ExecOpenIndices(table->rri, speculative);
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
		refuse_changed();
}

/*
 * Try to insert what is in the table's slot, as ExecInsert() does for ON CONFLICT
 * DO NOTHING.  Returns 1: inserted, 0: the value exists, -1: another session
 * inserted the same value at the same time, try again.
 */
static int
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
		return 0;
	}
	token = SpeculativeInsertionLockAcquire(GetCurrentTransactionId());
	table_tuple_insert_speculative(rel, table->slot, GetCurrentCommandId(true), 0,
								   NULL, token);
	list_free(ExecInsertIndexTuples(table->rri, table->slot, table->estate, false,
									true, &lost, arbiters SF_INSERT_INDEX_EXTRA_ARG));
	table_tuple_complete_speculative(rel, table->slot, token, !lost);
	SpeculativeInsertionLockRelease(GetCurrentTransactionId());
	return lost ? -1 : 1;
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
		int			result;

		fill_slot(table->slot, values + i * ncolumns, nulls + i * ncolumns);
		ExecConstraints(table->rri, table->slot, table->estate);
		while ((result = insert_speculatively(table, arbiters)) < 0)
			CHECK_FOR_INTERRUPTS();
		inserted[i] = result > 0;
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
		list_free(ExecInsertIndexTuples(table->rri, table->rows[i], table->estate,
										false, false, NULL, NIL
										SF_INSERT_INDEX_EXTRA_ARG));
		ExecARInsertTriggers(table->estate, table->rri, table->rows[i], NIL, NULL);
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
}

/* Replace the row at tid, which the caller has locked. */
void
sf_table_update(SfTable *table, ItemPointer tid, Datum *values, bool *nulls)
{
	fill_slot(table->slot, values, nulls);
	table->old->tts_tid = *tid;
	replace_row(table);
}

/* Replace some columns of the row at tid, which the caller has locked. */
void
sf_table_update_columns(SfTable *table, ItemPointer tid, Datum *values,
						bool *nulls, bool *replace)
{
	Relation	rel = table->rri->ri_RelationDesc;
	HeapTuple	tuple;
	bool		ours;

	if (!table_tuple_fetch_row_version(rel, tid, SnapshotAny, table->old))
		elog(ERROR, "a locked row of %s is gone", RelationGetRelationName(rel));
	tuple = heap_modify_tuple(ExecFetchSlotHeapTuple(table->old, false, &ours),
							  RelationGetDescr(rel), values, nulls, replace);
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
