/*
 * pattern.h
 *		Event patterns of EventBridge: compile once, match events.
 *
 * A pattern is an object of the form of an event.  Its leaves are arrays of values
 * and matchers, of which one has to match; all fields have to match.  docs/rules.md
 * describes the language.
 */
#ifndef SF_FEATURE_PATTERN_H
#define SF_FEATURE_PATTERN_H

#include "json/json.h"

/* Operators of matchers; those from PREFIX on may stand inside anything-but */
typedef enum SfMatchKind
{
	SF_MATCH_VALUE,				/* none: a string, number, true, false or null */
	SF_MATCH_NONE_OF,			/* anything-but */
	SF_MATCH_EXISTS,
	SF_MATCH_NUMERIC,
	SF_MATCH_CIDR,
	SF_MATCH_PREFIX,
	SF_MATCH_SUFFIX,
	SF_MATCH_IGNORE_CASE,
	SF_MATCH_WILDCARD
} SfMatchKind;

/* A part of a string to be found */
typedef struct SfPiece
{
	const char *text;
	int			length;
} SfPiece;

/* An end of a range of numbers */
typedef struct SfBound
{
	Numeric		number;			/* NULL: open */
	bool		inclusive;
} SfBound;

/* One element of a leaf */
typedef struct SfMatcher
{
	SfMatchKind kind;
	bool		ignores_case;	/* PREFIX, SUFFIX, IGNORE_CASE: the piece is in lower case */
	JsonbValue	value;			/* VALUE */
	bool		exists;			/* EXISTS */
	SfPiece    *pieces;			/* PREFIX, SUFFIX, IGNORE_CASE: one; WILDCARD: between the
								 * asterisks */
	int			npieces;
	SfBound		low;			/* NUMERIC */
	SfBound		high;
	int			family;			/* CIDR: AF_INET or AF_INET6 */
	uint8		address[16];
	int			bits;
	struct SfMatcher *others;	/* NONE_OF */
	int			nothers;
} SfMatcher;

typedef enum SfPatternFieldKind
{
	SF_PATTERN_LEAF,
	SF_PATTERN_OBJECT
} SfPatternFieldKind;

/* A field of a pattern */
typedef struct SfPatternField
{
	const char *name;
	int			length;
	SfPatternFieldKind kind;
	union
	{
		struct SfPattern *object;	/* OBJECT */
		struct
		{
			SfMatcher  *matchers;
			int			nmatchers;
		};						/* LEAF */
	};
} SfPatternField;

/* The alternatives of a $or */
typedef struct SfPatternChoice
{
	struct SfPattern **patterns;
	int			npatterns;
} SfPatternChoice;

typedef struct SfPattern
{
	SfPatternField *fields;
	int			nfields;
	SfPatternChoice choice;		/* no patterns: there is no $or */
} SfPattern;

/* Values and operators, those inside anything-but also, of a pattern that is made, at most */
#define SF_PATTERN_MAX_MATCHERS	1000

extern SfPattern *sf_pattern_compile(const Jsonb *pattern);
extern SfPattern *sf_pattern_compile_new(const Jsonb *pattern);
extern bool sf_pattern_matches(const SfPattern *pattern, const JsonbValue *event);
extern bool sf_pattern_may_match(const SfPattern *pattern, const char *field, const char *text);
extern bool sf_pattern_names(const SfPattern *pattern, const char *field);
extern char *sf_pattern_fold(const char *text, int length, int *folded_length);

#endif							/* SF_FEATURE_PATTERN_H */
