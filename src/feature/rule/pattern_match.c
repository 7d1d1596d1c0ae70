/*
 * pattern_match.c
 *		Match an event with a compiled pattern.
 *
 * The time is linear in the size of the event times that of the pattern: there is
 * no going back, not even for wildcards.  What matching needs besides is one scalar of the
 * event in lower case.  It can be interrupted after each matcher.
 *
 * A step is a matcher at a scalar, an object of the event, or STEP_BYTES of a string that is read whole.
 */
#include "postgres.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "miscadmin.h"
#include "utils/fmgrprotos.h"

#include "feature/rule/pattern.h"

/* Bytes of a string that count as a step */
#define STEP_BYTES	64

/* Steps that the match may still take; less than 0: it was given up, and its result says nothing */
static int64 steps_left = PG_INT64_MAX;

/* Take some steps; false: there are none left. */
static inline bool
take_steps(int64 n)
{
	steps_left -= n;
	return steps_left >= 0;
}

/* A scalar of an event */
typedef struct Scalar
{
	const JsonbValue *value;
	char	   *folded;			/* a string in lower case, once a matcher has needed it; or NULL */
	int			folded_length;
} Scalar;

/* --- strings --- */

/* Find a piece in a text; NULL: it is not there. */
static const char *
find_piece(const char *text, const char *end, const SfPiece *piece)
{
	return piece->length == 0 ? text : memmem(text, end - text, piece->text, piece->length);
}

/* Tell whether a text begins with a piece. */
static bool
begins_with(const char *text, int length, const SfPiece *piece)
{
	return length >= piece->length && memcmp(text, piece->text, piece->length) == 0;
}

/* Tell whether a text ends with a piece. */
static bool
ends_with(const char *text, int length, const SfPiece *piece)
{
	return length >= piece->length &&
		memcmp(text + length - piece->length, piece->text, piece->length) == 0;
}

/*
 * Match a text with the pieces between asterisks: the first piece is at its beginning,
 * the last one at its end, and each of the others at the first position behind the one
 * before it.
 */
static bool
matches_wildcard(const SfTextMatch *match, const char *text, int length)
{
	const SfPiece *first = &match->pieces[0];
	const SfPiece *last = &match->pieces[match->npieces - 1];
	const char *at = text + first->length;
	const char *end = text + length - last->length;

	if (match->npieces == 1)
		return length == first->length && begins_with(text, length, first);
	if (length < first->length + last->length || !begins_with(text, length, first) ||
		!ends_with(text, length, last))
		return false;
	for (int i = 1; i < match->npieces - 1; i++)
	{
		at = find_piece(at, end, &match->pieces[i]);
		if (at == NULL)
			return false;
		at += match->pieces[i].length;
	}
	return true;
}

/* Put a scalar that is a string into lower case, once for all matchers. */
static void
fold(Scalar *scalar)
{
	if (scalar->folded == NULL)
		scalar->folded = sf_pattern_fold(scalar->value->val.string.val, scalar->value->val.string.len,
										 &scalar->folded_length);
}

/* Match a string. */
static bool
matches_string(const SfMatcher *matcher, Scalar *scalar)
{
	const SfTextMatch *match = sf_matcher_text(matcher);
	const char *text = scalar->value->val.string.val;
	int			length = scalar->value->val.string.len;

	if (scalar->value->type != jbvString)
		return false;
	if ((match->ignores_case || matcher->kind == SF_MATCH_WILDCARD) && !take_steps(length / STEP_BYTES))
		return false;
	if (match->ignores_case)
	{
		fold(scalar);
		text = scalar->folded;
		length = scalar->folded_length;
	}
	switch (matcher->kind)
	{
		case SF_MATCH_PREFIX:
			return begins_with(text, length, match->pieces);
		case SF_MATCH_SUFFIX:
			return ends_with(text, length, match->pieces);
		case SF_MATCH_IGNORE_CASE:
			return length == match->pieces->length && begins_with(text, length, match->pieces);
		case SF_MATCH_WILDCARD:
			return matches_wildcard(match, text, length);
		case SF_MATCH_VALUE:
		case SF_MATCH_NONE_OF:
		case SF_MATCH_EXISTS:
		case SF_MATCH_NUMERIC:
		case SF_MATCH_CIDR:
			break;				/* matches_scalar() deals with them */
	}
	return false;
}

