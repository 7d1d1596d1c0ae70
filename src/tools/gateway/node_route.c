/*
 * node_route.c
 *		Which node answers a request of the AWS API.
 *
 *		an execution or a Map run	the one that has it, by its ARN
 *		a task token				the one whose number is in it
 *		StartExecution				the coordinator, or the node of the key, which the coordinator names
 *		all others					the coordinator
 *
 * An ARN does not say where its execution is, and a node that was given a token may have passed its execution on.  So
 * nodes are asked in turns: first where it was seen last, or the node that the token has; then the node that an error
 * names, in the field TABLE NAME; then the coordinator and all others.  Who does not have what is asked for has done
 * nothing, so the request itself is the question, and the first that has it answers.  If none does, and some could not
 * be asked, it may be there: the answer is an error that names them.
 */
#include "postgres_fe.h"

#include <openssl/evp.h>

#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/gateway/aws_api.h"
#include "tools/gateway/call_error.h"
#include "tools/gateway/console.h"
#include "tools/gateway/gateway_config.h"
#include "tools/gateway/gateway_nodes.h"

/* What a request names that is on one node */
typedef enum Kind
{
	BY_ARN,
	BY_TOKEN,
	BY_KEY
} Kind;

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

/* A request that is on its way from node to node */
typedef struct Turn
{
	SfgRequest *request;
	char	   *role;
	const char *trace;			/* a header of the request, or NULL */
	Kind		kind;
	bool		writes;
	char	   *arn;			/* or token; NULL of a start */
	int			first;			/* the place to ask next; -1: any */
	uint64		left;			/* places to ask */
	uint64		asked;
	uint64		missing;		/* places that could not be asked */
	int			place;			/* that is asked */
	SfgCall    *call;
	bool		is_first;		/* it is where a token or a hint says */
	bool		has_hint;		/* the node in the token does not have the task: no other one need answer */
	SfgAwsError kept;			/* of the first that does not have what is asked for, or may not be asked by the role */
	bool		is_denied;		/* it is of the latter */
} Turn;

static void ask_next(Turn *turn);

/* Forget a request that is on its way. */
static void
free_turn(Turn *turn)
{
	turn->request->gone = NULL;
	sfg_aws_error_free(&turn->kept);
	free(turn->role);
	free(turn->arn);
	free(turn);
}

/* The client has left, or waited too long. */
static void
gone(SfgRequest *request)
{
	Turn	   *turn = request->state;

	if (turn->call != NULL)
		sfg_call_forget(turn->call);
	free_turn(turn);
}

/* Read the number of the node in a token; -1: it is none. */
static int
number_of_token(const char *token)
{
	unsigned char raw[9];
	uint64		execution_no;

	/* Its first twelve characters are its first nine bytes. */
	if (strlen(token) < 12 || EVP_DecodeBlock(raw, (const unsigned char *) token, 12) < (int) sizeof(raw))
		return -1;
	memcpy(&execution_no, raw, sizeof(execution_no));
	return (int) (pg_ntoh64(execution_no) >> 48);
}

/* Where to ask first. */
static int
first_place(const Turn *turn)
{
	if (turn->arn == NULL)		/* a start */
		return SFG_HERE;
	return turn->kind == BY_ARN ? sfg_hint_find(turn->arn, strlen(turn->arn)) :
		sfg_node_find(number_of_token(turn->arn));
}

/* Tell that nodes could not be asked, which may have what is asked for. */
static void
answer_missing(Turn *turn)
{
	SfgRequest *request = turn->request;
	PQExpBufferData text;

	initPQExpBuffer(&text);
	for (int place = 0; place < SFG_MOST_NODES; place++)
	{
		if ((turn->missing & SFG_NODE_BIT(place)) == 0)
			continue;
		if (text.len > 0)
			appendPQExpBufferStr(&text, ", ");
		sfg_node_put_silence(&text, place);
	}
	free_turn(turn);
	sfg_aws_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException", sfw_buffer_data(&text));
	termPQExpBuffer(&text);
}

