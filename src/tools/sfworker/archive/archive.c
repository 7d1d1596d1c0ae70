/*
 * archive.c
 *		sfworker --archive: write executions that are old enough to be deleted into an archive.
 *
 * One batch after the other is taken, written as a file of compressed lines, one for each execution with its events,
 * named in a manifest, and confirmed, which deletes its executions:
 *
 *		sf_take_archive_batch		the database stores the batch, its name and its executions
 *		data/NAME-SUM.jsonl.gz		SUM: the first digits of the file's SHA-256
 *		manifests/NAME.json			names the file
 *		sf_confirm_archive_batch
 *
 * This program may die at any moment.  A batch that was not confirmed is handed out again, to this or another program,
 * with the same name and executions; its manifest replaces the one that may be there.  So each execution is in one file
 * that a manifest names.  Nothing is kept in memory but a row: rows are read one by one, and compressed as they come.
 *
 * All calls here block; a signal ends the program after the batch at hand, and a second one at once.
 */
#include "postgres_fe.h"

#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/client/session.h"
#include "tools/sfworker/archive/archive.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/connection.h"
#include "tools/sfworker/task/claimed_task.h"

/* Of what a manifest and the lines mean */
#define SCHEMA_VERSION	1

/* Executions that are read by one statement */
#define READ_AT_A_TIME	"100"

/* Milliseconds of the first pause after a failure, each is twice as long as the one before, and of the longest one */
#define FIRST_PAUSE		500
#define LAST_PAUSE		60000

const SfwKind sfw_kind_archive = {.name = "archive"};

/* A batch that is being written */
typedef struct Batch
{
	char	   *number;
	char	   *name;
	int			executions;		/* that it has to have */
	bool		is_last;		/* nothing else is due */
	SfwPacked	file;
	char	   *key;			/* of the file in the archive */
	int			written;		/* executions */
	int64_t		events;
	char	   *after;			/* number of the last execution */
	bool		in_line;		/* its line has not ended */
	bool		has_events;
	char	   *first_id;		/* execution_id of the first one and the last one */
	char	   *last_id;
	char	   *requested_from; /* least requested_at, and so on */
	char	   *requested_to;
	char	   *stopped_from;
	char	   *stopped_to;
} Batch;

/* What came of taking a batch */
typedef enum Taken
{
	TAKEN,						/* and written, and confirmed */
	TAKEN_LAST,					/* the same, and nothing else is due */
	NOTHING_DUE,
	RECHECK,					/* nothing was found in the time for looking */
	FAILED
} Taken;

static const SfwStore *store;
static PGconn *conn;
static char *schema;			/* of sfflow's functions, quoted */
static volatile sig_atomic_t signals_seen;
static int	wake_fds[2] = {-1, -1};

/* Note a signal to leave; the second one ends the program. */
static void
on_signal(int signo)
{
	int			saved = errno;

	if (++signals_seen > 1)
		_exit(1);
	(void) (write(wake_fds[1], "", 1) + 1);
	errno = saved;
}

/* Pause, unless a signal to leave has come or comes; false: it has. */
bool
sfw_archive_wait(int64_t ms)
{
	struct pollfd wake = {.fd = wake_fds[0],.events = POLLIN};

	if (signals_seen == 0)
		(void) poll(&wake, 1, (int) Min(ms, INT_MAX));
	return signals_seen == 0;
}

/* Log what has failed; the message is freed. */
static void
complain(const char *what, char *why)
{
	sfc_log(SFC_LOG_WARNING, what, "target", sfw_config.archive, "reason", why, NULL);
	free(why);
}

/* Log why a statement has failed, and give the connection up, with the batches that belong to it. */
static void
give_up(const char *what)
{
	complain(what, sfc_message(PQerrorMessage(conn)));
	PQfinish(conn);
	conn = NULL;
}

/* Run a statement that returns one row; NULL: it has failed, and the connection is closed. */
static PGresult *
ask(const char *what, const char *statement, int n, const char *const *values)
{
	PGresult   *result = PQexecParams(conn, statement, n, NULL, values, NULL, NULL, 0);

	if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
		return result;
	PQclear(result);
	give_up(what);
	return NULL;
}

