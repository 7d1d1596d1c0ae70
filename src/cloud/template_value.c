/*
 * template_value.c
 *		Values in templates: references, and the intrinsic functions of CloudFormation.
 *
 * A value is evaluated into a tree of its own, whose nodes have the positions of those
 * that they come from, so that later errors can name them.  A reference to which
 * neither the template nor the caller gives a value becomes the text ${Name}: a
 * placeholder as in a definition, which sf_import then names or replaces.
 */
#include "postgres.h"

#include "common/base64.h"
#include "miscadmin.h"
#include "utils/json.h"

#include "base/error/errors.h"
#include "base/settings.h"
#include "base/version/compat.h"
#include "cloud/cloud.h"
#include "json/json.h"

/* Bytes of one text: repeated references to references grow without end */
#define CLOUD_TEXT_MAX	(16 * 1024 * 1024)

/* What a template may take to evaluate, in 64 bytes each */
#define CLOUD_SPENT_MAX	(512 * 1024 * 1024 / 64)

/* What was looked up, or is being looked up */
typedef struct SfCloudKnown
{
	const char *kind;			/* "Condition", "Resource" */
	const char *name;
	bool		is_done;
	void	   *value;
} SfCloudKnown;

/* Raise SF001 for a position of a template. */
void
sf_cloud_fail(const SfTreeNode *at, const char *fmt,...)
{
	StringInfoData buf;
	va_list		args;
	int			needed;

	initStringInfo(&buf);
	do
	{
		va_start(args, fmt);
		needed = appendStringInfoVA(&buf, fmt, args);
		va_end(args);
		if (needed > 0)
			enlargeStringInfo(&buf, needed);
	} while (needed > 0);
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_DEFINITION),
			 errmsg("invalid template: %s", buf.data),
			 errdetail("It is at %s.", sf_tree_location(at))));
}

/* --- what has been looked up --- */

/*
 * Find what was remembered of a name; false: nothing yet.  The caller then looks it
 * up and remembers it; a circle of names is an error.
 */
bool
sf_cloud_recall(SfCloud *template, const char *kind, const char *name, const SfTreeNode *at, void **value)
{
	SfCloudKnown *known;

	foreach_ptr(const SfCloudKnown, k, template->known)
	{
		if (strcmp(k->kind, kind) != 0 || strcmp(k->name, name) != 0)
			continue;
		if (!k->is_done)
			sf_cloud_fail(at, "%s \"%s\" depends on itself", kind, name);
		*value = k->value;
		return true;
	}
	known = palloc0(sizeof(SfCloudKnown));
	known->kind = kind;
	known->name = name;
	template->known = lappend(template->known, known);
	return false;
}

/* Remember what was looked up. */
void
sf_cloud_remember(SfCloud *template, const char *kind, const char *name, void *value)
{
	foreach_ptr(SfCloudKnown, k, template->known)
	{
		if (strcmp(k->kind, kind) == 0 && strcmp(k->name, name) == 0)
		{
			k->is_done = true;
			k->value = value;
		}
	}
}

/* --- trees --- */

/* Copy a node without its children and siblings; it keeps its position. */
static SfTreeNode *
copy_node(const SfTreeNode *node)
{
	SfTreeNode *copy = palloc(sizeof(SfTreeNode));

	*copy = *node;
	copy->first = copy->last = copy->next = NULL;
	copy->nchildren = 0;
	return copy;
}

/* Append a child to an array or an object. */
static void
append_child(SfTreeNode *parent, SfTreeNode *child, const char *key)
{
	child->key = key;
	child->next = NULL;
	if (parent->last != NULL)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->nchildren++;
}

/* Make a text that stands at the position of a node. */
SfTreeNode *
sf_cloud_string(const SfTreeNode *at, const char *string)
{
	SfTreeNode *node = copy_node(at);

	node->kind = SF_TREE_STRING;
	node->string = string;
	return node;
}

/* Make a list of texts at the position of a node, cut out of a text. */
static SfTreeNode *
split_text(const SfTreeNode *at, const char *text, const char *delimiter)
{
	SfTreeNode *list = copy_node(at);
	size_t		length = strlen(delimiter);
	const char *end;

	list->kind = SF_TREE_ARRAY;
	for (; length > 0 && (end = strstr(text, delimiter)) != NULL; text = end + length)
	{
		CHECK_FOR_INTERRUPTS();
		append_child(list, sf_cloud_string(at, pnstrdup(text, end - text)), NULL);
	}
	append_child(list, sf_cloud_string(at, text), NULL);
	return list;
}

