/*
 * lifecycle.c
 *		Executions are begun anew, are stopped, and go on again.  begin.c begins them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/time/timing.h"
#include "run/apply/apply.h"
#include "run/apply/draft_advance.h"
#include "run/execution/lifecycle.h"
#include "run/join/children.h"
#include "store/feature.h"
#include "store/state_machine/program_cache.h"
#include "transition/state/map_state.h"

/* States that the notice of a redrive names */
#define NAMED_STATES	3

/*
 * Lock every branch of an ended execution.  A worker may still be rolling back
 * the task that it was told to stop; where the stop is of this transaction, it
 * has not been told yet.  Should it take the task up again before we have the
 * branch, it cannot write how that ended: the execution's row is ours.
 */
static List *
lock_branches(const SfExecution *execution)
{
	SfBranchKey key = sf_branch_key_of_execution(execution->execution_no);

	for (int waited = 0; waited < SF_STOP_WAIT_MS; waited += SF_STOP_RECHECK_MS)
	{
		List	   *branches;

		if (sf_branch_try_all(execution->execution_no, &branches))
			return branches;
		if (waited % SF_STOP_ASK_MS == 0)
			sf_hooks.cancel_now(key);
		CHECK_FOR_INTERRUPTS();
		pg_usleep(SF_STOP_RECHECK_MS * 1000L);
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_EXECUTION_CHANGED),
			 errmsg("execution \"%s\" has a task that has not stopped yet",
					execution->execution_id),
			 errhint("Wait for the worker that runs it (see sf_workers), then try again.")));
}

/*
 * The generation of a root branch that takes the place of another one (NULL: it has ended with success, and its row is
 * gone), greater than those before, which had an event each where the machine keeps a history: a nested execution
 * that the last run waited for answers nothing of this one.
 */
static int
root_generation(const SfExecution *execution, const SfBranch *old)
{
	return old == NULL ? execution->last_event_id : old->generation + 1;
}

/*
 * Begin an ended execution anew as a start asks for it; its history goes on.  The caller has locked
 * its row.
 */
void
sf_lifecycle_restart(SfExecution *execution, const SfExecution *wanted)
{
	const Jsonb *before = execution->labels;
	List	   *branches;
	SfBranch   *old;
	SfBranch   *root;
	SfDraft	   *draft;

	sf_feature_require_unfrozen(execution);
	branches = lock_branches(execution);
	old = sf_branch_by_no(branches, SF_BRANCH_ROOT);
	sf_apply_note_resumed(execution);
	sf_transition_execution_restart(execution, wanted);
	SF_TELL(on_begun_anew, execution, SF_ANEW_RESTARTED);
	sf_feature_labels_changed(execution, before);

	draft = sf_draft_make_locked(execution);
	root = sf_lifecycle_root(execution, draft->program->scopes[0].start, execution->input);
	root->generation = root_generation(execution, old);
	sf_apply_delete_all(execution);
	draft->branches = list_make1(root);
	sf_drafts_write(list_make1(draft));
}

/* End a running execution as ABORTED; the caller has locked its row. */
void
sf_lifecycle_stop(SfExecution *execution, const char *error, const char *cause)
{
	SfDraft	   *draft = sf_draft_make_locked(execution);
	SfError		given = sf_error_make(error, cause);

	sf_draft_end_execution(draft, SF_STIMULUS_STOPPED, &given);
	sf_drafts_write(list_make1(draft));
}

/* Is this a Distributed Map that has read its items? */
static bool
had_item_executions(const SfBranch *branch)
{
	return sf_branch_has_read(branch) && !sf_branch_has_outcome(branch);
}

/*
 * The input with which a branch that ended in a Fail state begins again; NULL:
 * it did not, or the history does not know it: then it stays where it is.
 */
static Jsonb *
failed_input(const SfDraft *draft, const SfBranch *branch)
{
	const SfProgram *program = draft->program;

	if (!sf_branch_has_parent(branch) || branch->phase != SF_PHASE_FAILED ||
		program->states[branch->state].type != SF_STATE_FAIL)
		return NULL;
	return sf_history_event_last_input(draft->execution,
									   &program->states[program->scopes[branch->scope].start],
									   branch->iterations, branch->niterations);
}

/* Find out which branches are parents, and of how many that have to run again; they leave their places. */
static void
count_children(List *branches)
{
	foreach_ptr(SfBranch, branch, branches)
	{
		branch->work.is_parent = branch->phase == SF_PHASE_JOIN || had_item_executions(branch);
		branch->work.unsuccessful = 0;
		branch->place = SF_BRANCH_PLACE_NONE;
	}
	foreach_ptr(const SfBranch, branch, branches)
	{
		SfBranch   *parent = sf_branch_has_parent(branch) ?
			sf_branch_by_no(branches, branch->parent_no) : NULL;

		if (parent == NULL)
			continue;
		parent->work.is_parent = true;
		if (branch->phase != SF_PHASE_DONE)
			parent->work.unsuccessful++;
	}
}

