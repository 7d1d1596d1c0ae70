/*
 * version_functions.c
 *		sf_set_alias(), sf_drop_alias(), sf_diff_versions(), sf_migrate().
 */
#include "postgres.h"

#include "miscadmin.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "run/execution/lifecycle.h"
#include "store/audit/audit.h"

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

	if (version < 1 || version > machine->current_version || key[0] == '0' ||
		sf_machine_read(machine->name, version, false) == NULL)
		refuse_routes(psprintf("has \"%s\", which is no version of state machine \"%s\"",
							   key, machine->name));
	if (!sf_json_to_int64(&member->value, &percent) || percent < 0 || percent > 100)
		refuse_routes(psprintf("must give version %s an integer from 0 to 100", key));
	return (int) percent;
}

/*
 * Refuse versions that do not exist, or whose percentages do not add up.  Returns the routes with the integers that
 * were read: 100.0 and 1e2 are 100.
 */
static Jsonb *
read_routes(const SfMachine *machine, const Jsonb *routes)
{
	JsonbValue	object;
	SfJsonMember members[SF_ALIAS_MAX_ROUTES];
	SfJsonBuilder json;
	int			n,
				sum = 0;

	sf_json_root(routes, &object);
	if (!sf_json_is_object(&object))
		refuse_routes("must be a JSON object");
	if (sf_json_count(&object) < 1 || sf_json_count(&object) > SF_ALIAS_MAX_ROUTES)
		refuse_routes(psprintf("must have 1 to %d versions", SF_ALIAS_MAX_ROUTES));
	n = sf_json_list_members(&object, members);
	sf_json_begin_object(&json);
	for (int i = 0; i < n; i++)
	{
		int			percent = check_route(machine, &members[i]);

		sf_json_add_int(&json, pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len), percent);
		sum += percent;
	}
	if (sum != 100)
		refuse_routes(psprintf("must add up to 100 percent, not %d", sum));
	return sf_json_end(&json);
}

/* {"alias": name, "versions": {…}}, for sf_audit */
static Jsonb *
alias_details(const char *alias, const Jsonb *routes)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "alias", alias);
	if (routes != NULL)
		sf_json_add(&json, "versions", routes);
	return sf_json_end(&json);
}

/* sf_set_alias(state_machine, alias, versions). */
SF_SQL_FUNCTION(sfflow_sf_set_alias)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"),
										 SF_RIGHT_OWNER);
	char	   *alias = sf_arg_text(fcinfo, 1, "alias");
	Jsonb	   *routes;

	check_alias_name(alias);
	routes = read_routes(machine, sf_arg_jsonb(fcinfo, 2, "versions"));
	sf_object_lock_machine(machine->machine_no, machine->name);
	sf_alias_write(machine->machine_no, alias, routes);
	sf_audit_note("set alias", SF_OBJECT_STATE_MACHINE, machine->name, machine->name, NULL,
				  alias_details(alias, routes));
	PG_RETURN_VOID();
}

/* sf_drop_alias(state_machine, alias). */
SF_SQL_FUNCTION(sfflow_sf_drop_alias)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"),
										 SF_RIGHT_OWNER);
	char	   *alias = sf_arg_text(fcinfo, 1, "alias");

	if (!sf_alias_delete(machine->machine_no, alias))
		sf_object_missing_alias(machine, alias);
	sf_audit_note("drop alias", SF_OBJECT_STATE_MACHINE, machine->name, machine->name, NULL,
				  alias_details(alias, NULL));
	PG_RETURN_VOID();
}

/* --- differences --- */

/* Put one difference into the result; NULL: the version has nothing there. */
static bool
put_difference(const char *pointer, const JsonbValue *before, const JsonbValue *after, void *arg)
{
	SfColumns	row = {0};

	sf_columns_text(&row, pointer);
	sf_columns_text(&row, before == NULL ? "added" : after == NULL ? "removed" : "changed");
	sf_columns_jsonb(&row, before == NULL ? NULL : sf_json_make(before));
	sf_columns_jsonb(&row, after == NULL ? NULL : sf_json_make(after));
	sf_columns_put(arg, &row);
	return true;
}

/* Read the definition of a version. */
static Jsonb *
read_definition(const SfMachine *machine, FunctionCallInfo fcinfo, int n)
{
	int			version = sf_arg_version(fcinfo, n);
	SfMachine  *found;

	if (version == SF_NO_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument %s must not be null", n == 1 ? "a" : "b")));
	found = version > machine->current_version ? NULL :
		sf_machine_read(machine->name, version, true);
	if (found == NULL)
		sf_object_missing_version(machine, version);
	return sf_json_from_cstring(found->definition);
}

/* sf_diff_versions(state_machine, a, b): what the definitions differ in. */
SF_SQL_FUNCTION(sfflow_sf_diff_versions)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"),
										 SF_RIGHT_READ);
	Jsonb	   *before;
	Jsonb	   *after;

	InitMaterializedSRF(fcinfo, 0);
	before = read_definition(machine, fcinfo, 1);
	after = read_definition(machine, fcinfo, 2);
	sf_json_differences(before, after, put_difference, fcinfo);
	return (Datum) 0;
}

/* --- migrating an execution to another version --- */

/* sf_migrate(execution_id, version, state_map). */
SF_SQL_FUNCTION(sfflow_sf_migrate)
{
	SfExecution *execution = sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"),
											  SF_LOCK_WAIT, SF_RIGHT_OPERATE);
	int			version = sf_arg_version(fcinfo, 1);
	Jsonb	   *details;

	if (version == SF_NO_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument version must not be null")));
	details = sf_migrate_execution(execution, version, sf_arg_jsonb_or_null(fcinfo, 2), false);
	if (details != NULL)
		sf_audit_note_execution(execution, "migrate", NULL, details);
	PG_RETURN_VOID();
}
