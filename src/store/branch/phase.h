/*
 * phase.h
 *		The phases of a branch, groups of them, and which may follow which.
 */
#ifndef SF_STORE_PHASE_H
#define SF_STORE_PHASE_H

#include "base/value/one_of.h"

/*
 * Phases.  The second column says when due_at is set.  Where it is "due" and not set, the branch stands at a place
 * (SfBranchPlace).  Which phases may follow is in the lists SF_PHASES_AFTER_… below.
 *
 *	ENTER		due			about to enter its state
 *	RUN			due			entered; does the state's work again: a retry
 *	WAIT		due			Wait state until due_at
 *	JOIN		when ready	Parallel, Map, JobNet: until its children have ended
 *	ANNOUNCED	due			its long SQL task shows as running; the session that claims it runs the task
 *	ANSWERED	due			Task: the outcome of the task is in the row
 *	EXTERNAL	timeouts	a client has its task
 *	DONE		no			ended; payload is its output; until the join
 *	FAILED		no			ended with error and cause
 *	ABORTED		no			ended because a sibling or the execution did
 *	TIMEOUT		due			of the execution as a whole: the machine's timeout
 *	STOP		due			of the execution as a whole, which is to end as ABORTED
 *	NET			due			JobNet: goes on with jobs of which none runs, between slices
 *	KEPT		no			ended as ABORTED does, and keeps the outcome of its task, from which a redrive goes on
 *	MAP_WRITE	due			Distributed Map: its children have ended; asks for the task that writes their results
 *	MAP_ANSWERED	due		Distributed Map: the outcome of the task that reads its items (items_unread), or writes its
 *						results, is in the row
 *
 * The numbers are stored.
 */
#define SF_PHASE_LIST(X) \
	X(ENTER, 0) \
	X(RUN, 1) \
	X(WAIT, 2) \
	X(JOIN, 3) \
	X(ANNOUNCED, 4) \
	X(ANSWERED, 5) \
	X(EXTERNAL, 6) \
	X(DONE, 7) \
	X(FAILED, 8) \
	X(ABORTED, 9) \
	X(TIMEOUT, 10) \
	X(STOP, 11) \
	X(NET, 12) \
	X(KEPT, 13) \
	X(MAP_WRITE, 14) \
	X(MAP_ANSWERED, 15)

#define SF_PHASE_ENUM(sym, number) SF_PHASE_##sym = number,
typedef enum SfPhase
{
	SF_PHASE_LIST(SF_PHASE_ENUM)
} SfPhase;

/*
 * Groups of phases; SQL has them too, as @PHASES_ENDED@ (sql/assemble.awk):
 *
 *	ENDED			the branch has ended
 *	ANSWERED		the outcome of its task is in the row, and the next slice goes on from it
 *	WITH_OUTCOME	the same, or a redrive does
 *	WITH_CHILDREN	of a join, or of a net between two slices
 *	WAITING			for children or a client, maybe without a time.  Else only what has ended, or stands at a
 *					place (SfBranchPlace), is not due.
 *	OF_EXECUTION	of rows that are no threads of control, but of the execution as a whole
 *	BEFORE_GATE		it ends with the beginning of a step, which a feature may have wait
 *	OF_MAP			only a Distributed Map with a run is in it
 *	INSIDE			the branch is inside of its state (sf_branch_is_inside)
 *	AT_MAP_TASK		a Distributed Map may be in it at either of its tasks, or has ended there
 *	READING			a Distributed Map may be in it that has not read its items
 *	WITH_ITEMS		a Distributed Map may be in it that has read its items
 *	STAYING_AT_END	the branch is in it still when its execution has ended: it has ended itself, or a redrive goes on
 *					from its children.  What becomes of any other one says sf_phase_at_end.
 */
#define SF_PHASES_ENDED			SF_PHASE_DONE, SF_PHASE_FAILED, SF_PHASE_ABORTED, SF_PHASE_KEPT
#define SF_PHASES_ANSWERED		SF_PHASE_ANSWERED, SF_PHASE_MAP_ANSWERED
#define SF_PHASES_WITH_OUTCOME	SF_PHASES_ANSWERED, SF_PHASE_KEPT
#define SF_PHASES_WITH_CHILDREN	SF_PHASE_JOIN, SF_PHASE_NET
#define SF_PHASES_WAITING		SF_PHASE_JOIN, SF_PHASE_EXTERNAL
#define SF_PHASES_OF_EXECUTION	SF_PHASE_TIMEOUT, SF_PHASE_STOP
#define SF_PHASES_BEFORE_GATE	SF_PHASE_ENTER, SF_PHASE_RUN, SF_PHASE_ANNOUNCED, SF_PHASE_NET, SF_PHASE_MAP_WRITE
#define SF_PHASES_OF_MAP		SF_PHASE_MAP_WRITE, SF_PHASE_MAP_ANSWERED
#define SF_PHASES_INSIDE		SF_PHASE_WAIT, SF_PHASE_JOIN, SF_PHASE_ANNOUNCED, SF_PHASE_EXTERNAL, SF_PHASE_NET, SF_PHASES_OF_MAP
#define SF_PHASES_AT_MAP_TASK	SF_PHASE_ANNOUNCED, SF_PHASE_MAP_ANSWERED, SF_PHASE_FAILED, SF_PHASE_ABORTED, SF_PHASE_KEPT
#define SF_PHASES_READING		SF_PHASES_AT_MAP_TASK, SF_PHASE_EXTERNAL
#define SF_PHASES_WITH_ITEMS	SF_PHASES_AT_MAP_TASK, SF_PHASE_JOIN, SF_PHASE_MAP_WRITE
#define SF_PHASES_STAYING_AT_END	SF_PHASE_JOIN, SF_PHASES_ENDED

