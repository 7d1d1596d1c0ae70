/*
 * cloud_template.c
 *		Templates of CloudFormation and SAM that were given in place of a definition.
 *
 * A template has state machines among its Resources, each with its definition as an
 * object, as a text, as a text with substitutions (Fn::Sub), as pieces of a text
 * (Fn::Join), or in a file.  sf_import reads templates; here a function that takes
 * definitions only tells where in the template they lie.
 */
#include "postgres.h"

#include "asl/tree/tree.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"

/* Definitions that are listed; the others are counted */
#define LISTED_MAX 20

/* Properties that hold a definition, or name the file that does */
static const char *const properties[] = {
	"Definition", "DefinitionString", "DefinitionUri", "DefinitionS3Location"
};

/* What was found of a template's state machines */
typedef struct Found
{
	StringInfoData list;
	int			n;
} Found;

/* Tell whether a resource of a template is a state machine. */
static bool
is_machine(const SfNode *resource)
{
	const char *type = sf_node_member_string(resource, "Type");

	return type != NULL && (strcmp(type, "AWS::StepFunctions::StateMachine") == 0 ||
							strcmp(type, "AWS::Serverless::StateMachine") == 0);
}

/* Tell whether a member of Resources is a resource of CloudFormation: its type is Service::Name. */
static bool
is_resource(const SfNode *resource)
{
	const char *type = sf_node_member_string(resource, "Type");

	return type != NULL && strstr(type, "::") != NULL;
}

/* Tell whether a document is a template; it may lack its version. */
bool
sf_asl_is_cloud_template(const SfNode *root)
{
	const SfNode *resources = sf_node_member(root, "Resources");

	if (resources == NULL || resources->kind != SF_NODE_OBJECT || sf_node_member(root, "States") != NULL)
		return false;
	if (sf_node_member(root, "AWSTemplateFormatVersion") != NULL || sf_node_member(root, "Transform") != NULL)
		return true;
	SF_NODE_FOREACH(resource, resources)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_resource(resource))
			return true;
	}
	return false;
}

/* Tell whether a template is one of SAM. */
static bool
is_sam(const SfNode *root)
{
	const SfNode *transform = sf_node_member(root, "Transform");

	if (transform == NULL)
		return false;
	if (transform->kind == SF_NODE_STRING)
		return strncmp(transform->string, "AWS::Serverless", strlen("AWS::Serverless")) == 0;
	SF_NODE_FOREACH(name, transform)
	{
		if (name->kind == SF_NODE_STRING && strncmp(name->string, "AWS::Serverless", strlen("AWS::Serverless")) == 0)
			return true;
	}
	return false;
}

/* Find the text of Fn::Sub, which stands alone or before its variables; else give the value itself. */
static const SfNode *
text_of(const SfNode *value)
{
	const SfNode *sub = sf_node_member(value, "Fn::Sub");

	if (sub == NULL)
		return value;
	return sub->kind == SF_NODE_ARRAY && sub->first != NULL ? sub->first : sub;
}

/* Say how a definition is given: its property, or the text within it. */
static const char *
describe(const SfNode *property, const SfNode *text)
{
	if (strcmp(property->key, "DefinitionUri") == 0 || strcmp(property->key, "DefinitionS3Location") == 0)
		return "a file of its own";
	if (text->kind == SF_NODE_STRING)
		return text == property ? "a string" : "a string with substitutions";
	if (sf_node_member(property, "Fn::Join") != NULL)
		return "pieces of a string";
	return strcmp(property->key, "Definition") == 0 && text->kind == SF_NODE_OBJECT ? "an object" : "not readable";
}

/* Note where a state machine of a template has its definition. */
static void
note_machine(Found *found, const SfNode *machine)
{
	const SfNode *given = sf_node_member(machine, "Properties");
	const SfNode *property = NULL;
	const SfNode *text;

	for (size_t i = 0; i < lengthof(properties) && property == NULL; i++)
		property = sf_node_member(given, properties[i]);
	if (found->n++ >= LISTED_MAX)
		return;
	if (found->n > 1)
		appendStringInfoString(&found->list, ", ");
	if (property == NULL)
	{
		appendStringInfo(&found->list, "%s (without a definition)", sf_node_location(machine));
		return;
	}
	text = text_of(property);
	appendStringInfo(&found->list, "%s (%s)", sf_node_location(text), describe(property, text));
}

/* Tell whether a document is a template, and what to say of it. */
bool
sf_asl_read_cloud_template(const SfNode *root, SfCloudTemplate *template)
{
	Found		found = {.n = 0};

	if (!sf_asl_is_cloud_template(root))
		return false;
	initStringInfo(&found.list);
	SF_NODE_FOREACH(resource, sf_node_member(root, "Resources"))
	{
		CHECK_FOR_INTERRUPTS();
		if (is_machine(resource))
			note_machine(&found, resource);
	}
	if (found.n > LISTED_MAX)
		appendStringInfo(&found.list, ", and %d more", found.n - LISTED_MAX);
	template->message = psprintf("this is a template of %s, not the definition of a state machine",
								 is_sam(root) ? "SAM" : "CloudFormation");
	template->detail = found.n == 0 ? pstrdup("It has no state machine.") :
		psprintf("It has definitions of state machines at %s. sf_import takes it as it is.", found.list.data);
	return true;
}
