/*
 * schema.c
 *		Whether the schema in this database is the library's.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "base/error/errors.h"
#include "base/version/schema.h"

bool		sf_schema_is_known = false;

/* How often a function was created, changed or dropped, as far as this process has been told */
static uint64 changes = 0;

/* Forget, when a function was created, changed or dropped. */
static void
forget(Datum arg, int cache, uint32 hash)
{
	sf_schema_is_known = false;
	changes++;
}

/* Return the number of the schema that the library works with. */
int
sf_schema_of_library(void)
{
	return SF_SCHEMA_NUMBER;
}

/* Return the number in the name of a function of sfflow's private schema, schema_N; 0 for other functions. */
static int
number_of(HeapTuple function)
{
	const char *name = NameStr(((Form_pg_proc) GETSTRUCT(function))->proname);
	char	   *end;
	long		number;

	if (strncmp(name, "schema_", strlen("schema_")) != 0)
		return 0;
	number = strtol(name + strlen("schema_"), &end, 10);
	return *end == '\0' && number > 0 && number < PG_INT32_MAX ? (int) number : 0;
}

/* Tell whether a database has a schema of a number. */
static bool
is_of_number(Oid namespace, int number)
{
	return SearchSysCacheExists3(PROCNAMEARGSNSP, PointerGetDatum(psprintf("schema_%d", number)),
								 PointerGetDatum(buildoidvector(NULL, 0)), ObjectIdGetDatum(namespace));
}

/* Return the number of the schema in this database; 0: it has none. */
int
sf_schema_of_database(void)
{
	Oid			namespace = get_namespace_oid("_sfflow", true);
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	int			number = 0;

	if (!OidIsValid(namespace))
		return 0;
	if (is_of_number(namespace, SF_SCHEMA_NUMBER))
		return SF_SCHEMA_NUMBER;

	/* another one: there is no index by schema alone, and this comes before an error */
	rel = table_open(ProcedureRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_proc_pronamespace, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(namespace));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	while (number == 0 && HeapTupleIsValid(tuple = systable_getnext(scan)))
		number = number_of(tuple);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return number;
}

/* Say what to do where the schema of this database is not the library's; NULL where it is. */
const char *
sf_schema_advice(void)
{
	int			number = sf_schema_of_database();

	if (number == SF_SCHEMA_NUMBER)
		return NULL;
	return number < SF_SCHEMA_NUMBER ?
		"Run ALTER EXTENSION sfflow UPDATE in this database." :
		"The server has loaded an older library: install the newer one, if it is not there yet, and restart the server.";
}

/*
 * Raise an error unless the schema of this database is the library's.  The script that
 * creates or updates sfflow, and pg_upgrade, which restores its objects one by one, go by
 * what they have put there.
 */
void
sf_schema_require(void)
{
	static bool registered = false;
	uint64		before;
	const char *advice;

	if (IsBinaryUpgrade ||
		(creating_extension && CurrentExtensionObject == get_extension_oid("sfflow", true)))
		return;
	if (!registered)
	{
		CacheRegisterSyscacheCallback(PROCOID, forget, (Datum) 0);
		registered = true;
	}
	before = changes;
	advice = sf_schema_advice();
	if (advice != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_SCHEMA_DIFFERS),
				 errmsg("the library of sfflow is of schema %d, and this database has schema %d",
						SF_SCHEMA_NUMBER, sf_schema_of_database()),
				 errdetail("Nothing of sfflow runs here until they are the same."),
				 errhint("%s", advice)));
	sf_schema_is_known = before == changes;
}
