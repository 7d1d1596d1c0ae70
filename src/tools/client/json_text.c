/*
 * json_text.c
 *		JSON documents read in place, and text written as JSON.
 *
 * PostgreSQL's parser (common/jsonapi.h) checks a document once.  A value is
 * then a piece of the document's text, which PostgreSQL's lexer delimits.  So a
 * number of thirty digits reaches a command as it left the database, and a
 * payload of ten megabytes needs no more memory than its text.
 * docs/decisions/sfworker-json.md compares the parsers that were considered.
 *
 * A document is refused where jsonb would refuse it: the escape \u0000, a
 * surrogate without its partner, bytes that are not UTF-8.
 */
#include "postgres_fe.h"

#include <limits.h>
#include <sys/resource.h>

#include "mb/pg_wchar.h"

#include "tools/client/json_text.h"

/*
 * Outside the server PostgreSQL's parser recurses without a limit, with less
 * than 200 bytes of stack per level of nesting.  Deeper documents are refused.
 */
#define MAX_DEPTH	20000
#define STACK_PER_LEVEL 256

/* What an action of the parser returns */
#if PG_VERSION_NUM >= 160000
typedef JsonParseErrorType ActionResult;
#define ACTION_DONE JSON_SUCCESS
#else
typedef void ActionResult;
#define ACTION_DONE
#endif

/* What stands for bytes that are no character: U+FFFD */
#define REPLACEMENT "\xEF\xBF\xBD"

/* ---------------------------------------------------------------- parser */

/* Make a lexer; with unescape it also decodes strings. */
static JsonLexContext *
make_lexer(SfcJson text, bool unescape)
{
#if PG_VERSION_NUM >= 170000
	return makeJsonLexContextCstringLen(NULL, text.text, text.len, PG_UTF8, unescape);
#else
	return makeJsonLexContextCstringLen(unconstify(char *, text.text), (int) text.len, PG_UTF8, unescape);
#endif
}

/* Release a lexer. */
static void
free_lexer(JsonLexContext *lex)
{
#if PG_VERSION_NUM >= 170000
	freeJsonLexContext(lex);
#else
	if (lex->strval != NULL)
		free(lex->strval->data);
	free(lex->strval);
	free(lex);
#endif
}

/* Give a lexer that decodes nothing, and so owns no memory. */
static JsonLexContext
plain_lexer(SfcJson text)
{
	JsonLexContext *made = make_lexer(text, false);
	JsonLexContext lex = *made;

	free_lexer(made);
	return lex;
}

/* Parse a document, strings included, calling the actions. */
static bool
parse(SfcJson text, JsonSemAction *actions)
{
	JsonLexContext *lex = make_lexer(text, true);
	bool		good = pg_parse_json(lex, actions) == JSON_SUCCESS;

	free_lexer(lex);
	return good;
}

/* Change the depth by what a token opens or closes. */
static int
depth_after(int depth, JsonTokenType token)
{
	if (token == JSON_TOKEN_OBJECT_START || token == JSON_TOKEN_ARRAY_START)
		return depth + 1;
	if (token == JSON_TOKEN_OBJECT_END || token == JSON_TOKEN_ARRAY_END)
		return depth - 1;
	return depth;
}

/* Tell whether a document is nested too deep for the parser. */
static bool
is_too_deep(SfcJson text)
{
	JsonLexContext lex = plain_lexer(text);
	struct rlimit stack;
	rlim_t		most = MAX_DEPTH;
	int			depth = 0;

	if (getrlimit(RLIMIT_STACK, &stack) == 0)
		most = Min(most, stack.rlim_cur / STACK_PER_LEVEL);
	while (json_lex(&lex) == JSON_SUCCESS && lex.token_type != JSON_TOKEN_END)
	{
		depth = depth_after(depth, lex.token_type);
		if (depth > (int) most)
			return true;
	}
	return false;
}

/* Give the value whose first token the lexer has read, and read on to its last token. */
static SfcJson
read_value(JsonLexContext *lex)
{
	const char *start = lex->token_start;
	int			depth = depth_after(0, lex->token_type);

	while (depth > 0 && json_lex(lex) == JSON_SUCCESS)
		depth = depth_after(depth, lex->token_type);
	return (SfcJson) {start, (size_t) (lex->token_terminator - start)};
}

