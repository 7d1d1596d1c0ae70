/*
 * deadline_items.c
 *		What a deadline is about: executions of one night, or a job in them.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "feature/deadline/deadline.h"
#include "report/job.h"
#include "report/report.h"
#include "store/map_run/map_run.h"
#include "store/state_machine/program_cache.h"
#include "store/statistics/usual.h"

/* Find the target of a deadline; false: it is gone. */
bool
sf_deadline_find_target(const SfDeadline *deadline, SfDeadlineTarget *target)
{
	const SfMachineIdentity *identity;

	memset(target, 0, sizeof(*target));
	target->deadline = deadline;
	if (deadline->kind == SF_DEADLINE_KIND_SCHEDULE)
	{
		target->schedule = sf_schedule_read(deadline->schedule, SF_LOCK_NONE);
		if (target->schedule == NULL)
			return false;
		target->machine = sf_machine_read(pnstrdup(target->schedule->state_machine,
												   strcspn(target->schedule->state_machine, "/")),
										  SF_NO_VERSION, false);
	}
	else if ((identity = sf_machine_identity(deadline->machine_no)) != NULL)
		target->machine = sf_machine_read(identity->name, SF_NO_VERSION, false);
	if (target->machine == NULL)
		return false;
	target->usual = sf_usual_jobs(target->machine->machine_no);
	return true;
}

/* --- what has happened --- */

/* The head of an execution, for the list of its jobs. */
static SfExecutionHead
head_of(const SfExecution *execution)
{
	return (SfExecutionHead) {
		.execution_no = execution->execution_no,
		.machine_no = execution->machine_no,
		.version = execution->version,
		.machine = execution->machine_name,
		.owner = execution->owner,
		.status = execution->status,
		.error = execution->error,
		.cause = execution->cause,
		.map_state = SF_NO_STATE
	};
}

/* An execution that has succeeded, or that an operator has stopped, is done. */
static TimestampTz
done_at(const SfExecution *execution)
{
	return execution->status == SF_STATUS_SUCCEEDED || execution->status == SF_STATUS_ABORTED ?
		execution->stopped_at : DT_NOEND;
}

/* Take in one run of the job: the first one begins it, the last one ends it. */
static void
add_job(SfDeadlineItem *item, const SfJob *job)
{
	if (job->reached && job->started_at != DT_NOBEGIN)
		item->begun_at = Min(item->begun_at, job->started_at);
	if (job->status == SF_JOB_STATUS_SUCCESS || job->marking != SF_MARKING_NONE)
		item->done_at = item->done_at == DT_NOEND ? DT_NOEND :
			Max(item->done_at, job->stopped_at);
	else
		item->done_at = DT_NOEND;
}

/* Find when a job has begun and ended; one that an execution left out, or left undone, is done with it. */
static void
find_job(SfDeadlineItem *item, const char *name)
{
	const SfProgram *program = sf_program_cache_try(item->execution->machine_no,
													item->execution->version);
	SfExecutionHead head = head_of(item->execution);
	int			state = program == NULL ? SF_NO_STATE : sf_program_find_state(program, name);
	bool		found = false;

	item->begun_at = item->done_at = DT_NOEND;
	if (state == SF_NO_STATE)
		return;
	item->done_at = DT_NOBEGIN;
	foreach_ptr(const SfJob, job, sf_job_list(&head, program))
	{
		if (job->state != state || job->status == SF_JOB_STATUS_SKIP)
			continue;
		found = true;
		add_job(item, job);
	}
	if (!found || item->done_at == DT_NOEND)
		item->done_at = done_at(item->execution);
}

