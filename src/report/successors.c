/*
 * successors.c
 *		Which states can follow a state, read off the definition.
 *
 * Precedence between Tasks is found by searching a graph that has two nodes per
 * state: "in", where the state is entered, and "out", where it is left.
 *
 *		in(Task)					the search ends: this Task is found
 *		in(Parallel), in(Map)		→ in(StartAt) of each branch
 *		in(JobNet)					→ in(start) of each job that waits for none
 *		in(any other)				→ out
 *		out(s)						→ in(v) for each v that follows s
 *		out(s), s ends its branch	→ out(the Parallel or Map around it)
 *		out(s), s ends its job		→ in(start) of each job that waits for it;
 *									  out(the JobNet), if none does
 *		in(start) of a job that is	→ the same, if only what comes when all goes well is
 *		skipped						  asked for
 *
 * There is one search from out(T) of each Task T, and one from the machine's
 * StartAt.  Each search ends at the next Tasks, so the cost of all searches is
 * about proportional to the number of pairs found.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "report/successors.h"

/* How many successors a state can have at most, repeated ones included. */
int
sf_successors_max(const SfState *state)
{
	int			nrules = state->type == SF_STATE_CHOICE ? sf_state_choice(state)->nrules : 0;

	return 2 + nrules + state->ncatchers;
}

/*
 * Collect the states that directly follow a state into out, which has room for
 * sf_successors_max(state); a state may stand there twice.  Returns their number.
 */
int
sf_successors_direct(const SfState *state, int ways, int *out)
{
	int			n = 0;

	if (ways & SF_WAY_NEXT)
	{
		if (state->type == SF_STATE_CHOICE)
		{
			const SfChoiceState *choice = sf_state_choice(state);

			for (int i = 0; i < choice->nrules; i++)
				if (choice->rules[i].next != SF_NO_STATE)
					out[n++] = choice->rules[i].next;
			if (choice->default_next != SF_NO_STATE)
				out[n++] = choice->default_next;
		}
		else if (state->next != SF_NO_STATE)
			out[n++] = state->next;
	}
	if (ways & SF_WAY_CATCH)
		for (int i = 0; i < state->ncatchers; i++)
			if (state->catchers[i].next != SF_NO_STATE)
				out[n++] = state->catchers[i].next;
	return n;
}

/*
 * Find the states of the same scope that can be entered, at once or later,
 * after a state is left by one of the given ways.  The state itself is among
 * them only where there is a loop.
 */
Bitmapset *
sf_successors_after(const SfProgram *program, int state, int ways)
{
	Bitmapset  *found = NULL;
	int		   *stack = palloc(sizeof(int) * (program->nstates + 1));
	int			depth = 0;

	stack[depth++] = state;
	while (depth > 0)
	{
		const SfState *s = &program->states[stack[--depth]];
		int		   *next = palloc(sizeof(int) * sf_successors_max(s));
		int			n = sf_successors_direct(s, ways, next);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
		{
			if (bms_is_member(next[i], found))
				continue;
			found = bms_add_member(found, next[i]);
			stack[depth++] = next[i];
		}
		pfree(next);
		ways = SF_WAY_ALL;		/* the ways concern the first state only */
	}
	pfree(stack);
	return found;
}

/* Note which jobs of a net are skipped if the others succeed. */
static void
find_passed_over(const SfState *state, bool *passed_over)
{
	const SfJobNetState *net = sf_state_net(state);

	for (int i = 0; i < net->njobs; i++)
	{
		const SfNetJob *job = &net->jobs[net->order[i]];

		for (int j = 0; j < job->nafter; j++)
		{
			int			end = passed_over[state->scopes[job->after[j].job]] ?
				SF_NET_JOB_END_SKIP : SF_NET_JOB_END_SUCCESS;

			if ((job->after[j].on & end) == 0)
				passed_over[job->scope] = true;
		}
	}
}

/* Find the jobs that are skipped if all goes well, such as those that need a failure: an array by scope. */
bool *
sf_successors_passed_over(const SfProgram *program)
{
	bool	   *passed_over = palloc0(sizeof(bool) * program->nscopes);

	for (int i = 0; i < program->nstates; i++)
		if (program->states[i].type == SF_STATE_JOBNET)
			find_passed_over(&program->states[i], passed_over);
	return passed_over;
}

/* A search for the Tasks that come next */
typedef struct Search
{
	const SfProgram *program;
	const bool *passed_over;	/* jobs that do not begin; NULL: all may */
	int			ways;			/* that it goes */
	int			from;			/* Task that it started at; SF_NO_STATE: the machine */
	int		   *stamps;			/* by node: the search that saw it last */
	int			stamp;
	int		   *stack;
	int			depth;
	List	   *found;
} Search;

#define NODE_IN(state)	(2 * (state))
#define NODE_OUT(state)	(2 * (state) + 1)

/* Put a node on the stack unless this search saw it. */
static void
push(Search *search, int node)
{
	if (search->stamps[node] == search->stamp)
		return;
	search->stamps[node] = search->stamp;
	search->stack[search->depth++] = node;
}

