/*
 * alert.c
 *		Rows of _sfflow.failure and _sfflow.acknowledgement.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "store/alert/alert.h"

/* Name the kind of an alert of an execution. */
const char *
sf_alert_kind(SfExecutionAlert alert)
{
	static const char *const words[] = {SF_EXECUTION_ALERT_LIST(SF_EXECUTION_ALERT_WORD)};

	return words[alert];
}

/*
 * Note that an execution has failed or timed out, which is an alert; returns how often it has
 * by now.  0: it is none of an item of a Distributed Map, whose run tolerates failures, or
 * else fails with the execution that has it.
 */
int
sf_alert_note(const SfExecution *execution)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.failure AS f (execution_no, machine_no, times, failed_at, is_open)"
		" VALUES ($1, $2, 1, $3, true) ON CONFLICT (execution_no) DO UPDATE SET"
		" times = f.times + 1, failed_at = excluded.failed_at, is_open = true"
		" RETURNING f.times");

	return sf_execution_is_of_item(execution) ? 0 :
		sf_db_number(&plan, 0, SF_INT8(execution->execution_no), SF_INT4(execution->machine_no),
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
		" WHERE f.execution_no = $1 AND f.is_open RETURNING f.times");

	return sf_db_number(&plan, 0, SF_INT8(execution_no));
}

/*
 * Record acknowledgements of alerts, and close the failures among them.  A failure
 * that comes meanwhile has another time and stays open.
 */
#define ACKNOWLEDGE(which) \
	"WITH a AS MATERIALIZED (SELECT x.execution_no, x.kind, pg_catalog.max(x.since) AS since," \
	"  pg_catalog.array_agg(x.since) FILTER (WHERE x.kind = 'slow_task') AS slow_since" \
	"  FROM _sfflow.alert x WHERE " which " GROUP BY x.execution_no, x.kind)," \
	" noted AS (INSERT INTO _sfflow.acknowledgement AS k" \
	"  (execution_no, kind, since, acknowledged_at, acknowledged_by, comment, slow_since)" \
	"  SELECT a.execution_no, a.kind, a.since, pg_catalog.clock_timestamp(), $3, $4, a.slow_since FROM a" \
	"  ON CONFLICT (execution_no, kind) DO UPDATE SET since = excluded.since," \
	"  acknowledged_at = excluded.acknowledged_at, acknowledged_by = excluded.acknowledged_by," \
	"  comment = excluded.comment, slow_since = excluded.slow_since" \
	"  RETURNING k.execution_no, k.kind, k.since)," \
	" closed AS (UPDATE _sfflow.failure f SET is_open = false FROM a" \
	"  WHERE f.execution_no = a.execution_no AND f.failed_at = a.since AND f.is_open" \
	"  AND a.kind = ANY ('{failed,timed_out,failed_again}'))" \
	" SELECT n.execution_no, n.kind, n.since FROM noted n"

/* Read what was acknowledged. */
static void
append_acknowledged(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_kind, COL_since};
	SfAcknowledged *acknowledged = palloc(sizeof(SfAcknowledged));

	acknowledged->execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	acknowledged->kind = sf_row_text(tuple, desc, COL_kind);
	acknowledged->since = sf_row_number(tuple, desc, COL_since, DT_NOBEGIN);
	*(List **) arg = lappend(*(List **) arg, acknowledged);
}

/* Acknowledge alerts of an execution, of one kind or (NULL) of all: a List of SfAcknowledged. */
List *
sf_alert_acknowledge(int64 execution_no, const char *kind, const char *comment)
{
	static SfPlan plan = SF_PLAN(
		ACKNOWLEDGE("x.execution_no = $1 AND ($2 IS NULL OR x.kind = $2)"));

	List	   *list = NIL;

	sf_db_read(&plan, append_acknowledged, &list, SF_INT8(execution_no), SF_TEXT(kind),
			   SF_ROLE(GetUserId()), SF_TEXT(comment));
	return list;
}

/* List a machine's executions that have alerts since a time or before: numbers. */
List *
sf_alert_list_executions(int machine_no, TimestampTz until)
{
	static SfPlan plan = SF_PLAN(
		"SELECT DISTINCT x.execution_no FROM _sfflow.alert x WHERE x.machine_no = $1 AND x.since <= $2"
		" ORDER BY x.execution_no");

	return sf_db_numbers(&plan, SF_INT4(machine_no), SF_TIME(until));
}

/* Acknowledge all alerts of executions, given by numbers, since a time or before, likewise. */
List *
sf_alert_acknowledge_all(const List *executions, TimestampTz until, const char *comment)
{
	static SfPlan plan = SF_PLAN(
		ACKNOWLEDGE("x.execution_no = ANY ($1) AND x.since <= $2"));

	List	   *list = NIL;

	sf_db_read(&plan, append_acknowledged, &list, sf_query_int8s(executions), SF_TIME(until),
			   SF_ROLE(GetUserId()), SF_TEXT(comment));
	return list;
}
