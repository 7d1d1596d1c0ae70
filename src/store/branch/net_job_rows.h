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

/* Jobs of which a number of the column says how they have ended, in two bits each; stored: codes never change */
#define SF_NET_JOB_ENDS_IN_NUMBER	16
#define SF_NET_JOB_END_BITS			2

/* The code of an end. */
static inline uint32
sf_net_job_end_encode(SfNetJobEnd end)
{
	switch (end)
	{
		case SF_NET_JOB_END_NONE:
			return 0;
		case SF_NET_JOB_END_SUCCESS:
			return 1;
		case SF_NET_JOB_END_FAILURE:
			return 2;
		case SF_NET_JOB_END_SKIP:
			return 3;
	}
	return 0;
}

/* The end of a code, of which the lowest bits count. */
static inline SfNetJobEnd
sf_net_job_end_decode(uint32 code)
{
	static const SfNetJobEnd ends[1 << SF_NET_JOB_END_BITS] = {
		SF_NET_JOB_END_NONE, SF_NET_JOB_END_SUCCESS, SF_NET_JOB_END_FAILURE, SF_NET_JOB_END_SKIP
	};

	return ends[code % lengthof(ends)];
}

/* How the jobs of a net have ended, by number, as its row says: an SfNetJobEnd each; NONE: not yet, or not said. */
static inline char *
sf_branch_read_ends(const SfBranch *join, int njobs)
{
	char	   *ends = palloc0(njobs);	/* NONE */

	for (int i = 0; i < Min(njobs, join->njob_ends * SF_NET_JOB_ENDS_IN_NUMBER); i++)
		ends[i] = sf_net_job_end_decode((uint32) join->job_ends[i / SF_NET_JOB_ENDS_IN_NUMBER] >>
										(SF_NET_JOB_END_BITS * (i % SF_NET_JOB_ENDS_IN_NUMBER)));
	return ends;
}

/* Have the row of a net say how its jobs have ended. */
static inline void
sf_branch_note_ends(SfBranch *join, const char *ends, int njobs)
{
	uint32	   *packed;

	join->njob_ends = (njobs + SF_NET_JOB_ENDS_IN_NUMBER - 1) / SF_NET_JOB_ENDS_IN_NUMBER;
	packed = palloc0(sizeof(uint32) * join->njob_ends);
	for (int i = 0; i < njobs; i++)
		packed[i / SF_NET_JOB_ENDS_IN_NUMBER] |=
			sf_net_job_end_encode(ends[i]) << (SF_NET_JOB_END_BITS * (i % SF_NET_JOB_ENDS_IN_NUMBER));
	join->job_ends = (int *) packed;
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
