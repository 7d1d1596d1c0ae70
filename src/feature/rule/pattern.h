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

#include "base/value/one_of.h"
#include "json/json.h"

/* Operators of matchers */
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

/* Those that look at a string piece by piece; they alone may stand inside anything-but */
#define SF_MATCHES_OF_TEXT	SF_MATCH_PREFIX, SF_MATCH_SUFFIX, SF_MATCH_IGNORE_CASE, SF_MATCH_WILDCARD

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

/* PREFIX, SUFFIX, IGNORE_CASE, WILDCARD */
typedef struct SfTextMatch
{
	SfPiece    *pieces;			/* one; WILDCARD: those between the asterisks */
	int			npieces;
	bool		ignores_case;	/* the pieces are in lower case */
} SfTextMatch;

/* NUMERIC */
typedef struct SfRangeMatch
{
	SfBound		low;
	SfBound		high;
} SfRangeMatch;

/* CIDR */
typedef struct SfNetworkMatch
{
	int			family;			/* AF_INET or AF_INET6 */
	uint8		address[16];
	int			bits;
} SfNetworkMatch;

/* NONE_OF */
typedef struct SfOtherMatch
{
	struct SfMatcher *matchers;
	int			n;
} SfOtherMatch;

/* One element of a leaf: sf_matcher_value and the like read what its kind has */
typedef struct SfMatcher
{
	SfMatchKind kind;
	union
	{
		JsonbValue	value;		/* VALUE */
		bool		exists;		/* EXISTS */
		SfTextMatch text;
		SfRangeMatch range;
		SfNetworkMatch network;
		SfOtherMatch others;
	};
} SfMatcher;

/* sf_matcher_value(matcher), sf_matcher_text(matcher) …: what its kind has */
#define SF_MATCHER_PART(part_type, part, is_of_kind) \
	static inline const part_type * \
	sf_matcher_##part(const SfMatcher *matcher) \
	{ \
		SfMatchKind kind PG_USED_FOR_ASSERTS_ONLY = matcher->kind; \
		Assert(is_of_kind); \
		return &matcher->part; \
	}
SF_MATCHER_PART(JsonbValue, value, kind == SF_MATCH_VALUE)
SF_MATCHER_PART(bool, exists, kind == SF_MATCH_EXISTS)
SF_MATCHER_PART(SfTextMatch, text, SF_IS_ONE_OF(kind, SF_MATCHES_OF_TEXT))
SF_MATCHER_PART(SfRangeMatch, range, kind == SF_MATCH_NUMERIC)
SF_MATCHER_PART(SfNetworkMatch, network, kind == SF_MATCH_CIDR)
SF_MATCHER_PART(SfOtherMatch, others, kind == SF_MATCH_NONE_OF)

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

/* Does an event match a pattern? */
typedef enum SfFit
{
	SF_FIT_NO,
	SF_FIT_YES,
	SF_FIT_UNKNOWN				/* to find out takes more steps than there were */
} SfFit;

extern SfPattern *sf_pattern_compile(const Jsonb *pattern);
extern SfPattern *sf_pattern_compile_new(const Jsonb *pattern);
extern bool sf_pattern_matches(const SfPattern *pattern, const JsonbValue *event);
extern SfFit sf_pattern_matches_within(const SfPattern *pattern, const JsonbValue *event, int64 *steps);
extern bool sf_pattern_may_match(const SfPattern *pattern, const char *field, const char *text);
extern bool sf_pattern_names(const SfPattern *pattern, const char *field);
extern char *sf_pattern_fold(const char *text, int length, int *folded_length);

#endif							/* SF_FEATURE_PATTERN_H */
