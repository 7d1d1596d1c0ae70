/*
 * validate_flow.c
 *		Checks of the transitions: every target exists in its scope, every state
 *		can be reached, the machine can end, names are unique.
 */
#include "postgres.h"

#include "asl/validate/validate.h"
#include "base/name/name.h"
#include "miscadmin.h"

/* The states of one scope while its transitions are followed */
typedef struct SfScopeFlow
{
	SfCheck    *check;
	int			nstates;
	SfNode	  **sorted;			/* by name */
	bool	   *reached;		/* by position in the scope */
	SfNode	  **found;			/* reached, but not followed yet */
	int			nfound;
} SfScopeFlow;

/* Called for each member that names a next state. */
typedef void (*SfTargetCallback) (SfScopeFlow *flow, const SfNode *target);

/* Call back for the transitions in an array of rules or catchers. */
static void
visit_array(SfScopeFlow *flow, const SfNode *array, SfTargetCallback callback)
{
	SfNode	   *next;

	if (array == NULL || array->kind != SF_NODE_ARRAY)
		return;
	SF_NODE_FOREACH(element, array)
	{
		next = sf_node_member(element, "Next");
		if (next != NULL && next->kind == SF_NODE_STRING)
			callback(flow, next);
	}
}

/* Call back for every transition of a state, in document order. */
static void
visit_targets(SfScopeFlow *flow, const SfNode *state, SfTargetCallback callback)
{
	if (state->kind != SF_NODE_OBJECT)
		return;
	SF_NODE_FOREACH(member, state)
	{
		if (strcmp(member->key, "Choices") == 0 ||
			strcmp(member->key, "Catch") == 0)
			visit_array(flow, member, callback);
		else if (member->kind == SF_NODE_STRING &&
				 (strcmp(member->key, "Next") == 0 ||
				  strcmp(member->key, "Default") == 0))
			callback(flow, member);
	}
}

/* Mark a state as reached, to be followed. */
static void
reach_target(SfScopeFlow *flow, const SfNode *target)
{
	SfNode	   *state = sf_node_search_members(flow->sorted, flow->nstates,
											   target->string);

	if (state != NULL && !flow->reached[state->index])
	{
		flow->reached[state->index] = true;
		flow->found[flow->nfound++] = state;
	}
}

/* Report a target that is no state of the scope. */
static void
check_target(SfScopeFlow *flow, const SfNode *target)
{
	SfClosest	closest;

	if (sf_node_search_members(flow->sorted, flow->nstates,
							   target->string) != NULL)
		return;
	closest = sf_closest_begin(target->string);
	for (int i = 0; i < flow->nstates; i++)
		sf_closest_offer(&closest, flow->sorted[i]->key);
	sf_check_error(flow->check, target, SF_CODE_TARGET, "Missing 'Next' target: %s%s",
				   target->string, sf_closest_question(&closest));
}

/* Tell whether an execution can end in a state. */
static bool
is_terminal(const SfNode *state)
{
	const char *type = sf_node_member_string(state, "Type");
	const SfNode *end = sf_node_member(state, "End");

	return (end && end->kind == SF_NODE_BOOLEAN && end->boolean) ||
		(type && (strcmp(type, "Succeed") == 0 || strcmp(type, "Fail") == 0));
}

/* Tell whether any state of a scope is terminal. */
static bool
has_terminal(const SfNode *states)
{
	SF_NODE_FOREACH(state, states)
	{
		if (is_terminal(state))
			return true;
	}
	return false;
}

/* Report the states of a scope that no path from StartAt leads to. */
static void
check_reachable(SfScopeFlow *flow, const SfNode *start, const SfNode *states)
{
	reach_target(flow, start);
	for (int done = 0; done < flow->nfound; done++)
	{
		CHECK_FOR_INTERRUPTS();
		visit_targets(flow, flow->found[done], reach_target);
	}
	SF_NODE_FOREACH(state, states)
	{
		/* of two states with one name only one is marked */
		const SfNode *namesake = sf_node_search_members(flow->sorted, flow->nstates,
														state->key);

		if (!flow->reached[namesake->index])
			sf_check_error(flow->check, state, SF_CODE_TARGET,
						   "State \"%s\" is not reachable.", state->key);
	}
}

/* Check one scope, given by its States. */
static void
check_scope(SfCheck *c, const SfNode *states, bool is_machine)
{
	const SfNode *start = sf_node_member(states->parent, "StartAt");
	bool		ends = !is_machine || has_terminal(states);
	SfScopeFlow flow = {0};

	flow.check = c;
	flow.nstates = states->nchildren;
	flow.sorted = sf_node_sort_members(states);
	flow.reached = palloc0(sizeof(bool) * Max(flow.nstates, 1));
	flow.found = palloc(sizeof(SfNode *) * Max(flow.nstates, 1));

	if (start && start->kind == SF_NODE_STRING)
		check_target(&flow, start);
	SF_NODE_FOREACH(state, states)
		visit_targets(&flow, state, check_target);
	if (!ends)
		sf_check_error(c, NULL, SF_CODE_END, "Workflow has no terminal state");
	else if (start && start->kind == SF_NODE_STRING)
		check_reachable(&flow, start, states);

	pfree(flow.found);
	pfree(flow.reached);
	pfree(flow.sorted);
}

/* Tell whether a scope, given by its States, is that of a state by itself. */
static bool
is_made_up(const SfCheck *c, const SfNode *states)
{
	return c->lone_state && states->parent->parent == NULL;
}

/* Report names of states and jobs that stand twice in the machine, whatever the scope. */
static void
check_unique_names(SfCheck *c)
{
	List	   *scopes = list_concat_copy(c->scopes, c->nets);
	SfNode	  **all;
	int			count = 0;

	foreach_ptr(const SfNode, states, scopes)
		count += states->nchildren;
	all = palloc_extended(sizeof(SfNode *) * Max(count, 1), MCXT_ALLOC_HUGE);
	count = 0;
	foreach_ptr(const SfNode, states, scopes)
	{
		if (is_made_up(c, states))
			continue;
		SF_NODE_FOREACH(state, states)
			all[count++] = state;
	}
	qsort(all, count, sizeof(SfNode *), sf_node_compare);
	for (int i = 1; i < count; i++)
	{
		if (strcmp(all[i - 1]->key, all[i]->key) == 0)
			sf_check_error(c, all[i], SF_CODE_DUPLICATE,
						   "Duplicate State name: %s", all[i]->key);
	}
	pfree(all);
}

/* Check the transitions of all scopes. */
void
sf_check_flow(SfCheck *c)
{
	check_unique_names(c);
	foreach_ptr(const SfNode, states, c->scopes)
	{
		if (!is_made_up(c, states))
			check_scope(c, states, states->parent->parent == NULL);
	}
	foreach_ptr(const SfNode, jobs, c->nets)
		sf_check_net(c, jobs);
}
