/*
 * begin.c
 *		An execution begins.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "run/execution/lifecycle.h"
#include "run/gate/gate.h"
#include "store/state_machine/program_cache.h"

/* A root branch in a top-level state, due at once, or when the options of a start say. */
SfBranch *
sf_lifecycle_root(const SfExecution *execution, int state, Jsonb *payload)
{
	TimestampTz due = GetCurrentTimestamp();

	if (execution->start.options != NULL || execution->start.at != DT_NOBEGIN)
		SF_TELL(set_start_time, execution, &due);
	return sf_branch_make_root(execution->execution_no, execution->owner, state, payload, due);
}

/* Give a new execution the priority of its machine, unless it has its own, and what is the features'. */
static void
prepare(SfExecution *execution, const SfCachedProgram *cached)
{
	if (!execution->start.has_own_priority)
		execution->priority = cached->priority;
	SF_FEATURES(prepare, feature)
		feature->prepare(execution, SF_COMPILED(feature, cached->compiled));
}

/* A root branch of a new execution, due or, where a feature has it wait, parked. */
static SfBranch *
make_root(const SfExecution *execution, const SfProgram *program)
{
	SfBranch   *root = sf_lifecycle_root(execution, program->scopes[0].start, execution->input);

	SF_TELL(on_beginning, execution, root);
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

	const SfFeature *feature = SF_PROVIDER(labels);
	const void *compiled = feature == NULL ? NULL : SF_COMPILED(feature, cached->compiled);

	return feature == NULL || (compiled == NULL && execution->start.options == NULL) ||
		feature->labels->give(execution, compiled, error);
}

/* May an execution that is to begin enter a line, where one that waits takes its place? */
static bool
may_enter_line(const SfExecution *execution, const SfCachedProgram *cached)
{
	const SfFeature *feature = SF_PROVIDER(line);

	return feature != NULL && (SF_COMPILED(feature, cached->compiled) != NULL ||
							   (execution->start.options != NULL &&
								sf_json_get(execution->start.options, feature->line->start_option) != NULL));
}

/* Begin an execution, unless one that waits takes its place. */
static SfBegan
begin(SfExecution *execution, SfCachedProgram *cached)
{
	const SfFeature *feature = SF_PROVIDER(line);
	SfBegan		began = SF_BEGAN_NEW;

	if (may_enter_line(execution, cached))
		began = feature->line->enter(execution, SF_COMPILED(feature, cached->compiled));
	if (began != SF_BEGAN_NEW)
		return began;
	if (!sf_apply_insert(execution))
	{
		SF_TELL_PROVIDER(line, give_up, execution);
		return SF_BEGAN_NOT;
	}
	sf_apply_branch(make_root(execution, cached->program));
	return SF_BEGAN_NEW;
}

/*
 * Insert a new execution, whose root branch is due at once in the machine's
 * first state, or see which one takes its place.
 */
SfBegan
sf_lifecycle_begin(SfExecution *execution)
{
	SfCachedProgram *cached = sf_program_cache_find(execution->machine_no, execution->version);

	prepare(execution, cached);
	return begin(execution, cached);
}

/* Insert new executions that no others take the places of, SF_TABLE_MAX_ROWS at most, and begin them. */
static void
begin_together(SfExecution *const *executions, int n, SfBegan *began)
{
	SfCachedProgram *cached = NULL;
	int			version = 0;
	bool		inserted[SF_TABLE_MAX_ROWS];
	List	   *roots = NIL;

	sf_apply_insert_all(executions, n, inserted);
	for (int i = 0; i < n; i++)
	{
		const SfExecution *execution = executions[i];

		began[i] = inserted[i] ? SF_BEGAN_NEW : SF_BEGAN_NOT;
		if (!inserted[i])
			continue;
		if (cached == NULL || version != execution->version)
			cached = sf_program_cache_find(execution->machine_no, execution->version);
		version = execution->version;
		roots = lappend(roots, make_root(execution, cached->program));
	}
	if (roots != NIL)
		sf_apply_branches(roots);
}

/*
 * Insert new executions of versions of a machine, SF_TABLE_MAX_ROWS at most,
 * and begin them; began tells what came of each.
 */
void
sf_lifecycle_begin_all(SfExecution *const *executions, int n, SfBegan *began)
{
	bool		any_enters = false;

	for (int i = 0; i < n; i++)
	{
		SfCachedProgram *cached = sf_program_cache_find(executions[i]->machine_no, executions[i]->version);

		prepare(executions[i], cached);
		any_enters = any_enters || may_enter_line(executions[i], cached);
	}
	if (!any_enters)
		begin_together(executions, n, began);
	else
		for (int i = 0; i < n; i++)
			began[i] = begin(executions[i], sf_program_cache_find(executions[i]->machine_no, executions[i]->version));
}
