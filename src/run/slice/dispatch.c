/*
 * dispatch.c
 *		What becomes of a task: run it now, announce it as long, start a nested
 *		execution, or queue it for a client.
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/hooks.h"
#include "base/settings.h"
#include "run/apply/apply.h"
#include "run/distributed_map/item_reader.h"
#include "run/distributed_map/result_writer.h"
#include "run/execution/lifecycle.h"
#include "run/gate/gate.h"
#include "run/slice/dispatch.h"
#include "run/slice/slice_run.h"
#include "run/task/origin.h"
#include "run/task/service.h"
#include "transition/state/map_state.h"

/* Tasks that this backend is in the middle of */
static int	ntasks = 0;

/*
 * Raise an error when called, by way of the SQL function that is named, from
 * inside a task: its branch is locked by this very transaction, so it would be
 * taken, and run, a second time.
 */
void
sf_dispatch_refuse_in_task(const char *function)
{
	if (ntasks > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("%s cannot be called by a task", function),
				 errhint("Let workers run the other execution, or make it a child with arn:aws:states:::states:startExecution.sync.")));
}

/* Tell whether this backend is in the middle of a task of an execution. */
bool
sf_dispatch_is_in_task_of(int64 execution_no)
{
	const SfOrigin *task = sf_origin_of(SF_ORIGIN_TASK);

	return task != NULL && sf_origin_task(task)->execution_no == execution_no;
}

/* Raise an error when a task would stop the execution that it is part of. */
void
sf_dispatch_refuse_own_stop(const SfExecution *execution)
{
	if (sf_dispatch_is_in_task_of(execution->execution_no))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("a task cannot stop its own execution \"%s\"",
						execution->execution_id),
				 errdetail("The stop would roll back with the task."),
				 errhint("Let the task fail with sf_raise(), or go on to a Fail state.")));
}

/* The key under which the task of a state is known. */
static SfDurationKey
key_of_state(const SfDraft *draft, const SfState *state)
{
	return (SfDurationKey) {draft->execution->machine_no, draft->execution->version,
		SF_DURATION_STATE, (uint32) state->number};
}

/* How long did the task of a state take when it ran last? */
static SfTaskTime
last_duration(const SfDraft *draft, const SfState *state)
{
	return sf_hooks.task_time(key_of_state(draft, state));
}

/*
 * The key under which the tasks of all jobs of a net that have the same resource are
 * known; false: the state is no job.  A net may have thousands of jobs that have never run.
 */
static bool
key_of_resource(const SfDraft *draft, const SfState *state, SfDurationKey *key)
{
	int			owner = draft->program->scopes[state->scope].owner_state;
	const char *resource;

	if (owner == SF_NO_STATE || draft->program->states[owner].type != SF_STATE_JOBNET ||
		state->type != SF_STATE_TASK)
		return false;
	resource = sf_state_task(state)->resource.text;
	*key = key_of_state(draft, state);
	key->kind = SF_DURATION_RESOURCE;
	key->number = hash_combine(hash_bytes((const unsigned char *) resource, strlen(resource)),
							   (uint32) owner);
	return true;
}

/*
 * Is this task known to be short, so that it need not be announced?  That of a job that
 * has not run counts as short if the last one with its resource was.
 */
static bool
is_short(const SfDraft *draft, const SfState *state)
{
	SfTaskTime	last = last_duration(draft, state);
	SfDurationKey key;

	if (last.kind == SF_TASK_TIME_UNKNOWN && key_of_resource(draft, state, &key))
		last = sf_hooks.task_time(key);
	return last.kind == SF_TASK_TIME_LAST && last.us <= (int64) sf_setting_slice_ms * 1000;
}

/* Remember that a task runs, if it has not run before. */
static void
note_first_run(const SfDraft *draft, const SfState *state)
{
	SfDurationKey key = key_of_state(draft, state);

	if (sf_hooks.task_time(key).kind == SF_TASK_TIME_UNKNOWN)
		sf_hooks.note_task_time(key, (SfTaskTime) {.kind = SF_TASK_TIME_FIRST});
}

