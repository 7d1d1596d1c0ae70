/*
 * slice.c
 *		A slice: claim due branches of one owner, advance them, write their rows.
 *
 * The caller begins and commits the transaction, see slice.h.
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
#include "run/gate.h"
#include "run/lifecycle.h"
#include "run/map_children.h"
#include "run/new_children.h"
#include "run/outside.h"
#include "run/slice_internal.h"
#include "store/due.h"

/* More subtransactions with an xid would overflow the snapshots of others */
#define MAX_SUBXACTS	60

/* Children that a slice runs of those that it begins: they stay in memory */
#define MAX_NEW_CHILDREN	1000

/* Keys taken from the due index at once, and at most while all are locked */
#define SCAN_SIZE		64
#define MAX_SCAN_SIZE	65536

static void proceed(SfSlice *slice, SfDraft *draft, SfBranch *branch, SfStimulus *stimulus);

/* Make the stimulus JOINED, with the outputs of all children unless the join fails. */
static void
joined_stimulus(const SfDraft *draft, SfBranch *parent, SfStimulus *stimulus)
{
	stimulus->kind = SF_STIMULUS_JOINED;
	if (parent->failing)
		return;
	if (parent->has_new_children)
		sf_new_children_outputs(draft, parent, stimulus);
	else if (parent->map_run_no == 0)
		stimulus->outputs = sf_branch_outputs(parent->key, &stimulus->noutputs,
											  &stimulus->last_event);
	else if (sf_state_map(&draft->program->states[parent->state])->distributed->result_writer == NULL)
		stimulus->output = sf_map_children_outputs(draft, parent);
}

/*
 * Make the stimulus of a join from the state of its children.  If the join is aborted,
 * or a child has failed and FailureMode is ABORT, abort the other children first.
 */
static void
join_stimulus(SfDraft *draft, SfBranch *join, SfStimulus *stimulus)
{
	bool		aborting = join->aborting || sf_draft_is_aborted(draft, join);
	bool		child_held = false;

	stimulus->counted = true;
	stimulus->pending = join->pending;
	stimulus->aborting = aborting;
	if (join->pending > 0 &&
		(aborting ||
		 (join->failing &&
		  draft->program->states[join->state].failure_mode == SF_FAILURE_ABORT)))
		stimulus->pending = sf_abort_children(draft, join, &child_held);
	if (stimulus->pending > 0 && (join->failing || aborting))
	{
		stimulus->kind = SF_STIMULUS_NOT_YET;
		stimulus->due = sf_abort_look_again(join, child_held);
	}
	else if (aborting)
	{
		stimulus->kind = SF_STIMULUS_ABORTED;
		stimulus->cause = SF_CHAIN;
	}
	else if (stimulus->pending == 0 &&
			 (join->failing || join->next_index >= join->total))
		joined_stimulus(draft, join, stimulus);
	else if (join->max_concurrency == 1 && join->map_run_no == 0)
		stimulus->last_inner_event = join->has_new_children ?
			sf_new_children_last_inner_event(draft, join) :
			sf_branch_last_inner_event(join->key);
}

