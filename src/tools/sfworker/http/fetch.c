/*
 * fetch.c
 *		HTTP requests in the event loop, each hop of them checked.
 *
 * libcurl speaks HTTP, but does not decide where to: it follows no redirect,
 * uses no proxy, knows no scheme but http and https.  For each hop allow.c
 * checks the host's name, and then, when libcurl asks for a socket, the address
 * that is about to be connected.  A redirect is a new request, which is checked
 * in the same way, and loses the credentials when it leads to another host.
 */
#include "postgres_fe.h"

#include <netdb.h>
#include <strings.h>
#include <unistd.h>

#include "tools/client/json_text.h"
#include "tools/client/loop.h"
#include "tools/client/transfer.h"
#include "tools/sfworker/config.h"
#include "tools/sfworker/http/allow.h"
#include "tools/sfworker/http/fetch.h"

/* Header lines that a response may have, and their bytes: libcurl goes through all of them for each that is read */
#define HEADER_LINES_MAX 1000
#define HEADERS_MAX (256 * 1024)

static void hop_done(void *arg, CURLcode code);

/* ---------------------------------------------------------------- where to */

/* Release a URL. */
void
sfw_url_free(SfwUrl *url)
{
	free(url->text);
	free(url->scheme);
	free(url->host);
	*url = (SfwUrl) {0};
}

/* Give a part of a URL in memory of its own; NULL: it has none. */
static char *
url_part(CURLU *handle, CURLUPart part, unsigned int flags)
{
	char	   *text;
	char	   *copy;

	if (curl_url_get(handle, part, &text, flags) != CURLUE_OK)
		return NULL;
	copy = pg_strdup(text);
	curl_free(text);
	return copy;
}

/*
 * Parse a URL, which may be relative to another, and bring it into normal form:
 * hosts like 2852039166 and 0xa9fea9fe become addresses.  False: it cannot be
 * used, or has a user name.  Release *parsed in any case.
 */
bool
sfw_url_parse(const char *url, const char *base, SfwUrl *parsed)
{
	CURLU	   *handle = curl_url();
	char	   *port = NULL;
	char	   *user = NULL;
	bool		good;

	*parsed = (SfwUrl) {0};
	good = (base == NULL || curl_url_set(handle, CURLUPART_URL, base, 0) == CURLUE_OK) &&
		curl_url_set(handle, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
		(parsed->scheme = url_part(handle, CURLUPART_SCHEME, 0)) != NULL &&
		(parsed->host = url_part(handle, CURLUPART_HOST, 0)) != NULL && *parsed->host != '\0';
	if (good)
	{
		size_t		len = strlen(parsed->host);

		if (parsed->host[0] == '[' && len > 2)
		{
			memmove(parsed->host, parsed->host + 1, len - 2);
			parsed->host[len - 2] = '\0';
		}
		port = url_part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
		parsed->port = port != NULL ? atoi(port) : 0;
		user = url_part(handle, CURLUPART_USER, 0);
		good = user == NULL && (parsed->text = url_part(handle, CURLUPART_URL, 0)) != NULL;
	}
	free(port);
	free(user);
	curl_url_cleanup(handle);
	return good;
}

/* Give libcurl a socket, unless the address may not be connected. */
static curl_socket_t
open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	SfwFetch   *fetch = arg;
	char	   *reason;

	if (purpose != CURLSOCKTYPE_IPCXN)
		return CURL_SOCKET_BAD;
	reason = sfw_allow_address(fetch->url.host, &address->addr, fetch->url.port);
	if (reason != NULL)
	{
		free(fetch->address_refused);
		fetch->address_refused = reason;
		return CURL_SOCKET_BAD;
	}
	fetch->address_allowed = true;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Resolve a host as a request would, and list its addresses; gives why none may be connected, or NULL. */
static char *
report_addresses(const SfwUrl *url, PQExpBuffer report)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char	   *refused = NULL;
	bool		allowed = false;
	int			error = getaddrinfo(url->host, NULL, &hints, &found);

	sfc_json_put_key(report, "addresses");
	sfc_json_open(report, '[');
	for (struct addrinfo *one = found; one != NULL; one = one->ai_next)
	{
		char	   *text = sfw_allow_print(one->ai_addr);

		sfc_json_put_string(report, text);
		free(text);
		free(refused);
		refused = sfw_allow_address(url->host, one->ai_addr, url->port);
		allowed = allowed || refused == NULL;
	}
	appendPQExpBufferChar(report, ']');
	if (found != NULL)
		freeaddrinfo(found);
	if (error != 0)
		return psprintf("host \"%s\" cannot be resolved: %s", url->host, gai_strerror(error));
	if (!allowed)
		return refused;
	free(refused);
	return NULL;
}

