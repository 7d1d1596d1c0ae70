/*
 * renames.h
 *		Names that states get when an execution is migrated to another version.
 */
#ifndef SF_STORE_RENAMES_H
#define SF_STORE_RENAMES_H

#include "nodes/pg_list.h"

#include "json/json.h"

extern Jsonb *sf_renames_of_migration(const Jsonb *details);
extern const char *sf_renames_after(const Jsonb *renames, const char *name);
extern List *sf_renames_before(const Jsonb *renames, const List *names);

#endif							/* SF_STORE_RENAMES_H */