/* Make the tree of a value that the caller gave. */
static SfTreeNode *
node_of(const SfTreeNode *at, const Jsonb *value)
{
	SfParseError error;
	char	   *text = sf_json_to_cstring(value);
	SfTreeNode *node = sf_tree_parse(text, strlen(text), &error);

	if (node == NULL)
		sf_cloud_fail(at, "a value that was given for it is not JSON");
	node->parent = at->parent;
	node->key = at->key;
	node->index = at->index;
	return node;
}

/* Append the JSON text of a tree. */
static void
append_json(StringInfo buf, const SfTreeNode *node)
{
	bool		is_object = node->kind == SF_TREE_OBJECT;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (node->kind)
	{
		case SF_TREE_STRING:
			escape_json(buf, node->string);
			return;
		case SF_TREE_NUMBER:
			appendStringInfoString(buf, node->string);
			return;
		case SF_TREE_BOOLEAN:
			appendStringInfoString(buf, node->boolean ? "true" : "false");
			return;
		case SF_TREE_NULL:
			appendStringInfoString(buf, "null");
			return;
		case SF_TREE_OBJECT:
		case SF_TREE_ARRAY:
			break;
	}
	appendStringInfoChar(buf, is_object ? '{' : '[');
	SF_TREE_FOREACH(child, node)
	{
		if (child != node->first)
			appendStringInfoChar(buf, ',');
		if (is_object)
		{
			escape_json(buf, child->key);
			appendStringInfoChar(buf, ':');
		}
		append_json(buf, child);
	}
	appendStringInfoChar(buf, is_object ? '}' : ']');
}

/* Print a tree as JSON text. */
char *
sf_cloud_json(const SfTreeNode *node)
{
	StringInfoData buf;

	initStringInfo(&buf);
	append_json(&buf, node);
	return buf.data;
}

/* --- references --- */

/* Make the placeholder of a reference that has no value. */
SfTreeNode *
sf_cloud_unknown(SfCloud *template, const SfTreeNode *at, const char *name)
{
	template->nunknown++;
	template->unknown = name;
	return sf_cloud_string(at, psprintf("${%s}", name));
}

/* Find the value of a pseudo parameter, of which sfflow knows some. */
static const char *
pseudo_parameter(const char *name)
{
	if (strcmp(name, "AWS::Region") == 0)
		return sf_setting_region;
	if (strcmp(name, "AWS::AccountId") == 0)
		return sf_setting_account_id;
	if (strcmp(name, "AWS::Partition") == 0)
		return "aws";
	if (strcmp(name, "AWS::URLSuffix") == 0)
		return "amazonaws.com";
	return NULL;
}

/* Make a text the value of a parameter of a type: a list is split at commas. */
static SfTreeNode *
of_type(const SfTreeNode *at, SfTreeNode *value, const char *type)
{
	SfTreeNode *list;

	if (value->kind != SF_TREE_STRING || type == NULL ||
		(strcmp(type, "CommaDelimitedList") != 0 && strncmp(type, "List<", strlen("List<")) != 0))
		return value;
	list = split_text(at, value->string, ",");
	for (SfTreeNode *child = list->first; child != NULL; child = child->next)
	{
		const char *text = child->string + strspn(child->string, " ");
		size_t		length = strlen(text);

		while (length > 0 && text[length - 1] == ' ')
			length--;
		child->string = pnstrdup(text, length);
	}
	return list;
}

/* Find the default of a parameter, or its placeholder. */
static SfTreeNode *
parameter(SfCloud *template, const SfTreeNode *at, const SfTreeNode *declared)
{
	const SfTreeNode *value = sf_tree_member(declared, "Default");
	const char *type = sf_tree_member_string(declared, "Type");
	SfTreeNode *copy;

	if (value == NULL || (type != NULL && strncmp(type, "AWS::SSM::", strlen("AWS::SSM::")) == 0))
		return sf_cloud_unknown(template, at, declared->key);
	copy = copy_node(value);
	if (copy->kind == SF_TREE_STRING && type != NULL && strcmp(type, "Number") == 0 &&
		copy->string[0] != '\0' && copy->string[strspn(copy->string, "0123456789")] == '\0' &&
		(copy->string[0] != '0' || copy->string[1] == '\0'))
		copy->kind = SF_TREE_NUMBER;
	copy->parent = at->parent;
	copy->index = at->index;
	return of_type(at, copy, type);
}

