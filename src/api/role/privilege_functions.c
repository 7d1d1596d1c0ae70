/*
 * privilege_functions.c
 *		sf_grant(), sf_revoke(), and the filter of the views.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"

#include "api/objects.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "store/audit/audit.h"
#include "store/feature.h"
#include "store/state_machine/machine.h"

/* What can_read found out for a machine, for the time of one query */
typedef struct ReadEntry
{
	char		machine[NAMEDATALEN * 8];
	bool		allowed;
} ReadEntry;

/* What it found out for all machines that the query has asked for */
typedef struct ReadAnswers
{
	HTAB	   *by_machine;
	bool		complete;		/* what is not there may not be read */
} ReadAnswers;

/* A query that asks for more machines has those that the caller may read found by set */
#define MACHINES_ONE_BY_ONE	16

/* Find the answers that go with this number in a query. */
static ReadAnswers *
answers_of_query(FmgrInfo *flinfo)
{
	if (flinfo->fn_extra == NULL)
	{
		HASHCTL		control = {0};
		ReadAnswers *answers = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(ReadAnswers));

		control.keysize = sizeof(((ReadEntry *) 0)->machine);
		control.entrysize = sizeof(ReadEntry);
		control.hcxt = flinfo->fn_mcxt;
		answers->by_machine = hash_create("sfflow readable machines", 64, &control,
										  HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
		flinfo->fn_extra = answers;
	}
	return flinfo->fn_extra;
}

/* Note an answer. */
static bool
put_answer(ReadAnswers *answers, const char *machine, bool allowed)
{
	ReadEntry  *entry = hash_search(answers->by_machine, machine, HASH_ENTER, NULL);

	entry->allowed = allowed;
	return allowed;
}

/* Tell whether the current user may read a state machine; its owner is the stored one. */
static bool
may_read(const char *machine)
{
	Oid			owner = sf_machine_owner(machine);

	return OidIsValid(owner) &&
		sf_privilege_check(SF_OBJECT_STATE_MACHINE, machine, owner, SF_RIGHT_READ);
}

/* Find all machines that the current user may read. */
static void
find_all_readable(ReadAnswers *answers)
{
	foreach_ptr(const char, machine, sf_privilege_readable_machines())
		if (strlen(machine) < sizeof(((ReadEntry *) 0)->machine))
			put_answer(answers, machine, true);
	answers->complete = true;
}

/*
 * can_read(machine, owner): tell whether the current user may read a state machine;
 * remembers the answer for the rest of the query.  Any role may call this, with any owner:
 * the owner is looked up.
 */
SF_SQL_FUNCTION(sfflow_can_read)
{
	char	   *machine = text_to_cstring(PG_GETARG_TEXT_PP(0));
	ReadAnswers *answers;
	ReadEntry  *entry;

	if (sf_privilege_is_administrator())
		PG_RETURN_BOOL(true);
	if (strlen(machine) >= sizeof(entry->machine))
		PG_RETURN_BOOL(may_read(machine));
	answers = answers_of_query(fcinfo->flinfo);
	entry = hash_search(answers->by_machine, machine, HASH_FIND, NULL);
	if (entry == NULL && !answers->complete &&
		hash_get_num_entries(answers->by_machine) >= MACHINES_ONE_BY_ONE)
	{
		find_all_readable(answers);
		entry = hash_search(answers->by_machine, machine, HASH_FIND, NULL);
	}
	if (entry != NULL || answers->complete)
		PG_RETURN_BOOL(entry != NULL && entry->allowed);
	PG_RETURN_BOOL(put_answer(answers, machine, may_read(machine)));
}

typedef struct Grant
{
	SfPrivilege privilege;
	SfObjectKind kind;			/* of the object */
	const char *object;			/* its name */
	Oid			role;			/* InvalidOid: public */
} Grant;

/* Tell whether objects of a kind have a privilege. */
static bool
applies_to(SfPrivilege privilege, SfObjectKind kind)
{
#define LETTERS(...) ((const char[]) {__VA_ARGS__, '\0'})
#define APPLIES_TO(sym, letter, name, kinds, is_public) \
	if (privilege == SF_PRIVILEGE_##sym) \
		return strchr(LETTERS kinds, kind) != NULL;
	SF_PRIVILEGE_LIST(APPLIES_TO)
	return false;
}

/* Read the name of a privilege. */
static SfPrivilege
parse_privilege(const char *text)
{
	SfClosest	closest = sf_closest_begin(text);

#define PARSE_PRIVILEGE(sym, letter, name, kinds, is_public) \
	if (pg_strcasecmp(text, name) == 0) \
		return SF_PRIVILEGE_##sym; \
	sf_closest_offer(&closest, name);
	SF_PRIVILEGE_LIST(PARSE_PRIVILEGE)
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("unrecognized privilege: \"%s\"", text),
			 sf_closest_errhint(&closest,
								"Privileges are START, READ, OPERATE and SEND on a state machine, WORK and SEND on an activity,"
								" EMIT and RECEIVE on an event, DO, ASSIGN and ACT on a worklist, and CREATE.")));
}

