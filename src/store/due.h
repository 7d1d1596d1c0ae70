/*
 * due.h
 *		Finding branches that are due, by owner or by execution.
 */
#ifndef SF_STORE_DUE_H
#define SF_STORE_DUE_H

#include "base/hooks.h"
#include "nodes/pg_list.h"

/*
 * Owners of branches that are due or wait for a time, in the order in which it
 * is their turn: the next one after an owner first, that owner last.
 */
extern List *sf_branch_owners(Oid after);

/* Owners that are known, in the same order. */
extern List *sf_owners_by_turn(const Oid *owners, int nowners, Oid after);

/*
 * Keys of an owner's branches that became due in a span of time, oldest first.
 * Unlocked; whoever claims one re-checks it.  Announced long tasks, which stay
 * due while they run, are found by themselves, with the time since when (dues
 * may be NULL).
 */
extern int	sf_branch_due_of(Oid owner, TimestampTz from, TimestampTz to,
							 SfBranchKey *keys, int size);
extern int	sf_branch_announced(Oid owner, TimestampTz from, TimestampTz to,
								SfBranchKey *keys, TimestampTz *dues, int size);

/* Keys of due branches of an execution, announced ones too. */
extern int	sf_branch_due(int64 execution_no, TimestampTz at, bool skip_waits,
						  SfBranchKey *keys, int size);

/*
 * The same for the running children of an execution, and theirs: executions
 * that a Distributed Map began.
 */
extern int	sf_branch_due_children(int64 execution_no, TimestampTz at,
								   bool skip_waits, SfBranchKey *keys, int size);

/*
 * Have an owner's work be due that the wall clock, set back, shows as ahead:
 * phases that wait for no time.  When by how many microseconds is known (else
 * 0), the delays of retries are shortened by that.
 */
extern void sf_branch_set_back(Oid owner, TimestampTz now, int64 by);

/* When an owner's first timer strictly after a time is due, DT_NOEND: never. */
extern TimestampTz sf_branch_next_due(Oid owner, TimestampTz after);

#endif							/* SF_STORE_DUE_H */
