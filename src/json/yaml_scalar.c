/*
 * yaml_scalar.c
 *		The scalars of YAML, and the blanks and comments between them (yaml.c).
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/json.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "json/yaml.h"

/* Raise SF001 at a position of the text. */
void
sf_yaml_fail(const SfYaml *yaml, const char *at, const char *message)
{
	int			line = 1;
	const char *line_start = yaml->text;

	for (const char *c = yaml->text; c < at; c++)
	{
		if (*c == '\n')
		{
			line++;
			line_start = c + 1;
		}
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_DEFINITION),
			 errmsg("the text is not YAML that can be read: %s", message),
			 errdetail("It is at line %d, column %d.", line, (int) (at - line_start) + 1)));
}

/* Tell the column of a position, from 0. */
int
sf_yaml_column(const SfYaml *yaml, const char *at)
{
	const char *c = at;

	while (c > yaml->text && c[-1] != '\n')
		c--;
	return at - c;
}

/* Tell whether a byte ends a word: a blank, the end of a line or of the text. */
bool
sf_yaml_is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\0';
}

/* Tell whether a byte is one that flow collections are made of. */
bool
sf_yaml_is_flow_indicator(char c)
{
	return c != '\0' && strchr(",[]{}", c) != NULL;
}

/* Tell whether a position begins an entry of a block sequence. */
bool
sf_yaml_is_dash(const char *p)
{
	return *p == '-' && sf_yaml_is_space(p[1]);
}

/* Tell whether the text, or the first document in it, ends here. */
bool
sf_yaml_is_end(const SfYaml *yaml)
{
	return *yaml->p == '\0' ||
		((strncmp(yaml->p, "---", 3) == 0 || strncmp(yaml->p, "...", 3) == 0) && sf_yaml_is_space(yaml->p[3]) &&
		 sf_yaml_column(yaml, yaml->p) == 0);
}

/* Skip blanks and a comment up to the end of the line. */
void
sf_yaml_skip_blanks(SfYaml *yaml)
{
	while (*yaml->p == ' ' || *yaml->p == '\t')
		yaml->p++;
	if (*yaml->p == '#' && (yaml->p == yaml->text || sf_yaml_is_space(yaml->p[-1])))
		yaml->p += strcspn(yaml->p, "\n");
}

/* Skip to the next thing that is neither blank nor comment, in this line or a later one. */
void
sf_yaml_skip_lines(SfYaml *yaml)
{
	const char *line = NULL;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		sf_yaml_skip_blanks(yaml);
		if (*yaml->p != '\n')
			break;
		line = ++yaml->p;
	}
	if (line != NULL && *yaml->p != '\0' && memchr(line, '\t', yaml->p - line) != NULL)
		sf_yaml_fail(yaml, line, "a tab in the indentation");
}

/* Require that a value is followed by the end of its line. */
void
sf_yaml_expect_line_end(SfYaml *yaml)
{
	sf_yaml_skip_blanks(yaml);
	if (*yaml->p != '\n' && *yaml->p != '\0')
		sf_yaml_fail(yaml, yaml->p, *yaml->p == ':' ? "a key that is no scalar in one line" :
					 "text after the end of a value");
}

/* --- scalars --- */

/* Tell how many bytes at s are a number of JSON. */
static int
number_length(const char *s)
{
	const char *p = s + (*s == '-');
	int			n = strspn(p, "0123456789");

	if (n == 0 || (n > 1 && *p == '0'))
		return 0;
	p += n;
	if (*p == '.' && (n = strspn(p + 1, "0123456789")) > 0)
		p += n + 1;
	if (*p == 'e' || *p == 'E')
	{
		int			sign = p[1] == '+' || p[1] == '-';

		if ((n = strspn(p + 1 + sign, "0123456789")) > 0)
			p += n + 1 + sign;
	}
	return p - s;
}

/* Tell whether a plain scalar is one of some words. */
static bool
is_word(const char *s, const char *const *words)
{
	for (; *words != NULL; words++)
	{
		if (strcmp(s, *words) == 0)
			return true;
	}
	return false;
}

/* Write a plain scalar as the value that it stands for. */
void
sf_yaml_write_plain(SfYaml *yaml, const char *s, bool is_string)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
	static const char *const trues[] = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", NULL};
	static const char *const falses[] = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", NULL};
	int			length = number_length(s);

	if (is_string)
		escape_json(&yaml->out, s);
	else if (is_word(s, nulls))
		appendStringInfoString(&yaml->out, "null");
	else if (is_word(s, trues))
		appendStringInfoString(&yaml->out, "true");
	else if (is_word(s, falses))
		appendStringInfoString(&yaml->out, "false");
	else if (length > 0 && s[length] == '\0')
		appendStringInfoString(&yaml->out, s);
	else
		escape_json(&yaml->out, s);
}

