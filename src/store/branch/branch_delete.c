/*
 * branch_delete.c
 *		Rows of _sfflow.branch: delete those of ended branches, and end those of an
 *		ended execution.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "db/direct.h"
#include "db/row.h"
#include "store/branch/branch.h"
#include "store/task/task.h"

SF_COLUMN_NUMBERS(SF_BRANCH_COLUMNS);
#define NCOLUMNS	(COL_end - 1)

static const SfIndex by_number = {"branch", "branch_pkey"};
static const SfIndex by_parent = {"branch", "branch_parent"};

/* Collect the numbers of branches: arg is a List ** of int64. */
static void
collect_number(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **numbers = arg;
	int64	   *number = palloc(sizeof(int64));

	*number = sf_row_number(tuple, desc, COL_branch_no, 0);
	*numbers = lappend(*numbers, number);
}

/* Delete branches by number, and their tasks. */
static void
delete_by_number(int64 execution_no, const List *numbers)
{
	SfTable    *table = sf_table_open("branch", NCOLUMNS);
	ItemPointerData tid;
	ListCell   *lc;

	foreach(lc, numbers)
	{
		CHECK_FOR_INTERRUPTS();
		if (sf_row_fetch(&by_number, SF_LOCK_WAIT, NULL, sf_row_read_address, &tid,
						 SF_INT8(execution_no), SF_INT8(*(const int64 *) lfirst(lc))))
			sf_table_delete(table, &tid);
	}
	sf_table_close(table);
	CommandCounterIncrement();
	sf_task_delete_of(execution_no, numbers);
}

/*
 * Delete all descendants of a branch, generation by generation.  The children of a
 * branch are found by the index: a plan may, by what it takes the table for, read
 * all branches of the execution for each.
 */
void
sf_branch_delete_children(SfBranchKey parent)
{
	List	   *numbers = list_make1(&parent.branch_no);

	while (numbers != NIL)
	{
		List	   *children = NIL;
		ListCell   *lc;

		foreach(lc, numbers)
			sf_rows_read(&by_parent, PG_INT32_MAX, collect_number, &children,
						 SF_INT8(parent.execution_no), SF_INT8(*(const int64 *) lfirst(lc)));
		if (children != NIL)
			delete_by_number(parent.execution_no, children);
		numbers = children;
	}
}

/*
 * Delete a branch whose execution was deleted with its machine, unless another
 * session has the branch locked.
 */
void
sf_branch_delete_orphan(SfBranchKey key)
{
	static SfPlan plan = SF_PLAN(
		"WITH o AS (SELECT b.execution_no, b.branch_no FROM _sfflow.branch b"
		" WHERE b.execution_no = $1 AND b.branch_no = $2"
		" AND NOT EXISTS (SELECT FROM _sfflow.execution e"
		"  WHERE e.execution_no = b.execution_no) FOR UPDATE SKIP LOCKED)"
		" DELETE FROM _sfflow.branch b USING o"
		" WHERE b.execution_no = o.execution_no AND b.branch_no = o.branch_no");

	sf_db_execute(&plan, SF_BRANCH_KEY(key));
}

/* Delete every branch of an execution. */
void
sf_branch_delete_all(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"WITH t AS (DELETE FROM _sfflow.task t WHERE t.execution_no = $1)"
		" DELETE FROM _sfflow.branch b WHERE b.execution_no = $1");

	sf_db_execute(&plan, SF_INT8(execution_no));
}

/* Delete the branches that are to stop executions; waits for a worker that is about to stop one of them. */
void
sf_branch_delete_stops(const List *executions)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.branch b WHERE b.execution_no = ANY ($1) AND b.branch_no = $2");

	if (executions != NIL)
		sf_db_execute(&plan, sf_query_int8s(executions), SF_INT8(SF_BRANCH_STOP));
}

/*
 * End the branches of an ended execution, except those that another session has locked: they are not due, and of the
 * phase that sf_phase_at_end says, as a transition says it of a branch that is claimed later (SF_STIMULUS_OVER).  One
 * statement does it for all: to read and decide on each would cost as much as the execution has branches.
 */
void
sf_branch_quiesce(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"WITH free AS ("
		" SELECT b.branch_no FROM _sfflow.branch b"
		"  WHERE b.execution_no = $1"
		"  AND (b.due_at IS NOT NULL OR b.phase <> ALL ($3))"
		"  FOR UPDATE SKIP LOCKED)"
		" UPDATE _sfflow.branch b SET due_at = NULL, place = $5, task_payload = NULL,"
		"  generation = b.generation + 1, failing = b.failing AND b.phase = $8, aborting = b.aborting AND b.phase = $8,"
		"  phase = CASE WHEN b.phase = ANY ($2) THEN b.phase WHEN b.phase = ANY ($6) THEN $7 ELSE $4 END"
		"  FROM free WHERE b.execution_no = $1 AND b.branch_no = free.branch_no");
	static SfPlan of_execution = SF_PLAN(
		"DELETE FROM _sfflow.branch b WHERE b.execution_no = $1"
		" AND b.phase = ANY ($2)");

	sf_db_execute(&of_execution, SF_INT8(execution_no), SF_INT2S(SF_PHASES_OF_EXECUTION));
	sf_db_execute(&plan, SF_INT8(execution_no),
				  SF_INT2S(SF_PHASES_STAYING_AT_END),
				  SF_INT2S(SF_PHASES_ENDED),
				  SF_INT2(SF_PHASE_ABORTED), SF_INT2(SF_BRANCH_PLACE_NONE),
				  SF_INT2S(SF_PHASES_ANSWERED), SF_INT2(SF_PHASE_KEPT), SF_INT2(SF_PHASE_JOIN));
}
