/*
 * draft.h
 *		An execution in the memory of a slice, or of a session, and the effects that
 *		are to be written of it; and the locks that it takes.
 *
 * What is collected here sf_drafts_write() writes (run/apply/apply_write.c).
 */
#ifndef SF_RUN_DRAFT_H
#define SF_RUN_DRAFT_H

#include "store/feature.h"
#include "store/map_run/map_run.h"
#include "store/statistics/tally.h"
#include "transition/transition.h"

/* A branch begins to wait for what a feature gives it; the feature's own struct begins with this */
typedef struct SfFeatureWait
{
	SfBranchKey key;
	int			generation;
	SfResourceKind kind;
} SfFeatureWait;

/* Who works on a draft */
typedef enum SfDraftBy
{
	SF_DRAFT_BY_SESSION,		/* a session, or one that only looks: it waits for locks, for any time */
	SF_DRAFT_BY_WORKER,			/* a worker: it locks within lock_wait_ms, or fails */
	SF_DRAFT_BY_OPERATION		/* a stop, redrive or abort; the caller has locked the execution */
} SfDraftBy;

/* An execution that a slice, or a session, works on, and the effects to be written */
typedef struct SfDraft
{
	MemoryContext context;		/* what is to last until the draft is written is allocated here */
	SfExecution *execution;
	const SfProgram *program;
	SfLoaded	loaded;			/* for its transitions */
	SfTransition transition;	/* the last one */
	Size		bytes;			/* that it takes until the draft is written */
	SfTask	   *token_task;		/* with the token of that one, or NULL */

	/* effects that are carried out when the draft is written */
	List	   *events;			/* SfHistoryEvent; ids -1, -2 … until then */
	List	   *branches;		/* SfBranch that changed, or are new */
	List	   *deltas;			/* SfParentDelta */
	List	   *tasks;			/* SfTask to hand out */
	List	   *closed_tasks;	/* SfTask that are over */
	List	   *dropped_tasks;	/* numbers of branches whose tasks, if they have any, are dropped, int64 * */
	List	   *waits;			/* SfFeatureWait */
	List	   *item_executions;	/* SfItemExecution, until the transition is applied */
	List	   *item_roots;	/* SfBranch: the roots of those that begin */
	SfExecutionEnd *execution_end;	/* NULL: it does not end */
	SfTally		tally;			/* what is counted */
	List	   *changes;		/* SfChange, where rules want to know of them */
	SfBranch   *net_branch;		/* the JobNet whose input was read last, or NULL */
	bool		began;			/* it begins in this draft */
	bool		redrive_allowed;	/* by a feature (admit) that is told so (on_begun): it goes on */
	const char *line;			/* of a feature (admit), in which it is the only one that may go on; NULL: none */
	const void *const *compiled;	/* what features have made of the options of its version (SF_COMPILED) */
	void	   *taken;			/* what the feature that takes something before steps (admit) notes of that */
	TimestampTz at;				/* when the next transition begins; DT_NOBEGIN: when it is made */

	List *const *slice_drafts;	/* of the slice that works on it, or NULL */
	bool		synchronous;	/* it runs within the call that started it */
	SfDraftBy	by;
	int			lock_wait_ms;	/* BY_WORKER */
	const struct SfDraft *ended_by; /* the draft of the execution with which this one ends; NULL: it does not */
	bool		locked;			/* the execution's row is locked by us */
	int			base_event_id;	/* last id in the table, once locked */
} SfDraft;

/* Does a worker work on a draft? */
static inline bool
sf_draft_is_by_worker(const SfDraft *draft)
{
	return draft->by == SF_DRAFT_BY_WORKER;
}

/* Have a worker work on a draft, which waits that long for locks. */
static inline void
sf_draft_give_to_worker(SfDraft *draft, int lock_wait_ms)
{
	draft->by = SF_DRAFT_BY_WORKER;
	draft->lock_wait_ms = lock_wait_ms;
}

/* For how long does the worker wait for a lock? */
static inline int
sf_draft_lock_wait_ms(const SfDraft *draft)
{
	Assert(sf_draft_is_by_worker(draft));
	return draft->lock_wait_ms;
}

/* Does an operation work on a draft: a stop, a redrive or an abort? */
static inline bool
sf_draft_is_by_operation(const SfDraft *draft)
{
	return draft->by == SF_DRAFT_BY_OPERATION;
}

/* --- draft.c --- */

extern SfDraft *sf_draft_make(SfExecution *execution);
extern void sf_draft_note_status(SfDraft *draft, SfStatus status, TimestampTz at);
extern SfDraft *sf_draft_make_locked(SfExecution *execution);
extern void sf_draft_add_branch(SfDraft *draft, SfBranch *branch);
extern void sf_draft_add_event(SfDraft *draft, SfHistoryEventType type, Jsonb *extra,
							   TimestampTz at);
extern void sf_draft_event_is_of(SfDraft *draft, const SfBranch *branch);
extern void sf_draft_add_timeout(SfDraft *draft);
extern void sf_draft_delete_branch(SfDraft *draft, SfBranch *branch);
extern bool sf_draft_has_failure(const SfDraft *draft);
extern bool sf_draft_is_aborted(const SfDraft *draft, const SfBranch *branch);
extern bool sf_draft_is_orphan(const SfDraft *draft, const SfBranch *branch);

/* --- draft_lock.c --- */

extern void sf_draft_refresh(SfDraft *draft, const SfExecution *now);
extern void sf_draft_lock(SfDraft *draft);

/*
 * A worker's slice raises ERRCODE_SF_EXECUTION_LOCKED when a session holds the
 * row of an execution (its number: sf_draft_locked_out()) for longer than a
 * moment.  Its branches are put off then, so that the worker is free for others.
 * So is a branch whose step needs something else that a session holds.
 */
extern void sf_draft_wait_briefly(const SfDraft *draft, void (*work) (void *arg), void *arg);
extern int64 sf_draft_locked_out(void);
extern void sf_drafts_lock(List *drafts, const SfDraft *last, TimestampTz now);
extern bool sf_draft_branch_rests(const SfBranch *branch, TimestampTz now);
extern SfBranch *sf_draft_lock_branch(const SfDraft *draft, SfBranchKey key);
extern SfBranch *sf_draft_lock_join(const SfDraft *draft, SfBranchKey key);
extern SfMapRun *sf_draft_lock_map_run(const SfDraft *draft, int64 execution_no, int64 map_run_no);

#endif							/* SF_RUN_DRAFT_H */
