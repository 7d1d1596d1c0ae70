/*
 * sql.c
 *		Tasks that are SQL statements in a transaction, or a database, of their own.
 *
 *		{"Statement": "CALL shop.rebuild($1, $2)", "Arguments": ["2025-02-05", 3],
 *		 "Database": "warehouse", "TimeoutSeconds": 3600}
 *
 * For what cannot run inside the workflow's transaction: procedures that
 * commit, VACUUM, CREATE INDEX CONCURRENTLY, another database.  Where a
 * statement may run, and as whom, is the worker's configuration; a payload only
 * chooses among its sections.  The statement goes by the extended protocol,
 * which takes one statement and keeps arguments apart from it.
 *
 * Each task has a session of its own, so nothing of one reaches the next.  The
 * session knows the task's token (current_setting('sfworker.task_token')): work
 * that must not be done twice answers by itself, in its own transaction.
 *
 *		connecting -> preparing -> running
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "config.h"
#include "db.h"
#include "log.h"
#include "task.h"
#include "task/conditions.h"

#define MAX_ARGUMENTS 1000
#define CONNECT_ERROR "sqlclient_unable_to_establish_sqlconnection"

/* Types whose values are JSON or become JSON: oid as in pg_type */
#define OID_BOOL		16
#define OID_JSON		114
#define OID_JSONB		3802
#define OID_TIMESTAMP	1114
#define OID_TIMESTAMPTZ 1184

static const Oid number_types[] = {20, 21, 23, 26, 700, 701, 1700};

/* What a payload asks for */
typedef struct Request
{
	const SfwDatabase *database;	/* NULL: the worker's own */
	char	   *statement;
	char	  **arguments;
	int			n_arguments;
} Request;

/* A statement that runs */
typedef struct Sql
{
	SfwTask    *task;
	Request		request;
	PGconn	   *conn;
	int			fd;
	bool		running;		/* the payload's statement was sent */
	SfwTimer	connect_timer;
	SfwBuf		rows;
	long long	n_rows;
	char	   *affected;		/* of a statement that gives no rows */
	bool		too_large;
	char	   *error;			/* the first one */
	char	   *cause;
} Sql;

static void talk(int fd, short revents, void *arg);

/* ---------------------------------------------------------------- payload */

/* Release what a payload asked for. */
static void
free_request(Request *request)
{
	for (int i = 0; i < request->n_arguments; i++)
		free(request->arguments[i]);
	free(request->arguments);
	free(request->statement);
}

/* Find the database that a payload names, or the one there is; gives what is wrong, or NULL. */
static char *
read_database(SfwJson payload, Request *request)
{
	SfwJson		value;
	char	   *name;
	char	   *problem = NULL;

	if (!sfw_json_get(payload, "Database", &value))
	{
		/* Without a name: "default", else the only one, else the worker's own. */
		request->database = sfw_config_database("default");
		if (request->database == NULL && sfw_config.databases != NULL)
		{
			if (sfw_config.databases->next != NULL)
				return sfw_strdup("Database is missing: the worker has several");
			request->database = sfw_config.databases;
		}
		return NULL;
	}
	name = sfw_json_text(value);
	request->database = sfw_config_database(name);
	if (request->database == NULL)
		problem = sfw_format("the worker has no database \"%s\"", name);
	free(name);
	return problem;
}

/* Read a payload; gives what is wrong with it, or NULL. */
static char *
read_payload(SfwJson payload, Request *request)
{
	SfwJsonWalk walk;
	SfwJson		value;
	SfwJson		element;

	if (!sfw_json_get(payload, "Statement", &value) || sfw_json_type(value) != '"')
		return sfw_strdup("Statement is missing");
	request->statement = sfw_json_text(value);
	if (sfw_json_get(payload, "Arguments", &value))
	{
		if (sfw_json_type(value) != '[' || sfw_json_count(value) > MAX_ARGUMENTS)
			return sfw_strdup("Arguments must be an array");
		request->arguments = sfw_alloc(sizeof(char *) * (sfw_json_count(value) + 1));
		walk = sfw_json_walk(value);
		while (sfw_json_next(&walk, NULL, &element))
			request->arguments[request->n_arguments++] =
				sfw_json_type(element) == 'n' ? NULL : sfw_json_text(element);
	}
	return read_database(payload, request);
}

/* ---------------------------------------------------------------- result */

/* Append a point in time as to_jsonb writes it; false: it is not in the form expected. */
static bool
put_time(SfwBuf *buf, const char *text, bool zoned)
{
	size_t		len = strlen(text);
	const char *blank = strchr(text, ' ');
	const char *sign;

	if (blank == NULL || strchr(blank + 1, ' ') != NULL || blank - text != 10)
		return false;
	sfw_buf_printf(buf, "\"%.10sT%s", text, blank + 1);
	sign = zoned ? strpbrk(blank, "+-") : NULL;
	if (sign != NULL && text + len - sign == 3)
		sfw_buf_puts(buf, ":00");
	sfw_buf_putc(buf, '"');
	return true;
}

