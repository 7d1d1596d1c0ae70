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

#include "run/draft/draft.h"
#include "store/map_run/map_run.h"

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

/* --- apply_map_run.c, apply_write.c: runs of a Distributed Map --- */

extern SfMapRun *sf_apply_map_run_of(const SfBranch *branch);
extern int	sf_apply_abort_items(const SfDraft *draft, SfBranchKey parent, int64 map_run_no);

/* --- apply_rows.c: single rows, at once --- */

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
extern void sf_apply_delete_all(const SfExecution *execution);
extern void sf_apply_put_off(SfBranchKey key, int ms);
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

/* --- apply_nested.c --- */

extern int64 sf_nested_epoch_ms(TimestampTz at);

/* What a .sync task gets from a nested execution that has succeeded, or its cause. */
extern Jsonb *sf_nested_output(const SfExecution *nested, const SfResource *resource);
extern char *sf_nested_failure(const SfExecution *nested);

extern void sf_nested_stop(const SfExecution *parent, int64 branch_no);

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
