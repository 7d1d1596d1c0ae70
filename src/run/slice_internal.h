/*
 * slice_internal.h
 *		What the parts of a slice share: slice.c (the turn), claim.c (taking
 *		branches), dispatch.c (having tasks carried out).
 */
#ifndef SF_RUN_SLICE_INTERNAL_H
#define SF_RUN_SLICE_INTERNAL_H

#include "run/driver.h"
#include "run/slice.h"
#include "machine/step.h"
#include "portability/instr_time.h"

typedef struct SfSlice
{
	const SfSliceRequest *request;
	SfSliceResult *result;
	MemoryContext context;		/* lives until the slice has been written */
	instr_time	began;
	Oid			owner;			/* of all branches; InvalidOid: none yet */
	List	   *runs;
	int			subxacts;
	int			ntasks;			/* SQL tasks that were run here */
	bool		no_more_tasks;	/* an execution is locked: no user code */
	bool		no_more_claims; /* finish what is in hand, then commit */
	bool		full;			/* commit as soon as possible */
	bool		announced;		/* a long task was announced */
} SfSlice;

/* --- claim.c --- */

/* Forget the branches of the slice before; remember one of this. */
extern void sf_claim_forget(void);
extern void sf_claim_remember(SfBranchKey key);

/* Claim a branch, if it is due and free and belongs to the slice's owner. */
extern SfBranch *sf_claim(SfSlice *slice, SfBranchKey key, SfRun **run);

/* Has the join above a branch given up, so that the branch has to end? */
extern bool sf_claim_is_aborted(const SfRun *run, const SfBranch *branch);

/* Is its execution the child of a Distributed Map that is over? */
extern bool sf_claim_is_orphan(const SfRun *run, const SfBranch *branch);

/* --- dispatch.c --- */

/*
 * Carry out what a Task state asks for.  True: *stimulus has its outcome;
 * false: the branch rests (announced, handed out, or left for the next slice).
 */
extern bool sf_dispatch(SfSlice *slice, SfRun *run, SfBranch *branch,
						const SfStep *step, SfStimulus *stimulus);

/* An announced task comes by: run it here (session), or say that it is there. */
extern bool sf_dispatch_announced(SfSlice *slice, SfRun *run, SfBranch *branch,
								  SfStimulus *stimulus);

/* May this slice have a claimed branch, which may be an announced task? */
extern bool sf_dispatch_is_for_us(SfSlice *slice, const SfRun *run,
								  const SfBranch *branch);

#endif							/* SF_RUN_SLICE_INTERNAL_H */
