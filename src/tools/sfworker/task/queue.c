/*
 * queue.c
 *		What the worker sends to the database: claims, answers, heartbeats.
 *
 * There is one session, with one statement at a time.  Whenever the session is
 * idle the most urgent statement is sent:
 *
 *		1. a heartbeat, because a task is lost when its heartbeat is late, unless
 *		   the last one has waited for a lock;
 *		2. answers.  Those that were queued while the last statement was under
 *		   way go together in one transaction, so that many short tasks share
 *		   one commit.  If one of them fails all are rolled back, and each is
 *		   sent alone;
 *		3. a claim, in the same statement as the answers if there are any.  It
 *		   asks for as many tasks as there is room for, of an activity that
 *		   may have tasks: after a notification, after a claim that got as many
 *		   as it asked for, once per poll interval, after a new connection.
 *
 * A task that was claimed as bytes (claim_statements.c) is converted before all of these: it has no heartbeats yet.
 *
 * No statement waits long for a lock (LOCK_WAIT): a transaction that has answered a task and goes on has it locked, and
 * the heartbeats of all others would wait behind it.  A second session for heartbeats would not do, since a heartbeat
 * locks its task as an answer does, and answers and claims would still wait.  What was locked is tried again after a
 * while.  Many locked tasks would still occupy the session with their heartbeats.  So those of other tasks come first,
 * then those that are due for the longest time; and after each that has waited in vain an answer or a claim is sent.
 *
 * An answer whose statement was lost with the connection is sent again.  If the
 * database then refuses it as answered already, the first one had arrived.
 *
 * An answer that fails by itself is changed if the database cannot store it
 * (answer.c).  Otherwise it is held, and sent again until the database takes it or
 * says that the task takes no answer any more: a server that is read-only, has no
 * memory left or shuts down will be as it was.  Meanwhile the task has its
 * heartbeats.  It occupies a slot, so that no more answers are held than tasks
 * may run.
 */
#include "postgres_fe.h"

#include "fe_utils/string_utils.h"

#include "tools/client/log.h"
#include "tools/client/session.h"
#include "tools/client/sqlstate.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/connection.h"
#include "tools/sfworker/task/answer.h"
#include "tools/sfworker/task/claim_statements.h"
#include "tools/sfworker/task/heartbeat.h"
#include "tools/sfworker/task/queue.h"

/* Answers in one transaction, and their bytes */
#define BATCH_TASKS 64
#define BATCH_BYTES (1024 * 1024)

/* Milliseconds before an answer that has failed is sent again: at first, at most, and at most if its task is locked */
#define FIRST_RETRY 1000
#define LAST_RETRY	30000
#define LAST_LOCKED 5000

/* For how long a statement waits for a lock, as a setting of the session */
#define LOCK_WAIT	"200ms"

/* An activity, and whether it may have tasks */
typedef struct Source
{
	const char *activity;
	const SfwKind *kind;
	bool		may_have_tasks;
	bool		exhausted;		/* its last claim got fewer tasks than it asked for */
	bool		as_bytes;		/* a task of it is no UTF-8: the next claim takes one, as bytes */
} Source;

static Source *sources;
static int	n_sources;
static int	next_source;		/* the activities take turns */
static bool draining;
static dlist_head answers = DLIST_STATIC_INIT(answers); /* of tasks in SFW_PHASE_READY, oldest first */
static int	n_failed;			/* claims that failed */
static SfcTimer poll_timer;
static SfcHosts *hosts;			/* of the database with the workflows, while they are looked up */

/* The statement under way: the tasks in SFW_PHASE_SENT that it answers, and what it claims */
static SfwTask *batch[BATCH_TASKS];
static int	n_batch;
static Source *claimed;
static int	n_asked;

/* A task that was claimed as bytes, until these are converted */
typedef struct Doubtful
{
	PGresult   *claim;			/* NULL: there is none */
	Source	   *source;
	bool		lost;			/* the connection was lost while they were */
} Doubtful;

static Doubtful doubtful;

/* Add a task to those whose answers are to be sent. */
static void
enqueue(SfwTask *task)
{
	task->phase = SFW_PHASE_READY;
	dlist_push_tail(&answers, &task->answer_node);
}

/* Take the first of them, for the statement that is made. */
static SfwTask *
dequeue(void)
{
	SfwTask    *task = dlist_container(SfwTask, answer_node, dlist_pop_head_node(&answers));

	task->phase = SFW_PHASE_SENT;
	batch[n_batch++] = task;
	return task;
}

