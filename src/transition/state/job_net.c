/*
 * job_net.c
 *		JobNet: jobs that wait for each other, and the join that ends them.
 *
 * A job is a child branch.  It has a row from the time that the first of the jobs in its
 * After has ended until the net is left; a job that nothing has told of an end has none,
 * and neither has one that was skipped.
 *
 *		waiting		phase ENTER, not due, place WAITS: "pending" jobs of its After have
 *					not ended; unmet: one has ended in another way than it needs
 *		ready		phase ENTER, not due, place READY: waits for room, where
 *					MaxConcurrency limits how many jobs run
 *		begun		as any branch; its payload is NULL until a slice takes it: the input
 *					is that of the net
 *		ended		DONE, with its output; FAILED
 *
 * A net with many short jobs is in phase JOIN only while a slice runs them.  Between
 * slices it is in phase NET, due, and the jobs that had begun are ready again (sf_net_rest).
 * If a slice knows how all of its jobs have ended, those that have not begun have no
 * rows meanwhile (store/branch/net_job_rows.c).
 *
 * When a job ends, each job that waits for it is told once (sf_net_end), so all of them
 * cost as much as there are links.  A job is decided on when the last one of its After
 * has ended: it begins, or is skipped, and those that wait for it are told in turn.  Of
 * the row of the net only counters change: "pending" is of the jobs that have not ended,
 * "next_index" of those that have been begun or skipped.
 */
#include "postgres.h"

#include "store/branch/net_job_rows.h"
#include "transition/state/job_net.h"

/* --- ends of jobs --- */

/* Make what is needed to take the ends of jobs of a net into account. */
SfNet *
sf_net_make(const SfProgram *program, SfBranch *join)
{
	SfNet	   *net = palloc0(sizeof(SfNet));

	net->program = program;
	net->state = &program->states[join->state];
	net->join = join;
	net->rows = palloc0(sizeof(SfBranch *) * sf_state_net(net->state)->njobs);
	return net;
}

/* The jobs of a net. */
static const SfNetJob *
jobs_of(const SfNet *net)
{
	return sf_state_net(net->state)->jobs;
}

/* Make the branch of a job, which waits. */
static SfBranch *
make_job(SfNet *net, int job)
{
	SfBranch   *branch = sf_branch_make_net_job(net->program, net->join, job);

	branch->work.join = net->source == SF_NET_JOBS_STORED ? NULL : net->join;
	net->rows[job] = branch;
	return branch;
}

/* Note how a job has ended. */
static void
note_end(SfNet *net, int job, SfNetJobEnd end)
{
	if (net->ends != NULL)
		net->ends[job] = end;
}

/* Jobs that may begin at once beside those that run. */
int
sf_net_room(const SfNet *net)
{
	const SfBranch *join = net->join;

	if (join->max_concurrency == SF_UNLIMITED)
		return PG_INT32_MAX;
	/* of those that have been begun or skipped, all have ended but those of total that are left */
	return join->max_concurrency - (join->next_index - (join->total - sf_branch_children_left(join)));
}

/* Have a job wait for room. */
static void
make_ready(SfNet *net, int job)
{
	SfBranch   *branch = net->rows[job];

	sf_branch_wait_for_room(branch);
	net->ready = bms_add_member(net->ready, job);
	net->changed = lappend(net->changed, branch);
}

/*
 * Skip a job, which has no row from now on.  No step of it has begun that could end, as the step of a job whose
 * condition does not hold does (sf_step_skip_net_job).
 */
static void
skip_job(SfNet *net, int job)
{
	net->rows[job]->row.gone = true;
	net->join->next_index++;
	sf_branch_set_children_left(net->join, sf_branch_children_left(net->join) - 1);
	net->changed = lappend(net->changed, net->rows[job]);
	note_end(net, job, SF_NET_JOB_END_SKIP);
}

/*
 * Tell the jobs that wait for a job how it has ended.  Those that may run are ready;
 * those that are skipped are appended to a list of numbers.
 */
