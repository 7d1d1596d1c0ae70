/*
 * http_payload.c
 *		The request that the payload of an HTTP task asks for, and the connection that it names.
 */
#include "postgres_fe.h"

#include <strings.h>

#include "tools/client/log.h"
#include "tools/sfworker/http/allow.h"
#include "tools/sfworker/http/fetch.h"

static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"};

/* Headers that libcurl sets, or that could deceive a proxy or server about where a request ends */
static const char *const forbidden[] = {
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "TE", "Trailer",
	"Keep-Alive", "Expect", "Proxy-Authorization", "Proxy-Connection",
};

/* Headers of a payload that are not sent to another host after a redirect */
static const char *const credentials[] = {"Authorization", "Cookie", "X-Api-Key"};

/* Lines of a request that Headers may become: libcurl goes through all of them for each that is added */
#define MAX_HEADERS 1000

/* Bytes that parameters may have: the name of an array stands before each of its elements */
#define MAX_PARAMETERS (64 * 1024 * 1024)

/* How an array becomes several parameters */
typedef enum ArrayFormat
{
	INDICES,
	REPEAT,
	COMMAS,
	BRACKETS
} ArrayFormat;

/* Append a text in percent encoding; libcurl takes eight megabytes at once. */
static void
put_encoded(PQExpBuffer buf, const char *text)
{
	size_t		left = strlen(text);

	while (left > 0)
	{
		int			piece = (int) Min(left, 1024 * 1024);
		char	   *encoded = curl_easy_escape(NULL, text, piece);

		if (encoded == NULL)
			sfc_out_of_memory();
		appendPQExpBufferStr(buf, encoded);
		curl_free(encoded);
		text += piece;
		left -= (size_t) piece;
	}
}

/* Append a value in percent encoding. */
static void
put_encoded_value(PQExpBuffer buf, SfcJson value)
{
	char	   *text = sfc_json_text(value);

	put_encoded(buf, text);
	free(text);
}

/* Append the name of a parameter. */
static void
put_name(PQExpBuffer buf, const char *name)
{
	if (buf->len > 0)
		appendPQExpBufferChar(buf, '&');
	put_encoded(buf, name);
	appendPQExpBufferChar(buf, '=');
}

/* Append one parameter; null is an empty one. */
static void
put_parameter(PQExpBuffer buf, const char *name, SfcJson value)
{
	put_name(buf, name);
	if (sfc_json_type(value) != 'n')
		put_encoded_value(buf, value);
}

/* Append the parameters that an array under a name becomes. */
static void
put_array(PQExpBuffer buf, const char *name, SfcJson array, ArrayFormat format)
{
	SfcJsonWalk	walk = sfc_json_walk(array);
	SfcJson		element;

	for (size_t index = 0; buf->len <= MAX_PARAMETERS && sfc_json_next(&walk, NULL, &element); index++)
	{
		char	   *key;

		if (format == COMMAS)
		{
			if (index == 0)
				put_name(buf, name);
			else
				appendPQExpBufferChar(buf, ',');
			put_encoded_value(buf, element);
			continue;
		}
		key = format == INDICES ? psprintf("%s[%zu]", name, index) :
			psprintf("%s%s", name, format == BRACKETS ? "[]" : "");
		put_parameter(buf, key, element);
		free(key);
	}
}

/* Turn an object, a member of the payload, into parameters, joined with &; gives what is wrong with it, or NULL. */
static char *
put_parameters(PQExpBuffer buf, const char *member, SfcJson object, ArrayFormat format)
{
	SfcJsonWalk	walk = sfc_json_walk(object);
	SfcJson		key;
	SfcJson		value;

	while (buf->len <= MAX_PARAMETERS && sfc_json_next(&walk, &key, &value))
	{
		char	   *name = sfc_json_text(key);

		if (sfc_json_type(value) == '[')
			put_array(buf, name, value, format);
		else
			put_parameter(buf, name, value);
		free(name);
	}
	return buf->len <= MAX_PARAMETERS ? NULL : psprintf("%s has more than %d bytes as parameters", member, MAX_PARAMETERS);
}