/* ---------------------------------------------------------------- reading */

/*
 * Check that a text is one JSON value that jsonb can hold; *value is it, and
 * lives as long as the text.
 */
bool
sfc_json_parse(const char *text, size_t len, SfcJson *value)
{
	SfcJson		document = {text, len};
	JsonLexContext lex;

	if (len > INT_MAX || pg_encoding_verifymbstr(PG_UTF8, text, (int) len) != (int) len ||
		is_too_deep(document) || !parse(document, &(JsonSemAction) {0}))
		return false;
	lex = plain_lexer(document);
	json_lex(&lex);
	*value = read_value(&lex);
	return true;
}

/* The kind of a value: { [ " 0 t f n. */
char
sfc_json_type(SfcJson value)
{
	char		c = value.len > 0 ? value.text[0] : 'n';

	return c == '-' || (c >= '0' && c <= '9') ? '0' : c;
}

/* Begin a walk over a container; a scalar has nothing to walk over. */
SfcJsonWalk
sfc_json_walk(SfcJson container)
{
	SfcJsonWalk	walk;

	walk.object = sfc_json_type(container) == '{';
	if (!walk.object && sfc_json_type(container) != '[')
		container.len = 0;
	walk.lex = plain_lexer(container);
	json_lex(&walk.lex);
	return walk;
}

/* Go to the next member or element; key may be NULL. */
bool
sfc_json_next(SfcJsonWalk *walk, SfcJson *key, SfcJson *value)
{
	JsonLexContext *lex = &walk->lex;

	json_lex(lex);
	if (lex->token_type == JSON_TOKEN_COMMA)
		json_lex(lex);
	if (lex->token_type == JSON_TOKEN_END || depth_after(0, lex->token_type) < 0)
		return false;
	if (walk->object)
	{
		if (key != NULL)
			*key = read_value(lex);
		/* The colon, and the first token of the value. */
		json_lex(lex);
		json_lex(lex);
	}
	*value = read_value(lex);
	return true;
}

/* Keep the string that the parser has decoded. */
static ActionResult
keep_string(void *state, char *token, JsonTokenType type)
{
	*(char **) state = token;
	return ACTION_DONE;
}

/*
 * The text of a value in memory of its own: what a string holds, which has no
 * NUL because the parser refuses that; of everything else its JSON.
 */
char *
sfc_json_text(SfcJson value)
{
	char	   *text = NULL;
	JsonSemAction actions = {.semstate = &text, .scalar = keep_string};

	if (sfc_json_type(value) != '"')
		return pnstrdup(value.text, value.len);
	if (memchr(value.text, '\\', value.len) == NULL)
		return pnstrdup(value.text + 1, value.len - 2);
	parse(value, &actions);
	return text;
}

/* Tell whether a value is a string that holds a text. */
bool
sfc_json_is(SfcJson value, const char *text)
{
	char	   *held = sfc_json_text(value);
	bool		same = sfc_json_type(value) == '"' && strcmp(held, text) == 0;

	free(held);
	return same;
}

/* Find a member that is there and not null. */
bool
sfc_json_get(SfcJson object, const char *key, SfcJson *value)
{
	SfcJsonWalk	walk = sfc_json_walk(object);
	SfcJson		name;

	while (walk.object && sfc_json_next(&walk, &name, value))
	{
		if (sfc_json_is(name, key))
			return sfc_json_type(*value) != 'n';
	}
	return false;
}

/* ---------------------------------------------------------------- writing */

/* Give the length of the character at p, 0 when there is none: no UTF-8, or a NUL. */
static int
character_length(const char *p, const char *end)
{
	int			len = pg_encoding_verifymbchar(PG_UTF8, p, (int) Min(end - p, MAX_MULTIBYTE_CHAR_LEN));

	return Max(len, 0);
}

/*
 * Append the comma after an earlier value.  No value ends in one of these
 * characters; = and the blank stand before values of a log line.
 */
