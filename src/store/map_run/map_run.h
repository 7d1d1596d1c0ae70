/*
 * map_run.h
 *		Rows of _sfflow.map_run and _sfflow.map_item: runs of Distributed Map
 *		states, and their items until they become the input of an item execution.
 */
#ifndef SF_STORE_MAP_RUN_H
#define SF_STORE_MAP_RUN_H

#include "store/execution/execution.h"

/* Columns of _sfflow.map_run; see sql/parts/store/map_run.sql. */
#define SF_MAP_RUN_COLUMNS(X) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(int64, map_run_no, INT8, NOT_NULL) \
	X(int64, branch_no, INT8, NOT_NULL)	/* that waits for the run */ \
	X(int, state, INT4, NOT_NULL) \
	X(char *, uuid, TEXT, NOT_NULL) \
	X(SfStatus, status, INT2, NOT_NULL) \
	X(int, redrive_count, INT4, NOT_NULL) \
	X(bool, keyed, BOOL, NOT_NULL)	/* items are the members of an object */ \
	X(int, max_items, INT4, NULL_IS(SF_UNLIMITED))	/* to read */ \
	X(int, max_items_per_batch, INT4, NULL_IS(SF_UNLIMITED)) \
	X(int64, max_bytes_per_batch, INT8, NULL_IS(SF_UNLIMITED)) \
	X(int, tolerated_count, INT4, NOT_NULL) \
	X(double, tolerated_percentage, FLOAT8, NOT_NULL) \
	X(int, max_concurrency, INT4, NULL_IS(SF_UNLIMITED))	/* the branch that waits for it has it, too */ \
	X(int, total, INT4, NOT_NULL)	/* items, so far as they have been read (sf_branch_is_reading) */ \
	X(int, children, INT4, NOT_NULL) \
	X(int, succeeded, INT4, NOT_NULL)	/* item executions that have ended, by status */ \
	X(int, failed, INT4, NOT_NULL) \
	X(int, timed_out, INT4, NOT_NULL) \
	X(int, aborted, INT4, NOT_NULL) \
	X(int, items_succeeded, INT4, NOT_NULL) \
	X(int, items_failed, INT4, NOT_NULL) \
	X(TimestampTz, started_at, TIMESTAMPTZ, NOT_NULL) \
	X(TimestampTz, stopped_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* not yet */ \
	X(int64, idle_us, INT8, NOT_NULL)	/* between its ends and its redrives */

typedef struct SfMapRun
{
	SF_MAP_RUN_COLUMNS(SF_FIELD)
} SfMapRun;

/* --- what a run counts of its item executions, in memory: the only functions that change these columns --- */

extern void sf_map_run_count_end(SfMapRun *map_run, SfStatus status, int items);
extern void sf_map_run_count_redriven(SfMapRun *map_run, SfStatus before, int items);

/* --- runs --- */

extern void sf_map_run_insert(const SfMapRun *map_run);
extern SfMapRun *sf_map_run_read(int64 execution_no, int64 map_run_no, SfLock lock);
extern List *sf_map_run_scan(int64 execution_no);
extern List *sf_map_run_numbers(int64 execution_no);
extern void sf_map_run_update(const SfMapRun *map_run);
extern void sf_map_run_set_limits(const SfMapRun *map_run);
extern int	sf_map_run_stop_all(int64 execution_no);
extern void sf_map_run_note_items(const SfMapRun *map_run, int total, bool keyed);

/* --- items --- */

typedef struct SfItemWriter SfItemWriter;

/* Add items to a run, in order from an index on; close within the same command. */
extern SfItemWriter *sf_map_item_open(int64 execution_no, int64 map_run_no,
									  int first);
extern void sf_map_item_insert(SfItemWriter *writer, const Jsonb *item);
extern void sf_map_item_close(SfItemWriter *writer);

extern int	sf_map_item_read(int64 execution_no, int64 map_run_no, int first,
							 int n, Jsonb **items);
extern void sf_map_item_delete(int64 execution_no, int64 map_run_no,
							   int first, int below);
extern void sf_map_item_delete_all(int64 execution_no);

/* --- item executions --- */

extern List *sf_map_run_running(int64 execution_no, int64 map_run_no, SfLock lock);
extern List *sf_map_run_unsuccessful(int64 execution_no, int64 map_run_no);
extern List *sf_map_run_tolerant(int64 execution_no);
extern void sf_map_run_redriven(int64 execution_no, int64 map_run_no, int *children, int *items);
extern int64 sf_map_run_result_size(int64 execution_no, int64 map_run_no,
									bool with_input);
extern bool sf_map_run_is_over(const SfExecution *execution, bool drains);

#endif							/* SF_STORE_MAP_RUN_H */
