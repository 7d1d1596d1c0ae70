/*
 * report.h
 *		What is told of executions: answers that are derived from branches and events.
 */
#ifndef SF_REPORT_REPORT_H
#define SF_REPORT_REPORT_H

#include "nodes/bitmapset.h"

#include "asl/program.h"
#include "graph/graph.h"
#include "store/branch/branch.h"
#include "store/execution/execution_head.h"

/* --- job_name.c: names of jobs and branches as views show them --- */

extern int	sf_job_enclosing_map(const SfProgram *program, int scope);
extern int	sf_job_distributed_map(const SfProgram *program, int scope);
extern char *sf_job_name(const SfProgram *program, int state,
						 const int *iterations, int niterations);
extern int *sf_job_iterations(const SfProgram *program, int state, const char *name,
							  int *niterations);
extern char *sf_job_branch_name(const SfProgram *program, int scope,
								const int *iterations, int niterations);

/* --- history_event_details.c: the details of an event as the Step Functions API shows them --- */

extern Jsonb *sf_history_event_details_make(const SfProgram *program,
											const SfHistoryEvent *event,
											const char *role_arn);

/* --- state_reach.c: which states the live branches of an execution can still enter --- */

typedef struct SfStateReach SfStateReach;

extern SfStateReach *sf_reach_make(const SfExecutionHead *execution,
								   const SfProgram *program,
								   List *branches);
extern bool sf_reach_test(SfStateReach *reach, int state,
						  const int *iterations, int niterations);

/* --- state_status.c: the status of each state of an execution, for its graph --- */

extern SfGraphFacts *sf_state_status_list(const SfExecutionHead *execution,
										  const SfProgram *program);

/* --- critical.c: the critical path of each net of a program --- */

/* Of each scope, whether it is a job on the critical path of its net, and which one comes before */
typedef struct SfCritical
{
	bool		is_on;
	int			after;			/* scope of the job before; SF_NO_SCOPE: it is the first */
} SfCritical;

extern SfCritical *sf_critical_find(const SfProgram *program, List *usual,
									const SfGraphFacts *facts);

/* --- net_job_ends.c: how the jobs of a net that is under way have ended, and how they still can --- */

typedef struct SfNetJobEnds
{
	int			possible;		/* set of SfNetJobEnd: how it can end, or has ended */
	bool		ended;
	bool		can_begin;		/* it has not begun, and still can */
} SfNetJobEnds;

extern char *sf_ends_check(const SfJobNetState *net, const SfBranch *join,
						   const SfBranch *const *rows);
extern SfNetJobEnds *sf_ends_find(const SfJobNetState *net, const SfBranch *const *rows,
								  bool stopped);

/* --- ahead.c: what an execution still has to run that has no job of its own yet --- */

/* Where a number of jobs may stand: the items of a Map are not known yet */
#define SF_JOBS_NOT_KNOWN	(-1)

/* A Task in iterations that have not begun, or a Distributed Map with items that are not done */
typedef struct SfAhead
{
	int			state;
	int64		jobs;			/* or SF_JOBS_NOT_KNOWN */
} SfAhead;

extern List *sf_ahead_list(const SfExecutionHead *execution, const SfProgram *program);
extern int64 sf_ahead_not_begun(const SfProgram *program, List *branches);
extern bool sf_ahead_is_certain(const SfProgram *program, List *branches, List *tasks);

/* --- remaining.c: how long a running execution still takes, and which Tasks come next --- */

typedef struct SfRemaining SfRemaining;

extern SfRemaining *sf_remaining_begin(const SfProgram *program, List *usual, int task);
extern int64 sf_remaining_whole(const SfRemaining *remaining);
extern int64 sf_remaining_of_scope(const SfRemaining *remaining, int scope);
extern int64 sf_remaining_us(const SfRemaining *remaining, List *branches, List *runs, TimestampTz now);
extern Bitmapset *sf_remaining_next(const SfProgram *program, List *branches);

/* --- waiting.c: what a running execution waits for, in a few words --- */

extern char *sf_waiting_text(const SfProgram *program, List *branches,
							 TimestampTz now);

/* --- progress.c: how far an execution has come --- */

/* Where a running execution stands */
typedef struct SfStanding
{
	char	   *waiting_on;		/* NULL: nothing */
	char	   *next;			/* Tasks that come next; NULL: none */
	int64		rest_us;		/* that it still takes, or SF_NO_DURATION */
} SfStanding;

extern SfStanding sf_progress_standing(const SfProgram *program, const SfRemaining *remaining,
									   int64 execution_no, TimestampTz now);
extern bool sf_progress_count_jobs(const SfExecutionHead *execution, const SfProgram *program,
								   int *done, int *total);

#endif							/* SF_REPORT_REPORT_H */
