/*
 * names.h
 *		Names of objects, for the hint that names the one probably meant.
 */
#ifndef SF_STORE_NAMES_H
#define SF_STORE_NAMES_H

#include "db/row.h"
#include "store/role/object_kind.h"

/* A state machine or an activity */
#define SF_NAMED_FIELDS(X) \
	X(char *, name, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL)

typedef struct SfNamed
{
	SF_NAMED_FIELDS(SF_FIELD)
} SfNamed;

extern List *sf_names_of_objects(SfObjectKind kind);

/* At most max_rows of them that sort behind a name. */
extern List *sf_names_behind(SfObjectKind kind, const char *name, int max_rows);

/*
 * Ids (char *) of executions of a machine that sort next to one, and share
 * the beginning of its name.
 */
extern List *sf_names_of_executions(const char *machine, const char *id);

#endif							/* SF_STORE_NAMES_H */
