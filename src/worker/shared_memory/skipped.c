/*
 * skipped.c
 *		Branches that are due and that other transactions have locked: workers come again.
 *
 * A worker waits for no lock of a branch: it goes on to others.  If a session has the branch,
 * nothing tells when it lets go.  So the key of the branch comes back into the ring after a
 * pause.  A branch that is still locked is noted anew, with a longer pause.
 *
 * Where no entry is free the owner with most of them gives one up (entries.c).
 */
#include "postgres.h"

#include "worker/shared_memory/entries.h"
#include "worker/shared_memory/skipped.h"

/* Forget all of them. */
void
sf_skipped_clear(SfSkipped *skipped)
{
	skipped->count = 0;
	skipped->next = SF_TICK_NEVER;
}

/* Find a branch; NULL: it is not noted. */
static SfSkippedBranch *
find(SfSkipped *skipped, SfWorkKey key)
{
	for (int i = 0; i < skipped->count; i++)
		if (sf_work_key_equals(skipped->branches[i].key, key))
			return &skipped->branches[i];
	return NULL;
}

/* Of the branches of an owner, find the one that is looked at last: it is locked for longest. */
static SfSkippedBranch *
find_last(SfSkipped *skipped, Oid owner)
{
	SfSkippedBranch *last = NULL;

	for (int i = 0; i < skipped->count; i++)
	{
		SfSkippedBranch *branch = &skipped->branches[i];

		if (branch->owner == owner && (last == NULL || branch->at > last->at))
			last = branch;
	}
	return last;
}

/* Find the entry of a branch that gives way to one of an owner; NULL: none does. */
static SfSkippedBranch *
make_room(SfSkipped *skipped, Oid owner)
{
	Oid			owners[SF_SKIPPED_BRANCHES];
	Oid			giver;

	for (int i = 0; i < skipped->count; i++)
		owners[i] = skipped->branches[i].owner;
	return sf_entries_find_giver(owners, skipped->count, owner, &giver) ? find_last(skipped, giver) : NULL;
}

/* Note a branch, unless it is noted already; false: it, or another one, has no entry. */
bool
sf_skipped_add(SfSkipped *skipped, const SfSkippedBranch *branch)
{
	bool		room = skipped->count < SF_SKIPPED_BRANCHES;
	SfSkippedBranch *entry;

	if (find(skipped, branch->key) != NULL)
		return true;
	entry = room ? &skipped->branches[skipped->count++] : make_room(skipped, branch->owner);
	if (entry == NULL)
		return false;
	*entry = *branch;
	skipped->next = Min(skipped->next, branch->at);
	return room;
}

/* Take a branch out that is to be looked at by now; false: there is none. */
bool
sf_skipped_take(SfSkipped *skipped, SfTick now, SfSkippedBranch *branch)
{
	if (skipped->next > now)
		return false;
	skipped->next = SF_TICK_NEVER;
	for (int i = 0; i < skipped->count; i++)
	{
		if (skipped->branches[i].at > now)
		{
			skipped->next = Min(skipped->next, skipped->branches[i].at);
			continue;
		}
		*branch = skipped->branches[i];
		skipped->branches[i] = skipped->branches[--skipped->count];
		skipped->next = now;
		return true;
	}
	return false;
}
