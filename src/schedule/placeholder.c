/*
 * placeholder.c
 *		Placeholders for facts about a run in a schedule's input: <aws.scheduler.…>.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "schedule/placeholder.h"
#include "base/errors.h"

#define PREFIX "<aws.scheduler."

static const char *const names[] = {
#define PLACEHOLDER_NAME(sym, name) name,
	SF_PLACEHOLDER_LIST(PLACEHOLDER_NAME)
};

/* Find a placeholder by its name. */
static int
find_placeholder(const char *name, int len)
{
	for (int i = 0; i < SF_PLACEHOLDER_COUNT; i++)
		if ((int) strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_SCHEDULE),
			 errmsg("unknown placeholder \"" PREFIX "%.*s>\" in the input of a schedule",
					len, name),
			 errhint("There are " PREFIX "execution-id>, " PREFIX "scheduled-time>, " PREFIX "schedule-arn> and " PREFIX "attempt-number>.")));
}

/* Fill in the placeholders of one string. */
static void
fill_string(JsonbValue *v, const char *const *values)
{
	char	   *text = pnstrdup(v->val.string.val, v->val.string.len);
	char	   *rest = text;
	char	   *begin;
	StringInfoData buf;

	if (strstr(text, PREFIX) == NULL)
		return;
	initStringInfo(&buf);
	while ((begin = strstr(rest, PREFIX)) != NULL)
	{
		char	   *name = begin + strlen(PREFIX);
		int			len = strcspn(name, ">");

		appendBinaryStringInfo(&buf, rest, begin - rest);
		appendStringInfoString(&buf, values[find_placeholder(name, len)]);
		rest = name + len;
		if (*rest == '>')
			rest++;
	}
	appendStringInfoString(&buf, rest);
	v->val.string.val = buf.data;
	v->val.string.len = buf.len;
}

/*
 * Replace the placeholders in every string and key of a document by values, by
 * SfPlaceholder.  An unknown placeholder raises SF025.
 */
Jsonb *
sf_placeholder_fill(const Jsonb *input, const char *const *values)
{
	JsonbIterator *it = JsonbIteratorInit(unconstify(JsonbContainer *, &input->root));
	JsonbParseState *state = NULL;
	JsonbValue *result = NULL;
	JsonbValue	v;
	JsonbIteratorToken token;

	while ((token = JsonbIteratorNext(&it, &v, false)) != WJB_DONE)
	{
		if ((token == WJB_KEY || token == WJB_VALUE || token == WJB_ELEM) &&
			v.type == jbvString)
			fill_string(&v, values);
		result = pushJsonbValue(&state, token,
								token < WJB_BEGIN_ARRAY ||
								(token == WJB_BEGIN_ARRAY && v.val.array.rawScalar) ?
								&v : NULL);
	}
	return JsonbValueToJsonb(result);
}
