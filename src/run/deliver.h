/*
 * deliver.h
 *		Deliver events to the targets of rules.
 */
#ifndef SF_RUN_DELIVER_H
#define SF_RUN_DELIVER_H

#include "base/clock.h"
#include "store/delivery.h"

/* Deliveries of one owner that this process has claimed */
typedef struct SfDeliveries
{
	bool		in_session;		/* not a worker */
	bool		again;			/* claims one that was tried before */
	bool		(*admit) (Oid owner);	/* may code of that owner run now?  NULL: any may */
	MemoryContext context;		/* of those that are claimed */
	SfTick		until;			/* no target is called after that; 0: no limit */

	Oid			owner;			/* of those claimed last */
	List	   *claimed;		/* SfDelivery */
	int			next;			/* of the claimed ones, the first that was not tried yet */
	int			tried;			/* of those before it, in this transaction */
	int64		delivered;
	bool		others_due;		/* more is due than was claimed */
	SfTick		next_due;		/* when to look for others, or for those claimed if they were not made */
} SfDeliveries;

extern bool sf_deliver_claim(SfDeliveries *batch);
extern bool sf_deliver_run(SfDeliveries *batch);
extern void sf_deliver_note_failure(const SfDeliveries *batch, const char *cause);
extern bool sf_deliver_skip(SfDeliveries *batch, int began_at);

#endif							/* SF_RUN_DELIVER_H */
