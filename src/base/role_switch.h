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

extern SfRoleSwitch sf_role_current(void);
extern SfRoleSwitch sf_role_take(Oid role, int sec_context);
extern void sf_role_restore(SfRoleSwitch before);

#endif							/* SF_BASE_ROLE_SWITCH_H */
