/*
 * privilege.c
 *		sf_grant(), sf_revoke(), and the filter of the views.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"

#include "base/arn.h"
#include "base/errors.h"
#include "store/machine.h"
#include "store/privilege.h"
#include "store/task.h"

PG_FUNCTION_INFO_V1(sfflow_can_read);
PG_FUNCTION_INFO_V1(sfflow_can_work);
PG_FUNCTION_INFO_V1(sfflow_sf_grant);
PG_FUNCTION_INFO_V1(sfflow_sf_revoke);

/* What can_read found out for a machine, for the time of one query */
typedef struct ReadEntry
{
	char		machine[NAMEDATALEN * 8];
	bool		allowed;
} ReadEntry;

/* Find the table of answers that goes with this place in a query. */
static HTAB *
answers_of_query(FmgrInfo *flinfo)
{
	if (flinfo->fn_extra == NULL)
	{
		HASHCTL		control = {0};

		control.keysize = sizeof(((ReadEntry *) 0)->machine);
		control.entrysize = sizeof(ReadEntry);
		control.hcxt = flinfo->fn_mcxt;
		flinfo->fn_extra = hash_create("sfflow readable machines", 64, &control,
									   HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	}
	return flinfo->fn_extra;
}

/*
 * Tell whether the current user may read a state machine of a given owner;
 * remembers the answer for the rest of the query.
 */
Datum
sfflow_can_read(PG_FUNCTION_ARGS)
{
	char	   *machine = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Oid			owner = PG_GETARG_OID(1);
	ReadEntry  *entry;
	bool		found;
	bool		allowed;

	if (sf_privilege_is_owner(owner))
		PG_RETURN_BOOL(true);
	if (strlen(machine) >= sizeof(entry->machine))
		PG_RETURN_BOOL(sf_privilege_check(machine, owner, SF_PRIVILEGE_READ));
	entry = hash_search(answers_of_query(fcinfo->flinfo), machine, HASH_FIND, NULL);
	if (entry != NULL)
		PG_RETURN_BOOL(entry->allowed);
	allowed = sf_privilege_check(machine, owner, SF_PRIVILEGE_READ);
	entry = hash_search(answers_of_query(fcinfo->flinfo), machine, HASH_ENTER, &found);
	entry->allowed = allowed;
	PG_RETURN_BOOL(allowed);
}

/* Tell whether the current user may work on an activity of a given owner. */
Datum
sfflow_can_work(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(sf_privilege_check_activity(text_to_cstring(PG_GETARG_TEXT_PP(0)),
											   PG_GETARG_OID(1),
											   SF_PRIVILEGE_WORK));
}

typedef struct Grant
{
	SfPrivilege privilege;
	char		kind;			/* of the object */
	const char *object;			/* its name */
	Oid			role;			/* InvalidOid: public */
} Grant;

/* Read the name of a privilege; *kind gets the kind of object that has it. */
static SfPrivilege
parse_privilege(const char *text, char *kind)
{
#define PARSE_PRIVILEGE(sym, letter, name, object_kind) \
	if (pg_strcasecmp(text, name) == 0) \
	{ \
		*kind = object_kind; \
		return SF_PRIVILEGE_##sym; \
	}
	SF_PRIVILEGE_LIST(PARSE_PRIVILEGE)
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized privilege: \"%s\"", text),
			 errhint("Privileges are START, READ and OPERATE on a state machine, and WORK on an activity.")));
}

/* Find the state machine of a grant and check that the caller owns it. */
static const char *
parse_state_machine(const char *text)
{
	const char *name = sf_arn_to_state_machine(text);
	SfMachine  *machine = sf_machine_read(name, 0, false);

	if (machine == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST),
				 errmsg("state machine \"%s\" does not exist", name)));
	sf_privilege_require_owner(name, machine->owner);
	return name;
}

/* Find the activity of a grant ("activity:name", or its ARN), likewise. */
static const char *
parse_activity(const char *text)
{
	const char *name = sf_arn_to_activity(text);
	SfActivity *activity;

	if (strncmp(name, "activity:", 9) == 0)
		name += 9;
	activity = sf_activity_read(name);
	if (activity == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_ACTIVITY_DOES_NOT_EXIST),
				 errmsg("activity \"%s\" does not exist", name)));
	if (!sf_privilege_is_owner(activity->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of activity \"%s\"", name)));
	return name;
}

/* Check the arguments of sf_grant and sf_revoke. */
static void
parse_grant(FunctionCallInfo fcinfo, Grant *grant)
{
	char	   *privilege = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *object = text_to_cstring(PG_GETARG_TEXT_PP(1));
	char	   *role = text_to_cstring(PG_GETARG_TEXT_PP(2));
	bool		is_activity = strncmp(object, "activity:", 9) == 0 ||
		sf_arn_to_activity(object) != object;

	grant->privilege = parse_privilege(privilege, &grant->kind);
	if (is_activity != (grant->kind == SF_OBJECT_ACTIVITY))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("privilege %s does not apply to \"%s\"", privilege, object),
				 errhint("START, READ and OPERATE apply to a state machine, given by its name; WORK applies to an activity, given as \"activity:name\".")));
	grant->object = is_activity ? parse_activity(object) : parse_state_machine(object);
	grant->role = strcmp(role, "public") == 0 ? InvalidOid : get_role_oid(role, false);
}

/* Give a role a privilege. */
Datum
sfflow_sf_grant(PG_FUNCTION_ARGS)
{
	Grant		grant;

	parse_grant(fcinfo, &grant);
	sf_privilege_grant(grant.kind, grant.object, grant.role, grant.privilege);
	PG_RETURN_VOID();
}

/* Take a privilege from a role. */
Datum
sfflow_sf_revoke(PG_FUNCTION_ARGS)
{
	Grant		grant;

	parse_grant(fcinfo, &grant);
	sf_privilege_revoke(grant.kind, grant.object, grant.role, grant.privilege);
	PG_RETURN_VOID();
}
