/*
 * yaml.c
 *		YAML text to JSON text: the part of YAML that definitions and templates of
 *		CloudFormation are written in.
 *
 * Block and flow collections, the three kinds of scalars, literal and folded
 * blocks, comments, anchors and aliases, and the short tags of CloudFormation:
 * !Ref x is {"Ref": x}, !Sub x is {"Fn::Sub": x}.  Not read, each with an error that
 * says where: keys that are collections, merge keys, several documents, other tags.
 * A plain scalar is a number if JSON could write it so, a boolean or null if it is one
 * of the words for these, else a string: dates and 0123 are strings.
 *
 * The parser goes once over the text, and writes JSON as it goes.  Why not libyaml:
 * docs/decisions/templates.md.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/json.h"

#include "base/version/compat.h"
#include "json/json.h"
#include "json/yaml.h"

/* Bytes of JSON, beyond which aliases are not copied any more */
#define YAML_OUTPUT_MAX	(16 * 1024 * 1024)

/* A value that aliases may name */
typedef struct Anchor
{
	char	   *name;
	int			start;			/* of what it stands for, in the output */
	int			length;
} Anchor;

/* What stands before a value */
typedef struct Properties
{
	int			start;			/* in the output, before what the tags have written */
	int			ntags;			/* tags of CloudFormation: braces to close */
	bool		is_string;		/* !!str */
	char	   *anchor;			/* or NULL */
} Properties;

/* The indentation of what the document lies in: all is deeper */
#define AROUND_ALL	(-1)

static void parse_block(SfYaml *y, int indent, bool is_value);
static void parse_flow(SfYaml *y);

