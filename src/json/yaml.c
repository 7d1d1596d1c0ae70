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

static void parse_block(SfYaml *yaml, int indent, bool is_value);
static void parse_flow(SfYaml *yaml);

/* Read a tag: one of CloudFormation is written as the object that it stands for. */
static void
parse_tag(SfYaml *yaml, Properties *properties)
{
	int			length = 1 + strcspn(yaml->p + 1, " \t\n,[]{}");
	char	   *name = pnstrdup(yaml->p + 1, length - 1);

	if (strcmp(name, "!str") == 0)
		properties->is_string = true;
	else if (name[0] == '\0' || name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:")] != '\0')
		sf_yaml_fail(yaml, yaml->p, "a tag that is none of CloudFormation");
	else
	{
		bool		is_short = strcmp(name, "Ref") == 0 || strcmp(name, "Condition") == 0;

		appendStringInfo(&yaml->out, "{\"%s%s\":", is_short ? "" : "Fn::", name);
		properties->ntags++;
	}
	yaml->p += length;
}

/* Read a name behind & or *. */
static char *
read_anchor_name(SfYaml *yaml)
{
	int			length = strcspn(yaml->p + 1, " \t\n,[]{}");
	char	   *name = pnstrdup(yaml->p + 1, length);

	yaml->p += length + 1;
	return name;
}

/* Read a tag or an anchor, if there is one. */
static bool
parse_property(SfYaml *yaml, Properties *properties)
{
	if (*yaml->p == '!')
		parse_tag(yaml, properties);
	else if (*yaml->p == '&')
		properties->anchor = read_anchor_name(yaml);
	else
		return false;
	return true;
}

/* Finish a value: close the objects of its tags, and keep it for aliases. */
static void
end_value(SfYaml *yaml, const Properties *properties)
{
	for (int i = 0; i < properties->ntags; i++)
		appendStringInfoChar(&yaml->out, '}');
	if (properties->anchor != NULL)
	{
		Anchor	   *anchor = palloc(sizeof(Anchor));

		anchor->name = properties->anchor;
		/* what is written stays as it is: no copy of what may hold other anchors */
		anchor->start = properties->start;
		anchor->length = yaml->out.len - properties->start;
		yaml->anchors = lappend(yaml->anchors, anchor);
	}
}

/* Write the value that an alias names. */
static void
parse_alias(SfYaml *yaml)
{
	const char *at = yaml->p;
	char	   *name = read_anchor_name(yaml);

	/* the last one of a name counts */
	for (int i = list_length(yaml->anchors) - 1; i >= 0; i--)
	{
		const Anchor *anchor = list_nth(yaml->anchors, i);

		if (strcmp(anchor->name, name) != 0)
			continue;
		if (yaml->out.len + anchor->length > YAML_OUTPUT_MAX)
			sf_yaml_fail(yaml, at, "aliases make it larger than 16 MB");
		enlargeStringInfo(&yaml->out, anchor->length);
		appendBinaryStringInfo(&yaml->out, yaml->out.data + anchor->start, anchor->length);
		return;
	}
	sf_yaml_fail(yaml, at, "an alias without its anchor");
}

/* Skip blanks, line breaks and comments within a flow collection. */
static void
skip_flow(SfYaml *yaml, const char *start)
{
	sf_yaml_skip_lines(yaml);
	if (*yaml->p == '\0')
		sf_yaml_fail(yaml, start, "a bracket without its end");
}

/* Write the key of a member, and read its colon; false: a flow mapping may lack that. */
static bool
parse_key(SfYaml *yaml, bool in_flow)
{
	const char *at = yaml->p;
	bool		is_quoted = *at == '"' || *at == '\'';
	char	   *key;

	if (strchr("[{?*&!", *at) != NULL && (*at != '?' || sf_yaml_is_space(at[1])))
		sf_yaml_fail(yaml, at, "a key that is no scalar");
	if (is_quoted)
		key = sf_yaml_read_quoted(yaml);
	else
	{
		StringInfoData buf;

		sf_yaml_check_plain(yaml, in_flow);
		initStringInfo(&buf);
		sf_yaml_read_plain_line(yaml, &buf, in_flow);
		key = buf.data;
	}
	if (strcmp(key, "<<") == 0 && !is_quoted)
		sf_yaml_fail(yaml, at, "a merge key");
	escape_json(&yaml->out, key);
	appendStringInfoChar(&yaml->out, ':');
	sf_yaml_skip_blanks(yaml);
	if (*yaml->p != ':')
	{
		if (!in_flow)
			sf_yaml_fail(yaml, at, "a key without a colon");
		return false;
	}
	yaml->p++;
	return true;
}

/* Read a flow sequence or mapping. */
static void
parse_flow_collection(SfYaml *yaml)
{
	const char *start = yaml->p;
	bool		is_mapping = *yaml->p++ == '{';
	char		end = is_mapping ? '}' : ']';

	appendStringInfoChar(&yaml->out, *start);
	for (bool first = true;; first = false)
	{
		CHECK_FOR_INTERRUPTS();
		skip_flow(yaml, start);
		if (*yaml->p == end)
			break;
		if (!first)
			appendStringInfoChar(&yaml->out, ',');
		if (is_mapping && !parse_key(yaml, true))
			appendStringInfoString(&yaml->out, "null");
		else
		{
			skip_flow(yaml, start);
			if (is_mapping && (*yaml->p == ',' || *yaml->p == '}'))
				appendStringInfoString(&yaml->out, "null");
			else
				parse_flow(yaml);
		}
		skip_flow(yaml, start);
		if (*yaml->p == ',')
			yaml->p++;
		else if (*yaml->p != end)
			sf_yaml_fail(yaml, yaml->p, "a comma or the end of a bracket is missing");
	}
	appendStringInfoChar(&yaml->out, end);
	yaml->p++;
}

/* Read a value within a flow collection. */
static void
parse_flow(SfYaml *yaml)
{
	Properties	properties = {.start = yaml->out.len};

	check_stack_depth();
	while (parse_property(yaml, &properties))
		sf_yaml_skip_lines(yaml);
	if (*yaml->p == '*')
		parse_alias(yaml);
	else if (*yaml->p == '[' || *yaml->p == '{')
		parse_flow_collection(yaml);
	else if (*yaml->p == '"' || *yaml->p == '\'')
		escape_json(&yaml->out, sf_yaml_read_quoted(yaml));
	else if (properties.ntags > 0 && sf_yaml_is_flow_indicator(*yaml->p))
		appendStringInfoString(&yaml->out, "null");
	else
		sf_yaml_write_plain(yaml, sf_yaml_read_plain(yaml, AROUND_ALL, true), properties.is_string);
	end_value(yaml, &properties);
}

/* Tell whether a position begins the key of a block mapping. */
static bool
is_key(SfYaml *yaml)
{
	const char *at = yaml->p;
	bool		found;

	if (*at == '"' || *at == '\'')
	{
		sf_yaml_read_quoted(yaml);
		found = memchr(at, '\n', yaml->p - at) == NULL;
		yaml->p += strspn(yaml->p, " \t");
		found = found && *yaml->p == ':' && sf_yaml_is_space(yaml->p[1]);
		yaml->p = at;
		return found;
	}
	while (!sf_yaml_is_plain_end(at, false))
		at++;
	return *at == ':';
}

/* Go on behind an entry of a block collection of a column; false: it has ended. */
static bool
next_entry(SfYaml *yaml, int column)
{
	sf_yaml_skip_lines(yaml);
	if (sf_yaml_is_end(yaml) || sf_yaml_column(yaml, yaml->p) < column)
		return false;
	if (sf_yaml_column(yaml, yaml->p) > column)
		sf_yaml_fail(yaml, yaml->p, "it is indented deeper than what it could belong to");
	return true;
}

/* Read a block mapping, whose keys stand at a column. */
static void
parse_mapping(SfYaml *yaml, int column)
{
	appendStringInfoChar(&yaml->out, '{');
	for (bool first = true; first || next_entry(yaml, column); first = false)
	{
		if (!first)
			appendStringInfoChar(&yaml->out, ',');
		parse_key(yaml, false);
		parse_block(yaml, column, true);
	}
	appendStringInfoChar(&yaml->out, '}');
}

/* Read a block sequence, whose dashes stand at a column. */
static void
parse_sequence(SfYaml *yaml, int column)
{
	appendStringInfoChar(&yaml->out, '[');
	for (bool first = true; first || (next_entry(yaml, column) && sf_yaml_is_dash(yaml->p)); first = false)
	{
		if (!first)
			appendStringInfoChar(&yaml->out, ',');
		yaml->p++;
		parse_block(yaml, column, false);
	}
	appendStringInfoChar(&yaml->out, ']');
}

/* Read a value that is a scalar, an alias or a flow collection, to the end of its line. */
static void
parse_leaf(SfYaml *yaml, int indent, bool is_string)
{
	if (*yaml->p == '|' || *yaml->p == '>')
	{
		escape_json(&yaml->out, sf_yaml_read_block(yaml, indent));
		return;
	}
	if (*yaml->p == '*')
		parse_alias(yaml);
	else if (*yaml->p == '[' || *yaml->p == '{')
		parse_flow_collection(yaml);
	else if (*yaml->p == '"' || *yaml->p == '\'')
		escape_json(&yaml->out, sf_yaml_read_quoted(yaml));
	else
		sf_yaml_write_plain(yaml, sf_yaml_read_plain(yaml, indent, false), is_string);
	sf_yaml_expect_line_end(yaml);
}

/*
 * Read the tags and anchors of a value, and go to where it begins.  *same_line tells
 * whether that is the line in which it was begun.  False: there is no value.
 */
static bool
begin_value(SfYaml *yaml, int indent, bool is_value, Properties *properties, bool *same_line)
{
	*same_line = true;
	do
	{
		sf_yaml_skip_blanks(yaml);
		if (*yaml->p == '\n')
		{
			sf_yaml_skip_lines(yaml);
			*same_line = false;
		}
		if (sf_yaml_is_end(yaml))
			return false;
		if (!*same_line && sf_yaml_column(yaml, yaml->p) <= indent &&
			!(is_value && sf_yaml_is_dash(yaml->p) && sf_yaml_column(yaml, yaml->p) == indent))
			return false;
	} while (parse_property(yaml, properties));
	return true;
}

/*
 * Read a value in a block: what is indented deeper than indent.  is_value: it is that
 * of a key; then a collection begins in the next line, and a sequence may have the
 * indentation of the key.
 */
static void
parse_block(SfYaml *yaml, int indent, bool is_value)
{
	Properties	properties = {.start = yaml->out.len};
	bool		same_line;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (!begin_value(yaml, indent, is_value, &properties, &same_line))
		appendStringInfoString(&yaml->out, "null");
	else if (sf_yaml_is_dash(yaml->p) && !(is_value && same_line))
		parse_sequence(yaml, sf_yaml_column(yaml, yaml->p));
	else if (!(is_value && same_line) && strchr("|>*[{", *yaml->p) == NULL && is_key(yaml))
		parse_mapping(yaml, sf_yaml_column(yaml, yaml->p));
	else
		parse_leaf(yaml, indent, properties.is_string);
	end_value(yaml, &properties);
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
	SfYaml		yaml = {.text = normalize(text)};

	yaml.p = yaml.text;
	initStringInfo(&yaml.out);
	sf_yaml_skip_lines(&yaml);
	while (*yaml.p == '%')
	{
		yaml.p += strcspn(yaml.p, "\n");
		sf_yaml_skip_lines(&yaml);
	}
	if (strncmp(yaml.p, "---", 3) == 0 && sf_yaml_is_space(yaml.p[3]))
		yaml.p += 3;
	parse_block(&yaml, AROUND_ALL, false);
	sf_yaml_skip_lines(&yaml);
	if (strncmp(yaml.p, "...", 3) == 0 && sf_yaml_is_space(yaml.p[3]))
	{
		yaml.p += 3;
		sf_yaml_skip_lines(&yaml);
	}
	if (*yaml.p != '\0')
		sf_yaml_fail(&yaml, yaml.p, strncmp(yaml.p, "---", 3) == 0 ? "more than one document" :
					 "text after the end of the document");
	return yaml.out.data;
}
