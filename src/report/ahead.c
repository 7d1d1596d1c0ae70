/*
 * ahead.c
 *		What an execution still has to run that has no job of its own yet.
 *
 * A job of an iteration is there once the iteration has begun (job.c).  This counts the
 * others: of each Map at which a branch stands, the Tasks of the iterations to come; of a
 * Distributed Map the items that have not succeeded; and it names the Maps that the
 * execution can still come to, whose items are not known before.
 *
 * Which of the jobs ahead will run, if nothing fails, and which only may: those to which
 * a branch comes by Next alone, and by no Choice, run.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/bitmapset.h"

#include "report/report.h"
#include "report/successors.h"
#include "store/map_run/map_run.h"

typedef struct Counting
{
	const SfExecutionHead *execution;
	const SfProgram *program;
	List	   *branches;
	SfStateReach *reach;
	int64	   *jobs;			/* by state, or SF_JOBS_NOT_KNOWN */
} Counting;

/* The Map around a state within its execution, or SF_NO_STATE. */
static int
map_around(const SfProgram *program, int state)
{
	return sf_job_enclosing_map(program, program->states[state].scope);
}

/* Count what iterations of a Map that have not begun will run. */
static void
add_iterations(Counting *counting, int map, int64 iterations)
{
	for (int i = 0; i < counting->program->nstates; i++)
	{
		SfStateType type = counting->program->states[i].type;

		if ((type != SF_STATE_TASK && type != SF_STATE_MAP) || map_around(counting->program, i) != map)
			continue;
		if (type == SF_STATE_MAP)
			counting->jobs[i] = SF_JOBS_NOT_KNOWN;
		else
			counting->jobs[i] += iterations;
	}
}

/* Count the items of a Distributed Map that have not succeeded. */
static void
add_items(Counting *counting, const SfBranch *branch)
{
	foreach_ptr(const SfMapRun, run, sf_map_run_scan(counting->execution->execution_no))
		if (run->map_run_no == branch->map_run_no)
			counting->jobs[branch->state] = run->total - run->items_succeeded;
}

/* Does a branch wait for a Map that may have more to begin? */
static bool
waits_for_map(const SfProgram *program, const SfBranch *branch)
{
	return branch->phase == SF_PHASE_JOIN && sf_join_course(branch) != SF_JOIN_ABORTING &&
		sf_program_has_state(program, branch->state) &&
		program->states[branch->state].type == SF_STATE_MAP;
}

/* Count what the Map at which a branch waits has still to begin. */
static void
add_map(Counting *counting, const SfBranch *branch)
{
	if (!waits_for_map(counting->program, branch))
		return;
	if (sf_branch_has_map_run(branch))
		add_items(counting, branch);
	else if (branch->next_index < branch->total)
		add_iterations(counting, branch->state, branch->total - branch->next_index);
}

/* Count the jobs of the iterations that the Maps of some branches have still to begin. */
int64
sf_ahead_not_begun(const SfProgram *program, List *branches)
{
	Counting	counting = {.program = program,.jobs = palloc0(sizeof(int64) * program->nstates)};
	int64		n = 0;

	foreach_ptr(const SfBranch, branch, branches)
	{
		CHECK_FOR_INTERRUPTS();
		if (!sf_branch_has_map_run(branch))
			add_map(&counting, branch);
	}
	for (int i = 0; i < program->nstates; i++)
		n += Max(counting.jobs[i], 0);
	pfree(counting.jobs);
	return n;
}

/* Can the execution come to a Map? */
static bool
comes_to(Counting *counting, int map)
{
	int			outer = map_around(counting->program, map);

	if (outer == SF_NO_STATE)
		return sf_reach_test(counting->reach, map, NULL, 0);
	foreach_ptr(const SfBranch, branch, counting->branches)
	{
		CHECK_FOR_INTERRUPTS();
		if (sf_job_enclosing_map(counting->program, branch->scope) == outer &&
			sf_reach_test(counting->reach, map, branch->iterations, branch->niterations))
			return true;
	}
	return false;
}

