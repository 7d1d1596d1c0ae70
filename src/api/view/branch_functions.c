/*
 * branch_functions.c
 *		Columns of views about branches and Map runs that depend on the program of an
 *		execution: their names, and what they wait for.
 *
 * Every role with USAGE on the private schema can call the functions
 * directly, so each of them checks that its caller may read the execution, and
 * shows nothing otherwise.
 */
#include "postgres.h"

#include "access/xact.h"

#include "api/columns.h"
#include "api/sql_arguments.h"
#include "base/value/iterations.h"
#include "base/version/schema.h"
#include "report/report.h"
#include "store/execution/execution_head.h"
#include "store/state_machine/program_cache.h"
#include "transition/state/map_state.h"

/* Describe what a running execution waits for; null if it does not run. */
SF_SQL_FUNCTION(sfflow_waiting_on)
{
	int64		execution_no = PG_GETARG_INT64(0);
	SfExecutionHead execution;
	const SfProgram *program;
	char	   *text;

	if (!sf_head_read_visible(execution_no, &execution) ||
		execution.status != SF_STATUS_RUNNING)
		PG_RETURN_NULL();
	program = sf_program_cache_get(execution.machine_no, execution.version);
	text = sf_waiting_text(program, sf_branch_scan(execution_no, program),
						   GetCurrentStatementStartTimestamp());
	if (text == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(text));
}

/* Name a state of an execution within iterations as sf_jobs does. */
SF_SQL_FUNCTION(sfflow_job_name)
{
	SfExecutionHead execution;
	const SfProgram *program;
	int		   *iterations;
	int			niterations;
	int			state;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) ||
		!sf_head_read_visible(PG_GETARG_INT64(0), &execution))
		PG_RETURN_NULL();
	program = sf_program_cache_get(execution.machine_no, execution.version);
	state = sf_program_find_state(program, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	if (state == SF_NO_STATE)
		PG_RETURN_NULL();
	iterations = sf_arg_iterations(fcinfo, 2, &niterations);
	PG_RETURN_TEXT_P(cstring_to_text(sf_job_name(program, state, iterations,
												 niterations)));
}

/* What schema 1.0 calls it; pg_upgrade looks for that. */
SF_SQL_FUNCTION(sfflow_job_label)
{
	return sfflow_job_name(fcinfo);
}

/*
 * Name where a branch is: its state, the type of that state, the resource of
 * a Task, and the name of the branch.  The caller passes the columns of the row;
 * the result comes from the definition, not from the execution.
 */
SF_SQL_FUNCTION(sfflow_branch_names)
{
	int64		execution_no = PG_GETARG_INT64(0);
	int			scope = PG_GETARG_INT32(1);
	int			number = PG_GETARG_INT32(2);
	SfExecutionHead execution;
	const SfProgram *program;
	const SfState *state;
	int		   *iterations;
	int			niterations;
	SfColumns row = {0};

	iterations = sf_arg_iterations(fcinfo, 3, &niterations);
	if (!sf_head_read_visible(execution_no, &execution))
		PG_RETURN_NULL();
	program = sf_program_cache_get(execution.machine_no, execution.version);
	if (!sf_program_has_state(program, number) ||
		scope < 0 || scope >= program->nscopes)
		PG_RETURN_NULL();
	state = &program->states[number];
	sf_columns_text(&row, state->name);
	sf_columns_text(&row, sf_state_type_name(state->type));
	sf_columns_text(&row, state->type != SF_STATE_TASK ? NULL :
				   sf_state_task(state)->resource.text);
	sf_columns_text(&row, sf_job_branch_name(program, scope, iterations, niterations));
	PG_RETURN_DATUM(sf_columns_datum(fcinfo, &row));
}

/* What schema 1.0 calls it; pg_upgrade looks for that. */
SF_SQL_FUNCTION(sfflow_branch_place)
{
	return sfflow_branch_names(fcinfo);
}

/* Build the public name of a Map run: execution_no, state, uuid. */
SF_SQL_FUNCTION(sfflow_map_run_arn)
{
	int			number = PG_GETARG_INT32(1);
	SfExecutionHead execution;
	SfExecution *head;
	const SfProgram *program;

	if (!sf_head_read_visible(PG_GETARG_INT64(0), &execution))
		PG_RETURN_NULL();
	program = sf_program_cache_get(execution.machine_no, execution.version);
	if (!sf_program_has_state(program, number) ||
		!sf_state_is_distributed(&program->states[number]))
		PG_RETURN_NULL();
	head = sf_execution_make();
	head->machine_name = unconstify(char *, execution.machine);
	PG_RETURN_TEXT_P(cstring_to_text(sf_map_arn(head, &program->states[number],
												text_to_cstring(PG_GETARG_TEXT_PP(2)))));
}
