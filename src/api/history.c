/*
 * history.c
 *		Columns of the views sf_history, sf_executions, sf_tasks and sf_workers
 *		that depend on the program of an execution.
 *
 * Every role with USAGE on the private schema can call the functions
 * directly, so each of them checks that its caller may read the execution, and
 * shows nothing otherwise.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "api/columns.h"
#include "base/public_name.h"
#include "asl/event_types.h"
#include "report/event_details.h"
#include "report/label.h"
#include "machine/map_state.h"
#include "store/program_cache.h"
#include "report/waiting.h"
#include "store/status.h"

PG_FUNCTION_INFO_V1(sfflow_history);
PG_FUNCTION_INFO_V1(sfflow_waiting_on);
PG_FUNCTION_INFO_V1(sfflow_branch_place);
PG_FUNCTION_INFO_V1(sfflow_job_label);
PG_FUNCTION_INFO_V1(sfflow_map_run_arn);

typedef struct HistoryOutput
{
	FunctionCallInfo fcinfo;
	int			machine_no;
	int			version;		/* of the program */
	const SfProgram *program;
	const char *role_arn;
} HistoryOutput;

/* Put one event into the result. */
static void
put_event(const SfEvent *event, void *arg)
{
	HistoryOutput *out = arg;
	bool		known;
	SfColumns row = {0};

	/* the events of earlier runs keep the version that a restart has replaced */
	if (event->version != out->version)
		out->program = sf_program_cache_get(out->machine_no, event->version);
	out->version = event->version;
	known = event->state >= 0 && event->state < out->program->nstates;
	sf_columns_add(&row, Int32GetDatum(event->id), false);
	sf_columns_add(&row, Int32GetDatum(event->previous_id), false);
	sf_columns_time(&row, event->at);
	sf_columns_text(&row, sf_event_type_name(event->type));
	sf_columns_text(&row, known ? out->program->states[event->state].name : NULL);
	sf_columns_jsonb(&row, sf_event_details_make(out->program, event, out->role_arn));
	sf_columns_put(out->fcinfo, &row);
}

/*
 * Return the history of an execution: id, previous_event_id, timestamp, type,
 * state, details.
 */
Datum
sfflow_history(PG_FUNCTION_ARGS)
{
	int64		execution_no = PG_GETARG_INT64(0);
	SfStatusExecution execution;
	HistoryOutput out;
	const char *owner;

	InitMaterializedSRF(fcinfo, 0);
	if (!sf_status_execution(execution_no, &execution))
		return (Datum) 0;
	owner = GetUserNameFromId(execution.owner, true);
	out.fcinfo = fcinfo;
	out.machine_no = execution.machine_no;
	out.version = execution.version;
	out.program = sf_program_cache_get(out.machine_no, out.version);
	out.role_arn = sf_public_name(SF_NAME_ROLE, owner != NULL ? owner : "unknown");
	sf_event_scan(execution_no, SF_DOCUMENTS_ALL, put_event, &out);
	return (Datum) 0;
}

/* Describe what a running execution waits for; null if it does not run. */
Datum
sfflow_waiting_on(PG_FUNCTION_ARGS)
{
	int64		execution_no = PG_GETARG_INT64(0);
	SfStatusExecution execution;
	char	   *text;

	if (!sf_status_execution(execution_no, &execution) ||
		execution.status != SF_STATUS_RUNNING)
		PG_RETURN_NULL();
	text = sf_waiting_text(sf_program_cache_get(execution.machine_no, execution.version),
						   sf_branch_scan(execution_no),
						   GetCurrentStatementStartTimestamp());
	if (text == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(text));
}

/* Read an array of iterations; one that is null or has nulls is empty. */
static int *
iterations_argument(FunctionCallInfo fcinfo, int n, int *niterations)
{
	ArrayType  *array;

	*niterations = 0;
	if (PG_ARGISNULL(n))
		return NULL;
	array = PG_GETARG_ARRAYTYPE_P(n);
	if (array_contains_nulls(array))
		return NULL;
	*niterations = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	return (int *) ARR_DATA_PTR(array);
}

/* Name a state of an execution within iterations as sf_jobs does. */
Datum
sfflow_job_label(PG_FUNCTION_ARGS)
{
	SfStatusExecution execution;
	const SfProgram *program;
	int		   *iterations;
	int			niterations;
	int			state;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) ||
		!sf_status_execution(PG_GETARG_INT64(0), &execution))
		PG_RETURN_NULL();
	program = sf_program_cache_get(execution.machine_no, execution.version);
	state = sf_program_find_state(program, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	if (state < 0)
		PG_RETURN_NULL();
	iterations = iterations_argument(fcinfo, 2, &niterations);
	PG_RETURN_TEXT_P(cstring_to_text(sf_label_job(program, state, iterations,
												  niterations)));
}

/*
 * Name the place of a branch: its state, the type of that state, the resource of
 * a Task, and the name of the branch.  The caller passes the columns of the row;
 * the result comes from the definition, not from the execution.
 */
Datum
sfflow_branch_place(PG_FUNCTION_ARGS)
{
	int64		execution_no = PG_GETARG_INT64(0);
	int			scope = PG_GETARG_INT32(1);
	int			number = PG_GETARG_INT32(2);
	SfStatusExecution execution;
	const SfProgram *program;
	const SfState *state;
	int		   *iterations;
	int			niterations;
	SfColumns row = {0};

	iterations = iterations_argument(fcinfo, 3, &niterations);
	if (!sf_status_execution(execution_no, &execution))
		PG_RETURN_NULL();
	program = sf_program_cache_get(execution.machine_no, execution.version);
	if (number < 0 || number >= program->nstates ||
		scope < 0 || scope >= program->nscopes)
		PG_RETURN_NULL();
	state = &program->states[number];
	sf_columns_text(&row, state->name);
	sf_columns_text(&row, sf_state_type_name(state->type));
	sf_columns_text(&row, state->type != SF_STATE_TASK ? NULL :
				   sf_state_task(state)->resource.text);
	sf_columns_text(&row, sf_label_branch(program, scope, iterations, niterations));
	PG_RETURN_DATUM(sf_columns_datum(fcinfo, &row));
}

/* Build the public name of a Map run: execution_no, state, uuid. */
Datum
sfflow_map_run_arn(PG_FUNCTION_ARGS)
{
	int			number = PG_GETARG_INT32(1);
	SfStatusExecution execution;
	SfExecution head = {0};
	const SfProgram *program;

	if (!sf_status_execution(PG_GETARG_INT64(0), &execution))
		PG_RETURN_NULL();
	program = sf_program_cache_get(execution.machine_no, execution.version);
	if (number < 0 || number >= program->nstates ||
		!sf_state_is_distributed(&program->states[number]))
		PG_RETURN_NULL();
	head.machine_name = unconstify(char *, execution.machine);
	PG_RETURN_TEXT_P(cstring_to_text(sf_map_arn(&head, &program->states[number],
												text_to_cstring(PG_GETARG_TEXT_PP(2)))));
}
