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

static bool parse_json(SfScanner *scanner, SfJsonbBuild *build, JsonbValue *out);

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
begins_number(const SfScanner *scanner)
{
	char		c = scanner->p[*scanner->p == '.'];

	return *scanner->p == '-' || isdigit((unsigned char) c);
}

/* Parse an array or object whose opening bracket is behind us. */
static bool
parse_container(SfScanner *scanner, SfJsonbBuild *build, bool object, JsonbValue *out)
{
	bool		first = true;
	JsonbValue	value;
	JsonbValue *done;

	(void) sf_jsonb_push(build, object ? WJB_BEGIN_OBJECT : WJB_BEGIN_ARRAY, NULL);
	sf_cursor_space(scanner);
	while (!sf_cursor_accept(scanner, object ? "}" : "]"))
	{
		if (!first && !sf_cursor_expect(scanner, ","))
			return false;
		first = false;
		if (object)
		{
			sf_cursor_space(scanner);
			value.type = jbvString;
			if (!sf_cursor_quoted(scanner, &value.val.string.val, &value.val.string.len))
				return false;
			(void) sf_jsonb_push(build, WJB_KEY, &value);
			sf_cursor_space(scanner);
			if (!sf_cursor_expect(scanner, ":"))
				return false;
		}
		if (!parse_json(scanner, build, &value))
			return false;
		/* a container has been pushed already */
		if (value.type != jbvBinary)
			(void) sf_jsonb_push(build, object ? WJB_VALUE : WJB_ELEM, &value);
		sf_cursor_space(scanner);
	}
	done = sf_jsonb_push(build, object ? WJB_END_OBJECT : WJB_END_ARRAY, NULL);
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
parse_json(SfScanner *scanner, SfJsonbBuild *build, JsonbValue *out)
{
	bool		nested = SF_JSONB_STACK(build) != NULL;
	const char *start;
	char		c;

	check_stack_depth();
	sf_cursor_space(scanner);
	c = sf_cursor_peek(scanner);
	if (c == '\'' || c == '"')
	{
		out->type = jbvString;
		return sf_cursor_quoted(scanner, &out->val.string.val, &out->val.string.len);
	}
	if (c == '[' || c == '{')
	{
		scanner->p++;
		if (!parse_container(scanner, build, c == '{', out))
			return false;
		if (nested)
			out->type = jbvBinary;
		else
			sf_json_root(sf_json_make(out), out);
		return true;
	}
	start = scanner->p;
	if (sf_cursor_constant(scanner, out) && !sf_cursor_is_word(sf_cursor_peek(scanner)))
		return true;
	scanner->p = start;
	if (begins_number(scanner))
		return sf_cursor_number(scanner, out);
	return sf_cursor_fail(scanner, "expected a value at offset %d",
						  (int) (scanner->p - scanner->text));
}

/* --- regular expressions --- */

/* Take the letters at the cursor as flags of PostgreSQL's regex engine. */
static bool
parse_regex_flags(SfScanner *scanner, int *flags)
{
	for (; scanner->p < scanner->end && isalpha((unsigned char) *scanner->p); scanner->p++)
	{
		switch (*scanner->p)
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
				return sf_cursor_fail(scanner, "unknown flag \"%c\" of a regular expression",
									  *scanner->p);
		}
	}
	return true;
}

/* Compile a pattern once to see whether it is one. */
static bool
check_regex(SfScanner *scanner, SfFilterOperand *operand)
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
		operand->regex_is_costly = (re.re_info & (REG_UBACKREF | REG_ULOOKAROUND)) != 0;
		pg_regfree(&re);
		return true;
	}
	pg_regerror(code, &re, message, sizeof(message));
	return sf_cursor_fail(scanner, "invalid regular expression: %s", message);
}

/*
 * Parse /pattern/flags.  The pattern has to match the whole string, so it is
 * anchored here; RE_compile_and_cache() keeps it compiled.
 */
static bool
parse_regex(SfScanner *scanner, SfFilterOperand *out)
{
	StringInfoData buf;

	out->kind = SF_FILTER_OPERAND_REGEX;
	out->regex_flags = REG_ADVANCED | REG_NLSTOP;
	initStringInfo(&buf);
	appendStringInfoString(&buf, "^(?:");
	scanner->p++;
	/* (?i) and the like are understood at the very beginning only */
	if (scanner->end - scanner->p > 2 && scanner->p[0] == '(' && scanner->p[1] == '?' &&
		isalpha((unsigned char) scanner->p[2]))
	{
		scanner->p += 2;
		if (!parse_regex_flags(scanner, &out->regex_flags) || !sf_cursor_expect(scanner, ")"))
			return false;
	}
	for (; scanner->p < scanner->end && *scanner->p != '/'; scanner->p++)
	{
		if (*scanner->p == '\\' && scanner->p + 1 < scanner->end)
		{
			if (scanner->p[1] != '/')
				appendStringInfoChar(&buf, '\\');
			scanner->p++;
		}
		appendStringInfoChar(&buf, *scanner->p);
	}
	if (!sf_cursor_expect(scanner, "/") || !parse_regex_flags(scanner, &out->regex_flags))
		return false;
	appendStringInfoString(&buf, ")$");
	out->regex = cstring_to_text_with_len(buf.data, buf.len);
	return check_regex(scanner, out);
}

/* --- tests --- */

