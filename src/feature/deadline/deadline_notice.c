/*
 * deadline_notice.c
 *		Telling features of what is late, and acknowledging it.
 */
#include "postgres.h"

#include "base/name/name.h"
#include "feature/deadline/deadline.h"
#include "store/alert/notice.h"

/* Fill in what a deadline is of, and the execution that is late. */
static void
set_deadline(SfNotice *n, const SfDeadline *d, int64 execution_no)
{
	const SfMachineIdentity *identity = d->kind == SF_DEADLINE_OF_SCHEDULE ? NULL :
		sf_machine_identity(d->machine_no);

	n->resource = d->target;
	if (d->kind == SF_DEADLINE_OF_SCHEDULE)
		sf_schedule_notice(n, d->schedule);
	else if (identity != NULL)
	{
		/* the identity is valid until the next one is looked for */
		n->machine = pstrdup(identity->name);
		n->machine_owner = identity->owner;
		n->resource = sf_public_name(SF_NAME_STATE_MACHINE, n->machine);
	}
	if (execution_no != SF_NOTHING_STARTED)
		sf_notice_set_execution(n, sf_execution_read(execution_no, SF_LOCK_NONE, false));
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

/* Something is late or will be; or (is_over) it was, and has happened since. */
void
sf_deadline_notice(const SfDeadline *d, const SfLateness *late, bool is_over, TimestampTz at)
{
	SfNotice	n = {.kind = SF_CHANGE_DEADLINE,.at = at};
	SfJsonBuilder b;

	if (!sf_feature_wants_notice(SF_CHANGE_DEADLINE, NULL))
		return;
	set_deadline(&n, d, late->execution_no);
	sf_notice_begin_detail(&b, &n);
	sf_json_add_string(&b, "target", d->target);
	sf_json_add_string(&b, "status", is_over ? "OVER" : capital(sf_lateness_finding_name(late->finding)));
	sf_json_add_string(&b, "dueBy", capital(sf_lateness_due_name(late->due_by)));
	sf_notice_add_date(&b, "deadlineDate", late->deadline_at);
	sf_notice_add_date(&b, "expectedDate", late->expected_at);
	sf_notice_add_text(&b, "job", d->job);
	sf_notice_add_text(&b, "schedule", d->schedule);
	sf_notice_tell(&n, &b);
}

/* The alert that something is late was opened, acknowledged or cleared. */
void
sf_deadline_notice_alert(const SfLateness *late, const char *status, TimestampTz at)
{
	SfNotice	n = {.kind = SF_CHANGE_ALERT,.at = at};
	SfAlertDetail detail = {sf_lateness_finding_name(late->finding), status, late->raised_at, late->target, late->comment};
	const SfDeadline *d;

	if (!sf_feature_wants_notice(SF_CHANGE_ALERT, NULL))
		return;
	d = sf_deadline_read(late->target, SF_LOCK_NONE);
	if (d == NULL)
		return;
	set_deadline(&n, d, late->execution_no);
	sf_notice_tell_alert(&n, &detail);
}

/* Acknowledge what is late, and tell features of it; returns how many alerts there were. */
int64
sf_deadline_acknowledge(const SfAcknowledge *what)
{
	List	   *late = sf_lateness_acknowledge(what);

	foreach_ptr(const SfLateness, l, late)
		sf_deadline_notice_alert(l, SF_ALERT_ACKNOWLEDGED, l->acknowledged_at);
	return list_length(late);
}
