/*
 * apply_map_run.c
 *		Runs of Distributed Maps: their effects on the tables, and how the ends
 *		of their item executions come back.
 *
 * The root branch of an item execution starts in the scope of the Map's
 * processor.  Locks are taken in the order: executions by number, then the
 * branch that waits for the run, then the run's row.  So an item execution's slice,
 * which has its execution locked, may wait for the parent's branch, but a
 * transaction that holds the parent's branch never waits for an item execution: it skips
 * item executions that are locked, and looks for them again soon after.  An item execution whose
 * run is over ends when it is claimed the next time (sf_map_run_is_over).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "quota/quota.h"
#include "run/apply/apply_internal.h"
#include "store/feature.h"
#include "store/state_machine/program_cache.h"

/*
 * Read the map run that the state of a branch is in; NULL: none.  Raises ERRCODE_SF_EXECUTION_CHANGED if the run is
 * gone: a drop of the machine deletes its executions, but not a branch that a slice has locked.
 */
SfMapRun *
sf_apply_map_run_of(const SfBranch *branch)
{
	SfMapRun   *map_run;

	if (!sf_branch_has_map_run(branch))
		return NULL;
	map_run = sf_map_run_read(branch->key.execution_no, branch->map_run_no, SF_LOCK_NONE);
	if (map_run == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("the execution of a Map run was deleted while it was advanced")));
	return map_run;
}

/* --- effects --- */

