/*
 * mcp_message.c
 *		Messages of JSON-RPC 2.0, as the Model Context Protocol has them.
 *
 * A body is one message.  Lists of messages, which the protocol had in one of its
 * versions, are refused.  An id is a text or a number and is given back as it was
 * written.
 */
#include "postgres_fe.h"

#include "tools/client/json_text.h"
#include "tools/sfgateway/mcp/mcp.h"

/* No value */
static const SfcJson none = {NULL, 0};

/* Find a member, which may be null; without text: it is not there. */
static SfcJson
find(SfcJson object, const char *key)
{
	SfcJsonWalk	walk = sfc_json_walk(object);
	SfcJson		name;
	SfcJson		value;

	while (sfc_json_next(&walk, &name, &value))
	{
		if (sfc_json_is(name, key))
			return value;
	}
	return none;
}

/* Begin an answer to a message. */
static void
begin(PQExpBuffer json, SfcJson id)
{
	initPQExpBuffer(json);
	appendPQExpBufferStr(json, "{\"jsonrpc\":\"2.0\"");
	sfc_json_put_key(json, "id");
	sfc_json_put_value(json, id.text != NULL ? id : (SfcJson) {"null", 4});
}

/* Send an answer. */
static void
send_answer(SfgRequest *request, unsigned status, PQExpBuffer json)
{
	appendPQExpBufferChar(json, '}');
	sfg_answer(request, status, "application/json", sfc_buffer_data(json), json->len);
	sfg_answer_send(request);
	termPQExpBuffer(json);
}

/* Answer a request with its result, which is JSON. */
void
sfg_mcp_answer(SfgRequest *request, SfcJson id, const char *result, size_t len)
{
	PQExpBufferData json;

	begin(&json, id);
	sfc_json_put_key(&json, "result");
	sfc_json_put_value(&json, (SfcJson) {result, len});
	send_answer(request, MHD_HTTP_OK, &json);
}

/* Answer with an error. */
void
sfg_mcp_refuse(SfgRequest *request, unsigned status, SfcJson id, SfgMcpCode code, const char *reason)
{
	PQExpBufferData json;

	begin(&json, id);
	sfc_json_put_key(&json, "error");
	sfc_json_open(&json, '{');
	sfc_json_put_key(&json, "code");
	appendPQExpBuffer(&json, "%d", code);
	sfc_json_put_key(&json, "message");
	sfc_json_put_string(&json, reason);
	appendPQExpBufferChar(&json, '}');
	send_answer(request, status, &json);
}

/* Refuse a body that is no message. */
static bool
refuse(SfgRequest *request, SfcJson id, SfgMcpCode code, const char *reason)
{
	sfg_mcp_refuse(request, MHD_HTTP_BAD_REQUEST, id, code, reason);
	return false;
}

/* Read the name of a method, of which no known one is long. */
static void
read_method(SfcJson value, char *method, size_t size)
{
	char	   *text = sfc_json_text(value);

	strlcpy(method, strlen(text) < size ? text : "?", size);
	free(text);
}

/* Read the message of a body; false: it is none, and is answered. */
bool
sfg_mcp_read(SfgRequest *request, SfgMcpMessage *message)
{
	SfcJson		body;
	SfcJson		version;
	SfcJson		method;
	SfcJson		id;

	*message = (SfgMcpMessage) {.id = none};
	if (!sfc_json_parse(request->body.data, request->body.len, &body))
		return refuse(request, none, SFG_MCP_PARSE_ERROR, "the body is no JSON");
	if (sfc_json_type(body) == '[')
		return refuse(request, none, SFG_MCP_INVALID_REQUEST, "a body must be one message, not a list of them");
	version = find(body, "jsonrpc");
	if (version.text == NULL || !sfc_json_is(version, "2.0"))
		return refuse(request, none, SFG_MCP_INVALID_REQUEST, "the message is not one of JSON-RPC 2.0");
	id = find(body, "id");
	if (id.text != NULL && sfc_json_type(id) != '"' && sfc_json_type(id) != '0')
		return refuse(request, none, SFG_MCP_INVALID_REQUEST, "the id must be a text or a number");
	message->id = id;
	method = find(body, "method");
	/* The client answers what the gateway has not asked. */
	if (method.text == NULL && id.text != NULL && (find(body, "result").text != NULL || find(body, "error").text != NULL))
		return true;
	if (method.text == NULL || sfc_json_type(method) != '"')
		return refuse(request, id, SFG_MCP_INVALID_REQUEST, "the message has no method");
	read_method(method, message->method, sizeof(message->method));
	message->params = find(body, "params");
	if (message->params.text != NULL && sfc_json_type(message->params) != '{')
		return refuse(request, id, SFG_MCP_INVALID_PARAMS, "params must be an object");
	return true;
}
