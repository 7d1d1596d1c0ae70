/*
 * turn_xact.h
 *		One transaction of a worker's turn, whose error is caught.
 */
#ifndef SF_WORKER_TURN_XACT_H
#define SF_WORKER_TURN_XACT_H

#include "nodes/pg_list.h"

#include "base/error/errors.h"
#include "run/execution/lifecycle.h"
#include "run/slice/slice.h"
#include "run/task/deliverer.h"
#include "store/feature.h"
#include "worker/process/process.h"

#define SF_MAX_TOUCHED		256

typedef enum SfTurnXactKind
{
	SF_TURN_XACT_SCAN,			/* for what is due */
	SF_TURN_XACT_SLICE,
	SF_TURN_XACT_TASK,			/* a long task, by itself */
	SF_TURN_XACT_FAIL,			/* make the branch fail */
	SF_TURN_XACT_PUT_OFF,		/* make it due later */
	SF_TURN_XACT_PURGE,			/* a batch of executions that are old enough */
	SF_TURN_XACT_SWEEP,			/* of a feature */
	SF_TURN_XACT_CLAIM,			/* deliveries of rules, */
	SF_TURN_XACT_DELIVER,		/* ... and make them, */
	SF_TURN_XACT_UNDELIVERED	/* ... or note why that failed */
} SfTurnXactKind;

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
	TimestampTz from;			/* for what is due then or later */
	SfOwnerTurns turns;			/* ... of these owners; then: whose turn is next */
	int			max_owners;		/* ... of so many */
	bool		everything;		/* for everything due, and beginning with the first owner */
	bool		set_back;		/* the wall clock was set back, */
	int64		set_back_by;	/* ... by that, and no scan has made up for it */
	List	   *owners_found;
	bool		more_owners;	/* there may be some whose turn has not come */
	int			room;			/* for about that many keys */
	SfBranchKey *keys;
	TimestampTz *dues;			/* since when each is due */
	Oid		   *owners;			/* of the keys */
	int			nkeys;
	TimestampTz more_from;		/* there are more than were to be found, due then or later */
	List	   *announcers;		/* owners who have announced tasks */
	TimestampTz next_due;		/* the first timer that lies ahead */
	SfTick		next_tend;		/* when features want to tend queues before the next poll; only with everything */
	TimestampTz next_delivery;	/* when deliveries of rules are due; likewise */
	TimestampTz next_sweeps[SF_MAX_SWEEPS];	/* when each feature wants to sweep; likewise */
} SfDueScan;

/* TASK */
typedef struct SfTaskXact
{
	SfBranchKey key;
	int			generation;
	bool		last_try;		/* if it cannot be serialized it has failed */
	const SfError *commit_error;	/* how its commit failed; NULL: run it */
} SfTaskXact;

/* FAIL */
typedef struct SfFailXact
{
	SfBranchKey key;
	const char *cause;
} SfFailXact;

/* PUT_OFF */
typedef struct SfPutOffXact
{
	SfBranchKey key;
	int			ms;				/* that it is due later */
} SfPutOffXact;

/* PURGE */
typedef struct SfPurgeXact
{
	SfRetention *sweep;
	bool		more;			/* then: the sweep is not over */
} SfPurgeXact;

/* SWEEP */
typedef struct SfSweepXact
{
	const SfFeature *feature;
	SfSweepResult left;			/* then: what it has left */
} SfSweepXact;

/* CLAIM, DELIVER, UNDELIVERED */
typedef struct SfDeliveryXact
{
	SfDeliveries *batch;
	bool		claimed;		/* CLAIM: then: some were claimed */
	bool		left;			/* DELIVER: then: some are left */
	const char *cause;			/* UNDELIVERED: why */
} SfDeliveryXact;

/* How far a transaction of a turn has come; an error was raised after that */
typedef enum SfTurnStage
{
	SF_TURN_STAGE_WORKING,
	SF_TURN_STAGE_COMMITTING,	/* the commit raises it, because of a task maybe */
	SF_TURN_STAGE_COMMITTED
} SfTurnStage;

/* A transaction of a turn: what to do in it, by its kind, and how it ended */
typedef struct SfTurnXact
{
	SfTurnXactKind kind;
	bool		alone;			/* for the poison file */
	union
	{
		SfDueScan  *scan;
		SfSliceRequest slice;
		SfTaskXact task;
		SfFailXact fail;
		SfPutOffXact put_off;
		SfPurgeXact purge;
		SfSweepXact sweep;
		SfDeliveryXact delivery;
	};

	SfTurnStage stage;
	SfVerdict verdict;
	SfSliceResult result;		/* SLICE, TASK; else as of a slice that did nothing */

	/* an error, if it was not committed */
	SfFault		fault;
	int			sqlstate;
	bool		collided;		/* a number was drawn twice */
	SfError		failure;		/* COMMITTING: the error, as that of a task */
	char	   *message;		/* of the error */
	int			ntouched;
	SfBranchKey touched[SF_MAX_TOUCHED];
} SfTurnXact;

/* sf_turn_xact_slice(xact), sf_turn_xact_task(xact) …: what to do, of the kind that has it */
#define SF_TURN_XACT_PART(part_type, part, is_of_kind) \
	static inline part_type * \
	sf_turn_xact_##part(SfTurnXact *xact) \
	{ \
		SfTurnXactKind kind PG_USED_FOR_ASSERTS_ONLY = xact->kind; \
		Assert(is_of_kind); \
		return &xact->part; \
	}
SF_TURN_XACT_PART(SfDueScan *, scan, kind == SF_TURN_XACT_SCAN)
SF_TURN_XACT_PART(SfSliceRequest, slice, kind == SF_TURN_XACT_SLICE)
SF_TURN_XACT_PART(SfTaskXact, task, kind == SF_TURN_XACT_TASK)
SF_TURN_XACT_PART(SfFailXact, fail, kind == SF_TURN_XACT_FAIL)
SF_TURN_XACT_PART(SfPutOffXact, put_off, kind == SF_TURN_XACT_PUT_OFF)
SF_TURN_XACT_PART(SfPurgeXact, purge, kind == SF_TURN_XACT_PURGE)
SF_TURN_XACT_PART(SfSweepXact, sweep, kind == SF_TURN_XACT_SWEEP)
SF_TURN_XACT_PART(SfDeliveryXact, delivery, kind == SF_TURN_XACT_CLAIM || kind == SF_TURN_XACT_DELIVER ||
				kind == SF_TURN_XACT_UNDELIVERED)

extern SfVerdict sf_turn_xact_check(bool *prepared);
extern int	sf_turn_xact_commit_us(void);
extern bool sf_turn_xact_run(SfTurnXact *xact);
extern bool sf_turn_xact_met_shortage(const SfTurnXact *xact);

#endif							/* SF_WORKER_TURN_XACT_H */
