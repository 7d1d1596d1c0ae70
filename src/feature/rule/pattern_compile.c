/*
 * pattern_compile.c
 *		Compile an event pattern, or say what is wrong with it and where.
 */
#include "postgres.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "catalog/pg_collation.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/formatting.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "feature/rule/pattern.h"

/* The part of the pattern at hand, as a JSON pointer: a list from the inside out */
typedef struct Path
{
	const struct Path *outer;	/* NULL: the pattern itself */
	const char *name;			/* of a member; NULL: an element, by its */
	int			length;
	int			index;
} Path;

/* What may follow "anything-but" */
#define OTHERS	"a string, a number, an array of strings, an array of numbers, or an object with prefix, suffix, equals-ignore-case or wildcard"

/* Compile the value of an operator; the kind of the matcher is set. */
typedef void (*Compiler) (const JsonbValue *value, const Path *path, SfMatcher *matcher);

static void compile_none_of(const JsonbValue *value, const Path *path, SfMatcher *matcher);
static void compile_exists(const JsonbValue *value, const Path *path, SfMatcher *matcher);
static void compile_numeric(const JsonbValue *value, const Path *path, SfMatcher *matcher);
static void compile_cidr(const JsonbValue *value, const Path *path, SfMatcher *matcher);
static void compile_end(const JsonbValue *value, const Path *path, SfMatcher *matcher);
static void compile_ignore_case(const JsonbValue *value, const Path *path, SfMatcher *matcher);
static void compile_wildcard(const JsonbValue *value, const Path *path, SfMatcher *matcher);
static void compile_operator(const JsonbValue *value, const Path *path, SfMatcher *matcher);
static void find_operator(const JsonbValue *v, const Path *path, SfMatcher *matcher,
						  JsonbValue *value, Path *at);
static void compile_object(const JsonbValue *value, const Path *path, SfPattern *pattern);

static const struct
{
	const char *name;
	Compiler	compile;
}			operators[] = {
	[SF_MATCH_NONE_OF] = {"anything-but", compile_none_of},
	[SF_MATCH_EXISTS] = {"exists", compile_exists},
	[SF_MATCH_NUMERIC] = {"numeric", compile_numeric},
	[SF_MATCH_CIDR] = {"cidr", compile_cidr},
	[SF_MATCH_PREFIX] = {"prefix", compile_end},
	[SF_MATCH_SUFFIX] = {"suffix", compile_end},
	[SF_MATCH_IGNORE_CASE] = {"equals-ignore-case", compile_ignore_case},
	[SF_MATCH_WILDCARD] = {"wildcard", compile_wildcard},
};

/* --- paths and problems --- */

/* Append a path as a JSON pointer (RFC 6901). */
static void
append_pointer(StringInfo buf, const Path *path)
{
	if (path->outer == NULL)
		return;
	append_pointer(buf, path->outer);
	if (path->name == NULL)
		appendStringInfo(buf, "/%d", path->index);
	else
		sf_json_append_pointer(buf, path->name, path->length);
}

/* Raise the error for a pattern that is wrong at a path. */
static void pg_attribute_noreturn()
refuse(const Path *path, const char *problem)
{
	StringInfoData pointer;

	initStringInfo(&pointer);
	append_pointer(&pointer, path);
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_PATTERN),
			 errmsg("invalid event pattern at \"%s\": %s", pointer.data, problem)));
}

/* The path of an element. */
static Path
element_path(const Path *outer, int index)
{
	return (Path) {outer, NULL, 0, index};
}

/* Raise unless an array has elements. */
static void
require_elements(const JsonbValue *array, const Path *path)
{
	if (sf_json_count(array) == 0)
		refuse(path, "the array must not be empty");
}

/* --- strings --- */

/* Put a text into lower case, as the database's locale has it. */
char *
sf_pattern_fold(const char *text, int length, int *folded_length)
{
	char	   *folded = str_tolower(text, length, DEFAULT_COLLATION_OID);

	*folded_length = (int) strlen(folded);
	return folded;
}

