/*
 * regex.c
 *		Regular expressions: matching, on PostgreSQL's engine.
 *
 * PostgreSQL takes the longest match of an alternation, JavaScript the first.  So
 * the alternatives of a whole pattern are searched one by one.  The match that
 * begins first wins; of several that begin there, that of the first alternative.
 * Each alternative's match is kept until the search has passed it, because most
 * searches go through one subject from beginning to end.
 *
 * Three differences remain, which docs/jsonata.md describes: alternatives inside
 * parentheses, one preference (greedy or not) per branch, and parentheses inside
 * lookaround, which do not capture.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "base/time/watch.h"
#include "jsonata/evaluation/eval.h"
#include "jsonata/regex/regex.h"

/* A subject in code points */
typedef struct SfJnSubject
{
	const SfJnValue *text;		/* NULL: none, so far */
	pg_wchar   *wide;
	uint32	   *offsets;		/* of each code point, in bytes */
	Size		len;			/* code points */
	Size		room;			/* code points that wide and offsets have room for */
	bool		is_ascii;
} SfJnSubject;

static int	execute_regex(SfJnEval *ev, const SfJnSubject *subject, regex_t *re, size_t from,
						  int nmatch, regmatch_t *match);

/* What the last search of a subject found for each alternative of a pattern */
typedef struct SfJnSearch
{
	const SfJnRegex *regex;
	const SfJnValue *subject;
	struct
	{
		Size		from;		/* where the search began */
		bool		found;
		regmatch_t *match;		/* the whole and the groups; NULL: not searched */
		int			nmatch;
	}			of[SF_JN_MAX_ALTERNATIVES];
} SfJnSearch;

/* Take a substring by code points. */
static SfJnValue *
slice(SfJnEval *ev, const SfJnSubject *subject, regoff_t from, regoff_t to)
{
	Size		start = subject->is_ascii ? (Size) from : subject->offsets[from];
	Size		end = subject->is_ascii ? (Size) to : subject->offsets[to];

	return sf_jn_string(&ev->arena, subject->text->u.str + start, end - start);
}

/* Move an element of an array of pointers to its beginning. */
static void
move_to_front(void **array, int i)
{
	void	   *element = array[i];

	memmove(array + 1, array, i * sizeof(void *));
	array[0] = element;
}

/* Decode a subject, into the memory of one that is decoded no longer, if it is large enough. */
static void
decode(SfJnEval *ev, SfJnSubject *decoded, const SfJnValue *text)
{
	const char *p = text->u.str;
	const char *end = p + text->len;
	Size		n = 0;

	if (decoded->room < (Size) text->len + 1)
	{
		decoded->text = NULL;
		decoded->room = Max((Size) text->len + 1, Min(decoded->room * 2, 1024));
		decoded->wide = sf_jn_alloc(&ev->arena, decoded->room * sizeof(pg_wchar));
		decoded->offsets = sf_jn_alloc(&ev->arena, decoded->room * sizeof(uint32));
	}
	decoded->is_ascii = true;
	while (p < end)
	{
		uint32		cp;

		decoded->offsets[n] = (uint32) (p - text->u.str);
		decoded->is_ascii &= (unsigned char) *p < 0x80;
		p += sf_jn_decode(p, end, &cp);
		decoded->wide[n++] = cp;
	}
	decoded->offsets[n] = text->len;
	decoded->len = n;
	decoded->text = text;
}

/*
 * Find a subject among those that are decoded, or decode it.  It is kept for the matches to
 * come, as a search is mostly repeated on the same subject.
 */
static const SfJnSubject *
decode_subject(SfJnEval *ev, const SfJnValue *text)
{
	int			i = 0;

	while (i < SF_JN_KEPT_SUBJECTS - 1 && ev->subjects[i] != NULL && ev->subjects[i]->text != text)
		i++;
	if (ev->subjects[i] == NULL)
	{
		ev->subjects[i] = sf_jn_alloc(&ev->arena, sizeof(SfJnSubject));
		memset(ev->subjects[i], 0, sizeof(SfJnSubject));
	}
	if (ev->subjects[i]->text != text)
		decode(ev, ev->subjects[i], text);
	move_to_front((void **) ev->subjects, i);
	return ev->subjects[0];
}