/* Tell whether a text is in a list, in upper or lower case. */
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
	struct curl_slist **list;
	char	   *line;

	if (*name == '\0' || name[strspn(name, token)] != '\0')
		return psprintf("\"%s\" is no name of a header", name);
	for (const char *p = value; *p != '\0'; p++)
	{
		if (((unsigned char) *p < 0x20 && *p != '\t') || *p == 0x7f)
			return psprintf("header \"%s\" has a control character", name);
	}
	if (is_one_of(name, forbidden, lengthof(forbidden)))
		return psprintf("header \"%s\" cannot be set", name);
	/* With a semicolon libcurl sends a header without a value. */
	line = *value == '\0' ? psprintf("%s;", name) : psprintf("%s: %s", name, value);
	list = is_one_of(name, credentials, lengthof(credentials)) ? &fetch->secret_headers : &fetch->headers;
	*list = curl_slist_append(*list, line);
	free(line);
	return NULL;
}

/* Read one member of Headers, a value or an array of values; gives what is wrong with it, or NULL. */
static char *
read_header(const char *name, SfcJson value, SfwFetch *fetch, int *n)
{
	SfcJsonWalk	walk = sfc_json_walk(value);
	bool		is_array = sfc_json_type(value) == '[';
	char	   *problem = NULL;

	while (problem == NULL && (!is_array || sfc_json_next(&walk, NULL, &value)))
	{
		char	   *text;

		if (++*n > MAX_HEADERS)
			return psprintf("Headers has more than %d values", MAX_HEADERS);
		text = sfc_json_text(value);
		problem = add_header(fetch, name, text);
		free(text);
		if (!is_array)
			break;
	}
	return problem;
}

/* Read Headers; gives what is wrong with them, or NULL. */
static char *
read_headers(SfcJson object, SfwFetch *fetch)
{
	SfcJsonWalk	walk = sfc_json_walk(object);
	SfcJson		key;
	SfcJson		value;
	char	   *problem = NULL;
	int			n = 0;

	if (sfc_json_type(object) != '{')
		return pg_strdup("Headers must be an object");
	while (problem == NULL && sfc_json_next(&walk, &key, &value))
	{
		char	   *name = sfc_json_text(key);

		problem = read_header(name, value, fetch, &n);
		free(name);
	}
	return problem;
}

/* Read how arrays are to be encoded. */
static ArrayFormat
read_array_format(SfcJson transform)
{
	static const char *const names[] = {"INDICES", "REPEAT", "COMMAS", "BRACKETS"};
	SfcJson		options;
	SfcJson		value;

	if (sfc_json_get(transform, "RequestEncodingOptions", &options) &&
		sfc_json_get(options, "ArrayFormat", &value))
	{
		for (size_t i = 0; i < lengthof(names); i++)
		{
			if (sfc_json_is(value, names[i]))
				return (ArrayFormat) i;
		}
	}
	return INDICES;
}

/* Tell whether Transform wants the body URL encoded. */
static bool
wants_url_encoded(SfcJson payload, SfcJson *transform)
{
	SfcJson		value;

	return sfc_json_get(payload, "Transform", transform) &&
		sfc_json_get(*transform, "RequestBodyEncoding", &value) && sfc_json_is(value, "URL_ENCODED");
}

/* Read RequestBody; gives what is wrong with it, or NULL. */
static char *
read_body(SfcJson payload, SfwFetch *fetch)
{
	SfcJson		body;
	SfcJson		transform;
	const char *type = "Content-Type: application/json";

	if (!sfc_json_get(payload, "RequestBody", &body))
		return NULL;
	if (wants_url_encoded(payload, &transform))
	{
		PQExpBufferData form;
		char	   *problem;

		if (sfc_json_type(body) != '{')
			return pg_strdup("RequestBody must be an object to be URL encoded");
		initPQExpBuffer(&form);
		problem = put_parameters(&form, "RequestBody", body, read_array_format(transform));
		fetch->body = sfc_buffer_data(&form);
		if (problem != NULL)
			return problem;
		type = "Content-Type: application/x-www-form-urlencoded";
	}
	else
		fetch->body = sfc_json_text(body);
	if (!sfw_fetch_has_header(fetch, "Content-Type"))
		fetch->headers = curl_slist_append(fetch->headers, type);
	return NULL;
}

