/*
 * node_gather.c
 *		What all other nodes say to a question, for the coordinator to put together with its own answer.
 *
 * All are asked at the same time.  What came of it is JSON: [{node, name, answer}], of a node that gave no answer with
 * an error instead.
 */
#include "postgres_fe.h"

#include "tools/client/json_text.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"

/* A request whose nodes are asked */
typedef struct Gathering
{
	SfgFan		fan;			/* the first member */
	SfgRequest *request;
	SfgGathered gathered;
	PQExpBufferData answers;	/* JSON */
} Gathering;

/* The client has left, or waited too long. */
static void
gone(SfgRequest *request)
{
	Gathering  *gathering = request->route_data;

	sfg_fan_forget(&gathering->fan);
	termPQExpBuffer(&gathering->answers);
	free(gathering);
}

/* Why a node has not answered. */
static void
put_error(PQExpBuffer json, const SfgRequest *request, int node_index, const PGresult *result)
{
	char	   *message = sfc_primary_message(result);
	PQExpBufferData text;

	initPQExpBuffer(&text);
	if (result != NULL)
		sfg_node_log_error(request, node_index, "a node cannot answer", result);
	appendPQExpBufferStr(&text, *message != '\0' ? message : "it");
	if (*message == '\0')
		sfg_node_put_reason(&text, node_index);
	sfc_json_put_key(json, "error");
	sfc_json_put_string(json, sfc_buffer_data(&text));
	termPQExpBuffer(&text);
	free(message);
}

/* A node has answered, or not (NULL).  A release that does not know the question has a null. */
static void
node_answered(SfgFan *fan, int node_index, const PGresult *result)
{
	Gathering  *gathering = (Gathering *) fan;
	PQExpBuffer json = &gathering->answers;

	sfc_json_open(json, '{');
	sfg_node_put_json(json, node_index);
	if (sfg_call_has_value(result) && !PQgetisnull(result, 0, 0))
	{
		sfc_json_put_key(json, "answer");
		appendPQExpBufferStr(json, PQgetvalue(result, 0, 0));
	}
	else
		put_error(json, gathering->request, node_index, sfg_call_has_value(result) ? NULL : result);
	appendPQExpBufferChar(json, '}');
}

/* All other nodes have answered, as far as they do. */
static void
nodes_done(SfgFan *fan)
{
	Gathering  *gathering = (Gathering *) fan;
	SfgRequest *request = gathering->request;
	SfgGathered gathered = gathering->gathered;
	PQExpBufferData answers = gathering->answers;

	request->gone = NULL;
	free(gathering);
	appendPQExpBufferChar(&answers, ']');
	gathered(request, sfc_buffer_data(&answers));
	termPQExpBuffer(&answers);
}

/* Ask all nodes but the coordinator, with a role as the first value. */
void
sfg_nodes_gather(SfgRequest *request, const char *statement, int n, const char *const *values, SfgGathered gathered)
{
	Gathering  *gathering = pg_malloc0(sizeof(Gathering));

	gathering->fan.answered = node_answered;
	gathering->fan.done = nodes_done;
	gathering->request = request;
	gathering->gathered = gathered;
	initPQExpBuffer(&gathering->answers);
	appendPQExpBufferChar(&gathering->answers, '[');
	if (!sfg_nodes_are_known())
		appendPQExpBufferStr(&gathering->answers, "{\"error\":\"" SFG_NODES_NOT_KNOWN "\"}");
	request->route_data = gathering;
	request->gone = gone;
	sfg_fan_ask(&gathering->fan, sfg_nodes_all() & ~SFG_NODE_BIT(SFG_HERE), statement, n, values);
}
