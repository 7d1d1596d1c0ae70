/*
 * sfflow.c
 *		Entry point of the library.
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/settings.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "task/task.h"
#include "worker/worker.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

/*
 * Set the library up when it is loaded.
 */
void
_PG_init(void)
{
	sf_settings_define();
	sf_task_init();
	if (process_shared_preload_libraries_in_progress)
		sf_worker_init();
}
