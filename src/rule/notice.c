/*
 * notice.c
 *		Telling rules of deadlines, of alerts and of runs of schedules.
 *
 * The transaction that writes the change also writes the deliveries.  Without a rule
 * that may match, nothing is read or made.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/name.h"
#include "rule/notice.h"
#include "rule/status_event.h"
#include "rule/watcher.h"
#include "store/alert.h"
#include "store/machine.h"
#include "store/task.h"

/* --- what it is of --- */

/* Fill in the machine of a notice, by a name that may be "machine/version". */
static void
set_machine(SfNotice *n, const char *name)
{
	const SfMachine *machine = sf_machine_read(pnstrdup(name, strcspn(name, "/")), 0, false);

	if (machine == NULL)
		return;
	n->machine = machine->name;
	n->machine_owner = machine->owner;
}

/* Fill in the execution of a notice. */
static void
set_execution(SfNotice *n, const SfExecution *execution)
{
	if (execution == NULL)
		return;
	n->execution = execution;
	n->machine = execution->machine_name;
	n->machine_owner = execution->owner;
	n->resource = sf_public_name(SF_NAME_EXECUTION, execution->execution_id);
}

/* Fill in the schedule of a notice. */
static void
set_schedule(SfNotice *n, const SfSchedule *s)
{
	if (s == NULL)
		return;
	n->owner = s->owner;
	n->resource = sf_public_name(SF_NAME_SCHEDULE, s->name);
	set_machine(n, s->state_machine);
}

/* Fill in what a deadline is of, and the execution that is late. */
static void
set_deadline(SfNotice *n, const SfDeadline *d, int64 execution_no)
{
	const SfMachineIdentity *identity = d->machine_no == 0 ? NULL :
		sf_machine_identity(d->machine_no);

	n->resource = d->target;
	if (d->schedule != NULL)
		set_schedule(n, sf_schedule_row_read(d->schedule, SF_LOCK_NONE));
	else if (identity != NULL)
	{
		/* the identity is valid until the next one is looked for */
		n->machine = pstrdup(identity->name);
		n->machine_owner = identity->owner;
		n->resource = sf_public_name(SF_NAME_STATE_MACHINE, n->machine);
	}
	if (execution_no != 0)
		set_execution(n, sf_execution_read(execution_no, SF_LOCK_NONE, false));
}

/* --- details --- */

/* Begin the detail of a notice: execution and machine. */
static void
begin_detail(SfJsonBuilder *b, const SfNotice *n)
{
	const SfExecution *e = n->execution;

	sf_json_begin_object(b);
	sf_observe_add_text(b, "executionArn",
						e == NULL ? NULL : sf_public_name(SF_NAME_EXECUTION, e->execution_id));
	sf_observe_add_text(b, "stateMachineArn", n->machine == NULL ? NULL :
						sf_public_name(SF_NAME_STATE_MACHINE, n->machine));
	sf_observe_add_text(b, "name", e == NULL ? NULL : sf_execution_name(e));
}

/* A word in capital letters, as events have statuses. */
static char *
capital(const char *word)
{
	char	   *result = pstrdup(word);

	for (char *p = result; *p != '\0'; p++)
		*p = pg_ascii_toupper((unsigned char) *p);
	return result;
}

/* --- alerts --- */

/* What the event of an alert tells besides what it is of */
typedef struct AlertDetail
{
	const char *kind;			/* as sf_alerts has it */
	const char *status;			/* SF_ALERT_… */
	TimestampTz since;
	const char *target;			/* of a deadline; NULL: none */
	const char *comment;		/* or NULL */
} AlertDetail;

/* Match a notice of an alert with the rules. */
static void
tell_alert(SfNotice *n, const AlertDetail *a)
{
	SfJsonBuilder b;

	begin_detail(&b, n);
	sf_json_add_string(&b, "alert", a->kind);
	sf_json_add_string(&b, "status", a->status);
	sf_observe_add_text(&b, "target", a->target);
	sf_observe_add_date(&b, "sinceDate", a->since);
	sf_observe_add_text(&b, "comment", a->comment);
	n->detail = sf_json_finish(&b);
	sf_observe_notice(n);
}

/* An alert of an execution was opened, acknowledged or cleared. */
void
sf_notice_alert(const SfExecution *execution, const char *kind, const char *status,
				TimestampTz since, const char *comment)
{
	SfNotice	n = {.kind = SF_CHANGE_ALERT,.at = GetCurrentTimestamp()};
	AlertDetail detail = {kind, status, since, NULL, comment};

	if (execution == NULL || !sf_observe_wants(SF_CHANGE_ALERT, execution))
		return;
	set_execution(&n, execution);
	tell_alert(&n, &detail);
}

