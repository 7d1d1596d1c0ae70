/*
 * fetch.c
 *		HTTP requests in the event loop, each hop of them checked.
 *
 * libcurl does the talking, but decides nothing about where to: it follows no
 * redirect, uses no proxy, knows no scheme but http and https.  For each hop
 * the name is checked first (allow.c), and then the address itself, in the
 * moment in which libcurl wants a socket for it: that address is the one which
 * is connected.  A redirect is a new request made here, checked in the same
 * way, and without the credentials when it leads to another host.
 */
#include "fetch.h"

#include <curl/curl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "allow.h"
#include "config.h"
#include "json.h"
#include "log.h"
#include "loop.h"

/* Bytes of header lines that are kept of a response */
#define HEADERS_MAX (256 * 1024)

static CURLM *multi;
static SfwTimer multi_timer;

/* ---------------------------------------------------------------- where to */

/* Take a URL apart and put it in order; false: it is none.  Free what is set. */
static bool
split_url(const char *url, const char *base, char **whole, char **scheme, char **host, int *port)
{
	CURLU	   *parts = curl_url();
	char	   *text = NULL;
	bool		good;

	*whole = *scheme = *host = NULL;
	good = (base == NULL || curl_url_set(parts, CURLUPART_URL, base, 0) == CURLUE_OK) &&
		curl_url_set(parts, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK &&
		curl_url_get(parts, CURLUPART_SCHEME, &text, 0) == CURLUE_OK;
	if (good)
	{
		*scheme = sfw_strdup(text);
		curl_free(text);
		good = curl_url_get(parts, CURLUPART_HOST, &text, 0) == CURLUE_OK && *text != '\0';
	}
	if (good)
	{
		size_t		len = strlen(text);

		/* 2852039166, 0xa9fea9fe and the like are put in order when the URL is set. */
		*host = text[0] == '[' && len > 2 ? sfw_strndup(text + 1, len - 2) : sfw_strdup(text);
		curl_free(text);
		*port = 0;
		if (curl_url_get(parts, CURLUPART_PORT, &text, CURLU_DEFAULT_PORT) == CURLUE_OK)
		{
			*port = atoi(text);
			curl_free(text);
		}
		good = curl_url_get(parts, CURLUPART_USER, &text, 0) == CURLUE_NO_USER;
		if (!good)
			curl_free(text);
	}
	if (good)
	{
		good = curl_url_get(parts, CURLUPART_URL, &text, 0) == CURLUE_OK;
		if (good)
		{
			*whole = sfw_strdup(text);
			curl_free(text);
		}
	}
	curl_url_cleanup(parts);
	return good;
}

/* Give the host of a URL in memory of its own; NULL when it has none. */
char *
sfw_fetch_host(const char *url)
{
	char	   *whole;
	char	   *scheme;
	char	   *host;
	int			port;

	if (!split_url(url, NULL, &whole, &scheme, &host, &port))
	{
		free(host);
		host = NULL;
	}
	free(whole);
	free(scheme);
	return host;
}

/* Give libcurl a socket, unless the address may not be connected. */
static curl_socket_t
open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	SfwFetch   *fetch = arg;
	char	   *reason;

	if (purpose != CURLSOCKTYPE_IPCXN)
		return CURL_SOCKET_BAD;
	reason = sfw_allow_address(fetch->host, &address->addr, fetch->port);
	if (reason != NULL)
	{
		free(fetch->address_refused);
		fetch->address_refused = reason;
		return CURL_SOCKET_BAD;
	}
	fetch->address_allowed = true;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Resolve a host as a request would, and say of each address whether it may be connected. */
static bool
report_addresses(const char *host, int port, SfwBuf *report)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char	   *refused = NULL;
	int			allowed = 0;
	int			error = getaddrinfo(host, NULL, &hints, &found);

	sfw_buf_puts(report, ",\"addresses\":[");
	for (struct addrinfo *one = found; one != NULL; one = one->ai_next)
	{
		char	   *text = sfw_allow_print(one->ai_addr);
		char	   *reason = sfw_allow_address(host, one->ai_addr, port);

		if (one != found)
			sfw_buf_putc(report, ',');
		sfw_json_put_string(report, text, strlen(text));
		free(text);
		allowed += reason == NULL;
		free(refused);
		refused = reason;
	}
	sfw_buf_putc(report, ']');
	if (found != NULL)
		freeaddrinfo(found);
	if (error != 0)
		refused = sfw_format("host \"%s\" cannot be resolved: %s", host, gai_strerror(error));
	if (allowed == 0)
	{
		sfw_buf_puts(report, ",\"refused\":");
		sfw_json_put_string(report, refused, strlen(refused));
	}
	free(refused);
	return allowed > 0;
}

