/*
 * execution.h
 *		Rows of _sfflow.execution.
 */
#ifndef SF_STORE_EXECUTION_H
#define SF_STORE_EXECUTION_H

#include "base/time/duration.h"
#include "store/branch/branch.h"
#include "store/execution/status.h"

/*
 * What an execution is to its parent.  The columns about the parent say it together (sf_execution_parent_kind);
 * sf_check() tells of rows in which they contradict each other (parent_wrong), and no CHECK refuses them
 * (sql/parts/store/execution.sql).
 */
typedef enum SfParentKind
{
	SF_PARENT_NONE,				/* it has none: none of the columns is set */
	SF_PARENT_GOES_ON,			/* it runs on its own: parent_execution_no and parent_branch_no */
	SF_PARENT_WAITS,			/* also parent_generation, of the branch that its end answers */
	SF_PARENT_MAP_RUN			/* not that, but map_run_no, map_index and map_items: its run counts its end */
} SfParentKind;

#define SF_NO_PARENT		0	/* parent_execution_no */
#define SF_NO_GENERATION	0	/* parent_generation: the parent does not wait */
#define SF_NO_MAP_ITEMS		(-1)

/* Where the index of an iteration of a Map, or of an item execution, may stand: it is none */
#define SF_NO_MAP_INDEX		(-1)

/* Features that compile options of versions, at most */
#define SF_MAX_OPTIONS	8

/*
 * Columns of _sfflow.execution; see sql/parts/store/execution.sql.  Those that its end
 * changes stand together, so that WAL has these alone: an update is logged from the
 * first byte that differs to the last one.
 */
