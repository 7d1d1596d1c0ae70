/*
 * gate_recheck.c
 *		What comes under other objects of features without a step of its own, since its execution is
 *		migrated to another version, or an owner, a mapping or the membership of a role has changed.
 *
 * What waits for what does not apply to it any more is due, such as for a hold; and the features
 * learn of what is inside of a state, which then has what applies to it now, such as slots of limits.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/time/clock.h"
#include "base/time/timing.h"
#include "db/table_cache.h"
#include "run/apply/apply.h"
#include "run/gate/gate.h"

/* A branch that waits for an object that does not apply to it any more is due; false: it does not. */
static bool
recall_one(const SfDraft *draft, SfBranch *branch, const SfParked *parked)
{
	return sf_branch_is_parked(branch) &&
		sf_feature_still_parks(draft, branch, parked) != SF_PARKING_APPLIES && sf_park_end(branch);
}

/* The same of all branches of an execution. */
static void
recall(SfDraft *draft)
{
	foreach_ptr(const SfParked, parked, sf_park_list(draft->execution->execution_no))
	{
		SfBranch   *branch = sf_branch_by_no(draft->branches, parked->key.branch_no);

		CHECK_FOR_INTERRUPTS();
		if (branch != NULL)
			(void) recall_one(draft, branch, parked);
	}
}

/*
 * The branches of a draft's execution, which runs, are at other states than before, or at states of other resources:
 * the features learn of that, and what waits for what does not apply any more is due.  The caller has locked all of
 * them, and writes them.
 */
void
sf_gate_recheck_branches(SfDraft *draft)
{
	/* holds may have been renamed with the states */
	CommandCounterIncrement();
	sf_table_cache_accept_changes();
	if (!SF_DEBUG_MUTATION("move_recall"))
		recall(draft);
	SF_FEATURES(gate, feature)
		if (feature->gate->on_states_changed != NULL)
			feature->gate->on_states_changed(draft);
}

/* --- changes of owners, mappings and roles --- */

/*
 * What waits, of a list of SfParked, for what does not apply to it any more is due, unless a session works on it.
 * Returns false if one does.
 */
static bool
recall_all(List *waits)
{
	bool		all = true;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "sfflow recall",
												  ALLOCSET_DEFAULT_SIZES);

	foreach_ptr(const SfParked, parked, waits)
	{
		MemoryContext old = MemoryContextSwitchTo(scratch);
		SfExecution *execution = sf_execution_read(parked->key.execution_no, SF_LOCK_NONE, false);
		SfBranch   *branch = execution == NULL || execution->status != SF_STATUS_RUNNING ? NULL :
			sf_branch_read(parked->key, SF_LOCK_SKIP);

		CHECK_FOR_INTERRUPTS();
		if (branch != NULL && recall_one(sf_draft_make(execution), branch, parked))
			sf_apply_branch(branch);
		if (branch == NULL && execution != NULL && execution->status == SF_STATUS_RUNNING &&
			sf_branch_read(parked->key, SF_LOCK_NONE) != NULL)
			all = false;
		MemoryContextSwitchTo(old);
		MemoryContextReset(scratch);
	}
	MemoryContextDelete(scratch);
	return all;
}

/*
 * The owner of a machine, or of SF_ALL_MACHINES, has changed, or what resources of the machines are mapped to
 * with whose owners' rights a role acts (InvalidOid: of all): have their executions come under the
 * objects of features that apply to them now.
 */
static void
recheck(int machine_no, Oid owner)
{
	CommandCounterIncrement();
	sf_table_cache_accept_changes();
	(void) recall_all(sf_park_list_of(machine_no, owner));
	SF_FEATURES(gate, feature)
		if (feature->gate->on_uses_changed != NULL)
			feature->gate->on_uses_changed(machine_no, owner);
}

/* A machine has another owner. */
void
sf_gate_recheck_machine(int machine_no)
{
	recheck(machine_no, InvalidOid);
}

/* The machines of a role, or of all if it is a superuser, have other mappings. */
void
sf_gate_recheck_owner(Oid owner)
{
	recheck(SF_ALL_MACHINES, owner);
}

/* Has nothing changed in the roles since this process has applied them, in a transaction that has committed? */
static bool roles_are_applied = false;

/* ... in this transaction, without leaving anything to another scan? */
static bool applies_roles = false;

/* Not before that, this process applies them again: roles that change all the time take a small part of its time */
static SfTick not_before = SF_TICK_AT_ONCE;

#define PAUSE_FACTOR	20		/* as many times as long as that took */

/* Syscache callback: a role may have become a member of another one, or a superuser, or ceased to be. */
static void
note_roles(Datum arg, int cacheid, uint32 hashvalue)
{
	roles_are_applied = applies_roles = false;
}

/* What a scan has applied is so once its transaction has committed. */
static void
on_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT && applies_roles)
		roles_are_applied = true;
	if (event == XACT_EVENT_ABORT && applies_roles)
		not_before = SF_TICK_AT_ONCE;
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		applies_roles = false;
}

/* A subtransaction that is rolled back may be the one that has applied them. */
static void
on_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		applies_roles = false;
}

/*
 * Have the features find out what membership of roles has changed; false: something is left, which other sessions
 * have locked.
 */
static bool
apply_roles(void)
{
	bool		all = true;

	SF_FEATURES(gate, feature)
		if (feature->gate->apply_roles != NULL)
			all = feature->gate->apply_roles() && all;
	SF_FEATURES(gate, feature)
		if (feature->gate->parked_of_others != NULL)
			all = recall_all(feature->gate->parked_of_others()) && all;
	return all;
}

/*
 * With each scan: objects for resources, such as holds, are for the machines of their role, and of the
 * roles of which that is a member.  If those are others by now, have what runs counted anew, and
 * what waits in vain go on.  What another session has locked is left to another scan.  Returns when
 * that is due; SF_TICK_NEVER: nothing is left.
 */
SfTick
sf_gate_recheck_roles(void)
{
	static bool is_registered = false;
	SfTick		began = sf_tick_now();
	SfTick		ended;

	if (!is_registered)
	{
		CacheRegisterSyscacheCallback(AUTHOID, note_roles, (Datum) 0);
		CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, note_roles, (Datum) 0);
		RegisterXactCallback(on_transaction, NULL);
		RegisterSubXactCallback(on_subtransaction, NULL);
		is_registered = true;
	}
	if (roles_are_applied || applies_roles || IsolationUsesXactSnapshot())
		return SF_TICK_NEVER;
	if (began < not_before)
		return not_before;
	/* what changes from here on is applied by another scan */
	applies_roles = true;
	if (!apply_roles())
		applies_roles = false;
	ended = sf_tick_now();
	not_before = ended + PAUSE_FACTOR * (ended - began);
	return applies_roles ? SF_TICK_NEVER : Max(not_before, sf_tick_plus_ms(ended, SF_COUNT_PAUSE_MS));
}