/* The name of the connection that a payload names, or NULL: the part of its ARN after connection/. */
static char *
connection_name(SfcJson payload)
{
	SfcJson		authentication;
	SfcJson		arn;
	char	   *text;
	char	   *name;

	if ((!sfc_json_get(payload, "Authentication", &authentication) &&
		 !sfc_json_get(payload, "InvocationConfig", &authentication)) ||
		!sfc_json_get(authentication, "ConnectionArn", &arn))
		return NULL;
	text = sfc_json_text(arn);
	name = strstr(text, "connection/");
	name = pg_strdup(name != NULL ? name + strlen("connection/") : text);
	name[strcspn(name, "/")] = '\0';
	free(text);
	return name;
}

/* Tell whether a connection is for requests to a host. */
static bool
is_for_host(const SfwSection *connection, const char *host)
{
	for (SimpleStringListCell *pattern = connection->hosts.head; pattern != NULL; pattern = pattern->next)
	{
		if (sfw_allow_matches(pattern->val, host))
			return true;
	}
	return false;
}

/*
 * Find the connection that a payload names, and refuse one that is not for the host of
 * the request; NULL: there is none.
 */
const SfwSection *
sfw_http_connection(SfcJson payload, SfwFetch *fetch)
{
	char	   *name = connection_name(payload);
	const SfwSection *connection = name != NULL ?
		sfw_config_section(sfw_config.sections, "connection", name) : NULL;
	SfwUrl		url = {0};

	if (connection != NULL)
	{
		const char *host = sfw_url_parse(fetch->endpoint, NULL, &url) ? url.host : "";

		if (!is_for_host(connection, host))
			fetch->refused = psprintf("connection \"%s\" is not for host \"%s\"", name, host);
	}
	else if (name != NULL)
		sfc_log(SFC_LOG_WARNING, "a connection is not configured, the request goes without credentials",
				"connection", name, NULL);
	sfw_url_free(&url);
	free(name);
	return connection;
}

/* Append QueryParameters to the URL of a request; gives what is wrong with them, or NULL. */
static char *
add_query(SfcJson parameters, SfwFetch *fetch)
{
	PQExpBufferData query;
	char	   *url;
	char	   *problem;

	if (sfc_json_type(parameters) != '{')
		return pg_strdup("QueryParameters must be an object");
	initPQExpBuffer(&query);
	problem = put_parameters(&query, "QueryParameters", parameters, REPEAT);
	fetch->endpoint[strcspn(fetch->endpoint, "#")] = '\0';
	if (query.len > 0 && problem == NULL)
	{
		url = psprintf("%s%c%s", fetch->endpoint, strchr(fetch->endpoint, '?') != NULL ? '&' : '?',
					   sfc_buffer_data(&query));
		free(fetch->endpoint);
		fetch->endpoint = url;
	}
	termPQExpBuffer(&query);
	return problem;
}

/* Read ApiEndpoint, Method and QueryParameters; gives what is wrong with them, or NULL. */
static char *
read_target(SfcJson payload, SfwFetch *fetch)
{
	SfcJson		value;

	if (!sfc_json_get(payload, "ApiEndpoint", &value) || sfc_json_type(value) != '"')
		return pg_strdup("ApiEndpoint is missing");
	fetch->endpoint = sfc_json_text(value);
	for (const char *p = fetch->endpoint; *p != '\0'; p++)
	{
		if ((unsigned char) *p <= 0x20 || *p == 0x7f)
			return pg_strdup("ApiEndpoint has blanks or control characters");
	}
	if (!sfc_json_get(payload, "Method", &value))
		return pg_strdup("Method is missing");
	fetch->method = sfc_json_text(value);
	if (!is_one_of(fetch->method, methods, lengthof(methods)))
		return psprintf("Method \"%s\" is unknown", fetch->method);
	for (char *p = fetch->method; *p != '\0'; p++)
		*p = (char) (*p & ~0x20);
	return sfc_json_get(payload, "QueryParameters", &value) ? add_query(value, fetch) : NULL;
}

/* Turn a payload into a request; gives what is wrong with it, or NULL. */
char *
sfw_http_read(SfcJson payload, SfwFetch *fetch)
{
	SfcJson		value;
	char	   *problem = read_target(payload, fetch);

	if (problem == NULL && sfc_json_get(payload, "Headers", &value))
		problem = read_headers(value, fetch);
	if (problem == NULL)
		problem = read_body(payload, fetch);
	return problem;
}
