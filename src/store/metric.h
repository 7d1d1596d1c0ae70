/*
 * metric.h
 *		Counters of state machines, as increments.
 *
 * What a slice counts commits with it, as one row of _sfflow.metric_increment per
 * state machine; such a row is inserted, and deleted when metric_fold.c has added
 * it to the tables of counters.  docs/decisions/metrics.md says why.
 */
#ifndef SF_STORE_METRIC_H
#define SF_STORE_METRIC_H

#include "nodes/pg_list.h"
#include "utils/timestamp.h"

/* What is counted.  Stored: numbers never change.  A number of 0 to 7 */
typedef enum SfMetricKind
{
	SF_METRIC_STARTED = 0,		/* executions */
	SF_METRIC_REDRIVEN = 1,
	SF_METRIC_TRANSITIONS = 2,	/* states entered */
	SF_METRIC_ENDED = 3,		/* an execution, with a status, after microseconds */
	SF_METRIC_TASK = 4,			/* a task of a state has succeeded, after microseconds */
	SF_METRIC_TASK_FAILED = 5,	/* ... or failed */
	SF_METRIC_RETRIED = 6,		/* a state, because of an error */
	SF_METRIC_THROTTLED = 7		/* starts that a quota refused */
} SfMetricKind;

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

extern void sf_tally_end(SfTally *tally, int status, int64 us);
extern void sf_tally_task(SfTally *tally, int state, int64 us);
extern void sf_tally_retry(SfTally *tally, int state, const char *error);

extern void sf_metric_write(List *tallies, TimestampTz at);
extern int	sf_metric_written(void);
extern void sf_metric_forget_written(void);

/* One observation, or a number of them, read from an increment */
typedef struct SfMetric
{
	int			machine_no;
	int			version;
	TimestampTz at;
	SfMetricKind kind;
	int			state;			/* ENDED: the status */
	int64		number;			/* microseconds, or how many */
	char		error[SF_METRIC_ERROR_SIZE];	/* RETRIED */
} SfMetric;

typedef void (*SfMetricVisitor) (const SfMetric *metric, void *arg);

/* Increments that were not folded, and where each stands */
typedef struct SfIncrements
{
	List	   *tids;			/* ItemPointer, if wanted */
	bool		complete;		/* there are no more than were asked for */
} SfIncrements;

extern void sf_metric_visit(SfMetricVisitor visitor, void *arg, int limit,
							SfIncrements *increments);
extern void sf_metric_delete(const SfIncrements *increments);
extern bool sf_metric_is_there(void);

#endif							/* SF_STORE_METRIC_H */
