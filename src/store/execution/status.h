/*
 * status.h
 *		Statuses of executions.
 */
#ifndef SF_STORE_STATUS_H
#define SF_STORE_STATUS_H

/* As stored: number, name.  SQL has them as @STATUS_RUNNING@ (sql/assemble.awk). */
#define SF_STATUS_LIST(X) \
	X(RUNNING, 0) \
	X(SUCCEEDED, 1) \
	X(FAILED, 2) \
	X(TIMED_OUT, 3) \
	X(ABORTED, 4)

#define SF_STATUS_ENUM(sym, number) SF_STATUS_##sym = number,
typedef enum SfStatus
{
	SF_STATUS_LIST(SF_STATUS_ENUM)
} SfStatus;

/* Of an execution that has a row in _sfflow.open_execution, and of one that has ended; SQL has them, too */
#define SF_STATUSES_OPEN	SF_STATUS_RUNNING, SF_STATUS_FAILED, SF_STATUS_TIMED_OUT, SF_STATUS_ABORTED
#define SF_STATUSES_ENDED	SF_STATUS_SUCCEEDED, SF_STATUS_FAILED, SF_STATUS_TIMED_OUT, SF_STATUS_ABORTED

extern const char *sf_status_name(SfStatus status);

/* --- what came of starts --- */

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

/* --- if exists: what becomes of an execution that is there already when one of its name is to be started --- */

/* The words of the argument if_exists, and of the column of _sfflow.rule */
#define SF_IF_EXISTS_LIST(X) \
	X(RESUME, "resume") \
	X(ERROR, "error") \
	X(SKIP, "skip") \
	X(RESTART, "restart") \
	X(REPLACE, "replace")

#define SF_IF_EXISTS_ENUM(sym, word) SF_IF_EXISTS_##sym,
typedef enum SfIfExists
{
	SF_IF_EXISTS_LIST(SF_IF_EXISTS_ENUM)
} SfIfExists;

#define SF_IF_EXISTS_WORD(sym, word) word,

/* Of a call that does not say */
#define SF_IF_EXISTS_OF_CALL	SF_IF_EXISTS_RESUME

/* Of a rule that does not say: a delivery that is repeated finds what the first one has started */
#define SF_IF_EXISTS_OF_RULE	SF_IF_EXISTS_SKIP

#endif							/* SF_STORE_STATUS_H */
