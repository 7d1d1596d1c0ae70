/*
 * human_task.c
 *		Rows of tasks that wait for people, of the roles that they are for, and of what was done with them.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "feature/human/human.h"
#include "store/role/privilege.h"
#include "store/state_machine/program_cache.h"

/* The first columns of _sfflow.human_task; see sql/parts/feature/human.sql */
enum
{
	COL_task_no = 3
};

static SfPlan delete_roles = SF_PLAN(
	"DELETE FROM _sfflow.human_task_role r WHERE r.execution_no = $1 AND r.branch_no = $2"
	" RETURNING r.role::pg_catalog.oid::pg_catalog.int8");

/* --- finding --- */

/* Read a task. */
static void
read_task(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_task_no, COL_generation, COL_name, COL_owner, COL_claimed_by,
		COL_form, COL_title, COL_priority, COL_due_at, COL_state, COL_for_all};
	SfHumanTask *task = palloc0(sizeof(SfHumanTask));

	task->key.execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	task->key.branch_no = sf_row_number(tuple, desc, COL_branch_no, 0);
	task->task_no = sf_row_number(tuple, desc, COL_task_no, 0);
	task->generation = (int) sf_row_number(tuple, desc, COL_generation, 0);
	task->worklist = sf_row_text(tuple, desc, COL_name);
	task->owner = sf_row_number(tuple, desc, COL_owner, InvalidOid);
	task->claimed_by = sf_row_text(tuple, desc, COL_claimed_by);
	task->form = sf_row_jsonb(tuple, desc, COL_form);
	task->title = sf_row_text(tuple, desc, COL_title);
	task->priority = (int) sf_row_number(tuple, desc, COL_priority, 0);
	task->due_at = sf_row_number(tuple, desc, COL_due_at, DT_NOEND);
	task->state = sf_row_text(tuple, desc, COL_state);
	task->for_all = sf_row_number(tuple, desc, COL_for_all, false);
	*(SfHumanTask **) arg = task;
}

/* Read a task by its number; NULL: there is none. */
static SfHumanTask *
read_by_number(int64 task_no, SfLock lock)
{
#define SELECT_TASK \
	"SELECT t.execution_no, t.branch_no, t.task_no, t.generation, w.name, w.owner, t.claimed_by, t.form," \
	" t.title, t.priority, t.due_at, t.state, t.for_all FROM _sfflow.human_task t" \
	" JOIN _sfflow.worklist w ON w.worklist_no = t.worklist_no WHERE t.task_no = $1"
	static SfPlan plan = SF_PLAN(SELECT_TASK);
	static SfPlan locking = SF_PLAN(SELECT_TASK " FOR UPDATE OF t");
	SfHumanTask *task = NULL;

	sf_db_read(lock == SF_LOCK_NONE ? &plan : &locking, read_task, &task, SF_INT8(task_no));
	return task;
}

/* Raise the error for a task that does not wait, or may not be known. */
static void pg_attribute_noreturn()
missing(int64 task_no)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_HUMAN_TASK_DOES_NOT_EXIST),
			 errmsg("task " INT64_FORMAT " does not exist, or is over", task_no),
			 errhint("The view sf_human_tasks lists those that there are for you.")));
}

/* Does the branch of a task wait for it?  Finds its execution and its state, too. */
static bool
is_waited_for(SfHumanTask *task, SfLock lock)
{
	SfBranch   *branch = sf_branch_read(task->key, lock);
	SfExecution *execution = sf_execution_read(task->key.execution_no, SF_LOCK_NONE, false);

	if (branch == NULL || branch->generation != task->generation || branch->phase != SF_PHASE_EXTERNAL ||
		execution == NULL || execution->status != SF_STATUS_RUNNING)
		return false;
	if (lock != SF_LOCK_NONE)
		sf_branch_notify_due(branch->key, branch->owner, branch->due_at);
	task->execution = execution;
	/* the execution may have been migrated to a version that has another name for it */
	task->state = sf_program_cache_get(execution->machine_no, execution->version)->states[branch->state].name;
	return true;
}

/*
 * Find a task that waits for people and lock it: branch, then task.  Raises if the caller has no right on it.
 * Workers skip the branch until the transaction ends, rather than wait for it, so they are told of its timer then.
 */
