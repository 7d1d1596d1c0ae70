/*
 * claim.c
 *		Taking branches for a slice.
 *
 * A slice claims a branch by locking its row, FOR UPDATE SKIP LOCKED; it locks the
 * execution later, when it is written.  Joins, timeouts and stop requests are
 * different: a slice locks their execution first, since the slices of a join's
 * children lock the execution and then the join's row.  A slice that has locked an
 * execution runs no more user code, because other slices wait for that lock when
 * they are written.
 *
 * If a session has locked a branch that is due, nothing tells a worker when it lets go:
 * so a worker that passes such a branch by has it looked at again (sf_hooks.branch_skipped).
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/hooks.h"
#include "base/time/timing.h"
#include "run/apply/apply.h"
#include "run/slice/dispatch.h"
#include "run/slice/slice_run.h"

/* Branches of one slice, for the run one by one after a failure */
#define MAX_TOUCHED		256

static SfBranchKey touched[MAX_TOUCHED];
static int	ntouched = 0;

/*
 * Branches that the last slice touched (also when it failed): valid until the
 * next slice.  Returns their number, at most size are copied.
 */
int
sf_claim_touched(SfBranchKey *keys, int size)
{
	int			n = Min(size, ntouched);

	memcpy(keys, touched, sizeof(SfBranchKey) * n);
	return n;
}

/* Forget the branches of the slice before. */
void
sf_claim_forget(void)
{
	ntouched = 0;
}

/* Has this slice taken a branch already? Its row is not written yet. */
static bool
is_touched(SfBranchKey key)
{
	for (int i = 0; i < ntouched; i++)
		if (sf_branch_key_equals(touched[i], key))
			return true;
	return false;
}

/* Remember a branch of this slice. */
void
sf_claim_remember(SfBranchKey key)
{
	if (ntouched < MAX_TOUCHED && !is_touched(key))
		touched[ntouched++] = key;
}

/* Put a key that this slice cannot use back into the ring, at its commit. */
static void
pass_over(const SfSlice *slice, SfBranchKey key, Oid owner)
{
	if (!sf_slice_in_session(slice->request))
		sf_hooks.due(key, owner, GetCurrentTimestamp());
}

/* Find the draft of an execution in this slice, or make it; NULL: not for us. */
static SfDraft *
find_draft(SfSlice *slice, SfBranchKey key)
{
	const SfSessionTerms *session = sf_slice_in_session(slice->request) ? sf_slice_session(slice->request) : NULL;
	Oid			only_owner = session != NULL ? session->only_owner : InvalidOid;
	SfExecution *execution;
	SfDraft	   *draft;
	ListCell   *lc;

	foreach(lc, slice->drafts)
	{
		draft = lfirst(lc);
		if (draft->execution->execution_no == key.execution_no)
			return draft;
	}
	execution = sf_execution_read(key.execution_no, SF_LOCK_NONE, false);
	if (execution == NULL)
	{
		sf_apply_orphan(key);
		return NULL;
	}
	if (OidIsValid(only_owner) && execution->owner != only_owner)
	{
		/* the machine may have another owner since */
		if (sf_apply_set_owner(key, only_owner, execution->owner))
			slice->result->end = SF_SLICE_END_WORKED;
		return NULL;
	}
	if (OidIsValid(slice->owner) && execution->owner != slice->owner)
		return NULL;
	draft = sf_draft_make(execution);
	draft->slice_drafts = &slice->drafts;
	draft->synchronous = session != NULL && session->synchronous && key.execution_no == session->execution_no;
	if (session == NULL)
		sf_draft_give_to_worker(draft, sf_slice_worker(slice->request)->lock_briefly ? SF_NEXT_ROW_LOCK_MS : SF_ROW_LOCK_MS);
	return draft;
}

/* Is this a join or a timeout whose time has come? */
static bool
is_due_under_lock(const SfSlice *slice, const SfBranch *branch, TimestampTz now)
{
	if (branch == NULL || branch->due_at == DT_NOEND)
		return false;
	if (branch->phase == SF_PHASE_TIMEOUT && slice->skip_waits)
		return true;
	return branch->due_at <= now &&
		sf_phase_is_claimed_under_lock(branch->phase);
}

/*
 * A branch cannot be had although it is due, so far as this transaction sees: if another one has
 * it locked, nothing tells us when that ends.
 */
static SfBranch *
pass_by(const SfSlice *slice, const SfBranch *branch, TimestampTz now)
{
	if (branch != NULL && branch->due_at <= now && !sf_slice_in_session(slice->request))
		sf_hooks.branch_skipped(branch->key, branch->owner, branch->due_at);
	return NULL;
}