/* Redrive an execution of a run that has not succeeded, and count it as running; the caller writes the run. */
void
sf_lifecycle_redrive_item(SfMapRun *map_run, SfExecution *execution)
{
	SfStatus	before = execution->status;

	(void) sf_lifecycle_redrive(execution, NULL, NULL, NULL);
	sf_map_run_count_redriven(map_run, before, execution->map_items);
}

/* Does a Distributed Map go on from what a task of its run has come to, which was kept? */
static bool
goes_on_in_run(const SfBranch *branch)
{
	return branch->phase == SF_PHASE_KEPT && sf_branch_has_map_run(branch) && !sf_branch_outcome_failed(branch);
}

/* A run that has ended goes on. */
static void
reopen_run(SfMapRun *map_run, TimestampTz now)
{
	map_run->status = SF_STATUS_RUNNING;
	if (map_run->stopped_at != DT_NOBEGIN)
		map_run->idle_us += Max(now - map_run->stopped_at, 0);
	map_run->stopped_at = DT_NOBEGIN;
	map_run->redrive_count++;
	sf_apply_map_run(map_run);
}

/* Redrive the executions of a run that did not succeed. */
static int
redrive_items(const SfExecution *execution, const SfBranch *branch,
				   TimestampTz now)
{
	SfMapRun   *map_run = sf_map_run_read(execution->execution_no,
										  branch->map_run_no, SF_LOCK_WAIT);
	List	   *item_executions;
	MemoryContext context,
				old;

	check_stack_depth();
	/*
	 * Those that others had locked when the run was stopped go on, unless they have been stopped by now.  They are
	 * locked, so that no slice ends them that has seen the execution stopped (sf_draft_is_orphan).
	 */
	(void) sf_map_run_running(execution->execution_no, branch->map_run_no, SF_LOCK_SKIP);
	sf_apply_take_back_stops(sf_map_run_running(execution->execution_no, branch->map_run_no, SF_LOCK_NONE));
	item_executions = sf_map_run_unsuccessful(execution->execution_no, branch->map_run_no);
	context = AllocSetContextCreate(CurrentMemoryContext, "sfflow redriven item", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	foreach_ptr(const int64, item_execution_no, item_executions)
	{
		CHECK_FOR_INTERRUPTS();
		sf_lifecycle_redrive_item(map_run, sf_execution_read(*item_execution_no, SF_LOCK_WAIT, false));
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	reopen_run(map_run, now);
	return list_length(sf_map_run_running(execution->execution_no, branch->map_run_no, SF_LOCK_NONE));
}

/* Have every branch run again that has not succeeded. */
static void
redrive_all(SfDraft *draft, List *branches, TimestampTz now)
{
	ListCell   *lc;

	count_children(branches);
	sf_dependents_rewind(draft, branches);
	foreach_ptr(SfBranch, branch, branches)
	{
		SfStimulus	stimulus = {.kind = SF_STIMULUS_REDRIVEN};

		if (branch->phase == SF_PHASE_DONE || branch->row.gone)
			continue;
		if (sf_phase_is_of_execution(branch->phase))
			stimulus.kind = SF_STIMULUS_OVER;	/* a timer, or a stop, that came late */
		else if (branch->work.is_parent)
		{
			sf_stimulus_set_children_left(&stimulus, had_item_executions(branch) ?
										  redrive_items(draft->execution, branch, now) : branch->work.unsuccessful);
		}
		else
		{
			if (goes_on_in_run(branch))
				reopen_run(sf_map_run_read(draft->execution->execution_no, branch->map_run_no, SF_LOCK_WAIT), now);
			stimulus.redriven.input = failed_input(draft, branch);
		}
		(void) sf_draft_advance(draft, branch, &stimulus);
	}
	foreach(lc, branches)
		sf_dependents_begin_ready(draft, lfirst(lc), now);
}

/* Does a redriven branch begin something by itself? */
static bool
begins_anew(const SfBranch *branch)
{
	if (branch->row.gone || branch->phase == SF_PHASE_DONE)
		return false;
	/* of the joins, those of Distributed Maps */
	return branch->phase != SF_PHASE_JOIN || sf_branch_has_map_run(branch);
}

/* Tell the states from which branches go on: "A", "B" and 3 more. */
static void
revived_states(const SfProgram *program, List *branches, SfRedrivenFrom *from)
{
	List	   *states = NIL;
	StringInfoData names;
	ListCell   *lc;

	from->only_fails = true;

	foreach_ptr(const SfBranch, branch, branches)
	{
		if (!begins_anew(branch))
			continue;
		states = list_append_unique_int(states, branch->state);
		if (program->states[branch->state].type != SF_STATE_FAIL)
			from->only_fails = false;
	}
	initStringInfo(&names);
	foreach(lc, states)
	{
		if (foreach_current_index(lc) == NAMED_STATES)
		{
			appendStringInfo(&names, " and %d more", list_length(states) - NAMED_STATES);
			break;
		}
		appendStringInfo(&names, "%s\"%s\"", names.len == 0 ? "" : ", ",
						 program->states[lfirst_int(lc)].name);
	}
	from->states = names.data;
	from->nstates = list_length(states);
	from->only_fails = from->only_fails && from->nstates > 0;
}

/* Raise the error for a state that a redrive cannot go back to. */
static void
refuse_from_state(const SfExecution *execution, const SfProgram *program,
				  const char *from_state)
{
	SfClosest	closest = sf_closest_begin(from_state);

	for (int i = 0; i < program->nstates; i++)
		if (program->states[i].scope == 0)
			sf_closest_offer(&closest, program->states[i].name);
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("state machine \"%s\" has no top-level state \"%s\"",
					execution->machine_name, from_state),
			 sf_closest_errhint(&closest, NULL)));
}

