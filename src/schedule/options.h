/*
 * options.h
 *		Options of schedules that are words.
 */
#ifndef SF_SCHEDULE_OPTIONS_H
#define SF_SCHEDULE_OPTIONS_H

/* What becomes of a picked day that is closed */
#define SF_ON_CLOSED_LIST(X) \
	X(SKIP, "skip") \
	X(PREVIOUS, "previous")		/* the last open day before it */ \
	X(NEXT, "next")				/* the first open day after it */ \
	X(RUN, "run")

/* What becomes of runs that were due and did not come */
#define SF_MISSED_LIST(X) \
	X(RUN_ONCE, "run_once")		/* the latest one runs */ \
	X(RUN_ALL, "run_all")		/* they run, one after the other */ \
	X(SKIP, "skip")

/* What becomes of a run that is due while the one before still runs */
#define SF_OVERLAP_LIST(X) \
	X(SKIP, "skip") \
	X(QUEUE, "queue")			/* it waits */ \
	X(PARALLEL, "parallel")

#define SF_ON_CLOSED_ENUM(sym, name) SF_ON_CLOSED_##sym,
typedef enum SfOnClosed
{
	SF_ON_CLOSED_LIST(SF_ON_CLOSED_ENUM)
} SfOnClosed;

#define SF_MISSED_ENUM(sym, name) SF_MISSED_##sym,
typedef enum SfMissed
{
	SF_MISSED_LIST(SF_MISSED_ENUM)
} SfMissed;

#define SF_OVERLAP_ENUM(sym, name) SF_OVERLAP_##sym,
typedef enum SfOverlap
{
	SF_OVERLAP_LIST(SF_OVERLAP_ENUM)
} SfOverlap;

extern SfOnClosed sf_option_on_closed(const char *text);
extern SfMissed sf_option_missed(const char *text);
extern SfOverlap sf_option_overlap(const char *text);

#endif							/* SF_SCHEDULE_OPTIONS_H */
