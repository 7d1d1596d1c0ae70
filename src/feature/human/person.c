/*
 * person.c
 *		Who acts on a task of people, and whether that person may.
 *
 * A person is known by the role that calls and by the login of its session, since SET ROLE makes no other
 * person; where a program with the right ACT acts for another person, by the name that the program gives alone.
 * Two persons are the same if they have one of these names in common.  The login of a session that answers for a
 * role, as sfgateway's does, is a name of the person only against one who is known by it otherwise: of two for whom
 * one session answers it says nothing.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"

#include "api/objects.h"
#include "base/error/errors.h"
#include "base/role/role.h"
#include "feature/human/human.h"
#include "store/role/privilege.h"

/* Longest name of an actor, in bytes */
#define MAX_ACTOR		256

/* The caller, or (not NULL) for whom it acts. */
SfPerson
sf_person_of_caller(const char *actor)
{
	SfPerson	person = {.actor = actor};

	if (actor != NULL && (actor[0] == '\0' || strlen(actor) > MAX_ACTOR))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument actor must have 1 to %d bytes", MAX_ACTOR)));
	person.role = GetUserNameFromId(GetUserId(), false);
	person.login = GetUserNameFromId(GetSessionUserId(), false);
	person.is_relayed = sf_role_is_relayed();
	person.name = actor != NULL ? actor : person.role;
	return person;
}

/* A role, of whom no login is known. */
SfPerson
sf_person_of_role(Oid role)
{
	const char *name = GetUserNameFromId(role, false);

	return (SfPerson) {.role = name,.login = name,.name = name};
}

/* Does a role do for the roles that a task is for? */
static bool
is_for(SfBranchKey key, Oid role)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.role::pg_catalog.oid::pg_catalog.int8 FROM _sfflow.human_task_role r"
		" WHERE r.execution_no = $1 AND r.branch_no = $2 AND (r.from_at IS NULL OR r.from_at <= pg_catalog.clock_timestamp())");

	foreach_ptr(const int64, wanted, sf_db_numbers(&plan, SF_BRANCH_KEY(key)))
		if (has_privs_of_role(role, (Oid) *wanted))
			return true;
	return false;
}

/* The names by which a person is known, a text[]: those of its own, or with them that of a login that relays */
static SfArg
names_of(const SfPerson *person, bool with_relay)
{
	Datum		names[2];
	int			n = 0;

	names[n++] = CStringGetTextDatum(person->name);
	if (person->actor == NULL && (with_relay || !person->is_relayed))
		names[n++] = CStringGetTextDatum(person->login);
	return sf_query_arg(TEXTARRAYOID, PointerGetDatum(construct_array(names, n, TEXTOID, -1, false, TYPALIGN_INT)), false);
}

/* What a person has done already that bars it from a task */
typedef struct Done
{
	bool		any;
	char	   *state;			/* has completed this state; NULL: has started the execution */
} Done;

/* Read that. */
static void
read_done(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(Done *) arg = (Done) {true, sf_row_text(tuple, desc, 1)};
}

/*
 * Find what a person has done already that bars it from a task.  An execution has the starters of those that have
 * started it, up to the first one.
 */
