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
sf_jn_node(SfJnCompile *compile, SfJnNodeType type, int position)
{
	SfJnNode   *node = sf_jn_alloc(compile->arena, sizeof(SfJnNode));

	memset(node, 0, sizeof(*node));
	node->type = type;
	node->op = SF_JN_OP_NONE;
	node->position = position;
	return node;
}

/* Tell how many UTF-16 units stand before the current position. */
static int
position_in_units(SfJnCompile *compile)
{
	while (compile->counted < compile->pos)
	{
		unsigned char ch = (unsigned char) compile->text[compile->counted++];

		if ((ch & 0xc0) != 0x80)
			compile->units += ch >= 0xf0 ? 2 : 1;
	}
	return compile->units;
}

/* Look at the character so many bytes ahead; '\0' past the end. */
static inline char
peek(SfJnCompile *compile, Size ahead)
{
	return compile->pos + ahead < compile->len ? compile->text[compile->pos + ahead] : '\0';
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
skip_blanks(SfJnCompile *compile)
{
	int			start;

	for (;;)
	{
		while (compile->pos < compile->len && is_space(compile->text[compile->pos]))
			compile->pos++;
		if (peek(compile, 0) != '/' || peek(compile, 1) != '*')
			return;
		start = position_in_units(compile);
		compile->pos += 2;
		while (!(peek(compile, 0) == '*' && peek(compile, 1) == '/'))
		{
			if (compile->pos >= compile->len)
				sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0106, start, NULL);
			compile->pos++;
		}
		compile->pos += 2;
	}
}

/* Set the current token. */
static SfJnNode *
token(SfJnCompile *compile, SfJnNodeType type, SfJnOp op)
{
	compile->node = sf_jn_node(compile, type, position_in_units(compile));
	compile->node->op = op;
	compile->token = op;
	return compile->node;
}

/* Throw an error whose token is a part of the text. */
static void pg_attribute_noreturn()
fail_token(SfJnCompile *compile, SfJnErrorCode code, const char *str, Size len)
{
	sf_jn_throw_error(compile->thrower, position_in_units(compile), code, .token = str, .token_len = len);
}

/* Read a regular expression; the opening slash was read. */
static void
read_regex(SfJnCompile *compile)
{
	Size		start = compile->pos;
	int			depth = 0;
	bool		ignore_case = false;
	bool		multiline = false;
	bool		escaped = false;	/* a backslash takes its meaning from the next character */

	for (; compile->pos < compile->len; compile->pos++)
	{
		char		ch = compile->text[compile->pos];
		bool		is_plain = escaped;

		escaped = ch == '\\' && !escaped;
		if (is_plain)
			continue;
		if (ch == '/' && depth == 0)
		{
			Size		len = compile->pos - start;
			SfJnNode   *node;

			if (len == 0)
				sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0301, position_in_units(compile), NULL);
			compile->pos++;
			for (; peek(compile, 0) == 'i' || peek(compile, 0) == 'm'; compile->pos++)
			{
				if (peek(compile, 0) == 'i')
					ignore_case = true;
				else
					multiline = true;
			}
			node = token(compile, SF_JN_NODE_REGEX, SF_JN_OP_NONE);
			node->regex = sf_jn_regex_compile(compile->arena, compile->thrower,
											  compile->text + start, len, ignore_case,
											  multiline, node->position);
			return;
		}
		if (ch == '(' || ch == '[' || ch == '{')
			depth++;
		else if (ch == ')' || ch == ']' || ch == '}')
			depth--;
	}
	sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0302, position_in_units(compile), NULL);
}

/* Read the uXXXX of an escape, joining a pair of surrogates. */
static int
read_unicode(SfJnCompile *compile, char *out, int outlen)
{
	int			unit = position_in_units(compile);
	uint32		high;
	int			cp;

	compile->pos++;
	if (!sf_jn_hex_value(compile->text + compile->pos, compile->text + compile->len, 4, &cp))
		sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0104, unit, NULL);
	compile->pos += 4;
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
string_length(const SfJnCompile *compile, char quote)
{
	Size		end = compile->pos;

	while (end < compile->len && compile->text[end] != quote)
		end += compile->text[end] == '\\' ? 2 : 1;
	return Min(end, compile->len) - compile->pos;
}

/* Read a string literal; its opening quote was read. */
static void
read_string(SfJnCompile *compile, char quote)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	char	   *out = sf_jn_alloc(compile->arena, string_length(compile, quote) + 1);
	int			n = 0;

	while (compile->pos < compile->len)
	{
		char		ch = compile->text[compile->pos];
		const char *escape;

		if (ch == quote)
		{
			SfJnNode   *node;

			compile->pos++;
			node = token(compile, SF_JN_NODE_STRING, SF_JN_OP_NONE);
			node->value = sf_jn_string(compile->arena, out, n);
			node->name = sf_jn_name(out, n);
			return;
		}
		compile->pos++;
		if (ch != '\\')
		{
			out[n++] = ch;
			continue;
		}
		ch = peek(compile, 0);
		escape = ch == '\0' ? NULL : strchr(from, ch);
		if (escape != NULL)
		{
			out[n++] = to[escape - from];
			compile->pos++;
		}
		else if (ch == 'u')
			n += read_unicode(compile, out + n, n);
		else
			fail_token(compile, SF_JN_ERROR_S0103, compile->text + compile->pos,
					   compile->pos < compile->len ?
					   pg_utf_mblen((const unsigned char *) compile->text + compile->pos) : 0);
	}
	sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0101, position_in_units(compile), NULL);
}

