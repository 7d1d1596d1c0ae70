/*
 * regex.c
 *		Regular expressions: JavaScript's notation on PostgreSQL's engine.
 *
 * The pattern is rewritten once, when the expression is compiled: what both
 * know is copied, what they write differently (\b, \d, ., [], named groups, a
 * brace that is no quantifier) is put into PostgreSQL's words.
 *
 * PostgreSQL takes the longest match of an alternation where JavaScript takes
 * the first.  So the alternatives of a whole pattern are searched one by one:
 * the match that begins first wins, of several the first alternative's.  What
 * was found for each is kept until the search has come past it, as searches
 * mostly go through one subject from its beginning to its end.
 *
 * What remains different: alternatives inside parentheses, one preference
 * (greedy or not) for a whole branch, and parentheses inside lookaround do
 * not capture.  docs/jsonata.md says so.
 */
#include "postgres.h"

#include "base/compat.h"
#include "catalog/pg_collation.h"
#include "expr/jsonata/functions.h"
#include "expr/jsonata/watch.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#define MAX_GROUPS 100
#define MAX_ALTERNATIVES 32
#define JS_SPACE "\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
#define NOTHING "[^\\u0001-\\U0010ffff]"

/* One alternative of a pattern, or all of it */
typedef struct Alternative
{
	text	   *pattern;		/* PostgreSQL's */
	int			captures;		/* that the alternatives before it have */
} Alternative;

struct SfJnRegex
{
	int			flags;
	Oid			collation;		/* C, but where letters beyond ASCII have two cases */
	int			ngroups;
	int			ncaptures;		/* groups that the engine tells of */
	int		   *captures;		/* which groups they are */
	int			nalternatives;
	Alternative *alternatives;
};

/* What the last search of a subject found for each alternative of a pattern */
struct SfJnSearch
{
	const SfJnRegex *regex;
	const SfJnValue *subject;
	struct
	{
		Size		from;		/* where the search began */
		bool		found;
		regmatch_t *match;		/* the whole and the groups; NULL: not searched */
		int			nmatch;
	}			of[MAX_ALTERNATIVES];
};

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
	int			captures[MAX_GROUPS];
	int			nbars;			/* between the alternatives of the whole */
	struct
	{
		int			at;
		int			captures;
	}			bars[MAX_ALTERNATIVES];
	struct
	{
		const char *name;
		int			len;
	}			names[MAX_GROUPS];
} Translation;

/*
 * Throw a syntax error of the pattern.
 */
static void pg_attribute_noreturn()
fail_pattern(Translation *t, const char *reason)
{
	SfJnError  *e = sf_jn_error(t->thrower, SF_JN_S0303);

	e->position = t->position;
	e->message = reason;
	e->message_len = strlen(reason);
	sf_jn_throw(t->thrower);
}

/*
 * Read so many hex digits at s; -1 when they are not there.
 */
