/*
 * machine.c
 *		Rows of _sfflow.state_machine and _sfflow.state_machine_version.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "base/hooks.h"
#include "nodes/pg_list.h"
#include "store/machine.h"
#include "store/direct.h"

#define EQ " OPERATOR(pg_catalog.=) "

static const SfKey machine_by_no = {"state_machine", "state_machine_pkey", 1, {INT4OID}};
static const SfKey machine_by_name = {"state_machine", "state_machine_name_key", 1, {TEXTOID}};
static const SfKey version_by_no = {"state_machine_version", "state_machine_version_pkey",
2, {INT4OID, INT4OID}};

/* Columns of the tables */
enum
{
	COL_MACHINE_NO = 1, COL_NAME, COL_OWNER, COL_CURRENT_VERSION
};
enum
{
	COL_DEFINITION = 3, COL_EXECUTION_ID_PATH, COL_OPTIONS
};

/* Tell whether a machine is there. */
bool
sf_machine_exists(int machine_no)
{
	Datum		value = Int32GetDatum(machine_no);

	return sf_row_is_there(&machine_by_no, &value);
}

/*
 * Identities that this backend has met.  A machine's number is never given
 * again; the key holds the relation, so that a dropped and re-created extension
 * finds nothing of the one before.  sf_alter_owner tells all backends that the
 * table has changed.
 */
#define MAX_IDENTITIES	1000

typedef struct IdentityKey
{
	Oid			relation;
	int			machine_no;
} IdentityKey;

typedef struct Identity
{
	IdentityKey key;			/* hash key: must be first */
	SfMachineIdentity identity;
} Identity;

static HTAB *identities = NULL;
static Oid	identities_relation = InvalidOid;	/* whose change empties the table */
static bool identities_valid = false;
static MemoryContext identity_context = NULL;

/* Relcache callback: the owner of a machine may have changed. */
static void
invalidate_identities(Datum arg, Oid relid)
{
	if (!OidIsValid(relid) || relid == identities_relation)
		identities_valid = false;
}

/* Make the table of identities, or make it anew when it is full. */
static void
make_room(Oid relation)
{
	HASHCTL		ctl = {.keysize = sizeof(IdentityKey),.entrysize = sizeof(Identity)};

	if (identities_valid && hash_get_num_entries(identities) < MAX_IDENTITIES)
		return;
	if (identity_context == NULL)
	{
		identity_context = AllocSetContextCreate(CacheMemoryContext, "sfflow machine identities",
												 ALLOCSET_DEFAULT_SIZES);
		CacheRegisterRelcacheCallback(invalidate_identities, (Datum) 0);
	}
	identities = NULL;
	MemoryContextReset(identity_context);
	ctl.hcxt = identity_context;
	identities = hash_create("sfflow machine identities", 64, &ctl,
							 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	identities_relation = relation;
	identities_valid = true;
}

/* Read an identity. */
static void
read_identity(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfMachineIdentity *identity = arg;
	bool		isnull;

	identity->name = sf_row_text(tuple, desc, COL_NAME);
	identity->owner = DatumGetObjectId(heap_getattr(tuple, COL_OWNER, desc, &isnull));
}

/* What seldom changes about a machine. */
const SfMachineIdentity *
sf_machine_identity(int machine_no)
{
	IdentityKey key = {get_relname_relid("state_machine",
										 get_namespace_oid("_sfflow", false)), machine_no};
	Datum		value = Int32GetDatum(machine_no);
	SfMachineIdentity read;
	Identity   *entry = NULL;

	if (identities_valid)
		entry = hash_search(identities, &key, HASH_FIND, NULL);
	if (entry != NULL)
		return &entry->identity;
	make_room(key.relation);	/* before reading: a change meanwhile counts */
	if (!sf_row_fetch(&machine_by_no, &value, SF_LOCK_NONE, NULL, read_identity, &read))
		return NULL;
	read.name = MemoryContextStrdup(identity_context, read.name);
	entry = hash_search(identities, &key, HASH_ENTER, NULL);
	entry->identity = read;
	/* a snapshot of long ago is good for its own transaction only */
	if (IsolationUsesXactSnapshot())
		identities_valid = false;
	return &entry->identity;
}

/* Read a machine, without what its versions have. */
static void
read_machine(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfMachine  *m = arg;
	bool		isnull;

	m->machine_no = sf_row_int(tuple, desc, COL_MACHINE_NO);
	m->name = sf_row_text(tuple, desc, COL_NAME);
	m->owner = DatumGetObjectId(heap_getattr(tuple, COL_OWNER, desc, &isnull));
	m->current_version = sf_row_int(tuple, desc, COL_CURRENT_VERSION);
}

/* Read what a version has, but for the definition. */
static void
read_version(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfMachine  *m = arg;

	m->execution_id_path = sf_row_text(tuple, desc, COL_EXECUTION_ID_PATH);
	m->options = sf_row_jsonb(tuple, desc, COL_OPTIONS);
}

/* Read all that a version has. */
static void
read_version_full(HeapTuple tuple, TupleDesc desc, void *arg)
{
	((SfMachine *) arg)->definition = sf_row_text(tuple, desc, COL_DEFINITION);
	read_version(tuple, desc, arg);
}

/* Read a machine with one of its versions (0: the current one). */
static SfMachine *
read_by(const SfKey *key, Datum value, int version, bool full)
{
	SfMachine  *m = palloc0(sizeof(SfMachine));
	Datum		values[2];

	if (!sf_row_fetch(key, &value, SF_LOCK_NONE, NULL, read_machine, m))
		return NULL;
	m->version = version == 0 ? m->current_version : version;
	values[0] = Int32GetDatum(m->machine_no);
	values[1] = Int32GetDatum(m->version);
	return sf_row_fetch(&version_by_no, values, SF_LOCK_NONE, NULL,
						full ? read_version_full : read_version, m) ? m : NULL;
}

/* Find a machine by name. */
SfMachine *
sf_machine_read(const char *name, int version, bool full)
{
	return read_by(&machine_by_name, CStringGetTextDatum(name), version, full);
}

/* Find a version by its key. */
SfMachine *
sf_machine_read_version(int machine_no, int version)
{
	return read_by(&machine_by_no, Int32GetDatum(machine_no), version, true);
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
	sf_store_query(&plan, args, NULL, 0, sf_row_read_int, &machine->machine_no);
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

	sf_store_query(&plan, args, NULL, 0, sf_row_read_int64_list, &numbers);
	foreach(lc, numbers)
	{
		SfBranchKey all = {*(int64 *) lfirst(lc), -1};

		sf_hooks.cancel(all);
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
