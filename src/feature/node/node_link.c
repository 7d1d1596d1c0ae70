/*
 * node_link.c
 *		Asks several nodes the same at the same time.
 *
 * A node that is down, or that accepts and says nothing, costs the time-out of its own and nothing of the others: all
 * connections are made at once, without blocking, in one loop.  dblink and postgres_fdw cannot do that: they wait for
 * each connection, two seconds at least where a server is silent, and PostgreSQL 15 cannot cancel them.
 *
 * libpq comes with the server, as what its own libpqwalreceiver is linked with.  It is loaded by the first question of
 * a session; the library of sfflow itself is not linked with it.
 *
 * A connection has one question, and is that of the current user: it logs in under this name, with the password that
 * libpq finds for it (passfile, PGPASSFILE), a certificate, or what else the node asks for.  It is closed
 * afterwards, so that no role meets a session of another one.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <libpq-fe.h>

#include "commands/dbcommands.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/wait_event.h"

#include "base/settings.h"
#include "base/time/clock.h"
#include "base/version/compat.h"
#include "feature/node/node.h"

/* Time that a question has that writes, after its connection was made; one that takes long has it for each lock */
#define WRITING_MS		60000
#define LONG_MS			(24 * 60 * 60 * 1000)

/* What the session of a question has beside what its dsn says */
#define OPTIONS \
	"-c search_path=pg_catalog,pg_temp -c datestyle=ISO,MDY -c intervalstyle=postgres -c timezone=UTC" \
	" -c extra_float_digits=1 -c statement_timeout=%d -c lock_timeout=%d -c default_transaction_read_only=%s" \
	" -c default_transaction_isolation=read\\ committed"

/* --- libpq --- */

#define LIBPQ_LIST(X) \
	X(PQconninfoParse) \
	X(PQconninfoFree) \
	X(PQfreemem) \
	X(PQconnectStartParams) \
	X(PQconnectPoll) \
	X(PQstatus) \
	X(PQsocket) \
	X(PQerrorMessage) \
	X(PQfinish) \
	X(PQsetnonblocking) \
	X(PQsendQueryParams) \
	X(PQflush) \
	X(PQconsumeInput) \
	X(PQisBusy) \
	X(PQgetResult) \
	X(PQresultStatus) \
	X(PQresultErrorField) \
	X(PQresultErrorMessage) \
	X(PQntuples) \
	X(PQgetvalue) \
	X(PQgetisnull) \
	X(PQclear)

/* Its functions, once loaded */
static struct
{
#define LIBPQ_MEMBER(function) __typeof__(function) *function;
	LIBPQ_LIST(LIBPQ_MEMBER)
}			pq;

static const struct
{
	const char *name;
	void	  **variable;
}			functions[] = {
#define LIBPQ_NAME(function) {#function, (void **) &pq.function},
	LIBPQ_LIST(LIBPQ_NAME)
};

/* Load libpq, which is the server's own. */
static void
load_libpq(void)
{
	static bool is_loaded = false;

	if (is_loaded)
		return;
	load_file("libpqwalreceiver", false);
	for (size_t i = 0; i < lengthof(functions); i++)
	{
		*functions[i].variable = dlsym(RTLD_DEFAULT, functions[i].name);
		if (*functions[i].variable == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("libpq, with which this server is linked, has no function %s", functions[i].name)));
	}
	is_loaded = true;
}

/* --- where a node is --- */

/* What a dsn must not have, since the question has it */
static const char *const forbidden[] = {"password", "user", "options", "replication", "client_encoding"};

/* Find what is wrong with parsed options; NULL: nothing. */
static char *
problem_of(const PQconninfoOption *options)
{
	for (const PQconninfoOption *option = options; option->keyword != NULL; option++)
		for (size_t i = 0; option->val != NULL && i < lengthof(forbidden); i++)
			if (strcmp(option->keyword, forbidden[i]) == 0)
				return psprintf("it must not have %s", option->keyword);
	return NULL;
}

/* Find what is wrong with a dsn; NULL: nothing. */
char *
sf_node_dsn_problem(const char *dsn)
{
	char	   *error = NULL;
	char	   *problem;
	PQconninfoOption *options;

	load_libpq();
	options = pq.PQconninfoParse(dsn, &error);
	if (options == NULL)
	{
		problem = pstrdup(error != NULL ? error : "out of memory");
		pq.PQfreemem(error);
		return pchomp(problem);
	}
	problem = problem_of(options);
	pq.PQconninfoFree(options);
	return problem;
}

/* --- links --- */

typedef enum LinkStage
{
	CONNECTING,
	ASKING,
	CLOSED
} LinkStage;

/* A node that is asked */
typedef struct Link
{
	SfNodeAnswer *answer;
	PGconn	   *conn;
	LinkStage		stage;
	uint32		events;			/* that it waits for */
	SfTick		until;
	int			ms;				/* that it has had for this */
} Link;

