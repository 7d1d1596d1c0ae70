/*
 * addresses.c
 *		Find what requests name by ARNs, and list objects page by page.
 */
#include "postgres.h"

#include "aws_api/request/call.h"
#include "base/error/errors.h"
#include "base/version/compat.h"
#include "store/state_machine/aws_resource.h"
#include "store/state_machine/machine.h"
#include "store/state_machine/names.h"

/* Raise the error for a version or an alias that is not there. */
void
sf_address_missing(const SfCall *call)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST),
			 errmsg("State Machine Does Not Exist: '%s'", call->subject)));
}

/* Read the qualifier of an ARN, or refuse it: the number of a publication, anything else is an alias. */
static void
read_qualifier(SfAddress *address, const char *qualifier, SfQualifiers allowed)
{
	bool		is_alias = !sf_alias_is_publication(qualifier);

	if ((allowed & (is_alias ? SF_QUALIFIERS_ALIAS : SF_QUALIFIERS_VERSION)) == 0)
		sf_refusal_raise(SF_REFUSAL_INVALID_ARN, "Resource type not valid in this context: %s",
						 is_alias ? "alias" : "version");
	address->kind = is_alias ? SF_ADDRESS_ALIAS : SF_ADDRESS_VERSION;
	if (is_alias)
		address->alias = qualifier;
}

/* Find the version of a qualifier; refuse one that is not published, and an alias that does not exist. */
static void
check_qualifier(SfCall *call, SfAddress *address, const char *qualifier)
{
	SfRoute		routes[SF_ALIAS_MAX_ROUTES];

	if (sf_alias_resolve(address->machine->machine_no, qualifier, routes) == 0)
		sf_address_missing(call);
	if (address->kind == SF_ADDRESS_VERSION)
		address->version = routes[0].version;
}

/*
 * Find the machine in a member of the request, on which the caller needs a right;
 * allowed are the qualifiers that its ARN may have.  machine is NULL where the member
 * is absent.
 */
SfAddress
sf_address_read(SfCall *call, const char *member, SfRight needed, SfQualifiers allowed)
{
	const char *id = sf_request_id(call, member, SF_NAME_STATE_MACHINE);
	SfAddress	address = {0};
	const char *slash;

	if (id == NULL)
		return address;
	slash = strchr(id, '/');
	if (slash != NULL)
		read_qualifier(&address, pstrdup(slash + 1), allowed);
	address.machine = sf_arg_machine(slash == NULL ? id : pnstrdup(id, slash - id), needed);
	if (slash != NULL)
		check_qualifier(call, &address, slash + 1);
	return address;
}

/* The id of a version or an alias, of which ARNs are made: "machine:qualifier". */
char *
sf_address_qualified(const char *machine, const char *qualifier)
{
	return psprintf("%s:%s", machine, qualifier);
}

/* The ARN of a version, with the number of its publication; NULL: it was never published. */
static char *
version_arn(const char *machine, int machine_no, int version)
{
	int			number = sf_publication_number(machine_no, version);

	return number == 0 ? NULL :
		sf_public_name(SF_NAME_STATE_MACHINE, sf_address_qualified(machine, psprintf("%d", number)));
}

/* Add the ARN of a version. */
void
sf_address_answer_version(SfCall *call, const char *key, const SfMachine *machine, int version)
{
	sf_json_add_string(&call->answer, key, version_arn(machine->name, machine->machine_no, version));
}

/* Add the version that an execution was started as, and the alias that was named for it, if any. */
void
sf_address_answer_qualifier(SfJsonBuilder *answer, const SfExecution *execution)
{
	const char *machine = execution->machine_name;

	if (execution->qualifier == NULL)
		return;
	sf_json_add_string(answer, "stateMachineVersionArn",
					   version_arn(machine, execution->machine_no, execution->version));
	if (!sf_alias_is_number(execution->qualifier))
		sf_json_add_string(answer, "stateMachineAliasArn",
						   sf_public_name(SF_NAME_STATE_MACHINE, sf_address_qualified(machine, execution->qualifier)));
}

/*
 * The names of a page of objects that the caller has a right on, in their order; adds
 * the token of the next page.
 */
List *
sf_address_page(SfCall *call, SfObjectKind kind, SfRight needed)
{
	int			max_results = sf_request_max_results(call);
	char	   *behind = sf_answer_token_key(call);
	List	   *page = NIL;
	List	   *batch;

	if (behind == NULL)
		behind = "";
	do
	{
		batch = sf_names_behind(kind, behind, max_results + 1);
		foreach_ptr(const SfNamed, object, batch)
		{
			behind = object->name;
			if (!sf_privilege_check(kind, object->name, object->owner, needed))
				continue;
			if (list_length(page) == max_results)
			{
				sf_answer_next(call, llast(page));
				return page;
			}
			page = lappend(page, object->name);
		}
	} while (list_length(batch) > max_results);
	return page;
}
