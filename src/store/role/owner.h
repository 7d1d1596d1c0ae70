/*
 * owner.h
 *		Give what a role owns to another one.
 */
#ifndef SF_STORE_OWNER_H
#define SF_STORE_OWNER_H

#include "nodes/pg_list.h"

#include "base/hooks.h"
#include "db/table.h"
#include "store/role/object_kind.h"

/* Names of the state machines or activities of a role. */
extern List *sf_owned_names(SfObjectKind kind, Oid owner);

extern void sf_owner_set_machine(int machine_no, Oid owner);
extern void sf_owner_set_of(SfArg executions);
extern void sf_owner_set_activity(int activity_no, Oid owner);

extern char *sf_owner_pass_on_mappings(Oid from, Oid to, int64 *passed_on);

extern bool sf_owner_set_branch(SfBranchKey key, Oid from, Oid to);

#endif							/* SF_STORE_OWNER_H */
