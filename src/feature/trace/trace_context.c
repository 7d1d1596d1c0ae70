/*
 * trace_context.c
 *		The context of a trace as others write it: W3C Trace Context, the header X-Amzn-Trace-Id, and comments of
 *		sqlcommenter.
 *
 * Texts come from anywhere.  One that is not as it has to be is no context; whether that is an error is up to the
 * caller.
 */
#include "postgres.h"

#include "feature/trace/trace.h"

/* Length of a traceparent of version 00 */
#define TRACEPARENT_LENGTH	55

/* Longest tracestate that is passed on; a longer one is left out */
#define MAX_STATE_LENGTH	512

/* A comment is looked for in so many bytes at the end of a query */
#define MAX_COMMENT_LENGTH	4096

static const char lower_digits[] = "0123456789abcdef";

/* Are the first n characters lower-case hexadecimal digits? */
static bool
are_digits(const char *text, int n)
{
	return (int) strspn(text, lower_digits) >= n;
}

/* The value of two hexadecimal digits. */
static int
byte_of(const char *digits)
{
	return (int) ((strchr(lower_digits, digits[0]) - lower_digits) * 16 +
				  (strchr(lower_digits, digits[1]) - lower_digits));
}

/* Are all n characters zeros? */
static bool
are_zeros(const char *text, int n)
{
	return (int) strspn(text, "0") >= n;
}

/* A tracestate as it is passed on; NULL: there is none that can be. */
static const char *
clean_state(const char *text)
{
	size_t		length;

	while (*text == ' ')
		text++;
	length = strlen(text);
	if (length == 0 || length > MAX_STATE_LENGTH)
		return NULL;
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~')
			return NULL;
	return pstrdup(text);
}

/* Read a traceparent, which a tracestate may follow after a blank. */
static bool
parse(const char *text, bool parent_may_lack, SfTraceContext *context)
{
	const char *rest;

	memset(context, 0, sizeof(*context));
	if (strlen(text) < TRACEPARENT_LENGTH || !are_digits(text, 2) || strncmp(text, "ff", 2) == 0 ||
		text[2] != '-' || !are_digits(text + 3, SF_TRACE_ID_DIGITS) ||
		text[35] != '-' || !are_digits(text + 36, SF_SPAN_ID_DIGITS) ||
		text[52] != '-' || !are_digits(text + 53, 2))
		return false;
	memcpy(context->trace_id, text + 3, SF_TRACE_ID_DIGITS);
	memcpy(context->span_id, text + 36, SF_SPAN_ID_DIGITS);
	context->flags = byte_of(text + 53);
	context->decided = true;
	if (are_zeros(context->trace_id, SF_TRACE_ID_DIGITS) ||
		(!parent_may_lack && are_zeros(context->span_id, SF_SPAN_ID_DIGITS)))
		return false;
	rest = text + TRACEPARENT_LENGTH;
	/* later versions may add to it, after a dash */
	if (*rest == '-' && strncmp(text, "00", 2) != 0)
		rest += strcspn(rest, " ");
	if (*rest != '\0' && *rest != ' ')
		return false;
	context->state = clean_state(rest);
	return true;
}

/* Read what others have written: a traceparent, which a tracestate may follow after a blank. */
bool
sf_trace_parse(const char *text, SfTraceContext *context)
{
	return parse(text, false, context);
}

/* Read what sf_trace_print() has written, also of a trace that begins with its execution. */
bool
sf_trace_parse_stored(const char *text, SfTraceContext *context)
{
	return parse(text, true, context);
}

/* Write a context as sf_trace_parse_stored() reads it. */
char *
sf_trace_print(const SfTraceContext *context)
{
	return psprintf("00-%s-%s-%02x%s%s", context->trace_id, context->span_id, context->flags,
					context->state == NULL ? "" : " ", context->state == NULL ? "" : context->state);
}

