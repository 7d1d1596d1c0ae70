/*
 * databases.c
 *		The databases of the server, as pg_database lists them; in the launcher.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/settings.h"
#include "quota/quota.h"
#include "store/feature.h"
#include "worker/fault/fault.h"
#include "worker/launcher/launcher.h"

/* Tell whether sfflow.databases lets a database be driven. */
static bool
name_is_allowed(const char *name)
{
	char	   *list = pstrdup(sf_setting_databases ? sf_setting_databases : "");
	List	   *names = NIL;
	ListCell   *cell;

	if (!SplitIdentifierString(list, ',', &names) || names == NIL)
		return true;
	foreach(cell, names)
	{
		if (strcmp(lfirst(cell), name) == 0)
			return true;
	}
	return false;
}

/* Tell whether a worker may connect to the database of a pg_database row. */
static bool
row_is_connectable(HeapTuple tuple)
{
	Form_pg_database row = (Form_pg_database) GETSTRUCT(tuple);

	/* -2: left half dropped */
	return row->datallowconn && row->datconnlimit != -2;
}

/* Tell whether the database of a pg_database row may be driven. */
static bool
row_is_drivable(HeapTuple tuple)
{
	Form_pg_database row = (Form_pg_database) GETSTRUCT(tuple);

	return row_is_connectable(tuple) && name_is_allowed(NameStr(row->datname));
}

/*
 * Tell whether the database of a pg_database row is to be probed.  While the
 * data directory has not settled this includes one that is not to be driven: it
 * may be driven after another start.
 */
static bool
row_is_to_probe(HeapTuple tuple, bool *complete)
{
	Form_pg_database row = (Form_pg_database) GETSTRUCT(tuple);

	if (!row_is_connectable(tuple))
	{
		/* template0 is never driven, being never connected to */
		if (row->datconnlimit != -2 && strcmp(NameStr(row->datname), "template0") != 0)
			*complete = false;
		return false;
	}
	return !sf_shared->settled || row_is_drivable(tuple);
}

/*
 * List the databases that are to be probed, in a context.  *complete becomes
 * false when a database cannot be probed that may be driven later.
 */
List *
sf_databases_to_probe(MemoryContext context, bool *complete)
{
	List	   *oids = NIL;
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;

	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while (HeapTupleIsValid(tuple = heap_getnext(scan, ForwardScanDirection)))
	{
		MemoryContext old;

		if (!row_is_to_probe(tuple, complete))
			continue;
		old = MemoryContextSwitchTo(context);
		oids = lappend_oid(oids, ((Form_pg_database) GETSTRUCT(tuple))->oid);
		MemoryContextSwitchTo(old);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	PopActiveSnapshot();
	CommitTransactionCommand();
	return oids;
}

/* Tell whether a database is (still) there and passes a test. */
static bool
database_passes(Oid oid, bool (*test) (HeapTuple tuple))
{
	HeapTuple	tuple;
	bool		passes = false;

	StartTransactionCommand();
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(oid));
	if (HeapTupleIsValid(tuple))
	{
		passes = test == NULL || test(tuple);
		ReleaseSysCache(tuple);
	}
	CommitTransactionCommand();
	return passes;
}

/* Tell whether a database is (still) there and may be driven. */
bool
sf_databases_may_drive(Oid oid)
{
	return database_passes(oid, row_is_drivable);
}

/* Tell whether a database is (still) there and a worker may connect to it. */
bool
sf_databases_may_connect(Oid oid)
{
	return database_passes(oid, row_is_connectable);
}

/* Tell whether a database is (still) there. */
bool
sf_databases_exists(Oid oid)
{
	return database_passes(oid, NULL);
}

/* Forget what shared memory has of a database that is gone, or has the extension no more. */
void
sf_databases_clear(Oid oid)
{
	sf_poison_clear_database(oid);
	SF_TELL(on_database_gone, oid);
	sf_quota_forget(oid);
	sf_throttled_forget(oid);
}

/* Forget a database that is gone. */
void
sf_databases_forget(Oid oid)
{
	SfDatabase *database = sf_shared_lock_database(oid);

	if (database && database->leaving == 0)
		database->oid = InvalidOid;
	else if (database)
		database->status = SF_DATABASE_NOT_DRIVEN;
	LWLockRelease(sf_shared_lock);
	sf_databases_clear(oid);
}
