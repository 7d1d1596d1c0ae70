/*
 * filter_parse.c
 *		Filters of a JSONPath, [?(…)], and the literals in them.
 *
 *		or      := and ("||" and)*
 *		and     := unary ("&&" unary)*
 *		unary   := "!" unary | "(" or ")" | test
 *		test    := operand (operator operand)?     (none: does it exist?)
 *		         | (operand | word) operator (operand | word)
 *		operand := path | string | number | true | false | null
 *		         | array | object | "/" regex "/" flags
 *
 * A word is a text without quotes, as Jayway's library reads it: it goes on to
 * the next operator or parenthesis and may contain blanks.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_collation.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "regex/regex.h"
#include "utils/builtins.h"

#include "expr/path.h"

static const char *const operators[] = {
#define OPERATOR_TEXT(sym, text) text,
	SF_FILTER_OPERATOR_LIST(OPERATOR_TEXT)
};

static bool parse_json(SfScanner *s, SfJsonbBuild *ps, JsonbValue *out);

/* Make a node of a filter's tree. */
static SfFilter *
make_filter(SfFilterKind kind, SfFilter *left, SfFilter *right)
{
	SfFilter   *filter = palloc0(sizeof(SfFilter));

	filter->kind = kind;
	filter->left = left;
	filter->right = right;
	return filter;
}

/* --- literals --- */

/* Tell whether the text at the cursor may be a number. */
static bool
begins_number(const SfScanner *s)
{
	char		c = s->p[*s->p == '.'];

	return *s->p == '-' || isdigit((unsigned char) c);
}

/* Parse an array or object whose opening bracket is behind us. */
static bool
parse_container(SfScanner *s, SfJsonbBuild *ps, bool object, JsonbValue *out)
{
	bool		first = true;
	JsonbValue	v;
	JsonbValue *done;

	(void) sf_jsonb_push(ps, object ? WJB_BEGIN_OBJECT : WJB_BEGIN_ARRAY, NULL);
	sf_cursor_space(s);
	while (!sf_cursor_accept(s, object ? "}" : "]"))
	{
		if (!first && !sf_cursor_expect(s, ","))
			return false;
		first = false;
		if (object)
		{
			sf_cursor_space(s);
			v.type = jbvString;
			if (!sf_cursor_quoted(s, &v.val.string.val, &v.val.string.len))
				return false;
			(void) sf_jsonb_push(ps, WJB_KEY, &v);
			sf_cursor_space(s);
			if (!sf_cursor_expect(s, ":"))
				return false;
		}
		if (!parse_json(s, ps, &v))
			return false;
		/* a container has been pushed already */
		if (v.type != jbvBinary)
			(void) sf_jsonb_push(ps, object ? WJB_VALUE : WJB_ELEM, &v);
		sf_cursor_space(s);
	}
	done = sf_jsonb_push(ps, object ? WJB_END_OBJECT : WJB_END_ARRAY, NULL);
	if (done != NULL)
		*out = *done;
	return true;
}

/*
 * Parse a JSON value whose strings may have single quotes.  A scalar is given
 * in *out; a container inside another is pushed onto *ps, and *out is only
 * marked as jbvBinary.
 */
static bool
parse_json(SfScanner *s, SfJsonbBuild *ps, JsonbValue *out)
{
	bool		nested = SF_JSONB_STACK(ps) != NULL;
	const char *start;
	char		c;

	check_stack_depth();
	sf_cursor_space(s);
	c = sf_cursor_peek(s);
	if (c == '\'' || c == '"')
	{
		out->type = jbvString;
		return sf_cursor_quoted(s, &out->val.string.val, &out->val.string.len);
	}
	if (c == '[' || c == '{')
	{
		s->p++;
		if (!parse_container(s, ps, c == '{', out))
			return false;
		if (nested)
			out->type = jbvBinary;
		else
			sf_json_root(sf_json_make(out), out);
		return true;
	}
	start = s->p;
	if (sf_cursor_constant(s, out) && !sf_cursor_is_word(sf_cursor_peek(s)))
		return true;
	s->p = start;
	if (begins_number(s))
		return sf_cursor_number(s, out);
	return sf_cursor_fail(s, "expected a value at offset %d",
						  (int) (s->p - s->text));
}

