/*
 * aws_answer.c
 *		Answers and errors in the shape of AWS JSON 1.0.
 *
 * An error of sf_aws_api has the name that AWS gives to it in its field
 * CONSTRAINT, and a reason in DATATYPE if there is one; other errors of SQL are
 * named here, by their SQLSTATE.
 */
#include "postgres_fe.h"

#include "client/json_text.h"
#include "client/log.h"
#include "gateway/aws_answer.h"
#include "gateway/call_error.h"

/* Errors without a name; a class stands for those that begin with it, "" for all others */
static const struct
{
	const char *code;
	unsigned	status;
	const char *type;
}			unnamed[] = {
	{"42501", MHD_HTTP_BAD_REQUEST, "AccessDeniedException"},
	{"28", MHD_HTTP_FORBIDDEN, "UnrecognizedClientException"},
	{"22", MHD_HTTP_BAD_REQUEST, "SerializationException"},
	{"54", MHD_HTTP_BAD_REQUEST, "SerializationException"},
	{"57", MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException"},
	{"53", MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException"},
	{"40", MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException"},
	{"08", MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException"},
	{"SF024", MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException"},
	{"SF", MHD_HTTP_BAD_REQUEST, "ValidationException"},
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
	sfw_json_open(&json, '{');
	sfw_json_put_key(&json, "__type");
	sfw_json_put_string(&json, type);
	sfw_json_put_key(&json, "message");
	/* Clients show an error without a message as an unknown one. */
	sfw_json_put_string(&json, *message != '\0' ? message : type);
	if (reason != NULL)
	{
		sfw_json_put_key(&json, "reason");
		sfw_json_put_string(&json, reason);
	}
	appendPQExpBufferChar(&json, '}');
	sfg_aws_answer(request, status, sfw_buffer_data(&json), json.len);
	termPQExpBuffer(&json);
}

/* Answer with an error. */
void
sfg_aws_error(SfgRequest *request, unsigned status, const char *type, const char *message)
{
	answer_named(request, status, type, message, NULL);
}

/* Answer that there is no such key: there is none, or its role cannot log in. */
void
sfg_aws_refuse_key(SfgRequest *request)
{
	sfg_aws_error(request, MHD_HTTP_FORBIDDEN, "UnrecognizedClientException",
				  "The security token included in the request is invalid.");
}

/* Give the name that sf_aws_api has given to an error, or NULL; a violated constraint has a name, too. */
static const char *
name_of(const PGresult *result)
{
	const char *name = PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
	bool		is_name = name != NULL && *name >= 'A' && *name <= 'Z' &&
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(name);

	return is_name && strncmp(sfw_sqlstate(result), "23", 2) != 0 ? name : NULL;
}

/* Answer with the error of a call. */
static void
answer_error(SfgRequest *request, const PGresult *result)
{
	char	   *message = sfw_primary_message(result);
	const char *sqlstate = sfw_sqlstate(result);
	const char *name = name_of(result);
	int			i = 0;

	if (strlen(message) > SFG_LARGEST_MESSAGE)
		message[sfw_utf8_clip(message, SFG_LARGEST_MESSAGE)] = '\0';
	while (strncmp(sqlstate, unnamed[i].code, strlen(unnamed[i].code)) != 0)
		i++;
	if (name == NULL && unnamed[i].status >= 500)
		sfw_log(SFW_WARNING, "a call has failed", "id", request->id, "sqlstate", sqlstate, "reason", message, NULL);
	if (name != NULL)
		answer_named(request, MHD_HTTP_BAD_REQUEST, name, message, PQresultErrorField(result, PG_DIAG_DATATYPE_NAME));
	else
		sfg_aws_error(request, unnamed[i].status, unnamed[i].type, message);
	free(message);
}

/* Answer with the result of a call; NULL: there was none. */
void
sfg_aws_result(SfgRequest *request, const PGresult *result)
{
	if (result == NULL)
		sfg_aws_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException", "the database gave no answer");
	else if (!sfg_call_has_value(result))
		answer_error(request, result);
	else if (PQgetlength(result, 0, 0) > SFG_LARGEST_ANSWER)
		sfg_aws_error(request, MHD_HTTP_BAD_REQUEST, "ResponseTooLargeException", "The answer has more than 64 MB");
	else
		sfg_aws_answer(request, MHD_HTTP_OK, PQgetvalue(result, 0, 0), (size_t) PQgetlength(result, 0, 0));
}