/* Set the text that a matcher looks for. */
static void
set_text(SfMatcher *matcher, const JsonbValue *value, bool ignores_case)
{
	SfPiece    *piece = palloc(sizeof(SfPiece));

	piece->length = value->val.string.len;
	piece->text = ignores_case ?
		sf_pattern_fold(value->val.string.val, value->val.string.len, &piece->length) :
		pnstrdup(value->val.string.val, value->val.string.len);
	matcher->text = (SfTextMatch) {.pieces = piece,.npieces = 1,.ignores_case = ignores_case};
}

/* Compile prefix or suffix: a string, or {"equals-ignore-case": a string}. */
static void
compile_end(const JsonbValue *value, const Path *path, SfMatcher *matcher)
{
	JsonbValue	inner;

	if (value->type == jbvString)
		set_text(matcher, value, false);
	else if (sf_json_is_object(value) && sf_json_count(value) == 1 &&
			 sf_json_member(value, "equals-ignore-case", 18, &inner) && inner.type == jbvString)
		set_text(matcher, &inner, true);
	else
		refuse(path, "must be a string, or an object with equals-ignore-case and a string");
}

/* Compile equals-ignore-case. */
static void
compile_ignore_case(const JsonbValue *value, const Path *path, SfMatcher *matcher)
{
	if (value->type != jbvString)
		refuse(path, "must be a string");
	set_text(matcher, value, true);
}

/*
 * Compile wildcard: cut it at its asterisks.  "\*" and "\\" stand for an asterisk
 * and a backslash.
 */
static void
compile_wildcard(const JsonbValue *value, const Path *path, SfMatcher *matcher)
{
	const char *text = value->val.string.val;
	int			length = value->type == jbvString ? value->val.string.len : 0;
	bool		after_asterisk = false;
	StringInfoData piece;

	if (value->type != jbvString)
		refuse(path, "must be a string");
	matcher->text = (SfTextMatch) {.pieces = palloc(sizeof(SfPiece) * (length + 1))};
	initStringInfo(&piece);
	for (int i = 0; i <= length; i++)
	{
		if (i == length || text[i] == '*')
		{
			if (i < length && after_asterisk)
				refuse(path, "two asterisks must not follow each other");
			after_asterisk = true;
			matcher->text.pieces[matcher->text.npieces++] =
				(SfPiece) {pnstrdup(piece.data, piece.len), piece.len};
			resetStringInfo(&piece);
			continue;
		}
		if (text[i] == '\\' && (++i == length || (text[i] != '*' && text[i] != '\\')))
			refuse(path, "a backslash must stand before an asterisk or a backslash");
		appendStringInfoChar(&piece, text[i]);
		after_asterisk = false;
	}
	pfree(piece.data);
}

/* --- numbers and addresses --- */

/* The ends of ranges that a comparison with a number gives: LOW, HIGH or both */
#define LOW		1
#define HIGH	2

/* Read a comparison: which ends it gives, and whether the number belongs to the range. */
static int
read_comparison(const JsonbValue *value, const Path *path, bool *inclusive)
{
	static const struct
	{
		const char *text;
		int			ends;
		bool		inclusive;
	}			comparisons[] = {
		{"=", LOW | HIGH, true},
		{">", LOW, false},
		{">=", LOW, true},
		{"<", HIGH, false},
		{"<=", HIGH, true},
	};

	for (size_t i = 0; i < lengthof(comparisons); i++)
		if (value->type == jbvString && value->val.string.len == (int) strlen(comparisons[i].text) &&
			memcmp(value->val.string.val, comparisons[i].text, value->val.string.len) == 0)
		{
			*inclusive = comparisons[i].inclusive;
			return comparisons[i].ends;
		}
	refuse(path, "must be one of =, <, <=, >, >=");
}

