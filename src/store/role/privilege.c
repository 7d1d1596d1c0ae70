/*
 * privilege.c
 *		Rights on state machines and activities.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/acl.h"

#include "db/direct.h"
#include "store/role/privilege.h"

static SfPlan find_grants = SF_PLAN(
	"SELECT role, privilege, is_revoked FROM _sfflow.privilege"
	" WHERE object_kind = $1 AND object_name = $2");

static SfPlan insert_privilege = SF_PLAN(
	"INSERT INTO _sfflow.privilege (object_kind, object_name, privilege, role, is_revoked)"
	" VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING");

static SfPlan delete_privilege = SF_PLAN(
	"DELETE FROM _sfflow.privilege"
	" WHERE object_kind = $1 AND object_name = $2"
	" AND privilege = $3 AND role = $4");

static SfPlan delete_object = SF_PLAN(
	"DELETE FROM _sfflow.privilege"
	" WHERE object_kind = $1 AND object_name = $2"
	" RETURNING role");

/* Tell whether the current user owns what a role owns. */
bool
sf_privilege_is_owner(Oid owner)
{
	return has_privs_of_role(GetUserId(), owner);
}

/* Name a privilege as sf_grant takes it. */
const char *
sf_privilege_name(SfPrivilege privilege)
{
#define PRIVILEGE_NAME(sym, letter, name, kinds, is_public) \
	if (privilege == SF_PRIVILEGE_##sym) \
		return name;
	SF_PRIVILEGE_LIST(PRIVILEGE_NAME)
	elog(ERROR, "there is no privilege \"%c\"", privilege);
}

/* The privilege that one gives a role for what it needs, which is neither OWNER nor ANY. */
SfPrivilege
sf_right_privilege(SfRight needed)
{
	switch (needed)
	{
#define RIGHT_OF(sym, letter, name, kinds, is_public) \
		case SF_RIGHT_##sym: \
			return SF_PRIVILEGE_##sym;
			SF_PRIVILEGE_LIST(RIGHT_OF)
		case SF_RIGHT_REDRIVE:
			return SF_PRIVILEGE_OPERATE;
		case SF_RIGHT_OWNER:
		case SF_RIGHT_ANY:
			break;
	}
	elog(ERROR, "no privilege is needed alone");
}

/* Tell whether public has a privilege as long as sf_revoke has not taken it. */
static bool
is_public_at_first(SfPrivilege privilege)
{
#define PRIVILEGE_IS_PUBLIC(sym, letter, name, kinds, is_public) \
	if (privilege == SF_PRIVILEGE_##sym) \
		return is_public;
	SF_PRIVILEGE_LIST(PRIVILEGE_IS_PUBLIC)
	return false;
}

/* Does a privilege that was given do for what is needed? */
static bool
suffices(SfRight needed, SfPrivilege given)
{
	switch (needed)
	{
		case SF_RIGHT_OWNER:
			return false;
		case SF_RIGHT_ANY:
			return true;
		case SF_RIGHT_REDRIVE:
			return given == SF_PRIVILEGE_START || given == SF_PRIVILEGE_OPERATE;
		case SF_RIGHT_SEND:
			return given == SF_PRIVILEGE_SEND || given == SF_PRIVILEGE_WORK;
		default:
			return given == sf_right_privilege(needed);
	}
}

/* Looks for a grant that gives a role what it needs */
typedef struct GrantSearch
{
	Oid			role;
	SfRight		needed;
	bool		found;
	bool		public_has;		/* it by itself, and has not lost it so far */
} GrantSearch;

/* Compare one grant; no role is public. */
static void
read_grant(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_role = 1, COL_privilege, COL_is_revoked};
	GrantSearch *search = arg;
	Oid			role = sf_row_number(tuple, desc, COL_role, InvalidOid);
	SfPrivilege given = (SfPrivilege) sf_row_number(tuple, desc, COL_privilege, 0);

	if (sf_row_number(tuple, desc, COL_is_revoked, false))
		search->public_has = search->public_has && given != sf_right_privilege(search->needed);
	else if (suffices(search->needed, given) &&
			 (!OidIsValid(role) || has_privs_of_role(search->role, role)))
		search->found = true;
}

/* Look what is needed up among the privileges given to a role or to public. */
static bool
is_granted(Oid role, SfObjectKind kind, const char *object, SfRight needed)
{
	GrantSearch search = {.role = role,.needed = needed};

	if (needed == SF_RIGHT_OWNER)
		return false;
	search.public_has = needed != SF_RIGHT_ANY && is_public_at_first(sf_right_privilege(needed));
	sf_snapshot_read(&find_grants, read_grant, &search, SF_CHAR(kind), SF_TEXT(object));
	return search.found || search.public_has;
}

/* Collects the roles that were given a privilege */
typedef struct Grantees
{
	SfPrivilege privilege;
	List	   *roles;
} Grantees;

/* Append the role of a grant. */
static void
append_grantee(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_object_kind = 1, COL_object_name, COL_role, COL_privilege};
	Grantees   *grantees = arg;

	if (sf_row_number(tuple, desc, COL_privilege, 0) == (int64) grantees->privilege)
		grantees->roles = list_append_unique_oid(grantees->roles,
												 sf_row_number(tuple, desc, COL_role, InvalidOid));
}

