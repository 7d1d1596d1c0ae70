/*
 * settings.c
 *		Definition of the settings declared in settings.h.
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "utils/guc.h"

#include "base/compat.h"
#include "base/debug_point.h"
#include "base/settings.h"

int			sf_setting_workers = 2;
int			sf_setting_max_workers = 8;
int			sf_setting_max_running_tasks = 4;
int			sf_setting_max_running_tasks_per_owner = 0;
int			sf_setting_default_task_timeout = 0;
char	   *sf_setting_databases = NULL;
int			sf_setting_slice_ms = 20;
int			sf_setting_poll_interval = 60;
int			sf_setting_max_payload_bytes = 16 * 1024 * 1024;
int			sf_setting_max_history_events = 10000000;
int			sf_setting_max_crashes = 3;
int			sf_setting_slow_task_factor = 3;
int			sf_setting_evaluation_timeout_ms = 10000;
int			sf_setting_evaluation_depth = 5000;
bool		sf_setting_log_failures = true;
int			sf_setting_max_executions_per_owner = 10000000;
int			sf_setting_max_starts_per_owner = 1000000;
int			sf_setting_max_transitions = 10000000;

SfQuotas	sf_server_quotas;

/* Remember the source of a value for the assign hook. */
static bool
check_quota(int *value, void **extra, GucSource source)
{
	GucSource  *from = SF_GUC_MALLOC(sizeof(GucSource));

	if (from == NULL)
		return false;
	*from = source;
	*extra = from;
	return true;
}

/* Note a value as the server's, unless a role, a database or a session set it. */
static void
assign_quota(int *quota, int value, const void *extra)
{
	if (*(const GucSource *) extra <= PGC_S_ARGV)
		*quota = value;
}

/* Assign sfflow.max_executions_per_owner. */
static void
assign_executions(int value, void *extra)
{
	assign_quota(&sf_server_quotas.executions, value, extra);
}

/* Assign sfflow.max_starts_per_owner. */
static void
assign_starts(int value, void *extra)
{
	assign_quota(&sf_server_quotas.starts, value, extra);
}

/* Assign sfflow.max_transitions. */
static void
assign_transitions(int value, void *extra)
{
	assign_quota(&sf_server_quotas.transitions, value, extra);
}

/* An integer setting: variable, name, description, default, range, context */
typedef struct SfIntSetting
{
	int		   *variable;
	const char *name;
	const char *description;
	int			min;
	int			max;
	GucContext	context;
	int			flags;
	GucIntAssignHook assign;	/* of a quota; else NULL */
} SfIntSetting;