/* Tell the kind of object that a text names. */
static SfObjectKind
kind_of_object(const char *text)
{
	const SfFeatureObject *object = sf_feature_object_of(text);

	if (strcmp(text, "*") == 0)
		return SF_OBJECT_ALL;
	if (object != NULL && object->is_granted)
		return object->kind;
	return strncmp(text, "activity:", 9) == 0 || sf_public_name_to_id(SF_NAME_ACTIVITY, text) != text ?
		SF_OBJECT_ACTIVITY : SF_OBJECT_STATE_MACHINE;
}

/* Find the object of a grant and check that the caller may give rights on it. */
static const char *
find_object(const char *text, SfObjectKind kind)
{
	const SfFeatureObject *object = sf_feature_object_of(text);

	if (object != NULL && object->kind == kind)
	{
		(void) object->require_own(sf_feature_object_name(object, text));
		return sf_feature_object_name(object, text);
	}
	if (kind == SF_OBJECT_ACTIVITY)
		return sf_arg_activity(text, SF_RIGHT_OWNER)->name;
	if (kind == SF_OBJECT_STATE_MACHINE)
		return sf_arg_machine(text, SF_RIGHT_OWNER)->name;
	if (!sf_privilege_is_administrator())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to give or take the right CREATE"),
				 errdetail("Only superusers and the owner of extension sfflow may do so.")));
	return text;
}

/* The same; an object stays there, with the rights on it, until the end of the transaction. */
static const char *
parse_object(const char *text, SfObjectKind kind)
{
	const char *name = find_object(text, kind);

	if (kind != SF_OBJECT_ALL)
		(void) sf_object_lock_own(kind, name, SF_NAMED_LOCK_KEEP);
	return name;
}

/* Check the arguments of sf_grant and sf_revoke. */
static void
parse_grant(FunctionCallInfo fcinfo, Grant *grant)
{
	char	   *privilege = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *object = text_to_cstring(PG_GETARG_TEXT_PP(1));
	char	   *role = text_to_cstring(PG_GETARG_TEXT_PP(2));

	grant->privilege = parse_privilege(privilege);
	grant->kind = kind_of_object(object);
	if (!applies_to(grant->privilege, grant->kind))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("privilege %s does not apply to \"%s\"", privilege, object),
				 errhint("START, READ, OPERATE and SEND apply to a state machine, given by its name;"
						 " WORK and SEND to an activity, given as \"activity:name\";"
						 " EMIT and RECEIVE to an event, given as \"event:name\";"
						 " DO, ASSIGN and ACT to a worklist, given as \"human:name\"; CREATE to \"*\".")));
	grant->object = parse_object(object, grant->kind);
	grant->role = strcmp(role, "public") == 0 ? InvalidOid : get_role_oid(role, false);
}

/* Record that a privilege was given or taken. */
static void
note_grant(const Grant *grant, const char *action)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "privilege", sf_privilege_name(grant->privilege));
	sf_json_add_string(&json, "role", OidIsValid(grant->role) ?
					   GetUserNameFromId(grant->role, false) : "public");
	sf_audit_note(action, grant->kind, grant->object, sf_object_target(grant->kind, grant->object), NULL,
				  sf_json_end(&json));
}

/* Give a role a privilege. */
SF_SQL_FUNCTION(sfflow_sf_grant)
{
	Grant		grant;

	parse_grant(fcinfo, &grant);
	sf_privilege_grant(grant.kind, grant.object, grant.role, grant.privilege);
	note_grant(&grant, "grant");
	PG_RETURN_VOID();
}

/* Take a privilege from a role. */
SF_SQL_FUNCTION(sfflow_sf_revoke)
{
	Grant		grant;

	parse_grant(fcinfo, &grant);
	sf_privilege_revoke(grant.kind, grant.object, grant.role, grant.privilege);
	note_grant(&grant, "revoke");
	PG_RETURN_VOID();
}