/* Answer a task as soon as that can be. */
void
sfw_queue_answer(SfwTask *task)
{
	task->alone = task->outcome.succeeded && strlen(task->outcome.output) > BATCH_BYTES;
	enqueue(task);
	sfw_queue_pump();
}

/* Send an answer again that was held. */
static void
answer_again(void *arg)
{
	enqueue(arg);
	sfw_queue_pump();
}

/* Hold an answer that has failed, and send it again later: each time twice as late, of which a random part less. */
static void
hold(SfwTask *task, const char *reason, int64_t longest)
{
	sfw_task_log(task, task->retry_delay == 0 ? SFC_LOG_WARNING : SFC_LOG_DEBUG,
				 "an answer could not be given, and is tried again", "reason", reason);
	task->retry_delay = task->retry_delay == 0 ? FIRST_RETRY : Min(task->retry_delay * 2, longest);
	task->phase = SFW_PHASE_HELD;
	sfc_timer_set(&task->retry_timer, task->retry_delay / 2 + random() % (task->retry_delay / 2 + 1), answer_again, task);
}

/* Release a task that takes no answer, or none any more. */
void
sfw_queue_give_up(SfwTask *task, const char *reason)
{
	/* A SQL task knows its token, and may have answered by itself. */
	bool		expected = task->answer_lost || task->kind == &sfw_kind_sql;

	sfw_task_log(task, expected ? SFC_LOG_INFO : SFC_LOG_WARNING,
				 expected ? "the task has its answer" : "the answer is refused", "reason", reason);
	sfw_task_free(task);
}

/* Go on with an answer that has failed by itself. */
static void
answer_failed(SfwTask *task, const char *sqlstate, const char *message)
{
	switch (sfw_answer_change(task, sqlstate, message))
	{
		case SFW_ANSWER_REFUSED:
			sfw_queue_give_up(task, message);
			break;
		case SFW_ANSWER_CHANGED:
			enqueue(task);
			break;
		case SFW_ANSWER_MAY_PASS:
			hold(task, message, sfw_answer_is_locked(sqlstate) ? LAST_LOCKED : LAST_RETRY);
			break;
	}
}

/* Release the tasks that the statement has answered. */
static void
release_batch(SfwTask *const *sent, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (sent[i]->retry_delay > 0)
			sfw_task_log(sent[i], SFC_LOG_INFO, "the answer is given", NULL, NULL);
		sfw_task_free(sent[i]);
	}
}

/* Handle the result of a statement with answers; arg is not NULL if it made a claim, too. */
static void
answered(const PGresult *result, void *arg)
{
	SfwTask    *sent[BATCH_TASKS];
	int			n = n_batch;
	bool		by_itself = n == 1 && arg == NULL;
	char	   *message;

	memcpy(sent, batch, sizeof(SfwTask *) * (size_t) n);
	n_batch = 0;
	if (result != NULL && PQresultStatus(result) == PGRES_TUPLES_OK)
		release_batch(sent, n);
	else if (result != NULL && by_itself)
	{
		message = sfc_primary_message(result);
		answer_failed(sent[0], sfc_sqlstate(result), message);
		free(message);
	}
	else
	{
		if (result != NULL)
			sfc_log(SFC_LOG_INFO, "answers are given one by one",
					"sqlstate", sfc_sqlstate(result), NULL);
		for (int i = 0; i < n; i++)
		{
			/* One that was lost by itself before may be what ends the connection. */
			bool		again = result == NULL && by_itself && sent[i]->answer_lost;

			sent[i]->alone = true;
			sent[i]->answer_lost |= result == NULL;
			if (again)
				hold(sent[i], "the connection was lost", LAST_RETRY);
			else
				enqueue(sent[i]);
		}
	}
}

/* Send one answer by itself. */
static void
send_answer(void)
{
	SfwTask    *task = dequeue();
	const SfwOutcome *outcome = &task->outcome;
	char	   *statement = psprintf(outcome->succeeded ?
									 "SELECT %s.sf_send_task_success($1::pg_catalog.text, $2::pg_catalog.jsonb)" :
									 "SELECT %s.sf_send_task_failure($1::pg_catalog.text, $2::pg_catalog.text,"
									 " $3::pg_catalog.text)",
									 sfw_workflows.schema);
	const char *values[3] = {task->token};

	if (outcome->succeeded)
		values[1] = outcome->output;
	else
	{
		values[1] = outcome->failure.error;
		values[2] = outcome->failure.cause;
	}
	sfc_db_send(&sfw_workflows, statement, outcome->succeeded ? 2 : 3, values, answered, NULL);
	free(statement);
}

