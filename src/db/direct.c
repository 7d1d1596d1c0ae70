/*
 * direct.c
 *		Find and lock single rows without the executor; direct_write.c writes them.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "commands/sequence.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/error/errors.h"
#include "base/time/clock.h"
#include "base/version/compat.h"
#include "db/direct.h"
#include "db/direct_internal.h"

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
	Oid			oid = sf_db_relation(name);

	if (!OidIsValid(oid))
		refuse_missing(name);
	return oid;
}

/* Open a table of _sfflow; waits for a session that is dropping the extension. */
Relation
sf_direct_open(const char *name, LOCKMODE lockmode)
{
	Relation	rel = try_table_open(relation_oid(name), lockmode);

	if (rel == NULL)
		refuse_missing(name);
	return rel;
}

/* Open an index of a table that is open. */
Relation
sf_direct_open_index(const char *name)
{
	return index_open(relation_oid(name), AccessShareLock);
}

/* Draw a number. */
int64
sf_sequence_next(const char *name)
{
	return nextval_internal(relation_oid(name), false);
}

/* --- one row by key --- */

/* Compare the columns of an index with the values of a key; an array: with each of its numbers; NULL: is it null? */
void
sf_direct_form_keys(const SfArg *key, int nkeys, ScanKey scan_keys)
{
	Assert(nkeys <= SF_DIRECT_MAX_KEYS);
	for (int i = 0; i < nkeys; i++)
	{
		if (key[i].isnull)
		{
			ScanKeyEntryInitialize(&scan_keys[i], SK_ISNULL | SK_SEARCHNULL, i + 1, InvalidStrategy,
								   InvalidOid, InvalidOid, InvalidOid, (Datum) 0);
			continue;
		}
		ScanKeyInit(&scan_keys[i], i + 1, BTEqualStrategyNumber,
					key[i].type == INT8OID ? F_INT8EQ :
					key[i].type == INT4OID || key[i].type == INT4ARRAYOID ? F_INT4EQ :
					key[i].type == INT2OID ? F_INT2EQ :
					key[i].type == BOOLOID ? F_BOOLEQ :
					key[i].type == CHAROID ? F_CHAREQ :
					key[i].type == OIDOID || key[i].type == REGROLEOID ? F_OIDEQ :
					key[i].type == TIMESTAMPTZOID ? F_TIMESTAMPTZ_EQ : F_TEXTEQ,
					key[i].value);
		scan_keys[i].sk_flags |= key[i].type == INT4ARRAYOID ? SK_SEARCHARRAY : 0;
	}
}

/* Raise that a row has changed since this transaction's snapshot. */
void
sf_direct_refuse_changed(void)
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
				sf_direct_refuse_changed();
			return false;
		default:
			elog(ERROR, "unexpected state of a row of %s", RelationGetRelationName(rel));
	}
	return false;
}