void
sf_net_end(SfNet *net, int job, SfNetJobEnd end, List **skipped)
{
	const SfNetJob *ended = &jobs_of(net)[job];

	note_end(net, job, end);
	for (int i = 0; i < ended->nfollowers; i++)
	{
		const SfNetJobLink *link = &ended->followers[i];
		SfBranch   *branch = net->rows[link->job];
		int			left;

		if (branch == NULL)
			branch = make_job(net, link->job);
		else if (branch->place != SF_BRANCH_PLACE_WAITS)
			continue;			/* it succeeded before a redrive */
		left = sf_branch_count_job_end(branch);
		if ((link->on & end) == 0)
			branch->unmet = true;
		if (left > 0)
			net->changed = lappend(net->changed, branch);
		else if (branch->unmet)
		{
			skip_job(net, link->job);
			*skipped = lappend_int(*skipped, link->job);
		}
		else
			make_ready(net, link->job);
	}
}

/* Begin the ready job with the least number, and return it; SF_NO_JOB: there is none, or no room. */
int
sf_net_begin_next(SfNet *net, TimestampTz now)
{
	int			job;
	SfBranch   *branch;

	if (sf_net_room(net) <= 0 || (job = bms_next_member(net->ready, -1)) < 0)
		return SF_NO_JOB;
	net->ready = bms_del_member(net->ready, job);
	branch = net->rows[job] != NULL ? net->rows[job] : make_job(net, job);
	sf_branch_come_at(branch, now);
	sf_branch_wait_for_none(branch);
	net->changed = lappend(net->changed, branch);
	net->join->next_index++;
	return job;
}

/* Begin the ready jobs for which there is room, by number. */
void
sf_net_begin(SfNet *net, TimestampTz now)
{
	int			job;

	while ((job = sf_net_begin_next(net, now)) != SF_NO_JOB)
		net->begun = bms_add_member(net->begun, job);
}

/* Have the jobs be ready again that have begun and that no slice has run; returns how many. */
int
sf_net_take_back_begun(SfNet *net)
{
	int			job;
	int			n = 0;

	while ((job = bms_next_member(net->begun, -1)) >= 0)
	{
		net->begun = bms_del_member(net->begun, job);
		make_ready(net, job);
		n++;
	}
	net->join->next_index -= n;
	return n;
}

/* Have the jobs that stay ready after a redrive wait for room; one that has children of its own goes on with them. */
void
sf_net_rest_ready(SfNet *net)
{
	int			job = -1;

	while ((job = bms_next_member(net->ready, job)) >= 0)
	{
		if (!net->rows[job]->work.is_parent)
			sf_branch_stand_at(net->rows[job], SF_BRANCH_PLACE_READY);
	}
}

/* --- jobs without rows --- */

/* Make the jobs of a net that have no rows in memory: those that wait for room only get one when they begin. */
void
sf_net_load_implied(SfNet *net)
{
	const SfJobNetState *jobs = sf_state_net(net->state);

	net->ends = sf_branch_read_ends(net->join, jobs->njobs);
	for (int i = 0; i < jobs->njobs; i++)
	{
		bool		unmet;
		int			undone;

		if (net->ends[i] != SF_NET_JOB_END_NONE)
			continue;
		undone = sf_asl_net_job_undone(&jobs->jobs[i], net->ends, &unmet);
		if (undone == 0)
			net->ready = bms_add_member(net->ready, i);
		else if (undone < jobs->jobs[i].nafter)
		{
			sf_branch_wait_for_jobs(make_job(net, i), undone);
			net->rows[i]->unmet = unmet;
		}
	}
}

/* Have the jobs of a net that have not begun have no rows. */
void
sf_net_imply(SfNet *net)
{
	int			njobs = sf_state_net(net->state)->njobs;

	for (int i = 0; i < njobs; i++)
	{
		SfBranch   *branch = net->rows[i];

		if (branch == NULL || branch->row.gone || branch->phase != SF_PHASE_ENTER)
			continue;
		branch->row.gone = true;
		net->changed = lappend(net->changed, branch);
	}
	sf_branch_note_ends(net->join, net->ends, njobs);
}

