/*
 * validate.c
 *		Find everything that is wrong with a definition.
 *
 * The text is parsed into a tree.  Each object in it is checked against the list
 * of fields (fields.h): the field is known, it belongs to this state type and
 * query language, and its value has the right form.  A value that is an object
 * with fields of its own is checked in the same way.  Afterwards the transitions
 * of every scope are followed (validate_flow.c).
 *
 * The check goes on after a problem, so every function accepts any JSON in any
 * position.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "asl/tree/tree.h"
#include "asl/validate/validate.h"

#define SF_FIELD_ROW(shape, name, value, languages, states, flags, min, max, words) \
	{SF_SHAPE_##shape, name, SF_VALUE_##value, SF_LANG_##languages, states, \
	flags, min, max, words},
static const SfField fields[] = {
	SF_ASL_FIELD_LIST(SF_FIELD_ROW)
};

typedef struct SfFieldGroup
{
	SfShape		shape;
	int			states;
	bool		required;
	const char *names[4];
} SfFieldGroup;

#define SF_GROUP_ROW(shape, states, required, a, b, c, d) \
	{SF_SHAPE_##shape, states, required, {a, b, c, d}},
static const SfFieldGroup groups[] = {
	SF_ASL_GROUP_LIST(SF_GROUP_ROW)
};

#define SF_VALUE_ROW(sym, function, expected, or_jsonata) \
	{sf_validate_##function, expected, or_jsonata},
const SfValueInfo sf_validate_values[] = {
	SF_VALUE_LIST(SF_VALUE_ROW)
};

/* The field that stands for the operand of a comparison in a Choice rule */
static const SfField operand_field = {
	SF_SHAPE_RULE, NULL, SF_VALUE_operand, SF_LANG_P, 0, 0, 0, 0, NULL
};

/* Find the field of a member; NULL when it does not belong there. */
static const SfField *
find_field(SfShape shape, int states, const char *name)
{
	SfComparison comparison;
	bool		is_path;

	for (size_t i = 0; i < lengthof(fields); i++)
	{
		if (fields[i].shape == shape && strcmp(fields[i].name, name) == 0 &&
			(fields[i].states & states) == states)
			return &fields[i];
	}
	if ((shape == SF_SHAPE_RULE || shape == SF_SHAPE_NESTED_RULE) &&
		sf_asl_find_comparison(name, &comparison, &is_path))
		return &operand_field;
	return NULL;
}

/* Report a field that an object does not have. */
static void
report_unknown(SfValidator *validator, const SfTreeNode *member, SfShape shape, int states)
{
	if (shape == SF_SHAPE_STATE && (states & (SF_IN_MAP | SF_IN(JOBNET))) != 0 &&
		strcmp(member->key, "ConcurrencyKey") == 0)
		sf_validate_error(validator, member->parent, SF_CODE_SCHEMA,
						  "Field '%s' is supported for Task states only: set it beside 'MaxConcurrency' of a Task within this state",
						  member->key);
	else
		sf_validate_error(validator, member->parent, SF_CODE_SCHEMA,
						  "Field '%s' is not supported", member->key);
}

/* Tell whether a field's value, or what it makes, is a payload. */
static bool
is_payload(SfValueKind kind)
{
	return kind == SF_VALUE_any || kind == SF_VALUE_template || kind == SF_VALUE_assign || kind == SF_VALUE_items;
}

