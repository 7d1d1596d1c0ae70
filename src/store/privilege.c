/*
 * privilege.c
 *		Who may do what with a state machine or an activity.
 *
 * A column of type regrole does not depend on the role: PostgreSQL would drop
 * a role that owns machines.  So every role that sfflow stores as an owner or a
 * grantee gets USAGE on the schema _sfflow, which it cannot do anything with
 * but which makes DROP ROLE refuse (the "anchor"), and which DROP OWNED and
 * REASSIGN OWNED know how to find.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "store/access.h"
#include "store/privilege.h"

#define EQUALS " OPERATOR(pg_catalog.=) "

static SfStatement find_grantees = {
	.sql =
	"SELECT role FROM _sfflow.privilege"
	" WHERE object_kind" EQUALS "$1 AND object_name" EQUALS "$2"
	" AND privilege" EQUALS "$3",
	.nargs = 3, .types = {CHAROID, TEXTOID, CHAROID}
};

static SfStatement insert_privilege = {
	.sql =
	"INSERT INTO _sfflow.privilege (object_kind, object_name, privilege, role)"
	" VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
	.nargs = 4, .types = {CHAROID, TEXTOID, CHAROID, REGROLEOID}
};

static SfStatement delete_privilege = {
	.sql =
	"DELETE FROM _sfflow.privilege"
	" WHERE object_kind" EQUALS "$1 AND object_name" EQUALS "$2"
	" AND privilege" EQUALS "$3 AND role" EQUALS "$4",
	.nargs = 4, .types = {CHAROID, TEXTOID, CHAROID, REGROLEOID}
};

static SfStatement delete_object = {
	.sql =
	"DELETE FROM _sfflow.privilege"
	" WHERE object_kind" EQUALS "$1 AND object_name" EQUALS "$2"
	" RETURNING role",
	.nargs = 2, .types = {CHAROID, TEXTOID}
};

static SfStatement find_uses = {
	.sql =
	"SELECT 1 WHERE EXISTS (SELECT FROM _sfflow.state_machine WHERE owner" EQUALS "$1)"
	" OR EXISTS (SELECT FROM _sfflow.privilege WHERE role" EQUALS "$1)"
	" OR EXISTS (SELECT FROM _sfflow.resource_map WHERE owner" EQUALS "$1)"
	" OR EXISTS (SELECT FROM _sfflow.schedule WHERE owner" EQUALS "$1)",
	.nargs = 1, .types = {REGROLEOID}
};

/* Find the role that owns the schema _sfflow and what is in it. */
Oid
sf_privilege_extension_owner(void)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACENAME, CStringGetDatum("_sfflow"));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension \"sfflow\" is not installed in this database"),
				 errhint("CREATE EXTENSION sfflow;")));
	owner = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* Tell whether the current user owns what a role owns. */
bool
sf_privilege_is_owner(Oid owner)
{
	return has_privs_of_role(GetUserId(), owner);
}

/* Look a privilege up among those given to the current user or to public. */
static bool
is_granted(char kind, const char *object, SfPrivilege p)
{
	Oid			user = GetUserId();
	SfAccess	access;
	Datum		values[3];
	uint64		n;
	uint64		i;
	bool		found = false;

	sf_access_enter(&access);
	values[0] = CharGetDatum(kind);
	values[1] = CStringGetTextDatum(object);
	values[2] = CharGetDatum((char) p);
	n = sf_access_execute(&find_grantees, values, NULL, true);
	for (i = 0; i < n && !found; i++)
	{
		bool		isnull;
		Oid			role = DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[i],
														  SPI_tuptable->tupdesc,
														  1, &isnull));

		found = !OidIsValid(role) || has_privs_of_role(user, role);
	}
	sf_access_leave(&access);
	return found;
}

/* Tell whether the current user has a privilege on a state machine. */
bool
sf_privilege_check(const char *machine, Oid owner, SfPrivilege p)
{
	return sf_privilege_is_owner(owner) ||
		is_granted(SF_OBJECT_STATE_MACHINE, machine, p);
}

/* Tell whether the current user has a privilege on an activity. */
bool
sf_privilege_check_activity(const char *activity, Oid owner, SfPrivilege p)
{
	return sf_privilege_is_owner(owner) ||
		is_granted(SF_OBJECT_ACTIVITY, activity, p);
}

/* Name a privilege as sf_grant takes it. */
static const char *
privilege_name(SfPrivilege p)
{
#define PRIVILEGE_NAME(sym, letter, name, kind) \
	if (p == SF_PRIVILEGE_##sym) \
		return name;
	SF_PRIVILEGE_LIST(PRIVILEGE_NAME)
	return "?";
}

/* Raise unless the current user has the privilege on a state machine. */
void
sf_privilege_require(const char *machine, Oid owner, SfPrivilege p)
{
	if (!sf_privilege_check(machine, owner, p))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for state machine \"%s\"", machine),
				 errhint("A member of its owner can give it: SELECT sf_grant('%s', %s, %s).",
						 privilege_name(p), quote_literal_cstr(machine),
						 quote_literal_cstr(GetUserNameFromId(GetUserId(), false)))));
}

