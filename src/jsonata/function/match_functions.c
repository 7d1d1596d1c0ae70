/*
 * match_functions.c
 *		The library: functions that search strings, for a substring, for a
 *		regular expression or with a matcher written in the language.
 *
 * A matcher is any function that takes a string and returns an object with
 * match, start, end, groups and next.  Regular expressions are matchers too,
 * but are run without making those objects.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"

#include "jsonata/evaluation/eval.h"
#include "jsonata/function/functions.h"
#include "jsonata/regex/regex.h"

/* A run of matches over a subject */
typedef struct Matcher
{
	SfJnValue  *subject;
	SfJnValue  *function;		/* what to call for the next match */
	const SfJnRegex *regex;		/* or this */
	Size		from;			/* code points passed */
	bool		first;
	SfJnMatch	match;
} Matcher;

/* Read a match out of the object that a matcher returned; false at the end. */
static bool
read_match(SfJnEval *ev, Matcher *matcher, SfJnValue *object)
{
	SfJnValue  *text;
	SfJnValue  *start;
	SfJnValue  *end;
	SfJnValue  *groups;
	SfJnValue  *next;

	if (!sf_jn_is_true(ev, object))
		return false;
	if (!SF_JN_IS_OBJECT(object))
		sf_jn_fail(ev, SF_JN_ERROR_T1010);
	text = sf_jn_get(object, "match");
	start = sf_jn_get(object, "start");
	end = sf_jn_get(object, "end");
	groups = sf_jn_get(object, "groups");
	next = sf_jn_get(object, "next");
	if (!SF_JN_IS_NUMBER(start) && !SF_JN_IS_NUMBER(end) && !SF_JN_IS_ARRAY(groups) &&
		!SF_JN_IS_FUNCTION(next))
		sf_jn_fail(ev, SF_JN_ERROR_T1010);
	memset(&matcher->match, 0, sizeof(matcher->match));
	matcher->match.text = SF_JN_IS_STRING(text) ? text : sf_jn_string(&ev->arena, "", 0);
	matcher->match.start = SF_JN_IS_NUMBER(start) && start->u.number > 0 ? (Size) start->u.number : 0;
	matcher->match.end = SF_JN_IS_NUMBER(end) && end->u.number > 0 ? (Size) end->u.number : 0;
	if (SF_JN_IS_ARRAY(groups))
	{
		matcher->match.groups = groups->u.items;
		matcher->match.ngroups = groups->len;
	}
	matcher->function = next;
	return true;
}

/* Begin to match; pattern is a function. */
static void
begin_matches(Matcher *matcher, SfJnValue *subject, SfJnValue *pattern)
{
	memset(matcher, 0, sizeof(*matcher));
	matcher->subject = subject;
	matcher->function = pattern;
	matcher->first = true;
	if (pattern->u.function->kind == SF_JN_FUNCTION_REGEX)
		matcher->regex = pattern->u.function->regex;
}

/* Find the next match; false at the end. */
static bool
next_match(SfJnEval *ev, Matcher *matcher)
{
	bool		first = matcher->first;

	sf_jn_check(ev);
	matcher->first = false;
	if (matcher->regex != NULL)
	{
		if (!first && matcher->from >= matcher->match.subject_len)
			return false;
		if (!sf_jn_regex_search(ev, matcher->regex, matcher->subject, matcher->from, &matcher->match))
			return false;
		/* A match of nothing leads nowhere. */
		if (!first && matcher->match.start == matcher->match.end)
			sf_jn_fail(ev, SF_JN_ERROR_D1004);
		matcher->from = matcher->match.end;
		return true;
	}
	if (first)
		return read_match(ev, matcher, sf_jn_apply(ev, matcher->function, &matcher->subject, 1,
												   NULL, ev->focus_env));
	if (!SF_JN_IS_FUNCTION(matcher->function))
		return false;
	return read_match(ev, matcher, sf_jn_apply(ev, matcher->function, NULL, 0, NULL, ev->focus_env));
}

/*
 * Byte offset of a code point that is not before (*chars, *bytes), which
 * moves along.
 */
static Size
advance_to(const SfJnValue *text, Size to, Size *chars, Size *bytes)
{
	if (to < *chars)
		*chars = *bytes = 0;
	*bytes += sf_jn_char_offset(text->u.str + *bytes, text->len - *bytes, to - *chars);
	*chars = to;
	return *bytes;
}

/* $contains(str, pattern) */
SF_JN_LIBRARY_FUNCTION(contains)
{
	Matcher		matcher;
	Size		at;

	if (args[1]->type == SF_JN_TYPE_STRING)
		return sf_jn_bool(sf_jn_index_of(args[0], args[1], 0, &at));
	begin_matches(&matcher, args[0], args[1]);
	return sf_jn_bool(next_match(ev, &matcher));
}

