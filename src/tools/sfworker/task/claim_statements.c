/*
 * claim_statements.c
 *		Statements that claim tasks.
 *
 * A database in SQL_ASCII, and others in which bytes stand that are no characters, may have a task that is no UTF-8.
 * A claim of it fails and takes nothing, and would do so for ever.  So the next one takes a single task, as bytes,
 * which the server is then asked to convert; the task fails if it cannot.
 */
#include "postgres_fe.h"

#include "tools/client/sqlstate.h"
#include "tools/sfworker/task/claim_statements.h"
#include "tools/sfworker/task/claimed_task.h"
#include "tools/sfworker/task/queue.h"

/* A column of a claim as bytes, in hexadecimal digits or as a log has them; and the text that these bytes are */
#define BYTES_OF(column, form) \
	"pg_catalog.encode(pg_catalog.convert_to(" column "::pg_catalog.text, 'SQL_ASCII'), '" form "')"
#define TEXT_OF(parameter) \
	"pg_catalog.convert_from(pg_catalog.decode(" parameter ", 'hex'), pg_catalog.getdatabaseencoding())"

/* Write a claim; before is empty, or a FROM item that the arguments refer to. */
char *
sfw_claim_statement(const char *before, const char *arguments)
{
	bool		traced = sfw_workflows.has_traces;

	return psprintf("SELECT " SFW_CLAIM_COLUMNS "%s FROM %s %s.sf_get_activity_task(%s%s)",
					traced ? ", traceparent, tracestate" : ", NULL, NULL", before, sfw_workflows.schema, arguments,
					traced ? ", true" : "");
}

/* Tell whether an error says that a text has bytes that are not to be had in UTF-8. */
bool
sfw_claim_is_no_utf8(const char *sqlstate)
{
	return sfc_sqlstate_is(sqlstate, ERRCODE_CHARACTER_NOT_IN_REPERTOIRE) ||
		sfc_sqlstate_is(sqlstate, ERRCODE_UNTRANSLATABLE_CHARACTER);
}

/*
 * Write a claim of one task as bytes: its parameters are the activity and the worker.  The row has SFW_CLAIM_COLUMNS as
 * a log may have them, and behind them, in the same order, the bytes of those that may have any.
 */
char *
sfw_claim_as_bytes_statement(void)
{
	bool		traced = sfw_workflows.has_traces;

	return psprintf("SELECT task_token, NULL, " BYTES_OF("execution_id", "escape") ", " BYTES_OF("state", "escape")
					", attempt, " SFW_CLAIM_TIMES ", " BYTES_OF("resource", "escape") ", %s, NULL, NULL, "
					BYTES_OF("input", "hex") ", " BYTES_OF("execution_id", "hex") ", " BYTES_OF("state", "hex")
					", NULL, NULL, NULL, " BYTES_OF("resource", "hex") ", NULL, %s"
					" FROM %s.sf_get_activity_task($1::pg_catalog.text, $2::pg_catalog.text, 1%s)",
					traced ? "traceparent" : "NULL", traced ? BYTES_OF("tracestate", "hex") : "NULL",
					sfw_workflows.schema, traced ? ", true" : "");
}

/* Have the server make a claim of the bytes of another one; done gets it, or the error that they are no characters. */
void
sfw_claim_convert(const PGresult *claim, SfcDbDone done)
{
	const char *values[SFW_N_CLAIM_COLUMNS];

	for (int i = 0; i < SFW_N_CLAIM_COLUMNS; i++)
	{
		int			bytes = SFW_N_CLAIM_COLUMNS + i;
		int			column = PQgetisnull(claim, 0, bytes) ? i : bytes;

		values[i] = PQgetisnull(claim, 0, column) ? NULL : PQgetvalue(claim, 0, column);
	}
	sfc_db_send(&sfw_workflows, "SELECT $1::pg_catalog.text, " TEXT_OF("$2") ", " TEXT_OF("$3") ", " TEXT_OF("$4")
				", $5::pg_catalog.text, $6::pg_catalog.text, $7::pg_catalog.text, " TEXT_OF("$8")
				", $9::pg_catalog.text, " TEXT_OF("$10"), SFW_N_CLAIM_COLUMNS, values, done, NULL);
}