static int
hex_value(const char *s, const char *end, int digits)
{
	int			value = 0;
	int			i;

	for (i = 0; i < digits; i++)
	{
		char		c = s + i < end ? s[i] : '\0';

		if (c >= '0' && c <= '9')
			value = value * 16 + (c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			value = value * 16 + ((c | 0x20) - 'a' + 10);
		else
			return -1;
	}
	return value;
}

/*
 * Append a character that stands for itself.
 */
static void
append_literal(Translation *t, char c)
{
	if (c > ' ' && c < 0x7f && !isalnum((unsigned char) c) && c != '_')
		appendStringInfoChar(&t->out, '\\');
	appendStringInfoChar(&t->out, c);
}

/*
 * Translate an escape that means one character; t->p is after the backslash.
 */
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
			value = hex_value(t->p, t->end, c == 'x' ? 2 : 4);
			if (value > 0)
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

/*
 * Translate a class [...]; t->p is after the bracket.
 */
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
		{
			is_set = strchr("dDwWsS", *t->p) != NULL;
			if (*t->p == 'd')
				appendStringInfoString(&t->out, "0-9");
			else if (*t->p == 'w')
				appendStringInfoString(&t->out, "A-Za-z0-9_");
			else if (*t->p == 's')
				appendStringInfoString(&t->out, JS_SPACE);
			else if (is_set)
				appendStringInfo(&t->out, "\\%c", *t->p);
			else if (*t->p == 'b')
				appendStringInfoString(&t->out, "\\u0008");
			else
			{
				translate_character(t);
				after_set = false;
				continue;
			}
			t->p++;
		}
		else if (c == '-')
		{
			bool		before_set = t->end - t->p >= 2 && t->p[0] == '\\' &&
				strchr("dDwWsS", t->p[1]) != NULL;
			char		last = t->out.data[t->out.len - 1];
			bool		edge = last == '[' || last == '^' ||
				(t->p < t->end && *t->p == ']');

			appendStringInfoString(&t->out, after_set || before_set || edge ? "\\-" : "-");
		}
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

/*
 * Translate a reference to a named group; t->p is after \k.
 */
static void
translate_named_reference(Translation *t)
{
	const char *close = t->p < t->end && *t->p == '<' ?
		memchr(t->p, '>', t->end - t->p) : NULL;
	int			i;

	t->references = true;
	for (i = 0; close != NULL && i < t->groups && i < MAX_GROUPS; i++)
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

/*
 * Translate an escape outside of classes; t->p is after the backslash.
 */
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
			appendStringInfoString(&t->out, "[0-9]");
			break;
		case 'D':
			appendStringInfoString(&t->out, "[^0-9]");
			break;
		case 'w':
			appendStringInfoString(&t->out, "[A-Za-z0-9_]");
			break;
		case 'W':
			appendStringInfoString(&t->out, "[^A-Za-z0-9_]");
			break;
		case 's':
			appendStringInfoString(&t->out, "[" JS_SPACE "]");
			break;
		case 'S':
			appendStringInfoString(&t->out, "[^" JS_SPACE "]");
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

/*
 * Count a group; the engine does not tell of those inside lookaround.
 */
static void
count_group(Translation *t)
{
	if (t->groups < MAX_GROUPS && t->around == 0)
		t->captures[t->ncaptures++] = t->groups;
	t->groups++;
}

/*
 * Translate what follows an opening parenthesis.
 */
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
		if (t->groups < MAX_GROUPS)
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

/*
 * Tell whether a brace begins a quantifier {n}, {n,} or {n,m}.
 */
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

/*
 * Rewrite a whole pattern.
 */
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
				if (t->depth == 0 && t->nbars++ < MAX_ALTERNATIVES)
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
	bool		whole = t->references || t->nbars >= MAX_ALTERNATIVES;
	int			n = whole ? 1 : t->nbars + 1;
	int			start = 0;
	int			i;

	regex->ngroups = Min(t->groups, MAX_GROUPS);
	regex->ncaptures = t->ncaptures;
	regex->captures = sf_jn_alloc(t->arena, (t->ncaptures + 1) * sizeof(int));
	memcpy(regex->captures, t->captures, t->ncaptures * sizeof(int));
	regex->nalternatives = n;
	regex->alternatives = sf_jn_alloc(t->arena, n * sizeof(Alternative));
	for (i = 0; i < n; i++)
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

/*
 * Compile a regular expression: rewrite it and see that the engine takes it.
 */
SfJnRegex *
sf_jn_regex_compile(SfJnArena *arena, SfJnThrow *thrower, const char *pattern,
					Size len, bool ignore_case, bool multiline, int position)
{
	SfJnRegex  *regex = sf_jn_alloc(arena, sizeof(SfJnRegex));
	Translation *t = palloc0(sizeof(Translation));
	pg_wchar   *wide;
	regex_t		re;
	Size		i;
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
	for (i = 0; ignore_case && i < len; i++)
	{
		if (IS_HIGHBIT_SET(pattern[i]) || (pattern[i] == '\\' && i + 1 < len && pattern[i + 1] == 'u'))
			regex->collation = sf_jn_case_collation();
	}
	split_alternatives(t, regex);
	wide = palloc((t->out.len + 1) * sizeof(pg_wchar));
	rc = pg_regcomp(&re, wide, pg_mb2wchar_with_len(t->out.data, wide, t->out.len),
					regex->flags, regex->collation);
	CHECK_FOR_INTERRUPTS();
	if (rc != REG_OKAY)
	{
		char	   *reason = sf_jn_alloc(arena, 100);

		pg_regerror(rc, &re, reason, 100);
		fail_pattern(t, reason);
	}
	pg_regfree(&re);
	pfree(wide);
	pfree(t->out.data);
	pfree(t);
	return regex;
}

/*
 * Take a substring by code points.
 */
static SfJnValue *
slice(SfJnEval *ev, const SfJnValue *s, const uint32 *offsets, regoff_t from, regoff_t to)
{
	Size		start = offsets == NULL ? (Size) from : offsets[from];
	Size		end = offsets == NULL ? (Size) to : offsets[to];

	return sf_jn_string(&ev->arena, s->u.str + start, end - start);
}

/*
 * Decode a subject into code points and the byte offset of each; kept for the
 * matches to come, as a search is mostly repeated on the same subject.
 */
static void
decode_subject(SfJnEval *ev, SfJnValue *subject)
{
	const char *p = subject->u.str;
	const char *end = p + subject->len;
	Size		n = 0;
	bool		ascii = true;

	if (ev->decoded == subject)
		return;
	ev->wide = sf_jn_alloc(&ev->arena, ((Size) subject->len + 1) * sizeof(pg_wchar));
	ev->offsets = sf_jn_alloc(&ev->arena, ((Size) subject->len + 1) * sizeof(uint32));
	while (p < end)
	{
		uint32		cp;

		ev->offsets[n] = (uint32) (p - subject->u.str);
		ascii &= (unsigned char) *p < 0x80;
		p += sf_jn_decode(p, end, &cp);
		ev->wide[n++] = cp;
	}
	ev->offsets[n] = subject->len;
	ev->nwide = n;
	ev->decoded = subject;
	if (ascii)
		ev->offsets = NULL;
}

/*
 * Search the decoded subject for an alternative; false: it is not there.
 */
static bool
search_alternative(SfJnEval *ev, const SfJnRegex *regex, const Alternative *alternative,
				   Size from, regmatch_t *found, int nfound)
{
	regex_t    *re = RE_compile_and_cache(alternative->pattern, regex->flags,
										  regex->collation);
	int			rc = sf_jn_regexec(ev, re, from, nfound, found);
	char		reason[100];

	if (rc == REG_OKAY || rc == REG_NOMATCH)
		return rc == REG_OKAY;
	pg_regerror(rc, re, reason, sizeof(reason));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_REGULAR_EXPRESSION),
			 errmsg("regular expression failed: %s", reason)));
	return false;				/* not reached */
}

