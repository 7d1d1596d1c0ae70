/*
 * slice.c
 *		A worker's turn: claim due branches of one owner, advance them, write.
 *
 * See slice.h for who calls it and where the transactions are.
 *
 * Claims.  A branch is claimed by locking its row, FOR UPDATE SKIP LOCKED.
 * Two kinds are different: a join (its children's slices want to update the
 * row) and a machine's deadline.  These are claimed under the lock of their
 * execution, so that the order "execution, then branch" holds for everybody;
 * and once a slice holds the lock of an execution it runs no more user code,
 * since others wait for that lock when they commit.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/debug_point.h"
#include "base/errors.h"
#include "base/hooks.h"
#include "base/settings.h"
#include "engine/abort.h"
#include "engine/apply.h"
#include "engine/driver.h"
#include "engine/join.h"
#include "engine/program_cache.h"
#include "engine/slice.h"

/* Branches of one slice, for the run one by one after a failure */
#define MAX_TOUCHED		256

/* More subtransactions with an xid would overflow the snapshots of others */
#define MAX_SUBXACTS	60

/* Keys taken from the due index at once, and at most while all are locked */
#define SCAN_SIZE		64
#define MAX_SCAN_SIZE	65536

typedef struct SfSlice
{
	const SfSliceRequest *request;
	SfSliceResult *result;
	MemoryContext context;		/* lives until the slice has been written */
	instr_time	began;
	Oid			owner;			/* of all branches; InvalidOid: none yet */
	List	   *runs;
	int			subxacts;
	bool		no_more_tasks;	/* an execution is locked: no user code */
	bool		no_more_claims; /* finish what is in hand, then commit */
	bool		full;			/* commit as soon as possible */
	bool		announced;		/* a long task was announced */
} SfSlice;

static SfBranchKey touched[MAX_TOUCHED];
static int	ntouched = 0;

/* Branches that the last slice touched. */
int
sf_slice_touched(SfBranchKey *keys, int size)
{
	int			n = Min(size, ntouched);

	memcpy(keys, touched, sizeof(SfBranchKey) * n);
	return n;
}

/* When the next timer is due. */
TimestampTz
sf_slice_next_due(void)
{
	return sf_branch_next_due();
}

/* Find the run of an execution in this slice, or make it; NULL: not for us. */
static SfRun *
find_run(SfSlice *slice, int64 execution_no)
{
	SfExecution *execution;
	SfRun	   *run;
	ListCell   *lc;

	foreach(lc, slice->runs)
	{
		run = lfirst(lc);
		if (run->execution->execution_no == execution_no)
			return run;
	}
	execution = sf_execution_read(execution_no, SF_LOCK_NONE, false);
	if (execution == NULL)
		return NULL;
	if (OidIsValid(slice->request->only_owner) &&
		execution->owner != slice->request->only_owner)
		return NULL;
	if (OidIsValid(slice->owner) && execution->owner != slice->owner)
		return NULL;
	run = sf_run_make(execution);
	return run;
}

/* Is this a join or a deadline whose time has come? */
static bool
is_due_under_lock(const SfSlice *slice, const SfBranch *branch, TimestampTz now)
{
	if (branch == NULL || branch->due_at == DT_NOEND)
		return false;
	if (branch->phase == SF_PHASE_DEADLINE && slice->request->skip_waits)
		return true;
	return branch->due_at <= now &&
		(branch->phase == SF_PHASE_JOIN || branch->phase == SF_PHASE_DEADLINE);
}

/* Claim a join or a deadline: under the lock of its execution. */
static SfBranch *
claim_under_lock(SfSlice *slice, SfRun *run, SfBranchKey key)
{
	SfBranch   *branch = sf_branch_read(key, SF_LOCK_NONE);
	TimestampTz now = GetCurrentTimestamp();

	if (!is_due_under_lock(slice, branch, now))
		return NULL;
	if (run->execution->status == SF_STATUS_RUNNING)
	{
		/* the lock is taken before any other: let the next slice begin so */
		if (slice->runs != NIL && !slice->request->in_session)
		{
			slice->no_more_claims = true;
			return NULL;
		}
		sf_run_lock(run);
		slice->no_more_tasks = true;
		slice->no_more_claims = true;
	}
	branch = sf_branch_read(key, SF_LOCK_SKIP);
	return is_due_under_lock(slice, branch, now) ? branch : NULL;
}

