/*
 * event_feature.c
 *		What events by key have in the registry: their tables and names, and what they ask and tell at the moments
 *		of the engine.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "feature/event/event_by_key.h"
#include "feature/rule/rule.h"
#include "store/role/privilege.h"

static const SfFeatureTable tables[] = {
	{"awaited_event",.of_execution = SF_ROWS_GO_ALONG},
	{"event_receipt",.of_execution = SF_ROWS_GO_ALONG},
	{"event_floor",.of_execution = SF_ROWS_GO_ALONG},
	{"event_floor_of_node",.of_execution = SF_ROWS_GO_ALONG},
	{.name = "emission"},
	{"event_type",.cached = true,.by_role = "event_type_owner"},
	{NULL}
};

static const char *const alert_kinds[] = {SF_ALERT_KIND_UNRECEIVED_EVENT, NULL};

static const SfFeatureObject objects[] = {
	{
		.prefix = "event:",.kind = SF_OBJECT_EVENT,.table = "event_type",.number_column = "event_type_no",.require_own = sf_event_type_require_own,
		.set_owner = sf_event_type_set_owner,.notice = sf_event_type_notice,
		.is_granted = true,.noun = "event",.view = "sf_event_types",
		.missing_sqlstate = ERRCODE_SF_EVENT_DOES_NOT_EXIST
	},
	{NULL}
};

/* Forget what a branch waited for. */
static void
left_state(SfBranchKey key)
{
	if (sf_event_type_may_be())
		sf_awaited_delete(key);
}

/* Forget what an execution waited for that has ended. */
static void
ended(const SfExecution *execution, bool began_here)
{
	if (sf_event_type_may_be() && !began_here)
		sf_awaited_delete_of_execution(execution->execution_no);
}

/*
 * Have an execution that begins anew receive events again.  If the input of one that has not begun is another event,
 * that is what it has received.
 */
static void
begun_anew(const SfExecution *execution, SfAnew how)
{
	if (sf_event_type_may_be())
		sf_emission_delete_receipts(execution->execution_no);
	if (how == SF_ANEW_REPLACED)
		sf_emission_starts(execution);
}

/* An execution begins: note the event that a rule has started it by. */
static void
beginning(const SfExecution *execution, SfBranch *root)
{
	sf_emission_starts(execution);
}

/* Executions have come from another node, and may wait for events that are here. */
static void
arrived(SfArg numbers, int from_node)
{
	if (!sf_event_type_may_be())
		return;
	sf_emission_arrive(numbers, from_node);
	if (sf_awaited_arrive(numbers))
		sf_hooks.sweep_soon();
}

/* Have a worker sweep what has come while the database was not driven. */
static void
enabled(bool adopted)
{
	if (!sf_keyed_cache_is_any(&sf_event_type_cache))
		return;
	if (adopted)
		sf_emission_adopt();
	sf_hooks.sweep_soon();
}

/*
 * Events are received in the order of their numbers, and none below the floor of an execution: numbers of a node that
 * are less than those drawn so far would be passed by.
 */
static void
check_node(int node)
{
	if (!sf_emission_any_above(node))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("this database cannot have the number %d of a node, because it has events with higher numbers", node),
			 errdetail("Executions that have received events would not receive those that come with lower numbers."),
			 errhint("Give it a number that is higher than the one it had.")));
}

/* Are there types of events? */
static bool
are_types(void)
{
	return sf_keyed_cache_is_any(&sf_event_type_cache);
}

static const SfFeatureResource resource = {
	.begin_wait = sf_awaited_begin,
	.write_wait = sf_awaited_write,
	.problem_of = sf_awaited_problem_of,
	.allows = sf_awaited_check,
	.find_awaited = sf_event_sweep_execution,
	.kind = SF_RESOURCE_EVENT,
};

static const SfFeatureAlerts alerts = {
	.kinds = alert_kinds,
	.find_target = sf_event_type_alert_target,
	.acknowledge = sf_event_type_acknowledge,
};

static const SfFeatureSweep sweeps = {
	.name = "events",
	.run = sf_event_sweep,
	.has_work = are_types,
	.when_told = true,
};

static const SfRuleTarget rule_target = {
	.require_emit = sf_event_type_require_emit,
	.emit = sf_emission_by_rule,
	.depth_of_received = sf_emission_depth_of_received,
};

const SfFeature sf_event_feature = {
	.name = "event",
	.tables = tables,
	.objects = objects,
	.resource = &resource,
	.alerts = &alerts,
	.sweep = &sweeps,
	.rule_target = &rule_target,
	.on_beginning = beginning,
	.on_left_state = left_state,
	.on_ended = ended,
	.on_begun_anew = begun_anew,
	.on_arrived = arrived,
	.on_enabled = enabled,
	.check_node = check_node,
};
