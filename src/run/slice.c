/*
 * slice.c
 *		A worker's turn: claim due branches of one owner, advance them, write.
 *
 * See slice.h for who calls it and where the transactions are.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/debug_point.h"
#include "base/errors.h"
#include "base/hooks.h"
#include "base/settings.h"
#include "run/abort.h"
#include "run/apply.h"
#include "run/lifecycle.h"
#include "run/map_run.h"
#include "run/outside.h"
#include "run/slice_internal.h"
#include "store/due.h"

/* More subtransactions with an xid would overflow the snapshots of others */
#define MAX_SUBXACTS	60

/* Keys taken from the due index at once, and at most while all are locked */
#define SCAN_SIZE		64
#define MAX_SCAN_SIZE	65536

/* Make a branch due later. */
void
sf_slice_put_off(SfBranchKey key, int ms)
{
	PushActiveSnapshot(GetTransactionSnapshot());
	sf_branch_put_off(key, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms));
	PopActiveSnapshot();
}

/* A branch of an execution that has ended: let it rest where it is. */
static void
settle(SfRun *run, SfBranch *branch)
{
	if (branch->phase == SF_PHASE_DEADLINE || branch->phase == SF_PHASE_STOP)
		branch->gone = true;
	else if (branch->phase != SF_PHASE_ANSWERED && branch->phase != SF_PHASE_JOIN)
		branch->phase = SF_PHASE_ABORTED;
	branch->due_at = DT_NOEND;
	branch->generation++;
	sf_run_add_branch(run, branch);
}

/* The outputs of all children, in order. */
static void
joined_stimulus(const SfRun *run, SfBranch *parent, SfStimulus *stimulus)
{
	stimulus->kind = SF_STIMULUS_JOINED;
	if (parent->failing)
		return;
	if (parent->map_run_no == 0)
		stimulus->outputs = sf_branch_outputs(parent->key, &stimulus->noutputs,
											  &stimulus->last_event);
	else if (sf_state_distributed(&run->program->states[parent->state])->result_writer == NULL)
		stimulus->output = sf_map_run_outputs(run, parent);
}

/*
 * Work out what a claimed branch is told.  False: nothing to do for now (the
 * branch has been updated to say what it waits for).
 */
static bool
make_stimulus(SfRun *run, SfBranch *branch, SfStimulus *stimulus)
{
	memset(stimulus, 0, sizeof(*stimulus));
	stimulus->kind = SF_STIMULUS_DUE;
	if (branch->phase == SF_PHASE_ANSWERED || branch->phase == SF_PHASE_EXTERNAL)
		return sf_outside_stimulus(run, branch, stimulus);
	if (branch->phase != SF_PHASE_JOIN)
		return true;

	if (branch->pending > 0 &&
		(branch->aborting ||
		 (branch->failing &&
		  run->program->states[branch->state].failure_mode == SF_FAILURE_ABORT)))
		branch->pending = sf_abort_children(run, branch);
	if (branch->pending > 0 && (branch->failing || branch->aborting))
	{
		branch->due_at = sf_abort_look_again(branch);
		return false;
	}
	if (branch->aborting)
	{
		SfStep		step;

		sf_step_init(&step, run, branch, stimulus, GetCurrentTimestamp());
		sf_step_abort(&step, SF_CHAIN);
		return false;
	}
	if (branch->pending == 0 &&
		(branch->failing || branch->next_index >= branch->total))
		joined_stimulus(run, branch, stimulus);
	else if (branch->max_concurrency == 1 && branch->map_run_no == 0)
		stimulus->last_inner_event = sf_branch_last_inner_event(branch->key);
	return true;
}

/* Milliseconds since the slice began. */
static double
elapsed_ms(const SfSlice *slice)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, slice->began);
	return INSTR_TIME_GET_MILLISEC(now);
}

/* Is it time to commit? */
static bool
is_used_up(const SfSlice *slice)
{
	if (slice->full || slice->subxacts >= MAX_SUBXACTS)
		return true;
	if (slice->request->max_transitions > 0 &&
		slice->result->transitions >= slice->request->max_transitions)
		return true;
	return slice->request->slice_ms > 0 &&
		elapsed_ms(slice) >= slice->request->slice_ms;
}

/* Would the next step of a branch run user code, which it must not now? */
static bool
must_pause(const SfSlice *slice, const SfRun *run, const SfBranch *branch)
{
	if (is_used_up(slice))
		return true;
	return slice->no_more_tasks && !sf_slice_in_session(slice->request) &&
		run->program->states[branch->state].type == SF_STATE_TASK;
}

