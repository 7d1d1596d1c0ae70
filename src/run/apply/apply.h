/*
 * apply.h
 *		Carry the effects of transitions out: the only way to the rows of
 *		executions, branches, events, tasks and map runs.
 *
 * Only the files apply*.c call the functions of store/ that write these rows;
 * test/lint/door checks it.  Purge, load and administration are apart.
 */
#ifndef SF_RUN_APPLY_H
#define SF_RUN_APPLY_H

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
	List	   *waits;			/* SfFeatureWait */
	List	   *item_executions;	/* SfItemExecution, until the transition is applied */
	List	   *item_roots;	/* SfBranch: the roots of those that begin */
	SfExecutionEnd *execution_end;	/* NULL: it does not end */
	SfTally		tally;			/* what is counted */
	List	   *changes;		/* SfChange, where rules want to know of them */
	SfBranch   *net_branch;		/* the JobNet whose input was read last, or NULL */
	bool		began;			/* it begins in this draft */
	bool		redrive_allowed;	/* by a feature (may_begin) that is told so (on_begun): it goes on */
	const char *line;			/* of a feature (may_begin), in which it is the only one that may go on; NULL: none */
	const void *const *compiled;	/* what features have made of the options of its version (SF_COMPILED) */
	void	   *taken;			/* what the feature that takes something before steps (may_begin) notes of that */
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

/* What a session changes of a Map run while it runs: what is set, and to what */
typedef struct SfMapRunLimits
{
	bool		sets_max_concurrency;
	bool		sets_tolerated_count;
	bool		sets_tolerated_percentage;
	int			max_concurrency;	/* or SF_UNLIMITED */
	int			tolerated_count;
	double		tolerated_percentage;
} SfMapRunLimits;

/* --- apply.c --- */

extern void sf_apply(SfDraft *draft, SfBranch *branch, const SfTransition *transition);

/* --- apply_draft.c: drafts --- */

extern SfDraft *sf_draft_make(SfExecution *execution);
extern void sf_draft_note_status(SfDraft *draft, SfStatus status, TimestampTz at);
extern SfDraft *sf_draft_make_locked(SfExecution *execution);
extern void sf_draft_add_branch(SfDraft *draft, SfBranch *branch);
extern void sf_draft_add_event(SfDraft *draft, SfHistoryEventType type, Jsonb *extra,
							   TimestampTz at);
extern void sf_draft_event_is_of(SfDraft *draft, const SfBranch *branch);
extern void sf_draft_add_timeout(SfDraft *draft);
extern void sf_apply_delete_all(const SfExecution *execution);
extern void sf_draft_delete_branch(SfDraft *draft, SfBranch *branch);
extern bool sf_draft_has_failure(const SfDraft *draft);
extern bool sf_draft_is_aborted(const SfDraft *draft, const SfBranch *branch);
extern bool sf_draft_is_orphan(const SfDraft *draft, const SfBranch *branch);

/* --- apply_lock.c --- */

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
extern void sf_apply_put_off(SfBranchKey key, int ms);

/* --- apply_map_run.c, apply_write.c: runs of a Distributed Map --- */

extern SfMapRun *sf_apply_map_run_of(const SfBranch *branch);
extern int	sf_apply_abort_items(const SfDraft *draft, SfBranchKey parent, int64 map_run_no);

/* --- apply_draft.c: single rows, at once --- */

extern bool sf_apply_insert(SfExecution *execution);	/* false: id is taken */
extern void sf_apply_insert_all(SfExecution *const *executions, int n, bool *inserted);
extern void sf_apply_branch(SfBranch *branch);
extern void sf_apply_branches(List *branches);
extern void sf_apply_request(const SfExecution *execution, SfStartOutcome outcome,
							 bool input_differs);
extern void sf_apply_labels(SfExecution *execution, Jsonb *labels);
extern void sf_apply_note_resumed(const SfExecution *execution);
extern void sf_apply_orphan(SfBranchKey key);
extern bool sf_apply_set_owner(SfBranchKey key, Oid from, Oid to);
extern void sf_apply_set_back(Oid owner, TimestampTz now, int64 by);

extern int64 sf_apply_unpark_object(const char *feature, int64 object_no);
extern void sf_apply_unpark_queues(const char *feature, int64 object_no);
extern bool sf_apply_unpark_next(const char *feature, int64 execution_no);
extern void sf_apply_unpark_within(SfQueue queue, int64 execution_no);
extern void sf_apply_unpark_items(int64 execution_no);
extern void sf_apply_arrived(SfArg executions, const Jsonb *parked);
extern bool sf_apply_recall(SfBranchKey key);

extern void sf_apply_stop_request(int64 execution_no, Oid owner, TimestampTz due,
								  char *cause);
extern void sf_apply_take_back_stops(const List *executions);

/* --- apply_write.c --- */

extern void sf_drafts_write(List *drafts);

/* --- apply_task.c --- */

extern List *sf_apply_claim_tasks(const SfActivity *activity, const char *worker,
								  int max_tasks);
extern void sf_apply_answer(SfTask *task, bool ok, const Jsonb *output,
							const char *error, const char *cause);
extern void sf_apply_answer_branch(SfBranchKey key, bool ok, const Jsonb *output, const char *error,
								   const char *cause);
extern void sf_apply_heartbeat(SfTask *task, int64 lease_ms);
extern void sf_apply_task_migrated(SfTask *task, int state);

/* --- apply_map_run.c --- */

extern void sf_apply_map_run(const SfMapRun *map_run);
extern bool sf_apply_map_run_limits(int64 execution_no, int64 map_run_no, const SfMapRunLimits *limits);
extern SfItemWriter *sf_apply_items_open(const SfMapRun *map_run, int first);
extern void sf_apply_item(SfItemWriter *writer, const Jsonb *item);
extern void sf_apply_items_close(SfItemWriter *writer);
extern void sf_apply_items_read(const SfMapRun *map_run, int total, bool keyed);
extern int	sf_apply_items_put(const SfMapRun *map_run, const Jsonb *items, int first);

#endif							/* SF_RUN_APPLY_H */
