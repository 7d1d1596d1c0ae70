/*
 * lambda.c
 *		Lambda functions: which function stands in, what it is given, and the
 *		shape of what it answers.
 *
 * There are two ways to call one.  A function's ARN as Resource is looked up in
 * the resource map, given the payload, and its result is the task's.  The
 * integration lambda:invoke names the function in its request: that name is
 * looked up, the function is given Payload alone, and its result comes back
 * inside a response.  Where only the integration itself is mapped, its target
 * stands in for all functions and is given the whole request.
 */
#include "postgres.h"

#include "base/arn.h"
#include "base/errors.h"
#include "base/uuid.h"
#include "run/lambda.h"

#define INVOKE	"arn:aws:states:::lambda:invoke"

/* Is a Resource the integration? */
bool
sf_lambda_is_invoke(const SfResource *resource)
{
	return resource->kind == SF_RESOURCE_MAPPED && strcmp(resource->name, INVOKE) == 0;
}

/* Is a Resource a function's ARN? */
static bool
is_function(const SfResource *resource)
{
	return resource->kind == SF_RESOURCE_MAPPED && resource->service != NULL &&
		strcmp(resource->service, "lambda") == 0 &&
		strstr(resource->text, ":function:") != NULL;
}

/* Report a function that nothing stands in for. */
static bool
not_found(const char *function, SfError *error)
{
	const char *prefix = strncmp(function, "arn:", 4) == 0 ? "" :
		"arn:" SF_ARN_PARTITION ":lambda:" SF_ARN_REGION ":" SF_ARN_ACCOUNT ":function:";

	sf_error_set(error, "Lambda.ResourceNotFoundException",
				 "Function not found: %s%s:$LATEST (Service: AWSLambda; Status Code: 404; Error Code: ResourceNotFoundException; Request ID: %s; Proxy: null)",
				 prefix, function, sf_uuid_v7());
	error->prefixed = false;
	return false;
}

/* Find what stands in for a function; false: nothing. */
static bool
find_function(const char *name, Oid owner, SfResource *target)
{
	SfResource	function = {.kind = SF_RESOURCE_MAPPED, .text = name,
	.name = name, .service = "lambda"};

	return sf_task_driver.resolve(&function, owner, target);
}

/* The event of an invocation: Payload, as JSON text or as a value; {} if empty. */
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
					 "Could not parse request body into json: Could not parse payload into json (Service: AWSLambda; Status Code: 400; Error Code: InvalidRequestContentException; Request ID: %s; Proxy: null)",
					 sf_uuid_v7());
		error->prefixed = false;
		return false;
	}
	return true;
}

/* Find what stands in for the function that a request names. */
bool
sf_lambda_resolve(const SfResource *resource, Oid owner, SfResource *target,
				  Jsonb **payload, SfError *error)
{
	char	   *name = sf_json_get_cstring(*payload, "FunctionName");

	if (name != NULL && find_function(name, owner, target))
		return get_event(*payload, payload, error);
	if (sf_task_driver.resolve(resource, owner, target))
		return true;
	if (name == NULL)
		return sf_error_set(error, SF_ERR_RUNTIME,
							"The field 'FunctionName' is required but was missing");
	return not_found(name, error);
}

/* What an invocation returns. */
Jsonb *
sf_lambda_response(const Jsonb *result)
{
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	sf_json_add_string(&b, "ExecutedVersion", "$LATEST");
	sf_json_add(&b, "Payload", result ? result : sf_json_null());
	sf_json_open_object(&b, "SdkHttpMetadata");
	sf_json_open_object(&b, "AllHttpHeaders");
	sf_json_close_object(&b);
	sf_json_open_object(&b, "HttpHeaders");
	sf_json_close_object(&b);
	sf_json_add_int(&b, "HttpStatusCode", 200);
	sf_json_close_object(&b);
	sf_json_open_object(&b, "SdkResponseMetadata");
	sf_json_add_string(&b, "RequestId", sf_uuid_v7());
	sf_json_close_object(&b);
	sf_json_add_int(&b, "StatusCode", 200);
	return sf_json_finish(&b);
}

/* Copy a member of a SQL error's cause. */
static void
copy_member(SfJsonBuilder *b, const Jsonb *cause, const char *key)
{
	sf_json_add_string(b, key, sf_json_get_cstring(cause, key));
}

/* The lines of a context as a stack trace. */
static void
add_stack(SfJsonBuilder *b, char *context)
{
	char	   *line;

	if (context == NULL)
		return;
	sf_json_open_array(b, "stackTrace");
	for (line = strtok(context, "\n"); line != NULL; line = strtok(NULL, "\n"))
		sf_json_add_string(b, NULL, line);
	sf_json_close_array(b);
}

/* The error object of a function that failed, as JSON text. */
static char *
error_object(const SfError *error)
{
	Jsonb	   *cause = NULL;
	char	   *message;
	bool		is_object;
	SfJsonBuilder b;

	is_object = error->cause != NULL &&
		sf_json_parse(error->cause, strlen(error->cause), &cause) &&
		JB_ROOT_IS_OBJECT(cause);
	if (is_object && sf_json_get(cause, "errorType") != NULL)
		return unconstify(char *, error->cause);	/* made by hand */
	sf_json_begin_object(&b);
	message = is_object ? sf_json_get_cstring(cause, "message") : NULL;
	sf_json_add_string(&b, "errorMessage", message ? message :
					   error->cause ? error->cause : "");
	sf_json_add_string(&b, "errorType", error->name);
	if (message != NULL)
	{
		copy_member(&b, cause, "sqlstate");
		copy_member(&b, cause, "detail");
		copy_member(&b, cause, "hint");
		add_stack(&b, sf_json_get_cstring(cause, "context"));
	}
	return sf_json_to_cstring(sf_json_finish(&b));
}

/* Give the outcome of the SQL function that stands in the shape of Lambda's. */
void
sf_lambda_outcome(const SfResource *resource, SfTaskOutcome *outcome)
{
	bool		invoke = sf_lambda_is_invoke(resource);

	if (outcome->ok)
	{
		if (invoke)
			outcome->output = sf_lambda_response(outcome->output);
		return;
	}
	if ((invoke || is_function(resource)) && outcome->error.name != NULL &&
		strncmp(outcome->error.name, "States.", 7) != 0 &&
		strncmp(outcome->error.name, "Lambda.", 7) != 0)
		outcome->error.cause = error_object(&outcome->error);
}