/* Carry out what a step decided; true: go on with the branch. */
static bool
after_step(SfSlice *slice, SfRun *run, SfBranch *branch, SfStep *step,
		   SfStepOutcome outcome, SfStimulus *stimulus)
{
	if (step->drop_children)
		sf_run_drop_children(run, branch);
	sf_run_spawn(run, step);
	sf_map_run_apply(run, step);
	switch (outcome)
	{
		case SF_STEP_TASK:
			return sf_dispatch(slice, run, branch, step, stimulus);
		case SF_STEP_GO_ON:
			if (must_pause(slice, run, branch))
				return false;
			return make_stimulus(run, branch, stimulus);
		case SF_STEP_REST:
		case SF_STEP_ENDED:
			break;
	}
	return false;
}

/* Remember the last transition, for sf_step. */
static void
report(SfSlice *slice, const SfRun *run, const SfBranch *branch,
	   const SfState *before, const SfStep *step)
{
	SfSliceResult *result = slice->result;
	const SfProgram *program = run->program;
	int			owner = program->scopes[branch->scope].owner_state;

	if (!sf_slice_in_session(slice->request))
		return;
	result->execution_no = branch->key.execution_no;
	result->state = before->name;
	result->transition = step->outcome_name;
	result->branch = owner < 0 ? "root" :
		psprintf("%s[%d]", program->states[owner].name, branch->branch_index);
	result->next_state = branch->phase == SF_PHASE_ENTER ?
		program->states[branch->state].name : NULL;
}

/*
 * End an execution whose Distributed Map is over; what this slice did for it
 * already goes first.
 */
static void
end_orphan(SfSlice *slice, SfRun *run, const SfBranch *branch)
{
	if (run->branches != NIL || run->events != NIL)
	{
		sf_hooks.due(branch->key, branch->owner, GetCurrentTimestamp());
		slice->no_more_claims = true;
		return;
	}
	sf_run_lock(run);
	run->execution->last_event_id = run->base_event_id;
	sf_execution_end(run->execution, SF_STATUS_ABORTED, NULL, NULL,
					 SF_EVENT_EXECUTION_ABORTED, GetCurrentTimestamp());
	slice->runs = list_delete_ptr(slice->runs, run);
	slice->no_more_claims = true;
}

/* End an execution whose time is up, or that is to stop. */
static void
end_execution(SfSlice *slice, SfRun *run, const SfBranch *branch)
{
	SfExecution *execution = run->execution;

	execution->last_event_id = run->base_event_id;
	if (branch->phase == SF_PHASE_DEADLINE)
		sf_execution_end(execution, SF_STATUS_TIMED_OUT, SF_ERR_TIMEOUT,
						 NULL, SF_EVENT_EXECUTION_TIMED_OUT,
						 GetCurrentTimestamp());
	else
		sf_lifecycle_stop(execution, branch->error, branch->cause);
	slice->runs = list_delete_ptr(slice->runs, run);
}

/* End a branch because its parent aborts. */
static void
abort_branch(SfRun *run, SfBranch *branch)
{
	SfStep		step;

	sf_step_init(&step, run, branch, NULL, GetCurrentTimestamp());
	sf_step_abort(&step, SF_CHAIN);
	sf_run_add_branch(run, branch);
}

/* Advance a claimed branch until it rests. */
static void
advance(SfSlice *slice, SfRun *run, SfBranch *branch)
{
	SfStimulus	stimulus;
	bool		go_on;

	if (run->execution->status != SF_STATUS_RUNNING)
	{
		settle(run, branch);
		return;
	}
	if (branch->phase == SF_PHASE_DEADLINE || branch->phase == SF_PHASE_STOP)
	{
		end_execution(slice, run, branch);
		return;
	}
	if (sf_claim_is_orphan(run, branch))
	{
		end_orphan(slice, run, branch);
		return;
	}
	if (branch->phase == SF_PHASE_JOIN)
		branch->aborting |= sf_claim_is_aborted(run, branch);	/* its children first */
	else if (sf_claim_is_aborted(run, branch))
	{
		abort_branch(run, branch);
		return;
	}

	if (branch->phase == SF_PHASE_ANNOUNCED)
		go_on = sf_dispatch_announced(slice, run, branch, &stimulus);
	else
	{
		go_on = make_stimulus(run, branch, &stimulus);
		sf_run_add_branch(run, branch);
	}
	while (go_on)
	{
		SfStep		step;
		SfStepOutcome outcome;
		const SfState *before = &run->program->states[branch->state];

		CHECK_FOR_INTERRUPTS();
		outcome = sf_step_advance(run, branch, &stimulus,
								  GetCurrentTimestamp(), &step);
		if (stimulus.kind != SF_STIMULUS_TASK)
			slice->result->transitions++;
		sf_run_add_branch(run, branch);
		if (run->locked)		/* an error whose text has an event's id */
			slice->no_more_tasks = slice->no_more_claims = true;
		report(slice, run, branch, before, &step);
		go_on = after_step(slice, run, branch, &step, outcome, &stimulus);
	}
}