/* Find what a name refers to: Ref. */
SfTreeNode *
sf_cloud_reference(SfCloud *template, const SfTreeNode *at, const char *name)
{
	const Jsonb *given = template->given == NULL ? NULL : sf_json_get(template->given, name);
	const char *pseudo = pseudo_parameter(name);
	const SfTreeNode *declared = sf_tree_member(sf_tree_member(template->root, "Parameters"), name);

	if (strcmp(name, "AWS::NoValue") == 0)
		return NULL;
	if (given != NULL)
		return of_type(at, node_of(at, given), sf_tree_member_string(declared, "Type"));
	if (pseudo != NULL)
		return sf_cloud_string(at, pseudo);
	if (declared != NULL)
		return parameter(template, at, declared);
	if ((declared = sf_tree_member(sf_tree_member(template->root, "Resources"), name)) != NULL)
		return sf_cloud_resource(template, at, declared);
	return sf_cloud_unknown(template, at, name);
}

/* Find what "Name" or "Name.Attribute" refers to. */
static SfTreeNode *
reference_or_attribute(SfCloud *template, const SfTreeNode *at, const char *name)
{
	const char *dot = strchr(name, '.');

	if (dot == NULL)
		return sf_cloud_reference(template, at, name);
	return sf_cloud_attribute(template, at, pnstrdup(name, dot - name), dot + 1);
}

/* --- arguments of functions --- */

/* Evaluate a value, and make it text: a string, a number or a boolean. */
char *
sf_cloud_text(SfCloud *template, const SfTreeNode *node)
{
	const SfTreeNode *value = sf_cloud_value(template, node);

	if (value == NULL)
		return pstrdup("");
	if (value->kind == SF_TREE_OBJECT || value->kind == SF_TREE_ARRAY || value->kind == SF_TREE_NULL)
		sf_cloud_fail(node, "this must be text");
	return value->kind == SF_TREE_BOOLEAN ? pstrdup(value->boolean ? "true" : "false") :
		unconstify(char *, value->string);
}

/* Evaluate a member of an object; NULL: there is none. */
SfTreeNode *
sf_cloud_member(SfCloud *template, const SfTreeNode *object, const char *name)
{
	const SfTreeNode *member = sf_tree_member(object, name);

	return member == NULL ? NULL : sf_cloud_value(template, member);
}

/* Find an argument of a function, which has from least to most of them. */
const SfTreeNode *
sf_cloud_argument(const SfTreeNode *function, int n, int least, int most)
{
	const SfTreeNode *child = function->first;

	if (function->kind != SF_TREE_ARRAY || function->nchildren < least || function->nchildren > most)
		sf_cloud_fail(function, "%s takes a list of %d arguments", function->key, least);
	while (n-- > 0)
		child = child->next;
	return child;
}

/* Evaluate an argument that is a list. */
static SfTreeNode *
list_argument(SfCloud *template, const SfTreeNode *node)
{
	SfTreeNode *list = sf_cloud_value(template, node);

	if (list == NULL || list->kind != SF_TREE_ARRAY)
		sf_cloud_fail(node, "this must be a list");
	return list;
}

/* Refuse a text that has become too long. */
static void
check_length(const SfTreeNode *at, const StringInfoData *buf)
{
	if (buf->len > CLOUD_TEXT_MAX)
		sf_cloud_fail(at, "this text is longer than 16 MB");
}

/* --- functions: each gets the value behind its name --- */

/* Evaluate Ref. */
static SfTreeNode *
function_ref(SfCloud *template, const SfTreeNode *field)
{
	if (field->kind != SF_TREE_STRING)
		sf_cloud_fail(field, "Ref takes a name");
	return sf_cloud_reference(template, field, field->string);
}

/* Evaluate Fn::GetAtt: a list of two, or the two with a dot between. */
static SfTreeNode *
function_get_att(SfCloud *template, const SfTreeNode *field)
{
	if (field->kind == SF_TREE_STRING && strchr(field->string, '.') != NULL)
		return reference_or_attribute(template, field, field->string);
	return sf_cloud_attribute(template, field, sf_cloud_text(template, sf_cloud_argument(field, 0, 2, 2)),
							  sf_cloud_text(template, sf_cloud_argument(field, 1, 2, 2)));
}

/* Append the text of ${name}: one of the values that Fn::Sub brings, or what the name refers to. */
static void
append_substituted(SfCloud *template, StringInfo buf, const SfTreeNode *field, const SfTreeNode *values,
				   const char *name)
{
	const SfTreeNode *found = sf_tree_member(values, name);

	if (found == NULL)
		found = reference_or_attribute(template, field, name);
	if (found != NULL)
		appendStringInfoString(buf, sf_cloud_text(template, found));
}

