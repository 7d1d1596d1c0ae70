/*
 * scan.c
 *		Read rows with the snapshot of the query that asks.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/resowner.h"

#include "store/scan.h"

/* Rows that are fetched at a time */
#define BATCH 1000

/* Hand the next batch of a cursor to a reader; returns its number of rows. */
static uint64
read_batch(Portal portal, MemoryContext caller, SfRowReader reader, void *arg)
{
	SPITupleTable *rows;
	MemoryContext spi;
	uint64		n;
	uint64		i;

	SPI_cursor_fetch(portal, true, BATCH);
	n = SPI_processed;
	rows = SPI_tuptable;
	spi = MemoryContextSwitchTo(caller);
	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		reader(rows->vals[i], rows->tupdesc, arg);
	}
	MemoryContextSwitchTo(spi);
	SPI_freetuptable(rows);
	return n;
}

/* Run a plan that only reads and hand each row to a reader. */
uint64
sf_scan_run(SfPlan *plan, Datum *args, const char *nulls,
			SfRowReader reader, void *arg)
{
	MemoryContext caller = CurrentMemoryContext;
	SfStoreIdentity saved;
	Portal		portal;
	uint64		total = 0;
	uint64		n;

	sf_store_enter(&saved);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	sf_store_prepare(plan);
	portal = SPI_cursor_open(NULL, plan->plan, args, nulls, true);
	if (portal == NULL)
		elog(ERROR, "SPI_cursor_open failed: %s: %s",
			 SPI_result_code_string(SPI_result), plan->query);
	/* its locks go to the caller's owner of resources, as those of other queries do */
	ResourceOwnerNewParent(portal->resowner, CurrentResourceOwner);
	do
	{
		n = read_batch(portal, caller, reader, arg);
		total += n;
	} while (n == BATCH);
	SPI_cursor_close(portal);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	sf_store_leave(&saved);
	MemoryContextSwitchTo(caller);
	return total;
}
