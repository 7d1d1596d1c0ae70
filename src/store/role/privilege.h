/*
 * privilege.h
 *		Rights on state machines and activities.
 *
 * A member of the owning role (as for any object of PostgreSQL: by
 * inheritance) may do everything, and so may a superuser; others what
 * sf_grant gave them, or gave to public.  Rights are looked up at each use.
 */
#ifndef SF_STORE_PRIVILEGE_H
#define SF_STORE_PRIVILEGE_H

#include "nodes/pg_list.h"

#include "store/role/object_kind.h"

/*
 * Privileges: symbol, letter that is stored, name, kinds of objects that have
 * it, whether public has it until sf_revoke takes it.  What public lost is
 * stored as a row of role 0 with is_revoked.  SQL has the letters as @PRIVILEGE_READ@.
 */
#define SF_PRIVILEGE_LIST(X) \
	X(START, 'S', "START", (SF_OBJECT_STATE_MACHINE), false) \
	X(READ, 'R', "READ", (SF_OBJECT_STATE_MACHINE), false) \
	X(OPERATE, 'O', "OPERATE", (SF_OBJECT_STATE_MACHINE), false) \
	X(WORK, 'W', "WORK", (SF_OBJECT_ACTIVITY), false) \
	X(SEND, 'N', "SEND", (SF_OBJECT_STATE_MACHINE, SF_OBJECT_ACTIVITY), true) \
	X(EMIT, 'E', "EMIT", (SF_OBJECT_EVENT), false) \
	X(RECEIVE, 'V', "RECEIVE", (SF_OBJECT_EVENT), false) \
	X(DO, 'D', "DO", (SF_OBJECT_WORKLIST), false) \
	X(ASSIGN, 'A', "ASSIGN", (SF_OBJECT_WORKLIST), false) \
	X(ACT, 'T', "ACT", (SF_OBJECT_WORKLIST), false) \
	X(CREATE, 'C', "CREATE", (SF_OBJECT_ALL), true)

#define SF_PRIVILEGE_ENUM(sym, letter, name, kinds, is_public) \
	SF_PRIVILEGE_##sym = letter,
typedef enum SfPrivilege
{
	SF_PRIVILEGE_LIST(SF_PRIVILEGE_ENUM)
} SfPrivilege;

/* What a role needs for something that it does with an object; the owner has all of it */
#define SF_RIGHT_ENUM(sym, letter, name, kinds, is_public) SF_RIGHT_##sym,
typedef enum SfRight
{
	SF_RIGHT_OWNER,				/* to be the owner: no privilege does */
	SF_RIGHT_ANY,				/* any privilege: the name is no secret */
	SF_RIGHT_REDRIVE,			/* START or OPERATE */
	SF_PRIVILEGE_LIST(SF_RIGHT_ENUM) /* the privilege of this name; for SEND also WORK */
} SfRight;

/* The privilege that one gives a role for what it needs, which is neither OWNER nor ANY. */
extern SfPrivilege sf_right_privilege(SfRight needed);

/* The name of a privilege, as sf_grant takes it. */
extern const char *sf_privilege_name(SfPrivilege privilege);

/* Whether the current user is the owner, a member of it, or a superuser. */
extern bool sf_privilege_is_owner(Oid owner);

/*
 * Whether the current user has what is needed on an object of a kind; InvalidOid
 * as the owner of one that does not exist.
 */
extern bool sf_privilege_check(SfObjectKind kind, const char *object, Oid owner,
							   SfRight needed);

/* The same for a role. */
extern bool sf_privilege_check_role(Oid role, SfObjectKind kind, const char *object,
									Oid owner, SfRight needed);

/* Whether the current user may create state machines and activities. */
extern bool sf_privilege_may_create(void);

/* Whether the current user is a superuser or the extension's owner. */
extern bool sf_privilege_is_administrator(void);

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

extern List *sf_privilege_roles(SfObjectKind kind, const char *object, SfPrivilege privilege);
extern List *sf_privilege_readable_machines(void);

/* Store, and take back, a privilege (role InvalidOid: public). */
extern void sf_privilege_grant(SfObjectKind kind, const char *object, Oid role,
							   SfPrivilege privilege);
extern void sf_privilege_revoke(SfObjectKind kind, const char *object, Oid role,
								SfPrivilege privilege);

extern void sf_privilege_delete_of_object(SfObjectKind kind, const char *object);
extern int64 sf_privilege_delete_of_role(Oid role);

#endif							/* SF_STORE_PRIVILEGE_H */
