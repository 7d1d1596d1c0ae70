/*
 * slice_run.h
 *		Shared by the files that run a slice: slice.c (its loop), slice_queues.c (what
 *		waits in queues), claim.c (claims branches), advance.c (takes them through
 *		transitions), abort.c (ends children), dispatch.c (has tasks run).
 */
#ifndef SF_RUN_SLICE_RUN_H
#define SF_RUN_SLICE_RUN_H

#include "portability/instr_time.h"

#include "run/draft/draft.h"
#include "run/slice/slice.h"

typedef struct SfSlice
{
	const SfSliceRequest *request;
	SfSliceResult *result;
	MemoryContext context;		/* lives until the slice has been written */
	instr_time	began;
	Oid			owner;			/* of all branches; InvalidOid: none yet */
	bool		skip_waits;		/* Wait states and retry delays are due */
	SfBranchKey claimed;		/* the branch whose transitions are made now */
	List	   *drafts;
	int			subxacts;
	Size		bytes;			/* that its transitions take until it is written */
	int			ntasks;			/* SQL tasks that were run here */
	int			nchildren;		/* that were run here, and began here */
	bool		no_more_claims; /* finish what is in hand, then commit */
	bool		announced;		/* a long task was announced: commit as soon as possible */
	/* Others wait for locks that it has, so it enters no user code any more: */
	bool		locked;			/* that of an execution, */
	bool		held;			/* ... that of a hold, for which a branch waits (SF_GATE_HELD, SF_GATE_HOLD_CHANGES) */
} SfSlice;

/* May a slice enter user code? */
static inline bool
sf_slice_may_run_tasks(const SfSlice *slice)
{
	return !slice->locked && !slice->held;
}

/* Find what is left of the share of an owner; NULL: its tasks occupy no process. */
static inline const SfOwnerShare *
sf_slice_share_of(const SfSliceRequest *request, Oid owner)
{
	const SfWorkerTerms *worker;

	if (sf_slice_in_session(request))
		return NULL;
	worker = sf_slice_worker(request);
	for (int i = 0; i < worker->nshares; i++)
	{
		if (worker->shares[i].owner == owner)
			return &worker->shares[i];
	}
	return NULL;
}

/* --- claim.c --- */

/* Forget the branches of the slice before; remember one of this. */
extern void sf_claim_forget(void);
extern void sf_claim_remember(SfBranchKey key);

extern SfBranch *sf_claim(SfSlice *slice, SfBranchKey key, bool parked, SfDraft **draft);

/* --- advance.c --- */

extern bool sf_slice_claim_one(SfSlice *slice, SfBranchKey key, bool parked);
extern bool sf_slice_is_used_up(const SfSlice *slice);

/* --- abort.c: abort the children of a Parallel or Map state that gives up --- */

extern int	sf_abort_children(SfDraft *draft, SfBranch *parent, bool *child_locked);
extern TimestampTz sf_abort_recheck_at(const SfBranch *join, bool child_locked);

/* --- slice_queues.c --- */

extern bool sf_slice_claim_queue(SfSlice *slice, SfQueue queue);
extern void sf_slice_scan_queues(SfSlice *slice, bool *first);

#endif							/* SF_RUN_SLICE_RUN_H */
