/*
 * instance.c
 *		Whether this copy of the database is the one that is driven.
 *
 * The row of _sfflow.instance names the database that may be driven: by the
 * system identifier of its cluster, its oid, and the id of its data directory
 * (instance_file.c).  A template copy brings a row that names the original,
 * and so does a copy of the files; a restored dump brings none, since the table
 * is not dumped, but brings the machines.  That is why the install script
 * inserts no row: it runs when a dump is restored as well.  A new installation
 * is adopted when its first state machine is made, while there is nothing yet
 * that another copy could be running.
 *
 * Rows that are loaded into a driven database, by a dump or a subscription, are
 * work of another database, and switch driving off.  load_guard.c notices them.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/guc.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/hooks.h"
#include "base/version/schema.h"
#include "copy/instance.h"
#include "copy/load_guard.h"
#include "db/row.h"
#include "store/execution/execution.h"
#include "store/execution/open_execution.h"
#include "store/feature.h"

/* Columns of _sfflow.instance; see sql/parts/copy/instance.sql. */
#define SF_INSTANCE_COLUMNS(X) \
	X(bool, only_row, BOOL, NOT_NULL) \
	X(int64, system_identifier, INT8, NOT_NULL) \
	X(Oid, database_oid, OID, NOT_NULL) \
	X(int64, incarnation, INT8, NOT_NULL) \
	X(bool, enabled, BOOL, NOT_NULL) \
	X(char *, stopped_because, TEXT, NULLABLE)	/* sf_disable(), or it is enabled */ \
	X(TimestampTz, changed_at, TIMESTAMPTZ, NOT_NULL) \
	X(int, node, INT4, NULL_IS(SF_NO_NODE))	/* of sf_set_node() */

typedef struct InstanceRow
{
	SF_INSTANCE_COLUMNS(SF_FIELD)
	bool		found;
	bool		ours;			/* this database of this cluster */
	bool		same_files;		/* ... and this data directory */
} InstanceRow;

#define ROW InstanceRow
SF_ROW_TYPE(row_type, SF_INSTANCE_COLUMNS, instance, 1);

/* Read the row, and tell whose it is. */
static void
read_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	InstanceRow *row = arg;

	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, row);
	row->found = true;
	row->ours = row->system_identifier == (int64) GetSystemIdentifier() &&
		row->database_oid == MyDatabaseId;
	row->same_files = row->ours && row->incarnation == sf_instance_file_id();
}

/* Find the row. */
static InstanceRow
find_row(void)
{
	InstanceRow row = {0};

	(void) sf_row_fetch(&row_type.key, SF_LOCK_NONE, NULL, read_row, &row, SF_BOOL(true));
	return row;
}

/* --- the status --- */

/*
 * Tell whether a row with another data directory's id is taken over: by a
 * standby when it is promoted, by a promoted one at the launcher's first look.
 */
static bool
is_to_be_taken_over(const InstanceRow *row)
{
	return row->enabled && sf_instance_file_id() != 0 &&
		sf_instance_file_kind() == SF_DIRECTORY_FOLLOWER;
}

/* Tell whether there is nothing that another copy could be running. */
static bool
is_new(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT 1 WHERE EXISTS (SELECT FROM _sfflow.state_machine)"
		" OR EXISTS (SELECT FROM _sfflow.execution)");

	return sf_db_execute(&plan) == 0;
}

/* Judge the row. */
static SfInstanceStatus
judge_row(const InstanceRow *row)
{
	if (IsBinaryUpgrade)
		return SF_INSTANCE_UPGRADING;
	if (!row->found)
		return is_new() ? SF_INSTANCE_NEW : SF_INSTANCE_RESTORED;
	if (!row->ours)
		return SF_INSTANCE_COPY;
	if (!row->enabled && row->stopped_because != NULL)
		return SF_INSTANCE_STOPPED;
	if (!row->enabled && (row->same_files || RecoveryInProgress()))
		return SF_INSTANCE_DISABLED;
	if (!row->same_files && !is_to_be_taken_over(row))
		return SF_INSTANCE_FILES_COPIED;
	/* a former primary has its own id until it replays that another one took over */
	if (!row->same_files || RecoveryInProgress())
		return SF_INSTANCE_STANDBY;
	return sf_load_guard_is_on() ? SF_INSTANCE_DRIVEN : SF_INSTANCE_UNGUARDED;
}

/* Read the status under the transaction's (or the active) snapshot. */
SfInstanceStatus
sf_instance_status(void)
{
	InstanceRow row = find_row();

	return judge_row(&row);
}

/* Tell whether what is due may run by itself. */
bool
sf_instance_is_driven(void)
{
	return sf_instance_status() == SF_INSTANCE_DRIVEN;
}

