/*
 * time_alerts.c
 *		Telling rules of the alerts that time opens and clears.
 */
#include "postgres.h"

#include "storage/lock.h"
#include "utils/timestamp.h"

#include "base/name/name.h"
#include "db/lock_tag.h"
#include "feature/rule/watcher.h"
#include "store/feature.h"
#include "store/state_machine/machine.h"
#include "store/task/task.h"

/* An alert that time has opened, or cleared */
typedef struct TimeAlert
{
	char	   *kind;
	char	   *object;			/* its execution, activity, schedule or machine */
	TimestampTz since;			/* DT_NOBEGIN: not known */
	int64		execution_no;	/* or SF_NO_EXECUTION */
	char	   *target;			/* of one of no execution, as sf_alerts has it */
	int			machine_no;		/* cleared: what it was of when it was opened, or SF_NO_MACHINE */
	Oid			owner;			/* ... and whose */
	bool		is_open;		/* else cleared */
} TimeAlert;

/* What the target of an alert of an activity begins with */
#define OF_ACTIVITY	"activity:"

/* Alerts that one sweep tells of */
#define MOST_OPENED	1000

/* --- rows of _sfflow.told_alert: the alerts that rules were told of --- */

/* Have sweeps to oneself until the end of the transaction; false: another session sweeps. */
static bool
lock_sweep(void)
{
	LOCKTAG		tag;

	tag = sf_lock_tag("told_alert", 0);
	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Read an alert that was opened or cleared. */
static void
append_time_alert(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_kind = 1, COL_object, COL_since, COL_execution_no, COL_is_open, COL_machine_no, COL_owner,
		COL_target};
	TimeAlert *alert = palloc(sizeof(TimeAlert));

	alert->kind = sf_row_text(tuple, desc, COL_kind);
	alert->object = sf_row_text(tuple, desc, COL_object);
	alert->since = sf_row_number(tuple, desc, COL_since, DT_NOBEGIN);
	alert->execution_no = sf_row_number(tuple, desc, COL_execution_no, SF_NO_EXECUTION);
	alert->is_open = sf_row_number(tuple, desc, COL_is_open, false);
	alert->machine_no = sf_row_number(tuple, desc, COL_machine_no, SF_NO_MACHINE);
	alert->owner = sf_row_number(tuple, desc, COL_owner, InvalidOid);
	alert->target = sf_row_text(tuple, desc, COL_target);
	*(List **) arg = lappend(*(List **) arg, alert);
}

/*
 * Find the alerts that time has opened or cleared since the last sweep, and note that: a
 * List of TimeAlert, of those that were opened MOST_OPENED at most.  No write
 * opens them, so they are found by comparing those that there are with those that were
 * told.  One that was acknowledged is not cleared.
 */
static List *
find_changed(void)
{
#define SAME_ALERT(x, y) \
	x ".kind = " y ".kind AND " x ".object = " y ".object" \
	/* of the others there is one at a time, and since goes on with what is oldest */ \
	" AND (" x ".kind <> 'slow_task' OR " x ".since = " y ".since)"
	static SfPlan plan = SF_PLAN(
		"WITH a AS MATERIALIZED (SELECT x.kind COLLATE \"C\" AS kind, x.object COLLATE \"C\" AS object,"
		"  COALESCE(x.since, '-infinity'::pg_catalog.timestamptz) AS since, x.execution_no,"
		"  x.target FROM _sfflow.open_alert x WHERE x.by_time),"
		" gone AS (DELETE FROM _sfflow.told_alert t WHERE NOT EXISTS (SELECT FROM a"
		"  WHERE " SAME_ALERT("a", "t") ")"
		"  RETURNING t.*),"
		" fresh AS (INSERT INTO _sfflow.told_alert AS n (kind, object, since, execution_no, target)"
		"  SELECT a.kind, a.object, a.since, a.execution_no, a.target FROM a WHERE NOT EXISTS"
		"  (SELECT FROM _sfflow.told_alert t WHERE " SAME_ALERT("a", "t") ") LIMIT $1"
		"  ON CONFLICT DO NOTHING RETURNING n.*)"
		" SELECT f.kind, f.object, f.since, f.execution_no, true AS is_open, NULL AS machine_no,"
		" NULL AS owner, f.target FROM fresh f"
		" UNION ALL SELECT g.kind, g.object, g.since, g.execution_no, false, g.machine_no, g.owner, g.target"
		" FROM gone g"
		" WHERE NOT EXISTS (SELECT FROM _sfflow.acknowledgement k"
		"  WHERE k.execution_no = g.execution_no AND k.kind = g.kind"
		"  AND (g.kind <> 'slow_task' AND k.since >= g.since"
		"   OR g.since = ANY (k.slow_since)))");
	List	   *alerts = NIL;

	sf_db_read(&plan, append_time_alert, &alerts, SF_INT8(MOST_OPENED));
	return alerts;
}