SfHumanTask *
sf_human_lock(int64 task_no)
{
	SfHumanTask *task = read_by_number(task_no, SF_LOCK_NONE);
	SfHumanTask *locked;

	/* look without a lock first: a guessed number must not block other sessions */
	if (task == NULL || !sf_privilege_check(SF_OBJECT_WORKLIST, task->worklist, task->owner, SF_RIGHT_ANY))
		missing(task_no);
	sf_hooks.branch_locked();
	if (!is_waited_for(task, SF_LOCK_WAIT))
		missing(task_no);
	locked = read_by_number(task_no, SF_LOCK_WAIT);
	if (locked == NULL || locked->generation != task->generation)
		missing(task_no);
	locked->execution = task->execution;
	locked->state = task->state;
	return locked;
}

/* Read a task that waits for people; NULL: it does not. */
SfHumanTask *
sf_human_read_waiting(int64 task_no)
{
	SfHumanTask *task = read_by_number(task_no, SF_LOCK_NONE);

	return task != NULL && is_waited_for(task, SF_LOCK_NONE) ? task : NULL;
}

/* --- changing --- */

/* Have a task claimed, which is locked. */
void
sf_human_claim(const SfHumanTask *task, const SfPerson *person)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.human_task t SET claimed_by = $2,"
		" claimed_at = pg_catalog.clock_timestamp() WHERE t.task_no = $1");

	sf_db_execute(&plan, SF_INT8(task->task_no), SF_TEXT(person->name));
}

/* Give a task, which is locked, to a person, or (NULL) take it back. */
void
sf_human_assign(const SfHumanTask *task, const char *to)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.human_task t SET claimed_by = $2,"
		" claimed_at = CASE WHEN $2 IS NULL THEN NULL ELSE pg_catalog.clock_timestamp() END WHERE t.task_no = $1");

	sf_db_execute(&plan, SF_INT8(task->task_no), SF_TEXT(to));
}

/* Roles were named by rows that are deleted. */
static void
unanchor_all(const List *roles)
{
	foreach_ptr(const int64, role, roles)
		sf_privilege_unanchor((Oid) *role);
}

/* Add roles that a task is for, a List of SfHumanRole. */
void
sf_human_insert_roles(SfBranchKey key, const List *roles)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.human_task_role AS r (execution_no, branch_no, role, from_at) VALUES ($1, $2, $3, $4)"
		" ON CONFLICT (execution_no, branch_no, role) DO UPDATE SET from_at = excluded.from_at"
		" WHERE r.from_at > excluded.from_at OR excluded.from_at IS NULL");

	foreach_ptr(const SfHumanRole, role, roles)
	{
		sf_privilege_anchor(role->role);
		sf_db_execute(&plan, SF_BRANCH_KEY(key), SF_ROLE(role->role), SF_TIME_OR_NULL(role->from_at, DT_NOBEGIN));
	}
}

/*
 * Change a task, which is locked; without roles, and where arguments are null, it keeps what it has.  A time
 * without end takes its time away. Roles that Escalate adds later are added then.  The caller has a sweep set to the
 * times that it has now.
 */
void
sf_human_change(const SfHumanTask *task, bool has_roles, const List *roles, SfArg due, SfArg priority)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.human_task t SET"
		" due_at = CASE WHEN $2 IS NULL THEN t.due_at WHEN $2 = 'infinity' THEN NULL ELSE $2 END,"
		" due_told = t.due_told AND $2 IS NULL,"
		" priority = CASE WHEN $3 IS NULL THEN t.priority ELSE $3 END,"
		" for_all = CASE WHEN $4 IS NULL THEN t.for_all ELSE $4 END WHERE t.task_no = $1");
	static SfPlan drop = SF_PLAN(
		"DELETE FROM _sfflow.human_task_role r WHERE r.execution_no = $1 AND r.branch_no = $2"
		" AND (r.from_at IS NULL OR r.from_at <= pg_catalog.clock_timestamp())"
		" RETURNING r.role::pg_catalog.oid::pg_catalog.int8");
	List	   *before = NIL;

	sf_db_execute(&plan, SF_INT8(task->task_no), due, priority,
				  sf_query_arg(BOOLOID, BoolGetDatum(roles == NIL), !has_roles));
	if (has_roles)
	{
		before = sf_db_numbers(&drop, SF_BRANCH_KEY(task->key));
		sf_human_insert_roles(task->key, roles);
		unanchor_all(before);
	}
}