/*
 * Take the search of a pattern in a subject up again, or begin one.
 */
static SfJnSearch *
find_search(SfJnEval *ev, const SfJnRegex *regex, const SfJnValue *subject)
{
	if (ev->search == NULL)
		ev->search = sf_jn_alloc(&ev->arena, sizeof(SfJnSearch));
	else if (ev->search->regex == regex && ev->search->subject == subject)
		return ev->search;
	memset(ev->search->of, 0, regex->nalternatives * sizeof(ev->search->of[0]));
	ev->search->regex = regex;
	ev->search->subject = subject;
	return ev->search;
}

/*
 * Search for all alternatives; returns the one whose match is taken, or -1.
 */
static int
search_alternatives(SfJnEval *ev, const SfJnRegex *regex, SfJnSearch *search, Size from)
{
	int			best = -1;
	int			i;

	for (i = 0; i < regex->nalternatives; i++)
	{
		const Alternative *a = &regex->alternatives[i];
		int			last = i < regex->nalternatives - 1 ? a[1].captures : regex->ncaptures;
		regmatch_t *match = search->of[i].match;

		if (match == NULL)
		{
			search->of[i].nmatch = last - a->captures + 1;
			match = sf_jn_alloc(&ev->arena, search->of[i].nmatch * sizeof(regmatch_t));
		}
		if (search->of[i].match == NULL || search->of[i].from > from ||
			(search->of[i].found && (Size) match[0].rm_so < from))
		{
			search->of[i].found = search_alternative(ev, regex, a, from, match,
													 search->of[i].nmatch);
			search->of[i].from = from;
			search->of[i].match = match;
		}
		if (search->of[i].found &&
			(best < 0 || match[0].rm_so < search->of[best].match[0].rm_so))
			best = i;
	}
	return best;
}

