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

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/hooks.h"
#include "run/apply/apply.h"
#include "run/apply/draft_advance.h"
#include "run/gate/gate.h"
#include "run/slice/slice_run.h"
#include "store/branch/park.h"

/* Keys taken from the due index at once, and at most while all are locked */
#define SCAN_SIZE		64
#define MAX_SCAN_SIZE	65536

/* Find what is due: of an execution and its item executions, or of an owner. */
static int
find_due(const SfSliceRequest *request, SfBranchKey *keys, int size)
{
	const SfSessionTerms *session = sf_slice_session(request);
	TimestampTz now = GetCurrentTimestamp();
	int			n;

	if (request->mode == SF_SLICE_MODE_OWNER)
		return sf_branch_due_of(session->only_owner, DT_NOBEGIN, now, keys, NULL, size);
	n = sf_branch_due(session->execution_no, now, session->skip_waits, keys, size);
	if (n == 0)
		n = sf_branch_due_items(session->execution_no, now,
								session->skip_waits, keys, size);
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
			if (slice->no_more_claims || (!*first && sf_slice_is_used_up(slice)))
				return;
			CHECK_FOR_INTERRUPTS();
			if (sf_slice_claim_one(slice, keys[i], false))
				*first = false;
		}
		pfree(keys);
		if (!*first || n < size)
			return;
	}
}

/*
 * Tell how the tasks of an owner are left, of whatever kind they are; NONE: the caller may have
 * some of them, or it depends on the task.
 */
static SfTasksLeft
all_left_as(const SfSliceRequest *request, Oid owner)
{
	const SfOwnerShare *share = sf_slice_share_of(request, owner);

	if (share == NULL)
		return SF_TASKS_LEFT_NONE;
	if (share->tasks == SF_OWNER_TASKS_NONE)
		return SF_TASKS_LEFT_CAPPED;
	if (sf_slice_worker(request)->new_owners_only && share->tasks == SF_OWNER_TASKS_ALL)
		return SF_TASKS_LEFT_RESERVED;
	return SF_TASKS_LEFT_NONE;
}

/* Add tasks of an owner to what is announced. */
void
sf_announced_add(SfAnnounced *announced, Oid owner, TimestampTz from)
{
	announced->from = Min(announced->from, from);
	for (int i = 0; i < announced->nowners; i++)
	{
		if (announced->owners[i] == owner)
			return;
	}
	/* if there are others, this may be one of them: it does not come before those */
	if (announced->nowners == SF_ANNOUNCERS && !announced->others)
	{
		announced->others = true;
		announced->upto = InvalidOid;
	}
	else if (!announced->others)
		announced->owners[announced->nowners++] = owner;
}

/* Add what a search has left to what was announced meanwhile: those whom it has left have their turns first. */
void
sf_announced_merge(SfAnnounced *announced, const SfAnnounced *left)
{
	SfAnnounced meanwhile = *announced;

	*announced = *left;
	for (int i = 0; i < meanwhile.nowners; i++)
		sf_announced_add(announced, meanwhile.owners[i], meanwhile.from);
	if (meanwhile.others && !announced->others)
	{
		announced->others = true;
		announced->upto = InvalidOid;
	}
	announced->from = Min(announced->from, meanwhile.from);
}

/* What a search for announced tasks has come to */
typedef struct Search
{
	TimestampTz from;			/* it looks for those that were announced then or later */
	bool		first;			/* the slice has taken no branch yet */
	bool		one_turn;		/* whose turn has come leaves the list */
	SfAnnounced *left;
} Search;

/* The turn of an owner has come, and some of his tasks are left for the next one. */
static void
leave_more(const Search *search, Oid owner, TimestampTz from)
{
	if (!search->one_turn)
		sf_announced_add(search->left, owner, from);
}

