/*
 * init.c
 *		What this layer gives to the engine.
 */
#include "postgres.h"

#include "engine/driver.h"
#include "task/sqltask.h"
#include "task/task.h"

/* Fill the hooks of engine/driver.h. */
void
sf_task_init(void)
{
	sf_sql_task_runner = sf_sql_task_run;
	sf_identity_assume = sf_identity_assume_owner;
	sf_resource_resolver = sf_resource_resolve;
	sf_fatal_settings_init();
}
