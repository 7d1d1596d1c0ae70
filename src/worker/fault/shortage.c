/*
 * shortage.c
 *		Branches for which there was not enough memory, or something like it.
 *
 * Out of memory, for example, may be caused by the server's load or by one branch
 * whose payload evaluates to something too large.  The only evidence is whether
 * other branches make progress meanwhile.  So a branch that meets a shortage by
 * itself is put off, longer each time, while others go on.  The shortage counts
 * against the branch if another branch has made progress since the last shortage,
 * or if that one was its own, too.  After SF_TRIES such counts the branch fails;
 * TRIES_PER_COUNT shortages that do not count are worth one that does.
 *
 * The counts are in shared memory: a restart of the server forgets them.  Owners share the
 * entries for them (entries.c): who has many such branches loses counts of his own.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/time/timing.h"
#include "base/value/random.h"
#include "worker/fault/fault.h"
#include "worker/process/process.h"
#include "worker/shared_memory/entries.h"
#include "worker/shared_memory/shared.h"

#define TRIES_PER_COUNT	4

/* Find the entry of a branch, or NULL. */
static SfShortage *
find(SfBranchKey key)
{
	for (int i = 0; i < SF_SHORTAGES; i++)
	{
		SfShortage *shortage = &sf_shared->shortages[i];

		if (shortage->database == MyDatabaseId && sf_branch_key_equals(shortage->key, key))
			return shortage;
	}
	return NULL;
}

/* Was an entry used so long ago that it says nothing any more? */
static bool
is_over(const SfShortage *shortage)
{
	return shortage->last < sf_tick_plus_ms(sf_tick_now(), -SF_SHORTAGE_FORGET_MS);
}

/* Find a free entry, else that of an owner which was used the longest ago (InvalidOid: a free one alone). */
static SfShortage *
find_oldest(Oid owner)
{
	SfShortage *oldest = NULL;

	for (int i = 0; i < SF_SHORTAGES; i++)
	{
		SfShortage *shortage = &sf_shared->shortages[i];

		if (!OidIsValid(shortage->database) || is_over(shortage))
			return shortage;
		if (OidIsValid(owner) && shortage->owner == owner && (oldest == NULL || shortage->last < oldest->last))
			oldest = shortage;
	}
	return oldest;
}

/* Find an entry for one more branch of an owner; NULL: all are in use by others, who have no more than he. */
static SfShortage *
find_entry(Oid owner)
{
	SfShortage *shortage = find_oldest(InvalidOid);
	Oid			owners[SF_SHORTAGES];
	Oid			giver;

	if (shortage != NULL)
		return shortage;
	for (int i = 0; i < SF_SHORTAGES; i++)
		owners[i] = sf_shared->shortages[i].owner;
	return sf_entries_find_giver(owners, SF_SHORTAGES, owner, &giver) ? find_oldest(giver) : NULL;
}

/* Find the entry of a branch, or give it one; NULL: there is none. */
static SfShortage *
find_or_add(SfBranchKey key)
{
	Oid			owner = OidIsValid(sf_my_process->user_owner) ? sf_my_process->user_owner :
		sf_my_process->turn_owner;
	SfShortage *shortage = find(key);

	if (shortage && is_over(shortage))
		shortage->tries = shortage->counted = 0;
	if (shortage)
		return shortage;
	shortage = find_entry(owner);
	if (shortage)
		*shortage = (SfShortage) {.database = MyDatabaseId,.owner = owner,.key = key};
	return shortage;
}

/*
 * A branch that ran by itself has met a shortage again.  How often that counts
 * against it; *pause_ms: put it off for so long.  may_be_its_own: the error is one
 * that a branch can cause.
 */
int
sf_shortage_note(SfBranchKey key, bool may_be_its_own, int *pause_ms)
{
	SfShortage *shortage;
	int			number;
	int			count;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	shortage = find_or_add(key);
	if (shortage == NULL)
	{
		LWLockRelease(sf_shared_lock);
		*pause_ms = sf_backoff_doubled_ms(1);
		return 0;
	}
	number = (int) (shortage - sf_shared->shortages) + 1;
	shortage->tries++;
	if (may_be_its_own && (sf_shared->shortage_of == SF_NO_SHORTAGE || sf_shared->shortage_of == number))
		shortage->counted++;
	sf_shared->shortage_of = number;
	shortage->last = sf_tick_now();
	count = may_be_its_own ? Max(shortage->counted, shortage->tries / TRIES_PER_COUNT) : 0;
	/* at least half of it: a branch that fails in the end has had its time */
	*pause_ms = sf_backoff_doubled_ms(shortage->tries) / 2;
	*pause_ms += sf_backoff_ms(0, *pause_ms, SF_FAILURE_MAX_PAUSE_MS);
	LWLockRelease(sf_shared_lock);
	return count;
}

/* A branch ran well by itself, or has failed. */
void
sf_shortage_clear(SfBranchKey key)
{
	SfShortage *shortage = find(key);

	if (!shortage)
		return;					/* without the lock: only this process runs it now */
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	shortage = find(key);
	if (shortage)
		memset(shortage, 0, sizeof(*shortage));
	LWLockRelease(sf_shared_lock);
}

/* A slice or a task went well.  Without the lock, since it may be wrong for once. */
void
sf_shortage_note_success(void)
{
	if (sf_shared->shortage_of != SF_NO_SHORTAGE)
		sf_shared->shortage_of = SF_NO_SHORTAGE;
}
