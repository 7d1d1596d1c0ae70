/*
 * machines.c
 *		Create, describe, list, update and delete state machines.
 *
 * What the service keeps of a state machine beside its definition is the option "aws"
 * of the version: roleArn, type, loggingConfiguration, tracingConfiguration and
 * encryptionConfiguration.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "api/definition/definitions.h"
#include "aws_api/operations.h"
#include "aws_api/request/call.h"
#include "store/state_machine/aws_resource.h"

/* Whether what a request gives is published at once, and its description */
typedef struct Publishing
{
	bool		publish;
	const char *description;
} Publishing;

/* Read the members about publication. */
static Publishing
read_publishing(const SfCall *call)
{
	Publishing	p = {sf_request_flag(call, "publish", false), sf_request_text(call, "versionDescription")};

	if (p.description != NULL && !p.publish)
		sf_refusal_raise(SF_REFUSAL_VALIDATION, "Version description can only be set when publish is true");
	return p;
}

/* Tell whether a version is what a request to create asks for; another role or other tags do not count. */
static bool
is_same(const SfMachine *there, const SfMachine *wanted, const Publishing *publishing)
{
	SfPublication *publication = sf_publication_read(there->machine_no, there->version);

	return strcmp(there->definition, wanted->definition) == 0 &&
		sf_configuration_is_same(there->options, wanted->options) &&
		publication != NULL && publication->published == publishing->publish &&
		strcmp(publication->description == NULL ? "" : publication->description,
			   publishing->description == NULL ? "" : publishing->description) == 0;
}

/* Find the machine that an earlier call with the same members has created; another one is an error. */
static SfMachine *
find_created(SfCall *call, const SfMachine *wanted, const Publishing *publishing)
{
	SfMachine  *there = sf_machine_read(wanted->name, SF_NO_VERSION, true);

	if (there == NULL || !sf_privilege_is_owner(there->owner))
		return NULL;			/* the store tells what another role's is */
	call->subject = sf_public_name(SF_NAME_STATE_MACHINE, wanted->name);
	if (!is_same(there, wanted, publishing))
		sf_refusal_raise(SF_REFUSAL_STATE_MACHINE_ALREADY_EXISTS, "%s", call->subject);
	return there;
}

/* Store a new machine, with its tags. */
static SfMachine *
create(SfCall *call, SfMachine *wanted, const Publishing *publishing)
{
	Jsonb	   *tags = sf_tags_read(call, NULL);

	sf_configuration_check_type(wanted);
	sf_object_create_machine(wanted, false);
	sf_publication_write(wanted->machine_no, wanted->version, publishing->publish,
						 publishing->description);
	if (tags != NULL)
		sf_aws_resource_write(SF_OBJECT_STATE_MACHINE, wanted->name, tags, NULL);
	return sf_machine_read(wanted->name, SF_NO_VERSION, false);
}

/* CreateStateMachine: again with the same members it changes nothing. */
void
sf_operation_create_machine(SfCall *call)
{
	SfMachine	wanted = {0};
	Publishing	publishing = read_publishing(call);
	SfMachine  *machine;

	call->subject = wanted.name = sf_request_text(call, "name");
	wanted.definition = sf_request_text(call, "definition");
	wanted.options = sf_configuration_options(call, NULL);
	machine = find_created(call, &wanted, &publishing);
	if (machine == NULL)
		machine = create(call, &wanted, &publishing);
	sf_answer_time(call, "creationDate", machine->created_at);
	sf_answer_arn(call, "stateMachineArn", SF_NAME_STATE_MACHINE, machine->name);
	if (publishing.publish)
		sf_address_answer_version(call, "stateMachineVersionArn", machine, machine->version);
}

/* DescribeStateMachine: of the current revision, or of a version. */
void
sf_operation_describe_machine(SfCall *call)
{
	SfAddress	address = sf_address_read(call, "stateMachineArn", SF_RIGHT_READ, SF_QUALIFIERS_VERSION);
	SfMachine  *machine = sf_machine_read(address.machine->name, sf_address_version(&address), true);
	SfPublication *publication = NULL;

	if (machine == NULL)
		sf_address_missing(call);
	if (address.kind == SF_ADDRESS_VERSION)
		publication = sf_publication_read(address.machine->machine_no, sf_address_version(&address));
	sf_configuration_answer(call, machine);
	if (publication == NULL)
		sf_answer_arn(call, "stateMachineArn", SF_NAME_STATE_MACHINE, machine->name);
	else
	{
		sf_address_answer_version(call, "stateMachineArn", machine, sf_address_version(&address));
		sf_json_add_string(&call->answer, "description", publication->description);
	}
	sf_answer_time(call, "creationDate",
				   publication == NULL ? machine->created_at : publication->published_at);
	sf_json_add_string(&call->answer, "status", "ACTIVE");
	sf_json_add_string(&call->answer, "type", sf_configuration_type(machine));
}

