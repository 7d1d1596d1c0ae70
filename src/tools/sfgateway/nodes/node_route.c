/*
 * node_route.c
 *		Which node answers a request of the AWS API, and which one has an execution.
 *
 *		an execution or a Map run	the one that has it, by its ARN
 *		a task token				the one whose number is in it
 *		a task of people			likewise
 *		StartExecution				the coordinator, or the node of the key, which the coordinator names
 *		all others					the coordinator
 *
 * An ARN does not say where its execution is, and a node that was given a token may have passed its execution on.
 * So nodes are asked one after the other: first where it was seen last, or the node that the token has; then the
 * node that an error names, in the field TABLE NAME; then the coordinator and all others.  A node that does not
 * have what is asked for has done nothing, so the request itself is the question, and the first that has it
 * answers.  If none does, and some could not be asked, it may be there: the answer is an error that names them.
 *
 * The console and agents name an execution by its id, or a task of people by its number.  DescribeExecution finds the
 * node then, or the console's question for the task.  What the coordinator refuses, or any node because of the id, the
 * coordinator says in its own words when it is asked; a node that has another error cannot tell.
 */
#include "postgres_fe.h"

#include <openssl/evp.h>

#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/client/sqlstate.h"
#include "tools/sfgateway/aws_api/aws_api.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"

/* What a request names that is on one node */
typedef enum Kind
{
	BY_ARN,
	BY_TOKEN,
	BY_KEY,
	BY_TASK
} Kind;

/* No row unless the role may see a task of people on the node */
#define TASK_CALL \
	"SELECT 1 WHERE @.sf_console_api_as($1::pg_catalog.name, $2::pg_catalog.text, $3::pg_catalog.jsonb)" \
	" OPERATOR(pg_catalog.<>) 'null'::pg_catalog.jsonb"

static const struct
{
	const char *action;
	Kind		kind;
	const char *member;
	bool		writes;
}			routes[] = {
	{"DescribeExecution", BY_ARN, "executionArn", false},
	{"DescribeMapRun", BY_ARN, "mapRunArn", false},
	{"DescribeStateMachineForExecution", BY_ARN, "executionArn", false},
	{"GetExecutionHistory", BY_ARN, "executionArn", false},
	{"ListExecutions", BY_ARN, "mapRunArn", false},
	{"ListMapRuns", BY_ARN, "executionArn", false},
	{"RedriveExecution", BY_ARN, "executionArn", true},
	{"SendTaskFailure", BY_TOKEN, "taskToken", true},
	{"SendTaskHeartbeat", BY_TOKEN, "taskToken", true},
	{"SendTaskSuccess", BY_TOKEN, "taskToken", true},
	{"StartExecution", BY_KEY, NULL, true},
	{"StartSyncExecution", BY_KEY, NULL, true},
	{"StopExecution", BY_ARN, "executionArn", true},
	{"UpdateMapRun", BY_ARN, "mapRunArn", true},
};

/* Of which answers the error is that a search has kept */
typedef enum KeptError
{
	KEPT_NONE,
	KEPT_ELSEWHERE,				/* a node does not have what is asked for */
	KEPT_DENIED					/* the role may not ask a node, which says more */
} KeptError;

/* A request that is on its way from node to node, until one has what it names */
typedef struct NodeSearch
{
	SfgRequest *request;
	SfgLocated	located;		/* gets the node, instead of an answer to the request; or NULL */
	const char *action;
	const char *body;
	char	   *own_body;		/* if it is not that of the request */
	char	   *role;
	const char *trace;			/* a header of the request, or NULL */
	Kind		kind;
	bool		writes;
	char	   *arn;			/* or token, or number of a task; NULL of a start */
	int			next;			/* the node to ask next; SFG_NO_NODE: any */
	uint64		left;			/* nodes to ask */
	uint64		asked;
	uint64		missing;		/* nodes that could not be asked */
	int			node_index;		/* that is asked */
	SfgCall    *call;
	bool		is_named;		/* by a token, the cache or an error: the node that is asked */
	bool		is_over;		/* the node that a token or an error names does not have the task: none has */
	char	   *unknown;		/* the number of a node that an error names, and that is none of ours; or NULL */
	KeptError	kept_of;		/* the first answer of those that say most */
	SfgAwsError kept;			/* not KEPT_NONE: its error */
} NodeSearch;

