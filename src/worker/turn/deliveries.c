/*
 * deliveries.c
 *		A worker's turn that calls targets of rules.
 *
 * Deliveries are claimed in one transaction and made in others (run/task/deliverer.h).  An
 * owner's targets share its processes with its tasks: admit.c says whether they may run now.
 */
#include "postgres.h"

#include "base/time/timing.h"
#include "store/feature.h"
#include "worker/process/process.h"
#include "worker/shared_memory/shared.h"
#include "worker/turn/turn.h"
#include "worker/turn/turn_xact.h"

/* Ask to run code of an owner of rules, as short tasks of the owner. */
static bool
admit_owner(Oid owner)
{
	bool		admitted;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_admit_release(sf_my_process);
	admitted = sf_admit_delivery(sf_my_process, owner);
	LWLockRelease(sf_shared_lock);
	return admitted;
}

/* Have another worker look for deliveries that are due besides those claimed, or will be. */
static void
share_deliveries(const SfDeliveries *batch)
{
	SfDatabase *database = sf_shared_lock_database(MyDatabaseId);

	if (database)
		sf_shared_lower_delivery(database, batch->others_due ? SF_TICK_AT_ONCE : batch->next_due);
	LWLockRelease(sf_shared_lock);
}

/*
 * Make the deliveries that were claimed.  When that fails, the error is noted of the
 * delivery that was tried alone; the others, which are due again, will be.
 */
static void
make_deliveries(SfDeliveries *batch)
{
	SfTurnXact	xact = {.kind = SF_TURN_XACT_DELIVER,.delivery.batch = batch};
	SfTurnXact	note = {.kind = SF_TURN_XACT_UNDELIVERED,.delivery.batch = batch};

	do
	{
		int			began_at = batch->next;

		if (sf_turn_xact_run(&xact))
			continue;
		xact.delivery.left = SF_PROVIDER(deliverer)->deliverer->skip(batch, began_at);
		note.delivery.cause = xact.message;
		if (!sf_turn_xact_met_shortage(&xact))
			(void) sf_turn_xact_run(&note);
	} while (xact.verdict == SF_VERDICT_MAY_WORK && xact.delivery.left);
}

/* Make new deliveries of one owner, and one that is to be tried again. */
void
sf_turn_deliver(SfTurn *turn)
{
	SfDeliveries batch = {.context = CurrentMemoryContext,.admit = admit_owner,.owner = turn->delivered_to,
		.until = sf_tick_plus_ms(sf_tick_now(), SF_DELIVERY_TURN_MS)};
	SfTurnXact	xact = {.kind = SF_TURN_XACT_CLAIM,.delivery.batch = &batch};

	turn->next_delivery = SF_TICK_NEVER;
	for (int again = 0; again <= 1; again++)
	{
		batch.again = again == 1;
		if (!sf_turn_xact_run(&xact))
		{
			turn->next_delivery = sf_tick_plus_ms(sf_tick_now(), SF_FAILURE_PAUSE_MS);
			return;
		}
		turn->verdict = xact.verdict;
		if (xact.verdict != SF_VERDICT_MAY_WORK)
			return;
		if (!batch.again)
			turn->delivered_to = batch.owner;
		if (!xact.delivery.claimed)
		{
			turn->next_delivery = Min(turn->next_delivery, batch.next_due);
			continue;
		}
		turn->next_delivery = SF_TICK_AT_ONCE;
		share_deliveries(&batch);
		make_deliveries(&batch);
	}
}
