/*
 * shmem.c
 *		Fixed tables in shared memory, each with its lock.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"

#include "base/shmem.h"

/* The areas that were asked for */
static SfShmem *areas = NULL;

static shmem_request_hook_type previous_request_hook = NULL;
static shmem_startup_hook_type previous_startup_hook = NULL;

/* Ask for the areas and their locks. */
static void
request_areas(void)
{
	if (previous_request_hook)
		previous_request_hook();
	for (SfShmem *area = areas; area != NULL; area = area->next)
	{
		RequestAddinShmemSpace(area->size);
		RequestNamedLWLockTranche(area->name, 1);
	}
}

/* Make the areas, filled with zeros: at the start of the server, and again after a crash. */
static void
startup_areas(void)
{
	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	for (SfShmem *area = areas; area != NULL; area = area->next)
	{
		bool		found;

		area->memory = ShmemInitStruct(area->name, area->size, &found);
		area->lock = &GetNamedLWLockTranche(area->name)->lock;
		if (!found)
			memset(area->memory, 0, area->size);
	}
	LWLockRelease(AddinShmemInitLock);
}

/* Ask for an area; from _PG_init while preloading. */
void
sf_shmem_add(SfShmem *area)
{
	if (areas == NULL)
	{
		previous_request_hook = shmem_request_hook;
		shmem_request_hook = request_areas;
		previous_startup_hook = shmem_startup_hook;
		shmem_startup_hook = startup_areas;
	}
	area->next = areas;
	areas = area;
}

/* Lock an area that is shared. */
void
sf_shmem_lock(SfShmem *area, LWLockMode mode)
{
	if (area->lock != NULL)
		LWLockAcquire(area->lock, mode);
}

/* Unlock it. */
void
sf_shmem_unlock(SfShmem *area)
{
	if (area->lock != NULL)
		LWLockRelease(area->lock);
}
