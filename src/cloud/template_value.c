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
sf_cloud_recall(SfCloud *t, const char *kind, const char *name, const SfTreeNode *at, void **value)
{
	SfCloudKnown *known;

	foreach_ptr(const SfCloudKnown, k, t->known)
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
	t->known = lappend(t->known, known);
	return false;
}

/* Remember what was looked up. */
void
sf_cloud_remember(SfCloud *t, const char *kind, const char *name, void *value)
{
	foreach_ptr(SfCloudKnown, k, t->known)
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
sf_cloud_unknown(SfCloud *t, const SfTreeNode *at, const char *name)
{
	t->nunknown++;
	t->unknown = name;
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
parameter(SfCloud *t, const SfTreeNode *at, const SfTreeNode *declared)
{
	const SfTreeNode *value = sf_tree_member(declared, "Default");
	const char *type = sf_tree_member_string(declared, "Type");
	SfTreeNode *copy;

	if (value == NULL || (type != NULL && strncmp(type, "AWS::SSM::", strlen("AWS::SSM::")) == 0))
		return sf_cloud_unknown(t, at, declared->key);
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
sf_cloud_reference(SfCloud *t, const SfTreeNode *at, const char *name)
{
	const Jsonb *given = t->given == NULL ? NULL : sf_json_get(t->given, name);
	const char *pseudo = pseudo_parameter(name);
	const SfTreeNode *declared = sf_tree_member(sf_tree_member(t->root, "Parameters"), name);

	if (strcmp(name, "AWS::NoValue") == 0)
		return NULL;
	if (given != NULL)
		return of_type(at, node_of(at, given), sf_tree_member_string(declared, "Type"));
	if (pseudo != NULL)
		return sf_cloud_string(at, pseudo);
	if (declared != NULL)
		return parameter(t, at, declared);
	if ((declared = sf_tree_member(sf_tree_member(t->root, "Resources"), name)) != NULL)
		return sf_cloud_resource(t, at, declared);
	return sf_cloud_unknown(t, at, name);
}

/* Find what "Name" or "Name.Attribute" refers to. */
static SfTreeNode *
reference_or_attribute(SfCloud *t, const SfTreeNode *at, const char *name)
{
	const char *dot = strchr(name, '.');

	if (dot == NULL)
		return sf_cloud_reference(t, at, name);
	return sf_cloud_attribute(t, at, pnstrdup(name, dot - name), dot + 1);
}

/* --- arguments of functions --- */

/* Evaluate a value, and make it text: a string, a number or a boolean. */
char *
sf_cloud_text(SfCloud *t, const SfTreeNode *node)
{
	const SfTreeNode *value = sf_cloud_value(t, node);

	if (value == NULL)
		return pstrdup("");
	if (value->kind == SF_TREE_OBJECT || value->kind == SF_TREE_ARRAY || value->kind == SF_TREE_NULL)
		sf_cloud_fail(node, "this must be text");
	return value->kind == SF_TREE_BOOLEAN ? pstrdup(value->boolean ? "true" : "false") :
		unconstify(char *, value->string);
}

/* Evaluate a member of an object; NULL: there is none. */
SfTreeNode *
sf_cloud_member(SfCloud *t, const SfTreeNode *object, const char *name)
{
	const SfTreeNode *member = sf_tree_member(object, name);

	return member == NULL ? NULL : sf_cloud_value(t, member);
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
list_argument(SfCloud *t, const SfTreeNode *node)
{
	SfTreeNode *list = sf_cloud_value(t, node);

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
function_ref(SfCloud *t, const SfTreeNode *f)
{
	if (f->kind != SF_TREE_STRING)
		sf_cloud_fail(f, "Ref takes a name");
	return sf_cloud_reference(t, f, f->string);
}

/* Evaluate Fn::GetAtt: a list of two, or the two with a dot between. */
static SfTreeNode *
function_get_att(SfCloud *t, const SfTreeNode *f)
{
	if (f->kind == SF_TREE_STRING && strchr(f->string, '.') != NULL)
		return reference_or_attribute(t, f, f->string);
	return sf_cloud_attribute(t, f, sf_cloud_text(t, sf_cloud_argument(f, 0, 2, 2)), sf_cloud_text(t, sf_cloud_argument(f, 1, 2, 2)));
}

/* Append the text of ${name}: one of the values that Fn::Sub brings, or what the name refers to. */
static void
append_substituted(SfCloud *t, StringInfo buf, const SfTreeNode *f, const SfTreeNode *values, const char *name)
{
	const SfTreeNode *found = sf_tree_member(values, name);

	if (found == NULL)
		found = reference_or_attribute(t, f, name);
	if (found != NULL)
		appendStringInfoString(buf, sf_cloud_text(t, found));
}

/* Evaluate Fn::Sub: a text, or a list of it and an object of values. */
static SfTreeNode *
function_sub(SfCloud *t, const SfTreeNode *f)
{
	bool		is_list = f->kind == SF_TREE_ARRAY;
	/* once, however often the text has them */
	const SfTreeNode *values = is_list ? sf_cloud_value(t, sf_cloud_argument(f, 1, 2, 2)) : NULL;
	const char *p = sf_cloud_text(t, is_list ? f->first : f);
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
			append_substituted(t, &buf, f, values, pnstrdup(p + 2, name));
		check_length(f, &buf);
	}
	return sf_cloud_string(f, buf.data);
}

/* Evaluate Fn::Join. */
static SfTreeNode *
function_join(SfCloud *t, const SfTreeNode *f)
{
	const char *delimiter = sf_cloud_text(t, sf_cloud_argument(f, 0, 2, 2));
	const SfTreeNode *list = list_argument(t, sf_cloud_argument(f, 1, 2, 2));
	StringInfoData buf;

	initStringInfo(&buf);
	SF_TREE_FOREACH(child, list)
	{
		appendStringInfo(&buf, "%s%s", child == list->first ? "" : delimiter, sf_cloud_text(t, child));
		check_length(f, &buf);
	}
	return sf_cloud_string(f, buf.data);
}

/* Evaluate Fn::Split. */
static SfTreeNode *
function_split(SfCloud *t, const SfTreeNode *f)
{
	const char *delimiter = sf_cloud_text(t, sf_cloud_argument(f, 0, 2, 2));

	return split_text(f, sf_cloud_text(t, sf_cloud_argument(f, 1, 2, 2)), delimiter);
}

/* Evaluate Fn::Select. */
static SfTreeNode *
function_select(SfCloud *t, const SfTreeNode *f)
{
	int			before = t->nunknown;
	const char *index = sf_cloud_text(t, sf_cloud_argument(f, 0, 2, 2));
	SfTreeNode *list = sf_cloud_value(t, sf_cloud_argument(f, 1, 2, 2));
	bool		is_number = index[0] != '\0' && index[strspn(index, "0123456789")] == '\0';
	int			n = 0;

	if (is_number && list != NULL && list->kind == SF_TREE_ARRAY)
	{
		SF_TREE_FOREACH(child, list)
		{
			if (n++ == strtol(index, NULL, 10))
				return sf_cloud_value(t, child);
		}
	}
	if (t->nunknown > before)
		return sf_cloud_unknown(t, f, t->unknown);
	sf_cloud_fail(f, !is_number || list == NULL || list->kind != SF_TREE_ARRAY ? "Fn::Select takes an index and a list" :
				  "Fn::Select wants element %s of %d", index, n);
}

/* Evaluate Fn::If. */
static SfTreeNode *
function_if(SfCloud *t, const SfTreeNode *f)
{
	const SfTreeNode *condition = sf_cloud_argument(f, 0, 3, 3);

	return sf_cloud_value(t, sf_cloud_argument(f, sf_cloud_holds(t, sf_cloud_text(t, condition), condition) ? 1 : 2, 3, 3));
}

/* Evaluate Fn::FindInMap. */
static SfTreeNode *
function_find_in_map(SfCloud *t, const SfTreeNode *f)
{
	const SfTreeNode *found = sf_tree_member(t->root, "Mappings");
	const SfTreeNode *fallback;

	for (int i = 0; i < 3; i++)
		found = sf_tree_member(found, sf_cloud_text(t, sf_cloud_argument(f, i, 3, 4)));
	if (found == NULL && f->nchildren == 4 &&
		(fallback = sf_tree_member(sf_cloud_argument(f, 3, 4, 4), "DefaultValue")) != NULL)
		found = fallback;
	if (found == NULL)
		sf_cloud_fail(f, "Mappings has no value for these keys");
	return sf_cloud_value(t, found);
}

/* Evaluate Fn::ImportValue: the caller may give a value for the name of the export. */
static SfTreeNode *
function_import_value(SfCloud *t, const SfTreeNode *f)
{
	const char *name = sf_cloud_text(t, f);
	const Jsonb *given = t->given == NULL ? NULL : sf_json_get(t->given, name);

	return given != NULL ? node_of(f, given) : sf_cloud_unknown(t, f, name);
}

/* Evaluate Fn::GetAZs: three zones of a region. */
static SfTreeNode *
function_get_azs(SfCloud *t, const SfTreeNode *f)
{
	const char *region = sf_cloud_text(t, f);

	if (region[0] == '\0')
		region = sf_cloud_reference(t, f, "AWS::Region")->string;
	return split_text(f, psprintf("%sa,%sb,%sc", region, region, region), ",");
}

/* Evaluate Fn::Base64. */
static SfTreeNode *
function_base64(SfCloud *t, const SfTreeNode *f)
{
	const char *text = sf_cloud_text(t, f);
	int			length = strlen(text);
	int			size = pg_b64_enc_len(length) + 1;
	char	   *encoded = palloc0(size);

	if (pg_b64_encode(SF_B64_SRC(text), length, encoded, size) < 0)
		elog(ERROR, "a text does not fit into its base64");
	return sf_cloud_string(f, encoded);
}

/* Evaluate Fn::ToJsonString. */
static SfTreeNode *
function_to_json_string(SfCloud *t, const SfTreeNode *f)
{
	SfTreeNode *value = sf_cloud_value(t, f);

	return sf_cloud_string(f, value == NULL ? "null" : sf_cloud_json(value));
}

/* Evaluate Fn::Length. */
static SfTreeNode *
function_length(SfCloud *t, const SfTreeNode *f)
{
	SfTreeNode *number = sf_cloud_string(f, psprintf("%d", list_argument(t, f)->nchildren));

	number->kind = SF_TREE_NUMBER;
	return number;
}

static const struct
{
	const char *name;
	SfTreeNode	   *(*evaluate) (SfCloud *t, const SfTreeNode *f);
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
evaluate_function(SfCloud *t, const SfTreeNode *node, SfTreeNode **value)
{
	const SfTreeNode *f = node->first;

	if (node->nchildren != 1)
		return false;
	for (size_t i = 0; i < lengthof(functions); i++)
	{
		if (strcmp(f->key, functions[i].name) != 0)
			continue;
		*value = functions[i].evaluate(t, f);
		if (*value != NULL)
		{
			/* about what a text and the buffers on the way to it take */
			if ((*value)->kind == SF_TREE_STRING)
				t->spent += 16 + strlen((*value)->string) / 64;
			*value = memcpy(palloc(sizeof(SfTreeNode)), *value, sizeof(SfTreeNode));
			(*value)->parent = node->parent;
			(*value)->index = node->index;
			(*value)->key = node->key;
		}
		return true;
	}
	if (strncmp(f->key, "Fn::", strlen("Fn::")) == 0)
		sf_cloud_fail(f, "%s is none of the functions that sf_import evaluates", f->key);
	return false;
}

/*
 * Evaluate a value of a template.  NULL: AWS::NoValue, which takes the member or the
 * element away in which it stands.
 */
SfTreeNode *
sf_cloud_value(SfCloud *t, const SfTreeNode *node)
{
	SfTreeNode *value;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	/* references that stand twice in what others refer to twice, and so on */
	if ((t->spent += 2) > CLOUD_SPENT_MAX)
		sf_cloud_fail(node, "the template takes more than 512 MB to evaluate");
	if (node->kind == SF_TREE_OBJECT && evaluate_function(t, node, &value))
		return value;
	value = copy_node(node);
	SF_TREE_FOREACH(child, node)
	{
		SfTreeNode *element = sf_cloud_value(t, child);

		if (element != NULL)
			append_child(value, element, child->key);
	}
	return value;
}