/* Raise unless the current user has the privilege on an activity. */
void
sf_privilege_require_activity(const char *activity, Oid owner, SfPrivilege p)
{
	if (!sf_privilege_check_activity(activity, owner, p))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for activity \"%s\"", activity),
				 errhint("A member of its owner can give it: SELECT sf_grant('%s', %s, %s).",
						 privilege_name(p),
						 quote_literal_cstr(psprintf("activity:%s", activity)),
						 quote_literal_cstr(GetUserNameFromId(GetUserId(), false)))));
}

/* Raise unless the current user owns a state machine. */
void
sf_privilege_require_owner(const char *machine, Oid owner)
{
	if (!sf_privilege_is_owner(owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of state machine \"%s\"", machine)));
}

/* Raise unless the current user is a superuser or the extension's owner. */
void
sf_privilege_require_administrator(const char *function)
{
	if (!has_privs_of_role(GetUserId(), sf_privilege_extension_owner()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", function),
				 errdetail("Only superusers and the owner of extension sfflow may call it.")));
}

/* Tell whether a role is named in the privileges of the schema _sfflow. */
static bool
is_anchored(Oid role)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACENAME, CStringGetDatum("_sfflow"));
	bool		found = false;
	bool		isnull;
	Datum		datum;

	if (!HeapTupleIsValid(tuple))
		return false;
	datum = SysCacheGetAttr(NAMESPACENAME, tuple, Anum_pg_namespace_nspacl, &isnull);
	if (!isnull)
	{
		Acl		   *acl = DatumGetAclPCopy(datum);
		AclItem    *items = ACL_DAT(acl);
		int			i;

		for (i = 0; i < ACL_NUM(acl) && !found; i++)
			found = items[i].ai_grantee == role;
	}
	ReleaseSysCache(tuple);
	return found;
}

/* Give or take USAGE on the schema; the caller has entered the tables. */
static void
set_anchor(Oid role, const char *format)
{
	const char *name = quote_identifier(GetUserNameFromId(role, false));
	int			rc = SPI_execute(psprintf(format, name), false, 0);

	if (rc != SPI_OK_UTILITY)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(rc));
}

/*
 * Let one session at a time change the anchors: two concurrent GRANTs on the
 * same schema fail with "tuple concurrently updated".
 */
static void
lock_anchors(void)
{
	LockDatabaseObject(NamespaceRelationId, get_namespace_oid("_sfflow", false),
					   0, ShareUpdateExclusiveLock);
}

/* Make DROP ROLE refuse while sfflow knows a role. */
void
sf_privilege_anchor(Oid role)
{
	SfAccess	access;

	if (!OidIsValid(role) || role == sf_privilege_extension_owner() ||
		is_anchored(role))
		return;
	lock_anchors();
	if (is_anchored(role))
		return;
	sf_access_enter(&access);
	set_anchor(role, "GRANT USAGE ON SCHEMA _sfflow TO %s");
	sf_access_leave(&access);
}

/* Take the anchor back when nothing names the role any more. */
void
sf_privilege_unanchor(Oid role)
{
	SfAccess	access;
	Datum		value = ObjectIdGetDatum(role);

	if (!OidIsValid(role) || role == sf_privilege_extension_owner() ||
		!is_anchored(role) || GetUserNameFromId(role, true) == NULL)
		return;
	lock_anchors();
	sf_access_enter(&access);
	if (sf_access_execute(&find_uses, &value, NULL, false) == 0 &&
		is_anchored(role))
		set_anchor(role, "REVOKE USAGE ON SCHEMA _sfflow FROM %s");
	sf_access_leave(&access);
}

/* Store a privilege; giving it twice is no error. */
void
sf_privilege_grant(char kind, const char *object, Oid role, SfPrivilege p)
{
	SfAccess	access;
	Datum		values[4];

	sf_privilege_anchor(role);
	sf_access_enter(&access);
	values[0] = CharGetDatum(kind);
	values[1] = CStringGetTextDatum(object);
	values[2] = CharGetDatum((char) p);
	values[3] = ObjectIdGetDatum(role);
	sf_access_execute(&insert_privilege, values, NULL, false);
	sf_access_leave(&access);
}

/* Take a privilege back; taking what was not given is no error. */
void
sf_privilege_revoke(char kind, const char *object, Oid role, SfPrivilege p)
{
	SfAccess	access;
	Datum		values[4];

	sf_access_enter(&access);
	values[0] = CharGetDatum(kind);
	values[1] = CStringGetTextDatum(object);
	values[2] = CharGetDatum((char) p);
	values[3] = ObjectIdGetDatum(role);
	sf_access_execute(&delete_privilege, values, NULL, false);
	sf_access_leave(&access);
	sf_privilege_unanchor(role);
}

/* Forget all privileges on an object that is being dropped. */
void
sf_privilege_forget(char kind, const char *object)
{
	SfAccess	access;
	Datum		values[2];
	Oid		   *roles;
	uint64		n;
	uint64		i;

	sf_access_enter(&access);
	values[0] = CharGetDatum(kind);
	values[1] = CStringGetTextDatum(object);
	n = sf_access_execute(&delete_object, values, NULL, false);
	roles = SPI_palloc(sizeof(Oid) * Max(n, 1));
	for (i = 0; i < n; i++)
	{
		bool		isnull;

		roles[i] = DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[i],
												  SPI_tuptable->tupdesc, 1,
												  &isnull));
	}
	sf_access_leave(&access);
	for (i = 0; i < n; i++)
		sf_privilege_unanchor(roles[i]);
	pfree(roles);
}
