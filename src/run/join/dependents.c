/*
 * dependents.c
 *		The jobs of a JobNet that end, begin, and are skipped (transition/state/job_net.c).
 *
 * A slice that begins a net has all of its jobs in memory, and runs them as they become
 * ready.  When the jobs that it leaves end later, the slice that writes their ends
 * holds the lock of the execution, and loads the rows of the jobs that wait for them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "run/join/children.h"
#include "store/branch/net_job_rows.h"
#include "transition/state/join.h"

/* As many jobs that have ended in memory, or more, share rows */
#define MIN_SHARING		8

/* An end of a job; of one that was skipped, too */
typedef struct JobEnd
{
	int			job;
	SfNetJobEnd end;
} JobEnd;

/* --- rows --- */

/* Add the row of a job to a draft. */
static void
add_row(SfDraft *draft, SfBranch *branch)
{
	if (branch->branch_no == SF_BRANCH_UNNUMBERED)
		branch->key.branch_no = sf_branch_next_no();
	sf_draft_add_branch(draft, branch);
}

/*
 * Add the rows that were made or changed to a draft.  While a slice runs the jobs, those
 * that it makes wait: they may never be needed.
 */
static void
add_changed(SfDraft *draft, SfNet *net)
{
	foreach_ptr(SfBranch, branch, net->changed)
	{
		/* a row that is gone before it is written was never more than a count */
		if (branch->row.stored || (net->source != SF_NET_JOBS_IN_SLICE && !branch->row.gone))
			add_row(draft, branch);
	}
	list_free(net->changed);
	net->changed = NIL;
}

/* Put rows of jobs that were read into a net, unless it has them. */
static void
load_rows(SfNet *net, List *rows)
{
	foreach_ptr(SfBranch, branch, rows)
	{
		if (net->rows[branch->branch_index] != NULL)
			continue;
		net->rows[branch->branch_index] = branch;
		if (branch->place == SF_BRANCH_PLACE_READY)
			net->ready = bms_add_member(net->ready, branch->branch_index);
	}
}

/*
 * Load the rows of the jobs that wait for those which have ended, and for others; also
 * of those that wait for one only, which have a row if they ran before a redrive.
 */
static void
load_followers(SfNet *net, List *ends, bool all)
{
	const SfJobNetState *jobs = sf_state_net(net->state);
	List	   *wanted = NIL;
	ListCell   *lc;

	foreach(lc, ends)
	{
		const SfNetJob *ended = &jobs->jobs[((JobEnd *) lfirst(lc))->job];

		for (int i = 0; i < ended->nfollowers; i++)
		{
			int			job = ended->followers[i].job;

			if ((all || jobs->jobs[job].nafter > 1) && net->rows[job] == NULL)
				wanted = lappend_int(wanted, job);
		}
	}
	if (wanted != NIL)
		load_rows(net, sf_branch_net_jobs(net->join->key, wanted, true));
	if (wanted != NIL && all)
		load_rows(net, sf_branch_net_jobs(net->join->key, wanted, false));
	list_free(wanted);
}

/* Load the ready jobs for which there is room. */
static void
load_ready(SfNet *net)
{
	int			room = sf_net_room(net);

	if (net->join->max_concurrency != SF_UNLIMITED && room > 0)
		load_rows(net, sf_branch_ready_net_jobs(net->join->key, room));
}

/* Make ends of the jobs that were skipped. */
static List *
skipped_ends(List *skipped)
{
	List	   *ends = NIL;
	ListCell   *lc;

	foreach(lc, skipped)
	{
		JobEnd	   *end = palloc(sizeof(JobEnd));

		end->job = lfirst_int(lc);
		end->end = SF_NET_JOB_END_SKIP;
		ends = lappend(ends, end);
	}
	list_free(skipped);
	return ends;
}

/*
 * May a net go on as a whole?  It must be known of all jobs how they have ended; or none
 * has failed, nor, before a redrive, succeeded, which the rows that are loaded do not tell.
 */
