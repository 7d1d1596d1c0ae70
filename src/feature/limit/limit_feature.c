/*
 * limit_feature.c
 *		What limits ask and tell at the moments of the engine.
 */
#include "postgres.h"

#include "api/objects.h"
#include "base/settings.h"
#include "base/time/clock.h"
#include "db/table_cache.h"
#include "feature/limit/limit_gate.h"
#include "feature/limit/limit_rate.h"
#include "feature/limit/limit_slot.h"
#include "store/branch/noted_queue.h"
#include "store/role/privilege.h"
#include "store/state_machine/machine.h"

/* How long sf_health reports a background worker that was refused */
#define RECENT_MS		(5 * 60 * 1000)

static const SfFeatureTable tables[] = {
	{"run_limit",.of_machine = true,.cached = true,.by_role = "run_limit_owner"},
	{NULL}
};

/* Executions have come from another node. */
static void
arrived(SfArg numbers, int from_node)
{
	sf_limit_count_arrived();
}

/* Reserve the shared memory of queues and rates. */
static void
init(void)
{
	sf_queue_init("sfflow_limits", sf_setting_max_limit_keys);
	sf_limit_rate_init();
}

/* Tell whether the limit in whose queue a branch waits applies to it where it is, with the same value of its key. */
static SfParking
still_parks(const SfDraft *draft, const SfBranch *branch, const SfParked *parked)
{
	if (sf_limit_of_number(sf_parked_object_no(parked)) == NULL)
		return SF_PARKING_GONE;
	foreach_ptr(const SfStepLimit, wanted, sf_limit_list_queues(draft, branch))
		if (sf_parked_in_queue(parked->kind) && sf_queue_equals(wanted->queue, sf_parked_queue(parked)))
			return SF_PARKING_APPLIES;
	return SF_PARKING_OVER;
}

/* List what waits for limits of roles that have no rights of the machine's owner. */
static List *
parked_of_others(void)
{
	static SfPlan plan = SF_PLAN(SF_PARKED_OF_OTHERS("limit", "run_limit", "limit_no"));

	return sf_park_list_by(&plan);
}

/* Have the limits counted anew whose owners cover other roles than before; false: not all of them. */
static bool
apply_roles(void)
{
	return !sf_limit_may_be() || sf_limit_note_roles();
}

/* Give back the slots of limits that an ended execution has, unless it has them for this transaction only. */
static void
ended(const SfExecution *execution, bool began_here)
{
	if (sf_limit_may_be() && !began_here)
		sf_limit_slot_release_execution(execution->execution_no);
}

/* Drop the limits of an activity that is dropped. */
static void
object_dropped(SfObjectKind kind, const char *name)
{
	if (kind == SF_OBJECT_ACTIVITY)
		sf_limit_delete_of_object(SF_OBJECT_ACTIVITY, name);
	/* these are limited as the resources of states */
	if (kind == SF_OBJECT_EVENT || kind == SF_OBJECT_WORKLIST)
		sf_limit_delete_of_object(SF_OBJECT_RESOURCE, sf_object_target(kind, name));
}

/* Give back the slots of a branch that has left its state. */
static void
left_state(SfBranchKey key)
{
	if (sf_limit_may_be())
		sf_limit_slot_release(key);
}

/* The role whose branches alone are in a queue: that of the limit's machine. */
static Oid
queue_owner(SfQueue queue)
{
	const SfLimit *limit = sf_limit_of_number(queue.object_no);
	const SfMachineIdentity *identity = limit == NULL || limit->machine_no == SF_NO_MACHINE ? NULL :
		sf_machine_identity(limit->machine_no);

	return identity == NULL ? InvalidOid : identity->owner;
}

/*
 * With each scan for everything due, and each call of sf_run_due: forget buckets of rates that
 * say nothing any more, delete slots whose occupants
 * are gone, note that those above a lowered limit are free, count what began beside the call
 * that set a limit, and have branches go on that wait for what their execution has.  Returns
 * when to do so again before the next poll; SF_TICK_NEVER: no need.
 */
static SfTick
tend(void)
{
	sf_limit_rate_reap();
	sf_table_cache_accept_changes();
	if (!sf_limit_may_be() || !sf_limit_is_any())
		return SF_TICK_NEVER;
	sf_limit_slot_reap();
	sf_limit_lower_highest();
	foreach_ptr(const SfWaitsWithin, within, sf_limit_waits_within())
		sf_apply_unpark_within(within->queue, within->execution_no);
	return sf_limit_count_uncounted();
}

/* Forget what shared memory has of a database. */
static void
database_gone(Oid database)
{
	sf_limit_rate_forget(database, SF_HASH_ANY);
	sf_queue_forget(database, SF_HASH_ANY);
}

/* Show how full the tables of keys of limits are, and whether an owner has found no entry lately. */
static void
put_health(SfHealthPut put, void *arg)
{
	SfHashUse	rates = sf_limit_rate_use();
	SfHashUse	queues = sf_queue_use();
	const SfHashUse *refused = rates.refused_at >= queues.refused_at ? &rates : &queues;
	bool		ok = refused->refused_at == SF_TICK_UNSET ||
		refused->refused_at < sf_tick_plus_ms(sf_tick_now(), -RECENT_MS);
	char	   *role = ok ? NULL : GetUserNameFromId(refused->refused_owner, true);

	put(arg, "limit keys", ok,
		psprintf("%d rates and %d queues of %d each (sfflow.max_limit_keys)%s%s%s",
				 rates.nused, queues.nused, rates.nentries,
				 ok ? "" : "; role \"", ok ? "" : role == NULL ? "?" : role,
				 ok ? "" : "\" has as many as it may have: what exceeds that is counted in a table, and may begin later"));
}

static const SfFeatureGate gate = {
	.waiting_word = "limit",
	.admit = sf_limit_admit,
	.still_parks = still_parks,
	.parked_of_others = parked_of_others,
	.apply_roles = apply_roles,
	.on_uses_changed = sf_limit_uses_changed,
	.on_states_changed = sf_limit_states_changed,
};

static const SfFeatureQueues queues = {
	.take_first = sf_limit_take_first,
	.owner_of = queue_owner,
	.tend = tend,
	.wake_at_commit = sf_limit_slot_wake_at_commit,
	.on_announced = sf_limit_return_tokens,
	.on_slice_ending = sf_limit_store_slots,
	.on_suspects_running = sf_limit_rate_waive,
};

const SfFeature sf_limit_feature = {
	.name = "limit",
	.tables = tables,
	.gate = &gate,
	.queues = &queues,
	.init = init,
	.on_left_state = left_state,
	.on_beginning = sf_limit_beginning,
	.on_ended = ended,
	.on_executions_dropped = sf_limit_slot_release_executions,
	.on_arrived = arrived,
	.on_version_made = sf_limit_set_defined,
	.on_machine_dropped = sf_limit_slot_delete_of_machine,
	.on_object_dropped = object_dropped,
	.on_owner_changed = sf_limit_pass_on,
	.put_health = put_health,
	.on_database_gone = database_gone,
};