/* Append what would become of one hop to a report; gives its URL in *whole. */
static bool
report_hop(const char *url, const char *base, char **whole, SfwBuf *report)
{
	char	   *scheme;
	char	   *host;
	char	   *refused = NULL;
	int			port = 0;
	bool		good = split_url(url, base, whole, &scheme, &host, &port);

	sfw_buf_puts(report, "{\"url\":");
	sfw_json_put_string(report, *whole != NULL ? *whole : url, strlen(*whole != NULL ? *whole : url));
	if (!good)
		refused = sfw_strdup("this is no URL that can be used");
	else
		refused = sfw_allow_name(scheme, host, port);
	if (refused == NULL)
		good = report_addresses(host, port, report);
	else
	{
		good = false;
		sfw_buf_puts(report, ",\"refused\":");
		sfw_json_put_string(report, refused, strlen(refused));
		free(refused);
	}
	sfw_buf_putc(report, '}');
	free(scheme);
	free(host);
	return good;
}

/*
 * Tell whether a request would be sent to a URL, and if location is not NULL
 * also on to where a redirect leads, without sending anything.
 */
bool
sfw_fetch_dry_run(const char *url, const char *location, SfwBuf *report)
{
	char	   *first = NULL;
	char	   *second = NULL;
	bool		good;

	sfw_json_put_key(report, "hops");
	sfw_buf_putc(report, '[');
	good = report_hop(url, NULL, &first, report);
	if (good && location != NULL)
	{
		sfw_buf_putc(report, ',');
		good = report_hop(location, first, &second, report);
	}
	sfw_buf_putc(report, ']');
	free(first);
	free(second);
	return good;
}

/* ---------------------------------------------------------------- headers */

/* Add a header, "Name: value". */
void
sfw_fetch_header(SfwFetch *fetch, const char *line, bool secret)
{
	size_t		n = (size_t) fetch->n_headers + 1;

	fetch->headers = sfw_realloc(fetch->headers, sizeof(char *) * n);
	fetch->secret = sfw_realloc(fetch->secret, sizeof(bool) * n);
	fetch->headers[n - 1] = sfw_strdup(line);
	fetch->secret[n - 1] = secret;
	fetch->n_headers++;
}

/* Tell whether a line is a header of this name. */
static bool
is_header(const char *line, const char *name)
{
	size_t		len = strlen(name);

	return strncasecmp(line, name, len) == 0 && (line[len] == ':' || line[len] == ';');
}

/* Tell whether a header was added. */
bool
sfw_fetch_has_header(const SfwFetch *fetch, const char *name)
{
	for (int i = 0; i < fetch->n_headers; i++)
	{
		if (is_header(fetch->headers[i], name))
			return true;
	}
	return false;
}

/* Leave out the headers that another host must not see, or those of a body. */
static void
drop_headers(SfwFetch *fetch, bool of_body)
{
	int			kept = 0;

	for (int i = 0; i < fetch->n_headers; i++)
	{
		bool		drop = of_body ? strncasecmp(fetch->headers[i], "content-", 8) == 0 : fetch->secret[i];

		if (drop)
		{
			free(fetch->headers[i]);
			continue;
		}
		fetch->headers[kept] = fetch->headers[i];
		fetch->secret[kept++] = fetch->secret[i];
	}
	fetch->n_headers = kept;
}

/* Keep a header line of the response; a new status line begins anew. */
static size_t
on_header(char *data, size_t size, size_t n, void *arg)
{
	SfwFetch   *fetch = arg;
	size_t		len = size * n;

	if (len >= 5 && strncmp(data, "HTTP/", 5) == 0)
	{
		fetch->status_line.len = fetch->header_lines.len = 0;
		sfw_buf_append(&fetch->status_line, data, len);
	}
	else if (fetch->header_lines.len + len > HEADERS_MAX)
	{
		fetch->too_large = true;
		return 0;
	}
	else
		sfw_buf_append(&fetch->header_lines, data, len);
	return len;
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
	sfw_buf_append(&fetch->response, data, size * n);
	return size * n;
}