/* Set ends of a range by a pair of elements, a comparison and a number; tells which. */
static int
compile_comparison(const JsonbValue *array, int index, const Path *path, SfMatcher *matcher)
{
	JsonbValue	comparison;
	JsonbValue	number;
	Path		at = element_path(path, index);
	Path		number_at = element_path(path, index + 1);
	SfBound		bound = {NULL, false};
	int			ends;

	(void) sf_json_element(array, index, &comparison);
	(void) sf_json_element(array, index + 1, &number);
	ends = read_comparison(&comparison, &at, &bound.inclusive);
	if (number.type != jbvNumeric)
		refuse(&number_at, "must be a number");
	bound.number = DatumGetNumericCopy(NumericGetDatum(number.val.numeric));
	if ((ends & LOW) != 0)
		matcher->range.low = bound;
	if ((ends & HIGH) != 0)
		matcher->range.high = bound;
	return ends;
}

/* Compile numeric: one comparison and its number, or a lower and then an upper bound. */
static void
compile_numeric(const JsonbValue *value, const Path *path, SfMatcher *matcher)
{
	int			n = sf_json_is_array(value) ? sf_json_count(value) : 0;
	int			first;

	if (n != 2 && n != 4)
		refuse(path, "must be an array of a comparison and a number, or of two of both");
	first = compile_comparison(value, 0, path, matcher);
	if (n == 2)
		return;
	if (first != LOW || compile_comparison(value, 2, path, matcher) != HIGH)
		refuse(path, "a range has a lower bound, then an upper bound");
	if (DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(matcher->range.low.number),
										  NumericGetDatum(matcher->range.high.number))) >= 0)
		refuse(path, "the lower bound must be less than the upper bound");
}

/* Compile cidr: an address of IPv4 or IPv6, a slash, the number of its bits. */
static void
compile_cidr(const JsonbValue *value, const Path *path, SfMatcher *matcher)
{
	char	   *text = value->type == jbvString ? pnstrdup(value->val.string.val, value->val.string.len) : pstrdup("");
	char	   *slash = strchr(text, '/');
	char	   *end;
	long		bits;

	if (slash == NULL)
		refuse(path, "must be a string with an address and the length of its prefix, such as \"10.0.0.0/24\"");
	*slash = '\0';
	matcher->network.family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
	if (inet_pton(matcher->network.family, text, matcher->network.address) != 1)
		refuse(path, "is no address of IPv4 or IPv6");
	bits = strtol(slash + 1, &end, 10);
	if (slash[1] < '0' || slash[1] > '9' || *end != '\0' ||
		bits > (matcher->network.family == AF_INET ? 32 : 128))
		refuse(path, "the length of the prefix is wrong");
	matcher->network.bits = (int) bits;
}

/* --- other operators --- */

/* Compile exists. */
static void
compile_exists(const JsonbValue *value, const Path *path, SfMatcher *matcher)
{
	if (value->type != jbvBool)
		refuse(path, "must be true or false");
	matcher->exists = value->val.boolean;
}

/* Copy a scalar into the current memory context. */
static JsonbValue
copy_scalar(const JsonbValue *value)
{
	JsonbValue	copy = *value;

	if (value->type == jbvString)
		copy.val.string.val = pnstrdup(value->val.string.val, value->val.string.len);
	else if (value->type == jbvNumeric)
		copy.val.numeric = DatumGetNumericCopy(NumericGetDatum(value->val.numeric));
	return copy;
}

/*
 * Compile the object of anything-but: one operator for strings, with one string or
 * several.
 */
