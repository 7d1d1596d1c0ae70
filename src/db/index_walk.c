/*
 * index_walk.c
 *		Walk the rows of a table back in time by an index, from position to position.
 *
 * A position is looked for among the next rows first, and then from the root of the index: two walks that
 * are about as dense pay a step for each row, and one that is far denser than the other pays for the rows
 * of the other.  Of the table a page is read only where not all of its rows are visible to everyone, as
 * an index-only scan of the executor does.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/time/clock.h"
#include "base/version/compat.h"
#include "db/direct_internal.h"
#include "db/index_walk.h"

/* Rows that are passed over one by one; a search from the root costs about as much */
#define NEAR	8

struct SfWalk
{
	Relation	rel;
	Relation	index;
	TupleTableSlot *slot;
	Snapshot	snapshot;
	IndexScanDesc scan;
	int			nkeys;			/* the columns that are the same in all rows, and the comparison */
	ScanKeyData keys[SF_DIRECT_MAX_KEYS];
	ScanKeyData last[2];		/* the position of the comparison */
	Buffer		map;			/* page of the visibility map */
	bool		is_at;			/* is it at a row? */
	SfWalkPosition at;
};

/* Begin to walk an index. */
SfWalk *
sf_walk_begin(const SfIndex *index, int ncolumns)
{
	SfWalk	   *walk = palloc0(sizeof(SfWalk));

	Assert(ncolumns <= SF_DIRECT_MAX_KEYS);
	walk->nkeys = ncolumns - 1;
	walk->rel = sf_direct_open(index->table, AccessShareLock);
	walk->index = sf_direct_open_index(index->name);
	walk->slot = table_slot_create(walk->rel, NULL);
	walk->snapshot = RegisterSnapshot(GetActiveSnapshot());
	walk->map = InvalidBuffer;
	walk->scan = index_beginscan(walk->rel, walk->index, walk->snapshot SF_INDEX_BEGINSCAN_EXTRA_ARG,
								 walk->nkeys, 0 SF_SCAN_FLAGS_ARG);
	walk->scan->xs_want_itup = true;
	return walk;
}

/* Form the comparison of the last two columns with a position, (time, number) <= (…, …), as the executor does. */
static void
form_comparison(SfWalk *walk)
{
	int			column = walk->nkeys;

	ScanKeyEntryInitialize(&walk->last[0], SK_ROW_MEMBER, column, BTLessEqualStrategyNumber, TIMESTAMPTZOID,
						   InvalidOid, F_TIMESTAMPTZ_CMP, (Datum) 0);
	ScanKeyEntryInitialize(&walk->last[1], SK_ROW_MEMBER | SK_ROW_END, column + 1, BTLessEqualStrategyNumber,
						   INT8OID, InvalidOid, F_BTINT8CMP, (Datum) 0);
	memset(&walk->keys[column - 1], 0, sizeof(ScanKeyData));
	walk->keys[column - 1].sk_flags = SK_ROW_HEADER;
	walk->keys[column - 1].sk_attno = column;
	walk->keys[column - 1].sk_strategy = BTLessEqualStrategyNumber;
	walk->keys[column - 1].sk_argument = PointerGetDatum(walk->last);
}

/* Walk other rows. */
void
sf_walk_among_by(SfWalk *walk, const SfArg *key, int nkeys)
{
	Assert(nkeys == walk->nkeys - 1);
	sf_direct_form_keys(key, nkeys, walk->keys);
	for (int i = 0; i < nkeys; i++)
		walk->keys[i].sk_collation = walk->index->rd_indcollation[i];
	form_comparison(walk);
	walk->is_at = false;
}

/* Tell whether the snapshot sees the row that an entry of the index is of. */
static bool
is_visible(SfWalk *walk, ItemPointer tid)
{
	if (VM_ALL_VISIBLE(walk->rel, ItemPointerGetBlockNumber(tid), &walk->map))
	{
		PredicateLockPage(walk->rel, ItemPointerGetBlockNumber(tid), walk->snapshot);
		return true;
	}
	if (!index_fetch_heap(walk->scan, walk->slot))
		return false;
	ExecClearTuple(walk->slot);
	return true;
}

/* Go to the next row; false: there is none. */
static bool
step(SfWalk *walk)
{
	ItemPointer tid;

	do
	{
		CHECK_FOR_INTERRUPTS();
		tid = index_getnext_tid(walk->scan, BackwardScanDirection);
	} while (tid != NULL && !is_visible(walk, tid));
	walk->is_at = tid != NULL;
	if (walk->is_at)
	{
		TupleDesc	desc = walk->scan->xs_itupdesc;
		bool		isnull;

		walk->at.time = DatumGetTimestampTz(index_getattr(walk->scan->xs_itup, walk->nkeys, desc, &isnull));
		walk->at.number = DatumGetInt64(index_getattr(walk->scan->xs_itup, walk->nkeys + 1, desc, &isnull));
	}
	return walk->is_at;
}

/* Go to the last row that does not stand behind a position. */
bool
sf_walk_to(SfWalk *walk, SfWalkPosition most, SfWalkPosition *found)
{
	int			left = NEAR;

	while (walk->is_at && sf_walk_compare(walk->at, most) > 0 && left-- > 0)
		if (!step(walk))
			return false;
	if (!walk->is_at || sf_walk_compare(walk->at, most) > 0)
	{
		walk->last[0].sk_argument = TimestampTzGetDatum(most.time);
		walk->last[1].sk_argument = Int64GetDatum(most.number);
		index_rescan(walk->scan, walk->keys, walk->nkeys, NULL, 0);
		if (!step(walk))
			return false;
	}
	*found = walk->at;
	return true;
}

/* End a walk.  The lock on the table is kept. */
void
sf_walk_end(SfWalk *walk)
{
	if (BufferIsValid(walk->map))
		ReleaseBuffer(walk->map);
	ExecDropSingleTupleTableSlot(walk->slot);
	index_endscan(walk->scan);
	UnregisterSnapshot(walk->snapshot);
	index_close(walk->index, NoLock);
	table_close(walk->rel, NoLock);
	pfree(walk);
	sf_yield();
}