/* Note that a claim has failed. */
static void
claim_failed(Source *source, const PGresult *result)
{
	const char *sqlstate = sfc_sqlstate(result);
	bool		passes = sfw_claim_is_no_utf8(sqlstate) && !source->as_bytes;
	char	   *message = sfc_primary_message(result);

	/* The activity may be made or granted later, and is locked no more; the next poll tries again. */
	sfc_log(passes || sfw_answer_is_locked(sqlstate) ? SFC_LOG_DEBUG : SFC_LOG_ERROR, "cannot take tasks", "activity",
			source->activity, "sqlstate", sqlstate, "reason", message, NULL);
	free(message);
	source->as_bytes = passes;
	if (passes)
		source->may_have_tasks = true;
	else if (!sfw_answer_is_locked(sqlstate))
	{
		source->exhausted = true;
		n_failed++;
	}
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
		claim_failed(source, result);
		return;
	}
	n = PQntuples(result);
	if (n == n_asked)
		source->may_have_tasks = true;
	source->exhausted = n < n_asked;
	for (int row = 0; row < n; row++)
		sfw_task_begin(source->kind, result, row, NULL);
}

/* The number of tasks that run, or whose answers had to be held. */
static int
count_occupied(void)
{
	int			n = 0;
	dlist_iter	iter;

	dlist_foreach(iter, &sfw_tasks)
	{
		const SfwTask *task = dlist_container(SfwTask, node, iter.cur);

		if (task->phase == SFW_PHASE_RUNS || task->phase == SFW_PHASE_OVER || task->retry_delay > 0)
			n++;
	}
	return n;
}

/* Choose an activity to claim tasks of; false: none may have tasks, or there is no room. */
static bool
choose_source(void)
{
	claimed = NULL;
	n_asked = sfw_config.concurrency - count_occupied();
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

/* Claim tasks of the source that was chosen. */
static void
send_claim(void)
{
	char		max_tasks[16];
	const char *values[3] = {claimed->activity, sfw_config.name, max_tasks};
	char	   *statement = sfw_claim_statement("", "$1::pg_catalog.text, $2::pg_catalog.text, $3::pg_catalog.int4");

	snprintf(max_tasks, sizeof(max_tasks), "%d", n_asked);
	sfc_db_send(&sfw_workflows, statement, 3, values, claim_done, NULL);
	free(statement);
}

/* Have the task that was claimed as bytes fail, because the server cannot convert them. */
static void
fail_doubtful(const char *problem, const char *reason)
{
	char	   *cause = psprintf("%s: %s", problem, reason);

	sfw_task_begin(doubtful.source->kind, doubtful.claim, 0, cause);
	free(cause);
}

/*
 * Begin the task that was claimed as bytes.  The claim has committed, so that any error has to be its answer.  What is
 * lost with the connection is converted once more by the next one: the bytes may be what ends it.
 */
static void
converted(const PGresult *result, void *arg)
{
	char	   *message;

	if (result == NULL && !doubtful.lost)
	{
		doubtful.lost = true;
		return;
	}
	if (result == NULL)
		fail_doubtful("the task cannot be converted to UTF-8", "the connection was lost twice");
	else if (PQresultStatus(result) == PGRES_TUPLES_OK)
		sfw_task_begin(doubtful.source->kind, result, 0, NULL);
	else
	{
		message = sfc_primary_message(result);
		fail_doubtful(sfw_claim_is_no_utf8(sfc_sqlstate(result)) ? "the task cannot be read as UTF-8" :
					  "the task cannot be converted to UTF-8", message);
		free(message);
	}
	PQclear(doubtful.claim);
	doubtful = (Doubtful) {0};
}

/* Keep a task that was claimed as bytes, which the server is to convert next. */
static void
claimed_as_bytes(const PGresult *result, void *arg)
{
	Source	   *source = claimed;

	if (result == NULL || PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) == 0)
	{
		claim_done(result, NULL);
		source->as_bytes = false;
		return;
	}
	source->as_bytes = false;
	source->may_have_tasks = true;
	claimed = NULL;
	doubtful = (Doubtful) {.claim = PQcopyResult(result, PG_COPYRES_TUPLES),.source = source};
	if (doubtful.claim == NULL)
		sfc_out_of_memory();
}

