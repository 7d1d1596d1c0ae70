/*
 * aws_call.c
 *		The API of AWS Step Functions: POST / with X-Amz-Target.
 *
 *		read the signature -> find its key -> verify -> call sf_aws_api_as()
 *
 * The database sees to it that actions that only read do not write.  The host of a
 * request means nothing: clients put sync- in front of it for some actions.
 */
#include "postgres_fe.h"

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/client/sqlstate.h"
#include "tools/sfgateway/aws_api/aws_api.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"

#define TARGET "AWSStepFunctions."

/* Most characters of a trace header, as traceHeader has */
#define MAX_TRACE_LENGTH 256

/* What the names of actions that read begin with */
static const char *const reading[] = {"Describe", "List", "GetExecutionHistory", "ValidateStateMachineDefinition"};

/* Refuse a request. */
static void
refuse(SfgRequest *request, const SfgRefusal *refusal)
{
	sfg_aws_refuse(request, refusal->status, refusal->type, refusal->message);
}

/* Tell whether an action only reads. */
static bool
only_reads(const char *action)
{
	for (size_t i = 0; i < lengthof(reading); i++)
	{
		if (strncmp(action, reading[i], strlen(reading[i])) == 0)
			return true;
	}
	return false;
}

/* The answer of an action that reads has come. */
static void
read_done(const PGresult *result, void *arg)
{
	sfg_aws_result(arg, result);
}

/* The answer of an action that writes has come. */
static void
write_done(const PGresult *result, void *arg)
{
	sfg_changes_note();
	sfg_aws_result(arg, result);
}

/* Count a request that may wait for long; false: its role has too many of them, and it is answered. */
static bool
may_wait(SfgRequest *request, const char *role)
{
	if (strcmp(request->what, "GetActivityTask") != 0 && strcmp(request->what, "StartSyncExecution") != 0)
		return true;
	request->waiting = sfg_waiting_begin(role);
	if (request->waiting == NULL)
		sfg_aws_refuse(request, MHD_HTTP_BAD_REQUEST, "ThrottlingException",
					  "Rate exceeded: too many requests of this role wait at the same time");
	return request->waiting != NULL;
}