/* $match(str, pattern, limit) */
SF_JN_LIBRARY_FUNCTION(match)
{
	SfJnValue  *result = sf_jn_sequence(&ev->arena, 4);
	double		limit = args[2] == NULL ? INFINITY : args[2]->u.number;
	Matcher		matcher;

	if (limit < 0)
		sf_jn_fail(ev, SF_JN_ERROR_D3040, .value = args[2], .index = 3);
	begin_matches(&matcher, args[0], args[1]);
	/* the match behind the last one is looked for, too: it may be an error */
	for (bool found = limit > 0 && next_match(ev, &matcher); found && result->len < limit;
		 found = next_match(ev, &matcher))
	{
		SfJnValue  *item = sf_jn_object(&ev->arena, 3);

		sf_jn_set_c(&ev->arena, item, "match", matcher.match.text);
		sf_jn_set_c(&ev->arena, item, "index", sf_jn_number(&ev->arena, matcher.match.start));
		sf_jn_set_c(&ev->arena, item, "groups", sf_jn_match_groups(ev, &matcher.match));
		sf_jn_push(&ev->arena, result, item);
	}
	return result;
}

/* Split at a string; one that is empty splits every character off. */
static SfJnValue *
split_string(SfJnEval *ev, SfJnValue *text, SfJnValue *separator, double limit)
{
	SfJnValue  *result = sf_jn_array(&ev->arena, 4);
	Size		at = 0;

	if (separator->len == 0)
	{
		while (at < text->len && result->len < limit)
		{
			Size		n = sf_jn_char_offset(text->u.str + at, text->len - at, 1);

			sf_jn_push(&ev->arena, result, sf_jn_string(&ev->arena, text->u.str + at, n));
			at += n;
		}
		return result;
	}
	while (result->len < limit)
	{
		Size		end = text->len;
		bool		found = sf_jn_index_of(text, separator, at, &end);

		sf_jn_push(&ev->arena, result,
				   sf_jn_string(&ev->arena, text->u.str + at, end - at));
		if (!found)
			break;
		at = end + separator->len;
	}
	return result;
}

/* $split(str, separator, limit) */
SF_JN_LIBRARY_FUNCTION(split)
{
	double		limit = args[2] == NULL ? INFINITY : trunc(args[2]->u.number);
	SfJnValue  *text = args[0];
	SfJnValue  *result;
	Matcher		matcher;
	Size		chars = 0;
	Size		bytes = 0;
	Size		start = 0;

	if (args[2] != NULL && args[2]->u.number < 0)
		sf_jn_fail(ev, SF_JN_ERROR_D3020, .value = args[2], .index = 3);
	if (SF_JN_IS_STRING(args[1]))
		return split_string(ev, text, args[1], limit);

	result = sf_jn_array(&ev->arena, 4);
	if (args[1] == NULL)
	{
		if (limit > 0)
			sf_jn_push(&ev->arena, result, text);
		return result;
	}
	limit = args[2] == NULL ? INFINITY : args[2]->u.number;
	begin_matches(&matcher, text, args[1]);
	for (bool found = limit > 0 && next_match(ev, &matcher); found && result->len < limit;
		 found = next_match(ev, &matcher))
	{
		Size		end = advance_to(text, matcher.match.start, &chars, &bytes);

		end = Max(end, start);
		sf_jn_push(&ev->arena, result,
				   sf_jn_string(&ev->arena, text->u.str + start, end - start));
		start = advance_to(text, matcher.match.end, &chars, &bytes);
	}
	if (result->len < limit)
		sf_jn_push(&ev->arena, result,
				   sf_jn_string(&ev->arena, text->u.str + start, text->len - start));
	return result;
}

/* Read up to so many digits at p; false when there are none. */
static bool
read_digits(const char *p, const char *end, int most, int *value)
{
	const char *begin = p;

	*value = 0;
	while (most-- > 0 && p < end && *p >= '0' && *p <= '9')
		*value = *value * 10 + (*p++ - '0');
	return p > begin;
}

/* Stop where a text grows beyond what a string may have. */
static void
check_length(SfJnEval *ev, const StringInfoData *buf)
{
	if (buf->len > SF_JN_MAX_STRING)
		ev->arena.on_limit(ev->arena.on_limit_arg, "string");
}

/*
 * Append the replacement of a match: $0 is the match, $n a group, $$ a dollar.
 * As many digits belong to n as there can be groups.
 */