static void
put_comma(PQExpBuffer buf)
{
	if (buf->len > 0 && strchr("{[:= ", buf->data[buf->len - 1]) == NULL)
		appendPQExpBufferChar(buf, ',');
}

/*
 * Append bytes as a JSON string that jsonb takes: what is not UTF-8, and NUL,
 * becomes U+FFFD.
 */
void
sfc_json_put_bytes(PQExpBuffer buf, const char *text, size_t len)
{
	const char *end = text + len;
	int			step;

	put_comma(buf);
	appendPQExpBufferChar(buf, '"');
	for (const char *p = text; p < end; p += Max(step, 1))
	{
		step = character_length(p, end);
		if (step == 0)
			appendPQExpBufferStr(buf, REPLACEMENT);
		else if (*p == '"' || *p == '\\')
			appendPQExpBuffer(buf, "\\%c", *p);
		else if (*p == '\n' || *p == '\t')
			appendPQExpBufferStr(buf, *p == '\n' ? "\\n" : "\\t");
		else if ((unsigned char) *p < 0x20)
			appendPQExpBuffer(buf, "\\u%04x", *p);
		else
			appendBinaryPQExpBuffer(buf, p, (size_t) step);
	}
	appendPQExpBufferChar(buf, '"');
}

/* Append a text as a JSON string. */
void
sfc_json_put_string(PQExpBuffer buf, const char *text)
{
	sfc_json_put_bytes(buf, text, strlen(text));
}

/* Append a key and its colon. */
void
sfc_json_put_key(PQExpBuffer buf, const char *key)
{
	sfc_json_put_string(buf, key);
	appendPQExpBufferChar(buf, ':');
}

/* Append a value as it is written. */
void
sfc_json_put_value(PQExpBuffer buf, SfcJson value)
{
	put_comma(buf);
	appendBinaryPQExpBuffer(buf, value.text, value.len);
}

/* Append the opening bracket of an object or array. */
void
sfc_json_open(PQExpBuffer buf, char bracket)
{
	put_comma(buf);
	appendPQExpBufferChar(buf, bracket);
}

/* ---------------------------------------------------------------- UTF-8, buffers */

/* Copy a text; bytes that are not UTF-8, and NUL, become U+FFFD. */
char *
sfc_utf8_repair(const char *text, size_t len)
{
	PQExpBufferData buf;
	const char *end = text + len;
	int			step;

	initPQExpBuffer(&buf);
	for (const char *p = text; p < end; p += Max(step, 1))
	{
		step = character_length(p, end);
		appendBinaryPQExpBuffer(&buf, step > 0 ? p : REPLACEMENT, step > 0 ? (size_t) step : strlen(REPLACEMENT));
	}
	return sfc_buffer_data(&buf);
}

/* The length of a text without the character that is cut off at its end, if one is. */
size_t
sfc_utf8_clip(const char *text, size_t len)
{
	size_t		start = len;

	while (start > 0 && len - start < 3 && ((unsigned char) text[start - 1] & 0xC0) == 0x80)
		start--;
	if (start > 0 && (size_t) pg_encoding_mblen(PG_UTF8, text + start - 1) > len - start + 1)
		return start - 1;
	return len;
}

/*
 * Put "?" in place of a character wherever a text has it, or, if it is "", of all characters that are not ASCII.
 * False: there was none.
 */
bool
sfc_utf8_replace(char *text, const char *character)
{
	size_t		len = strlen(character);
	char	   *to = text;
	const char *p = text;

	while (*p != '\0')
	{
		size_t		step = (size_t) pg_encoding_mblen(PG_UTF8, p);

		if (len > 0 ? strncmp(p, character, len) == 0 : step > 1)
			*to++ = '?';
		else
		{
			memmove(to, p, step);
			to += step;
		}
		p += step;
	}
	*to = '\0';
	return p != to;
}

/* End the program because there is no memory. */
void
sfc_out_of_memory(void)
{
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	exit(1);
}

/*
 * Give what a buffer holds.  A buffer that ran out of memory is empty and would
 * be taken for an empty answer, so that ends the program.
 */
char *
sfc_buffer_data(PQExpBuffer buf)
{
	if (PQExpBufferBroken(buf))
		sfc_out_of_memory();
	return buf->data;
}
