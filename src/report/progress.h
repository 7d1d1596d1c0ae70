/*
 * progress.h
 *		How far an execution has come.
 */
#ifndef SF_REPORT_PROGRESS_H
#define SF_REPORT_PROGRESS_H

#include "report/remaining.h"
#include "store/status.h"

/* Where a running execution stands */
typedef struct SfStanding
{
	char	   *waiting_on;		/* NULL: nothing */
	char	   *next;			/* Tasks that come next; NULL: none */
	int64		rest_us;		/* that it still takes; -1: not known */
} SfStanding;

extern SfStanding sf_progress_standing(const SfProgram *program, const SfRemaining *remaining,
									   int64 execution_no, TimestampTz now);
extern bool sf_progress_jobs(const SfStatusExecution *execution, const SfProgram *program,
							 int *done, int *total);

#endif							/* SF_REPORT_PROGRESS_H */
