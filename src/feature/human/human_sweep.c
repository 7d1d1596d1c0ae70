/*
 * human_sweep.c
 *		What time brings for tasks of people: they are due, or for more roles.  Neither changes anything that a
 *		caller sees, since each looks at the times; a sweep tells of it, once.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "feature/human/human.h"
#include "store/feature.h"

/* Tasks that one sweep tells of */
#define MOST		100

/* A task that a sweep is at */
typedef struct Swept
{
	int64		task_no;
	bool		is_due;			/* since the last sweep */
	Jsonb	   *roles;			/* that it is for since then; NULL: none */
} Swept;

/* When to sweep, at the latest; DT_NOEND: not now. */
TimestampTz
sf_human_next_sweep(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.min(t.sweep_at) FROM _sfflow.human_task t WHERE t.sweep_at IS NOT NULL");

	return sf_keyed_cache_is_any(&sf_worklist_cache) ? sf_db_number_as(InvalidOid, &plan, DT_NOEND, NULL, 0) : DT_NOEND;
}

/* Have a worker sweep in time. */
void
sf_human_schedule_sweep(void)
{
	TimestampTz at = sf_human_next_sweep();

	if (at != DT_NOEND)
		sf_hooks.scan_at(at);
}

/* Note when a sweep is to come to a task, if ever, and have a worker sweep then. */
void
sf_human_set_sweep(int64 task_no)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.human_task t SET sweep_at = LEAST(CASE WHEN NOT t.due_told THEN t.due_at END,"
		" (SELECT pg_catalog.min(r.from_at) FROM _sfflow.human_task_role r WHERE r.execution_no = t.execution_no"
		"  AND r.branch_no = t.branch_no AND r.from_at > t.roles_told_at))"
		" WHERE t.task_no = $1 RETURNING t.sweep_at");
	TimestampTz at = sf_db_number(&plan, DT_NOEND, SF_INT8(task_no));

	if (at != DT_NOEND)
		sf_hooks.scan_at(at);
}

/* Read a task that a sweep is at. */
static void
read_swept(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_task_no = 1, COL_is_due, COL_roles};
	Swept	   *swept = palloc(sizeof(Swept));

	swept->task_no = sf_row_number(tuple, desc, COL_task_no, 0);
	swept->is_due = sf_row_number(tuple, desc, COL_is_due, false);
	swept->roles = sf_row_jsonb(tuple, desc, COL_roles);
	*(List **) arg = lappend(*(List **) arg, swept);
}

/* Tell of a task, if its branch still waits. */
static void
tell_if_waiting(const Swept *swept)
{
	SfHumanTask *task = sf_human_read_waiting(swept->task_no);
	SfJsonBuilder json;

	if (task == NULL)
		return;
	if (swept->is_due)
		sf_human_note(task, SF_HUMAN_ACTION_DUE, NULL, NULL, NULL);
	if (swept->roles == NULL)
		return;
	sf_json_begin_object(&json);
	sf_json_add(&json, "roles", swept->roles);
	sf_human_note(task, SF_HUMAN_ACTION_ESCALATED, NULL, NULL, sf_json_end(&json));
}

/* Tell of tasks that have become due, or are for more roles. */
SfSweepResult
sf_human_sweep(TimestampTz now)
{
	static SfPlan plan = SF_PLAN(
		"WITH found AS MATERIALIZED (SELECT t.task_no, t.roles_told_at, NOT t.due_told AND t.due_at <= $1 AS is_due,"
		"  t.execution_no, t.branch_no FROM _sfflow.human_task t"
		"  WHERE t.sweep_at <= $1 ORDER BY t.sweep_at LIMIT $2 FOR UPDATE SKIP LOCKED),"
		" told AS (UPDATE _sfflow.human_task t SET roles_told_at = $1, due_told = t.due_told OR t.due_at <= $1 IS TRUE"
		"  FROM found f WHERE t.task_no = f.task_no)"
		" SELECT f.task_no, f.is_due IS TRUE AS is_due,"
		" (SELECT pg_catalog.jsonb_agg(r.role::pg_catalog.text ORDER BY r.role::pg_catalog.text)"
		"   FROM _sfflow.human_task_role r WHERE r.execution_no = f.execution_no AND r.branch_no = f.branch_no"
		"   AND r.from_at > f.roles_told_at AND r.from_at <= $1) AS roles FROM found f");
	SfSweepResult left = {.next = DT_NOEND};
	List	   *tasks = NIL;

	if (!sf_keyed_cache_is_any(&sf_worklist_cache))
		return left;
	sf_db_read(&plan, read_swept, &tasks, SF_TIME(now), SF_INT4(MOST));
	foreach_ptr(const Swept, swept, tasks)
	{
		tell_if_waiting(swept);
		sf_human_set_sweep(swept->task_no);
	}
	left.more = list_length(tasks) == MOST;
	/* one that another session has locked is swept in a moment */
	left.next = Max(sf_human_next_sweep(), TimestampTzPlusMilliseconds(GetCurrentTimestamp(), 1000));
	return left;
}
