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

/* What a filter of executions has in the place of a status if any will do */
#define SF_ANY_STATUS	(-1)

extern const char *sf_status_name(SfStatus status);

#endif							/* SF_STORE_STATUS_H */
