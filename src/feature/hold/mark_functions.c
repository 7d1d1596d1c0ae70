/*
 * mark_functions.c
 *		sf_mark(): mark a job, which then ends without its task.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/value/iterations.h"
#include "base/version/schema.h"
#include "feature/hold/mark.h"
#include "report/job.h"
#include "report/report.h"
#include "run/execution/lifecycle.h"
#include "store/audit/audit.h"
#include "store/state_machine/program_cache.h"

/* Read the argument outcome. */
static SfMarkOutcome
parse_outcome(const char *text)
{
	static const char *const names[] = {SF_MARK_OUTCOME_LIST(SF_MARK_OUTCOME_NAME)};

	return (SfMarkOutcome) sf_argument_word("outcome", text, names, lengthof(names));
}

/* Read the outcome and the output. */
static SfMark
parse_mark(FunctionCallInfo fcinfo)
{
	SfMark		mark = {
		.outcome = parse_outcome(sf_arg_text(fcinfo, 2, "outcome")),
		.output = sf_arg_jsonb_or_null(fcinfo, 3)
	};

	if (mark.output == NULL)
		return mark;
	if (mark.outcome != SF_MARK_OUTCOME_SUCCESS)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument output is for the outcome success")));
	sf_arg_check_size(mark.output, "output");
	return mark;
}

/* Find a job by its name, as it is now. */
static SfJob *
find_job(const SfExecution *execution, const SfProgram *program, const char *job_id)
{
	SfExecutionHead head;
	SfClosest	closest = sf_closest_begin(job_id);
	List	   *jobs;

	PushActiveSnapshot(GetTransactionSnapshot());
	jobs = sf_head_read(execution->execution_no, &head) ? sf_job_list(&head, program) : NIL;
	PopActiveSnapshot();
	foreach_ptr(SfJob, job, jobs)
	{
		char	   *name = sf_job_name(program, job->state, job->iterations, job->niterations);

		if (strcmp(name, job_id) == 0)
			return job;
		sf_closest_offer(&closest, name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("execution \"%s\" has no job \"%s\"", execution->execution_id, job_id),
			 sf_closest_errhint(&closest, "The view sf_jobs lists its jobs. Iterations that have not begun have none yet.")));
}

/* Does a branch wait at a job, for a retry or for the end of a hold? */
static bool
waits_at(const SfExecution *execution, const SfJob *job)
{
	foreach_ptr(const SfBranch, branch, sf_branch_all(execution->execution_no, SF_LOCK_NONE))
		if (branch->state == job->state && branch->phase == SF_PHASE_RUN &&
			sf_same_iterations(branch->iterations, branch->niterations, job->iterations, job->niterations))
			return true;
	return false;
}

/* Refuse to mark a job that is over, or that runs. */
static void
check_job(const SfExecution *execution, const SfJob *job, const char *job_id)
{
	bool		runs = job->status == SF_JOB_STATUS_RUNNING && !waits_at(execution, job);

	if (!runs && (job->status != SF_JOB_STATUS_SUCCESS || job->marking == SF_MARKING_PENDING))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SF_EXECUTION_CHANGED),
			 errmsg("job \"%s\" of execution \"%s\" %s", job_id, execution->execution_id,
					runs ? "is running" : "has succeeded"),
			 runs ? errhint("Wait until it ends, or stop the execution first, mark the job, then redrive.") :
			 errdetail("A job can be marked that failed, that is held, or that was not reached.")));
}

/* What the history and the audit say of a mark. */
static Jsonb *
describe(const SfMark *mark, const char *job_id, const char *reason)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "job", job_id);
	sf_json_add_string(&json, "outcome", sf_mark_outcome_name(mark->outcome));
	sf_json_add_string(&json, "role", GetUserNameFromId(GetUserId(), false));
	sf_json_add_string(&json, "reason", reason);
	return sf_json_end(&json);
}

/* sf_mark(execution_id, job_id, outcome, output, reason) */
SF_SQL_FUNCTION(sfflow_sf_mark)
{
	char	   *job_id = sf_arg_text(fcinfo, 1, "job_id");
	SfMark		mark = parse_mark(fcinfo);
	SfExecution *execution = sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"),
											  SF_LOCK_WAIT, SF_RIGHT_OPERATE);
	const SfProgram *program;
	SfJob	   *job;
	char	   *reason = sf_arg_text_or_null(fcinfo, 4);

	if (execution->status == SF_STATUS_SUCCEEDED)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("execution \"%s\" is SUCCEEDED, and its jobs cannot be marked",
						execution->execution_id)));
	program = sf_program_cache_get(execution->machine_no, execution->version);
	job = find_job(execution, program, job_id);
	check_job(execution, job, job_id);
	mark.details = describe(&mark, job_id, reason);
	sf_mark_put(execution->execution_no, job_id, &mark);
	/* the history of an execution begins with its start */
	if (execution->started_at != DT_NOBEGIN)
		sf_lifecycle_note_mark(execution, job->state, job->iterations, job->niterations,
							   mark.details);
	sf_audit_note_execution(execution, "mark", reason, mark.details);
	PG_RETURN_VOID();
}
