/*
 * target.c
 *		What a rule calls, and with which input.
 */
#include "postgres.h"

#include "base/name/name.h"
#include "expr/expr.h"
#include "feature/rule/rule.h"
#include "store/feature.h"

#define NOTIFY_PREFIX	"notify:"

/* Read the text of a target. */
SfTarget
sf_target_parse(const char *text)
{
	SfTarget	target = {.kind = SF_TARGET_MACHINE};

	if (strncmp(text, NOTIFY_PREFIX, strlen(NOTIFY_PREFIX)) == 0)
	{
		target.kind = SF_TARGET_CHANNEL;
		target.name = text + strlen(NOTIFY_PREFIX);
		return target;
	}
	sf_resource_parse(text, &target.resource);
	if (target.resource.kind == SF_RESOURCE_SQL_FUNCTION)
		target.kind = SF_TARGET_FUNCTION;
	else if (target.resource.kind == SF_RESOURCE_ACTIVITY)
		target.kind = SF_TARGET_ACTIVITY;
	else if (target.resource.kind == SF_RESOURCE_EVENT)
		target.kind = SF_TARGET_EVENT;
	target.name = target.kind == SF_TARGET_MACHINE ?
		sf_public_name_to_id(SF_NAME_STATE_MACHINE, text) : target.resource.name;
	return target;
}

/* Name the machine that is made for a rule whose target is an activity. */
const char *
sf_target_machine_of(const char *rule)
{
	return psprintf("rule-%s", rule);
}

/* Raise an error for a template. */
static void
refuse_template(void *arg, const char *code, const char *location, const char *message)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("argument input is invalid at \"%s\": %s", location, message)));
}

/* Raise an error for what names executions. */
static void
refuse_name(void *arg, const char *code, const char *location, const char *message)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("argument execution_name is invalid: %s", message),
			 errhint("It is a path or an intrinsic function over the event, such as $.detail.key.")));
}

/* Compile what names executions, as the template of an object. */
static SfTemplate *
compile_name(const char *execution_name)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "name.$", execution_name);
	return sf_template_compile(sf_json_end(&json), SF_QL_JSONPATH, refuse_name, NULL);
}

/* Raise unless a text can name executions. */
void
sf_target_check_name(const char *execution_name)
{
	(void) compile_name(execution_name);
}

/* The name of the execution that a rule starts for an event; NULL with *error: there is none. */
char *
sf_target_execution_name(const SfRule *rule, Jsonb *event, SfError *error)
{
	SfEnv		env = {.input = event};
	Jsonb	   *named;
	JsonbValue	root;
	JsonbValue	name;
	int64		number;

	if (!sf_template_eval(compile_name(rule->execution_name), &env, "execution_name", &named, error))
		return NULL;
	sf_json_root(named, &root);
	if (sf_json_member(&root, "name", 4, &name) && name.type == jbvString)
		return pnstrdup(name.val.string.val, name.val.string.len);
	if (name.type == jbvNumeric && sf_json_to_int64(&name, &number))
		return psprintf(INT64_FORMAT, number);
	(void) sf_error_set(error, SF_ERR_RUNTIME, "The execution's name at '%s' must be a string or an integer.",
						rule->execution_name);
	return NULL;
}

/* Raise unless a template for the input of a target is valid. */
void
sf_target_check_input(const Jsonb *input)
{
	(void) sf_template_compile(input, SF_QL_JSONPATH, refuse_template, NULL);
}

/* What the feature that has events by key does for rules; raise if it was left out. */
const SfRuleTarget *
sf_target_events(void)
{
	const SfFeature *feature = SF_PROVIDER(rule_target);

	if (feature == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("sfflow was built without events by key")));
	return feature->rule_target;
}

/* Raise unless a template (NULL: none) gives what an event is emitted with: a key, maybe a payload and an id. */
void
sf_target_check_event(const Jsonb *input)
{
	static const char *const names[] = {"key", "key.$", "payload", "payload.$", "id", "id.$"};
	int			found = 0;

	for (size_t i = 0; input != NULL && i < lengthof(names); i++)
		found += sf_json_get(input, names[i]) != NULL;
	if (input == NULL || (sf_json_get(input, "key") == NULL && sf_json_get(input, "key.$") == NULL) ||
		found != (int) JB_ROOT_COUNT(input))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument input must have \"key\", and maybe \"payload\" and \"id\", for a target that is an event"),
				 errhint("Such as {\"key.$\": \"$.detail.name\", \"payload.$\": \"$.detail\"}.")));
}

/* Make the input of a target from an event; NULL with *error: that failed. */
Jsonb *
sf_target_input(const SfRule *rule, Jsonb *event, SfError *error)
{
	SfEnv		env = {.input = event};
	SfTemplate *template;
	Jsonb	   *input;

	if (rule->input == NULL)
		return event;
	template = sf_template_compile(rule->input, SF_QL_JSONPATH, refuse_template, NULL);
	return sf_template_eval(template, &env, "input", &input, error) ? input : NULL;
}