static void
compile_other_strings(const JsonbValue *value, const Path *path, SfMatcher *matcher)
{
	SfMatcher	inner = {0};
	JsonbValue	list;
	JsonbValue	element;
	Path		at;

	find_operator(value, path, &inner, &list, &at);
	if (!SF_IS_ONE_OF(inner.kind, SF_MATCHES_OF_TEXT))
		refuse(path, "must be " OTHERS);
	if (!sf_json_is_array(&list))
	{
		matcher->others.matchers = palloc0(sizeof(SfMatcher));
		matcher->others.n = 1;
		compile_operator(value, path, &matcher->others.matchers[0]);
		return;
	}
	require_elements(&list, &at);
	matcher->others.n = sf_json_count(&list);
	matcher->others.matchers = palloc0(sizeof(SfMatcher) * matcher->others.n);
	for (int i = 0; i < matcher->others.n; i++)
	{
		Path		element_at = element_path(&at, i);

		(void) sf_json_element(&list, i, &element);
		matcher->others.matchers[i].kind = inner.kind;
		operators[inner.kind].compile(&element, &element_at, &matcher->others.matchers[i]);
	}
}

/* Compile anything-but. */
static void
compile_none_of(const JsonbValue *value, const Path *path, SfMatcher *matcher)
{
	JsonbValue	element = *value;

	if (sf_json_is_object(value))
	{
		compile_other_strings(value, path, matcher);
		return;
	}
	if (sf_json_is_array(value))
		require_elements(value, path);
	matcher->others.n = sf_json_is_array(value) ? sf_json_count(value) : 1;
	matcher->others.matchers = palloc0(sizeof(SfMatcher) * matcher->others.n);
	for (int i = 0; i < matcher->others.n; i++)
	{
		if (sf_json_is_array(value))
			(void) sf_json_element(value, i, &element);
		if ((element.type != jbvString && element.type != jbvNumeric) ||
			(i > 0 && element.type != matcher->others.matchers[0].value.type))
			refuse(path, "must be " OTHERS);
		matcher->others.matchers[i].value = copy_scalar(&element);
	}
}

/* Find the operator of an object; its value, and where that is. */
static void
find_operator(const JsonbValue *v, const Path *path, SfMatcher *matcher, JsonbValue *value,
			  Path *at)
{
	if (sf_json_count(v) != 1)
		refuse(path, "must have one operator");
	for (size_t i = SF_MATCH_NONE_OF; i < lengthof(operators); i++)
		if (sf_json_member(v, operators[i].name, strlen(operators[i].name), value))
		{
			matcher->kind = (SfMatchKind) i;
			*at = (Path) {path, operators[i].name, strlen(operators[i].name), 0};
			return;
		}
	refuse(path, "the operator must be one of anything-but, cidr, equals-ignore-case, exists, numeric, prefix, suffix, wildcard");
}

/* Compile an object with one operator. */
static void
compile_operator(const JsonbValue *v, const Path *path, SfMatcher *matcher)
{
	JsonbValue	value;
	Path		at;

	find_operator(v, path, matcher, &value, &at);
	operators[matcher->kind].compile(&value, &at, matcher);
}

/* --- leaves and objects --- */

/* Compile an element of a leaf. */
static void
compile_matcher(const JsonbValue *value, const Path *path, SfMatcher *matcher)
{
	CHECK_FOR_INTERRUPTS();
	if (sf_json_is_object(value))
		compile_operator(value, path, matcher);
	else if (sf_json_is_array(value))
		refuse(path, "must be a string, a number, true, false, null, or an object with one operator");
	else
		matcher->value = copy_scalar(value);
}

/* Compile a field: a leaf, or an object. */
static void
compile_field(const JsonbValue *value, const Path *path, SfPatternField *field)
{
	field->name = pnstrdup(path->name, path->length);
	field->length = path->length;
	if (sf_json_is_object(value))
	{
		field->kind = SF_PATTERN_OBJECT;
		field->object = palloc0(sizeof(SfPattern));
		compile_object(value, path, field->object);
		return;
	}
	if (!sf_json_is_array(value))
		refuse(path, "must be an array of values and operators, or an object");
	require_elements(value, path);
	field->kind = SF_PATTERN_LEAF;
	field->nmatchers = sf_json_count(value);
	field->matchers = palloc0(sizeof(SfMatcher) * field->nmatchers);
	for (int i = 0; i < field->nmatchers; i++)
	{
		JsonbValue	element;
		Path		at = element_path(path, i);

		(void) sf_json_element(value, i, &element);
		compile_matcher(&element, &at, &field->matchers[i]);
	}
}

