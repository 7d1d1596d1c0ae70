/*
 * pg_cron.c
 *		The jobs of pg_cron that run schedules.
 *
 * pg_cron is installed in one database of a cluster, cron.database_name, and can
 * run commands in others.  Only that database has its catalogue entries and its
 * schema, which is always called cron.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "commands/dbcommands.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "postmaster/postmaster.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "db/table.h"
#include "feature/schedule/pg_cron.h"

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
raise_elsewhere(const char *database, const char *name, const char *cron,
				const char *command)
{
	const char *here = get_database_name(MyDatabaseId);

	ereport(ERROR,
			(errcode(ERRCODE_SF_SCHEDULER_UNAVAILABLE),
			 errmsg("pg_cron does not live in this database but in \"%s\"", database),
			 errdetail("It can run jobs here; they are made there."),
			 errhint("Connect to database \"%s\" and call: SELECT cron.schedule_in_database(%s, %s, %s, %s, %s);",
					 database, quote_literal_cstr(psprintf("sfflow:%s:%s", here, name)),
					 quote_literal_cstr(cron), quote_literal_cstr(command),
					 quote_literal_cstr(here),
					 quote_literal_cstr(GetUserNameFromId(GetUserId(), false)))));
}

/*
 * Raise SF024 unless pg_cron is installed in this database.  When it is in
 * another one, the hint is the call to make there for this schedule.
 */
