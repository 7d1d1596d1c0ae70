/*
 * turn.h
 *		A worker's turn: transactions around slices and long tasks, and what
 *		happens when one fails.
 */
#ifndef SF_WORKER_TURN_H
#define SF_WORKER_TURN_H

#include "base/hooks.h"
#include "utils/timestamp.h"
#include "worker/admit.h"
#include "worker/verdict.h"

#define SF_TURN_KEYS 64

typedef struct SfTurn
{
	/* what to do; keys that the slice did not get to are left in */
	SfBranchKey keys[SF_TURN_KEYS];
	int			nkeys;
	Oid			owner;			/* of all of them */
	bool		scan;			/* look at the due index for more keys */
	TimestampTz scan_from;		/* ... that are due then or later */
	bool		tasks;			/* look for announced tasks */
	Oid			task_after;		/* those of this owner last */
	SfAdmission admission;		/* which of them it may take on */

	/* how it went */
	SfTurnVerdict verdict;
	bool		worked;			/* there may be more */
	bool		failed;			/* by no fault of a branch: pause */
	bool		moved;			/* some branch got on */
	bool		wrote;			/* a transaction that wrote something committed */
	bool		task_left;		/* one that this process may not take on */
	bool		capped_left;	/* a task whose owner holds as many slots as it may */
	uint32		releases;		/* in the shared area, when that was found out */
	int			tried;			/* keys that the slice came to */
} SfTurn;

/*
 * Decide whether to work here; in a transaction of its own.  *prepared: if the
 * database was to be taken over or marked as a copy, that has been done.
 */
extern SfTurnVerdict sf_turn_check(bool *prepared);

/* Claim and advance; errors are dealt with inside. */
extern void sf_turn_run(SfTurn *turn);

/* What a commit takes lately, on average, microseconds. */
extern int	sf_turn_commit_us(void);

/*
 * Run one branch with nobody else at work: a suspect of a crash (4.6).  With a
 * cause it is not run but made to fail.
 */
extern void sf_turn_run_suspect(SfBranchKey key, const char *cause);

#endif							/* SF_WORKER_TURN_H */
