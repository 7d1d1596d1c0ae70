/*
 * queue.c
 *		What the worker sends to the database: claims, answers, heartbeats.
 *
 * There is one session, with one statement at a time.  Whenever the session is
 * idle the most urgent statement is sent:
 *
 *		1. a heartbeat, because a task is lost when its heartbeat is late;
 *		2. answers.  Those that were queued while the last statement was under
 *		   way go together in one transaction, so that many short tasks share
 *		   one commit.  If one of them fails all are rolled back, and each is
 *		   sent alone;
 *		3. a claim, in the same statement as the answers if there are any.  It
 *		   asks for as many tasks as there is room for, of an activity that
 *		   may have tasks: after a notification, after a claim that got as many
 *		   as it asked for, once per poll interval, after a new connection.
 *
 * An answer whose statement was lost with the connection is sent again.  If the
 * database then refuses it as answered already, the first one had arrived.
 */
#include "postgres_fe.h"

#include "fe_utils/string_utils.h"

#include "base/error/sqlstates.h"
#include "tools/client/log.h"
#include "tools/client/session.h"
#include "tools/client/sqlstate.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/connection.h"
#include "tools/sfworker/task/queue.h"

/* Answers in one transaction, and their bytes */
#define BATCH_TASKS 64
#define BATCH_BYTES (1024 * 1024)

/* Milliseconds before an answer that failed is sent again, and how often it is sent */
#define RETRY_DELAY 2000
#define RETRY_MAX	10

/* An activity, and whether it may have tasks */
typedef struct Source
{
	const char *activity;
	const SfwKind *kind;
	bool		may_have_tasks;
	bool		exhausted;		/* its last claim got fewer tasks than it asked for */
} Source;

static Source *sources;
static int	n_sources;
static int	next_source;		/* the activities take turns */
static bool draining;
static SfwTask *answers;		/* to be sent, oldest first */
static SfwTask **answers_end = &answers;
static int	n_under_way;		/* answers whose result is awaited */
static int	n_lost;				/* answers given up */
static int	n_failed;			/* claims that failed */
static SfcTimer poll_timer;
static SfcTimer retry_timer;

/* The statement under way: the tasks it answers, what it claims, whose heartbeat it is */
static SfwTask *batch[BATCH_TASKS];
static int	n_batch;
static Source *claimed;
static int	n_asked;
static char *heartbeat_token;

/* What an error means for an answer or a heartbeat, as base/error/sqlstates.h says */
typedef enum ErrorUse
{
	RETRY,						/* send it again later */
	OUTPUT,						/* the output cannot be stored: report a failure */
	REFUSED						/* no answer with this token can succeed */
} ErrorUse;

/* Say what an error means for an answer. */
static ErrorUse
error_use(const char *sqlstate)
{
	static const struct
	{
		char		code[6];
		ErrorUse	use;
	}			states[] = {
#define SQLSTATE_ROW(sym, a, b, c, name, answer, meaning, advice) {{'S', 'F', a, b, c}, answer},
		SF_SQLSTATE_LIST(SQLSTATE_ROW)
	};

	for (size_t i = 0; i < lengthof(states); i++)
	{
		if (strcmp(states[i].code, sqlstate) == 0)
			return states[i].use;
	}
	/* Data exceptions, and limits of the program: values that jsonb cannot hold. */
	return sfc_sqlstate_is(sqlstate, ERRCLASS_DATA) || sfc_sqlstate_is(sqlstate, ERRCLASS_PROGRAM_LIMIT) ? OUTPUT : RETRY;
}

/* Add a task to those that are to be answered. */
static void
enqueue(SfwTask *task)
{
	task->next = NULL;
	*answers_end = task;
	answers_end = &task->next;
}

/* Send answers again that failed. */
static void
try_again(void *arg)
{
	sfw_queue_pump();
}

/* Answer a task as soon as that can be. */
void
sfw_queue_answer(SfwTask *task)
{
	task->alone = task->succeeded && strlen(task->output) > BATCH_BYTES;
	enqueue(task);
	sfw_queue_pump();
}

