/*
 * resource_map.h
 *		Rows of _sfflow.resource_map, what resources are mapped to, and a cache of it in each session.
 */
#ifndef SF_STORE_RESOURCE_MAP_H
#define SF_STORE_RESOURCE_MAP_H

#include "db/row.h"

/* Columns of _sfflow.resource_map; see sql/parts/store/machine.sql. */
#define SF_RESOURCE_MAP_COLUMNS(X) \
	X(Oid, owner, REGROLE, NOT_NULL) \
	X(char *, pattern, TEXT, NOT_NULL)	/* "*" is any text */ \
	X(char *, resource, TEXT, NOT_NULL)

typedef struct SfResourceMapping
{
	SF_RESOURCE_MAP_COLUMNS(SF_FIELD)
} SfResourceMapping;

extern void sf_resource_map_put(Oid owner, const char *pattern, const char *resource);
extern bool sf_resource_map_delete(Oid owner, const char *pattern);

/*
 * The mappings of a role and of superusers (a List of SfResourceMapping), as they are now: the
 * session's cache, valid until the next call.
 */
extern const List *sf_resource_map_of(Oid owner);

#endif							/* SF_STORE_RESOURCE_MAP_H */