/* Of an owner's announced tasks, take at most one; false: go on to others. */
static bool
scan_announced_of(SfSlice *slice, Oid owner, Search *search)
{
	const SfSliceRequest *request = slice->request;
	SfBranchKey keys[SCAN_SIZE];
	TimestampTz dues[SCAN_SIZE];
	bool		took_first = false;
	SfTasksLeft all_left = all_left_as(request, owner);
	int			n = sf_branch_announced(owner, search->from, GetCurrentTimestamp(),
										keys, dues, SCAN_SIZE);

	if (n == 0)
		return false;
	if (all_left != SF_TASKS_LEFT_NONE)
	{
		slice->result->tasks_left |= all_left;
		leave_more(search, owner, dues[0]);
		return false;
	}
	if (!sf_slice_in_session(request) && (sf_slice_worker(request)->tasks & SF_SLICE_TASKS_LONG) == 0)
	{
		slice->result->tasks_left |= SF_TASKS_LEFT_TASK;
		sf_announced_add(search->left, owner, dues[0]);
		return true;
	}
	/* however long the search has taken, one is tried */
	for (int i = 0; i < n; i++)
	{
		if (slice->no_more_claims || (!search->first && sf_slice_is_used_up(slice)))
			break;
		if (sf_slice_claim_one(slice, keys[i], false))
		{
			search->first = false;
			took_first = took_first || (i == 0 && slice->announced);
		}
	}
	if (slice->announced && n > 1)
		slice->result->tasks_left |= SF_TASKS_LEFT_TASK;
	if (!took_first)
		leave_more(search, owner, dues[0]);
	else if (n > 1)
		leave_more(search, owner, dues[1]);
	return !search->first;
}

/*
 * Of what owners have announced, take at most one; false: none of it could be taken.
 * With thousands of owners, most searches end with one of the first.
 */
static bool
scan_announced_by(SfSlice *slice, const SfAnnounced *announced, Search *search)
{
	SfOwnerTurns turns = sf_slice_search(slice->request)->owners;
	bool		found = false;
	Oid			owner;

	*search->left = (SfAnnounced) {.from = DT_NOEND};
	search->one_turn = announced->others;
	turns.known = announced->owners;
	turns.nknown = announced->nowners;
	while (OidIsValid(owner = sf_branch_next_owner(&turns)))
	{
		CHECK_FOR_INTERRUPTS();
		if (found)
			sf_announced_add(search->left, owner, search->from);
		else
			found = scan_announced_of(slice, owner, search);
	}
	if (announced->others)
	{
		search->left->others = true;
		search->left->upto = announced->upto;
		search->left->from = search->from;
	}
	return found;
}

/*
 * List owners who have announced tasks, in the order of their turns: those that come behind
 * the last one who was listed.
 */
static void
find_announcers(SfOwnerTurns turns, SfAnnounced *announced)
{
	SfBranchKey key;
	Oid			owner;

	turns.last = turns.until = announced->upto;
	announced->others = false;
	announced->nowners = 0;
	while (!announced->others && OidIsValid(owner = sf_branch_next_owner(&turns)))
	{
		CHECK_FOR_INTERRUPTS();
		if (sf_branch_announced(owner, announced->from, GetCurrentTimestamp(), &key, NULL, 1) == 0)
			continue;
		if (announced->nowners == SF_ANNOUNCERS)
			announced->others = true;
		else
			announced->upto = announced->owners[announced->nowners++] = owner;
	}
}

/* Of what is announced, take at most one; or say that there is some. */
static void
scan_announced(SfSlice *slice)
{
	const SfSliceSearch *where = sf_slice_search(slice->request);
	SfAnnounced announced = *where->announced;
	Search		search = {.from = announced.from,.first = true,.left = where->announced};

	if (announced.from == DT_NOEND)
		return;
	if (!scan_announced_by(slice, &announced, &search) && announced.others)
	{
		find_announcers(where->owners, &announced);
		(void) scan_announced_by(slice, &announced, &search);
	}
	/* those of other owners do not wait for the end of the one that is taken */
	if (slice->announced && (search.left->nowners > 0 || search.left->others))
		slice->result->tasks_left |= SF_TASKS_LEFT_TASK;
}

/* Claim what the keys are of: branches, and what may begin in queues. */
static void
claim_keys(SfSlice *slice)
{
	const SfSliceKeys *keys = sf_slice_keys(slice->request);
	bool		first = true;

	for (int i = 0; i < keys->nkeys; i++)
	{
		const SfWorkKey *key = &keys->keys[i];

		if (slice->no_more_claims || (!first && sf_slice_is_used_up(slice)))
			break;				/* the caller keeps its other keys */
		slice->result->nkeys_tried++;
		if (key->kind == SF_WORK_KEY_QUEUE ? sf_slice_claim_queue(slice, key->of.queue) :
			sf_slice_claim_one(slice, key->of.branch, false))
			first = false;
	}
}

