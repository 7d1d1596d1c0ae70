/*
 * aliases.c
 *		Aliases of state machines.
 */
#include "postgres.h"

#include "api/sql_arguments.h"
#include "aws_api/operations.h"
#include "aws_api/request/call.h"
#include "base/version/compat.h"

/* The message for an alias, or its machine, that is not there */
#define NOTHING_THERE	"Request references a resource that does not exist."

/* --- what requests say --- */

/* The routes in a request */
typedef struct Routing
{
	int			n;				/* 0: the request has none */
	char	   *arns[SF_ALIAS_MAX_ROUTES];
	int64		weights[SF_ALIAS_MAX_ROUTES];
	SfMachine  *machine;
	Jsonb	   *versions;		/* as sf_set_alias takes them: {"3": 90, "4": 10} */
} Routing;

/* Read the routes of a request as they stand there. */
static Routing
read_routes(SfCall *call)
{
	Jsonb	   *given = sf_request_document(call, "routingConfiguration");
	Routing		routing = {0};
	JsonbValue	list,
				route,
				weight;

	if (given == NULL)
		return routing;
	sf_json_root(given, &list);
	for (JsonbIterator *it = sf_json_elements(&list); sf_json_next(&it, &route); routing.n++)
	{
		routing.arns[routing.n] = sf_json_get_cstring(sf_json_make(&route), "stateMachineVersionArn");
		(void) sf_json_member(&route, "weight", strlen("weight"), &weight);
		(void) sf_json_to_int64(&weight, &routing.weights[routing.n]);
	}
	return routing;
}

/* Refuse routes, which the message of the service lists. */
static void pg_attribute_noreturn()
refuse_arns(const Routing *routing, const char *rule)
{
	sf_refusal_raise(SF_REFUSAL_ROUTING, "Routing configuration must contain %s. Received: [%s%s%s]", rule,
					 routing->arns[0], routing->n > 1 ? ", " : "", routing->n > 1 ? routing->arns[1] : "");
}

/* Refuse weights that do not add up. */
static void
check_weights(const Routing *routing)
{
	int64		sum = 0;

	for (int i = 0; i < routing->n; i++)
		sum += routing->weights[i];
	if (sum != 100)
		sf_refusal_raise(SF_REFUSAL_ROUTING, "Sum of routing configuration weights must equal 100. Received: %s",
						 routing->n == 1 ? psprintf("[" INT64_FORMAT "]", routing->weights[0]) :
						 psprintf("[" INT64_FORMAT ", " INT64_FORMAT "]", routing->weights[0], routing->weights[1]));
}

/* Find a published version of the caller's own machine by its ARN, the same machine for all routes. */
static int
find_version(SfCall *call, Routing *routing, const char *arn)
{
	const char *id = sf_public_name_to_id(SF_NAME_STATE_MACHINE, arn);
	const char *slash = id == arn ? NULL : strchr(id, '/');
	SfRoute		route[SF_ALIAS_MAX_ROUTES];
	char	   *name;

	if (slash == NULL || !sf_alias_is_publication(slash + 1))
		refuse_arns(routing, "state machine version ARNs");
	name = pnstrdup(id, slash - id);
	if (routing->machine != NULL && strcmp(routing->machine->name, name) != 0)
		refuse_arns(routing, "state machine version ARNs");
	call->missing = NOTHING_THERE;
	call->subject = sf_public_name(SF_NAME_STATE_MACHINE, name);
	routing->machine = sf_arg_machine(name, SF_RIGHT_OWNER);
	if (sf_alias_resolve(routing->machine->machine_no, slash + 1, route) == 0)
		refuse_arns(routing, "state machine version ARNs");
	return route[0].version;
}

/* Read the routes of a request, which name published versions of one machine. */
static Routing
read_routing(SfCall *call)
{
	Routing		routing = read_routes(call);
	SfJsonBuilder json;
	int			versions[SF_ALIAS_MAX_ROUTES];

	if (routing.n == 0)
		return routing;
	check_weights(&routing);
	for (int i = 0; i < routing.n; i++)
		versions[i] = find_version(call, &routing, routing.arns[i]);
	/* Texts do not tell: ":3" and ":03" are one version. */
	if (routing.n == 2 && versions[0] == versions[1])
		refuse_arns(&routing, "distinct state machine version ARNs");
	sf_json_begin_object(&json);
	for (int i = 0; i < routing.n; i++)
		sf_json_add_int(&json, psprintf("%d", versions[i]), routing.weights[i]);
	routing.versions = sf_json_end(&json);
	return routing;
}

/* Store an alias. */
static void
store(const SfMachine *machine, const char *alias, const Jsonb *versions)
{
	(void) sf_arg_call(sfflow_sf_set_alias,
							SF_ARGS(SF_TEXT(machine->name), SF_TEXT(alias), SF_JSONB(versions)));
}

/* Find the alias in the ARN of a request. */
static SfMachineAlias *
read_alias(SfCall *call, SfRight needed, SfAddress *address)
{
	call->missing = NOTHING_THERE;
	*address = sf_address_read(call, "stateMachineAliasArn", needed, SF_QUALIFIERS_ALIAS);
	if (address->kind != SF_ADDRESS_ALIAS)
		sf_refusal_raise(SF_REFUSAL_VALIDATION, "Invalid alias ARN: %s", call->subject);
	return sf_alias_find(address->machine->machine_no, sf_address_alias(address));
}

/* --- operations --- */

