/*
 * job_functions.c
 *		The functions behind the views sf_jobs and sf_job_relations, and behind
 *		the console's plan of a redrive.
 *
 * Every role with USAGE on the private schema can call the functions directly.
 * So each of them checks that its caller may read what it shows.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/version/schema.h"
#include "json/json.h"
#include "report/job.h"
#include "report/report.h"
#include "report/successors.h"
#include "store/execution/execution_head.h"
#include "store/role/privilege.h"
#include "store/state_machine/machine.h"
#include "store/state_machine/program_cache.h"

/* Put one job into the result. */
static void
put_job(FunctionCallInfo fcinfo, const SfProgram *program, const SfJob *job)
{
	SfColumns row = {0};

	sf_columns_text(&row, sf_job_name(program, job->state, job->iterations,
									  job->niterations));
	sf_columns_text(&row, sf_job_status_name(job->status));
	sf_columns_add(&row, Int32GetDatum(job->attempts), false);
	sf_columns_time(&row, job->started_at);
	sf_columns_time(&row, job->stopped_at);
	sf_columns_add(&row, Int32GetDatum(job->input_event), job->input_event == SF_NO_EVENT);
	sf_columns_add(&row, Int32GetDatum(job->output_event), job->output_event == SF_NO_EVENT);
	sf_columns_text(&row, job->error);
	sf_columns_text(&row, job->cause);
	sf_columns_put(fcinfo, &row);
}

/*
 * Return the jobs of an execution: job_id, job_status, attempts, started_at,
 * stopped_at, the events that hold input and output, error, cause.
 */
SF_SQL_FUNCTION(sfflow_jobs)
{
	SfExecutionHead execution;
	const SfProgram *program;
	MemoryContext row;

	InitMaterializedSRF(fcinfo, 0);
	if (!sf_head_read_visible(PG_GETARG_INT64(0), &execution))
		return (Datum) 0;
	program = sf_program_cache_get(execution.machine_no, execution.version);
	row = AllocSetContextCreate(CurrentMemoryContext, "sfflow job row",
								ALLOCSET_SMALL_SIZES);
	foreach_ptr(SfJob, job, sf_job_list(&execution, program))
	{
		MemoryContext old = MemoryContextSwitchTo(row);

		CHECK_FOR_INTERRUPTS();
		put_job(fcinfo, program, job);
		MemoryContextSwitchTo(old);
		MemoryContextReset(row);
	}
	MemoryContextDelete(row);
	return (Datum) 0;
}

/*
 * Return the Tasks of a version, each with one Task that directly precedes it
 * (null: nothing does): job_id, pre_job_id.
 */
SF_SQL_FUNCTION(sfflow_job_relations)
{
	int			machine_no = PG_GETARG_INT32(0);
	int			version = PG_GETARG_INT32(1);
	SfMachine  *machine;
	const SfProgram *program;

	InitMaterializedSRF(fcinfo, 0);
	machine = sf_machine_read_version(machine_no, version);
	if (machine == NULL ||
		!sf_privilege_check(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner, SF_RIGHT_READ))
		return (Datum) 0;
	program = sf_program_cache_get(machine_no, version);
	foreach_ptr(const SfPrecedence, pair, sf_successors_precedence(program))
	{
		SfColumns row = {0};

		sf_columns_text(&row, program->states[pair->state].name);
		sf_columns_text(&row, pair->before == SF_NO_STATE ? NULL :
					   program->states[pair->before].name);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* Tell whether a state, or one that it lies in, is in a set. */
static bool
lies_in(const SfProgram *program, int state, const Bitmapset *set)
{
	for (int i = state; i != SF_NO_STATE; i = program->scopes[program->states[i].scope].owner_state)
		if (bms_is_member(i, set))
			return true;
	return false;
}

/* Return the names of the Tasks that can run if an execution goes on with a state: execution_id, state. */
SF_SQL_FUNCTION(sfflow_tasks_from)
{
	const char *name = sf_arg_text(fcinfo, 1, "state");
	SfExecutionHead execution;
	const SfProgram *program;
	Bitmapset  *following;
	ArrayBuildState *tasks = initArrayResult(TEXTOID, CurrentMemoryContext, false);
	int			state;

	if (!sf_head_read_visible(sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"), SF_LOCK_NONE,
											   SF_RIGHT_READ)->execution_no, &execution))
		PG_RETURN_NULL();
	program = sf_program_cache_get(execution.machine_no, execution.version);
	state = sf_program_find_state(program, name);
	if (state == SF_NO_STATE)
		PG_RETURN_NULL();
	following = bms_add_member(sf_successors_after(program, state, SF_WAY_ALL), state);
	for (int i = 0; i < program->nstates; i++)
		if (program->states[i].type == SF_STATE_TASK && lies_in(program, i, following))
			accumArrayResult(tasks, CStringGetTextDatum(program->states[i].name), false, TEXTOID,
							 CurrentMemoryContext);
	PG_RETURN_DATUM(makeArrayResult(tasks, CurrentMemoryContext));
}

/* --- what is ahead --- */

/* Find the Tasks of the jobs that run or are to come, by the numbers of their states. */
static List *
tasks_ahead(const SfExecutionHead *execution, const SfProgram *program, List *ahead)
{
	Bitmapset  *states = NULL;
	List	   *tasks = NIL;

	foreach_ptr(const SfJob, job, sf_job_list(execution, program))
		if (job->status == SF_JOB_STATUS_ENTRY || job->status == SF_JOB_STATUS_RUNNING)
			states = bms_add_member(states, job->state);
	foreach_ptr(const SfAhead, a, ahead)
		states = bms_add_member(states, a->state);
	for (int state = -1; (state = bms_next_member(states, state)) >= 0;)
		tasks = lappend_int(tasks, state);
	return tasks;
}

/*
 * _sfflow.jobs_ahead(execution_id): what a running execution will run that sf_jobs has no
 * row of ("more"), and whether all that is ahead runs if nothing fails ("certain").
 */
SF_SQL_FUNCTION(sfflow_jobs_ahead)
{
	SfExecutionHead execution;
	const SfProgram *program;
	List	   *ahead;
	SfJsonBuilder json;

	if (!sf_head_read_visible(sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"), SF_LOCK_NONE,
											   SF_RIGHT_READ)->execution_no, &execution))
		PG_RETURN_NULL();
	program = sf_program_cache_get(execution.machine_no, execution.version);
	ahead = sf_ahead_list(&execution, program);
	sf_json_begin_object(&json);
	sf_json_add_bool(&json, "certain", sf_ahead_is_certain(program, sf_branch_scan(execution.execution_no, program),
														   tasks_ahead(&execution, program, ahead)));
	sf_json_open_array(&json, "more");
	foreach_ptr(const SfAhead, a, ahead)
	{
		const SfState *state = &program->states[a->state];

		sf_json_open_object(&json, NULL);
		sf_json_add_string(&json, "state", state->name);
		sf_json_add_string(&json, "type", sf_state_type_name(state->type));
		if (a->jobs != SF_JOBS_NOT_KNOWN)
			sf_json_add_int(&json, "jobs", a->jobs);
		sf_json_close_object(&json);
	}
	sf_json_close_array(&json);
	PG_RETURN_JSONB_P(sf_json_end(&json));
}
