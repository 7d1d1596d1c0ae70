/*
 * branch_delete.c
 *		Rows of _sfflow.branch: delete those of ended branches, and end those of an
 *		ended execution.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"

#include "store/branch.h"

/* Collect the numbers of deleted branches: arg is an ArrayBuildState **. */
static void
collect_number(HeapTuple tuple, TupleDesc desc, void *arg)
{
	ArrayBuildState **numbers = arg;

	*numbers = accumArrayResult(*numbers,
								Int64GetDatum(sf_row_number(tuple, desc, 1, 0)),
								false, INT8OID, CurrentMemoryContext);
}

/*
 * Delete all descendants of a branch, generation by generation: the children
 * of an array of branches are found by the index whatever the planner knows of
 * the table, which a join does not ensure.
 */
void
sf_branch_delete_children(SfBranchKey parent)
{
	static SfPlan branches = SF_PLAN(
		"DELETE FROM _sfflow.branch b WHERE b.execution_no = $1"
		" AND b.parent_no = ANY ($2) RETURNING b.branch_no");
	static SfPlan tasks = SF_PLAN(
		"DELETE FROM _sfflow.task t WHERE t.execution_no = $1"
		" AND t.branch_no = ANY ($2)");
	SfArg		execution = SF_INT8(parent.execution_no);
	Datum		number = Int64GetDatum(parent.branch_no);
	SfArg		numbers = sf_query_arg(INT8ARRAYOID,
									   PointerGetDatum(construct_array(&number, 1, INT8OID,
																	   sizeof(int64), FLOAT8PASSBYVAL,
																	   TYPALIGN_DOUBLE)), false);

	for (;;)
	{
		ArrayBuildState *children = NULL;

		CHECK_FOR_INTERRUPTS();
		if (sf_store_read(&branches, collect_number, &children, execution, numbers) == 0)
			break;
		numbers.value = makeArrayResult(children, CurrentMemoryContext);
		sf_store_execute(&tasks, execution, numbers);
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

	sf_store_execute(&plan, SF_KEY(key));
}

/* Delete every branch of an execution. */
void
sf_branch_delete_all(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"WITH t AS (DELETE FROM _sfflow.task t WHERE t.execution_no = $1)"
		" DELETE FROM _sfflow.branch b WHERE b.execution_no = $1");

	sf_store_execute(&plan, SF_INT8(execution_no));
}

/*
 * End the branches of an ended execution, except those that another session has locked:
 * they become ABORTED and not due.  Joins and branches with an answer keep their phase.
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
		" UPDATE _sfflow.branch b SET due_at = NULL, place = 0,"
		"  generation = b.generation + 1,"
		"  phase = CASE WHEN b.phase = ANY ($2) THEN b.phase ELSE $4 END"
		"  FROM free WHERE b.execution_no = $1 AND b.branch_no = free.branch_no");
	static SfPlan deadline = SF_PLAN(
		"DELETE FROM _sfflow.branch b WHERE b.execution_no = $1"
		" AND b.phase = ANY ($2)");

	sf_store_execute(&deadline, SF_INT8(execution_no), SF_INT2S(SF_PHASE_DEADLINE, SF_PHASE_STOP));
	sf_store_execute(&plan, SF_INT8(execution_no),
					 SF_INT2S(SF_PHASE_JOIN, SF_PHASE_ANSWERED, SF_PHASE_DONE,
							  SF_PHASE_FAILED, SF_PHASE_ABORTED),
					 SF_INT2S(SF_PHASE_DONE, SF_PHASE_FAILED, SF_PHASE_ABORTED),
					 SF_INT2(SF_PHASE_ABORTED));
}