static void ask_next(NodeSearch *search);

/* Forget a request that is on its way. */
static void
free_search(NodeSearch *search)
{
	search->request->gone = NULL;
	sfg_aws_error_free(&search->kept);
	free(search->own_body);
	free(search->unknown);
	free(search->role);
	free(search->arn);
	free(search);
}

/* The client has left, or waited too long. */
static void
gone(SfgRequest *request)
{
	NodeSearch *search = request->route_data;

	if (search->call != NULL)
		sfg_call_forget(search->call);
	free_search(search);
}

/* Read the number of the node in a token; SFG_NO_NODE_NUMBER: it is no token. */
static int
number_of_token(const char *token)
{
	unsigned char raw[9];
	uint64		execution_no;

	/* Its first twelve characters are its first nine bytes. */
	if (strlen(token) < 12 || EVP_DecodeBlock(raw, (const unsigned char *) token, 12) < (int) sizeof(raw))
		return SFG_NO_NODE_NUMBER;
	memcpy(&execution_no, raw, sizeof(execution_no));
	return sfg_node_of_number(pg_ntoh64(execution_no));
}

/* Where to ask first, or SFG_NO_NODE. */
static int
first_node(const NodeSearch *search)
{
	if (search->arn == NULL)
		return SFG_HERE;
	switch (search->kind)
	{
		case BY_ARN:
			return sfg_node_cache_find(search->arn, strlen(search->arn));
		case BY_TOKEN:
			return sfg_node_find(number_of_token(search->arn));
		case BY_TASK:
			return sfg_node_find(sfg_node_of_number(atoll(search->arn)));
		case BY_KEY:
			break;
	}
	return SFG_HERE;
}

/* Tell who wants to know on which node an execution is. */
static void
tell_node(NodeSearch *search, int node_index)
{
	SfgRequest *request = search->request;
	SfgLocated	located = search->located;

	free_search(search);
	located(request, node_index, 0, NULL);
}

/* Tell that it cannot be told, with the status of the answer. */
static void
tell_failure(NodeSearch *search, unsigned status, const char *why)
{
	SfgRequest *request = search->request;
	SfgLocated	located = search->located;

	free_search(search);
	located(request, SFG_NO_NODE, status, why);
}

/* Tell that nodes could not be asked, which may have what is asked for, or that one is not known. */
static void
answer_missing(NodeSearch *search)
{
	SfgRequest *request = search->request;
	PQExpBufferData text;

	initPQExpBuffer(&text);
	sfg_nodes_put(&text, search->missing, true);
	if (search->unknown != NULL)
		appendPQExpBuffer(&text, "%snode %s is none of sf_nodes", text.len > 0 ? ", " : "", search->unknown);
	if (search->located != NULL)
		tell_failure(search, MHD_HTTP_SERVICE_UNAVAILABLE, sfc_buffer_data(&text));
	else
	{
		free_search(search);
		sfg_aws_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException", sfc_buffer_data(&text));
	}
	termPQExpBuffer(&text);
}

/* No node is left to be asked. */
static void
answer_none(NodeSearch *search)
{
	SfgRequest *request = search->request;
	SfgAwsError error;

	if ((search->missing != 0 || search->unknown != NULL) && !search->is_over)
	{
		answer_missing(search);
		return;
	}
	error = search->kept;
	search->kept = (SfgAwsError) {.status = 0};
	if (search->located != NULL && search->kept_of == KEPT_DENIED)
		tell_failure(search, MHD_HTTP_FORBIDDEN, error.message);
	else if (search->located != NULL)
		tell_node(search, SFG_HERE);
	else
	{
		free_search(search);
		sfg_aws_error_answer(request, &error);
	}
	sfg_aws_error_free(&error);
}

