/*
 * purge.c
 *		Find ended executions that are to be deleted.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/memutils.h"

#include "db/lock_tag.h"
#include "store/feature.h"
#include "store/feature_tables.h"
#include "store/purge/purge.h"

/*
 * What an ended execution e must fulfil besides.  Nested executions of .sync tasks go when
 * they are old enough themselves; one whose parent still runs stays.  Those of a
 * Distributed Map go after their parent, which takes their results when it is
 * redriven; that waits for those that run again after it has ended.  The position
 * is for the tables of features that freeze executions (prepare).
 */
#define NOT_NEEDED(running) \
	"%s" \
	"  AND NOT EXISTS (SELECT FROM _sfflow.execution p" \
	"   WHERE p.execution_no = e.parent_execution_no" \
	"   AND (p.status = " running " OR e.map_run_no IS NOT NULL))" \
	"  AND NOT EXISTS (SELECT FROM _sfflow.execution c" \
	"   WHERE c.parent_execution_no = e.execution_no" \
	"   AND c.map_run_no IS NOT NULL AND c.status = " running ")"

/*
 * Give a plan its query, of which format has a %s for conditions: that no table of a feature freezes an
 * execution e.
 */
static SfPlan *
prepare(SfPlan *plan, const char *format)
{
	StringInfoData conditions;

	if (plan->query != NULL)
		return plan;
	initStringInfo(&conditions);
	SF_TABLES(table)
		if (table->freezes != NULL)
			appendStringInfo(&conditions, " AND NOT EXISTS (SELECT FROM _sfflow.%s k"
							 " WHERE k.execution_no = e.execution_no)", table->name);
	plan->query = MemoryContextStrdup(TopMemoryContext, psprintf(format, conditions.data));
	return plan;
}

/* Is an execution one of those that must not change? */
static bool
is_frozen(int64 execution_no, const List *frozen)
{
	foreach_ptr(const SfFrozen, f, frozen)
		if (f->execution_no == execution_no)
			return true;
	return false;
}

/* Does a feature retain an execution, as one that a session is holding just now? */
static bool
is_retained(int64 execution_no)
{
	SF_FEATURES(retains, feature)
		if (feature->retains(execution_no))
			return true;
	return false;
}

/* Leave those out of a batch, whose rows are locked, that are frozen, or that a feature retains. */
static void
leave_out(SfPurgeBatch *batch, const List *frozen)
{
	ListCell   *lc;

	foreach(lc, batch->numbers)
	{
		int64		execution_no = *(int64 *) lfirst(lc);
		int			i = foreach_current_index(lc);

		if (!is_frozen(execution_no, frozen) && !is_retained(execution_no))
			continue;
		batch->numbers = foreach_delete_current(batch->numbers, lc);
		if (batch->ids != NIL)
			batch->ids = list_delete_nth_cell(batch->ids, i);
	}
}

/*
 * Delete at most max_rows executions that ended before a time.  The owner of their
 * machine is role, or a role that it is a member of; a program that archives
 * executions of the machine is not passed by.  Returns how many.
 */
int64
sf_purge_executions(TimestampTz ended_before, Oid role, int64 max_rows)
{
	static SfPlan plan;
	static const char query[] =
		"SELECT e.execution_no FROM _sfflow.execution e"
		" JOIN _sfflow.state_machine m ON m.machine_no = e.machine_no"
		" WHERE e.status <> $4"
		" AND e.stopped_at < $1"
		" AND pg_catalog.pg_has_role($2, m.owner::pg_catalog.oid, 'USAGE')"
		" AND NOT EXISTS (SELECT FROM _sfflow.state_machine_version v WHERE v.machine_no = m.machine_no"
		"  AND v.version = m.current_version AND v.options ->> 'archive' LIKE 'activity:%%')"
		NOT_NEEDED("$4")
		" ORDER BY e.execution_no LIMIT $3 FOR UPDATE OF e SKIP LOCKED";
	SfPurgeBatch batch = {0};

	batch.numbers = sf_db_numbers(prepare(&plan, query), SF_TIME(ended_before),
								  sf_query_arg(OIDOID, ObjectIdGetDatum(role), false),
								  SF_INT8(max_rows), SF_INT2(SF_STATUS_RUNNING));
	leave_out(&batch, sf_feature_frozen(batch.numbers));
	return sf_purge_delete(batch.numbers);
}

/* --- by age, machine by machine --- */

#define ROW SfPurgeMachine
SF_RESULT_TYPE(machine_type, SF_PURGE_MACHINE_FIELDS);

/*
 * The machine behind another one by number (SF_NO_MACHINE: the first), of those whose current version names an archive
 * (NULL: of all); NULL: there is none.
 */
SfPurgeMachine *
sf_purge_next_machine(int after, const char *archive)
{
	static SfPlan plan = SF_PLAN(
		"SELECT m.machine_no, m.name, m.owner, v.options FROM _sfflow.state_machine m"
		" JOIN _sfflow.state_machine_version v ON v.machine_no = m.machine_no"
		" AND v.version = m.current_version"
		" WHERE m.machine_no > $1 AND ($2 IS NULL OR v.options ->> 'archive' = $2)"
		" ORDER BY m.machine_no LIMIT 1");

	return sf_db_row(&plan, &machine_type, SF_INT4(after), SF_TEXT(archive));
}

/* Read a position. */
static void
read_position(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_requested_at = 1, COL_began_at, COL_looked_at};
	SfPurgePosition *position = arg;

	position->requested_at = sf_row_number(tuple, desc, COL_requested_at, DT_NOBEGIN);
	position->began_at = sf_row_number(tuple, desc, COL_began_at, DT_NOBEGIN);
	position->looked_at = sf_row_number(tuple, desc, COL_looked_at, 0);
}

