/*
 * apply.c
 *		Carry the effects of transitions out.
 *
 * While a slice runs, its effects gather in SfRun: events with provisional ids
 * (-1, -2 … in the order in which they happened), branches, what children
 * tell their parents, how an execution ends.  At the end of the slice all of
 * it is written at once, and shared rows are locked only then, always in the
 * same order, which is what keeps user code from running under their locks
 * and two slices from waiting for each other:
 *
 *		1. execution rows, by number
 *		2. event ids are assigned: last_event_id + 1, + 2 …
 *		3. parent branches, by number, take their children's ends into account
 *		4. branches, events, execution rows are written
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "base/debug_point.h"
#include "base/errors.h"
#include "base/hooks.h"
#include "base/settings.h"
#include "base/timing.h"
#include "base/uuid.h"
#include "run/apply.h"
#include "run/map_run.h"
#include "run/outside.h"
#include "store/program_cache.h"
#include "run/slice_internal.h"
#include "store/quota.h"

/* Provisional id → id, for the callback of handlers. */
static int
real_event_id(SfRun *run, int provisional)
{
	sf_run_lock(run);
	return run->base_event_id - provisional;
}

/* The execution's input, read when somebody asks. */
static Jsonb *
execution_input(SfRun *run)
{
	if (run->execution->input == NULL)
	{
		SfExecution *full = sf_execution_read(run->execution->execution_no,
											  SF_LOCK_NONE, true);

		run->execution->input = full ? full->input : sf_json_null();
	}
	return run->execution->input;
}

/* The item of the iteration that a branch belongs to. */
static Jsonb *
iteration_item(SfRun *run, const SfBranch *iteration)
{
	SfBranchKey key = {iteration->key.execution_no, iteration->parent_no};
	SfBranch   *parent = iteration->parent_no < 0 ? NULL :
		sf_branch_read(key, SF_LOCK_NONE);
	const SfProgram *program = run->program;
	SfStep		step;
	SfError		error;
	JsonbValue	array,
				item;
	Jsonb	   *items;

	/* out of Parallel branches to the iteration that they are in */
	while (parent != NULL &&
		   program->states[parent->state].type != SF_STATE_MAP &&
		   parent->parent_no >= 0)
	{
		iteration = parent;
		key.branch_no = parent->parent_no;
		parent = sf_branch_read(key, SF_LOCK_NONE);
	}
	if (parent == NULL || program->states[parent->state].type != SF_STATE_MAP)
		return NULL;

	if (parent->result != NULL)
		items = parent->result;
	else
	{
		memset(&step, 0, sizeof(step));
		step.run = run;
		step.program = program;
		step.branch = parent;
		step.state = &program->states[parent->state];
		step.env.variables = parent->variables;
		if (!sf_flow_input(&step, &error) ||
			!sf_flow_path(&step, &sf_state_map(step.state)->items_path, &items, &error))
			return NULL;
	}
	sf_json_root(items, &array);
	if (!sf_json_is_array(&array) ||
		!sf_json_element(&array, iteration->branch_index, &item))
		return NULL;
	return sf_json_make(&item);
}

/* Draw the number and the identifier of a run of a Distributed Map. */
static void
name_map_run(SfRun *run, SfMapRun *map_run)
{
	map_run->map_run_no = sf_branch_next_no();
	map_run->uuid = sf_uuid_v7();
}

/* The run of a Distributed Map that a branch is in. */
static SfMapRun *
map_run_of(SfRun *run, const SfBranch *branch)
{
	return sf_map_run_of(branch);
}

/* Items of that run. */
static int
read_map_items(SfRun *run, const SfBranch *branch, int first, int n,
			   Jsonb **items)
{
	return sf_map_items_read(branch->key.execution_no, branch->map_run_no,
							 first, n, items);
}

/* Does a quota of the owner leave room for another execution? */
static bool
may_begin(SfRun *run)
{
	return sf_quota_has_room(run->execution->owner);
}

/* Make a run for an execution. */
SfRun *
sf_run_make(SfExecution *execution)
{
	SfCachedProgram *cached = sf_program_cached(execution->machine_no,
												execution->version);
	SfRun	   *run = palloc0(sizeof(SfRun));

	run->execution = execution;
	run->program = cached->program;
	run->max_transitions = sf_quota_of(execution->owner)->transitions;
	run->history = cached->history;
	run->event_id = real_event_id;
	run->input = execution_input;
	run->map_item = iteration_item;
	run->make_task = sf_outside_make_task;
	run->name_map_run = name_map_run;
	run->map_run = map_run_of;
	run->read_map_items = read_map_items;
	run->may_begin = may_begin;
	return run;
}

