/*
 * dependents_context.c
 *		What the states of a job can know of the jobs that came before: $$.Jobs.
 *
 * Only the jobs that the definition names are read (SfNetJob.uses); all that come
 * before, if it looks at Jobs in another way.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "run/join/children.h"

/* A job of a net, and the branch of the net */
typedef struct Job
{
	const SfJobNetState *net;
	int			number;
	SfBranchKey join_key;
	const SfBranch *join;		/* NULL: it was not begun in this slice */
} Job;

/* Find the parent of a branch; NULL: it is gone. */
static const SfBranch *
find_parent(const SfBranch *branch)
{
	SfBranchKey key = {branch->execution_no, branch->parent_no};

	return branch->work.join != NULL ? branch->work.join : sf_branch_read_join(key, SF_LOCK_NONE);
}

/* Find the job that a branch is, or is within; false: there is none. */
static bool
find_job(const SfProgram *program, const SfBranch *branch, Job *job)
{
	int			scope = branch->scope;
	int			owner;

	while ((owner = program->scopes[scope].owner_state) != SF_NO_STATE &&
		   branch != NULL && sf_branch_has_parent(branch))
	{
		if (program->states[owner].type == SF_STATE_JOBNET)
		{
			job->net = sf_state_net(&program->states[owner]);
			job->number = program->scopes[scope].branch_index;
			job->join_key.execution_no = branch->execution_no;
			job->join_key.branch_no = branch->parent_no;
			job->join = branch->work.join;
			return true;
		}
		branch = find_parent(branch);
		scope = program->states[owner].scope;
	}
	return false;
}

/* Append the jobs that come before a job, at once or by others, to a list. */
static List *
all_before(const SfJobNetState *net, int job)
{
	Bitmapset  *seen = NULL;
	List	   *found = NIL;

	for (int next = -1; next < list_length(found); next++)
	{
		const SfNetJob *at = &net->jobs[next < 0 ? job : list_nth_int(found, next)];

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < at->nafter; i++)
		{
			if (bms_is_member(at->after[i].job, seen))
				continue;
			seen = bms_add_member(seen, at->after[i].job);
			found = lappend_int(found, at->after[i].job);
		}
	}
	return found;
}

/* The jobs that the states of a job look at. */
static List *
jobs_used(const SfJobNetState *net, int number)
{
	const SfNetJob *mine = &net->jobs[number];
	List	   *jobs = NIL;

	if (mine->uses_any)
		return all_before(net, number);
	for (int i = 0; i < mine->nuses; i++)
		jobs = lappend_int(jobs, mine->uses[i]);
	return jobs;
}

/* Enter rows of jobs by number. */
static void
enter_rows(SfBranch **rows, List *found)
{
	ListCell   *lc;

	foreach(lc, found)
		rows[((SfBranch *) lfirst(lc))->branch_index] = lfirst(lc);
}

/* The jobs of a list that have no row among those that were found. */
static List *
without_row(SfBranch **rows, const List *numbers)
{
	List	   *rest = NIL;
	ListCell   *lc;

	foreach(lc, numbers)
		if (rows[lfirst_int(lc)] == NULL)
			rest = lappend_int(rest, lfirst_int(lc));
	return rest;
}

/* Find the rows of jobs in the table, by number: those of their own, then those that they share. */
static void
find_stored_rows(const Job *job, SfBranch **rows, const List *numbers)
{
	if (numbers == NIL)
		return;
	enter_rows(rows, sf_branch_net_jobs(job->join_key, numbers, false));
	numbers = without_row(rows, numbers);
	if (numbers != NIL)
		enter_rows(rows, sf_branch_net_jobs_of_shared_rows(job->join_key, numbers));
}

