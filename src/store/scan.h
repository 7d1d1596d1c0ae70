/*
 * scan.h
 *		Read rows with the snapshot of the query that asks.
 *
 * sf_store_query (table.h) sees what the transaction did a moment ago, which
 * the engine needs.  What a view shows must be of one snapshot, and may be far
 * more than fits in memory.
 */
#ifndef SF_STORE_SCAN_H
#define SF_STORE_SCAN_H

#include "store/table.h"

/*
 * Run a plan that only reads, as the extension's owner, with the active
 * snapshot; rows go to reader one by one, in the caller's memory context, and
 * are fetched batch by batch.  The reader runs as the extension's owner.
 * Returns the number of rows.
 */
extern uint64 sf_scan_run(SfPlan *plan, Datum *args, const char *nulls,
						  SfRowReader reader, void *arg);

#endif							/* SF_STORE_SCAN_H */
