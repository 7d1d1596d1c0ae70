/*
 * names.h
 *		Names of objects, for the hint that names the one probably meant.
 */
#ifndef SF_STORE_NAMES_H
#define SF_STORE_NAMES_H

#include "nodes/pg_list.h"

/* A state machine or an activity */
typedef struct SfNamed
{
	char	   *name;
	Oid			owner;
} SfNamed;

extern List *sf_names_of_objects(char kind);

/* At most limit of them that sort behind a name. */
extern List *sf_names_behind(char kind, const char *name, int limit);

/*
 * Ids (char *) of executions of a machine that sort next to one, and share
 * the beginning of its name.
 */
extern List *sf_names_of_executions(const char *machine, const char *id);

#endif							/* SF_STORE_NAMES_H */
