/*
 * definition_tests.c
 *		ValidateStateMachineDefinition and TestState: definitions that are checked or tested, and not stored.
 */
#include "postgres.h"

#include "api/definition/definitions.h"
#include "api/sql_arguments.h"
#include "asl/validate/validate.h"
#include "aws_api/operations.h"
#include "aws_api/request/call.h"

/* --- definitions --- */

/* Add a diagnostic. */
static void
answer_diagnostic(SfCall *call, const SfDiagnostic *diagnostic)
{
	sf_json_open_object(&call->answer, NULL);
	sf_json_add_string(&call->answer, "severity", sf_severity_name(diagnostic->severity));
	sf_json_add_string(&call->answer, "code", diagnostic->code);
	sf_json_add_string(&call->answer, "message", diagnostic->message);
	sf_json_add_string(&call->answer, "location", diagnostic->location);
	sf_json_close_object(&call->answer);
}

/* ValidateStateMachineDefinition. */
void
sf_operation_validate(SfCall *call)
{
	char	   *definition = sf_request_text(call, "definition");
	char	   *severity = sf_request_text(call, "severity");
	bool		with_warnings = severity != NULL && strcmp(severity, "WARNING") == 0;
	int			max_results = sf_request_max_results(call);
	char	   *type = sf_request_text(call, "type");
	List	   *diagnostics = sf_asl_validate(definition, strlen(definition), &sf_probe_usual);
	bool		truncated = false;
	int			n = 0;

	if (type != NULL && strcmp(type, "EXPRESS") == 0)
		diagnostics = list_concat(diagnostics, sf_configuration_express_problems(definition));
	sf_json_add_string(&call->answer, "result", sf_diagnostics_have_error(diagnostics) ? "FAIL" : "OK");
	sf_json_open_array(&call->answer, "diagnostics");
	foreach_ptr(const SfDiagnostic, d, diagnostics)
	{
		if (d->severity == SF_SEVERITY_WARNING && !with_warnings)
			continue;
		if (n++ < max_results)
			answer_diagnostic(call, d);
		else
			truncated = true;
	}
	sf_json_close_array(&call->answer);
	sf_json_add_bool(&call->answer, "truncated", truncated);
}

/* --- states --- */

/* The members of inspectionData that are JSON text */
static const char *const inspected_texts[] = {
	"afterArguments", "afterInputPath", "afterItemBatcher", "afterItemSelector", "afterItemsPath",
	"afterItemsPointer", "afterParameters", "afterResultPath", "afterResultSelector", "input",
	"result", "variables"
};

/* The member of an object as a document, its JSON text parsed; NULL: it is absent. */
static Jsonb *
parsed_member(const Jsonb *object, const char *key)
{
	char	   *text = sf_json_get_cstring(object, key);
	Jsonb	   *parsed;

	if (text == NULL)
		return NULL;
	if (!sf_json_parse(text, strlen(text), &parsed))
		sf_refusal_raise(SF_REFUSAL_VALIDATION, "%s must be JSON text", key);
	return parsed;
}

/* An object with a member in another form; NULL stays NULL. */
static Jsonb *
with_parsed(const Jsonb *object, const char *key)
{
	Jsonb	   *value = object == NULL ? NULL : parsed_member(object, key);
	SfJsonBuilder json;

	if (value == NULL)
		return unconstify(Jsonb *, object);
	sf_json_begin_object(&json);
	sf_json_add(&json, key, value);
	return sf_json_merge(object, sf_json_end(&json));
}

/* The mock as sf_test_state takes it, with what stands beside it in a request; NULL: nothing is given. */
static Jsonb *
read_mock(SfCall *call)
{
	Jsonb	   *mock = with_parsed(sf_request_document(call, "mock"), "result");
	Jsonb	   *configuration = sf_request_document(call, "stateConfiguration");
	Jsonb	   *reveal = sf_request_document(call, "revealSecrets");
	SfJsonBuilder json;

	if (configuration == NULL && reveal == NULL)
		return mock;
	sf_json_begin_object(&json);
	sf_json_add(&json, "stateConfiguration", configuration);
	sf_json_add(&json, "revealSecrets", reveal);
	return sf_json_merge(mock, sf_json_end(&json));
}

/* The JSON text in a member as a document; NULL: it is absent. */
static Jsonb *
read_document(SfCall *call, const char *member)
{
	return sf_request_text(call, member) == NULL ? NULL :
		sf_request_payload(call, member, SF_REFUSAL_INVALID_EXECUTION_INPUT);
}

/* Add the members of inspectionData. */
static void
answer_inspection(SfCall *call, const Jsonb *data)
{
	JsonbValue	object;
	SfJsonMember *members;
	int			n;

	sf_json_root(data, &object);
	members = sf_json_members(&object, &n);
	sf_json_open_object(&call->answer, "inspectionData");
	for (int i = 0; i < n; i++)
	{
		char	   *key = pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len);
		bool		is_text = false;

		for (size_t j = 0; j < lengthof(inspected_texts); j++)
			is_text |= strcmp(inspected_texts[j], key) == 0;
		if (is_text)
			sf_answer_payload(call, key, sf_json_make(&members[i].value));
		else
			sf_json_add_value(&call->answer, key, &members[i].value);
	}
	sf_json_close_object(&call->answer);
}

/* TestState. */
void
sf_operation_test_state(SfCall *call)
{
	char	   *level = sf_request_text(call, "inspectionLevel");
	Jsonb	   *variables = read_document(call, "variables");
	NullableDatum made;
	Jsonb	   *result;
	Jsonb	   *inspection;
	static const char *const plain[] = {"status", "error", "cause", "nextState"};

	sf_configuration_check_role(call);
	made = sf_arg_call(sfflow_sf_test_state,
										  SF_ARGS(SF_TEXT(sf_request_text(call, "definition")),
												  SF_JSONB(sf_request_payload(call, "input", SF_REFUSAL_INVALID_EXECUTION_INPUT)),
												  SF_JSONB(read_document(call, "context")),
												  SF_JSONB(variables != NULL ? variables : sf_json_empty_object()),
												  SF_JSONB(read_mock(call)),
												  SF_TEXT(level != NULL ? level : "INFO"),
												  SF_TEXT(sf_request_text(call, "stateName"))));
	result = DatumGetJsonbP(made.value);
	inspection = sf_json_get(result, "inspectionData");
	for (size_t i = 0; i < lengthof(plain); i++)
		sf_json_add_string(&call->answer, plain[i], sf_json_get_cstring(result, plain[i]));
	sf_answer_payload(call, "output", sf_json_get(result, "output"));
	if (inspection != NULL)
		answer_inspection(call, inspection);
}