/*
 * Search a subject from a code point on.
 */
bool
sf_jn_regex_search(SfJnEval *ev, const SfJnRegex *regex, SfJnValue *subject,
				   Size from, SfJnMatch *match)
{
	SfJnSearch *search;
	regmatch_t *found;
	int			taken;
	int			i;

	sf_jn_check(ev);
	decode_subject(ev, subject);
	if (from > ev->nwide)
		return false;
	search = find_search(ev, regex, subject);
	taken = search_alternatives(ev, regex, search, from);
	if (taken < 0)
		return false;
	found = search->of[taken].match;
	match->start = found[0].rm_so;
	match->end = found[0].rm_eo;
	match->text = slice(ev, subject, ev->offsets, found[0].rm_so, found[0].rm_eo);
	match->ngroups = regex->ngroups;
	match->groups = sf_jn_alloc(&ev->arena, (regex->ngroups + 1) * sizeof(SfJnValue *));
	memset(match->groups, 0, (regex->ngroups + 1) * sizeof(SfJnValue *));
	for (i = 1; i < search->of[taken].nmatch; i++)
	{
		int			group = regex->captures[regex->alternatives[taken].captures + i - 1];

		if (found[i].rm_so >= 0)
			match->groups[group] = slice(ev, subject, ev->offsets, found[i].rm_so,
										 found[i].rm_eo);
	}
	return true;
}

/*
 * Apply a regular expression, or its "next", as the function that it is in an
 * expression: an object that describes the match, or undefined.
 */
SfJnValue *
sf_jn_regex_apply(SfJnEval *ev, const SfJnFunction *f, SfJnValue **args, int nargs)
{
	SfJnValue  *subject = f->kind == SF_JN_F_NEXT ? f->subject :
		(nargs > 0 ? args[0] : NULL);
	Size		from = f->kind == SF_JN_F_NEXT ? f->offset : 0;
	SfJnMatch	match;
	SfJnValue  *result;
	SfJnValue  *groups;
	SfJnValue  *next;
	int			i;

	if (!SF_JN_IS_STRING(subject))
		return NULL;
	if (f->kind == SF_JN_F_REGEX && nargs > 1 && SF_JN_IS_NUMBER(args[1]) &&
		args[1]->u.number > 0)
		from = (Size) args[1]->u.number;
	decode_subject(ev, subject);
	if (f->kind == SF_JN_F_NEXT && from >= ev->nwide)
		return NULL;
	if (!sf_jn_regex_search(ev, f->regex, subject, from, &match))
		return NULL;
	if (f->kind == SF_JN_F_NEXT && match.start == match.end)
		sf_jn_fail(ev, SF_JN_D1004);

	groups = sf_jn_array(&ev->arena, match.ngroups);
	for (i = 0; i < match.ngroups; i++)
		sf_jn_push(&ev->arena, groups, match.groups[i]);
	next = sf_jn_function_value(ev, SF_JN_F_NEXT);
	next->u.function->regex = f->regex;
	next->u.function->subject = subject;
	next->u.function->offset = match.end;
	result = sf_jn_object(&ev->arena, 5);
	sf_jn_set_c(&ev->arena, result, "match", match.text);
	sf_jn_set_c(&ev->arena, result, "start", sf_jn_number(&ev->arena, match.start));
	sf_jn_set_c(&ev->arena, result, "end", sf_jn_number(&ev->arena, match.end));
	sf_jn_set_c(&ev->arena, result, "groups", groups);
	sf_jn_set_c(&ev->arena, result, "next", next);
	return result;
}
