/*
 * regex_pattern.c
 *		Regular expressions: from JavaScript's notation to PostgreSQL's.
 *
 * The pattern is rewritten once, when the expression is compiled.  Common syntax
 * is copied; what JavaScript writes differently (\b, \d, ., [], named groups, a
 * brace that is no quantifier) is translated.  The alternatives of the pattern
 * are separated; regex.c says why.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "regex/regex.h"

#include "base/version/compat.h"
#include "jsonata/regex/regex.h"

#define JS_SPACE "\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
#define NOTHING "[^\\u0001-\\U0010ffff]"

typedef struct Translation
{
	StringInfoData out;
	SfJnThrow  *thrower;
	SfJnArena  *arena;
	const char *p;
	const char *end;
	int			position;
	int			depth;			/* of parentheses */
	int			around;			/* depth of the outermost lookaround; 0: none */
	bool		has_references; /* \1 or \k<name> */
	int			groups;
	int			ncaptures;
	int			captures[SF_JN_MAX_GROUPS];
	int			nbars;			/* between the alternatives of the whole */
	struct
	{
		int			at;
		int			captures;
	}			bars[SF_JN_MAX_ALTERNATIVES];
	struct
	{
		const char *name;
		int			len;
	}			names[SF_JN_MAX_GROUPS];
} Translation;

/* Throw a syntax error of the pattern. */
static void pg_attribute_noreturn()
fail_pattern(Translation *translation, const char *reason)
{
	sf_jn_throw_error(translation->thrower, translation->position, SF_JN_ERROR_S0303,
					  .value = sf_jn_cstring(translation->arena, reason));
}

/* Append a character that stands for itself. */
static void
append_literal(Translation *translation, char c)
{
	if (c > ' ' && c < 0x7f && !isalnum((unsigned char) c) && c != '_')
		appendStringInfoChar(&translation->out, '\\');
	appendStringInfoChar(&translation->out, c);
}

/* Translate an escape that means one character; translation->p is after the backslash. */
static void
translate_character(Translation *translation)
{
	char		c = *translation->p++;
	int			value;

	switch (c)
	{
		case 'n':
		case 'r':
		case 't':
		case 'f':
		case 'v':
			appendStringInfo(&translation->out, "\\%c", c);
			return;
		case 'x':
		case 'u':
			if (sf_jn_hex_value(translation->p, translation->end, c == 'x' ? 2 : 4, &value) && value > 0)
			{
				translation->p += c == 'x' ? 2 : 4;
				appendStringInfo(&translation->out, "\\u%04x", value);
				return;
			}
			break;
		case 'c':
			if (translation->p < translation->end && isalpha((unsigned char) *translation->p))
			{
				appendStringInfo(&translation->out, "\\u%04x", *translation->p++ & 0x1f);
				return;
			}
			break;
		default:
			break;
	}
	append_literal(translation, c);
}

/* List the characters of \d, \w or \s (or of its opposite, \D and so on). */
static const char *
class_members(char letter)
{
	switch (pg_ascii_tolower((unsigned char) letter))
	{
		case 'd':
			return "0-9";
		case 'w':
			return "A-Za-z0-9_";
		default:
			return JS_SPACE;
	}
}

/*
 * Translate an escape in a class; translation->p is after the backslash.  True: it stands
 * for a set of characters.
 */
static bool
translate_class_escape(Translation *translation)
{
	bool		is_set = strchr("dDwWsS", *translation->p) != NULL;

	if (strchr("dws", *translation->p) != NULL)
		appendStringInfoString(&translation->out, class_members(*translation->p));
	else if (is_set)
		appendStringInfo(&translation->out, "\\%c", *translation->p);
	else if (*translation->p == 'b')
		appendStringInfoString(&translation->out, "\\u0008");
	else
	{
		translate_character(translation);
		return false;
	}
	translation->p++;
	return is_set;
}

/* Translate a hyphen in a class, which is one beside a set or at an edge. */
static void
translate_hyphen(Translation *translation, bool after_set)
{
	bool		before_set = translation->end - translation->p >= 2 && translation->p[0] == '\\' &&
		strchr("dDwWsS", translation->p[1]) != NULL;
	char		last = translation->out.data[translation->out.len - 1];
	bool		edge = last == '[' || last == '^' ||
		(translation->p < translation->end && *translation->p == ']');

	appendStringInfoString(&translation->out, after_set || before_set || edge ? "\\-" : "-");
}

