/*
 * sql_task.c
 *		What this layer does for the engine.
 */
#include "postgres.h"

#include "run/driver.h"
#include "task/sql_task_internal.h"
#include "task/sql_task.h"

/* Fill in the driver of run/driver.h; from _PG_init. */
void
sf_sql_task_init(void)
{
	sf_driver.run = sf_sql_task_run;
	sf_driver.assume_identity = sf_identity_assume_owner;
	sf_driver.resolve = sf_resource_mapping_resolve;
	sf_fatal_settings_init(sf_identity_is_task);
}