/*
 * List the roles that were given a privilege on an object, one that public does not have at
 * first, as it is now whatever the transaction's snapshot; InvalidOid: public.
 */
List *
sf_privilege_roles(SfObjectKind kind, const char *object, SfPrivilege privilege)
{
	static const SfIndex by_object = {"privilege", "privilege_pkey"};
	Grantees	grantees = {.privilege = privilege};

	(void) sf_rows_read_now(&by_object, PG_INT32_MAX, append_grantee, &grantees,
							SF_CHAR(kind), SF_TEXT(object));
	return grantees.roles;
}

/* Collects the roles of rows whose rights a reader has */
typedef struct Roles
{
	Oid			reader;			/* the query runs as the extension's owner */
	List	   *roles;
} Roles;

/* Append a role, if the reader has its rights; no role is public. */
static void
read_owner(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Roles	   *roles = arg;
	Oid			role = sf_row_number(tuple, desc, 1, InvalidOid);

	if (!OidIsValid(role) || has_privs_of_role(roles->reader, role))
		roles->roles = lappend_oid(roles->roles, role);
}

/*
 * List the names of all machines that the current user may READ: the roles are looked through, and
 * then only what these own or were given is read.
 */
List *
sf_privilege_readable_machines(void)
{
	static SfPlan owners = SF_PLAN("SELECT DISTINCT m.owner FROM _sfflow.state_machine m");
	static SfPlan grantees = SF_PLAN(
		"SELECT DISTINCT p.role FROM _sfflow.privilege p WHERE p.object_kind = $1 AND p.privilege = $2");
	static SfPlan owned = SF_PLAN(
		"SELECT m.name FROM _sfflow.state_machine m WHERE m.owner::pg_catalog.oid = ANY ($1)");
	static SfPlan given = SF_PLAN(
		"SELECT p.object_name FROM _sfflow.privilege p WHERE p.object_kind = $2 AND p.privilege = $3"
		" AND p.role::pg_catalog.oid = ANY ($1)");
	List	   *names = NIL;
	Roles		owns = {.reader = GetUserId()};
	Roles		has = owns;

	sf_snapshot_run(&owners, read_owner, &owns, NULL, 0);
	sf_snapshot_read(&owned, sf_row_append_text, &names, sf_query_oids(owns.roles));
	sf_snapshot_read(&grantees, read_owner, &has, SF_CHAR(SF_OBJECT_STATE_MACHINE), SF_CHAR(SF_PRIVILEGE_READ));
	sf_snapshot_read(&given, sf_row_append_text, &names, sf_query_oids(has.roles),
					 SF_CHAR(SF_OBJECT_STATE_MACHINE), SF_CHAR(SF_PRIVILEGE_READ));
	return names;
}