/* Have all jobs that wait for others, of which some have ended, or for room, have rows. */
void
sf_net_make_rows(SfNet *net)
{
	int			njobs = sf_state_net(net->state)->njobs;

	for (int i = 0; i < njobs; i++)
	{
		if (net->rows[i] == NULL && bms_is_member(i, net->ready))
			sf_branch_wait_for_room(make_job(net, i));
		if (net->rows[i] != NULL && !net->rows[i]->work.in_draft && !net->rows[i]->row.stored)
			net->changed = lappend(net->changed, net->rows[i]);
	}
}

/* --- the state --- */

/*
 * Have a net whose slice is over go on as a whole in the next one, unless jobs of it
 * run; those that have begun and that no slice has run are ready again.
 */
bool
sf_net_rest(SfNet *net, TimestampTz now)
{
	SfBranch   *join = net->join;
	int			running = join->next_index - (join->total - sf_branch_children_left(join));

	if (running != bms_num_members(net->begun))
		return false;
	sf_net_take_back_begun(net);
	Assert(sf_phase_may_follow(join->phase, SF_PHASE_NET));
	join->phase = SF_PHASE_NET;
	join->due_at = now;
	return true;
}

/* JobNet: go on with the jobs, as slices have left them. */
SfStepNext
sf_net_continue(SfStep *step)
{
	step->branch->phase = SF_PHASE_JOIN;
	step->branch->due_at = DT_NOEND;
	step->transition->name = SF_TRANSITION_CONTINUED;
	return SF_STEP_REST;
}

/* JobNet: begin the jobs that wait for no other one. */
SfStepNext
sf_net_enter(SfStep *step)
{
	const SfJobNetState *jobs = sf_state_net(step->state);
	SfBranch   *branch = step->branch;
	Jsonb	   *payload;
	SfNet	   *net;
	SfError		error;

	if (!sf_flow_input(step, &error) ||
		!sf_flow_parameters(step, &payload, &error) ||
		!sf_flow_concurrency(step, &jobs->max_concurrency, &error))
		return sf_step_fail(step, &error);

	sf_step_event(step, SF_HISTORY_EVENT_JOBNET_STATE_STARTED, NULL, NULL);
	branch->phase = SF_PHASE_JOIN;
	branch->due_at = DT_NOEND;
	branch->join_input = payload == sf_branch_input(branch) ? NULL : payload;
	branch->total = jobs->njobs;
	sf_branch_set_children_left(branch, jobs->njobs);
	branch->next_index = 0;
	sf_branch_forget_ends(branch);
	net = sf_net_make(step->program, branch);
	for (int i = 0; i < jobs->njobs; i++)
	{
		if (jobs->jobs[i].nafter > 0)
			continue;
		sf_step_effect(step, SF_EFFECT_SPAWN_BRANCH)->spawn_branch = make_job(net, i);
		make_ready(net, i);
	}
	sf_net_begin(net, step->now);
	step->transition->name = SF_TRANSITION_STARTED;
	return SF_STEP_REST;
}

/* The job that a branch is about to begin, if it has a condition; else NULL. */
const SfNetJob *
sf_net_job_with_condition(const SfProgram *program, const SfBranch *branch)
{
	int			owner = program->scopes[branch->scope].owner_state;
	const SfNetJob *job;

	if (owner == SF_NO_STATE || program->states[owner].type != SF_STATE_JOBNET ||
		!sf_branch_has_parent(branch) || branch->entered_at != DT_NOBEGIN)
		return NULL;
	job = &sf_state_net(&program->states[owner])->jobs[branch->branch_index];
	return job->condition == NULL ? NULL : job;
}

/* Put what could not be evaluated before a cause: the job has no event yet that is its own. */
static void
prefix_condition(const SfStep *step, const SfNetJob *job, SfError *error)
{
	if (!error->needs_prefix || error->cause == NULL || step->loaded->inspection != NULL)
		return;
	error->cause = psprintf("An error occurred while evaluating the condition of the job '%s'. %s",
							job->name, error->cause);
	error->needs_prefix = false;
}

