/*
 * guest.c
 *		A task in a session that serves another role than its owner: a guest.
 *
 * What the guest leaves in the session would be found, or run, with the rights of the
 * session's role.  SECURITY_RESTRICTED_OPERATION (identity.c) has PostgreSQL refuse most
 * of it, and temp_schema.c the rest of what has a name.  Two kinds of state remain:
 *
 * Cursors.  A guest could close a cursor of the session and open one of its own under the
 * same name.  The session's next FETCH would run the guest's query with the rights of the
 * session's role.  PostgreSQL neither runs nor drops a cursor that is active.  So all
 * cursors of the session are marked active while the guest runs, and those that the guest
 * has opened are dropped after it.
 *
 * Advisory locks of the session.  PostgreSQL releases all of them or one that is named,
 * and does not tell who took it.  They end with the guest if the session held none before.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/tuplestore.h"

#include "base/version/compat.h"
#include "sql_task/identity/guest.h"

/* The guest that runs, the innermost one; NULL: none */
static SfGuest *current = NULL;

/* The task that runs as a guest, the innermost one; NULL: none does. */
SfGuest *
sf_guest_current(void)
{
	return current;
}

/* --- cursors --- */

/*
 * Tell whether the session may have cursors besides the statement that runs.  The memory of
 * each cursor hangs below one context, so this is cheaper than a list; in doubt it has.
 */
static bool
may_have_cursors(void)
{
	MemoryContext own = ActivePortal != NULL ? ActivePortal->portalContext : NULL;

	if (own == NULL || ActivePortal->status != PORTAL_ACTIVE)
		return true;
	return own->parent->firstchild != own || own->nextchild != NULL;
}

/* Have pg_cursor() list the cursors of the session; only PostgreSQL itself sees their table. */
static Tuplestorestate *
list_cursors(ReturnSetInfo *rsinfo)
{
	LOCAL_FCINFO(fcinfo, 0);
	FmgrInfo	flinfo;

	memset(rsinfo, 0, sizeof(*rsinfo));
	rsinfo->type = T_ReturnSetInfo;
	rsinfo->econtext = CreateStandaloneExprContext();
	rsinfo->allowedModes = SFRM_Materialize;
	rsinfo->returnMode = SFRM_Materialize;
	fmgr_info(F_PG_CURSOR, &flinfo);
	InitFunctionCallInfoData(*fcinfo, &flinfo, 0, InvalidOid, NULL, (struct Node *) rsinfo);
	(void) FunctionCallInvoke(fcinfo);
	return rsinfo->setResult;
}

/* Mark a cursor active, and remember what it was. */
static void
shelter(SfGuest *guest, const char *name)
{
	Portal		portal = GetPortalByName(name);
	SfShelteredPortal *entry;

	if (!PortalIsValid(portal) || portal->status == PORTAL_ACTIVE)
		return;
	entry = palloc(sizeof(SfShelteredPortal));
	entry->portal = portal;
	entry->status = portal->status;
	guest->portals = lappend(guest->portals, entry);
	portal->status = PORTAL_ACTIVE;
}

/* Mark all cursors of the session active. */
static void
shelter_cursors(SfGuest *guest)
{
	ReturnSetInfo rsinfo;
	Tuplestorestate *cursors = list_cursors(&rsinfo);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(rsinfo.setDesc, &TTSOpsMinimalTuple);

	while (tuplestore_gettupleslot(cursors, true, false, slot))
	{
		bool		isnull;
		Datum		name = slot_getattr(slot, 1, &isnull);

		if (!isnull)
			shelter(guest, TextDatumGetCString(name));
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(cursors);
	FreeExprContext(rsinfo.econtext, true);
}

/* Give the cursors of the session back. */
static void
release_cursors(SfGuest *guest)
{
	foreach_ptr(const SfShelteredPortal, entry, guest->portals)
		entry->portal->status = entry->status;
	guest->portals = NIL;
}

/* --- advisory locks --- */

/* Tell whether a lock is one of SQL's advisory locks; those of sfflow have another fourth field. */
static bool
is_advisory(const PROCLOCK *lock)
{
	const LOCKTAG *tag = &lock->tag.myLock->tag;

	return PROCLOCK_LOCKMETHOD(*lock) == USER_LOCKMETHOD &&
		(tag->locktag_field4 == 1 || tag->locktag_field4 == 2);
}

/*
 * Tell whether this process holds an advisory lock of SQL.  Only the process itself adds
 * advisory locks to its lists, so an empty list needs no look under its lock.
 */
bool
sf_guest_holds_advisory_lock(void)
{
	bool		found = false;

	for (int i = 0; i < NUM_LOCK_PARTITIONS && !found; i++)
	{
		if (SF_FIRST_PROC_LOCK(&MyProc->myProcLocks[i]) == NULL)
			continue;
		LWLockAcquire(LockHashPartitionLockByIndex(i), LW_SHARED);
		for (PROCLOCK *lock = SF_FIRST_PROC_LOCK(&MyProc->myProcLocks[i]); lock != NULL && !found;
			 lock = SF_PROC_LOCK_AFTER(&MyProc->myProcLocks[i], &lock->procLink))
			found = is_advisory(lock);
		LWLockRelease(LockHashPartitionLockByIndex(i));
	}
	return found;
}

/* --- a guest --- */

/* Begin a task as a guest, within its subtransaction and before the first code of its owner. */
void
sf_guest_begin(SfGuest *guest)
{
	memset(guest, 0, sizeof(*guest));
	guest->ends_locks = !sf_guest_holds_advisory_lock();
	guest->context = CurrentMemoryContext;
	guest->outer = current;
	guest->is_on = true;
	current = guest;
	if (may_have_cursors())
		shelter_cursors(guest);
}

/* Drop the cursors that a guest has opened, with its rights; after an error the subtransaction does. */
void
sf_guest_clear(const SfGuest *guest)
{
	if (guest->is_on)
		PortalHashTableDeleteAll();
}

/* End a guest, whether its task went well or not.  Raises no error, and may be called again. */
void
sf_guest_end(SfGuest *guest)
{
	if (!guest->is_on)
		return;
	guest->is_on = false;
	current = guest->outer;
	release_cursors(guest);
	if (guest->ends_locks && sf_guest_holds_advisory_lock())
		LockReleaseSession(USER_LOCKMETHOD);
}