/* Remember how long a task took, for its state and for its resource. */
static void
note_duration(const SfDraft *draft, const SfState *state, int64 elapsed_us)
{
	SfTaskTime	time = {SF_TASK_TIME_LAST, elapsed_us};
	SfDurationKey key = key_of_state(draft, state);

	sf_hooks.note_task_time(key, time);
	if (key_of_resource(draft, state, &key))
		sf_hooks.note_task_time(key, time);
}

/* Tell how a task of an owner is left, of that kind; NONE: the caller may have it. */
static SfTasksLeft
left_as(const SfSliceRequest *request, Oid owner, bool known_long)
{
	const SfOwnerShare *share = sf_slice_share_of(request, owner);

	if (share != NULL && !sf_owner_may_have(share->tasks, known_long))
		return SF_TASKS_LEFT_CAPPED;
	if (share != NULL && sf_slice_worker(request)->new_owners_only)
		return SF_TASKS_LEFT_RESERVED;
	return (sf_slice_worker(request)->tasks & SF_SLICE_TASKS_LONG) != 0 ? SF_TASKS_LEFT_NONE : SF_TASKS_LEFT_TASK;
}

/* Is the task of a state known to be long? */
static bool
is_known_long(const SfDraft *draft, const SfState *state)
{
	return last_duration(draft, state).kind != SF_TASK_TIME_UNKNOWN && !is_short(draft, state);
}

/*
 * May the caller be handed a task that is (or is to be) announced?  If not it
 * is told that one was left.
 */
static bool
may_offer(SfSlice *slice, const SfDraft *draft, const SfState *state)
{
	SfTasksLeft left = left_as(slice->request, draft->execution->owner, is_known_long(draft, state));

	if (left == SF_TASKS_LEFT_NONE)
		return true;
	slice->result->tasks_left |= left;
	slice->result->left_unrun = true;
	return false;
}

/*
 * Tell whether this slice may take a claimed branch; only an announced task can be
 * refused.  The row of a refused branch stays locked until the slice commits.
 */
bool
sf_dispatch_is_for_us(SfSlice *slice, const SfDraft *draft, const SfBranch *branch)
{
	if (branch->phase != SF_PHASE_ANNOUNCED || sf_slice_in_session(slice->request) ||
		draft->execution->status != SF_STATUS_RUNNING ||
		sf_draft_is_orphan(draft, branch) || sf_draft_is_aborted(draft, branch))
		return true;
	/* one that waits for a token since we read its queue: who comes to the queue makes it due */
	if (sf_branch_is_parked(branch))
		return false;
	return may_offer(slice, draft, &draft->program->states[branch->state]);
}

/* Fill in the call of a SQL task. */
static void
make_call(SfTaskCall *call, const SfDraft *draft, const SfBranch *branch,
		  const SfResource *resource, Jsonb *payload, const SfSlice *slice)
{
	memset(call, 0, sizeof(*call));
	call->key = branch->key;
	call->execution_id = draft->execution->execution_id;
	call->state = &draft->program->states[branch->state];
	call->resource = resource;
	call->owner = draft->execution->owner;
	call->payload = payload;
	call->attempt = branch->attempt;
	call->trace = sf_feature_trace_context(draft->execution, branch, call->state, false);
	if (branch->deadline != DT_NOEND)
		call->timeout_ms = Max((branch->deadline - branch->started_at) / 1000, 1);
	call->in_session = slice != NULL && sf_slice_in_session(slice->request);
	/* in a session that keeps the locks, rolling the slice back resolves no deadlock */
	call->not_first = slice != NULL && slice->ntasks > 0 &&
		(!call->in_session || sf_slice_session(slice->request)->releases_locks_on_rollback);
}

/*
 * Resolve a resource through the mappings; *payload becomes what the resolved
 * resource expects.  False with *error: sfflow cannot run the resource.
 */