static int64 locked_out = 0;

/* The execution that could not be locked when ERRCODE_SF_EXECUTION_LOCKED came. */
int64
sf_slice_locked_out(void)
{
	return locked_out;
}

/* Lock an execution's row, a worker within SF_ROW_LOCK_MS. */
static SfExecution *
lock_execution(const SfRun *run)
{
	int64		no = run->execution->execution_no;
	MemoryContext context = CurrentMemoryContext;
	int			nest;
	SfExecution *volatile now = NULL;

	if (!run->impatient)
		return sf_execution_read(no, SF_LOCK_WAIT, false);
	nest = NewGUCNestLevel();
	(void) set_config_option("lock_timeout", SF_ROW_LOCK_MS, PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	PG_TRY();
	{
		now = sf_execution_read(no, SF_LOCK_WAIT, false);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		/* as much an error as the other: the transaction is over */
		MemoryContextSwitchTo(context);
		FlushErrorState();
		locked_out = no;
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_LOCKED),
				 errmsg("execution \"%s\" is locked by another transaction",
						run->execution->execution_id)));
	}
	PG_END_TRY();
	AtEOXact_GUC(false, nest);
	return now;
}

/* Is an execution, as it is now, in the run in which the slice has read it? */
static bool
is_as_read(const SfExecution *read, const SfExecution *now, bool began)
{
	return now->status == SF_STATUS_RUNNING &&
		now->redrive_count == read->redrive_count &&
		now->version == read->version &&
		(now->started_at != DT_NOBEGIN || began || read->started_at == DT_NOBEGIN);
}

/* Lock an execution and learn its last event id. */
void
sf_run_lock(SfRun *run)
{
	SfExecution *now;

	if (run->locked)
		return;

	SF_DEBUG_POINT("slice_lock");

	/*
	 * Never wait for the lock of an execution that has ended: who holds it is
	 * redriving it, and waits for us to let go of its branches.
	 */
	now = sf_execution_read(run->execution->execution_no,
							SF_DEBUG_MUTATION("slice_lock") ? SF_LOCK_WAIT : SF_LOCK_SKIP,
							false);
	if (now == NULL)
	{
		now = sf_execution_read(run->execution->execution_no, SF_LOCK_NONE, false);
		if (now != NULL && now->status == SF_STATUS_RUNNING)
			now = lock_execution(run);
	}
	if (now == NULL ||
		(!is_as_read(run->execution, now, run->began) &&
		 !SF_DEBUG_MUTATION("slice_status")))
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("execution \"%s\" was stopped while it was advanced",
						run->execution->execution_id)));
	if (now->started_at != DT_NOBEGIN)
		run->execution->started_at = now->started_at;
	run->base_event_id = now->last_event_id;
	run->locked = true;
}

/* Note that a branch has changed. */
void
sf_run_add_branch(SfRun *run, SfBranch *branch)
{
	if (list_length(run->branches) == 0 || llast(run->branches) != branch)
		run->branches = list_append_unique_ptr(run->branches, branch);
}

/* Take over the children that a step spawned. */
void
sf_run_spawn(SfRun *run, SfStep *step)
{
	ListCell   *lc;

	foreach(lc, step->spawn)
	{
		SfBranch   *child = lfirst(lc);

		child->key.branch_no = sf_branch_next_no();
		run->branches = lappend(run->branches, child);
	}
	step->spawn = NIL;
}

/* Forget what waits to be written of the descendants of a branch. */
static void
forget_children(SfRun *run, int64 parent_no)
{
	ListCell   *lc;

	check_stack_depth();
	foreach(lc, run->branches)
	{
		SfBranch   *branch = lfirst(lc);

		if (branch->parent_no != parent_no || branch->gone)
			continue;
		branch->gone = true;
		branch->stored = false;
		forget_children(run, branch->key.branch_no);
	}
}

/* Delete the descendants of a branch. */
void
sf_run_drop_children(SfRun *run, const SfBranch *parent)
{
	forget_children(run, parent->key.branch_no);
	sf_branch_delete_children(parent->key);
}

/* Replace a provisional event id. */
static inline void
fix_id(const SfRun *run, int *id)
{
	if (*id < 0)
		*id = run->base_event_id - *id;
}