/* The trace that a start comes with, in a header: what traceHeader may be; NULL: none. */
static const char *
find_trace(const SfgRequest *request)
{
	const char *header = sfg_request_header(request, "traceparent");

	if (strcmp(request->what, "StartExecution") != 0 && strcmp(request->what, "StartSyncExecution") != 0)
		return NULL;
	if (header == NULL)
		header = sfg_request_header(request, "X-Amzn-Trace-Id");
	if (header == NULL || *header == '\0' || strlen(header) > MAX_TRACE_LENGTH)
		return NULL;
	for (const char *p = header; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			return NULL;
	return header;
}

/* Run an action as the role of its key. */
static void
call(SfgRequest *request, const char *role, const char *key_id)
{
	const char *trace = find_trace(request);
	const char *values[4] = {role, request->what, request->body.data, trace};
	const char *statement = trace == NULL ? SFG_AWS_CALL : SFG_AWS_TRACED_CALL;
	int			n = trace == NULL ? 3 : 4;
	bool		is_sync = strcmp(request->what, "StartSyncExecution") == 0;

	if (is_sync)
		request->until = sfc_now() + sfg_config.sync_timeout + sfg_config.connect_timeout;
	if (strcmp(request->what, "GetActivityTask") == 0)
		sfg_activity_poll(request, role, key_id);
	else if (sfg_config.nodes && sfg_node_answer(request, role, trace))
		return;
	else if (is_sync)
		sfg_call_make(request, &sfg_sync_pool, statement, n, values, write_done);
	else
		sfg_call_make(request, &sfg_api_pool, statement, n, values,
					  only_reads(request->what) ? read_done : write_done);
}

/* The key of a request was found, or there is none (NULL). */
static void
key_found(SfgRequest *request, const char *role, SfgSecret *secret)
{
	const SfgSignature *signature = request->data;
	const SfgRefusal *refusal;
	SfcJson		body;

	if (role == NULL)
	{
		sfg_aws_refuse_key(request);
		return;
	}
	refusal = sfg_sigv4_verify(request, signature, secret);
	if (refusal != NULL)
	{
		refuse(request, refusal);
		return;
	}
	strlcpy(request->who, role, sizeof(request->who));
	sfg_crowd_sign_in(request->client, role);
	if (!sfc_json_parse(request->body.data, request->body.len, &body) || sfc_json_type(body) != '{')
		sfg_aws_refuse(request, MHD_HTTP_BAD_REQUEST, "SerializationException", "The body must be a JSON object");
	else if (may_wait(request, role))
		call(request, role, signature->key_id);
}

/* Read the action of a request; false: it has none. */
static bool
read_action(SfgRequest *request)
{
	const char *target = sfg_request_header(request, "X-Amz-Target");
	const char *action = target != NULL ? target + strlen(TARGET) : NULL;
	size_t		len;

	if (target == NULL || strncmp(target, TARGET, strlen(TARGET)) != 0)
		return false;
	len = strlen(action);
	if (len == 0 || len >= sizeof(request->what) ||
		strspn(action, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != len)
		return false;
	strlcpy(request->what, action, sizeof(request->what));
	return true;
}

/* Check the header of a request, but not its signature; false: it is refused. */
bool
sfg_aws_check(SfgRequest *request)
{
	const SfgRefusal *refusal;

	if (request->data == NULL)
		request->data = pg_malloc0(sizeof(SfgSignature));
	if (!read_action(request) ||
		MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, NULL, NULL) > 0)
	{
		sfg_aws_refuse(request, MHD_HTTP_BAD_REQUEST, "UnknownOperationException",
					  "X-Amz-Target must be AWSStepFunctions and an operation, at a path without a query");
		return false;
	}
	refusal = sfg_sigv4_read(request, request->data);
	if (refusal != NULL)
		refuse(request, refusal);
	return refusal == NULL;
}

/* POST / */
void
sfg_aws(SfgRequest *request)
{
	static const SfgAccessKeyUser user = {key_found, sfg_aws_result};
	const SfgSignature *signature;

	if (!sfg_aws_check(request))
		return;
	signature = request->data;
	sfg_access_key_find(request, signature->key_id, &user);
}

/*
 * Answers and errors in the shape of AWS JSON 1.0.
 *
 * An error of sf_aws_api has the name that AWS gives to it in its field
 * CONSTRAINT, and a reason in DATATYPE if there is one; other errors of SQL are
 * named here, by their SQLSTATE.
 */

/* Errors without a name; a class stands for those that begin with it, "" for all others */
static const struct
{
	const char *code;
	unsigned	status;
	const char *type;
}			unnamed[] = {
	{ERRCODE_INSUFFICIENT_PRIVILEGE, MHD_HTTP_BAD_REQUEST, "AccessDeniedException"},
	{ERRCLASS_AUTHORIZATION, MHD_HTTP_FORBIDDEN, "UnrecognizedClientException"},
	{ERRCLASS_DATA, MHD_HTTP_BAD_REQUEST, "SerializationException"},
	{ERRCLASS_PROGRAM_LIMIT, MHD_HTTP_BAD_REQUEST, "SerializationException"},
	{ERRCLASS_OPERATOR_INTERVENTION, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException"},
	{ERRCLASS_RESOURCES, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException"},
	{ERRCLASS_TRANSACTION_ROLLBACK, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException"},
	{ERRCLASS_CONNECTION, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException"},
	{SFC_SQLSTATE(SCHEDULER_UNAVAILABLE), MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException"},
	{SFC_ERRCLASS, MHD_HTTP_BAD_REQUEST, "ValidationException"},
	{"", MHD_HTTP_INTERNAL_SERVER_ERROR, "InternalFailure"},
};

/* Answer with JSON. */
void
sfg_aws_answer(SfgRequest *request, unsigned status, const char *json, size_t len)
{
	sfg_answer(request, status, "application/x-amz-json-1.0", json, len);
	sfg_answer_header(request, "x-amzn-RequestId", request->id);
	sfg_answer_send(request);
}

/* Answer with an error; the service gives a reason (or NULL) with some. */
static void
answer_named(SfgRequest *request, unsigned status, const char *type, const char *message, const char *reason)
{
	PQExpBufferData json;

	initPQExpBuffer(&json);
	sfc_json_open(&json, '{');
	sfc_json_put_key(&json, "__type");
	sfc_json_put_string(&json, type);
	sfc_json_put_key(&json, "message");
	/* Clients show an error without a message as an unknown one. */
	sfc_json_put_string(&json, *message != '\0' ? message : type);
	if (reason != NULL)
	{
		sfc_json_put_key(&json, "reason");
		sfc_json_put_string(&json, reason);
	}
	appendPQExpBufferChar(&json, '}');
	sfg_aws_answer(request, status, sfc_buffer_data(&json), json.len);
	termPQExpBuffer(&json);
}

/* Answer with an error. */
void
sfg_aws_refuse(SfgRequest *request, unsigned status, const char *type, const char *message)
{
	answer_named(request, status, type, message, NULL);
}

/* Answer that there is no such key: there is none, or its role cannot log in. */
void
sfg_aws_refuse_key(SfgRequest *request)
{
	sfg_aws_refuse(request, MHD_HTTP_FORBIDDEN, "UnrecognizedClientException",
				  "The security token included in the request is invalid.");
}

/* Give the name that sf_aws_api has given to an error, or NULL; a violated constraint has a name, too. */
static const char *
name_of(const PGresult *result)
{
	const char *name = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
	bool		is_name = name != NULL && *name >= 'A' && *name <= 'Z' &&
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(name);

	return is_name && strncmp(sfc_sqlstate(result), "23", 2) != 0 ? name : NULL;
}

/* Tell whether an error is that of a database which cannot answer now. */
bool
sfg_aws_is_down(const PGresult *result)
{
	const char *sqlstate = sfc_sqlstate(result);

	return sfc_sqlstate_is(sqlstate, ERRCLASS_CONNECTION) || sfc_sqlstate_is(sqlstate, ERRCLASS_RESOURCES) ||
		sfc_sqlstate_is(sqlstate, ERRCLASS_OPERATOR_INTERVENTION);
}

/* Read the error of a call. */
SfgAwsError
sfg_aws_error_read(const PGresult *result)
{
	const char *sqlstate = sfc_sqlstate(result);
	const char *name = name_of(result);
	const char *reason = name != NULL ? PQresultErrorField(result, PG_DIAG_DATATYPE_NAME) : NULL;
	SfgAwsError error = {.message = sfc_primary_message(result)};
	int			i = 0;

	if (strlen(error.message) > SFG_LARGEST_MESSAGE)
		error.message[sfc_utf8_clip(error.message, SFG_LARGEST_MESSAGE)] = '\0';
	while (!sfc_sqlstate_is(sqlstate, unnamed[i].code))
		i++;
	error.status = name != NULL ? MHD_HTTP_BAD_REQUEST : unnamed[i].status;
	error.type = pg_strdup(name != NULL ? name : unnamed[i].type);
	error.reason = reason != NULL ? pg_strdup(reason) : NULL;
	return error;
}

/* Answer with an error that was read. */
void
sfg_aws_error_answer(SfgRequest *request, const SfgAwsError *error)
{
	answer_named(request, error->status, error->type, error->message, error->reason);
}

/* Free an error that was read; there is none then. */
void
sfg_aws_error_free(SfgAwsError *error)
{
	free(error->type);
	free(error->message);
	free(error->reason);
	*error = (SfgAwsError) {.status = 0};
}

/* Answer with the error of a call. */
static void
answer_error(SfgRequest *request, const PGresult *result)
{
	SfgAwsError error = sfg_aws_error_read(result);

	if (error.status >= 500)
		sfc_log(SFC_LOG_WARNING, "a call has failed", "id", request->id, "sqlstate", sfc_sqlstate(result),
				"reason", error.message, NULL);
	sfg_aws_error_answer(request, &error);
	sfg_aws_error_free(&error);
}

/* Answer with the result of a call; NULL: there was none. */
void
sfg_aws_result(SfgRequest *request, const PGresult *result)
{
	if (result == NULL)
		sfg_aws_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException", "the database gave no answer");
	else if (!sfg_call_has_value(result))
		answer_error(request, result);
	else if (PQgetlength(result, 0, 0) > SFG_LARGEST_ANSWER)
		sfg_aws_refuse(request, MHD_HTTP_BAD_REQUEST, "ResponseTooLargeException", "The answer has more than 64 MB");
	else
		sfg_aws_answer(request, MHD_HTTP_OK, PQgetvalue(result, 0, 0), (size_t) PQgetlength(result, 0, 0));
}