/* --- numbers and addresses --- */

/* Compare a number with an end of a range; 0 where the end is open. */
static int
compare_bound(Numeric number, const SfBound *bound)
{
	return bound->number == NULL ? 0 :
		DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(number),
										  NumericGetDatum(bound->number)));
}

/* Match a number with a range. */
static bool
matches_numeric(const SfRangeMatch *range, const JsonbValue *value)
{
	const SfBound *low = &range->low;
	const SfBound *high = &range->high;
	int			above,
				below;

	if (value->type != jbvNumeric)
		return false;
	above = compare_bound(value->val.numeric, low);
	below = compare_bound(value->val.numeric, high);
	return (above > 0 || (above == 0 && (low->number == NULL || low->inclusive))) &&
		(below < 0 || (below == 0 && (high->number == NULL || high->inclusive)));
}

/* Match an address with the first bits of another one. */
static bool
matches_cidr(const SfNetworkMatch *network, const JsonbValue *value)
{
	char		text[INET6_ADDRSTRLEN];
	uint8		address[16];
	int			bytes = network->bits / 8;
	int			shift = 8 - network->bits % 8;

	if (value->type != jbvString || value->val.string.len >= (int) sizeof(text))
		return false;
	memcpy(text, value->val.string.val, value->val.string.len);
	text[value->val.string.len] = '\0';
	return inet_pton(network->family, text, address) == 1 &&
		memcmp(address, network->address, bytes) == 0 &&
		(shift == 8 || (address[bytes] ^ network->address[bytes]) >> shift == 0);
}

/* --- leaves and objects --- */

static bool matches_scalar(const SfMatcher *matcher, Scalar *scalar);

/* Match a scalar with some matchers: one of them does. */
static bool
matches_any(const SfMatcher *matchers, int n, Scalar *scalar)
{
	for (int i = 0; i < n && take_steps(1); i++)
		if (matches_scalar(&matchers[i], scalar))
			return true;
	return false;
}

/* Match a scalar. */
static bool
matches_scalar(const SfMatcher *matcher, Scalar *scalar)
{
	const JsonbValue *value = scalar->value;

	CHECK_FOR_INTERRUPTS();
	switch (matcher->kind)
	{
		case SF_MATCH_VALUE:
			return value->type == sf_matcher_value(matcher)->type &&
				sf_json_value_is_equal(value, sf_matcher_value(matcher));
		case SF_MATCH_NONE_OF:
			return !matches_any(sf_matcher_others(matcher)->matchers, sf_matcher_others(matcher)->n, scalar);
		case SF_MATCH_EXISTS:
			return *sf_matcher_exists(matcher);
		case SF_MATCH_NUMERIC:
			return matches_numeric(sf_matcher_range(matcher), value);
		case SF_MATCH_CIDR:
			return matches_cidr(sf_matcher_network(matcher), value);
		case SF_MATCH_PREFIX:
		case SF_MATCH_SUFFIX:
		case SF_MATCH_IGNORE_CASE:
		case SF_MATCH_WILDCARD:
			return matches_string(matcher, scalar);
	}
	return false;
}

/* Match a scalar with a leaf: one of its elements does. */
static bool
leaf_matches_scalar(const SfPatternField *field, const JsonbValue *value)
{
	Scalar		scalar = {.value = value};
	bool		found = matches_any(field->matchers, field->nmatchers, &scalar);

	if (scalar.folded != NULL)
		pfree(scalar.folded);
	return found;
}

/* Match a value with a leaf: of an array, one scalar in it; *any: it has some. */
static bool
leaf_matches_some(const SfPatternField *field, const JsonbValue *value, bool *any)
{
	JsonbValue	element;

	check_stack_depth();
	if (sf_json_is_object(value))
		return false;
	if (!sf_json_is_array(value))
	{
		*any = true;
		return leaf_matches_scalar(field, value);
	}
	for (int i = 0; sf_json_element(value, i, &element) && take_steps(1); i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (leaf_matches_some(field, &element, any))
			return true;
	}
	return false;
}