static bool
resolve(const SfDraft *draft, const SfResource *resource, SfResource *resolved,
		Jsonb **payload, SfError *error)
{
	return sf_service_resolve(resource, draft->execution->owner, resolved, payload, error) ||
		(error->name == NULL &&
		 sf_service_refuse_unmapped(sf_resource_reads_parquet(resource) ? resource->typed : resource->text, error));
}

/* Can a resource carry out the task that a state is at? */
static bool
is_able(const SfState *state, const SfBranch *branch, const SfResource *resource, SfError *error)
{
	return state->type != SF_STATE_MAP || sf_service_is_sql(resource) ||
		(resource->kind == SF_RESOURCE_ACTIVITY && sf_distributed_is_reading(state, branch)) ||
		sf_error_set(error, SF_ERR_RUNTIME,
						"The resource '%s' cannot read or write items.",
						resource->text);
}

/* The resource of the task that a branch is at. */
static const SfResource *
task_resource(const SfDraft *draft, const SfBranch *branch)
{
	const SfState *state = &draft->program->states[branch->state];

	return state->type == SF_STATE_MAP ?
		sf_distributed_resource(state, branch) : &sf_state_task(state)->resource;
}

/*
 * Run a SQL task now: in a slice, or (slice is NULL) in a transaction of its own.
 * After a serialization failure raise an error, so that the caller rolls the
 * transaction back and tries again; at the last try the serialization failure is the
 * task's outcome.  In a session whose transaction keeps one snapshot (REPEATABLE
 * READ), raise the error at the last try, too: only the session can begin a new
 * transaction.
 */
static void
run_task(SfSlice *slice, const SfDraft *draft, const SfBranch *branch,
		 const SfResource *resource, Jsonb *payload, bool last_try,
		 SfTaskOutcome *outcome)
{
	SfTaskCall	call;
	const SfState *state = &draft->program->states[branch->state];
	bool		in_session = slice != NULL && sf_slice_in_session(slice->request);
	const SfOrigin *outer = sf_origin_innermost;
	const SfOrigin origin = {
		.kind = SF_ORIGIN_TASK,.outer = outer,.task = {.execution_no = branch->key.execution_no}
	};

	make_call(&call, draft, branch, resource, payload, slice);
	if (slice != NULL)
		slice->ntasks++;
	memset(outcome, 0, sizeof(*outcome));
	if (!in_session)
	{
		SF_DEBUG_POINT_HELD("step_comes");
		/* a child that has no row is found by the branch that began it */
		sf_hooks.task_begins(slice == NULL || branch->row.stored ? branch->key : slice->claimed,
							 draft->execution->owner, state->name);
		note_first_run(draft, state);
	}
	SF_DEBUG_POINT("step_begin");
	ntasks++;
	sf_origin_innermost = &origin;
	PG_TRY();
	{
		if (state->type == SF_STATE_MAP)
			sf_map_task_run(draft, branch, &call, outcome);
		else
		{
			sf_task_runner.run(&call, outcome);
			sf_service.shape_outcome(&sf_state_task(state)->resource, outcome);
		}
	}
	PG_FINALLY();
	{
		ntasks--;
		sf_origin_innermost = outer;
	}
	PG_END_TRY();
	SF_DEBUG_POINT("step_over");
	if (!in_session)
		sf_hooks.task_ends();
	note_duration(draft, state, outcome->elapsed_us);
	if (outcome->serialization_failure &&
		(!last_try || (in_session && IsolationUsesXactSnapshot())))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access in task \"%s\" of execution \"%s\"",
						state->name, draft->execution->execution_id)));
}

/* Turn a task's outcome into the stimulus for the next step. */
void
sf_dispatch_stimulus(const SfTaskOutcome *outcome, SfStimulus *stimulus)
{
	memset(stimulus, 0, sizeof(*stimulus));
	stimulus->kind = SF_STIMULUS_TASK;
	stimulus->outcome.ok = outcome->ok;
	stimulus->outcome.output = outcome->output ? outcome->output : sf_json_null();
	stimulus->outcome.error = outcome->error;
	stimulus->outcome.error.needs_prefix = false;
}