/* Append the decision about one hop to a report; release *parsed. */
static bool
report_hop(const char *url, const char *base, SfwUrl *parsed, PQExpBuffer report)
{
	bool		good = sfw_url_parse(url, base, parsed);
	char	   *refused;

	sfc_json_open(report, '{');
	sfc_json_put_key(report, "url");
	sfc_json_put_string(report, parsed->text != NULL ? parsed->text : url);
	if (good)
		refused = sfw_allow_name(parsed->scheme, parsed->host, parsed->port);
	else
		refused = pg_strdup("this is no URL that can be used");
	if (refused == NULL)
		refused = report_addresses(parsed, report);
	good = refused == NULL;
	if (!good)
	{
		sfc_json_put_key(report, "refused");
		sfc_json_put_string(report, refused);
		free(refused);
	}
	appendPQExpBufferChar(report, '}');
	return good;
}

/*
 * Tell whether a request would be sent to a URL, and if location is not NULL
 * also to the target of a redirect, without sending anything.
 */
bool
sfw_fetch_dry_run(const char *url, const char *location, PQExpBuffer report)
{
	SfwUrl		first;
	SfwUrl		second = {0};
	bool		good;

	sfc_json_put_key(report, "hops");
	sfc_json_open(report, '[');
	good = report_hop(url, NULL, &first, report) &&
		(location == NULL || report_hop(location, first.text, &second, report));
	appendPQExpBufferChar(report, ']');
	sfw_url_free(&first);
	sfw_url_free(&second);
	return good;
}

/* ---------------------------------------------------------------- headers */

/* Tell whether a list has a header of a name: "Name: value", or "Name;" without a value. */
static bool
has_header(const struct curl_slist *list, const char *name)
{
	size_t		len = strlen(name);

	for (; list != NULL; list = list->next)
	{
		if (strncasecmp(list->data, name, len) == 0 && (list->data[len] == ':' || list->data[len] == ';'))
			return true;
	}
	return false;
}

/* Tell whether the request has a header. */
bool
sfw_fetch_has_header(const SfwFetch *fetch, const char *name)
{
	return has_header(fetch->headers, name) || has_header(fetch->secret_headers, name);
}

/* Append headers to a list, without those of a body unless with_body. */
static struct curl_slist *
copy_headers(struct curl_slist *list, const struct curl_slist *headers, bool with_body)
{
	for (; headers != NULL; headers = headers->next)
	{
		if (with_body || strncasecmp(headers->data, "content-", 8) != 0)
			list = curl_slist_append(list, headers->data);
	}
	return list;
}

/* Remove the headers of the body. */
static void
drop_body_headers(struct curl_slist **headers)
{
	struct curl_slist *kept = copy_headers(NULL, *headers, false);

	curl_slist_free_all(*headers);
	*headers = kept;
}

/* Take a header line of the response: keep the status line, and count lines and bytes. */
static size_t
on_header(char *data, size_t size, size_t n, void *arg)
{
	SfwFetch   *fetch = arg;
	size_t		len = size * n;

	/* An interim response has a status line, too. */
	if (len >= 5 && strncmp(data, "HTTP/", 5) == 0)
	{
		resetPQExpBuffer(&fetch->status_line);
		appendBinaryPQExpBuffer(&fetch->status_line, data, len);
	}
	fetch->header_bytes += len;
	fetch->n_headers++;
	if (fetch->header_bytes <= HEADERS_MAX && fetch->n_headers <= HEADER_LINES_MAX)
		return len;
	fetch->too_large = true;
	return 0;
}

/* Keep a part of the response's body, up to the limit. */
static size_t
on_body(char *data, size_t size, size_t n, void *arg)
{
	SfwFetch   *fetch = arg;

	if (fetch->response.len + size * n > sfw_config.max_output)
	{
		fetch->too_large = true;
		return 0;
	}
	appendBinaryPQExpBuffer(&fetch->response, data, size * n);
	return size * n;
}

/* ---------------------------------------------------------------- hops */

/* Make a handle for the request in its present state. */
static CURL *
make_handle(SfwFetch *fetch)
{
	CURL	   *easy = curl_easy_init();
	struct curl_slist *list;
	int64_t		left = fetch->time_limit - (sfc_now() - fetch->began);
	bool		without_body;

	list = copy_headers(NULL, fetch->headers, true);
	list = copy_headers(list, fetch->secret_headers, true);
	/* Send a body at once, without asking the server first. */
	list = curl_slist_append(list, "Expect:");
	curl_easy_setopt(easy, CURLOPT_URL, fetch->url.text);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	if (sfw_config.ca_file != NULL)
		curl_easy_setopt(easy, CURLOPT_CAINFO, sfw_config.ca_file);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long) sfw_config.connect_timeout);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long) (left > 0 ? left : 1));
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "sfworker/" SFW_VERSION);
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, (void *) fetch);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, (void *) fetch);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, (void *) fetch);
	/* Where servers expect a body, say that it is empty. */
	without_body = fetch->body == NULL &&
		(strcmp(fetch->method, "POST") == 0 || strcmp(fetch->method, "PUT") == 0 ||
		 strcmp(fetch->method, "PATCH") == 0);
	if (without_body && !sfw_fetch_has_header(fetch, "Content-Type"))
		list = curl_slist_append(list, "Content-Type:");
	fetch->header_list = list;
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
	if (without_body)
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
	else if (fetch->body != NULL)
	{
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, fetch->body);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) strlen(fetch->body));
	}
	if (strcmp(fetch->method, "HEAD") == 0)
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, fetch->method);
	return easy;
}

