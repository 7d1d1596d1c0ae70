/*
 * verdict.c
 *		Whether a database is to be worked on.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_extension.h"
#include "commands/dbcommands.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/version/schema.h"
#include "copy/instance.h"
#include "copy/load_guard.h"
#include "worker/process/process.h"
#include "worker/shared_memory/shared.h"

/* The extension's OID, kept since looking it up by name costs as much as reading its row */
static Oid	known_oid = InvalidOid;

/*
 * Lock the extension with an OID against DROP until the end of the transaction; false
 * when it is not there.
 */
static bool
lock_extension_by_oid(Oid oid)
{
	Relation	rel;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found;

	if (!OidIsValid(oid))
		return false;
	LockDatabaseObject(ExtensionRelationId, oid, 0, AccessShareLock);

	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(oid));
	scan = systable_beginscan(rel, ExtensionOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple) &&
		strcmp(NameStr(((Form_pg_extension) GETSTRUCT(tuple))->extname), "sfflow") == 0;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/* Lock the extension, likewise; it may have been created anew since the last time. */
static bool
lock_extension(void)
{
	if (lock_extension_by_oid(known_oid))
		return true;
	known_oid = get_extension_oid("sfflow", true);
	return lock_extension_by_oid(known_oid);
}

/*
 * Decide whether to work here.  It holds until the end of the transaction, for
 * which the extension is locked against DROP.
 */
SfVerdict
sf_verdict(void)
{
	const char *advice;

	if (!lock_extension())
		return SF_VERDICT_NO_EXTENSION;
	if ((advice = sf_schema_advice()) != NULL)
	{
		ereport(LOG,
				(errmsg("sfflow does not drive database \"%s\": the library is of schema %d, and the database has schema %d",
						get_database_name(MyDatabaseId), sf_schema_of_library(), sf_schema_of_database()),
				 errhint("%s", advice)));
		return SF_VERDICT_NOT_DRIVEN;
	}
	if (!sf_instance_is_driven())
		return SF_VERDICT_NOT_DRIVEN;
	return SF_VERDICT_MAY_WORK;
}

/*
 * Take the database over or mark it as a copy, if that has to be done yet; stop
 * driving it where numbers would be drawn twice.
 */
static void
prepare_database(void)
{
	const char *behind;

	if (!sf_shared->settled)
		sf_instance_settle();
	CommandCounterIncrement();
	if (sf_instance_is_driven() && (behind = sf_sequences_behind(true)) != NULL)
		sf_instance_stop(behind);
	CommandCounterIncrement();
}

/*
 * Do what has to be done once before a database is worked on: take it over or
 * mark it as a copy (copy/instance.h).  False: the schema there is not the
 * library's, so that it was left alone.
 */
bool
sf_verdict_prepare(void)
{
	if (!lock_extension())
		return true;
	if (sf_schema_advice() != NULL)
		return false;
	prepare_database();
	return true;
}
