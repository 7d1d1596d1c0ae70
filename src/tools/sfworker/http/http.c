/*
 * http.c
 *		Tasks that are HTTP requests: arn:aws:states:::http:invoke.
 *
 *		{"ApiEndpoint": "https://...", "Method": "POST", "Headers": {...},
 *		 "QueryParameters": {...}, "RequestBody": ...,
 *		 "Transform": {"RequestBodyEncoding": "URL_ENCODED"},
 *		 "Authentication": {"ConnectionArn": "..."}}
 *
 * Output and errors have the shape of Step Functions: {"ResponseBody",
 * "Headers", "StatusCode", "StatusText"}, States.Http.StatusCode.N with the
 * body as cause, States.Http.Socket when there is no response.  A connection is
 * a section of the worker's configuration with credentials for requests to its
 * hosts (credentials.c).  If there is no section of that name, the request is sent
 * without them and the log has a warning.
 */
#include "postgres_fe.h"

#include "tools/sfworker/config.h"
#include "tools/sfworker/http/fetch.h"
#include "tools/sfworker/task/claimed_task.h"

/* Texts of statuses, for responses that carry none (HTTP/2): status, text */
#define STATUS_LIST(X) \
	X(200, "OK") X(201, "Created") X(202, "Accepted") X(204, "No Content") \
	X(206, "Partial Content") X(301, "Moved Permanently") X(302, "Found") X(303, "See Other") \
	X(304, "Not Modified") X(307, "Temporary Redirect") X(308, "Permanent Redirect") \
	X(400, "Bad Request") X(401, "Unauthorized") X(403, "Forbidden") X(404, "Not Found") \
	X(405, "Method Not Allowed") X(408, "Request Timeout") X(409, "Conflict") X(410, "Gone") \
	X(413, "Content Too Large") X(415, "Unsupported Media Type") X(422, "Unprocessable Content") \
	X(429, "Too Many Requests") X(500, "Internal Server Error") X(501, "Not Implemented") \
	X(502, "Bad Gateway") X(503, "Service Unavailable") X(504, "Gateway Timeout")

/* The headers of a response that the output has: those before the body, and those after it */
#define HEADER_ORIGINS (CURLH_HEADER | CURLH_TRAILER)

/* ---------------------------------------------------------------- response */

/* The text of a status, of the status line or the usual one. */
static char *
status_text(const SfwFetch *fetch)
{
	const char *text = strchr(fetch->status_line.data, ' ');

	text = text != NULL ? strchr(text + 1, ' ') : NULL;
	if (text != NULL && strcspn(text + 1, "\r\n") > 0)
		return pnstrdup(text + 1, strcspn(text + 1, "\r\n"));
#define STATUS_CASE(number, text) case number: return pg_strdup(text);
	switch (fetch->status)
	{
			STATUS_LIST(STATUS_CASE)
	}
	return pg_strdup("");
}

/* Append the values of the headers that have the name of one, as an array under the name in lower case. */
static void
put_header(PQExpBuffer buf, CURL *easy, const struct curl_header *header)
{
	char	   *name = pg_strdup(header->name);
	struct curl_header *value;

	for (char *p = name; *p != '\0'; p++)
		*p = pg_ascii_tolower(*p);
	sfc_json_put_key(buf, name);
	sfc_json_open(buf, '[');
	for (size_t i = 0; curl_easy_header(easy, name, i, HEADER_ORIGINS, -1, &value) == CURLHE_OK; i++)
		sfc_json_put_string(buf, value->value);
	appendPQExpBufferChar(buf, ']');
	free(name);
}

/* Append the headers of the response. */
static void
put_headers(PQExpBuffer buf, CURL *easy)
{
	struct curl_header *header = NULL;

	sfc_json_open(buf, '{');
	while ((header = curl_easy_nextheader(easy, HEADER_ORIGINS, -1, header)) != NULL)
	{
		if (header->index == 0)
			put_header(buf, easy, header);
	}
	appendPQExpBufferChar(buf, '}');
}