/* The same of the alerts that an execution has failed, that often by now. */
void
sf_notice_failure(const SfExecution *execution, int times, const char *status)
{
	sf_notice_alert(execution, execution->status == SF_STATUS_TIMED_OUT ? "timed_out" : "failed",
					status, execution->stopped_at, NULL);
	if (times > 1)
		sf_notice_alert(execution, "failed_again", status, execution->stopped_at, NULL);
}

/* The same of the alert that something is late. */
void
sf_notice_late_alert(const SfLateness *late, const char *status, TimestampTz at)
{
	SfNotice	n = {.kind = SF_CHANGE_ALERT,.at = at};
	AlertDetail detail = {late->state, status, late->raised_at, late->target, late->comment};
	const SfDeadline *d;

	if (!sf_watch_any_wants_alerts())
		return;
	d = sf_deadline_read(late->target, SF_LOCK_NONE);
	if (d == NULL)
		return;
	set_deadline(&n, d, late->execution_no);
	tell_alert(&n, &detail);
}

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
	AlertDetail detail = {a->kind, a->is_open ? SF_ALERT_OPENED : SF_ALERT_CLEARED, a->since, NULL, NULL};

	if (a->execution_no != 0)
		set_execution(&n, execution_of(a));
	else if (strcmp(a->kind, "no_poller") == 0)
	{
		detail.target = psprintf("activity:%s", a->object);
		set_activity(&n, sf_activity_read(a->object));
	}
	else if (strcmp(a->kind, "missed_run") == 0)
	{
		detail.target = psprintf("schedule:%s", a->object);
		set_schedule(&n, sf_schedule_row_read(a->object, SF_LOCK_NONE));
	}
	else
	{
		set_machine(&n, a->object);
		n.resource = sf_public_name(SF_NAME_STATE_MACHINE, a->object);
	}
	if (a->is_open)
		sf_alert_note_told(a, n.execution == NULL ? 0 : n.execution->machine_no,
						   OidIsValid(n.owner) ? n.owner : n.machine_owner);
	else if (!OidIsValid(n.owner) && n.machine == NULL)
		n.owner = a->owner;
	tell_alert(&n, &detail);
}

/*
 * Tell rules of the alerts that time has opened or cleared since the last look, if a rule
 * wants to know; true: there are more, for another look.
 */
bool
sf_notice_time_alerts(void)
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

/* --- deadlines --- */

/* Something is late or will be; or (is_over) it was, and has happened since. */
void
sf_notice_deadline(const SfDeadline *d, const SfLateness *late, bool is_over, TimestampTz at)
{
	SfNotice	n = {.kind = SF_CHANGE_DEADLINE,.at = at};
	SfJsonBuilder b;

	if (!sf_watch_any())
		return;
	set_deadline(&n, d, late->execution_no);
	begin_detail(&b, &n);
	sf_json_add_string(&b, "target", d->target);
	sf_json_add_string(&b, "status", is_over ? "OVER" : capital(late->state));
	sf_json_add_string(&b, "dueBy", capital(late->due_by));
	sf_observe_add_date(&b, "deadlineDate", late->deadline_at);
	sf_observe_add_date(&b, "expectedDate", late->expected_at);
	sf_observe_add_text(&b, "job", d->job);
	sf_observe_add_text(&b, "schedule", d->schedule);
	n.detail = sf_json_finish(&b);
	sf_observe_notice(&n);
}

/* --- runs of schedules --- */

/* What the outcome of a run is in an event; NULL: the call was for no run. */
static const char *
run_status(const char *outcome)
{
	static const char *const statuses[][2] = {
		{SF_RUN_STARTED, "STARTED"},
		{SF_RUN_OVERLAPPED, "SKIPPED"},
		{SF_RUN_QUEUED, "QUEUED"},
		{SF_RUN_MISSED, "MISSED"},
		{SF_RUN_FAILED, "FAILED"},
	};

	for (size_t i = 0; i < lengthof(statuses); i++)
		if (strcmp(statuses[i][0], outcome) == 0)
			return statuses[i][1];
	return NULL;
}

/* A run of a schedule has started, or has not. */
void
sf_notice_run(const SfSchedule *s, const char *outcome, TimestampTz scheduled_for,
			  const char *execution_id, const char *error)
{
	SfNotice	n = {.kind = SF_CHANGE_RUN,.at = GetCurrentTimestamp()};
	const char *status = run_status(outcome);
	SfJsonBuilder b;

	if (status == NULL || !sf_watch_any())
		return;
	set_schedule(&n, s);
	if (execution_id != NULL)
		n.execution = sf_execution_find(execution_id, SF_LOCK_NONE);
	begin_detail(&b, &n);
	sf_json_add_string(&b, "schedule", s->name);
	sf_json_add_string(&b, "status", status);
	sf_observe_add_date(&b, "scheduledDate", scheduled_for);
	sf_observe_add_text(&b, "error", error);
	n.detail = sf_json_finish(&b);
	sf_observe_notice(&n);
}
