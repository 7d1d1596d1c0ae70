/*
 * table_copy.c
 *		What a backend keeps of a small table, or derives from it.
 *
 * Such a table has few rows, changes rarely, and is asked all the time.  Each backend
 * reads it once.  A session that writes to it invalidates its relcache entry
 * (sf_store_announce_change).  PostgreSQL tells the other backends at commit, also that of
 * COMMIT PREPARED, and this one at commit or rollback; a backend takes that in when it
 * begins its next transaction, or opens a table.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "db/table.h"
#include "db/table_copy.h"

/* The copies that were loaded */
static SfTableCopy *copies = NULL;

/* Relcache callback: tables may have changed. */
static void
invalidate(Datum arg, Oid relid)
{
	for (SfTableCopy *copy = copies; copy != NULL; copy = copy->next)
		if (!OidIsValid(relid) || relid == copy->relation)
			copy->is_current = false;
}

/* Have changes of a table invalidate its copy. */
static void
watch(SfTableCopy *copy)
{
	if (copies == NULL)
		CacheRegisterRelcacheCallback(invalidate, (Datum) 0);
	copy->context = AllocSetContextCreate(CacheMemoryContext, "sfflow table copy",
										  ALLOCSET_START_SMALL_SIZES);
	MemoryContextSetIdentifier(copy->context, copy->table);
	copy->next = copies;
	copies = copy;
}

/*
 * Take in what other sessions have changed.  What they committed before this call is seen.  The caller has read the
 * clock, if it compares times with it: that comes before the look at the messages.
 */
void
sf_table_copy_accept_changes(void)
{
	pg_memory_barrier();
	AcceptInvalidationMessages();
}

/*
 * Load a copy anew if it is out of date.  A change that comes while it is loaded leaves
 * it out of date.
 */
void
sf_table_copy_refresh(SfTableCopy *copy)
{
	if (copy->is_current)
		return;
	if (copy->context == NULL)
		watch(copy);
	MemoryContextReset(copy->context);
	copy->relation = sf_store_relation(copy->table);
	/* before reading: a change meanwhile counts */
	copy->is_current = true;
	PG_TRY();
	{
		copy->load(copy);
	}
	PG_CATCH();
	{
		copy->is_current = false;
		PG_RE_THROW();
	}
	PG_END_TRY();
	/* a snapshot of long ago is good for its own transaction only */
	if (!copy->is_latest && IsolationUsesXactSnapshot())
		copy->is_current = false;
}