/* --- regular expressions --- */

/* Take the letters at the cursor as flags of PostgreSQL's regex engine. */
static bool
parse_regex_flags(SfScanner *s, int *flags)
{
	for (; s->p < s->end && isalpha((unsigned char) *s->p); s->p++)
	{
		switch (*s->p)
		{
			case 'i':
			case 'u':
				*flags |= REG_ICASE;
				break;
			case 'm':
				*flags |= REG_NLANCH;
				break;
			case 's':
				*flags &= ~REG_NLSTOP;
				break;
			case 'x':
				*flags |= REG_EXPANDED;
				break;
			default:
				return sf_cursor_fail(s, "unknown flag \"%c\" of a regular expression",
									  *s->p);
		}
	}
	return true;
}

/* Compile a pattern once to see whether it is one. */
static bool
check_regex(SfScanner *s, const SfFilterOperand *operand)
{
	const char *pattern = VARDATA_ANY(operand->regex);
	int			len = VARSIZE_ANY_EXHDR(operand->regex);
	pg_wchar   *wide = palloc((len + 1) * sizeof(pg_wchar));
	regex_t		re;
	char		message[100];
	int			code;

	len = pg_mb2wchar_with_len(pattern, wide, len);
	code = pg_regcomp(&re, wide, len, operand->regex_flags, C_COLLATION_OID);
	pfree(wide);
	if (code == REG_OKAY)
	{
		pg_regfree(&re);
		return true;
	}
	pg_regerror(code, &re, message, sizeof(message));
	return sf_cursor_fail(s, "invalid regular expression: %s", message);
}

/*
 * Parse /pattern/flags.  The pattern has to match the whole string, so it is
 * anchored here; RE_compile_and_cache() keeps it compiled.
 */
static bool
parse_regex(SfScanner *s, SfFilterOperand *out)
{
	StringInfoData buf;

	out->kind = SF_FILTER_OPERAND_REGEX;
	out->regex_flags = REG_ADVANCED | REG_NLSTOP;
	initStringInfo(&buf);
	appendStringInfoString(&buf, "^(?:");
	s->p++;
	/* (?i) and the like are understood at the very beginning only */
	if (s->end - s->p > 2 && s->p[0] == '(' && s->p[1] == '?' &&
		isalpha((unsigned char) s->p[2]))
	{
		s->p += 2;
		if (!parse_regex_flags(s, &out->regex_flags) || !sf_cursor_expect(s, ")"))
			return false;
	}
	for (; s->p < s->end && *s->p != '/'; s->p++)
	{
		if (*s->p == '\\' && s->p + 1 < s->end)
		{
			if (s->p[1] != '/')
				appendStringInfoChar(&buf, '\\');
			s->p++;
		}
		appendStringInfoChar(&buf, *s->p);
	}
	if (!sf_cursor_expect(s, "/") || !parse_regex_flags(s, &out->regex_flags))
		return false;
	appendStringInfoString(&buf, ")$");
	out->regex = cstring_to_text_with_len(buf.data, buf.len);
	return check_regex(s, out);
}

/* --- tests --- */

/* Parse a path or a literal. */
bool
sf_operand_parse(SfScanner *s, SfFilterOperand *out)
{
	SfJsonbBuild build = {0};
	char		c;

	memset(out, 0, sizeof(SfFilterOperand));
	sf_cursor_space(s);
	c = sf_cursor_peek(s);
	if (c == '$' || c == '@')
	{
		out->kind = SF_FILTER_OPERAND_PATH;
		return sf_path_parse(s, SF_PATH_CONTEXT_IN_FILTER, &out->path);
	}
	if (c == '/')
		return parse_regex(s, out);
	out->kind = SF_FILTER_OPERAND_LITERAL;
	return parse_json(s, &build, &out->literal);
}

/* Skip an operator if one comes next; words may be in any case of letters. */
static bool
accept_operator(SfScanner *s, SfFilterOperator *op)
{
	sf_cursor_space(s);
	for (size_t i = 0; i < lengthof(operators); i++)
	{
		size_t		len = strlen(operators[i]);

		if ((size_t) (s->end - s->p) < len || pg_strncasecmp(s->p, operators[i], len) != 0 ||
			(isalpha((unsigned char) operators[i][0]) && s->p + len < s->end &&
			 sf_cursor_is_word(s->p[len])))
			continue;
		s->p += len;
		*op = (SfFilterOperator) i;
		return true;
	}
	return false;
}