static bool
may_rest(const SfDraft *draft, const SfNet *net)
{
	if (sf_branch_children_left(net->join) == 0)
		return false;
	if (net->ends != NULL)
		return !sf_join_gives_up(net->join, net->state->failure_mode);
	return draft->execution->redrive_count == 0 && sf_join_course(net->join) == SF_JOIN_GOES_ON;
}

/* Are the jobs that have begun SQL tasks, which may be short? */
static bool
begins_sql_only(const SfNet *net)
{
	int			job = -1;

	while ((job = bms_next_member(net->begun, job)) >= 0)
	{
		const SfState *state = &net->program->states[net->rows[job]->state];
		SfResourceKind kind;

		if (state->type != SF_STATE_TASK)
			return false;
		kind = sf_state_task(state)->resource.kind;
		if (kind != SF_RESOURCE_SQL_FUNCTION && kind != SF_RESOURCE_SQL_QUERY)
			return false;
	}
	return true;
}

/* Apply ends: those that wait are told, and begin or are skipped. */
static void
apply_ends(SfDraft *draft, SfNet *net, List *ends, TimestampTz now)
{
	if (sf_join_gives_up(net->join, net->state->failure_mode))
		return;					/* no more jobs begin */
	while (ends != NIL)
	{
		List	   *skipped = NIL;
		ListCell   *lc;

		CHECK_FOR_INTERRUPTS();
		if (net->source == SF_NET_JOBS_STORED)
			load_followers(net, ends, draft->execution->redrive_count > 0);
		foreach(lc, ends)
			sf_net_end(net, ((JobEnd *) lfirst(lc))->job, ((JobEnd *) lfirst(lc))->end,
					   &skipped);
		list_free_deep(ends);
		ends = skipped_ends(skipped);
	}
	if (net->source == SF_NET_JOBS_STORED)
		load_ready(net);
	if (net->source != SF_NET_JOBS_IN_SLICE)
		sf_net_begin(net, now);
	if (net->source == SF_NET_JOBS_STORED && net->begun != NULL && may_rest(draft, net) && begins_sql_only(net))
		(void) sf_net_rest(net, now);
	add_changed(draft, net);
}

/*
 * Take the ends of children of one parent into account, which the deltas tell: for a net,
 * begin the jobs that waited for them.
 */
void
sf_dependents_count(SfDraft *draft, SfBranch *parent, const List *deltas, TimestampTz now)
{
	const SfState *state = &draft->program->states[parent->state];
	List	   *ends = NIL;

	foreach_ptr(const SfParentDelta, delta, deltas)
	{
		JobEnd	   *end;

		sf_join_add_ends(parent, delta);
		if (state->type != SF_STATE_JOBNET)
			continue;
		end = palloc(sizeof(JobEnd));
		end->job = delta->index;
		end->end = delta->end;
		ends = lappend(ends, end);
	}
	if (ends != NIL)
		apply_ends(draft, parent->work.net != NULL ? parent->work.net : sf_net_make(draft->program, parent),
				   ends, now);
	sf_join_wake(parent, state, now);
}

/* --- in memory --- */

/* Load a net into memory. */
static SfNet *
load_net(SfDraft *draft, SfBranch *join)
{
	join->work.net = sf_net_make(draft->program, join);
	join->work.net->source = SF_NET_JOBS_IN_SLICE;
	return join->work.net;
}

/*
 * Take the jobs that a net has begun in this slice into memory: the draft's branches
 * from an index on.  They begin, one after another, when the slice comes to them.
 */
void
sf_dependents_note_begun(SfDraft *draft, SfBranch *join, int first)
{
	SfNet	   *net = load_net(draft, join);

	net->ends = palloc0(sf_state_net(net->state)->njobs);
	for (int i = first; i < list_length(draft->branches); i++)
	{
		SfBranch   *branch = list_nth(draft->branches, i);

		if (branch->parent_no != join->key.branch_no || branch->row.gone)
			continue;
		net->rows[branch->branch_index] = branch;
		if (branch->place == SF_BRANCH_PLACE_READY)
			net->ready = bms_add_member(net->ready, branch->branch_index);
		else
			net->begun = bms_add_member(net->begun, branch->branch_index);
	}
	sf_net_take_back_begun(net);
	add_changed(draft, net);
}

