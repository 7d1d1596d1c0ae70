/*
 * branch.h
 *		Rows of _sfflow.branch: strands of control, and what phase each is in.
 */
#ifndef SF_STORE_BRANCH_H
#define SF_STORE_BRANCH_H

#include "base/hooks.h"
#include "json/json.h"

/*
 * Phases, with the phases that may follow.  "due" says whether due_at is set.
 *
 *	ENTER		due			about to enter its state			→ any below, ENTER
 *	RUN			due			entered; to do the state's work again (retry; a
 *							child state's redrive)				→ as ENTER
 *	WAIT		due			Wait state until due_at				→ ENTER, DONE
 *	JOIN		when ready	Parallel, Map: until its children have ended
 *																→ ENTER, RUN, DONE, FAILED
 *	ANNOUNCED	due			long SQL task visible as running, to be run by
 *							whoever claims it					→ ANSWERED, ANNOUNCED
 *	ANSWERED	due			outcome of its task is in the row	→ as ENTER
 *	EXTERNAL	timeouts	handed out to a program outside		→ ANSWERED
 *	DONE		no			ended; payload is its output; until the join
 *	FAILED		no			ended with error and cause
 *	ABORTED		no			ended because a sibling or the execution did
 *	DEADLINE	due			not a strand of control: the machine's timeout
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
	X(DEADLINE, 10)

#define SF_PHASE_ENUM(sym, number) SF_PHASE_##sym = number,
typedef enum SfPhase
{
	SF_PHASE_LIST(SF_PHASE_ENUM)
} SfPhase;

#define SF_BRANCH_ROOT		INT64CONST(0)
#define SF_BRANCH_DEADLINE	INT64CONST(-1)

/* Execution status as stored: number, name */
#define SF_STATUS_LIST(X) \
	X(RUNNING, 0) \
	X(SUCCEEDED, 1) \
	X(FAILED, 2) \
	X(TIMED_OUT, 3) \
	X(ABORTED, 4)

#define SF_STATUS_ENUM(sym, number) SF_STATUS_##sym = number,
typedef enum SfStatus
{
	SF_STATUS_LIST(SF_STATUS_ENUM)
} SfStatus;

extern const char *sf_status_name(SfStatus status);

#endif							/* SF_STORE_BRANCH_H */