/* No node is left to be asked. */
static void
answer_none(Turn *turn)
{
	SfgRequest *request = turn->request;
	SfgAwsError error;

	if (turn->missing != 0 && !turn->has_hint)
	{
		answer_missing(turn);
		return;
	}
	error = turn->kept;
	turn->kept = (SfgAwsError) {.status = 0};
	free_turn(turn);
	sfg_aws_error_answer(request, &error);
	sfg_aws_error_free(&error);
}

/* Remember where an execution is that has been found, or that has begun elsewhere. */
static void
note_place(const Turn *turn, const PGresult *result)
{
	SfwJson		answer;
	SfwJson		arn;

	if (turn->kind == BY_ARN)
		sfg_hint_note(turn->arn, strlen(turn->arn), turn->place);
	else if (turn->kind == BY_KEY && turn->place != SFG_HERE &&
			 sfw_json_parse(PQgetvalue(result, 0, 0), (size_t) PQgetlength(result, 0, 0), &answer) &&
			 sfw_json_get(answer, "executionArn", &arn) && sfw_json_type(arn) == '"')
	{
		char	   *text = sfw_json_text(arn);

		sfg_hint_note(text, strlen(text), turn->place);
		free(text);
	}
}

/* What an answer of a node means */
typedef enum Outcome
{
	ANSWER,						/* it has what is asked for */
	ELSEWHERE,					/* it does not */
	DENIED,						/* the role may not do this there, or not be acted for */
	NO_ANSWER					/* it cannot tell */
} Outcome;

/* Tell whether an error says that what a request names is not on the node. */
static bool
is_elsewhere(Kind kind, const char *sqlstate)
{
	switch (kind)
	{
		case BY_ARN:
			return strcmp(sqlstate, "SF005") == 0;
		case BY_TOKEN:
			return strcmp(sqlstate, "SF019") == 0 || strcmp(sqlstate, "SF020") == 0;
		case BY_KEY:
			return strcmp(sqlstate, "SF041") == 0;
	}
	return false;
}

/* Tell what an error means.  One that has no function of the gateway's, for its schema is too old, cannot tell. */
static Outcome
outcome_of(const Turn *turn, const PGresult *result)
{
	const char *sqlstate = sfw_sqlstate(result);

	if (is_elsewhere(turn->kind, sqlstate))
		return ELSEWHERE;
	if (turn->kind == BY_ARN && (strcmp(sqlstate, "42501") == 0 || strncmp(sqlstate, "28", 2) == 0))
		return DENIED;
	if (sfg_aws_is_down(result) || (strcmp(sqlstate, "42883") == 0 && turn->place != SFG_HERE))
		return NO_ANSWER;
	return ANSWER;
}

/* Keep the error of a node for the case that no other one has what is asked for; that a right is missing says more. */
static void
keep_error(Turn *turn, const PGresult *result, bool is_denied)
{
	if (turn->kept.status != 0 && (turn->is_denied || !is_denied))
		return;
	sfg_aws_error_free(&turn->kept);
	turn->kept = sfg_aws_error_read(result);
	turn->is_denied = is_denied;
}

/* A node does not have what is asked for: go where it says, if it does. */
static void
go_elsewhere(Turn *turn, const PGresult *result)
{
	const char *number = PQresultErrorField(result, PG_DIAG_TABLE_NAME);
	int			place = number != NULL ? sfg_node_find(atoi(number)) : -1;

	if (place >= 0 && (turn->asked & SFG_NODE_BIT(place)) == 0)
	{
		turn->first = place;
		turn->left |= SFG_NODE_BIT(place);
	}
}

/* Answer the request with what a node has said. */
static void
answer(Turn *turn, const PGresult *result)
{
	SfgRequest *request = turn->request;

	if (sfg_call_has_value(result))
		note_place(turn, result);
	free_turn(turn);
	sfg_aws_result(request, result);
}