/* Take the blanks off the end of a text, which has begun at start. */
static void
trim(StringInfo buf, int start)
{
	while (buf->len > start && (buf->data[buf->len - 1] == ' ' || buf->data[buf->len - 1] == '\t'))
		buf->data[--buf->len] = '\0';
}

/* Fold line breaks: one is a blank, more are one less. */
static void
fold(StringInfo buf, int breaks)
{
	if (breaks == 1)
		appendStringInfoChar(buf, ' ');
	for (int i = 1; i < breaks; i++)
		appendStringInfoChar(buf, '\n');
}

/* Skip the line breaks within a scalar, and the blanks around them; how many there were. */
static int
skip_breaks(SfYaml *yaml)
{
	int			breaks = 0;

	while (*yaml->p == '\n' || *yaml->p == ' ' || *yaml->p == '\t')
		breaks += *yaml->p++ == '\n';
	return breaks;
}

/* Read the hexadecimal digits of an escape. */
static pg_wchar
read_hex(SfYaml *yaml, int digits)
{
	pg_wchar	c;

	if ((int) strspn(yaml->p, "0123456789abcdefABCDEF") < digits)
		sf_yaml_fail(yaml, yaml->p, "an escape with too few hexadecimal digits");
	c = strtoul(pnstrdup(yaml->p, digits), NULL, 16);
	yaml->p += digits;
	return c;
}

/* Read the character of an escape that is written as digits. */
static void
read_code_point(SfYaml *yaml, StringInfo buf, int digits)
{
	const char *at = yaml->p;
	unsigned char utf8[MAX_UNICODE_EQUIVALENT_STRING + 1];
	pg_wchar	c = read_hex(yaml, digits);

	if (is_utf16_surrogate_first(c) && yaml->p[0] == '\\' && yaml->p[1] == 'u')
	{
		pg_wchar	second;

		yaml->p += 2;
		second = read_hex(yaml, 4);
		c = is_utf16_surrogate_second(second) ? surrogate_pair_to_codepoint(c, second) : 0;
	}
	if (!is_valid_unicode_codepoint(c) || is_utf16_surrogate_first(c) || is_utf16_surrogate_second(c))
		sf_yaml_fail(yaml, at, "an escape that is no character");
	pg_unicode_to_server(c, utf8);
	appendStringInfoString(buf, (char *) utf8);
}

/* Read what follows a backslash in double quotes. */
static void
read_escape(SfYaml *yaml, StringInfo buf)
{
	static const char letters[] = "abtnvfre \"/\\\t";
	static const char values[] = "\a\b\t\n\v\f\r\033 \"/\\\t";
	char		c = *yaml->p++;
	const char *letter = c == '\0' ? NULL : strchr(letters, c);

	if (letter != NULL)
		appendStringInfoChar(buf, values[letter - letters]);
	else if (c == '\n')
		yaml->p += strspn(yaml->p, " \t");
	else if (c == 'x' || c == 'u' || c == 'U')
		read_code_point(yaml, buf, c == 'x' ? 2 : c == 'u' ? 4 : 8);
	else
		sf_yaml_fail(yaml, yaml->p - 1, "an unknown escape");
}

/* Read a scalar in quotes. */
char *
sf_yaml_read_quoted(SfYaml *yaml)
{
	const char *start = yaml->p;
	char		quote = *yaml->p++;
	int			kept = 0;		/* what is not to be trimmed: escapes */
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (*yaml->p == '\0')
			sf_yaml_fail(yaml, start, "a quotation mark without its end");
		if (*yaml->p == '\n')
		{
			trim(&buf, kept);
			fold(&buf, skip_breaks(yaml));
			continue;
		}
		if (*yaml->p == quote && !(quote == '\'' && yaml->p[1] == '\''))
			break;
		if (quote == '"' && *yaml->p == '\\')
		{
			yaml->p++;
			read_escape(yaml, &buf);
			kept = buf.len;
			continue;
		}
		yaml->p += *yaml->p == quote;
		appendStringInfoChar(&buf, *yaml->p++);
	}
	yaml->p++;
	return buf.data;
}

/* Tell whether a plain scalar ends at a position of its line. */
bool
sf_yaml_is_plain_end(const char *p, bool in_flow)
{
	return *p == '\n' || *p == '\0' || (*p == '#' && (p[-1] == ' ' || p[-1] == '\t')) ||
		(*p == ':' && (sf_yaml_is_space(p[1]) || (in_flow && sf_yaml_is_flow_indicator(p[1])))) ||
		(in_flow && sf_yaml_is_flow_indicator(*p));
}

/* Append the part of a plain scalar that is in this line. */
void
sf_yaml_read_plain_line(SfYaml *yaml, StringInfo buf, bool in_flow)
{
	int			start = buf->len;
	const char *end = yaml->p + 1;

	while (!sf_yaml_is_plain_end(end, in_flow))
		end++;
	appendBinaryStringInfo(buf, yaml->p, end - yaml->p);
	trim(buf, start);
	yaml->p = end;
}

