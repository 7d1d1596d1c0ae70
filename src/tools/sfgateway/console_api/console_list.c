/*
 * console_list.c
 *		Lists of the console over all nodes.
 *
 * All other nodes are asked by sf_console_api_as().  What came of it goes along with the request to the database of the
 * session, which adds its own rows and puts all in order: the answer is that of sf_console_api(), as without nodes.  A
 * node that has not answered is named in it.
 */
#include "postgres_fe.h"

#include "tools/client/key_value.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/nodes/gateway_nodes.h"

/* $4 what other nodes have said.  NULL if the role was altered since the sign-in, or could not log in anew. */
#define CALL \
	"SELECT CASE WHEN @.sf_console_session() OPERATOR(pg_catalog.=) $3::pg_catalog.text" \
	" THEN @.sf_console_api($1::pg_catalog.text, $2::pg_catalog.jsonb OPERATOR(pg_catalog.||)" \
	" pg_catalog.jsonb_build_object('nodes', $4::pg_catalog.jsonb))::pg_catalog.text END"

/* The answer has come. */
static void
done(const PGresult *result, void *arg)
{
	sfg_console_answer(arg, result);
}

/* All other nodes have answered, as far as they do: ask the database of the session. */
static void
gathered(SfgRequest *request, const char *answers)
{
	SfgConsoleSession *session = sfg_console_session_of(request);
	const char *values[] = {request->what, request->body.data, session != NULL ? session->version : NULL, answers};

	if (session == NULL)
		sfg_console_answer(request, NULL);
	else if (sfg_console_revive(request, session))
		sfg_call_make(request, &session->pool, SFG_READ_ONLY CALL " FROM r", lengthof(values), values, done);
}

/* Tell whether an action is a list of the rows of all nodes. */
bool
sfg_console_is_list(const char *action)
{
	static const char *const lists[] = {"alerts", "executions", "inbox", "night", "tonight"};

	return sfc_is_one_of(action, lists, lengthof(lists));
}

/* Answer a list. */
void
sfg_console_list(SfgRequest *request, const SfgConsoleSession *session)
{
	const char *values[] = {session->role, request->what, request->body.data, "f"};

	sfg_nodes_gather(request, SFG_CONSOLE_NODE_CALL, lengthof(values), values, gathered);
}
