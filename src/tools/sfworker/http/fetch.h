/*
 * fetch.h
 *		HTTP requests in the event loop, each hop of them checked.
 */
#ifndef SFW_FETCH_H
#define SFW_FETCH_H

#include "postgres_fe.h"

#include "pqexpbuffer.h"

#include "tools/client/json_text.h"
#include "tools/client/transfer.h"
#include "tools/sfworker/config.h"

/* A URL in normal form, and its parts */
typedef struct SfwUrl
{
	char	   *text;
	char	   *scheme;
	char	   *host;			/* of IPv6 without brackets */
	int			port;			/* 0: none */
} SfwUrl;

typedef struct SfwFetch SfwFetch;

/* Make it with sfw_fetch_new. */
struct SfwFetch
{
	/* The request; the strings and lists belong to it. */
	char	   *method;
	char	   *endpoint;		/* the URL to begin with */
	struct curl_slist *headers;
	struct curl_slist *secret_headers;	/* for the first host only */
	char	   *body;			/* or NULL */
	int64_t		time_limit;		/* milliseconds, all hops together */

	/* The response, when neither refused nor problem is set; easy has its headers. */
	CURL	   *easy;
	long		status;
	PQExpBufferData status_line;
	PQExpBufferData response;
	bool		too_large;
	char	   *refused;		/* why it may not be sent */
	char	   *problem;		/* why there is no response */

	void		(*done) (SfwFetch *fetch);
	void	   *arg;

	/* The hop under way */
	SfwUrl		url;
	struct curl_slist *header_list;
	size_t		header_bytes;
	int			n_headers;		/* lines, with those of interim responses */
	char	   *address_refused;	/* why one of the host's addresses may not be connected */
	bool		address_allowed;	/* another one may */
	int			hops;			/* redirects before it */
	int64_t		began;
};

extern SfwFetch *sfw_fetch_new(void);
extern bool sfw_fetch_begin(SfwFetch *fetch);
extern void sfw_fetch_free(SfwFetch *fetch);
extern bool sfw_fetch_has_header(const SfwFetch *fetch, const char *name);

extern bool sfw_url_parse(const char *url, const char *base, SfwUrl *parsed);
extern void sfw_url_free(SfwUrl *url);
extern bool sfw_fetch_dry_run(const char *url, const char *location, PQExpBuffer report);

/* --- credentials.c: headers, a user name and a password, or a token of OAuth 2.0 --- */

extern bool sfw_credentials_add(const SfwSection *connection, SfwFetch *fetch);
extern SfwFetch *sfw_credentials_ask(const SfwSection *connection);
extern char *sfw_credentials_store(const SfwSection *connection, const SfwFetch *answer);
extern void sfw_credentials_forget(const SfwSection *connection);

/* --- http_payload.c: the request that the payload of an HTTP task asks for, and the connection that it names --- */

extern char *sfw_http_read(SfcJson payload, SfwFetch *fetch);
extern const SfwSection *sfw_http_connection(SfcJson payload, SfwFetch *fetch);

#endif							/* SFW_FETCH_H */
