/*
 * turn.h
 *		A worker's turn: transactions around slices and long tasks, and what
 *		happens when one fails.
 */
#ifndef SF_WORKER_TURN_H
#define SF_WORKER_TURN_H

#include "utils/timestamp.h"

#include "base/hooks.h"
#include "worker/process/process.h"
#include "worker/turn/turn_xact.h"

#define SF_TURN_KEYS 64

/*
 * What a worker does, with the states that may follow.  sf_scheduler_next() in
 * scheduler.c is the one function that goes from a state to the next; README.md
 * has the diagram.  A turn is one of SCAN, SEEK, SLICE, TASK, PURGE,
 * DELIVER and SWEEP.
 *
 *	SLEEP	-> SCAN, SEEK, SLICE	its latch was set, or a timer or poll is due
 *			-> PURGE				a sweep for executions to purge is due
 *			-> DELIVER				deliveries of rules are due
 *			-> SWEEP				features were told to sweep; other turns end with sweeps, too
 *			-> LEAVE				asked to, or not needed
 *	GATHER	-> as SLEEP, and SLEEP	a pause for more keys to arrive
 *	SCAN	-> SEEK, SLICE			the due index has been read into the ring
 *			-> SLEEP				nothing is due
 *	SEEK	-> TASK					an announced task was found
 *			-> SEEK, SCAN, SLICE, SLEEP
 *	SLICE	-> TASK					the slice has announced a task
 *			-> SCAN, SEEK, SLICE
 *			-> GATHER				its keys are done and more come one by one
 *			-> SLEEP
 *	TASK	-> SCAN, SEEK, SLICE	the task is over; what follows it is a slice
 *			-> SLEEP
 *	PURGE	-> as SLEEP, and SLEEP
 *			-> PURGE				nothing is due, and there is more to delete
 *	DELIVER	-> as SLEEP, and SLEEP
 *	SWEEP	-> as SLEEP, and SLEEP
 *	PAUSE	-> as SLEEP, and SLEEP
 *
 * Any turn but DELIVER may lead to DELIVER, so that neither deliveries nor branches wait
 * for all of the others.  Each turn may also lead to PAUSE (it failed, or many have changed nothing) and
 * to LEAVE.
 */
typedef enum SfWorkState
{
	SF_WORK_STATE_SLEEP,		/* until the latch is set or something is due */
	SF_WORK_STATE_GATHER,		/* let more keys arrive before the next slice */
	SF_WORK_STATE_SCAN,			/* read the due index */
	SF_WORK_STATE_SEEK,			/* find an announced task in the tables */
	SF_WORK_STATE_SLICE,		/* advance the branches of keys */
	SF_WORK_STATE_TASK,			/* run the announced task */
	SF_WORK_STATE_PURGE,		/* delete a batch of executions that are old enough */
	SF_WORK_STATE_DELIVER,		/* call targets of rules */
	SF_WORK_STATE_SWEEP,		/* features sweep that were told to */
	SF_WORK_STATE_PAUSE,		/* wait, even if the latch is set */
	SF_WORK_STATE_LEAVE			/* end the process */
} SfWorkState;

/* How a turn went */
typedef enum SfTurnResult
{
	SF_TURN_RESULT_NOTHING,		/* nothing was due, or others had it */
	SF_TURN_RESULT_PROGRESS,	/* some branch was changed */
	SF_TURN_RESULT_STALLED,		/* branches were claimed and none was changed */
	SF_TURN_RESULT_ANNOUNCED,	/* a task was announced that this process runs next */
	SF_TURN_RESULT_FAILED		/* by no fault of a branch: pause */
} SfTurnResult;

/*
 * What a worker does now, and what it carries from one turn to the next.  Read what only one state has by
 * sf_turn_until(turn) and the like, which check the state; scheduler.c and turn.c write it.
 */
typedef struct SfTurn
{
	SfWorkState state;
	union
	{
		SfTick		until;		/* SLEEP, PAUSE: end of it; written when the state is chosen */
		SfLongTask	task;		/* TASK; written by the turn before, whose result is ANNOUNCED */
		bool		purges_more;	/* PURGE: then: the sweep is not over */
		SfTick		next_delivery;	/* DELIVER: then: when to look for more */
	};

	/* what to do; keys that a slice did not come to are left here */
	SfWorkKey	keys[SF_TURN_KEYS];
	int			nkeys;
	Oid			owner;			/* of all of them */
	TimestampTz scan_from;		/* scan for what is due since then; DT_NOEND: do not, */
	SfOwnerTurns scan_turns;	/* ... of these owners */
	bool		seeks;			/* has it on itself to look for announced tasks */
	Oid			task_after;		/* those of this owner last */
	SfAdmission admission;		/* which of them it may take on */
	uint32		registrations;	/* of the database when the turn began */
	bool		sweeps;			/* has it on itself to have features sweep that were told to */

	/* how it went */
	SfVerdict verdict;
	SfTurnResult result;
	SfTasksLeft tasks_left;
	uint32		releases;		/* in the shared area, when that was found out */
	int			tried;			/* keys that the slice came to */
	Oid			delivered_to;	/* the owner of rules that had the last turn */
	bool		helped;			/* this process for tasks has helped, and may be wanted for that again */
	int			failures;		/* turns in a row that failed, */
	int			stalled;		/* ... or stalled */
} SfTurn;

/* sf_turn_until(turn), sf_turn_task(turn) …: what its state has */
#define SF_TURN_PART(part_type, part, has_it) \
	static inline part_type \
	sf_turn_##part(const SfTurn *turn) \
	{ \
		SfWorkState state PG_USED_FOR_ASSERTS_ONLY = turn->state; \
		Assert(has_it); \
		return turn->part; \
	}
SF_TURN_PART(SfTick, until, state == SF_WORK_STATE_SLEEP || state == SF_WORK_STATE_PAUSE)
SF_TURN_PART(SfLongTask, task, state == SF_WORK_STATE_TASK)
SF_TURN_PART(bool, purges_more, state == SF_WORK_STATE_PURGE)
SF_TURN_PART(SfTick, next_delivery, state == SF_WORK_STATE_DELIVER)

extern void sf_turn_run(SfTurn *turn);
extern void sf_turn_deliver(SfTurn *turn);
extern void sf_turn_sweep_all(const SfDueScan *scan);
extern void sf_turn_sweep_if_wanted(bool told);
extern bool sf_turn_run_suspect(SfBranchKey key);

#endif							/* SF_WORKER_TURN_H */