/* Put back an answer that failed with an error, or give it up. */
static void
answer_again(SfwTask *task, const char *sqlstate, const char *message)
{
	ErrorUse	use = error_use(sqlstate);

	if (use == REFUSED)
	{
		/* A SQL task knows its token, and may have answered by itself. */
		bool		expected = task->answer_lost || task->kind == &sfw_kind_sql;

		sfw_task_log(task, expected ? SFC_LOG_INFO : SFC_LOG_WARNING,
					 expected ? "the task has its answer" : "the answer is refused", "reason", message);
		sfw_task_free(task);
		return;
	}
	if (use == OUTPUT && task->succeeded)
	{
		sfw_task_log(task, SFC_LOG_WARNING, "the output cannot be stored", "reason", message);
		task->succeeded = false;
		if (sfc_sqlstate_is(sqlstate, SFC_SQLSTATE(PAYLOAD_TOO_LARGE)))
			strcpy(task->error, "States.DataLimitExceeded");
		else
			snprintf(task->error, sizeof(task->error), "%s.InvalidOutput", task->kind->error_prefix);
		task->cause = pg_strdup(message);
	}
	else if (++task->attempts >= RETRY_MAX)
	{
		sfw_task_log(task, SFC_LOG_ERROR, "an answer is given up", "reason", message);
		n_lost++;
		sfw_task_free(task);
		return;
	}
	else
	{
		sfw_task_log(task, SFC_LOG_WARNING, "an answer could not be given", "reason", message);
		sfc_timer_set(&retry_timer, RETRY_DELAY, try_again, NULL);
	}
	enqueue(task);
}

/* Handle the result of a statement with answers; arg is not NULL if it made a claim, too. */
static void
answered(const PGresult *result, void *arg)
{
	SfwTask    *sent[BATCH_TASKS];
	int			n = n_batch;
	char	   *message;

	memcpy(sent, batch, sizeof(SfwTask *) * (size_t) n);
	n_batch = n_under_way = 0;
	if (result != NULL && PQresultStatus(result) == PGRES_TUPLES_OK)
	{
		for (int i = 0; i < n; i++)
			sfw_task_free(sent[i]);
		return;
	}
	if (result == NULL || n > 1 || arg != NULL)
	{
		if (result != NULL)
			sfc_log(SFC_LOG_INFO, "answers are given one by one",
					"sqlstate", sfc_sqlstate(result), NULL);
		for (int i = 0; i < n; i++)
		{
			sent[i]->alone = true;
			sent[i]->answer_lost = result == NULL;
			enqueue(sent[i]);
		}
		return;
	}
	message = sfc_primary_message(result);
	answer_again(sent[0], sfc_sqlstate(result), message);
	free(message);
}

/* Take the first answer off the list. */
static SfwTask *
dequeue(void)
{
	SfwTask    *task = answers;

	answers = task->next;
	if (answers == NULL)
		answers_end = &answers;
	task->next = NULL;
	batch[n_batch++] = task;
	return task;
}

/* Send one answer by itself. */
static void
send_answer(void)
{
	SfwTask    *task = dequeue();
	char	   *statement = psprintf(task->succeeded ?
									 "SELECT %s.sf_send_task_success($1::pg_catalog.text, $2::pg_catalog.jsonb)" :
									 "SELECT %s.sf_send_task_failure($1::pg_catalog.text, $2::pg_catalog.text,"
									 " $3::pg_catalog.text)",
									 sfw_workflows.schema);
	const char *values[3] = {task->token, task->succeeded ? task->output : task->error, task->cause};

	n_under_way = 1;
	sfc_db_send(&sfw_workflows, statement, task->succeeded ? 2 : 3, values, answered, NULL);
	free(statement);
}

/* Handle the result of a heartbeat; a task whose token is refused is stopped. */
static void
heartbeat_done(const PGresult *result, void *arg)
{
	SfwTask    *task = sfw_tasks;

	while (task != NULL && strcmp(task->token, heartbeat_token) != 0)
		task = task->next;
	free(heartbeat_token);
	heartbeat_token = NULL;
	if (task == NULL)
		return;
	if (result == NULL)
		task->heartbeat_due = true;
	else if (PQresultStatus(result) != PGRES_TUPLES_OK)
	{
		char	   *message = sfc_primary_message(result);

		sfw_task_log(task, SFC_LOG_WARNING, "a heartbeat is refused", "reason", message);
		if (error_use(sfc_sqlstate(result)) == REFUSED)
			sfw_task_stop(task, SFW_STOP_REFUSED);
		free(message);
	}
}

/* Send a heartbeat if one is due. */
static bool
send_heartbeat(void)
{
	SfwTask    *task = sfw_tasks;
	const char *values[1];
	char	   *statement;

	while (task != NULL && !task->heartbeat_due)
		task = task->next;
	if (task == NULL)
		return false;
	task->heartbeat_due = false;
	values[0] = heartbeat_token = pg_strdup(task->token);
	statement = psprintf("SELECT %s.sf_send_task_heartbeat($1::pg_catalog.text)", sfw_workflows.schema);
	sfc_db_send(&sfw_workflows, statement, 1, values, heartbeat_done, NULL);
	free(statement);
	return true;
}

