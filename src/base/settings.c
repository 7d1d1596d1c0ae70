/*
 * settings.c
 *		Definition of the settings declared in settings.h.
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "utils/guc.h"

#include "base/error/debug_point.h"
#include "base/settings.h"
#include "base/version/compat.h"

#define INT_SETTING_DEFINE(sym, name, initial, min, max, context, flags, assign, description) \
	int			sf_setting_##sym = initial;
SF_INT_SETTING_LIST(INT_SETTING_DEFINE)
char	   *sf_setting_databases = NULL;
bool		sf_setting_log_failures = true;
char	   *sf_setting_traceparent = NULL;
char	   *sf_setting_region = NULL;
char	   *sf_setting_account_id = NULL;

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

/* Assign a quota: note a value as the server's, unless a role, a database or a session set it. */
#define ASSIGN_QUOTA(quota) \
	static void \
	assign_##quota(int value, void *extra) \
	{ \
		if (*(const GucSource *) extra <= PGC_S_ARGV) \
			sf_server_quotas.quota = value; \
	}
ASSIGN_QUOTA(executions)
ASSIGN_QUOTA(starts)
ASSIGN_QUOTA(rules)
ASSIGN_QUOTA(rule_bytes)
ASSIGN_QUOTA(transitions)

/* Check a region: an ARN has colons between its parts. */
static bool
check_region(char **value, void **extra, GucSource source)
{
	size_t		length = strlen(*value);

	return length > 0 && length <= 32 &&
		strspn(*value, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

/* Check the number of an account. */
static bool
check_account_id(char **value, void **extra, GucSource source)
{
	return strlen(*value) == 12 && strspn(*value, "0123456789") == 12;
}

/* Define a setting that is an integer, unless it is too late for it. */
static void
define_int(int *variable, const char *name, int min, int max, GucContext context, int flags,
		   GucIntAssignHook assign, const char *description)
{
	if (context != PGC_POSTMASTER || process_shared_preload_libraries_in_progress)
		DefineCustomIntVariable(name, description, NULL, variable, *variable, min, max,
								context, flags, assign != NULL ? check_quota : NULL, assign, NULL);
}

/*
 * Define every setting that can be defined now; PGC_POSTMASTER ones only while
 * preloading.
 */
void
sf_settings_define(void)
{
#define INT_SETTING(sym, name, initial, min, max, context, flags, assign, description) \
	define_int(&sf_setting_##sym, name, min, max, context, flags, assign, description);
	SF_INT_SETTING_LIST(INT_SETTING)

	DefineCustomBoolVariable("sfflow.log_failures",
							 "Log a line for each execution that fails.",
							 NULL, &sf_setting_log_failures, true,
							 PGC_SUSET, 0, NULL, NULL, NULL);

	DefineCustomStringVariable("sfflow.traceparent",
							   "Trace that executions which the session starts are part of, as traceparent of W3C Trace Context.",
							   NULL, &sf_setting_traceparent, "",
							   PGC_USERSET, 0, NULL, NULL, NULL);

	DefineCustomStringVariable("sfflow.region",
							   "Region in ARNs and in events.",
							   NULL, &sf_setting_region, "us-east-1",
							   PGC_SUSET, 0, check_region, NULL, NULL);

	DefineCustomStringVariable("sfflow.account_id",
							   "Account in ARNs and in events: twelve digits.",
							   NULL, &sf_setting_account_id, "000000000000",
							   PGC_SUSET, 0, check_account_id, NULL, NULL);

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
