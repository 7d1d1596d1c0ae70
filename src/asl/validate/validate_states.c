/*
 * validate_states.c
 *		Checks of states and of the objects inside them: branches, processors,
 *		retriers, catchers, readers and writers.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "asl/validate/validate.h"
#include "base/name/name.h"

/* Find a state type by its name. */
bool
sf_asl_find_state_type(const char *name, SfStateType *type)
{
	for (*type = 0; *type <= SF_STATE_JOBNET; (*type)++)
	{
		if (strcmp(sf_state_type_name(*type), name) == 0)
			return true;
	}
	return false;
}

/* Find the type of a state; false, with a diagnostic, when it has none. */
static bool
check_type(SfValidator *validator, const SfTreeNode *state, SfStateType *type)
{
	const SfTreeNode *member = sf_tree_member(state, "Type");

	if (member == NULL)
		sf_validate_error(validator, state, SF_CODE_SCHEMA,
						  "These fields are required: [Type]");
	else if (sf_validate_kind(validator, member, SF_TREE_STRING))
	{
		if (sf_asl_find_state_type(member->string, type))
			return true;
		sf_validate_error(validator, member, SF_CODE_SCHEMA,
						  "Value should be one of the following: [Task, Pass, Choice, Wait, Succeed, Fail, Parallel, Map]");
	}
	return false;
}

/* Refuse credentials for a worker, which has its own. */
static void
check_credentials(SfValidator *validator, const SfTreeNode *state)
{
	const SfTreeNode *credentials = sf_tree_member(state, "Credentials");
	const char *text = sf_tree_member_string(state, "Resource");
	SfResource	resource;

	if (credentials == NULL || text == NULL)
		return;
	sf_resource_parse(text, &resource);
	if (resource.kind == SF_RESOURCE_ACTIVITY)
		sf_validate_error(validator, credentials, SF_CODE_SCHEMA,
						  "The field 'Credentials' is not supported for activities");
}

/* Check what several fields of a Task state mean together. */
static void
check_task(SfValidator *validator, const SfTreeNode *state)
{
	const SfTreeNode *timeout = sf_tree_member(state, "TimeoutSeconds");
	const SfTreeNode *heartbeat = sf_tree_member(state, "HeartbeatSeconds");

	if (timeout && timeout->kind == SF_TREE_NUMBER &&
		heartbeat && heartbeat->kind == SF_TREE_NUMBER &&
		sf_tree_number(heartbeat) >= sf_tree_number(timeout))
		sf_validate_error(validator, heartbeat, SF_CODE_SCHEMA,
						  "HeartbeatSeconds must be smaller than TimeoutSeconds");
	if (sf_tree_member(state, "ConcurrencyKey") != NULL && sf_tree_member(state, "MaxConcurrency") == NULL)
		sf_validate_error(validator, sf_tree_member(state, "ConcurrencyKey"), SF_CODE_SCHEMA,
						  "ConcurrencyKey needs MaxConcurrency");
	check_credentials(validator, state);
}

/* Check what several fields of a Map state mean together. */
static void
check_map(SfValidator *validator, const SfTreeNode *state)
{
	const SfTreeNode *items = sf_tree_member(state, validator->language == SF_QL_JSONATA ?
											 "Items" : "ItemsPath");

	if (items != NULL && validator->distributed && sf_tree_member(state, "ItemReader"))
		sf_validate_warning(validator, items, SF_CODE_NO_EFFECT,
							"Field '%s' has no effect beside 'ItemReader'", items->key);
}

/* Check the name of a state or a job. */
void
sf_validate_state_name(SfValidator *validator, const SfTreeNode *state)
{
	if (state->key[0] == '\0')
		sf_validate_error(validator, state, SF_CODE_STATE_NAME,
						  "Invalid State name: it must not be empty");
	else if (pg_mbstrlen(state->key) > SF_NAME_LENGTH_MAX)
		sf_validate_error(validator, state, SF_CODE_STATE_NAME,
						  "Invalid State name: '%s' exceeds the %d-character limit allowed by the service",
						  state->key, SF_NAME_LENGTH_MAX);
}

/* Check the fields of a state, which is SF_IN_ORDINARY or SF_IN_JOB. */
void
sf_validate_state(SfValidator *validator, const SfTreeNode *state, int kind)
{
	SfValidator saved = *validator;
	SfStateType type;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	sf_validate_state_name(validator, state);
	if (sf_validate_kind(validator, state, SF_TREE_OBJECT) && check_type(validator, state, &type))
	{
		validator->state_type = type;
		validator->language = sf_asl_language(state, validator->machine_language);
		validator->distributed = type == SF_STATE_MAP && sf_asl_is_distributed(state);
		validator->is_job = kind == SF_IN_JOB;
		if (type == SF_STATE_JOBNET)
			sf_validate_warning(validator, sf_tree_member(state, "Type"), SF_CODE_ONLY_SFFLOW,
								"Type 'JobNet' is known to sfflow only");
		sf_validate_object(validator, state, SF_SHAPE_STATE, 1 << type | kind);
		if (type == SF_STATE_TASK)
			check_task(validator, state);
		else if (type == SF_STATE_MAP)
			check_map(validator, state);
	}

	validator->state_type = saved.state_type;
	validator->language = saved.language;
	validator->distributed = saved.distributed;
	validator->is_job = saved.is_job;
}