/*
 * Tell whether work that comes from outside may begin here: a schedule's run, a
 * task for an activity's worker.  In the original it may, also while it is
 * switched off; in a copy it is the original's.
 */
bool
sf_instance_takes_work(void)
{
	InstanceRow row = find_row();
	SfInstanceStatus status = judge_row(&row);

	return status == SF_INSTANCE_DRIVEN || status == SF_INSTANCE_NEW ||
		(status == SF_INSTANCE_DISABLED && row.same_files);
}

/* Return the number of another schema that rows were loaded of from a dump; 0: all are of this one. */
static int64
foreign_schema(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.min(r.number) FROM _sfflow.schema_of_rows r WHERE r.number <> $1");

	return sf_db_number(&plan, 0, SF_INT4(sf_schema_of_database()));
}

/* --- in words --- */

/* Say what to do with rows of another schema. */
static const char *
explain_foreign_rows(int64 number)
{
	return psprintf("restored from a dump: the rows are of schema " INT64_FORMAT ", the tables of schema %d; restore it into a database with "
					"CREATE EXTENSION sfflow VERSION of that schema, then run ALTER EXTENSION sfflow UPDATE",
					number, sf_schema_of_database());
}

/* Say what stopped it, as the row has it. */
static const char *
explain_stop(void)
{
	InstanceRow row = find_row();

	return psprintf("not driven: %s; sf_enable() adopts it",
					row.stopped_because != NULL ? row.stopped_because : "stopped");
}

/* Say in one sentence why an installation in this status is (not) driven. */
const char *
sf_instance_explain(SfInstanceStatus status)
{
	int64		foreign;

	switch (status)
	{
		case SF_INSTANCE_DRIVEN:
			return "this database is driven";
		case SF_INSTANCE_DISABLED:
			return "switched off by sf_disable(); sf_enable() switches on";
		case SF_INSTANCE_NEW:
			return "nothing to drive yet: begins with the first state machine";
		case SF_INSTANCE_RESTORED:
			foreign = foreign_schema();
			return foreign != 0 ? explain_foreign_rows(foreign) :
				"restored from a dump: not driven, so that nothing runs twice; sf_enable() adopts it";
		case SF_INSTANCE_COPY:
			return "copy of another database, or upgraded: not driven, so that nothing runs twice; sf_enable() adopts it";
		case SF_INSTANCE_FILES_COPIED:
			return "copy of a data directory, or restored from a base backup: not driven, so that nothing runs twice; sf_enable() adopts it";
		case SF_INSTANCE_STANDBY:
			return RecoveryInProgress() ? "standby: driven after promotion" :
				"promoted: the launcher takes it over in a moment";
		case SF_INSTANCE_STOPPED:
			return explain_stop();
		case SF_INSTANCE_UNGUARDED:
			return "the triggers of _sfflow were disabled, as pg_restore --disable-triggers does: not driven, so that nothing runs twice; sf_enable() adopts it";
		case SF_INSTANCE_UPGRADING:
			return "pg_upgrade runs this server: not driven, since what it writes now is lost";
	}
	return "unknown";
}

/* Say, with SF016 and at a level, that something is so because of the status. */
void
sf_instance_tell(int elevel, SfInstanceStatus status, const char *what)
{
	ereport(elevel,
			(errcode(ERRCODE_SF_NOT_DRIVEN),
			 errmsg("%s", what),
			 errdetail("%s.", sf_instance_explain(status))));
}

/* Raise SF016 where pg_upgrade runs this server: what is written is lost. */
void
sf_instance_refuse_upgrade(const char *function)
{
	if (IsBinaryUpgrade)
		ereport(ERROR,
				(errcode(ERRCODE_SF_NOT_DRIVEN),
				 errmsg("cannot execute %s while pg_upgrade runs this server", function),
				 errdetail("What is written now does not reach the new cluster.")));
}

/* --- changing it --- */

/* Write the row anew. */
static void
write_row(bool enabled)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.instance"
		" (only_row, system_identifier, database_oid, incarnation, enabled, changed_at)"
		" VALUES (true, $1, $2, $3, $4, pg_catalog.clock_timestamp())"
		" ON CONFLICT (only_row) DO UPDATE SET"
		" system_identifier = excluded.system_identifier,"
		" database_oid = excluded.database_oid,"
		" incarnation = excluded.incarnation,"
		" enabled = excluded.enabled,"
		" stopped_because = NULL,"
		" changed_at = excluded.changed_at");

	/* data that was restored into an emptied database has brought a row of its own */
	static SfPlan clear_schema = SF_PLAN("DELETE FROM _sfflow.schema_of_rows");
	static SfPlan note_schema = SF_PLAN("INSERT INTO _sfflow.schema_of_rows (number) VALUES ($1)");

	sf_db_execute(&clear_schema);
	sf_db_execute(&note_schema, SF_INT4(sf_schema_of_database()));
	sf_db_execute(&plan, SF_INT8((int64) GetSystemIdentifier()),
				  sf_query_arg(OIDOID, ObjectIdGetDatum(MyDatabaseId), false),
				  SF_INT8(sf_instance_file_require()), SF_BOOL(enabled));
	sf_hooks.register_database();
}

