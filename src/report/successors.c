/*
 * successors.c
 *		Which states can follow a state, read off the definition.
 *
 * Precedence between Tasks is found by searching a graph that has two nodes per
 * state: "in", where the state is entered, and "out", where it is left.
 *
 *		in(Task)					the search ends: this Task is found
 *		in(Parallel), in(Map)		→ in(StartAt) of each branch
 *		in(any other)				→ out
 *		out(s)						→ in(v) for each v that follows s
 *		out(s), s ends its branch	→ out(the Parallel or Map around it)
 *
 * There is one search from out(T) of each Task T, and one from the machine's
 * StartAt.  Each search ends at the next Tasks, so the cost of all searches is
 * about proportional to the number of pairs found.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "report/successors.h"

/* How many successors a state can have at most, repeated ones included. */
static int
max_successors(const SfState *state)
{
	int			nrules = state->type == SF_STATE_CHOICE ? sf_state_choice(state)->nrules : 0;

	return 2 + nrules + state->ncatchers;
}

/*
 * Collect the states that directly follow a state into out, which has room for
 * max_successors(state); a state may stand there twice.  Returns their number.
 */
static int
direct_successors(const SfState *state, int ways, int *out)
{
	int			n = 0;

	if (ways & SF_WAY_NEXT)
	{
		if (state->type == SF_STATE_CHOICE)
		{
			const SfChoiceState *choice = sf_state_choice(state);

			for (int i = 0; i < choice->nrules; i++)
				if (choice->rules[i].next >= 0)
					out[n++] = choice->rules[i].next;
			if (choice->default_next >= 0)
				out[n++] = choice->default_next;
		}
		else if (state->next >= 0)
			out[n++] = state->next;
	}
	if (ways & SF_WAY_CATCH)
		for (int i = 0; i < state->ncatchers; i++)
			if (state->catchers[i].next >= 0)
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
		int		   *next = palloc(sizeof(int) * max_successors(s));
		int			n = direct_successors(s, ways, next);

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

/* A search for the Tasks that come next */
typedef struct Search
{
	const SfProgram *program;
	int			from;			/* Task that it started at, -1: the machine */
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

/* Go on from where a state is entered. */
static void
visit_in(Search *search, const SfState *s)
{
	switch (s->type)
	{
		case SF_STATE_TASK:
			{
				SfPrecedence *pair = palloc(sizeof(SfPrecedence));

				pair->state = s->number;
				pair->before = search->from;
				search->found = lappend(search->found, pair);
				break;
			}
		case SF_STATE_PARALLEL:
		case SF_STATE_MAP:
			for (int i = 0; i < s->nscopes; i++)
				push(search, NODE_IN(search->program->scopes[s->scopes[i]].start));
			break;
		default:
			push(search, NODE_OUT(s->number));
			break;
	}
}

/* Go on from where a state is left. */
static void
visit_out(Search *search, const SfState *s)
{
	int		   *next = palloc(sizeof(int) * max_successors(s));
	int			n = direct_successors(s, SF_WAY_ALL, next);
	int			owner = search->program->scopes[s->scope].owner_state;

	for (int i = 0; i < n; i++)
		push(search, NODE_IN(next[i]));
	pfree(next);
	if (owner >= 0 && (s->end || s->type == SF_STATE_SUCCEED))
		push(search, NODE_OUT(owner));
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
		const SfState *s = &search->program->states[top / 2];

		CHECK_FOR_INTERRUPTS();
		if (top == NODE_IN(s->number))
			visit_in(search, s);
		else
			visit_out(search, s);
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

/*
 * Find for each Task the Tasks that directly precede it: only states of other
 * types lie between.  A Task before a Parallel or Map precedes the first Tasks
 * inside; the last Tasks inside precede what follows the Parallel or Map.
 * Returns a List of SfPrecedence, ordered by both members.
 */
List *
sf_successors_precedence(const SfProgram *program)
{
	Search		search = {.program = program};

	search.stamps = palloc0(sizeof(int) * 2 * program->nstates);
	search.stack = palloc(sizeof(int) * 2 * program->nstates);
	search_from(&search, -1, NODE_IN(program->scopes[0].start));
	for (int i = 0; i < program->nstates; i++)
		if (program->states[i].type == SF_STATE_TASK)
			search_from(&search, i, NODE_OUT(i));
	list_sort(search.found, compare_precedence);
	return search.found;
}