/* States: the scope's states; the flow between them is checked later. */
void
sf_validate_states(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (!sf_validate_kind(validator, value, SF_TREE_OBJECT))
		return;
	validator->scopes = lappend(validator->scopes, (void *) value);
	SF_TREE_FOREACH(state, value)
		sf_validate_state(validator, state, SF_IN_ORDINARY);
}

/* An object of the shape that the kind of value expects. */
void
sf_validate_inner_object(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	sf_validate_object(validator, value, sf_validate_values[field->value].expected, 0);
}

/* An array of such objects. */
void
sf_validate_objects(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (!sf_validate_kind(validator, value, SF_TREE_ARRAY))
		return;
	SF_TREE_FOREACH(element, value)
		sf_validate_inner_object(validator, element, field);
}

/* Catch: a job has no next state, so its catchers have none. */
void
sf_validate_catchers(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (!sf_validate_kind(validator, value, SF_TREE_ARRAY))
		return;
	SF_TREE_FOREACH(element, value)
		sf_validate_object(validator, element, validator->is_job ? SF_SHAPE_JOB_CATCHER : SF_SHAPE_CATCHER, 0);
}

/* An array of at least one of them. */
void
sf_validate_some_objects(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	if (value->kind == SF_TREE_ARRAY && value->nchildren == 0)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Value cannot be empty");
	sf_validate_objects(validator, value, field);
}

/* ProcessorConfig: a distributed one has to say how its executions run. */
void
sf_validate_processor_config(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	const SfTreeNode *type = sf_tree_member(value, "ExecutionType");
	const char *mode = sf_tree_member_string(value, "Mode");

	sf_validate_object(validator, value, SF_SHAPE_PROCESSOR_CONFIG, 0);
	if (validator->distributed && type == NULL)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "These fields are required: [ExecutionType]");
	else if (mode && strcmp(mode, "INLINE") == 0 && type != NULL)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Field 'ExecutionType' is not supported");
	else if (!validator->distributed && type != NULL)
		sf_validate_warning(validator, type, SF_CODE_NO_EFFECT,
							"Field 'ExecutionType' has an effect in 'DISTRIBUTED' mode only");
}

/* --- retriers and catchers --- */

/* Bytes of the prefix that the names of the language share */
#define STATES_PREFIX	(sizeof("States.") - 1)

/* Ask whether a name of the language was meant; it begins with "States.". */
static const char *
question_of_error(const char *name)
{
	SfClosest	closest = sf_closest_begin(name + STATES_PREFIX);
	const char *question;

#define OFFER_ERROR(sym, known, use, meaning) \
	sf_closest_offer_as(&closest, known + STATES_PREFIX, known);
	SF_STATES_ERROR_LIST(OFFER_ERROR)
	question = sf_closest_question(&closest);
	return question[0] == '\0' ? "" : psprintf(".%s", question);
}

/* Collect the names that the Fail states in a tree raise. */
static void
collect_raised(SfValidator *validator, const SfTreeNode *node)
{
	const char *type = sf_tree_member_string(node, "Type");
	const char *error = sf_tree_member_string(node, "Error");

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (type != NULL && strcmp(type, "Fail") == 0 && error != NULL)
		validator->raised = lappend(validator->raised, unconstify(char *, error));
	SF_TREE_FOREACH(child, node)
		collect_raised(validator, child);
}

/* Compare two names, for list_sort() and bsearch(). */
static int
compare_names(const ListCell *a, const ListCell *b)
{
	return strcmp(lfirst(a), lfirst(b));
}

/* Tell whether a Fail state of the definition, wherever it is, raises a name. */
static bool
is_raised(SfValidator *validator, const SfTreeNode *name)
{
	const SfTreeNode *root = name;
	ListCell	wanted = {.ptr_value = unconstify(char *, name->string)};

	if (!validator->knows_raised)
	{
		while (root->parent != NULL)
			root = root->parent;
		collect_raised(validator, root);
		list_sort(validator->raised, compare_names);
		validator->knows_raised = true;
	}
	return validator->raised != NIL &&
		bsearch(&wanted, validator->raised->elements, list_length(validator->raised), sizeof(ListCell),
				(int (*) (const void *, const void *)) compare_names) != NULL;
}

/* Warn of names that no error ever has. */
static void
check_error_name(SfValidator *validator, const SfTreeNode *name)
{
	switch (sf_error_use(name->string))
	{
		case SF_ERROR_UNKNOWN:
			if (strncmp(name->string, "States.", 7) == 0 && !is_raised(validator, name))
				sf_validate_warning(validator, name, SF_CODE_NEVER_MATCHES,
									"'%s' is no error name of the language and never matches%s",
									name->string, question_of_error(name->string));
			break;
		case SF_ERROR_TERMINAL:
			sf_validate_warning(validator, name, SF_CODE_NEVER_MATCHES,
								"'%s' can not be caught or retried and never matches",
								name->string);
			break;
		case SF_ERROR_RESERVED:
			if (!is_raised(validator, name))
				sf_validate_warning(validator, name, SF_CODE_NEVER_MATCHES,
									"No state raises '%s' by itself: it matches only an error that is given this name",
									name->string);
			break;
		case SF_ERROR_RAISED:
			break;
	}
}

