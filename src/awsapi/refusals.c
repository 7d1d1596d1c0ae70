/*
 * refusals.c
 *		Raise errors of the API, and give errors of sfflow the names of AWS.
 */
#include "postgres.h"

#include "awsapi/call.h"
#include "base/errors.h"

static const struct
{
	const char *name;
	const char *title;
	const char *reason;
}			refusals[] = {
#define REFUSAL(symbol, name, title, reason) {name, title, reason},
	SF_REFUSAL_LIST(REFUSAL)
};

static const struct
{
	int			sqlstate;
	const char *name;
	const char *title;			/* or NULL */
}			names[] = {
#define NAME(sqlstate, name, title) {sqlstate, name, title},
	SF_REFUSAL_NAME_LIST(NAME)
};

/* Raise an error of the API. */
void
sf_refusal_raise(SfRefusal refusal, const char *fmt,...)
{
	const char *title = refusals[refusal].title;
	const char *reason = refusals[refusal].reason;
	va_list		args;
	char	   *what;

	va_start(args, fmt);
	what = sf_error_format(fmt, args);
	va_end(args);
	ereport(ERROR,
			(errcode(ERRCODE_SF_AWS_REFUSED),
			 title == NULL ? errmsg_internal("%s", what) : errmsg_internal("%s: '%s'", title, what),
			 err_generic_string(PG_DIAG_CONSTRAINT_NAME, refusals[refusal].name),
			 reason == NULL ? 0 : err_generic_string(PG_DIAG_DATATYPE_NAME, reason)));
}

/* Give an error another name and another message; its own becomes the detail. */
static void
rename_error(ErrorData *error, const char *name, char *message)
{
	error->constraint_name = pstrdup(name);
	if (message == NULL)
		return;
	if (error->detail == NULL)
		error->detail = error->message;
	error->message = message;
}

/* Make the message of a title; NULL: the error keeps its own. */
static char *
make_message(const char *title, const SfCall *call)
{
	if (title != NULL && strpbrk(title, ".'") != NULL)
		return pstrdup(title);
	return title == NULL || call->subject == NULL ? NULL : psprintf("%s: '%s'", title, call->subject);
}

/* Give an error that leaves a call the name and the message that it has in AWS. */
void
sf_refusal_name(ErrorData *error, const SfCall *call)
{
	bool		is_missing = error->sqlerrcode == ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST ||
		error->sqlerrcode == ERRCODE_SF_EXECUTION_DOES_NOT_EXIST;

	if (is_missing && call->missing != NULL)
	{
		rename_error(error, refusals[SF_REFUSAL_RESOURCE_NOT_FOUND].name, make_message(call->missing, call));
		return;
	}
	for (size_t i = 0; i < lengthof(names); i++)
		if (names[i].sqlstate == error->sqlerrcode)
		{
			rename_error(error, names[i].name, make_message(names[i].title, call));
			return;
		}
}