/* Have the caller run an announced task next. */
static void
offer_long_task(SfSlice *slice, const SfDraft *draft, const SfBranch *branch, const SfState *state)
{
	slice->announced = true;
	slice->result->task = (SfLongTask) {
		.key = branch->key,
		.generation = branch->generation,
		.known_long = is_known_long(draft, state),
		.owner = slice->owner,
		.due = branch->due_at
	};
}

/* Have the caller run the task next that a branch has announced, if it may. */
void
sf_dispatch_offer(SfSlice *slice, const SfDraft *draft, const SfBranch *branch)
{
	const SfState *state = &draft->program->states[branch->state];

	if (may_offer(slice, draft, state))
		offer_long_task(slice, draft, branch, state);
}

/* A task that has succeeded was only the request: the branch waits for the answer, with a row or NULL. */
static void
wait_for_answer(SfStimulus *stimulus, SfTask *task, TimestampTz due)
{
	SfAnswerWait waits = {{task, due}, sf_stimulus_outcome(stimulus)->output};

	stimulus->kind = SF_STIMULUS_WAITS;
	stimulus->waits = waits;
}

/* Start a nested execution. */
static void
dispatch_nested(SfDraft *draft, const SfBranch *branch, const SfTaskRequest *request,
				SfStimulus *stimulus)
{
	const SfResource *resource = request->resource;
	SfTaskOutcome outcome;

	memset(&outcome, 0, sizeof(outcome));
	outcome.ok = sf_nested_start(draft, branch, branch->generation + 1, resource, request->payload,
								 &outcome.output, &outcome.error);
	sf_dispatch_stimulus(&outcome, stimulus);
	stimulus->begins_generation = true;
	if (!outcome.ok || resource->integration == SF_INTEGRATION_REQUEST_RESPONSE)
		return;
	if (draft->token_task != NULL)
		sf_outside_await_token(draft->token_task, request);
	wait_for_answer(stimulus, draft->token_task, sf_outside_timer(branch, request));
}

/* Announce a long task. */
static void
announce(const SfBranch *branch, const SfTaskRequest *request, SfTask *task,
		 SfStimulus *stimulus)
{
	*stimulus = (SfStimulus) {.kind = SF_STIMULUS_ANNOUNCED,.begins_generation = true};
	stimulus->announced = (SfAnnouncement) {{task, branch->started_at}, request->payload};
}

/* Run a SQL task here and now, or announce it as long. */
static void
dispatch_sql(SfSlice *slice, SfDraft *draft, const SfBranch *branch,
			 const SfTaskRequest *request, const SfResource *resource,
			 Jsonb *payload, SfStimulus *stimulus)
{
	const SfState *state = &draft->program->states[branch->state];
	/* the token of a .sync task is good for nothing where a function returns its result */
	SfTask	   *task = sf_state_awaits_token(state) ? draft->token_task : NULL;
	bool		in_session = sf_slice_in_session(slice->request);
	SfTaskOutcome outcome;

	if (task != NULL)
		sf_outside_await_token(task, request);
	if (!in_session &&
		((sf_slice_worker(slice->request)->tasks & SF_SLICE_TASKS_SHORT) == 0 || !is_short(draft, state)))
	{
		SF_TELL_PROVIDER(queues, on_announced, draft);
		announce(branch, request, task, stimulus);
		return;
	}
	if (!in_session)
		sf_task_runner.assume_identity(slice->owner);
	run_task(slice, draft, branch, resource, payload, slice->request->last_try, &outcome);
	if (outcome.assigned_xid)
		slice->subxacts++;
	sf_dispatch_stimulus(&outcome, stimulus);
	if (task == NULL || !outcome.ok)
		return;
	stimulus->begins_generation = true;
	wait_for_answer(stimulus, task, sf_outside_timer(branch, request));
}

