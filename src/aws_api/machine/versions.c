/*
 * versions.c
 *		Versions and aliases of state machines.
 *
 * What AWS calls a revision of a machine is a version of sfflow, whose number it has; publication
 * makes it visible in the API, under a number of its own.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "api/sql_arguments.h"
#include "aws_api/operations.h"
#include "aws_api/request/call.h"
#include "store/state_machine/aws_resource.h"

/* --- versions --- */

/* PublishStateMachineVersion: the current revision; again it changes nothing. */
void
sf_operation_publish(SfCall *call)
{
	SfAddress	address = sf_address_read(call, "stateMachineArn", SF_RIGHT_OWNER, SF_QUALIFIERS_NONE);
	SfMachine  *machine = address.machine;
	char	   *revision = sf_request_text(call, "revisionId");
	SfPublication *publication;

	machine = sf_machine_lock_current(machine, false);
	if (machine == NULL)
		sf_address_missing(call);
	/* before the lock it may have got another owner */
	sf_object_require(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner, SF_RIGHT_OWNER);
	if (revision != NULL && strcmp(revision, sf_configuration_revision(machine)) != 0 &&
		!(machine->version == 1 && strcmp(revision, "INITIAL") == 0))
		sf_refusal_raise(SF_REFUSAL_CONFLICT,
						 "Failed to publish the State Machine version for revision %s. The current State Machine revision is %s.",
						 revision, sf_configuration_revision(machine));
	publication = sf_publication_read(machine->machine_no, machine->version);
	if (!publication->published)
	{
		sf_publication_write(machine->machine_no, machine->version, true, sf_request_text(call, "description"));
		publication = sf_publication_read(machine->machine_no, machine->version);
	}
	sf_address_answer_version(call, "stateMachineVersionArn", machine, machine->version);
	sf_answer_time(call, "creationDate", publication->published_at);
}

/* The number in the token of a page of versions. */
static int
read_below(SfCall *call)
{
	char	   *key = sf_answer_token_key(call);

	return key == NULL ? PG_INT32_MAX : pg_strtoint32(key);
}

/* ListStateMachineVersions: published ones, the newest first. */
void
sf_operation_list_versions(SfCall *call)
{
	SfAddress	address = sf_address_read(call, "stateMachineArn", SF_RIGHT_READ, SF_QUALIFIERS_NONE);
	int			max_results = sf_request_max_results(call);
	List	   *list = sf_publication_list(address.machine->machine_no, read_below(call), max_results + 1);

	if (list_length(list) > max_results)
	{
		list = list_truncate(list, max_results);
		sf_answer_next(call, psprintf("%d", ((SfPublication *) llast(list))->version));
	}
	sf_json_open_array(&call->answer, "stateMachineVersions");
	foreach_ptr(const SfPublication, publication, list)
	{
		sf_json_open_object(&call->answer, NULL);
		sf_address_answer_version(call, "stateMachineVersionArn", address.machine, publication->version);
		sf_answer_time(call, "creationDate", publication->published_at);
		sf_json_close_object(&call->answer);
	}
	sf_json_close_array(&call->answer);
}

/* Refuse to delete a version that aliases name. */
static void
refuse_named(const SfMachine *machine, int version)
{
	StringInfoData names;

	initStringInfo(&names);
	foreach_ptr(const SfMachineAlias, alias, sf_alias_list(machine->machine_no, "", version, 100))
		appendStringInfo(&names, "%s%s", names.len == 0 ? "" : ", ", alias->alias);
	if (names.len > 0)
		sf_refusal_raise(SF_REFUSAL_CONFLICT,
						 "Version to be deleted must not be referenced by an alias. Current list of aliases referencing this version: [%s]",
						 names.data);
}

/*
 * DeleteStateMachineVersion: it can no longer be named; executions that run it go on.
 * One that is not there is deleted already.
 */
void
sf_operation_delete_version(SfCall *call)
{
	const char *id = sf_request_id(call, "stateMachineVersionArn", SF_NAME_STATE_MACHINE);
	const char *slash = strchr(id, '/');
	SfRoute		route[SF_ALIAS_MAX_ROUTES];
	SfMachine  *machine;

	if (slash == NULL || !sf_alias_is_publication(slash + 1))
		sf_refusal_raise(SF_REFUSAL_INVALID_ARN, "Resource type not valid in this context: %s", "stateMachine");
	machine = sf_machine_read(pnstrdup(id, slash - id), SF_NO_VERSION, false);
	if (machine == NULL ||
		!sf_privilege_check(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner, SF_RIGHT_ANY))
		return;
	sf_object_require(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner, SF_RIGHT_OWNER);
	if (sf_alias_resolve(machine->machine_no, slash + 1, route) == 0)
		return;
	refuse_named(machine, route[0].version);
	sf_publication_delete(machine->machine_no, route[0].version);
}