/* All of them */
typedef struct Links
{
	const SfNodeQuestion *question;
	Link	   *links;
	int			n;
} Links;

/* The first line of a text of a server or of libpq. */
static char *
clean(const char *message)
{
	char	   *text = message == NULL ? pstrdup("") : pnstrdup(message, strcspn(message, "\n"));

	if (*text == '\0')
		return pstrdup("no answer");
	return pg_verifymbstr(text, (int) strlen(text), true) ? text
		: pstrdup("a message that is not in the encoding of this database");
}

/* Close a link. */
static void
close_link(Link *link)
{
	if (link->conn != NULL)
	{
		pq.PQfinish(link->conn);
		ReleaseExternalFD();
	}
	link->conn = NULL;
	link->stage = CLOSED;
}

/* Note why a node gives no answer, and close its link. */
static void
fail(Link *link, char *error)
{
	if (link->answer->error == NULL)
		link->answer->error = error;
	link->answer->rows = NIL;
	close_link(link);
}

/* Milliseconds that the statement of a question may take */
static int
statement_ms(const SfNodeQuestion *question)
{
	switch (question->effort)
	{
		case SF_NODE_READS:
			return sf_setting_node_timeout;
		case SF_NODE_WRITES:
			return WRITING_MS;
		case SF_NODE_WRITES_LONG:
			return LONG_MS;
	}
	pg_unreachable();
}

/* Begin to connect. */
static void
begin(Link *link, const SfNodeQuestion *question)
{
	const char *keys[64];
	const char *values[64];
	int			n = 0;
	char	   *database = get_database_name(MyDatabaseId);
	char	   *options = psprintf(OPTIONS, statement_ms(question),
								   question->effort == SF_NODE_WRITES_LONG ? WRITING_MS : 0,
								   question->effort == SF_NODE_READS ? "on" : "off");
	char	   *error = NULL;
	PQconninfoOption *given = pq.PQconninfoParse(link->answer->node->dsn, &error);

	if (given == NULL)
	{
		pq.PQfreemem(error);
		fail(link, pstrdup("its dsn is not valid"));
		return;
	}
#define ADD(key, value) (keys[n] = (key), values[n++] = (value))
	ADD("dbname", database);
	/* a server that is gone is noticed, however long its answer may take */
	ADD("keepalives_idle", "30");
	ADD("keepalives_interval", "10");
	ADD("keepalives_count", "3");
	for (const PQconninfoOption *option = given; option->keyword != NULL && n < 56; option++)
		if (option->val != NULL)
			ADD(option->keyword, option->val);
	ADD("user", GetUserNameFromId(GetUserId(), false));
	ADD("options", options);
	ADD("client_encoding", GetDatabaseEncodingName());
	ADD("application_name", "sfflow");
	ADD(NULL, NULL);
	if (AcquireExternalFD())
	{
		link->conn = pq.PQconnectStartParams(keys, values, false);
		if (link->conn == NULL)
			ReleaseExternalFD();
	}
	pq.PQconninfoFree(given);
	link->ms = sf_setting_node_timeout;
	link->until = sf_tick_plus_ms(sf_tick_now(), link->ms);
	link->events = WL_SOCKET_WRITEABLE;
	if (link->conn == NULL)
		fail(link, pstrdup("there are too many open files"));
	else if (pq.PQstatus(link->conn) == CONNECTION_BAD)
		fail(link, clean(pq.PQerrorMessage(link->conn)));
}

/* Send what waits to be sent; false: the link is closed. */
static bool
flush(Link *link)
{
	int			left = pq.PQflush(link->conn);

	link->events = WL_SOCKET_READABLE | (left > 0 ? WL_SOCKET_WRITEABLE : 0);
	if (left < 0)
		fail(link, clean(pq.PQerrorMessage(link->conn)));
	return left >= 0;
}

/* The connection is made: ask. */
static void
ask(Link *link, const SfNodeQuestion *question)
{
	const char *values[1] = {question->argument};

	link->stage = ASKING;
	if (question->effort != SF_NODE_READS)
	{
		link->ms = statement_ms(question);
		link->until = sf_tick_plus_ms(sf_tick_now(), link->ms);
	}
	if (pq.PQsetnonblocking(link->conn, 1) != 0 ||
		pq.PQsendQueryParams(link->conn, question->statement, 1, NULL, values, NULL, NULL, 0) == 0)
		fail(link, clean(pq.PQerrorMessage(link->conn)));
	else
		(void) flush(link);
}

/* Take a result: one column of JSON. */
static void
read_result(SfNodeAnswer *answer, const PGresult *result)
{
	if (pq.PQresultStatus(result) != PGRES_TUPLES_OK)
	{
		const char *primary = pq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

		answer->error = clean(primary != NULL ? primary : pq.PQresultErrorMessage(result));
		return;
	}
	for (int i = 0; i < pq.PQntuples(result); i++)
	{
		if (pq.PQgetisnull(result, i, 0))
		{
			answer->error = pstrdup("a row of its answer is null");
			answer->rows = NIL;
			return;
		}
		answer->rows = lappend(answer->rows, pstrdup(pq.PQgetvalue(result, i, 0)));
	}
}

