/*
 * console_call.c
 *		Actions of the console: POST /console/api/<action>.
 *
 * sf_console_api() makes the answers, on the connection of the session.  The
 * transaction can only read unless sf_console_actions() has the action.
 *
 * A connection outlasts changes of its role: that it is dropped, may no longer
 * log in, or has another password.  So each call asks sf_console_session() for
 * them, and the session ends instead.  A session that has lost its connection
 * with the database has a new one made by its next call.
 *
 * With several servers, an action on one execution or task of people that the database does not have, or that the role
 * may not read there, is done by the node that has it, by sf_console_api_as().  Lists are of all: see console_list.c.
 */
#include "postgres_fe.h"

#include "tools/client/key_value.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"

#define PREFIX "/console/api/"

/* NULL if the role was altered since the sign-in, or could not log in anew: then nothing is done. */
#define CALL "SELECT CASE WHEN @.sf_console_session() OPERATOR(pg_catalog.=) $3::pg_catalog.text" \
	" THEN @.sf_console_api($1::pg_catalog.text, $2::pg_catalog.jsonb)::pg_catalog.text END"

/* No row unless something that $4 names is here: behind CALL. */
#define IF_THERE_IS(what) " WHERE CASE WHEN @.sf_console_session() OPERATOR(pg_catalog.=) $3::pg_catalog.text THEN " \
	what " ELSE true END"
#define IF_EXECUTION IF_THERE_IS("EXISTS (SELECT FROM @.sf_executions AS e" \
	" WHERE e.execution_id OPERATOR(pg_catalog.=) $4::pg_catalog.text)")
#define IF_TASK IF_THERE_IS("@.sf_console_api('task', pg_catalog.jsonb_build_object('task', $4::pg_catalog.text))" \
	" OPERATOR(pg_catalog.<>) 'null'::pg_catalog.jsonb")

/* What the database of the session has to have for CALL to give a row */
typedef enum Presence
{
	ANYTHING,
	AN_EXECUTION,
	A_TASK,
	N_PRESENCES
} Presence;

/* Actions on one target, and where its name is in the request; the member "targets" is then a list of it alone */
static const struct
{
	const char *action;
	const char *member;
	SfgTargetKind kind;
}			targets[] = {
	{"acknowledge", "targets", SFG_TARGET_HOLDABLE},
	{"assign_task", "targets", SFG_TARGET_TASK},
	{"claim_task", "targets", SFG_TARGET_TASK},
	{"compare", "b", SFG_TARGET_EXECUTION},
	{"complete_task", "targets", SFG_TARGET_TASK},
	{"events", "execution_id", SFG_TARGET_EXECUTION},
	{"execution", "execution_id", SFG_TARGET_EXECUTION},
	{"executions", "parent", SFG_TARGET_EXECUTION},
	{"fail_task", "targets", SFG_TARGET_TASK},
	{"hold", "targets", SFG_TARGET_HOLDABLE},
	{"jobs", "execution_id", SFG_TARGET_EXECUTION},
	{"layout", "target", SFG_TARGET_EXECUTION},
	{"mark", "targets", SFG_TARGET_EXECUTION},
	{"payload", "execution_id", SFG_TARGET_EXECUTION},
	{"payload", "task", SFG_TARGET_TASK},
	{"plan", "execution_id", SFG_TARGET_EXECUTION},
	{"redrive", "targets", SFG_TARGET_EXECUTION},
	{"release", "targets", SFG_TARGET_HOLDABLE},
	{"release_task", "targets", SFG_TARGET_TASK},
	{"set_labels", "targets", SFG_TARGET_EXECUTION},
	{"state", "execution_id", SFG_TARGET_EXECUTION},
	{"stop", "targets", SFG_TARGET_EXECUTION},
	{"task", "task", SFG_TARGET_TASK},
	{"timeline", "execution_id", SFG_TARGET_EXECUTION},
};

