/*
 * shmem.c
 *		Fixed tables in shared memory, each with its lock.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/memutils.h"

#include "base/memory/shmem.h"

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
static void
add_area(SfShmem *area)
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
static void
lock_area(SfShmem *area, LWLockMode mode)
{
	if (area->lock != NULL)
		LWLockAcquire(area->lock, mode);
}

/* Unlock it. */
static void
unlock_area(SfShmem *area)
{
	if (area->lock != NULL)
		LWLockRelease(area->lock);
}

/*
 * Hash tables in shared memory, whose entries owners share fairly.
 *
 * The memory has, one behind the other: the head; the caller's own part; the first entry of
 * each hash; the first owner of each hash; the owners, with how many entries each has; the
 * entries.  Numbers are counted from 1, so that memory full of zeros is an empty table.
 *
 * Each time that an entry is wanted a few of them are looked at in turn, and those whose
 * contents are idle are freed: so none stays idle for long where entries are needed.
 */

/* Entries that are looked at each time that one is wanted, and when none is left for the owner */
#define CLOCK_SWEEP			8
#define SWEEP_FULL		128

/* Entries of a table that no other process sees */
#define LOCAL_ENTRIES	512

/* How many entries an owner has */
typedef struct OwnerUse
{
	Oid			owner;
	int32		nentries;
	int32		next;			/* the next one with this hash, or that is free; 0: none */
} OwnerUse;

typedef struct Head
{
	int32		nused;
	int32		end;			/* entries that have ever been used */
	int32		free;			/* the first free one among them; 0: none */
	int32		hand;			/* the entry that was looked at last */
	int32		owners_end;
	int32		owners_free;
	int64		nrefused;
	SfTick		refused_at;
	Oid			refused_owner;
} Head;

#define HEAD(hash)		((Head *) (hash)->area.memory)
#define EXTRA(hash)		((char *) (hash)->area.memory + MAXALIGN(sizeof(Head)))
#define HEADS(hash)		((int32 *) (EXTRA(hash) + MAXALIGN((hash)->extra_size)))
#define OWNER_HEADS(hash)	(HEADS(hash) + (hash)->nentries)
#define OWNERS(hash)	((OwnerUse *) (OWNER_HEADS(hash) + (hash)->nentries))
#define ENTRIES(hash)	((char *) (hash)->area.memory + entries_at(hash))

/* Where the entries begin. */
static Size
entries_at(const SfHash *hash)
{
	Size		each = 2 * sizeof(int32) + sizeof(OwnerUse);

	return MAXALIGN(MAXALIGN(sizeof(Head)) + MAXALIGN(hash->extra_size) + each * hash->nentries);
}

/* Describe a table, and ask for its memory while preloading; else it is this backend's own. */
void
sf_hash_init(SfHash *hash, const char *name, int nentries, Size entry_size, Size extra_size)
{
	bool		shared = process_shared_preload_libraries_in_progress && !IsBinaryUpgrade;

	hash->nentries = shared ? nentries : Min(nentries, LOCAL_ENTRIES);
	hash->entry_size = MAXALIGN(entry_size);
	hash->extra_size = extra_size;
	hash->area.name = name;
	hash->area.size = add_size(entries_at(hash), mul_size(hash->entry_size, hash->nentries));
	if (shared)
		add_area(&hash->area);
}

/* Lock a table. */
void
sf_hash_lock(SfHash *hash, LWLockMode mode)
{
	if (hash->area.memory == NULL)
		hash->area.memory = MemoryContextAllocZero(TopMemoryContext, hash->area.size);
	lock_area(&hash->area, mode);
}

/* Unlock it. */
void
sf_hash_unlock(SfHash *hash)
{
	unlock_area(&hash->area);
}

/* The entry with a number. */
void *
sf_hash_at(SfHash *hash, int number)
{
	return ENTRIES(hash) + (Size) (number - 1) * hash->entry_size;
}

