/*
 * label_option.c
 *		The option "labels" of a state machine: {"tenant": "$.tenant"}, or in JSONata
 *		{"tenant": "{% $states.input.tenant %}"}; and the option "label_children": executions of items of its
 *		Distributed Maps have the labels of their parent.
 */
#include "postgres.h"

#include "base/error/errors.h"
#include "base/version/compat.h"
#include "expr/expr.h"
#include "feature/label/label.h"

/* One label of the option */
typedef struct Source
{
	char	   *name;
	SfInputValue *value;
} Source;

/* The options, compiled */
typedef struct LabelOption
{
	bool		for_items;	/* label_children */
	int			n;
	Source		sources[SF_MAX_LABELS];
} LabelOption;

/* Raise that a label of the option is not as it has to be. */
static void pg_attribute_noreturn()
refuse(const char *name, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("option labels: label \"%s\" %s", name, problem)));
}

/* Compile one label. */
static Source
compile_label(const SfJsonMember *member, bool is_jsonata)
{
	Source		source = {.name = pnstrdup(member->key.val.string.val, member->key.val.string.len)};
	const char *problem;
	SfError		error;

	if (!sf_label_check_name(source.name, strlen(source.name), &error))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option labels: %s", error.cause)));
	source.value = sf_input_value_compile(&member->value, is_jsonata, &problem);
	if (source.value == NULL)
		refuse(source.name, problem);
	return source;
}

/* Compile the option "labels". */
static void
compile_labels(LabelOption *option, const Jsonb *given, const SfProgram *program)
{
	JsonbValue	root;
	SfJsonMember members[SF_MAX_LABELS];

	sf_json_root(given, &root);
	if (!sf_json_is_object(&root))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option labels must be a JSON object")));
	if (sf_json_count(&root) > SF_MAX_LABELS)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("option labels must have at most %d labels", SF_MAX_LABELS)));
	option->n = sf_json_list_members(&root, members);
	for (int i = 0; i < option->n; i++)
		option->sources[i] = compile_label(&members[i], program->language == SF_QL_JSONATA);
}

/* Compile the options of a version in the current memory context, or raise; NULL: it has none. */
void *
sf_label_compile_options(const Jsonb *options, const SfProgram *program)
{
	Jsonb	   *labels = sf_json_get(options, "labels");
	Jsonb	   *children = sf_json_get(options, "label_children");
	LabelOption *option;
	JsonbValue	root;

	if (labels == NULL && children == NULL)
		return NULL;
	option = palloc0(sizeof(LabelOption));
	if (labels != NULL)
		compile_labels(option, labels, program);
	if (children != NULL)
	{
		sf_json_root(children, &root);
		if (root.type != jbvBool)
			ereport(ERROR,
					(errcode(ERRCODE_SF_INVALID_OPTION),
					 errmsg("option label_children must be true or false")));
		option->for_items = root.val.boolean;
	}
	return option;
}

/* The labels that the execution of an item gets of its parent, as the options of the version say; NULL: none. */
Jsonb *
sf_label_of_items(const SfExecution *parent, const void *option)
{
	return ((const LabelOption *) option)->for_items ? parent->labels : NULL;
}

/* Evaluate a label; NULL: it has no value.  False: *error. */
static bool
evaluate(const Source *source, Jsonb *input, Jsonb **value, SfError *error)
{
	if (sf_input_value_find(source->value, input, value, error))
		return true;
	return sf_error_set(error, SF_ERR_RUNTIME, "label \"%s\" cannot be evaluated: %s", source->name,
						error->cause == NULL ? error->name : error->cause);
}

/* The labels that the option of a version gives an execution.  False: *error. */
static bool
eval_all(const LabelOption *labels, const SfExecution *execution, Jsonb **result, SfError *error)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	for (int i = 0; i < labels->n; i++)
	{
		Jsonb	   *value;

		if (!evaluate(&labels->sources[i], execution->input, &value, error))
			return false;
		sf_json_add(&json, labels->sources[i].name, value);
	}
	return sf_label_merge(NULL, sf_json_end(&json), result, error);
}

/*
 * Give an execution that begins the labels of its version's option (NULL: it has none), and those of its start, which
 * count where both name one.  False: *error.
 */
bool
sf_label_eval(SfExecution *execution, const void *option, SfError *error)
{
	Jsonb	   *labels = NULL;
	Jsonb	   *given;

	if (option != NULL && !eval_all(option, execution, &labels, error))
		return false;
	given = execution->start.options == NULL ? NULL : sf_json_get(execution->start.options, "labels");
	if (given != NULL && !sf_label_merge(labels, given, &labels, error))
		return false;
	execution->labels = labels;
	return true;
}
