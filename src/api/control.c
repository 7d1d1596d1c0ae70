/*
 * control.c
 *		sf_stop(), sf_redrive(), sf_await().
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/arguments.h"
#include "base/errors.h"
#include "engine/lifecycle.h"
#include "engine/slice.h"
#include "store/privilege.h"
#include "store/table.h"
#include "worker/await.h"

PG_FUNCTION_INFO_V1(sfflow_sf_stop);
PG_FUNCTION_INFO_V1(sfflow_sf_redrive);
PG_FUNCTION_INFO_V1(sfflow_sf_await);

/* Find an execution that the caller may operate, and lock it. */
static SfExecution *
operable(const char *id)
{
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_NONE);

	sf_privilege_require(execution->machine_name, execution->owner,
						 SF_PRIVILEGE_OPERATE);
	return sf_arg_execution(execution->execution_id, SF_LOCK_WAIT);
}

/* sf_stop(execution_id, error, cause): the status after. */
Datum
sfflow_sf_stop(PG_FUNCTION_ARGS)
{
	SfExecution *execution = operable(sf_arg_text(fcinfo, 0, "execution_id"));

	sf_slice_refuse_own_stop(execution);
	if (execution->status == SF_STATUS_RUNNING)
		sf_lifecycle_stop(execution, sf_arg_text_or_null(fcinfo, 1),
						  sf_arg_text_or_null(fcinfo, 2));
	PG_RETURN_TEXT_P(cstring_to_text(sf_status_name(execution->status)));
}

/* sf_redrive(execution_id, from_state, input): the redrive count. */
Datum
sfflow_sf_redrive(PG_FUNCTION_ARGS)
{
	SfExecution *execution = operable(sf_arg_text(fcinfo, 0, "execution_id"));
	char	   *from_state = sf_arg_text_or_null(fcinfo, 1);
	Jsonb	   *input = PG_ARGISNULL(2) ? NULL : PG_GETARG_JSONB_P(2);

	if (input != NULL)
		sf_arg_check_size(input, "input");
	if (execution->map_run_no != 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_NOT_REDRIVABLE),
				 errmsg("execution \"%s\" is a child of a Distributed Map and cannot be redriven by itself",
						execution->execution_id),
				 errhint("Redrive its parent: that runs again what has failed.")));
	PG_RETURN_INT32(sf_lifecycle_redrive(execution, from_state, input));
}

/* Read whether the row was written by this transaction. */
static void
read_is_ours(HeapTuple tuple, TupleDesc desc, void *arg)
{
	bool		isnull;
	Datum		xmin = SPI_getbinval(tuple, desc, 1, &isnull);

	*(bool *) arg = TransactionIdIsCurrentTransactionId(DatumGetTransactionId(xmin));
}

/* Refuse to wait for what cannot happen while the caller waits. */
static void
check_can_await(const SfExecution *execution)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.xmin FROM _sfflow.execution e"
		" WHERE e.execution_no OPERATOR(pg_catalog.=) $1", 1, INT8OID);
	Datum		args[1] = {Int64GetDatum(execution->execution_no)};
	bool		ours = false;

	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_SF_CANNOT_AWAIT),
				 errmsg("sf_await cannot see the end of an execution in a transaction of this isolation level"),
				 errhint("Use READ COMMITTED.")));
	sf_store_query(&plan, args, NULL, 1, read_is_ours, &ours);
	if (ours)
		ereport(ERROR,
				(errcode(ERRCODE_SF_CANNOT_AWAIT),
				 errmsg("execution \"%s\" was started or continued by this transaction and runs only when it commits",
						execution->execution_id),
				 errhint("Commit first, or use sf_run().")));
}

/* sf_await(execution_id, timeout): the status at the end, or at the timeout. */
Datum
sfflow_sf_await(PG_FUNCTION_ARGS)
{
	SfExecution *execution = sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"),
											  SF_LOCK_NONE);
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													sf_arg_duration_ms(fcinfo, 1, "timeout"));
	int64		no = execution->execution_no;

	sf_privilege_require(execution->machine_name, execution->owner,
						 SF_PRIVILEGE_READ);
	if (execution->status == SF_STATUS_RUNNING)
		check_can_await(execution);

	while (execution->status == SF_STATUS_RUNNING && sf_await_ended(no, until))
	{
		execution = sf_execution_read(no, SF_LOCK_NONE, false);
		if (execution == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
					 errmsg("the execution was purged while it was waited for")));
	}
	sf_await_done();
	PG_RETURN_TEXT_P(cstring_to_text(sf_status_name(execution->status)));
}
