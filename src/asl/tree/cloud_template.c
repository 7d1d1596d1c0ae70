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

#include "lib/stringinfo.h"
#include "miscadmin.h"

#include "asl/tree/tree.h"

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
is_machine(const SfTreeNode *resource)
{
	const char *type = sf_tree_member_string(resource, "Type");

	return type != NULL && (strcmp(type, "AWS::StepFunctions::StateMachine") == 0 ||
							strcmp(type, "AWS::Serverless::StateMachine") == 0);
}

/* Tell whether a member of Resources is a resource of CloudFormation: its type is Service::Name. */
static bool
is_resource(const SfTreeNode *resource)
{
	const char *type = sf_tree_member_string(resource, "Type");

	return type != NULL && strstr(type, "::") != NULL;
}

/* Tell whether a document is a template; it may lack its version. */
bool
sf_asl_is_cloud_template(const SfTreeNode *root)
{
	const SfTreeNode *resources = sf_tree_member(root, "Resources");

	if (resources == NULL || resources->kind != SF_TREE_OBJECT || sf_tree_member(root, "States") != NULL)
		return false;
	if (sf_tree_member(root, "AWSTemplateFormatVersion") != NULL || sf_tree_member(root, "Transform") != NULL)
		return true;
	SF_TREE_FOREACH(resource, resources)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_resource(resource))
			return true;
	}
	return false;
}

/* Tell whether a template is one of SAM. */
static bool
is_sam(const SfTreeNode *root)
{
	const SfTreeNode *transform = sf_tree_member(root, "Transform");

	if (transform == NULL)
		return false;
	if (transform->kind == SF_TREE_STRING)
		return strncmp(transform->string, "AWS::Serverless", strlen("AWS::Serverless")) == 0;
	SF_TREE_FOREACH(name, transform)
	{
		if (name->kind == SF_TREE_STRING && strncmp(name->string, "AWS::Serverless", strlen("AWS::Serverless")) == 0)
			return true;
	}
	return false;
}

/* Find the text of Fn::Sub, which stands alone or before its variables; else give the value itself. */
static const SfTreeNode *
text_of(const SfTreeNode *value)
{
	const SfTreeNode *sub = sf_tree_member(value, "Fn::Sub");

	if (sub == NULL)
		return value;
	return sub->kind == SF_TREE_ARRAY && sub->first != NULL ? sub->first : sub;
}

/* Say how a definition is given: its property, or the text within it. */
static const char *
describe(const SfTreeNode *property, const SfTreeNode *text)
{
	if (strcmp(property->key, "DefinitionUri") == 0 || strcmp(property->key, "DefinitionS3Location") == 0)
		return "a file of its own";
	if (text->kind == SF_TREE_STRING)
		return text == property ? "a string" : "a string with substitutions";
	if (sf_tree_member(property, "Fn::Join") != NULL)
		return "pieces of a string";
	return strcmp(property->key, "Definition") == 0 && text->kind == SF_TREE_OBJECT ? "an object" : "not readable";
}

/* Note where a state machine of a template has its definition. */
static void
note_machine(Found *found, const SfTreeNode *machine)
{
	const SfTreeNode *given = sf_tree_member(machine, "Properties");
	const SfTreeNode *property = NULL;
	const SfTreeNode *text;

	for (size_t i = 0; i < lengthof(properties) && property == NULL; i++)
		property = sf_tree_member(given, properties[i]);
	if (found->n++ >= LISTED_MAX)
		return;
	if (found->n > 1)
		appendStringInfoString(&found->list, ", ");
	if (property == NULL)
	{
		appendStringInfo(&found->list, "%s (without a definition)", sf_tree_location(machine));
		return;
	}
	text = text_of(property);
	appendStringInfo(&found->list, "%s (%s)", sf_tree_location(text), describe(property, text));
}

/* Tell whether a document is a template, and what to say of it. */
bool
sf_asl_read_cloud_template(const SfTreeNode *root, SfCloudTemplateAdvice *template)
{
	Found		found = {.n = 0};

	if (!sf_asl_is_cloud_template(root))
		return false;
	initStringInfo(&found.list);
	SF_TREE_FOREACH(resource, sf_tree_member(root, "Resources"))
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
