/*
 * waiting.c
 *		What a running execution waits for, in a few words.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/timestamp.h"

#include "json/json.h"
#include "report/report.h"
#include "store/feature.h"

/* If more branches than this are live, only their number is given */
#define NAMED_BRANCHES 3

/* Tell whether a branch waits for something other than its children. */
static bool
is_leaf(const SfBranch *branch)
{
	switch (branch->phase)
	{
		case SF_PHASE_ENTER:
			return !sf_branch_is_job_to_come(branch);
		case SF_PHASE_RUN:
		case SF_PHASE_NET:
		case SF_PHASE_WAIT:
		case SF_PHASE_ANNOUNCED:
		case SF_PHASE_ANSWERED:
		case SF_PHASE_EXTERNAL:
		case SF_PHASE_MAP_WRITE:
		case SF_PHASE_MAP_ANSWERED:
			return true;
		case SF_PHASE_JOIN:
			return sf_branch_children_left(branch) == 0 || sf_branch_has_map_run(branch);
		case SF_PHASE_TIMEOUT:
		case SF_PHASE_STOP:
		case SF_PHASE_DONE:
		case SF_PHASE_FAILED:
		case SF_PHASE_ABORTED:
		case SF_PHASE_KEPT:
			return false;
	}
	return false;
}

/* Does a state wait for events, or for people? */
static bool
is_wait(const SfState *state)
{
	return state->type == SF_STATE_TASK && sf_resource_is_wait(&sf_state_task(state)->resource);
}

/* Append what one branch waits for. */
static void
append_branch(StringInfo buf, const SfProgram *program,
			  const SfBranch *branch, TimestampTz now)
{
	const char *name = sf_program_has_state(program, branch->state) ?
		sf_job_name(program, branch->state, branch->iterations, branch->niterations) : "?";

	if (sf_branch_is_parked(branch))
	{
		const char *feature = sf_park_feature(branch->key);

		appendStringInfo(buf, "\"%s\" %s", name, sf_feature_waiting_word(feature));
		return;
	}
	switch (branch->phase)
	{
		case SF_PHASE_ENTER:
			/* the transaction itself may have made it due, after the time that it shows */
			if (branch->due_at > GetCurrentTimestamp())
				appendStringInfo(buf, "start at %s", sf_timestamp_print(branch->due_at));
			else
				appendStringInfo(buf, "\"%s\" due", name);
			break;
		case SF_PHASE_WAIT:
			appendStringInfo(buf, "Wait \"%s\" until %s", name,
							 sf_timestamp_print(branch->due_at));
			break;
		case SF_PHASE_RUN:
		case SF_PHASE_NET:
			if (branch->due_at > now)
				appendStringInfo(buf, "retry of \"%s\" at %s", name,
								 sf_timestamp_print(branch->due_at));
			else
				appendStringInfo(buf, "\"%s\" due", name);
			break;
		case SF_PHASE_ANNOUNCED:
			appendStringInfo(buf, "task \"%s\" running", name);
			break;
		case SF_PHASE_ANSWERED:
		case SF_PHASE_MAP_ANSWERED:
			appendStringInfo(buf, "task \"%s\" answered", name);
			break;
		case SF_PHASE_EXTERNAL:
			if (sf_program_has_state(program, branch->state) && is_wait(&program->states[branch->state]))
				appendStringInfo(buf, "\"%s\" waits for %s", name,
								 sf_state_task(&program->states[branch->state])->resource.text);
			else
				appendStringInfo(buf, "task \"%s\" handed out", name);
			break;
		case SF_PHASE_JOIN:
			if (sf_branch_children_left(branch) > 0)
				appendStringInfo(buf, "%d execution%s of \"%s\"", sf_branch_children_left(branch),
								 sf_branch_children_left(branch) == 1 ? "" : "s", name);
			else
				appendStringInfo(buf, "join of \"%s\"", name);
			break;
		case SF_PHASE_MAP_WRITE:
			appendStringInfo(buf, "\"%s\" due", name);
			break;
		case SF_PHASE_DONE:
		case SF_PHASE_FAILED:
		case SF_PHASE_ABORTED:
		case SF_PHASE_KEPT:
		case SF_PHASE_TIMEOUT:
		case SF_PHASE_STOP:
			break;				/* is_leaf() leaves them out */
	}
}

/*
 * Describe what the live branches among a List of SfBranch wait for: each
 * of up to three, of more only their number.  NULL when there are none.
 */
char *
sf_waiting_text(const SfProgram *program, List *branches, TimestampTz now)
{
	StringInfoData buf;
	int			leaves = 0;

	foreach_ptr(const SfBranch, branch, branches)
		if (is_leaf(branch))
			leaves++;
	if (leaves == 0)
		return NULL;
	if (leaves > NAMED_BRANCHES)
		return psprintf("%d branches", leaves);
	initStringInfo(&buf);
	foreach_ptr(const SfBranch, branch, branches)
	{
		if (!is_leaf(branch))
			continue;
		if (buf.len > 0)
			appendStringInfoString(&buf, ", ");
		append_branch(&buf, program, branch, now);
	}
	return buf.data;
}