/* Check one member of an object. */
static void
check_member(SfValidator *validator, const SfTreeNode *member, SfShape shape, int states)
{
	const SfField *field = find_field(shape, states, member->key);

	if (member->is_duplicate)
		sf_validate_error(validator, member, SF_CODE_SCHEMA, "Duplicate field '%s'",
						  member->key);
	if (field == NULL)
	{
		report_unknown(validator, member, shape, states);
		return;
	}
	if ((field->languages & (1 << validator->language)) == 0)
	{
		bool		jsonata = validator->language == SF_QL_JSONATA;

		sf_validate_error(validator, member->parent, SF_CODE_SCHEMA,
						  "The QueryLanguage is set to '%s', but field '%s' is only supported for the '%s' QueryLanguage",
						  jsonata ? "JSONata" : "JSONPath", member->key,
						  jsonata ? "JSONPath" : "JSONata");
		return;
	}
	if (field->flags & SF_ONLY_SFFLOW)
		sf_validate_warning(validator, member, SF_CODE_ONLY_SFFLOW,
							"Field '%s' is known to sfflow only", member->key);
	if ((field->flags & SF_DISTRIBUTED) && !validator->distributed)
		sf_validate_warning(validator, member, SF_CODE_NO_EFFECT,
							"Field '%s' has an effect in 'DISTRIBUTED' mode only",
							member->key);
	if (validator->how.service_quotas && is_payload(field->value) &&
		member->end - member->start > SF_QUOTA_PAYLOAD_BYTES)
		sf_validate_warning(validator, member, SF_CODE_QUOTA,
							"Field '%s' of %d bytes is longer than the %d bytes that a payload of Step Functions may have",
							member->key, member->end - member->start, SF_QUOTA_PAYLOAD_BYTES);
	if (sf_validate_values[field->value].or_jsonata && sf_asl_is_jsonata(member, validator->language))
		sf_validate_template(validator, member, field);
	else
		sf_validate_values[field->value].check(validator, member, field);
}

/* Report the required fields that are missing, all in one diagnostic. */
static void
check_required(SfValidator *validator, const SfTreeNode *object, SfShape shape, int states)
{
	StringInfoData missing;

	initStringInfo(&missing);
	for (size_t i = 0; i < lengthof(fields); i++)
	{
		if (fields[i].shape == shape && (fields[i].flags & SF_REQUIRED) &&
			(fields[i].states & states) == states &&
			sf_tree_member(object, fields[i].name) == NULL)
			appendStringInfo(&missing, "%s%s", missing.len ? ", " : "",
							 fields[i].name);
	}
	if (missing.len > 0)
		sf_validate_error(validator, object, SF_CODE_SCHEMA,
						  "These fields are required: [%s]", missing.data);
}

/* Report fields that exclude each other, and groups of which none is there. */
static void
check_groups(SfValidator *validator, const SfTreeNode *object, SfShape shape, int states)
{
	for (size_t i = 0; i < lengthof(groups); i++)
	{
		const SfFieldGroup *group = &groups[i];
		StringInfoData names;
		int			present = 0;

		if (group->shape != shape || (group->states & states) != states)
			continue;
		initStringInfo(&names);
		for (int j = 0; j < 4 && group->names[j] != NULL; j++)
		{
			SfTreeNode *member = sf_tree_member(object, group->names[j]);
			const SfField *field = find_field(shape, states, group->names[j]);

			/* "End": false is as good as no End */
			if (member != NULL &&
				(member->kind != SF_TREE_BOOLEAN || member->boolean))
				present++;
			if (field && (field->languages & (1 << validator->language)))
				appendStringInfo(&names, "%s%s", names.len ? ", " : "",
								 group->names[j]);
			else if (member != NULL)
				present--;		/* reported already */
		}
		if (present > 1)
			sf_validate_error(validator, object, SF_CODE_SCHEMA,
							  "There should only be one of the following fields: [%s]", names.data);
		else if (present == 0 && strcmp(group->names[0], "Next") == 0)
			sf_validate_error(validator, object, SF_CODE_SCHEMA,
							  "State '%s' needs Next or End", object->key);
		else if (present == 0 && group->required)
			sf_validate_error(validator, object, SF_CODE_SCHEMA,
							  "This object should have only one of the following fields: [%s]", names.data);
	}
}

/*
 * Check every field of an object, and which are missing.  states is as in
 * fields.h; 0: the object is no state.
 */
void
sf_validate_object(SfValidator *validator, const SfTreeNode *object, SfShape shape, int states)
{
	check_stack_depth();
	if (!sf_validate_kind(validator, object, SF_TREE_OBJECT))
		return;
	check_required(validator, object, shape, states);
	check_groups(validator, object, shape, states);
	SF_TREE_FOREACH(member, object)
	{
		CHECK_FOR_INTERRUPTS();
		check_member(validator, member, shape, states);
	}
}