#define SF_EXECUTION_COLUMNS(X) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(int, version, INT4, NOT_NULL) \
	X(int, redrive_count, INT4, NOT_NULL) \
	X(int, start_requests, INT4, NOT_NULL) \
	X(int64, parent_execution_no, INT8, NULL_IS(SF_NO_PARENT)) \
	X(int64, parent_branch_no, INT8, NULL_IS(SF_NO_BRANCH)) \
	X(int, parent_generation, INT4, NULL_IS(SF_NO_GENERATION)) \
	X(int64, map_run_no, INT8, NULL_IS(SF_NO_MAP_RUN))	/* no item execution */ \
	X(int, map_index, INT4, NULL_IS(SF_NO_MAP_INDEX))	/* its index among the executions of the run */ \
	X(int, map_items, INT4, NULL_IS(SF_NO_MAP_ITEMS))	/* items that it was given */ \
	X(TimestampTz, requested_at, TIMESTAMPTZ, NOT_NULL) \
	X(Oid, requested_by, REGROLE, NULL_IS(InvalidOid))	/* another execution */ \
	X(int, priority, INT2, NULL_IS(0))	/* in queues */ \
	X(char *, qualifier, TEXT, NULLABLE)	/* version or alias that the start named */ \
	X(char *, trace_header, TEXT, NULLABLE)	/* of the AWS API */ \
	X(char *, execution_id, TEXT, NOT_NULL) \
	X(SfStatus, status, INT2, NOT_NULL) \
	X(int, last_event_id, INT4, NOT_NULL) \
	X(TimestampTz, started_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* not yet */ \
	X(TimestampTz, stopped_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(TimestampTz, last_redriven_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN)) \
	X(int64, idle_us, INT8, NULL_IS(0))	/* between its ends and its redrives */ \
	X(Jsonb *, output, JSONB, NULLABLE)	/* from here on not in what is read in short */ \
	X(char *, error, TEXT, NULLABLE) \
	X(char *, cause, TEXT, NULLABLE) \
	X(Jsonb *, input, JSONB, NOT_NULL) \
	X(Jsonb *, labels, JSONB, NULLABLE)	/* read in short, too, as is the next one */ \
	X(char *, trace, TEXT, NULLABLE)	/* that it is part of */

/* The row of an execution, as this transaction has read it, and how it is to be written */
typedef struct SfExecutionRow
{
	ItemPointerData tid;		/* invalid: not known */
	bool		is_open;		/* it has a row of _sfflow.open_execution, too, … */
	SfStatus	open_status;	/* … with this status */
	bool		is_started_anew;	/* sf_execution_update_all writes input, labels and trace, too; else it leaves
									 * them as they are */
} SfExecutionRow;

/* How an execution is started: by a call, or when it begins */
typedef struct SfExecutionStart
{
	bool		has_own_priority;	/* it was given one, and does not have that of its machine */
	bool		has_new_uuid;	/* its name is a UUID that was made for it, so its id is not taken */
	const Jsonb *options;		/* for features (src/api/execution/start_options.c); NULL: there are none */
	TimestampTz at;				/* it begins then, or later; DT_NOBEGIN: at once */
	const char *of_features[SF_MAX_OPTIONS];	/* what they keep until it begins (SF_OF_START) */
} SfExecutionStart;

/* An execution: what is below the columns is not stored with it. */
typedef struct SfExecution
{
	SF_EXECUTION_COLUMNS(SF_FIELD)

	/* of its machine */
	char	   *machine_name;
	Oid			owner;

	SfExecutionRow row;
	SfExecutionStart start;
} SfExecution;

/* What is an execution to its parent? */
static inline SfParentKind
sf_execution_parent_kind(const SfExecution *execution)
{
	SfParentKind kind = execution->map_run_no != SF_NO_MAP_RUN ? SF_PARENT_MAP_RUN :
		execution->parent_generation != SF_NO_GENERATION ? SF_PARENT_WAITS :
		execution->parent_execution_no != SF_NO_PARENT ? SF_PARENT_GOES_ON : SF_PARENT_NONE;

	Assert((execution->parent_execution_no != SF_NO_PARENT) == (kind != SF_PARENT_NONE));
	Assert((execution->parent_branch_no != SF_NO_BRANCH) == (kind != SF_PARENT_NONE));
	Assert((execution->parent_generation != SF_NO_GENERATION) == (kind == SF_PARENT_WAITS));
	Assert((execution->map_index != SF_NO_MAP_INDEX) == (kind == SF_PARENT_MAP_RUN));
	Assert((execution->map_items != SF_NO_MAP_ITEMS) == (kind == SF_PARENT_MAP_RUN));
	return kind;
}

/* Has another execution started an execution? */
static inline bool
sf_execution_has_parent(const SfExecution *execution)
{
	return sf_execution_parent_kind(execution) != SF_PARENT_NONE;
}

/* Does a branch of the parent wait for the end of an execution?  Of a Distributed Map, the run does, and no branch. */
static inline bool
sf_execution_is_waited_for(const SfExecution *execution)
{
	return sf_execution_parent_kind(execution) == SF_PARENT_WAITS;
}

/* Is an execution that of an item, or of a batch, of a Distributed Map? */
static inline bool
sf_execution_is_of_item(const SfExecution *execution)
{
	return sf_execution_parent_kind(execution) == SF_PARENT_MAP_RUN;
}

/*
 * Make an execution that runs, has no parent, and has not begun; the caller says what it is of, and what is else.
 * Its fields are what a read of its row gives, but for its number and for who requests it when, which its insert sets.
 */
static inline SfExecution *
sf_execution_make(void)
{
	SfExecution *execution = palloc0(sizeof(SfExecution));

	execution->status = SF_STATUS_RUNNING;
	execution->start_requests = 1;
	execution->parent_execution_no = SF_NO_PARENT;
	execution->parent_branch_no = SF_NO_BRANCH;
	execution->parent_generation = SF_NO_GENERATION;
	execution->map_run_no = SF_NO_MAP_RUN;
	execution->map_index = SF_NO_MAP_INDEX;
	execution->map_items = SF_NO_MAP_ITEMS;
	execution->started_at = execution->stopped_at = execution->last_redriven_at = DT_NOBEGIN;
	execution->start.at = DT_NOBEGIN;
	return execution;
}

/* The name of an execution: what follows the colon of its id. */
static inline const char *
sf_execution_name(const SfExecution *execution)
{
	return strchr(execution->execution_id, ':') + 1;
}

/*
 * Microseconds for which an execution has run, without those between its ends and its redrives; SF_NO_DURATION:
 * it has not begun.
 */
static inline int64
sf_execution_took_us(TimestampTz started_at, TimestampTz stopped_at, int64 idle_us, TimestampTz now)
{
	return TIMESTAMP_NOT_FINITE(started_at) ? SF_NO_DURATION :
		Max((TIMESTAMP_NOT_FINITE(stopped_at) ? now : stopped_at) - started_at - idle_us, 0);
}

extern SfExecution *sf_execution_read(int64 execution_no, SfLock lock, bool full);
extern bool sf_execution_is_running(int64 execution_no);
extern bool sf_execution_is_there(int64 execution_no);
extern bool sf_execution_keep(int64 execution_no);
extern SfExecution *sf_execution_find(const char *execution_id, SfLock lock);
extern SfExecution *sf_execution_find_head(const char *execution_id);
extern bool sf_execution_insert(SfExecution *execution);
extern void sf_execution_insert_all(SfExecution *const *executions, int n, bool *inserted);
extern void sf_execution_update_all(List *executions);
extern void sf_execution_write_labels(const SfExecution *execution);
extern void sf_execution_check_all_seen(int machine_no);
extern List *sf_execution_waited_for(int64 execution_no, int64 branch_no);
extern List *sf_execution_results(int64 execution_no, int64 map_run_no, int first,
								  int n, bool with_input);
extern void sf_execution_note_request(const SfExecution *execution,
									  SfStartOutcome outcome, bool input_differs);

#endif							/* SF_STORE_EXECUTION_H */