/* Refuse a byte that cannot begin a plain scalar. */
void
sf_yaml_check_plain(SfYaml *yaml, bool in_flow)
{
	if (strchr("@`%|>&*!'\"", *yaml->p) != NULL || (in_flow && sf_yaml_is_flow_indicator(*yaml->p)) ||
		(*yaml->p == '?' && sf_yaml_is_space(yaml->p[1])) || (*yaml->p == ':' && sf_yaml_is_space(yaml->p[1])) ||
		sf_yaml_is_dash(yaml->p))
		sf_yaml_fail(yaml, yaml->p, psprintf("\"%c\" cannot begin a value here", *yaml->p));
}

/*
 * Read a plain scalar, which goes on in lines that are indented deeper than indent,
 * up to a comment.
 */
char *
sf_yaml_read_plain(SfYaml *yaml, int indent, bool in_flow)
{
	StringInfoData buf;

	sf_yaml_check_plain(yaml, in_flow);
	initStringInfo(&buf);
	sf_yaml_read_plain_line(yaml, &buf, in_flow);
	while (*yaml->p == '\n')
	{
		const char *line_end = yaml->p;
		int			breaks;

		CHECK_FOR_INTERRUPTS();
		breaks = skip_breaks(yaml);
		if (sf_yaml_is_end(yaml) || *yaml->p == '#' || (in_flow && sf_yaml_is_plain_end(yaml->p, true)) ||
			(!in_flow && sf_yaml_column(yaml, yaml->p) <= indent))
		{
			yaml->p = line_end;
			break;
		}
		fold(&buf, breaks);
		sf_yaml_read_plain_line(yaml, &buf, in_flow);
	}
	if (!in_flow && *yaml->p == ':')
		sf_yaml_fail(yaml, yaml->p, "a mapping cannot begin here");
	return buf.data;
}

/* --- literal and folded blocks --- */

/* How a block is read */
typedef struct BlockStyle
{
	bool		is_folded;
	char		chomp;			/* '-', '+', or 0 */
	int			indent;			/* of its lines; 0: not known yet */
	bool		was_deeper;		/* the last line began with a blank */
} BlockStyle;

/* Read the line that begins a block. */
static BlockStyle
read_block_header(SfYaml *yaml, int indent)
{
	BlockStyle	style = {.is_folded = *yaml->p++ == '>'};

	for (;; yaml->p++)
	{
		if (*yaml->p == '-' || *yaml->p == '+')
			style.chomp = *yaml->p;
		else if (*yaml->p >= '1' && *yaml->p <= '9')
			style.indent = Max(indent, 0) + *yaml->p - '0';
		else
			break;
	}
	sf_yaml_expect_line_end(yaml);
	return style;
}

/* Append a line of a block, after the line breaks before it. */
static void
append_block_line(StringInfo buf, BlockStyle *style, int breaks, const char *line, int length)
{
	bool		is_deeper = *line == ' ' || *line == '\t';

	if (style->is_folded && buf->len > 0 && !is_deeper && !style->was_deeper)
		fold(buf, breaks);
	else
	{
		for (int i = 0; i < breaks; i++)
			appendStringInfoChar(buf, '\n');
	}
	appendBinaryStringInfo(buf, line, length);
	style->was_deeper = is_deeper;
}

/* Read a literal or folded block whose lines are indented deeper than indent. */
char *
sf_yaml_read_block(SfYaml *yaml, int indent)
{
	BlockStyle	style = read_block_header(yaml, indent);
	bool		has_text = false;
	int			breaks = 0;
	StringInfoData buf;

	initStringInfo(&buf);
	while (*yaml->p == '\n')
	{
		const char *line = yaml->p + 1;
		int			blanks = strspn(line, " ");
		int			length = strcspn(line, "\n");
		bool		is_blank = length == blanks && (style.indent == 0 || blanks <= style.indent);

		CHECK_FOR_INTERRUPTS();
		if (!is_blank && style.indent == 0)
		{
			if (Max(blanks, 1) <= indent)
				break;
			style.indent = blanks;
		}
		if (!is_blank && (blanks < style.indent || blanks <= indent))
			break;
		if (is_blank && line[length] == '\0')
			length = blanks = 0;
		else if (!is_blank)
		{
			append_block_line(&buf, &style, breaks, line + style.indent, length - style.indent);
			has_text = true;
			breaks = 0;
		}
		yaml->p = line + length;
		breaks += *yaml->p == '\n' || !is_blank;
	}
	if (style.chomp == '+')
	{
		for (int i = 0; i < breaks; i++)
			appendStringInfoChar(&buf, '\n');
	}
	else if (style.chomp == 0 && has_text)
		appendStringInfoChar(&buf, '\n');
	return buf.data;
}