/* Translate a class [...]; t->p is after the bracket. */
static void
translate_class(Translation *translation)
{
	bool		after_set = false;	/* the last item was \d or the like */

	if (translation->p < translation->end && *translation->p == ']')
	{
		appendStringInfoString(&translation->out, NOTHING);
		translation->p++;
		return;
	}
	if (translation->end - translation->p >= 2 && translation->p[0] == '^' && translation->p[1] == ']')
	{
		appendStringInfoChar(&translation->out, '.');
		translation->p += 2;
		return;
	}
	appendStringInfoChar(&translation->out, '[');
	if (translation->p < translation->end && *translation->p == '^')
		appendStringInfoChar(&translation->out, *translation->p++);
	while (translation->p < translation->end && *translation->p != ']')
	{
		char		c = *translation->p++;
		bool		is_set = false;

		if (c == '\\' && translation->p < translation->end)
			is_set = translate_class_escape(translation);
		else if (c == '-')
			translate_hyphen(translation, after_set);
		else if (c == '[')
			appendStringInfoString(&translation->out, "\\[");
		else
			appendStringInfoChar(&translation->out, c);
		after_set = is_set;
	}
	if (translation->p >= translation->end)
		fail_pattern(translation, "Unterminated character class");
	translation->p++;
	appendStringInfoChar(&translation->out, ']');
}

/* Translate a reference to a named group; t->p is after \k. */
static void
translate_named_reference(Translation *translation)
{
	const char *close = translation->p < translation->end && *translation->p == '<' ?
		memchr(translation->p, '>', translation->end - translation->p) : NULL;

	translation->has_references = true;
	for (int i = 0; close != NULL && i < translation->groups && i < SF_JN_MAX_GROUPS; i++)
	{
		if (translation->names[i].name != NULL && translation->names[i].len == close - translation->p - 1 &&
			memcmp(translation->names[i].name, translation->p + 1, translation->names[i].len) == 0)
		{
			appendStringInfo(&translation->out, "(?:\\%d)", i + 1);
			translation->p = close + 1;
			return;
		}
	}
	fail_pattern(translation, "Invalid named reference");
}

/* Translate an escape outside of classes; translation->p is after the backslash. */
static void
translate_escape(Translation *translation)
{
	char		c;

	if (translation->p >= translation->end)
		fail_pattern(translation, "\\ at end of pattern");
	c = *translation->p;
	switch (c)
	{
		case 'd':
		case 'D':
		case 'w':
		case 'W':
		case 's':
		case 'S':
			appendStringInfo(&translation->out, isupper((unsigned char) c) ? "[^%s]" : "[%s]",
							 class_members(c));
			break;
		case 'b':
			appendStringInfoString(&translation->out, "\\y");
			break;
		case 'B':
			appendStringInfoString(&translation->out, "\\Y");
			break;
		case '0':
			appendStringInfoString(&translation->out, NOTHING);
			break;
		case 'k':
			translation->p++;
			translate_named_reference(translation);
			return;
		default:
			if (c >= '1' && c <= '9')
			{
				translation->has_references = true;
				appendStringInfoString(&translation->out, "(?:\\");
				while (translation->p < translation->end && isdigit((unsigned char) *translation->p))
					appendStringInfoChar(&translation->out, *translation->p++);
				appendStringInfoChar(&translation->out, ')');
				return;
			}
			translate_character(translation);
			return;
	}
	translation->p++;
}

/* Count a group; the engine does not tell of those inside lookaround. */
static void
count_group(Translation *translation)
{
	if (translation->groups < SF_JN_MAX_GROUPS && translation->around == 0)
		translation->captures[translation->ncaptures++] = translation->groups;
	translation->groups++;
}

/* Translate what follows an opening parenthesis. */
static void
translate_group(Translation *translation)
{
	Size		left = translation->end - translation->p;

	appendStringInfoChar(&translation->out, '(');
	translation->depth++;
	if (left == 0 || *translation->p != '?')
	{
		count_group(translation);
		return;
	}
	if (translation->around == 0 && left >= 2 && translation->p[1] != ':' &&
		(translation->p[1] != '<' || (left >= 3 && strchr("=!", translation->p[2]) != NULL)))
		translation->around = translation->depth;
	if (left >= 2 && strchr(":=!", translation->p[1]) != NULL)
	{
		appendBinaryStringInfo(&translation->out, translation->p, 2);
		translation->p += 2;
	}
	else if (left >= 3 && translation->p[1] == '<' && (translation->p[2] == '=' || translation->p[2] == '!'))
	{
		appendBinaryStringInfo(&translation->out, translation->p, 3);
		translation->p += 3;
	}
	else if (left >= 3 && translation->p[1] == '<')
	{
		const char *close = memchr(translation->p, '>', left);

		if (close == NULL)
			fail_pattern(translation, "Invalid capture group name");
		if (translation->groups < SF_JN_MAX_GROUPS)
		{
			translation->names[translation->groups].name = translation->p + 2;
			translation->names[translation->groups].len = (int) (close - translation->p - 2);
		}
		count_group(translation);
		translation->p = close + 1;
	}
	else
		fail_pattern(translation, "Invalid group");
}

/* Tell whether a brace begins a quantifier {n}, {n,} or {n,m}. */
static bool
is_quantifier(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && isdigit((unsigned char) *p))
		p++;
	if (p == start)
		return false;
	if (p < end && *p == ',')
	{
		p++;
		while (p < end && isdigit((unsigned char) *p))
			p++;
	}
	return p < end && *p == '}';
}

