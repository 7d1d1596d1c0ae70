/*
 * addresses.c
 *		Find what requests name by ARNs, and list objects page by page.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "awsapi/addresses.h"
#include "base/compat.h"
#include "base/errors.h"
#include "store/aws_resource.h"
#include "store/names.h"

/* Raise the error for a version or an alias that is not there. */
static void pg_attribute_noreturn()
missing(const SfCall *call)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST),
			 errmsg("State Machine Does Not Exist: '%s'", call->subject)));
}

/* Read the qualifier of an ARN: digits are a version, anything else is an alias. */
static void
read_qualifier(SfCall *call, SfAddress *address, const char *qualifier)
{
	bool		is_version = strspn(qualifier, "0123456789") == strlen(qualifier);

	address->qualifier = is_version ? SF_QUALIFIER_VERSION : SF_QUALIFIER_ALIAS;
	if (!is_version)
		address->alias = qualifier;
	else if (strlen(qualifier) > 9 || (address->version = pg_strtoint32(qualifier)) < 1)
		missing(call);
}

/* Refuse a version that is not published, or an alias that does not exist. */
static void
check_qualifier(SfCall *call, const SfAddress *address)
{
	int			machine_no = address->machine->machine_no;
	SfRoute		routes[SF_ALIAS_MAX_ROUTES];

	if (address->qualifier == SF_QUALIFIER_VERSION)
	{
		SfPublication *publication = sf_publication_read(machine_no, address->version);

		if (publication == NULL || !publication->published)
			missing(call);
	}
	if (address->qualifier == SF_QUALIFIER_ALIAS &&
		sf_alias_read(machine_no, address->alias, routes) == 0)
		missing(call);
}

/*
 * Find the machine in a member of the request, on which the caller needs a right;
 * allowed are the qualifiers that its ARN may have.  machine is NULL where the member
 * is absent.
 */
SfAddress
sf_address_read(SfCall *call, const char *member, SfPrivilege needed, int allowed)
{
	const char *id = sf_request_id(call, member, SF_NAME_STATE_MACHINE);
	SfAddress	address = {0};
	const char *slash;

	if (id == NULL)
		return address;
	slash = strchr(id, '/');
	if (slash != NULL)
		read_qualifier(call, &address, pstrdup(slash + 1));
	if ((address.qualifier & ~allowed) != 0)
		sf_refusal_raise(SF_REFUSAL_INVALID_ARN, "Resource type not valid in this context: %s",
						 address.alias != NULL ? "alias" : "version");
	address.machine = sf_arg_machine(slash == NULL ? id : pnstrdup(id, slash - id), needed);
	check_qualifier(call, &address);
	return address;
}

/* The id of a version or an alias, of which ARNs are made: "machine:qualifier". */
char *
sf_address_qualified(const char *machine, const char *qualifier)
{
	return psprintf("%s:%s", machine, qualifier);
}

/* Add the ARN of a version. */
void
sf_address_answer_version(SfCall *call, const char *key, const SfMachine *machine, int version)
{
	sf_answer_arn(call, key, SF_NAME_STATE_MACHINE,
				  sf_address_qualified(machine->name, psprintf("%d", version)));
}

/* Add the version that an execution was started as, and the alias that was named for it, if any. */
void
sf_address_answer_qualifier(SfJsonBuilder *answer, const SfExecution *execution)
{
	const char *machine = execution->machine_name;

	if (execution->qualifier == NULL)
		return;
	sf_json_add_string(answer, "stateMachineVersionArn",
					   sf_public_name(SF_NAME_STATE_MACHINE,
									  sf_address_qualified(machine, psprintf("%d", execution->version))));
	if (!sf_alias_is_number(execution->qualifier))
		sf_json_add_string(answer, "stateMachineAliasArn",
						   sf_public_name(SF_NAME_STATE_MACHINE, sf_address_qualified(machine, execution->qualifier)));
}

/*
 * The names of a page of objects that the caller has a right on, in their order; adds
 * the token of the next page.
 */
List *
sf_address_page(SfCall *call, char kind, SfPrivilege needed)
{
	int			limit = sf_request_limit(call);
	char	   *behind = sf_answer_token_key(call);
	List	   *page = NIL;
	List	   *batch;

	if (behind == NULL)
		behind = "";
	do
	{
		batch = sf_names_behind(kind, behind, limit + 1);
		foreach_ptr(const SfNamed, object, batch)
		{
			behind = object->name;
			if (!sf_privilege_check(kind, object->name, object->owner, needed))
				continue;
			if (list_length(page) == limit)
			{
				sf_answer_next(call, llast(page));
				return page;
			}
			page = lappend(page, object->name);
		}
	} while (list_length(batch) > limit);
	return page;
}
