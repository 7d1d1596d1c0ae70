/*
 * lambda.c
 *		Lambda functions: what runs in place of one, what it is given, and the
 *		shape of its answer.
 *
 * There are two ways to call one.  A function's ARN as Resource is looked up in
 * the resource map.  The target is given the payload, and its result is that of
 * the task.  The integration lambda:invoke names the function in its request.
 * That name is looked up, the target is given Payload alone, and its result is
 * returned inside a response.  If the map has the integration but not the
 * function, the integration's target runs for all functions and is given the
 * whole request.
 *
 * The map knows a function by its ARN as written, by the ARN without the
 * qualifier (version or alias), and by its name alone.  A function written as a
 * name alone is compared as an ARN, too.
 */
#include "postgres.h"

#include "aws/services.h"
#include "base/error/errors.h"
#include "base/value/random.h"

#define INVOKE	"arn:aws:states:::lambda:invoke"

#define FUNCTION_PREFIX	sf_arn_of_service("lambda", "function:")
#define INTEGRATION_PREFIX	"arn:aws:states:::"

/* Tell whether a Resource is the integration, with any suffix. */
bool
sf_lambda_is_invoke(const SfResource *resource)
{
	return resource->kind == SF_RESOURCE_MAPPED && strcmp(resource->name, INVOKE) == 0;
}

/* Tell whether a Resource is a function's ARN. */
static bool
is_function(const SfResource *resource)
{
	return resource->kind == SF_RESOURCE_MAPPED && resource->service != NULL &&
		strcmp(resource->service, "lambda") == 0 &&
		strstr(resource->text, ":function:") != NULL;
}

/* Report a function for which nothing runs. */
static bool
not_found(const char *function, SfError *error)
{
	const char *prefix = strncmp(function, "arn:", 4) == 0 ? "" : FUNCTION_PREFIX;

	sf_error_set(error, "Lambda.ResourceNotFoundException",
				 "Function not found: %s%s:$LATEST (Service: AWSLambda; Status Code: 404; Error Code: ResourceNotFoundException; Request ID: %s; Proxy: null)",
				 prefix, function, sf_uuid_v7());
	error->needs_prefix = false;
	return false;
}

/* List the names of a function besides the one that is written. */
List *
sf_lambda_other_names(const SfResource *resource)
{
	const char *text = resource->text;
	const char *function = strstr(text, ":function:");
	const char *name = function != NULL ? function + strlen(":function:") : text;
	char	   *plain = pnstrdup(name, strcspn(name, ":"));
	List	   *names = list_make2(plain, pnstrdup(text, name - text + strlen(plain)));

	if (resource->service == NULL || strcmp(resource->service, "lambda") != 0 ||
		strncmp(text, INTEGRATION_PREFIX, sizeof(INTEGRATION_PREFIX) - 1) == 0)
		return NIL;
	if (function == NULL)
		names = lappend(names, psprintf("%s%s", FUNCTION_PREFIX, plain));
	return names;
}

/* Find what runs in place of a function. */
static bool
find_function(const char *name, Oid owner, SfResource *target)
{
	SfResource	function = {.kind = SF_RESOURCE_MAPPED, .text = name,
	.name = name, .service = "lambda"};

	return sf_service_find(&function, owner, target, NULL, NULL);
}

/* Get the event of an invocation: Payload, JSON text or a value; {} if empty. */
static bool
get_event(const Jsonb *request, Jsonb **event, SfError *error)
{
	Jsonb	   *payload = sf_json_get(request, "Payload");
	char	   *text = sf_json_get_cstring(request, "Payload");
	JsonbValue	root;

	*event = payload;
	if (payload != NULL)
		sf_json_root(payload, &root);
	if (payload == NULL || root.type == jbvNull || (text != NULL && *text == '\0'))
		*event = sf_json_empty_object();
	else if (text != NULL && !sf_json_parse(text, strlen(text), event))
	{
		sf_error_set(error, "Lambda.InvalidRequestContentException",
					 "Could not parse request body into json: Could not parse payload into json (Service: AWSLambda;"
					 " Status Code: 400; Error Code: InvalidRequestContentException; Request ID: %s; Proxy: null)",
					 sf_uuid_v7());
		error->needs_prefix = false;
		return false;
	}
	return true;
}

