/*
 * sql_task.h
 *		What carries tasks out: SQL as a role, in a subtransaction.
 *
 * README.md in this folder says which process may call what, and when.
 */
#ifndef SF_TASK_SQL_TASK_H
#define SF_TASK_SQL_TASK_H

#include "base/errors.h"

/* Fill in the driver of run/driver.h; from _PG_init. */
extern void sf_sql_task_init(void);

/*
 * Declare that this session serves owners only: a background worker of ours.
 * What a task leaves behind in it may be thrown away, and therefore tasks may
 * use temporary tables, cursors and prepared statements.  Without it (a
 * client's session) tasks of another role run as a security-restricted
 * operation.
 */
extern void sf_identity_private_session(void);

/*
 * Switch the settings off that make errors end the session, or end it after a
 * time; a background worker of ours, before it connects.
 */
extern void sf_fatal_settings_off(void);

/*
 * Lay the identity down that the worker assumed: after the commit (or
 * abort) and outside of any transaction.  Throws away what session state is
 * left.  Cheap when nothing is on.
 */
extern void sf_identity_drop(void);

/* Describe a caught error as the failure of a task, in the current context. */
extern void sf_failure_describe(const ErrorData *edata, SfError *error);

#endif							/* SF_TASK_SQL_TASK_H */