/* Skip digits, after so many other characters. */
static void
skip_digits(SfJnCompile *compile, Size others)
{
	compile->pos += others;
	while (peek(compile, 0) >= '0' && peek(compile, 0) <= '9')
		compile->pos++;
}

/* Read a number. */
static void
read_number(SfJnCompile *compile)
{
	Size		start = compile->pos;
	SfJnNode   *node;
	double		d;

	if (peek(compile, 0) == '0')
		compile->pos++;
	else
		skip_digits(compile, 0);
	if (peek(compile, 0) == '.' && peek(compile, 1) >= '0' && peek(compile, 1) <= '9')
		skip_digits(compile, 1);
	if ((peek(compile, 0) | 0x20) == 'e')
	{
		Size		ahead = peek(compile, 1) == '+' || peek(compile, 1) == '-' ? 2 : 1;

		if (peek(compile, ahead) >= '0' && peek(compile, ahead) <= '9')
			skip_digits(compile, ahead);
	}
	d = sf_jn_parse_number(compile->text + start, compile->pos - start);
	if (isinf(d))
	{
		Size		end = compile->pos;

		compile->pos = start;
		fail_token(compile, SF_JN_ERROR_S0102, compile->text + start, end - start);
	}
	node = token(compile, SF_JN_NODE_NUMBER, SF_JN_OP_NONE);
	node->value = sf_jn_number(compile->arena, d);
	node->name = sf_jn_name(compile->text + start, compile->pos - start);
}

/* Read a name, a variable or a word that means something. */
static void
read_name(SfJnCompile *compile)
{
	const char *start = compile->text + compile->pos;
	SfJnNode   *node;
	Size		len;

	while (compile->pos < compile->len && !is_space(compile->text[compile->pos]) &&
		   !is_operator_char(compile->text[compile->pos]))
		compile->pos++;
	len = compile->text + compile->pos - start;

	if (*start == '$')
	{
		token(compile, SF_JN_NODE_VARIABLE, SF_JN_OP_NONE)->name = sf_jn_name(start + 1, len - 1);
		return;
	}
	for (int op = FIRST_WORD; op < SF_JN_OP_NONE; op++)
	{
		if (strlen(sf_jn_operator_text[op]) == len &&
			memcmp(sf_jn_operator_text[op], start, len) == 0)
		{
			token(compile, SF_JN_NODE_OPERATOR, (SfJnOp) op)->name = sf_jn_name(start, len);
			return;
		}
	}
	if ((len == 4 && (memcmp(start, "true", 4) == 0 || memcmp(start, "null", 4) == 0)) ||
		(len == 5 && memcmp(start, "false", 5) == 0))
	{
		node = token(compile, SF_JN_NODE_CONSTANT, SF_JN_OP_NONE);
		node->value = *start == 'n' ? sf_jn_null() : sf_jn_bool(*start == 't');
	}
	else
		node = token(compile, SF_JN_NODE_NAME, SF_JN_OP_NONE);
	node->name = sf_jn_name(start, len);
}

/* Read the next token into c->node and c->token. */
void
sf_jn_next_token(SfJnCompile *compile, bool infix)
{
	char		ch;
	int			op;

	skip_blanks(compile);
	if (compile->pos >= compile->len)
	{
		token(compile, SF_JN_NODE_END, SF_JN_OP_NONE)->name = sf_jn_name("(end)", 5);
		return;
	}
	ch = compile->text[compile->pos];
	if (ch == '/' && !infix)
	{
		compile->pos++;
		read_regex(compile);
		return;
	}
	if (is_operator_char(ch))
	{
		for (op = 0; op < FIRST_WORD; op++)
		{
			const char *text = sf_jn_operator_text[op];

			if (text[0] == ch && (op >= FIRST_SINGLE || text[1] == peek(compile, 1)))
				break;
		}
		compile->pos += op < FIRST_SINGLE ? 2 : 1;
		token(compile, SF_JN_NODE_OPERATOR, (SfJnOp) op)->name =
			sf_jn_name(sf_jn_operator_text[op], strlen(sf_jn_operator_text[op]));
	}
	else if (ch == '"' || ch == '\'')
	{
		compile->pos++;
		read_string(compile, ch);
	}
	else if (ch >= '0' && ch <= '9')
		read_number(compile);
	else if (ch == '`')
	{
		const char *start = compile->text + ++compile->pos;
		const char *end = memchr(start, '`', compile->len - compile->pos);

		if (end == NULL)
		{
			compile->pos = compile->len;
			sf_jn_throw_at(compile->thrower, SF_JN_ERROR_S0105, position_in_units(compile), NULL);
		}
		compile->pos += end - start + 1;
		token(compile, SF_JN_NODE_NAME, SF_JN_OP_NONE)->name = sf_jn_name(start, end - start);
	}
	else
		read_name(compile);
}