/* A node has answered, or not (NULL). */
static void
answered(const PGresult *result, void *arg)
{
	Turn	   *turn = arg;
	Outcome		outcome = NO_ANSWER;

	turn->call = NULL;
	if (turn->writes)
		sfg_changes_note();
	if (result != NULL)
		outcome = sfg_call_has_value(result) ? ANSWER : outcome_of(turn, result);
	if (outcome == ANSWER)
	{
		answer(turn, result);
		return;
	}
	if (outcome == ELSEWHERE)
	{
		turn->has_hint |= turn->is_first && turn->kind == BY_TOKEN;
		keep_error(turn, result, false);
		go_elsewhere(turn, result);
	}
	else if (outcome == DENIED)
		keep_error(turn, result, true);
	else
		turn->missing |= SFG_NODE_BIT(turn->place);
	if (outcome != ELSEWHERE && result != NULL)
		sfg_node_log_error(turn->request, turn->place, "a node cannot answer", result);
	turn->is_first = false;
	ask_next(turn);
}

/* Take the next place to ask; -1: none is left. */
static int
take_place(Turn *turn)
{
	int			place = turn->first;

	turn->first = -1;
	if (place < 0 || (turn->left & SFG_NODE_BIT(place)) == 0)
	{
		turn->is_first = false;
		place = turn->left == 0 ? -1 : pg_rightmost_one_pos64(turn->left);
	}
	if (place >= 0)
	{
		turn->left &= ~SFG_NODE_BIT(place);
		turn->asked |= SFG_NODE_BIT(place);
	}
	return place;
}

/* Ask the next node that answers, or end. */
static void
ask_next(Turn *turn)
{
	const SfgRequest *request = turn->request;
	const char *values[4] = {turn->role, request->what, request->body.data, turn->trace};
	SfgNodeUse	use = strcmp(request->what, "StartSyncExecution") == 0 ? SFG_NODE_SYNC : SFG_NODE_CALL;

	while ((turn->place = take_place(turn)) >= 0)
	{
		turn->call = sfg_node_call(turn->place, use, turn->trace == NULL ? SFG_AWS_CALL : SFG_AWS_TRACED_CALL,
								   turn->trace == NULL ? 3 : 4, values, answered, turn);
		if (turn->call != NULL)
			return;
		turn->missing |= SFG_NODE_BIT(turn->place);
	}
	answer_none(turn);
}

/* Read what a request names; NULL: nothing. */
static char *
read_member(const SfgRequest *request, const char *member)
{
	SfwJson		body;
	SfwJson		value;

	if (!sfw_json_parse(request->body.data, request->body.len, &body) || !sfw_json_get(body, member, &value) ||
		sfw_json_type(value) != '"')
		return NULL;
	return sfw_json_text(value);
}

/* Begin to ask nodes. */
static void
begin(SfgRequest *request, const char *role, const char *trace, Kind kind, bool writes, char *arn)
{
	Turn	   *turn = pg_malloc0(sizeof(Turn));

	turn->request = request;
	turn->role = pg_strdup(role);
	turn->trace = trace;
	turn->kind = kind;
	turn->writes = writes;
	turn->arn = arn;
	turn->first = first_place(turn);
	turn->is_first = turn->first >= 0;
	turn->left = kind == BY_KEY ? SFG_NODE_BIT(SFG_HERE) : sfg_nodes_all();
	request->state = turn;
	request->gone = gone;
	ask_next(turn);
}

/* Answer a request by the node that has what it names; false: it names nothing that is on one node. */
static bool
route(SfgRequest *request, const char *role, const char *trace)
{
	for (size_t i = 0; i < lengthof(routes); i++)
	{
		char	   *arn = NULL;

		if (strcmp(routes[i].action, request->what) != 0)
			continue;
		if (routes[i].member != NULL)
			arn = read_member(request, routes[i].member);
		if (arn == NULL && routes[i].kind != BY_KEY)
			return false;
		begin(request, role, trace, routes[i].kind, routes[i].writes, arn);
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
	sfg_aws_refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "ServiceUnavailableException",
				   "the coordinator has not said yet which nodes there are");
	return true;
}