/* ---------------------------------------------------------------- hops */

/* Set a new handle up for the request as it stands. */
static CURL *
make_handle(SfwFetch *fetch)
{
	CURL	   *easy = curl_easy_init();
	struct curl_slist *list = NULL;
	int64_t		left = fetch->time_limit - (sfw_now() - fetch->began);
	bool		without_body;

	for (int i = 0; i < fetch->n_headers; i++)
		list = curl_slist_append(list, fetch->headers[i]);
	/* No pause to ask whether a body is welcome. */
	list = curl_slist_append(list, "Expect:");
	fetch->header_list = list;
	curl_easy_setopt(easy, CURLOPT_PRIVATE, (void *) fetch);
	curl_easy_setopt(easy, CURLOPT_URL, fetch->url);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long) (CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
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
	/* Servers want to hear that there is no body where they expect one. */
	without_body = !fetch->has_body &&
		(strcmp(fetch->method, "POST") == 0 || strcmp(fetch->method, "PUT") == 0 ||
		 strcmp(fetch->method, "PATCH") == 0);
	if (without_body && !sfw_fetch_has_header(fetch, "Content-Type"))
		list = fetch->header_list = curl_slist_append(list, "Content-Type:");
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
	if (without_body)
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "");
	else if (fetch->has_body)
	{
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, fetch->body.data != NULL ? fetch->body.data : "");
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) fetch->body.len);
	}
	if (strcmp(fetch->method, "HEAD") == 0)
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, fetch->method);
	return easy;
}

/* Take the handle of the last hop away. */
static void
drop_handle(SfwFetch *fetch)
{
	if (fetch->easy != NULL)
	{
		curl_multi_remove_handle(multi, fetch->easy);
		curl_easy_cleanup(fetch->easy);
	}
	curl_slist_free_all(fetch->header_list);
	fetch->easy = NULL;
	fetch->header_list = NULL;
}

/* Send the request as it stands, if it may be; false: refused or problem says why not. */
static bool
begin_hop(SfwFetch *fetch)
{
	char	   *whole;
	char	   *scheme;
	char	   *host;
	int			port = 0;

	if (split_url(fetch->url, NULL, &whole, &scheme, &host, &port))
		fetch->refused = sfw_allow_name(scheme, host, port);
	else if (fetch->hops > 0)
		fetch->refused = sfw_format("a redirect of host \"%s\" leads to no URL that can be used",
									fetch->host);
	else
		fetch->problem = sfw_strdup("ApiEndpoint is no URL that can be used");
	free(scheme);
	free(fetch->host);
	fetch->host = host;
	fetch->port = port;
	if (whole != NULL)
	{
		free(fetch->url);
		fetch->url = whole;
	}
	if (fetch->problem != NULL || fetch->refused != NULL)
		return false;
	fetch->status_line.len = fetch->header_lines.len = fetch->response.len = 0;
	free(fetch->address_refused);
	fetch->address_refused = NULL;
	fetch->address_allowed = false;
	fetch->easy = make_handle(fetch);
	curl_multi_add_handle(multi, fetch->easy);
	return true;
}

