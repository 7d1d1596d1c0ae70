/*
 * queue.c
 *		What the worker and the database tell each other: claims, answers,
 *		heartbeats.
 *
 * There is one session and one statement at a time; whenever it is idle the
 * most urgent thing is said next:
 *
 *		1. a heartbeat, because a task is lost when it comes too late;
 *		2. answers.  Those that have gathered while the last statement was under
 *		   way go together in one transaction, so that many short tasks share
 *		   one commit.  If one of them is refused all are rolled back and each
 *		   is sent alone;
 *		3. with the answers if there are any, a claim of as many tasks as there are free slots, for an activity
 *		   that may have some: after a notification, after a claim that gave all
 *		   it was asked for, once a poll interval, after a new connection.
 *
 * An answer whose statement was lost with the connection is sent again.  That
 * it is then refused as answered already is the proof that it had arrived.
 */
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "db.h"
#include "log.h"

/* Answers in one transaction, and their bytes */
#define BATCH_TASKS 64
#define BATCH_BYTES (1024 * 1024)

/* Milliseconds until something is tried again that went wrong */
#define RETRY_DELAY 2000
#define RETRY_MAX	10

/* An activity, and whether it may have tasks */
typedef struct Source
{
	const char *activity;
	const SfwKind *kind;
	bool		hot;
	bool		dry;			/* its last claim found fewer than it asked for */
} Source;

static Source *sources;
static int	n_sources;
static int	next_source;		/* they take turns */
static bool draining;
static SfwTask *answers;		/* to be sent, oldest first */
static SfwTask **answers_end = &answers;
static int	n_under_way;		/* answers whose result is awaited */
static int	n_lost;				/* answers given up */
static int	n_failed;			/* claims that failed */
static SfwTimer poll_timer;
static SfwTimer retry_timer;

/* What a statement is about, while it is under way */
static SfwTask *batch[BATCH_TASKS];
static int	n_batch;
static Source *claimed;
static int	n_asked;
static char *beating;			/* the token of the heartbeat */

/* SQLSTATEs that say that nobody waits for a task any more */
static const char *const refusals[] = {
	"SF005", "SF018", "SF019", "SF020", "SF021", "SF023",
};

/* Tell whether an error is about the token: nobody waits for the task. */
static bool
is_refusal(const char *sqlstate)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
	{
		if (strcmp(refusals[i], sqlstate) == 0)
			return true;
	}
	return false;
}

/* Tell whether an error is about the output: it cannot be stored as it is. */
static bool
is_bad_output(const char *sqlstate)
{
	return strcmp(sqlstate, "SF011") == 0 || strncmp(sqlstate, "22", 2) == 0 ||
		strncmp(sqlstate, "54", 2) == 0;
}

/* Put a task at the end of those to be answered. */
static void
enqueue(SfwTask *task)
{
	task->next = NULL;
	*answers_end = task;
	answers_end = &task->next;
}

/* Try again what went wrong. */
static void
try_again(void *arg)
{
	sfw_queue_pump();
}

/* Answer a task as soon as that can be. */
void
sfw_queue_answer(SfwTask *task)
{
	enqueue(task);
	sfw_queue_pump();
}

/* Put back an answer whose statement failed, or give it up. */
static void
answer_again(SfwTask *task, const char *sqlstate, const char *message)
{
	if (is_refusal(sqlstate))
	{
		/* A SQL task has its token, and may have answered with it. */
		bool		expected = task->asked || task->kind == &sfw_kind_sql;

		sfw_task_log(task, expected ? SFW_INFO : SFW_WARNING,
					 expected ? "the task has its answer" : "the answer is refused", "reason", message);
		sfw_task_free(task);
		return;
	}
	if (is_bad_output(sqlstate) && task->success)
	{
		sfw_task_log(task, SFW_WARNING, "the output cannot be stored", "reason", message);
		task->success = false;
		free(task->output);
		task->output = NULL;
		task->error = strcmp(sqlstate, "SF011") == 0 ? sfw_strdup("States.DataLimitExceeded") :
			sfw_format("%s.InvalidOutput", task->kind->error_prefix);
		task->cause = sfw_strdup(message);
	}
	else if (++task->refusals >= RETRY_MAX)
	{
		sfw_task_log(task, SFW_ERROR, "an answer is given up", "reason", message);
		n_lost++;
		sfw_task_free(task);
		return;
	}
	else
	{
		sfw_task_log(task, SFW_WARNING, "an answer could not be given", "reason", message);
		sfw_timer_set(&retry_timer, RETRY_DELAY, try_again, NULL);
	}
	enqueue(task);
}

/* Note how the answers of a statement were taken; arg is not NULL if it said more than that. */
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
			sfw_log(SFW_INFO, "answers are given one by one",
					"sqlstate", sfw_db_sqlstate(result), NULL);
		for (int i = 0; i < n; i++)
		{
			sent[i]->alone = true;
			sent[i]->asked = result == NULL;
			enqueue(sent[i]);
		}
		return;
	}
	message = sfw_db_message(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
	answer_again(sent[0], sfw_db_sqlstate(result), message);
	free(message);
}