/* Append a value of a type as JSON. */
static void
put_value(SfwBuf *buf, Oid type, const char *text)
{
	SfwJson		value;
	bool		is_number = false;

	for (size_t i = 0; i < sizeof(number_types) / sizeof(number_types[0]); i++)
		is_number = is_number || type == number_types[i];
	if (type == OID_BOOL)
		sfw_buf_puts(buf, *text == 't' ? "true" : "false");
	else if ((is_number || type == OID_JSON || type == OID_JSONB) &&
			 sfw_json_parse(text, strlen(text), &value))
		sfw_buf_append(buf, value.text, value.len);
	else if ((type != OID_TIMESTAMP && type != OID_TIMESTAMPTZ) ||
			 !put_time(buf, text, type == OID_TIMESTAMPTZ))
		sfw_json_put_string(buf, text, strlen(text));
}

/* Keep the rows of a result, up to the limit. */
static void
keep_rows(Sql *sql, const PGresult *result)
{
	for (int row = 0; row < PQntuples(result); row++)
	{
		sql->n_rows++;
		if (sql->rows.len > sfw_config.max_output)
			sql->too_large = true;
		if (sql->too_large)
			continue;
		sfw_buf_putc(&sql->rows, sql->rows.len > 0 ? ',' : '[');
		for (int i = 0; i < PQnfields(result); i++)
		{
			sfw_buf_putc(&sql->rows, i > 0 ? ',' : '{');
			sfw_json_put_key(&sql->rows, PQfname(result, i));
			if (PQgetisnull(result, row, i))
				sfw_buf_puts(&sql->rows, "null");
			else
				put_value(&sql->rows, PQftype(result, i), PQgetvalue(result, row, i));
		}
		sfw_buf_puts(&sql->rows, PQnfields(result) > 0 ? "}" : "{}");
	}
}

/* Name a SQLSTATE as ErrorEquals wants it. */
static const char *
condition_name(const char *sqlstate)
{
	static const struct
	{
		const char *code;
		const char *name;
	}			conditions[] = {
#define CONDITION_ROW(code, name) {code, name},
		SF_CONDITION_LIST(CONDITION_ROW)
	};

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
	{
		if (strcmp(conditions[i].code, sqlstate) == 0)
			return conditions[i].name;
	}
	return sqlstate;
}

/* Append a member of a cause if there is something to it. */
static void
put_field(SfwBuf *cause, const char *key, const char *text)
{
	if (text == NULL)
		return;
	sfw_buf_puts(cause, cause->len > 0 ? ", " : "{");
	sfw_json_put_key(cause, key);
	sfw_json_put_string(cause, text, strlen(text) > 6000 ? sfw_utf8_clip(text, 6000) : strlen(text));
}

/* Keep the first error, shaped as those of SQL tasks in the database. */
static void
keep_error(Sql *sql, const PGresult *result)
{
	SfwBuf		cause = {0};
	char	   *message;

	if (sql->error != NULL)
		return;
	message = sfw_db_message(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
	sql->error = sfw_strdup(*sfw_db_sqlstate(result) != '\0' ?
							condition_name(sfw_db_sqlstate(result)) : "connection_failure");
	put_field(&cause, "sqlstate", PQresultErrorField(result, PG_DIAG_SQLSTATE));
	put_field(&cause, "message", message);
	put_field(&cause, "detail", PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL));
	put_field(&cause, "hint", PQresultErrorField(result, PG_DIAG_MESSAGE_HINT));
	put_field(&cause, "context", PQresultErrorField(result, PG_DIAG_CONTEXT));
	sfw_buf_puts(&cause, "}");
	sql->cause = sfw_buf_take(&cause);
	free(message);
}

/* ---------------------------------------------------------------- session */

/* Leave the session and tell how it went. */
static void
finish(Sql *sql)
{
	SfwTask    *task = sql->task;
	SfwBuf		output = {0};

	sfw_timer_clear(&sql->connect_timer);
	sfw_loop_watch(sql->fd, 0, NULL, NULL);
	PQfinish(sql->conn);
	task->job = NULL;
	if (sql->error != NULL)
		sfw_task_failed(task, sql->error, sql->cause);
	else if (sql->too_large)
		sfw_task_failed(task, sfw_strdup("States.DataLimitExceeded"),
						sfw_strdup("the rows are larger than the worker takes (max-output);"
								   " the statement was carried out"));
	else
	{
		sfw_buf_puts(&output, "{\"Rows\":");
		sfw_buf_puts(&output, sql->rows.len > 0 ? sql->rows.data : "[");
		if (sql->affected != NULL && *sql->affected != '\0')
			sfw_buf_printf(&output, "],\"RowCount\":%s}", sql->affected);
		else
			sfw_buf_printf(&output, "],\"RowCount\":%lld}", sql->n_rows);
		sfw_task_succeeded(task, sfw_buf_take(&output));
	}
	free_request(&sql->request);
	free(sql->affected);
	sfw_buf_free(&sql->rows);
	free(sql);
}

