/*
 * configuration.c
 *		What the service keeps of a version beside its definition.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "utils/builtins.h"

#include "aws_api/request/call.h"
#include "store/state_machine/program_cache.h"

/* Members that are kept, and what each is where it was not given; NULL: it depends on the machine */
static const struct
{
	const char *name;
	const char *if_absent;
	bool		updated;		/* UpdateStateMachine takes it */
	bool		compared;		/* CreateStateMachine takes another value for another machine */
}			kept[] = {
	{"encryptionConfiguration", "{\"type\": \"AWS_OWNED_KEY\"}", true, true},
	{"loggingConfiguration", "{\"level\": \"OFF\", \"includeExecutionData\": false}", true, true},
	{"roleArn", NULL, true, false},
	{"tracingConfiguration", "{\"enabled\": false}", true, true},
	{"type", "\"STANDARD\"", false, true},
};

/* A member of the option; NULL: it was not given. */
static Jsonb *
get_stored(const Jsonb *options, const char *member)
{
	Jsonb	   *aws = options == NULL ? NULL : sf_json_get(options, SF_OPTION_AWS);

	return aws == NULL ? NULL : sf_json_get(aws, member);
}

/* A member of the option, with what stands for what was not given; NULL only for roleArn. */
static Jsonb *
get_value(const Jsonb *options, int i)
{
	Jsonb	   *value = get_stored(options, kept[i].name);
	Jsonb	   *base = kept[i].if_absent == NULL ? NULL : sf_json_from_cstring(kept[i].if_absent);

	if (value == NULL)
		return base;
	return base != NULL && JB_ROOT_IS_OBJECT(base) && JB_ROOT_IS_OBJECT(value) ?
		sf_json_merge(base, value) : value;
}

/* Refuse a roleArn that is not the ARN of a role. */
void
sf_configuration_check_role(const SfCall *call)
{
	char	   *arn = sf_request_text(call, "roleArn");

	if (arn != NULL &&
		!DatumGetBool(DirectFunctionCall2Coll(textregexeq, C_COLLATION_OID, CStringGetTextDatum(arn),
											  CStringGetTextDatum("^arn:aws[-a-z]*:iam::[0-9]{12}:role/."))))
		sf_refusal_raise(SF_REFUSAL_INVALID_ROLE, "%s", arn);
}

/* Refuse a log that goes nowhere, or to several destinations. */
static void
check_logging(const Jsonb *logging)
{
	char	   *level = logging == NULL ? NULL : sf_json_get_cstring(logging, "level");
	Jsonb	   *destinations = logging == NULL ? NULL : sf_json_get(logging, "destinations");
	int			n = destinations == NULL || !JB_ROOT_IS_ARRAY(destinations) ? 0 : JB_ROOT_COUNT(destinations);

	if (n > 1 || (n == 0 && level != NULL && strcmp(level, "OFF") != 0))
		sf_refusal_raise(SF_REFUSAL_INVALID_LOGGING,
						 "Invalid Logging Configuration: Must specify exactly one Log Destination.");
}

/* Refuse the key of a customer that is not named, and a named one that is not used. */
void
sf_configuration_check_encryption(const Jsonb *encryption)
{
	bool		is_own = encryption != NULL &&
		strcmp(sf_json_get_cstring(encryption, "type"), "AWS_OWNED_KEY") != 0;

	if (is_own && sf_json_get_cstring(encryption, "kmsKeyId") == NULL)
		sf_refusal_raise(SF_REFUSAL_INVALID_ENCRYPTION, "kmsKeyId must be specified for CUSTOMER_MANAGED_KMS_KEY");
	if (encryption != NULL && !is_own && JB_ROOT_COUNT(encryption) > 1)
		sf_refusal_raise(SF_REFUSAL_INVALID_ENCRYPTION, "AWS_OWNED_KEY takes no other members");
}

/*
 * The options of a machine that a request creates or, with before, updates: the ones
 * before, with what the request gives.
 */
Jsonb *
sf_configuration_options(const SfCall *call, const SfMachine *before)
{
	SfJsonBuilder json;

	sf_configuration_check_role(call);
	check_logging(sf_request_document(call, "loggingConfiguration"));
	sf_configuration_check_encryption(sf_request_document(call, "encryptionConfiguration"));
	sf_json_begin_object(&json);
	sf_json_open_object(&json, SF_OPTION_AWS);
	for (size_t i = 0; i < lengthof(kept); i++)
	{
		Jsonb	   *value = before == NULL || kept[i].updated ?
			sf_request_document(call, kept[i].name) : NULL;

		if (value == NULL && before != NULL)
			value = get_stored(before->options, kept[i].name);
		sf_json_add(&json, kept[i].name, value);
	}
	sf_json_close_object(&json);
	return before == NULL ? sf_json_end(&json) : sf_json_merge(before->options, sf_json_end(&json));
}

/* Tell whether a request to update gives any of the members. */
bool
sf_configuration_is_given(const SfCall *call)
{
	for (size_t i = 0; i < lengthof(kept); i++)
		if (kept[i].updated && sf_request_document(call, kept[i].name) != NULL)
			return true;
	return false;
}

/* Tell whether two machines are the same to CreateStateMachine, but for their definitions. */
bool
sf_configuration_is_same(const Jsonb *a, const Jsonb *b)
{
	for (size_t i = 0; i < lengthof(kept); i++)
		if (kept[i].compared && !sf_json_is_equal(get_value(a, i), get_value(b, i)))
			return false;
	return true;
}

/* STANDARD or EXPRESS. */
const char *
sf_configuration_type(const SfMachine *machine)
{
	Jsonb	   *type = get_stored(machine->options, "type");
	JsonbValue	value;

	if (type == NULL)
		return "STANDARD";
	sf_json_root(type, &value);
	return value.type != jbvString ? "STANDARD" : pnstrdup(value.val.string.val, value.val.string.len);
}

/* The identifier of a revision: the number of the version. */
char *
sf_configuration_revision(const SfMachine *machine)
{
	return psprintf("%d", machine->version);
}

/* Add what is kept of a machine, its definition, its name and its revision. */
void
sf_configuration_answer(SfCall *call, const SfMachine *machine)
{
	char	   *included = sf_request_text(call, "includedData");

	if (included != NULL && strcmp(included, "METADATA_ONLY") == 0)
		sf_json_add_string(&call->answer, "definition", "{}");
	else
	{
		sf_json_add_string(&call->answer, "definition", machine->definition);
		sf_configuration_answer_variables(call, machine->definition);
	}
	sf_json_add_string(&call->answer, "name", machine->name);
	sf_json_add_string(&call->answer, "roleArn",
					   sf_program_cache_role(machine->machine_no, machine->version, machine->owner));
	for (size_t i = 0; i < lengthof(kept); i++)
		if (strcmp(kept[i].name, "roleArn") != 0 && strcmp(kept[i].name, "type") != 0)
			sf_json_add(&call->answer, kept[i].name, get_value(machine->options, i));
	if (machine->version > 1)
		sf_json_add_string(&call->answer, "revisionId", sf_configuration_revision(machine));
}