static Done
find_bar(const SfHumanTask *task, const SfPerson *person)
{
	static SfPlan plan = SF_PLAN(
		"WITH RECURSIVE task AS (SELECT t.not_starter, t.not_states FROM _sfflow.human_task t WHERE t.task_no = $2),"
		" up AS (SELECT e.execution_no, e.parent_execution_no, e.requested_by FROM _sfflow.execution e, task t"
		"  WHERE e.execution_no = $1 AND t.not_starter"
		"  UNION ALL SELECT e.execution_no, e.parent_execution_no, e.requested_by"
		"  FROM up u JOIN _sfflow.execution e ON e.execution_no = u.parent_execution_no),"
		" starter AS (SELECT u.requested_by AS role, false AS is_relay FROM up u"
		"  UNION ALL SELECT s.login, s.is_relayed FROM up u"
		"  JOIN _sfflow.human_starter s ON s.execution_no = u.execution_no"
		"  UNION ALL SELECT r.requested_by, false FROM up u"
		"  JOIN _sfflow.start_request r ON r.execution_no = u.execution_no WHERE r.outcome = 'restarted'),"
		" done AS (SELECT h.state_now, h.role, h.login, h.is_relayed, h.actor FROM _sfflow.human_task_event h, task t"
		"  WHERE h.execution_no = $1 AND h.action = 'COMPLETED' AND h.state_now = ANY (t.not_states)),"
		" name AS (SELECT NULL AS state, pg_catalog.pg_get_userbyid(s.role)::pg_catalog.text AS name, s.is_relay"
		"   FROM starter s WHERE s.role IS NOT NULL"
		"  UNION ALL SELECT d.state_now, coalesce(d.actor, d.role), false FROM done d"
		"  UNION ALL SELECT d.state_now, d.login, d.is_relayed FROM done d WHERE d.actor IS NULL)"
		" SELECT n.state FROM name n WHERE n.name = ANY (CASE WHEN n.is_relay THEN $3 ELSE $4 END) LIMIT 1");
	Done		done = {false, NULL};

	sf_db_read(&plan, read_done, &done, SF_INT8(task->key.execution_no), SF_INT8(task->task_no),
			   names_of(person, false), names_of(person, true));
	return done;
}

/*
 * Tell whether a person, for whom a role acts, may do a task: by the right DO, or also ACT, by the roles that it is
 * for, and by what it has done before; if not, *bar says why.
 */
bool
sf_person_may(const SfHumanTask *task, const SfPerson *person, Oid role, SfBar *bar)
{
	Oid			actor = person->actor == NULL ? InvalidOid : get_role_oid(person->actor, true);
	Done		done;

	if (!sf_privilege_check_role(role, SF_OBJECT_WORKLIST, task->worklist, task->owner, SF_RIGHT_DO) ||
		(person->actor != NULL &&
		 !sf_privilege_check_role(role, SF_OBJECT_WORKLIST, task->worklist, task->owner, SF_RIGHT_ACT)))
	{
		bar->message = psprintf("permission denied for worklist \"%s\"", task->worklist);
		bar->detail = psprintf("Role \"%s\" needs the right DO, and to act for somebody else the right ACT.",
							   GetUserNameFromId(role, false));
		return false;
	}
	if (!task->for_all && !is_for(task->key, role) && (!OidIsValid(actor) || !is_for(task->key, actor)))
	{
		bar->message = psprintf("task " INT64_FORMAT " is not for \"%s\"", task->task_no, person->name);
		bar->detail = "It is for the roles that sf_human_tasks shows.";
		return false;
	}
	done = find_bar(task, person);
	if (!done.any)
		return true;
	bar->message = psprintf("task " INT64_FORMAT " must not be done by \"%s\"", task->task_no, person->name);
	bar->detail = done.state == NULL ?
		psprintf("That person has started the execution, and NotBy of state \"%s\" names the starter.", task->state) :
		psprintf("That person has completed state \"%s\", which NotBy of state \"%s\" names.", done.state, task->state);
	return false;
}

/* Raise unless a person, for whom a role acts, may do a task. */
void
sf_person_require(const SfHumanTask *task, const SfPerson *person, Oid role)
{
	SfBar		bar;

	if (!sf_person_may(task, person, role, &bar))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("%s", bar.message),
				 errdetail("%s", bar.detail)));
}

/* Note the login that starts an execution, where that is not the role that calls. */
void
sf_person_note_start(const SfExecution *execution)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.human_starter (execution_no, login, is_relayed) VALUES ($1, $2, $3)"
		" ON CONFLICT DO NOTHING");
	Oid			login = GetSessionUserId();

	if (MyBackendType == B_BACKEND && !sf_execution_has_parent(execution) && login != GetUserId() &&
		sf_keyed_cache_is_any(&sf_worklist_cache))
		sf_db_execute(&plan, SF_INT8(execution->execution_no), SF_ROLE(login), SF_BOOL(sf_role_is_relayed()));
}

/* Forget who has started an execution that begins anew. */
void
sf_person_delete_start(int64 execution_no)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.human_starter s WHERE s.execution_no = $1");

	sf_db_execute(&plan, SF_INT8(execution_no));
}
