/*
 * machine.c
 *		Rows of _sfflow.state_machine and _sfflow.state_machine_version.
 */
#include "postgres.h"

#include "access/xact.h"
#include "nodes/pg_list.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "db/lock_tag.h"
#include "db/object_lock.h"
#include "db/table_cache.h"
#include "store/branch/branch.h"
#include "store/feature.h"
#include "store/purge/dropped.h"
#include "store/role/privilege.h"
#include "store/state_machine/machine.h"

#define ROW SfMachine
SF_ROW_TYPE(machine_row, SF_STATE_MACHINE_COLUMNS, state_machine, 1);

/* of a version */
SF_COLUMN_NUMBERS(SF_STATE_MACHINE_VERSION_COLUMNS);

static const SfIndex machine_by_name = {"state_machine", "state_machine_name_key"};
static const SfIndex version_by_no = {"state_machine_version", "state_machine_version_pkey"};

/*
 * What this backend keeps of machines: by number their names and owners, which only
 * sf_alter_owner changes, and by name those in their current versions, for starts.
 */
#define MAX_MACHINES	1000
#define MAX_NAME_SIZE	128		/* machines with longer names are read at each start */

typedef struct Identity
{
	int			machine_no;		/* hash key: must be first; never given again */
	SfMachineIdentity identity;
} Identity;

typedef struct Current
{
	char		name[MAX_NAME_SIZE];	/* hash key: must be first */
	SfMachine	machine;
} Current;

/* Executions that are deleted at a time when a machine is dropped, and how often */
#define DROP_BATCH			1000
#define MAX_DROP_BATCHES	10

static void make_tables(SfTableCache *unused);

static SfTableCache cache = {
	.table = "state_machine",.load = make_tables,.is_latest = true
};
static HTAB *identities = NULL;
static HTAB *currents = NULL;

/* Make a hash table without entries. */
static HTAB *
make_table(const char *name, Size keysize, Size entrysize, int flags)
{
	HASHCTL		ctl = {.keysize = keysize,.entrysize = entrysize,.hcxt = cache.context};

	return hash_create(name, 64, &ctl, HASH_ELEM | HASH_CONTEXT | flags);
}

/* Make the tables, without entries. */
static void
make_tables(SfTableCache *unused)
{
	identities = currents = NULL;
	identities = make_table("sfflow machine identities", sizeof(int), sizeof(Identity), HASH_BLOBS);
	currents = make_table("sfflow current versions", MAX_NAME_SIZE, sizeof(Current), HASH_STRINGS);
}

/* Make the tables anew if machines may have changed, or if they are full. */
static void
refresh(void)
{
	/* tables that are not current may be gone */
	if (cache.is_current &&
		(hash_get_num_entries(identities) >= MAX_MACHINES || hash_get_num_entries(currents) >= MAX_MACHINES))
		cache.is_current = false;
	sf_table_cache_refresh(&cache);
}

/* Keep the name and the owner of a machine. */
static const SfMachineIdentity *
cache_identity(const SfMachine *machine)
{
	const char *name = MemoryContextStrdup(cache.context, machine->name);
	Identity   *entry = hash_search(identities, &machine->machine_no, HASH_ENTER, NULL);

	entry->identity = (SfMachineIdentity) {name, machine->owner};
	return &entry->identity;
}

/* Find what is kept of the name and the owner of a machine. */
static const SfMachineIdentity *
kept_identity(int machine_no)
{
	const Identity *entry = NULL;

	if (cache.is_current)
		entry = hash_search(identities, &machine_no, HASH_FIND, NULL);
	return entry != NULL ? &entry->identity : NULL;
}

/* Tell whether a machine exists, by number, whatever the transaction's snapshot. */
bool
sf_machine_exists(int machine_no)
{
	AcceptInvalidationMessages();
	return kept_identity(machine_no) != NULL ||
		sf_row_is_there(&machine_row.key, NULL, SF_INT4(machine_no));
}

/* Read a machine, without what its versions have. */
static void
read_machine(HeapTuple tuple, TupleDesc desc, void *arg)
{
	sf_row_read(&machine_row, tuple, desc, machine_row.ncolumns, arg);
}