void
sf_pg_cron_require(const char *name, const char *cron,
					 const char *command)
{
	const char *database = pg_cron_database();

	if (!sf_pg_cron_is_here())
	{
		if (database != NULL && strcmp(database, get_database_name(MyDatabaseId)) != 0)
			raise_elsewhere(database, name, cron, command);
		ereport(ERROR,
				(errcode(ERRCODE_SF_SCHEDULER_UNAVAILABLE),
				 errmsg("extension \"pg_cron\" is not installed"),
				 errdetail("Schedules are jobs of pg_cron."),
				 database == NULL ?
				 errhint("Install pg_cron (on Debian the package postgresql-%d-cron), add it to shared_preload_libraries,"
						 " set cron.database_name to \"%s\", restart, and run CREATE EXTENSION pg_cron.",
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

/* Tell whether pg_cron takes schedules of less than a minute, as since 1.5. */
bool
sf_pg_cron_has_seconds(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT e.extversion FROM pg_catalog.pg_extension e"
		" WHERE e.extname = 'pg_cron'");
	const char *version = sf_list_first(sf_db_texts(&plan));
	int			major = 0;
	int			minor = 0;

	if (version != NULL)
		sscanf(version, "%d.%d", &major, &minor);	/* of "1.4-1" */
	return major * 1000 + minor >= 1005;
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

/*
 * Schedule a command as a role, in a job "sfflow:name", which replaces the
 * role's job of that name.  Returns the number of the job.
 */
int64
sf_pg_cron_schedule(Oid role, const char *name, const char *cron, const char *command)
{
	static SfPlan plan = SF_PLAN("SELECT cron.schedule($1, $2, $3)");

	return sf_db_number_as(role, &plan, 0,
						   SF_ARGS(SF_TEXT(psprintf("sfflow:%s", name)),
								   SF_TEXT(cron), SF_TEXT(command)));
}

/* Remove a job of a role, if it is still there. */
void
sf_pg_cron_unschedule(int64 job_id, Oid role)
{
	static SfPlan plan = SF_PLAN(
		"SELECT cron.unschedule(j.jobid) FROM cron.job j WHERE j.jobid = $1");

	if (!sf_pg_cron_is_here())
		return;
	if (GetUserNameFromId(role, true) == NULL)
		role = sf_db_owner();
	sf_db_run(role, &plan, NULL, NULL, SF_ARGS(SF_INT8(job_id)));
}

/* Find out the status of a job. */
SfCronJobStatus
sf_pg_cron_job_status(int64 job_id)
{
	static SfPlan plan = SF_PLAN(
		"SELECT CASE WHEN j.active THEN $2 ELSE $3 END FROM cron.job j"
		" WHERE j.jobid = $1");

	if (!sf_pg_cron_is_here())
		return SF_CRON_JOB_GONE;
	return sf_db_number(&plan, SF_CRON_JOB_GONE, SF_INT8(job_id), SF_INT4(SF_CRON_JOB_ACTIVE),
						SF_INT4(SF_CRON_JOB_INACTIVE));
}

/* Find why the last finished run of a job failed; NULL: it did not, or there is none. */
char *
sf_pg_cron_last_failure(int64 job_id)
{
	static SfPlan plan = SF_PLAN(
		"SELECT CASE WHEN d.status = 'failed' THEN coalesce(d.return_message, d.status) END"
		" FROM cron.job_run_details d"
		" WHERE d.jobid = $1 AND d.status = ANY ('{succeeded,failed}')"
		" ORDER BY d.runid DESC LIMIT 1");

	if (!sf_pg_cron_is_here())
		return NULL;
	return sf_list_first(sf_db_texts(&plan, SF_INT8(job_id)));
}

/*
 * Find when the last run of a job that succeeded began; DT_NOBEGIN: there is none among the
 * last runs of all jobs.  pg_cron has no index by job, and may have kept millions of runs.
 */
TimestampTz
sf_pg_cron_last_success(int64 job_id)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.start_time FROM cron.job_run_details d WHERE d.runid >"
		" (SELECT pg_catalog.max(l.runid) - 100000 FROM cron.job_run_details l)"
		" AND d.jobid = $1 AND d.status = 'succeeded' AND d.start_time IS NOT NULL"
		" ORDER BY d.runid DESC LIMIT 1");

	return !sf_pg_cron_is_here() ? DT_NOBEGIN : sf_db_number(&plan, DT_NOBEGIN, SF_INT8(job_id));
}

/* Hand the runs of a job that pg_cron has noted to a reader. */
void
sf_pg_cron_read_runs(int64 job_id, SfRowReader reader, void *arg)
{
	static SfPlan plan = SF_PLAN(
		"SELECT d.runid, d.job_pid, d.start_time, d.end_time, d.status, d.return_message"
		" FROM cron.job_run_details d WHERE d.jobid = $1");

	if (sf_pg_cron_is_here())
		sf_db_read(&plan, reader, arg, SF_INT8(job_id));
}

/*
 * Check whether pg_cron can run jobs of a role.
 *
 * pg_cron either starts a background worker that runs as the role, or connects as
 * the role.  Both need a role that may log in and connect to the database.  A
 * connection also needs a server that listens at cron.host, and access without a
 * password or with one in the .pgpass of the server's system user.  This access
 * cannot be checked from inside the server.
 */

#define WITHOUT_LOGIN \
	"Set cron.use_background_workers to on and restart: pg_cron then needs no connection."

/* Return a setting of pg_cron, or its default when this pg_cron does not have it. */
static const char *
setting(const char *name, const char *otherwise)
{
	const char *value = GetConfigOption(name, true, false);

	return value != NULL && value[0] != '\0' ? value : otherwise;
}

/* Raise unless a role may log in and connect to this database. */
static void
check_role(Oid role)
{
	HeapTuple	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role));
	const char *name = quote_identifier(GetUserNameFromId(role, false));
	bool		can_login;
	bool		superuser;
	int			limit;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for role %u", role);
	can_login = ((Form_pg_authid) GETSTRUCT(tuple))->rolcanlogin;
	superuser = ((Form_pg_authid) GETSTRUCT(tuple))->rolsuper;
	limit = ((Form_pg_authid) GETSTRUCT(tuple))->rolconnlimit;
	ReleaseSysCache(tuple);

	if (!can_login || (limit == 0 && !superuser))
		ereport(ERROR,
				(errcode(ERRCODE_SF_SCHEDULER_UNAVAILABLE),
				 errmsg("pg_cron cannot run jobs of role %s, which may not log in", name),
				 can_login ? errdetail("Its connection limit is 0.") : 0,
				 errhint("ALTER ROLE %s %s; or make the schedule as a role that may log in and has START on the state machine.",
						 name, can_login ? "CONNECTION LIMIT -1" : "LOGIN")));
	if (sf_database_aclcheck(MyDatabaseId, role, ACL_CONNECT) != ACLCHECK_OK)
	{
		const char *database = quote_identifier(get_database_name(MyDatabaseId));

		ereport(ERROR,
				(errcode(ERRCODE_SF_SCHEDULER_UNAVAILABLE),
				 errmsg("pg_cron cannot run jobs of role %s, which may not connect to database %s",
						name, database),
				 errhint("GRANT CONNECT ON DATABASE %s TO %s;", database, name)));
	}
}

/* Tell whether the server has a socket in a directory. */
static bool
has_socket_in(const char *directory)
{
	char	   *list = pstrdup(Unix_socket_directories ? Unix_socket_directories : "");
	List	   *directories = NIL;

	if (!SplitDirectoriesString(list, ',', &directories))
		return true;
	foreach_ptr(char, name, directories)
	{
		if (strcmp(name, directory) == 0)
			return true;
	}
	return false;
}

/* Raise when the server does not listen at cron.host; warn of what cannot be checked. */
static void
check_connection(Oid role)
{
	const char *host = setting("cron.host", "localhost");
	const char *addresses = GetConfigOption("listen_addresses", true, false);

	if (host[0] == '/' ? !has_socket_in(host) :
		addresses == NULL || addresses[strspn(addresses, " ,")] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_SF_SCHEDULER_UNAVAILABLE),
				 errmsg("pg_cron connects to \"%s\" for each run, where this server does not listen", host),
				 errhint(WITHOUT_LOGIN " Or set cron.host to a directory of unix_socket_directories.")));
	ereport(WARNING,
			(errmsg("pg_cron logs in to \"%s\" as role %s for each run", host,
					quote_identifier(GetUserNameFromId(role, false))),
			 errdetail("Whether pg_hba.conf lets it in without a password, or the server's system user has one in .pgpass, cannot be checked from here."),
			 errhint(WITHOUT_LOGIN " The view sf_schedule_runs shows whether runs fail.")));
}

/*
 * Raise SF024 when pg_cron certainly cannot run a job of a role; warn of what
 * cannot be checked from here.
 */
void
sf_pg_cron_check_login(Oid role)
{
	check_role(role);
	if (strcmp(setting("cron.launch_active_jobs", "on"), "off") == 0)
		ereport(WARNING,
				(errmsg("pg_cron runs no jobs: cron.launch_active_jobs is off")));
	if (strcmp(setting("cron.use_background_workers", "off"), "on") != 0)
		check_connection(role);
	if (strcmp(setting("cron.log_run", "on"), "off") == 0)
		ereport(WARNING,
				(errmsg("runs that fail leave no trace: cron.log_run is off"),
				 errhint("sf_alerts names a schedule whose run has not come.")));
}