/* Have a branch wait for what a feature gives it. */
static void
begin_wait(SfDraft *draft, const SfBranch *branch, const SfResource *resource, const SfTaskRequest *request,
		   SfStimulus *stimulus)
{
	SfTaskOutcome outcome = {0};

	SF_FEATURES(resource, feature)
		if (feature->resource->kind == resource->kind)
		{
			memset(stimulus, 0, sizeof(*stimulus));
			stimulus->kind = SF_STIMULUS_TASK;
			feature->resource->begin_wait(draft, branch, resource, request, stimulus);
			return;
		}
	sf_error_set(&outcome.error, SF_ERR_RUNTIME, "The resource '%s' cannot be run: sfflow was built without %s.",
				 resource->text, resource->kind == SF_RESOURCE_EVENT ? "events" : "human tasks");
	sf_dispatch_stimulus(&outcome, stimulus);
}

/*
 * Run the task of a branch, announce it, queue it, or start its nested execution;
 * *stimulus gets the outcome, or what the branch now waits for.
 */
void
sf_dispatch(SfSlice *slice, SfDraft *draft, const SfBranch *branch,
			const SfTaskRequest *request, SfStimulus *stimulus)
{
	const SfState *state = &draft->program->states[branch->state];
	SfTaskRequest given = *request; /* to what carries it out */
	SfResource	resource;
	SfTaskOutcome outcome;

	memset(&outcome, 0, sizeof(outcome));
	if (!resolve(draft, request->resource, &resource, &given.payload, &outcome.error) ||
		!is_able(state, branch, &resource, &outcome.error))
		sf_dispatch_stimulus(&outcome, stimulus);
	else if (resource.kind == SF_RESOURCE_ACTIVITY)
	{
		if (state->type == SF_STATE_MAP)
			given.payload = sf_item_reader_request(branch, state, given.payload);
		sf_outside_queue(draft, branch, &resource, &given, stimulus);
	}
	else if (sf_resource_is_wait(&resource))
		begin_wait(draft, branch, &resource, &given, stimulus);
	else if (resource.kind == SF_RESOURCE_START_EXECUTION)
		dispatch_nested(draft, branch, request, stimulus);
	else
		dispatch_sql(slice, draft, branch, request, &resource, given.payload, stimulus);
}

/*
 * Run an announced task, in a session; *stimulus gets its outcome.  False: a
 * worker's slice has offered it to its caller.
 */
bool
sf_dispatch_run_announced(SfSlice *slice, SfDraft *draft, const SfBranch *branch,
						  SfStimulus *stimulus)
{
	const SfState *state = &draft->program->states[branch->state];
	Jsonb	   *payload = sf_branch_task_payload(branch);
	SfResource	resource;
	SfTaskOutcome outcome;

	memset(&outcome, 0, sizeof(outcome));
	if (!sf_slice_in_session(slice->request))
	{
		offer_long_task(slice, draft, branch, state);
		return false;
	}
	if (resolve(draft, task_resource(draft, branch), &resource, &payload, &outcome.error))
		run_task(slice, draft, branch, &resource, payload,
				 slice->request->last_try, &outcome);
	sf_dispatch_stimulus(&outcome, stimulus);
	if (outcome.ok && sf_state_awaits_token(state))
		wait_for_answer(stimulus, NULL, branch->deadline);
	return true;
}

/*
 * Refuse to run a branch that has ended workers too often: the error is what it is made
 * to fail with (worker/turn/turn.c).  Its row is locked, so that no other process runs it.
 */
void
sf_dispatch_refuse_condemned(SfBranchKey key)
{
	char	   *cause = sf_hooks.why_condemned(key);

	if (cause != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg_internal("%s", cause)));
}

/* Run the announced task of a branch, in a transaction of its own (long_task.c). */
void
sf_dispatch_alone(const SfDraft *draft, const SfBranch *branch, bool last_try,
				  SfTaskOutcome *outcome)
{
	SfResource	resource;
	Jsonb	   *payload = sf_branch_task_payload(branch);

	if (!resolve(draft, task_resource(draft, branch), &resource, &payload, &outcome->error))
		return;
	sf_task_runner.assume_identity(draft->execution->owner);
	run_task(NULL, draft, branch, &resource, payload, last_try, outcome);
}
