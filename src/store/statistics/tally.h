/*
 * tally.h
 *		What slices count of state machines, as increments of counters.
 *
 * What a slice counts commits with it, as one row of _sfflow.metric_increment per
 * state machine; such a row is inserted, and deleted when the feature metric has added
 * it to the tables of counters.  docs/decisions/metrics.md says why.
 */
#ifndef SF_STORE_TALLY_H
#define SF_STORE_TALLY_H

#include "nodes/pg_list.h"

#include "db/row.h"
#include "store/execution/status.h"

/* What is counted.  Stored: numbers never change. */
#define SF_METRIC_LIST(X) \
	X(STARTED, 0)				/* executions */ \
	X(REDRIVEN, 1) \
	X(TRANSITIONS, 2)			/* states entered */ \
	X(ENDED, 3)					/* an execution, with a status, after microseconds */ \
	X(TASK, 4)					/* a task of a state has succeeded, after microseconds */ \
	X(TASK_FAILED, 5)			/* ... or failed */ \
	X(RETRIED, 6)				/* a state, because of an error */ \
	X(THROTTLED, 7)				/* starts that a quota refused */

#define SF_METRIC_ENUM(sym, number) SF_METRIC_##sym = number,
typedef enum SfMetricKind
{
	SF_METRIC_LIST(SF_METRIC_ENUM)
} SfMetricKind;

/*
 * The counts of an increment, as stored: a byte for the version of the form; then
 * observations.  Each is two varints: kind + SF_METRIC_KINDS x state, and a number.  RETRIED has
 * the name of the error after it: a varint for its length, and the bytes.
 */
#define SF_METRIC_FORM		1
#define SF_METRIC_KINDS		8

#define SF_METRIC_FITS(sym, number) && (number) < SF_METRIC_KINDS
StaticAssertDecl(true SF_METRIC_LIST(SF_METRIC_FITS), "more kinds than the form has room for need another form");

/* Columns of _sfflow.metric_increment; see sql/parts/store/statistics.sql. */
#define SF_METRIC_INCREMENT_COLUMNS(X) \
	X(int64, xid, INT8, NOT_NULL) \
	X(TimestampTz, at, TIMESTAMPTZ, NOT_NULL) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(int, version, INT4, NOT_NULL)	/* none: the machine was dropped */ \
	X(struct varlena *, counts, BYTES, NOT_NULL)

/* A row of it */
typedef struct SfIncrement
{
	SF_METRIC_INCREMENT_COLUMNS(SF_FIELD)
} SfIncrement;

/* Longer names of errors are cut */
#define SF_METRIC_ERROR_SIZE	128

/* What an execution has counted in a slice */
typedef struct SfTally
{
	int			machine_no;
	int			version;
	int			started;
	int			redriven;
	int			transitions;
	int			throttled;
	int			length;			/* of what else there is, as stored */
	int			size;
	uint8	   *bytes;
} SfTally;

extern void sf_tally_end(SfTally *tally, SfStatus status, int64 us);
extern void sf_tally_task(SfTally *tally, int state, int64 us);
extern void sf_tally_failed_task(SfTally *tally, int state);
extern void sf_tally_retry(SfTally *tally, int state, const char *error);

extern void sf_tally_write(List *tallies, TimestampTz at);
extern void sf_tally_write_dropped(int machine_no, TimestampTz at);
extern int	sf_tally_written(void);
extern void sf_tally_forget_written(void);

#endif							/* SF_STORE_TALLY_H */