/*
 * The phases in which a transition may leave a branch that was in a phase; sf_transition looks at that
 * (sf_phase_may_follow).  A transition ends with the step of a slice that asks for a task: a Task state is in
 * RUN when it learns that the task is long or of a client.  Any branch may fail when its step cannot be
 * run, and is ABORTED with its execution or its join; one that is answered is KEPT.
 *
 *	LEFT	the state was left, by its result, a catcher or a retry; or the branch ended
 *	RUN		a step may also come to rest in its state
 *
 * NET, ANSWERED and MAP_ANSWERED follow in two ways that are no transitions, and which these lists have, too:
 * sf_net_rest and sf_branch_answer.  What a session finds ANNOUNCED it runs, and goes on in the same transition.
 * FAILED, ABORTED and KEPT are left by a redrive alone.  That may also find a branch in another phase, which a session
 * had locked when the execution ended: hence MAP_WRITE before JOIN.
 */
#define SF_PHASES_AFTER_LEFT		SF_PHASE_ENTER, SF_PHASE_RUN, SF_PHASE_DONE, SF_PHASE_FAILED, SF_PHASE_ABORTED
#define SF_PHASES_AFTER_RUN			SF_PHASES_AFTER_LEFT, SF_PHASE_WAIT, SF_PHASE_JOIN, SF_PHASE_ANNOUNCED, SF_PHASE_EXTERNAL
#define SF_PHASES_AFTER_ENTER		SF_PHASES_AFTER_LEFT, SF_PHASE_WAIT, SF_PHASE_JOIN
#define SF_PHASES_AFTER_WAIT		SF_PHASES_AFTER_LEFT
#define SF_PHASES_AFTER_JOIN		SF_PHASES_AFTER_LEFT, SF_PHASE_JOIN, SF_PHASE_NET, SF_PHASE_MAP_WRITE
#define SF_PHASES_AFTER_EXTERNAL	SF_PHASES_AFTER_LEFT, SF_PHASE_EXTERNAL, SF_PHASES_ANSWERED
#define SF_PHASES_AFTER_ANNOUNCED	SF_PHASES_AFTER_EXTERNAL, SF_PHASE_ANNOUNCED, SF_PHASE_JOIN
#define SF_PHASES_AFTER_ANSWERED	SF_PHASES_AFTER_LEFT, SF_PHASE_ANSWERED, SF_PHASE_KEPT
#define SF_PHASES_AFTER_DONE		SF_PHASE_DONE
#define SF_PHASES_AFTER_FAILED		SF_PHASE_FAILED, SF_PHASE_ENTER, SF_PHASE_JOIN
#define SF_PHASES_AFTER_ABORTED		SF_PHASE_ABORTED, SF_PHASE_ENTER, SF_PHASE_JOIN
#define SF_PHASES_AFTER_TIMEOUT		SF_PHASE_TIMEOUT
#define SF_PHASES_AFTER_STOP		SF_PHASE_STOP
#define SF_PHASES_AFTER_NET			SF_PHASES_AFTER_LEFT, SF_PHASE_JOIN
#define SF_PHASES_AFTER_KEPT		SF_PHASES_WITH_OUTCOME, SF_PHASE_ENTER
#define SF_PHASES_AFTER_MAP_WRITE	SF_PHASES_AFTER_LEFT, SF_PHASE_MAP_WRITE, SF_PHASE_ANNOUNCED, SF_PHASE_JOIN
#define SF_PHASES_AFTER_MAP_ANSWERED	SF_PHASES_AFTER_LEFT, SF_PHASE_JOIN, SF_PHASE_MAP_ANSWERED, SF_PHASE_KEPT

/* May a branch go from one phase to another? */
static inline bool
sf_phase_may_follow(SfPhase from, SfPhase to)
{
	switch (from)
	{
#define SF_PHASE_FOLLOWERS(sym, number) \
		case SF_PHASE_##sym: \
			return SF_IS_ONE_OF(to, SF_PHASES_AFTER_##sym);
		SF_PHASE_LIST(SF_PHASE_FOLLOWERS)
#undef SF_PHASE_FOLLOWERS
	}
	return false;
}

/* Is a row no thread of control, but of the execution as a whole? */
static inline bool
sf_phase_is_of_execution(SfPhase phase)
{
	return SF_IS_ONE_OF(phase, SF_PHASES_OF_EXECUTION);
}

/* Is a branch claimed under the lock of its execution, which it may end, or whose other slices write it? */
static inline bool
sf_phase_is_claimed_under_lock(SfPhase phase)
{
	return phase == SF_PHASE_JOIN || sf_phase_is_of_execution(phase);
}

/* Does a phase end with the beginning of a step, which a feature may have wait? */
static inline bool
sf_phase_is_before_gate(SfPhase phase)
{
	return SF_IS_ONE_OF(phase, SF_PHASES_BEFORE_GATE);
}

#endif							/* SF_STORE_PHASE_H */