/* Has the join above a branch given up, so that the branch has to end? */
static bool
is_aborted_by_parent(const SfRun *run, const SfBranch *branch)
{
	SfBranchKey key = {branch->key.execution_no, branch->parent_no};
	SfBranch   *parent;

	if (branch->parent_no < 0)
		return false;
	parent = sf_branch_read_join(key, SF_LOCK_NONE);
	if (parent == NULL)
		return true;
	return parent->aborting || parent->phase != SF_PHASE_JOIN ||
		(parent->failing &&
		 run->program->states[parent->state].failure_mode == SF_FAILURE_ABORT);
}

/* How long did the task of a state take when it ran last?  -1: not known. */
static int64
last_duration(const SfRun *run, const SfState *state)
{
	const SfExecution *e = run->execution;

	if (sf_task_time_hook == NULL)
		return -1;
	return sf_task_time_hook(e->machine_no, e->version, state->number);
}

/* Is this task known to be short, so that it need not be announced? */
static bool
is_short(const SfRun *run, const SfState *state)
{
	int64		last = last_duration(run, state);

	return last >= 0 && last <= (int64) sf_setting_slice_ms * 1000;
}

/* Remember how long a task took. */
static void
note_duration(const SfRun *run, const SfState *state, int64 elapsed_us)
{
	const SfExecution *e = run->execution;

	if (sf_note_task_time_hook != NULL)
		sf_note_task_time_hook(e->machine_no, e->version, state->number, elapsed_us);
}

/*
 * May the caller be handed a task that is (or is to be) announced?  If not it
 * is told that one was left.
 */
static bool
may_offer(SfSlice *slice, const SfRun *run, const SfState *state)
{
	bool		known = last_duration(run, state) >= 0 && !is_short(run, state);

	if (slice->request->long_tasks || (slice->request->new_tasks && !known))
		return true;
	if (known)
		slice->result->long_task_left = true;
	else
		slice->result->new_task_left = true;
	return false;
}

/*
 * A claimed branch that is announced and goes on running: may we have it?  The
 * lock that we leave behind is gone in a moment.
 */
static bool
is_for_us(SfSlice *slice, const SfRun *run, const SfBranch *branch)
{
	if (branch->phase != SF_PHASE_ANNOUNCED || slice->request->in_session ||
		run->execution->status != SF_STATUS_RUNNING ||
		is_aborted_by_parent(run, branch))
		return true;
	return may_offer(slice, run, &run->program->states[branch->state]);
}

/* Has this slice taken a branch already? Its row is not written yet. */
static bool
is_touched(SfBranchKey key)
{
	for (int i = 0; i < ntouched; i++)
		if (touched[i].branch_no == key.branch_no &&
			touched[i].execution_no == key.execution_no)
			return true;
	return false;
}

/* Claim a branch, if it is due and free and belongs to the slice's owner. */
static SfBranch *
claim(SfSlice *slice, SfBranchKey key, SfRun **run)
{
	SfBranch   *branch;

	if (is_touched(key))
		return NULL;
	*run = find_run(slice, key.execution_no);
	if (*run == NULL || (*run)->finish != NULL)
		return NULL;
	branch = sf_branch_claim(key, GetCurrentTimestamp(),
							 slice->request->skip_waits);
	if (branch == NULL)
		branch = claim_under_lock(slice, *run, key);
	if (branch == NULL || !is_for_us(slice, *run, branch))
		return NULL;

	slice->runs = list_append_unique_ptr(slice->runs, *run);
	slice->owner = (*run)->execution->owner;
	if (ntouched < MAX_TOUCHED)
		touched[ntouched++] = key;
	if (ntouched == MAX_TOUCHED)
		slice->no_more_claims = true;
	if (sf_running_hook != NULL && !slice->request->in_session)
		sf_running_hook(&key, slice->owner, NULL);
	return branch;
}

