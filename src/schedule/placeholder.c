/*
 * placeholder.c
 *		Placeholders for facts about a run in a schedule's input: <aws.scheduler.…>
 *		and <sfflow.…>.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "schedule/placeholder.h"
#include "base/errors.h"

/* What a "<" begins a placeholder before */
static const char *const prefixes[] = {"aws.scheduler.", "sfflow."};

static const char *const names[] = {
#define PLACEHOLDER_NAME(sym, name) name,
	SF_PLACEHOLDER_LIST(PLACEHOLDER_NAME)
};

/* Find the next placeholder of a text, known or not; NULL: there is none. */
static char *
next_placeholder(char *text)
{
	for (char *begin = strchr(text, '<'); begin != NULL; begin = strchr(begin + 1, '<'))
		for (size_t i = 0; i < lengthof(prefixes); i++)
			if (strncmp(begin + 1, prefixes[i], strlen(prefixes[i])) == 0)
				return begin;
	return NULL;
}

/* List the placeholders, for a hint. */
static char *
list_placeholders(void)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < SF_PLACEHOLDER_COUNT; i++)
		appendStringInfo(&list, "%s<%s>", i > 0 ? ", " : "", names[i]);
	return list.data;
}

/* Find a placeholder by its name. */
static int
find_placeholder(const char *name, int len)
{
	for (int i = 0; i < SF_PLACEHOLDER_COUNT; i++)
		if ((int) strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_SCHEDULE),
			 errmsg("unknown placeholder \"<%.*s>\" in the input of a schedule",
					len, name),
			 errhint("There are %s.", list_placeholders())));
}

/* Fill in the placeholders of one string. */
static void
fill_string(JsonbValue *v, const char *const *values)
{
	char	   *text = pnstrdup(v->val.string.val, v->val.string.len);
	char	   *rest = text;
	char	   *begin;
	StringInfoData buf;

	if (next_placeholder(text) == NULL)
		return;
	initStringInfo(&buf);
	while ((begin = next_placeholder(rest)) != NULL)
	{
		char	   *name = begin + 1;
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
