/*
 * shmem.h
 *		Fixed tables in shared memory, each with its lock.
 */
#ifndef SF_SHMEM_H
#define SF_SHMEM_H

#include "storage/lwlock.h"

/* A table; without preloading its memory is this backend's own and has no lock */
typedef struct SfShmem
{
	const char *name;			/* also that of its lock's tranche */
	Size		size;
	void	   *memory;			/* of this backend, until the server makes the area */
	LWLock	   *lock;			/* NULL: the memory is this backend's own */
	struct SfShmem *next;
} SfShmem;

extern void sf_shmem_add(SfShmem *area);
extern void sf_shmem_lock(SfShmem *area, LWLockMode mode);
extern void sf_shmem_unlock(SfShmem *area);

#endif
