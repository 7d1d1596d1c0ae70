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
 */
#include "postgres_fe.h"

#include "tools/gateway/call_error.h"
#include "tools/gateway/console.h"
#include "tools/gateway/database.h"

#define PREFIX "/console/api/"

/* NULL if the role was altered since the sign-in, or could not log in anew: then nothing is done. */
#define CALL "SELECT CASE WHEN @.sf_console_session() OPERATOR(pg_catalog.=) $3::pg_catalog.text" \
	" THEN @.sf_console_api($1::pg_catalog.text, $2::pg_catalog.jsonb)::pg_catalog.text END"

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

/* Tell whether an action that may write takes back what it has tried: then there is no change to tell of. */
static bool
is_trial(const char *action)
{
	static const char *const trials[] = {"plan", "plan_alias", "plan_calendar", "plan_limit", "plan_schedule", "test_state"};

	for (size_t i = 0; i < lengthof(trials); i++)
	{
		if (strcmp(trials[i], action) == 0)
			return true;
	}
	return false;
}

/* The answer of an action has come; without one, the session is over, or ends now. */
static void
answer(SfgRequest *request, const PGresult *result)
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
		sfg_answer_value(request, result, "application/json");
		return;
	}
	if (session != NULL)
		sfg_console_session_end(session, "its role was altered");
	sfg_answer_error(request, MHD_HTTP_UNAUTHORIZED, "sign in again, because your role was altered");
}

/* The answer of an action that changes nothing has come. */
static void
read_done(const PGresult *result, void *arg)
{
	answer(arg, result);
}

/* The answer of an action that may have changed something has come. */
static void
write_done(const PGresult *result, void *arg)
{
	SfgRequest *request = arg;

	sfg_changes_note();
	if (result == NULL && sfg_console_session_of(request) != NULL)
		sfg_answer_unavailable(request, "the database gave no answer: look whether this was done",
							   sfg_availability_down_since());
	else
		answer(request, result);
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
	const char *values[3] = {action, request->body.data};
	SfwJson		body;

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
	values[2] = session->version;
	if (writes(session, action))
		sfg_request_call(request, &session->pool, CALL, 3, values,
						 is_trial(action) ? read_done : write_done);
	else
		sfg_request_call(request, &session->pool, SFG_READ_ONLY CALL " FROM r", 3, values, read_done);
}