/* Match what a leaf is about, NULL: nothing.  Where no scalar is, nothing exists. */
static bool
leaf_matches(const SfPatternField *field, const JsonbValue *value)
{
	bool		any = false;

	if (value != NULL && leaf_matches_some(field, value, &any))
		return true;
	for (int i = 0; i < field->nmatchers && !any; i++)
		if (field->matchers[i].kind == SF_MATCH_EXISTS && !*sf_matcher_exists(&field->matchers[i]))
			return true;
	return false;
}

static bool matches_value(const SfPattern *pattern, const JsonbValue *event);

/* Match all fields of an object (NULL: one without any member), and one pattern of a $or. */
static bool
object_matches(const SfPattern *pattern, const JsonbValue *object)
{
	const SfPatternChoice *choice = &pattern->choice;
	bool		chosen = choice->npatterns == 0;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < pattern->nfields; i++)
	{
		const SfPatternField *field = &pattern->fields[i];
		JsonbValue	value;
		const JsonbValue *v = object != NULL &&
			sf_json_member(object, field->name, field->length, &value) ? &value : NULL;

		if (!take_steps(1))
			return false;
		if (field->kind == SF_PATTERN_OBJECT ? !matches_value(field->object, v) : !leaf_matches(field, v))
			return false;
	}
	for (int i = 0; i < choice->npatterns && !chosen; i++)
		chosen = object_matches(choice->patterns[i], object);
	return chosen;
}

/*
 * Match a value with a pattern: an object, or an array one of whose objects matches.
 * Anything else (NULL: nothing) is like an object without members.
 */
static bool
matches_value(const SfPattern *pattern, const JsonbValue *event)
{
	bool		any = false;
	JsonbValue	element;

	check_stack_depth();
	if (event != NULL && sf_json_is_object(event))
		return object_matches(pattern, event);
	for (int i = 0; event != NULL && sf_json_element(event, i, &element) && take_steps(1); i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (sf_json_count(&element) == SF_JSON_NO_COUNT)
			continue;
		any = true;
		if (matches_value(pattern, &element))
			return true;
	}
	return !any && object_matches(pattern, NULL);
}

/* Match an event with a pattern. */
bool
sf_pattern_matches(const SfPattern *pattern, const JsonbValue *event)
{
	steps_left = PG_INT64_MAX;
	return matches_value(pattern, event);
}

/* The same in a number of steps, of which *steps are left; once they are used up, the answer is unknown. */
SfFit
sf_pattern_matches_within(const SfPattern *pattern, const JsonbValue *event, int64 *steps)
{
	bool		matches;

	if (*steps < 0)
		return SF_FIT_UNKNOWN;
	steps_left = *steps;
	matches = matches_value(pattern, event);
	*steps = steps_left;
	return *steps < 0 ? SF_FIT_UNKNOWN : matches ? SF_FIT_YES : SF_FIT_NO;
}

/* --- what can be said of a pattern beforehand --- */

/* Tell whether events that have a text in a field of the event itself may match. */
bool
sf_pattern_may_match(const SfPattern *pattern, const char *field, const char *text)
{
	JsonbValue	value;

	steps_left = PG_INT64_MAX;
	sf_json_value_cstring(&value, text);
	for (int i = 0; i < pattern->nfields; i++)
		if (strcmp(pattern->fields[i].name, field) == 0)
			return pattern->fields[i].kind == SF_PATTERN_LEAF && leaf_matches(&pattern->fields[i], &value);
	return true;
}

/* Tell whether a pattern has a field with a name that begins with a text, at any depth. */
bool
sf_pattern_names(const SfPattern *pattern, const char *field)
{
	for (int i = 0; i < pattern->nfields; i++)
		if (strncmp(pattern->fields[i].name, field, strlen(field)) == 0 ||
			(pattern->fields[i].kind == SF_PATTERN_OBJECT &&
			 sf_pattern_names(pattern->fields[i].object, field)))
			return true;
	for (int i = 0; i < pattern->choice.npatterns; i++)
		if (sf_pattern_names(pattern->choice.patterns[i], field))
			return true;
	return false;
}