/* Note what an alert is of that was opened, and whose that is: it may be gone when it is cleared. */
static void
note_told(const TimeAlert *alert, int machine_no, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.told_alert t SET machine_no = $4, owner = $5 WHERE t.kind = $1"
		" AND t.object = $2 AND t.since = $3");

	sf_db_execute(&plan, SF_TEXT(alert->kind), SF_TEXT(alert->object), SF_TIME(alert->since),
				  sf_query_arg(INT4OID, Int32GetDatum(machine_no), machine_no == SF_NO_MACHINE),
				  sf_query_arg(REGROLEOID, ObjectIdGetDatum(owner), !OidIsValid(owner)));
}

/* --- telling --- */

/* Fill in the activity of a notice. */
static void
set_activity(SfNotice *notice, const SfActivity *activity)
{
	if (activity == NULL)
		return;
	notice->owner = activity->owner;
	notice->resource = sf_public_name(SF_NAME_ACTIVITY, activity->name);
}

/* The execution of an alert; of one that has been purged what was noted when the alert was opened. */
static SfExecution *
execution_of(const TimeAlert *alert)
{
	SfExecution *execution = sf_execution_read(alert->execution_no, SF_LOCK_NONE, false);
	const SfMachineIdentity *identity;

	if (execution != NULL || alert->machine_no == SF_NO_MACHINE)
		return execution;
	identity = sf_machine_identity(alert->machine_no);
	execution = sf_execution_make();
	execution->execution_no = alert->execution_no;
	execution->execution_id = alert->object;
	execution->machine_no = alert->machine_no;
	execution->machine_name = pnstrdup(alert->object, strcspn(alert->object, ":"));
	execution->owner = identity != NULL ? identity->owner : alert->owner;
	return execution;
}

/* Match an alert that time has opened or cleared with the rules. */
static void
tell_time_alert(const TimeAlert *alert)
{
	SfNotice	notice = {.kind = SF_CHANGE_ALERT,.at = GetCurrentTimestamp(),.resource = alert->object};
	const SfFeatureObject *object;
	SfAlertDetail detail = {alert->kind, alert->is_open ? SF_ALERT_OPENED : SF_ALERT_CLEARED, alert->since, NULL, NULL};

	if (alert->execution_no != SF_NO_EXECUTION)
		sf_notice_set_execution(&notice, execution_of(alert));
	else if (strncmp(alert->target, OF_ACTIVITY, strlen(OF_ACTIVITY)) == 0)
	{
		detail.target = alert->target;
		set_activity(&notice, sf_activity_read(alert->object));
	}
	else if ((object = sf_feature_object_of(alert->target)) != NULL)
	{
		detail.target = alert->target;
		object->notice(&notice, alert->object);
	}
	else
	{
		sf_notice_set_machine(&notice, alert->object);
		notice.resource = sf_public_name(SF_NAME_STATE_MACHINE, alert->object);
	}
	if (alert->is_open)
		note_told(alert, notice.execution == NULL ? 0 : notice.execution->machine_no,
						   OidIsValid(notice.owner) ? notice.owner : notice.machine_owner);
	else if (!OidIsValid(notice.owner) && notice.machine == NULL)
		notice.owner = alert->owner;
	sf_notice_tell_alert(&notice, &detail);
}

/*
 * Tell rules of the alerts that time has opened or cleared since the last sweep, if a rule
 * wants to know; true: there are more, for another sweep.
 */
bool
sf_watcher_tell_time_alerts(void)
{
	int			opened = 0;

	if (!sf_watcher_any_wants_alerts() || !lock_sweep())
		return false;
	foreach_ptr(const TimeAlert, alert, find_changed())
	{
		tell_time_alert(alert);
		opened += alert->is_open;
	}
	return opened >= MOST_OPENED;
}
