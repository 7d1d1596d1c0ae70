/*
 * purge.c (api)
 *		sf_purge(): delete ended executions.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "store/purge.h"

PG_FUNCTION_INFO_V1(sfflow_sf_purge);

/* Executions that one statement deletes */
#define BATCH		1000

/*
 * sf_purge(older_than, max_executions): of the machines that the caller owns,
 * in batches; how many were deleted.
 */
Datum
sfflow_sf_purge(PG_FUNCTION_ARGS)
{
	int64		left = PG_ARGISNULL(1) ? PG_INT64_MAX : PG_GETARG_INT32(1);
	int64		purged = 0;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument older_than must not be null")));
	if (left < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument max_executions must not be negative")));
	while (left > 0)
	{
		int64		count;

		CHECK_FOR_INTERRUPTS();
		count = sf_purge_executions(PG_GETARG_DATUM(0), GetUserId(),
									Min(left, BATCH));
		purged += count;
		left -= count;
		if (count == 0)
			break;
	}
	PG_RETURN_INT64(purged);
}