/* The output of a request that has succeeded. */
static char *
print_response(SfwFetch *fetch)
{
	PQExpBufferData buf;
	const char *response = sfc_buffer_data(&fetch->response);
	SfcJson		body;
	char	   *text = status_text(fetch);

	initPQExpBuffer(&buf);
	sfc_json_open(&buf, '{');
	sfc_json_put_key(&buf, "ResponseBody");
	if (sfc_json_parse(response, fetch->response.len, &body))
		sfc_json_put_value(&buf, body);
	else
		sfc_json_put_bytes(&buf, response, fetch->response.len);
	sfc_json_put_key(&buf, "Headers");
	put_headers(&buf, fetch->easy);
	appendPQExpBuffer(&buf, ",\"StatusCode\":%ld", fetch->status);
	sfc_json_put_key(&buf, "StatusText");
	sfc_json_put_string(&buf, text);
	appendPQExpBufferChar(&buf, '}');
	free(text);
	return sfc_buffer_data(&buf);
}

/* ---------------------------------------------------------------- requests of a task */

/* What a task does: a request, perhaps after one for a token, perhaps again after a while */
typedef struct HttpJob
{
	SfwTask    *task;
	SfwFetch   *fetch;			/* under way; NULL: it waits for the timer */
	const SfwSection *connection;	/* or NULL */
	char	   *host;			/* of the request */
	int			retries;		/* begun so far */
	bool		renewed;		/* a token was asked for */
	SfcTimer	timer;
} HttpJob;

static void begin_request(HttpJob *job);

/* End a job. */
static void
free_job(HttpJob *job)
{
	sfc_timer_clear(&job->timer);
	if (job->fetch != NULL)
		sfw_fetch_free(job->fetch);
	free(job->host);
	job->task->job = NULL;
	free(job);
}

/* Report the outcome of a request that has ended, or is refused. */
static void
report(HttpJob *job)
{
	SfwTask    *task = job->task;
	SfwFetch   *fetch = job->fetch;

	if (fetch->refused != NULL)
	{
		sfw_task_log(task, SFC_LOG_WARNING, "a request is refused", "reason", fetch->refused);
		sfw_task_failed(task, pg_strdup(fetch->refused), "States.Permissions");
	}
	else if (fetch->too_large)
		sfw_task_failed(task, psprintf("the response of host \"%s\" is larger than the worker takes (max-output)",
									   fetch->url.host), "States.DataLimitExceeded");
	else if (fetch->problem != NULL)
		sfw_task_failed(task, pg_strdup(fetch->problem), "States.Http.Socket");
	else if (fetch->status < 200 || fetch->status > 299)
		sfw_task_failed(task, fetch->response.len > 0 ?
						sfc_utf8_repair(fetch->response.data, fetch->response.len) : status_text(fetch),
						"States.Http.StatusCode.%ld", fetch->status);
	else
		sfw_task_succeeded(task, print_response(fetch));
	free_job(job);
}

/* Begin the request anew. */
static void
try_again(void *arg)
{
	begin_request(arg);
}

/* Release the request that has ended, and begin it anew after a while. */
static void
wait_and_try(HttpJob *job, int64_t delay)
{
	sfw_fetch_free(job->fetch);
	job->fetch = NULL;
	sfc_timer_set(&job->timer, delay, try_again, job);
}

/*
 * Tell how long to wait before a request that was answered so is tried again: as the
 * server says, or a second, two, four ..., of which a random part less.  False: it is not.
 */
static bool
is_tried_again(const HttpJob *job, int64_t *delay)
{
	const SfwFetch *fetch = job->fetch;
	struct curl_header *header;

	if (fetch->refused != NULL || fetch->problem != NULL || fetch->too_large ||
		job->retries >= sfw_config.http_retries || (fetch->status != 429 && fetch->status < 500))
		return false;
	if (curl_easy_header(fetch->easy, "Retry-After", 0, HEADER_ORIGINS, -1, &header) == CURLHE_OK &&
		header->value[0] >= '0' && header->value[0] <= '9')
		*delay = Min(strtol(header->value, NULL, 10), 3600) * (int64_t) 1000;
	else
		*delay = (INT64CONST(1000) << Min(job->retries, 8)) - random() % 500;
	return true;
}

/* A request has ended. */
static void
fetch_done(SfwFetch *fetch)
{
	HttpJob    *job = fetch->arg;
	int64_t		delay;

	/* A token may have been withdrawn before its time. */
	if (fetch->refused == NULL && fetch->problem == NULL && fetch->status == 401 && !job->renewed &&
		job->connection != NULL && job->connection->oauth_url != NULL)
	{
		sfw_credentials_forget(job->connection);
		wait_and_try(job, 0);
	}
	else if (is_tried_again(job, &delay))
	{
		job->retries++;
		wait_and_try(job, delay);
	}
	else
		report(job);
}

