/*
 * sql.c
 *		Tasks that are SQL statements in their own transaction or in another database.
 *
 *		{"Statement": "CALL shop.rebuild($1, $2)", "Arguments": ["2025-02-05", 3],
 *		 "Database": "warehouse", "TimeoutSeconds": 3600}
 *
 * For statements that cannot run inside the workflow's transaction: procedures
 * that commit, VACUUM, CREATE INDEX CONCURRENTLY, statements in another
 * database.  The worker's configuration decides where a statement may run and
 * as which role; a payload only chooses one of its sections.  The extended
 * protocol takes one statement and keeps arguments apart from it.
 *
 * Each task has a session of its own, so that settings and temporary tables of
 * one do not reach the next.  The session has the task's token
 * (current_setting('sfworker.task_token')): work that must not be done twice
 * answers the task in its own transaction.
 *
 *		looking for the host -> connecting -> preparing -> running
 */
#include "postgres_fe.h"

#include <unistd.h>

#include "base/error/conditions.h"
#include "tools/client/session.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/connection.h"
#include "tools/sfworker/task/claimed_task.h"
#include "tools/sfworker/task/subprocess.h"

#define MAX_ARGUMENTS 1000
#define FIELD_MAX	6000			/* bytes of a member of a cause */
#define CANNOT_CONNECT "sqlclient_unable_to_establish_sqlconnection"

/* Types whose values are JSON or become JSON: oid as in pg_type */
#define OID_BOOL		16
#define OID_JSON		114
#define OID_JSONB		3802
#define OID_TIMESTAMP	1114
#define OID_TIMESTAMPTZ 1184

static const Oid number_types[] = {20, 21, 23, 26, 700, 701, 1700};

/* A statement, as the payload describes it */
typedef struct Request
{
	const SfwSection *database;	/* NULL: the worker's own */
	char	   *statement;
	char	  **arguments;
	int			n_arguments;
} Request;

/* A statement that runs */
typedef struct Sql
{
	SfwTask    *task;
	Request		request;
	SfcHosts   *hosts;			/* while they are looked up */
	int64_t		connect_until;	/* as of sfc_now() */
	SfcSession	session;
	bool		running;		/* the payload's statement was sent */
	PQExpBufferData rows;		/* JSON without the closing bracket */
	long long	n_rows;
	char	   *affected;		/* of a statement that gives no rows */
	bool		too_large;
	char	   *error;			/* the first one, or NULL */
	char	   *cause;
} Sql;

/* ---------------------------------------------------------------- payload */

/* Release a request. */
static void
free_request(Request *request)
{
	for (int i = 0; i < request->n_arguments; i++)
		free(request->arguments[i]);
	free(request->arguments);
	free(request->statement);
}

/* Find the database that a payload names, or the default; gives what is wrong, or NULL. */
static char *
read_database(SfcJson payload, Request *request)
{
	const SfwSection *any = sfw_config_section(sfw_config.sections, "database", NULL);
	SfcJson		value;
	char	   *name;
	char	   *problem = NULL;

	/* Without a name: "default", else the only one, else the worker's own. */
	name = sfc_json_get(payload, "Database", &value) ? sfc_json_text(value) : NULL;
	request->database = sfw_config_section(any, "database", name != NULL ? name : "default");
	if (request->database == NULL && name != NULL)
		problem = psprintf("the worker has no database \"%s\"", name);
	else if (request->database == NULL && any != NULL)
	{
		request->database = any;
		if (sfw_config_section(any->next, "database", NULL) != NULL)
			problem = pg_strdup("Database is missing: the worker has several");
	}
	free(name);
	return problem;
}

/* Read a payload; gives what is wrong with it, or NULL. */
static char *
read_payload(SfcJson payload, Request *request)
{
	SfcJsonWalk	walk;
	SfcJson		value;
	SfcJson		element;

	if (!sfc_json_get(payload, "Statement", &value) || sfc_json_type(value) != '"')
		return pg_strdup("Statement is missing");
	request->statement = sfc_json_text(value);
	if (sfc_json_get(payload, "Arguments", &value))
	{
		if (sfc_json_type(value) != '[')
			return pg_strdup("Arguments must be an array");
		walk = sfc_json_walk(value);
		request->arguments = pg_malloc0(sizeof(char *) * MAX_ARGUMENTS);
		while (sfc_json_next(&walk, NULL, &element))
		{
			if (request->n_arguments == MAX_ARGUMENTS)
				return psprintf("Arguments has more than %d elements", MAX_ARGUMENTS);
			request->arguments[request->n_arguments++] =
				sfc_json_type(element) == 'n' ? NULL : sfc_json_text(element);
		}
	}
	return read_database(payload, request);
}

