/*
 * version_functions.c
 *		sf_set_alias(), sf_drop_alias(), sf_diff_versions(), sf_migrate().
 */
#include "postgres.h"

#include "base/schema.h"
#include "miscadmin.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/errors.h"
#include "base/name.h"
#include "run/migrate.h"
#include "store/audit.h"

/* --- aliases --- */

/* Refuse a name that would be read as the number of a version. */
static void
check_alias_name(const char *alias)
{
	sf_name_check(alias, "alias");
	if (sf_alias_is_number(alias))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_NAME),
				 errmsg("alias \"%s\" must not be a number", alias),
				 errdetail("A number after the slash names a version.")));
}

/* Raise the error for the argument versions. */
static void
refuse_routes(const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("argument versions %s", problem),
			 errhint("It gives the percentage of the starts of each version, as in '{\"3\": 90, \"4\": 10}'.")));
}

/* Refuse a version, or the percentage that it is to get; returns the percentage. */
static int
check_route(const SfMachine *machine, const SfJsonMember *member)
{
	char	   *key = pnstrdup(member->key.val.string.val, member->key.val.string.len);
	int			version = strspn(key, "0123456789") == strlen(key) && strlen(key) < 10 ? atoi(key) : 0;
	int64		percent;

	if (version < 1 || version > machine->current_version || key[0] == '0')
		refuse_routes(psprintf("has \"%s\", which is no version of state machine \"%s\"",
							   key, machine->name));
	if (!sf_json_to_int64(&member->value, &percent) || percent < 0 || percent > 100)
		refuse_routes(psprintf("must give version %s an integer from 0 to 100", key));
	return (int) percent;
}

/* Refuse versions that do not exist, or whose percentages do not add up. */
static void
check_routes(const SfMachine *machine, const Jsonb *routes)
{
	JsonbValue	object;
	SfJsonMember members[SF_ALIAS_MAX_ROUTES];
	int			n,
				sum = 0;

	sf_json_root(routes, &object);
	if (!sf_json_is_object(&object))
		refuse_routes("must be a JSON object");
	if (sf_json_count(&object) < 1 || sf_json_count(&object) > SF_ALIAS_MAX_ROUTES)
		refuse_routes(psprintf("must have 1 to %d versions", SF_ALIAS_MAX_ROUTES));
	n = sf_json_list_members(&object, members);
	for (int i = 0; i < n; i++)
		sum += check_route(machine, &members[i]);
	if (sum != 100)
		refuse_routes(psprintf("must add up to 100 percent, not %d", sum));
}

/* {"alias": name, "versions": {…}}, for sf_audit */
static Jsonb *
alias_details(const char *alias, const Jsonb *routes)
{
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	sf_json_add_string(&b, "alias", alias);
	if (routes != NULL)
		sf_json_add(&b, "versions", routes);
	return sf_json_finish(&b);
}

/* sf_set_alias(state_machine, alias, versions). */
SF_SQL_FUNCTION(sfflow_sf_set_alias)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"),
										 SF_PRIVILEGE_OWN);
	char	   *alias = sf_arg_text(fcinfo, 1, "alias");
	Jsonb	   *routes = sf_arg_jsonb(fcinfo, 2, "versions");

	check_alias_name(alias);
	check_routes(machine, routes);
	sf_object_keep_machine(machine->machine_no, machine->name);
	sf_alias_write(machine->machine_no, alias, routes);
	sf_audit_note("set alias", SF_OBJECT_STATE_MACHINE, machine->name, machine->name, NULL,
				  alias_details(alias, routes));
	PG_RETURN_VOID();
}

/* sf_drop_alias(state_machine, alias). */
SF_SQL_FUNCTION(sfflow_sf_drop_alias)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"),
										 SF_PRIVILEGE_OWN);
	char	   *alias = sf_arg_text(fcinfo, 1, "alias");

	if (!sf_alias_delete(machine->machine_no, alias))
		sf_object_missing_alias(machine, alias);
	sf_audit_note("drop alias", SF_OBJECT_STATE_MACHINE, machine->name, machine->name, NULL,
				  alias_details(alias, NULL));
	PG_RETURN_VOID();
}

/* --- differences --- */

/* A comparison of two documents */
typedef struct Diff
{
	FunctionCallInfo fcinfo;
	StringInfoData pointer;		/* of what is compared now */
} Diff;

/* Append a key to the pointer, escaped as RFC 6901 says. */
static void
append_key(StringInfo pointer, const JsonbValue *key)
{
	appendStringInfoChar(pointer, '/');
	for (int i = 0; i < key->val.string.len; i++)
	{
		char		c = key->val.string.val[i];

		if (c == '~' || c == '/')
			appendStringInfoString(pointer, c == '~' ? "~0" : "~1");
		else
			appendStringInfoChar(pointer, c);
	}
}

