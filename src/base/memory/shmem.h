/*
 * shmem.h
 *		Fixed tables in shared memory, each with its lock.
 */
#ifndef SF_BASE_SHMEM_H
#define SF_BASE_SHMEM_H

#include "storage/lwlock.h"

#include "base/time/clock.h"

/* A table; without preloading its memory is this backend's own and has no lock */
typedef struct SfShmem
{
	const char *name;			/* also that of its lock's tranche */
	Size		size;
	void	   *memory;			/* of this backend, until the server makes the area */
	LWLock	   *lock;			/* NULL: the memory is this backend's own */
	struct SfShmem *next;
} SfShmem;


/*
 * Hash tables in shared memory, whose entries owners share fairly.
 *
 * A table has a fixed number of entries, since nothing may fail for lack of memory after a
 * commit.  An owner gets another entry while more entries are free than it has: so one
 * owner alone has half of them at most, and the next one finds half of the rest.  What is
 * to happen to an owner that gets no entry the caller decides.
 */

/* What is looked for */
typedef struct SfHashKey
{
	Oid			database;		/* InvalidOid: the entry is free */
	int64		first;
	int64		second;
} SfHashKey;

/* The beginning of each entry */
typedef struct SfHashEntry
{
	SfHashKey	key;
	Oid			owner;			/* whose entry it is */
	int32		next;			/* the next one with this hash, or that is free; 0: none */
} SfHashEntry;

/* A table */
typedef struct SfHash
{
	SfShmem		area;
	int			nentries;
	Size		entry_size;
	Size		extra_size;		/* memory of the caller, under the same lock */
} SfHash;

/* How full a table is, and whom it refused an entry */
typedef struct SfHashUse
{
	int			nentries;
	int			nused;
	int64		nrefused;		/* since the start of the server */
	SfTick		refused_at;		/* the last one; SF_TICK_UNSET: none was */
	Oid			refused_owner;
} SfHashUse;

/* Tell whether an entry says no more than a new one would: its memory may be reused. */
typedef bool (*SfHashIdle) (const void *entry, SfTick now);

extern void sf_hash_init(SfHash *hash, const char *name, int nentries, Size entry_size,
						 Size extra_size);
extern void sf_hash_lock(SfHash *hash, LWLockMode mode);
extern void sf_hash_unlock(SfHash *hash);

/* Are there other processes that see it? */
static inline bool
sf_hash_is_shared(const SfHash *hash)
{
	return hash->area.lock != NULL;
}

/* --- the caller holds the lock; exclusively, to change something --- */

extern void *sf_hash_find(SfHash *hash, SfHashKey key);
extern void *sf_hash_add(SfHash *hash, SfHashKey key, Oid owner, SfHashIdle is_idle);
extern void sf_hash_remove(SfHash *hash, void *entry);
extern void *sf_hash_extra(SfHash *hash);
extern int	sf_hash_number(SfHash *hash, const void *entry);
extern void *sf_hash_at(SfHash *hash, int number);
extern int	sf_hash_end(SfHash *hash);
extern bool sf_hash_is_empty(SfHash *hash);

/* In place of the first number of keys: all numbers */
#define SF_HASH_ANY		0

/* Remove what a database, or a number in it (first not SF_HASH_ANY), has. */
extern void sf_hash_remove_all(SfHash *hash, Oid database, int64 first);

/* --- these take the lock --- */

extern int	sf_hash_list(SfHash *hash, Oid database, int64 *numbers, int size, int *from);
extern SfHashUse sf_hash_use(SfHash *hash);

#endif							/* SF_BASE_SHMEM_H */