/* Store items of a run from an index on, at most max; returns how many. */
static int
store_items(const SfMapRun *map_run, const Jsonb *items, int first, int max)
{
	SfItemWriter *writer = sf_map_item_open(map_run->execution_no,
											map_run->map_run_no, first);
	JsonbIterator *it = JsonbIteratorInit(unconstify(JsonbContainer *, &items->root));
	JsonbValue	value;
	JsonbIteratorToken token;
	int			n = 0;

	(void) JsonbIteratorNext(&it, &value, true);
	while (n < max && (token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		Jsonb	   *item;

		if (token != WJB_ELEM)
			continue;
		item = sf_json_make(&value);
		sf_map_item_insert(writer, item);
		pfree(item);
		n++;
	}
	sf_map_item_close(writer);
	return n;
}

/* The labels that item executions of a run get; NULL: none. */
static Jsonb *
labels_of_items(const SfDraft *draft)
{
	const SfFeature *feature = SF_PROVIDER(labels);
	const SfExecution *parent = draft->execution;
	const void *compiled = parent->labels == NULL || feature == NULL ? NULL : SF_COMPILED(feature, draft->compiled);

	return compiled == NULL ? NULL : feature->labels->of_item(parent, compiled);
}

/* Begin an item execution. */
static SfBranch *
insert_item_execution(const SfDraft *draft, const SfBranch *parent, const SfMapRun *map_run,
			const SfItemExecution *item_execution, int index)
{
	const SfState *state = &draft->program->states[parent->state];
	SfExecution *execution = sf_execution_make();
	SfBranch   *root;

	execution->machine_no = draft->execution->machine_no;
	execution->version = draft->execution->version;
	execution->owner = draft->execution->owner;
	execution->execution_id = sf_map_execution_id(draft->execution, state,
												  map_run->uuid, index);
	execution->input = item_execution->input;
	execution->parent_execution_no = parent->key.execution_no;
	execution->parent_branch_no = parent->key.branch_no;
	execution->map_run_no = map_run->map_run_no;
	execution->priority = draft->execution->priority;
	execution->map_index = index;
	execution->map_items = item_execution->items;
	execution->trace = sf_feature_trace_context(draft->execution, parent, state, false);
	execution->labels = labels_of_items(draft);
	if (!sf_execution_insert(execution))
		elog(ERROR, "execution \"%s\" is there already", execution->execution_id);
	sf_feature_labels_changed(execution, NULL);
	sf_quota_note_item(execution->owner);

	root = sf_branch_make_root(execution->execution_no, execution->owner, draft->program->scopes[state->scopes[0]].start,
							   item_execution->input, GetCurrentTimestamp());
	root->branch_index = index;
	root->scope = state->scopes[0];
	return root;
}

/* An item execution is to begin. */
void
sf_effect_begin_item_execution(SfDraft *draft, const SfBranch *branch, SfItemExecution *item_execution)
{
	draft->item_executions = lappend(draft->item_executions, item_execution);
}

/* Begin the item executions that a transition decided on, all at once. */
void
sf_apply_item_executions(SfDraft *draft, const SfBranch *parent)
{
	SfMapRun   *map_run = sf_draft_lock_map_run(draft, parent->key.execution_no, parent->map_run_no);
	int			items = 0;

	foreach_ptr(const SfItemExecution, item_execution, draft->item_executions)
	{
		CHECK_FOR_INTERRUPTS();
		items += item_execution->items;
		draft->item_roots = lappend(draft->item_roots,
								  insert_item_execution(draft, parent, map_run, item_execution,
											  map_run->children++));
	}
	draft->item_executions = NIL;
	sf_map_run_update(map_run);
	sf_map_item_delete(parent->key.execution_no, parent->map_run_no,
					   parent->next_index - items, parent->next_index);
}

/* A run ends. */
void
sf_effect_end_map_run(SfDraft *draft, const SfBranch *branch, SfMapRunEnd end)
{
	SfMapRun   *map_run = end.map_run_no == SF_NO_MAP_RUN ? NULL :
		sf_draft_lock_map_run(draft, branch->key.execution_no, end.map_run_no);

	if (map_run != NULL)
	{
		map_run->status = end.status;
		map_run->stopped_at = GetCurrentTimestamp();
		sf_map_run_update(map_run);
	}
	/* a redrive goes on with what is left, a caught or retried run does not */
	if (end.map_run_no != branch->map_run_no)
		sf_map_item_delete(branch->key.execution_no, end.map_run_no, 0, PG_INT32_MAX);
}

/* A run begins. */
void
sf_effect_begin_map_run(SfDraft *draft, const SfBranch *branch, SfMapRunBegin begin)
{
	sf_map_run_insert(begin.map_run);
	if (begin.items != NULL)
		(void) store_items(begin.map_run, begin.items, 0, PG_INT32_MAX);
}

/* Write the counters of a run. */
void
sf_apply_map_run(const SfMapRun *map_run)
{
	sf_map_run_update(map_run);
}

/* --- feeding items to a run --- */

/* Begin to add items, from an index on. */
SfItemWriter *
sf_apply_items_open(const SfMapRun *map_run, int first)
{
	return sf_map_item_open(map_run->execution_no, map_run->map_run_no, first);
}

/* Add an item. */
void
sf_apply_item(SfItemWriter *writer, const Jsonb *item)
{
	sf_map_item_insert(writer, item);
}

/* End to add items. */
void
sf_apply_items_close(SfItemWriter *writer)
{
	sf_map_item_close(writer);
}

/* Note how many items there are, and whether they have keys. */
void
sf_apply_items_read(const SfMapRun *map_run, int total, bool keyed)
{
	sf_map_run_note_items(map_run, total, keyed);
}

/*
 * Put the elements of an array into a run that a client reads the items of, in
 * place of those from index first on, which is at most their number; a run that has
 * MaxItems takes no more.  Returns how many there are now.
 */
int
sf_apply_items_put(const SfMapRun *map_run, const Jsonb *items, int first)
{
	int			max = map_run->max_items != SF_UNLIMITED ? map_run->max_items : PG_INT32_MAX;
	int			total;

	if (first < map_run->total)
		sf_map_item_delete(map_run->execution_no, map_run->map_run_no, first, map_run->total);
	total = first + store_items(map_run, items, first, Max(max - first, 0));
	sf_map_run_note_items(map_run, total, false);
	return total;
}

/* --- ends of item executions --- */

/* Note how an item execution ended, for sf_apply_count_item_ends; NULL: it is none. */
SfItemExecutionEnd *
sf_apply_make_item_end(const SfDraft *draft)
{
	const SfExecution *execution = draft->execution;
	SfItemExecutionEnd *end;

	if (!sf_execution_is_of_item(execution) || execution->status == SF_STATUS_RUNNING)
		return NULL;
	end = palloc0(sizeof(SfItemExecutionEnd));
	end->parent.execution_no = execution->parent_execution_no;
	end->parent.branch_no = execution->parent_branch_no;
	end->map_run_no = execution->map_run_no;
	end->draft = draft;
	end->version = execution->version;
	end->status = execution->status;
	end->items = execution->map_items;
	return end;
}

/* Sort ends by run. */
static int
compare_ends(const ListCell *a, const ListCell *b)
{
	const SfItemExecutionEnd *x = lfirst(a);
	const SfItemExecutionEnd *y = lfirst(b);

	if (x->parent.execution_no != y->parent.execution_no)
		return x->parent.execution_no < y->parent.execution_no ? -1 : 1;
	return (x->map_run_no > y->map_run_no) - (x->map_run_no < y->map_run_no);
}

/*
 * Change the limits of a run; its state looks at once whether there is room for further ones.  False: the run is
 * not there any more.
 */
bool
sf_apply_map_run_limits(int64 execution_no, int64 map_run_no, const SfMapRunLimits *limits)
{
	SfMapRun   *map_run = sf_map_run_read(execution_no, map_run_no, SF_LOCK_NONE);
	SfBranch   *join;

	if (map_run == NULL)
		return false;
	join = sf_branch_read_join((SfBranchKey) {execution_no, map_run->branch_no}, SF_LOCK_WAIT);
	map_run = sf_map_run_read(execution_no, map_run_no, SF_LOCK_WAIT);
	if (map_run == NULL)
		return false;
	if (limits->sets_tolerated_count)
		map_run->tolerated_count = limits->tolerated_count;
	if (limits->sets_tolerated_percentage)
		map_run->tolerated_percentage = limits->tolerated_percentage;
	if (limits->sets_max_concurrency)
		map_run->max_concurrency = limits->max_concurrency;
	sf_map_run_set_limits(map_run);
	if (join == NULL || join->map_run_no != map_run_no || join->phase != SF_PHASE_JOIN)
		return true;
	join->max_concurrency = map_run->max_concurrency;
	if (join->due_at == DT_NOEND && sf_join_wants_more(join))
		sf_branch_come_at(join, GetCurrentTimestamp());
	sf_branch_update_join(join);
	return true;
}

/* Have more items failed than are tolerated? */
static bool
exceeds_threshold(const SfMapRun *map_run)
{
	int			count = map_run->tolerated_count;
	double		percentage = map_run->tolerated_percentage;

	if (map_run->items_failed == 0)
		return false;
	if (count == 0 && percentage == 0)
		return true;
	if (count > 0 && map_run->items_failed > count)
		return true;
	return percentage > 0 &&
		map_run->items_failed * 100.0 > percentage * map_run->total;
}

/* Let a join take ended item executions into account; it may be gone already. */
static void
update_join(const SfItemExecutionEnd *end, SfBranch *join, const SfMapRun *map_run, int n)
{
	SfNetJobEnd how = exceeds_threshold(map_run) ? SF_NET_JOB_END_FAILURE : SF_NET_JOB_END_SUCCESS;
	SfParentDelta delta = {.ended = n,.end = how};
	const SfExecution *parent = sf_execution_read(join->key.execution_no, SF_LOCK_NONE, false);
	const SfProgram *program;

	if (parent == NULL)
		return;
	/* the item executions may be of an earlier version */
	program = parent->version == end->version ? end->draft->program :
		sf_program_cache_get(parent->machine_no, parent->version);
	delta.error = sf_error_make(SF_ERR_EXCEED_TOLERATED_FAILURE_THRESHOLD,
								"The specified tolerated failure threshold was exceeded");
	sf_join_count(join, &delta, &program->states[join->state],
				  GetCurrentTimestamp());
	sf_branch_update_join(join);
}

/* Count ended item executions against their parents; a List of SfItemExecutionEnd. */
void
sf_apply_count_item_ends(List *ends)
{
	int			i = 0;

	list_sort(ends, compare_ends);
	while (i < list_length(ends))
	{
		SfItemExecutionEnd *first = list_nth(ends, i);
		SfBranch   *join = sf_draft_lock_join(first->draft, first->parent);
		SfMapRun   *map_run = sf_draft_lock_map_run(first->draft, first->parent.execution_no, first->map_run_no);
		int			n = 0;

		for (; i < list_length(ends); i++, n++)
		{
			SfItemExecutionEnd *end = list_nth(ends, i);

			if (end->map_run_no != first->map_run_no)
				break;
			if (map_run == NULL)
				continue;
			sf_map_run_count_end(map_run, end->status, end->items);
		}
		if (map_run == NULL)
			continue;
		sf_map_run_update(map_run);
		if (join != NULL && join->phase == SF_PHASE_JOIN &&
			join->map_run_no == first->map_run_no)
			update_join(first, join, map_run, n);
	}
}