/* A branch of an execution that has ended: let it rest where it is. */
static void
settle(SfRun *run, SfBranch *branch)
{
	if (branch->phase == SF_PHASE_DEADLINE)
		branch->gone = true;
	else if (branch->phase != SF_PHASE_ANSWERED && branch->phase != SF_PHASE_JOIN)
		branch->phase = SF_PHASE_ABORTED;
	branch->due_at = DT_NOEND;
	branch->generation++;
	sf_run_add_branch(run, branch);
}

/* The outcome of a long task, as T2 left it in the row. */
static void
answered_stimulus(SfBranch *branch, SfStimulus *stimulus)
{
	stimulus->kind = SF_STIMULUS_TASK;
	stimulus->ok = !branch->failing;
	stimulus->output = branch->result ? branch->result : sf_json_null();
	if (!stimulus->ok)
	{
		stimulus->error.name = branch->error;
		stimulus->error.cause = branch->cause;
		stimulus->error.position = -1;
		stimulus->error.sqlstate = branch->result == NULL ? NULL :
			sf_json_get_cstring(branch->result, "sqlstate");
	}
	branch->failing = false;
	branch->error = branch->cause = NULL;
}

/* The outputs of all children, in order. */
static void
joined_stimulus(SfBranch *parent, SfStimulus *stimulus)
{
	stimulus->kind = SF_STIMULUS_JOINED;
	if (!parent->failing)
		stimulus->outputs = sf_branch_outputs(parent->key, &stimulus->noutputs,
											  &stimulus->last_event);
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
	if (branch->phase == SF_PHASE_ANSWERED)
		answered_stimulus(branch, stimulus);
	if (branch->phase != SF_PHASE_JOIN)
		return true;

	if (branch->pending > 0 &&
		(branch->aborting ||
		 (branch->failing &&
		  run->program->states[branch->state].failure_mode == SF_FAILURE_ABORT)))
		branch->pending = sf_abort_children(run, branch);
	if (branch->pending > 0 && (branch->failing || branch->aborting))
	{
		branch->due_at = DT_NOEND;
		return false;
	}
	if (branch->aborting)
	{
		SfStep		step;

		sf_step_init(&step, run, branch, stimulus, GetCurrentTimestamp());
		sf_step_abort(&step);
		return false;
	}
	if (branch->pending == 0 &&
		(branch->failing || branch->next_index >= branch->total))
		joined_stimulus(branch, stimulus);
	else if (branch->max_concurrency == 1)
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

/* Fill in the call of a SQL task. */
static void
make_call(SfTaskCall *call, const SfRun *run, const SfBranch *branch,
		  const SfResource *resource, Jsonb *payload, bool in_session)
{
	memset(call, 0, sizeof(*call));
	call->key = branch->key;
	call->execution_id = run->execution->execution_id;
	call->state = &run->program->states[branch->state];
	call->resource = resource;
	call->owner = run->execution->owner;
	call->payload = payload;
	call->attempt = branch->attempt;
	if (branch->deadline != DT_NOEND)
		call->timeout_ms = Max((branch->deadline - branch->started_at) / 1000, 1);
	call->in_session = in_session;
}

/* Find what carries a resource out; false with *error when nothing does. */
static bool
resolve(const SfRun *run, const SfResource *resource, SfResource *resolved,
		SfError *error)
{
	*resolved = *resource;
	if (resource->kind == SF_RESOURCE_MAPPED &&
		(sf_resource_resolver == NULL ||
		 !sf_resource_resolver(resource, run->execution->owner, resolved)))
	{
		sf_error_set(error, SF_ERR_RUNTIME,
					 "The resource '%s' is not mapped to anything that sfflow can run.",
					 resource->text);
		return false;
	}
	if (resolved->kind == SF_RESOURCE_SQL_FUNCTION ||
		resolved->kind == SF_RESOURCE_SQL_QUERY)
		return true;
	sf_error_set(error, SF_ERR_RUNTIME,
				 "The resource '%s' cannot be carried out by this version of sfflow.",
				 resolved->text);
	return false;
}

/*
 * Run a SQL task here and now.  What it cannot serialize in this transaction
 * may go well in another one; whoever cannot offer that takes it as a failure.
 */
static void
run_task(const SfRun *run, const SfBranch *branch, const SfResource *resource,
		 Jsonb *payload, bool in_session, bool last_try, SfTaskOutcome *outcome)
{
	SfTaskCall	call;
	const SfState *state = &run->program->states[branch->state];

	make_call(&call, run, branch, resource, payload, in_session);
	memset(outcome, 0, sizeof(*outcome));
	if (sf_running_hook != NULL && !in_session)
		sf_running_hook(&branch->key, run->execution->owner, state->name);
	if (!in_session && last_duration(run, state) < 0)
		note_duration(run, state, SF_TASK_RUNS);
	SF_DEBUG_POINT("task-before");
	sf_sql_task_runner(&call, outcome);
	SF_DEBUG_POINT("task-after");
	if (sf_running_hook != NULL && !in_session)
		sf_running_hook(NULL, InvalidOid, NULL);
	note_duration(run, state, outcome->elapsed_us);
	if (outcome->serialization_failure &&
		(in_session ? IsolationUsesXactSnapshot() : !last_try))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access in task \"%s\" of execution \"%s\"",
						state->name, run->execution->execution_id)));
}