/* Search a subject for an alternative; false: it is not there. */
static bool
search_alternative(SfJnEval *ev, const SfJnSubject *subject, const SfJnRegex *regex,
				   const SfJnAlternative *alternative, Size from, regmatch_t *found, int nfound)
{
	regex_t    *re = RE_compile_and_cache(alternative->pattern, regex->flags,
										  regex->collation);
	int			rc = execute_regex(ev, subject, re, from, nfound, found);
	char		reason[100];

	if (rc == REG_OKAY || rc == REG_NOMATCH)
		return rc == REG_OKAY;
	pg_regerror(rc, re, reason, sizeof(reason));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_REGULAR_EXPRESSION),
			 errmsg("regular expression failed: %s", reason)));
	return false;				/* not reached */
}

/* Take the search of a pattern in a subject up again, or begin one. */
static SfJnSearch *
find_search(SfJnEval *ev, const SfJnRegex *regex, const SfJnValue *subject)
{
	int			i = 0;
	SfJnSearch *search;

	while (i < SF_JN_KEPT_SUBJECTS - 1 && ev->searches[i] != NULL &&
		   (ev->searches[i]->regex != regex || ev->searches[i]->subject != subject))
		i++;
	if (ev->searches[i] == NULL)
	{
		ev->searches[i] = sf_jn_alloc(&ev->arena, sizeof(SfJnSearch));
		ev->searches[i]->regex = NULL;
	}
	search = ev->searches[i];
	move_to_front((void **) ev->searches, i);
	if (search->regex == regex && search->subject == subject)
		return search;
	memset(search->of, 0, regex->nalternatives * sizeof(search->of[0]));
	search->regex = regex;
	search->subject = subject;
	return search;
}

/* Where the number of an alternative may stand: none matches */
#define NO_ALTERNATIVE	(-1)

/* Search for all alternatives; returns the one whose match is taken, or NO_ALTERNATIVE. */
static int
search_alternatives(SfJnEval *ev, const SfJnSubject *subject, const SfJnRegex *regex, SfJnSearch *search,
					Size from)
{
	int			best = NO_ALTERNATIVE;

	for (int i = 0; i < regex->nalternatives; i++)
	{
		const SfJnAlternative *alternative = &regex->alternatives[i];
		int			last = i < regex->nalternatives - 1 ? alternative[1].captures : regex->ncaptures;
		regmatch_t *match = search->of[i].match;

		if (match == NULL)
		{
			search->of[i].nmatch = last - alternative->captures + 1;
			match = sf_jn_alloc(&ev->arena, search->of[i].nmatch * sizeof(regmatch_t));
		}
		if (search->of[i].match == NULL || search->of[i].from > from ||
			(search->of[i].found && (Size) match[0].rm_so < from))
		{
			search->of[i].found = search_alternative(ev, subject, regex, alternative, from,
													 match, search->of[i].nmatch);
			search->of[i].from = from;
			search->of[i].match = match;
		}
		if (search->of[i].found &&
			(best == NO_ALTERNATIVE || match[0].rm_so < search->of[best].match[0].rm_so))
			best = i;
	}
	return best;
}

/* Search a subject from a code point on. */
bool
sf_jn_regex_search(SfJnEval *ev, const SfJnRegex *regex, SfJnValue *text,
				   Size from, SfJnMatch *match)
{
	const SfJnSubject *subject;
	SfJnSearch *search;
	regmatch_t *found;
	int			taken;

	sf_jn_check(ev);
	subject = decode_subject(ev, text);
	match->subject_len = subject->len;
	if (from > subject->len)
		return false;
	search = find_search(ev, regex, text);
	taken = search_alternatives(ev, subject, regex, search, from);
	if (taken == NO_ALTERNATIVE)
		return false;
	found = search->of[taken].match;
	match->start = found[0].rm_so;
	match->end = found[0].rm_eo;
	match->text = slice(ev, subject, found[0].rm_so, found[0].rm_eo);
	match->ngroups = regex->ngroups;
	match->groups = sf_jn_alloc(&ev->arena, (regex->ngroups + 1) * sizeof(SfJnValue *));
	memset(match->groups, 0, (regex->ngroups + 1) * sizeof(SfJnValue *));
	for (int i = 1; i < search->of[taken].nmatch; i++)
	{
		int			group = regex->captures[regex->alternatives[taken].captures + i - 1];

		if (found[i].rm_so >= 0)
			match->groups[group] = slice(ev, subject, found[i].rm_so, found[i].rm_eo);
	}
	return true;
}

