/*
 * otlp_batch.c
 *		Spans that were taken from the database, and the requests that they become.
 *
 * The database gives the spans of an execution as one JSON array.  A request has as
 * many spans as its size allows: those of several executions, or a part of those of
 * one.  An execution is confirmed when its last span was taken, so that after a crash
 * all its spans are sent again; their ids are the same.
 *
 * If a collector refuses a request because of what it holds, each execution of it
 * gets one of its own, so that one cannot take others with it.  If it is too large,
 * all requests are half as large from then on.
 */
#include "postgres_fe.h"

#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/hashing.h"
#include "tools/sfgateway/otlp/otlp_internal.h"

/* Bytes of a request that are never too many to try */
#define SMALLEST 4096

/* The spans of an execution */
typedef struct Execution
{
	char	   *number;			/* export_no */
	char	   *spans;			/* JSON */
	size_t		len;
} Execution;

/* A position among the spans */
typedef struct Position
{
	int			execution;
	bool		inside;			/* of its array */
	SfgScan		scan;			/* then */
} Position;

static Execution *executions;
static int	n_executions;
static Position next_position;
static Position request_position;	/* at which the last request began */
static bool one_by_one;			/* no request with more than one execution */
static size_t most_bytes;		/* of a request; 0: not known yet */
static int64_t oldest;

/* Release what was taken. */
void
sfg_otlp_batch_drop(void)
{
	for (int i = 0; i < n_executions; i++)
	{
		free(executions[i].number);
		free(executions[i].spans);
	}
	free(executions);
	executions = NULL;
	n_executions = 0;
	next_position = (Position) {0};
	one_by_one = false;
	oldest = 0;
}

/* Give the end of the first span of an execution, its own, in nanoseconds since 1970; 0: it has none. */
static int64_t
end_time(const Execution *execution)
{
	SfgScan		scan = sfg_scan_begin(execution->spans, execution->len);
	SfcJson		value;
	char	   *text;
	int64_t		end;

	if (!sfg_scan_enter(&scan, '[') || !sfg_scan_next(&scan, NULL) ||
		!sfc_json_get(sfg_scan_value(&scan), "endTimeUnixNano", &value))
		return 0;
	text = sfc_json_text(value);
	end = strtoll(text, NULL, 10);
	free(text);
	return end;
}

/* Keep what sf_take_spans() has given, in place of what was taken before; gives its bytes. */
size_t
sfg_otlp_batch_load(const PGresult *result)
{
	size_t		bytes = 0;

	sfg_otlp_batch_drop();
	n_executions = PQntuples(result);
	executions = pg_malloc0(sizeof(Execution) * (size_t) n_executions);
	for (int i = 0; i < n_executions; i++)
	{
		Execution  *execution = &executions[i];
		int64_t		end;

		execution->number = pg_strdup(PQgetvalue(result, i, 0));
		execution->spans = pg_strdup(PQgetvalue(result, i, 1));
		execution->len = (size_t) PQgetlength(result, i, 1);
		bytes += execution->len;
		end = end_time(execution);
		if (end > 0 && (oldest == 0 || end < oldest))
			oldest = end;
	}
	return bytes;
}

/* Tell how many executions were taken. */
int
sfg_otlp_batch_count(void)
{
	return n_executions;
}

/* The end of the execution that ended first of those that were taken, in nanoseconds since 1970; 0: not known. */
int64_t
sfg_otlp_batch_oldest(void)
{
	return oldest;
}

/* Append an attribute with a text. */
static void
put_attribute(PQExpBuffer json, const char *key, const char *text)
{
	sfc_json_open(json, '{');
	sfc_json_put_key(json, "key");
	sfc_json_put_string(json, key);
	sfc_json_put_key(json, "value");
	sfc_json_open(json, '{');
	sfc_json_put_key(json, "stringValue");
	sfc_json_put_string(json, text);
	appendPQExpBufferStr(json, "}}");
}

/* Begin a request: what its spans come from, up to the array of spans. */
static void
begin_request(PQExpBuffer json, const char *database)
{
	static char process[37];

	if (*process == '\0')
		sfg_random_uuid(process);
	appendPQExpBufferStr(json, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
	put_attribute(json, "service.name", sfg_config.otlp_service);
	put_attribute(json, "service.version", SFW_VERSION);
	put_attribute(json, "service.instance.id", sfg_config.otlp_instance != NULL ? sfg_config.otlp_instance : process);
	if (database != NULL)
		put_attribute(json, "db.namespace", database);
	appendPQExpBufferStr(json, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"sfflow\",\"version\":\"" SFW_VERSION
						 "\"},\"spans\":[");
}

/* Add spans of one execution, as many as there is room for; false: there is no more room. */
static bool
add_spans(SfgOtlpRequest *request)
{
	Position   *position = &next_position;
	const Execution *execution = &executions[position->execution];
	int			before = request->spans;

	if (!position->inside)
	{
		position->scan = sfg_scan_begin(execution->spans, execution->len);
		position->inside = sfg_scan_enter(&position->scan, '[');
	}
	while (position->inside)
	{
		SfgScan		here = position->scan;
		SfcJson		span;

		if (!sfg_scan_next(&position->scan, NULL))
			break;
		span = sfg_scan_value(&position->scan);
		if (request->spans > 0 && request->json.len + span.len > most_bytes)
		{
			position->scan = here;
			return false;
		}
		if (request->spans == before)
			request->executions++;
		sfc_json_put_value(&request->json, span);
		request->spans++;
	}
	*position = (Position) {.execution = position->execution + 1};
	return true;
}

/*
 * Make the next request of what was taken; false: there is none.  A request without
 * spans is not to be sent: its executions have none.
 */
bool
sfg_otlp_batch_next(SfgOtlpRequest *request, const char *database)
{
	if (most_bytes == 0)
		most_bytes = sfg_config.otlp_batch_bytes;
	if (next_position.execution >= n_executions)
		return false;
	request_position = next_position;
	*request = (SfgOtlpRequest) {.first = next_position.execution};
	initPQExpBuffer(&request->json);
	begin_request(&request->json, database);
	while (next_position.execution < n_executions && add_spans(request) && !one_by_one && request->spans > 0)
		;
	appendPQExpBufferStr(&request->json, "]}]}]}");
	request->ended = next_position.execution;
	sfc_buffer_data(&request->json);
	return true;
}

/*
 * Have the spans of a request that was refused sent in smaller ones; false: this
 * request cannot be divided.
 */
bool
sfg_otlp_batch_divide(const SfgOtlpRequest *request, bool too_large)
{
	if (too_large ? request->spans < 2 || most_bytes <= SMALLEST : request->executions < 2)
		return false;
	if (too_large)
		most_bytes = Max(most_bytes / 2, SMALLEST);
	else
		one_by_one = true;
	next_position = request_position;
	return true;
}

/* Go on after the execution that a request is about: the collector does not take it. */
void
sfg_otlp_batch_skip(SfgOtlpRequest *request)
{
	request->ended = request->first + 1;
	next_position = (Position) {.execution = request->ended};
}

/* Write the numbers of the executions that a request has ended, as an array of SQL; NULL: it has ended none. */
char *
sfg_otlp_batch_numbers(const SfgOtlpRequest *request)
{
	PQExpBufferData array;

	if (request->ended == request->first)
		return NULL;
	initPQExpBuffer(&array);
	for (int i = request->first; i < request->ended; i++)
		appendPQExpBuffer(&array, "%c%s", i == request->first ? '{' : ',', executions[i].number);
	appendPQExpBufferChar(&array, '}');
	return sfc_buffer_data(&array);
}
