/*
 * start_outcome.h
 *		What came of starts.
 */
#ifndef SF_STORE_START_OUTCOME_H
#define SF_STORE_START_OUTCOME_H

/*
 * Word, as sf_start_many returns it; the column outcome of _sfflow.start_request has all but STARTED,
 * since they are of calls that found an execution there.
 */
#define SF_START_OUTCOME_LIST(X) \
	X(STARTED, "started") \
	X(RUNNING, "running")		/* it runs, and nothing was done */ \
	X(SUCCEEDED, "succeeded")	/* it has succeeded, and nothing was done */ \
	X(SKIPPED, "skipped") \
	X(REPLACED, "replaced") \
	X(RESTARTED, "restarted") \
	X(REDRIVEN, "redriven")

#define SF_START_OUTCOME_ENUM(sym, word) SF_START_OUTCOME_##sym,
typedef enum SfStartOutcome
{
	SF_START_OUTCOME_LIST(SF_START_OUTCOME_ENUM)
} SfStartOutcome;

extern const char *sf_execution_start_outcome_name(SfStartOutcome outcome);

#endif							/* SF_STORE_START_OUTCOME_H */
