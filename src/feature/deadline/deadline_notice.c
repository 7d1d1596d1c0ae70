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
set_deadline(SfNotice *notice, const SfDeadline *deadline, int64 execution_no)
{
	const SfMachineIdentity *identity = deadline->kind == SF_DEADLINE_KIND_SCHEDULE ? NULL :
		sf_machine_identity(deadline->machine_no);

	notice->resource = deadline->target;
	if (deadline->kind == SF_DEADLINE_KIND_SCHEDULE)
		sf_schedule_notice(notice, deadline->schedule);
	else if (identity != NULL)
	{
		/* the identity is valid until the next one is looked for */
		notice->machine = pstrdup(identity->name);
		notice->machine_owner = identity->owner;
		notice->resource = sf_public_name(SF_NAME_STATE_MACHINE, notice->machine);
	}
	if (execution_no != SF_NOTHING_STARTED)
		sf_notice_set_execution(notice, sf_execution_read(execution_no, SF_LOCK_NONE, false));
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
sf_deadline_notice(const SfDeadline *deadline, const SfLateness *lateness, bool is_over, TimestampTz at)
{
	SfNotice	notice = {.kind = SF_CHANGE_DEADLINE,.at = at};
	SfJsonBuilder json;

	if (!sf_feature_wants_notice(SF_CHANGE_DEADLINE, NULL))
		return;
	set_deadline(&notice, deadline, lateness->execution_no);
	sf_notice_begin_detail(&json, &notice);
	sf_json_add_string(&json, "target", deadline->target);
	sf_json_add_string(&json, "status", is_over ? "OVER" : capital(sf_lateness_finding_name(lateness->finding)));
	sf_json_add_string(&json, "dueBy", capital(sf_lateness_due_name(lateness->due_by)));
	sf_notice_add_date(&json, "deadlineDate", lateness->deadline_at);
	sf_notice_add_date(&json, "expectedDate", lateness->expected_at);
	sf_notice_add_text(&json, "job", deadline->job);
	sf_notice_add_text(&json, "schedule", deadline->schedule);
	sf_notice_tell(&notice, &json);
}

/* The alert that something is late was opened, acknowledged or cleared. */
void
sf_deadline_notice_alert(const SfLateness *lateness, const char *status, TimestampTz at)
{
	SfNotice	notice = {.kind = SF_CHANGE_ALERT,.at = at};
	SfAlertDetail detail =
		{sf_lateness_finding_name(lateness->finding), status, lateness->raised_at, lateness->target, lateness->comment};
	const SfDeadline *deadline;

	if (!sf_feature_wants_notice(SF_CHANGE_ALERT, NULL))
		return;
	deadline = sf_deadline_read(lateness->target, SF_LOCK_NONE);
	if (deadline == NULL)
		return;
	set_deadline(&notice, deadline, lateness->execution_no);
	sf_notice_tell_alert(&notice, &detail);
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
