/*
 * net_job_rows.c
 *		Jobs of a JobNet that have no rows of their own.
 *
 * Jobs that a slice has run in memory share a row when they have ended: its column
 * jobs has the number, the scope and the state of each, its payload is an array of their
 * outputs.  Readers make branches of them again.
 *
 * While a net goes on as a whole (transition/state/job_net.c), its jobs that have not begun have
 * no rows.  The column job_ends of its row says how each job has ended, in two bits
 * (net_job_rows.h, inline, so that transition/ may call it), and what the others wait for
 * follows from that.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "store/branch/net_job_rows.h"

/* Jobs that share a row, and the bytes of their outputs, unless one alone has more */
#define MAX_SHARING		256
#define MAX_SHARED_BYTES	(64 * 1024)

/* Numbers of a job in the column jobs of a shared row */
#define NNUMBERS		3

/* --- ended jobs that share a row --- */

/* Do jobs that have ended share a row? */
bool
sf_branch_is_shared_row(const SfBranch *row)
{
	return row->place == SF_BRANCH_PLACE_SHARED;
}

/* Is a job of one of these numbers among those that share a row? */
bool
sf_branch_is_shared_by(const SfBranch *row, const List *numbers)
{
	for (int i = 0; i + NNUMBERS <= row->njobs; i += NNUMBERS)
		if (list_member_int(numbers, row->jobs[i]))
			return true;
	return false;
}

/* Sort jobs by net, then by number. */
static int
compare_jobs(const ListCell *a, const ListCell *b)
{
	const SfBranch *x = lfirst(a);
	const SfBranch *y = lfirst(b);

	if (x->execution_no != y->execution_no)
		return x->execution_no > y->execution_no ? 1 : -1;
	if (x->parent_no != y->parent_no)
		return x->parent_no > y->parent_no ? 1 : -1;
	return x->branch_index - y->branch_index;
}

/* May a job be in a row beside another one of the same list? */
static bool
may_share(const SfBranch *first, const SfBranch *job, int n, Size bytes)
{
	return job->execution_no == first->execution_no && job->parent_no == first->parent_no &&
		n < MAX_SHARING && bytes + VARSIZE(sf_branch_output(job)) <= MAX_SHARED_BYTES;
}

/* Make a row of the jobs of a list from an index on; *index becomes that after them. */
static SfBranch *
make_shared_row(const List *jobs, int *index)
{
	const SfBranch *first = list_nth(jobs, *index);
	const SfBranch *job = first;
	SfBranch   *row = sf_branch_make(first->execution_no, first->owner, first->branch_no);
	JsonbValue	outputs[MAX_SHARING];
	Size		bytes = 0;
	int			n = 0;

	row->parent_no = first->parent_no;
	row->branch_index = first->branch_index;
	row->scope = first->scope;
	row->state = first->state;
	row->phase = SF_PHASE_DONE;
	row->place = SF_BRANCH_PLACE_SHARED;
	row->iterations = first->iterations;
	row->niterations = first->niterations;
	row->jobs = palloc(sizeof(int) * NNUMBERS * MAX_SHARING);
	do
	{
		row->jobs[NNUMBERS * n] = job->branch_index;
		row->jobs[NNUMBERS * n + 1] = job->scope;
		row->jobs[NNUMBERS * n + 2] = job->state;
		row->last_event = Max(row->last_event, job->last_event);
		bytes += VARSIZE(sf_branch_output(job));
		sf_json_root(sf_branch_output(job), &outputs[n++]);
		job = ++*index < list_length(jobs) ? list_nth(jobs, *index) : NULL;
	} while (job != NULL && may_share(first, job, n, bytes));
	row->njobs = NNUMBERS * n;
	row->payload = sf_json_array_of(outputs, n);
	return row;
}

/* Make the rows that ended jobs share.  The jobs have numbers, of which a row takes one. */
List *
sf_branch_share_rows(List *jobs)
{
	List	   *rows = NIL;
	int			index = 0;

	list_sort(jobs, compare_jobs);
	while (index < list_length(jobs))
		rows = lappend(rows, make_shared_row(jobs, &index));
	return rows;
}

/* Append the jobs that share a row to a list: without outputs, if it was read without its documents. */
List *
sf_branch_unshare_row(List *jobs, SfBranch *row)
{
	JsonbValue	outputs;
	JsonbValue	output;
	JsonbIterator *next = NULL;

	if (row->payload != NULL)
	{
		sf_json_root(row->payload, &outputs);
		next = sf_json_elements(&outputs);
	}
	for (int i = 0; i + NNUMBERS <= row->njobs; i += NNUMBERS)
	{
		SfBranch   *job = sf_branch_make(row->execution_no, row->owner, row->branch_no);

		job->parent_no = row->parent_no;
		job->branch_index = row->jobs[i];
		job->scope = row->jobs[i + 1];
		job->state = row->jobs[i + 2];
		job->phase = SF_PHASE_DONE;
		job->last_event = row->last_event;
		job->iterations = row->iterations;
		job->niterations = row->niterations;
		if (next != NULL && sf_json_next(&next, &output))
			job->payload = sf_json_make(&output);
		job->row.stored = true;
		job->row.shared = row;
		jobs = lappend(jobs, job);
	}
	return jobs;
}

/* --- jobs that have not begun --- */

/* Does a branch stand at a net that goes on as a whole, and its jobs that have not begun have no rows? */
static bool
implies_jobs(const SfProgram *program, const SfBranch *branch)
{
	return branch->phase == SF_PHASE_NET && sf_branch_has_ends(branch) && branch->state < program->nstates;
}

/* Make the jobs of a net that have no rows, and that wait for others or for room. */
List *
sf_branch_imply_net_jobs(const SfProgram *program, const SfBranch *join)
{
	const SfJobNetState *net = sf_state_net(&program->states[join->state]);
	char	   *ends = sf_branch_read_ends(join, net->njobs);
	List	   *jobs = NIL;

	for (int i = 0; i < net->njobs; i++)
	{
		bool		unmet;
		int			undone;
		SfBranch   *job;

		CHECK_FOR_INTERRUPTS();
		if (ends[i] != SF_NET_JOB_END_NONE)
			continue;
		undone = sf_asl_net_job_undone(&net->jobs[i], ends, &unmet);
		if (undone > 0 && undone == net->jobs[i].nafter)
			continue;
		job = sf_branch_make_net_job(program, join, i);
		if (undone > 0)
			sf_branch_wait_for_jobs(job, undone);
		else
			sf_branch_wait_for_room(job);
		job->unmet = unmet;
		if (join->phase == SF_PHASE_ABORTED)
		{
			job->phase = SF_PHASE_ABORTED;
			job->place = SF_BRANCH_PLACE_NONE;
		}
		jobs = lappend(jobs, job);
	}
	pfree(ends);
	return jobs;
}

/* Append to the branches of an execution, by number, the jobs that have no rows, and no numbers. */
List *
sf_branch_imply_all(const SfProgram *program, List *branches)
{
	List	   *jobs = NIL;

	foreach_ptr(const SfBranch, branch, branches)
	{
		if (implies_jobs(program, branch))
			jobs = list_concat(jobs, sf_branch_imply_net_jobs(program, branch));
	}
	return list_concat(branches, jobs);
}
