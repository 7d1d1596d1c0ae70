/*
 * role_settings.c
 *		What ALTER ROLE and ALTER DATABASE … SET say for a role.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_db_role_setting.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "base/role/role.h"

/* Hand out settings that stand as "name=value". */
static void
read_array(Datum config, SfRoleSettingReader reader, void *arg)
{
	Datum	   *elements;
	int			n;

	deconstruct_array(DatumGetArrayTypeP(config), TEXTOID, -1, false,
					  TYPALIGN_INT, &elements, NULL, &n);
	for (int i = 0; i < n; i++)
	{
		char	   *setting = TextDatumGetCString(elements[i]);
		char	   *equals = strchr(setting, '=');

		if (equals == NULL)
			continue;
		*equals = '\0';
		reader(setting, equals + 1, arg);
	}
}

/* Read the settings of one row of pg_db_role_setting. */
static void
read_row(Relation rel, Oid database, Oid role, SfRoleSettingReader reader,
		 void *arg)
{
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_db_role_setting_setdatabase,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(database));
	ScanKeyInit(&keys[1], Anum_pg_db_role_setting_setrole,
				BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(role));
	scan = systable_beginscan(rel, DbRoleSettingDatidRolidIndexId, true,
							  NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		config = heap_getattr(tuple,
										  Anum_pg_db_role_setting_setconfig,
										  RelationGetDescr(rel), &isnull);

		if (!isnull)
			read_array(config, reader, arg);
	}
	systable_endscan(scan);
}

/*
 * Read the settings that a role has in this database, least specific first: a
 * later one of the same name counts.  pg_db_role_setting has no invalidation;
 * this reads the table.
 */
void
sf_role_settings_read(Oid role, SfRoleSettingReader reader, void *arg)
{
	Relation	rel = table_open(DbRoleSettingRelationId, AccessShareLock);

	read_row(rel, InvalidOid, InvalidOid, reader, arg);
	read_row(rel, MyDatabaseId, InvalidOid, reader, arg);
	read_row(rel, InvalidOid, role, reader, arg);
	read_row(rel, MyDatabaseId, role, reader, arg);
	table_close(rel, AccessShareLock);
}