/* The number of an entry, from 1 to that of entries. */
int
sf_hash_number(SfHash *hash, const void *entry)
{
	return (int) (((const char *) entry - ENTRIES(hash)) / hash->entry_size) + 1;
}

/* The last entry that has ever been used. */
int
sf_hash_end(SfHash *hash)
{
	return HEAD(hash)->end;
}

/* Is no entry used?  Without the lock this may be out of date. */
bool
sf_hash_is_empty(SfHash *hash)
{
	return hash->area.memory == NULL || HEAD(hash)->nused == 0;
}

/* The memory of the caller. */
void *
sf_hash_extra(SfHash *hash)
{
	return EXTRA(hash);
}

/* Where the chain of a key begins. */
static int32 *
chain_of(SfHash *hash, SfHashKey key)
{
	uint32		h = hash_combine(murmurhash32(key.database),
								 hash_combine(hash_bytes((unsigned char *) &key.first, sizeof(int64)),
											  hash_bytes((unsigned char *) &key.second, sizeof(int64))));

	return &HEADS(hash)[h % (uint32) hash->nentries];
}

/* Are two keys the same? */
static bool
equals(SfHashKey a, SfHashKey b)
{
	return a.second == b.second && a.first == b.first && a.database == b.database;
}

/* Find the entry of a key; NULL: there is none. */
void *
sf_hash_find(SfHash *hash, SfHashKey key)
{
	SfHashEntry *entry;

	for (int32 at = *chain_of(hash, key); at != 0; at = entry->next)
	{
		entry = sf_hash_at(hash, at);
		if (equals(entry->key, key))
			return entry;
	}
	return NULL;
}

/* Find where the number of an owner is noted, or (0 is noted there) is to be. */
static int32 *
find_owner(SfHash *hash, Oid owner)
{
	int32	   *at = &OWNER_HEADS(hash)[murmurhash32(owner) % (uint32) hash->nentries];

	while (*at != 0 && OWNERS(hash)[*at - 1].owner != owner)
		at = &OWNERS(hash)[*at - 1].next;
	return at;
}

/* Note that an owner has an entry more. */
static void
count_entry(SfHash *hash, Oid owner)
{
	Head	   *head = HEAD(hash);
	int32	   *at = find_owner(hash, owner);

	if (*at == 0 && head->owners_free != 0)
	{
		*at = head->owners_free;
		head->owners_free = OWNERS(hash)[*at - 1].next;
		OWNERS(hash)[*at - 1] = (OwnerUse) {owner, 0, 0};
	}
	else if (*at == 0)
	{
		*at = ++head->owners_end;
		OWNERS(hash)[*at - 1] = (OwnerUse) {owner, 0, 0};
	}
	OWNERS(hash)[*at - 1].nentries++;
}

/* Note that it has one fewer. */
static void
discount_entry(SfHash *hash, Oid owner)
{
	int32	   *at = find_owner(hash, owner);
	int32		number = *at;
	OwnerUse   *use = &OWNERS(hash)[number - 1];

	if (--use->nentries > 0)
		return;
	*at = use->next;
	use->next = HEAD(hash)->owners_free;
	HEAD(hash)->owners_free = number;
}

/* May an owner have another entry? */
static bool
may_have_entry(SfHash *hash, Oid owner)
{
	int32		at = *find_owner(hash, owner);
	int32		has = at == 0 ? 0 : OWNERS(hash)[at - 1].nentries;

	return has < hash->nentries - HEAD(hash)->nused;
}

/* Remove an entry. */
void
sf_hash_remove(SfHash *hash, void *entry)
{
	SfHashEntry *e = entry;
	int32		number = sf_hash_number(hash, entry);
	int32	   *at = chain_of(hash, e->key);

	while (*at != number)
		at = &((SfHashEntry *) sf_hash_at(hash, *at))->next;
	*at = e->next;
	discount_entry(hash, e->owner);
	memset(e, 0, hash->entry_size);
	e->next = HEAD(hash)->free;
	HEAD(hash)->free = number;
	HEAD(hash)->nused--;
}

