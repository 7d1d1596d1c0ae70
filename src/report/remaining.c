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
own_time(const SfState *s, const List *usual)
{
	if (s->type == SF_STATE_WAIT && !sf_state_wait(s)->has_timestamp)
	{
		const SfValueField *seconds = sf_wait_seconds(sf_state_wait(s));

		return seconds->kind == SF_FIELD_LITERAL ?
			(int64) (Min(sf_field_literal(seconds)->number, 1e9) * USECS_PER_SEC) : 0;
	}
	return s->type == SF_STATE_TASK ? sf_usual_of_job(usual, s->name) : 0;
}

/* The longest path of the states that follow a state; those not known yet count nothing. */
static int64
longest_after(const SfRemaining *r, const SfState *s)
{
	int		   *next = palloc(sizeof(int) * sf_successors_max(s));
	int			n = sf_successors_direct(s, SF_WAY_NEXT, next);
	int64		longest = 0;

	for (int i = 0; i < n; i++)
		longest = Max(longest, r->path[next[i]]);
	pfree(next);
	return longest;
}

/* The longest way to the Task that is asked for from the states that follow a state, or NO_WAY. */
static int64
way_after(const SfRemaining *r, const SfState *s)
{
	int		   *next = palloc(sizeof(int) * sf_successors_max(s));
	int			n = sf_successors_direct(s, SF_WAY_NEXT, next);
	int64		longest = NO_WAY;

	for (int i = 0; i < n; i++)
		longest = Max(longest, r->way[next[i]]);
	pfree(next);
	return longest;
}

/* The longest path from the beginning of a scope: to its end, or if it is a job's to that of its net. */
static int64
path_of_scope(const SfRemaining *r, int scope)
{
	return sf_remaining_of_scope(r, scope) + r->later[scope];
}

/* The longest way from there to the Task that is asked for, or NO_WAY. */
static int64
way_of_scope(const SfRemaining *r, int scope)
{
	int			start = r->program->scopes[scope].start;

	if (!r->passed_over[scope] && r->way[start] != NO_WAY)
		return r->way[start];
	if (r->later_way[scope] == NO_WAY)
		return NO_WAY;
	return (r->passed_over[scope] ? 0 : r->path[start]) + r->later_way[scope];
}

/* The longest way to the Task that is asked for within a Parallel, Map or JobNet, or NO_WAY. */
static int64
way_inside(const SfRemaining *r, const SfState *s)
{
	int64		longest = NO_WAY;

	for (int i = 0; i < s->nscopes; i++)
		longest = Max(longest, way_of_scope(r, s->scopes[i]));
	return longest;
}

/* The longest path of the branches of a Parallel, of an iteration of a Map, or of the jobs of a net. */
static int64
longest_inside(const SfRemaining *r, const SfState *s)
{
	int64		longest = 0;

	for (int i = 0; i < s->nscopes; i++)
		longest = Max(longest, path_of_scope(r, s->scopes[i]));
	return longest;
}

/* Find for each job of a net what comes after it, the last jobs first. */
static void
find_later(SfRemaining *r, const SfState *s)
{
	const SfJobNetState *net = sf_state_net(s);

	for (int i = net->njobs - 1; i >= 0; i--)
	{
		const SfNetJob *job = &net->jobs[net->order[i]];

		for (int j = 0; j < job->nfollowers; j++)
		{
			int			next = s->scopes[job->followers[j].job];

			r->later[job->scope] = Max(r->later[job->scope], path_of_scope(r, next));
			r->later_way[job->scope] = Max(r->later_way[job->scope], way_of_scope(r, next));
		}
	}
}

