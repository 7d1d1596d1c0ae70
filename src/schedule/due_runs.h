/*
 * due_runs.h
 *		Starting the runs of schedules: when they are due, missed, or have waited.
 */
#ifndef SF_SCHEDULE_DUE_RUNS_H
#define SF_SCHEDULE_DUE_RUNS_H

#include "schedule/schedule_run.h"

extern char *sf_due_run_called(SfSchedule *schedule, TimestampTz now);
extern SfRunsLeft sf_due_runs_look(TimestampTz now);

#endif							/* SF_SCHEDULE_DUE_RUNS_H */