/* ---------------------------------------------------------------- result */

/* Append a point in time as to_jsonb writes it; false: its text has another form. */
static bool
put_time(PQExpBuffer buf, const char *text, bool zoned)
{
	const char *blank = strchr(text, ' ');
	const char *sign;

	if (blank == NULL || strchr(blank + 1, ' ') != NULL || blank - text != 10)
		return false;
	sign = zoned ? strpbrk(blank, "+-") : NULL;
	appendPQExpBuffer(buf, "\"%.10sT%s%s\"", text, blank + 1, sign != NULL && strlen(sign) == 3 ? ":00" : "");
	return true;
}

/* Append a value of a type as JSON. */
static void
put_value(PQExpBuffer buf, Oid type, const char *text)
{
	SfcJson		value;
	bool		is_json = type == OID_JSON || type == OID_JSONB;

	for (size_t i = 0; i < lengthof(number_types); i++)
		is_json = is_json || type == number_types[i];
	if (type == OID_BOOL)
		appendPQExpBufferStr(buf, *text == 't' ? "true" : "false");
	else if (is_json && sfc_json_parse(text, strlen(text), &value))
		sfc_json_put_value(buf, value);
	else if ((type != OID_TIMESTAMP && type != OID_TIMESTAMPTZ) ||
			 !put_time(buf, text, type == OID_TIMESTAMPTZ))
		sfc_json_put_string(buf, text);
}

/* Append a row as an object. */
static void
put_row(PQExpBuffer rows, const PGresult *result, int row)
{
	sfc_json_open(rows, '{');
	for (int i = 0; i < PQnfields(result); i++)
	{
		sfc_json_put_key(rows, PQfname(result, i));
		if (PQgetisnull(result, row, i))
			appendPQExpBufferStr(rows, "null");
		else
			put_value(rows, PQftype(result, i), PQgetvalue(result, row, i));
	}
	appendPQExpBufferChar(rows, '}');
}

/* The bytes of a row as text. */
static size_t
row_size(const PGresult *result, int row)
{
	size_t		size = 0;

	for (int i = 0; i < PQnfields(result); i++)
		size += (size_t) PQgetlength(result, row, i);
	return size;
}

/* Keep the rows of a result, up to the limit; a single one may be larger than memory has room for as JSON. */
static void
collect_rows(Sql *sql, const PGresult *result)
{
	for (int row = 0; row < PQntuples(result); row++)
	{
		sql->n_rows++;
		sql->too_large = sql->too_large || sql->rows.len > sfw_config.max_output ||
			row_size(result, row) > sfw_config.max_output;
		if (!sql->too_large)
			put_row(&sql->rows, result, row);
	}
}

/* Append a member of a cause unless its text is NULL. */
static void
put_field(PQExpBuffer cause, const char *key, const char *text)
{
	if (text == NULL)
		return;
	appendPQExpBufferStr(cause, cause->len > 0 ? ", " : "{");
	sfc_json_put_key(cause, key);
	sfc_json_put_bytes(cause, text, strlen(text) > FIELD_MAX ? sfc_utf8_clip(text, FIELD_MAX) : strlen(text));
}

/* Keep the first error, with a cause as that of SQL tasks in the database. */
static void
note_error(Sql *sql, const char *error, const char *message, const PGresult *result)
{
	PQExpBufferData cause;
	char	   *text;

	if (sql->error != NULL)
		return;
	sql->error = pg_strdup(error);
	text = sfc_message(message);
	initPQExpBuffer(&cause);
	put_field(&cause, "sqlstate", PQresultErrorField(result, PG_DIAG_SQLSTATE));
	put_field(&cause, "message", text);
	put_field(&cause, "detail", PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL));
	put_field(&cause, "hint", PQresultErrorField(result, PG_DIAG_MESSAGE_HINT));
	put_field(&cause, "context", PQresultErrorField(result, PG_DIAG_CONTEXT));
	appendPQExpBufferChar(&cause, '}');
	sql->cause = sfc_buffer_data(&cause);
	free(text);
}

/* Keep the error of a result under the name that ErrorEquals wants. */
static void
note_result_error(Sql *sql, const PGresult *result)
{
	const char *sqlstate = sfc_sqlstate(result);
	const char *condition = *sqlstate == '\0' ? "connection_failure" : sf_condition_name(sqlstate);

	note_error(sql, condition != NULL ? condition : sqlstate,
			   PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), result);
}

/* ---------------------------------------------------------------- session */

