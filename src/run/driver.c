/*
 * driver.c
 *		Storage of the pointers declared in driver.h.
 */
#include "postgres.h"

#include "run/driver.h"

SfSqlTaskRunner sf_sql_task_runner = NULL;
SfIdentityAssume sf_identity_assume = NULL;
SfResourceResolver sf_resource_resolver = NULL;
