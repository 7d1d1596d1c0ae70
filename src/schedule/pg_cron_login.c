/*
 * pg_cron_login.c
 *		Check whether pg_cron can run jobs of a role.
 *
 * pg_cron either starts a background worker that runs as the role, or connects as
 * the role.  Both need a role that may log in and connect to the database.  A
 * connection also needs a server that listens at cron.host, and access without a
 * password or with one in the .pgpass of the server's system user.  This access
 * cannot be checked from inside the server.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "postmaster/postmaster.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "schedule/pg_cron.h"
#include "base/compat.h"
#include "base/errors.h"

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
