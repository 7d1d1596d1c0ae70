/*
 * time_alerts.c
 *		Telling rules of the alerts that time opens and clears.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/name.h"
#include "rule/watcher.h"
#include "store/alert.h"
#include "store/feature.h"
#include "store/machine.h"
#include "store/task.h"

/* Fill in the activity of a notice. */
static void
set_activity(SfNotice *n, const SfActivity *activity)
{
	if (activity == NULL)
		return;
	n->owner = activity->owner;
	n->resource = sf_public_name(SF_NAME_ACTIVITY, activity->name);
}

/* The execution of an alert; of one that has been purged what was noted when the alert was opened. */
static SfExecution *
execution_of(const SfTimeAlert *a)
{
	SfExecution *execution = sf_execution_read(a->execution_no, SF_LOCK_NONE, false);
	const SfMachineIdentity *identity;

	if (execution != NULL || a->machine_no == 0)
		return execution;
	identity = sf_machine_identity(a->machine_no);
	execution = palloc0(sizeof(SfExecution));
	execution->execution_no = a->execution_no;
	execution->execution_id = a->object;
	execution->machine_no = a->machine_no;
	execution->machine_name = pnstrdup(a->object, strcspn(a->object, ":"));
	execution->owner = identity != NULL ? identity->owner : a->owner;
	return execution;
}

/* Match an alert that time has opened or cleared with the rules. */
static void
tell_time_alert(const SfTimeAlert *a)
{
	SfNotice	n = {.kind = SF_CHANGE_ALERT,.at = GetCurrentTimestamp(),.resource = a->object};
	const SfFeatureObject *object;
	SfAlertDetail detail = {a->kind, a->is_open ? SF_ALERT_OPENED : SF_ALERT_CLEARED, a->since, NULL, NULL};

	if (a->execution_no != 0)
		sf_notice_set_execution(&n, execution_of(a));
	else if (strcmp(a->kind, "no_poller") == 0)
	{
		detail.target = psprintf("activity:%s", a->object);
		set_activity(&n, sf_activity_read(a->object));
	}
	else if (strcmp(a->kind, "missed_run") == 0)
	{
		detail.target = psprintf("schedule:%s", a->object);
		object = sf_feature_object_of(detail.target);
		if (object != NULL)
			object->notice(&n, a->object);
	}
	else
	{
		sf_notice_set_machine(&n, a->object);
		n.resource = sf_public_name(SF_NAME_STATE_MACHINE, a->object);
	}
	if (a->is_open)
		sf_alert_note_told(a, n.execution == NULL ? 0 : n.execution->machine_no,
						   OidIsValid(n.owner) ? n.owner : n.machine_owner);
	else if (!OidIsValid(n.owner) && n.machine == NULL)
		n.owner = a->owner;
	sf_notice_tell_alert(&n, &detail);
}

/*
 * Tell rules of the alerts that time has opened or cleared since the last look, if a rule
 * wants to know; true: there are more, for another look.
 */
bool
sf_watch_tell_time_alerts(void)
{
	int			opened = 0;

	if (!sf_watch_any_wants_alerts() || !sf_alert_lock_look())
		return false;
	foreach_ptr(const SfTimeAlert, alert, sf_alert_look())
	{
		tell_time_alert(alert);
		opened += alert->is_open;
	}
	return opened >= SF_TIME_ALERTS_MAX;
}