/* Lock the row in a slot and hand it to the reader, if the filter wants it. */
static bool
read_row(Relation rel, Snapshot snapshot, TupleTableSlot *slot, SfLock lock,
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
begin_scan(RowScan *scan, const SfIndex *index, LOCKMODE lockmode, Snapshot snapshot,
		   ScanKey scan_keys, int nkeys)
{
	scan->rel = sf_direct_open(index->table, lockmode);
	scan->index = sf_direct_open_index(index->name);
	scan->slot = table_slot_create(scan->rel, NULL);
	scan->snapshot = snapshot->snapshot_type == SNAPSHOT_DIRTY ? snapshot : RegisterSnapshot(snapshot);
	for (int i = 0; i < nkeys; i++)
		scan_keys[i].sk_collation = scan->index->rd_indcollation[scan_keys[i].sk_attno - 1];
	scan->scan = index_beginscan(scan->rel, scan->index, scan->snapshot SF_INDEX_BEGINSCAN_EXTRA_ARG,
								 nkeys, 0 SF_SCAN_FLAGS_ARG);
	index_rescan(scan->scan, scan_keys, nkeys, NULL, 0);
}

/* End a scan.  The lock on the table is kept. */
static void
end_scan(RowScan *scan)
{
	ExecDropSingleTupleTableSlot(scan->slot);
	index_endscan(scan->scan);
	if (scan->snapshot->snapshot_type != SNAPSHOT_DIRTY)
		UnregisterSnapshot(scan->snapshot);
	index_close(scan->index, NoLock);
	table_close(scan->rel, NoLock);
	sf_yield();
}

/* Find the row with a key that a snapshot sees. */
static bool
fetch_row(const SfIndex *index, Snapshot snapshot, SfLock lock, SfRowFilter filter,
		  SfRowReader reader, void *arg, const SfArg *key, int nkeys)
{
	RowScan		scan;
	ScanKeyData scan_keys[SF_DIRECT_MAX_KEYS];
	bool		found;

	sf_direct_form_keys(key, nkeys, scan_keys);
	if (lock != SF_LOCK_NONE)
		PreventCommandIfReadOnly("SELECT FOR UPDATE");
	begin_scan(&scan, index, lock == SF_LOCK_NONE ? AccessShareLock : RowShareLock, snapshot,
			   scan_keys, nkeys);
	found = index_getnext_slot(scan.scan, ForwardScanDirection, scan.slot) &&
		read_row(scan.rel, scan.snapshot, scan.slot, lock, filter, reader, arg);
	end_scan(&scan);
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
		  ScanDirection direction, int max_rows, SfRowReader reader, void *arg)
{
	RowScan		scan;
	int			n = 0;

	begin_scan(&scan, index, AccessShareLock, snapshot, scan_keys, nkeys);
	while (n < max_rows && index_getnext_slot(scan.scan, direction, scan.slot))
	{
		CHECK_FOR_INTERRUPTS();
		(void) read_row(scan.rel, scan.snapshot, scan.slot, SF_LOCK_NONE, NULL, reader, arg);
		n++;
	}
	end_scan(&scan);
	return n;
}

/* Hand rows with a key to a reader, as they are after what this statement has written so far. */
void
sf_rows_read_by(const SfIndex *index, int max_rows, SfRowReader reader, void *arg,
				const SfArg *key, int nkeys)
{
	ScanKeyData scan_keys[SF_DIRECT_MAX_KEYS];

	CommandCounterIncrement();
	sf_direct_form_keys(key, nkeys, scan_keys);
	(void) read_rows(index, GetTransactionSnapshot(), scan_keys, nkeys,
					 ForwardScanDirection, max_rows, reader, arg);
}

/* Hand rows from a key on, or with it, to a reader; see direct.h. */
int
sf_rows_scan(const SfIndex *index, bool from, int64 key, int max_rows,
			 SfRowReader reader, void *arg)
{
	ScanKeyData scan_key;

	ScanKeyInit(&scan_key, 1, from ? BTGreaterEqualStrategyNumber : BTEqualStrategyNumber,
				from ? F_INT8GE : F_INT8EQ, Int64GetDatum(key));
	return read_rows(index, GetActiveSnapshot(), &scan_key, 1, ForwardScanDirection, max_rows, reader, arg);
}

/* Hand rows from a key backwards to a reader; see direct.h. */
int
sf_rows_scan_back(const SfIndex *index, bool latest, int64 key, int32 most, int max_rows,
				  SfRowReader reader, void *arg)
{
	ScanKeyData scan_keys[2];

	if (latest)
		CommandCounterIncrement();
	ScanKeyInit(&scan_keys[0], 1, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(key));
	ScanKeyInit(&scan_keys[1], 2, BTLessEqualStrategyNumber, F_INT4LE, Int32GetDatum(most));
	return read_rows(index, latest ? GetTransactionSnapshot() : GetActiveSnapshot(),
					 scan_keys, 2, BackwardScanDirection, max_rows, reader, arg);
}

/* Hand rows to a reader that there are now, at most max_rows of them. */
void
sf_rows_read_latest(const SfIndex *index, int max_rows, SfRowReader reader, void *arg)
{
	(void) read_rows(index, GetLatestSnapshot(), NULL, 0, ForwardScanDirection, max_rows, reader, arg);
}

/* Hand rows with a key to a reader that there are now, at most max_rows of them; returns how many. */
int
sf_rows_read_now_by(const SfIndex *index, int max_rows, SfRowReader reader, void *arg,
					const SfArg *key, int nkeys)
{
	ScanKeyData scan_keys[SF_DIRECT_MAX_KEYS];

	sf_direct_form_keys(key, nkeys, scan_keys);
	return read_rows(index, GetLatestSnapshot(), scan_keys, nkeys, ForwardScanDirection, max_rows,
					 reader, arg);
}

/* Hand rows behind a key to a reader that there are now; see direct.h. */
int
sf_rows_read_behind_by(const SfIndex *index, int max_rows, SfRowReader reader, void *arg,
					   const SfArg *key, int nkeys)
{
	ScanKeyData scan_keys[SF_DIRECT_MAX_KEYS];
	const SfArg *last = &key[nkeys - 1];

	sf_direct_form_keys(key, nkeys - 1, scan_keys);
	ScanKeyInit(&scan_keys[nkeys - 1], nkeys, BTGreaterStrategyNumber,
				last->type == INT8OID ? F_INT8GT :
				last->type == INT4OID ? F_INT4GT :
				last->type == TIMESTAMPTZOID ? F_TIMESTAMPTZ_GT : F_TEXT_GT,
				last->value);
	return read_rows(index, GetLatestSnapshot(), scan_keys, nkeys, ForwardScanDirection, max_rows,
					 reader, arg);
}

/*
 * Tell whether there is a row now with the first column of a key.  The last one is looked at
 * first: a caller that deletes all of them one by one mostly begins with the others.
 */
bool
sf_row_is_any_now(const SfIndex *index, SfArg key)
{
	ScanKeyData scan_key;

	sf_direct_form_keys(&key, 1, &scan_key);
	return read_rows(index, GetLatestSnapshot(), &scan_key, 1, BackwardScanDirection, 1, NULL, NULL) > 0;
}

/* Hand rows to a reader, committed or not; see direct.h. */
int
sf_rows_read_dirty_by(const SfIndex *index, int max_rows, SfRowReader reader, void *arg,
					  const SfArg *key, int nkeys)
{
	SnapshotData dirty;
	ScanKeyData scan_keys[SF_DIRECT_MAX_KEYS];

	InitDirtySnapshot(dirty);
	sf_direct_form_keys(key, nkeys, scan_keys);
	return read_rows(index, &dirty, scan_keys, nkeys, ForwardScanDirection, max_rows, reader, arg);
}

/* Hand the last row with a key to a reader, committed or not; see direct.h. */
bool
sf_row_read_dirty_last_by(const SfIndex *index, SfRowReader reader, void *arg, const SfArg *key,
						  int nkeys)
{
	SnapshotData dirty;
	ScanKeyData scan_keys[SF_DIRECT_MAX_KEYS];

	InitDirtySnapshot(dirty);
	sf_direct_form_keys(key, nkeys, scan_keys);
	return read_rows(index, &dirty, scan_keys, nkeys, BackwardScanDirection, 1, reader, arg) > 0;
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
 * (counted from 1), and a text (NULL: any) in another one, was written since the snapshot, which does not show it.
 */
void
sf_table_check_unchanged(const char *name, int column, SfArg number, int text_column, const char *text)
{
	Relation	rel;
	Snapshot	latest;
	TupleTableSlot *slot;
	ScanKeyData key[2];
	TableScanDesc scan;

	if (!IsolationUsesXactSnapshot())
		return;
	rel = sf_direct_open(name, AccessShareLock);
	slot = table_slot_create(rel, NULL);
	latest = RegisterSnapshot(GetLatestSnapshot());
	ScanKeyInit(&key[0], column, BTEqualStrategyNumber,
				number.type == INT8OID ? F_INT8EQ : F_INT4EQ, number.value);
	if (text != NULL)
		ScanKeyInit(&key[1], text_column, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(text));
	scan = table_beginscan(rel, latest, text == NULL ? 1 : 2, key SF_SCAN_FLAGS_ARG);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (!table_tuple_satisfies_snapshot(rel, slot, GetTransactionSnapshot()))
			sf_direct_refuse_changed();
	}
	table_endscan(scan);
	UnregisterSnapshot(latest);
	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, NoLock);
}