/* ErrorEquals: names; States.ALL stands alone, in the last retrier or catcher. */
void
sf_validate_errors(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	const SfTreeNode *owner = value->parent;

	if (!sf_validate_kind(validator, value, SF_TREE_ARRAY))
		return;
	if (value->nchildren == 0)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "Value cannot be empty");
	SF_TREE_FOREACH(name, value)
	{
		if (!sf_validate_kind(validator, name, SF_TREE_STRING))
			continue;
		if (strcmp(name->string, SF_ERR_ALL) != 0)
			check_error_name(validator, name);
		else if (value->nchildren > 1 || owner->next != NULL)
			sf_validate_error(validator, name, SF_CODE_SCHEMA,
							  "States.ALL must appear alone and at end of list");
	}
}

/* --- Distributed Map --- */

/* LOAD_AND_FLATTEN: the objects of the list are read by another resource. */
static void
check_transformation(SfValidator *validator, const SfTreeNode *value)
{
	SfResource	resource;

	if (value == NULL || value->kind != SF_TREE_STRING ||
		strcmp(value->string, "LOAD_AND_FLATTEN") != 0)
		return;
	sf_resource_parse("arn:aws:states:::s3:getObject", &resource);
	sf_validate_runs(validator, value, &resource, true);
}

/* ReaderConfig: a CSV has to say where its header is. */
void
sf_validate_reader_config(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	const char *type = sf_tree_member_string(value, "InputType");
	const char *header = sf_tree_member_string(value, "CSVHeaderLocation");

	sf_validate_object(validator, value, SF_SHAPE_READER_CONFIG, 0);
	if (type && strcmp(type, "CSV") == 0 &&
		sf_tree_member(value, "CSVHeaderLocation") == NULL)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "The field 'CSVHeaderLocation' is required");
	if (type && strcmp(type, "CSV") != 0 && strcmp(type, "MANIFEST") != 0 &&
		sf_tree_member(value, "CSVHeaderLocation") != NULL)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "Field 'CSVHeaderLocation' is not supported");
	if (header && strcmp(header, "GIVEN") == 0 &&
		sf_tree_member(value, "CSVHeaders") == NULL)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "These fields are required: [CSVHeaders]");
	/* a client reads Parquet, lists and all */
	if (type == NULL || strcmp(type, "PARQUET") != 0)
		check_transformation(validator, sf_tree_member(value, "Transformation"));
}

/* ResultWriter: where results go (what sfflow runs may need no parameters), or their form. */
void
sf_validate_result_writer(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	const char *parameters = validator->language == SF_QL_JSONATA ? "Arguments" : "Parameters";
	const char *text = sf_tree_member_string(value, "Resource");
	SfResource	resource = {.kind = SF_RESOURCE_MAPPED};

	sf_validate_object(validator, value, SF_SHAPE_RESULT_WRITER, 0);
	if (value->kind != SF_TREE_OBJECT)
		return;
	if (text != NULL)
		sf_resource_parse(text, &resource);
	if (sf_tree_member(value, "Resource") == NULL && sf_tree_member(value, parameters) != NULL)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "These fields are required: [Resource]");
	else if (sf_tree_member(value, "Resource") == NULL &&
			 sf_tree_member(value, "WriterConfig") == NULL)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "One of these fields is required: [Resource, WriterConfig]");
	else if (text != NULL && resource.kind == SF_RESOURCE_MAPPED &&
			 sf_tree_member(value, parameters) == NULL)
		sf_validate_error(validator, value, SF_CODE_SCHEMA, "These fields are required: [%s]", parameters);
}

/* WriterConfig: it has to say something. */
void
sf_validate_writer_config(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	sf_validate_object(validator, value, SF_SHAPE_WRITER_CONFIG, 0);
	if (value->kind == SF_TREE_OBJECT && value->nchildren == 0)
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "One of these fields is required: [Transformation, OutputType]");
}

/* ItemBatcher: something has to limit a batch. */
void
sf_validate_item_batcher(SfValidator *validator, const SfTreeNode *value, const SfField *field)
{
	sf_validate_object(validator, value, SF_SHAPE_ITEM_BATCHER, 0);
	if (value->kind == SF_TREE_OBJECT &&
		!sf_tree_member(value, "MaxItemsPerBatch") &&
		!sf_tree_member(value, "MaxItemsPerBatchPath") &&
		!sf_tree_member(value, "MaxInputBytesPerBatch") &&
		!sf_tree_member(value, "MaxInputBytesPerBatchPath"))
		sf_validate_error(validator, value, SF_CODE_SCHEMA,
						  "One of these fields is required: [MaxItemsPerBatch, MaxItemsPerBatchPath, MaxInputBytesPerBatch, MaxInputBytesPerBatchPath]");
}
