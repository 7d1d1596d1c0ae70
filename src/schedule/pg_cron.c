/*
 * pg_cron.c
 *		The jobs of pg_cron that run schedules.
 *
 * pg_cron is installed in one database of a cluster, cron.database_name, and can
 * run commands in others.  Only that database has its catalogue entries and its
 * schema, which is always called cron.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "schedule/pg_cron.h"
#include "base/compat.h"
#include "base/errors.h"
#include "store/table.h"

#define EQUALS " OPERATOR(pg_catalog.=) "

/* Tell whether pg_cron is installed in this database. */
bool
sf_pg_cron_is_here(void)
{
	return OidIsValid(get_extension_oid("pg_cron", true));
}

/*
 * Name the database of pg_cron; NULL when the server has not loaded it, even if
 * the configuration has its settings.
 */
static const char *
pg_cron_database(void)
{
	const char *libraries = GetConfigOption("shared_preload_libraries", true, false);

	if (libraries == NULL || strstr(libraries, "pg_cron") == NULL)
		return NULL;
	return GetConfigOption("cron.database_name", true, false);
}

/* Raise an error that says what to call in the database of pg_cron. */
static void
raise_elsewhere(const char *database, const char *name, const char *schedule,
				const char *command)
{
	const char *here = get_database_name(MyDatabaseId);

	ereport(ERROR,
			(errcode(ERRCODE_SF_SCHEDULER_UNAVAILABLE),
			 errmsg("pg_cron does not live in this database but in \"%s\"", database),
			 errdetail("It can run jobs here; they are made there."),
			 errhint("Connect to database \"%s\" and call: SELECT cron.schedule_in_database(%s, %s, %s, %s, %s);",
					 database, quote_literal_cstr(psprintf("sfflow:%s:%s", here, name)),
					 quote_literal_cstr(schedule), quote_literal_cstr(command),
					 quote_literal_cstr(here),
					 quote_literal_cstr(GetUserNameFromId(GetUserId(), false)))));
}

/* Raise unless pg_cron is installed in this database and can be used. */
void
sf_pg_cron_require(const char *name, const char *schedule,
					 const char *command)
{
	const char *database = pg_cron_database();

	if (!sf_pg_cron_is_here())
	{
		if (database != NULL && strcmp(database, get_database_name(MyDatabaseId)) != 0)
			raise_elsewhere(database, name, schedule, command);
		ereport(ERROR,
				(errcode(ERRCODE_SF_SCHEDULER_UNAVAILABLE),
				 errmsg("extension \"pg_cron\" is not installed"),
				 errdetail("Schedules are jobs of pg_cron."),
				 database == NULL ?
				 errhint("Install pg_cron (on Debian the package postgresql-%d-cron), add it to shared_preload_libraries, set cron.database_name to \"%s\", restart, and run CREATE EXTENSION pg_cron.",
						 PG_VERSION_NUM / 10000, get_database_name(MyDatabaseId)) :
				 errhint("Run CREATE EXTENSION pg_cron in this database.")));
	}
	if (sf_schema_aclcheck(get_namespace_oid("cron", false), GetUserId(),
						   ACL_USAGE) != ACLCHECK_OK)
	{
		const char *role = quote_identifier(GetUserNameFromId(GetUserId(), false));

		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role %s may not use pg_cron", role),
				 errhint("GRANT USAGE ON SCHEMA cron TO %s;", role)));
	}
}

/* Keep the major and minor number of a version ("1.4-1"). */
static void
read_version(HeapTuple tuple, TupleDesc desc, void *arg)
{
	int			major = 0;
	int			minor = 0;

	sscanf(sf_row_text(tuple, desc, 1), "%d.%d", &major, &minor);
	*(int *) arg = major * 1000 + minor;
}

/* Tell whether pg_cron takes schedules of less than a minute, as since 1.5. */
bool
sf_pg_cron_has_seconds(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.extversion FROM pg_catalog.pg_extension e"
		" WHERE e.extname" EQUALS "'pg_cron'", 0, InvalidOid);
	int			version = 0;

	sf_store_query(&plan, NULL, NULL, 1, read_version, &version);
	return version >= 1005;
}

/* Name the zone in which pg_cron reads its schedules, a setting since 1.5. */
const char *
sf_pg_cron_zone_name(void)
{
	const char *zone = GetConfigOption("cron.timezone", true, false);

	return zone != NULL && zone[0] != '\0' ? zone : "GMT";
}

