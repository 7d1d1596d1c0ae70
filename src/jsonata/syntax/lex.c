/*
 * lex.c
 *		The tokens of JSONata.
 *
 * A slash begins a regular expression where an operand is expected and is the
 * division sign elsewhere; the parser says which (infix).  Names end at white
 * space and at the first character of any operator, nothing else.
 */
#include "postgres.h"

#include <math.h>

#include "mb/pg_wchar.h"

#include "jsonata/syntax/ast.h"
#include "jsonata/value/fail.h"

#define OP_TEXT(sym, text, power) text,
const char *const sf_jn_operator_text[] = {
	SF_JN_OPERATOR_LIST(OP_TEXT)
	""
};

#define OP_POWER(sym, text, power) power,
const int	sf_jn_operator_power[] = {
	SF_JN_OPERATOR_LIST(OP_POWER)
	0
};

#define NODE_NAME(sym, name) name,
const char *const sf_jn_node_name[] = {
	SF_JN_NODE_LIST(NODE_NAME)
};

#define FIRST_WORD SF_JN_OP_AND
#define FIRST_SINGLE SF_JN_OP_DOT

/* Make a name with its hash; str is kept. */
SfJnName
sf_jn_name(const char *str, Size len)
{
	SfJnName	name;

	name.str = str;
	name.len = (uint32) len;
	name.hash = sf_jn_hash(str, len);
	return name;
}

/* Make a node. */
SfJnNode *
sf_jn_node(SfJnCompile *c, SfJnNodeType type, int position)
{
	SfJnNode   *node = sf_jn_alloc(c->arena, sizeof(SfJnNode));

	memset(node, 0, sizeof(*node));
	node->type = type;
	node->op = SF_JN_OP_NONE;
	node->position = position;
	return node;
}

/* Tell how many UTF-16 units stand before the current position. */
static int
position_in_units(SfJnCompile *c)
{
	while (c->counted < c->pos)
	{
		unsigned char ch = (unsigned char) c->text[c->counted++];

		if ((ch & 0xc0) != 0x80)
			c->units += ch >= 0xf0 ? 2 : 1;
	}
	return c->units;
}

/* Look at the character so many bytes ahead; '\0' past the end. */
static inline char
peek(SfJnCompile *c, Size ahead)
{
	return c->pos + ahead < c->len ? c->text[c->pos + ahead] : '\0';
}

/* Tell whether a character is white space of the language. */
static inline bool
is_space(char ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r' && ch != '\f');
}

/* Tell whether an operator of symbols begins with this character. */
static inline bool
is_operator_char(char ch)
{
	return ch != '\0' && strchr(".[]{}(),@#;:?+-*/%|=<>^&!~", ch) != NULL;
}

/* Skip white space and comments. */
static void
skip_blanks(SfJnCompile *c)
{
	int			start;

	for (;;)
	{
		while (c->pos < c->len && is_space(c->text[c->pos]))
			c->pos++;
		if (peek(c, 0) != '/' || peek(c, 1) != '*')
			return;
		start = position_in_units(c);
		c->pos += 2;
		while (!(peek(c, 0) == '*' && peek(c, 1) == '/'))
		{
			if (c->pos >= c->len)
				sf_jn_throw_at(c->thrower, SF_JN_ERROR_S0106, start, NULL);
			c->pos++;
		}
		c->pos += 2;
	}
}

/* Set the current token. */
static SfJnNode *
token(SfJnCompile *c, SfJnNodeType type, SfJnOp op)
{
	c->node = sf_jn_node(c, type, position_in_units(c));
	c->node->op = op;
	c->token = op;
	return c->node;
}

/* Throw an error whose token is a part of the text. */
static void pg_attribute_noreturn()
fail_token(SfJnCompile *c, SfJnErrorCode code, const char *str, Size len)
{
	sf_jn_throw_error(c->thrower, position_in_units(c), code, .token = str, .token_len = len);
}