/* Remember where an execution is that has been found, or that has begun elsewhere. */
static void
note_node(const NodeSearch *search, const PGresult *result)
{
	SfcJson		answer;
	SfcJson		arn;

	if (search->kind == BY_ARN)
		sfg_node_cache_note(search->arn, strlen(search->arn), search->node_index);
	else if (search->kind == BY_KEY && search->node_index != SFG_HERE &&
			 sfc_json_parse(PQgetvalue(result, 0, 0), (size_t) PQgetlength(result, 0, 0), &answer) &&
			 sfc_json_get(answer, "executionArn", &arn) && sfc_json_type(arn) == '"')
	{
		char	   *text = sfc_json_text(arn);

		sfg_node_cache_note(text, strlen(text), search->node_index);
		free(text);
	}
}

/* What an answer of a node means */
typedef enum Meaning
{
	ANSWER,						/* it has what is asked for */
	ELSEWHERE,					/* it does not */
	DENIED,						/* the role may not do this there, or not be acted for */
	NO_ANSWER					/* it cannot tell */
} Meaning;

/* Tell whether an error says that what a request names is not on the node. */
static bool
is_elsewhere(Kind kind, const char *sqlstate)
{
	switch (kind)
	{
		case BY_ARN:
			return sfc_sqlstate_is(sqlstate, SFC_SQLSTATE(EXECUTION_DOES_NOT_EXIST));
		case BY_TOKEN:
			return sfc_sqlstate_is(sqlstate, SFC_SQLSTATE(INVALID_TASK_TOKEN)) ||
				sfc_sqlstate_is(sqlstate, SFC_SQLSTATE(TASK_TIMED_OUT));
		case BY_KEY:
			return sfc_sqlstate_is(sqlstate, SFC_SQLSTATE(NOT_AT_HOME));
		case BY_TASK:			/* it has no row, or the node no tasks of people */
			return *sqlstate == '\0' || sfc_sqlstate_is(sqlstate, SFC_SQLSTATE(INVALID_OPTION));
	}
	return false;
}

/* Tell what an error means.  One that has no function of the gateway's, for its schema is too old, cannot tell. */
static Meaning
meaning_of(const NodeSearch *search, const PGresult *result)
{
	const char *sqlstate = sfc_sqlstate(result);

	if (is_elsewhere(search->kind, sqlstate))
		return ELSEWHERE;
	if (search->located != NULL && (search->node_index == SFG_HERE || sfc_sqlstate_is(sqlstate, SFC_ERRCLASS)))
		return ANSWER;
	if ((search->kind == BY_ARN || search->kind == BY_TASK) &&
		(sfc_sqlstate_is(sqlstate, ERRCODE_INSUFFICIENT_PRIVILEGE) || sfc_sqlstate_is(sqlstate, ERRCLASS_AUTHORIZATION)))
		return DENIED;
	if (sfg_aws_is_down(result) ||
		(sfc_sqlstate_is(sqlstate, ERRCODE_UNDEFINED_FUNCTION) && search->node_index != SFG_HERE))
		return NO_ANSWER;
	return search->located != NULL ? NO_ANSWER : ANSWER;
}

/* Keep the error of a node for the case that no other one has what is asked for, unless one says as much already. */
static void
note_error(NodeSearch *search, const PGresult *result, KeptError kept_of)
{
	if (*sfc_sqlstate(result) == '\0' || search->kept_of >= kept_of)
		return;
	sfg_aws_error_free(&search->kept);
	search->kept = sfg_aws_error_read(result);
	search->kept_of = kept_of;
}

/*
 * A node does not have what is asked for: go where it says.  A task of which it does not say where, and neither does
 * its token, is nowhere else.
 */