/* Begin the tasks that a claim gave. */
static void
claim_done(const PGresult *result, void *arg)
{
	Source	   *source = claimed;
	int			n;

	claimed = NULL;
	if (result == NULL)
		return;
	if (PQresultStatus(result) != PGRES_TUPLES_OK)
	{
		char	   *message = sfc_primary_message(result);

		/* The activity may be made or granted later; the next poll tries again. */
		sfc_log(SFC_LOG_ERROR, "cannot take tasks", "activity", source->activity,
				"sqlstate", sfc_sqlstate(result), "reason", message, NULL);
		free(message);
		source->exhausted = true;
		n_failed++;
		return;
	}
	n = PQntuples(result);
	if (n == n_asked)
		source->may_have_tasks = true;
	source->exhausted = n < n_asked;
	for (int row = 0; row < n; row++)
		sfw_task_begin(source->kind, result, row);
}

/* Choose an activity to claim tasks of; false: none may have tasks, or there is no room. */
static bool
choose_source(void)
{
	claimed = NULL;
	n_asked = sfw_config.concurrency - sfw_tasks_running;
	if (draining || n_asked <= 0)
		return false;
	for (int i = 0; i < n_sources && claimed == NULL; i++)
	{
		Source	   *source = &sources[(next_source + i) % n_sources];

		if (source->may_have_tasks)
			claimed = source;
	}
	if (claimed == NULL)
		return false;
	next_source = (int) (claimed - sources + 1) % n_sources;
	claimed->may_have_tasks = false;
	return true;
}

/* Write a claim; before is empty, or a FROM item that the arguments refer to. */
static char *
claim_statement(const char *before, const char *arguments)
{
	bool		traced = sfw_workflows.has_traces;

	return psprintf("SELECT " SFW_CLAIM_COLUMNS "%s FROM %s %s.sf_get_activity_task(%s%s)",
					traced ? ", traceparent, tracestate" : ", NULL, NULL", before, sfw_workflows.schema, arguments,
					traced ? ", true" : "");
}

/* Claim tasks of the source that was chosen. */
static void
send_claim(void)
{
	char		max_tasks[16];
	const char *values[3] = {claimed->activity, sfw_config.name, max_tasks};
	char	   *statement = claim_statement("", "$1::pg_catalog.text, $2::pg_catalog.text, $3::pg_catalog.int4");

	snprintf(max_tasks, sizeof(max_tasks), "%d", n_asked);
	sfc_db_send(&sfw_workflows, statement, 3, values, claim_done, NULL);
	free(statement);
}

/* Handle the result of a statement with answers and a claim. */
static void
answered_and_claimed(const PGresult *result, void *arg)
{
	Source	   *source = claimed;

	answered(result, source);
	if (result != NULL && PQresultStatus(result) == PGRES_TUPLES_OK)
	{
		claim_done(result, NULL);
		return;
	}
	/* The answers or the claim failed; the claim is made again, alone. */
	claimed = NULL;
	source->may_have_tasks = true;
}

/* Tell whether an answer can go together with others. */
static bool
goes_together(const SfwTask *task)
{
	return task != NULL && task->succeeded && !task->alone;
}

/*
 * Send the successes at the head of the list together, and claim tasks of the
 * chosen activity if there is one.  The number of tasks to claim depends on the
 * count of answers, so that the answers are given first, and are given when
 * there is nothing to claim.
 */
static void
send_answers(void)
{
	PQExpBufferData tokens;
	PQExpBufferData outputs;
	char		max_tasks[16];
	const char *values[5] = {NULL, NULL, NULL, sfw_config.name, max_tasks};
	char	   *statement = psprintf("SELECT %s.sf_send_task_success(t, o::pg_catalog.jsonb) FROM"
									 " ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]),"
									 " pg_catalog.unnest($2::pg_catalog.text[])) AS u (t, o)", sfw_workflows.schema);

	initPQExpBuffer(&tokens);
	initPQExpBuffer(&outputs);
	appendPQExpBufferChar(&tokens, '{');
	appendPQExpBufferChar(&outputs, '{');
	while (goes_together(answers) && n_batch < BATCH_TASKS && outputs.len < BATCH_BYTES)
	{
		SfwTask    *task = dequeue();

		appendPGArray(&tokens, task->token);
		appendPGArray(&outputs, task->output);
	}
	appendPQExpBufferChar(&tokens, '}');
	appendPQExpBufferChar(&outputs, '}');
	values[0] = sfc_buffer_data(&tokens);
	values[1] = sfc_buffer_data(&outputs);
	n_under_way = n_batch;
	if (claimed != NULL)
	{
		char	   *before = psprintf("(SELECT pg_catalog.count(*) AS n FROM (%s OFFSET 0) AS s) AS a"
									  " CROSS JOIN LATERAL", statement);

		free(statement);
		statement = claim_statement(before, "$3::pg_catalog.text, $4::pg_catalog.text, $5::pg_catalog.int4"
									" OPERATOR(pg_catalog.+) (0 OPERATOR(pg_catalog.*) a.n::pg_catalog.int4)");
		free(before);
		values[2] = claimed->activity;
		snprintf(max_tasks, sizeof(max_tasks), "%d", n_asked);
	}
	sfc_db_send(&sfw_workflows, statement, claimed != NULL ? 5 : 2, values, claimed != NULL ? answered_and_claimed : answered, NULL);
	termPQExpBuffer(&tokens);
	termPQExpBuffer(&outputs);
	free(statement);
}