/* Turn a task's outcome into the stimulus for the next step. */
static void
task_stimulus(const SfTaskOutcome *outcome, SfStimulus *stimulus)
{
	memset(stimulus, 0, sizeof(*stimulus));
	stimulus->kind = SF_STIMULUS_TASK;
	stimulus->ok = outcome->ok;
	stimulus->output = outcome->output ? outcome->output : sf_json_null();
	stimulus->error = outcome->error;
	stimulus->error.prefixed = false;
}

/* Have the caller run an announced task next. */
static void
offer_long_task(SfSlice *slice, const SfBranch *branch, const SfState *state)
{
	slice->full = true;
	slice->announced = true;
	slice->result->task = branch->key;
	slice->result->task_generation = branch->generation;
	slice->result->task_state = state->name;
}

/*
 * Carry out what a Task state asks for.  True: *stimulus has its outcome;
 * false: the branch rests (announced, or left for the next slice).
 */
static bool
dispatch_task(SfSlice *slice, SfRun *run, SfBranch *branch,
			  const SfTaskRequest *task, SfStimulus *stimulus)
{
	const SfState *state = &run->program->states[branch->state];
	SfResource	resource;
	SfTaskOutcome outcome;

	memset(&outcome, 0, sizeof(outcome));
	if (!resolve(run, task->resource, &resource, &outcome.error))
	{
		task_stimulus(&outcome, stimulus);
		return true;
	}
	if (!slice->request->in_session && !is_short(run, state))
	{
		branch->phase = SF_PHASE_ANNOUNCED;
		branch->result = task->payload;
		branch->generation++;
		branch->due_at = branch->started_at;
		if (may_offer(slice, run, state))
			offer_long_task(slice, branch, state);
		return false;
	}
	if (sf_identity_assume != NULL && !slice->request->in_session)
		sf_identity_assume(slice->owner);
	run_task(run, branch, &resource, task->payload,
			 slice->request->in_session, slice->request->last_try, &outcome);
	if (outcome.assigned_xid)
		slice->subxacts++;
	task_stimulus(&outcome, stimulus);
	return true;
}

/* Would the next step of a branch run user code, which it must not now? */
static bool
must_pause(const SfSlice *slice, const SfRun *run, const SfBranch *branch)
{
	if (is_used_up(slice))
		return true;
	return slice->no_more_tasks && !slice->request->in_session &&
		run->program->states[branch->state].type == SF_STATE_TASK;
}

/* An announced task comes by: run it here (session), or say that it is there. */
static bool
take_announced(SfSlice *slice, SfRun *run, SfBranch *branch, SfStimulus *stimulus)
{
	const SfState *state = &run->program->states[branch->state];
	SfResource	resource;
	SfTaskOutcome outcome;

	memset(&outcome, 0, sizeof(outcome));
	if (!slice->request->in_session)
	{
		offer_long_task(slice, branch, state);
		return false;
	}
	if (resolve(run, &state->resource, &resource, &outcome.error))
		run_task(run, branch, &resource, branch->result, true, true, &outcome);
	task_stimulus(&outcome, stimulus);
	return true;
}

