/*
 * temp_schema.h
 *		What tasks may do with the temporary schema of the session.
 */
#ifndef SF_TASK_TEMP_SCHEMA_H
#define SF_TASK_TEMP_SCHEMA_H

#include "sql_task/identity/guest.h"

extern void sf_temp_schema_init(void);
extern bool sf_temp_schema_exists(void);
extern uint64 sf_temp_schema_changes(void);
extern void sf_temp_schema_check(const SfGuest *guest);

#endif							/* SF_TASK_TEMP_SCHEMA_H */
