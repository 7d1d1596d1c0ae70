/*
 * express.c
 *		What a state machine of type EXPRESS must not have: tasks that wait for others.
 */
#include "postgres.h"

#include "asl/program.h"
#include "asl/tree/tree.h"
#include "aws_api/request/call.h"
#include "base/error/errors.h"

/* Tell what kind of task a resource is that EXPRESS does not have; NULL: it is another one. */
static const char *
describe_forbidden(const char *resource)
{
	const char *suffix = strrchr(resource, '.');

	if (strncmp(resource, "activity:", 9) == 0 || strstr(resource, ":activity:") != NULL)
		return "Activity ARN";
	if (suffix == NULL || strncmp(resource, "arn:", 4) != 0)
		return NULL;
	if (strcmp(suffix, ".waitForTaskToken") == 0)
		return "'.waitForTaskToken' service integration ";	/* the service has the blank */
	return strcmp(suffix, ".sync") == 0 || strncmp(suffix, ".sync:", 6) == 0 ?
		"'.sync' service integration" : NULL;
}

/* Note the resource of a task if EXPRESS does not have it. */
static void
check_task(const SfTreeNode *task, List **problems)
{
	const SfTreeNode *resource = sf_tree_member(task, "Resource");
	const char *forbidden = NULL;
	SfDiagnostic *problem;

	if (resource != NULL && resource->kind == SF_TREE_STRING)
		forbidden = describe_forbidden(resource->string);
	if (forbidden == NULL)
		return;
	problem = palloc0(sizeof(SfDiagnostic));
	problem->severity = SF_SEVERITY_ERROR;
	problem->code = "SCHEMA_VALIDATION_FAILED";
	problem->message = psprintf("Express state machine does not support %s", forbidden);
	problem->location = sf_tree_location(resource);
	*problems = lappend(*problems, problem);
}

/* Collect forbidden tasks of a state, or of a list of states.  What is a payload may have any names. */
static void
check(const SfTreeNode *node, List **problems)
{
	static const char *const scopes[] = {"ItemProcessor", "Iterator"};
	static const char *const lists[] = {"States", "Branches", "Jobs"};
	const char *type = sf_tree_member_string(node, "Type");

	check_stack_depth();
	if (type != NULL && strcmp(type, "Task") == 0)
		check_task(node, problems);
	for (size_t i = 0; i < lengthof(scopes); i++)
	{
		const SfTreeNode *scope = sf_tree_member(node, scopes[i]);

		if (scope != NULL)
			check(scope, problems);
	}
	for (size_t i = 0; i < lengthof(lists); i++)
	{
		const SfTreeNode *list = sf_tree_member(node, lists[i]);

		if (list != NULL)
			SF_TREE_FOREACH(child, list)
				check(child, problems);
	}
}

/* List what a definition has that a state machine of type EXPRESS must not have, as SfDiagnostic. */
List *
sf_configuration_express_problems(const char *definition)
{
	SfParseError error;
	SfTreeNode *root = sf_tree_parse(definition, strlen(definition), &error);
	List	   *problems = NIL;

	if (root != NULL)
		check(root, &problems);
	return problems;
}

/* Refuse a definition of a state machine of type EXPRESS with tasks that wait for others. */
void
sf_configuration_check_type(const SfMachine *machine)
{
	List	   *problems = NIL;

	if (strcmp(sf_configuration_type(machine), "EXPRESS") == 0)
		problems = sf_configuration_express_problems(machine->definition);
	if (problems != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_DEFINITION),
				 errmsg_internal("%s", sf_diagnostics_print(problems))));
}