/* Give up because the session is gone or was never there. */
static void
lose(Sql *sql, const char *error)
{
	if (sql->error == NULL)
	{
		SfwBuf		cause = {0};
		char	   *message = sfw_db_message(PQerrorMessage(sql->conn));

		put_field(&cause, "message", message);
		sfw_buf_puts(&cause, "}");
		sql->error = sfw_strdup(error);
		sql->cause = sfw_buf_take(&cause);
		free(message);
	}
	finish(sql);
}

/* Watch the session's socket; libpq may have changed it. */
static void
watch(Sql *sql, short events, SfwReady ready)
{
	int			fd = PQsocket(sql->conn);

	if (sql->fd != fd)
		sfw_loop_watch(sql->fd, 0, NULL, NULL);
	sql->fd = fd;
	sfw_loop_watch(fd, events, ready, sql);
}

/* Watch for what the server sends, and for room to send what is left. */
static void
watch_talk(Sql *sql)
{
	watch(sql, (short) (POLLIN | (PQflush(sql->conn) == 1 ? POLLOUT : 0)), talk);
}

/* Send the payload's statement. */
static bool
send_statement(Sql *sql)
{
	sql->running = true;
	if (!PQsendQueryParams(sql->conn, sql->request.statement, sql->request.n_arguments, NULL,
						   (const char *const *) sql->request.arguments, NULL, NULL, 0))
		return false;
	PQsetSingleRowMode(sql->conn);
	return true;
}

/*
 * Send what makes the session ready: who it is for, as which role; and that the
 * server looks whether we still live, so that what a dead worker asked for ends.
 */
static bool
send_preparation(Sql *sql)
{
	static const char *const statement =
		"SELECT pg_catalog.set_config('sfworker.task_token', $1, false),"
		" pg_catalog.set_config('sfworker.execution_id', $2, false),"
		" pg_catalog.set_config('sfworker.state', $3, false),"
		" pg_catalog.set_config('sfworker.attempt', $4, false),"
		" pg_catalog.set_config('DateStyle', 'ISO', false),"
		" (SELECT pg_catalog.set_config(s.name, '10s', false) FROM pg_catalog.pg_settings AS s"
		"  WHERE s.name OPERATOR(pg_catalog.=) 'client_connection_check_interval'),"
		" CASE WHEN $5::pg_catalog.text IS NOT NULL THEN pg_catalog.set_config('role', $5::pg_catalog.text, false) END";
	const char *values[5] = {
		sql->task->token, sql->task->execution_id, sql->task->state, sql->task->attempt,
		sql->request.database != NULL ? sql->request.database->role : NULL,
	};

	return PQsendQueryParams(sql->conn, statement, 5, NULL, values, NULL, NULL, 0);
}

/* Take one result of what was sent. */
static void
take_result(Sql *sql, const PGresult *result)
{
	switch (PQresultStatus(result))
	{
		case PGRES_SINGLE_TUPLE:
		case PGRES_TUPLES_OK:
			if (sql->running)
				keep_rows(sql, result);
			break;
		case PGRES_COMMAND_OK:
		case PGRES_EMPTY_QUERY:
			if (sql->running)
				sql->affected = sfw_strdup(PQcmdTuples((PGresult *) result));
			break;
		case PGRES_COPY_IN:
		case PGRES_COPY_OUT:
		case PGRES_COPY_BOTH:
			if (sql->error == NULL)
			{
				sql->error = sfw_strdup("Sql.InvalidParameters");
				sql->cause = sfw_strdup("COPY from or to the worker is not possible");
			}
			break;
		default:
			keep_error(sql, result);
			break;
	}
}

