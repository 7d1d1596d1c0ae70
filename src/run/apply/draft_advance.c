/*
 * draft_advance.c
 *		One transition of a branch: load what it needs, have the core work it
 *		out, carry its effects out.
 *
 * The compiled program says what each state needs (SfNeeds).  If a transition
 * needs more (the id of an event, for the text of an error; the context object,
 * in a catcher), sf_draft_advance() loads that and computes the transition again.
 * The first computation has changed nothing.
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/value/random.h"
#include "quota/quota.h"
#include "run/apply/apply.h"
#include "run/apply/draft_advance.h"
#include "run/join/children.h"
#include "store/state_machine/program_cache.h"
#include "transition/state/map_state.h"

/* Items of a Distributed Map that one query reads */
#define CHUNK	1000

/*
 * What stands in the context object; the input, and the jobs that came before, which may
 * be large, if the state looks at them.
 */
static void
load_context(SfDraft *draft, const SfBranch *branch)
{
	const SfNetJob *job = sf_net_job_with_condition(draft->program, branch);
	int			use = draft->program->states[branch->state].context_use |
		(job == NULL ? 0 : job->context_use);
	SfLoaded   *loaded = &draft->loaded;
	SfExecution *execution = draft->execution;

	loaded->input = NULL;
	if ((use & SF_CONTEXT_INPUT) != 0)
	{
		if (execution->input == NULL)
		{
			SfExecution *full = sf_execution_read(execution->execution_no,
												  SF_LOCK_NONE, true);

			execution->input = full ? full->input : sf_json_null();
		}
		loaded->input = execution->input;
	}
	loaded->jobs = (use & SF_CONTEXT_JOBS) == 0 ? NULL :
		sf_dependents_context(draft, branch);
	loaded->is_synchronous = draft->synchronous;
	if (loaded->role == NULL)
		loaded->role = sf_program_cache_role(execution->machine_no, execution->version, execution->owner);
}

/* The run that a Distributed Map is in, or names for one that begins. */
static void
load_map_run(SfDraft *draft, const SfBranch *branch)
{
	if (sf_branch_has_map_run(branch))
	{
		draft->loaded.map_run = sf_apply_map_run_of(branch);
		return;
	}
	draft->loaded.map_run = palloc0(sizeof(SfMapRun));
	draft->loaded.map_run->map_run_no = sf_branch_next_no();
	draft->loaded.map_run->uuid = sf_uuid_v7();
}

/* How many items the executions of items may take that there is room for, as far as is known. */
static int
items_wanted(const SfDraft *draft, const SfBranch *branch)
{
	const SfDistributedMap *map = sf_state_map(&draft->program->states[branch->state])->distributed;
	int			batch = draft->loaded.map_run->max_items_per_batch;
	int64		room = sf_map_window(branch) - sf_branch_children_left(branch);

	if (map->item_batcher != NULL)
		room = batch != SF_UNLIMITED ? room * batch : CHUNK;
	return (int) Min(room, SF_MAP_STEP_ITEMS);
}

/*
 * The items that come next, and whether their executions may begin.  Where the
 * items were too few for a batch, load twice as many.
 */
static void
load_items(SfDraft *draft, const SfBranch *branch)
{
	SfLoaded   *loaded = &draft->loaded;
	bool		more = (loaded->has & SF_NEED_ITEMS) != 0;
	int			most = more ? Max(loaded->nitems * 2, CHUNK) : items_wanted(draft, branch);
	Size		bytes = 0;

	if (!sf_join_wants_more(branch))
		return;
	most = Min(most, branch->total - branch->next_index);
	loaded->items = palloc_extended(sizeof(Jsonb *) * (most + 1), MCXT_ALLOC_HUGE);
	loaded->nitems = 0;
	while (loaded->nitems < most && (more || bytes < SF_MAP_STEP_BYTES))
	{
		int			n = sf_map_item_read(branch->key.execution_no, branch->map_run_no,
										 branch->next_index + loaded->nitems,
										 Min(CHUNK, most - loaded->nitems),
										 loaded->items + loaded->nitems);

		CHECK_FOR_INTERRUPTS();
		if (n == 0)
			elog(ERROR, "item %d of a Map is missing", branch->next_index + loaded->nitems);
		for (int i = 0; i < n; i++)
			bytes += VARSIZE(loaded->items[loaded->nitems + i]);
		loaded->nitems += n;
	}
	loaded->may_begin = sf_quota_has_room(draft->execution->owner);
}