/* Replace all branches by one that enters a top-level state. */
static List *
rewind_to(SfDraft *draft, List *branches, const char *from_state, Jsonb *input)
{
	const SfExecution *execution = draft->execution;
	const SfProgram *program = draft->program;
	int			state = sf_program_find_state(program, from_state);
	SfBranch   *old = sf_branch_by_no(branches, SF_BRANCH_ROOT);
	SfBranch   *root;

	if (state == SF_NO_STATE || program->states[state].scope != 0)
		refuse_from_state(execution, program, from_state);
	if (input == NULL)
		input = sf_history_event_last_input(execution, &program->states[state], NULL, 0);
	if (input == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_NOT_REDRIVABLE),
				 errmsg("the input of state \"%s\" in execution \"%s\" is not known",
						from_state, execution->execution_id),
				 errdetail("The state was not entered, or the machine keeps no history of it."),
				 errhint("Give the argument input.")));

	SF_TELL(on_begun_anew, execution, SF_ANEW_REWOUND);
	sf_apply_delete_all(execution);
	root = sf_lifecycle_root(execution, state, input);
	root->generation = root_generation(execution, old);
	if (old != NULL)
	{
		root->variables = old->variables;
		root->last_event = old->last_event;
	}
	return list_make1(root);
}

/* {"redriveCount": n} */
static Jsonb *
redrive_extra(int count)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_int(&json, "redriveCount", count);
	return sf_json_end(&json);
}

/* Append the events of the Distributed Maps that go on. */
static void
redrive_map_runs(SfDraft *draft, TimestampTz now)
{
	foreach_ptr(const SfBranch, branch, draft->branches)
	{
		const SfState *state = &draft->program->states[branch->state];
		SfMapRun   *map_run;

		if (branch->phase != SF_PHASE_JOIN || !sf_branch_has_map_run(branch))
			continue;
		map_run = sf_apply_map_run_of(branch);
		sf_draft_add_event(draft, SF_HISTORY_EVENT_MAP_RUN_REDRIVEN,
						   sf_map_redriven_extra(draft->execution, state, map_run),
						   now);
		sf_draft_event_is_of(draft, branch);
	}
}

/* Refuse to redrive what is not over, or has succeeded. */
void
sf_lifecycle_check_redrivable(const SfExecution *execution)
{
	if (execution->status == SF_STATUS_RUNNING)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_NOT_REDRIVABLE),
				 errmsg("Execution is RUNNING and cannot be redriven"),
				 errdetail("Execution: \"%s\".", execution->execution_id)));
	if (execution->status == SF_STATUS_SUCCEEDED)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_NOT_REDRIVABLE),
				 errmsg("Execution is SUCCEEDED and cannot be redriven"),
				 errdetail("Execution: \"%s\".", execution->execution_id),
				 errhint("sf_start(..., if_exists => 'restart') runs it from the start.")));
}

/*
 * Go on with branches of an ended execution, all of which the caller has locked, and
 * write it.  *from (may be NULL) gets the states that it goes on from.
 */
