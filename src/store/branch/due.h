/*
 * due.h
 *		Finding branches that are due, by owner or by execution.
 */
#ifndef SF_STORE_DUE_H
#define SF_STORE_DUE_H

#include "nodes/pg_list.h"

#include "base/hooks.h"

/*
 * Owners of branches that are due or wait for a time, in the order of their turns: those
 * above the last one, then from the lowest on, up to and with until.  All zeros: all of
 * them, from the lowest on.
 */
typedef struct SfOwnerTurns
{
	Oid			last;			/* whose turn was the last one */
	Oid			until;
	bool		wrapped;		/* began again with the lowest */
	const Oid  *known;			/* these are all there are; NULL: look for them */
	int			nknown;
} SfOwnerTurns;

extern Oid	sf_branch_next_owner(SfOwnerTurns *turns);
extern List *sf_branch_owners(SfOwnerTurns *turns, int max);

/*
 * Find the keys of an owner's branches that became due in a span of time, oldest
 * first.  They are not locked; the session that claims one checks it again.
 * Announced long tasks stay due while they run, so a function of its own finds
 * them, with the time since when each is due (dues may be NULL).
 */
extern int	sf_branch_due_of(Oid owner, TimestampTz from, TimestampTz to,
							 SfBranchKey *keys, TimestampTz *dues, int size);
extern int	sf_branch_announced(Oid owner, TimestampTz from, TimestampTz to,
								SfBranchKey *keys, TimestampTz *dues, int size);

extern int	sf_branch_due(int64 execution_no, TimestampTz at, bool skip_waits,
						  SfBranchKey *keys, int size);

/*
 * The same for the running item executions of an execution, and theirs.
 */
extern int	sf_branch_due_items(int64 execution_no, TimestampTz at,
								bool skip_waits, SfBranchKey *keys, int size);

extern void sf_branch_set_back(Oid owner, TimestampTz now, int64 by);
extern TimestampTz sf_branch_next_due(Oid owner, TimestampTz after);

#endif							/* SF_STORE_DUE_H */
