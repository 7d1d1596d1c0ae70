/*
 * regex.h
 *		A compiled regular expression: its alternatives in PostgreSQL's notation.
 */
#ifndef SF_JSONATA_REGEX_H
#define SF_JSONATA_REGEX_H

#include "jsonata/function/functions.h"

#define SF_JN_MAX_GROUPS 100
#define SF_JN_MAX_ALTERNATIVES 32

/* One alternative of a pattern, or all of it */
typedef struct SfJnAlternative
{
	text	   *pattern;		/* PostgreSQL's */
	int			captures;		/* that the alternatives before it have */
} SfJnAlternative;

struct SfJnRegex
{
	int			flags;
	Oid			collation;		/* C, but where letters beyond ASCII have two cases */
	int			ngroups;
	int			ncaptures;		/* groups that the engine tells of */
	int		   *captures;		/* which groups they are */
	int			nalternatives;
	SfJnAlternative *alternatives;
};

#endif							/* SF_JSONATA_REGEX_H */