/* Report that a connection got no token. */
static void
report_no_token(HttpJob *job, const char *why)
{
	sfw_task_log(job->task, SFC_LOG_WARNING, "a connection has no token", "reason", why);
	sfw_task_failed(job->task, psprintf("connection \"%s\": %s", job->connection->name, why),
					"Events.ConnectionResource.InvalidConnectionState");
	free_job(job);
}

/* The request for a token has ended. */
static void
token_came(SfwFetch *fetch)
{
	HttpJob    *job = fetch->arg;
	char	   *problem = sfw_credentials_store(job->connection, fetch);

	if (problem == NULL)
		wait_and_try(job, 0);
	else
		report_no_token(job, problem);
	free(problem);
}

/* Ask for a token, and begin the request when it has come. */
static void
begin_token(HttpJob *job)
{
	job->fetch = sfw_credentials_ask(job->connection);
	job->fetch->done = token_came;
	job->fetch->arg = job;
	job->renewed = true;
	if (!sfw_fetch_begin(job->fetch))
		report_no_token(job, job->fetch->refused != NULL ? job->fetch->refused : job->fetch->problem);
}

/* Add a header unless the payload has it, or there is nothing to say. */
static void
add_own_header(SfwFetch *fetch, const char *name, const char *value)
{
	char	   *line;

	if (value == NULL || sfw_fetch_has_header(fetch, name))
		return;
	line = psprintf("%s: %s", name, value);
	fetch->headers = curl_slist_append(fetch->headers, line);
	free(line);
}

/* Begin the request of a task. */
static void
begin_request(HttpJob *job)
{
	SfwTask    *task = job->task;
	SfwFetch   *fetch = sfw_fetch_new();
	char	   *problem = sfw_http_read(task->payload, fetch);

	if (!sfw_fetch_has_header(fetch, "traceparent"))
		add_own_header(fetch, "tracestate", task->tracestate);
	add_own_header(fetch, "traceparent", task->traceparent);
	job->fetch = fetch;
	fetch->done = fetch_done;
	fetch->arg = job;
	/* TimeoutSeconds of the payload has a timer of its own, and may be longer than http-timeout. */
	fetch->time_limit = task->timeout_timer.armed ?
		task->timeout_timer.at - sfc_now() + 1000 : sfw_config.http_timeout;
	if (problem == NULL)
		job->connection = sfw_http_connection(task->payload, fetch);
	if (problem == NULL && fetch->refused == NULL && job->connection != NULL &&
		!sfw_credentials_add(job->connection, fetch))
	{
		sfw_fetch_free(fetch);
		begin_token(job);
		return;
	}
	if (problem == NULL && fetch->refused == NULL && sfw_fetch_begin(fetch))
	{
		free(job->host);
		job->host = pg_strdup(fetch->url.host);
		return;
	}
	if (fetch->refused != NULL)
	{
		report(job);
		return;
	}
	sfw_task_reject(task, problem != NULL ? problem : pg_strdup(fetch->problem));
	free_job(job);
}

/* Begin a task. */
static void
http_start(SfwTask *task)
{
	HttpJob    *job = pg_malloc0(sizeof(HttpJob));

	job->task = task;
	task->job = job;
	begin_request(job);
}

/* Abandon a task's request. */
static void
http_stop(SfwTask *task, bool hard)
{
	HttpJob    *job = task->job;

	if (job == NULL)
		return;
	sfw_task_failed(task, psprintf("the request to host \"%s\" was given up", job->host != NULL ? job->host : ""),
					"States.Http.Socket");
	free_job(job);
}

/* Resolve and decide, but send nothing. */
static bool
http_dry_run(SfcJson payload, PQExpBuffer report)
{
	SfwFetch   *fetch = sfw_fetch_new();
	char	   *problem = sfw_http_read(payload, fetch);
	bool		good = problem == NULL;

	sfc_json_put_key(report, good ? "method" : "refused");
	sfc_json_put_string(report, good ? fetch->method : problem);
	good = good && sfw_fetch_dry_run(fetch->endpoint, sfw_config.location, report);
	free(problem);
	sfw_fetch_free(fetch);
	return good;
}

const SfwKind sfw_kind_http = {"http", "Http", false, http_start, http_stop, http_dry_run};
