/*
 * advance.c
 *		Claim a branch in a slice, and take it through transitions until it rests.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/hooks.h"
#include "base/time/clock.h"
#include "base/version/compat.h"
#include "run/apply/apply.h"
#include "run/apply/draft_advance.h"
#include "run/distributed_map/result_writer.h"
#include "run/gate/gate.h"
#include "run/join/children.h"
#include "run/slice/dispatch.h"
#include "run/slice/slice_run.h"

/* More subtransactions with an xid would overflow the snapshots of others */
#define MAX_SUBXACTS	60

/*
 * Bytes that a slice's transitions take until it is written.  A step takes 1 kB or more: an execution that does
 * not rest would take hundreds of megabytes within a second.
 */
#define MAX_BYTES		(8 * 1024 * 1024)

/* Children that a slice runs of those that it begins: they stay in memory */
#define MAX_NEW_CHILDREN	1000

/* If a slice has time for as many jobs of a net, they are short */
#define MIN_SHORT_JOBS	32

static void proceed(SfSlice *slice, SfDraft *draft, SfBranch *branch, SfStimulus *stimulus);

/* Make the stimulus JOINED, with the outputs of all children unless the join fails. */
static void
joined_stimulus(const SfDraft *draft, SfBranch *parent, SfStimulus *stimulus)
{
	SfJoined   *joined = &stimulus->joined;

	stimulus->kind = SF_STIMULUS_JOINED;
	if (sf_join_course(parent) == SF_JOIN_FAILING)
		joined->kind = SF_JOINED_FAILED;
	else if (parent->work.children != SF_CHILDREN_STORED)
		sf_new_children_outputs(draft, parent, joined);
	else if (!sf_branch_has_map_run(parent))
	{
		joined->kind = SF_JOINED_OUTPUTS;
		joined->outputs = sf_branch_outputs(parent->key, &joined->indexes,
											&joined->noutputs, &joined->last_event);
	}
	else if (sf_state_map(&draft->program->states[parent->state])->distributed->result_writer != NULL)
		joined->kind = SF_JOINED_UNWRITTEN;
	else
	{
		joined->result = sf_result_writer_outputs(draft, parent);
		joined->kind = joined->result != NULL ? SF_JOINED_RESULT : SF_JOINED_TOO_LARGE;
	}
}

/*
 * Make the stimulus of a join from the state of its children.  If the join is aborted,
 * or a child has failed and FailureMode is ABORT, abort the other children first.
 */
static void
join_stimulus(SfDraft *draft, SfBranch *join, SfStimulus *stimulus)
{
	SfFailureMode mode = draft->program->states[join->state].failure_mode;
	bool		aborting = sf_join_course(join) == SF_JOIN_ABORTING || sf_draft_is_aborted(draft, join);
	bool		failing = sf_join_course(join) == SF_JOIN_FAILING;
	bool		child_locked = false;
	int			left = sf_branch_children_left(join);

	if (left > 0 && (aborting || sf_join_gives_up(join, mode)))
		left = sf_abort_children(draft, join, &child_locked);
	sf_stimulus_set_children_left(stimulus, left);
	if (left > 0 && (failing || aborting))
	{
		stimulus->kind = SF_STIMULUS_NOT_YET;
		stimulus->not_yet = (SfNotYet) {.due = sf_abort_recheck_at(join, child_locked),.aborting = aborting};
	}
	else if (aborting)
	{
		stimulus->kind = SF_STIMULUS_ABORTED;
		stimulus->aborted.after_event = SF_CHAIN;
	}
	else if (left == 0 && (failing || join->next_index >= join->total))
		joined_stimulus(draft, join, stimulus);
	else if (join->max_concurrency == 1 && !sf_branch_has_map_run(join))
		stimulus->due.last_inner_event = join->work.children == SF_CHILDREN_NEW ?
			sf_new_children_last_inner_event(draft, join) :
			sf_branch_last_inner_event(join->key);
}

