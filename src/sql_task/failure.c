/*
 * failure.c
 *		What a PostgreSQL error looks like to Retry and Catch.
 *
 * The name is the condition name (unique_violation), the cause JSON text with
 * sqlstate, message, detail, hint and context.  Two kinds of errors differ: an
 * error of sf_raise has the name and the cause that were given to sf_raise; a
 * payload over the limit is States.DataLimitExceeded, with the message as its
 * cause.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "base/error/conditions.h"
#include "base/error/errors.h"
#include "json/json.h"
#include "sql_task/sql_task.h"
#include "sql_task/sql_task_internal.h"

/* Bytes of each text in a cause; Step Functions takes 32,768 in all */
#define SF_CAUSE_TEXT_MAX	6000

/* Copy a text, cut at a character boundary when it is very long. */
static char *
clip(const char *text)
{
	int			len;

	if (text == NULL)
		return NULL;
	len = strlen(text);
	if (len <= SF_CAUSE_TEXT_MAX)
		return pstrdup(text);
	len = pg_mbcliplen(text, len, SF_CAUSE_TEXT_MAX);
	return psprintf("%.*s...", len, text);
}

/* Tell whether a line of context is about the statement that we call with. */
static bool
is_our_statement(const char *line)
{
	return strstr(line, "\"" SF_CALL_STATEMENT "\"") != NULL ||
		strstr(line, "\"" SF_CALL_PLAIN "\"") != NULL;
}

/* The context without its last line when that is ours, NULL when empty. */
static char *
own_context(const char *context)
{
	char	   *copy;
	char	   *last;

	if (context == NULL)
		return NULL;
	copy = pstrdup(context);
	last = strrchr(copy, '\n');
	if (is_our_statement(last != NULL ? last : copy))
	{
		if (last == NULL)
			return NULL;
		*last = '\0';
	}
	return clip(copy);
}

/* Print an error as the JSON text of a cause. */
static char *
print_cause(const ErrorData *edata, const char *sqlstate)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "sqlstate", sqlstate);
	sf_json_add_string(&json, "message", clip(edata->message));
	sf_json_add_string(&json, "detail", clip(edata->detail));
	sf_json_add_string(&json, "hint", clip(edata->hint));
	sf_json_add_string(&json, "context", own_context(edata->context));
	return sf_json_to_cstring(sf_json_end(&json));
}

/* Name a SQLSTATE: its condition, for class SF that in base/error/sqlstates.h; else the SQLSTATE itself. */
static const char *
error_name(int sqlerrcode, const char *sqlstate)
{
#define OWN_CONDITION(sym, a, b, c, name, answer, meaning, advice) \
		case ERRCODE_SF_##sym: \
			return name;
	const char *condition;

	switch (sqlerrcode)
	{
			SF_SQLSTATE_LIST(OWN_CONDITION)
	}
	condition = sf_condition_name(sqlstate);
	return condition != NULL ? condition : sqlstate;
}

/*
 * Describe a caught error as the failure of a task; strings are allocated in
 * the current context.
 */
void
sf_failure_describe(const ErrorData *edata, SfError *error)
{
	*error = sf_error_make(NULL, NULL);
	error->sqlstate = pstrdup(unpack_sql_state(edata->sqlerrcode));

	if (edata->sqlerrcode == ERRCODE_SF_TASK_RAISED)
	{
		/* sf_raise puts the name here; a RAISE by hand has it as its message */
		const char *name = edata->datatype_name != NULL ?
			edata->datatype_name : edata->message;

		error->name = name != NULL && name[0] != '\0' ? pstrdup(name) : NULL;
		error->cause = edata->detail != NULL ? pstrdup(edata->detail) : NULL;
		return;
	}
	if (edata->sqlerrcode == ERRCODE_SF_PAYLOAD_TOO_LARGE)
	{
		error->name = SF_ERR_DATA_LIMIT_EXCEEDED;
		error->cause = clip(edata->message);
		return;
	}
	error->name = error_name(edata->sqlerrcode, error->sqlstate);
	error->cause = print_cause(edata, error->sqlstate);
}
