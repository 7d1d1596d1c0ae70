/*
 * machine.c
 *		Rows of _sfflow.state_machine and _sfflow.state_machine_version.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "base/hooks.h"
#include "nodes/pg_list.h"
#include "store/machine.h"
#include "store/table.h"

#define EQ " OPERATOR(pg_catalog.=) "
#define SELECT_MACHINE \
	"SELECT m.machine_no, v.version, m.current_version, m.owner::pg_catalog.oid::pg_catalog.int8," \
	" m.name, v.definition::pg_catalog.text, v.execution_id_path, v.options" \
	" FROM _sfflow.state_machine m JOIN _sfflow.state_machine_version v" \
	" ON v.machine_no" EQ "m.machine_no "

/* Read a machine with one of its versions. */
static void
read_machine(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfMachine  *m = palloc0(sizeof(SfMachine));

	m->machine_no = sf_row_int(tuple, desc, 1);
	m->version = sf_row_int(tuple, desc, 2);
	m->current_version = sf_row_int(tuple, desc, 3);
	m->owner = (Oid) sf_row_int64(tuple, desc, 4);
	m->name = sf_row_text(tuple, desc, 5);
	m->definition = sf_row_text(tuple, desc, 6);
	m->execution_id_path = sf_row_text(tuple, desc, 7);
	m->options = sf_row_jsonb(tuple, desc, 8);
	*(SfMachine **) arg = m;
}

/* Find a machine by name. */
SfMachine *
sf_machine_read(const char *name, int version)
{
	static SfPlan current = SF_PLAN(
		SELECT_MACHINE "AND v.version" EQ "m.current_version"
		" WHERE m.name" EQ "$1", 1, TEXTOID);
	static SfPlan numbered = SF_PLAN(
		SELECT_MACHINE "AND v.version" EQ "$2 WHERE m.name" EQ "$1",
		2, TEXTOID, INT4OID);
	Datum		args[2] = {CStringGetTextDatum(name), Int32GetDatum(version)};
	SfMachine  *machine = NULL;

	sf_store_query(version == 0 ? &current : &numbered, args, NULL, 1,
				   read_machine, &machine);
	return machine;
}

/* Find a version by its key. */
SfMachine *
sf_machine_read_version(int machine_no, int version)
{
	static SfPlan plan = SF_PLAN(
		SELECT_MACHINE "WHERE m.machine_no" EQ "$1 AND v.version" EQ "$2",
		2, INT4OID, INT4OID);
	Datum		args[2] = {Int32GetDatum(machine_no), Int32GetDatum(version)};
	SfMachine  *machine = NULL;

	sf_store_query(&plan, args, NULL, 1, read_machine, &machine);
	return machine;
}

/* Read the number of a new machine. */
static void
read_int(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(int *) arg = sf_row_int(tuple, desc, 1);
}

/* Insert the row of a version. */
static void
insert_version(const SfMachine *machine)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.state_machine_version (machine_no, version,"
		" definition, execution_id_path, options, created_at)"
		" VALUES ($1, $2, $3::pg_catalog.json, $4, $5, pg_catalog.clock_timestamp())",
		5, INT4OID, INT4OID, TEXTOID, TEXTOID, JSONBOID);
	Datum		args[5] = {
		Int32GetDatum(machine->machine_no), Int32GetDatum(machine->version),
		CStringGetTextDatum(machine->definition),
		machine->execution_id_path == NULL ? (Datum) 0 :
		CStringGetTextDatum(machine->execution_id_path),
		JsonbPGetDatum(machine->options)
	};
	char		nulls[6] = "     ";

	if (machine->execution_id_path == NULL)
		nulls[3] = 'n';
	sf_store_query(&plan, args, nulls, 0, NULL, NULL);
}

/* Insert a machine with its first version. */
bool
sf_machine_insert(SfMachine *machine)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.state_machine (name, owner, current_version, created_at)"
		" VALUES ($1, $2::pg_catalog.regrole, 1, pg_catalog.clock_timestamp())"
		" ON CONFLICT (name) DO NOTHING RETURNING machine_no",
		2, TEXTOID, OIDOID);
	Datum		args[2] = {CStringGetTextDatum(machine->name),
	ObjectIdGetDatum(machine->owner)};

	machine->machine_no = 0;
	sf_store_query(&plan, args, NULL, 0, read_int, &machine->machine_no);
	if (machine->machine_no == 0)
		return false;
	machine->version = machine->current_version = 1;
	insert_version(machine);
	return true;
}

/* Keep a machine from being dropped, or executions from being started. */
void
sf_machine_lock_starts(int machine_no, bool exclusive)
{
	Oid			table = get_relname_relid("state_machine",
										  get_namespace_oid("_sfflow", false));

	LockDatabaseObject(table, (Oid) machine_no, 0,
					   exclusive ? AccessExclusiveLock : AccessShareLock);
}