/* Have the tasks of an execution know the names that states have in another version. */
void
sf_human_rename_states(int64 execution_no, const Jsonb *renames)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.human_task t SET"
		" state = CASE WHEN $2 ? t.state THEN $2 ->> t.state ELSE t.state END,"
		" not_states = coalesce((SELECT pg_catalog.array_agg(CASE WHEN $2 ? n.name THEN $2 ->> n.name ELSE n.name END ORDER BY n.i)"
		"  FROM pg_catalog.unnest(t.not_states) WITH ORDINALITY AS n (name, i)), t.not_states)"
		" WHERE t.execution_no = $1 AND $2 ?| pg_catalog.array_prepend(t.state, t.not_states)");

	sf_db_execute(&plan, SF_INT8(execution_no), SF_JSONB(renames));
}

/* A task was written: note that. */
void
sf_human_created(int64 task_no)
{
	SfHumanTask *task = read_by_number(task_no, SF_LOCK_NONE);

	if (task == NULL)
		return;
	task->execution = sf_execution_read(task->key.execution_no, SF_LOCK_NONE, false);
	sf_human_note(task, SF_HUMAN_ACTION_CREATED, NULL, NULL, NULL);
}

/* --- forgetting --- */

/* Forget the task of a branch. */
void
sf_human_delete(SfBranchKey key)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.human_task t WHERE t.execution_no = $1 AND t.branch_no = $2");

	sf_db_execute(&plan, SF_BRANCH_KEY(key));
	unanchor_all(sf_db_numbers(&delete_roles, SF_BRANCH_KEY(key)));
}

/* Read the number of a task. */
static void
read_number(HeapTuple tuple, TupleDesc desc, void *arg)
{
	int64	   *number = palloc(sizeof(int64));

	*number = sf_row_number(tuple, desc, COL_task_no, 0);
	*(List **) arg = lappend(*(List **) arg, number);
}

/* Cancel tasks, by their numbers. */
static void
cancel(const List *numbers)
{
	foreach_ptr(const int64, number, numbers)
	{
		SfHumanTask *task = read_by_number(*number, SF_LOCK_NONE);

		if (task == NULL)
			continue;
		task->execution = sf_execution_read(task->key.execution_no, SF_LOCK_NONE, false);
		sf_human_note(task, SF_HUMAN_ACTION_CANCELLED, NULL, NULL, NULL);
		sf_human_delete(task->key);
	}
}

static const SfIndex by_branch = {"human_task", "human_task_pkey"};

/* Cancel the task of a branch that has left its state without an answer. */
void
sf_human_cancel(SfBranchKey key)
{
	List	   *numbers = NIL;

	(void) sf_rows_read_now(&by_branch, 1, read_number, &numbers, SF_BRANCH_KEY(key));
	cancel(numbers);
}

/* Cancel the tasks of an execution that has ended. */
void
sf_human_cancel_all(int64 execution_no)
{
	List	   *numbers = NIL;

	(void) sf_rows_read_now(&by_branch, PG_INT32_MAX, read_number, &numbers, SF_INT8(execution_no));
	cancel(numbers);
}

/* Forget the roles that tasks of executions were for, an array of numbers. */
void
sf_human_delete_roles(SfArg numbers)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.human_task_role r WHERE r.execution_no = ANY ($1)"
		" RETURNING r.role::pg_catalog.oid::pg_catalog.int8");

	unanchor_all(sf_db_numbers(&plan, numbers));
}

/* Keep the roles that tasks of executions are for from being dropped, an array of numbers. */
void
sf_human_anchor_roles(SfArg numbers)
{
	static SfPlan plan = SF_PLAN(
		"SELECT DISTINCT r.role::pg_catalog.oid::pg_catalog.int8 FROM _sfflow.human_task_role r"
		" WHERE r.execution_no = ANY ($1)");

	foreach_ptr(const int64, role, sf_db_numbers(&plan, numbers))
		sf_privilege_anchor((Oid) *role);
}