/* Tell whether an operator comes next. */
bool
sf_filter_at_operator(const SfScanner *s)
{
	SfScanner	ahead = *s;
	SfFilterOperator op;

	return accept_operator(&ahead, &op);
}

/* Tell whether a text, which goes on to the next operator, is no other operand. */
static bool
is_bare_word(const SfScanner *s, int len, bool right)
{
	SfScanner	ahead = *s;
	JsonbValue	constant;

	if (len == 0 || strchr("{/$@", *s->p) != NULL)
		return false;
	if (begins_number(s))
	{
		ahead.err = NULL;
		return right && !(sf_cursor_number(&ahead, &constant) && ahead.p == s->p + len);
	}
	return !sf_cursor_constant(&ahead, &constant) ||
		sf_cursor_is_word(sf_cursor_peek(&ahead));
}

/* Take a text without quotes for a string; false, without an error, where none comes next. */
static bool
accept_bare_word(SfScanner *s, bool right, SfFilterOperand *out)
{
	int			len;

	sf_cursor_space(s);
	len = strcspn(s->p, "()[]=!<>&|~'\"");
	while (len > 0 && strchr(" \t\r\n", s->p[len - 1]) != NULL)
		len--;
	if (!is_bare_word(s, len, right))
		return false;
	out->kind = SF_FILTER_OPERAND_LITERAL;
	sf_json_value_string(&out->literal, pnstrdup(s->p, len), len);
	s->p += len;
	return true;
}

/* Parse a comparison, or an operand by itself. */
static bool
parse_test(SfScanner *s, SfFilter **out)
{
	SfFilter   *test = make_filter(SF_FILTER_KIND_EXISTS, NULL, NULL);
	bool		bare = accept_bare_word(s, false, &test->a);

	*out = test;
	if (!bare && !sf_operand_parse(s, &test->a))
		return false;
	if (!accept_operator(s, &test->op))
		return !bare || sf_cursor_fail(s, "expected an operator at offset %d",
									   (int) (s->p - s->text));
	test->kind = SF_FILTER_KIND_TEST;
	if (!accept_bare_word(s, true, &test->b) && !sf_operand_parse(s, &test->b))
		return false;
	if (test->op == SF_FILTER_OPERATOR_MATCH &&
		test->a.kind != SF_FILTER_OPERAND_REGEX && test->b.kind != SF_FILTER_OPERAND_REGEX)
		return sf_cursor_fail(s, "=~ needs a regular expression");
	return true;
}

/* Parse a negation, something in parentheses, or a test. */
static bool
parse_unary(SfScanner *s, SfFilter **out)
{
	check_stack_depth();
	sf_cursor_space(s);
	if (sf_cursor_accept(s, "!"))
	{
		SfFilter   *operand;

		if (!parse_unary(s, &operand))
			return false;
		*out = make_filter(SF_FILTER_KIND_NOT, operand, NULL);
		return true;
	}
	if (sf_cursor_accept(s, "("))
		return sf_filter_parse(s, out) && sf_cursor_expect(s, ")");
	return parse_test(s, out);
}

/* Parse what is joined by && or, if told so, by || and &&. */
static bool
parse_joined(SfScanner *s, SfFilterKind kind, SfFilter **out)
{
	SfFilter   *left = NULL;
	SfFilter   *right;

	do
	{
		if (!(kind == SF_FILTER_KIND_OR ? parse_joined(s, SF_FILTER_KIND_AND, &right) :
			  parse_unary(s, &right)))
			return false;
		left = left == NULL ? right : make_filter(kind, left, right);
		sf_cursor_space(s);
	} while (sf_cursor_accept(s, kind == SF_FILTER_KIND_OR ? "||" : "&&"));
	*out = left;
	return true;
}

/* Parse what stands between [?( and )], or in parentheses there. */
bool
sf_filter_parse(SfScanner *s, SfFilter **out)
{
	return parse_joined(s, SF_FILTER_KIND_OR, out);
}