/* Look at entries in turn, and free those that are idle. */
static void
clock_sweep(SfHash *hash, SfHashIdle is_idle, int count)
{
	Head	   *head = HEAD(hash);
	SfTick		now = sf_tick_now();

	for (count = Min(count, head->end); count > 0; count--)
	{
		SfHashEntry *entry;

		head->hand = head->hand >= head->end ? 1 : head->hand + 1;
		entry = sf_hash_at(hash, head->hand);
		if (OidIsValid(entry->key.database) && is_idle(entry, now))
			sf_hash_remove(hash, entry);
	}
}

/* Is there an entry for an owner, maybe after a look for idle ones?  If not, note that. */
static bool
has_room(SfHash *hash, Oid owner, SfHashIdle is_idle)
{
	Head	   *head = HEAD(hash);

	if (is_idle != NULL)
		clock_sweep(hash, is_idle, CLOCK_SWEEP);
	if (may_have_entry(hash, owner))
		return true;
	if (is_idle != NULL)
		clock_sweep(hash, is_idle, SWEEP_FULL);
	if (may_have_entry(hash, owner))
		return true;
	head->nrefused++;
	head->refused_at = sf_tick_now();
	head->refused_owner = owner;
	return false;
}

/*
 * Add an entry, all zeros behind its beginning, for a key that there is none of; NULL: there
 * is no entry for the owner.  This may remove other entries, that are idle.
 */
void *
sf_hash_add(SfHash *hash, SfHashKey key, Oid owner, SfHashIdle is_idle)
{
	Head	   *head = HEAD(hash);
	int32	   *chain;
	int32		number;
	SfHashEntry *entry;

	if (!has_room(hash, owner, is_idle))
		return NULL;
	number = head->free != 0 ? head->free : ++head->end;
	entry = sf_hash_at(hash, number);
	if (head->free != 0)
		head->free = entry->next;
	chain = chain_of(hash, key);
	entry->key = key;
	entry->owner = owner;
	entry->next = *chain;
	*chain = number;
	head->nused++;
	count_entry(hash, owner);
	return entry;
}

/* Remove what a number, or SF_HASH_ANY, of a database has. */
void
sf_hash_remove_all(SfHash *hash, Oid database, int64 first)
{
	for (int i = 1; i <= HEAD(hash)->end; i++)
	{
		SfHashEntry *entry = sf_hash_at(hash, i);

		if (entry->key.database == database && (first == SF_HASH_ANY || entry->key.first == first))
			sf_hash_remove(hash, entry);
	}
}

/*
 * List first numbers of keys of a database, at most size of them, from an entry on, which moves, and is
 * 1 again after the last one; returns how many.  A number may come more than once.
 */
int
sf_hash_list(SfHash *hash, Oid database, int64 *numbers, int size, int *from)
{
	int			n = 0;

	sf_hash_lock(hash, LW_SHARED);
	for (; *from <= HEAD(hash)->end && n < size; (*from)++)
	{
		const SfHashEntry *entry = sf_hash_at(hash, *from);

		if (entry->key.database == database && (n == 0 || numbers[n - 1] != entry->key.first))
			numbers[n++] = entry->key.first;
	}
	if (*from > HEAD(hash)->end)
		*from = 1;
	sf_hash_unlock(hash);
	return n;
}

/* Tell how full a table is. */
SfHashUse
sf_hash_use(SfHash *hash)
{
	SfHashUse	use = {.nentries = hash->nentries};
	const Head *head;

	sf_hash_lock(hash, LW_SHARED);
	head = HEAD(hash);
	use.nused = head->nused;
	use.nrefused = head->nrefused;
	use.refused_at = head->refused_at;
	use.refused_owner = head->refused_owner;
	sf_hash_unlock(hash);
	return use;
}
