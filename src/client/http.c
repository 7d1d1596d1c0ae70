/*
 * http.c
 *		Tasks that are HTTP requests: arn:aws:states:::http:invoke.
 *
 *		{"ApiEndpoint": "https://...", "Method": "POST", "Headers": {...},
 *		 "QueryParameters": {...}, "RequestBody": ...,
 *		 "Transform": {"RequestBodyEncoding": "URL_ENCODED"},
 *		 "Authentication": {"ConnectionArn": "..."}}
 *
 * Output and errors are shaped as Step Functions does: {"ResponseBody",
 * "Headers", "StatusCode", "StatusText"}, States.Http.StatusCode.N with the
 * body as cause, States.Http.Socket when there is no response.  A connection is
 * a section of the worker's configuration that gives headers to requests to its
 * hosts; where it has none of that name, the request goes without, and the log
 * says so.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "allow.h"
#include "config.h"
#include "fetch.h"
#include "log.h"
#include "task.h"

static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"};

/* Headers that are libcurl's business, or would deceive whoever is in between */
static const char *const forbidden[] = {
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "TE", "Trailer",
	"Keep-Alive", "Expect", "Proxy-Authorization", "Proxy-Connection",
};

/* Headers of a payload that another host must not see after a redirect */
static const char *const credentials[] = {"Authorization", "Cookie", "X-Api-Key"};

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

/* Headers of a response that are looked at */
#define MAX_HEADERS 500

/* How an array becomes several parameters */
typedef enum ArrayFormat
{
	INDICES,
	REPEAT,
	COMMAS,
	BRACKETS
} ArrayFormat;

/* ---------------------------------------------------------------- request */

/* Append a text in percent encoding. */
static void
put_encoded(SfwBuf *buf, const char *text)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

	for (const char *p = text; *p != '\0'; p++)
	{
		if (strchr(plain, *p) != NULL)
			sfw_buf_putc(buf, *p);
		else
			sfw_buf_printf(buf, "%%%02X", (unsigned char) *p);
	}
}

/* Append one parameter; null is an empty one. */
static void
put_parameter(SfwBuf *buf, const char *name, SfwJson value)
{
	char	   *text = sfw_json_type(value) == 'n' ? sfw_strdup("") : sfw_json_text(value);

	if (buf->len > 0)
		sfw_buf_putc(buf, '&');
	put_encoded(buf, name);
	sfw_buf_putc(buf, '=');
	put_encoded(buf, text);
	free(text);
}

/* Append the parameters that an array under a name becomes. */
static void
put_array(SfwBuf *buf, const char *name, SfwJson array, ArrayFormat format)
{
	SfwJsonWalk walk = sfw_json_walk(array);
	SfwJson		element;
	size_t		index = 0;

	while (sfw_json_next(&walk, NULL, &element))
	{
		if (format == COMMAS)
		{
			char	   *text = sfw_json_text(element);

			if (index == 0)
			{
				if (buf->len > 0)
					sfw_buf_putc(buf, '&');
				put_encoded(buf, name);
			}
			sfw_buf_putc(buf, index == 0 ? '=' : ',');
			put_encoded(buf, text);
			free(text);
		}
		else
		{
			char	   *key = format == REPEAT ? sfw_strdup(name) :
				format == BRACKETS ? sfw_format("%s[]", name) : sfw_format("%s[%zu]", name, index);

			put_parameter(buf, key, element);
			free(key);
		}
		index++;
	}
}

/* Turn an object into parameters, joined with &. */
static void
put_parameters(SfwBuf *buf, SfwJson object, ArrayFormat format)
{
	SfwJsonWalk walk = sfw_json_walk(object);
	SfwJson		key;
	SfwJson		value;

	while (sfw_json_next(&walk, &key, &value))
	{
		char	   *name = sfw_json_text(key);

		if (sfw_json_type(value) == '[')
			put_array(buf, name, value, format);
		else
			put_parameter(buf, name, value);
		free(name);
	}
}

/* Tell whether a text is in a list, whatever the case. */
static bool
is_one_of(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		if (strcasecmp(text, list[i]) == 0)
			return true;
	}
	return false;
}

