/*
 * alert.c
 *		Rows of _sfflow.failure, _sfflow.acknowledgement and _sfflow.told_alert.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lock.h"

#include "store/alert.h"

/*
 * Note that an execution has failed or timed out, which is an alert; returns how often it has
 * by now.  0: it is none of a child of a Distributed Map, whose run tolerates failures, or
 * else fails with the execution that has it.
 */
int
sf_alert_note(const SfExecution *execution)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.failure AS f (execution_no, machine_no, times, failed_at, is_open)"
		" VALUES ($1, $2, 1, $3, true) ON CONFLICT (execution_no) DO UPDATE SET"
		" times = f.times OPERATOR(pg_catalog.+) 1, failed_at = excluded.failed_at, is_open = true"
		" RETURNING f.times");

	return execution->map_run_no != 0 ? 0 :
		sf_store_number(&plan, 0, SF_INT8(execution->execution_no), SF_INT4(execution->machine_no),
						SF_TIME(execution->stopped_at));
}

/*
 * Note that an execution that has failed goes on; returns how often it has failed.  0: the
 * alert was acknowledged, or there was none.
 */
int
sf_alert_close(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.failure f SET is_open = false"
		" WHERE f.execution_no" SF_EQ "$1 AND f.is_open RETURNING f.times");

	return sf_store_number(&plan, 0, SF_INT8(execution_no));
}

/*
 * Record acknowledgements of alerts, and close the failures among them.  A failure
 * that comes meanwhile has another time and stays open.
 */
#define ACKNOWLEDGE(which) \
	"WITH a AS MATERIALIZED (SELECT x.execution_no, x.kind, pg_catalog.max(x.since) AS since," \
	"  pg_catalog.array_agg(x.since) FILTER (WHERE x.kind" SF_EQ "'slow_task') AS slow_since" \
	"  FROM _sfflow.alert x WHERE " which " GROUP BY x.execution_no, x.kind)," \
	" noted AS (INSERT INTO _sfflow.acknowledgement AS k" \
	"  (execution_no, kind, since, acknowledged_at, acknowledged_by, comment, slow_since)" \
	"  SELECT a.execution_no, a.kind, a.since, pg_catalog.clock_timestamp(), $3, $4, a.slow_since FROM a" \
	"  ON CONFLICT (execution_no, kind) DO UPDATE SET since = excluded.since," \
	"  acknowledged_at = excluded.acknowledged_at, acknowledged_by = excluded.acknowledged_by," \
	"  comment = excluded.comment, slow_since = excluded.slow_since" \
	"  RETURNING k.execution_no, k.kind, k.since)," \
	" closed AS (UPDATE _sfflow.failure f SET is_open = false FROM a" \
	"  WHERE f.execution_no" SF_EQ "a.execution_no AND f.failed_at" SF_EQ "a.since AND f.is_open" \
	"  AND a.kind" SF_EQ "ANY ('{failed,timed_out,failed_again}'))" \
	" SELECT n.execution_no, n.kind, n.since FROM noted n"

/* Read what was acknowledged. */
static void
append_acknowledged(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfAcknowledged *a = palloc(sizeof(SfAcknowledged));

	a->execution_no = sf_row_number(tuple, desc, 1, 0);
	a->kind = sf_row_text(tuple, desc, 2);
	a->since = sf_row_number(tuple, desc, 3, DT_NOBEGIN);
	*(List **) arg = lappend(*(List **) arg, a);
}

/* Acknowledge alerts of an execution, of one kind or (NULL) of all: a List of SfAcknowledged. */
List *
sf_alert_acknowledge(int64 execution_no, const char *kind, const char *comment)
{
	static SfPlan plan = SF_PLAN(
		ACKNOWLEDGE("x.execution_no" SF_EQ "$1 AND ($2 IS NULL OR x.kind" SF_EQ "$2)"));

	List	   *list = NIL;

	sf_store_read(&plan, append_acknowledged, &list, SF_INT8(execution_no), SF_TEXT(kind),
				  SF_ROLE(GetUserId()), SF_TEXT(comment));
	return list;
}

/* Acknowledge all alerts of a machine's executions since a time or before, likewise. */
List *
sf_alert_acknowledge_all(int machine_no, TimestampTz until, const char *comment)
{
	static SfPlan plan = SF_PLAN(
		ACKNOWLEDGE("x.machine_no" SF_EQ "$1 AND x.since" SF_LE "$2"));

	List	   *list = NIL;

	sf_store_read(&plan, append_acknowledged, &list, SF_INT4(machine_no), SF_TIME(until),
				  SF_ROLE(GetUserId()), SF_TEXT(comment));
	return list;
}