/* Connect to the database, if there is no connection, and find sfflow's schema. */
static bool
connect_to_database(void)
{
	static const char *const find =
		"SELECT coalesce(pg_catalog.quote_ident($1), (SELECT pg_catalog.quote_ident(n.nspname)"
		" FROM pg_catalog.pg_extension AS e JOIN pg_catalog.pg_namespace AS n"
		" ON n.oid OPERATOR(pg_catalog.=) e.extnamespace WHERE e.extname OPERATOR(pg_catalog.=) 'sfflow'))"
		" WHERE pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false) IS NOT NULL";
	const char *const values[1] = {sfw_config.schema};
	PGresult   *result;

	if (conn != NULL)
		return true;
	conn = sfw_connect_now();
	if (PQstatus(conn) != CONNECTION_OK)
	{
		give_up("cannot connect");
		return false;
	}
	result = ask("cannot set the session up", find, 1, values);
	if (result == NULL)
		return false;
	if (PQgetisnull(result, 0, 0))
	{
		PQclear(result);
		PQfinish(conn);
		conn = NULL;
		complain("cannot archive", pg_strdup("extension sfflow is not installed in this database"));
		return false;
	}
	free(schema);
	schema = pg_strdup(PQgetvalue(result, 0, 0));
	PQclear(result);
	sfc_log(SFC_LOG_INFO, "connected", "database", PQdb(conn), "user", PQuser(conn), NULL);
	return true;
}

/* Which of texts is kept, in the order of their bytes */
typedef enum Extreme
{
	LEAST,
	GREATEST
} Extreme;

/* Keep the least, or the greatest, of texts. */
static void
note_extreme(char **extreme, SfcJson object, const char *member, Extreme which)
{
	SfcJson		value;
	char	   *text;

	if (!sfc_json_get(object, member, &value))
		return;
	text = sfc_json_text(value);
	if (*extreme == NULL || (which == LEAST ? strcmp(text, *extreme) < 0 : strcmp(text, *extreme) > 0))
	{
		free(*extreme);
		*extreme = text;
	}
	else
		free(text);
}

/* Write text of a literal. */
static void
put_text(Batch *batch, const char *text)
{
	sfw_packed_write(&batch->file, text, strlen(text));
}

/* End the line of an execution. */
static void
end_line(Batch *batch)
{
	if (batch->in_line)
		put_text(batch, "]}\n");
	batch->in_line = false;
}

/* Begin the line of an execution, an object, which its events are put into. */
static void
begin_line(Batch *batch, const char *number, const char *text, size_t len)
{
	SfcJson		execution;
	SfcJson		id;

	end_line(batch);
	if (!sfc_json_parse(text, len, &execution) || sfc_json_type(execution) != '{' ||
		!sfc_json_get(execution, "execution_id", &id))
	{
		batch->file.problem = pg_strdup("the server sends what is no execution");
		return;
	}
	sfw_packed_write(&batch->file, execution.text, execution.len - 1);
	put_text(batch, ",\"events\":[");
	batch->in_line = true;
	batch->has_events = false;
	batch->written++;
	free(batch->after);
	batch->after = pg_strdup(number);
	free(batch->last_id);
	batch->last_id = sfc_json_text(id);
	if (batch->first_id == NULL)
		batch->first_id = pg_strdup(batch->last_id);
	note_extreme(&batch->requested_from, execution, "requested_at", LEAST);
	note_extreme(&batch->requested_to, execution, "requested_at", GREATEST);
	note_extreme(&batch->stopped_from, execution, "stopped_at", LEAST);
	note_extreme(&batch->stopped_to, execution, "stopped_at", GREATEST);
}

/* Write a row: an execution, or an event of the last one. */
static void
write_row(Batch *batch, const PGresult *row)
{
	const char *text = PQgetvalue(row, 0, 2);
	size_t		len = (size_t) PQgetlength(row, 0, 2);

	if (strcmp(PQgetvalue(row, 0, 1), "0") == 0)
	{
		begin_line(batch, PQgetvalue(row, 0, 0), text, len);
		return;
	}
	if (batch->has_events)
		put_text(batch, ",");
	sfw_packed_write(&batch->file, text, len);
	batch->has_events = true;
	batch->events++;
}