/* Go on from where a job of a net begins. */
static void
push_job(Search *search, const SfJobNetState *net, int job)
{
	push(search, NODE_IN(search->program->scopes[net->jobs[job].scope].start));
}

/* Go on from where the last state of a branch is left, to what follows its owner or its job. */
static void
visit_end(Search *search, const SfScope *scope)
{
	const SfState *owner = &search->program->states[scope->owner_state];
	const SfNetJob *job;

	if (owner->type != SF_STATE_JOBNET)
	{
		push(search, NODE_OUT(owner->number));
		return;
	}
	job = &sf_state_net(owner)->jobs[scope->branch_index];
	for (int i = 0; i < job->nfollowers; i++)
		push_job(search, sf_state_net(owner), job->followers[i].job);
	if (job->nfollowers == 0)
		push(search, NODE_OUT(owner->number));
}

/* Go on from where a state is entered. */
static void
visit_in(Search *search, const SfState *state)
{
	const SfScope *scope = &search->program->scopes[state->scope];

	if (search->passed_over != NULL && search->passed_over[state->scope] && scope->start == state->number)
	{
		visit_end(search, scope);
		return;
	}
	switch (state->type)
	{
		case SF_STATE_TASK:
			{
				SfPrecedence *pair = palloc(sizeof(SfPrecedence));

				pair->state = state->number;
				pair->before = search->from;
				search->found = lappend(search->found, pair);
				break;
			}
		case SF_STATE_PARALLEL:
		case SF_STATE_MAP:
			for (int i = 0; i < state->nscopes; i++)
				push(search, NODE_IN(search->program->scopes[state->scopes[i]].start));
			break;
		case SF_STATE_JOBNET:
			for (int i = 0; i < state->nscopes; i++)
				if (sf_state_net(state)->jobs[i].nafter == 0)
					push_job(search, sf_state_net(state), i);
			break;
		default:
			push(search, NODE_OUT(state->number));
			break;
	}
}

/* Go on from where a state is left. */
static void
visit_out(Search *search, const SfState *state)
{
	int		   *next = palloc(sizeof(int) * sf_successors_max(state));
	int			n = sf_successors_direct(state, search->ways, next);
	const SfScope *scope = &search->program->scopes[state->scope];

	for (int i = 0; i < n; i++)
		push(search, NODE_IN(next[i]));
	pfree(next);
	if (scope->owner_state != SF_NO_STATE && (state->end || state->type == SF_STATE_SUCCEED))
		visit_end(search, scope);
}

/* Run one search to its end. */
static void
search_from(Search *search, int from, int node)
{
	search->from = from;
	search->stamp++;
	search->depth = 0;
	push(search, node);
	while (search->depth > 0)
	{
		int			top = search->stack[--search->depth];
		const SfState *state = &search->program->states[top / 2];

		CHECK_FOR_INTERRUPTS();
		if (top == NODE_IN(state->number))
			visit_in(search, state);
		else
			visit_out(search, state);
	}
}

/* Order pairs by the Task, then by what precedes it. */
static int
compare_precedence(const ListCell *a, const ListCell *b)
{
	const SfPrecedence *x = lfirst(a);
	const SfPrecedence *y = lfirst(b);

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return x->before < y->before ? -1 : x->before > y->before;
}

/* Make a search over a program. */
static Search
begin_search(const SfProgram *program, int ways)
{
	Search		search = {.program = program,.ways = ways};

	search.stamps = palloc0(sizeof(int) * 2 * program->nstates);
	search.stack = palloc(sizeof(int) * 2 * program->nstates);
	return search;
}

/* Find the Tasks that come first after a state is left by Next, if all goes well. */
Bitmapset *
sf_successors_tasks_after(const SfProgram *program, int state)
{
	Search		search = begin_search(program, SF_WAY_NEXT);
	bool	   *passed_over = sf_successors_passed_over(program);
	Bitmapset  *tasks = NULL;

	/* the jobs that the state is in have begun */
	for (int s = state; s != SF_NO_STATE; s = program->scopes[program->states[s].scope].owner_state)
		passed_over[program->states[s].scope] = false;
	search.passed_over = passed_over;
	search_from(&search, state, NODE_OUT(state));
	foreach_ptr(const SfPrecedence, pair, search.found)
		tasks = bms_add_member(tasks, pair->state);
	return tasks;
}

/*
 * Find for each Task the Tasks that directly precede it: only states of other
 * types lie between.  A Task before a Parallel or Map precedes the first Tasks
 * inside; the last Tasks inside precede what follows the Parallel or Map.
 * Returns a List of SfPrecedence, ordered by both members.
 */
List *
sf_successors_precedence(const SfProgram *program)
{
	Search		search = begin_search(program, SF_WAY_ALL);

	search_from(&search, SF_NO_STATE, NODE_IN(program->scopes[0].start));
	for (int i = 0; i < program->nstates; i++)
		if (program->states[i].type == SF_STATE_TASK)
			search_from(&search, i, NODE_OUT(i));
	list_sort(search.found, compare_precedence);
	return search.found;
}
