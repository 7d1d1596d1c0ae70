/*
 * schema.h
 *		Functions that SQL calls, which refuse a schema that is not the library's.
 *
 * Library and schema are installed apart from each other: a package replaces the first, and
 * ALTER EXTENSION UPDATE changes the second.  In between, and in a database that was
 * forgotten, neither may touch what the other one has written.
 */
#ifndef SF_BASE_SCHEMA_H
#define SF_BASE_SCHEMA_H

#include "fmgr.h"

/*
 * Number of the schema: of the tables, functions and stored numbers that the library works
 * with.  The database says its own by the name of a function, _sfflow.schema_N(), which is
 * found in the catalogue cache.  Only schema.c uses this; a test builds it with another one.
 */
#ifndef SF_SCHEMA_NUMBER
#define SF_SCHEMA_NUMBER 2
#endif

/* The schema of this database is the library's; false: not known since the catalogue changed. */
extern bool sf_schema_is_known;

extern void sf_schema_require(void);
extern int	sf_schema_of_library(void);
extern int	sf_schema_of_database(void);
extern const char *sf_schema_advice(void);

/*
 * Head of a function that SQL calls, below its comment.  It runs only where the schema is the
 * library's.  Exceptions say so, and are listed in test/lint/guarded.
 */
#define SF_SQL_FUNCTION(name) \
	PG_FUNCTION_INFO_V1(name); \
	static Datum name##_guarded(PG_FUNCTION_ARGS); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		if (unlikely(!sf_schema_is_known)) \
			sf_schema_require(); \
		return name##_guarded(fcinfo); \
	} \
	static Datum \
	name##_guarded(PG_FUNCTION_ARGS)

#endif							/* SF_BASE_SCHEMA_H */
