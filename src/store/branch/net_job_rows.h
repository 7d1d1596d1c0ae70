/*
 * net_job_rows.h
 *		Jobs of a JobNet that have no rows of their own.
 */
#ifndef SF_STORE_NET_JOB_ROWS_H
#define SF_STORE_NET_JOB_ROWS_H

#include "store/branch/branch.h"

/* Make the branch of a job that waits for all of its After. */
static inline SfBranch *
sf_branch_make_net_job(const SfProgram *program, const SfBranch *join, int number)
{
	const SfState *state = &program->states[join->state];
	int			nafter = sf_state_net(state)->jobs[number].nafter;
	int			scope = state->scopes[number];
	SfBranch   *job = sf_branch_make(join->key.execution_no, join->owner, SF_BRANCH_UNNUMBERED);

	job->parent_no = join->key.branch_no;
	job->branch_index = number;
	job->scope = scope;
	job->state = program->scopes[scope].start;
	job->last_event = join->last_event;
	job->niterations = join->niterations;
	job->iterations = join->iterations;
	if (nafter > 0)
		sf_branch_wait_for_jobs(job, nafter);
	return job;
}

/* --- how the jobs of a net have ended: the column job_ends --- */

/* Does the row of a net say how its jobs have ended, so that those that have not begun have no rows? */
static inline bool
sf_branch_has_ends(const SfBranch *join)
{
	return join->njob_ends > 0;
}

/* How the jobs of a net have ended, by number, as its row says: an SfNetJobEnd each; NONE: not yet, or not said. */
static inline char *
sf_branch_read_ends(const SfBranch *join, int njobs)
{
	return sf_asl_net_job_ends(join->job_ends, join->njob_ends, njobs);
}

/* Have the row of a net say how its jobs have ended. */
static inline void
sf_branch_note_ends(SfBranch *join, const char *ends, int njobs)
{
	join->job_ends = sf_asl_net_job_ends_pack(ends, njobs, &join->njob_ends);
}

/* Have the row of a net say it no more: the jobs have rows, or are in memory. */
static inline void
sf_branch_forget_ends(SfBranch *join)
{
	join->njob_ends = 0;
}

/* --- ended jobs that share a row: the column jobs --- */

extern bool sf_branch_is_shared_row(const SfBranch *row);
extern bool sf_branch_is_shared_by(const SfBranch *row, const List *numbers);
extern List *sf_branch_share_rows(List *jobs);
extern List *sf_branch_unshare_row(List *jobs, SfBranch *row);

/* --- jobs that have not begun --- */

extern List *sf_branch_imply_net_jobs(const SfProgram *program, const SfBranch *join);
extern List *sf_branch_imply_all(const SfProgram *program, List *branches);

#endif							/* SF_STORE_NET_JOB_ROWS_H */