/* Evaluate Fn::Sub: a text, or a list of it and an object of values. */
static SfTreeNode *
function_sub(SfCloud *template, const SfTreeNode *field)
{
	bool		is_list = field->kind == SF_TREE_ARRAY;
	/* once, however often the text has them */
	const SfTreeNode *values = is_list ? sf_cloud_value(template, sf_cloud_argument(field, 1, 2, 2)) : NULL;
	const char *p = sf_cloud_text(template, is_list ? field->first : field);
	StringInfoData buf;

	initStringInfo(&buf);
	for (const char *end; *p != '\0'; p = end)
	{
		int			name = p[0] == '$' && p[1] == '{' ? strcspn(p + 2, "}\"\n ") : 0;

		CHECK_FOR_INTERRUPTS();
		end = p + (name > 0 && p[2 + name] == '}' ? name + 3 : 1);
		if (end == p + 1)
			appendStringInfoChar(&buf, *p);
		else if (p[2] == '!')
			appendStringInfo(&buf, "${%.*s}", name - 1, p + 3);
		else
			append_substituted(template, &buf, field, values, pnstrdup(p + 2, name));
		check_length(field, &buf);
	}
	return sf_cloud_string(field, buf.data);
}

/* Evaluate Fn::Join. */
static SfTreeNode *
function_join(SfCloud *template, const SfTreeNode *field)
{
	const char *delimiter = sf_cloud_text(template, sf_cloud_argument(field, 0, 2, 2));
	const SfTreeNode *list = list_argument(template, sf_cloud_argument(field, 1, 2, 2));
	StringInfoData buf;

	initStringInfo(&buf);
	SF_TREE_FOREACH(child, list)
	{
		appendStringInfo(&buf, "%s%s", child == list->first ? "" : delimiter, sf_cloud_text(template, child));
		check_length(field, &buf);
	}
	return sf_cloud_string(field, buf.data);
}

/* Evaluate Fn::Split. */
static SfTreeNode *
function_split(SfCloud *template, const SfTreeNode *field)
{
	const char *delimiter = sf_cloud_text(template, sf_cloud_argument(field, 0, 2, 2));

	return split_text(field, sf_cloud_text(template, sf_cloud_argument(field, 1, 2, 2)), delimiter);
}

/* Evaluate Fn::Select. */
static SfTreeNode *
function_select(SfCloud *template, const SfTreeNode *field)
{
	int			before = template->nunknown;
	const char *index = sf_cloud_text(template, sf_cloud_argument(field, 0, 2, 2));
	SfTreeNode *list = sf_cloud_value(template, sf_cloud_argument(field, 1, 2, 2));
	bool		is_number = index[0] != '\0' && index[strspn(index, "0123456789")] == '\0';
	int			n = 0;

	if (is_number && list != NULL && list->kind == SF_TREE_ARRAY)
	{
		SF_TREE_FOREACH(child, list)
		{
			if (n++ == strtol(index, NULL, 10))
				return sf_cloud_value(template, child);
		}
	}
	if (template->nunknown > before)
		return sf_cloud_unknown(template, field, template->unknown);
	sf_cloud_fail(field, !is_number || list == NULL || list->kind != SF_TREE_ARRAY ?
				  "Fn::Select takes an index and a list" :
				  "Fn::Select wants element %s of %d", index, n);
}

/* Evaluate Fn::If. */
static SfTreeNode *
function_if(SfCloud *template, const SfTreeNode *field)
{
	const SfTreeNode *condition = sf_cloud_argument(field, 0, 3, 3);

	return sf_cloud_value(template,
						  sf_cloud_argument(field, sf_cloud_is_true(template, sf_cloud_text(template, condition),
																	condition) ? 1 : 2, 3, 3));
}

/* Evaluate Fn::FindInMap. */
static SfTreeNode *
function_find_in_map(SfCloud *template, const SfTreeNode *field)
{
	const SfTreeNode *found = sf_tree_member(template->root, "Mappings");
	const SfTreeNode *fallback;

	for (int i = 0; i < 3; i++)
		found = sf_tree_member(found, sf_cloud_text(template, sf_cloud_argument(field, i, 3, 4)));
	if (found == NULL && field->nchildren == 4 &&
		(fallback = sf_tree_member(sf_cloud_argument(field, 3, 4, 4), "DefaultValue")) != NULL)
		found = fallback;
	if (found == NULL)
		sf_cloud_fail(field, "Mappings has no value for these keys");
	return sf_cloud_value(template, found);
}