/* Append an execution, if it is there. */
static List *
append_item(List *items, const SfDeadlineTarget *target, SfExecution *execution)
{
	SfDeadlineItem *item;

	if (execution == NULL)
		return items;
	item = palloc(sizeof(SfDeadlineItem));
	item->execution = execution;
	item->begun_at = execution->started_at == DT_NOBEGIN ? DT_NOEND : execution->started_at;
	item->done_at = done_at(execution);
	if (target->deadline->kind == SF_DEADLINE_KIND_JOB)
		find_job(item, target->deadline->job);
	return lappend(items, item);
}

/* Find the execution of the run of the schedule at a time. */
static SfDeadlinePage
page_of_run(const SfDeadlineTarget *target, TimestampTz at)
{
	char	   *id = sf_deadline_run(target->schedule->name, at);
	SfDeadlinePage page = {.last_at = DT_NOEND};

	if (id != NULL)
		page.items = append_item(NIL, target, sf_execution_find(id, SF_LOCK_NONE));
	page.found = page.items != NIL;
	return page;
}

/*
 * Read some of what a deadline is about: the run of the schedule at base_at, or the
 * executions of the machine that were requested from base_at until a time, those after
 * another time (that of the page before; DT_NOBEGIN: from the first one on).  Executions
 * of a machine that were done by done_by are left out.
 */
SfDeadlinePage
sf_deadline_items(const SfDeadlineTarget *target, TimestampTz base_at, TimestampTz after,
				  TimestampTz until, TimestampTz done_by)
{
	SfDeadlinePage page;
	List	   *executions;

	if (target->deadline->kind == SF_DEADLINE_KIND_SCHEDULE)
		return page_of_run(target, base_at);
	executions = sf_deadline_page(target->machine->machine_no, Max(after, base_at - 1), until, done_by, &page);
	foreach_ptr(const int64, number, executions)
		page.items = append_item(page.items, target, sf_execution_read(*number, SF_LOCK_NONE, false));
	return page;
}

/* --- what is expected --- */

/* Prepare to compute what a version of the machine takes, up to the job; NULL: the job is not there. */
static SfRemaining *
remaining_of(const SfDeadlineTarget *target, int version, const SfProgram **program)
{
	int			task = SF_NO_STATE;

	*program = sf_program_cache_try(target->machine->machine_no, version);
	if (*program == NULL)
		return NULL;
	if (target->deadline->kind == SF_DEADLINE_KIND_JOB)
	{
		task = sf_program_find_state(*program, target->deadline->job);
		if (task == SF_NO_STATE)
			return NULL;
	}
	return sf_remaining_begin(*program, target->usual, task);
}

/* When something that is not done is expected to be; DT_NOEND: it does not run, or that is not known. */
TimestampTz
sf_deadline_expect(const SfDeadlineTarget *target, const SfDeadlineItem *item, TimestampTz now)
{
	const SfExecution *execution = item->execution;
	const SfProgram *program;
	SfRemaining *remaining;
	int64		us;

	if (execution->status != SF_STATUS_RUNNING)
		return DT_NOEND;
	remaining = remaining_of(target, execution->version, &program);
	if (remaining == NULL)
		return DT_NOEND;
	us = sf_remaining_us(remaining, sf_branch_scan(execution->execution_no, program),
						 sf_map_run_scan(execution->execution_no), now);
	return !sf_duration_is_known(us) ? DT_NOEND : now + us;
}

/* When an execution that begins at a time is expected to be done, or the job in it; DT_NOEND: not known. */
TimestampTz
sf_deadline_expect_new(const SfDeadlineTarget *target, TimestampTz begin)
{
	int64		us = target->deadline->kind == SF_DEADLINE_KIND_JOB ? SF_NO_DURATION :
		sf_usual_execution_us(target->machine->machine_no);
	const SfProgram *program;
	SfRemaining *remaining;

	if (!sf_duration_is_known(us))
	{
		remaining = remaining_of(target, target->machine->current_version, &program);
		us = remaining == NULL ? SF_NO_DURATION : sf_remaining_whole(remaining);
	}
	return !sf_duration_is_known(us) ? DT_NOEND : begin + us;
}