/* Have the row say that it is not enabled, and why; NULL: sf_disable(). */
static void
disable_row(const char *reason)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.instance SET enabled = false, stopped_because = $1,"
		" changed_at = pg_catalog.clock_timestamp() WHERE enabled");

	sf_db_execute(&plan, SF_TEXT(reason));
}

/* Adopt this copy: what has come into its tables is its own from now on. */
void
sf_instance_enable(void)
{
	int64		foreign;
	bool		adopted;

	PreventCommandIfReadOnly("sf_enable()");
	foreign = foreign_schema();
	if (foreign != 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_SCHEMA_DIFFERS),
				 errmsg("sf_enable() cannot adopt rows of another schema"),
				 errdetail("%s.", explain_foreign_rows(foreign))));
	adopted = !sf_instance_is_driven();
	/* waits for sessions that have drawn numbers, so only where it is needed */
	if (adopted || sf_sequences_behind(false) != NULL || sf_sequences_are_off())
		sf_sequences_pass_rows();
	if (adopted)
		sf_open_execution_rebuild();
	sf_load_guard_restore();
	SF_TELL(on_enabled, adopted);
	sf_feature_invalidate_cached();
	write_row(true);
}

/*
 * Give this database the number of a node: its sequences go on with numbers of that node (sequences.c).  Waits for
 * transactions that have drawn numbers.
 */
void
sf_instance_set_node(int node)
{
	static SfPlan plan = SF_PLAN("UPDATE _sfflow.instance SET node = $1 WHERE node IS DISTINCT FROM $1");
	SfInstanceStatus status;

	PreventCommandIfReadOnly("sf_set_node()");
	status = sf_instance_status();
	if (status == SF_INSTANCE_NEW)
		write_row(true);
	else if (status != SF_INSTANCE_DRIVEN && status != SF_INSTANCE_DISABLED)
		sf_instance_tell(ERROR, status, "a database that is not driven cannot be made a node");
	SF_TELL(check_node, node);
	sf_db_execute(&plan, SF_INT4(node));
	sf_sequences_pass_rows();
}

/* Have this copy driven no longer. */
void
sf_instance_disable(void)
{
	PreventCommandIfReadOnly("sf_disable()");
	if (find_row().found)
	{
		/* not adopted: in a copy the row goes on naming the original */
		disable_row(NULL);
		sf_hooks.register_database();
	}
	else
		write_row(false);
}

/* Adopt a new installation; call it before the first state machine is inserted. */
void
sf_instance_adopt_new(void)
{
	if (sf_instance_status() == SF_INSTANCE_NEW)
		write_row(true);
}

/*
 * Have a driven database driven no longer, for a reason that sf_health shows;
 * does nothing in other states.
 */
void
sf_instance_stop(const char *reason)
{
	InstanceRow row;

	/* the row of another schema is not read; what disable_row() writes is there in each */
	if (sf_schema_advice() != NULL)
	{
		disable_row(reason);
		return;
	}
	row = find_row();
	if (row.found && row.ours && row.enabled)
		disable_row(reason);
}

/* Take a row with another data directory's id over, or mark it. */
void
sf_instance_settle(void)
{
	static SfPlan take_over = SF_PLAN(
		"UPDATE _sfflow.instance SET incarnation = $1,"
		" changed_at = pg_catalog.clock_timestamp() WHERE enabled");
	InstanceRow row = find_row();

	if (IsBinaryUpgrade || !row.ours || row.same_files || !row.enabled ||
		sf_instance_file_kind() == SF_DIRECTORY_SETTLED)
		return;
	/* before the file says settled; and no standby is waited for */
	(void) set_config_option("synchronous_commit", "local", PGC_SUSET, PGC_S_SESSION,
							 GUC_ACTION_LOCAL, true, 0, false);
	if (sf_instance_file_kind() == SF_DIRECTORY_FOLLOWER)
	{
		sf_db_execute(&take_over, SF_INT8(sf_instance_file_id()));
		ereport(LOG,
				(errmsg("sfflow takes over database %u from the server that this one has followed",
						MyDatabaseId)));
	}
	else
	{
		sf_instance_stop("copy of a data directory, or restored from a base backup, so that nothing runs twice");
		ereport(LOG,
				(errmsg("sfflow does not drive database %u: its files were copied from another data directory",
						MyDatabaseId),
				 errhint("If the original is gone for good, call sf_enable() there.")));
	}
	SF_DEBUG_POINT("settle-before-commit");
}