/* Note the Maps to which the execution can still come. */
static void
add_maps_ahead(Counting *counting)
{
	for (int i = 0; i < counting->program->nstates; i++)
		if (counting->program->states[i].type == SF_STATE_MAP &&
			sf_job_distributed_map(counting->program,
								   counting->program->states[i].scope) == counting->execution->map_state &&
			comes_to(counting, i))
			counting->jobs[i] = SF_JOBS_NOT_KNOWN;
}

/*
 * List what a running execution will run, or may, that has no job yet: a List of SfAhead,
 * in the order of the definition.
 */
List *
sf_ahead_list(const SfExecutionHead *execution, const SfProgram *program)
{
	Counting	counting = {.execution = execution,.program = program};
	List	   *list = NIL;

	if (execution->status != SF_STATUS_RUNNING)
		return NIL;
	counting.branches = sf_branch_scan(execution->execution_no, program);
	counting.reach = sf_reach_make(execution, program, counting.branches);
	counting.jobs = palloc0(sizeof(int64) * program->nstates);
	foreach_ptr(const SfBranch, branch, counting.branches)
		add_map(&counting, branch);
	add_maps_ahead(&counting);
	for (int i = 0; i < program->nstates; i++)
	{
		SfAhead    *ahead;

		if (counting.jobs[i] == 0)
			continue;
		ahead = palloc(sizeof(SfAhead));
		ahead->state = i;
		ahead->jobs = counting.jobs[i];
		list = lappend(list, ahead);
	}
	return list;
}

/* --- what runs if nothing fails --- */

typedef struct Walk
{
	const SfProgram *program;
	const bool *passed_over;	/* jobs that need a failure, by scope */
	Bitmapset  *certain;		/* states */
} Walk;

static void walk_on(Walk *walker, int state);

/* May a job of a net be left out? */
static bool
is_optional(const Walk *walker, const SfState *net, int job)
{
	return walker->passed_over[net->scopes[job]] || sf_state_net(net)->jobs[job].condition != NULL;
}

/* Walk through what lies inside of a state. */
static void
walk_inside(Walk *walker, const SfState *state)
{
	check_stack_depth();
	for (int i = 0; i < state->nscopes; i++)
		if (state->type != SF_STATE_JOBNET || !is_optional(walker, state, i))
			walk_on(walker, walker->program->scopes[state->scopes[i]].start);
}

/* Walk from a state by Next as far as there is one way only. */
static void
walk_on(Walk *walker, int state)
{
	while (state != SF_NO_STATE && !bms_is_member(state, walker->certain))
	{
		const SfState *s = &walker->program->states[state];

		walker->certain = bms_add_member(walker->certain, state);
		walk_inside(walker, s);
		state = s->type == SF_STATE_CHOICE ? SF_NO_STATE : s->next;
	}
}

/* Does a branch begin a job of a net that may be left out? */
static bool
begins_optional(const Walk *walker, const SfBranch *branch)
{
	int			owner = walker->program->scopes[branch->scope].owner_state;
	const SfState *net = owner == SF_NO_STATE ? NULL : &walker->program->states[owner];

	return branch->phase == SF_PHASE_ENTER && net != NULL && net->type == SF_STATE_JOBNET &&
		is_optional(walker, net, walker->program->scopes[branch->scope].branch_index);
}

/* Do all these Tasks, by their states, run if the branches of an execution go on and nothing fails? */
bool
sf_ahead_is_certain(const SfProgram *program, List *branches, List *tasks)
{
	Walk		walker = {.program = program,.passed_over = sf_successors_passed_over(program)};
	ListCell   *lc;

	foreach_ptr(const SfBranch, branch, branches)
	{
		CHECK_FOR_INTERRUPTS();
		if (!sf_branch_has_ended(branch) && sf_program_has_state(program, branch->state) &&
			!begins_optional(&walker, branch))
			walk_on(&walker, branch->state);
	}
	foreach(lc, tasks)
		if (!bms_is_member(lfirst_int(lc), walker.certain))
			return false;
	return true;
}