/* Claim one task of the source that was chosen, as bytes. */
static void
send_claim_as_bytes(void)
{
	const char *values[2] = {claimed->activity, sfw_config.name};
	char	   *statement = sfw_claim_as_bytes_statement();

	n_asked = 1;
	sfc_db_send(&sfw_workflows, statement, 2, values, claimed_as_bytes, NULL);
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
	return task->outcome.succeeded && !task->alone;
}

/* Tell whether there is an answer to be sent that can go together with others. */
static bool
first_goes_together(void)
{
	return !dlist_is_empty(&answers) && goes_together(dlist_head_element(SfwTask, answer_node, &answers));
}

/* Tell whether the two answers that are to be sent first can go together. */
static bool
two_go_together(void)
{
	dlist_node *first = dlist_head_node(&answers);

	return first_goes_together() && dlist_has_next(&answers, first) &&
		goes_together(dlist_container(SfwTask, answer_node, dlist_next_node(&answers, first)));
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
	while (first_goes_together() && n_batch < BATCH_TASKS && outputs.len < BATCH_BYTES)
	{
		SfwTask    *task = dequeue();

		appendPGArray(&tokens, task->token);
		appendPGArray(&outputs, task->outcome.output);
	}
	appendPQExpBufferChar(&tokens, '}');
	appendPQExpBufferChar(&outputs, '}');
	values[0] = sfc_buffer_data(&tokens);
	values[1] = sfc_buffer_data(&outputs);
	if (claimed != NULL)
	{
		char	   *before = psprintf("(SELECT pg_catalog.count(*) AS n FROM (%s OFFSET 0) AS s) AS a"
									  " CROSS JOIN LATERAL", statement);

		free(statement);
		statement = sfw_claim_statement(before, "$3::pg_catalog.text, $4::pg_catalog.text, $5::pg_catalog.int4"
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
	bool		may_answer = !dlist_is_empty(&answers);

	if (may_answer && !first_goes_together())
	{
		claimed = NULL;
		send_answer();
	}
	else if (choose_source())
	{
		if (claimed->as_bytes)
			send_claim_as_bytes();
		else if (may_answer)
			send_answers();
		else
			send_claim();
	}
	else if (may_answer && two_go_together())
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
	if (doubtful.claim != NULL)
	{
		sfw_claim_convert(doubtful.claim, converted);
		return;
	}
	if (sfw_heartbeat_has_waited())
		send_answer_or_claim();
	if (sfc_db_is_idle(&sfw_workflows) && !sfw_heartbeat_send())
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

/* The hosts of the database with the workflows were looked up. */
static void
hosts_found(void *arg, const char *problem)
{
	sfc_db_found(&sfw_workflows, problem);
}

/* Look for the hosts of the database with the workflows; false: libpq needs no help with them. */
static bool
look_for_hosts(SfcDb *db)
{
	hosts = sfw_find_hosts(sfw_config.dbname, true, db->n_late, hosts_found, NULL);
	return hosts != NULL;
}

/* Forget these hosts. */
static void
forget_hosts(SfcDb *db)
{
	sfc_hosts_free(hosts);
	hosts = NULL;
}

/* Begin to connect to the database with the workflows. */
static PGconn *
begin_connecting(SfcDb *db)
{
	PGconn	   *conn = sfw_begin_connecting(sfw_config.dbname, true, hosts);

	forget_hosts(db);
	return conn;
}

/* The wait for locks is bounded. */
static void
bounded(const PGresult *result, void *arg)
{
	if (result != NULL && PQresultStatus(result) != PGRES_COMMAND_OK)
		sfc_db_drop(&sfw_workflows, "cannot set lock_timeout");
}

/* There is a new session: notifications sent before it are lost. */
static void
connected(SfcDb *db)
{
	sfc_db_send(db, "SET lock_timeout = '" LOCK_WAIT "'", 0, NULL, bounded, NULL);
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
	.look = look_for_hosts,
	.connect = begin_connecting,
	.failing = forget_hosts,
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
	return dlist_is_empty(&sfw_tasks) && claimed == NULL && doubtful.claim == NULL;
}

/* Tell whether there is a task that was claimed, but not begun. */
bool
sfw_queue_has_doubtful(void)
{
	return doubtful.claim != NULL;
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
