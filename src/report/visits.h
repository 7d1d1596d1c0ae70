/*
 * visits.h
 *		One fold of the events of an execution: what happened in each of its states, and when.
 *
 * An instance is a state or scope of the program, within certain iterations of the Maps around
 * it.  Jobs (job.c), the picture (state_status.c) and the timeline (api/view/history_functions.c) are
 * projections of the same instances and visits.
 */
#ifndef SF_REPORT_VISITS_H
#define SF_REPORT_VISITS_H

#include "utils/hsearch.h"

#include "asl/program.h"
#include "base/time/duration.h"
#include "store/execution/execution_head.h"
#include "store/history/history_event.h"
#include "store/history/mark_outcome.h"

/* Where the number of a Map's items may stand: it is no Map, or has not begun */
#define SF_NO_ITEMS		(-1)

typedef struct SfStateInstanceKey
{
	int			number;			/* of the state or scope */
	int			niterations;
	int		   *iterations;		/* map indexes, outermost first */
} SfStateInstanceKey;

/* What became of a visit or of an attempt */
typedef enum SfVisitEnd
{
	SF_VISIT_END_NONE,			/* there was none */
	SF_VISIT_END_RUNS,
	SF_VISIT_END_CUT_OFF,		/* the execution ended first */
	SF_VISIT_END_LEFT,
	SF_VISIT_END_SKIPPED,		/* left, as an operator has marked it */
	SF_VISIT_END_FAILED,		/* also if the failure was caught, or is retried */
	SF_VISIT_END_ABORTED
} SfVisitEnd;

/* Whether an operator has marked a job, until it is left */
typedef enum SfMarking
{
	SF_MARKING_NONE,
	SF_MARKING_PENDING,			/* and no branch has come to it since */
	SF_MARKING_REACHED			/* and a branch has come to it */
} SfMarking;

/* An attempt of a visit to a state */
typedef struct SfVisit
{
	SfStateInstanceKey instance;
	int			visit;			/* 1: the first one in this instance */
	int			attempt;		/* of the visit */
	int			first_event;
	int			last_event;
	TimestampTz entered_at;		/* begin of the visit */
	TimestampTz from;			/* ... and of this attempt */
	TimestampTz to;				/* DT_NOEND: it lasts */
	SfVisitEnd	end;
	TimestampTz scheduled_at;	/* the task of the attempt; DT_NOBEGIN: it was not */
	TimestampTz started_at;		/* ... began to be done; DT_NOBEGIN: not known */
	const char *error;			/* with SF_VISITS_SPANS; or NULL */
	const char *cause;
} SfVisit;

/* A state within certain iterations, or an iteration of a Map state */
typedef struct SfStateInstance
{
	SfStateInstanceKey key;		/* first, for the hash table */
	bool		is_iteration;	/* ... the last of which is its own */
	bool		begun;			/* the latest attempt has had its first event */
	struct SfStateInstance *around; /* iteration, Parallel, Map or JobNet; NULL: none */
	SfVisit    *latest;			/* attempt; NULL: none, or an iteration */
	SfVisitEnd	end;			/* of the last visit: sf_visits_end.  One that the execution cut off may go on */
	int			visits;			/* entries */
	int			attempts;		/* of all visits: at its task, or at its branches */
	int64		duration;		/* of all visits, as far as they were counted */
	TimestampTz since;			/* from then on it is to be counted; DT_NOBEGIN: not in the state */
	int			last_event;		/* its own last one, or SF_NO_EVENT */
	int			touched;		/* last event of it or within it, but for marks */
	TimestampTz touched_at;		/* ... or end of the execution in which it lasted */
	int64		items;			/* with which a Map has begun last, or SF_NO_ITEMS */
	TimestampTz stopped_at;		/* end of the last visit; DT_NOEND: it lasts */
	int			input_event;	/* event that holds the payload, or SF_NO_EVENT */
	int			output_event;
	const char *error;			/* of the last visit, with SF_VISITS_TASKS; or NULL */
	const char *cause;
	SfMarking	marking;
	SfMarkOutcome mark;			/* PENDING, REACHED: how it is marked */
	struct SfJob *job;			/* of job.c */
} SfStateInstance;

typedef enum SfVisitsDetail
{
	SF_VISITS_TASKS,			/* instances of Tasks and iterations only, with errors and causes */
	SF_VISITS_INSTANCES,		/* all instances, each with its latest attempt */
	SF_VISITS_ALL,				/* all attempts */
	SF_VISITS_SPANS				/* ... each with its error and cause */
} SfVisitsDetail;

typedef struct SfVisits
{
	const SfProgram *program;
	SfVisitsDetail detail;
	MemoryContext context;		/* of all that follows; reset at a restart */
	HTAB	   *instances;		/* SfStateInstance */
	List	   *list;			/* SfVisit in the order of their first events, with SF_VISITS_ALL and SF_VISITS_SPANS */
	int			until;			/* the last event that is followed */
	int			redriven;		/* event of the last redrive, or SF_NO_EVENT */
	TimestampTz redriven_at;
} SfVisits;

/* What became of the last visit to an instance, of an execution that runs or has ended. */
static inline SfVisitEnd
sf_visits_end(const SfStateInstance *instance, bool running)
{
	return instance->end == SF_VISIT_END_RUNS && !running ? SF_VISIT_END_CUT_OFF : instance->end;
}

extern HTAB *sf_visits_hash(const char *name, Size entry_size, MemoryContext context);

extern SfVisits *sf_visits_scan(const SfExecutionHead *execution, const SfProgram *program,
								SfVisitsDetail detail);
extern SfVisits *sf_visits_scan_until(const SfExecutionHead *execution, const SfProgram *program,
									  SfVisitsDetail detail, int until);
extern SfStateInstance *sf_visits_instance(SfVisits *visits, int state, const int *iterations,
										   int niterations, bool is_iteration);
extern int64 sf_visits_duration(const SfStateInstance *instance, bool lasts);
extern bool sf_visits_continue(const SfVisits *visits, SfStateInstance *instance);

#endif							/* SF_REPORT_VISITS_H */
