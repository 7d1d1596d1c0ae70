/*
 * nested_execution.c
 *		Start nested executions.  What an end means to them, and to their parents, is in run/apply/apply_nested.c.
 *
 * A nested execution knows its parent: execution, branch, and, where the parent waits for
 * its end (.sync), the generation of that branch, so that the end of a nested execution
 * that the parent has given up answers nothing.  Locks: its execution,
 * then the parent's branch; to stop a nested execution, its parent inserts a branch of
 * its own kind (STOP) into it and waits for no lock.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/value/random.h"
#include "quota/quota.h"
#include "run/apply/apply.h"
#include "run/execution/lifecycle.h"
#include "store/feature.h"
#include "store/role/privilege.h"
#include "store/state_machine/machine.h"

/* Does the parent wait for the nested execution's end? */
static bool
waits_for_end(const SfResource *resource)
{
	return resource->integration == SF_INTEGRATION_SYNC ||
		resource->integration == SF_INTEGRATION_SYNC2;
}

/* Read a machine by its name, with the version or alias (NULL: the current one) that follows it. */
static SfMachine *
read_machine(const char *name, const char *qualifier)
{
	SfMachine  *current = sf_machine_current(name);
	SfRoute		routes[SF_ALIAS_MAX_ROUTES];
	int			n;

	if (current == NULL || qualifier == NULL)
		return current;
	n = sf_alias_resolve(current->machine_no, qualifier, routes);
	return n == 0 ? NULL : sf_machine_read(name, routes[sf_alias_choose(routes, n)].version, false);
}

/*
 * Fail as the service refuses a request: error and cause have the names that the
 * integration, optimized or of the SDK, gives to the service.  Returns false.
 */
static bool
refuse(const SfResource *resource, SfError *error, const char *code, const char *problem)
{
	if (strncmp(resource->service, "aws-sdk:", 8) == 0)
		sf_error_set(error, psprintf("Sfn.%sException", code),
					 "%s (Service: Sfn, Status Code: 400, Request ID: %s) (SDK Attempt Count: 1)",
					 problem, sf_uuid_v4());
	else
		sf_error_set(error, psprintf("StepFunctions.%sException", code),
					 "%s (Service: AWSStepFunctions; Status Code: 400; Error Code: %s; Request ID: %s; Proxy: null)",
					 problem, code, sf_uuid_v4());
	error->needs_prefix = false;
	return false;
}

/* Find the machine that a request names; as the parent's owner may start it. */
static SfMachine *
find_machine(const SfDraft *draft, const SfResource *resource, const char *arn, SfError *error)
{
	const char *name = sf_public_name_to_id(SF_NAME_STATE_MACHINE, arn);
	char	   *plain = pnstrdup(name, strcspn(name, "/"));
	const char *slash = strchr(name, '/');
	SfMachine  *machine = read_machine(plain, slash == NULL ? NULL : slash + 1);
	Oid			owner = draft->execution->owner;

	if (machine != NULL &&
		sf_privilege_check_role(owner, SF_OBJECT_STATE_MACHINE, machine->name,
								machine->owner, SF_RIGHT_START))
		return machine;
	/* what the owner has no right at all on does not exist for it */
	if (machine == NULL ||
		!sf_privilege_check_role(owner, SF_OBJECT_STATE_MACHINE, machine->name,
								 machine->owner, SF_RIGHT_ANY))
	{
		refuse(resource, error, "StateMachineDoesNotExist", psprintf("State Machine Does Not Exist: '%s'", arn));
		return NULL;
	}
	sf_error_set(error, "StepFunctions.AccessDeniedException",
				 "The owner of state machine '%s' may not start state machine '%s'.",
				 draft->execution->machine_name, machine->name);
	error->needs_prefix = false;
	return NULL;
}

/* What a nested execution keeps of the version or the alias that a request names; NULL: neither. */
static char *
find_qualifier(const char *arn, int version)
{
	const char *slash = strchr(sf_public_name_to_id(SF_NAME_STATE_MACHINE, arn), '/');
	SfRoute		route = {version, 100};

	return slash == NULL ? NULL : sf_alias_stored(slash + 1, &route);
}

/* What the request returns. */
static Jsonb *
start_output(const SfExecution *nested)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "ExecutionArn", sf_public_name(SF_NAME_EXECUTION, nested->execution_id));
	sf_json_add_int(&json, "StartDate", sf_nested_epoch_ms(nested->requested_at));
	return sf_json_end(&json);
}

/* The name is taken: the same input again is the same nested execution. */
static bool
existing_nested(SfExecution *nested, const SfResource *resource, SfError *error)
{
	SfExecution *there = sf_execution_find(nested->execution_id, SF_LOCK_NONE);

	if (there != NULL && there->parent_execution_no == nested->parent_execution_no &&
		there->parent_branch_no == nested->parent_branch_no &&
		there->status == SF_STATUS_RUNNING && !sf_execution_is_waited_for(nested) &&
		sf_json_is_equal(there->input, nested->input))
	{
		*nested = *there;
		return true;
	}
	return refuse(resource, error, "ExecutionAlreadyExists",
				  psprintf("Execution Already Exists: '%s'",
						   sf_public_name(SF_NAME_EXECUTION, nested->execution_id)));
}