/*
 * Take the jobs of a net that goes on into memory: those that have not begun.  No other
 * session changes them: none of its jobs runs.
 */
void
sf_dependents_load(SfDraft *draft, SfBranch *join)
{
	SfNet	   *net = load_net(draft, join);

	if (sf_branch_has_ends(join))
		sf_net_load_implied(net);
	else
		load_rows(net, sf_branch_net_jobs_to_come(join->key));
	sf_branch_forget_ends(join);
	for (int i = 0; i < sf_state_net(net->state)->njobs; i++)
		if (net->rows[i] != NULL)
			net->rows[i]->work.join = join;
}

/* The job to run next of those in memory, which begins; NULL: there is none. */
SfBranch *
sf_dependents_next(SfDraft *draft, SfBranch *join)
{
	SfNet	   *net = join->work.net;
	int			job = sf_net_begin_next(net, GetCurrentTimestamp());

	if (job == SF_NO_JOB)
		return NULL;
	list_free(net->changed);
	net->changed = NIL;
	add_row(draft, net->rows[job]);
	return net->rows[job];
}

/* Have the jobs that have ended in memory share rows, if they are many. */
static void
share_rows(SfNet *net)
{
	int			njobs = sf_state_net(net->state)->njobs;
	List	   *ended = NIL;
	ListCell   *lc;

	for (int i = 0; i < njobs; i++)
	{
		SfBranch   *branch = net->rows[i];

		if (branch != NULL && branch->phase == SF_PHASE_DONE && !branch->row.gone && !branch->row.stored)
			ended = lappend(ended, branch);
	}
	if (list_length(ended) >= MIN_SHARING)
		foreach(lc, ended)
			((SfBranch *) lfirst(lc))->row.is_to_share = true;
	list_free(ended);
}

/*
 * A slice does not run more jobs of a net.  If they are short, the next slice takes the net
 * as a whole, and those that have not begun have no rows, if it is known how all others
 * have ended; else any slice takes the jobs that begin now, each by its row.
 */
void
sf_dependents_leave(SfDraft *draft, SfBranch *join, bool are_short)
{
	SfNet	   *net = join->work.net;
	TimestampTz now = GetCurrentTimestamp();
	bool		rests = are_short && may_rest(draft, net) && sf_net_rest(net, now);

	net->source = SF_NET_JOBS_IN_MEMORY;
	if (!rests)
		sf_net_begin(net, now);
	if (rests && net->ends != NULL)
		sf_net_imply(net);
	else
		sf_net_make_rows(net);
	add_changed(draft, net);
	share_rows(net);
}

/* --- input --- */

/* Read the row of the net that a job belongs to, or find it in the draft. */
static const SfBranch *
find_net(SfDraft *draft, const SfBranch *job)
{
	SfBranchKey key = {job->execution_no, job->parent_no};

	if (draft->net_branch == NULL || draft->net_branch->key.branch_no != job->parent_no)
		draft->net_branch = sf_branch_read(key, SF_LOCK_NONE);
	if (draft->net_branch == NULL)
		elog(ERROR, "a job of execution \"%s\" has lost its net " INT64_FORMAT,
			 draft->execution->execution_id, job->parent_no);
	return draft->net_branch;
}

/* Give a job that is about to begin its input: that of the net. */
void
sf_dependents_give_input(SfDraft *draft, SfBranch *job, const SfBranch *join)
{
	if (sf_branch_input(job) != NULL || !sf_branch_has_parent(job))
		return;
	if (join == NULL)
		join = find_net(draft, job);
	sf_branch_carry(job, sf_branch_input_of_net_jobs(join),
					join->join_input != NULL ? SF_NO_EVENT : join->payload_event);
	job->variables = join->variables;
	job->item = join->item;
}

/* --- redrive, and a migration to another version --- */

/* Sort branches by number. */
static int
compare_branches(const ListCell *a, const ListCell *b)
{
	const SfBranch *x = lfirst(a);
	const SfBranch *y = lfirst(b);

	return x->key.branch_no < y->key.branch_no ? -1 : x->key.branch_no > y->key.branch_no;
}

