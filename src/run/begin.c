/*
 * begin.c
 *		An execution begins.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "run/gate.h"
#include "run/lifecycle.h"
#include "store/program_cache.h"

/* A root branch in a top-level state, due at once, or when the options of a start say. */
SfBranch *
sf_lifecycle_root(const SfExecution *execution, int state, Jsonb *payload)
{
	SfBranch   *root = sf_branch_make(execution->execution_no, execution->owner,
									   SF_BRANCH_ROOT);

	root->state = state;
	root->payload = payload;
	root->due_at = GetCurrentTimestamp();
	if (execution->start_options != NULL)
		SF_TELL(schedules, execution, root);
	return root;
}

/* Give a new execution the priority of its machine, unless it has its own. */
static void
take_priority(SfExecution *execution, const SfCachedProgram *cached)
{
	if (!execution->has_own_priority)
		execution->priority = cached->priority;
}

/* Give a new execution the trace that it is part of, unless its parent has. */
static void
take_trace(SfExecution *execution, const SfCachedProgram *cached)
{
	if (execution->trace == NULL)
		SF_TELL(traces, execution, cached->sample);
}

/* A root branch of a new execution, due or, where others wait for a limit, in their queue. */
static SfBranch *
make_root(const SfExecution *execution, const SfProgram *program)
{
	SfBranch   *root = sf_lifecycle_root(execution, program->scopes[0].start, execution->input);

	SF_TELL(begins, execution, root);
	return root;
}

/*
 * Give an execution that is to begin, or to begin anew, the labels that its version gives it.  False: *error says what
 * cannot be a label.
 */
bool
sf_lifecycle_label(SfExecution *execution, SfError *error)
{
	const SfCachedProgram *cached = sf_program_cache_find(execution->machine_no, execution->version);

	if (cached->labels == NULL && execution->start_options == NULL)
		return true;
	SF_FEATURES(labels, feature)
		if (!feature->labels(execution, cached->labels, error))
			return false;
	return true;
}

/*
 * Insert a new execution, whose root branch is due at once in the machine's
 * first state.  False: its id is taken.
 */
bool
sf_lifecycle_begin(SfExecution *execution)
{
	SfCachedProgram *cached = sf_program_cache_find(execution->machine_no, execution->version);

	take_priority(execution, cached);
	take_trace(execution, cached);
	if (!sf_apply_insert(execution))
		return false;
	sf_apply_branch(make_root(execution, cached->program));
	return true;
}

/*
 * Insert new executions of versions of a machine, SF_TABLE_MAX_ROWS at most,
 * and begin them; began tells of each whether it is new, or its id is taken.
 */
void
sf_lifecycle_begin_all(SfExecution *const *executions, int n, bool *began)
{
	SfCachedProgram *cached = NULL;
	int			version = 0;
	List	   *roots = NIL;

	for (int i = 0; i < n; i++)
	{
		cached = sf_program_cache_find(executions[i]->machine_no, executions[i]->version);
		take_priority(executions[i], cached);
		take_trace(executions[i], cached);
	}
	cached = NULL;
	sf_apply_insert_all(executions, n, began);
	for (int i = 0; i < n; i++)
	{
		const SfExecution *e = executions[i];

		if (!began[i])
			continue;
		if (cached == NULL || version != e->version)
			cached = sf_program_cache_find(e->machine_no, e->version);
		version = e->version;
		roots = lappend(roots, make_root(e, cached->program));
	}
	if (roots != NIL)
		sf_apply_branches(roots);
}
