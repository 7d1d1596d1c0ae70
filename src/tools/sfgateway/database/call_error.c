/*
 * call_error.c
 *		Calls for requests, and what their errors mean for clients.
 */
#include "postgres_fe.h"

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/client/sqlstate.h"
#include "tools/sfgateway/database/call_error.h"

/* The client has left before its call was done. */
static void
forget_call(SfgRequest *request)
{
	sfg_call_forget(request->route_data);
}

/* Have a request wait for a call, and forget it if the client leaves; false: the call is NULL, as there is none. */
bool
sfg_call_wait(SfgRequest *request, SfgCall *call)
{
	request->route_data = call;
	request->gone = call != NULL ? forget_call : NULL;
	return call != NULL;
}

/* Make a call whose result answers a request; done gets the request. */
void
sfg_call_make(SfgRequest *request, SfgPool *pool, const char *statement, int n, const char *const *values,
			  SfcDbDone done)
{
	if (!sfg_call_wait(request, sfg_pool_call(pool, statement, n, values, done, request)))
		sfg_answer_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "too many calls wait for the database");
}

/* SQLSTATEs and the status of the answer; a class stands for those that begin with it. */
static const struct
{
	const char *code;
	unsigned	status;
}			statuses[] = {
	{SFC_SQLSTATE(STATE_MACHINE_DOES_NOT_EXIST), MHD_HTTP_NOT_FOUND},
	{SFC_SQLSTATE(EXECUTION_DOES_NOT_EXIST), MHD_HTTP_NOT_FOUND},
	{SFC_SQLSTATE(RESOURCE_DOES_NOT_EXIST), MHD_HTTP_NOT_FOUND},
	{SFC_SQLSTATE(ACTIVITY_DOES_NOT_EXIST), MHD_HTTP_NOT_FOUND},
	{SFC_SQLSTATE(STATE_MACHINE_IN_USE), MHD_HTTP_CONFLICT},
	{SFC_SQLSTATE(EXECUTION_ALREADY_EXISTS), MHD_HTTP_CONFLICT},
	{SFC_SQLSTATE(EXECUTION_RUNNING), MHD_HTTP_CONFLICT},
	{SFC_SQLSTATE(EXECUTION_NOT_REDRIVABLE), MHD_HTTP_CONFLICT},
	{SFC_SQLSTATE(INPUT_DIFFERS), MHD_HTTP_CONFLICT},
	{SFC_SQLSTATE(ACTIVITY_ALREADY_EXISTS), MHD_HTTP_CONFLICT},
	{SFC_SQLSTATE(EXECUTION_CHANGED), MHD_HTTP_CONFLICT},
	{SFC_SQLSTATE(EXECUTION_LOCKED), MHD_HTTP_CONFLICT},
	{SFC_SQLSTATE(NOT_DRIVEN), MHD_HTTP_SERVICE_UNAVAILABLE},
	{SFC_SQLSTATE(SCHEDULER_UNAVAILABLE), MHD_HTTP_SERVICE_UNAVAILABLE},
	{SFC_ERRCLASS, MHD_HTTP_BAD_REQUEST},
	{ERRCODE_INSUFFICIENT_PRIVILEGE, MHD_HTTP_FORBIDDEN},
	{ERRCODE_NO_DATA, MHD_HTTP_NOT_FOUND},
	{ERRCODE_NO_DATA_FOUND, MHD_HTTP_NOT_FOUND},
	{ERRCODE_UNDEFINED_OBJECT, MHD_HTTP_NOT_FOUND},
	{ERRCLASS_TRANSACTION_ROLLBACK, MHD_HTTP_CONFLICT},
	{ERRCLASS_INTEGRITY_CONSTRAINT, MHD_HTTP_CONFLICT},
	{ERRCODE_LOCK_NOT_AVAILABLE, MHD_HTTP_CONFLICT},
	{ERRCLASS_TRANSACTION_STATE, MHD_HTTP_CONFLICT},
	{ERRCLASS_FEATURE_NOT_SUPPORTED, MHD_HTTP_BAD_REQUEST},
	{ERRCLASS_DATA, MHD_HTTP_BAD_REQUEST},
	{ERRCLASS_PROGRAM_LIMIT, MHD_HTTP_BAD_REQUEST},
	{ERRCODE_RAISE_EXCEPTION, MHD_HTTP_BAD_REQUEST},
	{ERRCLASS_RESOURCES, MHD_HTTP_SERVICE_UNAVAILABLE},
	{ERRCLASS_OPERATOR_INTERVENTION, MHD_HTTP_SERVICE_UNAVAILABLE},
	{ERRCLASS_CONNECTION, MHD_HTTP_SERVICE_UNAVAILABLE},
};

/* The status of the answer for an error. */
static unsigned
error_status(const char *sqlstate)
{
	for (size_t i = 0; i < lengthof(statuses); i++)
	{
		if (sfc_sqlstate_is(sqlstate, statuses[i].code))
			return statuses[i].status;
	}
	return MHD_HTTP_INTERNAL_SERVER_ERROR;
}

/* Append a field of an error, if there is one. */
static void
put_field(PQExpBuffer json, const PGresult *result, const char *key, int field)
{
	const char *value = PQresultErrorField(result, field);
	size_t		len;

	if (value == NULL)
		return;
	len = strlen(value);
	sfc_json_put_key(json, key);
	sfc_json_put_bytes(json, value, len > SFG_LARGEST_MESSAGE ? sfc_utf8_clip(value, SFG_LARGEST_MESSAGE) : len);
}

/* Answer with the error of a call; result is NULL if there was none. */
static void
answer_call_error(SfgRequest *request, const PGresult *result)
{
	PQExpBufferData json;
	const char *sqlstate = result != NULL ? sfc_sqlstate(result) : "";

	if (*sqlstate == '\0')
	{
		sfg_answer_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the database gave no answer");
		return;
	}
	initPQExpBuffer(&json);
	sfc_json_open(&json, '{');
	sfc_json_put_key(&json, "error");
	sfc_json_open(&json, '{');
	put_field(&json, result, "message", PG_DIAG_MESSAGE_PRIMARY);
	put_field(&json, result, "detail", PG_DIAG_MESSAGE_DETAIL);
	put_field(&json, result, "hint", PG_DIAG_MESSAGE_HINT);
	put_field(&json, result, "sqlstate", PG_DIAG_SQLSTATE);
	if (sfc_sqlstate_is(sqlstate, SFC_SQLSTATE(FORM)))
	{
		put_field(&json, result, "pointer", PG_DIAG_COLUMN_NAME);
		put_field(&json, result, "problem", PG_DIAG_DATATYPE_NAME);
	}
	appendPQExpBufferStr(&json, "}}");
	sfg_answer_json(request, error_status(sqlstate), sfc_buffer_data(&json));
	termPQExpBuffer(&json);
}

/* Tell whether a call has given one value, as those of the gateway do. */
bool
sfg_call_has_value(const PGresult *result)
{
	return result != NULL && PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
}

/* Answer with the one value that a call has given, or with its error. */
void
sfg_call_answer(SfgRequest *request, const PGresult *result, const char *type)
{
	if (!sfg_call_has_value(result))
		answer_call_error(request, result);
	else if (PQgetlength(result, 0, 0) > SFG_LARGEST_ANSWER)
		sfg_answer_error(request, MHD_HTTP_INTERNAL_SERVER_ERROR, "the answer is too large");
	else
	{
		sfg_answer(request, MHD_HTTP_OK, type, PQgetvalue(result, 0, 0), (size_t) PQgetlength(result, 0, 0));
		sfg_answer_send(request);
	}
}
