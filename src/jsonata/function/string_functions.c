/*
 * string_functions.c
 *		The library: strings.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "nodes/pg_list.h"
#include "nodes/value.h"
#include "utils/formatting.h"
#include "utils/memutils.h"

#include "jsonata/evaluation/eval.h"
#include "jsonata/function/functions.h"

/* Convert a number to an integer as JavaScript's slice() does. */
static double
to_integer(double d)
{
	return isnan(d) ? 0 : trunc(d);
}

/* Take the code points from start to end; negative ones count from the end. */
static SfJnValue *
slice(SfJnEval *ev, const SfJnValue *text, double start, double end)
{
	double		n = sf_jn_char_count(text->u.str, text->len);
	Size		from;
	Size		to;

	start = start < 0 ? Max(n + start, 0) : Min(start, n);
	end = end < 0 ? Max(n + end, 0) : Min(end, n);
	if (end <= start)
		return sf_jn_string(&ev->arena, "", 0);
	from = sf_jn_char_offset(text->u.str, text->len, (Size) start);
	to = from + sf_jn_char_offset(text->u.str + from, text->len - from, (Size) (end - start));
	return sf_jn_string(&ev->arena, text->u.str + from, to - from);
}

/* $substring(str, start, length) */
SF_JN_LIBRARY_FUNCTION(substring)
{
	SfJnValue  *text = args[0];
	double		n = sf_jn_char_count(text->u.str, text->len);
	double		start;
	double		end;

	if (args[1] == NULL)
		return text;
	start = args[1]->u.number;
	if (n + start < 0)
		start = 0;
	if (args[2] == NULL)
		return slice(ev, text, trunc(start), n);
	if (args[2]->u.number <= 0)
		return sf_jn_string(&ev->arena, "", 0);
	end = start + args[2]->u.number + (start >= 0 ? 0 : n);
	return slice(ev, text, to_integer(start), to_integer(end));
}

/* $substringBefore(str, chars) */
SF_JN_LIBRARY_FUNCTION(substringBefore)
{
	Size		at;

	if (args[1] == NULL || !sf_jn_index_of(args[0], args[1], 0, &at))
		return args[0];
	return sf_jn_string(&ev->arena, args[0]->u.str, at);
}

/* $substringAfter(str, chars) */
SF_JN_LIBRARY_FUNCTION(substringAfter)
{
	Size		at;

	if (args[1] == NULL || !sf_jn_index_of(args[0], args[1], 0, &at))
		return args[0];
	at += args[1]->len;
	return sf_jn_string(&ev->arena, args[0]->u.str + at, args[0]->len - at);
}

/* Return the collation with Unicode's case rules, or the default one. */
Oid
sf_jn_case_collation(void)
{
	static Oid	collation = InvalidOid;

	if (!OidIsValid(collation))
	{
		collation = get_collation_oid(list_make2(makeString("pg_catalog"),
												 makeString("und-x-icu")), true);
		if (!OidIsValid(collation))
			collation = DEFAULT_COLLATION_OID;
	}
	return collation;
}

/* Tell whether a string has no bytes above ASCII. */
static bool
is_ascii(const SfJnValue *text)
{
	for (uint32 i = 0; i < text->len; i++)
	{
		if (IS_HIGHBIT_SET(text->u.str[i]))
			return false;
	}
	return true;
}

/* Change the case of a string. */
static SfJnValue *
change_case(SfJnEval *ev, SfJnValue *s, bool upper)
{
	char	   *text;
	SfJnValue  *result;

	if (is_ascii(s))
	{
		text = sf_jn_alloc(&ev->arena, s->len);
		for (uint32 i = 0; i < s->len; i++)
			text[i] = upper ? pg_ascii_toupper((unsigned char) s->u.str[i]) :
				pg_ascii_tolower((unsigned char) s->u.str[i]);
		return sf_jn_string(&ev->arena, text, s->len);
	}
	text = upper ? str_toupper(s->u.str, s->len, sf_jn_case_collation()) :
		str_tolower(s->u.str, s->len, sf_jn_case_collation());
	result = sf_jn_string_copy(&ev->arena, text, strlen(text));
	pfree(text);
	return result;
}

/* $lowercase(str) */
SF_JN_LIBRARY_FUNCTION(lowercase)
{
	return change_case(ev, args[0], false);
}

/* $uppercase(str) */
SF_JN_LIBRARY_FUNCTION(uppercase)
{
	return change_case(ev, args[0], true);
}

/* $length(str) */
SF_JN_LIBRARY_FUNCTION(length)
{
	return sf_jn_number(&ev->arena, sf_jn_char_count(args[0]->u.str, args[0]->len));
}

/* $trim(str): runs of blanks become one, none at the ends */
SF_JN_LIBRARY_FUNCTION(trim)
{
	SfJnValue  *s = args[0];
	char	   *text = sf_jn_alloc(&ev->arena, s->len);
	Size		n = 0;
	bool		blank = false;

	for (uint32 i = 0; i < s->len; i++)
	{
		char		c = s->u.str[i];

		if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			blank = true;
		else
		{
			if (blank && n > 0)
				text[n++] = ' ';
			blank = false;
			text[n++] = c;
		}
	}
	return sf_jn_string(&ev->arena, text, n);
}

/* $pad(str, width, char) */
SF_JN_LIBRARY_FUNCTION(pad)
{
	SfJnValue  *s = args[0];
	SfJnValue  *with = args[2];
	double		missing;
	char	   *text;
	Size		padding;
	Size		with_chars;

	if (args[1] == NULL)
		return s;
	if (with == NULL || with->len == 0)
		with = sf_jn_cstring(&ev->arena, " ");
	missing = trunc(fabs(args[1]->u.number)) - sf_jn_char_count(s->u.str, s->len);
	if (!(missing > 0))
		return s;
	if (missing * with->len + s->len > SF_JN_MAX_STRING)
		ev->arena.on_limit(ev, "string");
	with_chars = sf_jn_char_count(with->u.str, with->len);
	padding = (Size) (missing / with_chars) * with->len +
		sf_jn_char_offset(with->u.str, with->len, (Size) fmod(missing, with_chars));
	text = sf_jn_alloc(&ev->arena, padding + s->len);
	for (Size i = 0; i < padding; i++)
		text[args[1]->u.number > 0 ? s->len + i : i] = with->u.str[i % with->len];
	memcpy(text + (args[1]->u.number > 0 ? 0 : padding), s->u.str, s->len);
	return sf_jn_string(&ev->arena, text, padding + s->len);
}

/* $join(array, separator) */
SF_JN_LIBRARY_FUNCTION(join)
{
	SfJnValue  *list = args[0];
	SfJnValue  *separator = args[1];
	Size		separator_len = separator == NULL ? 0 : separator->len;
	Size		total = 0;
	char	   *text;
	char	   *p;

	for (uint32 i = 0; i < list->len; i++)
		total += list->u.items[i]->len + (i > 0 ? separator_len : 0);
	p = text = sf_jn_alloc(&ev->arena, total);
	for (uint32 i = 0; i < list->len; i++)
	{
		if (i > 0 && separator_len > 0)
		{
			memcpy(p, separator->u.str, separator_len);
			p += separator_len;
		}
		memcpy(p, list->u.items[i]->u.str, list->u.items[i]->len);
		p += list->u.items[i]->len;
	}
	return sf_jn_string(&ev->arena, text, total);
}
