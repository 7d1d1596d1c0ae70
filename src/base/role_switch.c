/*
 * role_switch.c
 *		Run code with the rights of another role, and go back.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/role_switch.h"

/* Note the identity that the process has now. */
SfRoleSwitch
sf_role_current(void)
{
	SfRoleSwitch now;

	GetUserIdAndSecContext(&now.user, &now.sec_context);
	return now;
}

/*
 * Take on a role, with flags SECURITY_… of PostgreSQL in place of those that
 * are set.  Returns the identity for sf_role_restore.  When a subtransaction
 * or a transaction aborts, PostgreSQL itself restores the identity with which
 * it began.
 */
SfRoleSwitch
sf_role_take(Oid role, int sec_context)
{
	SfRoleSwitch before = sf_role_current();

	SetUserIdAndSecContext(role, sec_context);
	return before;
}

/* Take back an identity that was noted before. */
void
sf_role_restore(SfRoleSwitch before)
{
	SetUserIdAndSecContext(before.user, before.sec_context);
}