/* Give the events of a run their ids, and all that refers to them. */
static void
assign_event_ids(SfRun *run)
{
	ListCell   *lc;

	foreach(lc, run->events)
	{
		SfEvent    *event = lfirst(lc);

		event->execution_no = run->execution->execution_no;
		fix_id(run, &event->id);
		fix_id(run, &event->previous_id);
		fix_id(run, &event->payload_from);
	}
	foreach(lc, run->branches)
	{
		SfBranch   *branch = lfirst(lc);

		fix_id(run, &branch->entered_event);
		fix_id(run, &branch->last_event);
		fix_id(run, &branch->payload_event);
		fix_id(run, &branch->failed_event);
	}
	foreach(lc, run->deltas)
	{
		SfParentDelta *delta = lfirst(lc);

		fix_id(run, &delta->failed_event);
	}
}

/* Sort deltas by parent. */
static int
compare_deltas(const ListCell *a, const ListCell *b)
{
	const SfParentDelta *x = lfirst(a);
	const SfParentDelta *y = lfirst(b);

	return (x->branch_no > y->branch_no) - (x->branch_no < y->branch_no);
}

/* Find a branch among those that the run changes. */
static SfBranch *
find_branch(const SfRun *run, int64 branch_no)
{
	ListCell   *lc;

	foreach(lc, run->branches)
	{
		SfBranch   *branch = lfirst(lc);

		if (branch->key.branch_no == branch_no)
			return branch;
	}
	return NULL;
}

/* Count a child's end against its parent. */
static void
take_delta(SfBranch *parent, const SfParentDelta *delta)
{
	parent->pending = Max(parent->pending - delta->ended, 0);
	parent->transitions = (int) Min((int64) parent->transitions + delta->transitions,
									PG_INT32_MAX);
	if (delta->failed && !parent->failing)
	{
		parent->failing = true;
		parent->failed_event = delta->failed_event;
		parent->error = delta->error ? pstrdup(delta->error) : NULL;
		parent->cause = delta->cause ? pstrdup(delta->cause) : NULL;
		parent->uncatchable = delta->uncatchable;
	}
}

/*
 * Make a join due if it has something to do.  One that has to abort its
 * children comes before them: due since it was entered.
 */
static void
set_due(const SfRun *run, SfBranch *parent, TimestampTz now)
{
	if (!sf_join_is_ready(parent,
						  run->program->states[parent->state].failure_mode))
		return;
	parent->due_at = parent->failing && parent->entered_at != DT_NOBEGIN ?
		parent->entered_at : now;
}

/* Write the counters of a join. */
static void
flush_join(SfBranch *join)
{
	if (join != NULL)
		sf_branch_update_join(join);
}

/* Let parents take the ends of their children into account. */
static void
apply_deltas(SfRun *run, TimestampTz now)
{
	SfBranch   *parent = NULL;
	SfBranch   *join = NULL;	/* parent, where only its counters were read */
	ListCell   *lc;

	if (SF_DEBUG_MUTATION("count_end"))
		return;
	list_sort(run->deltas, compare_deltas);
	foreach(lc, run->deltas)
	{
		SfParentDelta *delta = lfirst(lc);
		SfBranchKey key = {run->execution->execution_no, delta->branch_no};

		if (parent == NULL || parent->key.branch_no != delta->branch_no)
		{
			flush_join(join);
			join = NULL;
			parent = find_branch(run, delta->branch_no);
			if (parent == NULL)
				parent = join = sf_branch_read_join(key, SF_LOCK_WAIT);
			if (parent == NULL)
				elog(ERROR, "a branch of execution \"%s\" has lost its parent " INT64_FORMAT,
					 run->execution->execution_id, delta->branch_no);
		}
		take_delta(parent, delta);
		set_due(run, parent, now);
	}
	flush_join(join);
}

/* Add the machine's deadline. */
List *
sf_execution_add_deadline(List *branches, const SfExecution *execution,
						  const SfProgram *program)
{
	TimestampTz begin = execution->last_redriven_at != DT_NOBEGIN ?
		execution->last_redriven_at : execution->started_at;
	SfBranch   *deadline;

	if (program->timeout_seconds <= 0 || execution->map_run_no != 0)
		return branches;
	deadline = sf_branch_make(execution->execution_no, execution->owner,
							  SF_BRANCH_DEADLINE);
	deadline->phase = SF_PHASE_DEADLINE;
	deadline->due_at = begin + program->timeout_seconds * USECS_PER_SEC;
	return lappend(branches, deadline);
}

/* Put the end of a run's execution into its row. */
static void
fill_finish(SfExecution *execution, const SfFinish *finish, TimestampTz now)
{
	execution->status = finish->status;
	execution->output = finish->output;
	execution->error = unconstify(char *, finish->error);
	execution->cause = unconstify(char *, finish->cause);
	execution->stopped_at = now;
}

/*
 * Wake whoever waits for the end, and whoever still works for it; have it
 * logged when it is a failure.
 */
