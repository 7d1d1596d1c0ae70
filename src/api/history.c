/*
 * history.c
 *		Behind the views sf_history, sf_executions, sf_tasks and sf_workers: what needs the
 *		program of an execution to be shown.
 *
 * Every role with USAGE on the private schema can call the functions
 * directly, so each of them checks that its caller may read the execution, and
 * shows nothing otherwise.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "base/public_name.h"
#include "asl/event_types.h"
#include "report/event_details.h"
#include "report/label.h"
#include "machine/map_state.h"
#include "store/program_cache.h"
#include "report/waiting.h"
#include "store/status.h"

PG_FUNCTION_INFO_V1(sfflow_event_types);
PG_FUNCTION_INFO_V1(sfflow_history);
PG_FUNCTION_INFO_V1(sfflow_waiting_on);
PG_FUNCTION_INFO_V1(sfflow_branch_place);
PG_FUNCTION_INFO_V1(sfflow_job_label);
PG_FUNCTION_INFO_V1(sfflow_map_run_arn);

typedef struct HistoryOutput
{
	ReturnSetInfo *rsinfo;
	const SfProgram *program;
	const char *role_arn;
} HistoryOutput;

/* Put one event into the result. */
static void
put_event(const SfEvent *event, void *arg)
{
	HistoryOutput *out = arg;
	Datum		values[6] = {0};
	bool		nulls[6] = {false};

	values[0] = Int32GetDatum(event->id);
	values[1] = Int32GetDatum(event->previous_id);
	values[2] = TimestampTzGetDatum(event->at);
	values[3] = CStringGetTextDatum(sf_event_type_name(event->type));
	nulls[4] = event->state < 0 || event->state >= out->program->nstates;
	if (!nulls[4])
		values[4] = CStringGetTextDatum(out->program->states[event->state].name);
	values[5] = JsonbPGetDatum(sf_event_details_make(out->program, event,
												out->role_arn));
	tuplestore_putvalues(out->rsinfo->setResult, out->rsinfo->setDesc,
						 values, nulls);
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
	out.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	out.program = sf_program_get(execution.machine_no, execution.version);
	out.role_arn = sf_public_name(SF_NAME_ROLE, owner != NULL ? owner : "unknown");
	sf_event_scan(execution_no, true, put_event, &out);
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
	text = sf_waiting_text(sf_program_get(execution.machine_no, execution.version),
						   sf_branch_scan(execution_no),
						   GetCurrentStatementStartTimestamp());
	if (text == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(text));
}

/* Read an array of iterations that came from a row; null and odd ones are empty. */
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
	program = sf_program_get(execution.machine_no, execution.version);
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
	TupleDesc	desc;
	Datum		values[4] = {0};
	bool		nulls[4] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	iterations = iterations_argument(fcinfo, 3, &niterations);
	if (!sf_status_execution(execution_no, &execution))
		PG_RETURN_NULL();
	program = sf_program_get(execution.machine_no, execution.version);
	if (number < 0 || number >= program->nstates ||
		scope < 0 || scope >= program->nscopes)
		PG_RETURN_NULL();
	state = &program->states[number];
	values[0] = CStringGetTextDatum(state->name);
	values[1] = CStringGetTextDatum(sf_state_type_name(state->type));
	nulls[2] = state->type != SF_STATE_TASK;
	if (!nulls[2])
		values[2] = CStringGetTextDatum(sf_state_task(state)->resource.text);
	values[3] = CStringGetTextDatum(sf_label_branch(program, scope, iterations,
													niterations));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
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
	program = sf_program_get(execution.machine_no, execution.version);
	if (number < 0 || number >= program->nstates ||
		sf_state_distributed(&program->states[number]) == NULL)
		PG_RETURN_NULL();
	head.machine_name = unconstify(char *, execution.machine);
	PG_RETURN_TEXT_P(cstring_to_text(sf_map_run_arn(&head, &program->states[number],
													text_to_cstring(PG_GETARG_TEXT_PP(2)))));
}

/* Return the numbers of the types whose names are LIKE one of the arguments. */
Datum
sfflow_event_types(PG_FUNCTION_ARGS)
{
	Datum	   *patterns;
	Datum		numbers[SF_EVENT_TYPE_COUNT];
	int			npatterns,
				n = 0;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, -1, false, TYPALIGN_INT,
					  &patterns, NULL, &npatterns);
	for (int type = 0; type < SF_EVENT_TYPE_COUNT; type++)
	{
		Datum		name = CStringGetTextDatum(sf_event_type_name(type));
		bool		matches = false;

		for (int i = 0; i < npatterns && !matches; i++)
			matches = DatumGetBool(DirectFunctionCall2Coll(textlike, C_COLLATION_OID,
														   name, patterns[i]));
		if (matches)
			numbers[n++] = Int16GetDatum(type);
	}
	PG_RETURN_ARRAYTYPE_P(construct_array(numbers, n, INT2OID, 2, true, TYPALIGN_SHORT));
}
