/*
 * owner.h
 *		Give what a role owns to another one.
 */
#ifndef SF_STORE_OWNER_H
#define SF_STORE_OWNER_H

#include "base/hooks.h"
#include "nodes/pg_list.h"

/* One more kind of object for sf_owned_names, beside those of privilege.h */
#define SF_OBJECT_SCHEDULE		's'

/* Names of the state machines, activities or schedules of a role. */
extern List *sf_owned_names(char kind, Oid owner);

/*
 * Change the owner of a state machine.  Its branches follow; those that
 * another session has locked do so when they are claimed next.
 */
extern void sf_owner_set_machine(int machine_no, Oid owner);

/* Change the owner of an activity, and of the row of a schedule. */
extern void sf_owner_set_activity(int activity_no, Oid owner);

/*
 * Give the mappings of a role to another one; the pattern that both map to
 * different resources is returned instead (NULL: none).  *moved counts them.
 */
extern char *sf_owner_move_mappings(Oid from, Oid to, int64 *moved);

/* Delete the rights that were given to a role; returns how many. */
extern int64 sf_owner_delete_grants(Oid role);

/*
 * Move a branch from the queue of a role that no longer owns its machine into
 * the queue of the new owner.  Returns false when it is locked, or in another
 * queue.
 */
extern bool sf_owner_requeue(SfBranchKey key, Oid from, Oid to);

#endif							/* SF_STORE_OWNER_H */