static void
announce_end(const SfExecution *execution, const SfProgram *program,
			 const SfBranch *root)
{
	SfBranchKey all = {execution->execution_no, -1};
	bool		timed_out = execution->status == SF_STATUS_TIMED_OUT;

	if (execution->status != SF_STATUS_SUCCEEDED)
		sf_hooks.cancel(all);
	sf_hooks.execution_ended(execution->execution_no);
	if (timed_out || execution->status == SF_STATUS_FAILED)
		sf_hooks.execution_failed(execution->execution_id,
								  root != NULL ? program->states[root->state].name : NULL,
								  execution->error, timed_out);
}

/* Does a program have a Distributed Map? */
static bool
has_distributed(const SfProgram *program)
{
	for (int i = 0; i < program->nstates; i++)
		if (sf_state_distributed(&program->states[i]) != NULL)
			return true;
	return false;
}

/* End what is left of an execution that has not succeeded. */
static void
quiesce(const SfExecution *execution, const SfProgram *program)
{
	sf_branch_quiesce(execution->execution_no);
	if (has_distributed(program))
		sf_map_run_abort_all(execution);
}

/* Has a branch of this run failed since it was last written? */
bool
sf_run_has_failure(const SfRun *run)
{
	ListCell   *lc;

	foreach(lc, run->deltas)
	{
		if (((SfParentDelta *) lfirst(lc))->failed)
			return true;
	}
	return false;
}

/*
 * Refuse a history that grows without end.  What says that a branch fails is
 * let in, or it could never end.
 */
static void
check_history_size(const SfRun *run)
{
	if (run->execution->last_event_id <= sf_setting_max_history_events ||
		run->finish != NULL || sf_run_has_failure(run))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SF_EVALUATION_LIMIT),
			 errmsg("The execution reached the maximum number of history events (%d).",
					sf_setting_max_history_events)));
}

/* Will a branch rest, so that it has to be told when what it is part of ends? */
static bool
rests(const SfBranch *branch, TimestampTz now)
{
	switch (branch->phase)
	{
		case SF_PHASE_JOIN:
		case SF_PHASE_EXTERNAL:
			return true;
		case SF_PHASE_RUN:
		case SF_PHASE_WAIT:
			return branch->due_at > now;
		default:
			return false;
	}
}

/*
 * Does what a run writes have to be known to whoever stops the execution, or
 * aborts a part of it?  A branch that is in our hands is passed over there:
 * then we must not leave it waiting, or with children, behind their backs.
 */
static bool
needs_lock(const SfRun *run, TimestampTz now)
{
	ListCell   *lc;

	if (run->events != NIL || run->deltas != NIL || run->finish != NULL ||
		run->began)
		return true;
	foreach(lc, run->branches)
	{
		const SfBranch *branch = lfirst(lc);

		if (!branch->gone && (!branch->stored || rests(branch, now)))
			return true;
	}
	return false;
}

/*
 * Make branches due that are to rest while the join above them has given up:
 * it passed them over because they were in our hands.
 */
static void
recall_aborted(SfRun *run, TimestampTz now)
{
	ListCell   *lc;

	foreach(lc, run->branches)
	{
		SfBranch   *branch = lfirst(lc);

		if (branch->stored && !branch->gone && branch->parent_no >= 0 &&
			rests(branch, now) && find_branch(run, branch->parent_no) == NULL &&
			sf_claim_is_aborted(run, branch) && !SF_DEBUG_MUTATION("recall"))
			branch->due_at = now;
	}
}

/*
 * Work out what a run's rows are to be.  One that is not locked has nothing but
 * branches that are ours alone.
 */
static void
settle_run(SfRun *run, TimestampTz now)
{
	SfExecution *execution = run->execution;

	if (!run->locked)
		return;
	assign_event_ids(run);
	recall_aborted(run, now);
	apply_deltas(run, now);
	if (run->began && run->finish == NULL)
		run->branches = sf_execution_add_deadline(run->branches, execution,
												  run->program);
	execution->last_event_id = run->base_event_id + list_length(run->events);
	check_history_size(run);
	if (run->finish != NULL)
		fill_finish(execution, run->finish, now);
}

/* Does a run change the row of its execution? */
static bool
changes_execution(const SfRun *run)
{
	return run->locked &&
		(run->finish != NULL || run->events != NIL || run->began);
}

/* Append what is in a list to another one, and leave the first as it is. */
static List *
collect(List *all, const List *more)
{
	return all == NIL ? list_copy(more) : list_concat(all, more);
}

