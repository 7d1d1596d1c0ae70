/*
 * jobs.c
 *		The functions behind the views sf_jobs and sf_job_relations.
 *
 * Every role with USAGE on the private schema can call the functions directly.
 * So each of them checks that its caller may read what it shows.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "report/successors.h"
#include "report/job.h"
#include "report/label.h"
#include "store/program_cache.h"
#include "store/machine.h"
#include "store/privilege.h"
#include "store/status.h"

PG_FUNCTION_INFO_V1(sfflow_jobs);
PG_FUNCTION_INFO_V1(sfflow_job_relations);

/* Set a column that holds a text or is null. */
static void
set_text(Datum *value, bool *isnull, const char *text)
{
	*isnull = text == NULL;
	if (text != NULL)
		*value = CStringGetTextDatum(text);
}

/* Put one job into the result. */
static void
put_job(ReturnSetInfo *rsinfo, const SfProgram *program, const SfJob *job)
{
	Datum		values[9] = {0};
	bool		nulls[9] = {false};

	values[0] = CStringGetTextDatum(sf_label_job(program, job->state,
												 job->iterations,
												 job->niterations));
	values[1] = CStringGetTextDatum(sf_job_status_name(job->status));
	values[2] = Int32GetDatum(job->attempts);
	nulls[3] = job->started_at == DT_NOBEGIN;
	values[3] = TimestampTzGetDatum(job->started_at);
	nulls[4] = job->stopped_at == DT_NOEND;
	values[4] = TimestampTzGetDatum(job->stopped_at);
	nulls[5] = job->input_event == 0;
	values[5] = Int32GetDatum(job->input_event);
	nulls[6] = job->output_event == 0;
	values[6] = Int32GetDatum(job->output_event);
	set_text(&values[7], &nulls[7], job->error);
	set_text(&values[8], &nulls[8], job->cause);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * Return the jobs of an execution: job_id, job_status, attempts, started_at,
 * stopped_at, the events that hold input and output, error, cause.
 */
Datum
sfflow_jobs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	SfStatusExecution execution;
	const SfProgram *program;
	MemoryContext row;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	if (!sf_status_execution(PG_GETARG_INT64(0), &execution))
		return (Datum) 0;
	program = sf_program_get(execution.machine_no, execution.version);
	row = AllocSetContextCreate(CurrentMemoryContext, "sfflow job row",
								ALLOCSET_SMALL_SIZES);
	foreach(lc, sf_job_list(&execution, program))
	{
		MemoryContext old = MemoryContextSwitchTo(row);

		CHECK_FOR_INTERRUPTS();
		put_job(rsinfo, program, lfirst(lc));
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
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int			machine_no = PG_GETARG_INT32(0);
	int			version = PG_GETARG_INT32(1);
	SfMachine  *machine;
	const SfProgram *program;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	machine = sf_machine_read_version(machine_no, version);
	if (machine == NULL ||
		!sf_privilege_check(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner, SF_PRIVILEGE_READ))
		return (Datum) 0;
	program = sf_program_get(machine_no, version);
	foreach(lc, sf_successors_precedence(program))
	{
		const SfPrecedence *pair = lfirst(lc);
		Datum		values[2] = {0};
		bool		nulls[2] = {false};

		values[0] = CStringGetTextDatum(program->states[pair->state].name);
		set_text(&values[1], &nulls[1], pair->before < 0 ? NULL :
				 program->states[pair->before].name);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