/* Parse a path or a literal. */
bool
sf_operand_parse(SfScanner *scanner, SfFilterOperand *out)
{
	SfJsonbBuild build = {0};
	char		c;

	memset(out, 0, sizeof(SfFilterOperand));
	sf_cursor_space(scanner);
	c = sf_cursor_peek(scanner);
	if (c == '$' || c == '@')
	{
		out->kind = SF_FILTER_OPERAND_PATH;
		return sf_path_parse(scanner, SF_PATH_CONTEXT_IN_FILTER, &out->path);
	}
	if (c == '/')
		return parse_regex(scanner, out);
	out->kind = SF_FILTER_OPERAND_LITERAL;
	return parse_json(scanner, &build, &out->literal);
}

/* Skip an operator if one comes next; words may be in any case of letters. */
static bool
accept_operator(SfScanner *scanner, SfFilterOperator *op)
{
	sf_cursor_space(scanner);
	for (size_t i = 0; i < lengthof(operators); i++)
	{
		size_t		len = strlen(operators[i]);

		if ((size_t) (scanner->end - scanner->p) < len || pg_strncasecmp(scanner->p, operators[i], len) != 0 ||
			(isalpha((unsigned char) operators[i][0]) && scanner->p + len < scanner->end &&
			 sf_cursor_is_word(scanner->p[len])))
			continue;
		scanner->p += len;
		*op = (SfFilterOperator) i;
		return true;
	}
	return false;
}

/* Tell whether an operator comes next. */
bool
sf_filter_at_operator(const SfScanner *scanner)
{
	SfScanner	ahead = *scanner;
	SfFilterOperator op;

	return accept_operator(&ahead, &op);
}

/* Tell whether a text, which goes on to the next operator, is no other operand. */
static bool
is_bare_word(const SfScanner *scanner, int len, bool right)
{
	SfScanner	ahead = *scanner;
	JsonbValue	constant;

	if (len == 0 || strchr("{/$@", *scanner->p) != NULL)
		return false;
	if (begins_number(scanner))
	{
		ahead.error = NULL;
		return right && !(sf_cursor_number(&ahead, &constant) && ahead.p == scanner->p + len);
	}
	return !sf_cursor_constant(&ahead, &constant) ||
		sf_cursor_is_word(sf_cursor_peek(&ahead));
}

/* Take a text without quotes for a string; false, without an error, where none comes next. */
static bool
accept_bare_word(SfScanner *scanner, bool right, SfFilterOperand *out)
{
	int			len;

	sf_cursor_space(scanner);
	len = strcspn(scanner->p, "()[]=!<>&|~'\"");
	while (len > 0 && strchr(" \t\r\n", scanner->p[len - 1]) != NULL)
		len--;
	if (!is_bare_word(scanner, len, right))
		return false;
	out->kind = SF_FILTER_OPERAND_LITERAL;
	sf_json_value_string(&out->literal, pnstrdup(scanner->p, len), len);
	scanner->p += len;
	return true;
}

/* Parse a comparison, or an operand by itself. */
static bool
parse_test(SfScanner *scanner, SfFilter **out)
{
	SfFilter   *test = make_filter(SF_FILTER_KIND_EXISTS, NULL, NULL);
	bool		bare = accept_bare_word(scanner, false, &test->a);

	*out = test;
	if (!bare && !sf_operand_parse(scanner, &test->a))
		return false;
	if (!accept_operator(scanner, &test->op))
		return !bare || sf_cursor_fail(scanner, "expected an operator at offset %d",
									   (int) (scanner->p - scanner->text));
	test->kind = SF_FILTER_KIND_TEST;
	if (!accept_bare_word(scanner, true, &test->b) && !sf_operand_parse(scanner, &test->b))
		return false;
	if (test->op == SF_FILTER_OPERATOR_MATCH &&
		test->a.kind != SF_FILTER_OPERAND_REGEX && test->b.kind != SF_FILTER_OPERAND_REGEX)
		return sf_cursor_fail(scanner, "=~ needs a regular expression");
	return true;
}

/* Parse a negation, something in parentheses, or a test. */
static bool
parse_unary(SfScanner *scanner, SfFilter **out)
{
	check_stack_depth();
	sf_cursor_space(scanner);
	if (sf_cursor_accept(scanner, "!"))
	{
		SfFilter   *operand;

		if (!parse_unary(scanner, &operand))
			return false;
		*out = make_filter(SF_FILTER_KIND_NOT, operand, NULL);
		return true;
	}
	if (sf_cursor_accept(scanner, "("))
		return sf_filter_parse(scanner, out) && sf_cursor_expect(scanner, ")");
	return parse_test(scanner, out);
}

/* Parse what is joined by && or, if told so, by || and &&. */
static bool
parse_joined(SfScanner *scanner, SfFilterKind kind, SfFilter **out)
{
	SfFilter   *left = NULL;
	SfFilter   *right;

	do
	{
		if (!(kind == SF_FILTER_KIND_OR ? parse_joined(scanner, SF_FILTER_KIND_AND, &right) :
			  parse_unary(scanner, &right)))
			return false;
		left = left == NULL ? right : make_filter(kind, left, right);
		sf_cursor_space(scanner);
	} while (sf_cursor_accept(scanner, kind == SF_FILTER_KIND_OR ? "||" : "&&"));
	*out = left;
	return true;
}

/* Parse what stands between [?( and )], or in parentheses there. */
bool
sf_filter_parse(SfScanner *scanner, SfFilter **out)
{
	return parse_joined(scanner, SF_FILTER_KIND_OR, out);
}
