/*
 * role.h
 *		Run code with the rights of another role, and go back.
 *
 * When a subtransaction or a transaction aborts, PostgreSQL itself restores the
 * identity with which it began.
 */
#ifndef SF_BASE_ROLE_H
#define SF_BASE_ROLE_H

#include "miscadmin.h"

/* The identity that a process had before a switch */
typedef struct SfRoleSwitch
{
	Oid			user;
	int			sec_context;
} SfRoleSwitch;

/* Note the identity that the process has now. */
static inline SfRoleSwitch
sf_role_current(void)
{
	SfRoleSwitch now;

	GetUserIdAndSecContext(&now.user, &now.sec_context);
	return now;
}

/*
 * Tell whether PostgreSQL refuses SET ROLE now, as in a task or a security-definer
 * function: the session's user is then not the one who calls.
 */
static inline bool
sf_role_is_bound(void)
{
	return InLocalUserIdChange() || InSecurityRestrictedOperation();
}

/* Take back an identity that was noted before. */
static inline void
sf_role_restore(SfRoleSwitch before)
{
	SetUserIdAndSecContext(before.user, before.sec_context);
}

/* --- role.c: whether the login is the one who calls, and whether a role could log in now --- */

extern bool sf_role_is_relayed(void);
extern bool sf_role_set_relayed(bool is_relayed);

extern bool sf_role_may_log_in(Oid role);

/* --- role_settings.c: what ALTER ROLE and ALTER DATABASE … SET say for a role --- */

/* Told one setting; both texts live in the current memory context. */
typedef void (*SfRoleSettingReader) (const char *name, const char *value, void *arg);

extern void sf_role_settings_read(Oid role, SfRoleSettingReader reader, void *arg);

#endif							/* SF_BASE_ROLE_H */