/* Tell whether an action has a name that can be one. */
static bool
is_action(const char *action)
{
	size_t		len = strlen(action);

	return len > 0 && len < 64 && strspn(action, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

/* Tell whether an action of a session writes. */
static bool
writes(const SfgConsoleSession *session, const char *action)
{
	char	   *word = psprintf(" %s ", action);
	bool		found = strstr(session->writes, word) != NULL;

	free(word);
	return found;
}

/* Tell whether an action that may write is rolled back: then there is no change to tell of. */
static bool
is_rolled_back(const char *action)
{
	static const char *const actions[] = {"plan", "plan_alias", "plan_calendar", "plan_limit", "plan_schedule", "test_state"};

	return sfc_is_one_of(action, actions, lengthof(actions));
}

/* The answer of an action has come; without one, the session is over, or ends now. */
void
sfg_console_answer(SfgRequest *request, const PGresult *result)
{
	SfgConsoleSession *session = sfg_console_session_of(request);

	if (result == NULL && session == NULL)
	{
		sfg_answer_error(request, MHD_HTTP_UNAUTHORIZED, "the session has ended");
		return;
	}
	if (result == NULL && sfg_console_session_trouble(session) != NULL)
	{
		sfg_console_answer_down(request, session);
		return;
	}
	if (!sfg_call_has_value(result) || !PQgetisnull(result, 0, 0))
	{
		sfg_call_answer(request, result, "application/json");
		return;
	}
	if (session != NULL)
		sfg_console_session_end(session, "its role was altered");
	sfg_answer_refusal(request, MHD_HTTP_UNAUTHORIZED, "sign in again, because your role was altered", "role_altered");
}

/* The answer of an action has come. */
static void
done(const PGresult *result, void *arg)
{
	SfgRequest *request = arg;

	if (request->may_change)
		sfg_changes_note();
	if (request->may_change && result == NULL && sfg_console_session_of(request) != NULL)
		sfg_answer_unavailable(request, "the database gave no answer: look whether this was done",
							   sfg_availability_down_since());
	else
		sfg_console_answer(request, result);
}

/* Read a name, a text or a number; NULL: it is neither. */
static char *
read_name(SfcJson value)
{
	if (sfc_json_type(value) == '0')
		return pnstrdup(value.text, value.len);
	return sfc_json_type(value) == '"' ? sfc_json_text(value) : NULL;
}

/* Read the one name of a list; NULL: it has another number of elements. */
static char *
read_single(SfcJson list)
{
	SfcJsonWalk	walk = sfc_json_walk(list);
	SfcJson		key;
	SfcJson		first;
	SfcJson		second;

	if (!sfc_json_next(&walk, &key, &first) || sfc_json_next(&walk, &key, &second))
		return NULL;
	return read_name(first);
}

/* Find the target of an action, and its name; NULL: it is on none, or several. */
static char *
find_target(const char *action, SfcJson body, SfgTargetKind *kind)
{
	for (size_t i = 0; i < lengthof(targets); i++)
	{
		SfcJson		value;
		char	   *name;

		if (strcmp(targets[i].action, action) != 0 || !sfc_json_get(body, targets[i].member, &value))
			continue;
		*kind = targets[i].kind;
		name = sfc_json_type(value) == '[' ? read_single(value) : read_name(value);
		if (name == NULL || sfg_node_may_have(*kind, name))
			return name;
		free(name);
		return NULL;
	}
	return NULL;
}

/* Have the database of the session answer, if it has what is named (or NULL: in any case). */
static void
ask_here(SfgRequest *request, SfgConsoleSession *session, SfgTargetKind kind, const char *name, SfcDbDone answered)
{
	static const char *const calls[2][N_PRESENCES] = {
		{
			[ANYTHING] = SFG_READ_ONLY CALL " FROM r",
			[AN_EXECUTION] = SFG_READ_ONLY CALL " FROM r" IF_EXECUTION,
			[A_TASK] = SFG_READ_ONLY CALL " FROM r" IF_TASK
		},
		{[ANYTHING] = CALL,[AN_EXECUTION] = CALL IF_EXECUTION,[A_TASK] = CALL IF_TASK}
	};
	const char *values[] = {request->what, request->body.data, session->version, name};
	bool		may_write = writes(session, request->what);
	Presence	presence = name == NULL ? ANYTHING : kind == SFG_TARGET_TASK ? A_TASK : AN_EXECUTION;

	request->may_change = may_write && !is_rolled_back(request->what);
	sfg_call_make(request, &session->pool, calls[may_write][presence],
				  presence == ANYTHING ? lengthof(values) - 1 : lengthof(values), values, answered);
}

/* The answer of a node has come. */
static void
node_done(const PGresult *result, void *arg)
{
	SfgRequest *request = arg;

	if (request->may_change)
		sfg_changes_note();
	if (request->may_change && result == NULL)
		sfg_answer_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the node gave no answer: look whether this was done");
	else
		sfg_call_answer(request, result, "application/json");
}

/* Have a node answer, as the role of the session. */
static void
ask_node(SfgRequest *request, const SfgConsoleSession *session, int node_index)
{
	bool		may_write = writes(session, request->what);
	const char *values[] = {session->role, request->what, request->body.data, may_write ? "t" : "f"};

	sfg_node_request_call(request, node_index, SFG_CONSOLE_NODE_CALL, lengthof(values), values, node_done);
}

/* It is known which node has the target of an action, or not; of one that none has it is the coordinator. */
static void
located(SfgRequest *request, int node_index, unsigned status, const char *why)
{
	SfgConsoleSession *session = sfg_console_session_of(request);

	if (session == NULL)
		sfg_answer_error(request, MHD_HTTP_UNAUTHORIZED, "the session has ended");
	else if (node_index == SFG_NO_NODE)
		sfg_answer_error(request, status, why);
	else if (node_index != SFG_HERE)
		ask_node(request, session, node_index);
	else if (sfg_console_revive(request, session))
		ask_here(request, session, SFG_TARGET_EXECUTION, NULL, done);
}

/* The database of the session has answered, or does not have the target of an action: ask the nodes. */
static void
here_done(const PGresult *result, void *arg)
{
	SfgRequest *request = arg;
	SfgConsoleSession *session = sfg_console_session_of(request);
	SfgTargetKind kind;
	SfcJson		body;
	char	   *name;

	if (session == NULL || result == NULL || PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) > 0 ||
		!sfg_console_body(request, &body))
	{
		done(result, request);
		return;
	}
	name = find_target(request->what, body, &kind);
	sfg_node_locate(request, session->role, kind, name, sfg_nodes_all() & ~SFG_NODE_BIT(SFG_HERE), located);
	free(name);
}

/* Check the header of a request; false: it may not act, and is answered. */
bool
sfg_console_check(SfgRequest *request)
{
	return sfg_console_guard(request) != NULL;
}

/* POST /console/api/<action> */
void
sfg_console_api(SfgRequest *request)
{
	SfgConsoleSession *session = sfg_console_guard(request);
	const char *action = request->path + strlen(PREFIX);
	SfgTargetKind kind = SFG_TARGET_EXECUTION;
	SfcJson		body;
	char	   *name;

	if (session == NULL)
		return;
	if (!is_action(action))
	{
		sfg_answer_error(request, MHD_HTTP_NOT_FOUND, "there is no such action");
		return;
	}
	if (!sfg_console_body(request, &body) || !sfg_console_revive(request, session))
		return;
	strlcpy(request->what, action, sizeof(request->what));
	name = sfg_config.nodes ? find_target(action, body, &kind) : NULL;
	if (name != NULL)
		ask_here(request, session, kind, name, here_done);
	else if (sfg_config.nodes && sfg_console_is_list(action))
		sfg_console_list(request, session);
	else
		ask_here(request, session, kind, NULL, done);
	free(name);
}