/* Read some executions, and write them; false: the connection is closed, or the file cannot be written. */
static bool
write_some(Batch *batch)
{
	char	   *statement = psprintf("SELECT execution, event_id, line FROM %s.sf_read_archive_batch($1, $2, $3)", schema);
	const char *const values[3] = {batch->number, batch->after, READ_AT_A_TIME};
	PGresult   *result;
	bool		ok = PQsendQueryParams(conn, statement, 3, NULL, values, NULL, NULL, 0) && PQsetSingleRowMode(conn);

	free(statement);
	while (ok && (result = PQgetResult(conn)) != NULL)
	{
		ExecStatusType status = PQresultStatus(result);

		if (status == PGRES_SINGLE_TUPLE && batch->file.problem == NULL)
			write_row(batch, result);
		ok = status == PGRES_SINGLE_TUPLE || status == PGRES_TUPLES_OK;
		PQclear(result);
	}
	if (!ok)
	{
		give_up("cannot read a batch");
		return false;
	}
	end_line(batch);
	return batch->file.problem == NULL;
}

/* Append a member that is a text, or null. */
static void
put_member(PQExpBuffer buf, const char *key, const char *value)
{
	sfc_json_put_key(buf, key);
	if (value == NULL)
		appendPQExpBufferStr(buf, "null");
	else
		sfc_json_put_string(buf, value);
}

/* Append a member that is a number. */
static void
put_number(PQExpBuffer buf, const char *key, int64_t value)
{
	sfc_json_put_key(buf, key);
	appendPQExpBuffer(buf, "%lld", (long long) value);
}

/* Write the manifest of a batch whose file is in the archive. */
static bool
put_manifest(const Batch *batch, char **problem)
{
	char	   *key = psprintf("manifests/%s.json", batch->name);
	PQExpBufferData text;
	SfwPacked	manifest;
	char	   *path = NULL;
	int			fd = store->make_file(batch->name, &path, problem);
	bool		ok = false;

	initPQExpBuffer(&text);
	sfc_json_open(&text, '{');
	put_number(&text, "schema_version", SCHEMA_VERSION);
	put_member(&text, "name", batch->name);
	put_member(&text, "activity", sfw_config.served[0].name);
	put_member(&text, "file", batch->key);
	put_member(&text, "format", "jsonl");
	put_member(&text, "compression", "gzip");
	put_member(&text, "sha256", batch->file.sha256);
	put_number(&text, "bytes", batch->file.bytes);
	put_number(&text, "uncompressed_bytes", batch->file.text_bytes);
	put_number(&text, "executions", batch->written);
	put_number(&text, "events", batch->events);
	put_member(&text, "first_execution", batch->first_id);
	put_member(&text, "last_execution", batch->last_id);
	put_member(&text, "first_requested_at", batch->requested_from);
	put_member(&text, "last_requested_at", batch->requested_to);
	put_member(&text, "first_stopped_at", batch->stopped_from);
	put_member(&text, "last_stopped_at", batch->stopped_to);
	put_member(&text, "written_by", "sfworker " SFW_VERSION);
	appendPQExpBufferStr(&text, "}\n");
	if (fd >= 0)
	{
		sfw_packed_begin(&manifest, fd, path, false);
		sfw_packed_write(&manifest, sfc_buffer_data(&text), text.len);
		if (sfw_packed_end(&manifest))
			ok = store->put(key, "application/json", &manifest, problem);
		else
			*problem = pg_strdup(manifest.problem);
		sfw_packed_free(&manifest);
	}
	termPQExpBuffer(&text);
	free(key);
	return ok;
}

/* Write a batch's file and manifest; false: it has been said why not. */
static bool
write_batch(Batch *batch)
{
	char	   *problem = NULL;
	bool		more = true;

	while (more)
	{
		int			before = batch->written;

		more = write_some(batch) && batch->written > before;
	}
	if (conn == NULL)
		return false;
	if (batch->file.problem == NULL && batch->written != batch->executions)
		batch->file.problem = psprintf("the batch has %d executions, and %d were read", batch->executions, batch->written);
	if (!sfw_packed_end(&batch->file))
		problem = pg_strdup(batch->file.problem);
	batch->key = psprintf("data/%s-%.12s.jsonl.gz", batch->name, batch->file.sha256);
	if (problem != NULL || !store->put(batch->key, "application/gzip", &batch->file, &problem) ||
		!put_manifest(batch, &problem))
	{
		complain("cannot write a batch", problem);
		return false;
	}
	return true;
}

/* Say that a batch is in the archive. */
static bool
confirm(const Batch *batch)
{
	char	   *statement = psprintf("SELECT %s.sf_confirm_archive_batch($1, $2, $3, $4)", schema);
	char	   *bytes = psprintf("%lld", (long long) batch->file.bytes);
	const char *const values[4] = {batch->number, batch->key, bytes, batch->file.sha256};
	PGresult   *result = ask("cannot confirm a batch", statement, 4, values);

	free(statement);
	if (result != NULL)
		sfc_log(SFC_LOG_INFO, "archived", "file", batch->key, "executions", PQgetvalue(result, 0, 0),
				"bytes", bytes, NULL);
	free(bytes);
	PQclear(result);
	return result != NULL;
}

