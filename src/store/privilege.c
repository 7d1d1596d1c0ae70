/*
 * privilege.c
 *		Who may do what with a state machine or an activity.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "store/privilege.h"
#include "store/scan.h"

#define EQUALS " OPERATOR(pg_catalog.=) "

static SfPlan find_grantees = SF_PLAN(
	"SELECT role FROM _sfflow.privilege"
	" WHERE object_kind" EQUALS "$1 AND object_name" EQUALS "$2"
	" AND privilege" EQUALS "$3",
	3, CHAROID, TEXTOID, CHAROID);

static SfPlan insert_privilege = SF_PLAN(
	"INSERT INTO _sfflow.privilege (object_kind, object_name, privilege, role)"
	" VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
	4, CHAROID, TEXTOID, CHAROID, REGROLEOID);

static SfPlan delete_privilege = SF_PLAN(
	"DELETE FROM _sfflow.privilege"
	" WHERE object_kind" EQUALS "$1 AND object_name" EQUALS "$2"
	" AND privilege" EQUALS "$3 AND role" EQUALS "$4",
	4, CHAROID, TEXTOID, CHAROID, REGROLEOID);

static SfPlan delete_object = SF_PLAN(
	"DELETE FROM _sfflow.privilege"
	" WHERE object_kind" EQUALS "$1 AND object_name" EQUALS "$2"
	" RETURNING role",
	2, CHAROID, TEXTOID);

/* Tell whether the current user owns what a role owns. */
bool
sf_privilege_is_owner(Oid owner)
{
	return has_privs_of_role(GetUserId(), owner);
}

/* Read a column that names a role. */
static Oid
row_role(HeapTuple tuple, TupleDesc desc, int column)
{
	bool		isnull;

	return DatumGetObjectId(heap_getattr(tuple, column, desc, &isnull));
}

/* Looks for a grantee whose rights the user has */
typedef struct GranteeSearch
{
	Oid			user;
	bool		found;
} GranteeSearch;

/* Compare one grantee; no role is public. */
static void
read_grantee(HeapTuple tuple, TupleDesc desc, void *arg)
{
	GranteeSearch *search = arg;
	Oid			role = row_role(tuple, desc, 1);

	if (!OidIsValid(role) || has_privs_of_role(search->user, role))
		search->found = true;
}

/* Look a privilege up among those given to the current user or to public. */
static bool
is_granted(char kind, const char *object, SfPrivilege p)
{
	GranteeSearch search = {GetUserId(), false};
	Datum		args[3];

	args[0] = CharGetDatum(kind);
	args[1] = CStringGetTextDatum(object);
	args[2] = CharGetDatum((char) p);
	sf_scan_run(&find_grantees, args, NULL, read_grantee, &search);
	return search.found;
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
	if (!has_privs_of_role(GetUserId(), sf_store_owner()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", function),
				 errdetail("Only superusers and the owner of extension sfflow may call it.")));
}

/* Store a privilege; giving it twice is no error. */
void
sf_privilege_grant(char kind, const char *object, Oid role, SfPrivilege p)
{
	Datum		args[4];

	sf_privilege_anchor(role);
	args[0] = CharGetDatum(kind);
	args[1] = CStringGetTextDatum(object);
	args[2] = CharGetDatum((char) p);
	args[3] = ObjectIdGetDatum(role);
	sf_store_query(&insert_privilege, args, NULL, 0, NULL, NULL);
}

/* Take a privilege back; taking what was not given is no error. */
void
sf_privilege_revoke(char kind, const char *object, Oid role, SfPrivilege p)
{
	Datum		args[4];

	args[0] = CharGetDatum(kind);
	args[1] = CStringGetTextDatum(object);
	args[2] = CharGetDatum((char) p);
	args[3] = ObjectIdGetDatum(role);
	sf_store_query(&delete_privilege, args, NULL, 0, NULL, NULL);
	sf_privilege_unanchor(role);
}

/* Collect a role. */
static void
read_role(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **roles = arg;

	*roles = list_append_unique_oid(*roles, row_role(tuple, desc, 1));
}

/* Forget all privileges on an object that is being dropped. */
void
sf_privilege_forget(char kind, const char *object)
{
	List	   *roles = NIL;
	ListCell   *lc;
	Datum		args[2];

	args[0] = CharGetDatum(kind);
	args[1] = CStringGetTextDatum(object);
	sf_store_query(&delete_object, args, NULL, 0, read_role, &roles);
	foreach(lc, roles)
		sf_privilege_unanchor(lfirst_oid(lc));
}
