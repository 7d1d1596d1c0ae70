/*
 * remaining.c
 *		How long a running execution still takes, and which Tasks come next.
 *
 * A Task takes what its last runs took in the middle (store/statistics/usual.h), a Wait state
 * with a constant its seconds, any other state nothing.  The path of a state is the
 * longest way from there to the end of its scope, by Next and by each rule of a Choice,
 * not by a catcher; a loop counts once.  A Map that has not begun counts as one
 * iteration.  From each branch that works or waits the rest is what its state still
 * takes, then the longest way on, then that of each Parallel or Map around it.  The
 * longest of them is the execution's.
 *
 * In a JobNet the jobs follow each other by their After.  Those that come are taken to
 * succeed, so a job that needs the failure of another one counts once it has begun.
 *
 * Asked for a Task, all this ends with it: a way that leads to the Task goes no further,
 * and beats those that do not.
 *
 * A Map whose iterations have not all begun takes as many further rounds as its
 * concurrency needs.  A Distributed Map goes on at the speed that it had while it ran.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/hsearch.h"

#include "report/report.h"
#include "report/successors.h"
#include "store/map_run/map_run.h"
#include "store/statistics/usual.h"

/*
 * Where the length of a way to the Task that is asked for may stand: none leads there.  It is below all lengths, so
 * that Max finds the longest of those that do.
 */
#define NO_WAY	SF_NO_DURATION

struct SfRemaining
{
	const SfProgram *program;
	int64	   *own;			/* by state: what a Task or a Wait takes */
	int64	   *path;			/* by state: from its beginning to the end of its scope */
	int64	   *way;			/* ... to the end of the Task that is asked for, or NO_WAY */
	int64	   *inside;			/* by state: the longest path of a branch, an iteration, the jobs */
	int64	   *later;			/* by scope of a job: from its end to that of its net; else 0 */
	int64	   *later_way;		/* ... to the end of the Task that is asked for, or NO_WAY */
	bool	   *passed_over;	/* by scope of a job: it is skipped if the others succeed */
	int			task;			/* that is asked for, or SF_NO_STATE */
	bool		known;			/* some Task has run before */
};

/* --- from the definition --- */

/* What a state takes by itself, or SF_NO_DURATION; a Parallel or Map has its paths. */
static int64
own_time(const SfState *state, const List *usual)
{
	if (state->type == SF_STATE_WAIT && sf_state_wait(state)->kind == SF_WAIT_SECONDS)
	{
		const SfValueField *seconds = sf_wait_seconds(sf_state_wait(state));

		return seconds->kind == SF_FIELD_LITERAL ?
			(int64) (Min(sf_field_number(seconds), 1e9) * USECS_PER_SEC) : 0;
	}
	return state->type == SF_STATE_TASK ? sf_usual_of_job(usual, state->name) : 0;
}

/* The longest path of the states that follow a state; those not known yet count nothing. */
static int64
longest_after(const SfRemaining *remaining, const SfState *state)
{
	int		   *next = palloc(sizeof(int) * sf_successors_max(state));
	int			n = sf_successors_direct(state, SF_WAY_NEXT, next);
	int64		longest = 0;

	for (int i = 0; i < n; i++)
		longest = Max(longest, remaining->path[next[i]]);
	pfree(next);
	return longest;
}

/* The longest way to the Task that is asked for from the states that follow a state, or NO_WAY. */
static int64
way_after(const SfRemaining *remaining, const SfState *state)
{
	int		   *next = palloc(sizeof(int) * sf_successors_max(state));
	int			n = sf_successors_direct(state, SF_WAY_NEXT, next);
	int64		longest = NO_WAY;

	for (int i = 0; i < n; i++)
		longest = Max(longest, remaining->way[next[i]]);
	pfree(next);
	return longest;
}

/* The longest path from the beginning of a scope: to its end, or if it is a job's to that of its net. */
static int64
path_of_scope(const SfRemaining *remaining, int scope)
{
	return sf_remaining_of_scope(remaining, scope) + remaining->later[scope];
}

/* The longest way from there to the Task that is asked for, or NO_WAY. */
static int64
way_of_scope(const SfRemaining *remaining, int scope)
{
	int			start = remaining->program->scopes[scope].start;

	if (!remaining->passed_over[scope] && remaining->way[start] != NO_WAY)
		return remaining->way[start];
	if (remaining->later_way[scope] == NO_WAY)
		return NO_WAY;
	return (remaining->passed_over[scope] ? 0 : remaining->path[start]) + remaining->later_way[scope];
}