/* Append an element of an array's text form. */
static void
put_element(SfwBuf *array, const char *text)
{
	sfw_buf_puts(array, array->len > 0 ? ",\"" : "{\"");
	for (const char *p = text; *p != '\0'; p++)
	{
		size_t		plain = strcspn(p, "\"\\");

		sfw_buf_append(array, p, plain);
		p += plain;
		if (*p == '\0')
			break;
		sfw_buf_putc(array, '\\');
		sfw_buf_putc(array, *p);
	}
	sfw_buf_putc(array, '"');
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
	char	   *function = sfw_db_function(task->success ? "sf_send_task_success" : "sf_send_task_failure");
	char	   *statement = task->success ?
		sfw_format("SELECT %s($1::pg_catalog.text, $2::pg_catalog.jsonb)", function) :
		sfw_format("SELECT %s($1::pg_catalog.text, $2::pg_catalog.text, $3::pg_catalog.text)", function);
	const char *values[3] = {task->token, task->success ? task->output : task->error, task->cause};

	n_under_way = 1;
	sfw_db_send(statement, task->success ? 2 : 3, values, answered, NULL);
	free(function);
	free(statement);
}

/* Note how a heartbeat was taken; a task that nobody waits for is stopped. */
static void
beaten(const PGresult *result, void *arg)
{
	SfwTask    *task = sfw_tasks;

	while (task != NULL && strcmp(task->token, beating) != 0)
		task = task->next;
	free(beating);
	beating = NULL;
	if (task == NULL)
		return;
	if (result == NULL)
		task->heartbeat_due = true;
	else if (PQresultStatus(result) != PGRES_TUPLES_OK)
	{
		char	   *message = sfw_db_message(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));

		sfw_task_log(task, SFW_WARNING, "a heartbeat is refused", "reason", message);
		if (is_refusal(sfw_db_sqlstate(result)))
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
	char	   *function;
	char	   *statement;

	while (task != NULL && !task->heartbeat_due)
		task = task->next;
	if (task == NULL)
		return false;
	task->heartbeat_due = false;
	beating = sfw_strdup(task->token);
	values[0] = beating;
	function = sfw_db_function("sf_send_task_heartbeat");
	statement = sfw_format("SELECT %s($1::pg_catalog.text)", function);
	sfw_db_send(statement, 1, values, beaten, NULL);
	free(function);
	free(statement);
	return true;
}

/* Read a number of a row; what is null gives the default. */
static double
number_at(const PGresult *result, int row, int column, double otherwise)
{
	return PQgetisnull(result, row, column) ? otherwise : strtod(PQgetvalue(result, row, column), NULL);
}

/* Read a text of a row; NULL for null. */
static const char *
text_at(const PGresult *result, int row, int column)
{
	return PQgetisnull(result, row, column) ? NULL : PQgetvalue(result, row, column);
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
		char	   *message = sfw_db_message(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));

		/* It may be made, granted or started later: the next poll sees. */
		sfw_log(SFW_ERROR, "cannot take tasks", "activity", source->activity,
				"sqlstate", sfw_db_sqlstate(result), "reason", message, NULL);
		free(message);
		source->dry = true;
		n_failed++;
		return;
	}
	n = PQntuples(result);
	if (n == n_asked)
		source->hot = true;
	source->dry = n < n_asked;
	for (int row = 0; row < n; row++)
	{
		SfwClaim	claim = {
			.token = text_at(result, row, 0),
			.input = PQgetisnull(result, row, 1) ? "null" : PQgetvalue(result, row, 1),
			.execution_id = text_at(result, row, 2),
			.state = text_at(result, row, 3),
			.attempt = text_at(result, row, 4),
			.heartbeat = number_at(result, row, 5, 0),
			.time_left = number_at(result, row, 6, -1),
		};

		if (!PQgetisnull(result, row, 6) && claim.time_left < 0)
			claim.time_left = 0;
		sfw_task_begin(source->kind, &claim);
	}
}

/* Choose an activity that may have tasks for the free slots; false: there is none, or no slot. */
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

		if (source->hot)
			claimed = source;
	}
	if (claimed == NULL)
		return false;
	next_source = (int) (claimed - sources + 1) % n_sources;
	claimed->hot = false;
	return true;
}

/* What a claim selects; in front stands what is to be done before it, as n. */
static char *
claim_statement(const char *before, const char *arguments)
{
	char	   *function = sfw_db_function("sf_get_activity_task");
	char	   *statement = sfw_format("SELECT task_token, input, execution_id, state, attempt,"
									   " extract(epoch FROM heartbeat)::pg_catalog.float8,"
									   " extract(epoch FROM deadline OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp())"
									   "::pg_catalog.float8"
									   " FROM %s %s(%s)", before, function, arguments);

	free(function);
	return statement;
}