/* Send answers, claim tasks, or both. */
static void
send_answer_or_claim(void)
{
	bool		may_answer = answers != NULL && !retry_timer.armed;

	if (may_answer && !goes_together(answers))
	{
		claimed = NULL;
		send_answer();
	}
	else if (choose_source())
	{
		if (may_answer)
			send_answers();
		else
			send_claim();
	}
	else if (may_answer && goes_together(answers->next))
		send_answers();
	else if (may_answer)
		send_answer();
}

/* Send the most urgent statement, if the session is idle. */
void
sfw_queue_pump(void)
{
	if (!sfc_db_is_idle(&sfw_workflows))
		return;
	if (!send_heartbeat())
		send_answer_or_claim();
}

/* Claim of all activities: a notification may have been missed, or a lease may have expired. */
static void
poll_all(void *arg)
{
	for (int i = 0; i < n_sources; i++)
		sources[i].may_have_tasks = true;
	sfc_timer_set(&poll_timer, sfw_config.poll_interval, poll_all, NULL);
	sfw_queue_pump();
}

/* Begin to connect to the database with the workflows. */
static PGconn *
connect_own(SfcDb *db)
{
	return sfw_connect(sfw_config.dbname, true, false);
}

/* There is a new session: notifications sent before it are lost. */
static void
connected(SfcDb *db)
{
	if (!draining)
		poll_all(NULL);
}

/* The session is idle. */
static void
idle(SfcDb *db)
{
	sfw_queue_pump();
}

/* An activity has new tasks. */
static void
notified(SfcDb *db, const PGnotify *notify)
{
	for (int i = 0; i < n_sources; i++)
	{
		if (strcmp(sources[i].activity, notify->extra) == 0)
			sources[i].may_have_tasks = true;
	}
	sfw_queue_pump();
}

/* The session with the database that has the workflows */
SfcDb		sfw_workflows = {
	.connect = connect_own,
	.listen = "LISTEN sf_activity",
	.connected = connected,
	.idle = idle,
	.notified = notified,
};

/* Connect to the database, and claim tasks from now on. */
void
sfw_queue_start(void)
{
	n_sources = sfw_config.n_served;
	sources = pg_malloc0(sizeof(Source) * (size_t) n_sources);
	for (int i = 0; i < n_sources; i++)
	{
		sources[i].activity = sfw_config.served[i].name;
		sources[i].kind = sfw_config.served[i].kind;
	}
	sfw_workflows.schema_name = sfw_config.schema;
	sfw_workflows.connect_timeout = sfw_config.connect_timeout;
	sfc_db_start(&sfw_workflows);
}

/* Take no more tasks. */
void
sfw_queue_drain(void)
{
	draining = true;
	sfc_timer_clear(&poll_timer);
}

/* Tell whether no task runs and none has to be answered. */
bool
sfw_queue_is_empty(void)
{
	return sfw_tasks_running == 0 && answers == NULL && n_under_way == 0 && claimed == NULL;
}

/* Tell whether no activity had more tasks at its last claim. */
bool
sfw_queue_is_exhausted(void)
{
	for (int i = 0; i < n_sources; i++)
	{
		if (!sources[i].exhausted || sources[i].may_have_tasks)
			return false;
	}
	return sfw_queue_is_empty();
}

/* Tell whether a claim has failed. */
bool
sfw_queue_has_failed(void)
{
	return n_failed > 0;
}

/* The number of answers that were given up. */
int
sfw_queue_lost(void)
{
	int			waiting = 0;

	for (const SfwTask *task = answers; task != NULL; task = task->next)
		waiting++;
	return n_lost + waiting + n_under_way;
}
