/*
 * changes.c
 *		Telling pages of the console that something has changed.
 *
 *		POST /console/poll {"seen": token}	{"changed": true or false, "token", "down_since"}
 *
 * A page gives the token of the last answer, and is answered when there was a
 * change since, or after LONGEST.  Changes are numbered; those within COALESCE
 * have one number, and those that only a notification tells of within HEARD.
 *
 * Changes are what is done through the gateway, new tasks of activities, and what
 * sf_wait_change() tells of.  One call of that waits while pages do, for all of them;
 * a page that waits causes no query.
 *
 * That the database is down, or is back, is a change, too; down_since is there while
 * it is down.
 */
#include "postgres_fe.h"

#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/call_error.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/hashing.h"

#define LONGEST		25000
#define COALESCE	1000
#define HEARD		5000

/* Milliseconds after a call that has failed */
#define RETRY		5000

/* A page that waits */
typedef struct Waiter
{
	SfgRequest *request;
	SfcTimer	timer;
	dlist_node	node;
} Waiter;

static dlist_head waiters = DLIST_STATIC_INIT(waiters);
static char start[17];			/* tells the tokens of this process from those of another */
static int64_t number;			/* of the last change */
static int64_t told_at;
static SfcTimer tell_timer;
static SfcTimer watch_timer;
static bool watching;			/* a call waits for changes */
static char seen[24] = "0";		/* of executions, the last one */

/* Write the token of what has happened so far. */
static void
write_token(char *token, size_t size)
{
	if (*start == '\0')
		sfg_random_hex(start, 8);
	snprintf(token, size, "%s-%lld", start, (long long) number);
}

static void watch(void *arg);

/* Answer a poll. */
static void
answer(SfgRequest *request, bool changed)
{
	const char *since = sfg_availability_down_since();
	char		token[64];
	char		down[64] = "";
	char		json[192];

	write_token(token, sizeof(token));
	if (since != NULL)
		snprintf(down, sizeof(down), ",\"down_since\":\"%s\"", since);
	snprintf(json, sizeof(json), "{\"changed\":%s,\"token\":\"%s\"%s}", changed ? "true" : "false", token, down);
	sfg_answer_json(request, MHD_HTTP_OK, json);
}

/* Forget a page that waits. */
static void
forget(Waiter *waiter)
{
	sfc_timer_clear(&waiter->timer);
	dlist_delete(&waiter->node);
	free(waiter);
}

/* The page has left. */
static void
gone(SfgRequest *request)
{
	forget(request->route_data);
}

/* End the wait of a page. */
static void
release(Waiter *waiter, bool changed)
{
	SfgRequest *request = waiter->request;

	forget(waiter);
	answer(request, changed);
}

/* A page has waited for long enough. */
static void
time_over(void *arg)
{
	release(arg, false);
}

/* Answer all pages that wait. */
static void
release_all(bool changed)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &waiters)
		release(dlist_container(Waiter, node, iter.cur), changed);
}

/* Tell of the changes so far. */
static void
tell(void *arg)
{
	number++;
	told_at = sfc_now();
	release_all(true);
}

/* Tell of changes at a time, unless that is done before. */
static void
tell_at(int64_t when)
{
	if (!tell_timer.armed || tell_timer.at > when)
		sfc_timer_set(&tell_timer, when - sfc_now(), tell, NULL);
}

/* Something has changed. */
void
sfg_changes_note(void)
{
	tell_at(told_at + COALESCE);
}

/* A notification says that something has changed.  Each role may send one, and all pages look then. */
void
sfg_changes_heard(void)
{
	tell_at(told_at + HEARD);
}

/* The call that waits for changes of executions has ended. */
static void
watched(const PGresult *result, void *arg)
{
	watching = false;
	if (!sfg_call_has_value(result))
	{
		sfc_timer_set(&watch_timer, RETRY, watch, NULL);
		return;
	}
	if (strcmp(seen, PQgetvalue(result, 0, 0)) != 0)
	{
		strlcpy(seen, PQgetvalue(result, 0, 0), sizeof(seen));
		sfg_changes_note();
	}
	sfc_timer_set(&watch_timer, COALESCE, watch, NULL);
}

/* All arguments have the procedure's types: no other procedure of the name fits as well. */
#define WAIT \
	"CALL @.sf_wait_change($1::pg_catalog.int8, '20 s'::pg_catalog.interval, NULL::pg_catalog.int8)"

/* Wait for changes of executions while pages do. */
static void
watch(void *arg)
{
	const char *values[1] = {seen};

	if (!watching && !watch_timer.armed && !dlist_is_empty(&waiters))
		watching = sfg_pool_call(&sfg_watch_pool, WAIT, 1, values, watched, NULL) != NULL;
}

/* Have a page of a session wait for a change. */
static void
wait_for_change(SfgRequest *request, const SfgConsoleSession *session)
{
	Waiter	   *waiter;

	request->waiting = sfg_waiting_begin(session->role);
	if (request->waiting == NULL)
	{
		sfg_answer_error(request, MHD_HTTP_TOO_MANY_REQUESTS, "too many pages of this role wait for changes");
		return;
	}
	waiter = pg_malloc0(sizeof(Waiter));
	waiter->request = request;
	request->until = sfc_now() + 2 * LONGEST;
	dlist_push_tail(&waiters, &waiter->node);
	sfc_timer_set(&waiter->timer, LONGEST, time_over, waiter);
	request->route_data = waiter;
	request->gone = gone;
	watch(NULL);
}

/* POST /console/poll */
void
sfg_console_poll(SfgRequest *request)
{
	const SfgConsoleSession *session = sfg_console_guard(request);
	SfcJson		body;
	SfcJson		seen;
	char		token[64];

	if (session == NULL || !sfg_console_body(request, &body))
		return;
	write_token(token, sizeof(token));
	if (sfc_json_get(body, "seen", &seen) && sfc_json_is(seen, token))
		wait_for_change(request, session);
	else
		answer(request, true);
}

/* Answer all pages, because the gateway leaves. */
void
sfg_changes_drain(void)
{
	release_all(false);
}
