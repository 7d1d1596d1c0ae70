/*
 * job.h
 *		Jobs: the Task states of an execution with their status (3.4 of the
 *		design).
 */
#ifndef SF_REPORT_JOB_H
#define SF_REPORT_JOB_H

#include "asl/program.h"
#include "report/visits.h"
#include "store/execution/execution_head.h"

/* Job status: symbol, name */
#define SF_JOB_STATUS_LIST(X) \
	X(ENTRY, "entry") \
	X(RUNNING, "running") \
	X(SUCCESS, "success") \
	X(FAILURE, "failure") \
	X(SKIP, "skip")

#define SF_JOB_STATUS_ENUM(sym, name) SF_JOB_STATUS_##sym,
typedef enum SfJobStatus
{
	SF_JOB_STATUS_LIST(SF_JOB_STATUS_ENUM)
} SfJobStatus;

typedef struct SfJob
{
	int			state;			/* number of the Task state */
	int			niterations;
	int		   *iterations;		/* indexes of the Maps around it, outermost first */
	bool		reached;		/* if not, only the status means something */
	bool		is_next;		/* a branch is about to reach it */
	SfJobStatus status;
	int			attempts;		/* of all visits */
	TimestampTz started_at;		/* of the last visit; DT_NOBEGIN: unknown */
	TimestampTz stopped_at;		/* DT_NOEND: not yet, as the end of a visit (visits.h) */
	int64		duration;		/* of all visits, microseconds, or SF_NO_DURATION */
	int			input_event;	/* event that holds the payload, or SF_NO_EVENT */
	int			output_event;
	int			last_event;		/* of any type, or SF_NO_EVENT */
	const char *error;			/* or NULL */
	const char *cause;
	SfMarking	marking;
} SfJob;

extern List *sf_job_list(const SfExecutionHead *execution,
						 const SfProgram *program);
extern const char *sf_job_status_name(SfJobStatus status);
extern bool sf_job_has_stored_outcome(const SfBranch *branch, bool running);

#endif							/* SF_REPORT_JOB_H */
