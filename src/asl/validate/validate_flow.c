/*
 * validate_flow.c
 *		Checks of the transitions: every target exists in its scope, every state
 *		can be reached, the machine can end, names are unique.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "asl/validate/validate.h"
#include "base/name/name.h"

/* The states of one scope while its transitions are followed */
typedef struct SfScopeFlow
{
	SfValidator *check;
	int			nstates;
	SfTreeNode **sorted;		/* by name */
	bool	   *reached;		/* by position in the scope */
	SfTreeNode **found;			/* reached, but not followed yet */
	int			nfound;
} SfScopeFlow;

/* Called for each member that names a next state. */
typedef void (*SfTargetCallback) (SfScopeFlow *flow, const SfTreeNode *target);

/* Call back for the transitions in an array of rules or catchers. */
static void
visit_array(SfScopeFlow *flow, const SfTreeNode *array, SfTargetCallback callback)
{
	SfTreeNode *next;

	if (array == NULL || array->kind != SF_TREE_ARRAY)
		return;
	SF_TREE_FOREACH(element, array)
	{
		next = sf_tree_member(element, "Next");
		if (next != NULL && next->kind == SF_TREE_STRING)
			callback(flow, next);
	}
}

/* Call back for every transition of a state, in document order. */
static void
visit_targets(SfScopeFlow *flow, const SfTreeNode *state, SfTargetCallback callback)
{
	if (state->kind != SF_TREE_OBJECT)
		return;
	SF_TREE_FOREACH(member, state)
	{
		if (strcmp(member->key, "Choices") == 0 ||
			strcmp(member->key, "Catch") == 0)
			visit_array(flow, member, callback);
		else if (member->kind == SF_TREE_STRING &&
				 (strcmp(member->key, "Next") == 0 ||
				  strcmp(member->key, "Default") == 0))
			callback(flow, member);
	}
}

/* Mark a state as reached, to be followed. */
static void
reach_target(SfScopeFlow *flow, const SfTreeNode *target)
{
	SfTreeNode *state = sf_tree_search_members(flow->sorted, flow->nstates,
											   target->string);

	if (state != NULL && !flow->reached[state->index])
	{
		flow->reached[state->index] = true;
		flow->found[flow->nfound++] = state;
	}
}

/* Report a target that is no state of the scope. */
static void
check_target(SfScopeFlow *flow, const SfTreeNode *target)
{
	SfClosest	closest;

	if (sf_tree_search_members(flow->sorted, flow->nstates,
							   target->string) != NULL)
		return;
	closest = sf_closest_begin(target->string);
	for (int i = 0; i < flow->nstates; i++)
		sf_closest_offer(&closest, flow->sorted[i]->key);
	sf_validate_error(flow->check, target, SF_CODE_TARGET, "Missing 'Next' target: %s%s",
					  target->string, sf_closest_question(&closest));
}

/* Tell whether an execution can end in a state. */
static bool
is_terminal(const SfTreeNode *state)
{
	const char *type = sf_tree_member_string(state, "Type");
	const SfTreeNode *end = sf_tree_member(state, "End");

	return (end && end->kind == SF_TREE_BOOLEAN && end->boolean) ||
		(type && (strcmp(type, "Succeed") == 0 || strcmp(type, "Fail") == 0));
}

/* Tell whether any state of a scope is terminal. */
static bool
has_terminal(const SfTreeNode *states)
{
	SF_TREE_FOREACH(state, states)
	{
		if (is_terminal(state))
			return true;
	}
	return false;
}

/* Report the states of a scope that no path from StartAt leads to. */
static void
check_reachable(SfScopeFlow *flow, const SfTreeNode *start, const SfTreeNode *states)
{
	reach_target(flow, start);
	for (int done = 0; done < flow->nfound; done++)
	{
		CHECK_FOR_INTERRUPTS();
		visit_targets(flow, flow->found[done], reach_target);
	}
	SF_TREE_FOREACH(state, states)
	{
		/* of two states with one name only one is marked */
		const SfTreeNode *namesake = sf_tree_search_members(flow->sorted, flow->nstates,
															state->key);

		if (!flow->reached[namesake->index])
			sf_validate_error(flow->check, state, SF_CODE_TARGET,
							  "State \"%s\" is not reachable.", state->key);
	}
}

/* Check one scope, given by its States. */
static void
check_scope(SfValidator *validator, const SfTreeNode *states, bool is_machine)
{
	const SfTreeNode *start = sf_tree_member(states->parent, "StartAt");
	bool		ends = !is_machine || has_terminal(states);
	SfScopeFlow flow = {0};

	flow.check = validator;
	flow.nstates = states->nchildren;
	flow.sorted = sf_tree_sort_members(states);
	flow.reached = palloc0(sizeof(bool) * Max(flow.nstates, 1));
	flow.found = palloc(sizeof(SfTreeNode *) * Max(flow.nstates, 1));

	if (start && start->kind == SF_TREE_STRING)
		check_target(&flow, start);
	SF_TREE_FOREACH(state, states)
		visit_targets(&flow, state, check_target);
	if (!ends)
		sf_validate_error(validator, NULL, SF_CODE_END, "Workflow has no terminal state");
	else if (start && start->kind == SF_TREE_STRING)
		check_reachable(&flow, start, states);

	pfree(flow.found);
	pfree(flow.reached);
	pfree(flow.sorted);
}

/* Tell whether a scope, given by its States, is that of a state by itself. */
static bool
is_made_up(const SfValidator *validator, const SfTreeNode *states)
{
	return validator->lone_state && states->parent->parent == NULL;
}

/* Report names of states and jobs that stand twice in the machine, whatever the scope. */
static void
check_unique_names(SfValidator *validator)
{
	List	   *scopes = list_concat_copy(validator->scopes, validator->nets);
	SfTreeNode **all;
	int			count = 0;

	foreach_ptr(const SfTreeNode, states, scopes)
		count += states->nchildren;
	all = palloc_extended(sizeof(SfTreeNode *) * Max(count, 1), MCXT_ALLOC_HUGE);
	count = 0;
	foreach_ptr(const SfTreeNode, states, scopes)
	{
		if (is_made_up(validator, states))
			continue;
		SF_TREE_FOREACH(state, states)
			all[count++] = state;
	}
	qsort(all, count, sizeof(SfTreeNode *), sf_tree_compare);
	for (int i = 1; i < count; i++)
	{
		if (strcmp(all[i - 1]->key, all[i]->key) == 0)
			sf_validate_error(validator, all[i], SF_CODE_DUPLICATE,
							  "Duplicate State name: %s", all[i]->key);
	}
	pfree(all);
}

/* Check the transitions of all scopes. */
void
sf_validate_flow(SfValidator *validator)
{
	check_unique_names(validator);
	foreach_ptr(const SfTreeNode, states, validator->scopes)
	{
		if (!is_made_up(validator, states))
			check_scope(validator, states, states->parent->parent == NULL);
	}
	foreach_ptr(const SfTreeNode, jobs, validator->nets)
		sf_validate_net(validator, jobs);
}
