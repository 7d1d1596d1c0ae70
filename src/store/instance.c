/*
 * instance.c
 *		Whether this copy of the database is the one that is driven (4.7).
 *
 * The row of _sfflow.instance names the database that may be driven: by the
 * system identifier of its cluster and its oid.  A template copy brings a row
 * that names the original; a restored dump brings none, since the table is not
 * dumped, but brings the machines.  That is why the install script inserts no
 * row: it runs when a dump is restored as well.  A new installation is adopted
 * when its first state machine is made, while there is nothing yet that
 * another copy could be running.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/hooks.h"
#include "store/instance.h"
#include "store/direct.h"

static const SfKey instance_key = {"instance", "instance_pkey", 1, {BOOLOID}};

/* Columns of the table */
enum
{
	COL_ONLY_ROW = 1, COL_SYSTEM_IDENTIFIER, COL_DATABASE_OID, COL_ENABLED
};

static SfPlan empty_plan = SF_PLAN(
	"SELECT 1 WHERE EXISTS (SELECT FROM _sfflow.state_machine)"
	" OR EXISTS (SELECT FROM _sfflow.execution)",
	0, 0);

static SfPlan write_plan = SF_PLAN(
	"INSERT INTO _sfflow.instance"
	" (only_row, system_identifier, database_oid, enabled, changed_at)"
	" VALUES (true, $1, $2, $3, $4)"
	" ON CONFLICT (only_row) DO UPDATE SET"
	" system_identifier = excluded.system_identifier,"
	" database_oid = excluded.database_oid,"
	" enabled = excluded.enabled,"
	" changed_at = excluded.changed_at",
	4, INT8OID, OIDOID, BOOLOID, TIMESTAMPTZOID);

/* The row of _sfflow.instance, as far as it matters */
typedef struct InstanceRow
{
	bool		ours;
	bool		enabled;
} InstanceRow;

/* Keep the row. */
static void
read_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	InstanceRow *row = arg;

	row->ours = sf_row_int64(tuple, desc, COL_SYSTEM_IDENTIFIER) ==
		(int64) GetSystemIdentifier() &&
		(Oid) sf_row_int(tuple, desc, COL_DATABASE_OID) == MyDatabaseId;
	row->enabled = sf_row_bool(tuple, desc, COL_ENABLED);
}

/* Read the state. */
SfInstanceState
sf_instance_state(void)
{
	InstanceRow row = {false, false};
	Datum		only = BoolGetDatum(true);

	if (!sf_row_fetch(&instance_key, &only, SF_LOCK_NONE, NULL, read_row, &row))
		return sf_store_query(&empty_plan, NULL, NULL, 1, NULL, NULL) == 0 ?
			SF_INSTANCE_NEW : SF_INSTANCE_RESTORED;
	if (!row.ours)
		return SF_INSTANCE_COPY;
	return row.enabled ? SF_INSTANCE_DRIVEN : SF_INSTANCE_DISABLED;
}

/* Say in one sentence why an installation in this state is (not) driven. */
const char *
sf_instance_explain(SfInstanceState state)
{
	switch (state)
	{
		case SF_INSTANCE_DRIVEN:
			return "this database is driven";
		case SF_INSTANCE_DISABLED:
			return "switched off by sf_disable(); sf_enable() switches on";
		case SF_INSTANCE_NEW:
			return "nothing to drive yet: begins with the first state machine";
		case SF_INSTANCE_RESTORED:
			return "restored from a dump: not driven, so that nothing runs twice; sf_enable() adopts it";
		case SF_INSTANCE_COPY:
			return "copy of another database, or upgraded: not driven, so that nothing runs twice; sf_enable() adopts it";
	}
	return "unknown";
}

/* Adopt this copy, or have it driven no longer. */
void
sf_instance_set(bool enabled)
{
	Datum		args[4];

	args[0] = Int64GetDatum((int64) GetSystemIdentifier());
	args[1] = ObjectIdGetDatum(MyDatabaseId);
	args[2] = BoolGetDatum(enabled);
	args[3] = TimestampTzGetDatum(GetCurrentTimestamp());
	(void) sf_store_query(&write_plan, args, NULL, 0, NULL, NULL);
	if (sf_register_hook)
		sf_register_hook();
}

/* Adopt a new installation. */
SfInstanceState
sf_instance_check_or_adopt(void)
{
	SfInstanceState state = sf_instance_state();

	if (state != SF_INSTANCE_NEW)
		return state;
	sf_instance_set(true);
	return SF_INSTANCE_DRIVEN;
}