/* Read a tag: one of CloudFormation is written as the object that it stands for. */
static void
parse_tag(SfYaml *y, Properties *properties)
{
	int			length = 1 + strcspn(y->p + 1, " \t\n,[]{}");
	char	   *name = pnstrdup(y->p + 1, length - 1);

	if (strcmp(name, "!str") == 0)
		properties->is_string = true;
	else if (name[0] == '\0' || name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:")] != '\0')
		sf_yaml_fail(y, y->p, "a tag that is none of CloudFormation");
	else
	{
		bool		is_short = strcmp(name, "Ref") == 0 || strcmp(name, "Condition") == 0;

		appendStringInfo(&y->out, "{\"%s%s\":", is_short ? "" : "Fn::", name);
		properties->ntags++;
	}
	y->p += length;
}

/* Read a name behind & or *. */
static char *
read_anchor_name(SfYaml *y)
{
	int			length = strcspn(y->p + 1, " \t\n,[]{}");
	char	   *name = pnstrdup(y->p + 1, length);

	y->p += length + 1;
	return name;
}

/* Read a tag or an anchor, if there is one. */
static bool
parse_property(SfYaml *y, Properties *properties)
{
	if (*y->p == '!')
		parse_tag(y, properties);
	else if (*y->p == '&')
		properties->anchor = read_anchor_name(y);
	else
		return false;
	return true;
}

/* Finish a value: close the objects of its tags, and keep it for aliases. */
static void
end_value(SfYaml *y, const Properties *properties)
{
	for (int i = 0; i < properties->ntags; i++)
		appendStringInfoChar(&y->out, '}');
	if (properties->anchor != NULL)
	{
		Anchor	   *anchor = palloc(sizeof(Anchor));

		anchor->name = properties->anchor;
		/* what is written stays as it is: no copy of what may hold other anchors */
		anchor->start = properties->start;
		anchor->length = y->out.len - properties->start;
		y->anchors = lappend(y->anchors, anchor);
	}
}

/* Write the value that an alias names. */
static void
parse_alias(SfYaml *y)
{
	const char *at = y->p;
	char	   *name = read_anchor_name(y);

	/* the last one of a name counts */
	for (int i = list_length(y->anchors) - 1; i >= 0; i--)
	{
		const Anchor *anchor = list_nth(y->anchors, i);

		if (strcmp(anchor->name, name) != 0)
			continue;
		if (y->out.len + anchor->length > YAML_OUTPUT_MAX)
			sf_yaml_fail(y, at, "aliases make it larger than 16 MB");
		enlargeStringInfo(&y->out, anchor->length);
		appendBinaryStringInfo(&y->out, y->out.data + anchor->start, anchor->length);
		return;
	}
	sf_yaml_fail(y, at, "an alias without its anchor");
}

/* Skip blanks, line breaks and comments within a flow collection. */
static void
skip_flow(SfYaml *y, const char *start)
{
	sf_yaml_skip_lines(y);
	if (*y->p == '\0')
		sf_yaml_fail(y, start, "a bracket without its end");
}

/* Write the key of a member, and read its colon; false: a flow mapping may lack that. */
static bool
parse_key(SfYaml *y, bool in_flow)
{
	const char *at = y->p;
	bool		is_quoted = *at == '"' || *at == '\'';
	char	   *key;

	if (strchr("[{?*&!", *at) != NULL && (*at != '?' || sf_yaml_is_space(at[1])))
		sf_yaml_fail(y, at, "a key that is no scalar");
	if (is_quoted)
		key = sf_yaml_read_quoted(y);
	else
	{
		StringInfoData buf;

		sf_yaml_check_plain(y, in_flow);
		initStringInfo(&buf);
		sf_yaml_read_plain_line(y, &buf, in_flow);
		key = buf.data;
	}
	if (strcmp(key, "<<") == 0 && !is_quoted)
		sf_yaml_fail(y, at, "a merge key");
	escape_json(&y->out, key);
	appendStringInfoChar(&y->out, ':');
	sf_yaml_skip_blanks(y);
	if (*y->p != ':')
	{
		if (!in_flow)
			sf_yaml_fail(y, at, "a key without a colon");
		return false;
	}
	y->p++;
	return true;
}

/* Read a flow sequence or mapping. */
static void
parse_flow_collection(SfYaml *y)
{
	const char *start = y->p;
	bool		is_mapping = *y->p++ == '{';
	char		end = is_mapping ? '}' : ']';

	appendStringInfoChar(&y->out, *start);
	for (bool first = true;; first = false)
	{
		CHECK_FOR_INTERRUPTS();
		skip_flow(y, start);
		if (*y->p == end)
			break;
		if (!first)
			appendStringInfoChar(&y->out, ',');
		if (is_mapping && !parse_key(y, true))
			appendStringInfoString(&y->out, "null");
		else
		{
			skip_flow(y, start);
			if (is_mapping && (*y->p == ',' || *y->p == '}'))
				appendStringInfoString(&y->out, "null");
			else
				parse_flow(y);
		}
		skip_flow(y, start);
		if (*y->p == ',')
			y->p++;
		else if (*y->p != end)
			sf_yaml_fail(y, y->p, "a comma or the end of a bracket is missing");
	}
	appendStringInfoChar(&y->out, end);
	y->p++;
}

/* Read a value within a flow collection. */
static void
parse_flow(SfYaml *y)
{
	Properties	properties = {.start = y->out.len};

	check_stack_depth();
	while (parse_property(y, &properties))
		sf_yaml_skip_lines(y);
	if (*y->p == '*')
		parse_alias(y);
	else if (*y->p == '[' || *y->p == '{')
		parse_flow_collection(y);
	else if (*y->p == '"' || *y->p == '\'')
		escape_json(&y->out, sf_yaml_read_quoted(y));
	else if (properties.ntags > 0 && sf_yaml_is_flow_mark(*y->p))
		appendStringInfoString(&y->out, "null");
	else
		sf_yaml_write_plain(y, sf_yaml_read_plain(y, AROUND_ALL, true), properties.is_string);
	end_value(y, &properties);
}

/* Tell whether a position begins the key of a block mapping. */
static bool
is_key(SfYaml *y)
{
	const char *at = y->p;
	bool		found;

	if (*at == '"' || *at == '\'')
	{
		sf_yaml_read_quoted(y);
		found = memchr(at, '\n', y->p - at) == NULL;
		y->p += strspn(y->p, " \t");
		found = found && *y->p == ':' && sf_yaml_is_space(y->p[1]);
		y->p = at;
		return found;
	}
	while (!sf_yaml_is_plain_end(at, false))
		at++;
	return *at == ':';
}

/* Go on behind an entry of a block collection of a column; false: it has ended. */
static bool
next_entry(SfYaml *y, int column)
{
	sf_yaml_skip_lines(y);
	if (sf_yaml_is_end(y) || sf_yaml_column(y, y->p) < column)
		return false;
	if (sf_yaml_column(y, y->p) > column)
		sf_yaml_fail(y, y->p, "it is indented deeper than what it could belong to");
	return true;
}

/* Read a block mapping, whose keys stand at a column. */
static void
parse_mapping(SfYaml *y, int column)
{
	appendStringInfoChar(&y->out, '{');
	for (bool first = true; first || next_entry(y, column); first = false)
	{
		if (!first)
			appendStringInfoChar(&y->out, ',');
		parse_key(y, false);
		parse_block(y, column, true);
	}
	appendStringInfoChar(&y->out, '}');
}

/* Read a block sequence, whose dashes stand at a column. */
static void
parse_sequence(SfYaml *y, int column)
{
	appendStringInfoChar(&y->out, '[');
	for (bool first = true; first || (next_entry(y, column) && sf_yaml_is_dash(y->p)); first = false)
	{
		if (!first)
			appendStringInfoChar(&y->out, ',');
		y->p++;
		parse_block(y, column, false);
	}
	appendStringInfoChar(&y->out, ']');
}

/* Read a value that is a scalar, an alias or a flow collection, to the end of its line. */
static void
parse_leaf(SfYaml *y, int indent, bool is_string)
{
	if (*y->p == '|' || *y->p == '>')
	{
		escape_json(&y->out, sf_yaml_read_block(y, indent));
		return;
	}
	if (*y->p == '*')
		parse_alias(y);
	else if (*y->p == '[' || *y->p == '{')
		parse_flow_collection(y);
	else if (*y->p == '"' || *y->p == '\'')
		escape_json(&y->out, sf_yaml_read_quoted(y));
	else
		sf_yaml_write_plain(y, sf_yaml_read_plain(y, indent, false), is_string);
	sf_yaml_expect_line_end(y);
}

/*
 * Read the tags and anchors of a value, and go to where it begins.  *same_line tells
 * whether that is the line in which it was begun.  False: there is no value.
 */
static bool
begin_value(SfYaml *y, int indent, bool is_value, Properties *properties, bool *same_line)
{
	*same_line = true;
	do
	{
		sf_yaml_skip_blanks(y);
		if (*y->p == '\n')
		{
			sf_yaml_skip_lines(y);
			*same_line = false;
		}
		if (sf_yaml_is_end(y))
			return false;
		if (!*same_line && sf_yaml_column(y, y->p) <= indent &&
			!(is_value && sf_yaml_is_dash(y->p) && sf_yaml_column(y, y->p) == indent))
			return false;
	} while (parse_property(y, properties));
	return true;
}

/*
 * Read a value in a block: what is indented deeper than indent.  is_value: it is that
 * of a key; then a collection begins in the next line, and a sequence may have the
 * indentation of the key.
 */
static void
parse_block(SfYaml *y, int indent, bool is_value)
{
	Properties	properties = {.start = y->out.len};
	bool		same_line;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (!begin_value(y, indent, is_value, &properties, &same_line))
		appendStringInfoString(&y->out, "null");
	else if (sf_yaml_is_dash(y->p) && !(is_value && same_line))
		parse_sequence(y, sf_yaml_column(y, y->p));
	else if (!(is_value && same_line) && strchr("|>*[{", *y->p) == NULL && is_key(y))
		parse_mapping(y, sf_yaml_column(y, y->p));
	else
		parse_leaf(y, indent, properties.is_string);
	end_value(y, &properties);
}

/* Copy a text without the carriage returns at the ends of its lines and a byte order mark. */
static char *
normalize(const char *text)
{
	char	   *copy = palloc(strlen(text) + 1);
	char	   *to = copy;

	if (strncmp(text, "\xEF\xBB\xBF", 3) == 0)
		text += 3;
	for (; *text != '\0'; text++)
	{
		if (text[0] != '\r' || text[1] != '\n')
			*to++ = *text;
	}
	*to = '\0';
	return copy;
}

/*
 * Convert a document of YAML to the text of the same value in JSON, members in their
 * order.  Raises SF001 with line and column for what it does not read.
 */
char *
sf_yaml_to_json(const char *text)
{
	SfYaml		y = {.text = normalize(text)};

	y.p = y.text;
	initStringInfo(&y.out);
	sf_yaml_skip_lines(&y);
	while (*y.p == '%')
	{
		y.p += strcspn(y.p, "\n");
		sf_yaml_skip_lines(&y);
	}
	if (strncmp(y.p, "---", 3) == 0 && sf_yaml_is_space(y.p[3]))
		y.p += 3;
	parse_block(&y, AROUND_ALL, false);
	sf_yaml_skip_lines(&y);
	if (strncmp(y.p, "...", 3) == 0 && sf_yaml_is_space(y.p[3]))
	{
		y.p += 3;
		sf_yaml_skip_lines(&y);
	}
	if (*y.p != '\0')
		sf_yaml_fail(&y, y.p, strncmp(y.p, "---", 3) == 0 ? "more than one document" : "text after the end of the document");
	return y.out.data;
}