/* Make the stimulus of the next transition of a branch that this slice has claimed. */
static void
make_stimulus(SfDraft *draft, SfBranch *branch, SfStimulus *stimulus)
{
	memset(stimulus, 0, sizeof(*stimulus));
	stimulus->kind = SF_STIMULUS_DUE;
	if (branch->phase == SF_PHASE_ANSWERED || branch->phase == SF_PHASE_EXTERNAL)
		sf_outside_stimulus(draft, branch, stimulus);
	else if (branch->phase == SF_PHASE_JOIN)
		join_stimulus(draft, branch, stimulus);
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

/*
 * Must this slice stop advancing a branch: because its time is up, or because the
 * next step would run user code while an execution is locked?
 */
static bool
must_pause(const SfSlice *slice, const SfDraft *draft, const SfBranch *branch)
{
	if (is_used_up(slice))
		return true;
	return slice->no_more_tasks && !sf_slice_in_session(slice->request) &&
		draft->program->states[branch->state].type == SF_STATE_TASK;
}

/* Remember the last transition of a state, for sf_step. */
static void
report(SfSlice *slice, const SfDraft *draft, const SfBranch *branch,
	   const SfState *before)
{
	SfSliceResult *result = slice->result;
	const SfProgram *program = draft->program;
	int			owner = program->scopes[branch->scope].owner_state;

	if (!sf_slice_in_session(slice->request))
		return;
	result->execution_no = branch->key.execution_no;
	result->state = before->name;
	result->transition = draft->transition.name;
	result->branch = owner < 0 ? "root" :
		psprintf("%s[%d]", program->states[owner].name, branch->branch_index);
	result->next_state = branch->phase == SF_PHASE_ENTER ?
		program->states[branch->state].name : NULL;
}

/*
 * Tell whether a branch may not begin its next step.  Either it waits for the end of a
 * hold; or another branch of this slice does: then a later slice takes it, since a
 * release waits for this one.
 */
static bool
is_stopped(SfSlice *slice, SfDraft *draft, SfBranch *branch)
{
	if (sf_gate_check(draft, branch) != SF_GATE_OPEN)
	{
		slice->held = slice->no_more_tasks = true;
		draft->transition.name = "held";
		report(slice, draft, branch, &draft->program->states[branch->state]);
		return true;
	}
	if (!slice->held || sf_slice_in_session(slice->request))
		return false;
	sf_hooks.due(branch->key, branch->owner, GetCurrentTimestamp());
	slice->no_more_claims = true;
	return true;
}

/* Take a branch through a transition, or have it wait. */
static void
step(SfSlice *slice, SfDraft *draft, SfBranch *branch, const SfStimulus *stimulus)
{
	int			before = branch->state;
	SfPhase		phase = branch->phase;
	SfStimulus	marked;

	CHECK_FOR_INTERRUPTS();
	if (stimulus->kind == SF_STIMULUS_DUE && sf_gate_stands_before(branch->phase))
	{
		/* before the look at holds: a step that begins later sees what is held by now */
		draft->at = GetCurrentTimestamp();
		if (is_stopped(slice, draft, branch))
		{
			draft->transition.outcome = SF_STEP_REST;
			return;
		}
		if (sf_gate_takes_mark(draft, branch, &marked))
			stimulus = &marked;
	}
	(void) sf_draft_advance(draft, branch, stimulus);
	if (phase != SF_PHASE_JOIN)
		branch->has_new_children = branch->phase == SF_PHASE_JOIN && branch->map_run_no == 0;
	if (draft->locked)			/* locked before the slice is written */
		slice->no_more_tasks = slice->no_more_claims = true;
	switch (stimulus->kind)
	{
		case SF_STIMULUS_DUE:
		case SF_STIMULUS_MARKED:
		case SF_STIMULUS_SUBMITTED:
		case SF_STIMULUS_JOINED:
			slice->result->transitions++;
			/* FALLTHROUGH */
		case SF_STIMULUS_TASK:
			report(slice, draft, branch, &draft->program->states[before]);
			break;
		default:
			break;
	}
}

/* Does a slice take no more than one branch? */
static bool
is_by_itself(const SfSliceRequest *request)
{
	return request->mode == SF_SLICE_BRANCH ||
		request->mode == SF_SLICE_SESSION_BRANCH || request->slice_ms == 0;
}

/*
 * May a slice run a child that it has begun?  If a child has failed, the join has to
 * abort the others, which a slice of its own does.
 */
static bool
may_run_child(const SfSlice *slice, const SfDraft *draft)
{
	return !slice->no_more_claims && !is_by_itself(slice->request) &&
		draft->finish == NULL && !sf_draft_has_failure(draft) && !is_used_up(slice) &&
		slice->nchildren < MAX_NEW_CHILDREN;
}

/*
 * Run the children that a join has begun in this slice, from a place of the draft on,
 * and make its next stimulus: children that end here never have a row.  False: the join
 * waits for others, or a later slice goes on.
 */
static bool
run_new_children(SfSlice *slice, SfDraft *draft, SfBranch *join, int first,
				 SfStimulus *stimulus)
{
	int			end = list_length(draft->branches);

	check_stack_depth();
	for (int i = first; i < end; i++)
	{
		SfBranch   *child = list_nth(draft->branches, i);

		if (child->parent_no != join->key.branch_no)
			continue;
		if (!may_run_child(slice, draft))
			return false;
		slice->nchildren++;
		make_stimulus(draft, child, stimulus);
		proceed(slice, draft, child, stimulus);
		if (child->phase == SF_PHASE_ANNOUNCED)
			return false;		/* the others need not wait for it, nor be announced */
		sf_new_children_count_end(draft, join);
	}
	if (join->due_at == DT_NOEND || join->failing || !may_run_child(slice, draft))
		return false;
	make_stimulus(draft, join, stimulus);
	return true;
}

/*
 * Make the stimulus for the branch's next transition; if the last transition asked
 * for a task, have it run first, and if it began children (first is the place of the
 * first one in the draft), these.  False: the branch rests or has ended, or goes on in
 * a later slice.
 */
static bool
next_stimulus(SfSlice *slice, SfDraft *draft, SfBranch *branch, int first,
			  SfStimulus *stimulus)
{
	switch (draft->transition.outcome)
	{
		case SF_STEP_TASK:
			sf_dispatch(slice, draft, branch, draft->transition.task, stimulus);
			return true;
		case SF_STEP_GO_ON:
			if (must_pause(slice, draft, branch))
				return false;
			make_stimulus(draft, branch, stimulus);
			return true;
		case SF_STEP_REST:
			if (stimulus->kind == SF_STIMULUS_ANNOUNCED)
				sf_dispatch_offer(slice, draft, branch);
			return branch->phase == SF_PHASE_JOIN && branch->has_new_children &&
				run_new_children(slice, draft, branch, first, stimulus);
		case SF_STEP_ENDED:
			break;
	}
	return false;
}

/* Take a branch through transitions until it rests. */
static void
proceed(SfSlice *slice, SfDraft *draft, SfBranch *branch, SfStimulus *stimulus)
{
	int			first;

	do
	{
		first = list_length(draft->branches);
		step(slice, draft, branch, stimulus);
	} while (next_stimulus(slice, draft, branch, first, stimulus));
}

/*
 * End a child execution whose Distributed Map has ended.  If this slice has effects
 * of the execution to write, make the branch due again instead: a later slice ends
 * the execution.
 */
static void
end_orphan(SfSlice *slice, SfDraft *draft, const SfBranch *branch)
{
	SfError		none = sf_error_make(NULL, NULL);

	if (draft->branches != NIL || draft->events != NIL)
	{
		sf_hooks.due(branch->key, branch->owner, GetCurrentTimestamp());
		slice->no_more_claims = true;
		return;
	}
	sf_draft_lock(draft);
	sf_draft_end_execution(draft, SF_STIMULUS_ORPHANED, &none);
	slice->no_more_claims = true;
}

/* End an execution whose time is up, or that is to stop. */
static void
end_execution(SfDraft *draft, const SfBranch *branch)
{
	SfError		error = sf_step_branch_error(branch);

	sf_draft_end_execution(draft, branch->phase == SF_PHASE_DEADLINE ? SF_STIMULUS_TIMED_OUT :
						   SF_STIMULUS_STOPPED, &error);
}

/* Advance a claimed branch until it rests. */
static void
advance(SfSlice *slice, SfDraft *draft, SfBranch *branch)
{
	SfStimulus	stimulus = {.kind = SF_STIMULUS_OVER};

	if (draft->execution->status != SF_STATUS_RUNNING)
	{
		step(slice, draft, branch, &stimulus);
		return;
	}
	if (branch->phase == SF_PHASE_DEADLINE || branch->phase == SF_PHASE_STOP)
	{
		end_execution(draft, branch);
		return;
	}
	if (sf_draft_is_orphan(draft, branch))
	{
		end_orphan(slice, draft, branch);
		return;
	}
	if (branch->phase != SF_PHASE_JOIN && sf_draft_is_aborted(draft, branch))
	{
		stimulus.kind = SF_STIMULUS_ABORTED;
		stimulus.cause = SF_CHAIN;
	}
	else if (branch->phase == SF_PHASE_ANNOUNCED)
	{
		if (sf_slice_in_session(slice->request) && is_stopped(slice, draft, branch))
			return;
		if (!sf_dispatch_announced(slice, draft, branch, &stimulus))
			return;
	}
	else
		make_stimulus(draft, branch, &stimulus);
	proceed(slice, draft, branch, &stimulus);
}

/* Claim and advance one branch. */
static bool
take_one(SfSlice *slice, SfBranchKey key)
{
	SfDraft	   *draft;
	SfBranch   *branch = sf_claim(slice, key, &draft);

	if (branch == NULL)
		return false;
	slice->result->outcome = SF_SLICE_WORKED;
	slice->claimed = key;
	advance(slice, draft, branch);
	/* a failure may have made a join due that is to abort the others at once */
	if (is_by_itself(slice->request) || sf_draft_has_failure(draft))
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
		return sf_branch_due_of(request->only_owner, DT_NOBEGIN, now, keys, NULL, size);
	n = sf_branch_due(request->execution_no, now, request->skip_waits, keys, size);
	if (n == 0)
		n = sf_branch_due_children(request->execution_no, now,
								   request->skip_waits, keys, size);
	return n;
}

/*
 * Take branches from the due index.  If other workers have locked all branches that
 * were read, read more of the index, so that free branches behind them are found.
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
		slice->result->tasks_left |= SF_LEFT_CAPPED;
		*left = Min(*left, dues[0]);
		return false;
	}
	if (!sf_slice_in_session(request) && (request->tasks & SF_TASKS_LONG) == 0)
	{
		slice->result->tasks_left |= SF_LEFT_TASK;
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
		slice->result->tasks_left |= SF_LEFT_TASK;
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
	sf_drafts_write(slice.drafts);
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

/*
 * Fail a branch with States.Runtime: its slice failed although the branch ran alone
 * (run/tries.h), or the branch crashed the server too often.
 */
void
sf_slice_fail_branch(SfBranchKey key, const char *cause)
{
	/* also an announced one, and one that sf_run() did not let wait */
	SfSliceRequest request = {.mode = SF_SLICE_BRANCH,.tasks = SF_TASKS_ALL,.skip_waits = true};
	SfSliceResult result = {0};
	SfSlice		slice;
	SfDraft	   *draft;
	SfBranch   *branch;

	memset(&slice, 0, sizeof(slice));
	slice.request = &request;
	slice.result = &result;
	sf_claim_forget();
	PushActiveSnapshot(GetTransactionSnapshot());
	branch = sf_claim(&slice, key, &draft);
	if (branch != NULL && draft->execution->status == SF_STATUS_RUNNING &&
		branch->phase != SF_PHASE_DEADLINE)
	{
		SfStimulus	stimulus = {.kind = SF_STIMULUS_CONDEMNED};

		stimulus.error =
			sf_error_make(SF_ERR_RUNTIME,
						  name_state(cause, &draft->program->states[branch->state]));
		(void) sf_draft_advance(draft, branch, &stimulus);
		sf_drafts_write(slice.drafts);
	}
	PopActiveSnapshot();
}