/* Carry out what a step decided; true: go on with the branch. */
static bool
after_step(SfSlice *slice, SfRun *run, SfBranch *branch, SfStep *step,
		   SfStepOutcome outcome, SfStimulus *stimulus)
{
	if (step->drop_children)
		sf_branch_delete_children(branch->key);
	sf_run_spawn(run, step);
	switch (outcome)
	{
		case SF_STEP_TASK:
			return dispatch_task(slice, run, branch, step->task, stimulus);
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

	if (!slice->request->in_session)
		return;
	result->execution_no = branch->key.execution_no;
	result->state = before->name;
	result->transition = step->outcome_name;
	result->branch = owner < 0 ? "root" :
		psprintf("%s[%d]", program->states[owner].name, branch->branch_index);
	result->next_state = branch->phase == SF_PHASE_ENTER ?
		program->states[branch->state].name : NULL;
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
	if (branch->phase == SF_PHASE_DEADLINE)
	{
		SfExecution *execution = run->execution;

		execution->last_event_id = run->base_event_id;
		sf_execution_end(execution, SF_STATUS_TIMED_OUT, SF_ERR_TIMEOUT, NULL,
						 SF_EVENT_EXECUTION_TIMED_OUT, GetCurrentTimestamp());
		slice->runs = list_delete_ptr(slice->runs, run);
		return;
	}
	if (is_aborted_by_parent(run, branch))
	{
		SfStep		step;

		sf_step_init(&step, run, branch, NULL, GetCurrentTimestamp());
		sf_step_abort(&step);
		sf_run_add_branch(run, branch);
		return;
	}

	if (branch->phase == SF_PHASE_ANNOUNCED)
		go_on = take_announced(slice, run, branch, &stimulus);
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
		report(slice, run, branch, before, &step);
		go_on = after_step(slice, run, branch, &step, outcome, &stimulus);
	}
}

/* Has a branch of this run failed in this slice? */
static bool
run_has_failure(const SfRun *run)
{
	ListCell   *lc;

	foreach(lc, run->deltas)
	{
		if (((SfParentDelta *) lfirst(lc))->failed)
			return true;
	}
	return false;
}