/* Read what the server sent, send what is left to be sent. */
static void
talk(int fd, short revents, void *arg)
{
	Sql		   *sql = arg;
	PGresult   *result;
	bool		copying;

	if (!PQconsumeInput(sql->conn))
	{
		lose(sql, "connection_failure");
		return;
	}
	while (!PQisBusy(sql->conn))
	{
		result = PQgetResult(sql->conn);
		if (result == NULL)
		{
			if (PQstatus(sql->conn) == CONNECTION_BAD)
				lose(sql, "connection_failure");
			else if (sql->running || sql->error != NULL)
				finish(sql);
			else if (!send_statement(sql))
				lose(sql, "connection_failure");
			else
				break;
			return;
		}
		take_result(sql, result);
		copying = PQresultStatus(result) >= PGRES_COPY_OUT && PQresultStatus(result) <= PGRES_COPY_IN;
		PQclear(result);
		/* Leaving is the shortest way out of a COPY. */
		if (copying)
		{
			finish(sql);
			return;
		}
	}
	watch_talk(sql);
}

/* Go on with connecting. */
static void
go_on_connecting(int fd, short revents, void *arg)
{
	Sql		   *sql = arg;

	switch (PQconnectPoll(sql->conn))
	{
		case PGRES_POLLING_READING:
			watch(sql, POLLIN, go_on_connecting);
			break;
		case PGRES_POLLING_WRITING:
			watch(sql, POLLOUT, go_on_connecting);
			break;
		case PGRES_POLLING_OK:
			sfw_timer_clear(&sql->connect_timer);
			PQsetnonblocking(sql->conn, 1);
			if (send_preparation(sql))
				watch_talk(sql);
			else
				lose(sql, "connection_failure");
			break;
		default:
			lose(sql, CONNECT_ERROR);
			break;
	}
}

/* A server does not answer. */
static void
connect_late(void *arg)
{
	lose(arg, CONNECT_ERROR);
}

/* Notices are the statement's own affair: they are for whoever debugs. */
static void
notice(void *arg, const char *message)
{
	char	   *text = sfw_db_message(message);

	sfw_task_log(((Sql *) arg)->task, SFW_DEBUG, "notice", "text", text);
	free(text);
}

/* ---------------------------------------------------------------- start, stop */

/* Begin a task. */
static void
sql_start(SfwTask *task)
{
	Sql		   *sql = sfw_alloc(sizeof(Sql));
	char	   *problem = read_payload(task->payload, &sql->request);

	if (problem != NULL)
	{
		free_request(&sql->request);
		free(sql);
		sfw_task_reject(task, problem);
		return;
	}
	sql->task = task;
	sql->fd = -1;
	task->job = sql;
	if (sql->request.database != NULL)
		sql->conn = sfw_db_open(sql->request.database->conninfo, false, false);
	else
		sql->conn = sfw_db_open(sfw_config.dbname, true, false);
	PQsetNoticeProcessor(sql->conn, notice, sql);
	if (PQstatus(sql->conn) == CONNECTION_BAD)
	{
		sfw_timer_set(&sql->connect_timer, 0, connect_late, sql);
		return;
	}
	sfw_timer_set(&sql->connect_timer, sfw_config.connect_timeout, connect_late, sql);
	watch(sql, POLLOUT, go_on_connecting);
}

/* A process that asked for a cancel has ended. */
static void
cancel_done(void *arg)
{
	sfw_child_reap((pid_t) (intptr_t) arg);
}

/* Ask the server to cancel the statement; in a process of its own, because that may block. */
static void
cancel(Sql *sql)
{
	PGcancel   *handle = PQgetCancel(sql->conn);
	char		problem[256];
	pid_t		pid;

	if (handle == NULL)
		return;
	pid = sfw_child_fork();
	if (pid == 0)
	{
		alarm(10);
		_exit(PQcancel(handle, problem, sizeof(problem)) ? 0 : 1);
	}
	if (pid > 0)
		sfw_child_watch(pid, cancel_done, (void *) (intptr_t) pid);
	PQfreeCancel(handle);
}

/* End a task's statement; hard: leave, and let the server notice. */
static void
sql_stop(SfwTask *task, bool hard)
{
	Sql		   *sql = task->job;

	if (sql == NULL)
		return;
	if (sql->running && !hard)
		cancel(sql);
	else
		lose(sql, "query_canceled");
}

/* Tell what would be run, and where. */
static bool
sql_dry_run(SfwJson payload, SfwBuf *report)
{
	Request		request = {0};
	char	   *problem = read_payload(payload, &request);
	bool		good = problem == NULL;
	const char *name = request.database != NULL ? request.database->name : "(the worker's own)";

	sfw_json_put_key(report, good ? "database" : "refused");
	sfw_json_put_string(report, good ? name : problem, strlen(good ? name : problem));
	if (good)
	{
		sfw_buf_puts(report, ",\"statement\":");
		sfw_json_put_string(report, request.statement, strlen(request.statement));
		sfw_buf_printf(report, ",\"arguments\":%d", request.n_arguments);
	}
	free(problem);
	free_request(&request);
	return good;
}

const SfwKind sfw_kind_sql = {"sql", "Sql", sql_start, sql_stop, sql_dry_run};
