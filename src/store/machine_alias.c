/*
 * machine_alias.c
 *		Rows of _sfflow.machine_alias.
 */
#include "postgres.h"

#include "common/pg_prng.h"
#include "utils/builtins.h"

#include "store/machine_alias.h"

typedef struct MachineAlias
{
	SF_MACHINE_ALIAS_COLUMNS(SF_FIELD)
} MachineAlias;

#define ROW MachineAlias
SF_ROW_TYPE(row_type, SF_MACHINE_ALIAS_COLUMNS, machine_alias, 2);

/* Read a row. */
static void
read_alias(HeapTuple tuple, TupleDesc desc, void *arg)
{
	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, arg);
}

/*
 * Read the versions that an alias names, SF_ALIAS_MAX_ROUTES at most, into routes;
 * returns how many, 0: there is no such alias.
 */
int
sf_alias_read(int machine_no, const char *alias, SfRoute *routes)
{
	MachineAlias		row = {0};
	JsonbValue	object;
	SfJsonMember members[SF_ALIAS_MAX_ROUTES];
	int			n;

	if (!sf_row_fetch(&row_type.key, SF_LOCK_NONE, NULL, read_alias, &row,
					  SF_INT4(machine_no), SF_TEXT(alias)))
		return 0;
	sf_json_root(row.routes, &object);
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

/* Choose one of the versions, by their percentages; returns its place. */
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
		"SELECT a.alias FROM _sfflow.machine_alias a WHERE a.machine_no" SF_EQ "$1"
		" ORDER BY a.alias");

	return sf_store_texts(&plan, SF_INT4(machine_no));
}

/* Set an alias. */
void
sf_alias_write(int machine_no, const char *alias, const Jsonb *routes)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.machine_alias (machine_no, alias, routes, set_at)"
		" VALUES ($1, $2, $3, pg_catalog.clock_timestamp())"
		" ON CONFLICT (machine_no, alias) DO UPDATE"
		" SET routes = excluded.routes, set_at = excluded.set_at");

	sf_store_execute(&plan, SF_INT4(machine_no), SF_TEXT(alias), SF_JSONB(routes));
}

/* Delete an alias; false: there is none. */
bool
sf_alias_delete(int machine_no, const char *alias)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.machine_alias a WHERE a.machine_no" SF_EQ "$1"
		" AND a.alias" SF_EQ "$2");

	return sf_store_execute(&plan, SF_INT4(machine_no), SF_TEXT(alias)) > 0;
}