static const SfIntSetting int_settings[] =
{
	{&sf_setting_workers, "sfflow.workers",
		"Workers that advance executions.",
	1, 64, PGC_POSTMASTER, 0, NULL},
	{&sf_setting_max_workers, "sfflow.max_workers",
		"Processes that may run tasks, including those inside a long task.",
	1, 256, PGC_POSTMASTER, 0, NULL},
	{&sf_setting_max_running_tasks, "sfflow.max_running_tasks",
		"Long SQL tasks that may run at once.",
	1, 256, PGC_SIGHUP, 0, NULL},
	{&sf_setting_max_running_tasks_per_owner, "sfflow.max_running_tasks_per_owner",
		"SQL tasks of one owner in a database that may hold a slot at once; 0 means all slots but one.",
	0, 256, PGC_SIGHUP, 0, NULL},
	{&sf_setting_default_task_timeout, "sfflow.default_task_timeout",
		"Longest time of a SQL task without TimeoutSeconds; 0 means no limit.",
	0, INT_MAX / 1000, PGC_SUSET, GUC_UNIT_S, NULL},
	{&sf_setting_slice_ms, "sfflow.slice_ms",
		"Time after which a worker commits.",
	1, 10000, PGC_SIGHUP, GUC_UNIT_MS, NULL},
	{&sf_setting_poll_interval, "sfflow.poll_interval",
		"Time between two scans of the tables if nothing wakes a worker.",
	1, 86400, PGC_SIGHUP, GUC_UNIT_S, NULL},
	{&sf_setting_max_payload_bytes, "sfflow.max_payload_bytes",
		"Largest size of a payload as JSON text, in bytes.",
	1024, 256 * 1024 * 1024, PGC_SUSET, GUC_UNIT_BYTE, NULL},
	{&sf_setting_max_history_events, "sfflow.max_history_events",
		"Most events in the history of an execution.",
	100, INT_MAX, PGC_SUSET, 0, NULL},
	{&sf_setting_max_crashes, "sfflow.max_crashes",
		"Crashes of the server while a step ran alone, or ends of its worker, after which the step fails.",
	1, 100, PGC_SIGHUP, 0, NULL},
	{&sf_setting_slow_task_factor, "sfflow.slow_task_factor",
		"sf_alerts names a task that takes this many times as long as its usual longest run.",
	1, 1000, PGC_USERSET, 0, NULL},
	{&sf_setting_evaluation_timeout_ms, "sfflow.evaluation_timeout",
		"Longest time of one evaluation of an expression; 0 means no limit.",
	0, INT_MAX, PGC_USERSET, GUC_UNIT_MS, NULL},
	{&sf_setting_evaluation_depth, "sfflow.evaluation_depth",
		"Deepest nesting of evaluations in a JSONata expression.",
	10, 1000000, PGC_USERSET, 0, NULL},
	{&sf_setting_max_executions_per_owner, "sfflow.max_executions_per_owner",
		"Most executions of one owner's machines that run at once; 0 means no limit.",
	0, INT_MAX, PGC_SUSET, 0, assign_executions},
	{&sf_setting_max_starts_per_owner, "sfflow.max_starts_per_owner",
		"Most executions of one owner's machines that are started per minute; 0 means no limit.",
	0, INT_MAX, PGC_SUSET, 0, assign_starts},
	{&sf_setting_max_transitions, "sfflow.max_transitions",
		"Most state transitions of an execution; 0 means no limit.",
	0, INT_MAX, PGC_SUSET, 0, assign_transitions},
};

/*
 * Define every setting that can be defined now; PGC_POSTMASTER ones only while
 * preloading.
 */
void
sf_settings_define(void)
{
	for (size_t i = 0; i < lengthof(int_settings); i++)
	{
		const SfIntSetting *s = &int_settings[i];

		if (s->context == PGC_POSTMASTER &&
			!process_shared_preload_libraries_in_progress)
			continue;
		DefineCustomIntVariable(s->name, s->description, NULL,
								s->variable, *s->variable, s->min, s->max,
								s->context, s->flags,
								s->assign != NULL ? check_quota : NULL,
								s->assign, NULL);
	}

	DefineCustomBoolVariable("sfflow.log_failures",
							 "Log a line for each execution that fails.",
							 NULL, &sf_setting_log_failures, true,
							 PGC_SUSET, 0, NULL, NULL, NULL);

	DefineCustomStringVariable("sfflow.debug_point",
							   "Places in the code where a test stops, fails or kills a process.",
							   NULL, &sf_setting_debug_point, "",
							   PGC_SUSET, GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL,
							   NULL, NULL, NULL);

	if (process_shared_preload_libraries_in_progress)
		DefineCustomStringVariable("sfflow.databases",
								   "Databases to drive, separated by commas; empty means every database that has the extension.",
								   NULL, &sf_setting_databases, "",
								   PGC_POSTMASTER, GUC_LIST_INPUT,
								   NULL, NULL, NULL);

	/*
	 * A library that is loaded late does not define all settings.  Reserving the
	 * prefix then would make the missing ones count as misspelt.
	 */
	if (process_shared_preload_libraries_in_progress)
		MarkGUCPrefixReserved("sfflow");
}