/* In a session: claim what is due, or else waits in queues; false: nothing could be claimed. */
static bool
claim_due(SfSlice *slice)
{
	bool		first = true;

	scan_due(slice, &first);
	if (first && sf_park_is_any_queued())
		sf_slice_scan_queues(slice, &first);
	return !first;
}

/* In a session: claim what is due of an owner, and a task that is announced. */
static void
claim_of_owner(SfSlice *slice)
{
	bool		took = claim_due(slice);
	SfAnnounced left = {.from = DT_NOEND};
	Search		search = {.from = DT_NOBEGIN,.first = !took,.left = &left};

	if (!slice->no_more_claims && (!took || !sf_slice_is_used_up(slice)))
		(void) scan_announced_of(slice, sf_slice_session(slice->request)->only_owner, &search);
}

/* Claim the branches that the request asks for. */
static void
claim_branches(SfSlice *slice)
{
	switch (slice->request->mode)
	{
		case SF_SLICE_MODE_KEYS:
			claim_keys(slice);
			break;
		case SF_SLICE_MODE_ANNOUNCED:
			scan_announced(slice);
			break;
		case SF_SLICE_MODE_BRANCH:
		case SF_SLICE_MODE_SESSION_BRANCH:
			/* it may be one that was taken from a queue before */
			(void) sf_slice_claim_one(slice, sf_slice_branch(slice->request), true);
			break;
		case SF_SLICE_MODE_EXECUTION:
			(void) claim_due(slice);
			break;
		case SF_SLICE_MODE_OWNER:
			claim_of_owner(slice);
			break;
	}
}

/* Take over the terms of a session for a slice. */
static void
begin_in_session(SfSlice *slice, const SfSessionTerms *session)
{
	slice->skip_waits = session->skip_waits;
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
	if (sf_slice_in_session(request))
		begin_in_session(&slice, sf_slice_session(request));
	slice.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow slice",
										  ALLOCSET_DEFAULT_SIZES);
	INSTR_TIME_SET_CURRENT(slice.began);
	sf_claim_forget();
	old = MemoryContextSwitchTo(slice.context);

	PushActiveSnapshot(GetTransactionSnapshot());
	claim_branches(&slice);
	SF_TELL_PROVIDER(queues, on_slice_ending);
	sf_drafts_write(slice.drafts);
	PopActiveSnapshot();
	if (slice.announced)
		SF_DEBUG_POINT("T1_commit");
	else
		SF_DEBUG_POINT("slice_commit");

	if (slice.announced)
		result->end = SF_SLICE_END_LONG_TASK;
	MemoryContextSwitchTo(old);
	if (sf_slice_in_session(request) && result->last.branch != NULL)
		result->last.branch = pstrdup(result->last.branch);
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
 * Fail the branch of a request with States.Runtime: its slice failed although the branch ran alone
 * (run/slice/slice.h), or the branch crashed the server too often.
 */
void
sf_slice_fail_branch(const SfSliceRequest *request, const char *cause)
{
	/* also an announced one, and one that sf_run() did not let wait */
	SfSliceRequest alone = {.mode = SF_SLICE_MODE_BRANCH,.length = SF_SLICE_LENGTH_ONE_BRANCH,
		.take.branch = sf_slice_branch(request),.worker.tasks = SF_SLICE_TASKS_ALL};
	SfSliceResult result = {0};
	SfSlice		slice;
	SfDraft	   *draft;
	SfBranch   *branch;

	memset(&slice, 0, sizeof(slice));
	slice.request = &alone;
	slice.result = &result;
	if (sf_slice_in_session(request))
		begin_in_session(&slice, sf_slice_session(request));
	slice.skip_waits = true;
	sf_claim_forget();
	PushActiveSnapshot(GetTransactionSnapshot());
	branch = sf_claim(&slice, sf_slice_branch(&alone), true, &draft);
	/* A branch of the execution is at no state that could fail. */
	if (branch != NULL && draft->execution->status == SF_STATUS_RUNNING && !sf_phase_is_of_execution(branch->phase))
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