/* The longest way to the Task that is asked for within a Parallel, Map or JobNet, or NO_WAY. */
static int64
way_inside(const SfRemaining *remaining, const SfState *state)
{
	int64		longest = NO_WAY;

	for (int i = 0; i < state->nscopes; i++)
		longest = Max(longest, way_of_scope(remaining, state->scopes[i]));
	return longest;
}

/* The longest path of the branches of a Parallel, of an iteration of a Map, or of the jobs of a net. */
static int64
longest_inside(const SfRemaining *remaining, const SfState *state)
{
	int64		longest = 0;

	for (int i = 0; i < state->nscopes; i++)
		longest = Max(longest, path_of_scope(remaining, state->scopes[i]));
	return longest;
}

/* Find for each job of a net what comes after it, the last jobs first. */
static void
find_later(SfRemaining *remaining, const SfState *state)
{
	const SfJobNetState *net = sf_state_net(state);

	for (int i = net->njobs - 1; i >= 0; i--)
	{
		const SfNetJob *job = &net->jobs[net->order[i]];

		for (int j = 0; j < job->nfollowers; j++)
		{
			int			next = state->scopes[job->followers[j].job];

			remaining->later[job->scope] = Max(remaining->later[job->scope], path_of_scope(remaining, next));
			remaining->later_way[job->scope] = Max(remaining->later_way[job->scope], way_of_scope(remaining, next));
		}
	}
}

/* List the states whose paths the path of a state is made of, and that were not seen. */
static List *
push_parts(const SfRemaining *remaining, const SfState *state, const char *seen, List *stack)
{
	int		   *next = palloc(sizeof(int) * sf_successors_max(state));
	int			n = sf_successors_direct(state, SF_WAY_NEXT, next);

	for (int i = 0; i < n; i++)
		if (!seen[next[i]])
			stack = lappend_int(stack, next[i]);
	for (int i = 0; i < state->nscopes; i++)
		if (!seen[remaining->program->scopes[state->scopes[i]].start])
			stack = lappend_int(stack, remaining->program->scopes[state->scopes[i]].start);
	pfree(next);
	return stack;
}

/* Find the way from a state to the end of the Task that is asked for, or NO_WAY. */
static int64
find_way(const SfRemaining *remaining, const SfState *state)
{
	int64		inside = way_inside(remaining, state);
	int64		after;

	if (state->number == remaining->task)
		return remaining->own[state->number];
	if (inside != NO_WAY)
		return inside;
	after = way_after(remaining, state);
	return after == NO_WAY ? NO_WAY : remaining->own[state->number] + remaining->inside[state->number] + after;
}

/* Find the path of a state from those that it is made of. */
static void
find_path(SfRemaining *remaining, const SfState *state)
{
	if (state->type == SF_STATE_JOBNET)
		find_later(remaining, state);
	remaining->inside[state->number] = longest_inside(remaining, state);
	remaining->path[state->number] =
		remaining->own[state->number] + remaining->inside[state->number] + longest_after(remaining, state);
	remaining->way[state->number] = find_way(remaining, state);
}

/* Find the paths of all states that a state leads to, those that others are made of first. */
static void
find_paths(SfRemaining *remaining, int from, char *seen, bool *done)
{
	List	   *stack = list_make1_int(from);

	while (stack != NIL)
	{
		int			state = llast_int(stack);
		const SfState *s = &remaining->program->states[state];

		CHECK_FOR_INTERRUPTS();
		if (!seen[state])
		{
			seen[state] = 1;
			stack = push_parts(remaining, s, seen, stack);
			continue;
		}
		if (!done[state])
			find_path(remaining, s);
		done[state] = true;
		stack = list_delete_last(stack);
	}
}

/*
 * Prepare to compute what executions of a program still take, up to the end of a Task
 * (SF_NO_STATE: to their own), by what sf_usual_jobs says.
 */
