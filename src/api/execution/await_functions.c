/*
 * await_functions.c
 *		sf_await(), CALL sf_wait(): waiting for the end of an execution; CALL sf_wait_change().
 *
 * The query that calls a function holds a snapshot until it ends, and vacuum keeps
 * all row versions since then.  An execution with many items updates few rows many
 * times, and each claim of a branch would have to skip all their old versions.  So
 * sf_await() waits for some minutes only.  The procedure sf_wait() releases the
 * snapshot of its CALL while it waits.
 *
 * Neither holds a lock on a table while it waits.  Otherwise VACUUM FULL would wait
 * for that lock, the workers for VACUUM FULL, and the caller for the workers: a
 * deadlock that the detector does not see.
 */
#include "postgres.h"

#include "access/xact.h"
#include "tcop/pquery.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "db/table.h"
#include "worker/session/await.h"

/* The longest that sf_await() holds a snapshot, milliseconds */
#define MAX_AWAIT_MS		(5 * 60 * 1000)

/* Refuse to wait for what cannot happen while the caller waits. */
static void
check_can_await(const SfExecution *execution)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.xmin FROM _sfflow.execution e WHERE e.execution_no = $1");

	if (TransactionIdIsCurrentTransactionId(sf_db_number(&plan, InvalidTransactionId,
														 SF_INT8(execution->execution_no))))
		ereport(ERROR,
				(errcode(ERRCODE_SF_CANNOT_AWAIT),
				 errmsg("execution \"%s\" was started or continued by this transaction and runs only when it commits",
						execution->execution_id),
				 errhint("Commit first, or use sf_run().")));
}

/*
 * Begin to record locks that will be released before the end of the transaction.
 * Returns the previous resource owner; an error restores it automatically.
 */
static ResourceOwner
note_locks(void)
{
	ResourceOwner outer = CurrentResourceOwner;

	CurrentResourceOwner = ResourceOwnerCreate(outer, "sfflow wait");
	return outer;
}

/* Release the recorded locks, not those that the transaction held before. */
static void
release_locks(ResourceOwner outer)
{
	ResourceOwner own = CurrentResourceOwner;

	CurrentResourceOwner = outer;
	ResourceOwnerRelease(own, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
	ResourceOwnerRelease(own, RESOURCE_RELEASE_LOCKS, false, false);
	ResourceOwnerRelease(own, RESOURCE_RELEASE_AFTER_LOCKS, false, false);
	ResourceOwnerDelete(own);
}

/* Find an execution that the caller may see, and may wait for. */
static SfExecution *
awaitable(const char *id)
{
	ResourceOwner outer = note_locks();
	SfExecution *execution = sf_arg_execution(id, SF_LOCK_NONE, SF_RIGHT_READ);

	if (execution->status == SF_STATUS_RUNNING)
		check_can_await(execution);
	release_locks(outer);
	return execution;
}

/* Read the status of an execution again. */
static SfStatus
read_status(int64 execution_no)
{
	ResourceOwner outer = note_locks();
	SfExecution *execution = sf_execution_read(execution_no, SF_LOCK_NONE, false);

	release_locks(outer);
	if (execution == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
				 errmsg("the execution was purged while it was waited for")));
	return execution->status;
}

/* Refuse to wait where each look has the snapshot of the transaction. */
static void
require_new_snapshots(const char *function)
{
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_SF_CANNOT_AWAIT),
				 errmsg("%s cannot see the end of an execution in a transaction of this isolation level", function),
				 errhint("Use READ COMMITTED.")));
}

/*
 * sf_await(execution_id, timeout): the status at the end, or at the timeout, or
 * after MAX_AWAIT_MS, with a notice.
 */
