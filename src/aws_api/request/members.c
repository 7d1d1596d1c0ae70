/*
 * members.c
 *		Read the members of a request, which were checked before.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "aws_api/request/call.h"
#include "base/version/compat.h"

/* Most bytes of a word that an error shows: a payload must not get into logs */
#define MOST_SHOWN		8

/* Entries of a page when a request does not say how many */
#define DEFAULT_LIMIT	100

/* Find a member; false: it is not there, or null, which is the same. */
static bool
find(const SfCall *call, const char *member, JsonbValue *value)
{
	return sf_json_member(&call->request, member, strlen(member), value) && value->type != jbvNull;
}

/* The text of a member; NULL: it is not there. */
char *
sf_request_text(const SfCall *call, const char *member)
{
	JsonbValue	value;

	return find(call, member, &value) ? pnstrdup(value.val.string.val, value.val.string.len) : NULL;
}

/* The truth value of a member. */
bool
sf_request_flag(const SfCall *call, const char *member, bool if_absent)
{
	JsonbValue	value;

	return find(call, member, &value) ? value.val.boolean : if_absent;
}

/* The integer of a member, whose limits are those of an int. */
int
sf_request_int(const SfCall *call, const char *member, int if_absent)
{
	JsonbValue	value;
	int64		number;

	return find(call, member, &value) && sf_json_to_int64(&value, &number) ? (int) number : if_absent;
}

/* How many entries a page may have; 0 is what no maxResults is. */
int
sf_request_max_results(const SfCall *call)
{
	int			max_results = sf_request_int(call, "maxResults", 0);

	return max_results == 0 ? DEFAULT_LIMIT : max_results;
}

/* The value of a member as a document; NULL: it is not there. */
Jsonb *
sf_request_document(const SfCall *call, const char *member)
{
	JsonbValue	value;

	return find(call, member, &value) ? sf_json_make(&value) : NULL;
}

/* Say what is wrong with a text that is not JSON, in the words of the service where they are known. */
static const char *
json_problem(const char *text)
{
	const char *p = text + strspn(text, " \t\r\n");
	const char *brace = *p == '{' ? p + 1 + strspn(p + 1, " \t\r\n") : p;
	int			word = strcspn(p, " \t\r\n,:{}[]\"'");

	if (*p == '\0')
		return "Invalid execution input.";
	if (brace != p && *brace != '"' && *brace != '}' && *brace != '\0')
		return psprintf("Unexpected character ('%.*s' (code %d)): was expecting double-quote to start field name",
						pg_mblen(brace), brace, (unsigned char) *brace);
	if (isalpha((unsigned char) *p))
		return psprintf("Unrecognized token%s: was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')",
						word > MOST_SHOWN ? "" : psprintf(" '%.*s'", word, p));
	return "Invalid JSON.";
}

/* The JSON text in a member as a document, {} when it is absent; a refusal when it is none. */
Jsonb *
sf_request_payload(const SfCall *call, const char *member, SfRefusal refusal)
{
	char	   *text = sf_request_text(call, member);
	Jsonb	   *payload;

	if (text == NULL)
		return sf_json_empty_object();
	if (!sf_json_parse(text, strlen(text), &payload))
		sf_refusal_raise(refusal, "%s", json_problem(text));
	return payload;
}

/* Refuse an ARN that is not one of the kind that a request must name. */
static void pg_attribute_noreturn()
refuse_arn(const char *arn)
{
	const char *type = arn;

	if (strncmp(arn, "arn:", 4) != 0)
		sf_refusal_raise(SF_REFUSAL_INVALID_ARN, "Invalid ARN prefix: %s", arn);
	for (int colons = 0; type != NULL && colons < 5; colons++)
		type = strchr(type + (colons > 0), ':');
	if (type == NULL || type[1] == '\0')
		sf_refusal_raise(SF_REFUSAL_INVALID_ARN, "Invalid ARN: %s", arn);
	sf_refusal_raise(SF_REFUSAL_INVALID_ARN, "Resource type not valid in this context: %.*s",
					 (int) strcspn(type + 1, ":/"), type + 1);
}

/*
 * The id in the ARN of an object, as sf_public_name_to_id makes it; the ARN becomes
 * the subject of errors.  NULL: the request does not have the member.
 */
const char *
sf_request_id(SfCall *call, const char *member, SfNameKind kind)
{
	char	   *arn = sf_request_text(call, member);
	const char *id;

	if (arn == NULL)
		return NULL;
	call->subject = arn;
	id = sf_public_name_to_id(kind, arn);
	if (id == arn)
		refuse_arn(arn);
	if (kind == SF_NAME_STATE_MACHINE && strchr(arn, '/') != NULL)
		sf_refusal_raise(SF_REFUSAL_LABELED_ARN, "The API does not support labeled ARNs: %s", arn);
	return id;
}