/* Find the name and the owner of a machine. */
const SfMachineIdentity *
sf_machine_identity(int machine_no)
{
	const SfMachineIdentity *identity = kept_identity(machine_no);
	SfMachine	machine = {0};

	if (identity != NULL)
		return identity;
	refresh();
	if (!sf_row_fetch(&machine_row.key, SF_LOCK_NONE, NULL, read_machine, &machine,
					  SF_INT4(machine_no)))
		return NULL;
	identity = cache_identity(&machine);
	/* a snapshot of long ago is good for its own transaction only */
	if (IsolationUsesXactSnapshot())
		cache.is_current = false;
	return identity;
}

/* Read what a version has, but for the definition. */
static void
read_version(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfMachine  *machine = arg;

	machine->execution_id_path = sf_row_text(tuple, desc, COL_execution_id_path);
	machine->options = sf_row_jsonb(tuple, desc, COL_options);
}

/* Read all that a version has. */
static void
read_version_full(HeapTuple tuple, TupleDesc desc, void *arg)
{
	((SfMachine *) arg)->definition = sf_row_text(tuple, desc, COL_definition);
	read_version(tuple, desc, arg);
}

/* Read a machine with one of its versions (SF_NO_VERSION: the current one). */
static SfMachine *
read_by(const SfIndex *index, SfArg key, int version, bool full)
{
	SfMachine  *machine = palloc0(sizeof(SfMachine));

	if (!sf_row_fetch(index, SF_LOCK_NONE, NULL, read_machine, machine, key))
		return NULL;
	machine->version = version == SF_NO_VERSION ? machine->current_version : version;
	return sf_row_fetch(&version_by_no, SF_LOCK_NONE, NULL,
						full ? read_version_full : read_version, machine,
						SF_INT4(machine->machine_no), SF_INT4(machine->version)) ? machine : NULL;
}

/* Find a machine by name. */
SfMachine *
sf_machine_read(const char *name, int version, bool full)
{
	return read_by(&machine_by_name, SF_TEXT(name), version, full);
}

/* Find the owner of a machine by its name; InvalidOid: there is none. */
Oid
sf_machine_owner(const char *name)
{
	SfMachine	machine = {.owner = InvalidOid};

	(void) sf_row_fetch(&machine_by_name, SF_LOCK_NONE, NULL, read_machine, &machine, SF_TEXT(name));
	return machine.owner;
}

/* Copy a machine, without a definition, into the current memory context. */
static void
copy_machine(SfMachine *to, const SfMachine *from)
{
	*to = *from;
	to->name = pstrdup(from->name);
	to->execution_id_path = from->execution_id_path ? pstrdup(from->execution_id_path) : NULL;
	to->options = DatumGetJsonbP(datumCopy(JsonbPGetDatum(from->options), false, -1));
}

/* Keep a machine by name and by number. */
static void
cache_current(const SfMachine *machine)
{
	MemoryContext old = MemoryContextSwitchTo(cache.context);
	SfMachine	copied;
	Current    *entry;

	copy_machine(&copied, machine);
	MemoryContextSwitchTo(old);
	entry = hash_search(currents, machine->name, HASH_ENTER, NULL);
	entry->machine = copied;
	(void) cache_identity(machine);
}

/* Find a machine by name, in its current version and without the definition; see machine.h. */
SfMachine *
sf_machine_current(const char *name)
{
	SfMachine  *machine;
	const Current *entry;

	/* this transaction may have begun, and opened all tables, before another one has committed a version */
	AcceptInvalidationMessages();
	if (strlen(name) >= MAX_NAME_SIZE || IsolationUsesXactSnapshot())
		return sf_machine_read(name, SF_NO_VERSION, false);
	refresh();
	entry = hash_search(currents, name, HASH_FIND, NULL);
	if (entry != NULL)
	{
		machine = palloc(sizeof(SfMachine));
		copy_machine(machine, &entry->machine);
		return machine;
	}
	machine = sf_machine_read(name, SF_NO_VERSION, false);
	/* a change that came while it was read makes the tables anew */
	if (machine != NULL && cache.is_current)
		cache_current(machine);
	return machine;
}

/* Find a version by its key. */
SfMachine *
sf_machine_read_version(int machine_no, int version)
{
	return read_by(&machine_row.key, SF_INT4(machine_no), version, true);
}

/* Insert the row of a version. */
static void
insert_version(const SfMachine *machine)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.state_machine_version (machine_no, version,"
		" definition, execution_id_path, options, created_at)"
		" VALUES ($1, $2, $3::pg_catalog.json, $4, $5, pg_catalog.clock_timestamp())");

	sf_db_execute(&plan, SF_INT4(machine->machine_no), SF_INT4(machine->version),
				  SF_TEXT(machine->definition), SF_TEXT(machine->execution_id_path),
				  SF_JSONB(machine->options));
}

