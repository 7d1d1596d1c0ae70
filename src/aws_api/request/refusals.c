/*
 * refusals.c
 *		Raise errors of the API, and give errors of sfflow the names of AWS.
 */
#include "postgres.h"

#include "common/base64.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "aws_api/request/call.h"
#include "base/error/errors.h"
#include "base/value/encoding.h"
#include "base/version/compat.h"

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

/*
 * Add members to an answer, and the tokens of pages.
 *
 * A token names the last entry of its page by a key of the operation's own.  It also
 * has a hash of the request's other members, so that it goes on with the list that
 * it came from.  It is no secret: what a page shows is checked at each call.
 */

/* Milliseconds since 1970 of a time */
#define EPOCH_MS(at) \
	(((at) + (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY) / 1000)

/* Add a time: a number of seconds with three decimals; one that is not finite is left out. */
void
sf_answer_time(SfCall *call, const char *key, TimestampTz at)
{
	JsonbValue	value = {.type = jbvNumeric};
	int64		ms = EPOCH_MS(at);

	if (TIMESTAMP_NOT_FINITE(at))
		return;
	value.val.numeric = DatumGetNumeric(
		DirectFunctionCall3(numeric_in,
							CStringGetDatum(psprintf(INT64_FORMAT ".%03d", ms / 1000, (int) (ms % 1000))),
							ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
	sf_json_add_value(&call->answer, key, &value);
}

/* Add a payload as compact JSON text; NULL is left out. */
void
sf_answer_payload(SfCall *call, const char *key, const Jsonb *payload)
{
	if (payload != NULL)
		sf_json_add_string(&call->answer, key, sf_json_to_cstring(payload));
}

/* Add the ARN of an object. */
void
sf_answer_arn(SfCall *call, const char *key, SfNameKind kind, const char *id)
{
	sf_json_add_string(&call->answer, key, sf_public_name(kind, id));
}

/* A hash of what a list is asked for: the operation, and all members but the token and the limit. */
static uint64
hash_request(const SfCall *call)
{
	int			n;
	SfJsonMember *members = sf_json_members(&call->request, &n);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, call->operation->action);
	for (int i = 0; i < n; i++)
	{
		char	   *key = pnstrdup(members[i].key.val.string.val, members[i].key.val.string.len);

		if (strcmp(key, "nextToken") == 0 || strcmp(key, "maxResults") == 0)
			continue;
		appendStringInfo(&text, " %s=", key);
		sf_json_append_text(&text, &members[i].value);
	}
	return hash_bytes_extended((const unsigned char *) text.data, text.len, 0);
}

/* What a token of the next page has, which begins after the entry with a key. */
static char *
plain_token(const SfCall *call, const char *key)
{
	return psprintf("%016llx%s", (unsigned long long) hash_request(call), key);
}

/* Add the token of the next page, which begins after the entry with a key; a key has 200 bytes at most. */
void
sf_answer_next(SfCall *call, const char *key)
{
	char	   *plain = plain_token(call, key);

	sf_json_add_string(&call->answer, "nextToken", sf_base64_encode(plain, strlen(plain)));
}

/* Add to an entry what the token of a page would have that ends with it, if lists of several databases are merged. */
void
sf_answer_key(SfCall *call, const char *key)
{
	if (call->is_merged)
		sf_json_add_string(&call->answer, "pageKey", plain_token(call, key));
}

/* The key in the token of a request; NULL: it asks for the first page. */
char *
sf_answer_token_key(SfCall *call)
{
	char	   *token = sf_request_text(call, "nextToken");
	char	   *expected = psprintf("%016llx", (unsigned long long) hash_request(call));
	char	   *plain;
	int			len;

	if (token == NULL)
		return NULL;
	plain = palloc0(pg_b64_dec_len(strlen(token)) + 1);
	len = pg_b64_decode(token, strlen(token), SF_B64_DST(plain), pg_b64_dec_len(strlen(token)));
	if (len <= 16 || strncmp(plain, expected, 16) != 0)
		sf_refusal_raise(SF_REFUSAL_INVALID_TOKEN, "Invalid token");
	return plain + 16;
}
