/*
 * audit.c
 *		Rows of _sfflow.audit: what operators did.
 *
 * A start has no row: the execution's own row says who started it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "store/audit/audit.h"
#include "store/role/privilege.h"

/* Insert a row; SF_NO_EXECUTION: the action is on the object itself. */
static void
insert(const char *action, SfObjectKind kind, const char *object, int64 execution_no,
	   const char *target, const char *reason, const Jsonb *details)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.audit (at, action, object_kind, object_name, execution_no, target,"
		" role, session_role, reason, details)"
		" VALUES (pg_catalog.clock_timestamp(), $1, $2, $3, $4, $5, $6, $7, $8, $9)");

	sf_db_execute(&plan, SF_TEXT(action), SF_CHAR(kind), SF_TEXT(object),
				  sf_query_arg(INT8OID, Int64GetDatum(execution_no), execution_no == SF_NO_EXECUTION),
				  SF_TEXT(target), SF_TEXT(GetUserNameFromId(GetUserId(), false)),
				  SF_TEXT(GetUserNameFromId(GetSessionUserId(), true)),
				  SF_TEXT(reason), SF_JSONB(details));
}

/*
 * Record an action of the current user on an object of a kind (SF_OBJECT_…), and what
 * it acted on as an operator writes it.  reason and details may be NULL.
 */
void
sf_audit_note(const char *action, SfObjectKind kind, const char *object,
			  const char *target, const char *reason, const Jsonb *details)
{
	insert(action, kind, object, SF_NO_EXECUTION, target, reason, details);
}

/* Record an action on an execution. */
void
sf_audit_note_execution(const SfExecution *execution, const char *action,
						const char *reason, const Jsonb *details)
{
	insert(action, SF_OBJECT_STATE_MACHINE, execution->machine_name, execution->execution_no,
		   execution->execution_id, reason, details);
}

/* Read the time of a redrive. */
static void
read_time(HeapTuple tuple, TupleDesc desc, void *arg)
{
	bool		isnull;
	Datum		at = heap_getattr(tuple, 1, desc, &isnull);

	*(TimestampTz *) arg = isnull ? DT_NOBEGIN : DatumGetTimestampTz(at);
}

/*
 * Find the redrive of an execution that a call with a client token has made; as in the
 * service, the last ten tokens are known, for 15 minutes.  The time is DT_NOBEGIN when the
 * execution kept its own: then only item executions of it were redriven.
 */
bool
sf_audit_find_redrive(int64 execution_no, const char *client_token, TimestampTz *redriven_at)
{
	static SfPlan plan = SF_PLAN(
		"SELECT (t.details ->> 'redriven_at')::pg_catalog.timestamptz FROM ("
		" SELECT a.details FROM _sfflow.audit a WHERE a.execution_no = $1"
		"  AND a.action = 'redrive' AND a.details ? 'client_token'"
		"  AND a.at > (pg_catalog.clock_timestamp() - '15 min'::pg_catalog.interval)"
		"  ORDER BY a.at DESC LIMIT 10) t"
		" WHERE (t.details ->> 'client_token') = $2");

	return sf_db_read(&plan, read_time, redriven_at, SF_INT8(execution_no), SF_TEXT(client_token)) > 0;
}

/* Forget what was done to an object that is dropped, and to its executions. */
void
sf_audit_delete_of_object(SfObjectKind kind, const char *object)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.audit a WHERE a.object_kind = $1 AND a.object_name = $2");

	sf_db_execute(&plan, SF_CHAR(kind), SF_TEXT(object));
}

/* Read when rows were written. */
static void
read_deleted(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_deleted = 1, COL_until};
	SfAuditBatch *batch = arg;

	batch->deleted = (int) sf_row_number(tuple, desc, COL_deleted, 0);
	batch->until = sf_row_number(tuple, desc, COL_until, batch->until);
}

/*
 * Delete the oldest rows that were written before a time, at most max_rows of them.  A batch
 * begins where the one before it ended, and so behind the index entries of what that deleted.
 */
void
sf_audit_purge(TimestampTz before, int max_rows, SfAuditBatch *batch)
{
	static SfPlan plan = SF_PLAN(
		"WITH old AS MATERIALIZED (SELECT a.ctid FROM _sfflow.audit a"
		"  WHERE a.at >= $1 AND a.at < $2 ORDER BY a.at LIMIT $3 FOR UPDATE SKIP LOCKED),"
		" gone AS (DELETE FROM _sfflow.audit a USING old WHERE a.ctid = old.ctid RETURNING a.at)"
		" SELECT pg_catalog.count(*) AS deleted, pg_catalog.max(g.at) AS until FROM gone g");

	sf_db_read(&plan, read_deleted, batch, SF_TIME(batch->until), SF_TIME(before), SF_INT8(max_rows));
}