/* Make the stimulus of the next transition of a branch that this slice has claimed. */
static void
make_stimulus(SfDraft *draft, SfBranch *branch, SfStimulus *stimulus)
{
	memset(stimulus, 0, sizeof(*stimulus));
	stimulus->kind = SF_STIMULUS_DUE;
	if (SF_IS_ONE_OF(branch->phase, SF_PHASES_ANSWERED, SF_PHASE_EXTERNAL))
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

/* Has a worker's slice lasted so long that another owner, if one waits, is to have its turn? */
static bool
is_to_yield(const SfSlice *slice, double elapsed)
{
	int			yield_ms = sf_slice_worker(slice->request)->yield_ms;

	return yield_ms > 0 && elapsed >= yield_ms && sf_hooks.others_wait();
}

/* Tell whether it is time to commit. */
bool
sf_slice_is_used_up(const SfSlice *slice)
{
	const SfSessionTerms *session = sf_slice_in_session(slice->request) ? sf_slice_session(slice->request) : NULL;
	double		elapsed;

	if (slice->announced || slice->subxacts >= MAX_SUBXACTS)
		return true;
	if (session != NULL && session->max_transitions != SF_UNLIMITED &&
		slice->result->transitions >= session->max_transitions)
		return true;
	if (slice->request->length == SF_SLICE_LENGTH_ONE_BRANCH)
		return false;
	if (slice->bytes >= MAX_BYTES)
		return true;
	elapsed = elapsed_ms(slice);
	return elapsed >= slice->request->slice_ms || (session == NULL && is_to_yield(slice, elapsed));
}

/*
 * Must this slice stop advancing a branch: because its time is up, or because the
 * next step would run user code while an execution is locked?
 */
static bool
must_pause(const SfSlice *slice, const SfDraft *draft, const SfBranch *branch)
{
	if (sf_slice_is_used_up(slice))
		return true;
	return !sf_slice_may_run_tasks(slice) && !sf_slice_in_session(slice->request) &&
		draft->program->states[branch->state].type == SF_STATE_TASK;
}

/* Remember the last transition of a state, for sf_step. */
static void
report(SfSlice *slice, const SfDraft *draft, const SfBranch *branch,
	   const SfState *before)
{
	SfLastTransition *last = &slice->result->last;
	const SfProgram *program = draft->program;
	int			owner = program->scopes[branch->scope].owner_state;

	if (!sf_slice_in_session(slice->request))
		return;
	last->state = before->name;
	last->transition = sf_transition_name(draft->transition.name);
	last->branch = owner == SF_NO_STATE ? "root" :
		psprintf("%s[%d]", program->states[owner].name, branch->branch_index);
	last->next_state = branch->phase == SF_PHASE_ENTER ?
		program->states[branch->state].name : NULL;
}

/* Does a slice take no more than one branch? */
static bool
is_by_itself(const SfSliceRequest *request)
{
	return sf_slice_is_of_branch(request) || request->length == SF_SLICE_LENGTH_ONE_BRANCH;
}

/*
 * Tell whether a branch begins its next step.  If not, it waits for the end of a hold, or in a queue
 * or a line, or is put off; or (SF_GATE_LEFT) another branch of this slice waits for a hold: then a later slice
 * takes it, since a release waits for this one.  *throttled gets the error with which a feature has the state fail.
 */
static SfGateVerdict
come_to_gate(SfSlice *slice, SfDraft *draft, SfBranch *branch, SfError *throttled)
{
	const SfState *state = &draft->program->states[branch->state];
	SfGateVerdict gate = sf_gate_admit(draft, branch, throttled);

	switch (gate)
	{
		case SF_GATE_OPEN:
		case SF_GATE_THROTTLED:
			break;
		case SF_GATE_HELD:
		case SF_GATE_HOLD_CHANGES:
			slice->result->left_unrun = is_by_itself(slice->request);
			slice->held = true;
			draft->transition.name = SF_TRANSITION_HELD;
			report(slice, draft, branch, state);
			return gate;
		case SF_GATE_WAITS:
			slice->result->left_unrun = is_by_itself(slice->request);
			slice->result->nqueued_tried++;
			draft->transition.name = SF_TRANSITION_QUEUED;
			report(slice, draft, branch, state);
			return gate;
		case SF_GATE_PUT_OFF:
			/* what others have locked, or the slots that this one has, are free sooner if it commits soon */
			slice->no_more_claims = true;
			slice->result->left_unrun = is_by_itself(slice->request);
			draft->transition.name = SF_TRANSITION_PUT_OFF;
			report(slice, draft, branch, state);
			return gate;
		case SF_GATE_LEFT:
			Assert(false);		/* no feature says so */
			break;
	}
	if (!slice->held || sf_slice_in_session(slice->request))
	{
		/* its turn in a queue was for this step: in the next queue it is new */
		branch->left_queue.queue = SF_NO_QUEUE;
		return gate;
	}
	if (sf_branch_is_parked(branch))
	{
		/* it has left its queue */
		sf_branch_come_at(branch, GetCurrentTimestamp());
		sf_draft_add_branch(draft, branch);
	}
	sf_hooks.due(branch->key, branch->owner, GetCurrentTimestamp());
	slice->no_more_claims = true;
	return SF_GATE_LEFT;
}

/* A transition has taken a branch on that was inside of a state: tell that it has left it, if it has. */
static void
leave_if_outside(SfBranch *branch, int state)
{
	if (!branch->row.stored || (sf_branch_is_inside(branch) && branch->state == state))
		return;
	sf_branch_leave_state(branch);
}

/*
 * Ask whether the step of a branch may begin; *begun is the stimulus with which it does: the one that it is
 * given, or that of a mark, or that a feature has it fail.  False: it waits.
 */
static bool
begin_step(SfSlice *slice, SfDraft *draft, SfBranch *branch, const SfStimulus *given, SfStimulus *begun)
{
	SfError		error = sf_error_make(NULL, NULL);
	SfGateVerdict gate;

	/* before the look at holds: a step that begins later sees what is held by now */
	draft->at = GetCurrentTimestamp();
	gate = come_to_gate(slice, draft, branch, &error);
	if (!sf_gate_lets_pass(gate))
	{
		draft->transition.next = SF_STEP_REST;
		return false;
	}
	if (sf_gate_take_mark(draft, branch, begun))
		return true;
	if (gate == SF_GATE_THROTTLED)
		*begun = (SfStimulus) {.kind = SF_STIMULUS_THROTTLED,.error = error};
	else
		*begun = *given;
	return true;
}

/* Note before a transition whether the children of a join are in rows, or a net goes on with them in memory. */
static void
note_children_before(SfBranch *branch)
{
	if (branch->phase == SF_PHASE_NET)
		branch->work.children = SF_CHILDREN_RESUMED;
	else if (branch->work.children == SF_CHILDREN_RESUMED)
		branch->work.children = SF_CHILDREN_STORED;
}

/* Note after a transition, from another phase than that of a join, whether it has begun children. */
static void
note_children_after(SfBranch *branch, SfPhase before)
{
	if (before == SF_PHASE_JOIN || before == SF_PHASE_NET)
		return;
	branch->work.children = branch->phase == SF_PHASE_JOIN && !sf_branch_has_map_run(branch) ?
		SF_CHILDREN_NEW : SF_CHILDREN_STORED;
}

/* Count a transition, and report it, if its stimulus is one that sf_step and the limit of a session know as one. */
static void
count_transition(SfSlice *slice, const SfDraft *draft, const SfBranch *branch, SfStimulusKind kind, int before)
{
	switch (kind)
	{
		case SF_STIMULUS_DUE:
		case SF_STIMULUS_MARKED:
		case SF_STIMULUS_THROTTLED:
		case SF_STIMULUS_WAITS:
		case SF_STIMULUS_JOINED:
			slice->result->transitions++;
			pg_fallthrough;
		case SF_STIMULUS_TASK:
			report(slice, draft, branch, &draft->program->states[before]);
			break;
		case SF_STIMULUS_STORED_OUTCOME:
		case SF_STIMULUS_ANNOUNCED:
		case SF_STIMULUS_HANDED_OUT:
		case SF_STIMULUS_NOT_YET:
		case SF_STIMULUS_ABORTED:
		case SF_STIMULUS_CONDEMNED:
		case SF_STIMULUS_OVER:
		case SF_STIMULUS_REDRIVEN:
		case SF_STIMULUS_STOPPED:
		case SF_STIMULUS_ORPHANED:
		case SF_STIMULUS_TIMED_OUT:
			break;
	}
}

/* Take a branch through a transition, or have it wait. */
static void
step(SfSlice *slice, SfDraft *draft, SfBranch *branch, const SfStimulus *stimulus)
{
	int			state = branch->state;
	SfPhase		phase = branch->phase;
	bool		was_inside = sf_branch_is_inside(branch);
	SfStimulus	begun;

	CHECK_FOR_INTERRUPTS();
	sf_yield();
	if (stimulus->kind == SF_STIMULUS_DUE && sf_phase_is_before_gate(phase))
	{
		if (!begin_step(slice, draft, branch, stimulus, &begun))
			return;
		stimulus = &begun;
	}
	note_children_before(branch);
	(void) sf_draft_advance(draft, branch, stimulus);
	slice->bytes += draft->bytes;
	if (was_inside)
		leave_if_outside(branch, state);
	note_children_after(branch, phase);
	if (draft->locked)			/* locked before the slice is written */
		slice->locked = slice->no_more_claims = true;
	count_transition(slice, draft, branch, stimulus->kind, state);
}

/*
 * May a slice go on with a join that it has begun?  If a child has failed, the join has to
 * abort the others, which a slice of its own does.
 */
static bool
may_go_on(const SfSlice *slice, const SfDraft *draft)
{
	return !slice->no_more_claims && !is_by_itself(slice->request) &&
		draft->execution_end == NULL && !sf_draft_has_failure(draft) && !sf_slice_is_used_up(slice);
}

/* May a slice run a child that it has begun? */
static bool
may_run_child(const SfSlice *slice, const SfDraft *draft)
{
	return may_go_on(slice, draft) && slice->nchildren < MAX_NEW_CHILDREN;
}

/* Run a child that a join has begun; false: the others need not wait for it, nor be announced. */
static bool
run_new_child(SfSlice *slice, SfDraft *draft, SfBranch *join, SfBranch *child,
			  SfStimulus *stimulus)
{
	slice->nchildren++;
	make_stimulus(draft, child, stimulus);
	proceed(slice, draft, child, stimulus);
	if (child->phase == SF_PHASE_ANNOUNCED)
		return false;
	sf_new_children_count_end(draft, join);
	return true;
}

/* Jobs of a net that a slice has run */
typedef struct JobsRun
{
	int			n;
	int			nshort;			/* of these, that took a small share of a slice */
} JobsRun;

/* Run a job of a net; false: the others need not wait for it. */
static bool
run_new_job(SfSlice *slice, SfDraft *draft, SfBranch *join, SfBranch *job,
			SfStimulus *stimulus, JobsRun *ran)
{
	double		before;

	sf_dependents_give_input(draft, job, join);
	/* what it reads for all jobs of the slice is not its own time */
	sf_dependents_read_shared(draft, job);
	before = elapsed_ms(slice);
	if (!run_new_child(slice, draft, join, job, stimulus))
		return false;
	ran->n++;
	if ((elapsed_ms(slice) - before) * MIN_SHORT_JOBS <= slice->request->slice_ms)
		ran->nshort++;
	return true;
}

/*
 * Are the jobs of a net short, by those that a slice has run?  One that has waited for the
 * processor is no sign that they are not; nor is a net to which the slice came when its
 * time was up.  But a slice that has nothing else to do must run a job.
 */
static bool
are_short(const SfSlice *slice, const SfBranch *join, const JobsRun *ran)
{
	if (is_by_itself(slice->request))
		return false;
	if (ran->n == 0)
		return join->work.children != SF_CHILDREN_RESUMED || slice->result->transitions > 1;
	return ran->n >= MIN_SHORT_JOBS || 2 * ran->nshort >= ran->n;
}

/*
 * Run the jobs of a net that has begun in this slice, or goes on in it: those that are
 * ready, and those that become so.  True: all that can have run.
 */
static bool
run_new_jobs(SfSlice *slice, SfDraft *draft, SfBranch *join, int first,
			 SfStimulus *stimulus)
{
	JobsRun		ran = {0};
	SfBranch   *job = join;

	if (join->work.children == SF_CHILDREN_RESUMED)
		sf_dependents_load(draft, join);
	else
		sf_dependents_note_begun(draft, join, first);
	while (may_run_child(slice, draft) && (job = sf_dependents_next(draft, join)) != NULL)
	{
		if (run_new_job(slice, draft, join, job, stimulus, &ran))
			continue;
		sf_dependents_leave(draft, join, false);
		return false;
	}
	sf_dependents_leave(draft, join, job != NULL && are_short(slice, join, &ran));
	/* where outputs are in rows that this slice changes, another one joins them */
	return job == NULL && (join->work.children != SF_CHILDREN_RESUMED || join->work.net->ends != NULL);
}

/*
 * Run the children that a join has begun in this slice, from an index of the draft on,
 * and make its next stimulus: children that end here never have a row.  False: the join
 * waits for others, or a later slice goes on.
 */
static bool
run_new_children(SfSlice *slice, SfDraft *draft, SfBranch *join, int first,
				 SfStimulus *stimulus)
{
	int			end = list_length(draft->branches);

	check_stack_depth();
	if (is_by_itself(slice->request))
		slice->result->left_unrun = true;
	if (draft->program->states[join->state].type == SF_STATE_JOBNET)
	{
		if (!run_new_jobs(slice, draft, join, first, stimulus))
			return false;
		end = first;
	}
	for (int i = first; i < end; i++)
	{
		SfBranch   *child = list_nth(draft->branches, i);

		if (child->parent_no != join->key.branch_no)
			continue;
		if (!may_run_child(slice, draft) ||
			!run_new_child(slice, draft, join, child, stimulus))
			return false;
	}
	if (join->due_at == DT_NOEND || sf_join_course(join) != SF_JOIN_GOES_ON || !may_go_on(slice, draft))
		return false;
	make_stimulus(draft, join, stimulus);
	return true;
}

/*
 * Make the stimulus for the branch's next transition; if the last transition asked
 * for a task, have it run first, and if it began children (first is the index of the
 * first one in the draft), these.  False: the branch rests or has ended, or goes on in
 * a later slice.
 */
static bool
next_stimulus(SfSlice *slice, SfDraft *draft, SfBranch *branch, int first,
			  SfStimulus *stimulus)
{
	switch (draft->transition.next)
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
			return branch->phase == SF_PHASE_JOIN &&
				branch->work.children != SF_CHILDREN_STORED &&
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
 * End an item execution whose Distributed Map has ended.  If this slice has effects
 * of the execution to write, make the branch due again instead: a later slice ends
 * the execution.  So it is if the Map was redriven until the execution was locked.
 */
static void
end_orphan(SfSlice *slice, SfDraft *draft, const SfBranch *branch)
{
	SfError		none = sf_error_make(NULL, NULL);
	bool		has_effects = draft->branches != NIL || draft->events != NIL;

	slice->no_more_claims = true;
	if (!has_effects)
		sf_draft_lock(draft);
	if (!has_effects && sf_draft_is_orphan(draft, branch))
		sf_draft_end_execution(draft, SF_STIMULUS_ORPHANED, &none);
	else
		sf_hooks.due(branch->key, branch->owner, GetCurrentTimestamp());
}

/* End an execution whose time is up, or that is to stop. */
static void
end_execution(SfDraft *draft, const SfBranch *branch)
{
	SfError		error = sf_step_branch_error(branch);
	bool		late = branch->phase == SF_PHASE_TIMEOUT;

	sf_draft_end_execution(draft, late ? SF_STIMULUS_TIMED_OUT : SF_STIMULUS_STOPPED, &error);
}

/* Advance a claimed branch until it rests. */
static void
advance(SfSlice *slice, SfDraft *draft, SfBranch *branch)
{
	SfStimulus	stimulus = {.kind = SF_STIMULUS_OVER};

	if (branch->phase == SF_PHASE_ENTER && sf_branch_input(branch) == NULL)
		sf_dependents_give_input(draft, branch, NULL);
	if (draft->execution->status != SF_STATUS_RUNNING)
	{
		step(slice, draft, branch, &stimulus);
		return;
	}
	if (sf_phase_is_of_execution(branch->phase))
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
		stimulus.aborted.after_event = SF_CHAIN;
		proceed(slice, draft, branch, &stimulus);
		return;
	}
	if (!sf_slice_in_session(slice->request))
		sf_dispatch_refuse_condemned(branch->key);
	if (branch->phase == SF_PHASE_ANNOUNCED)
	{
		SfError		throttled = sf_error_make(NULL, NULL);
		SfGateVerdict gate = sf_slice_in_session(slice->request) ?
			come_to_gate(slice, draft, branch, &throttled) : SF_GATE_OPEN;

		if (!sf_gate_lets_pass(gate))
			return;
		if (gate == SF_GATE_THROTTLED)
			stimulus = (SfStimulus) {.kind = SF_STIMULUS_TASK,.outcome.error = throttled};
		else if (!sf_dispatch_run_announced(slice, draft, branch, &stimulus))
			return;
	}
	else
		make_stimulus(draft, branch, &stimulus);
	proceed(slice, draft, branch, &stimulus);
}

/* Claim and advance one branch; parked: also if it waits in a queue. */
bool
sf_slice_claim_one(SfSlice *slice, SfBranchKey key, bool parked)
{
	SfDraft	   *draft;
	SfBranch   *branch = sf_claim(slice, key, parked, &draft);

	if (branch == NULL)
		return false;
	slice->result->end = SF_SLICE_END_WORKED;
	slice->claimed = key;
	advance(slice, draft, branch);
	/* a failure may have made a join due that is to abort the others at once */
	if (is_by_itself(slice->request) || sf_draft_has_failure(draft) ||
		slice->nchildren >= MAX_NEW_CHILDREN)
		slice->no_more_claims = true;
	return true;
}
