/*
 * human_look.c
 *		What time brings for tasks of people: they are due, or for more roles.  Neither changes anything that a caller sees, since
 *		each looks at the times; a look tells of it, once.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "feature/human/human.h"
#include "store/feature.h"

/* Tasks that one look tells of */
#define MOST		100

/* A task that a look is at */
typedef struct Looked
{
	int64		task_no;
	bool		is_due;			/* since the last look */
	Jsonb	   *roles;			/* that it is for since then; NULL: none */
} Looked;

/* When to look, at the latest; DT_NOEND: not now. */
TimestampTz
sf_human_next_look(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.min(t.look_at) FROM _sfflow.human_task t WHERE t.look_at IS NOT NULL");

	return sf_keyed_copy_is_any(&sf_worklist_copy) ? sf_store_number_as(InvalidOid, &plan, DT_NOEND, NULL, 0) : DT_NOEND;
}

/* Note when to look at a task, if ever, and have a worker look then. */
void
sf_human_set_look(int64 task_no)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.human_task t SET look_at = LEAST(CASE WHEN NOT t.late THEN t.due_at END,"
		" (SELECT pg_catalog.min(r.from_at) FROM _sfflow.human_task_role r WHERE r.execution_no = t.execution_no"
		"  AND r.branch_no = t.branch_no AND r.from_at > t.told_at))"
		" WHERE t.task_no = $1 RETURNING t.look_at");
	TimestampTz at = sf_store_number(&plan, DT_NOEND, SF_INT8(task_no));

	if (at != DT_NOEND)
		sf_hooks.look(at);
}

/* Read a task that a look is at. */
static void
read_looked(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Looked	   *looked = palloc(sizeof(Looked));

	looked->task_no = sf_row_number(tuple, desc, 1, 0);
	looked->is_due = sf_row_number(tuple, desc, 2, false);
	looked->roles = sf_row_jsonb(tuple, desc, 3);
	*(List **) arg = lappend(*(List **) arg, looked);
}

/* Tell of a task, if its branch still waits. */
static void
tell(const Looked *looked)
{
	SfHumanTask *task = sf_human_read_open(looked->task_no);
	SfJsonBuilder b;

	if (task == NULL)
		return;
	if (looked->is_due)
		sf_human_note(task, SF_HUMAN_DUE, NULL, NULL, NULL);
	if (looked->roles == NULL)
		return;
	sf_json_begin_object(&b);
	sf_json_add(&b, "roles", looked->roles);
	sf_human_note(task, SF_HUMAN_ESCALATED, NULL, NULL, sf_json_finish(&b));
}

/* Tell of tasks that have become due, or are for more roles. */
SfLook
sf_human_look(TimestampTz now)
{
	static SfPlan plan = SF_PLAN(
		"WITH found AS MATERIALIZED (SELECT t.task_no, t.told_at, NOT t.late AND t.due_at <= $1 AS is_due,"
		"  t.execution_no, t.branch_no FROM _sfflow.human_task t"
		"  WHERE t.look_at <= $1 ORDER BY t.look_at LIMIT $2 FOR UPDATE SKIP LOCKED),"
		" told AS (UPDATE _sfflow.human_task t SET told_at = $1, late = t.late OR t.due_at <= $1 IS TRUE"
		"  FROM found f WHERE t.task_no = f.task_no)"
		" SELECT f.task_no, f.is_due IS TRUE, (SELECT pg_catalog.jsonb_agg(r.role::pg_catalog.text ORDER BY r.role::pg_catalog.text)"
		"   FROM _sfflow.human_task_role r WHERE r.execution_no = f.execution_no AND r.branch_no = f.branch_no"
		"   AND r.from_at > f.told_at AND r.from_at <= $1) FROM found f");
	SfLook		left = {.next = DT_NOEND};
	List	   *tasks = NIL;

	if (!sf_keyed_copy_is_any(&sf_worklist_copy))
		return left;
	sf_store_read(&plan, read_looked, &tasks, SF_TIME(now), SF_INT4(MOST));
	foreach_ptr(const Looked, looked, tasks)
	{
		tell(looked);
		sf_human_set_look(looked->task_no);
	}
	left.more = list_length(tasks) == MOST;
	/* one that another session has locked is looked at in a moment */
	left.next = Max(sf_human_next_look(), TimestampTzPlusMilliseconds(GetCurrentTimestamp(), 1000));
	return left;
}