/* The output of a statement that has succeeded. */
static char *
make_output(Sql *sql)
{
	const char *rows = sfc_buffer_data(&sql->rows);

	if (sql->affected != NULL && *sql->affected != '\0')
		return psprintf("{\"Rows\":%s],\"RowCount\":%s}", rows, sql->affected);
	return psprintf("{\"Rows\":%s],\"RowCount\":%lld}", rows, sql->n_rows);
}

/* Close the session and report the outcome. */
static void
end_task(Sql *sql)
{
	SfwTask    *task = sql->task;

	sfc_hosts_free(sql->hosts);
	sfc_session_end(&sql->session);
	task->job = NULL;
	if (sql->error != NULL)
		sfw_task_failed(task, sql->cause, "%s", sql->error);
	else if (sql->too_large)
		sfw_task_failed(task, pg_strdup("the rows are larger than the worker takes (max-output);"
										" the statement was carried out"), "States.DataLimitExceeded");
	else
		sfw_task_succeeded(task, make_output(sql));
	free_request(&sql->request);
	free(sql->affected);
	free(sql->error);
	termPQExpBuffer(&sql->rows);
	free(sql);
}

/* Fail because the session is lost, was not established, or has to be closed. */
static void
lose(Sql *sql, const char *error)
{
	note_error(sql, error, sql->session.conn != NULL ? PQerrorMessage(sql->session.conn) : "", NULL);
	end_task(sql);
}

/* The attempt to connect failed. */
static void
not_connected(void *arg)
{
	lose(arg, CANNOT_CONNECT);
}

/* Send the payload's statement. */
static bool
send_statement(Sql *sql)
{
	sql->running = true;
	if (!PQsendQueryParams(sql->session.conn, sql->request.statement, sql->request.n_arguments, NULL,
						   (const char *const *) sql->request.arguments, NULL, NULL, 0))
		return false;
	PQsetSingleRowMode(sql->session.conn);
	return true;
}

/*
 * Prepare a new session: give it the task's token and names, and the role; have
 * the server check that the worker lives, so that a dead worker's statement is
 * cancelled.
 */
static void
connected(void *arg)
{
	Sql		   *sql = arg;
	static const char *const statement =
		"SELECT pg_catalog.set_config('sfworker.task_token', $1, false),"
		" pg_catalog.set_config('sfworker.execution_id', $2, false),"
		" pg_catalog.set_config('sfworker.state', $3, false),"
		" pg_catalog.set_config('sfworker.attempt', $4, false),"
		" pg_catalog.set_config('sfworker.resource', $6, false),"
		" pg_catalog.set_config('DateStyle', 'ISO', false),"
		" (SELECT pg_catalog.set_config(s.name, '10s', false) FROM pg_catalog.pg_settings AS s"
		"  WHERE s.name OPERATOR(pg_catalog.=) 'client_connection_check_interval'),"
		" CASE WHEN $5::pg_catalog.text IS NOT NULL THEN pg_catalog.set_config('role', $5::pg_catalog.text, false) END";
	const char *values[6] = {
		sql->task->token, sql->task->execution_id, sql->task->state, sql->task->attempt,
		sql->request.database != NULL ? sql->request.database->role : NULL,
		sql->task->resource,
	};

	if (PQsendQueryParams(sql->session.conn, statement, 6, NULL, values, NULL, NULL, 0))
		sfc_session_watch(&sql->session);
	else
		lose(sql, "connection_failure");
}

/* Read one result of what was sent. */
static void
read_result(Sql *sql, const PGresult *result)
{
	switch (PQresultStatus(result))
	{
		case PGRES_SINGLE_TUPLE:
		case PGRES_TUPLES_OK:
			if (sql->running)
				collect_rows(sql, result);
			break;
		case PGRES_COMMAND_OK:
		case PGRES_EMPTY_QUERY:
			if (sql->running)
				sql->affected = pg_strdup(PQcmdTuples((PGresult *) result));
			break;
		case PGRES_COPY_IN:
		case PGRES_COPY_OUT:
		case PGRES_COPY_BOTH:
			if (sql->error == NULL)
			{
				sql->error = pg_strdup("Sql.InvalidParameters");
				sql->cause = pg_strdup("COPY from or to the worker is not possible");
			}
			break;
		default:
			note_result_error(sql, result);
			break;
	}
}

/* All results of a statement have come: send the payload's, or report its outcome. */
static void
statement_done(Sql *sql)
{
	if (PQstatus(sql->session.conn) == CONNECTION_BAD)
		lose(sql, "connection_failure");
	else if (sql->running || sql->error != NULL)
		end_task(sql);
	else if (send_statement(sql))
		sfc_session_watch(&sql->session);
	else
		lose(sql, "connection_failure");
}

