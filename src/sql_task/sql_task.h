/*
 * sql_task.h
 *		What carries tasks out: SQL as a role, in a subtransaction.
 *
 * README.md in this folder says which process may call what, and when.
 */
#ifndef SF_SQL_TASK_SQL_TASK_H
#define SF_SQL_TASK_SQL_TASK_H

#include "base/error/errors.h"

extern void sf_sql_task_init(void);
extern void sf_identity_private_session(void);
extern void sf_fatal_settings_off(void);
extern void sf_identity_drop(void);
extern void sf_identity_work_as(Oid role, bool only_reads, void (*work) (void *arg), void *arg);
extern void sf_failure_describe(const ErrorData *edata, SfError *error);

#endif							/* SF_SQL_TASK_SQL_TASK_H */