/*
 * How far the purge of a machine's executions of a status has come.  A pass that began later than now, by a clock
 * that was ahead, is given up: it would never be old enough for a new one.
 */
SfPurgePosition
sf_purge_position(int machine_no, SfStatus status)
{
	static SfPlan plan = SF_PLAN(
		"SELECT p.requested_at, p.began_at, p.looked_at FROM _sfflow.purge_position p"
		" WHERE p.machine_no = $1 AND p.status = $2");
	const SfPurgePosition begin = {DT_NOBEGIN, GetCurrentTimestamp(), 0};
	SfPurgePosition position = begin;

	sf_db_read(&plan, read_position, &position, SF_INT4(machine_no), SF_INT2(status));
	return position.began_at > begin.began_at ? begin : position;
}

/* Note how far it has come. */
void
sf_purge_set_position(int machine_no, SfStatus status, const SfPurgePosition *position)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.purge_position AS p (machine_no, status, requested_at, began_at, looked_at)"
		" VALUES ($1, $2, $3, $4, $5) ON CONFLICT (machine_no, status) DO UPDATE"
		" SET requested_at = excluded.requested_at, began_at = excluded.began_at, looked_at = excluded.looked_at");

	sf_db_execute(&plan, SF_INT4(machine_no), SF_INT2(status),
				  SF_TIME(position->requested_at), SF_TIME(position->began_at),
				  SF_INT8(position->looked_at));
}

/* Read what a batch has looked at, or an execution of it that is to go. */
void
sf_purge_read_batch(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_number = 1, COL_execution_id, COL_until};
	SfPurgeBatch *batch = arg;

	if (sf_row_text(tuple, desc, COL_execution_id) == NULL)
	{
		batch->looked_at = (int) sf_row_number(tuple, desc, COL_number, 0);
		batch->until = sf_row_number(tuple, desc, COL_until, DT_NOBEGIN);
		return;
	}
	sf_row_append_number(tuple, desc, &batch->numbers);
	batch->ids = lappend(batch->ids, sf_row_text(tuple, desc, COL_execution_id));
}

/*
 * Look at the next executions of a machine and lock those of a status that ended
 * before a time and that no session is holding.  The scan begins behind what earlier
 * batches have looked at, and so behind the index entries of what they have deleted.
 */
void
sf_purge_find(int machine_no, SfStatus status, TimestampTz ended_before, TimestampTz after,
			  int max_rows, SfPurgeBatch *batch)
{
#define NEXT(t) \
	" AND " t ".requested_at > $3 AND " t ".requested_at < $4" \
	" ORDER BY " t ".requested_at FETCH FIRST ($5) ROWS WITH TIES), "
#define LOCK_PURGED \
	"x AS MATERIALIZED (SELECT e.execution_no, e.execution_id FROM s" \
	"  JOIN _sfflow.execution e ON e.execution_no = s.execution_no" \
	"  WHERE e.status = $2 AND e.stopped_at < $4 " NOT_NEEDED("$6") \
	"  FOR UPDATE OF e SKIP LOCKED)" \
	" SELECT pg_catalog.count(*) AS number, NULL::pg_catalog.text AS execution_id," \
	"  pg_catalog.max(s.requested_at) AS until FROM s" \
	" UNION ALL SELECT x.execution_no, x.execution_id, NULL FROM x"
	static SfPlan plan_of_all;
	static SfPlan plan_of_open;
	static const char of_all[] =
		"WITH s AS MATERIALIZED (SELECT e.execution_no, e.requested_at"
		" FROM _sfflow.execution e WHERE e.machine_no = $1" NEXT("e")
		LOCK_PURGED;
	static const char of_open[] =
		"WITH s AS MATERIALIZED (SELECT o.execution_no, o.requested_at"
		" FROM _sfflow.open_execution o WHERE o.machine_no = $1 AND o.status = $2"
		NEXT("o") LOCK_PURGED;
	SfPlan	   *plan = status == SF_STATUS_SUCCEEDED ? prepare(&plan_of_all, of_all) : prepare(&plan_of_open, of_open);

	memset(batch, 0, sizeof(*batch));
	sf_db_read(plan, sf_purge_read_batch, batch,
			   SF_INT4(machine_no), SF_INT2(status), SF_TIME(after),
			   SF_TIME(ended_before), SF_INT8(max_rows), SF_INT2(SF_STATUS_RUNNING));
	leave_out(batch, sf_feature_frozen(batch->numbers));
}

/* Lock executions, frozen ones as well; returns the numbers of those that are there and that no session has. */
List *
sf_purge_lock_executions(const List *numbers)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.execution_no FROM _sfflow.execution e WHERE e.execution_no = ANY ($1)"
		" ORDER BY e.execution_no FOR UPDATE SKIP LOCKED");
	SfPurgeBatch batch = {0};

	if (numbers != NIL)
		batch.numbers = sf_db_numbers(&plan, sf_query_int8s(numbers));
	leave_out(&batch, NIL);
	return batch.numbers;
}

/* The tag of a lock. */
static LOCKTAG
lock_tag(SfPurgeLock lock)
{
	LOCKTAG		tag;

	tag = sf_lock_tag("purge_position", lock);
	return tag;
}

/* Take a lock until the end of the transaction; false: another session has it, and wait is false. */
bool
sf_purge_lock(SfPurgeLock lock, bool wait)
{
	LOCKTAG		tag = lock_tag(lock);

	return LockAcquire(&tag, ExclusiveLock, false, !wait) != LOCKACQUIRE_NOT_AVAIL;
}

/* Give a lock back before the end of the transaction. */
void
sf_purge_unlock(SfPurgeLock lock)
{
	LOCKTAG		tag = lock_tag(lock);

	(void) LockRelease(&tag, ExclusiveLock, false);
}
