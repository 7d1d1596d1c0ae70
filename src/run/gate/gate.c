/*
 * gate.c
 *		What the features say of a branch that is about to begin a step.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "db/table_cache.h"
#include "run/gate/gate.h"
#include "run/task/task_runner.h"

/*
 * Let a branch begin its next step, or have it wait: then it is changed, and the caller has it written;
 * or its state fails, with *error.  The caller has read the clock.
 */
SfGateVerdict
sf_gate_admit(SfDraft *draft, SfBranch *branch, SfError *error)
{
	SfGateVerdict gate;

	sf_table_cache_accept_changes();
	SF_FEATURES(gate, feature)
		if ((gate = feature->gate->admit(draft, branch, error)) != SF_GATE_OPEN)
			return gate;
	return SF_GATE_OPEN;
}

/* A feature cannot tell yet: have a branch come again in a while. */
SfGateVerdict
sf_gate_put_off(SfDraft *draft, SfBranch *branch, int ms)
{
	sf_branch_come_at(branch, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms));
	sf_draft_add_branch(draft, branch);
	return SF_GATE_PUT_OFF;
}

/*
 * Take the mark of the job that a branch is about to begin, if there is one, and make the stimulus of it.
 * Called after sf_gate_admit, which has taken in what changed.
 */
bool
sf_gate_take_mark(const SfDraft *draft, const SfBranch *branch, SfStimulus *stimulus)
{
	const SfFeature *feature = SF_PROVIDER(holds);

	return feature != NULL && feature->holds->take_mark(draft, branch, stimulus);
}

/* What the resource of a Task state is, as its definition has it or as it is mapped; false: unknown. */
static bool
resolve(Oid owner, const SfState *state, SfResource *target)
{
	const SfResource *resource = &sf_state_task(state)->resource;

	*target = *resource;
	return resource->kind != SF_RESOURCE_MAPPED || sf_task_runner.resolve(resource, owner, target);
}

/* Name each of the events that a state waits for, unless its resource does. */
static void
name_events(const SfResource *resource, const char *text, SfGateNames *names)
{
	foreach_ptr(char, event, resource->event_names)
	{
		char	   *name = psprintf("event:%s", event);

		if (names->nresources < SF_GATE_NAMES && strcmp(name, text) != 0)
			names->resources[names->nresources++] = name;
	}
}

/* Name what a Task state of an owner's machine uses, as its definition has it and as it is mapped. */
void
sf_gate_name_resources(Oid owner, const SfState *state, SfGateNames *names)
{
	const char *text = sf_state_task(state)->resource.text;
	SfResource	target;

	*names = (SfGateNames) {.resources = {text},.nresources = 1};
	if (!resolve(owner, state, &target))
		return;
	if (target.kind == SF_RESOURCE_ACTIVITY)
		names->activity = target.name;
	else if (target.kind == SF_RESOURCE_EVENT)
		name_events(&target, text, names);
	else if (target.kind == SF_RESOURCE_HUMAN && strncmp(text, "human:", 6) != 0)
		names->resources[names->nresources++] = psprintf("human:%s", target.name);
	else if (target.kind == SF_RESOURCE_SQL_FUNCTION &&
			 (strncmp(text, "sql:", 4) != 0 || strcmp(text + 4, target.name) != 0))
		names->resources[names->nresources++] = psprintf("sql:%s", target.name);
}
