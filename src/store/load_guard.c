/*
 * load_guard.c
 *		Noticing rows that come into the tables by other ways than sfflow.
 *
 * A dump's data that is loaded into a driven database, and rows that a
 * subscription brings, are work of another database, or of this one at another
 * time.  They are noticed in the transaction that brings them, which switches
 * driving off:
 *
 *	COPY, INSERT		by a statement trigger, which fires in every
 *						session_replication_role; sfflow's own writes go past
 *						the executor (direct.c) and fire none
 *	--disable-triggers	by the state in which DISABLE and ENABLE TRIGGER ALL
 *						leave that trigger: no longer ALWAYS
 *	apply workers		go past the executor as well; by the lock that they hold
 *						on the table when they commit
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "replication/logicalworker.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "store/instance.h"
#include "store/load_guard.h"
#include "store/table.h"

#define TRIGGER_NAME	"note_load"

/* Tables whose rows make work due */
static const char *const guarded[] = {"execution", "branch"};

/* Open a guarded table; NULL when it is not there. */
static Relation
open_guarded(const char *name)
{
	Oid			oid = get_relname_relid(name, get_namespace_oid("_sfflow", true));

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

/* Tell whether the triggers that notice are as they were made. */
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

/* Enable them again. */
void
sf_load_guard_restore(void)
{
	static SfPlan plans[] = {
		SF_PLAN("ALTER TABLE _sfflow.execution ENABLE ALWAYS TRIGGER " TRIGGER_NAME, 0, 0),
		SF_PLAN("ALTER TABLE _sfflow.branch ENABLE ALWAYS TRIGGER " TRIGGER_NAME, 0, 0)
	};

	for (size_t i = 0; i < lengthof(guarded); i++)
	{
		if (!fires_always(guarded[i]))
			(void) sf_store_query(&plans[i], NULL, NULL, 0, NULL, NULL);
	}
}

/* Rows were inserted, not by sfflow. */
void
sf_load_guard_note(void)
{
	sf_instance_stop("rows were loaded into the tables of _sfflow, as from a dump, so that nothing runs twice");
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

/* A transaction of a subscription is about to commit. */
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
		sf_instance_stop("a subscription writes the tables of _sfflow, so that nothing runs twice");
		PopActiveSnapshot();
		return;
	}
}

/* Have rows noticed that a subscription brings. */
void
sf_load_guard_init(void)
{
	RegisterXactCallback(on_transaction, NULL);
}
