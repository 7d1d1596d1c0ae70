/*
 * sfflow.c
 *		Entry point of the library.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/guc.h"

#include "aws/aws.h"
#include "base/settings.h"
#include "base/version/compat.h"
#include "copy/instance.h"
#include "quota/quota.h"
#include "sql_task/sql_task.h"
#include "store/feature.h"
#include "worker/launcher/launcher.h"

SF_MODULE_MAGIC;

/* Release of PostgreSQL that the library is built for; a test builds it for another one. */
#ifndef SF_BUILT_FOR
#define SF_BUILT_FOR	PG_VERSION_NUM
#endif

void		_PG_init(void);

/*
 * Refuse a server that is of an earlier minor release than the headers, which may call what it does not have
 * (minor.h).
 */
static void
check_minor_release(void)
{
	int			running = atoi(GetConfigOption("server_version_num", false, false));

	if (running < SF_BUILT_FOR)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this library of sfflow needs PostgreSQL %d.%d or later, and the server is %d.%d",
						SF_BUILT_FOR / 10000, SF_BUILT_FOR % 10000, running / 10000, running % 10000),
				 errdetail("It was built with the headers of that release, which may call functions that earlier ones do not have."),
				 errhint("Update PostgreSQL, or install a library that was built for an earlier minor release.")));
}

/*
 * Set the library up when it is loaded.  In a server that pg_upgrade runs nothing
 * works in the background: what a worker commits after pg_upgrade has noted the
 * next transaction id is lost.
 */
void
_PG_init(void)
{
	check_minor_release();
	sf_settings_define();
	sf_sql_task_init();
	sf_aws_init();
	sf_quota_init();
	sf_throttled_init();
	sf_features_init();
	if (!process_shared_preload_libraries_in_progress || IsBinaryUpgrade)
		return;
	if (!IsUnderPostmaster)
		sf_instance_file_start();
	sf_worker_init();
}