/* Add one header of a payload; gives what is wrong with it, or NULL. */
static char *
add_header(SfwFetch *fetch, const char *name, const char *value)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789"
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char	   *line;

	if (*name == '\0' || name[strspn(name, token)] != '\0')
		return sfw_format("\"%s\" is no name of a header", name);
	for (const char *p = value; *p != '\0'; p++)
	{
		if (((unsigned char) *p < 0x20 && *p != '\t') || *p == 0x7f)
			return sfw_format("header \"%s\" has a control character", name);
	}
	if (is_one_of(name, forbidden, sizeof(forbidden) / sizeof(forbidden[0])))
		return sfw_format("header \"%s\" cannot be set", name);
	/* A semicolon is libcurl's way to say that the value is empty. */
	line = *value == '\0' ? sfw_format("%s;", name) : sfw_format("%s: %s", name, value);
	sfw_fetch_header(fetch, line,
					 is_one_of(name, credentials, sizeof(credentials) / sizeof(credentials[0])));
	free(line);
	return NULL;
}

/* Read Headers; gives what is wrong with them, or NULL. */
static char *
read_headers(SfwJson object, SfwFetch *fetch)
{
	SfwJsonWalk walk = sfw_json_walk(object);
	SfwJson		key;
	SfwJson		value;
	char	   *problem = NULL;

	if (sfw_json_type(object) != '{')
		return sfw_strdup("Headers must be an object");
	while (problem == NULL && sfw_json_next(&walk, &key, &value))
	{
		char	   *name = sfw_json_text(key);
		SfwJsonWalk inner = sfw_json_walk(value);
		SfwJson		element = value;
		bool		is_array = sfw_json_type(value) == '[';

		while (problem == NULL && (!is_array || sfw_json_next(&inner, NULL, &element)))
		{
			char	   *text = sfw_json_text(element);

			problem = add_header(fetch, name, text);
			free(text);
			if (!is_array)
				break;
		}
		free(name);
	}
	return problem;
}

/* Read how arrays are to be encoded. */
static ArrayFormat
read_array_format(SfwJson transform)
{
	static const char *const names[] = {"INDICES", "REPEAT", "COMMAS", "BRACKETS"};
	SfwJson		options;
	SfwJson		value;
	char	   *text;
	ArrayFormat format = INDICES;

	if (!sfw_json_get(transform, "RequestEncodingOptions", &options) ||
		!sfw_json_get(options, "ArrayFormat", &value))
		return INDICES;
	text = sfw_json_text(value);
	for (int i = 0; i < 4; i++)
	{
		if (strcmp(text, names[i]) == 0)
			format = (ArrayFormat) i;
	}
	free(text);
	return format;
}

/* Tell whether Transform wants the body URL encoded. */
static bool
wants_url_encoded(SfwJson transform)
{
	SfwJson		value;

	return sfw_json_get(transform, "RequestBodyEncoding", &value) &&
		value.len == strlen("\"URL_ENCODED\"") && memcmp(value.text, "\"URL_ENCODED\"", value.len) == 0;
}

/* Read RequestBody; gives what is wrong with it, or NULL. */
static char *
read_body(SfwJson payload, SfwFetch *fetch)
{
	SfwJson		body;
	SfwJson		transform;
	const char *type = "Content-Type: application/json";

	if (!sfw_json_get(payload, "RequestBody", &body))
		return NULL;
	fetch->has_body = true;
	if (sfw_json_get(payload, "Transform", &transform) && wants_url_encoded(transform))
	{
		if (sfw_json_type(body) != '{')
			return sfw_strdup("RequestBody must be an object to be URL encoded");
		put_parameters(&fetch->body, body, read_array_format(transform));
		type = "Content-Type: application/x-www-form-urlencoded";
	}
	else
		fetch->body.data = sfw_json_text(body);
	if (fetch->body.data != NULL && fetch->body.size == 0)
		fetch->body.len = fetch->body.size = strlen(fetch->body.data);
	if (!sfw_fetch_has_header(fetch, "Content-Type"))
		sfw_fetch_header(fetch, type, false);
	return NULL;
}

