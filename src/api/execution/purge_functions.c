/*
 * purge_functions.c
 *		sf_purge(), sf_purge_due(): delete ended executions.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "api/columns.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "run/execution/lifecycle.h"
#include "run/slice/dispatch.h"
#include "store/purge/purge.h"
#include "store/role/privilege.h"

/* Executions that one statement deletes */
#define BATCH		1000

/*
 * The time before which an execution must have ended.  An interval of months
 * and days ("1 mon -30 days") may reach into the future in one month only.
 */
static TimestampTz
cutoff(FunctionCallInfo fcinfo)
{
	TimestampTz now = GetCurrentTransactionStartTimestamp();
	TimestampTz at;

	(void) sf_arg_duration_ms(fcinfo, 0, "older_than");
	at = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_mi_interval,
												 TimestampTzGetDatum(now),
												 PG_GETARG_DATUM(0)));
	if (at > now)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument older_than must not reach into the future"),
				 errdetail("It would delete what ended before %s.",
						   timestamptz_to_str(at))));
	return at;
}

/*
 * sf_purge(older_than, max_executions): of the machines that the caller owns,
 * in batches; how many were deleted.
 */
SF_SQL_FUNCTION(sfflow_sf_purge)
{
	TimestampTz ended_before = cutoff(fcinfo);
	int64		left = PG_ARGISNULL(1) ? PG_INT64_MAX : sf_arg_count(fcinfo, 1, "max_executions", 0, 0);
	int64		purged = 0;

	while (left > 0)
	{
		int64		count;

		CHECK_FOR_INTERRUPTS();
		count = sf_purge_executions(ended_before, GetUserId(),
									Min(left, BATCH));
		purged += count;
		left -= count;
		if (count == 0)
			break;
	}
	PG_RETURN_INT64(purged);
}

/*
 * CALL sf_purge_due(): delete what is old enough, in batches with a commit after
 * each; gives how many executions.
 */
SF_SQL_FUNCTION(sfflow_sf_purge_due)
{
	bool		nonatomic = fcinfo->context && IsA(fcinfo->context, CallContext) &&
		!castNode(CallContext, fcinfo->context)->atomic;
	SfRetention sweep = {.caller = nonatomic ? SF_RETENTION_BY_PROCEDURE : SF_RETENTION_BY_TRANSACTION,
	.began_at = GetCurrentTimestamp()};
	SfColumns	row = {0};
	MemoryContext context,
				old;

	sf_privilege_require_administrator("sf_purge_due");
	sf_dispatch_refuse_in_task("sf_purge_due");
	if (SPI_connect_ext(nonatomic ? SPI_OPT_NONATOMIC : 0) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	context = AllocSetContextCreate(CurrentMemoryContext, "sfflow purge", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	while (sf_retention_batch(&sweep))
	{
		MemoryContextReset(context);
		if (nonatomic)
			SPI_commit();
	}
	MemoryContextSwitchTo(old);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	sf_columns_add(&row, Int64GetDatum(sweep.purged), false);
	return sf_columns_datum(fcinfo, &row);
}
