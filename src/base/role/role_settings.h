/*
 * role_settings.h
 *		What ALTER ROLE and ALTER DATABASE … SET say for a role.
 */
#ifndef SF_BASE_ROLE_SETTINGS_H
#define SF_BASE_ROLE_SETTINGS_H

/* Told one setting; both texts live in the current memory context. */
typedef void (*SfRoleSettingReader) (const char *name, const char *value, void *arg);

extern void sf_role_settings_read(Oid role, SfRoleSettingReader reader, void *arg);

#endif							/* SF_BASE_ROLE_SETTINGS_H */