/* Tell whether a role has what is needed on an object. */
bool
sf_privilege_check_role(Oid role, SfObjectKind kind, const char *object, Oid owner,
						SfRight needed)
{
	return has_privs_of_role(role, owner) || is_granted(role, kind, object, needed);
}

/* Tell whether the current user has what is needed on an object. */
bool
sf_privilege_check(SfObjectKind kind, const char *object, Oid owner, SfRight needed)
{
	return sf_privilege_check_role(GetUserId(), kind, object, owner, needed);
}

/* Tell whether the current user is a superuser or the extension's owner. */
bool
sf_privilege_is_administrator(void)
{
	return has_privs_of_role(GetUserId(), sf_db_owner());
}

/* Tell whether the current user may create state machines and activities. */
bool
sf_privilege_may_create(void)
{
	return sf_privilege_check(SF_OBJECT_ALL, "*", sf_db_owner(),
							  SF_RIGHT_CREATE);
}

/* Raise 42501 unless the current user is a superuser or the extension's owner. */
void
sf_privilege_require_administrator(const char *function)
{
	if (!sf_privilege_is_administrator())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", function),
				 errdetail("Only superusers and the owner of extension sfflow may call it.")));
}

/* Insert a row that says that a role was given a privilege, or that public has lost it. */
static void
insert_row(SfObjectKind kind, const char *object, Oid role, SfPrivilege privilege, bool is_revoked)
{
	sf_db_invalidate("privilege");
	sf_db_execute(&insert_privilege, SF_CHAR(kind), SF_TEXT(object), SF_CHAR((char) privilege), SF_ROLE(role),
				  SF_BOOL(is_revoked));
}

/* Delete such a row. */
static void
delete_row(SfObjectKind kind, const char *object, Oid role, SfPrivilege privilege)
{
	sf_db_invalidate("privilege");
	sf_db_execute(&delete_privilege, SF_CHAR(kind), SF_TEXT(object), SF_CHAR((char) privilege), SF_ROLE(role));
}

/* Store a privilege; giving it twice is no error. */
void
sf_privilege_grant(SfObjectKind kind, const char *object, Oid role, SfPrivilege privilege)
{
	if (!OidIsValid(role) && is_public_at_first(privilege))
	{
		delete_row(kind, object, role, privilege);
		return;
	}
	sf_privilege_anchor(role);
	insert_row(kind, object, role, privilege, false);
}

/* Take a privilege back; taking what was not given is no error. */
void
sf_privilege_revoke(SfObjectKind kind, const char *object, Oid role, SfPrivilege privilege)
{
	if (!OidIsValid(role) && is_public_at_first(privilege))
	{
		insert_row(kind, object, role, privilege, true);
		return;
	}
	delete_row(kind, object, role, privilege);
	sf_privilege_unanchor(role);
}

/* Collect a role. */
static void
read_role(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **roles = arg;

	*roles = list_append_unique_oid(*roles, sf_row_number(tuple, desc, 1, InvalidOid));
}

/* Forget all privileges on an object that is being dropped: those that there are now. */
void
sf_privilege_delete_of_object(SfObjectKind kind, const char *object)
{
	List	   *roles = NIL;
	ListCell   *lc;

	sf_db_invalidate("privilege");
	sf_db_read_now(&delete_object, read_role, &roles, SF_CHAR(kind), SF_TEXT(object));
	foreach(lc, roles)
		sf_privilege_unanchor(lfirst_oid(lc));
}

/* Delete the rights that were given to a role; returns how many. */
int64
sf_privilege_delete_of_role(Oid role)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.privilege p WHERE p.role = $1");

	sf_db_invalidate("privilege");
	return sf_db_execute(&plan, SF_ROLE(role));
}