/*
 * Insert a machine with its first version; false when the name is taken (the
 * session that took it has committed).
 */
bool
sf_machine_insert(SfMachine *machine)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.state_machine (name, owner, current_version, created_at)"
		" VALUES ($1, $2, $3, pg_catalog.clock_timestamp())"
		" ON CONFLICT (name) DO NOTHING RETURNING machine_no");

	int			version = Max(machine->version, 1);

	/* also for this session, if it rolls back */
	sf_db_invalidate("state_machine");
	machine->machine_no = sf_db_number(&plan, SF_NO_MACHINE, SF_TEXT(machine->name),
									   SF_ROLE(machine->owner), SF_INT4(version));
	if (machine->machine_no == SF_NO_MACHINE)
		return false;
	machine->version = machine->current_version = version;
	insert_version(machine);
	return true;
}

/* Keep a machine from being dropped, or executions from being started. */
void
sf_machine_lock_starts(int machine_no, bool exclusive)
{
	SfObjectLock lock;

	SET_LOCKTAG_OBJECT(lock.one, MyDatabaseId, sf_db_relation("state_machine"), (Oid) machine_no, 0);
	lock.all = sf_lock_tag_of_kind(SF_OBJECT_STATE_MACHINE);
	(void) (exclusive ? sf_lock_to_drop(&lock, AccessExclusiveLock, true) :
			sf_lock_to_keep(&lock, AccessShareLock, true));
	AcceptInvalidationMessages();
}

/* The tag of the lock that sf_machine_lock_starts() takes */
static LOCKTAG
starts_tag(int machine_no)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, sf_db_relation("state_machine"), machine_no, 0);
	return tag;
}

/*
 * Keep others from purging a machine's executions, and it from being dropped, until the end of the transaction or
 * sf_machine_unlock_purge(); false: another transaction does, or drops it.  Starts go on.
 */