/* The name of the connection that a payload wants, or NULL: what its ARN has after connection/. */
static char *
connection_name(SfwJson payload)
{
	SfwJson		authentication;
	SfwJson		arn;
	char	   *text;
	char	   *name;

	if ((!sfw_json_get(payload, "Authentication", &authentication) &&
		 !sfw_json_get(payload, "InvocationConfig", &authentication)) ||
		!sfw_json_get(authentication, "ConnectionArn", &arn))
		return NULL;
	text = sfw_json_text(arn);
	name = strstr(text, "connection/");
	name = sfw_strdup(name != NULL ? name + strlen("connection/") : text);
	name[strcspn(name, "/")] = '\0';
	free(text);
	return name;
}

/* Tell whether a connection is meant for the host of a URL. */
static bool
is_for_host(const SfwConnection *connection, const char *url)
{
	char	   *host = sfw_fetch_host(url);
	bool		found = false;

	for (int i = 0; host != NULL && i < connection->n_hosts; i++)
		found = found || sfw_allow_matches(connection->hosts[i], host);
	free(host);
	return found;
}

/* Add the headers of the connection that a payload wants; gives why they may not be sent, or NULL. */
static char *
add_connection(SfwJson payload, SfwFetch *fetch)
{
	char	   *name = connection_name(payload);
	const SfwConnection *connection;
	char	   *problem = NULL;

	if (name == NULL)
		return NULL;
	connection = sfw_config_connection(name);
	if (connection == NULL)
		sfw_log(SFW_WARNING, "a connection is not configured, the request goes without credentials",
				"connection", name, NULL);
	else if (!is_for_host(connection, fetch->url))
	{
		char	   *host = sfw_fetch_host(fetch->url);

		problem = sfw_format("connection \"%s\" is not for host \"%s\"", name, host ? host : "");
		free(host);
	}
	else
	{
		for (int i = 0; i < connection->n_headers; i++)
			sfw_fetch_header(fetch, connection->headers[i], true);
	}
	free(name);
	return problem;
}

/* Read ApiEndpoint, Method and QueryParameters; gives what is wrong with them, or NULL. */
static char *
read_target(SfwJson payload, SfwFetch *fetch)
{
	SfwJson		value;
	SfwBuf		query = {0};
	char	   *fragment;

	if (!sfw_json_get(payload, "ApiEndpoint", &value) || sfw_json_type(value) != '"')
		return sfw_strdup("ApiEndpoint is missing");
	fetch->url = sfw_json_text(value);
	for (const char *p = fetch->url; *p != '\0'; p++)
	{
		if ((unsigned char) *p <= 0x20 || *p == 0x7f)
			return sfw_strdup("ApiEndpoint has blanks or control characters");
	}
	if (!sfw_json_get(payload, "Method", &value))
		return sfw_strdup("Method is missing");
	fetch->method = sfw_json_text(value);
	if (!is_one_of(fetch->method, methods, sizeof(methods) / sizeof(methods[0])))
		return sfw_format("Method \"%s\" is unknown", fetch->method);
	for (char *p = fetch->method; *p != '\0'; p++)
		*p = (char) (*p & ~0x20);
	if (!sfw_json_get(payload, "QueryParameters", &value))
		return NULL;
	if (sfw_json_type(value) != '{')
		return sfw_strdup("QueryParameters must be an object");
	put_parameters(&query, value, REPEAT);
	fragment = strchr(fetch->url, '#');
	if (fragment != NULL)
		*fragment = '\0';
	if (query.len > 0)
	{
		char	   *url = sfw_format("%s%c%s", fetch->url,
									 strchr(fetch->url, '?') != NULL ? '&' : '?', query.data);

		free(fetch->url);
		fetch->url = url;
	}
	sfw_buf_free(&query);
	return NULL;
}