/* Lock a machine's row. */
void
sf_machine_lock(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT 1 FROM _sfflow.state_machine m WHERE m.machine_no" EQ "$1"
		" FOR UPDATE", 1, INT4OID);
	Datum		args[1] = {Int32GetDatum(machine_no)};

	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
}

/* Add a version and make it current. */
void
sf_machine_add_version(SfMachine *machine)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.state_machine m SET current_version = $2"
		" WHERE m.machine_no" EQ "$1", 2, INT4OID, INT4OID);
	Datum		args[2] = {Int32GetDatum(machine->machine_no),
	Int32GetDatum(machine->version)};

	insert_version(machine);
	sf_store_query(&plan, args, NULL, 0, NULL, NULL);
	machine->current_version = machine->version;
}

/* Delete a machine with everything of it. */
void
sf_machine_delete(int machine_no)
{
#define OF_MACHINE \
	" USING _sfflow.execution e WHERE t.execution_no" EQ "e.execution_no" \
	" AND e.machine_no" EQ "$1"
	static SfPlan plans[] = {
		/* executions before branches, as everybody locks them */
		SF_PLAN("SELECT 1 FROM _sfflow.execution e WHERE e.machine_no" EQ "$1"
				" ORDER BY e.execution_no FOR UPDATE", 1, INT4OID),
		/* what a worker has in its hands it deletes itself, finding no execution */
		SF_PLAN("WITH free AS (SELECT b.execution_no, b.branch_no"
				" FROM _sfflow.branch b JOIN _sfflow.execution e"
				" ON e.execution_no" EQ "b.execution_no WHERE e.machine_no" EQ "$1"
				" FOR UPDATE OF b SKIP LOCKED)"
				" DELETE FROM _sfflow.branch t USING free"
				" WHERE t.execution_no" EQ "free.execution_no"
				" AND t.branch_no" EQ "free.branch_no", 1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.event t" OF_MACHINE, 1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.task t" OF_MACHINE, 1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.start_request t" OF_MACHINE, 1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.map_item t" OF_MACHINE, 1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.map_run t" OF_MACHINE, 1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.execution e WHERE e.machine_no" EQ "$1",
				1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.privilege p USING _sfflow.state_machine m"
				" WHERE m.machine_no" EQ "$1 AND p.object_kind" EQ "'m'"
				" AND p.object_name" EQ "m.name", 1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.state_machine_version v WHERE v.machine_no" EQ "$1",
				1, INT4OID),
		SF_PLAN("DELETE FROM _sfflow.state_machine m WHERE m.machine_no" EQ "$1",
				1, INT4OID),
	};
	Datum		args[1] = {Int32GetDatum(machine_no)};

	for (size_t i = 0; i < lengthof(plans); i++)
		sf_store_query(&plans[i], args, NULL, 0, NULL, NULL);
}

/* Read a number into a list. */
static void
read_number(HeapTuple tuple, TupleDesc desc, void *arg)
{
	int64	   *number = palloc(sizeof(int64));

	*number = sf_row_int64(tuple, desc, 1);
	*(List **) arg = lappend(*(List **) arg, number);
}

/* Ask whoever runs something for executions of a machine to stop. */
void
sf_machine_cancel_executions(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.execution_no FROM _sfflow.execution e"
		" WHERE e.machine_no" EQ "$1 AND e.status" EQ "0", 1, INT4OID);
	Datum		args[1] = {Int32GetDatum(machine_no)};
	List	   *numbers = NIL;
	ListCell   *lc;

	if (sf_cancel_hook == NULL)
		return;
	sf_store_query(&plan, args, NULL, 0, read_number, &numbers);
	foreach(lc, numbers)
	{
		SfBranchKey all = {*(int64 *) lfirst(lc), -1};

		sf_cancel_hook(all);
	}
}

/* Read two counts. */
static void
read_counts(HeapTuple tuple, TupleDesc desc, void *arg)
{
	int64	   *counts = arg;

	counts[0] = sf_row_int64(tuple, desc, 1);
	counts[1] = sf_row_int64(tuple, desc, 2);
}

/* Count the executions of a machine. */
void
sf_machine_count_executions(int machine_no, int64 *running, int64 *ended)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FILTER (WHERE e.status" EQ "0),"
		" pg_catalog.count(*) FILTER (WHERE e.status OPERATOR(pg_catalog.<>) 0)"
		" FROM _sfflow.execution e WHERE e.machine_no" EQ "$1", 1, INT4OID);
	Datum		args[1] = {Int32GetDatum(machine_no)};
	int64		counts[2] = {0, 0};

	sf_store_query(&plan, args, NULL, 0, read_counts, counts);
	*running = counts[0];
	*ended = counts[1];
}