/* Find the value of a key in "key=value;key=value"; its length. */
static int
find_part(const char *text, const char *key, const char **value)
{
	size_t		length = strlen(key);

	while (text != NULL && *text != '\0')
	{
		text += strspn(text, " ;");
		if (pg_strncasecmp(text, key, length) == 0 && text[length] == '=')
		{
			*value = text + length + 1;
			return (int) strcspn(*value, "; ");
		}
		text = strchr(text, ';');
	}
	return 0;
}

/*
 * Read the header X-Amzn-Trace-Id: Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1.  Without
 * Sampled, or with Sampled=?, it is not decided whether the trace is sampled.
 */
bool
sf_trace_parse_amazon(const char *text, SfTraceContext *context)
{
	const char *value;

	memset(context, 0, sizeof(*context));
	if (find_part(text, "Root", &value) != 35 || strncmp(value, "1-", 2) != 0 ||
		!are_digits(value + 2, 8) || value[10] != '-' || !are_digits(value + 11, 24))
		return false;
	memcpy(context->trace_id, value + 2, 8);
	memcpy(context->trace_id + 8, value + 11, 24);
	strcpy(context->span_id, SF_NO_SPAN);
	if (find_part(text, "Parent", &value) == SF_SPAN_ID_DIGITS && are_digits(value, SF_SPAN_ID_DIGITS))
		memcpy(context->span_id, value, SF_SPAN_ID_DIGITS);
	if (find_part(text, "Sampled", &value) == 1 && (*value == '0' || *value == '1'))
	{
		context->decided = true;
		context->flags = *value == '1' ? SF_TRACE_SAMPLED : 0;
	}
	return !are_zeros(context->trace_id, SF_TRACE_ID_DIGITS);
}

/* Read one hexadecimal digit of either case; false: it is none. */
static bool
read_digit(char c, int *digit)
{
	const char *at = c == '\0' ? NULL : strchr(lower_digits, pg_tolower((unsigned char) c));

	if (at != NULL)
		*digit = (int) (at - lower_digits);
	return at != NULL;
}

/* Undo the percent encoding of a value that ends at a quote, and the backslashes before quotes in it. */
static char *
decode(const char *value, const char *end)
{
	char	   *result = palloc(end - value + 1);
	char	   *to = result;
	int			high;
	int			low;

	while (value < end && *value != '\'')
	{
		if (*value == '\\' && value + 1 < end)
			value++;
		if (*value == '%' && value + 2 < end && read_digit(value[1], &high) && read_digit(value[2], &low))
		{
			*to++ = (char) (high * 16 + low);
			value += 3;
		}
		else
			*to++ = *value++;
	}
	*to = '\0';
	return result;
}

/* The value of a key in a comment key='value',key='value'; NULL: it is not there. */
static char *
find_in_comment(const char *comment, const char *end, const char *key)
{
	size_t		length = strlen(key);

	for (const char *at = comment; at + length + 2 < end; at++)
		if ((at == comment || strchr(" ,*", at[-1]) != NULL) && strncmp(at, key, length) == 0 &&
			strncmp(at + length, "='", 2) == 0)
			return decode(at + length + 2, end);
	return NULL;
}

/*
 * Read the comment that sqlcommenter puts at the end of a query: traceparent='00-...',tracestate='...' between the
 * signs of a comment.  Costs next to nothing where the query does not end with a comment.
 */
bool
sf_trace_parse_comment(const char *query, SfTraceContext *context)
{
	const char *end = query + strlen(query);
	const char *begin;
	char	   *parent;
	char	   *state;

	while (end > query && strchr(" \t\r\n;", end[-1]) != NULL)
		end--;
	if (end - query < TRACEPARENT_LENGTH || end[-1] != '/' || end[-2] != '*')
		return false;
	end -= 2;
	begin = Max(query, end - MAX_COMMENT_LENGTH);
	for (const char *at = begin; at + 1 < end; at++)
		if (at[0] == '/' && at[1] == '*')
			begin = at + 2;
	parent = find_in_comment(begin, end, "traceparent");
	if (parent == NULL || strchr(parent, ' ') != NULL || !sf_trace_parse(parent, context))
		return false;
	state = find_in_comment(begin, end, "tracestate");
	context->state = state == NULL ? NULL : clean_state(state);
	return true;
}
