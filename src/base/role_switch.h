/*
 * role_switch.h
 *		Run code with the rights of another role, and go back.
 */
#ifndef SF_BASE_ROLE_SWITCH_H
#define SF_BASE_ROLE_SWITCH_H

/* The identity that a process had before a switch */
typedef struct SfRoleSwitch
{
	Oid			user;
	int			sec_context;
} SfRoleSwitch;

/* Note the identity that the process has now. */
extern SfRoleSwitch sf_role_current(void);

/*
 * Take on a role, with flags SECURITY_… of PostgreSQL in place of those that
 * are set.  Returns the identity for sf_role_restore.  When a subtransaction
 * or a transaction aborts, PostgreSQL itself restores the identity with which
 * it began.
 */
extern SfRoleSwitch sf_role_take(Oid role, int sec_context);

/* Take back an identity that was noted before. */
extern void sf_role_restore(SfRoleSwitch before);

#endif							/* SF_BASE_ROLE_SWITCH_H */
