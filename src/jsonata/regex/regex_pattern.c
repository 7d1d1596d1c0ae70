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
	bool		references;		/* \1 or \k<name> */
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
fail_pattern(Translation *t, const char *reason)
{
	sf_jn_throw_error(t->thrower, t->position, SF_JN_ERROR_S0303,
					  .value = sf_jn_cstring(t->arena, reason));
}

/* Append a character that stands for itself. */
static void
append_literal(Translation *t, char c)
{
	if (c > ' ' && c < 0x7f && !isalnum((unsigned char) c) && c != '_')
		appendStringInfoChar(&t->out, '\\');
	appendStringInfoChar(&t->out, c);
}

/* Translate an escape that means one character; t->p is after the backslash. */
static void
translate_character(Translation *t)
{
	char		c = *t->p++;
	int			value;

	switch (c)
	{
		case 'n':
		case 'r':
		case 't':
		case 'f':
		case 'v':
			appendStringInfo(&t->out, "\\%c", c);
			return;
		case 'x':
		case 'u':
			if (sf_jn_hex_value(t->p, t->end, c == 'x' ? 2 : 4, &value) && value > 0)
			{
				t->p += c == 'x' ? 2 : 4;
				appendStringInfo(&t->out, "\\u%04x", value);
				return;
			}
			break;
		case 'c':
			if (t->p < t->end && isalpha((unsigned char) *t->p))
			{
				appendStringInfo(&t->out, "\\u%04x", *t->p++ & 0x1f);
				return;
			}
			break;
		default:
			break;
	}
	append_literal(t, c);
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
 * Translate an escape in a class; t->p is after the backslash.  True: it stands
 * for a set of characters.
 */
static bool
translate_class_escape(Translation *t)
{
	bool		is_set = strchr("dDwWsS", *t->p) != NULL;

	if (strchr("dws", *t->p) != NULL)
		appendStringInfoString(&t->out, class_members(*t->p));
	else if (is_set)
		appendStringInfo(&t->out, "\\%c", *t->p);
	else if (*t->p == 'b')
		appendStringInfoString(&t->out, "\\u0008");
	else
	{
		translate_character(t);
		return false;
	}
	t->p++;
	return is_set;
}

/* Translate a hyphen in a class, which is one beside a set or at an edge. */
static void
translate_hyphen(Translation *t, bool after_set)
{
	bool		before_set = t->end - t->p >= 2 && t->p[0] == '\\' &&
		strchr("dDwWsS", t->p[1]) != NULL;
	char		last = t->out.data[t->out.len - 1];
	bool		edge = last == '[' || last == '^' ||
		(t->p < t->end && *t->p == ']');

	appendStringInfoString(&t->out, after_set || before_set || edge ? "\\-" : "-");
}

/* Translate a class [...]; t->p is after the bracket. */
static void
translate_class(Translation *t)
{
	bool		after_set = false;	/* the last item was \d or the like */

	if (t->p < t->end && *t->p == ']')
	{
		appendStringInfoString(&t->out, NOTHING);
		t->p++;
		return;
	}
	if (t->end - t->p >= 2 && t->p[0] == '^' && t->p[1] == ']')
	{
		appendStringInfoChar(&t->out, '.');
		t->p += 2;
		return;
	}
	appendStringInfoChar(&t->out, '[');
	if (t->p < t->end && *t->p == '^')
		appendStringInfoChar(&t->out, *t->p++);
	while (t->p < t->end && *t->p != ']')
	{
		char		c = *t->p++;
		bool		is_set = false;

		if (c == '\\' && t->p < t->end)
			is_set = translate_class_escape(t);
		else if (c == '-')
			translate_hyphen(t, after_set);
		else if (c == '[')
			appendStringInfoString(&t->out, "\\[");
		else
			appendStringInfoChar(&t->out, c);
		after_set = is_set;
	}
	if (t->p >= t->end)
		fail_pattern(t, "Unterminated character class");
	t->p++;
	appendStringInfoChar(&t->out, ']');
}

/* Translate a reference to a named group; t->p is after \k. */
static void
translate_named_reference(Translation *t)
{
	const char *close = t->p < t->end && *t->p == '<' ?
		memchr(t->p, '>', t->end - t->p) : NULL;

	t->references = true;
	for (int i = 0; close != NULL && i < t->groups && i < SF_JN_MAX_GROUPS; i++)
	{
		if (t->names[i].name != NULL && t->names[i].len == close - t->p - 1 &&
			memcmp(t->names[i].name, t->p + 1, t->names[i].len) == 0)
		{
			appendStringInfo(&t->out, "(?:\\%d)", i + 1);
			t->p = close + 1;
			return;
		}
	}
	fail_pattern(t, "Invalid named reference");
}

/* Translate an escape outside of classes; t->p is after the backslash. */
static void
translate_escape(Translation *t)
{
	char		c;

	if (t->p >= t->end)
		fail_pattern(t, "\\ at end of pattern");
	c = *t->p;
	switch (c)
	{
		case 'd':
		case 'D':
		case 'w':
		case 'W':
		case 's':
		case 'S':
			appendStringInfo(&t->out, isupper((unsigned char) c) ? "[^%s]" : "[%s]",
							 class_members(c));
			break;
		case 'b':
			appendStringInfoString(&t->out, "\\y");
			break;
		case 'B':
			appendStringInfoString(&t->out, "\\Y");
			break;
		case '0':
			appendStringInfoString(&t->out, NOTHING);
			break;
		case 'k':
			t->p++;
			translate_named_reference(t);
			return;
		default:
			if (c >= '1' && c <= '9')
			{
				t->references = true;
				appendStringInfoString(&t->out, "(?:\\");
				while (t->p < t->end && isdigit((unsigned char) *t->p))
					appendStringInfoChar(&t->out, *t->p++);
				appendStringInfoChar(&t->out, ')');
				return;
			}
			translate_character(t);
			return;
	}
	t->p++;
}

/* Count a group; the engine does not tell of those inside lookaround. */
static void
count_group(Translation *t)
{
	if (t->groups < SF_JN_MAX_GROUPS && t->around == 0)
		t->captures[t->ncaptures++] = t->groups;
	t->groups++;
}

/* Translate what follows an opening parenthesis. */
static void
translate_group(Translation *t)
{
	Size		left = t->end - t->p;

	appendStringInfoChar(&t->out, '(');
	t->depth++;
	if (left == 0 || *t->p != '?')
	{
		count_group(t);
		return;
	}
	if (t->around == 0 && left >= 2 && t->p[1] != ':' &&
		(t->p[1] != '<' || (left >= 3 && strchr("=!", t->p[2]) != NULL)))
		t->around = t->depth;
	if (left >= 2 && strchr(":=!", t->p[1]) != NULL)
	{
		appendBinaryStringInfo(&t->out, t->p, 2);
		t->p += 2;
	}
	else if (left >= 3 && t->p[1] == '<' && (t->p[2] == '=' || t->p[2] == '!'))
	{
		appendBinaryStringInfo(&t->out, t->p, 3);
		t->p += 3;
	}
	else if (left >= 3 && t->p[1] == '<')
	{
		const char *close = memchr(t->p, '>', left);

		if (close == NULL)
			fail_pattern(t, "Invalid capture group name");
		if (t->groups < SF_JN_MAX_GROUPS)
		{
			t->names[t->groups].name = t->p + 2;
			t->names[t->groups].len = (int) (close - t->p - 2);
		}
		count_group(t);
		t->p = close + 1;
	}
	else
		fail_pattern(t, "Invalid group");
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
translate_pattern(Translation *t)
{
	while (t->p < t->end)
	{
		char		c = *t->p++;

		switch (c)
		{
			case '\\':
				translate_escape(t);
				break;
			case '[':
				translate_class(t);
				break;
			case '(':
				translate_group(t);
				break;
			case ')':
				if (t->depth-- == t->around)
					t->around = 0;
				appendStringInfoChar(&t->out, c);
				break;
			case '|':
				if (t->depth == 0 && t->nbars++ < SF_JN_MAX_ALTERNATIVES)
				{
					t->bars[t->nbars - 1].at = t->out.len;
					t->bars[t->nbars - 1].captures = t->ncaptures;
				}
				appendStringInfoChar(&t->out, c);
				break;
			case '.':
				appendStringInfoString(&t->out, "[^\\n\\r\\u2028\\u2029]");
				break;
			case '{':
				if (is_quantifier(t->p, t->end))
				{
					while (t->p[-1] != '}')
					{
						appendStringInfoChar(&t->out, t->p[-1]);
						t->p++;
					}
					appendStringInfoChar(&t->out, '}');
				}
				else
					appendStringInfoString(&t->out, "\\{");
				break;
			case '}':
			case ']':
				append_literal(t, c);
				break;
			default:
				appendStringInfoChar(&t->out, c);
				break;
		}
	}
}

/*
 * Take the alternatives of a pattern apart; one with references stays whole,
 * because they count its groups.
 */
static void
split_alternatives(Translation *t, SfJnRegex *regex)
{
	bool		whole = t->references || t->nbars >= SF_JN_MAX_ALTERNATIVES;
	int			n = whole ? 1 : t->nbars + 1;
	int			start = 0;

	regex->ngroups = Min(t->groups, SF_JN_MAX_GROUPS);
	regex->ncaptures = t->ncaptures;
	regex->captures = sf_jn_alloc(t->arena, (t->ncaptures + 1) * sizeof(int));
	memcpy(regex->captures, t->captures, t->ncaptures * sizeof(int));
	regex->nalternatives = n;
	regex->alternatives = sf_jn_alloc(t->arena, n * sizeof(SfJnAlternative));
	for (int i = 0; i < n; i++)
	{
		int			end = i < n - 1 ? t->bars[i].at : t->out.len;
		text	   *pattern = sf_jn_alloc(t->arena, VARHDRSZ + end - start);

		SET_VARSIZE(pattern, VARHDRSZ + end - start);
		memcpy(VARDATA(pattern), t->out.data + start, end - start);
		regex->alternatives[i].pattern = pattern;
		regex->alternatives[i].captures = i == 0 ? 0 : t->bars[i - 1].captures;
		start = end + 1;
	}
}

/* Compile a regular expression: rewrite it and see that the engine takes it. */
SfJnRegex *
sf_jn_regex_compile(SfJnArena *arena, SfJnThrow *thrower, const char *pattern,
					Size len, bool ignore_case, bool multiline, int position)
{
	SfJnRegex  *regex = sf_jn_alloc(arena, sizeof(SfJnRegex));
	Translation *t = palloc0(sizeof(Translation));
	pg_wchar   *wide;
	regex_t		re;
	int			rc;

	initStringInfo(&t->out);
	t->thrower = thrower;
	t->arena = arena;
	t->p = pattern;
	t->end = pattern + len;
	t->position = position;
	translate_pattern(t);

	regex->flags = REG_ADVANCED | (ignore_case ? REG_ICASE : 0) |
		(multiline ? REG_NLANCH : 0);
	regex->collation = C_COLLATION_OID;
	for (Size i = 0; ignore_case && i < len; i++)
	{
		if (IS_HIGHBIT_SET(pattern[i]) || (pattern[i] == '\\' && i + 1 < len && pattern[i + 1] == 'u'))
			regex->collation = sf_jn_case_collation();
	}
	split_alternatives(t, regex);
	wide = palloc((t->out.len + 1) * sizeof(pg_wchar));
	rc = pg_regcomp(&re, wide, pg_mb2wchar_with_len(t->out.data, wide, t->out.len),
					regex->flags, regex->collation);
	if (rc != REG_OKAY)
	{
		char	   *reason = sf_jn_alloc(arena, 100);

		/* a cancel is a reason to fail, too */
		CHECK_FOR_INTERRUPTS();
		pg_regerror(rc, &re, reason, 100);
		fail_pattern(t, reason);
	}
	/* before the check: it may be in memory that no context frees */
	pg_regfree(&re);
	CHECK_FOR_INTERRUPTS();
	pfree(wide);
	pfree(t->out.data);
	pfree(t);
	return regex;
}