SfRemaining *
sf_remaining_begin(const SfProgram *program, List *usual, int task)
{
	SfRemaining *remaining = palloc0(sizeof(SfRemaining));
	char	   *seen = palloc0(program->nstates);
	bool	   *done = palloc0(sizeof(bool) * program->nstates);

	remaining->program = program;
	remaining->own = palloc(sizeof(int64) * program->nstates);
	remaining->path = palloc0(sizeof(int64) * program->nstates);
	remaining->way = palloc(sizeof(int64) * program->nstates);
	remaining->inside = palloc0(sizeof(int64) * program->nstates);
	remaining->later = palloc0(sizeof(int64) * program->nscopes);
	remaining->later_way = palloc(sizeof(int64) * program->nscopes);
	remaining->passed_over = sf_successors_passed_over(program);
	remaining->task = task;
	for (int i = 0; i < program->nscopes; i++)
		remaining->later_way[i] = NO_WAY;
	for (int i = 0; i < program->nstates; i++)
	{
		int64		us = own_time(&program->states[i], usual);

		remaining->known = remaining->known || (sf_duration_is_known(us) && program->states[i].type == SF_STATE_TASK);
		remaining->own[i] = sf_duration_is_known(us) ? us : 0;
		remaining->way[i] = NO_WAY;
	}
	for (int i = 0; i < program->nstates; i++)
		if (!seen[i])
			find_paths(remaining, i, seen, done);
	return remaining;
}

/* What an execution takes from its beginning; SF_NO_DURATION: not known. */
int64
sf_remaining_whole(const SfRemaining *remaining)
{
	int			start = remaining->program->scopes[0].start;

	return !remaining->known ? SF_NO_DURATION : remaining->task != SF_NO_STATE ? remaining->way[start] :
		remaining->path[start];
}

/* What a scope takes from its beginning to its end; a job that is skipped if the others succeed, nothing. */
int64
sf_remaining_of_scope(const SfRemaining *remaining, int scope)
{
	return remaining->passed_over[scope] ? 0 : remaining->path[remaining->program->scopes[scope].start];
}

/* --- from where an execution stands --- */

/* Branches by number */
typedef struct BranchEntry
{
	int64		branch_no;
	const SfBranch *branch;
	bool		is_waited_for;	/* JOIN: a child that has not ended was found */
} BranchEntry;

