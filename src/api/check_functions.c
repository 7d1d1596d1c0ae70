/*
 * check_functions.c
 *		Checks of sf_check() that need the compiled program, or what limits and holds apply to.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/columns.h"
#include "report/job_ends.h"
#include "run/gate.h"
#include "store/hold.h"
#include "store/program_cache.h"

PG_FUNCTION_INFO_V1(sfflow_is_place);
PG_FUNCTION_INFO_V1(sfflow_is_net);
PG_FUNCTION_INFO_V1(sfflow_inspect_net);
PG_FUNCTION_INFO_V1(sfflow_branch_limits);
PG_FUNCTION_INFO_V1(sfflow_is_held_by);

/* Tell whether a version has a state of this number in the scope of that one. */
Datum
sfflow_is_place(PG_FUNCTION_ARGS)
{
	const SfProgram *program = sf_program_cache_get(PG_GETARG_INT32(0), PG_GETARG_INT32(1));
	int			scope = PG_GETARG_INT32(2);
	int			state = PG_GETARG_INT32(3);

	PG_RETURN_BOOL(scope >= 0 && scope < program->nscopes &&
				   state >= 0 && state < program->nstates &&
				   program->states[state].scope == scope);
}

/* The state with a number, if it is a JobNet; else NULL. */
static const SfState *
find_net(FunctionCallInfo fcinfo)
{
	const SfProgram *program = sf_program_cache_get(PG_GETARG_INT32(0), PG_GETARG_INT32(1));
	int			state = PG_GETARG_INT32(2);

	return state < 0 || state >= program->nstates ||
		program->states[state].type != SF_STATE_JOBNET ? NULL : &program->states[state];
}

/* Tell whether the state of a version with a number is a JobNet. */
Datum
sfflow_is_net(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(find_net(fcinfo) != NULL);
}

/*
 * Tell what is wrong with the net at which a branch of an execution stands; NULL: nothing.
 * One that fails with FailureMode ABORT is on its way to its end.
 */
Datum
sfflow_inspect_net(PG_FUNCTION_ARGS)
{
	const SfState *state = find_net(fcinfo);
	List	   *branches = sf_branch_scan(PG_GETARG_INT64(3),
										  sf_program_cache_get(PG_GETARG_INT32(0), PG_GETARG_INT32(1)));
	const SfBranch *join = sf_branch_by_no(branches, PG_GETARG_INT64(4));
	const SfBranch **rows;
	char	   *problem;

	if (state == NULL || join == NULL || join->aborting ||
		(join->failing && state->failure_mode == SF_FAILURE_ABORT))
		PG_RETURN_NULL();
	rows = palloc0(sizeof(SfBranch *) * sf_state_net(state)->njobs);
	foreach_ptr(const SfBranch, branch, branches)
		if (branch->parent_no == join->branch_no && branch->branch_index >= 0 &&
			branch->branch_index < sf_state_net(state)->njobs)
			rows[branch->branch_index] = branch;
	problem = sf_job_ends_check(sf_state_net(state), join, rows);
	if (problem == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(problem));
}

/*
 * Read a branch as the query that calls sees it, and make a draft of its execution in a version;
 * NULL: there is none, or its state is unknown.
 */
static SfDraft *
look_at(FunctionCallInfo fcinfo, SfBranch **branch)
{
	SfBranchKey key = {PG_GETARG_INT64(1), PG_GETARG_INT64(2)};
	SfExecution *execution = sf_execution_read(key.execution_no, SF_LOCK_NONE, false);
	SfDraft    *draft;

	*branch = execution == NULL ? NULL : sf_branch_look(key);
	if (*branch == NULL)
		return NULL;
	execution->version = PG_GETARG_INT32(0);
	draft = sf_draft_make(execution);
	return (*branch)->state < 0 || (*branch)->state >= draft->program->nstates ? NULL : draft;
}

/*
 * Return the limits that apply to a branch where it is: limit_no, queue, whether the limit is of
 * executions, whether it is that of a join around the branch, and whether an execution that waits
 * for this one has a slot, so that the branch needs none.
 */
Datum
sfflow_branch_limits(PG_FUNCTION_ARGS)
{
	SfBranch   *branch;
	SfDraft    *draft = look_at(fcinfo, &branch);

	InitMaterializedSRF(fcinfo, 0);
	if (draft == NULL)
		return (Datum) 0;
	foreach_ptr(const SfWanted, wanted, sf_gate_list_queues(draft, branch))
	{
		SfColumns	row = {0};

		sf_columns_add(&row, Int64GetDatum(wanted->queue.limit_no), false);
		sf_columns_add(&row, Int64GetDatum(wanted->queue.hash), false);
		sf_columns_add(&row, BoolGetDatum(sf_limit_is_of_executions(&wanted->limit)), false);
		sf_columns_add(&row, BoolGetDatum(wanted->holder.execution_no != 0), false);
		sf_columns_add(&row, BoolGetDatum(sf_gate_shares(draft->execution, wanted->queue)), false);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* Tell whether a hold with a number holds a branch of an execution where it is; NULL: it has been released since. */
Datum
sfflow_is_held_by(PG_FUNCTION_ARGS)
{
	SfBranch   *branch;
	SfDraft    *draft = look_at(fcinfo, &branch);

	if (draft == NULL || sf_hold_by_number(PG_GETARG_INT64(3)) == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(sf_gate_is_held_by(draft, branch, PG_GETARG_INT64(3)));
}