/* Does a slice take no more than one branch? */
static bool
is_by_itself(const SfSliceRequest *request)
{
	return request->mode == SF_SLICE_BRANCH ||
		request->mode == SF_SLICE_SESSION_BRANCH || request->slice_ms == 0;
}

/* Claim and advance one branch. */
static bool
take_one(SfSlice *slice, SfBranchKey key)
{
	SfRun	   *run;
	SfBranch   *branch = sf_claim(slice, key, &run);

	if (branch == NULL)
		return false;
	slice->result->outcome = SF_SLICE_WORKED;
	advance(slice, run, branch);
	/* a failure may have made a join due that is to abort the others at once */
	if (is_by_itself(slice->request) || sf_run_has_failure(run))
		slice->no_more_claims = true;
	return true;
}

/* Find what is due: of an execution and its children, or of an owner. */
static int
find_due(const SfSliceRequest *request, SfBranchKey *keys, int size)
{
	TimestampTz now = GetCurrentTimestamp();
	int			n;

	if (request->mode == SF_SLICE_OWNER)
		return sf_branch_due_of(request->only_owner, DT_NOBEGIN, now, keys, size);
	n = sf_branch_due(request->execution_no, now, request->skip_waits, keys, size);
	if (n == 0)
		n = sf_branch_due_children(request->execution_no, now,
								   request->skip_waits, keys, size);
	return n;
}

/*
 * Take branches from the due index.  The first ones may all be in the hands of
 * other workers: then look further, or what lies behind them would be left.
 */
static void
scan_due(SfSlice *slice, bool *first)
{
	const SfSliceRequest *request = slice->request;

	for (int size = SCAN_SIZE; size <= MAX_SCAN_SIZE; size *= 4)
	{
		SfBranchKey *keys = palloc(sizeof(SfBranchKey) * size);
		int			n = find_due(request, keys, size);

		for (int i = size == SCAN_SIZE ? 0 : size / 4; i < n; i++)
		{
			if (slice->no_more_claims || (!*first && is_used_up(slice)))
				return;
			CHECK_FOR_INTERRUPTS();
			if (take_one(slice, keys[i]))
				*first = false;
		}
		pfree(keys);
		if (!*first || n < size)
			return;
	}
}

/* May an owner not have one more task beside those that hold slots? */
static bool
is_capped(const SfSliceRequest *request, Oid owner)
{
	for (int i = 0; i < request->nlimits; i++)
	{
		if (request->limits[i].owner == owner)
			return request->limits[i].tasks == SF_OWNER_NO_TASKS;
	}
	return false;
}

/*
 * Of an owner's announced tasks, take at most one; false: go on to others.
 * *left: no later than when the first one that is left was announced.
 */
static bool
scan_announced_of(SfSlice *slice, Oid owner, bool *first, TimestampTz *left)
{
	const SfSliceRequest *request = slice->request;
	SfBranchKey keys[SCAN_SIZE];
	TimestampTz dues[SCAN_SIZE];
	bool		took_first = false;
	int			n = sf_branch_announced(owner, request->task_from,
											GetCurrentTimestamp(), keys, dues, SCAN_SIZE);

	if (n == 0)
		return false;
	if (is_capped(request, owner))
	{
		slice->result->capped_left = true;
		*left = Min(*left, dues[0]);
		return false;
	}
	if (!sf_slice_in_session(request) && (request->tasks & SF_TASKS_LONG) == 0)
	{
		slice->result->task_left = true;
		*left = Min(*left, dues[0]);
		return true;
	}
	/* however long the look has taken, one is tried */
	for (int i = 0; i < n; i++)
	{
		if (slice->no_more_claims || (!*first && is_used_up(slice)))
			break;
		if (take_one(slice, keys[i]))
		{
			*first = false;
			took_first = took_first || (i == 0 && slice->announced);
		}
	}
	if (slice->announced && n > 1)
		slice->result->task_left = true;
	if (!took_first)
		*left = Min(*left, dues[0]);
	else if (n > 1)
		*left = Min(*left, dues[1]);
	return !*first;
}