/* Tell whether a name may be that of an execution. */
static bool
check_name(const char *name, const SfResource *resource, SfError *error)
{
	return sf_name_is_valid(name) ||
		refuse(resource, error, "InvalidName", psprintf("Invalid Name: '%s'", name));
}

/*
 * The input of a nested execution: nothing is {}, a string is JSON text as in the
 * service's API, anything else itself.
 */
static bool
nested_input(Jsonb *given, Jsonb **input, const SfResource *resource, SfError *error)
{
	JsonbValue	root;

	*input = sf_json_empty_object();
	if (given == NULL)
		return true;
	sf_json_root(given, &root);
	if (root.type == jbvNull)
		return true;
	*input = given;
	if (root.type != jbvString ||
		sf_json_parse(root.val.string.val, root.val.string.len, input))
		return true;
	return refuse(resource, error, "InvalidExecutionInput",
				  psprintf("Invalid State Machine Execution Input: '%.*s'",
						   root.val.string.len, root.val.string.val));
}

/* A nested execution that begins */
typedef struct Beginning
{
	const SfDraft *draft;
	SfExecution *nested;
	SfBegan		began;			/* set */
} Beginning;

/* Begin it. */
static void
begin_nested(void *arg)
{
	Beginning  *b = arg;

	b->began = sf_lifecycle_begin(b->nested);
}

/* Begin it, or put it off. */
static void
wait_to_begin(void *arg)
{
	Beginning  *b = arg;

	sf_draft_wait_briefly(b->draft, begin_nested, b);
}

/*
 * Begin a nested execution, or find it; within the quotas of its owner.  A start that is open may have its
 * name or its start key.
 */
static bool
insert_nested(const SfDraft *draft, SfExecution *nested, const SfResource *resource, SfError *error)
{
	SfQuotaKind quota = sf_quota_take(nested->owner);
	Beginning	beginning = {.draft = draft,.nested = nested};

	if (quota != SF_QUOTA_NONE)
	{
		if (sf_execution_find(nested->execution_id, SF_LOCK_NONE) != NULL)
			return existing_nested(nested, resource, error);
		sf_throttled_note(nested->machine_no, nested->owner);
		sf_error_set(error, "StepFunctions.ExecutionLimitExceeded",
					 "Execution Limit Exceeded: %s is reached",
					 sf_quota_describe(quota, nested->owner));
		error->needs_prefix = false;
		return false;
	}
	sf_quota_begin(nested->owner, 1, wait_to_begin, &beginning);
	switch (beginning.began)
	{
		case SF_BEGAN_NEW:
			return true;
		case SF_BEGAN_REPLACED:
		case SF_BEGAN_KEPT:
			sf_quota_give_back(nested->owner);
			return true;
		case SF_BEGAN_NOT:
			break;
	}
	sf_quota_give_back(nested->owner);
	return existing_nested(nested, resource, error);
}

/*
 * Start a nested execution, whose end answers that generation of the branch.
 * resource is as the definition has it.  True: it was started (or is there already);
 * then *output is what the request returns.  False: *error.
 */
bool
sf_nested_start(const SfDraft *draft, const SfBranch *branch, int generation,
				const SfResource *resource, Jsonb *payload, Jsonb **output,
				SfError *error)
{
	char	   *arn = sf_json_get_cstring(payload, "StateMachineArn");
	char	   *name = sf_json_get_cstring(payload, "Name");
	SfExecution *nested = sf_execution_make();
	SfMachine  *machine;
	SfError		invalid;

	if (arn == NULL)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The field 'StateMachineArn' is required but was missing");
	machine = find_machine(draft, resource, arn, error);
	if (machine == NULL || (name != NULL && !check_name(name, resource, error)) ||
		!nested_input(sf_json_get(payload, "Input"), &nested->input, resource, error))
		return false;

	nested->machine_no = machine->machine_no;
	nested->version = machine->version;
	nested->qualifier = find_qualifier(arn, nested->version);
	nested->machine_name = machine->name;
	nested->owner = machine->owner;
	nested->start.has_new_uuid = name == NULL;
	nested->execution_id = psprintf("%s:%s", machine->name,
									name ? name : sf_uuid_v7());
	nested->parent_execution_no = draft->execution->execution_no;
	nested->parent_branch_no = branch->key.branch_no;
	nested->requested_at = GetCurrentTimestamp();
	nested->trace = sf_feature_trace_context(draft->execution, branch,
											 &draft->program->states[branch->state], false);
	if (waits_for_end(resource))
		nested->parent_generation = generation;

	if (!sf_lifecycle_label(nested, &invalid))
		return refuse(resource, error, "InvalidExecutionInput", invalid.cause);
	if (!insert_nested(draft, nested, resource, error))
		return false;
	*output = start_output(nested);
	return true;
}