/* Load the zone in which pg_cron reads its schedules. */
pg_tz *
sf_pg_cron_zone(void)
{
	pg_tz	   *zone = pg_tzset(sf_pg_cron_zone_name());

	return zone != NULL ? zone : pg_tzset("GMT");
}

/* Run a query as a role; returns the first value as text; NULL: no row. */
char *
sf_pg_cron_query_as(Oid role, const char *sql, int nargs, Oid *types,
					Datum *args, const char *nulls)
{
	MemoryContext caller = CurrentMemoryContext;
	SfStoreIdentity saved;
	char	   *value = NULL;
	int			rc;

	sf_store_enter_as(&saved, role);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	rc = SPI_execute_with_args(sql, nargs, types, args, nulls, false, 1);
	if (rc != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_with_args failed: %s", SPI_result_code_string(rc));
	if (SPI_processed > 0)
		value = MemoryContextStrdup(caller, SPI_getvalue(SPI_tuptable->vals[0],
														 SPI_tuptable->tupdesc, 1));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	sf_store_leave(&saved);
	return value;
}

/* Schedule a command as a role. */
int64
sf_pg_cron_add(Oid role, const char *name, const char *schedule,
			   const char *command)
{
	Oid			types[3] = {TEXTOID, TEXTOID, TEXTOID};
	Datum		args[3];

	args[0] = CStringGetTextDatum(psprintf("sfflow:%s", name));
	args[1] = CStringGetTextDatum(schedule);
	args[2] = CStringGetTextDatum(command);
	return strtoi64(sf_pg_cron_query_as(role, "SELECT cron.schedule($1, $2, $3)",
										3, types, args, NULL), NULL, 10);
}

/* Remove a job of a role, if it is still there. */
void
sf_pg_cron_remove(int64 job_id, Oid role)
{
	Oid			types[1] = {INT8OID};
	Datum		args[1] = {Int64GetDatum(job_id)};

	if (!sf_pg_cron_is_here())
		return;
	if (GetUserNameFromId(role, true) == NULL)
		role = sf_store_owner();
	(void) sf_pg_cron_query_as(role, "SELECT cron.unschedule(j.jobid) FROM cron.job j"
							   " WHERE j.jobid" EQUALS "$1",
							   1, types, args, NULL);
}

/* Keep the state of a job. */
static void
read_job_state(HeapTuple tuple, TupleDesc desc, void *arg)
{
	*(SfJobState *) arg = sf_row_bool(tuple, desc, 1) ? SF_JOB_ACTIVE : SF_JOB_INACTIVE;
}

/* Find the state of a job. */
SfJobState
sf_pg_cron_job_state(int64 job_id)
{
	static SfPlan plan = SF_PLAN(
		"SELECT j.active FROM cron.job j WHERE j.jobid" EQUALS "$1", 1, INT8OID);
	Datum		arg = Int64GetDatum(job_id);
	SfJobState	state = SF_JOB_GONE;

	if (sf_pg_cron_is_here())
		sf_store_query(&plan, &arg, NULL, 1, read_job_state, &state);
	return state;
}

/* Keep the message of a run that failed. */
static void
read_failure(HeapTuple tuple, TupleDesc desc, void *arg)
{
	if (strcmp(sf_row_text(tuple, desc, 1), "failed") == 0)
		*(char **) arg = sf_row_is_null(tuple, desc, 2) ? pstrdup("failed") :
			sf_row_text(tuple, desc, 2);
}

/* Find why the last finished run of a job failed. */
char *
sf_pg_cron_last_failure(int64 job_id)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.status, d.return_message FROM cron.job_run_details d"
		" WHERE d.jobid" EQUALS "$1 AND d.status" EQUALS "ANY ('{succeeded,failed}')"
		" ORDER BY d.runid DESC LIMIT 1", 1, INT8OID);
	Datum		arg = Int64GetDatum(job_id);
	char	   *failure = NULL;

	if (sf_pg_cron_is_here())
		sf_store_query(&plan, &arg, NULL, 1, read_failure, &failure);
	return failure;
}

/* Read the runs of a job that pg_cron has recorded. */
void
sf_pg_cron_read_runs(int64 job_id, SfRowReader reader, void *arg)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.runid, d.job_pid, d.start_time, d.end_time, d.status, d.return_message"
		" FROM cron.job_run_details d WHERE d.jobid" EQUALS "$1", 1, INT8OID);
	Datum		job = Int64GetDatum(job_id);

	if (sf_pg_cron_is_here())
		sf_store_query(&plan, &job, NULL, 0, reader, arg);
}