static void
ask_elsewhere(NodeSearch *search, const PGresult *result)
{
	const char *number = PQresultErrorField(result, PG_DIAG_TABLE_NAME);
	int			node_index = number != NULL ? sfg_node_find(atoi(number)) : SFG_NO_NODE;

	if (search->kind == BY_TOKEN)
	{
		search->is_over |= number == NULL && search->is_named;
		if (number != NULL && node_index == SFG_NO_NODE && search->unknown == NULL)
			search->unknown = pg_strdup(number);
	}
	if (node_index != SFG_NO_NODE && (search->asked & SFG_NODE_BIT(node_index)) == 0)
	{
		search->next = node_index;
		search->left |= SFG_NODE_BIT(node_index);
	}
}

/* Answer the request with what a node has said. */
static void
answer(NodeSearch *search, const PGresult *result)
{
	SfgRequest *request = search->request;

	if (sfg_call_has_value(result))
		note_node(search, result);
	if (search->located != NULL)
	{
		tell_node(search, sfg_call_has_value(result) ? search->node_index : SFG_HERE);
		return;
	}
	free_search(search);
	sfg_aws_result(request, result);
}

/* A node has answered, or not (NULL). */
static void
answered(const PGresult *result, void *arg)
{
	NodeSearch *search = arg;
	Meaning		meaning = NO_ANSWER;

	search->call = NULL;
	if (search->writes)
		sfg_changes_note();
	if (result != NULL)
		meaning = sfg_call_has_value(result) ? ANSWER : meaning_of(search, result);
	if (meaning == ANSWER)
	{
		answer(search, result);
		return;
	}
	if (meaning == ELSEWHERE)
	{
		note_error(search, result, KEPT_ELSEWHERE);
		ask_elsewhere(search, result);
	}
	else if (meaning == DENIED)
		note_error(search, result, KEPT_DENIED);
	else
		search->missing |= SFG_NODE_BIT(search->node_index);
	if (meaning != ELSEWHERE && result != NULL)
		sfg_node_log_error(search->request, search->node_index, "a node cannot answer", result);
	ask_next(search);
}

/* Take the next node to ask; SFG_NO_NODE: none is left. */
static int
take_node(NodeSearch *search)
{
	int			node_index = search->next;

	search->next = SFG_NO_NODE;
	search->is_named = node_index != SFG_NO_NODE && (search->left & SFG_NODE_BIT(node_index)) != 0;
	if (!search->is_named)
		node_index = search->left == 0 ? SFG_NO_NODE : pg_rightmost_one_pos64(search->left);
	if (node_index != SFG_NO_NODE)
	{
		search->left &= ~SFG_NODE_BIT(node_index);
		search->asked |= SFG_NODE_BIT(node_index);
	}
	return node_index;
}

/* Ask the next node that answers, or end. */
static void
ask_next(NodeSearch *search)
{
	const char *values[4] = {search->role, search->action, search->body, search->trace};
	const char *statement = search->trace == NULL ? SFG_AWS_CALL : SFG_AWS_TRACED_CALL;
	int			n = search->trace == NULL ? 3 : 4;
	SfgNodeUse	use = strcmp(search->action, "StartSyncExecution") == 0 ? SFG_NODE_SYNC : SFG_NODE_CALL;

	if (search->kind == BY_TASK)
		statement = TASK_CALL;
	while ((search->node_index = take_node(search)) != SFG_NO_NODE)
	{
		search->call = sfg_node_call(search->node_index, use, statement, n, values, answered, search);
		if (search->call != NULL)
			return;
		search->missing |= SFG_NODE_BIT(search->node_index);
	}
	answer_none(search);
}

/* Read what a request names; NULL: nothing. */
static char *
read_member(const SfgRequest *request, const char *member)
{
	SfcJson		body;
	SfcJson		value;

	if (!sfc_json_parse(request->body.data, request->body.len, &body) || !sfc_json_get(body, member, &value) ||
		sfc_json_type(value) != '"')
		return NULL;
	return sfc_json_text(value);
}