/* Find what carries a resource out: for lambda:invoke, what the request names. */
bool
sf_lambda_resolve(const SfResource *resource, Oid owner, SfResource *target,
				  Jsonb **payload, SfError *error)
{
	char	   *name;

	if (!sf_lambda_is_invoke(resource))
		return sf_service_find(resource, owner, target, payload, error);
	name = sf_json_get_cstring(*payload, "FunctionName");
	if (name != NULL && find_function(name, owner, target))
		return get_event(*payload, payload, error);
	if (sf_service_find(resource, owner, target, payload, error))
		return true;
	if (name == NULL)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The field 'FunctionName' is required but was missing");
	return not_found(name, error);
}

/* Make the response of an invocation around the function's result. */
static Jsonb *
make_response(const Jsonb *result)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "ExecutedVersion", "$LATEST");
	sf_json_add(&json, "Payload", result ? result : sf_json_null());
	sf_json_open_object(&json, "SdkHttpMetadata");
	sf_json_open_object(&json, "AllHttpHeaders");
	sf_json_close_object(&json);
	sf_json_open_object(&json, "HttpHeaders");
	sf_json_close_object(&json);
	sf_json_add_int(&json, "HttpStatusCode", 200);
	sf_json_close_object(&json);
	sf_json_open_object(&json, "SdkResponseMetadata");
	sf_json_add_string(&json, "RequestId", sf_uuid_v7());
	sf_json_close_object(&json);
	sf_json_add_int(&json, "StatusCode", 200);
	return sf_json_end(&json);
}

/* Add a member of a SQL error's cause. */
static void
copy_member(SfJsonBuilder *json, const Jsonb *cause, const char *key)
{
	sf_json_add_string(json, key, sf_json_get_cstring(cause, key));
}

/* Add the lines of a context as a stack trace. */
static void
add_stack(SfJsonBuilder *json, char *context)
{
	char	   *line;

	if (context == NULL)
		return;
	sf_json_open_array(json, "stackTrace");
	for (line = strtok(context, "\n"); line != NULL; line = strtok(NULL, "\n"))
		sf_json_add_string(json, NULL, line);
	sf_json_close_array(json);
}

/* Print the error object of a function that failed. */
static char *
error_object(const SfError *error)
{
	Jsonb	   *cause = NULL;
	char	   *message;
	bool		is_object;
	SfJsonBuilder json;

	is_object = error->cause != NULL &&
		sf_json_parse(error->cause, strlen(error->cause), &cause) &&
		JB_ROOT_IS_OBJECT(cause);
	if (is_object && sf_json_get(cause, "errorType") != NULL)
		return unconstify(char *, error->cause);	/* made by hand */
	sf_json_begin_object(&json);
	message = is_object ? sf_json_get_cstring(cause, "message") : NULL;
	sf_json_add_string(&json, "errorMessage", message ? message :
					   error->cause ? error->cause : "");
	sf_json_add_string(&json, "errorType", error->name);
	if (message != NULL)
	{
		copy_member(&json, cause, "sqlstate");
		copy_member(&json, cause, "detail");
		copy_member(&json, cause, "hint");
		add_stack(&json, sf_json_get_cstring(cause, "context"));
	}
	return sf_json_to_cstring(sf_json_end(&json));
}

/* Give the result of an activity the shape of Lambda's. */
Jsonb *
sf_lambda_shape_result(const SfResource *resource, Jsonb *result)
{
	return sf_lambda_is_invoke(resource) ? make_response(result) : result;
}

/* Give the outcome of a SQL function the shape of Lambda's. */
void
sf_lambda_shape_outcome(const SfResource *resource, SfTaskOutcome *outcome)
{
	if (outcome->ok)
	{
		outcome->output = sf_lambda_shape_result(resource, outcome->output);
		return;
	}
	if ((sf_lambda_is_invoke(resource) || is_function(resource)) && outcome->error.name != NULL &&
		strncmp(outcome->error.name, "States.", 7) != 0 &&
		strncmp(outcome->error.name, "Lambda.", 7) != 0)
		outcome->error.cause = error_object(&outcome->error);
}