/* Read a regular expression; the opening slash was read. */
static void
read_regex(SfJnCompile *c)
{
	Size		start = c->pos;
	int			depth = 0;
	bool		ignore_case = false;
	bool		multiline = false;
	bool		escaped = false;	/* a backslash takes its meaning from the next character */

	for (; c->pos < c->len; c->pos++)
	{
		char		ch = c->text[c->pos];
		bool		is_plain = escaped;

		escaped = ch == '\\' && !escaped;
		if (is_plain)
			continue;
		if (ch == '/' && depth == 0)
		{
			Size		len = c->pos - start;
			SfJnNode   *node;

			if (len == 0)
				sf_jn_throw_at(c->thrower, SF_JN_ERROR_S0301, position_in_units(c), NULL);
			c->pos++;
			for (; peek(c, 0) == 'i' || peek(c, 0) == 'm'; c->pos++)
			{
				if (peek(c, 0) == 'i')
					ignore_case = true;
				else
					multiline = true;
			}
			node = token(c, SF_JN_NODE_REGEX, SF_JN_OP_NONE);
			node->regex = sf_jn_regex_compile(c->arena, c->thrower,
											  c->text + start, len, ignore_case,
											  multiline, node->position);
			return;
		}
		if (ch == '(' || ch == '[' || ch == '{')
			depth++;
		else if (ch == ')' || ch == ']' || ch == '}')
			depth--;
	}
	sf_jn_throw_at(c->thrower, SF_JN_ERROR_S0302, position_in_units(c), NULL);
}

/* Read the uXXXX of an escape, joining a pair of surrogates. */
static int
read_unicode(SfJnCompile *c, char *out, int outlen)
{
	int			unit = position_in_units(c);
	uint32		high;
	int			cp;

	c->pos++;
	if (!sf_jn_hex_value(c->text + c->pos, c->text + c->len, 4, &cp))
		sf_jn_throw_at(c->thrower, SF_JN_ERROR_S0104, unit, NULL);
	c->pos += 4;
	if (cp >= 0xdc00 && cp <= 0xdfff && outlen >= 3)
	{
		sf_jn_decode(out - 3, out, &high);
		if (((unsigned char) out[-3]) == 0xed && high >= 0xd800 && high <= 0xdbff)
			return sf_jn_encode(0x10000 + ((high - 0xd800) << 10) +
								(cp - 0xdc00), out - 3) - 3;
	}
	return sf_jn_encode((uint32) cp, out);
}

/* Count the bytes up to the end of a string literal; its opening quote was read. */
static Size
string_length(const SfJnCompile *c, char quote)
{
	Size		end = c->pos;

	while (end < c->len && c->text[end] != quote)
		end += c->text[end] == '\\' ? 2 : 1;
	return Min(end, c->len) - c->pos;
}

/* Read a string literal; its opening quote was read. */
static void
read_string(SfJnCompile *c, char quote)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	char	   *out = sf_jn_alloc(c->arena, string_length(c, quote) + 1);
	int			n = 0;

	while (c->pos < c->len)
	{
		char		ch = c->text[c->pos];
		const char *escape;

		if (ch == quote)
		{
			SfJnNode   *node;

			c->pos++;
			node = token(c, SF_JN_NODE_STRING, SF_JN_OP_NONE);
			node->value = sf_jn_string(c->arena, out, n);
			node->name = sf_jn_name(out, n);
			return;
		}
		c->pos++;
		if (ch != '\\')
		{
			out[n++] = ch;
			continue;
		}
		ch = peek(c, 0);
		escape = ch == '\0' ? NULL : strchr(from, ch);
		if (escape != NULL)
		{
			out[n++] = to[escape - from];
			c->pos++;
		}
		else if (ch == 'u')
			n += read_unicode(c, out + n, n);
		else
			fail_token(c, SF_JN_ERROR_S0103, c->text + c->pos,
					   c->pos < c->len ? pg_utf_mblen((const unsigned char *) c->text + c->pos) : 0);
	}
	sf_jn_throw_at(c->thrower, SF_JN_ERROR_S0101, position_in_units(c), NULL);
}

/* Skip digits, after so many other characters. */
static void
skip_digits(SfJnCompile *c, Size others)
{
	c->pos += others;
	while (peek(c, 0) >= '0' && peek(c, 0) <= '9')
		c->pos++;
}