/* Free what belongs to a batch. */
static void
free_batch(Batch *batch)
{
	sfw_packed_free(&batch->file);
	free(batch->number);
	free(batch->name);
	free(batch->key);
	free(batch->after);
	free(batch->first_id);
	free(batch->last_id);
	free(batch->requested_from);
	free(batch->requested_to);
	free(batch->stopped_from);
	free(batch->stopped_to);
}

/* Write a batch that was handed out. */
static Taken
archive_batch(const PGresult *taken)
{
	Batch		batch = {0};
	char	   *problem = NULL;
	char	   *path = NULL;
	const char *name = PQgetvalue(taken, 0, 1);
	int			fd = store->make_file(name, &path, &problem);
	Taken		done;

	if (fd < 0)
	{
		free(path);
		complain("cannot write a batch", problem);
		return FAILED;
	}
	batch.number = pg_strdup(PQgetvalue(taken, 0, 0));
	batch.name = pg_strdup(name);
	batch.executions = atoi(PQgetvalue(taken, 0, 2));
	batch.is_last = PQgetvalue(taken, 0, 3)[0] == 't';
	sfw_packed_begin(&batch.file, fd, path, true);
	done = !write_batch(&batch) || !confirm(&batch) ? FAILED : batch.is_last ? TAKEN_LAST : TAKEN;
	free_batch(&batch);
	return done;
}

/* Take a batch, write it, and confirm. */
static Taken
archive_next(void)
{
	char	   *statement;
	char	   *most = psprintf("%d", sfw_config.archive_executions);
	const char *const values[3] = {sfw_config.served[0].name, sfw_config.name, most};
	char	   *problem = NULL;
	PGresult   *taken = NULL;
	Taken		done = FAILED;

	if (!store->begin(sfw_config.archive, &problem))
		complain("cannot archive", problem);
	else if (connect_to_database())
	{
		statement = psprintf("SELECT batch, name, executions, all_taken FROM %s.sf_take_archive_batch($1, $2, $3)", schema);
		taken = ask("cannot take a batch", statement, 3, values);
		free(statement);
	}
	if (taken != NULL && !PQgetisnull(taken, 0, 0))
		done = archive_batch(taken);
	else if (taken != NULL)
		done = PQgetvalue(taken, 0, 3)[0] == 't' ? NOTHING_DUE : RECHECK;
	PQclear(taken);
	free(most);
	return done;
}

/* Watch the signals that end the program. */
static void
watch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal,.sa_flags = SA_RESTART};

	if (pipe(wake_fds) != 0)
	{
		fprintf(stderr, "sfworker: cannot make a pipe: %s\n", strerror(errno));
		exit(1);
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* a file that may not grow any more is an error of write() */
	signal(SIGXFSZ, SIG_IGN);
}

/* Write batches until a signal comes or, once, until nothing is due; gives the exit status. */
int
sfw_archive(void)
{
	int64_t		pause = FIRST_PAUSE;
	Taken		done = TAKEN;

	store = strncmp(sfw_config.archive, "s3://", 5) == 0 ? &sfw_store_s3 : &sfw_store_folder;
	srandom((unsigned) (time(NULL) ^ getpid()));
	watch_signals();
	sfc_log(SFC_LOG_INFO, "sfworker " SFW_VERSION, "name", sfw_config.name, "archive", sfw_config.archive, NULL);
	while (signals_seen == 0)
	{
		done = archive_next();
		if (sfw_config.once && (done == FAILED || done == NOTHING_DUE || done == TAKEN_LAST))
			break;
		if (done == NOTHING_DUE || done == TAKEN_LAST)
			(void) sfw_archive_wait(sfw_config.poll_interval);
		else if (done == FAILED)
			(void) sfw_archive_wait(pause / 2 + random() % (pause / 2 + 1));
		pause = done == FAILED ? Min(pause * 2, LAST_PAUSE) : FIRST_PAUSE;
	}
	sfc_log(SFC_LOG_INFO, "left", NULL);
	PQfinish(conn);
	return sfw_config.once && done == FAILED ? 1 : 0;
}