/* Rewrite a whole pattern. */
static void
translate_pattern(Translation *translation)
{
	while (translation->p < translation->end)
	{
		char		c = *translation->p++;

		switch (c)
		{
			case '\\':
				translate_escape(translation);
				break;
			case '[':
				translate_class(translation);
				break;
			case '(':
				translate_group(translation);
				break;
			case ')':
				if (translation->depth-- == translation->around)
					translation->around = 0;
				appendStringInfoChar(&translation->out, c);
				break;
			case '|':
				if (translation->depth == 0 && translation->nbars++ < SF_JN_MAX_ALTERNATIVES)
				{
					translation->bars[translation->nbars - 1].at = translation->out.len;
					translation->bars[translation->nbars - 1].captures = translation->ncaptures;
				}
				appendStringInfoChar(&translation->out, c);
				break;
			case '.':
				appendStringInfoString(&translation->out, "[^\\n\\r\\u2028\\u2029]");
				break;
			case '{':
				if (is_quantifier(translation->p, translation->end))
				{
					while (translation->p[-1] != '}')
					{
						appendStringInfoChar(&translation->out, translation->p[-1]);
						translation->p++;
					}
					appendStringInfoChar(&translation->out, '}');
				}
				else
					appendStringInfoString(&translation->out, "\\{");
				break;
			case '}':
			case ']':
				append_literal(translation, c);
				break;
			default:
				appendStringInfoChar(&translation->out, c);
				break;
		}
	}
}

/*
 * Take the alternatives of a pattern apart; one with references stays whole,
 * because they count its groups.
 */
static void
split_alternatives(Translation *translation, SfJnRegex *regex)
{
	bool		whole = translation->has_references || translation->nbars >= SF_JN_MAX_ALTERNATIVES;
	int			n = whole ? 1 : translation->nbars + 1;
	int			start = 0;

	regex->ngroups = Min(translation->groups, SF_JN_MAX_GROUPS);
	regex->ncaptures = translation->ncaptures;
	regex->captures = sf_jn_alloc(translation->arena, (translation->ncaptures + 1) * sizeof(int));
	memcpy(regex->captures, translation->captures, translation->ncaptures * sizeof(int));
	regex->nalternatives = n;
	regex->alternatives = sf_jn_alloc(translation->arena, n * sizeof(SfJnAlternative));
	for (int i = 0; i < n; i++)
	{
		int			end = i < n - 1 ? translation->bars[i].at : translation->out.len;
		text	   *pattern = sf_jn_alloc(translation->arena, VARHDRSZ + end - start);

		SET_VARSIZE(pattern, VARHDRSZ + end - start);
		memcpy(VARDATA(pattern), translation->out.data + start, end - start);
		regex->alternatives[i].pattern = pattern;
		regex->alternatives[i].captures = i == 0 ? 0 : translation->bars[i - 1].captures;
		start = end + 1;
	}
}

/* Compile a regular expression: rewrite it and see that the engine takes it. */
SfJnRegex *
sf_jn_regex_compile(SfJnArena *arena, SfJnThrow *thrower, const char *pattern,
					Size len, bool ignore_case, bool multiline, int position)
{
	SfJnRegex  *regex = sf_jn_alloc(arena, sizeof(SfJnRegex));
	Translation *translation = palloc0(sizeof(Translation));
	pg_wchar   *wide;
	regex_t		re;
	int			rc;

	initStringInfo(&translation->out);
	translation->thrower = thrower;
	translation->arena = arena;
	translation->p = pattern;
	translation->end = pattern + len;
	translation->position = position;
	translate_pattern(translation);

	regex->flags = REG_ADVANCED | (ignore_case ? REG_ICASE : 0) |
		(multiline ? REG_NLANCH : 0);
	regex->collation = C_COLLATION_OID;
	for (Size i = 0; ignore_case && i < len; i++)
	{
		if (IS_HIGHBIT_SET(pattern[i]) || (pattern[i] == '\\' && i + 1 < len && pattern[i + 1] == 'u'))
			regex->collation = sf_jn_case_collation();
	}
	split_alternatives(translation, regex);
	wide = palloc((translation->out.len + 1) * sizeof(pg_wchar));
	rc = pg_regcomp(&re, wide, pg_mb2wchar_with_len(translation->out.data, wide, translation->out.len),
					regex->flags, regex->collation);
	if (rc != REG_OKAY)
	{
		char	   *reason = sf_jn_alloc(arena, 100);

		/* a cancel is a reason to fail, too */
		CHECK_FOR_INTERRUPTS();
		pg_regerror(rc, &re, reason, 100);
		fail_pattern(translation, reason);
	}
	/* before the check: it may be in memory that no context frees */
	pg_regfree(&re);
	CHECK_FOR_INTERRUPTS();
	pfree(wide);
	pfree(translation->out.data);
	pfree(translation);
	return regex;
}