/* ListStateMachines: in the order of their names. */
void
sf_operation_list_machines(SfCall *call)
{
	List	   *names = sf_address_page(call, SF_OBJECT_STATE_MACHINE, SF_RIGHT_READ);

	sf_json_open_array(&call->answer, "stateMachines");
	foreach_ptr(const char, name, names)
	{
		SfMachine  *machine = sf_machine_read(name, SF_NO_VERSION, false);

		if (machine == NULL)
			continue;			/* dropped meanwhile */
		sf_json_open_object(&call->answer, NULL);
		sf_answer_time(call, "creationDate", machine->created_at);
		sf_json_add_string(&call->answer, "name", machine->name);
		sf_answer_arn(call, "stateMachineArn", SF_NAME_STATE_MACHINE, machine->name);
		sf_json_add_string(&call->answer, "type", sf_configuration_type(machine));
		sf_json_close_object(&call->answer);
	}
	sf_json_close_array(&call->answer);
}

/* Find the machine that a request updates; a version cannot be, so that there is no machine with its ARN. */
static SfAddress
read_updated(SfCall *call)
{
	const char *id = sf_request_id(call, "stateMachineArn", SF_NAME_STATE_MACHINE);
	const char *slash = strchr(id, '/');

	if (slash != NULL && sf_alias_is_publication(slash + 1))
		sf_address_missing(call);
	return sf_address_read(call, "stateMachineArn", SF_RIGHT_OWNER, SF_QUALIFIERS_NONE);
}

/* UpdateStateMachine: what the request does not give stays. */
void
sf_operation_update_machine(SfCall *call)
{
	SfAddress	address = read_updated(call);
	Publishing	publishing = read_publishing(call);
	char	   *definition = sf_request_text(call, "definition");
	SfMachine  *locked;
	SfMachine	wanted;
	SfPublication *publication;
	int			before;

	if (definition == NULL && !sf_configuration_is_given(call))
		sf_refusal_raise(SF_REFUSAL_MISSING_REQUIRED_PARAMETER,
					   "Either the definition, the role ARN, the LoggingConfiguration, or the TracingConfiguration must be specified");
	locked = sf_machine_lock_current(address.machine, true);
	if (locked == NULL)
		sf_address_missing(call);
	wanted = *locked;
	before = wanted.version;
	if (definition != NULL)
		wanted.definition = definition;
	wanted.options = sf_configuration_options(call, &wanted);
	sf_configuration_check_type(&wanted);
	sf_object_create_machine(&wanted, true);

	publication = sf_publication_read(wanted.machine_no, wanted.version);
	if (wanted.version != before || (publishing.publish && !publication->published))
		sf_publication_write(wanted.machine_no, wanted.version, publishing.publish, publishing.description);
	sf_answer_time(call, "updateDate", GetCurrentTimestamp());
	if (wanted.version > 1)
		sf_json_add_string(&call->answer, "revisionId", sf_configuration_revision(&wanted));
	if (publishing.publish)
		sf_address_answer_version(call, "stateMachineVersionArn", &wanted, wanted.version);
}

/*
 * DeleteStateMachine: at once, with all executions that have ended; running ones are an
 * error.  A machine that is not there is deleted already.
 */
void
sf_operation_delete_machine(SfCall *call)
{
	const char *id = sf_request_id(call, "stateMachineArn", SF_NAME_STATE_MACHINE);
	const char *slash = strchr(id, '/');
	SfMachine  *machine = sf_machine_read(id, SF_NO_VERSION, false);

	if (slash != NULL)
		sf_refusal_raise(SF_REFUSAL_INVALID_ARN, "Resource type not valid in this context: %s",
						 sf_alias_is_publication(slash + 1) ? "version" : "alias");
	if (machine == NULL ||
		!sf_privilege_check(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner, SF_RIGHT_ANY))
		return;
	sf_object_require(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner, SF_RIGHT_OWNER);
	sf_object_drop_machine(machine, SF_DROP_WITH_MANY);
}
