/*
 * human_note.c
 *		Noting what has become of a task of people: a row, a line of the audit if a person has done it, and an event for
 *		rules.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "api/objects.h"
#include "feature/human/human.h"
#include "store/audit/audit.h"
#include "store/feature.h"
#include "store/role/privilege.h"

/* An action: the word that is stored, and what the audit calls it */
typedef struct Action
{
	const char *name;
	const char *audited;		/* or NULL */
} Action;

#define ACTION(sym, audited) {#sym, audited},
static const Action actions[] = {SF_HUMAN_ACTION_LIST(ACTION)};

/* Add a line to the audit. */
static void
audit(const SfHumanTask *task, const Action *action, const SfPerson *person, const char *comment, const Jsonb *details)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_int(&json, "task", task->task_no);
	sf_json_add_string(&json, "worklist", task->worklist);
	sf_json_add_string(&json, "state", task->state);
	sf_json_add_string(&json, "actor", person->actor);
	if (details != NULL)
		sf_json_add(&json, "change", details);
	sf_audit_note_execution(task->execution, action->audited, comment, sf_json_end(&json));
}

/* Tell rules. */
static void
tell_rules(const SfHumanTask *task, const Action *action, const SfPerson *person, const char *comment, const Jsonb *details)
{
	SfNotice	notice = {.kind = SF_CHANGE_HUMAN_TASK,.at = GetCurrentTimestamp(),.owner = task->owner};
	SfJsonBuilder json;

	if (!sf_feature_wants_notice(SF_CHANGE_HUMAN_TASK, NULL))
		return;
	sf_notice_set_execution(&notice, task->execution);
	sf_notice_begin_detail(&json, &notice);
	sf_json_add_int(&json, "task", task->task_no);
	sf_json_add_string(&json, "worklist", task->worklist);
	sf_json_add_string(&json, "state", task->state);
	sf_json_add_string(&json, "title", task->title);
	sf_json_add_string(&json, "status", action->name);
	sf_notice_add_text(&json, "by", person == NULL ? NULL : person->name);
	sf_notice_add_text(&json, "comment", comment);
	sf_json_add_int(&json, "priority", task->priority);
	sf_notice_add_date(&json, "dueDate", task->due_at);
	if (details == NULL)
		sf_json_add_null(&json, "change");
	else
		sf_json_add(&json, "change", details);
	sf_notice_tell(&notice, &json);
}

/* Note what has become of a task; by a person, or NULL.  comment and details may be NULL. */
void
sf_human_note(const SfHumanTask *task, SfHumanAction action, const SfPerson *person, const char *comment,
			  const Jsonb *details)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.human_task_event (execution_no, task_no, at, action, state, state_now, role, login, is_relayed,"
		" actor, comment, details, worklist)"
		" VALUES ($1, $2, pg_catalog.clock_timestamp(), $3, $4, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING");
	const Action *done = &actions[action];
	const SfPerson *by = person != NULL ? person : &(SfPerson) {0};

	sf_db_execute(&plan, SF_INT8(task->key.execution_no), SF_INT8(task->task_no), SF_TEXT(done->name),
				  SF_TEXT(task->state), SF_TEXT(by->role), SF_TEXT(by->login), SF_BOOL(by->is_relayed), SF_TEXT(by->actor),
				  SF_TEXT(comment), SF_JSONB(details), SF_TEXT(task->worklist));
	if (done->audited != NULL)
		audit(task, done, person, comment, details);
	tell_rules(task, done, person, comment, details);
}

/* Have what was done in an execution be told of states by the names that they have in another version. */
void
sf_human_rename_notes(int64 execution_no, const Jsonb *renames)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.human_task_event h SET state_now = $2 ->> h.state_now"
		" WHERE h.execution_no = $1 AND $2 ? h.state_now");

	sf_db_execute(&plan, SF_INT8(execution_no), SF_JSONB(renames));
}

/* Forget what was done in an execution that begins anew. */
void
sf_human_delete_notes(int64 execution_no)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.human_task_event h WHERE h.execution_no = $1");

	sf_db_execute(&plan, SF_INT8(execution_no));
}
