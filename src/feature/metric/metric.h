/*
 * metric.h
 *		Counters of state machines: increments that were not folded yet, their sums, and the fold that adds them to the
 *		tables of counters.
 */
#ifndef SF_FEATURE_METRIC_H
#define SF_FEATURE_METRIC_H

#include "utils/hsearch.h"

#include "store/statistics/tally.h"

/* --- increments --- */

/* Increments that were not folded, and where each stands */
typedef struct SfIncrements
{
	List	   *tids;			/* ItemPointer, if wanted */
	bool		complete;		/* there are no more than were asked for */
} SfIncrements;

extern void sf_metric_delete(const SfIncrements *increments);
extern bool sf_metric_is_there(void);

/* --- sums, in the memory of a backend --- */

/* Counters of a state machine: the columns of the tables, in order */
#define SF_COUNTER_LIST(X) \
	X(started) X(succeeded) X(failed) X(aborted) X(timed_out) X(throttled) X(redriven) \
	X(transitions) X(retries)

/* Durations, in the order in which they were counted */
typedef struct SfDurations
{
	int64		sum;			/* PG_INT64_MAX: that or more */
	int			n;
	int			size;
	int64	   *us;
} SfDurations;

/* Of a state machine in an hour */
typedef struct SfMachineSums
{
	struct
	{
		TimestampTz hour;
		int64		machine_no;
	}			key;
#define SF_COUNTER_FIELD(name) int64 name;
	SF_COUNTER_LIST(SF_COUNTER_FIELD)
	SfDurations times;			/* of executions that have ended */
	bool		dropped;		/* an increment says that the machine was */
} SfMachineSums;

/* Of the tasks of a state in a day */
typedef struct SfJobSums
{
	struct
	{
		TimestampTz day;
		int			machine_no;
		int			version;
		int64		state;
	}			key;
	int64		failures;
	TimestampTz last_at;
	SfDurations times;			/* of those that have succeeded */
} SfJobSums;

/* Of the retries of a state because of an error */
typedef struct SfRetrySums
{
	struct
	{
		int			machine_no;
		int			version;
		int			state;
		char		error[SF_METRIC_ERROR_SIZE];
	}			key;
	int64		retries;
} SfRetrySums;

typedef struct SfMetricSums
{
	HTAB	   *machines;		/* SfMachineSums */
	HTAB	   *jobs;			/* SfJobSums */
	HTAB	   *retries;		/* SfRetrySums */
} SfMetricSums;

extern void sf_metric_sum(SfMetricSums *sums, int max_rows, SfIncrements *increments);
extern bytea *sf_metric_histogram(const SfDurations *times);
extern Datum sf_metric_recent(const SfDurations *times);
extern const char *sf_metric_state_name(int machine_no, int version, int state);

/* --- the fold --- */

/* After so many increments of its own a worker folds without waiting for its next scan */
#define SF_METRIC_FOLD_AT	1000

extern bool sf_metric_is_to_fold(void);
extern bool sf_metric_fold(void);
extern void sf_metric_reset_horizon(void);

#endif							/* SF_FEATURE_METRIC_H */