/* Whose announced tasks to look for. */
static List *
announcing_owners(const SfSliceRequest *request)
{
	if (OidIsValid(request->only_owner))
		return list_make1_oid(request->only_owner);
	if (request->owners == NULL)
		return sf_branch_owners(request->task_after);
	return sf_owners_by_turn(request->owners, request->nowners, request->task_after);
}

/* Of what is announced, take at most one; or say that there is some. */
static void
scan_announced(SfSlice *slice, bool first)
{
	List	   *owners = announcing_owners(slice->request);
	TimestampTz left = DT_NOEND;
	ListCell   *lc;

	foreach(lc, owners)
	{
		if (!scan_announced_of(slice, lfirst_oid(lc), &first, &left))
			continue;
		if (lnext(owners, lc) != NULL)
			left = Min(left, slice->request->task_from);
		break;
	}
	slice->result->tasks_from = left;
}

/* Take branches: those of the keys, or what the tables say is due. */
static void
take_branches(SfSlice *slice)
{
	const SfSliceRequest *request = slice->request;
	bool		first = true;

	for (int i = 0; i < request->nkeys; i++)
	{
		if (slice->no_more_claims || (!first && is_used_up(slice)))
			break;				/* the caller keeps its other hints */
		slice->result->nkeys_tried++;
		if (take_one(slice, request->keys[i]))
			first = false;
	}
	if (request->mode == SF_SLICE_EXECUTION || request->mode == SF_SLICE_OWNER)
		scan_due(slice, &first);
	if (request->mode == SF_SLICE_ANNOUNCED ||
		(request->mode == SF_SLICE_OWNER && !slice->no_more_claims &&
		 (first || !is_used_up(slice))))
		scan_announced(slice, first);
}

/* Run a slice. */
void
sf_slice_run(const SfSliceRequest *request, SfSliceResult *result)
{
	SfSlice		slice;
	MemoryContext old;

	memset(result, 0, sizeof(*result));
	result->tasks_from = request->task_from;
	memset(&slice, 0, sizeof(slice));
	slice.request = request;
	slice.result = result;
	slice.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow slice",
										  ALLOCSET_DEFAULT_SIZES);
	INSTR_TIME_SET_CURRENT(slice.began);
	sf_claim_forget();
	old = MemoryContextSwitchTo(slice.context);

	PushActiveSnapshot(GetTransactionSnapshot());
	take_branches(&slice);
	sf_runs_write(slice.runs);
	PopActiveSnapshot();
	if (slice.announced)
		SF_DEBUG_POINT("T1_commit");
	else
		SF_DEBUG_POINT("slice_commit");

	result->owner = slice.owner;
	if (slice.announced)
		result->outcome = SF_SLICE_LONG_TASK;
	MemoryContextSwitchTo(old);
	if (result->task_state != NULL)
		result->task_state = pstrdup(result->task_state);
	if (result->branch != NULL)
		result->branch = pstrdup(result->branch);
	MemoryContextDelete(slice.context);
}

/* Add to a cause, which is a sentence or an error message, what state it is of. */
static const char *
name_state(const char *cause, const SfState *state)
{
	size_t		length = strlen(cause);
	const char *stop = length > 0 && cause[length - 1] == '.' ? "" : ".";

	return psprintf("%s%s State: '%s'.", cause, stop, state->name);
}

/* Make a branch fail with States.Runtime. */
void
sf_slice_fail_branch(SfBranchKey key, const char *cause)
{
	/* also an announced one, and one that sf_run() did not let wait */
	SfSliceRequest request = {.mode = SF_SLICE_BRANCH,.tasks = SF_TASKS_ALL,.skip_waits = true};
	SfSliceResult result = {0};
	SfSlice		slice;
	SfRun	   *run;
	SfBranch   *branch;

	memset(&slice, 0, sizeof(slice));
	slice.request = &request;
	slice.result = &result;
	sf_claim_forget();
	PushActiveSnapshot(GetTransactionSnapshot());
	branch = sf_claim(&slice, key, &run);
	if (branch != NULL && run->execution->status == SF_STATUS_RUNNING &&
		branch->phase != SF_PHASE_DEADLINE)
	{
		SfError		error = {.name = SF_ERR_RUNTIME,.position = -1};
		SfStep		step;

		error.cause = name_state(cause, &run->program->states[branch->state]);

		sf_step_init(&step, run, branch, NULL, GetCurrentTimestamp());
		(void) sf_step_fail_branch(&step, &error);
		sf_run_add_branch(run, branch);
		sf_runs_write(slice.runs);
	}
	PopActiveSnapshot();
}
