/*
 * machine_alias.c
 *		Rows of _sfflow.machine_alias.
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "utils/builtins.h"

#include "store/state_machine/aws_resource.h"
#include "store/state_machine/machine.h"

#define ROW SfMachineAlias
SF_ROW_TYPE(row_type, SF_MACHINE_ALIAS_COLUMNS, machine_alias, 2);

/* Read a row. */
static void
read_alias(HeapTuple tuple, TupleDesc desc, void *arg)
{
	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, arg);
}

/* Find an alias; NULL: there is none. */
SfMachineAlias *
sf_alias_find(int machine_no, const char *alias)
{
	SfMachineAlias *found = palloc0(sizeof(SfMachineAlias));

	return sf_row_fetch(&row_type.key, SF_LOCK_NONE, NULL, read_alias, found,
						SF_INT4(machine_no), SF_TEXT(alias)) ? found : NULL;
}

/* List aliases whose names sort behind one, max_rows at most; of a version, or of any (SF_NO_VERSION). */
List *
sf_alias_list(int machine_no, const char *behind, int version, int max_rows)
{
	static SfPlan plan = SF_PLAN(
		"SELECT a.machine_no, a.alias, a.routes, a.set_at, a.created_at, a.description"
		" FROM _sfflow.machine_alias a"
		" WHERE a.machine_no = $1 AND a.alias > $2"
		" AND ($3 IS NULL OR a.routes ? ($3::pg_catalog.text))"
		" ORDER BY a.alias LIMIT $4");

	return sf_db_rows(&plan, &row_type, SF_INT4(machine_no), SF_TEXT(behind),
					  sf_query_arg(INT4OID, Int32GetDatum(version), version == SF_NO_VERSION), SF_INT8(max_rows));
}

/* The versions of an alias, SF_ALIAS_MAX_ROUTES at most, into routes; returns how many. */
int
sf_alias_routes(const SfMachineAlias *alias, SfRoute *routes)
{
	JsonbValue	object;
	SfJsonMember members[SF_ALIAS_MAX_ROUTES];
	int			n;

	sf_json_root(alias->routes, &object);
	n = sf_json_list_members(&object, members);
	for (int i = 0; i < n; i++)
	{
		int64		percent = 0;

		(void) sf_json_to_int64(&members[i].value, &percent);
		routes[i].version = pg_strtoint32(pnstrdup(members[i].key.val.string.val,
														   members[i].key.val.string.len));
		routes[i].percent = (int) percent;
	}
	return n;
}

/*
 * Read the versions that an alias names, SF_ALIAS_MAX_ROUTES at most, into routes;
 * returns how many, 0: there is no such alias.
 */
static int
routes_of(int machine_no, const char *alias, SfRoute *routes)
{
	SfMachineAlias *found = sf_alias_find(machine_no, alias);

	return found == NULL ? 0 : sf_alias_routes(found, routes);
}

/* Tell whether what follows the name of a machine is the number of a version: no alias is one. */
bool
sf_alias_is_number(const char *qualifier)
{
	return qualifier[0] != '\0' && strspn(qualifier, "0123456789") == strlen(qualifier);
}

/* Tell whether it is "#" with a number of the API, as the ARN of a version has it. */
bool
sf_alias_is_publication(const char *qualifier)
{
	return qualifier[0] == '#' && sf_alias_is_number(qualifier + 1);
}

/* What an execution keeps of a qualifier that names routes: the version instead of the number of the API. */
char *
sf_alias_stored(const char *qualifier, const SfRoute *routes)
{
	return sf_alias_is_publication(qualifier) ? psprintf("%d", routes[0].version) : pstrdup(qualifier);
}

/* Read the number of a version; SF_NO_VERSION: it cannot be one. */
static int
read_number(const char *digits)
{
	long		number;

	errno = 0;
	number = strtol(digits, NULL, 10);
	return errno != 0 || number < 1 || number > PG_INT32_MAX ? SF_NO_VERSION : (int) number;
}

/*
 * Read what follows the name of a machine, a number, an alias, or "#" with the number
 * that the API gave to a publication: the versions that it names, SF_ALIAS_MAX_ROUTES
 * at most, into routes.  Returns how many; 0: none has that number, or there is no
 * such alias.  A version with a number need not exist.
 */
int
sf_alias_resolve(int machine_no, const char *qualifier, SfRoute *routes)
{
	bool		is_publication = sf_alias_is_publication(qualifier);
	int			version;

	if (!is_publication && !sf_alias_is_number(qualifier))
		return routes_of(machine_no, qualifier, routes);
	version = read_number(qualifier + is_publication);
	if (is_publication && version != SF_NO_VERSION)
		version = sf_publication_version(machine_no, version);
	routes[0] = (SfRoute) {version, 100};
	return version == SF_NO_VERSION ? 0 : 1;
}

/* Choose one of the versions, by their percentages; returns its index. */
int
sf_alias_choose(const SfRoute *routes, int n)
{
	int			at = (int) pg_prng_uint64_range(&pg_global_prng_state, 0, 99);
	int			i = 0;

	while (i < n - 1 && at >= routes[i].percent)
		at -= routes[i++].percent;
	return i;
}

/* The names of a machine's aliases. */
List *
sf_alias_names(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT a.alias FROM _sfflow.machine_alias a WHERE a.machine_no = $1"
		" ORDER BY a.alias");

	return sf_db_texts(&plan, SF_INT4(machine_no));
}

/* Set an alias. */
void
sf_alias_write(int machine_no, const char *alias, const Jsonb *routes)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.machine_alias (machine_no, alias, routes, set_at, created_at)"
		" VALUES ($1, $2, $3, pg_catalog.clock_timestamp(), pg_catalog.clock_timestamp())"
		" ON CONFLICT (machine_no, alias) DO UPDATE"
		" SET routes = excluded.routes, set_at = excluded.set_at");

	sf_db_execute(&plan, SF_INT4(machine_no), SF_TEXT(alias), SF_JSONB(routes));
}

/* Delete an alias; false: there is none. */
bool
sf_alias_delete(int machine_no, const char *alias)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.machine_alias a WHERE a.machine_no = $1"
		" AND a.alias = $2");

	return sf_db_execute(&plan, SF_INT4(machine_no), SF_TEXT(alias)) > 0;
}

/* Set the description of an alias. */
void
sf_alias_describe(int machine_no, const char *alias, const char *description)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.machine_alias a SET description = $3 WHERE a.machine_no = $1"
		" AND a.alias = $2");

	sf_db_execute(&plan, SF_INT4(machine_no), SF_TEXT(alias), SF_TEXT(description));
}