/* List the states whose paths the path of a state is made of, and that were not seen. */
static List *
push_parts(const SfRemaining *r, const SfState *s, const char *seen, List *stack)
{
	int		   *next = palloc(sizeof(int) * sf_successors_max(s));
	int			n = sf_successors_direct(s, SF_WAY_NEXT, next);

	for (int i = 0; i < n; i++)
		if (!seen[next[i]])
			stack = lappend_int(stack, next[i]);
	for (int i = 0; i < s->nscopes; i++)
		if (!seen[r->program->scopes[s->scopes[i]].start])
			stack = lappend_int(stack, r->program->scopes[s->scopes[i]].start);
	pfree(next);
	return stack;
}

/* Find the way from a state to the end of the Task that is asked for, or NO_WAY. */
static int64
find_way(const SfRemaining *r, const SfState *s)
{
	int64		inside = way_inside(r, s);
	int64		after;

	if (s->number == r->task)
		return r->own[s->number];
	if (inside != NO_WAY)
		return inside;
	after = way_after(r, s);
	return after == NO_WAY ? NO_WAY : r->own[s->number] + r->inside[s->number] + after;
}

/* Find the path of a state from those that it is made of. */
static void
find_path(SfRemaining *r, const SfState *s)
{
	if (s->type == SF_STATE_JOBNET)
		find_later(r, s);
	r->inside[s->number] = longest_inside(r, s);
	r->path[s->number] = r->own[s->number] + r->inside[s->number] + longest_after(r, s);
	r->way[s->number] = find_way(r, s);
}