/* Compile a $or: two or more objects. */
static void
compile_choice(const JsonbValue *value, const Path *path, SfPatternChoice *choice)
{
	if (!sf_json_is_array(value) || sf_json_count(value) < 2)
		refuse(path, "must be an array of two or more objects");
	choice->npatterns = sf_json_count(value);
	choice->patterns = palloc0(sizeof(SfPattern *) * choice->npatterns);
	for (int i = 0; i < choice->npatterns; i++)
	{
		JsonbValue	element;
		Path		at = element_path(path, i);

		(void) sf_json_element(value, i, &element);
		choice->patterns[i] = palloc0(sizeof(SfPattern));
		compile_object(&element, &at, choice->patterns[i]);
	}
}

/* Compile an object. */
static void
compile_object(const JsonbValue *v, const Path *path, SfPattern *pattern)
{
	JsonbIterator *it;
	JsonbIteratorToken token;
	JsonbValue	key;
	JsonbValue	value;

	check_stack_depth();
	if (!sf_json_is_object(v))
		refuse(path, "must be an object");
	if (sf_json_count(v) == 0)
		refuse(path, "the object must not be empty");
	pattern->fields = palloc0(sizeof(SfPatternField) * sf_json_count(v));
	it = JsonbIteratorInit(v->val.binary.data);
	while ((token = JsonbIteratorNext(&it, &key, true)) != WJB_DONE)
	{
		Path		at;

		if (token != WJB_KEY)
			continue;
		(void) JsonbIteratorNext(&it, &value, true);
		at = (Path) {path, key.val.string.val, key.val.string.len, 0};
		if (key.val.string.len == 3 && memcmp(key.val.string.val, "$or", 3) == 0)
			compile_choice(&value, &at, &pattern->choice);
		else
			compile_field(&value, &at, &pattern->fields[pattern->nfields++]);
	}
}

/*
 * Compile a pattern in the current memory context.  An error says what is wrong with
 * it, and where as a JSON pointer.
 */
SfPattern *
sf_pattern_compile(const Jsonb *pattern)
{
	SfPattern  *compiled = palloc0(sizeof(SfPattern));
	const Path whole = {NULL, NULL, 0, 0};
	JsonbValue	root;

	sf_json_root(pattern, &root);
	compile_object(&root, &whole, compiled);
	return compiled;
}

/* Count the matchers of a pattern. */
static int
count_matchers(const SfPattern *pattern)
{
	int			n = 0;

	for (int i = 0; i < pattern->nfields; i++)
	{
		const SfPatternField *field = &pattern->fields[i];

		if (field->kind == SF_PATTERN_OBJECT)
			n += count_matchers(field->object);
		else
			for (int j = 0; j < field->nmatchers; j++)
				n += field->matchers[j].kind == SF_MATCH_NONE_OF ? sf_matcher_others(&field->matchers[j])->n : 1;
	}
	for (int i = 0; i < pattern->choice.npatterns; i++)
		n += count_matchers(pattern->choice.patterns[i]);
	return n;
}

/*
 * Compile a pattern that is made now, which must not have too many matchers: each of them is compared with what others
 * write.  Those that an earlier version has let through match still.
 */
SfPattern *
sf_pattern_compile_new(const Jsonb *pattern)
{
	SfPattern  *compiled = sf_pattern_compile(pattern);
	const Path	whole = {NULL, NULL, 0, 0};
	int			n = count_matchers(compiled);

	if (n > SF_PATTERN_MAX_MATCHERS)
		refuse(&whole, psprintf("it has %d values and operators, and must have at most %d", n,
								SF_PATTERN_MAX_MATCHERS));
	return compiled;
}