/* Tell whether a status leads elsewhere. */
static bool
is_redirect(long status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Tell whether the new URL is that of another host or port than the last hop's, or less safe. */
static bool
leads_elsewhere(const SfwFetch *fetch, bool was_tls)
{
	char	   *whole;
	char	   *scheme;
	char	   *host;
	int			port = 0;
	bool		elsewhere;

	elsewhere = !split_url(fetch->url, NULL, &whole, &scheme, &host, &port) ||
		strcasecmp(host, fetch->host) != 0 || port != fetch->port ||
		(was_tls && strcasecmp(scheme, "https") != 0);
	free(whole);
	free(scheme);
	free(host);
	return elsewhere;
}

/* Go on to where a response leads; false: the response is the last. */
static bool
follow(SfwFetch *fetch)
{
	char	   *location = NULL;
	bool		was_tls = strncasecmp(fetch->url, "https:", 6) == 0;

	if (!is_redirect(fetch->status) || fetch->hops >= sfw_config.max_redirects)
		return false;
	curl_easy_getinfo(fetch->easy, CURLINFO_REDIRECT_URL, &location);
	if (location == NULL)
		return false;
	fetch->hops++;
	free(fetch->url);
	fetch->url = sfw_strdup(location);
	drop_handle(fetch);
	if ((fetch->status == 303 && strcmp(fetch->method, "HEAD") != 0) ||
		(fetch->status <= 302 && strcmp(fetch->method, "POST") == 0))
	{
		free(fetch->method);
		fetch->method = sfw_strdup("GET");
		fetch->has_body = false;
		drop_headers(fetch, true);
	}
	if (leads_elsewhere(fetch, was_tls))
		drop_headers(fetch, false);
	if (!begin_hop(fetch))
		fetch->done(fetch);
	return true;
}

/* A hop has ended. */
static void
hop_done(SfwFetch *fetch, CURLcode code)
{
	curl_easy_getinfo((CURL *) fetch->easy, CURLINFO_RESPONSE_CODE, &fetch->status);
	if (code == CURLE_OK && follow(fetch))
		return;
	/* Of several addresses, what became of one that may be connected counts. */
	if (code != CURLE_OK && fetch->address_refused != NULL && !fetch->address_allowed)
	{
		fetch->refused = fetch->address_refused;
		fetch->address_refused = NULL;
	}
	else if (code != CURLE_OK && !fetch->too_large)
		fetch->problem = sfw_format("host \"%s\", port %d: %s", fetch->host, fetch->port,
									curl_easy_strerror(code));
	drop_handle(fetch);
	fetch->done(fetch);
}

/* ---------------------------------------------------------------- libcurl in the loop */

/* See which requests have ended. */
static void
look(void)
{
	CURLMsg    *message;
	int			left;

	while ((message = curl_multi_info_read(multi, &left)) != NULL)
	{
		void	   *fetch = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &fetch);
		hop_done(fetch, message->data.result);
	}
}

/* A socket is ready. */
static void
socket_ready(int fd, short revents, void *arg)
{
	int			running;
	int			what = 0;

	if (revents & (POLLIN | POLLHUP))
		what |= CURL_CSELECT_IN;
	if (revents & POLLOUT)
		what |= CURL_CSELECT_OUT;
	if (revents & (POLLERR | POLLNVAL))
		what |= CURL_CSELECT_ERR;
	curl_multi_socket_action(multi, fd, what, &running);
	look();
}

/* libcurl's time has come. */
static void
multi_timeout(void *arg)
{
	int			running;

	curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
	look();
}

/* libcurl wants a socket watched, or watched no more. */
static int
on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
	short		events = 0;

	if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
		events |= POLLIN;
	if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
		events |= POLLOUT;
	sfw_loop_watch(fd, events, socket_ready, NULL);
	return 0;
}

/* libcurl wants to be called in a while. */
static int
on_timer(CURLM *handle, long delay, void *arg)
{
	if (delay < 0)
		sfw_timer_clear(&multi_timer);
	else
		sfw_timer_set(&multi_timer, delay, multi_timeout, NULL);
	return 0;
}

/* Make libcurl ready. */
void
sfw_fetch_init(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
	multi = curl_multi_init();
	curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
}

/*
 * Begin a request; done is called when it has ended, and later than here.
 * False: it is not sent, and refused or problem says why; done is not called.
 */
bool
sfw_fetch_begin(SfwFetch *fetch)
{
	fetch->began = sfw_now();
	return begin_hop(fetch);
}

/* End a request now; done is not called. */
void
sfw_fetch_cancel(SfwFetch *fetch)
{
	drop_handle(fetch);
}

/* Release a request that has ended. */
void
sfw_fetch_free(SfwFetch *fetch)
{
	for (int i = 0; i < fetch->n_headers; i++)
		free(fetch->headers[i]);
	free(fetch->headers);
	free(fetch->secret);
	free(fetch->method);
	free(fetch->url);
	free(fetch->host);
	free(fetch->refused);
	free(fetch->problem);
	free(fetch->address_refused);
	sfw_buf_free(&fetch->body);
	sfw_buf_free(&fetch->status_line);
	sfw_buf_free(&fetch->header_lines);
	sfw_buf_free(&fetch->response);
	free(fetch);
}