/*
 * Add to the branches of an execution, by number, those of jobs that have no rows: they
 * get some, and the row of their net does not say any more how the others have ended.
 */
List *
sf_dependents_give_rows(const SfProgram *program, List *branches)
{
	List	   *jobs = NIL;
	ListCell   *lc;

	foreach_ptr(SfBranch, branch, branches)
	{
		if (branch->total == 0 || !sf_branch_has_ends(branch) ||
			program->states[branch->state].type != SF_STATE_JOBNET)
			continue;
		jobs = list_concat(jobs, sf_branch_imply_net_jobs(program, branch));
		sf_branch_forget_ends(branch);
	}
	foreach(lc, jobs)
		((SfBranch *) lfirst(lc))->key.branch_no = sf_branch_next_no();
	if (jobs == NIL)
		return branches;
	/* a session takes numbers in bulk: those that it has left may be lower */
	branches = list_concat(branches, jobs);
	list_sort(branches, compare_branches);
	return branches;
}

/* Is a branch at a net whose jobs run again, or wait? */
static bool
is_net(const SfDraft *draft, const SfBranch *branch)
{
	return branch->work.is_parent && branch->phase != SF_PHASE_DONE &&
		!sf_phase_is_of_execution(branch->phase) &&
		draft->program->states[branch->state].type == SF_STATE_JOBNET;
}

/* The net of a branch that is a job of one that runs again; else NULL. */
static SfNet *
net_above(List *branches, const SfBranch *branch)
{
	const SfBranch *parent = sf_branch_has_parent(branch) ?
		sf_branch_by_no(branches, branch->parent_no) : NULL;

	return parent == NULL ? NULL : parent->work.net;
}

/* Is a branch dropped, or below one that is? */
static bool
is_dropped(List *branches, const SfBranch *branch)
{
	while (branch != NULL && !branch->row.gone)
		branch = sf_branch_has_parent(branch) ? sf_branch_by_no(branches, branch->parent_no) : NULL;
	return branch != NULL;
}

/* Drop the branches below those that are dropped. */
static void
drop_below(SfDraft *draft, List *branches)
{
	ListCell   *lc;

	foreach(lc, branches)
		if (is_dropped(branches, lfirst(lc)))
			sf_draft_delete_branch(draft, lfirst(lc));
}

/*
 * Before the branches of an ended execution run again: decide anew on the jobs of its
 * nets.  Jobs that have to wait once more, or are skipped, are gone.
 */
void
sf_dependents_rewind(SfDraft *draft, List *branches)
{
	bool		any = false;

	foreach_ptr(SfBranch, branch, branches)
	{
		if (!is_net(draft, branch))
			continue;
		branch->work.net = sf_net_make(draft->program, branch);
		any = true;
	}
	if (!any)
		return;
	/* sessions take numbers in bulk, so that of a job may be less than that of its net */
	foreach_ptr(SfBranch, branch, branches)
	{
		SfNet	   *net = net_above(branches, branch);

		if (net == NULL)
			continue;
		net->rows[branch->branch_index] = branch;
		/* from now on a job is looked for by its row */
		if (branch->row.shared != NULL)
			sf_draft_add_branch(draft, branch);
	}
	foreach_ptr(SfBranch, branch, branches)
	{
		if (branch->work.net != NULL)
			sf_net_rewind(branch->work.net);
	}
	drop_below(draft, branches);
}

/* After the branches run again: begin the jobs for which there is room; others wait for it. */
void
sf_dependents_begin_ready(SfDraft *draft, SfBranch *join, TimestampTz now)
{
	SfNet	   *net = join->work.net;

	if (net == NULL || join->row.gone)
		return;
	sf_net_begin(net, now);
	sf_net_rest_ready(net);
	for (int job = 0; job < sf_state_net(net->state)->njobs; job++)
		if (net->rows[job] != NULL && net->rows[job]->branch_no == SF_BRANCH_UNNUMBERED)
			net->changed = list_append_unique_ptr(net->changed, net->rows[job]);
	add_changed(draft, net);
}