/* Add the ARN of an alias. */
static void
answer_alias(SfCall *call, const SfMachine *machine, const char *alias)
{
	sf_answer_arn(call, "stateMachineAliasArn", SF_NAME_STATE_MACHINE,
				  sf_address_qualified(machine->name, alias));
}

/* CreateStateMachineAlias: again with the same routes and description it changes nothing. */
void
sf_operation_create_alias(SfCall *call)
{
	char	   *name = sf_request_text(call, "name");
	char	   *description = sf_request_text(call, "description");
	Routing		routing = read_routing(call);
	SfMachine  *machine = routing.machine;
	SfMachineAlias *there = sf_alias_find(machine->machine_no, name);

	if (there != NULL && (!sf_json_is_equal(there->routes, routing.versions) ||
						  strcmp(there->description == NULL ? "" : there->description,
								 description == NULL ? "" : description) != 0))
		sf_refusal_raise(SF_REFUSAL_CONFLICT,
						 "Failed to create alias because an alias with the same name and a different routing configuration already exists.");
	if (there == NULL)
	{
		store(machine, name, routing.versions);
		sf_alias_describe(machine->machine_no, name, description);
		there = sf_alias_find(machine->machine_no, name);
	}
	answer_alias(call, machine, name);
	sf_answer_time(call, "creationDate", there->created_at);
}

/* DescribeStateMachineAlias. */
void
sf_operation_describe_alias(SfCall *call)
{
	SfAddress	address;
	SfMachineAlias *alias = read_alias(call, SF_RIGHT_READ, &address);
	SfRoute		routes[SF_ALIAS_MAX_ROUTES];
	int			n = sf_alias_routes(alias, routes);

	answer_alias(call, address.machine, alias->alias);
	sf_json_add_string(&call->answer, "name", alias->alias);
	sf_json_add_string(&call->answer, "description", alias->description);
	sf_json_open_array(&call->answer, "routingConfiguration");
	for (int i = 0; i < n; i++)
	{
		sf_json_open_object(&call->answer, NULL);
		sf_address_answer_version(call, "stateMachineVersionArn", address.machine, routes[i].version);
		sf_json_add_int(&call->answer, "weight", routes[i].percent);
		sf_json_close_object(&call->answer);
	}
	sf_json_close_array(&call->answer);
	sf_answer_time(call, "creationDate", alias->created_at);
	sf_answer_time(call, "updateDate", alias->set_at);
}

/* ListStateMachineAliases: of a machine or a version, in the order of their names. */
void
sf_operation_list_aliases(SfCall *call)
{
	SfAddress	address = sf_address_read(call, "stateMachineArn", SF_RIGHT_READ, SF_QUALIFIERS_VERSION);
	int			max_results = sf_request_max_results(call);
	char	   *behind = sf_answer_token_key(call);
	List	   *list = sf_alias_list(address.machine->machine_no, behind == NULL ? "" : behind,
									 sf_address_version(&address), max_results + 1);

	if (list_length(list) > max_results)
	{
		list = list_truncate(list, max_results);
		sf_answer_next(call, ((SfMachineAlias *) llast(list))->alias);
	}
	sf_json_open_array(&call->answer, "stateMachineAliases");
	foreach_ptr(const SfMachineAlias, alias, list)
	{
		sf_json_open_object(&call->answer, NULL);
		answer_alias(call, address.machine, alias->alias);
		sf_answer_time(call, "creationDate", alias->created_at);
		sf_json_close_object(&call->answer);
	}
	sf_json_close_array(&call->answer);
}

/* UpdateStateMachineAlias: what the request does not give stays. */
void
sf_operation_update_alias(SfCall *call)
{
	SfAddress	address;
	SfMachineAlias *alias = read_alias(call, SF_RIGHT_OWNER, &address);
	char	   *description = sf_request_text(call, "description");
	Routing		routing = read_routing(call);

	if (routing.machine == NULL && description == NULL)
		sf_refusal_raise(SF_REFUSAL_NOTHING_TO_UPDATE,
						 "Either the description or the routing configuration must be specified.");
	if (routing.machine != NULL && routing.machine->machine_no != address.machine->machine_no)
		refuse_arns(&routing, "state machine version ARNs");
	store(address.machine, alias->alias, routing.machine != NULL ? routing.versions : alias->routes);
	if (description != NULL)
		sf_alias_describe(address.machine->machine_no, alias->alias, description);
	sf_answer_time(call, "updateDate",
				   sf_alias_find(address.machine->machine_no, alias->alias)->set_at);
}

/* DeleteStateMachineAlias: one that is not there is deleted already. */
void
sf_operation_delete_alias(SfCall *call)
{
	const char *id = sf_request_id(call, "stateMachineAliasArn", SF_NAME_STATE_MACHINE);
	const char *slash = strchr(id, '/');
	SfMachine  *machine;

	if (slash == NULL)
		sf_refusal_raise(SF_REFUSAL_VALIDATION, "Invalid alias ARN: %s", call->subject);
	if (sf_alias_is_publication(slash + 1))
		sf_refusal_raise(SF_REFUSAL_INVALID_ARN, "Resource type not valid in this context: %s", "version");
	call->missing = NOTHING_THERE;
	machine = sf_arg_machine(pnstrdup(id, slash - id), SF_RIGHT_OWNER);
	if (sf_alias_find(machine->machine_no, slash + 1) != NULL)
		(void) sf_arg_call(sfflow_sf_drop_alias, SF_ARGS(SF_TEXT(machine->name), SF_TEXT(slash + 1)));
}