/* Turn a payload into a request; gives what is wrong with it, or NULL. */
static char *
read_payload(SfwJson payload, SfwFetch *fetch)
{
	SfwJson		value;
	char	   *problem = read_target(payload, fetch);

	if (problem == NULL && sfw_json_get(payload, "Headers", &value))
		problem = read_headers(value, fetch);
	if (problem == NULL)
		problem = read_body(payload, fetch);
	return problem;
}

/* ---------------------------------------------------------------- response */

/* The text of a status. */
static char *
status_text(const SfwFetch *fetch)
{
	const char *line = fetch->status_line.data != NULL ? fetch->status_line.data : "";
	const char *text = strchr(line, ' ');

	text = text != NULL ? strchr(text + 1, ' ') : NULL;
	if (text != NULL)
	{
		size_t		len = strcspn(text + 1, "\r\n");

		if (len > 0)
			return sfw_strndup(text + 1, len);
	}
#define STATUS_CASE(number, text) case number: return sfw_strdup(text);
	switch (fetch->status)
	{
			STATUS_LIST(STATUS_CASE)
	}
	return sfw_strdup("");
}

/* Read a header line at *p into memory of its own, the name in lower case; false: none is left. */
static bool
next_header(const char **p, char **name, char **value)
{
	while (**p != '\0')
	{
		const char *line = *p;
		size_t		len = strcspn(line, "\r\n");
		const char *end = line + len;
		const char *colon = memchr(line, ':', len);
		const char *start;

		*p = end + strspn(end, "\r\n");
		if (colon == NULL || colon == line)
			continue;
		*name = sfw_strndup(line, (size_t) (colon - line));
		for (char *c = *name; *c != '\0'; c++)
		{
			if (*c >= 'A' && *c <= 'Z')
				*c = (char) (*c | 0x20);
		}
		start = colon + 1;
		while (start < end && (*start == ' ' || *start == '\t'))
			start++;
		while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*value = sfw_strndup(start, (size_t) (end - start));
		return true;
	}
	return false;
}

/* Append the values that have the name of the first one; those are done then. */
static void
put_header(SfwBuf *buf, char **names, char **values, int n, int first)
{
	sfw_json_put_key(buf, names[first]);
	for (int i = first; i < n; i++)
	{
		if (names[i] == NULL || (i > first && strcmp(names[first], names[i]) != 0))
			continue;
		sfw_buf_putc(buf, i == first ? '[' : ',');
		sfw_json_put_string(buf, values[i], strlen(values[i]));
		if (i > first)
		{
			free(names[i]);
			names[i] = NULL;
		}
	}
	sfw_buf_putc(buf, ']');
}

/* Append the headers: an array of values under each name. */
static void
put_headers(SfwBuf *buf, const SfwFetch *fetch)
{
	char	  **names = sfw_alloc(sizeof(char *) * MAX_HEADERS);
	char	  **values = sfw_alloc(sizeof(char *) * MAX_HEADERS);
	const char *p = fetch->header_lines.data != NULL ? fetch->header_lines.data : "";
	int			n = 0;

	while (n < MAX_HEADERS && next_header(&p, &names[n], &values[n]))
		n++;
	sfw_buf_putc(buf, '{');
	for (int i = 0; i < n; i++)
	{
		if (names[i] == NULL)
			continue;
		if (i > 0)
			sfw_buf_putc(buf, ',');
		put_header(buf, names, values, n, i);
	}
	sfw_buf_putc(buf, '}');
	for (int i = 0; i < n; i++)
	{
		free(names[i]);
		free(values[i]);
	}
	free(names);
	free(values);
}

/* The output of a request that has succeeded. */
static char *
print_response(const SfwFetch *fetch)
{
	SfwBuf		buf = {0};
	SfwJson		body;
	char	   *text = status_text(fetch);

	sfw_buf_puts(&buf, "{\"ResponseBody\":");
	if (fetch->response.len > 0 && sfw_json_parse(fetch->response.data, fetch->response.len, &body))
		sfw_buf_append(&buf, body.text, body.len);
	else
		sfw_json_put_string(&buf, fetch->response.data, fetch->response.len);
	sfw_buf_puts(&buf, ",\"Headers\":");
	put_headers(&buf, fetch);
	sfw_buf_printf(&buf, ",\"StatusCode\":%ld,\"StatusText\":", fetch->status);
	sfw_json_put_string(&buf, text, strlen(text));
	sfw_buf_putc(&buf, '}');
	free(text);
	return sfw_buf_take(&buf);
}