bool
sf_machine_try_lock_purge(int machine_no)
{
	LOCKTAG		tag = starts_tag(machine_no);

	return LockAcquire(&tag, ShareUpdateExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Give that lock back before the end of the transaction. */
void
sf_machine_unlock_purge(int machine_no)
{
	LOCKTAG		tag = starts_tag(machine_no);

	(void) LockRelease(&tag, ShareUpdateExclusiveLock, false);
}

/* Lock a machine's row against other definitions of it. */
void
sf_machine_lock(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT 1 FROM _sfflow.state_machine m WHERE m.machine_no = $1 FOR UPDATE");

	sf_db_execute(&plan, SF_INT4(machine_no));
}

/*
 * Lock the row of a machine that was read against other definitions of it, and read its current version as it is then
 * (full: with what the version has); NULL: the machine was dropped before the lock.
 */
SfMachine *
sf_machine_lock_current(const SfMachine *machine, bool full)
{
	SfMachine  *current;

	sf_machine_lock(machine->machine_no);
	current = sf_machine_read(machine->name, SF_NO_VERSION, full);
	return current == NULL || current->machine_no != machine->machine_no ? NULL : current;
}

/* The lock of a machine's branches that begin to wait. */
static void
waits_tag(LOCKTAG *tag, int machine_no)
{
	*tag = sf_lock_tag("state_machine", (uint32) machine_no);
}

/*
 * Wait until no transaction is open that has had branches of a machine wait, and keep others from that until the
 * end of this one.
 */
void
sf_machine_lock_waits(int machine_no)
{
	LOCKTAG		tag;

	waits_tag(&tag, machine_no);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

/*
 * Before a branch begins to wait: keep its machine from getting another owner until the end of the
 * transaction.  False: a session is giving it another one, or it has another one than was read.
 */
bool
sf_machine_share_waits(int machine_no, Oid owner)
{
	LOCKTAG		tag;
	SfMachine	now = {0};
	const SfArg key[] = {SF_INT4(machine_no)};

	waits_tag(&tag, machine_no);
	return LockAcquire(&tag, ShareLock, false, true) != LOCKACQUIRE_NOT_AVAIL &&
		sf_rows_read_now_by(&machine_row.key, 1, read_machine, &now, key, 1) > 0 && now.owner == owner;
}

/* Add a version and make it current. */
void
sf_machine_add_version(SfMachine *machine)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.state_machine m SET current_version = $2"
		" WHERE m.machine_no = $1");

	sf_db_invalidate("state_machine");
	insert_version(machine);
	if (machine->version < machine->current_version)
		return;
	sf_db_execute(&plan, SF_INT4(machine->machine_no), SF_INT4(machine->version));
	machine->current_version = machine->version;
}

/* Delete the running executions of a machine.  At commit, workers that run tasks of them are asked to stop. */
static void
delete_running(int machine_no, MemoryContext context)
{
	int64		after = 0;		/* numbers are from 1 */
	List	   *numbers;

	while ((numbers = sf_dropped_find_running(machine_no, after, DROP_BATCH)) != NIL)
	{
		CHECK_FOR_INTERRUPTS();
		after = *(int64 *) llast(numbers);
		foreach_ptr(const int64, number, numbers)
			sf_hooks.cancel(sf_branch_key_of_execution(*number));
		(void) sf_purge_delete_dropped(numbers);
		MemoryContextReset(context);
	}
}

/*
 * Delete the other executions of a machine, if there are not too many; else leave them, with a
 * note, to the purge.
 */
static void
delete_ended(int machine_no, MemoryContext context)
{
	SfPurgeBatch batch = {.until = DT_NOBEGIN};

	for (int n = 0; n < MAX_DROP_BATCHES; n++)
	{
		CHECK_FOR_INTERRUPTS();
		sf_dropped_find(machine_no, batch.until, DROP_BATCH, &batch);
		if (list_length(batch.numbers) < batch.looked_at)
			break;
		(void) sf_purge_delete_dropped(batch.numbers);
		MemoryContextReset(context);
		if (batch.looked_at < DROP_BATCH)
			return;
	}
	sf_dropped_note(machine_no);
}

/* Delete the executions of a machine, or of many the running ones alone; see store/purge/dropped.c. */
static void
delete_executions(int machine_no)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow drop", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	delete_running(machine_no, context);
	delete_ended(machine_no, context);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* Delete what tables of the core and of features have of a machine (of_machine), and have backends look again. */
static void
delete_from_tables(int machine_no)
{
	static SfPlan *plans = NULL;
	int			n = 0;

	SF_TABLES(table)
		n++;
	if (plans == NULL)
		plans = MemoryContextAllocZero(TopMemoryContext, n * sizeof(SfPlan));
	n = 0;
	SF_TABLES(table)
	{
		SfPlan	   *plan = &plans[n++];

		if (!table->of_machine)
			continue;
		if (plan->query == NULL)
			plan->query = MemoryContextStrdup(TopMemoryContext, psprintf(
				"DELETE FROM _sfflow.%s t WHERE t.machine_no = $1", table->name));
		sf_db_execute(plan, SF_INT4(machine_no));
		if (table->cached)
			sf_db_invalidate(table->name);
	}
}

/*
 * Delete a machine, its versions, and its executions with all they have; many that have ended are left to the purge.
 * The caller has forgotten the privileges on it.
 *
 * Features lose their rows in three ways.  What a table with of_execution (SfFeatureTable) has of the executions is
 * deleted with these, in the statement of sf_purge_delete_dropped(), which then tells on_executions_dropped; a feature
 * that has other rows of executions deletes them then.  At on_machine_dropped a feature deletes what it has of the
 * machine in tables that it does not list so.  Tables with of_machine come last.
 */
void
sf_machine_delete(int machine_no)
{
	static SfPlan machine = SF_PLAN(
		"DELETE FROM _sfflow.state_machine m WHERE m.machine_no = $1");

	delete_executions(machine_no);
	SF_TELL(on_machine_dropped, machine_no);
	delete_from_tables(machine_no);
	sf_db_invalidate("state_machine");
	sf_db_execute(&machine, SF_INT4(machine_no));
}

/* Count the executions of a machine that run. */
int64
sf_machine_count_running(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM _sfflow.branch b"
		" JOIN _sfflow.execution e ON e.execution_no = b.execution_no"
		" WHERE b.branch_no = " SF_BRANCH_ROOT_TEXT " AND e.machine_no = $1 AND e.status = $2");

	return sf_db_number(&plan, 0, SF_INT4(machine_no), SF_INT2(SF_STATUS_RUNNING));
}

/* Count the executions of a machine that have ended. */
int64
sf_machine_count_ended(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM _sfflow.execution e"
		" WHERE e.machine_no = $1 AND e.status <> $2");

	return sf_db_number(&plan, 0, SF_INT4(machine_no), SF_INT2(SF_STATUS_RUNNING));
}