/* Read a number. */
static void
read_number(SfJnCompile *c)
{
	Size		start = c->pos;
	SfJnNode   *node;
	double		d;

	if (peek(c, 0) == '0')
		c->pos++;
	else
		skip_digits(c, 0);
	if (peek(c, 0) == '.' && peek(c, 1) >= '0' && peek(c, 1) <= '9')
		skip_digits(c, 1);
	if ((peek(c, 0) | 0x20) == 'e')
	{
		Size		ahead = peek(c, 1) == '+' || peek(c, 1) == '-' ? 2 : 1;

		if (peek(c, ahead) >= '0' && peek(c, ahead) <= '9')
			skip_digits(c, ahead);
	}
	d = sf_jn_parse_number(c->text + start, c->pos - start);
	if (isinf(d))
	{
		Size		end = c->pos;

		c->pos = start;
		fail_token(c, SF_JN_ERROR_S0102, c->text + start, end - start);
	}
	node = token(c, SF_JN_NODE_NUMBER, SF_JN_OP_NONE);
	node->value = sf_jn_number(c->arena, d);
	node->name = sf_jn_name(c->text + start, c->pos - start);
}

/* Read a name, a variable or a word that means something. */
static void
read_name(SfJnCompile *c)
{
	const char *start = c->text + c->pos;
	SfJnNode   *node;
	Size		len;

	while (c->pos < c->len && !is_space(c->text[c->pos]) &&
		   !is_operator_char(c->text[c->pos]))
		c->pos++;
	len = c->text + c->pos - start;

	if (*start == '$')
	{
		token(c, SF_JN_NODE_VARIABLE, SF_JN_OP_NONE)->name = sf_jn_name(start + 1, len - 1);
		return;
	}
	for (int op = FIRST_WORD; op < SF_JN_OP_NONE; op++)
	{
		if (strlen(sf_jn_operator_text[op]) == len &&
			memcmp(sf_jn_operator_text[op], start, len) == 0)
		{
			token(c, SF_JN_NODE_OPERATOR, (SfJnOp) op)->name = sf_jn_name(start, len);
			return;
		}
	}
	if ((len == 4 && (memcmp(start, "true", 4) == 0 || memcmp(start, "null", 4) == 0)) ||
		(len == 5 && memcmp(start, "false", 5) == 0))
	{
		node = token(c, SF_JN_NODE_CONSTANT, SF_JN_OP_NONE);
		node->value = *start == 'n' ? sf_jn_null() : sf_jn_bool(*start == 't');
	}
	else
		node = token(c, SF_JN_NODE_NAME, SF_JN_OP_NONE);
	node->name = sf_jn_name(start, len);
}

/* Read the next token into c->node and c->token. */
void
sf_jn_next_token(SfJnCompile *c, bool infix)
{
	char		ch;
	int			op;

	skip_blanks(c);
	if (c->pos >= c->len)
	{
		token(c, SF_JN_NODE_END, SF_JN_OP_NONE)->name = sf_jn_name("(end)", 5);
		return;
	}
	ch = c->text[c->pos];
	if (ch == '/' && !infix)
	{
		c->pos++;
		read_regex(c);
		return;
	}
	if (is_operator_char(ch))
	{
		for (op = 0; op < FIRST_WORD; op++)
		{
			const char *text = sf_jn_operator_text[op];

			if (text[0] == ch && (op >= FIRST_SINGLE || text[1] == peek(c, 1)))
				break;
		}
		c->pos += op < FIRST_SINGLE ? 2 : 1;
		token(c, SF_JN_NODE_OPERATOR, (SfJnOp) op)->name =
			sf_jn_name(sf_jn_operator_text[op], strlen(sf_jn_operator_text[op]));
	}
	else if (ch == '"' || ch == '\'')
	{
		c->pos++;
		read_string(c, ch);
	}
	else if (ch >= '0' && ch <= '9')
		read_number(c);
	else if (ch == '`')
	{
		const char *start = c->text + ++c->pos;
		const char *end = memchr(start, '`', c->len - c->pos);

		if (end == NULL)
		{
			c->pos = c->len;
			sf_jn_throw_at(c->thrower, SF_JN_ERROR_S0105, position_in_units(c), NULL);
		}
		c->pos += end - start + 1;
		token(c, SF_JN_NODE_NAME, SF_JN_OP_NONE)->name = sf_jn_name(start, end - start);
	}
	else
		read_name(c);
}