/* Evaluate Fn::ImportValue: the caller may give a value for the name of the export. */
static SfTreeNode *
function_import_value(SfCloud *template, const SfTreeNode *field)
{
	const char *name = sf_cloud_text(template, field);
	const Jsonb *given = template->given == NULL ? NULL : sf_json_get(template->given, name);

	return given != NULL ? node_of(field, given) : sf_cloud_unknown(template, field, name);
}

/* Evaluate Fn::GetAZs: three zones of a region. */
static SfTreeNode *
function_get_azs(SfCloud *template, const SfTreeNode *field)
{
	const char *region = sf_cloud_text(template, field);

	if (region[0] == '\0')
		region = sf_cloud_reference(template, field, "AWS::Region")->string;
	return split_text(field, psprintf("%sa,%sb,%sc", region, region, region), ",");
}

/* Evaluate Fn::Base64. */
static SfTreeNode *
function_base64(SfCloud *template, const SfTreeNode *field)
{
	const char *text = sf_cloud_text(template, field);
	int			length = strlen(text);
	int			size = pg_b64_enc_len(length) + 1;
	char	   *encoded = palloc0(size);

	if (pg_b64_encode(SF_B64_SRC(text), length, encoded, size) < 0)
		elog(ERROR, "a text does not fit into its base64");
	return sf_cloud_string(field, encoded);
}

/* Evaluate Fn::ToJsonString. */
static SfTreeNode *
function_to_json_string(SfCloud *template, const SfTreeNode *field)
{
	SfTreeNode *value = sf_cloud_value(template, field);

	return sf_cloud_string(field, value == NULL ? "null" : sf_cloud_json(value));
}

/* Evaluate Fn::Length. */
static SfTreeNode *
function_length(SfCloud *template, const SfTreeNode *field)
{
	SfTreeNode *number = sf_cloud_string(field, psprintf("%d", list_argument(template, field)->nchildren));

	number->kind = SF_TREE_NUMBER;
	return number;
}

static const struct
{
	const char *name;
	SfTreeNode	   *(*evaluate) (SfCloud *template, const SfTreeNode *field);
}			functions[] =
{
	{"Ref", function_ref},
	{"Fn::GetAtt", function_get_att},
	{"Fn::Sub", function_sub},
	{"Fn::Join", function_join},
	{"Fn::Split", function_split},
	{"Fn::Select", function_select},
	{"Fn::If", function_if},
	{"Fn::FindInMap", function_find_in_map},
	{"Fn::ImportValue", function_import_value},
	{"Fn::GetAZs", function_get_azs},
	{"Fn::Base64", function_base64},
	{"Fn::ToJsonString", function_to_json_string},
	{"Fn::Length", function_length},
};

/* Evaluate an object that is a function; false: it is none. */
static bool
eval_function(SfCloud *template, const SfTreeNode *node, SfTreeNode **value)
{
	const SfTreeNode *field = node->first;

	if (node->nchildren != 1)
		return false;
	for (size_t i = 0; i < lengthof(functions); i++)
	{
		if (strcmp(field->key, functions[i].name) != 0)
			continue;
		*value = functions[i].evaluate(template, field);
		if (*value != NULL)
		{
			/* about what a text and the buffers on the way to it take */
			if ((*value)->kind == SF_TREE_STRING)
				template->spent += 16 + strlen((*value)->string) / 64;
			*value = memcpy(palloc(sizeof(SfTreeNode)), *value, sizeof(SfTreeNode));
			(*value)->parent = node->parent;
			(*value)->index = node->index;
			(*value)->key = node->key;
		}
		return true;
	}
	if (strncmp(field->key, "Fn::", strlen("Fn::")) == 0)
		sf_cloud_fail(field, "%s is none of the functions that sf_import evaluates", field->key);
	return false;
}

/*
 * Evaluate a value of a template.  NULL: AWS::NoValue, which takes the member or the
 * element away in which it stands.
 */
SfTreeNode *
sf_cloud_value(SfCloud *template, const SfTreeNode *node)
{
	SfTreeNode *value;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	/* references that stand twice in what others refer to twice, and so on */
	if ((template->spent += 2) > CLOUD_SPENT_MAX)
		sf_cloud_fail(node, "the template takes more than 512 MB to evaluate");
	if (node->kind == SF_TREE_OBJECT && eval_function(template, node, &value))
		return value;
	value = copy_node(node);
	SF_TREE_FOREACH(child, node)
	{
		SfTreeNode *element = sf_cloud_value(template, child);

		if (element != NULL)
			append_child(value, element, child->key);
	}
	return value;
}
