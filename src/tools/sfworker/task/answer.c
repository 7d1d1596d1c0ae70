/*
 * answer.c
 *		What an error of the database means for an answer.
 *
 * Some errors say that no answer with this token can succeed, and some that the
 * database cannot store this one: a success becomes a failure that tells why, and
 * what the database does not take of the texts of a failure is replaced, so that a
 * failure always arrives.  All other errors may pass.
 */
#include "postgres_fe.h"

#include "mb/pg_wchar.h"

#include "base/error/sqlstates.h"
#include "tools/client/sqlstate.h"
#include "tools/sfworker/task/answer.h"

/* Characters of a failure that are replaced one by one; then all are but those of ASCII */
#define REPLACED_MAX 20

/* What an error means for an answer or a heartbeat, as base/error/sqlstates.h says */
typedef enum ErrorUse
{
	RETRY,						/* it may pass: send the answer again later */
	OUTPUT,						/* the answer cannot be stored: send another one */
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
	/* Data exceptions, and limits of the program: values that jsonb cannot hold, and texts that the encoding lacks. */
	return sfc_sqlstate_is(sqlstate, ERRCLASS_DATA) || sfc_sqlstate_is(sqlstate, ERRCLASS_PROGRAM_LIMIT) ? OUTPUT : RETRY;
}

/* Tell whether an error of an answer or a heartbeat says that no answer with this token can succeed. */
bool
sfw_answer_is_refused(const char *sqlstate)
{
	return error_use(sqlstate) == REFUSED;
}

/* Tell whether an error says that another session has locked what a statement needs. */
bool
sfw_answer_is_locked(const char *sqlstate)
{
	return sfc_sqlstate_is(sqlstate, ERRCODE_LOCK_NOT_AVAILABLE);
}

/* Make a failure of a success whose output the database cannot store. */
static void
fail_because(SfwTask *task, const char *sqlstate, const char *message)
{
	char	   *error = sfc_sqlstate_is(sqlstate, SFC_SQLSTATE(PAYLOAD_TOO_LARGE)) ?
		pg_strdup("States.DataLimitExceeded") : psprintf("%s.InvalidOutput", task->kind->error_prefix);

	sfw_task_log(task, SFC_LOG_WARNING, "the output cannot be stored", "reason", message);
	sfw_task_set_failure(task, pg_strdup(message), error);
	free(error);
}

/* Read the character that the database's encoding lacks: the message has its bytes as 0xe5 0xa4 0x9c. */
static void
read_character(const char *message, char character[MAX_MULTIBYTE_CHAR_LEN + 1])
{
	unsigned	byte;
	int			n = 0;
	const char *p = strstr(message, "0x");

	while (p != NULL && n < MAX_MULTIBYTE_CHAR_LEN && sscanf(p, "0x%2x", &byte) == 1)
	{
		character[n++] = (char) byte;
		p = p[4] == ' ' ? p + 5 : NULL;
	}
	character[n] = '\0';
}

/* Replace a character, or with "" all that are not ASCII, in the texts of a failure; false: they have none. */
static bool
replace_in_failure(SfwTask *task, const char *character)
{
	bool		in_error = sfc_utf8_replace(task->outcome.failure.error, character);

	return sfc_utf8_replace(task->outcome.failure.cause, character) || in_error;
}

/*
 * Make the texts of a failure such that the database can take them: without the character that its message names, or
 * without all that are not ASCII, which also keeps them from being longer in its encoding than it takes.  False: they
 * are so already.
 */
static bool
make_plainer(SfwTask *task, const char *sqlstate, const char *message)
{
	char		character[MAX_MULTIBYTE_CHAR_LEN + 1];

	if (sfc_sqlstate_is(sqlstate, ERRCODE_UNTRANSLATABLE_CHARACTER) && task->n_replaced++ < REPLACED_MAX)
	{
		read_character(message, character);
		if (replace_in_failure(task, character))
			return true;
	}
	return replace_in_failure(task, "");
}

/* Change the answer of a task so that the database can store it, if that is what an error is about. */
SfwAnswerFate
sfw_answer_change(SfwTask *task, const char *sqlstate, const char *message)
{
	ErrorUse	use = error_use(sqlstate);

	if (use == REFUSED)
		return SFW_ANSWER_REFUSED;
	if (use == OUTPUT && task->outcome.succeeded)
	{
		fail_because(task, sqlstate, message);
		return SFW_ANSWER_CHANGED;
	}
	return use == OUTPUT && make_plainer(task, sqlstate, message) ? SFW_ANSWER_CHANGED : SFW_ANSWER_MAY_PASS;
}