/* Find the paths of all states that a state leads to, those that others are made of first. */
static void
find_paths(SfRemaining *r, int from, char *seen, bool *done)
{
	List	   *stack = list_make1_int(from);

	while (stack != NIL)
	{
		int			state = llast_int(stack);
		const SfState *s = &r->program->states[state];

		CHECK_FOR_INTERRUPTS();
		if (!seen[state])
		{
			seen[state] = 1;
			stack = push_parts(r, s, seen, stack);
			continue;
		}
		if (!done[state])
			find_path(r, s);
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
	SfRemaining *r = palloc0(sizeof(SfRemaining));
	char	   *seen = palloc0(program->nstates);
	bool	   *done = palloc0(sizeof(bool) * program->nstates);

	r->program = program;
	r->own = palloc(sizeof(int64) * program->nstates);
	r->path = palloc0(sizeof(int64) * program->nstates);
	r->way = palloc(sizeof(int64) * program->nstates);
	r->inside = palloc0(sizeof(int64) * program->nstates);
	r->later = palloc0(sizeof(int64) * program->nscopes);
	r->later_way = palloc(sizeof(int64) * program->nscopes);
	r->passed_over = sf_successors_passed_over(program);
	r->task = task;
	for (int i = 0; i < program->nscopes; i++)
		r->later_way[i] = NO_WAY;
	for (int i = 0; i < program->nstates; i++)
	{
		int64		us = own_time(&program->states[i], usual);

		r->known = r->known || (sf_duration_is_known(us) && program->states[i].type == SF_STATE_TASK);
		r->own[i] = sf_duration_is_known(us) ? us : 0;
		r->way[i] = NO_WAY;
	}
	for (int i = 0; i < program->nstates; i++)
		if (!seen[i])
			find_paths(r, i, seen, done);
	return r;
}

/* What an execution takes from its beginning; SF_NO_DURATION: not known. */
int64
sf_remaining_whole(const SfRemaining *r)
{
	int			start = r->program->scopes[0].start;

	return !r->known ? SF_NO_DURATION : r->task != SF_NO_STATE ? r->way[start] : r->path[start];
}

/* What a scope takes from its beginning to its end; a job that is skipped if the others succeed, nothing. */
int64
sf_remaining_of_scope(const SfRemaining *r, int scope)
{
	return r->passed_over[scope] ? 0 : r->path[r->program->scopes[scope].start];
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
rest_of_run(const SfBranch *b, List *runs, TimestampTz now, int64 one)
{
	foreach_ptr(const SfMapRun, run, runs)
	{
		int64		done = (int64) run->items_succeeded + run->items_failed;

		if (run->map_run_no != b->map_run_no)
			continue;
		if (done == 0 || run->total <= done)
			return run->total > done || sf_branch_is_reading(b) ? one : 0;
		return (int64) ((double) (now - run->started_at - run->idle_us) / done * (run->total - done));
	}
	return one;
}

/* What the iterations of a Map that have not begun take. */
static int64
rest_of_map(const SfRemaining *r, const SfBranch *b)
{
	int			left = b->total - b->next_index;
	int			at_once = b->max_concurrency > 0 ? b->max_concurrency : Max(b->total, 1);

	if (r->program->states[b->state].type != SF_STATE_MAP || left <= 0)
		return 0;
	return (int64) ((left + at_once - 1) / at_once) * r->inside[b->state];
}

/* What the state of a branch still takes, without children that it has. */
static int64
rest_of_state(const SfRemaining *r, const SfBranch *b, List *runs, TimestampTz now)
{
	int64		whole = r->own[b->state] + r->inside[b->state];
	int64		pause = b->due_at == DT_NOEND ? 0 : Max(b->due_at - now, 0);
	TimestampTz began = b->started_at != DT_NOBEGIN ? b->started_at : b->entered_at;

	switch (b->phase)
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
			return sf_branch_has_map_run(b) ? rest_of_run(b, runs, now, r->inside[b->state]) :
				rest_of_map(r, b);
		default:				/* a net that goes on has jobs that count by themselves */
			return 0;
	}
}

/* Is a branch a job that waits for others?  It counts by those. */
static bool
waits_for_jobs(const SfBranch *b)
{
	return b->place == SF_BRANCH_PLACE_WAITS;
}

/* Does a branch have a state of the program, and has it not ended? */
static bool
goes_on(const SfRemaining *r, const SfBranch *b)
{
	return !sf_branch_has_ended(b) && !waits_for_jobs(b) && !sf_phase_is_of_execution(b->phase) &&
		sf_program_has_state(r->program, b->state);
}

/* What is left from a branch up to the end of the execution, or of the Task that is asked for. */
static int64
rest_from(const SfRemaining *r, HTAB *table, const SfBranch *b, List *runs, TimestampTz now)
{
	int64		rest = 0;

	for (;;)
	{
		const SfState *s = &r->program->states[b->state];
		int64		way = way_after(r, s);
		BranchEntry *parent;

		if (b->phase == SF_PHASE_ENTER && way_inside(r, s) != NO_WAY)
			return rest + way_inside(r, s);
		rest += rest_of_state(r, b, runs, now);
		if (b->state == r->task)
			return rest;
		if (way != NO_WAY)
			return rest + way;
		rest += longest_after(r, s);
		parent = sf_branch_has_parent(b) ? hash_search(table, &b->parent_no, HASH_FIND, NULL) : NULL;
		if (parent == NULL || !goes_on(r, parent->branch))
			return r->task != SF_NO_STATE ? 0 : rest;
		if (r->later_way[b->scope] != NO_WAY)
			return rest + r->later_way[b->scope];
		rest += r->later[b->scope];
		b = parent->branch;
	}
}

/* Note which joins wait for a child that is there. */
static void
note_parents(const SfRemaining *r, HTAB *table, List *branches)
{
	foreach_ptr(const SfBranch, branch, branches)
	{
		BranchEntry *parent = !sf_branch_has_parent(branch) || !goes_on(r, branch) ? NULL :
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
sf_remaining_us(const SfRemaining *r, List *branches, List *runs, TimestampTz now)
{
	HTAB	   *table = enter_branches(branches);
	int64		longest = 0;

	note_parents(r, table, branches);
	foreach_ptr(const SfBranch, branch, branches)
	{
		BranchEntry *entry = hash_search(table, &branch->branch_no, HASH_FIND, NULL);

		CHECK_FOR_INTERRUPTS();
		if (goes_on(r, branch) && !entry->is_waited_for)
			longest = Max(longest, rest_from(r, table, branch, runs, now));
	}
	hash_destroy(table);
	return r->known ? longest : SF_NO_DURATION;
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