/* Release the handle of the last hop. */
static void
drop_handle(SfwFetch *fetch)
{
	if (fetch->easy != NULL)
	{
		sfc_transfer_end(fetch->easy);
		curl_easy_cleanup(fetch->easy);
	}
	curl_slist_free_all(fetch->header_list);
	fetch->easy = NULL;
	fetch->header_list = NULL;
}

/*
 * Send the request to a URL if it may be sent there; false: refused or problem
 * says why not.  A redirect to another host, another port or from https to http
 * loses the secret headers.
 */
static bool
begin_hop(SfwFetch *fetch, const char *target)
{
	SfwUrl		url;
	bool		good = sfw_url_parse(target, NULL, &url);

	if (good)
		fetch->refused = sfw_allow_name(url.scheme, url.host, url.port);
	else if (fetch->hops > 0)
		fetch->refused = psprintf("a redirect of host \"%s\" leads to no URL that can be used", fetch->url.host);
	else
		fetch->problem = pg_strdup("ApiEndpoint is no URL that can be used");
	if (fetch->hops > 0 && good &&
		(strcasecmp(url.host, fetch->url.host) != 0 || url.port != fetch->url.port ||
		 (strcasecmp(fetch->url.scheme, "https") == 0 && strcasecmp(url.scheme, "https") != 0)))
	{
		curl_slist_free_all(fetch->secret_headers);
		fetch->secret_headers = NULL;
	}
	sfw_url_free(&fetch->url);
	fetch->url = url;
	if (fetch->problem != NULL || fetch->refused != NULL)
		return false;
	resetPQExpBuffer(&fetch->status_line);
	resetPQExpBuffer(&fetch->response);
	fetch->header_bytes = 0;
	fetch->n_headers = 0;
	free(fetch->address_refused);
	fetch->address_refused = NULL;
	fetch->address_allowed = false;
	fetch->easy = make_handle(fetch);
	sfc_transfer_begin(fetch->easy, hop_done, fetch);
	return true;
}

/* Tell whether a status is a redirect. */
static bool
is_redirect(long status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Follow a redirect; false: the response is the last. */
static bool
follow(SfwFetch *fetch)
{
	char	   *location = NULL;

	if (!is_redirect(fetch->status) || fetch->hops >= sfw_config.max_redirects)
		return false;
	curl_easy_getinfo(fetch->easy, CURLINFO_REDIRECT_URL, &location);
	if (location == NULL)
		return false;
	location = pg_strdup(location);
	fetch->hops++;
	drop_handle(fetch);
	if ((fetch->status == 303 && strcmp(fetch->method, "HEAD") != 0) ||
		(fetch->status <= 302 && strcmp(fetch->method, "POST") == 0))
	{
		free(fetch->method);
		fetch->method = pg_strdup("GET");
		free(fetch->body);
		fetch->body = NULL;
		drop_body_headers(&fetch->headers);
		drop_body_headers(&fetch->secret_headers);
	}
	if (!begin_hop(fetch, location))
		fetch->done(fetch);
	free(location);
	return true;
}

/* A hop has ended. */
static void
hop_done(void *arg, CURLcode code)
{
	SfwFetch   *fetch = arg;

	curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &fetch->status);
	if (code == CURLE_OK && follow(fetch))
		return;
	/* A refused address counts only if the host has no other. */
	if (code != CURLE_OK && fetch->address_refused != NULL && !fetch->address_allowed)
	{
		fetch->refused = fetch->address_refused;
		fetch->address_refused = NULL;
	}
	else if (code != CURLE_OK && !fetch->too_large)
		fetch->problem = psprintf("host \"%s\", port %d: %s", fetch->url.host, fetch->url.port,
								  curl_easy_strerror(code));
	fetch->done(fetch);
}

/* ---------------------------------------------------------------- requests */

/* Make a request, still without a method, a URL and a time limit. */
SfwFetch *
sfw_fetch_new(void)
{
	SfwFetch   *fetch = pg_malloc0(sizeof(SfwFetch));

	initPQExpBuffer(&fetch->status_line);
	initPQExpBuffer(&fetch->response);
	return fetch;
}

/*
 * Begin a request; done is called when it has ended, and later than here.
 * False: it is not sent, and refused or problem says why; done is not called.
 */
bool
sfw_fetch_begin(SfwFetch *fetch)
{
	fetch->began = sfc_now();
	return begin_hop(fetch, fetch->endpoint);
}

/* End a request if it has not ended, and release it. */
void
sfw_fetch_free(SfwFetch *fetch)
{
	drop_handle(fetch);
	curl_slist_free_all(fetch->headers);
	curl_slist_free_all(fetch->secret_headers);
	sfw_url_free(&fetch->url);
	free(fetch->method);
	free(fetch->endpoint);
	free(fetch->body);
	free(fetch->refused);
	free(fetch->problem);
	free(fetch->address_refused);
	termPQExpBuffer(&fetch->status_line);
	termPQExpBuffer(&fetch->response);
	free(fetch);
}