/* A request has ended: tell how it went. */
static void
finished(SfwFetch *fetch)
{
	SfwTask    *task = fetch->arg;

	task->job = NULL;
	if (fetch->refused != NULL)
	{
		sfw_task_log(task, SFW_WARNING, "a request is refused", "reason", fetch->refused);
		sfw_task_failed(task, sfw_strdup("States.Permissions"), sfw_strdup(fetch->refused));
	}
	else if (fetch->too_large)
		sfw_task_failed(task, sfw_strdup("States.DataLimitExceeded"),
						sfw_format("the response of host \"%s\" is larger than the worker takes (max-output)",
								   fetch->host));
	else if (fetch->problem != NULL)
		sfw_task_failed(task, sfw_strdup("States.Http.Socket"), sfw_strdup(fetch->problem));
	else if (fetch->status < 200 || fetch->status > 299)
		sfw_task_failed(task, sfw_format("States.Http.StatusCode.%ld", fetch->status),
						fetch->response.len > 0 ?
						sfw_utf8_repair(fetch->response.data, fetch->response.len) : status_text(fetch));
	else
		sfw_task_succeeded(task, print_response(fetch));
	sfw_fetch_free(fetch);
}

/* ---------------------------------------------------------------- start, stop */

/* Begin a task. */
static void
http_start(SfwTask *task)
{
	SfwFetch   *fetch = sfw_alloc(sizeof(SfwFetch));
	char	   *problem = read_payload(task->payload, fetch);

	fetch->done = finished;
	fetch->arg = task;
	/* The payload's own limit has a timer, and may be longer. */
	fetch->time_limit = task->timeout_timer.armed ?
		task->timeout_timer.at - sfw_now() + 1000 : sfw_config.http_timeout;
	if (problem == NULL)
	{
		fetch->refused = add_connection(task->payload, fetch);
		if (fetch->refused == NULL && sfw_fetch_begin(fetch))
		{
			task->job = fetch;
			return;
		}
		problem = fetch->problem;
		fetch->problem = NULL;
	}
	if (problem != NULL)
		sfw_task_reject(task, problem);
	else
	{
		sfw_task_log(task, SFW_WARNING, "a request is refused", "reason", fetch->refused);
		sfw_task_fail_soon(task, sfw_strdup("States.Permissions"), sfw_strdup(fetch->refused));
	}
	sfw_fetch_free(fetch);
}

/* End a task's request. */
static void
http_stop(SfwTask *task, bool hard)
{
	SfwFetch   *fetch = task->job;
	char	   *cause;

	if (fetch == NULL)
		return;
	task->job = NULL;
	cause = sfw_format("the request to host \"%s\" was given up", fetch->host);
	sfw_fetch_cancel(fetch);
	sfw_fetch_free(fetch);
	sfw_task_fail_soon(task, sfw_strdup("States.Http.Socket"), cause);
}

/* Resolve and decide, but send nothing. */
static bool
http_dry_run(SfwJson payload, SfwBuf *report)
{
	SfwFetch   *fetch = sfw_alloc(sizeof(SfwFetch));
	char	   *problem = read_payload(payload, fetch);
	bool		good;

	if (problem != NULL)
	{
		sfw_json_put_key(report, "refused");
		sfw_json_put_string(report, problem, strlen(problem));
		good = false;
	}
	else
	{
		sfw_json_put_key(report, "method");
		sfw_json_put_string(report, fetch->method, strlen(fetch->method));
		sfw_buf_putc(report, ',');
		good = sfw_fetch_dry_run(fetch->url, sfw_config.location, report);
	}
	free(problem);
	sfw_fetch_free(fetch);
	return good;
}

const SfwKind sfw_kind_http = {"http", "Http", http_start, http_stop, http_dry_run};
