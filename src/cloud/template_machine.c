/*
 * template_machine.c
 *		The state machines of a template, with their definitions.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cloud/cloud.h"
#include "json/json.h"

/* Properties that hold a definition */
static const char *const here[] = {"Definition", "DefinitionString"};

/* Properties that say where it is */
static const char *const elsewhere[] = {"DefinitionUri", "DefinitionS3Location"};

/* Find the first of two members that an object has; NULL: it has neither. */
static const SfTreeNode *
one_of(const SfTreeNode *object, const char *const names[2])
{
	const SfTreeNode *first = sf_tree_member(object, names[0]);

	return first != NULL ? first : sf_tree_member(object, names[1]);
}

/* Name the file that a property refers to: a path, or a bucket and a key. */
static char *
file_of(SfCloud *template, const SfTreeNode *property)
{
	const SfTreeNode *value = sf_cloud_value(template, property);
	SfTreeNode *bucket;
	SfTreeNode *key;

	if (value == NULL || value->kind != SF_TREE_OBJECT)
		return sf_cloud_text(template, property);
	bucket = sf_cloud_member(template, property, "Bucket");
	key = sf_cloud_member(template, property, "Key");
	if (bucket == NULL || key == NULL)
		sf_cloud_fail(property, "the place of a definition has a Bucket and a Key");
	return psprintf("s3://%s/%s", sf_cloud_text(template, bucket), sf_cloud_text(template, key));
}

/* Make the text of a definition that the template or the caller has. */
static char *
definition_text(const SfTreeNode *value)
{
	return value->kind == SF_TREE_STRING ? unconstify(char *, value->string) : sf_cloud_json(value);
}

/*
 * Evaluate the texts for the placeholders of a definition.  One for which the caller has
 * a value, or that depends on what is not known, is left out: its placeholder stays.
 */
static Jsonb *
substitutions(SfCloud *template, const SfTreeNode *properties)
{
	const SfTreeNode *given = sf_tree_member(properties, "DefinitionSubstitutions");
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	if (given != NULL && given->kind == SF_TREE_OBJECT)
	{
		SF_TREE_FOREACH(member, given)
		{
			int			before = template->nunknown;
			SfTreeNode *value = template->given != NULL && sf_json_get(template->given, member->key) != NULL ? NULL :
				sf_cloud_value(template, member);

			if (value != NULL && template->nunknown == before)
				sf_json_add_string(&json, member->key, sf_cloud_text(template, value));
		}
	}
	return sf_json_end(&json);
}

/* Tell whether a machine is of type EXPRESS. */
static bool
is_express(SfCloud *template, const SfTreeNode *properties)
{
	const SfTreeNode *type = one_of(properties, (const char *const[]) {"StateMachineType", "Type"});

	return type != NULL && strcmp(sf_cloud_text(template, type), "EXPRESS") == 0;
}

/* Read one machine. */
static SfCloudMachine *
read_machine(SfCloud *template, const SfTreeNode *resource)
{
	SfCloudMachine *machine = palloc0(sizeof(SfCloudMachine));
	const SfTreeNode *properties = sf_tree_member(resource, "Properties");
	const SfTreeNode *property = one_of(properties, here);
	const SfTreeNode *uri = one_of(properties, elsewhere);
	char	   *key = psprintf("%s.Definition", resource->key);
	SfTreeNode *value;

	machine->id = resource->key;
	machine->name = sf_cloud_name(template, resource);
	machine->is_express = is_express(template, properties);
	machine->substitutions = substitutions(template, properties);
	if (property == NULL)
		property = uri != NULL ? uri : resource;
	machine->location = sf_tree_location(property);
	if (template->given != NULL && sf_json_get(template->given, key) != NULL)
		machine->text = definition_text(sf_cloud_reference(template, property, key));
	else if (property == uri)
		machine->file = file_of(template, uri);
	else if (property != resource && (value = sf_cloud_value(template, property)) != NULL)
		machine->text = definition_text(value);
	return machine;
}

/* List the machines that a template deploys (SfCloudMachine), in its order. */
List *
sf_cloud_machines(SfCloud *template)
{
	const SfTreeNode *resources = sf_tree_member(template->root, "Resources");
	List	   *machines = NIL;

	SF_TREE_FOREACH(resource, resources)
	{
		CHECK_FOR_INTERRUPTS();
		if (sf_cloud_is_machine(resource) && sf_cloud_is_there(template, resource))
			machines = lappend(machines, read_machine(template, resource));
	}
	return machines;
}