/* Claim a join or a timeout: under the lock of its execution. */
static SfBranch *
claim_under_lock(SfSlice *slice, SfDraft *draft, SfBranchKey key)
{
	SfBranch   *branch = sf_branch_read_join(key, SF_LOCK_NONE);	/* no documents */
	SfBranch   *mine;
	TimestampTz now = GetCurrentTimestamp();

	if (!is_due_under_lock(slice, branch, now))
		return pass_by(slice, branch, now);
	if (draft->execution->status == SF_STATUS_RUNNING)
	{
		/*
		 * An execution is locked before its join is: leave this branch to the
		 * next slice, which claims it first.  In a session no other slice runs,
		 * so a join may be claimed here; a timeout or a stop may not, since it
		 * ends the execution, whose rows must be written by then.
		 */
		if (slice->drafts != NIL &&
			(!sf_slice_in_session(slice->request) || branch->phase != SF_PHASE_JOIN))
		{
			pass_over(slice, key, draft->execution->owner);
			slice->no_more_claims = true;
			return NULL;
		}
		sf_claim_remember(key); /* if it cannot be locked, this one is put off */
		sf_draft_lock(draft);
		slice->locked = true;
		slice->no_more_claims = true;
		/* whatever comes of this one: others have not been looked at */
		slice->result->end = SF_SLICE_END_WORKED;
	}
	mine = sf_branch_read(key, SF_LOCK_SKIP);
	if (mine == NULL)
		return pass_by(slice, branch, now);
	return is_due_under_lock(slice, mine, now) ? mine : NULL;
}

/*
 * Does an execution that had ended when we looked at it run again?  Its branch
 * is ours now, so that no session can redrive it from here on.
 */
static bool
was_redriven(const SfDraft *draft)
{
	SfExecution *now;

	if (draft->execution->status == SF_STATUS_RUNNING)
		return false;
	now = sf_execution_read(draft->execution->execution_no, SF_LOCK_NONE, false);
	return now != NULL && now->status == SF_STATUS_RUNNING;
}

/*
 * Take over when an execution began, if another slice began it between our look at
 * the execution and our claim of the branch: it must not begin again.
 */
static void
see_begin(SfDraft *draft, const SfBranch *branch)
{
	const SfExecution *now;

	if (draft->execution->started_at != DT_NOBEGIN || branch->entered_at == DT_NOBEGIN)
		return;
	now = sf_execution_read(draft->execution->execution_no, SF_LOCK_NONE, false);
	if (now != NULL)
		sf_draft_refresh(draft, now);
}

/* Claim a branch, if it is due (parked: or waits in a queue) and free and belongs to the slice's owner. */
SfBranch *
sf_claim(SfSlice *slice, SfBranchKey key, bool parked, SfDraft **draft)
{
	SfBranch   *branch;

	if (is_touched(key))
		return NULL;
	SF_DEBUG_POINT("read");
	*draft = find_draft(slice, key);
	if (*draft == NULL || (*draft)->execution_end != NULL)
		return NULL;
	SF_DEBUG_POINT("claim");
	branch = sf_branch_claim(key, SF_DEBUG_MUTATION("claim") ? SF_LOCK_NONE : SF_LOCK_SKIP,
							 GetCurrentTimestamp(),
							 (slice->skip_waits ? SF_CLAIM_WAITS : 0) | (parked ? SF_CLAIM_PARKED : 0));
	if (branch == NULL)
		branch = claim_under_lock(slice, *draft, key);
	if (branch == NULL)
		return NULL;
	if (sf_slice_in_session(slice->request))
		sf_hooks.branch_locked();
	if (was_redriven(*draft) && !SF_DEBUG_MUTATION("claim_redriven"))
	{
		sf_hooks.due(key, (*draft)->execution->owner, GetCurrentTimestamp());
		return NULL;
	}
	see_begin(*draft, branch);
	if (!sf_dispatch_is_for_us(slice, *draft, branch))
		return NULL;
	/* what is parked waits in a queue; or for a hold: not for us */
	if (sf_branch_is_parked(branch) && !sf_park_leave_queue(branch))
		return NULL;

	branch->owner = (*draft)->execution->owner;
	slice->drafts = list_append_unique_ptr(slice->drafts, *draft);
	slice->owner = (*draft)->execution->owner;
	sf_claim_remember(key);
	if (ntouched == MAX_TOUCHED)
		slice->no_more_claims = true;
	if (!sf_slice_in_session(slice->request))
		sf_hooks.branch_claimed(key, slice->owner);
	return branch;
}