/*
 * Look whether a job that is about to begin may: false, with what follows the step, if
 * its condition does not hold, or cannot be evaluated.
 */
bool
sf_net_may_begin(SfStep *step, SfStepNext *next)
{
	const SfNetJob *job = sf_net_job_with_condition(step->program, step->branch);
	SfError		error;
	bool		is_true;

	if (job == NULL)
		return true;
	if (!sf_choice_eval(step, job->condition, &is_true, &error))
	{
		prefix_condition(step, job, &error);
		step->transition->name = SF_TRANSITION_FAILED;
		*next = sf_step_fail_branch(step, &error);
		return false;
	}
	if (!is_true)
		*next = sf_step_skip_net_job(step);
	return is_true;
}

/* The results of the jobs that have succeeded, by name, as an object. */
Jsonb *
sf_net_result(const SfStep *step)
{
	const SfJobNetState *net = sf_state_net(step->state);
	const SfJoined *joined = sf_stimulus_joined(step->stimulus);
	SfJsonMember *members = palloc(sizeof(SfJsonMember) * Max(joined->noutputs, 1));

	for (int i = 0; i < joined->noutputs; i++)
	{
		const char *name = net->jobs[joined->indexes[i]].name;

		members[i].key.type = jbvString;
		members[i].key.val.string.val = unconstify(char *, name);
		members[i].key.val.string.len = strlen(name);
		sf_json_root(joined->outputs[i], &members[i].value);
	}
	return sf_json_object_of(members, joined->noutputs);
}

/* --- redrive --- */

/* Have a job that did not succeed wait for its After again, and forget what it did. */
static void
rewind_job(SfNet *net, int job, int undone, bool unmet)
{
	if (net->rows[job] != NULL)
	{
		net->rows[job]->row.gone = true;
		net->changed = lappend(net->changed, net->rows[job]);
		net->rows[job] = NULL;
	}
	if (undone == 0 || undone == jobs_of(net)[job].nafter)
		return;
	sf_branch_wait_for_jobs(make_job(net, job), undone);
	net->rows[job]->unmet = unmet;
	net->changed = lappend(net->changed, net->rows[job]);
}

/*
 * Have a job that did not succeed run again.  One with children of its own, or with an
 * outcome that was committed, goes on from there without waiting for room.
 */
static void
rerun_job(SfNet *net, int job)
{
	SfBranch   *branch = net->rows[job];

	if (branch == NULL)
		make_job(net, job);
	if (branch != NULL && (branch->work.is_parent || sf_branch_has_outcome(branch)))
		net->join->next_index++;
	else
		make_ready(net, job);
}

/*
 * Decide anew on the jobs of a net, of which rows has those that have one: what has
 * succeeded stays; what can begin is ready; what has to wait, or is skipped, forgets
 * what it did.
 */
void
sf_net_rewind(SfNet *net)
{
	const SfJobNetState *jobs = sf_state_net(net->state);
	SfBranch   *join = net->join;
	char	   *ends = palloc0(jobs->njobs);

	join->total = join->work.unsuccessful = jobs->njobs;
	join->next_index = 0;
	sf_branch_forget_ends(join);
	for (int i = 0; i < jobs->njobs; i++)
	{
		int			job = jobs->order[i];
		SfBranch   *branch = net->rows[job];
		bool		unmet;
		int			undone = sf_asl_net_job_undone(&jobs->jobs[job], ends, &unmet);

		if (branch != NULL && branch->phase == SF_PHASE_DONE)
			ends[job] = SF_NET_JOB_END_SUCCESS;
		else if (undone > 0)
			rewind_job(net, job, undone, unmet);
		else if (unmet)
		{
			rewind_job(net, job, 0, unmet);
			ends[job] = SF_NET_JOB_END_SKIP;
		}
		else
			rerun_job(net, job);
		if (ends[job] != SF_NET_JOB_END_NONE)
		{
			join->next_index++;
			join->work.unsuccessful--;
		}
	}
	pfree(ends);
}
