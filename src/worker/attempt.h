/*
 * attempt.h
 *		One transaction of a worker's turn, whose error is caught.
 */
#ifndef SF_WORKER_ATTEMPT_H
#define SF_WORKER_ATTEMPT_H

#include "base/errors.h"
#include "nodes/pg_list.h"
#include "run/deliver.h"
#include "run/retention.h"
#include "run/slice.h"
#include "store/schedule.h"
#include "worker/verdict.h"

#define SF_MAX_TOUCHED		256

typedef enum SfAttemptKind
{
	SF_ATTEMPT_SCAN,			/* for what is due */
	SF_ATTEMPT_SLICE,
	SF_ATTEMPT_TASK,			/* T2 */
	SF_ATTEMPT_FAIL,			/* make the branch fail */
	SF_ATTEMPT_PUT_OFF,			/* make it due later */
	SF_ATTEMPT_FOLD,			/* add what slices have counted to the counters */
	SF_ATTEMPT_PURGE,			/* a batch of executions that are old enough */
	SF_ATTEMPT_RUNS,			/* runs of schedules that were missed or have waited */
	SF_ATTEMPT_DEADLINES,		/* what is late */
	SF_ATTEMPT_ALERTS,			/* alerts that time opens, for rules */
	SF_ATTEMPT_CLAIM,			/* deliveries of rules, */
	SF_ATTEMPT_DELIVER,			/* ... and make them, */
	SF_ATTEMPT_UNDELIVERED		/* ... or note why that failed */
} SfAttemptKind;

/* What caused an error, and so what to do about it */
typedef enum SfFault
{
	SF_FAULT_PASSING,			/* a conflict: try again */
	SF_FAULT_LOCKED,			/* a session holds a lock: try again later */
	SF_FAULT_ENVIRONMENT,		/* not the branch */
	SF_FAULT_SHORTAGE,			/* the branch, if other branches make progress */
	SF_FAULT_BRANCH				/* the branch */
} SfFault;

/* A scan of the due index: its question and its findings */
typedef struct SfDueScan
{
	MemoryContext context;		/* for what it finds */
	Oid			after;			/* this owner comes last */
	TimestampTz from;			/* for what is due then or later */
	const Oid  *of;				/* of these owners; NULL: of all there are */
	int			nof;
	bool		set_back;		/* the wall clock was set back, */
	int64		set_back_by;	/* ... by that, and no scan has made up for it */
	List	   *owners_found;
	int			room;			/* for about that many keys */
	SfBranchKey *keys;
	TimestampTz *dues;			/* since when each is due */
	Oid		   *owners;			/* of the keys */
	int			nkeys;
	TimestampTz more_from;		/* there are more than were to be found, due then or later */
	bool		announced;		/* there are announced tasks */
	bool		counted;		/* slices have counted something; only looked for with everything due */
	bool		schedules;		/* there are schedules; likewise */
	TimestampTz next_due;		/* the first timer that lies ahead */
	TimestampTz next_deadline;	/* when deadlines are to be looked at; only looked for with everything due */
	SfTick		next_limits;	/* when to look again at limits that are new; likewise */
	TimestampTz next_delivery;	/* when deliveries of rules are due; only looked for with everything due */
	bool		wants_alerts;	/* a rule wants to know of alerts; likewise */
} SfDueScan;

/* A transaction of a turn: what to do in it, and how it ended */
typedef struct SfAttempt
{
	SfAttemptKind kind;
	bool		alone;			/* for the poison file */
	SfSliceRequest request;		/* SLICE; TASK: last_try */
	SfBranchKey key;			/* TASK, FAIL */
	int			generation;		/* TASK */
	const SfError *outcome;		/* TASK: how its commit failed; NULL: run it */
	const char *cause;			/* FAIL, UNDELIVERED */
	int			put_off_ms;		/* PUT_OFF */
	SfRetention *look;			/* PURGE */
	SfDeliveries *deliveries;	/* CLAIM, DELIVER, UNDELIVERED: with the cause */

	bool		ok;				/* it was committed */
	SfTurnVerdict verdict;
	SfSliceResult result;
	bool		more;			/* FOLD: there is more to fold; PURGE: the look is not over;
								 * CLAIM: some were claimed; DELIVER: some are left;
								 * ALERTS: there are more to tell of */
	SfRunsLeft	runs_left;		/* RUNS */
	SfDueScan  *scan;			/* SCAN */
	TimestampTz next_deadline;	/* DEADLINES: when to look again */
	SfFault		fault;
	int			sqlstate;
	bool		collided;		/* a number was drawn twice */
	bool		in_commit;		/* the commit raised the error, because of a task maybe: */
	SfError		failure;
	char	   *message;		/* of the error */
	int			ntouched;
	SfBranchKey touched[SF_MAX_TOUCHED];
} SfAttempt;

/*
 * Look at all schedules: start runs that were missed or have waited, and tell what is
 * left.  The layer schedule/ lies above this one; the library sets it.
 */
extern SfRunsLeft (*sf_attempt_look_at_schedules) (TimestampTz now);

/* Likewise: look at deadlines that are due; returns when to look again. */
extern TimestampTz (*sf_attempt_look_at_deadlines) (TimestampTz now);

extern SfTurnVerdict sf_attempt_check(bool *prepared);
extern int	sf_attempt_commit_us(void);
extern bool sf_attempt(SfAttempt *a);
extern bool sf_attempt_met_shortage(const SfAttempt *a);

#endif							/* SF_WORKER_ATTEMPT_H */
