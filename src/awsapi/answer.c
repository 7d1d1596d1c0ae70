/*
 * answer.c
 *		Add members to an answer, and the tokens of pages.
 *
 * A token names the last entry of its page by a key of the operation's own.  It also
 * has a hash of the request's other members, so that it goes on with the list that
 * it came from.  It is no secret: what a page shows is checked at each call.
 */
#include "postgres.h"

#include "common/base64.h"
#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/numeric.h"

#include "awsapi/call.h"
#include "base/base64.h"
#include "base/compat.h"

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
	SfJsonMember *members = palloc(sizeof(SfJsonMember) * Max(sf_json_count(&call->request), 1));
	int			n = sf_json_list_members(&call->request, members);
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

/* Add the token of the next page, which begins after the entry with a key; a key has 200 bytes at most. */
void
sf_answer_next(SfCall *call, const char *key)
{
	char	   *plain = psprintf("%016llx%s", (unsigned long long) hash_request(call), key);

	sf_json_add_string(&call->answer, "nextToken", sf_base64_encode(plain, strlen(plain)));
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
