/*
 * job_rows.h
 *		Jobs of a JobNet that have no rows of their own.
 */
#ifndef SF_STORE_JOB_ROWS_H
#define SF_STORE_JOB_ROWS_H

#include "store/branch/branch.h"

/* Make the branch of a job that waits for all of its After. */
static inline SfBranch *
sf_branch_make_job(const SfProgram *program, const SfBranch *join, int rank)
{
	const SfState *state = &program->states[join->state];
	int			scope = state->scopes[rank];
	SfBranch   *job = sf_branch_make(join->key.execution_no, join->owner, SF_BRANCH_UNNUMBERED);

	job->parent_no = join->key.branch_no;
	job->branch_index = rank;
	job->scope = scope;
	job->state = program->scopes[scope].start;
	job->last_event = join->last_event;
	job->niterations = join->niterations;
	job->iterations = join->iterations;
	job->pending = sf_state_net(state)->jobs[rank].nafter;
	job->place = job->pending > 0 ? SF_JOB_PLACE_WAITS : SF_JOB_PLACE_NONE;
	return job;
}

/* --- ended jobs that share a row --- */

extern bool sf_branch_is_shared_row(const SfBranch *row);
extern bool sf_branch_is_shared_by(const SfBranch *row, const List *ranks);
extern List *sf_branch_share_rows(List *jobs);
extern List *sf_branch_unshare_row(List *jobs, SfBranch *row);

/* --- jobs that have not begun --- */

extern List *sf_branch_imply_jobs(const SfProgram *program, const SfBranch *join);
extern List *sf_branch_imply_all(const SfProgram *program, List *branches);

#endif							/* SF_STORE_JOB_ROWS_H */