static void
redrive_branches(SfExecution *execution, List *branches, const char *from_state, Jsonb *input,
				 SfRedrivenFrom *from)
{
	TimestampTz now = GetCurrentTimestamp();
	SfDraft	   *draft = sf_draft_make_locked(execution);

	SF_TELL(on_redriven, execution);
	if (from_state != NULL)
		draft->branches = branches = rewind_to(draft, branches, from_state, input);
	else
	{
		branches = sf_dependents_give_rows(draft->program, branches);
		redrive_all(draft, branches, now);
	}
	now = GetCurrentTimestamp();	/* not before the branches are due: sf_map_run_redriven() */
	if (from != NULL)
		revived_states(draft->program, branches, from);
	sf_apply_note_resumed(execution);
	sf_transition_execution_redrive(execution, now);
	if (!sf_execution_is_of_item(execution))
		draft->tally.redriven++;
	sf_draft_note_status(draft, SF_STATUS_RUNNING, now);
	sf_draft_add_event(draft, SF_HISTORY_EVENT_EXECUTION_REDRIVEN,
					   redrive_extra(execution->redrive_count), now);
	redrive_map_runs(draft, now);
	sf_draft_add_timeout(draft);
	sf_drafts_write(list_make1(draft));
}

/*
 * Go on with an execution that has not succeeded (3.3 of the design); the
 * caller has locked its row.  from_state NULL: with what did not succeed;
 * input NULL: with the input that the state had.  Returns the redrive count;
 * *from (may be NULL) gets the states that it goes on from.
 */
int
sf_lifecycle_redrive(SfExecution *execution, const char *from_state,
					 Jsonb *input, SfRedrivenFrom *from)
{
	List	   *branches;

	sf_lifecycle_check_redrivable(execution);
	if (input != NULL && from_state == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument input of sf_redrive needs from_state"),
				 errdetail("What did not succeed runs again with the input it had.")));

	sf_feature_require_unfrozen(execution);
	branches = lock_branches(execution);
	if (from_state == NULL && branches == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_NOT_REDRIVABLE),
				 errmsg("execution \"%s\" has nothing left to go on from",
						execution->execution_id)));
	redrive_branches(execution, branches, from_state, input, from);
	return execution->redrive_count;
}

static bool try_lock_items(const SfExecution *execution, const List *branches);

/*
 * Lock an item execution that is to be redriven with its parent, and all that goes on with it; false: a session holds
 * some of it.
 */
static bool
try_lock_item(int64 execution_no)
{
	const SfExecution *execution = sf_execution_read(execution_no, SF_LOCK_SKIP, false);
	List	   *branches;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	return execution != NULL && sf_branch_try_all(execution_no, &branches) &&
		try_lock_items(execution, branches);
}

/* Lock the item executions of Distributed Maps that are to be redriven with their parent; false: one is held. */
static bool
try_lock_items(const SfExecution *execution, const List *branches)
{
	ListCell   *lc;

	foreach_ptr(const SfBranch, branch, branches)
	{
		if (branch->phase == SF_PHASE_DONE || !had_item_executions(branch))
			continue;
		foreach(lc, sf_map_run_unsuccessful(execution->execution_no, branch->map_run_no))
			if (!try_lock_item(*(int64 *) lfirst(lc)))
				return false;
	}
	return true;
}

/*
 * The same with what did not succeed, of an execution that has ended without success,
 * but wait for no session that holds a branch of it, or of an item execution that goes on with it.
 * *frozen_by is what is being done with it where it is FROZEN.
 */
SfRedriven
sf_lifecycle_try_redrive(SfExecution *execution, const char **frozen_by)
{
	List	   *branches;

	*frozen_by = sf_feature_frozen_by(execution->execution_no);
	if (*frozen_by != NULL)
		return SF_REDRIVE_FROZEN;
	if (!sf_branch_try_all(execution->execution_no, &branches) ||
		!try_lock_items(execution, branches))
		return SF_REDRIVE_BUSY;
	if (branches == NIL)
		return SF_REDRIVE_NOTHING_LEFT;
	redrive_branches(execution, branches, NULL, NULL, NULL);
	return SF_REDRIVE_DONE;
}

/*
 * Record in the history that a job was marked; the caller has locked the execution's
 * row, and read it in full.
 */
void
sf_lifecycle_note_mark(SfExecution *execution, int state, int *iterations, int niterations,
					   Jsonb *details)
{
	SfDraft	   *draft = sf_draft_make_locked(execution);

	sf_draft_add_event(draft, SF_HISTORY_EVENT_TASK_STATE_MARKED, details, GetCurrentTimestamp());
	if (draft->events != NIL)
	{
		SfHistoryEvent *event = llast(draft->events);

		event->state = state;
		event->iterations = iterations;
		event->niterations = niterations;
	}
	sf_drafts_write(list_make1(draft));
}
