/*
 * verdict.c
 *		Whether a database is to be worked on.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "store/instance.h"
#include "store/sequence.h"
#include "worker/shared.h"
#include "worker/verdict.h"

/* The extension's OID, kept since looking it up by name costs as much as reading its row */
static Oid	known_oid = InvalidOid;

/*
 * Lock the extension with an OID against DROP until the end of the transaction; false
 * when it is not there.  *version_fits: it is of the version of this library.
 */
static bool
lock_extension_by_oid(Oid oid, bool *version_fits)
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
	if (found)
	{
		bool		isnull;
		Datum		version = heap_getattr(tuple, Anum_pg_extension_extversion,
										   RelationGetDescr(rel), &isnull);

		*version_fits = !isnull &&
			strcmp(TextDatumGetCString(version), SFFLOW_VERSION) == 0;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/* Lock the extension, likewise; it may have been created anew since the last time. */
static bool
lock_extension(bool *version_fits)
{
	if (lock_extension_by_oid(known_oid, version_fits))
		return true;
	known_oid = get_extension_oid("sfflow", true);
	return lock_extension_by_oid(known_oid, version_fits);
}

/*
 * Decide whether to work here.  It holds until the end of the transaction, for
 * which the extension is locked against DROP.
 */
SfTurnVerdict
sf_verdict(void)
{
	bool		version_fits = false;

	if (!lock_extension(&version_fits))
		return SF_TURN_NO_EXTENSION;
	if (!version_fits)
	{
		ereport(LOG,
				(errmsg("sfflow does not drive database %u: the extension there is not of version %s",
						MyDatabaseId, SFFLOW_VERSION),
				 errhint("Run ALTER EXTENSION sfflow UPDATE there.")));
		return SF_TURN_NOT_DRIVEN;
	}
	if (!sf_instance_is_driven())
		return SF_TURN_NOT_DRIVEN;
	return SF_TURN_MAY_WORK;
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
		sf_instance_apply_role();
	CommandCounterIncrement();
	if (sf_instance_is_driven() && (behind = sf_sequence_behind(true)) != NULL)
		sf_instance_stop(behind);
	CommandCounterIncrement();
}

/*
 * Do what has to be done once before a database is worked on: take it over or
 * mark it as a copy (store/instance.h).  False: that is not for this version of
 * the library.
 */
bool
sf_verdict_prepare(void)
{
	bool		version_fits = false;

	if (!lock_extension(&version_fits))
		return true;
	if (version_fits)
		prepare_database();
	return version_fits;
}