SF_SQL_FUNCTION(sfflow_sf_await)
{
	int64		timeout_ms = sf_arg_duration_ms(fcinfo, 1, "timeout");
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													Min(timeout_ms, MAX_AWAIT_MS));
	SfExecution *execution = awaitable(sf_arg_text(fcinfo, 0, "execution_id"));
	SfStatus	status = execution->status;

	if (status == SF_STATUS_RUNNING)
		require_new_snapshots("sf_await");
	while (status == SF_STATUS_RUNNING && sf_await_ended(execution->execution_no, until))
		status = read_status(execution->execution_no);
	sf_await_done();
	if (status == SF_STATUS_RUNNING && timeout_ms > MAX_AWAIT_MS)
		ereport(NOTICE,
				(errmsg("sf_await waits for at most %d minutes", MAX_AWAIT_MS / 60000),
				 errdetail("While it waits, its query keeps old versions of rows from being removed."),
				 errhint("CALL sf_wait() waits for any time.")));
	PG_RETURN_TEXT_P(cstring_to_text(sf_status_name(status)));
}

/*
 * Release the snapshots of the CALL, as COMMIT in a procedure does: the one that it
 * runs with, and the one that is kept for toasted values of its result, of which
 * a status has none.  If an enclosing query holds another snapshot, raise an error,
 * because waiting without a snapshot is then impossible.
 */
static void
release_snapshot(const char *procedure)
{
	Portal		portal = ActivePortal;

	if (portal != NULL && portal->portalSnapshot != NULL &&
		ActiveSnapshotSet() && GetActiveSnapshot() == portal->portalSnapshot)
	{
		PopActiveSnapshot();
		portal->portalSnapshot = NULL;
		if (portal->holdSnapshot != NULL)
			UnregisterSnapshotFromOwner(portal->holdSnapshot, portal->resowner);
		portal->holdSnapshot = NULL;
	}
	InvalidateCatalogSnapshot();
	if (HaveRegisteredOrActiveSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_SF_CANNOT_AWAIT),
				 errmsg("%s cannot wait while a query holds a snapshot", procedure),
				 errhint("Call it by itself or from a DO block or procedure; not from a function, in a loop over a query, or in a block with EXCEPTION.")));
}

/* Read an execution with a new snapshot. */
static SfStatus
read_status_anew(int64 execution_no)
{
	SfStatus	status;

	PushActiveSnapshot(GetTransactionSnapshot());
	status = read_status(execution_no);
	PopActiveSnapshot();
	InvalidateCatalogSnapshot();
	return status;
}

/* CALL sf_wait(execution_id, timeout, status): without a snapshot meanwhile. */
SF_SQL_FUNCTION(sfflow_sf_wait)
{
	TimestampTz until = PG_ARGISNULL(1) ? DT_NOEND :
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
									sf_arg_duration_ms(fcinfo, 1, "timeout"));
	SfExecution *execution = awaitable(sf_arg_text(fcinfo, 0, "execution_id"));
	SfStatus	status = execution->status;
	SfColumns	row = {0};

	require_new_snapshots("sf_wait");
	release_snapshot("sf_wait");
	while (status == SF_STATUS_RUNNING && sf_await_ended(execution->execution_no, until))
		status = read_status_anew(execution->execution_no);
	sf_await_done();
	EnsurePortalSnapshotExists();
	sf_columns_text(&row, sf_status_name(status));
	PG_RETURN_DATUM(sf_columns_datum(fcinfo, &row));
}

/*
 * CALL sf_wait_change(seen, timeout, change): until executions have changed since a change
 * that was seen, without a snapshot meanwhile.
 */
SF_SQL_FUNCTION(sfflow_sf_wait_change)
{
	int64		seen = PG_ARGISNULL(0) ? 0 : PG_GETARG_INT64(0);
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), sf_arg_duration_ms(fcinfo, 1, "timeout"));
	SfColumns	row = {0};

	release_snapshot("sf_wait_change");
	seen = sf_await_change(seen, until);
	EnsurePortalSnapshotExists();
	sf_columns_add(&row, Int64GetDatum(seen), false);
	PG_RETURN_DATUM(sf_columns_datum(fcinfo, &row));
}
