/*
 * jobs.c
 *		The functions behind the views sf_jobs and sf_job_relations.
 *
 * Every role with USAGE on the private schema can call the functions directly.
 * So each of them checks that its caller may read what it shows.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "api/columns.h"
#include "report/successors.h"
#include "report/job.h"
#include "report/label.h"
#include "store/program_cache.h"
#include "store/machine.h"
#include "store/privilege.h"
#include "store/status.h"

PG_FUNCTION_INFO_V1(sfflow_jobs);
PG_FUNCTION_INFO_V1(sfflow_job_relations);

/* Put one job into the result. */
static void
put_job(FunctionCallInfo fcinfo, const SfProgram *program, const SfJob *job)
{
	SfColumns row = {0};

	sf_columns_text(&row, sf_label_job(program, job->state, job->iterations,
									  job->niterations));
	sf_columns_text(&row, sf_job_status_name(job->status));
	sf_columns_add(&row, Int32GetDatum(job->attempts), false);
	sf_columns_time(&row, job->started_at);
	sf_columns_time(&row, job->stopped_at);
	sf_columns_add(&row, Int32GetDatum(job->input_event), job->input_event == 0);
	sf_columns_add(&row, Int32GetDatum(job->output_event), job->output_event == 0);
	sf_columns_text(&row, job->error);
	sf_columns_text(&row, job->cause);
	sf_columns_put(fcinfo, &row);
}

/*
 * Return the jobs of an execution: job_id, job_status, attempts, started_at,
 * stopped_at, the events that hold input and output, error, cause.
 */
Datum
sfflow_jobs(PG_FUNCTION_ARGS)
{
	SfStatusExecution execution;
	const SfProgram *program;
	MemoryContext row;

	InitMaterializedSRF(fcinfo, 0);
	if (!sf_status_execution(PG_GETARG_INT64(0), &execution))
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
Datum
sfflow_job_relations(PG_FUNCTION_ARGS)
{
	int			machine_no = PG_GETARG_INT32(0);
	int			version = PG_GETARG_INT32(1);
	SfMachine  *machine;
	const SfProgram *program;

	InitMaterializedSRF(fcinfo, 0);
	machine = sf_machine_read_version(machine_no, version);
	if (machine == NULL ||
		!sf_privilege_check(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner, SF_PRIVILEGE_READ))
		return (Datum) 0;
	program = sf_program_cache_get(machine_no, version);
	foreach_ptr(const SfPrecedence, pair, sf_successors_precedence(program))
	{
		SfColumns row = {0};

		sf_columns_text(&row, program->states[pair->state].name);
		sf_columns_text(&row, pair->before < 0 ? NULL :
					   program->states[pair->before].name);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}
