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

#include "client/json_text.h"
#include "gateway/key_lookup.h"
#include "gateway/activity_poll.h"
#include "gateway/aws_answer.h"
#include "gateway/aws_call.h"
#include "gateway/call_error.h"
#include "gateway/changes.h"
#include "gateway/console_call.h"
#include "gateway/database.h"
#include "gateway/gateway_config.h"
#include "gateway/sigv4.h"
#include "gateway/long_waits.h"

#define TARGET "AWSStepFunctions."

/* What the names of actions that read begin with */
static const char *const reading[] = {"Describe", "List", "GetExecutionHistory", "ValidateStateMachineDefinition"};

/* Refuse a request. */
static void
refuse(SfgRequest *request, const SfgRefusal *refusal)
{
	sfg_aws_error(request, refusal->status, refusal->type, refusal->message);
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
		sfg_aws_error(request, MHD_HTTP_BAD_REQUEST, "ThrottlingException",
					  "Rate exceeded: too many requests of this role wait at the same time");
	return request->waiting != NULL;
}

/* Run an action as the role of its key. */
static void
call(SfgRequest *request, const char *role, const char *key_id)
{
	const char *values[3] = {role, request->what, request->body.data};

	if (strcmp(request->what, "GetActivityTask") == 0)
		sfg_activity_poll(request, role, key_id);
	else if (strcmp(request->what, "StartSyncExecution") == 0)
	{
		request->until = sfw_now() + sfg_config.sync_timeout + sfg_config.connect_timeout;
		sfg_request_call(request, &sfg_sync_pool, SFG_AWS_CALL, 3, values, write_done);
	}
	else
		sfg_request_call(request, &sfg_api_pool, SFG_AWS_CALL, 3, values,
						 only_reads(request->what) ? read_done : write_done);
}

/* The key of a request was found, or there is none (NULL). */
static void
key_found(SfgRequest *request, const char *role, SfgSecret *secret)
{
	const SfgSignature *signature = request->data;
	const SfgRefusal *refusal;
	SfwJson		body;

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
	sfg_crowd_sign_in(request->peer, role);
	if (!sfw_json_parse(request->body.data, request->body.len, &body) || sfw_json_type(body) != '{')
		sfg_aws_error(request, MHD_HTTP_BAD_REQUEST, "SerializationException", "The body must be a JSON object");
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
		sfg_aws_error(request, MHD_HTTP_BAD_REQUEST, "UnknownOperationException",
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
	const SfgSignature *signature;

	if (!sfg_aws_check(request))
		return;
	signature = request->data;
	sfg_access_key_find(request, signature->key_id, key_found, sfg_aws_result);
}