/* Write the rows of runs, each table at once. */
static void
write_rows(const List *runs)
{
	List	   *branches = NIL;
	List	   *events = NIL;
	List	   *executions = NIL;
	ListCell   *lc;

	foreach(lc, runs)
	{
		SfRun	   *run = lfirst(lc);

		branches = collect(branches, run->branches);
		if (run->locked)
		{
			branches = collect(branches, run->children);
			events = collect(events, run->events);
		}
		if (changes_execution(run))
			executions = lappend(executions, run->execution);
	}
	sf_branch_write(branches);
	foreach(lc, runs)
		sf_outside_write(lfirst(lc));
	sf_event_write(events);
	sf_execution_update_all(executions);
}

/* See to what the end of a run's execution means for others. */
static void
follow_up_end(SfRun *run)
{
	SfExecution *execution = run->execution;
	bool		succeeded = run->finish->status == SF_STATUS_SUCCEEDED;

	if (!succeeded)
		quiesce(execution, run->program);
	else
	{
		if (run->program->timeout_seconds > 0)
			sf_branch_delete_all(execution->execution_no);
		if (has_distributed(run->program))
			sf_map_items_delete_all(execution->execution_no);
	}
	if (!succeeded)
		sf_child_stop(execution, -1);
	sf_child_report(execution);
	announce_end(execution, run->program, find_branch(run, SF_BRANCH_ROOT));
}

/* Sort runs by the number of their execution. */
static int
compare_runs(const ListCell *a, const ListCell *b)
{
	const SfRun *x = lfirst(a);
	const SfRun *y = lfirst(b);

	return (x->execution->execution_no > y->execution->execution_no) -
		(x->execution->execution_no < y->execution->execution_no);
}

/* Write everything that is pending in these runs. */
void
sf_runs_write(List *runs)
{
	TimestampTz now = GetCurrentTimestamp();
	List	   *ends = NIL;
	ListCell   *lc;

	list_sort(runs, compare_runs);
	foreach(lc, runs)
	{
		SfRun	   *run = lfirst(lc);

		if (run->execution->status == SF_STATUS_RUNNING && needs_lock(run, now))
			sf_run_lock(run);
	}
	foreach(lc, runs)
		settle_run(lfirst(lc), now);
	write_rows(runs);
	foreach(lc, runs)
	{
		SfRun	   *run = lfirst(lc);

		if (run->finish == NULL || !run->locked)
			continue;
		follow_up_end(run);
		if (run->execution->map_run_no != 0)
			ends = lappend(ends, sf_map_run_child_end(run->execution, run->program));
	}
	sf_map_run_children_ended(ends);
}

/* End an execution from outside, without a word to its parent. */
static void
end_execution(SfExecution *execution, SfStatus status, const char *error,
			  const char *cause, SfEventType event_type, TimestampTz now)
{
	SfCachedProgram *cached = sf_program_cached(execution->machine_no,
												execution->version);
	SfBranchKey root_key = {execution->execution_no, SF_BRANCH_ROOT};
	SfBranch   *root = sf_branch_read(root_key, SF_LOCK_NONE);
	SfFinish	finish = {status, NULL, error, cause};

	/* the status tells: only the event of a timeout has an error */
	if (status == SF_STATUS_TIMED_OUT)
		finish.error = NULL;
	if (cached->history != SF_HISTORY_NONE)
	{
		SfEvent    *event = palloc0(sizeof(SfEvent));

		event->execution_no = execution->execution_no;
		event->extra = sf_event_error(error, cause);
		event->type = event_type;
		event->id = ++execution->last_event_id;
		/* a sibling of the event that entered the state it is stopped in */
		event->previous_id = root == NULL ? 0 :
			sf_event_previous(execution->execution_no, root->entered_event);
		event->state = -1;
		event->at = now;
		sf_event_write(list_make1(event));
	}
	fill_finish(execution, &finish, now);
	sf_execution_update(execution);
	quiesce(execution, cached->program);
	sf_child_stop(execution, -1);
	sf_child_report(execution);
	announce_end(execution, cached->program, root);
}

/* End an execution from outside. */
void
sf_execution_end(SfExecution *execution, SfStatus status, const char *error,
				 const char *cause, SfEventType event_type, TimestampTz now)
{
	SfChildEnd *end;

	end_execution(execution, status, error, cause, event_type, now);
	end = sf_map_run_child_end(execution, sf_program_get(execution->machine_no,
														 execution->version));
	if (end != NULL)
		sf_map_run_children_ended(list_make1(end));
}

/* End a child of a Distributed Map whose parent knows of it. */
void
sf_execution_end_child(SfExecution *execution, SfStatus status, TimestampTz now)
{
	end_execution(execution, status, NULL, NULL, SF_EVENT_EXECUTION_ABORTED, now);
}
