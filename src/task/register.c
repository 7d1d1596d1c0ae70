/*
 * register.c
 *		What this layer gives to the engine.
 */
#include "postgres.h"

#include "run/driver.h"
#include "task/sql_task_internal.h"
#include "task/sql_task.h"

/* Fill the hooks of run/driver.h. */
void
sf_task_init(void)
{
	sf_sql_task_runner = sf_sql_task_run;
	sf_identity_assume = sf_identity_assume_owner;
	sf_resource_resolver = sf_resource_resolve;
	sf_fatal_settings_init();
}
