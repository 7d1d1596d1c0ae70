/*
 * progress.c
 *		How far an execution has come.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "report/job.h"
#include "report/report.h"
#include "store/map_run/map_run.h"
#include "store/state_machine/program_cache.h"

/* Of more Tasks that come next only these are named */
#define NAMED_NEXT	3

/* Name the Tasks that come next; NULL: there are none. */
static char *
name_next(const SfProgram *program, List *branches)
{
	Bitmapset  *next = sf_remaining_next(program, branches);
	StringInfoData buf;
	int			n = 0;

	initStringInfo(&buf);
	for (int state = -1; (state = bms_next_member(next, state)) >= 0; n++)
	{
		if (n == NAMED_NEXT)
		{
			appendStringInfoString(&buf, ", ...");
			break;
		}
		appendStringInfo(&buf, "%s%s", n == 0 ? "" : ", ", program->states[state].name);
	}
	return n == 0 ? NULL : buf.data;
}

/* Tell where a running execution stands. */
SfStanding
sf_progress_standing(const SfProgram *program, const SfRemaining *remaining,
					 int64 execution_no, TimestampTz now)
{
	List	   *branches = sf_branch_scan(execution_no, program);
	bool		runs_map = false;
	SfStanding	standing;

	foreach_ptr(const SfBranch, branch, branches)
		runs_map = runs_map || sf_branch_has_map_run(branch);
	standing.waiting_on = sf_waiting_text(program, branches, now);
	standing.next = name_next(program, branches);
	standing.rest_us = sf_remaining_us(remaining, branches,
									   runs_map ? sf_map_run_scan(execution_no) : NIL, now);
	return standing;
}

/*
 * Count the jobs of an execution that are over, and all that it still comes to; the
 * items of a Distributed Map count as jobs, and of a Map that runs all iterations.  False:
 * the machine keeps no history, which would tell.
 */
bool
sf_progress_count_jobs(const SfExecutionHead *execution, const SfProgram *program,
					   int *done, int *total)
{
	*done = *total = 0;
	foreach_ptr(const SfJob, job, sf_job_list(execution, program))
	{
		if (job->status == SF_JOB_STATUS_SKIP)
			continue;
		*total += 1;
		if (job->status == SF_JOB_STATUS_SUCCESS || job->status == SF_JOB_STATUS_FAILURE)
			*done += 1;
	}
	if (execution->status == SF_STATUS_RUNNING)
		*total = (int) Min(*total + sf_ahead_not_begun(program, sf_branch_scan(execution->execution_no, program)),
						   PG_INT32_MAX);
	foreach_ptr(const SfMapRun, run, sf_map_run_scan(execution->execution_no))
	{
		*total += run->total;
		*done += run->items_succeeded + run->items_failed;
	}
	return sf_program_cache_find(execution->machine_no, execution->version)->history != SF_HISTORY_LEVEL_NONE;
}