/* Claim and advance one branch. */
static bool
take_one(SfSlice *slice, SfBranchKey key)
{
	SfRun	   *run;
	SfBranch   *branch = claim(slice, key, &run);

	if (branch == NULL)
		return false;
	slice->result->outcome = SF_SLICE_WORKED;
	advance(slice, run, branch);
	/* a failure may have made a join due that is to abort the others at once */
	if (slice->request->alone || slice->request->slice_ms == 0 ||
		run_has_failure(run))
		slice->no_more_claims = true;
	return true;
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
		int			n = sf_branch_due(request->execution_no,
									  GetCurrentTimestamp(),
									  request->skip_waits, keys, size);

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

/* Of what is announced, take at most one; or say that there is some. */
static void
scan_announced(SfSlice *slice)
{
	const SfSliceRequest *request = slice->request;
	SfBranchKey keys[SCAN_SIZE];
	int			n = sf_branch_announced(GetCurrentTimestamp(), keys, SCAN_SIZE);

	if (!request->in_session && !request->long_tasks && !request->new_tasks)
	{
		if (n > 0)
			slice->result->long_task_left = true;
		return;
	}
	for (int i = 0; i < n && !slice->no_more_claims && !is_used_up(slice); i++)
		(void) take_one(slice, keys[i]);
	if (slice->announced && n > 1)
		slice->result->long_task_left = true;
}

/* Take branches: the hinted ones, then those of the due index. */
static void
take_branches(SfSlice *slice)
{
	const SfSliceRequest *request = slice->request;
	bool		first = true;

	for (int i = 0; i < request->nkeys; i++)
	{
		if (slice->no_more_claims || (!first && is_used_up(slice)))
			break;				/* the caller keeps its other hints */
		if (take_one(slice, request->keys[i]))
			first = false;
	}
	if (!request->scan)
		return;
	if (!slice->no_more_claims && (first || !is_used_up(slice)))
		scan_due(slice, &first);
	if (request->execution_no == 0 && !slice->no_more_claims &&
		(first || !is_used_up(slice)))
		scan_announced(slice);
}

/* Run a slice. */
void
sf_slice_run(const SfSliceRequest *request, SfSliceResult *result)
{
	SfSlice		slice;
	MemoryContext old;

	memset(result, 0, sizeof(*result));
	memset(&slice, 0, sizeof(slice));
	slice.request = request;
	slice.result = result;
	slice.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow slice",
										  ALLOCSET_DEFAULT_SIZES);
	INSTR_TIME_SET_CURRENT(slice.began);
	ntouched = 0;
	old = MemoryContextSwitchTo(slice.context);

	PushActiveSnapshot(GetTransactionSnapshot());
	take_branches(&slice);
	SF_DEBUG_POINT("slice-before-write");
	sf_runs_write(slice.runs);
	PopActiveSnapshot();
	SF_DEBUG_POINT("slice-before-commit");

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

/* Put the outcome of a long task into its branch. */
static void
keep_outcome(SfBranch *branch, const SfTaskOutcome *outcome)
{
	branch->phase = SF_PHASE_ANSWERED;
	branch->due_at = GetCurrentTimestamp();
	branch->failing = !outcome->ok;
	branch->error = branch->cause = NULL;
	if (outcome->ok)
		branch->result = outcome->output ? outcome->output : sf_json_null();
	else
	{
		SfJsonBuilder b;

		branch->error = unconstify(char *, outcome->error.name);
		branch->cause = unconstify(char *, outcome->error.cause);
		sf_json_begin_object(&b);
		sf_json_add_string(&b, "sqlstate", outcome->error.sqlstate);
		branch->result = sf_json_finish(&b);
	}
}

/* T2: run an announced task. */
void
sf_slice_run_task(SfBranchKey key, int generation, bool last_try,
				  SfSliceResult *result)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "sfflow long task",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SfExecution *execution;
	SfBranch   *branch;
	SfRun	   *run;
	SfResource	resource;
	SfTaskOutcome outcome;

	memset(result, 0, sizeof(*result));
	ntouched = 0;
	PushActiveSnapshot(GetTransactionSnapshot());
	/* before the look at the status: a stop either shows there or cancels */
	if (sf_running_hook != NULL)
		sf_running_hook(&key, InvalidOid, "");
	execution = sf_execution_read(key.execution_no, SF_LOCK_NONE, false);
	branch = sf_branch_claim(key, DT_NOEND, false);
	if (execution != NULL && branch != NULL &&
		branch->phase == SF_PHASE_ANNOUNCED && branch->generation == generation &&
		execution->status == SF_STATUS_RUNNING)
	{
		touched[ntouched++] = key;
		run = sf_run_make(execution);
		if (!is_aborted_by_parent(run, branch))
		{
			result->owner = execution->owner;
			memset(&outcome, 0, sizeof(outcome));
			if (resolve(run, &run->program->states[branch->state].resource,
						&resource, &outcome.error))
			{
				if (sf_identity_assume != NULL)
					sf_identity_assume(execution->owner);
				run_task(run, branch, &resource, branch->result, false, last_try, &outcome);
			}
			keep_outcome(branch, &outcome);
			sf_branch_write(list_make1(branch));
			result->outcome = SF_SLICE_WORKED;
		}
	}
	SF_DEBUG_POINT("long-task-before-commit");
	PopActiveSnapshot();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* Make a branch fail with States.Runtime. */
void
sf_slice_fail_branch(SfBranchKey key, const char *cause)
{
	SfSliceRequest request = {.long_tasks = true};	/* also an announced one */
	SfSliceResult result = {0};
	SfSlice		slice;
	SfRun	   *run;
	SfBranch   *branch;

	memset(&slice, 0, sizeof(slice));
	slice.request = &request;
	slice.result = &result;
	ntouched = 0;
	PushActiveSnapshot(GetTransactionSnapshot());
	branch = claim(&slice, key, &run);
	if (branch != NULL && run->execution->status == SF_STATUS_RUNNING &&
		branch->phase != SF_PHASE_DEADLINE)
	{
		SfError		error = {.name = SF_ERR_RUNTIME,.cause = cause,.position = -1};
		SfStep		step;

		sf_step_init(&step, run, branch, NULL, GetCurrentTimestamp());
		(void) sf_step_fail_branch(&step, &error);
		sf_run_add_branch(run, branch);
		sf_runs_write(slice.runs);
	}
	PopActiveSnapshot();
}
