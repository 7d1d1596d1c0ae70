/*
 * deliverer.h
 *		Calls of user code, beside tasks, that workers make for a feature: deliveries.
 */
#ifndef SF_RUN_DELIVERER_H
#define SF_RUN_DELIVERER_H

#include "nodes/pg_list.h"

#include "base/hooks.h"
#include "base/time/clock.h"

/* Deliveries of one owner that this process has claimed */
typedef struct SfDeliveries
{
	bool		in_session;		/* not a worker */
	bool		again;			/* claims one that was tried before */
	bool		(*admit) (Oid owner);	/* may code of that owner run now?  NULL: any may */
	MemoryContext context;		/* of those that are claimed */
	SfTick		until;			/* no target is called after that; UNSET: no limit */

	Oid			owner;			/* of those claimed last */
	List	   *claimed;		/* of what is the feature's */
	int			next;			/* of the claimed ones, the first that was not tried yet */
	int			tried;			/* of those before it, in this transaction */
	int64		delivered;
	bool		others_due;		/* more is due than was claimed */
	SfTick		next_due;		/* when to look for others, or for those claimed if they were not made */
} SfDeliveries;

/* What the feature that has deliveries does; a transaction each, but for skip */
typedef struct SfDeliverer
{
	/* When deliveries are due; DT_NOEND: there are none, DT_NOBEGIN: some are due now. */
	TimestampTz (*next_due) (void);

	/* Claim deliveries that are due; false: none could be claimed.  Then the caller commits, and makes them. */
	bool		(*claim) (SfDeliveries *batch);

	/* Make claimed ones until the time of a slice is used up; false: there are no more. */
	bool		(*run) (SfDeliveries *batch);

	/* A transaction that made some has failed: note why; go on behind them (false: there are no more). */
	void		(*note_failure) (const SfDeliveries *batch, const char *cause);
	bool		(*skip) (SfDeliveries *batch, int began_at);
} SfDeliverer;

#endif							/* SF_RUN_DELIVERER_H */