/* Make the array of the groups of a match. */
SfJnValue *
sf_jn_match_groups(SfJnEval *ev, const SfJnMatch *match)
{
	SfJnValue  *groups = sf_jn_array(&ev->arena, match->ngroups);

	for (int i = 0; i < match->ngroups; i++)
		sf_jn_push(&ev->arena, groups, match->groups[i]);
	return groups;
}

/* Make the object that describes a match. */
SfJnValue *
sf_jn_match_object(SfJnEval *ev, const SfJnMatch *match)
{
	SfJnValue  *result = sf_jn_object(&ev->arena, 5);

	sf_jn_set_c(&ev->arena, result, "match", match->text);
	sf_jn_set_c(&ev->arena, result, "start", sf_jn_number(&ev->arena, match->start));
	sf_jn_set_c(&ev->arena, result, "end", sf_jn_number(&ev->arena, match->end));
	sf_jn_set_c(&ev->arena, result, "groups", sf_jn_match_groups(ev, match));
	return result;
}

/*
 * Apply a regular expression, or its "next", as the function that it is in an
 * expression: an object that describes the match, or undefined.
 */
SfJnValue *
sf_jn_regex_apply(SfJnEval *ev, const SfJnFunction *function, SfJnValue **args, int nargs)
{
	SfJnValue  *subject = function->kind == SF_JN_FUNCTION_NEXT ? function->subject :
		(nargs > 0 ? args[0] : NULL);
	Size		from = function->kind == SF_JN_FUNCTION_NEXT ? function->offset : 0;
	SfJnMatch	match;
	SfJnValue  *result;
	SfJnValue  *next;

	if (!SF_JN_IS_STRING(subject))
		return NULL;
	if (function->kind == SF_JN_FUNCTION_REGEX && nargs > 1 && SF_JN_IS_NUMBER(args[1]) &&
		args[1]->u.number > 0)
		from = (Size) args[1]->u.number;
	if (function->kind == SF_JN_FUNCTION_NEXT && from >= decode_subject(ev, subject)->len)
		return NULL;
	if (!sf_jn_regex_search(ev, function->regex, subject, from, &match))
		return NULL;
	if (function->kind == SF_JN_FUNCTION_NEXT && match.start == match.end)
		sf_jn_fail(ev, SF_JN_ERROR_D1004);

	next = sf_jn_function_value(&ev->arena, SF_JN_FUNCTION_NEXT);
	next->u.function->regex = function->regex;
	next->u.function->subject = subject;
	next->u.function->offset = match.end;
	result = sf_jn_match_object(ev, &match);
	sf_jn_set_c(&ev->arena, result, "next", next);
	return result;
}

#define CHEAP_LEN 5000			/* code points that are searched soon enough */

/* A search of a subject from a code point on */
typedef struct RegexCall
{
	const SfJnSubject *subject;
	regex_t    *re;
	Size		from;
	int			nmatch;
	regmatch_t *match;
	int			rc;				/* a code of regex/regex.h */
} RegexCall;

/* Search. */
static void
call_regex(void *arg)
{
	RegexCall  *call = arg;

	call->rc = pg_regexec(call->re, call->subject->wide, call->subject->len, call->from, NULL,
						  call->nmatch, call->match, 0);
}

/*
 * Search a subject from a code point on; a code of
 * regex/regex.h.  Throws U1002 when the time is up.
 */
static int
execute_regex(SfJnEval *ev, const SfJnSubject *subject, regex_t *re, size_t from, int nmatch,
			  regmatch_t *match)
{
	RegexCall	call = {subject, re, from, nmatch, match, REG_OKAY};
	bool		costly = subject->len - from > CHEAP_LEN ||
		(re->re_info & (REG_UBACKREF | REG_ULOOKAROUND)) != 0;

	if (ev->limit.deadline == SF_TICK_UNSET || !costly)
		call_regex(&call);
	else if (!sf_watch_run(ev->limit.deadline, call_regex, &call))
		sf_jn_fail(ev, SF_JN_ERROR_U1002);
	CHECK_FOR_INTERRUPTS();
	return call.rc;
}
