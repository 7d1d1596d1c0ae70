/*
 * usual.h
 *		How long the jobs and the executions of a machine usually take.
 */
#ifndef SF_STORE_USUAL_H
#define SF_STORE_USUAL_H

#include "base/time/duration.h"
#include "db/row.h"

/* What the last runs of a job took, in the middle */
typedef struct SfUsualJob
{
	char	   *job;			/* name of the state */
	int64		us;
} SfUsualJob;

extern List *sf_usual_jobs(int machine_no);
extern int64 sf_usual_of_job(const List *usual, const char *job);
extern int64 sf_usual_execution_us(int machine_no);

#endif							/* SF_STORE_USUAL_H */