/* Go on with a link whose socket is ready. */
static void
continue_link(Link *link, const SfNodeQuestion *question)
{
	PGresult   *result;

	if (link->stage == CONNECTING)
	{
		PostgresPollingStatusType status = pq.PQconnectPoll(link->conn);

		if (status == PGRES_POLLING_OK)
			ask(link, question);
		else if (status == PGRES_POLLING_FAILED)
			fail(link, clean(pq.PQerrorMessage(link->conn)));
		else
			link->events = status == PGRES_POLLING_READING ? WL_SOCKET_READABLE : WL_SOCKET_WRITEABLE;
		return;
	}
	if (pq.PQconsumeInput(link->conn) == 0)
	{
		fail(link, clean(pq.PQerrorMessage(link->conn)));
		return;
	}
	if (!flush(link))
		return;
	while (link->stage == ASKING && !pq.PQisBusy(link->conn))
	{
		result = pq.PQgetResult(link->conn);
		if (result == NULL)
		{
			close_link(link);
			return;
		}
		read_result(link->answer, result);
		pq.PQclear(result);
	}
}

/* Find the time until the first link is late, in milliseconds; false: all are closed. */
static bool
find_time_left(const Links *all, long *ms)
{
	SfTick		now = sf_tick_now();
	SfTick		first = SF_TICK_NEVER;

	for (int i = 0; i < all->n; i++)
		if (all->links[i].stage != CLOSED)
			first = Min(first, all->links[i].until);
	*ms = (long) (Max(first - now, 0) / 1000 + 1);
	return first != SF_TICK_NEVER;
}

/* Wait until something has come, and go on with it. */
static void
wait_once(Links *all, long ms)
{
	WaitEvent  *occurred = palloc0(sizeof(WaitEvent) * (size_t) (all->n + 2));
	WaitEventSet *set = CreateWaitEventSet(SF_WAIT_SET_OWNER, all->n + 2);
	int			n;

	AddWaitEventToSet(set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
	for (int i = 0; i < all->n; i++)
		if (all->links[i].stage != CLOSED)
			AddWaitEventToSet(set, all->links[i].events, pq.PQsocket(all->links[i].conn), NULL, &all->links[i]);
	n = WaitEventSetWait(set, ms, occurred, all->n + 2, PG_WAIT_EXTENSION);
	FreeWaitEventSet(set);
	for (int i = 0; i < n; i++)
	{
		if (occurred[i].events & WL_LATCH_SET)
			ResetLatch(MyLatch);
		else if (occurred[i].user_data != NULL)
			continue_link(occurred[i].user_data, all->question);
	}
	pfree(occurred);
	CHECK_FOR_INTERRUPTS();
}

/* Give up what is late, and what has lost its socket. */
static void
drop_late(Links *all)
{
	SfTick		now = sf_tick_now();

	for (int i = 0; i < all->n; i++)
	{
		Link	   *link = &all->links[i];

		if (link->stage != CLOSED && pq.PQsocket(link->conn) < 0)
			fail(link, clean(pq.PQerrorMessage(link->conn)));
		else if (link->stage != CLOSED && link->until <= now)
			fail(link, psprintf("it has not answered within %d ms", link->ms));
	}
}

/* Ask nodes of other servers, all at the same time; an SfNodeAnswer for each, in their order. */
List *
sf_node_ask(const List *nodes, const SfNodeQuestion *question)
{
	Links		all = {.question = question,.links = palloc0(sizeof(Link) * (size_t) Max(list_length(nodes), 1))};
	List	   *answers = NIL;
	long		ms;

	if (nodes == NIL)
		return NIL;
	load_libpq();
	foreach_ptr(const SfNode, node, nodes)
	{
		SfNodeAnswer *answer = palloc0(sizeof(SfNodeAnswer));

		answer->node = node;
		answers = lappend(answers, answer);
		all.links[all.n].answer = answer;
		all.links[all.n++].stage = CLOSED;
	}
	PG_TRY();
	{
		for (int i = 0; i < all.n; i++)
		{
			all.links[i].stage = CONNECTING;
			begin(&all.links[i], question);
		}
		while (drop_late(&all), find_time_left(&all, &ms))
			wait_once(&all, ms);
	}
	PG_FINALLY();
	{
		for (int i = 0; i < all.n; i++)
			close_link(&all.links[i]);
	}
	PG_END_TRY();
	foreach_ptr(const SfNodeAnswer, answer, answers)
		if (!question->is_unnoted)
			sf_node_note(answer->node->number, answer->error);
	return answers;
}