/*
 * Tell the language of a state, as the service decides it.  Only the exact
 * string JSONPath means JSONPath; any other value means JSONata (and is
 * reported where it stands).
 */
SfQueryLanguage
sf_asl_language(const SfTreeNode *object, SfQueryLanguage inherited)
{
	const SfTreeNode *member = sf_tree_member(object, "QueryLanguage");

	if (member == NULL)
		return inherited;
	return member->kind == SF_TREE_STRING && strcmp(member->string, "JSONPath") == 0
		? SF_QL_JSONPATH : SF_QL_JSONATA;
}

/* Tell whether a Map state is in DISTRIBUTED mode. */
bool
sf_asl_is_distributed(const SfTreeNode *map)
{
	const SfTreeNode *processor = sf_tree_member(map, "ItemProcessor");
	const SfTreeNode *config;
	const char *mode;

	if (processor == NULL)
		processor = sf_tree_member(map, "Iterator");
	config = processor ? sf_tree_member(processor, "ProcessorConfig") : NULL;
	mode = config ? sf_tree_member_string(config, "Mode") : NULL;
	return mode != NULL && strcmp(mode, "DISTRIBUTED") == 0;
}

/* Tell whether a value is a string "{% … %}" in a state of JSONata. */
bool
sf_asl_is_jsonata(const SfTreeNode *value, SfQueryLanguage language)
{
	size_t		len;

	if (language != SF_QL_JSONATA || value->kind != SF_TREE_STRING)
		return false;
	len = strlen(value->string);
	return len >= 4 && strncmp(value->string, "{%", 2) == 0 &&
		strcmp(value->string + len - 2, "%}") == 0;
}

/* Report malformed JSON in the form of the service. */
static void
report_malformed(SfValidator *validator, const char *text, int len,
				 const SfParseError *error)
{
	/* the service quotes the first 500 characters of its input */
	int			shown = pg_mbcharcliplen(text, len, 500);
	char	   *rest = shown < len ?
		psprintf("[truncated %d chars]",
				 pg_mbstrlen_with_len(text + shown, len - shown)) : "";
	char	   *position = psprintf("[Source: (String)\"%.*s\"%s; line: %d, column: %d]",
									shown, text, rest, error->line, error->column);

	sf_validate_add(validator, SF_SEVERITY_ERROR, NULL, position, SF_CODE_JSON,
					psprintf("%s\n at %s", error->message, position));
}

/* Tell whether a text has nothing but JSON white space. */
static bool
is_blank(const char *text, int len)
{
	for (int i = 0; i < len; i++)
		if (strchr(" \t\r\n", text[i]) == NULL)
			return false;
	return true;
}

/* Parse the text into an object; NULL after a diagnostic. */
static SfTreeNode *
parse_object(SfValidator *validator, const char *text, int len)
{
	SfParseError error = {0};
	SfTreeNode *root = NULL;

	if (len > SF_DEFINITION_BYTES_MAX)
	{
		sf_validate_error(validator, NULL, SF_CODE_SCHEMA,
						  "Definition of %d bytes is longer than the %d bytes that are allowed",
						  len, SF_DEFINITION_BYTES_MAX);
		return NULL;
	}
	if (!is_blank(text, len))
	{
		root = sf_tree_parse(text, len, &error);
		if (root == NULL)
		{
			report_malformed(validator, text, len, &error);
			return NULL;
		}
	}
	if (root == NULL || root->kind != SF_TREE_OBJECT)
	{
		sf_validate_error(validator, NULL, SF_CODE_SCHEMA,
						  "Definition must be a valid JSON object");
		return NULL;
	}
	return root;
}

/* Report that a document is a template, with where its definitions lie; false: it is none. */
static bool
is_template(SfValidator *validator, const SfTreeNode *root)
{
	SfCloudTemplateAdvice template;

	if (!sf_asl_read_cloud_template(root, &template))
		return false;
	sf_validate_error(validator, root, SF_CODE_SCHEMA, "%c%s. %s", pg_toupper((unsigned char) template.message[0]),
					  template.message + 1, template.detail);
	return true;
}

