/*
 * rule_feature.c
 *		What rules have in the registry: their tables, and when they learn of alerts that time opens.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "feature/rule/rule.h"
#include "feature/rule/watcher.h"
#include "store/feature.h"
#include "store/role/owner.h"

/* Two sweeps of the alerts that time opens are that far apart, and so often at most if a rule wants to know of them */
#define SWEEP_PAUSE_MS			1000
#define SWEEP_EVERY_MS			60000

static const SfFeatureTable tables[] = {
	{"rule",.cached = true,.by_role = "rule_of_owner"},
	{"rule_chain",.of_execution = SF_ROWS_GO_ALONG},
	{NULL}
};

static const SfFeatureObject objects[] = {
	{.prefix = "rule:",.kind = SF_OBJECT_RULE,.table = "rule",.set_owner = sf_rule_set_owner},
	{NULL}
};

/* Give the roles that have rules new revisions. */
static void
enabled(bool adopted)
{
	sf_rule_note_owners();
}

/* Tell whether a rule wants to know of changes of a kind, of an execution or (NULL) of anything. */
static bool
wants_notice(SfChangeKind kind, const SfExecution *execution)
{
	if (execution != NULL)
		return sf_watcher_wants(kind, execution);
	return kind == SF_CHANGE_ALERT ? sf_watcher_any_wants_alerts() : sf_watcher_is_any();
}

/* Tell rules of alerts that time has opened or cleared. */
static SfSweepResult
sweep(TimestampTz now)
{
	return (SfSweepResult) {.more = sf_watcher_tell_time_alerts(),.next = DT_NOEND};
}

/* An execution begins. */
static void
beginning(const SfExecution *execution, SfBranch *root)
{
	sf_watcher_start(execution);
}

/* One that has not begun has the input of another start, which rules may have led to. */
static void
begun_anew(const SfExecution *execution, SfAnew how)
{
	if (how == SF_ANEW_REPLACED)
		sf_watcher_start(execution);
}

static const SfFeatureSweep sweeps = {
	.name = "alerts",
	.run = sweep,
	.has_work = sf_watcher_any_wants_alerts,
	.pause_ms = SWEEP_PAUSE_MS,
	.every_ms = SWEEP_EVERY_MS,
};

static const SfFeatureNotices notices = {
	.wants = wants_notice,
	.on_notice = sf_watcher_notice,
	.on_changes = sf_watcher_changes,
};

const SfFeature sf_rule_feature = {
	.name = "rule",
	.tables = tables,
	.objects = objects,
	.sweep = &sweeps,
	.notices = &notices,
	.deliverer = &sf_delivery_deliverer,
	.on_beginning = beginning,
	.on_begun_anew = begun_anew,
	.on_enabled = enabled,
};
