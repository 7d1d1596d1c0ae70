/*
 * net_job_ends.c
 *		How the jobs of a net that is under way have ended, and how they still can.
 *
 * A job without a row has been skipped if all jobs of its After have ended, else
 * nothing has told it of an end yet (transition/state/job_net.c).
 */
#include "postgres.h"

#include "miscadmin.h"

#include "report/report.h"

/* What is known of the jobs that come before one */
typedef struct Before
{
	bool		ended;			/* all have */
	bool		can_run;		/* they can end so that it runs */
	bool		must_run;		/* ... and in no other way */
} Before;

/* Look at the jobs that come before a job. */
static Before
check_before(const SfNetJob *job, const SfNetJobEnds *ends)
{
	Before		before = {true, true, job->condition == NULL};

	for (int i = 0; i < job->nafter; i++)
	{
		const SfNetJobLink *link = &job->after[i];
		int			possible = ends[link->job].possible;

		before.ended = before.ended && ends[link->job].ended;
		before.can_run = before.can_run && (possible & link->on) != 0;
		before.must_run = before.must_run && (possible & ~link->on) == 0;
	}
	return before;
}

/* Find how a job that has begun can end, or has ended. */
static SfNetJobEnds
ends_of_row(const SfBranch *row)
{
	switch (row->phase)
	{
		case SF_PHASE_DONE:
			return (SfNetJobEnds) {SF_NET_JOB_END_SUCCESS, true, false};
		case SF_PHASE_FAILED:
		case SF_PHASE_ABORTED:
		case SF_PHASE_KEPT:
			return (SfNetJobEnds) {SF_NET_JOB_END_FAILURE, true, false};
		case SF_PHASE_ENTER:
		case SF_PHASE_RUN:
		case SF_PHASE_WAIT:
		case SF_PHASE_JOIN:
		case SF_PHASE_ANNOUNCED:
		case SF_PHASE_ANSWERED:
		case SF_PHASE_EXTERNAL:
		case SF_PHASE_TIMEOUT:
		case SF_PHASE_STOP:
		case SF_PHASE_NET:
		case SF_PHASE_MAP_WRITE:
		case SF_PHASE_MAP_ANSWERED:
			break;
	}
	return (SfNetJobEnds) {SF_NET_JOB_END_ANY, false, false};
}

/*
 * Find for each job of a net how it can end, by number, from the rows of those that have
 * one.  No more jobs begin if stopped.
 */
SfNetJobEnds *
sf_ends_find(const SfJobNetState *net, const SfBranch *const *rows, bool stopped)
{
	SfNetJobEnds *ends = palloc0(sizeof(SfNetJobEnds) * net->njobs);

	for (int i = 0; i < net->njobs; i++)
	{
		int			job = net->order[i];
		const SfBranch *row = rows[job];
		Before		before;

		CHECK_FOR_INTERRUPTS();
		if (row != NULL && !sf_branch_is_job_to_come(row))
		{
			ends[job] = ends_of_row(row);
			continue;
		}
		before = check_before(&net->jobs[job], ends);
		/* that of one without After is there from the beginning */
		ends[job].ended = row == NULL && before.ended;
		ends[job].can_begin = before.can_run && !ends[job].ended && !stopped;
		if (ends[job].can_begin)
			ends[job].possible = SF_NET_JOB_END_SUCCESS | SF_NET_JOB_END_FAILURE;
		if (!ends[job].can_begin || !before.must_run)
			ends[job].possible |= SF_NET_JOB_END_SKIP;
	}
	return ends;
}

/* --- sf_check --- */

/* How a job has ended, by its row. */
static SfNetJobEnd
end_of_row(const SfBranch *row)
{
	if (row->phase == SF_PHASE_DONE)
		return SF_NET_JOB_END_SUCCESS;
	return sf_branch_has_ended(row) ? SF_NET_JOB_END_FAILURE : SF_NET_JOB_END_NONE;
}

/* What is wrong with a job, of whose After some have not ended; NULL: nothing. */
static char *
check_waiting(const SfNetJob *job, const SfBranch *row, int undone, bool unmet)
{
	if (row == NULL)
		return undone == job->nafter ? NULL :
			psprintf("job \"%s\" has no row, and waits for %d of %d", job->name, undone, job->nafter);
	if (row->phase == SF_PHASE_DONE)
		return NULL;			/* since before a redrive */
	if (!sf_branch_is_job_to_come(row) || sf_branch_net_jobs_left(row) != undone || row->unmet != unmet)
		return psprintf("job \"%s\" is in phase %d and waits for %d, not %d", job->name, (int) row->phase, undone,
						sf_branch_is_job_to_come(row) ? sf_branch_net_jobs_left(row) : 0);
	return NULL;
}

/* What is wrong with a job, of whose After all have ended; NULL: nothing. */
static char *
check_decided(const SfNetJob *job, const SfBranch *row, bool unmet)
{
	if (row == NULL)
		return unmet || job->condition != NULL ? NULL :
			psprintf("job \"%s\" has no row, and was not skipped", job->name);
	if (row->phase != SF_PHASE_DONE && unmet)
		return psprintf("job \"%s\" has a row, and is to be skipped", job->name);
	if (row->place == SF_BRANCH_PLACE_WAITS)
		return psprintf("job \"%s\" waits for nothing", job->name);
	return NULL;
}

/* What is wrong with the counters of a net; NULL: nothing. */
static char *
check_counters(const SfJobNetState *net, const SfBranch *join, int ended, int begun)
{
	if (join->total == net->njobs && sf_branch_children_left(join) == net->njobs - ended &&
		join->next_index == begun)
		return NULL;
	return psprintf("it counts %d jobs of which %d have not ended and %d were decided on; there are %d, %d and %d",
					join->total, sf_branch_children_left(join), join->next_index,
					net->njobs, net->njobs - ended, begun);
}

/*
 * Tell what is wrong with a net that is under way, or NULL, from the rows of its jobs by
 * number.
 */
char *
sf_ends_check(const SfJobNetState *net, const SfBranch *join,
			  const SfBranch *const *rows)
{
	int		   *ends = palloc0(sizeof(int) * net->njobs);
	int			ended = 0;
	int			begun = 0;

	for (int i = 0; i < net->njobs; i++)
	{
		int			number = net->order[i];
		const SfNetJob *job = &net->jobs[number];
		const SfBranch *row = rows[number];
		int			undone = 0;
		bool		unmet = false;
		char	   *problem;

		for (int j = 0; j < job->nafter; j++)
		{
			SfNetJobEnd end = (SfNetJobEnd) ends[job->after[j].job];

			undone += end == SF_NET_JOB_END_NONE;
			unmet = unmet || (end != SF_NET_JOB_END_NONE && (end & job->after[j].on) == 0);
		}
		problem = undone > 0 ? check_waiting(job, row, undone, unmet) :
			check_decided(job, row, unmet);
		if (problem != NULL)
			return problem;
		ends[number] = row != NULL ? end_of_row(row) : undone > 0 ? SF_NET_JOB_END_NONE : SF_NET_JOB_END_SKIP;
		ended += ends[number] != SF_NET_JOB_END_NONE;
		begun += ends[number] != SF_NET_JOB_END_NONE || (row != NULL && !sf_branch_is_job_to_come(row));
	}
	return check_counters(net, join, ended, begun);
}
