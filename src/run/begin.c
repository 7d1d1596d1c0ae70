/*
 * begin.c
 *		An execution begins.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "rule/observe.h"
#include "run/lifecycle.h"
#include "store/program_cache.h"

/* A root branch in a top-level state, due at once. */
SfBranch *
sf_lifecycle_root(const SfExecution *execution, int state, Jsonb *payload)
{
	SfBranch   *root = sf_branch_make(execution->execution_no, execution->owner,
									   SF_BRANCH_ROOT);

	root->state = state;
	root->payload = payload;
	root->due_at = GetCurrentTimestamp();
	return root;
}

/*
 * Insert a new execution, whose root branch is due at once in the machine's
 * first state.  False: its id is taken.
 */
bool
sf_lifecycle_begin(SfExecution *execution)
{
	const SfProgram *program;

	if (!sf_apply_insert(execution))
		return false;
	program = sf_program_cache_get(execution->machine_no, execution->version);
	sf_apply_branch(sf_lifecycle_root(execution, program->scopes[0].start, execution->input));
	sf_observe_start(execution);
	return true;
}

/*
 * Insert new executions of versions of a machine, SF_TABLE_MAX_ROWS at most,
 * and begin them; began tells of each whether it is new, or its id is taken.
 */
void
sf_lifecycle_begin_all(SfExecution *const *executions, int n, bool *began)
{
	const SfProgram *program = NULL;
	int			version = 0;
	List	   *roots = NIL;

	sf_apply_insert_all(executions, n, began);
	for (int i = 0; i < n; i++)
	{
		const SfExecution *e = executions[i];

		if (!began[i])
			continue;
		if (program == NULL || version != e->version)
			program = sf_program_cache_get(e->machine_no, e->version);
		version = e->version;
		roots = lappend(roots, sf_lifecycle_root(e, program->scopes[0].start, e->input));
		sf_observe_start(e);
	}
	if (roots != NIL)
		sf_apply_branches(roots);
}