/* Claim tasks of the source that was chosen. */
static void
send_claim(void)
{
	char		free_slots[16];
	const char *values[3] = {claimed->activity, sfw_config.name, free_slots};
	char	   *statement = claim_statement("", "$1::pg_catalog.text, $2::pg_catalog.text, $3::pg_catalog.int4");

	snprintf(free_slots, sizeof(free_slots), "%d", n_asked);
	sfw_db_send(statement, 3, values, claim_done, NULL);
	free(statement);
}

/* Note how answers and a claim went that were one statement. */
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
	/* Whichever it was that failed: the claim is made again by itself. */
	claimed = NULL;
	source->hot = true;
}

/*
 * Send the successes at the head of the list together, and claim tasks of the
 * source that was chosen if one was.  The claim's number depends on the count
 * of answers, so that these are given first, and given also when there is
 * nothing to claim.
 */
static void
send_answers(void)
{
	SfwBuf		tokens = {0};
	SfwBuf		outputs = {0};
	char		free_slots[16];
	const char *values[5] = {NULL, NULL, NULL, sfw_config.name, free_slots};
	char	   *function = sfw_db_function("sf_send_task_success");
	char	   *answer = sfw_format("SELECT %s(t, o::pg_catalog.jsonb) FROM"
									" ROWS FROM (pg_catalog.unnest($1::pg_catalog.text[]),"
									" pg_catalog.unnest($2::pg_catalog.text[]))"
									" AS u (t, o)", function);

	while (answers != NULL && answers->success && !answers->alone && n_batch < BATCH_TASKS &&
		   outputs.len < BATCH_BYTES)
	{
		SfwTask    *task = dequeue();

		put_element(&tokens, task->token);
		put_element(&outputs, task->output);
	}
	sfw_buf_putc(&tokens, '}');
	sfw_buf_putc(&outputs, '}');
	values[0] = tokens.data;
	values[1] = outputs.data;
	n_under_way = n_batch;
	if (claimed == NULL)
		sfw_db_send(answer, 2, values, answered, NULL);
	else
	{
		char	   *before = sfw_format("(SELECT pg_catalog.count(*) AS n FROM (%s OFFSET 0) AS s) AS a"
										" CROSS JOIN LATERAL", answer);
		char	   *statement = claim_statement(before, "$3::pg_catalog.text, $4::pg_catalog.text, $5::pg_catalog.int4"
												 " OPERATOR(pg_catalog.+) (0 OPERATOR(pg_catalog.*) a.n::pg_catalog.int4)");

		values[2] = claimed->activity;
		snprintf(free_slots, sizeof(free_slots), "%d", n_asked);
		sfw_db_send(statement, 5, values, answered_and_claimed, NULL);
		free(before);
		free(statement);
	}
	sfw_buf_free(&tokens);
	sfw_buf_free(&outputs);
	free(function);
	free(answer);
}

/* Tell whether an answer can go together with others. */
static bool
goes_together(const SfwTask *task)
{
	return task != NULL && task->success && !task->alone;
}

/* Say something about the answers, and claim what there may be. */
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

/* Say the most urgent thing, if the session is idle. */
void
sfw_queue_pump(void)
{
	if (!sfw_db_is_idle())
		return;
	if (!send_heartbeat())
		send_answer_or_claim();
}

/* Look at all activities: a notification may have been missed, a lease run out. */
static void
poll_all(void *arg)
{
	for (int i = 0; i < n_sources; i++)
		sources[i].hot = true;
	sfw_timer_set(&poll_timer, sfw_config.poll_interval, poll_all, NULL);
	sfw_queue_pump();
}

/* There is a new session: what happened meanwhile told nobody. */
static void
connected(void)
{
	if (!draining)
		poll_all(NULL);
}

/* An activity has new tasks. */
static void
notified(const char *activity)
{
	for (int i = 0; i < n_sources; i++)
	{
		if (strcmp(sources[i].activity, activity) == 0)
			sources[i].hot = true;
	}
	sfw_queue_pump();
}

/* Begin to talk with the database. */
void
sfw_queue_start(void)
{
	n_sources = sfw_config.n_served;
	sources = sfw_alloc(sizeof(Source) * (size_t) (n_sources > 0 ? n_sources : 1));
	for (int i = 0; i < n_sources; i++)
	{
		sources[i].activity = sfw_config.served[i].name;
		sources[i].kind = sfw_kind_find(sfw_config.served[i].kind);
	}
	sfw_db_start(connected, sfw_queue_pump, notified);
}

/* Take no more tasks. */
void
sfw_queue_drain(void)
{
	draining = true;
	sfw_timer_clear(&poll_timer);
}

/* Tell whether nothing runs and nothing is left to be answered. */
bool
sfw_queue_is_empty(void)
{
	return sfw_tasks_running == 0 && answers == NULL && n_under_way == 0 && claimed == NULL;
}

/* Tell whether no activity had more tasks when it was asked last. */
bool
sfw_queue_is_exhausted(void)
{
	for (int i = 0; i < n_sources; i++)
	{
		if (!sources[i].dry || sources[i].hot)
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
