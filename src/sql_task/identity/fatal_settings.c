/*
 * fatal_settings.c
 *		Settings that would end the session: a task cannot change them.
 *
 * exit_on_error makes every error FATAL, and transaction_timeout ends the
 * session: a worker would die and its task never end.  A worker has both off from
 * its start; this overrides the configuration and the settings of roles and
 * databases.  In a client's session they stay as they are.  A task that sets one
 * succeeds and changes nothing: a check hook may replace the value that is set.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/guc_tables.h"

#include "base/version/compat.h"
#include "sql_task/sql_task.h"
#include "sql_task/sql_task_internal.h"

static const char *const names[] = {
	"exit_on_error",
#if PG_VERSION_NUM >= 170000
	"transaction_timeout",
#endif
};

/* The settings of these names: a look for one by its name compares those of all settings */
static struct config_generic *fatal_settings[lengthof(names)];

static GucBoolCheckHook check_exit_on_error = NULL;

/* Is code of an owner running? */
static bool (*is_task) (void);

/* Keep exit_on_error as it is while a task runs. */
static bool
keep_exit_on_error(bool *newval, void **extra, GucSource source)
{
	if (is_task())
		*newval = ExitOnAnyError;
	return check_exit_on_error == NULL || check_exit_on_error(newval, extra, source);
}

#if PG_VERSION_NUM >= 170000
static GucIntCheckHook check_transaction_timeout = NULL;

/* Keep transaction_timeout as it is while a task runs. */
static bool
keep_transaction_timeout(int *newval, void **extra, GucSource source)
{
	if (is_task())
		*newval = TransactionTimeout;
	return check_transaction_timeout == NULL ||
		check_transaction_timeout(newval, extra, source);
}
#endif

/* Put the check hooks in; once a process. */
void
sf_fatal_settings_init(bool (*task_runs) (void))
{
	struct config_bool *exit_on_error;
#if PG_VERSION_NUM >= 170000
	struct config_int *transaction_timeout;
#endif

	for (size_t i = 0; i < lengthof(fatal_settings); i++)
		fatal_settings[i] = sf_find_setting(names[i]);
	exit_on_error = (struct config_bool *) fatal_settings[0];
#if PG_VERSION_NUM >= 170000
	transaction_timeout = (struct config_int *) fatal_settings[1];
	check_transaction_timeout = transaction_timeout->check_hook;
	transaction_timeout->check_hook = keep_transaction_timeout;
#endif
	is_task = task_runs;
	check_exit_on_error = exit_on_error->check_hook;
	exit_on_error->check_hook = keep_exit_on_error;
}

/* Have RESET ALL pass the settings over, or reset them again. */
void
sf_fatal_settings_pin(bool pin)
{
	for (size_t i = 0; i < lengthof(fatal_settings); i++)
	{
		if (pin)
			fatal_settings[i]->flags |= GUC_NO_RESET_ALL;
		else
			fatal_settings[i]->flags &= ~GUC_NO_RESET_ALL;
	}
}

/*
 * Switch the settings off that make errors end the session, or end it after a
 * time; a background worker of ours, before it connects.
 */
void
sf_fatal_settings_off(void)
{
	SetConfigOption("exit_on_error", "off", PGC_SUSET, PGC_S_OVERRIDE);
#if PG_VERSION_NUM >= 170000
	SetConfigOption("transaction_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
#endif
}
