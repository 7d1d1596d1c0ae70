/*
 * check_functions.c
 *		Checks of sf_check() that need the compiled program, or what limits and holds apply to.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "api/objects.h"
#include "base/version/schema.h"
#include "report/report.h"
#include "store/feature.h"
#include "store/state_machine/program_cache.h"

/* Tell whether a version has a state of this number in the scope of that one. */
SF_SQL_FUNCTION(sfflow_has_state)
{
	const SfProgram *program = sf_program_cache_get(PG_GETARG_INT32(0), PG_GETARG_INT32(1));
	int			scope = PG_GETARG_INT32(2);
	int			state = PG_GETARG_INT32(3);

	PG_RETURN_BOOL(scope >= 0 && scope < program->nscopes &&
				   sf_program_has_state(program, state) &&
				   program->states[state].scope == scope);
}

/* What schema 1.0 calls it; pg_upgrade looks for that. */
SF_SQL_FUNCTION(sfflow_is_place)
{
	return sfflow_has_state(fcinfo);
}

/* The state with a number, if it is a JobNet; else NULL. */
static const SfState *
find_net(FunctionCallInfo fcinfo)
{
	const SfProgram *program = sf_program_cache_get(PG_GETARG_INT32(0), PG_GETARG_INT32(1));
	int			state = PG_GETARG_INT32(2);

	return !sf_program_has_state(program, state) ||
		program->states[state].type != SF_STATE_JOBNET ? NULL : &program->states[state];
}

/* Tell whether the state of a version with a number is a JobNet. */
SF_SQL_FUNCTION(sfflow_is_net)
{
	PG_RETURN_BOOL(find_net(fcinfo) != NULL);
}

/*
 * Tell what is wrong with the net at which a branch of an execution stands; NULL: nothing.
 * One that fails with FailureMode ABORT is on its way to its end.
 */
SF_SQL_FUNCTION(sfflow_inspect_net)
{
	const SfState *state = find_net(fcinfo);
	List	   *branches = sf_branch_scan(PG_GETARG_INT64(3),
										  sf_program_cache_get(PG_GETARG_INT32(0), PG_GETARG_INT32(1)));
	const SfBranch *join = sf_branch_by_no(branches, PG_GETARG_INT64(4));
	const SfBranch **rows;
	char	   *problem;

	if (state == NULL || join == NULL || !SF_IS_ONE_OF(join->phase, SF_PHASES_WITH_CHILDREN) ||
		sf_join_gives_up(join, state->failure_mode))
		PG_RETURN_NULL();
	rows = palloc0(sizeof(SfBranch *) * sf_state_net(state)->njobs);
	foreach_ptr(const SfBranch, branch, branches)
		if (branch->parent_no == join->branch_no && branch->branch_index >= 0 &&
			branch->branch_index < sf_state_net(state)->njobs)
			rows[branch->branch_index] = branch;
	problem = sf_ends_check(sf_state_net(state), join, rows);
	if (problem == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(problem));
}

/*
 * Read a branch as the query that calls sees it, and make a draft of its execution in a version;
 * NULL: there is none, or its state is unknown.
 */
SfDraft *
sf_object_read_branch(FunctionCallInfo fcinfo, SfBranch **branch)
{
	SfBranchKey key = {PG_GETARG_INT64(1), PG_GETARG_INT64(2)};
	SfExecution *execution = sf_execution_read(key.execution_no, SF_LOCK_NONE, false);
	SfDraft    *draft;

	*branch = execution == NULL ? NULL : sf_branch_read_seen(key);
	if (*branch == NULL)
		return NULL;
	execution->version = PG_GETARG_INT32(0);
	draft = sf_draft_make(execution);
	return !sf_program_has_state(draft->program, (*branch)->state) ? NULL : draft;
}

/*
 * Tell whether a branch of an execution is still parked so: by a feature, for an object or in a queue of it if that
 * kind has one; NULL: the object has been released or dropped since the query began, or the branch has gone on.
 */
static Datum
is_parked(FunctionCallInfo fcinfo, SfParkedKind kind)
{
	SfBranch   *branch;
	SfDraft    *draft;
	SfParked	parked = {.kind = kind,.queue = SF_NO_QUEUE};
	SfParking	parking;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		PG_RETURN_NULL();
	draft = sf_object_read_branch(fcinfo, &branch);
	parked.key = (SfBranchKey) {PG_GETARG_INT64(1), PG_GETARG_INT64(2)};
	parked.feature = text_to_cstring(PG_GETARG_TEXT_PP(3));
	if (kind != SF_PARKED_IN_LINE)
		parked.queue.object_no = PG_GETARG_INT64(4);
	if (sf_parked_in_queue(kind))
		parked.queue.hash = PG_GETARG_INT64(5);
	parking = draft == NULL ? SF_PARKING_GONE : sf_feature_still_parks(draft, branch, &parked);
	if (parking == SF_PARKING_GONE)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(parking == SF_PARKING_APPLIES);
}

/* Does what a branch is parked for keep it where it is? */
SF_SQL_FUNCTION(sfflow_is_parked_by)
{
	if (PG_ARGISNULL(6))
		PG_RETURN_NULL();
	return is_parked(fcinfo, PG_GETARG_INT16(6));
}

/* What schema 1.0 calls it, which has no kinds; pg_upgrade looks for that. */
SF_SQL_FUNCTION(sfflow_is_kept_by)
{
	return is_parked(fcinfo, PG_ARGISNULL(5) ? SF_PARKED_FOR_OBJECT : SF_PARKED_QUEUED);
}