/* Parse and check a definition; the tree when it has no error, else NULL. */
SfTreeNode *
sf_asl_check(const char *text, int len, const SfValidation *how,
			 List **diagnostics)
{
	SfValidator validator = {0};
	SfTreeNode *root;

	validator.text = text;
	if (how != NULL)
		validator.how = *how;
	root = parse_object(&validator, text, len);
	if (root != NULL && !is_template(&validator, root))
	{
		if (validator.how.service_quotas && len > SF_QUOTA_DEFINITION_BYTES)
			sf_validate_warning(&validator, root, SF_CODE_QUOTA,
								"Definition of %d bytes is longer than the %d bytes that Step Functions allows",
								len, SF_QUOTA_DEFINITION_BYTES);
		validator.machine_language = sf_asl_language(root, SF_QL_JSONPATH);
		validator.language = validator.machine_language;
		sf_validate_object(&validator, root, SF_SHAPE_MACHINE, 0);
		sf_validate_flow(&validator);
		sf_validate_no_jobs(&validator, root);
	}
	*diagnostics = sf_diagnostics_sort(validator.diagnostics);
	return sf_diagnostics_have_error(*diagnostics) ? NULL : root;
}

/*
 * Wrap a state into the tree of a machine that has no other, so that checking
 * and compiling need not know the difference.
 */
static SfTreeNode *
wrap_state(SfTreeNode *state)
{
	SfTreeNode *root = palloc0(sizeof(SfTreeNode));
	SfTreeNode *start = palloc0(sizeof(SfTreeNode));
	SfTreeNode *states = palloc0(sizeof(SfTreeNode));

	root->kind = states->kind = SF_TREE_OBJECT;
	start->kind = SF_TREE_STRING;
	start->key = "StartAt";
	start->string = SF_LONE_STATE_NAME;
	states->key = "States";
	state->key = SF_LONE_STATE_NAME;
	root->number = start->number = states->number = SF_TREE_NO_NUMBER;

	start->parent = states->parent = root;
	state->parent = states;
	root->first = start;
	root->last = start->next = states;
	root->nchildren = 2;
	states->first = states->last = state;
	states->nchildren = states->index = 1;
	return root;
}

/* Parse and check a state by itself. */
SfTreeNode *
sf_asl_check_state(const char *text, int len, List **diagnostics)
{
	SfValidator validator = {0};
	SfTreeNode *state;
	SfTreeNode *root = NULL;

	validator.text = text;
	validator.lone_state = true;
	state = parse_object(&validator, text, len);
	if (state != NULL)
	{
		root = wrap_state(state);
		sf_validate_object(&validator, root, SF_SHAPE_MACHINE, 0);
		sf_validate_flow(&validator);
	}
	*diagnostics = sf_diagnostics_sort(validator.diagnostics);
	return sf_diagnostics_have_error(*diagnostics) ? NULL : root;
}

/* Find a state by its name, at any depth; NULL: there is none. */
static const SfTreeNode *
find_state(const SfTreeNode *node, const char *name)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node->kind != SF_TREE_OBJECT && node->kind != SF_TREE_ARRAY)
		return NULL;
	SF_TREE_FOREACH(child, node)
	{
		const SfTreeNode *found = child->key != NULL && strcmp(child->key, "States") == 0 &&
			child->kind == SF_TREE_OBJECT ? sf_tree_member(child, name) : NULL;

		if (found == NULL)
			found = find_state(child, name);
		if (found != NULL)
			return found;
	}
	return NULL;
}

/* Tell whether a state of a definition has a Type that no state has. */
bool
sf_asl_has_unknown_type(const char *text, int len, const char *state_name)
{
	SfParseError error;
	const SfTreeNode *root = len > SF_DEFINITION_BYTES_MAX ? NULL : sf_tree_parse(text, len, &error);
	const SfTreeNode *state = root == NULL ? NULL : find_state(root, state_name);
	const char *type = state == NULL || state->kind != SF_TREE_OBJECT ? NULL :
		sf_tree_member_string(state, "Type");
	SfStateType found;

	return type != NULL && !sf_asl_find_state_type(type, &found);
}