/* Make a table of the branches of an execution. */
static HTAB *
enter_branches(List *branches)
{
	HASHCTL		control = {0};
	HTAB	   *table;

	control.keysize = sizeof(int64);
	control.entrysize = sizeof(BranchEntry);
	control.hcxt = CurrentMemoryContext;
	table = hash_create("sfflow branches that go on", 256, &control,
						HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	foreach_ptr(const SfBranch, branch, branches)
	{
		BranchEntry *entry = hash_search(table, &branch->branch_no, HASH_ENTER, NULL);

		entry->branch = branch;
		entry->is_waited_for = false;
	}
	return table;
}

/* What a Distributed Map still takes at the speed that it had so far. */
static int64
rest_of_run(const SfBranch *branch, List *runs, TimestampTz now, int64 one)
{
	foreach_ptr(const SfMapRun, run, runs)
	{
		int64		done = (int64) run->items_succeeded + run->items_failed;

		if (run->map_run_no != branch->map_run_no)
			continue;
		if (done == 0 || run->total <= done)
			return run->total > done || sf_branch_is_reading(branch) ? one : 0;
		return (int64) ((double) (now - run->started_at - run->idle_us) / done * (run->total - done));
	}
	return one;
}

/* What the iterations of a Map that have not begun take. */
static int64
rest_of_map(const SfRemaining *remaining, const SfBranch *branch)
{
	int			left = branch->total - branch->next_index;
	int			at_once = branch->max_concurrency != SF_UNLIMITED ? branch->max_concurrency : Max(branch->total, 1);

	if (remaining->program->states[branch->state].type != SF_STATE_MAP || left <= 0)
		return 0;
	return (int64) ((left + at_once - 1) / at_once) * remaining->inside[branch->state];
}

/* What the state of a branch still takes, without children that it has. */
static int64
rest_of_state(const SfRemaining *remaining, const SfBranch *branch, List *runs, TimestampTz now)
{
	int64		whole = remaining->own[branch->state] + remaining->inside[branch->state];
	int64		pause = branch->due_at == DT_NOEND ? 0 : Max(branch->due_at - now, 0);
	TimestampTz began = branch->started_at != DT_NOBEGIN ? branch->started_at : branch->entered_at;

	switch (branch->phase)
	{
		case SF_PHASE_ENTER:
		case SF_PHASE_RUN:
		case SF_PHASE_MAP_WRITE:
			return pause + whole;
		case SF_PHASE_WAIT:
			return pause;
		case SF_PHASE_ANNOUNCED:
		case SF_PHASE_EXTERNAL:
			return Max(whole - (began == DT_NOBEGIN ? 0 : Max(now - began, 0)), 0);
		case SF_PHASE_JOIN:
			return sf_branch_has_map_run(branch) ? rest_of_run(branch, runs, now, remaining->inside[branch->state]) :
				rest_of_map(remaining, branch);
		case SF_PHASE_ANSWERED:
		case SF_PHASE_MAP_ANSWERED:
		case SF_PHASE_NET:		/* its jobs count by themselves */
		case SF_PHASE_DONE:
		case SF_PHASE_FAILED:
		case SF_PHASE_ABORTED:
		case SF_PHASE_KEPT:
		case SF_PHASE_TIMEOUT:
		case SF_PHASE_STOP:
			return 0;
	}
	return 0;
}

/* Is a branch a job that waits for others?  It counts by those. */
static bool
waits_for_jobs(const SfBranch *branch)
{
	return branch->place == SF_BRANCH_PLACE_WAITS;
}

/* Does a branch have a state of the program, and has it not ended? */
static bool
goes_on(const SfRemaining *remaining, const SfBranch *branch)
{
	return !sf_branch_has_ended(branch) && !waits_for_jobs(branch) && !sf_phase_is_of_execution(branch->phase) &&
		sf_program_has_state(remaining->program, branch->state);
}

/* What is left from a branch up to the end of the execution, or of the Task that is asked for. */
static int64
rest_from(const SfRemaining *remaining, HTAB *table, const SfBranch *branch, List *runs, TimestampTz now)
{
	int64		rest = 0;

	for (;;)
	{
		const SfState *state = &remaining->program->states[branch->state];
		int64		way = way_after(remaining, state);
		BranchEntry *parent;

		if (branch->phase == SF_PHASE_ENTER && way_inside(remaining, state) != NO_WAY)
			return rest + way_inside(remaining, state);
		rest += rest_of_state(remaining, branch, runs, now);
		if (branch->state == remaining->task)
			return rest;
		if (way != NO_WAY)
			return rest + way;
		rest += longest_after(remaining, state);
		parent = sf_branch_has_parent(branch) ? hash_search(table, &branch->parent_no, HASH_FIND, NULL) : NULL;
		if (parent == NULL || !goes_on(remaining, parent->branch))
			return remaining->task != SF_NO_STATE ? 0 : rest;
		if (remaining->later_way[branch->scope] != NO_WAY)
			return rest + remaining->later_way[branch->scope];
		rest += remaining->later[branch->scope];
		branch = parent->branch;
	}
}

/* Note which joins wait for a child that is there. */
static void
note_parents(const SfRemaining *remaining, HTAB *table, List *branches)
{
	foreach_ptr(const SfBranch, branch, branches)
	{
		BranchEntry *parent = !sf_branch_has_parent(branch) || !goes_on(remaining, branch) ? NULL :
			hash_search(table, &branch->parent_no, HASH_FIND, NULL);

		if (parent != NULL)
			parent->is_waited_for = true;
	}
}

/*
 * What an execution with these branches, and these runs of Distributed Maps, still
 * takes if it goes on at once, microseconds; SF_NO_DURATION: not known, since no Task has run before.
 * 0 if it does not come to the Task that is asked for.
 */
int64
sf_remaining_us(const SfRemaining *remaining, List *branches, List *runs, TimestampTz now)
{
	HTAB	   *table = enter_branches(branches);
	int64		longest = 0;

	note_parents(remaining, table, branches);
	foreach_ptr(const SfBranch, branch, branches)
	{
		BranchEntry *entry = hash_search(table, &branch->branch_no, HASH_FIND, NULL);

		CHECK_FOR_INTERRUPTS();
		if (goes_on(remaining, branch) && !entry->is_waited_for)
			longest = Max(longest, rest_from(remaining, table, branch, runs, now));
	}
	hash_destroy(table);
	return remaining->known ? longest : SF_NO_DURATION;
}

/*
 * Find the Tasks that come next after those at which an execution stands: the numbers
 * of their states.  A Task that is about to begin is not among them.
 */
Bitmapset *
sf_remaining_next(const SfProgram *program, List *branches)
{
	Bitmapset  *seen = NULL;
	Bitmapset  *next = NULL;

	foreach_ptr(const SfBranch, branch, branches)
	{
		if (sf_branch_has_ended(branch) || branch->phase == SF_PHASE_JOIN || waits_for_jobs(branch) ||
			!sf_program_has_state(program, branch->state) ||
			bms_is_member(branch->state, seen))
			continue;
		seen = bms_add_member(seen, branch->state);
		next = bms_add_members(next, sf_successors_tasks_after(program, branch->state));
	}
	return next;
}
