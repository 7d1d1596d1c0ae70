/*
 * sfflow.c
 *		Entry point of the library.
 */
#include "postgres.h"

#include "aws/aws.h"
#include "base/compat.h"
#include "base/settings.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "store/feature.h"
#include "store/instance_file.h"
#include "store/quota.h"
#include "store/throttle.h"
#include "task/sql_task.h"
#include "worker/worker.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

/*
 * Set the library up when it is loaded.  In a server that pg_upgrade runs nothing
 * works in the background: what a worker commits after pg_upgrade has noted the
 * next transaction id is lost.
 */
void
_PG_init(void)
{
	sf_settings_define();
	sf_sql_task_init();
	sf_aws_init();
	sf_quota_init();
	sf_throttle_init();
	sf_features_init();
	if (!process_shared_preload_libraries_in_progress || IsBinaryUpgrade)
		return;
	if (!IsUnderPostmaster)
		sf_instance_file_start();
	sf_worker_init();
}