/* Begin a search for a request; its role and what it asks for are to be set. */
static NodeSearch *
begin_search(SfgRequest *request, Kind kind, char *arn)
{
	NodeSearch *search = pg_malloc0(sizeof(NodeSearch));

	search->request = request;
	search->action = request->what;
	search->body = request->body.data;
	search->kind = kind;
	search->arn = arn;
	search->next = first_node(search);
	search->left = kind == BY_KEY ? SFG_NODE_BIT(SFG_HERE) : sfg_nodes_all();
	request->route_data = search;
	request->gone = gone;
	return search;
}

/* Answer a request by the node that has what it names; false: it names nothing that is on one node. */
static bool
route(SfgRequest *request, const char *role, const char *trace)
{
	for (size_t i = 0; i < lengthof(routes); i++)
	{
		char	   *arn = NULL;
		NodeSearch *search;

		if (strcmp(routes[i].action, request->what) != 0)
			continue;
		if (routes[i].member != NULL)
			arn = read_member(request, routes[i].member);
		if (arn == NULL && routes[i].kind != BY_KEY)
			return false;
		search = begin_search(request, routes[i].kind, arn);
		search->role = pg_strdup(role);
		search->trace = trace;
		search->writes = routes[i].writes;
		ask_next(search);
		return true;
	}
	return false;
}

/* Answer a request that is not the coordinator's alone; false: it is. */
bool
sfg_node_answer(SfgRequest *request, const char *role, const char *trace)
{
	if (sfg_nodes_are_known())
		return sfg_node_list(request, role) || route(request, role, trace);
	sfg_aws_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException", SFG_NODES_NOT_KNOWN);
	return true;
}

/* Tell whether a name can be that of something on one node; what can be put on hold begins with its kind. */
bool
sfg_node_may_have(SfgTargetKind kind, const char *name)
{
	static const char *const others[] = {"activity:", "arn:", "event:", "human:", "schedule:", "sql:"};
	size_t		len = strlen(name);

	if (kind == SFG_TARGET_TASK)
		return len > 0 && len <= 18 && strspn(name, "0123456789") == len;
	for (size_t i = 0; kind == SFG_TARGET_HOLDABLE && i < lengthof(others); i++)
	{
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return false;
	}
	return strchr(name, ':') != NULL;
}

/* Ask some nodes, one after the other, which has what a role may read; of what none has it is the coordinator. */
static void
locate(SfgRequest *request, const char *role, Kind kind, char *arn, const char *action, PQExpBuffer body,
	   uint64 node_set, SfgLocated located)
{
	NodeSearch *search = begin_search(request, kind, arn);

	search->located = located;
	search->action = action;
	search->body = search->own_body = sfc_buffer_data(body);
	search->role = pg_strdup(role);
	search->left &= node_set;
	ask_next(search);
}

/* Find which of some nodes has an execution, by its id, or a task of people, by its number. */
void
sfg_node_locate(SfgRequest *request, const char *role, SfgTargetKind kind, const char *name,
				uint64 node_set, SfgLocated located)
{
	PQExpBufferData body;
	char	   *arn;

	if (!sfg_nodes_are_known())
	{
		located(request, SFG_NO_NODE, MHD_HTTP_SERVICE_UNAVAILABLE, SFG_NODES_NOT_KNOWN);
		return;
	}
	initPQExpBuffer(&body);
	if (kind == SFG_TARGET_TASK)
	{
		appendPQExpBuffer(&body, "{\"task\":\"%s\"}", name);
		locate(request, role, BY_TASK, pg_strdup(name), "task", &body, node_set, located);
		return;
	}
	arn = psprintf("arn:aws:states:::execution:%s", name);
	sfc_json_open(&body, '{');
	sfc_json_put_key(&body, "executionArn");
	sfc_json_put_string(&body, arn);
	appendPQExpBufferStr(&body, ",\"includedData\":\"METADATA_ONLY\"}");
	locate(request, role, BY_ARN, arn, "DescribeExecution", &body, node_set, located);
}