/* Put one difference into the result; NULL: the version has nothing there. */
static void
put_difference(Diff *diff, const JsonbValue *before, const JsonbValue *after)
{
	SfColumns	row = {0};

	sf_columns_text(&row, diff->pointer.data);
	sf_columns_text(&row, before == NULL ? "added" : after == NULL ? "removed" : "changed");
	sf_columns_jsonb(&row, before == NULL ? NULL : sf_json_make(before));
	sf_columns_jsonb(&row, after == NULL ? NULL : sf_json_make(after));
	sf_columns_put(diff->fcinfo, &row);
}

static void compare(Diff *diff, const JsonbValue *before, const JsonbValue *after);

/* Compare the members of two objects that have a key of one of them; again: of the second one. */
static void
compare_members(Diff *diff, const JsonbValue *before, const JsonbValue *after, bool again)
{
	const JsonbValue *from = again ? after : before;
	const JsonbValue *other = again ? before : after;
	SfJsonMember *members = palloc(sizeof(SfJsonMember) * Max(sf_json_count(from), 1));
	int			n = sf_json_list_members(from, members);
	int			len = diff->pointer.len;

	for (int i = 0; i < n; i++)
	{
		const JsonbValue *key = &members[i].key;
		JsonbValue	there;
		bool		found = sf_json_member(other, key->val.string.val, key->val.string.len, &there);

		if (again && found)
			continue;			/* was compared already */
		append_key(&diff->pointer, key);
		compare(diff, again ? NULL : &members[i].value,
				again ? &members[i].value : found ? &there : NULL);
		diff->pointer.len = len;
		diff->pointer.data[len] = '\0';
	}
	pfree(members);
}

/* Compare two arrays, element by element. */
static void
compare_elements(Diff *diff, const JsonbValue *before, const JsonbValue *after)
{
	int			nbefore = sf_json_count(before);
	int			nafter = sf_json_count(after);
	int			len = diff->pointer.len;

	for (int i = 0; i < Max(nbefore, nafter); i++)
	{
		JsonbValue	a,
					b;
		bool		in_a = sf_json_element(before, i, &a);
		bool		in_b = sf_json_element(after, i, &b);

		appendStringInfo(&diff->pointer, "/%d", i);
		compare(diff, in_a ? &a : NULL, in_b ? &b : NULL);
		diff->pointer.len = len;
		diff->pointer.data[len] = '\0';
	}
}

/* Compare two values; NULL: there is none. */
static void
compare(Diff *diff, const JsonbValue *before, const JsonbValue *after)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (before == NULL || after == NULL)
		put_difference(diff, before, after);
	else if (sf_json_is_object(before) && sf_json_is_object(after))
	{
		compare_members(diff, before, after, false);
		compare_members(diff, before, after, true);
	}
	else if (sf_json_is_array(before) && sf_json_is_array(after))
		compare_elements(diff, before, after);
	else if (!sf_json_value_equal(before, after))
		put_difference(diff, before, after);
}

/* Read the definition of a version. */
static void
read_definition(const SfMachine *machine, FunctionCallInfo fcinfo, int n, JsonbValue *definition)
{
	int			version = sf_arg_version(fcinfo, n);
	SfMachine  *found;

	if (version == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument %s must not be null", n == 1 ? "a" : "b")));
	found = version > machine->current_version ? NULL :
		sf_machine_read(machine->name, version, true);
	if (found == NULL)
		sf_object_missing_version(machine, version);
	sf_json_root(sf_json_from_cstring(found->definition), definition);
}

/* sf_diff_versions(state_machine, a, b): what the definitions differ in. */
SF_SQL_FUNCTION(sfflow_sf_diff_versions)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"),
										 SF_PRIVILEGE_READ);
	Diff		diff = {.fcinfo = fcinfo};
	JsonbValue	before,
				after;

	InitMaterializedSRF(fcinfo, 0);
	read_definition(machine, fcinfo, 1, &before);
	read_definition(machine, fcinfo, 2, &after);
	initStringInfo(&diff.pointer);
	compare(&diff, &before, &after);
	return (Datum) 0;
}

/* --- moving an execution to another version --- */

/* sf_migrate(execution_id, version, state_map). */
SF_SQL_FUNCTION(sfflow_sf_migrate)
{
	SfExecution *execution = sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"),
											  SF_LOCK_WAIT, SF_PRIVILEGE_OPERATE);
	int			version = sf_arg_version(fcinfo, 1);
	Jsonb	   *details;

	if (version == 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument version must not be null")));
	details = sf_migrate_execution(execution, version, sf_arg_jsonb_or_null(fcinfo, 2), false);
	if (details != NULL)
		sf_audit_note_execution(execution, "migrate", NULL, details);
	PG_RETURN_VOID();
}
