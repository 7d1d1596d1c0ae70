/*
 * planned.h
 *		The runs of a schedule that have no execution: those to come, and those that
 *		did not start.
 */
#ifndef SF_SCHEDULE_PLANNED_H
#define SF_SCHEDULE_PLANNED_H

#include "schedule/schedule_run.h"

/* A run without an execution */
typedef struct SfPlannedRun
{
	TimestampTz at;				/* DT_NOEND: the schedule has none */
	const char *state;			/* as sf_night shows it */
	const char *problem;		/* NULL: none */
} SfPlannedRun;

extern List *sf_planned_runs(const SfSchedule *s, TimestampTz since, TimestampTz until,
							 TimestampTz now);

#endif							/* SF_SCHEDULE_PLANNED_H */