/* The rows that jobs share, which a slice reads once for all jobs of a net. */
static SfBranch **
shared_rows(const Job *job)
{
	SfNet	   *net = job->join->work.net;

	if (net->shared == NULL)
	{
		net->shared = palloc0(sizeof(SfBranch *) * job->net->njobs);
		enter_rows(net->shared, sf_branch_net_jobs_of_shared_rows(job->join_key, NIL));
	}
	return net->shared;
}

/* Does the net of a job, which this slice has in memory, go on from an earlier slice? */
static bool
is_resumed(const Job *job)
{
	return job->join->work.children == SF_CHILDREN_RESUMED;
}

/* Find the rows of jobs, by number: in memory, or in the table. */
static SfBranch **
find_rows(const Job *job, const List *numbers)
{
	const SfNet *net = job->join == NULL ? NULL : job->join->work.net;
	SfBranch  **rows;
	ListCell   *lc;

	/* what this slice knows is newer */
	if (net != NULL && (!is_resumed(job) || without_row(net->rows, numbers) == NIL))
		return net->rows;
	rows = palloc0(sizeof(SfBranch *) * job->net->njobs);
	if (net == NULL)
	{
		find_stored_rows(job, rows, numbers);
		return rows;
	}
	foreach(lc, numbers)
	{
		int			number = lfirst_int(lc);

		rows[number] = net->rows[number] != NULL ? net->rows[number] : shared_rows(job)[number];
	}
	enter_rows(rows, sf_branch_net_jobs(job->join_key, without_row(rows, numbers), false));
	return rows;
}

/*
 * Read the rows that jobs share, if a job that a slice is about to run looks at a job of an
 * earlier slice.
 */
void
sf_dependents_read_shared(const SfDraft *draft, const SfBranch *branch)
{
	Job			job;

	if (find_job(draft->program, branch, &job) && job.join != NULL && is_resumed(&job) &&
		job.join->work.net->shared == NULL &&
		without_row(job.join->work.net->rows, jobs_used(job.net, job.number)) != NIL)
		(void) shared_rows(&job);
}

/* {"Status", "Output"}, or {"Status", "Error", "Cause"}, of a job that has ended. */
static void
add_job(SfJsonBuilder *json, const char *name, const SfBranch *job)
{
	if (job != NULL && !job->row.gone && job->phase != SF_PHASE_DONE &&
		job->phase != SF_PHASE_FAILED && job->phase != SF_PHASE_ABORTED)
		return;					/* it does not come before, or not yet */
	sf_json_open_object(json, name);
	if (job == NULL || job->row.gone)
		sf_json_add_string(json, "Status", "skip");
	else if (job->phase == SF_PHASE_DONE)
	{
		sf_json_add_string(json, "Status", "success");
		sf_json_add(json, "Output", sf_branch_output(job));
	}
	else
	{
		sf_json_add_string(json, "Status", "failure");
		sf_json_add_string(json, "Error", job->error);
		sf_json_add_string(json, "Cause", job->cause);
	}
	sf_json_close_object(json);
}

/* Make $$.Jobs of the rows of jobs, by number; NULL: the job was skipped. */
static Jsonb *
make_jobs(const SfJobNetState *net, const List *numbers, SfBranch **rows)
{
	ListCell   *lc;
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	foreach(lc, numbers)
		add_job(&json, net->jobs[lfirst_int(lc)].name, rows[lfirst_int(lc)]);
	return sf_json_end(&json);
}

/* Make $$.Jobs for a job, where the rows of those that come before are known. */
Jsonb *
sf_dependents_net_jobs(const SfJobNetState *net, int number, SfBranch **rows)
{
	return make_jobs(net, jobs_used(net, number), rows);
}

/* Make $$.Jobs for a branch that is a job, or within one; NULL: it is not. */
Jsonb *
sf_dependents_context(SfDraft *draft, const SfBranch *branch)
{
	Job			job;
	List	   *numbers;

	if (!find_job(draft->program, branch, &job))
		return NULL;
	numbers = jobs_used(job.net, job.number);
	return make_jobs(job.net, numbers, find_rows(&job, numbers));
}