/* --- alerts that time opens --- */

/* Have looks to oneself until the end of the transaction; false: another session looks. */
bool
sf_alert_lock_look(void)
{
	LOCKTAG		tag;

	/* the fourth field differs from that of SQL's advisory locks */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, sf_store_relation("told_alert"), 0, 4);
	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Read an alert that was opened or cleared. */
static void
append_time_alert(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfTimeAlert *a = palloc(sizeof(SfTimeAlert));

	a->kind = sf_row_text(tuple, desc, 1);
	a->object = sf_row_text(tuple, desc, 2);
	a->since = sf_row_number(tuple, desc, 3, DT_NOBEGIN);
	a->execution_no = sf_row_number(tuple, desc, 4, 0);
	a->is_open = sf_row_number(tuple, desc, 5, false);
	a->machine_no = sf_row_number(tuple, desc, 6, 0);
	a->owner = sf_row_number(tuple, desc, 7, InvalidOid);
	*(List **) arg = lappend(*(List **) arg, a);
}

/*
 * Find the alerts that time has opened or cleared since the last look, and note that: a
 * List of SfTimeAlert, of those that were opened SF_TIME_ALERTS_MAX at most.  No write
 * opens them, so they are found by comparing those that there are with those that were
 * told.  One that was acknowledged is not cleared.
 */
List *
sf_alert_look(void)
{
#define SAME_ALERT(x, y) \
	x ".kind" SF_EQ y ".kind AND " x ".object" SF_EQ y ".object" \
	/* of the others there is one at a time, and since goes on with what is oldest */ \
	" AND (" x ".kind" SF_NE "'slow_task' OR " x ".since" SF_EQ y ".since)"
	static SfPlan plan = SF_PLAN(
		"WITH a AS MATERIALIZED (SELECT x.kind COLLATE \"C\" AS kind, x.object COLLATE \"C\" AS object,"
		"  COALESCE(x.since, '-infinity'::pg_catalog.timestamptz) AS since, x.execution_no"
		"  FROM _sfflow.open_alert x WHERE x.kind" SF_EQ
		"  ANY ('{slow_task,overdue,no_poller,missed_run,unknown_owner}')),"
		" gone AS (DELETE FROM _sfflow.told_alert t WHERE NOT EXISTS (SELECT FROM a"
		"  WHERE " SAME_ALERT("a", "t") ")"
		"  RETURNING t.*),"
		" fresh AS (INSERT INTO _sfflow.told_alert AS n (kind, object, since, execution_no)"
		"  SELECT a.kind, a.object, a.since, a.execution_no FROM a WHERE NOT EXISTS"
		"  (SELECT FROM _sfflow.told_alert t WHERE " SAME_ALERT("a", "t") ") LIMIT $1"
		"  ON CONFLICT DO NOTHING RETURNING n.*)"
		" SELECT f.kind, f.object, f.since, f.execution_no, true, NULL, NULL FROM fresh f"
		" UNION ALL SELECT g.kind, g.object, g.since, g.execution_no, false, g.machine_no, g.owner FROM gone g"
		" WHERE NOT EXISTS (SELECT FROM _sfflow.acknowledgement k"
		"  WHERE k.execution_no" SF_EQ "g.execution_no AND k.kind" SF_EQ "g.kind"
		"  AND (g.kind" SF_NE "'slow_task' AND k.since" SF_GE "g.since"
		"   OR g.since" SF_EQ "ANY (k.slow_since)))");
	List	   *alerts = NIL;

	sf_store_read(&plan, append_time_alert, &alerts, SF_INT8(SF_TIME_ALERTS_MAX));
	return alerts;
}

/* Note what an alert is of that was opened, and whose that is: it may be gone when it is cleared. */
void
sf_alert_note_told(const SfTimeAlert *alert, int machine_no, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.told_alert t SET machine_no = $4, owner = $5 WHERE t.kind" SF_EQ "$1"
		" AND t.object" SF_EQ "$2 AND t.since" SF_EQ "$3");

	sf_store_execute(&plan, SF_TEXT(alert->kind), SF_TEXT(alert->object), SF_TIME(alert->since),
					 sf_query_arg(INT4OID, Int32GetDatum(machine_no), machine_no == 0),
					 sf_query_arg(REGROLEOID, ObjectIdGetDatum(owner), !OidIsValid(owner)));
}
