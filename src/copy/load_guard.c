/*
 * load_guard.c
 *		Notice rows that reach the tables by other ways than sfflow's own writes.
 *
 * Such rows come from a dump that is loaded into a driven database, or from a
 * subscription.  They are work of another database, or of this database at an
 * earlier time, and must not be driven here.  The transaction that brings them
 * switches driving off.  How each way is noticed:
 *
 *	COPY, INSERT		a statement trigger fires, in every
 *						session_replication_role.  sfflow's own writes go past
 *						the executor (direct.c) and fire no trigger.
 *	--disable-triggers	DISABLE and ENABLE TRIGGER ALL leave the trigger in a
 *						state other than ALWAYS.
 *	apply workers		go past the executor, too.  At commit they hold a lock
 *						on the table.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "replication/logicalworker.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "copy/load_guard.h"
#include "db/table.h"

#define TRIGGER_NAME	"note_load"

/* Tables whose rows make work due */
static const char *const guarded[] = {"execution", "branch"};

/* Open a guarded table; NULL when it is not there. */
static Relation
open_guarded(const char *name)
{
	Oid			oid = sf_db_relation(name);

	return OidIsValid(oid) ? try_table_open(oid, AccessShareLock) : NULL;
}

/* Tell whether a table's trigger fires always. */
static bool
fires_always(const char *name)
{
	Relation	rel = open_guarded(name);
	TriggerDesc *triggers;
	bool		always = false;

	if (rel == NULL)
		return false;
	triggers = rel->trigdesc;
	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (strcmp(trigger->tgname, TRIGGER_NAME) == 0)
			always = trigger->tgenabled == TRIGGER_FIRES_ALWAYS;
	}
	table_close(rel, NoLock);
	return always;
}

/* Tell whether the triggers are in the state in which they were made. */
bool
sf_load_guard_is_on(void)
{
	for (size_t i = 0; i < lengthof(guarded); i++)
	{
		if (!fires_always(guarded[i]))
			return false;
	}
	return true;
}

/* Enable the triggers again. */
void
sf_load_guard_restore(void)
{
	static SfPlan plans[] = {
		SF_PLAN("ALTER TABLE _sfflow.execution ENABLE ALWAYS TRIGGER " TRIGGER_NAME),
		SF_PLAN("ALTER TABLE _sfflow.branch ENABLE ALWAYS TRIGGER " TRIGGER_NAME)
	};

	for (size_t i = 0; i < lengthof(guarded); i++)
	{
		if (!fires_always(guarded[i]))
			sf_db_execute(&plans[i]);
	}
}

/* This transaction inserts executions of another node (sf_move_key): no load */
static bool is_moving = false;

/* Say whether rows that come now are executions that move here. */
void
sf_load_guard_set_moving(bool moving)
{
	is_moving = moving;
}

/* Tell whether they are. */
bool
sf_load_guard_is_moving(void)
{
	return is_moving;
}

/* Tell whether this transaction has written to a table. */
static bool
has_written_to(const char *name)
{
	Relation	rel = open_guarded(name);
	bool		written;

	if (rel == NULL)
		return false;
	written = CheckRelationLockedByMe(rel, RowExclusiveLock, true);
	table_close(rel, AccessShareLock);
	return written;
}

/* What switches driving off, and notes why */
static void (*stop_driving) (const char *reason);

/* Stop driving when a transaction of a subscription is about to commit rows. */
static void
on_transaction(XactEvent event, void *arg)
{
	if ((event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE) ||
		!IsLogicalWorker())
		return;
	for (size_t i = 0; i < lengthof(guarded); i++)
	{
		if (!has_written_to(guarded[i]))
			continue;
		PushActiveSnapshot(GetTransactionSnapshot());
		stop_driving("a subscription writes the tables of _sfflow, so that nothing runs twice");
		PopActiveSnapshot();
		return;
	}
}

/* Have stop() called for rows that a subscription brings; once, when preloaded. */
void
sf_load_guard_init(void (*stop) (const char *reason))
{
	stop_driving = stop;
	RegisterXactCallback(on_transaction, NULL);
}