static void
append_replacement(SfJnEval *ev, StringInfo buf, const SfJnValue *replacement, const SfJnMatch *match)
{
	const char *p = replacement->u.str;
	const char *end = p + replacement->len;
	int			digits = 1;
	int			n;
	char		text[16];

	for (n = match->ngroups; n >= 10; n /= 10)
		digits++;
	while (p < end)
	{
		check_length(ev, buf);
		if (*p != '$')
		{
			appendStringInfoChar(buf, *p++);
			continue;
		}
		p++;
		if (p < end && *p == '$')
		{
			appendStringInfoChar(buf, *p++);
			continue;
		}
		if (p < end && *p == '0')
		{
			appendBinaryStringInfo(buf, match->text->u.str, match->text->len);
			p++;
			continue;
		}
		if (!read_digits(p, end, digits, &n))
		{
			appendStringInfoChar(buf, '$');
			continue;
		}
		if (digits > 1 && n > match->ngroups)
			(void) read_digits(p, end, digits - 1, &n);
		if (n >= 1 && n <= match->ngroups && SF_JN_IS_STRING(match->groups[n - 1]))
			appendBinaryStringInfo(buf, match->groups[n - 1]->u.str, match->groups[n - 1]->len);
		p += snprintf(text, sizeof(text), "%d", n);
	}
}

/* Replace a string wherever it occurs. */
static void
replace_string(SfJnEval *ev, StringInfo buf, SfJnValue **args, double limit)
{
	SfJnValue  *text = args[0];
	SfJnValue  *pattern = args[1];
	Size		at = 0;
	double		count;

	for (count = 0; count < limit; count++)
	{
		Size		found;

		if (!sf_jn_index_of(text, pattern, at, &found))
			break;
		appendBinaryStringInfo(buf, text->u.str + at, (int) (found - at));
		if (SF_JN_IS_STRING(args[2]))
			appendBinaryStringInfo(buf, args[2]->u.str, args[2]->len);
		else
			appendStringInfoString(buf, "[object Object]");	/* a function in JavaScript's words */
		at = found + pattern->len;
		check_length(ev, buf);
		sf_jn_check(ev);
	}
	appendBinaryStringInfo(buf, text->u.str + at, (int) (text->len - at));
}

/* Replace what a matcher finds. */
static void
replace_matches(SfJnEval *ev, StringInfo buf, SfJnValue **args, double limit)
{
	SfJnValue  *text = args[0];
	Size		chars = 0;
	Size		bytes = 0;
	Size		at = 0;
	double		count = 0;
	Matcher		matcher;

	begin_matches(&matcher, text, args[1]);
	for (bool found = limit > 0 && next_match(ev, &matcher); found && count < limit;
		 found = next_match(ev, &matcher), count++)
	{
		Size		start = advance_to(text, matcher.match.start, &chars, &bytes);

		if (start > at)
			appendBinaryStringInfo(buf, text->u.str + at, (int) (start - at));
		if (SF_JN_IS_STRING(args[2]))
			append_replacement(ev, buf, args[2], &matcher.match);
		else
		{
			SfJnValue  *object = sf_jn_match_object(ev, &matcher.match);
			SfJnValue  *with = sf_jn_apply(ev, args[2], &object, 1, NULL, ev->focus_env);

			if (!SF_JN_IS_STRING(with))
				sf_jn_fail(ev, SF_JN_ERROR_D3012, .value = with);
			appendBinaryStringInfo(buf, with->u.str, with->len);
		}
		at = advance_to(text, matcher.match.start +
						sf_jn_char_count(matcher.match.text->u.str, matcher.match.text->len),
						&chars, &bytes);
		check_length(ev, buf);
	}
	appendBinaryStringInfo(buf, text->u.str + at, (int) (text->len - at));
}

/* $replace(str, pattern, replacement, limit) */
SF_JN_LIBRARY_FUNCTION(replace)
{
	double		limit = args[3] == NULL ? INFINITY : args[3]->u.number;
	StringInfoData buf;

	if (SF_JN_IS_STRING(args[1]) && args[1]->len == 0)
		sf_jn_fail(ev, SF_JN_ERROR_D3010, .value = args[1], .index = 2);
	if (limit < 0)
		sf_jn_fail(ev, SF_JN_ERROR_D3011, .value = args[3], .index = 4);
	if (args[1] == NULL || args[2] == NULL)
		return args[0];
	initStringInfo(&buf);
	if (SF_JN_IS_STRING(args[1]))
		replace_string(ev, &buf, args, limit);
	else
		replace_matches(ev, &buf, args, limit);
	return sf_jn_string_of(&ev->arena, &buf);
}
