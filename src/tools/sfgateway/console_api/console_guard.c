/*
 * console_guard.c
 *		Requests of the console's own pages, and no others.
 *
 * A browser sends the session's cookie with requests that pages of other sites
 * make, too.  So whatever does something has to come with
 *
 *		Origin		of the gateway itself, or one of the settings.  Without TLS the
 *					gateway's name must be an address or localhost: another
 *					name may be that of a site which has it resolve to loopback;
 *		Content-Type application/json, which a form cannot have;
 *		X-CSRF-Token the token that only the page has which signed in.
 *
 * A page that keeps itself up to date marks what no person has caused with
 * X-Background: such a request does not count as a use of the session.
 */
#include "postgres_fe.h"

#include <arpa/inet.h>

#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/hashing.h"
#include "tools/sfgateway/http/listener.h"

static const char foreign[] = "the request does not come from a page of this console";

/* Tell whether a Host header is an address or localhost. */
static bool
is_address(const char *host)
{
	char		name[128];
	char	   *end;
	unsigned char bytes[16];

	strlcpy(name, *host == '[' ? host + 1 : host, sizeof(name));
	end = *host == '[' ? strchr(name, ']') : strrchr(name, ':');
	if (end != NULL)
		*end = '\0';
	return inet_pton(*host == '[' ? AF_INET6 : AF_INET, name, bytes) == 1 || pg_strcasecmp(name, "localhost") == 0;
}

/* Tell whether an origin is the gateway's own, or one of the settings. */
static bool
is_own_origin(const SfgRequest *request, const char *origin)
{
	const char *host = sfg_request_header(request, "Host");
	const char *scheme = sfg_listeners_are_tls() ? "https://" : "http://";

	for (const SimpleStringListCell *cell = sfg_config.origins.head; cell != NULL; cell = cell->next)
	{
		if (strcmp(cell->val, origin) == 0)
			return true;
	}
	return host != NULL && strncmp(origin, scheme, strlen(scheme)) == 0 &&
		strcmp(origin + strlen(scheme), host) == 0 && (sfg_listeners_are_tls() || is_address(host));
}

/* Tell whether a content type is that of JSON, with parameters or without. */
static bool
is_json(const char *type)
{
	static const char json[] = "application/json";
	size_t		len = strlen(json);

	return type != NULL && pg_strncasecmp(type, json, len) == 0 && (type[len] == '\0' || type[len] == ';');
}

/*
 * Tell whether a request is no page's of another site: programs send no Origin, and browsers always do.
 * Otherwise it is answered.
 */
bool
sfg_console_is_not_foreign(SfgRequest *request)
{
	const char *origin = sfg_request_header(request, "Origin");

	if (origin != NULL && !is_own_origin(request, origin))
		sfg_answer_error(request, MHD_HTTP_FORBIDDEN, foreign);
	else if (!is_json(sfg_request_header(request, "Content-Type")))
		sfg_answer_error(request, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "the content type must be application/json");
	else
		return true;
	return false;
}

/* Tell whether a request is one of the console's own pages; otherwise it is answered. */
bool
sfg_console_is_own(SfgRequest *request)
{
	if (sfg_request_header(request, "Origin") != NULL)
		return sfg_console_is_not_foreign(request);
	sfg_answer_error(request, MHD_HTTP_FORBIDDEN, foreign);
	return false;
}

/* Tell whether browsers speak https with the console. */
bool
sfg_console_is_https(void)
{
	return sfg_listeners_are_tls() || sfg_config.behind_proxy;
}

/* The name of the cookie; with __Host- browsers take it by https from this very host alone. */
const char *
sfg_console_cookie(void)
{
	return sfg_console_is_https() ? "__Host-sfgateway" : "sfgateway";
}

/* The cookie of a request, or NULL. */
static const char *
read_cookie(const SfgRequest *request)
{
	return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, sfg_console_cookie());
}

/* Find the session of a request, or NULL. */
SfgConsoleSession *
sfg_console_session_of(const SfgRequest *request)
{
	const char *cookie = read_cookie(request);

	return cookie != NULL ? sfg_console_session_find(cookie) : NULL;
}

/* Give the session of a request that may act for it; NULL: the request is answered. */
SfgConsoleSession *
sfg_console_guard(SfgRequest *request)
{
	SfgConsoleSession *session;
	const char *token = sfg_request_header(request, "X-CSRF-Token");

	if (!sfg_console_is_own(request))
		return NULL;
	session = sfg_console_session_of(request);
	if (session == NULL)
		sfg_answer_error(request, MHD_HTTP_UNAUTHORIZED, "sign in first");
	else if (token == NULL || !sfg_console_session_has(session, token))
	{
		sfg_answer_error(request, MHD_HTTP_FORBIDDEN, "the token of the session is missing or wrong");
		session = NULL;
	}
	if (session != NULL)
	{
		strlcpy(request->who, session->role, sizeof(request->who));
		sfg_crowd_sign_in(request->client, session->role);
		if (sfg_request_header(request, "X-Background") == NULL)
			session->used_at = sfc_now();
	}
	return session;
}

/* Have the session of a request that passed the guard take calls; false: it cannot, and the request is answered. */
bool
sfg_console_revive(SfgRequest *request, SfgConsoleSession *session)
{
	if (sfg_console_session_revive(session, read_cookie(request), sfg_request_header(request, "X-CSRF-Token")))
		return true;
	sfg_console_answer_down(request, session);
	return false;
}

/* Answer that the session of a request has no connection, and since when the database is down. */
void
sfg_console_answer_down(SfgRequest *request, const SfgConsoleSession *session)
{
	sfg_answer_unavailable(request, sfg_console_session_trouble(session), sfg_availability_down_since());
}

/* Read the body of a request; false: it is no JSON object, and the request is answered. */
bool
sfg_console_body(SfgRequest *request, SfcJson *body)
{
	if (sfc_json_parse(request->body.data, request->body.len, body) && sfc_json_type(*body) == '{')
		return true;
	sfg_answer_error(request, MHD_HTTP_BAD_REQUEST, "the body must be a JSON object");
	return false;
}
