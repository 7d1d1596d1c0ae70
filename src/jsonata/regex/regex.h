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

/* --- regex.c: searches --- */

typedef struct SfJnMatch
{
	Size		start;			/* code points */
	Size		end;
	Size		subject_len;	/* of the whole subject */
	SfJnValue  *text;
	SfJnValue **groups;			/* NULL: took no part */
	int			ngroups;
} SfJnMatch;

/* Search from a code point on; false when there is no match. */
extern bool sf_jn_regex_search(SfJnEval *ev, const SfJnRegex *regex,
							   SfJnValue *subject, Size from, SfJnMatch *match);
extern SfJnValue *sf_jn_match_groups(SfJnEval *ev, const SfJnMatch *match);
extern SfJnValue *sf_jn_match_object(SfJnEval *ev, const SfJnMatch *match);
extern SfJnValue *sf_jn_regex_apply(SfJnEval *ev, const SfJnFunction *function,
									SfJnValue **args, int nargs);

#endif							/* SF_JSONATA_REGEX_H */
