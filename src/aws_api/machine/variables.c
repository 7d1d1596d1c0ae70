/*
 * variables.c
 *		The variables that each state of a definition refers to, which the service tells
 *		with a state machine.
 *
 * The text of an expression is scanned for names, not parsed: a definition that is stored
 * is valid.  Names that a JSONata expression binds itself are left out.
 */
#include "postgres.h"

#include "asl/validate/validate.h"
#include "aws_api/request/call.h"

/* What is collected of a state */
typedef struct Names
{
	SfQueryLanguage language;
	List	   *used;			/* char * */
	List	   *bound;			/* char *, by the expressions themselves */
} Names;

/* Members of states with states of their own, which are looked at by themselves */
static const char *const inner[] = {"ItemProcessor", "Iterator", "Branches", "States", NULL};

/* Members that hold no expression */
static const char *const literal[] = {
	"Comment", "Default", "ErrorEquals", "Next", "QueryLanguage", "Resource", "Result", "ResultPath",
	"Type", NULL
};

/* Members in which JSONPath has expressions under keys that end in .$ alone */
static const char *const templates[] = {
	"Assign", "BatchInput", "Credentials", "ItemSelector", "Parameters", "ResultSelector", NULL
};

/* Tell whether a list has a name. */
static bool
has(const char *const *list, const char *name)
{
	for (; name != NULL && *list != NULL; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

/* Tell whether a text ends so. */
static bool
ends_with(const char *text, const char *end)
{
	size_t		len = strlen(text);

	return len >= strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

/* Tell whether a name has a character. */
static bool
is_name_character(char c)
{
	return isalnum((unsigned char) c) || c == '_' || IS_HIGHBIT_SET(c);
}

/* Skip a string in quotes, from its first quote on. */
static const char *
skip_string(const char *p)
{
	char		quote = *p++;

	while (*p != '\0' && *p != quote)
		p += *p == '\\' && p[1] != '\0' ? 2 : 1;
	return *p == '\0' ? p : p + 1;
}

/* Take the parameters of a function for bound names, from behind its parenthesis on. */
static const char *
read_parameters(Names *names, const char *p)
{
	while (*p != '\0' && *p != ')')
	{
		const char *begin = ++p;

		if (begin[-1] != '$')
			continue;
		while (is_name_character(*p))
			p++;
		names->bound = lappend(names->bound, pnstrdup(begin, p - begin));
	}
	return p;
}

/* Read what begins with a dollar sign: a variable, a function that is called, the context, or an input. */
static const char *
read_dollar(Names *names, const char *p)
{
	const char *begin = ++p;
	const char *rest;
	char	   *name;

	if (*p == '$')
		p++;
	while (is_name_character(*p))
		p++;
	if (p == begin || *begin == '$' || isdigit((unsigned char) *begin))
		return p;
	name = pnstrdup(begin, p - begin);
	rest = p + strspn(p, " \t\r\n");
	if (rest[0] == ':' && rest[1] == '=')
		names->bound = lappend(names->bound, name);
	else if (*rest != '(' && !(names->language == SF_QL_JSONATA && strcmp(name, "states") == 0))
		names->used = lappend(names->used, name);
	return p;
}

/* Collect the variables of an expression. */
static void
scan(Names *names, const char *p)
{
	while (*p != '\0')
	{
		if (*p == '\'' || (names->language == SF_QL_JSONATA && (*p == '"' || *p == '`')))
			p = skip_string(p);
		else if (names->language == SF_QL_JSONATA && strncmp(p, "function", 8) == 0 &&
				 p[8 + strspn(p + 8, " \t\r\n")] == '(')
			p = read_parameters(names, p + 8 + strspn(p + 8, " \t\r\n") + 1);
		else if (*p == '$')
			p = read_dollar(names, p);
		else
			p++;
	}
}

/* Tell whether a string is an expression. */
static bool
is_expression(const Names *names, const SfTreeNode *value, bool in_template)
{
	if (names->language == SF_QL_JSONATA)
		return sf_asl_is_jsonata(value, SF_QL_JSONATA);
	if (value->key == NULL)
		return false;
	return ends_with(value->key, ".$") ||
		(!in_template && (ends_with(value->key, "Path") || strcmp(value->key, "Variable") == 0));
}

/* Collect the variables of a value in a state. */
static void
collect(Names *names, const SfTreeNode *value, bool in_template)
{
	check_stack_depth();
	if (value->kind == SF_TREE_STRING && is_expression(names, value, in_template))
		scan(names, value->string);
	if (value->kind != SF_TREE_OBJECT && value->kind != SF_TREE_ARRAY)
		return;
	SF_TREE_FOREACH(child, value)
	{
		if (!in_template && (has(inner, child->key) || has(literal, child->key)))
			continue;
		collect(names, child, in_template || has(templates, child->key));
	}
}

/* Sort texts. */
static int
compare_texts(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* Add the variables of a state, if it has any. */
static void
add_state(SfJsonBuilder *json, const SfTreeNode *state, SfQueryLanguage inherited)
{
	Names		names = {.language = sf_asl_language(state, inherited)};
	const char *before = NULL;

	collect(&names, state, false);
	list_sort(names.used, compare_texts);
	foreach_ptr(const char, name, names.used)
	{
		bool		is_bound = false;

		foreach_ptr(const char, bound, names.bound)
			is_bound |= strcmp(bound, name) == 0;
		if (is_bound || (before != NULL && strcmp(before, name) == 0))
			continue;
		if (before == NULL)
			sf_json_open_array(json, state->key);
		sf_json_add_string(json, NULL, name);
		before = name;
	}
	if (before != NULL)
		sf_json_close_array(json);
}

/* Add the variables of all states of a scope, and of those inside them. */
static void
add_states(SfJsonBuilder *json, const SfTreeNode *value, SfQueryLanguage language)
{
	check_stack_depth();
	if (value->kind != SF_TREE_OBJECT && value->kind != SF_TREE_ARRAY)
		return;
	SF_TREE_FOREACH(child, value)
	{
		if (child->key == NULL || strcmp(child->key, "States") != 0)
		{
			if (child->key == NULL || has(inner, child->key))
				add_states(json, child, language);
			continue;
		}
		SF_TREE_FOREACH(state, child)
		{
			add_state(json, state, language);
			add_states(json, state, language);
		}
	}
}

/* Add variableReferences, {"State": ["variable"]}, if a definition refers to variables. */
void
sf_configuration_answer_variables(SfCall *call, const char *definition)
{
	SfParseError error;
	SfTreeNode *root = sf_tree_parse(definition, strlen(definition), &error);
	SfJsonBuilder json;
	Jsonb	   *references;

	if (root == NULL)
		return;
	sf_json_begin_object(&json);
	add_states(&json, root, sf_asl_language(root, SF_QL_JSONPATH));
	references = sf_json_end(&json);
	if (JB_ROOT_COUNT(references) > 0)
		sf_json_add(&call->answer, "variableReferences", references);
}
