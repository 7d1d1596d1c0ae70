/*
 * privilege.h
 *		Who may do what with a state machine or an activity.
 *
 * A member of the owning role (as for any object of PostgreSQL: by
 * inheritance) may do everything, and so may a superuser; others what
 * sf_grant gave them, or gave to public.  Rights are looked up at each use.
 */
#ifndef SF_STORE_PRIVILEGE_H
#define SF_STORE_PRIVILEGE_H

/* Privileges: symbol, letter that is stored, name, kind of object */
#define SF_PRIVILEGE_LIST(X) \
	X(START, 'S', "START", 'm') \
	X(READ, 'R', "READ", 'm') \
	X(OPERATE, 'O', "OPERATE", 'm') \
	X(WORK, 'W', "WORK", 'a')

#define SF_PRIVILEGE_ENUM(sym, letter, name, kind) SF_PRIVILEGE_##sym = letter,
typedef enum SfPrivilege
{
	SF_PRIVILEGE_LIST(SF_PRIVILEGE_ENUM)
} SfPrivilege;

/* Kinds of objects, as stored */
#define SF_OBJECT_STATE_MACHINE	'm'
#define SF_OBJECT_ACTIVITY		'a'

/* Whether the current user is the owner, a member of it, or a superuser. */
extern bool sf_privilege_is_owner(Oid owner);

/* Whether the current user has a privilege on a state machine. */
extern bool sf_privilege_check(const char *machine, Oid owner, SfPrivilege p);

/* The same for an activity. */
extern bool sf_privilege_check_activity(const char *activity, Oid owner,
										SfPrivilege p);

/* Raise 42501 unless the current user has the privilege, or is the owner. */
extern void sf_privilege_require(const char *machine, Oid owner, SfPrivilege p);
extern void sf_privilege_require_activity(const char *activity, Oid owner,
										  SfPrivilege p);
extern void sf_privilege_require_owner(const char *machine, Oid owner);

/* Raise 42501 unless the current user is a superuser or the extension's owner. */
extern void sf_privilege_require_administrator(const char *function);

/*
 * Make DROP ROLE refuse while sfflow knows a role (anchor.c).  Called for every
 * role that is stored as owner or grantee, in the transaction that stores it.
 */
extern void sf_privilege_anchor(Oid role);

/* Take the anchor back when no machine, grant or schedule names the role. */
extern void sf_privilege_unanchor(Oid role);

/* Anchor all roles that are named, and no other ones: after a restore. */
extern void sf_privilege_anchor_all(void);

/* Store, and take back, a privilege (role InvalidOid: public). */
extern void sf_privilege_grant(char kind, const char *object, Oid role,
							   SfPrivilege p);
extern void sf_privilege_revoke(char kind, const char *object, Oid role,
								SfPrivilege p);

/* Forget all privileges on an object that is being dropped. */
extern void sf_privilege_forget(char kind, const char *object);

#endif							/* SF_STORE_PRIVILEGE_H */