/* Load what a transition needs. */
static void
load(SfDraft *draft, const SfBranch *branch, uint32 needs)
{
	SfLoaded   *loaded = &draft->loaded;

	if ((needs & SF_NEED_EVENT_IDS) != 0)
	{
		sf_draft_lock(draft);
		loaded->base_event_id = draft->base_event_id;
	}
	if ((needs & SF_NEED_CONTEXT) != 0)
		load_context(draft, branch);
	if ((needs & SF_NEED_TOKEN) != 0)
	{
		draft->token_task = sf_task_make(branch);
		loaded->token = sf_task_token(draft->token_task);
	}
	if ((needs & SF_NEED_MAP_RUN) != 0)
		load_map_run(draft, branch);
	if ((needs & SF_NEED_ITEMS) != 0)
		load_items(draft, branch);
	if ((needs & SF_NEED_RANDOM) != 0)
		loaded->random = pg_prng_double(&pg_global_prng_state);
	loaded->has |= needs;
}

/*
 * Make a transition of a branch: load what it needs, compute it, apply its effects.
 * The transition that is returned is valid until the next one of this draft.
 */
SfTransition *
sf_draft_advance(SfDraft *draft, SfBranch *branch, const SfStimulus *stimulus)
{
	SfTransition *transition = &draft->transition;
	SfLoaded   *loaded = &draft->loaded;
	TimestampTz now = draft->at != DT_NOBEGIN ? draft->at : GetCurrentTimestamp();
	uint32		needs = sf_transition_needs(draft->program, branch, stimulus);
	MemoryContext context = CurrentMemoryContext;
	MemoryContext computed = AllocSetContextCreate(context, "sfflow transition",
												   ALLOCSET_SMALL_SIZES);

	draft->at = DT_NOBEGIN;
	loaded->nevents = list_length(draft->events);
	loaded->has = 0;
	loaded->token = NULL;
	draft->token_task = NULL;
	if (draft->locked)
		needs |= SF_NEED_EVENT_IDS;
	do
	{
		load(draft, branch, needs);
		MemoryContextSwitchTo(computed);
		sf_transition(loaded, branch, stimulus, now, transition);
		MemoryContextSwitchTo(context);
		needs = transition->needs;
		if (needs != 0)
		{
			/* a void transition may hold several times the size of a payload */
			MemoryContextReset(computed);
			transition->effects = NULL;
			transition->size = 0;
		}
	} while (needs != 0);
	draft->bytes = MemoryContextMemAllocated(computed, false);
	sf_apply(draft, branch, transition);
	return transition;
}

/*
 * Have the execution of a draft, whose row is locked, end without its branches:
 * STOPPED, ORPHANED or TIMED_OUT.  Write the draft afterwards.
 */
void
sf_draft_end_execution(SfDraft *draft, SfStimulusKind kind, const SfError *error)
{
	SfExecution *execution = draft->execution;
	SfBranchKey key = {execution->execution_no, SF_BRANCH_ROOT};
	SfBranch   *root = sf_branch_read(key, SF_LOCK_NONE);
	SfStimulus	stimulus = {.kind = kind};
	SfStopped  *stopped = &stimulus.stopped;

	stopped->error = *error;
	stopped->input = execution->input;
	stopped->state = SF_NO_STATE;
	stopped->after_event = SF_NO_EVENT;
	stopped->map_run_knows = kind == SF_STIMULUS_ORPHANED && sf_draft_is_by_operation(draft);
	if (root != NULL)
	{
		/* a sibling of the event that entered the state in which it ends */
		stopped->after_event = sf_history_event_previous(execution->execution_no, root->entered_event);
		stopped->state = root->state;
	}
	(void) sf_draft_advance(draft, sf_branch_make_stop(execution->execution_no, execution->owner, DT_NOEND, NULL),
							&stimulus);
}
