/*
 * conditions.h
 *		Condition names of PostgreSQL's SQLSTATEs.
 *
 * This file includes nothing of the server, so that sfworker uses it, too.  make
 * prints the list from PostgreSQL's utils/errcodes.h.  A server that is newer than
 * that header may raise a code that is not in the list.
 */
#ifndef SF_BASE_CONDITIONS_H
#define SF_BASE_CONDITIONS_H

/* Name the condition of a SQLSTATE as PL/pgSQL does; NULL: it has no name. */
static inline const char *
sf_condition_name(const char *sqlstate)
{
	static const struct
	{
		char		sqlstate[6];
		const char *name;
	}			conditions[] = {
#include "base/error/condition_names.h"
	};

	for (size_t i = 0; i < lengthof(conditions); i++)
	{
		if (strcmp(conditions[i].sqlstate, sqlstate) == 0)
			return conditions[i].name;
	}
	return NULL;
}

#endif							/* SF_BASE_CONDITIONS_H */