/* Read what the server sent, send what is not sent yet. */
static void
talk(void *arg)
{
	Sql		   *sql = arg;

	if (!PQconsumeInput(sql->session.conn))
	{
		lose(sql, "connection_failure");
		return;
	}
	while (!PQisBusy(sql->session.conn))
	{
		PGresult   *result = PQgetResult(sql->session.conn);
		ExecStatusType status = PQresultStatus(result);

		if (result == NULL)
		{
			statement_done(sql);
			return;
		}
		read_result(sql, result);
		PQclear(result);
		/* The shortest way out of a COPY is to close the session. */
		if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH)
		{
			end_task(sql);
			return;
		}
	}
	sfc_session_watch(&sql->session);
}

/* Log a notice of the server at level debug. */
static void
notice(void *arg, const char *message)
{
	char	   *text = sfc_message(message);

	sfw_task_log(((Sql *) arg)->task, SFC_LOG_DEBUG, "notice", "text", text);
	free(text);
}

/* ---------------------------------------------------------------- start, stop */

/* Begin to connect: it is known where the server is. */
static void
begin_session(Sql *sql)
{
	const SfwSection *database = sql->request.database;
	PGconn	   *conn = sfw_begin_connecting(database != NULL ? database->conninfo : sfw_config.dbname, database == NULL,
											sql->hosts);

	sfc_hosts_free(sql->hosts);
	sql->hosts = NULL;
	sfc_session_begin(&sql->session, conn, Max(sql->connect_until - sfc_now(), 0));
	PQsetNoticeProcessor(conn, notice, sql);
}

/* The hosts of the server were looked up; problem says why none has an address, or is NULL. */
static void
hosts_found(void *arg, const char *problem)
{
	Sql		   *sql = arg;

	if (problem == NULL)
		begin_session(sql);
	else
	{
		note_error(sql, CANNOT_CONNECT, problem, NULL);
		end_task(sql);
	}
}

/* Begin a task. */
static void
sql_start(SfwTask *task)
{
	Sql		   *sql = pg_malloc0(sizeof(Sql));
	char	   *problem = read_payload(task->payload, &sql->request);
	const SfwSection *database = sql->request.database;

	if (problem != NULL)
	{
		free_request(&sql->request);
		free(sql);
		sfw_task_reject(task, problem);
		return;
	}
	sql->task = task;
	task->job = sql;
	initPQExpBuffer(&sql->rows);
	appendPQExpBufferChar(&sql->rows, '[');
	sql->session = (SfcSession) {
		.fd = -1, .connected = connected, .failed = not_connected, .talk = talk, .arg = sql,
	};
	sql->connect_until = sfc_now() + sfw_config.connect_timeout;
	sql->hosts = sfw_find_hosts(database != NULL ? database->conninfo : sfw_config.dbname, database == NULL, 0,
								hosts_found, sql);
	if (sql->hosts == NULL)
		begin_session(sql);
}

/* Reap a process that asked for a cancel. */
static void
cancel_done(void *arg)
{
	sfw_subprocess_reap((pid_t) (intptr_t) arg);
}

/* Ask the server to cancel the statement; in a process of its own, because that may block. */
static void
cancel(Sql *sql)
{
	PGcancel   *handle = PQgetCancel(sql->session.conn);
	char		problem[256];
	pid_t		pid;

	if (handle == NULL)
		return;
	pid = sfw_subprocess_fork();
	if (pid == 0)
	{
		alarm(10);
		_exit(PQcancel(handle, problem, sizeof(problem)) ? 0 : 1);
	}
	if (pid > 0)
		sfw_subprocess_watch(pid, cancel_done, (void *) (intptr_t) pid);
	PQfreeCancel(handle);
}

/* Cancel a task's statement; hard: close the session, and let the server notice. */
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
sql_dry_run(SfcJson payload, PQExpBuffer report)
{
	Request		request = {0};
	char	   *problem = read_payload(payload, &request);
	bool		good = problem == NULL;
	const char *name = request.database != NULL ? request.database->name : "(the worker's own)";

	sfc_json_put_key(report, good ? "database" : "refused");
	sfc_json_put_string(report, good ? name : problem);
	if (good)
	{
		sfc_json_put_key(report, "statement");
		sfc_json_put_string(report, request.statement);
		appendPQExpBuffer(report, ",\"arguments\":%d", request.n_arguments);
	}
	free(problem);
	free_request(&request);
	return good;
}

const SfwKind sfw_kind_sql = {"sql", "Sql", false, sql_start, sql_stop, sql_dry_run};
