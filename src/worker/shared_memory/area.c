/*
 * area.c
 *		Making the area that launcher, workers and sessions share.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"

#include "base/settings.h"
#include "copy/instance.h"
#include "worker/fault/fault.h"
#include "worker/shared_memory/shared.h"

#define SF_TRANCHE "sfflow"
#define SF_DATABASE_TRANCHE "sfflow_database"

static shmem_request_hook_type previous_request_hook = NULL;
static shmem_startup_hook_type previous_startup_hook = NULL;

/* Size of the area: the launcher, sfflow.max_workers and the keeper; databases. */
static Size
shared_size(void)
{
	return add_size(sf_shared_databases_at(sf_setting_max_workers + 2),
					mul_size(sizeof(SfDatabase), sf_setting_max_databases));
}

/* Ask for the area and its lock. */
static void
request_shared(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(shared_size());
	RequestNamedLWLockTranche(SF_TRANCHE, 1);
	RequestNamedLWLockTranche(SF_DATABASE_TRANCHE, sf_setting_max_databases);
}

/* Fill a new area. */
static void
initialize_shared(void)
{
	memset(sf_shared, 0, shared_size());
	sf_shared->launcher_procno = SF_NO_LAUNCHER;
	pg_atomic_init_u64(&sf_shared->launcher_checks, (uint64) SF_TICK_NEVER);
	sf_shared->clock_offset = sf_clock_offset();
	sf_shared->nprocesses = sf_setting_max_workers + 2;
	sf_shared->ndatabases = sf_setting_max_databases;
	pg_atomic_init_u32(&sf_shared->awaiting, 0);
	pg_atomic_init_u64(&sf_shared->changes, 1);
	ConditionVariableInit(&sf_shared->process_ended);
	for (int i = 0; i < SF_AWAIT_BUCKETS; i++)
		ConditionVariableInit(&sf_shared->ended[i]);
	sf_foreach_process(process)
	{
		pg_atomic_init_u32(&process->task_number, 0);
		pg_atomic_init_u32(&process->cancel, 0);
		pg_atomic_init_u32(&process->signalled, 0);
	}
}

/* Make the area: at the start of the server, and again after a crash. */
static void
startup_shared(void)
{
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	sf_shared = ShmemInitStruct("sfflow", shared_size(), &found);
	sf_shared_lock = &GetNamedLWLockTranche(SF_TRANCHE)->lock;
	sf_database_locks = GetNamedLWLockTranche(SF_DATABASE_TRANCHE);
	if (!found)
	{
		initialize_shared();
		sf_instance_file_reread();
		sf_shared->settled = sf_instance_file_kind() == SF_DIRECTORY_SETTLED;
		sf_poison_startup();
	}
	LWLockRelease(AddinShmemInitLock);
}

/* Install the hooks that make the area (area.c). */
void
sf_area_init(void)
{
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_shared;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_shared;
}
