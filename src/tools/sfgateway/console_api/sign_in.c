/*
 * sign_in.c
 *		Signing in to the console, and out.
 *
 *		POST /console/login {"role", "password"}	a cookie, and {"role", "csrf_token"}
 *		GET /console/session						{"role"}, or 401
 *		POST /console/logout						204
 *
 * Browsers send a cookie to all ports of a host, so that what listens at another
 * port may know it.  The token is in the answer to the password alone: the cookie
 * is worth nothing without it.
 */
#include "postgres_fe.h"

#include "tools/client/loop.h"
#include "tools/sfgateway/console_api/console.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/hashing.h"
#include "tools/sfgateway/http/listener.h"

static bool may_try_sign_in(const char *role, const char *address);

static void forget_try(const char *role, const char *address);

/* Begin the answer that tells who is signed in, with the token of the session if it is not NULL. */
static void
answer_session(SfgRequest *request, const SfgConsoleSession *session, const char *token)
{
	PQExpBufferData json;

	initPQExpBuffer(&json);
	sfc_json_open(&json, '{');
	sfc_json_put_key(&json, "role");
	sfc_json_put_string(&json, session->role);
	if (token != NULL)
	{
		sfc_json_put_key(&json, "csrf_token");
		sfc_json_put_string(&json, token);
	}
	appendPQExpBufferChar(&json, '}');
	sfg_answer(request, MHD_HTTP_OK, "application/json", sfc_buffer_data(&json), json.len);
	termPQExpBuffer(&json);
}

/* Add the cookie of a session; token "" deletes it. */
static void
set_cookie(SfgRequest *request, const char *token)
{
	bool		https = sfg_console_is_https();
	char	   *cookie = psprintf("%s=%s; Path=/; HttpOnly; SameSite=Strict%s%s", sfg_console_cookie(), token,
								  https ? "; Secure" : "", *token == '\0' ? "; Max-Age=0" : "");

	sfg_answer_header(request, "Set-Cookie", cookie);
	free(cookie);
}

/* A role is signed in, or not (NULL): because of trouble with the database, or because that refuses it (NULL). */
static void
signed_in(SfgRequest *request, SfgConsoleSession *session, const char *trouble)
{
	if (session != NULL || trouble != NULL)
		forget_try(request->who, request->client->network);
	if (session != NULL)
	{
		sfg_crowd_sign_in(request->client, session->role);
		answer_session(request, session, session->secrets->csrf);
		set_cookie(request, session->secrets->cookie);
		sfg_answer_send(request);
	}
	else if (trouble != NULL)
		sfg_answer_unavailable(request, trouble, sfg_availability_down_since());
	else
		sfg_answer_error(request, MHD_HTTP_UNAUTHORIZED, "the database does not accept this role and password");
}

/* Read a member of an object that is a string, or NULL. */
static char *
read_text(SfcJson object, const char *key)
{
	SfcJson		value;

	return sfc_json_get(object, key, &value) && sfc_json_type(value) == '"' ? sfc_json_text(value) : NULL;
}

/* Try to sign in, unless there are too many. */
static void
try_sign_in(SfgRequest *request, const char *role, char *password)
{
	SfgConsoleSession *before = sfg_console_session_of(request);

	strlcpy(request->who, role, sizeof(request->who));
	if (before != NULL)
		sfg_console_session_end(before, "the client signs in anew");
	if (!sfg_console_has_room(role))
	{
		sfg_answer_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "there are too many sessions");
		return;
	}
	if (!may_try_sign_in(role, request->client->network))
	{
		sfg_answer_error(request, MHD_HTTP_TOO_MANY_REQUESTS, "too many tries, wait a minute");
		sfg_answer_header(request, "Retry-After", "60");
		return;
	}
	sfg_console_sign_in(request, role, pg_strdup(password), signed_in);
}

/* POST /console/login */
void
sfg_console_login(SfgRequest *request)
{
	SfcJson		body;
	char	   *role;
	char	   *password;

	if (!sfg_console_is_own(request) || !sfg_console_body(request, &body))
		return;
	role = read_text(body, "role");
	password = read_text(body, "password");
	/* libpq would look for an empty password elsewhere. */
	if (role == NULL || password == NULL || *role == '\0' || *password == '\0')
		sfg_answer_error(request, MHD_HTTP_BAD_REQUEST, "role and password are needed");
	/* The server would cut it off, so that many names, with tries of their own, were one role. */
	else if (strlen(role) >= NAMEDATALEN)
		sfg_answer_error(request, MHD_HTTP_BAD_REQUEST, "the name of the role is too long");
	else
		try_sign_in(request, role, password);
	explicit_bzero(request->body.data, request->body.len);
	if (password != NULL)
		explicit_bzero(password, strlen(password));
	free(password);
	free(role);
}

/* POST /console/logout */
void
sfg_console_logout(SfgRequest *request)
{
	SfgConsoleSession *session = sfg_console_guard(request);

	if (session == NULL)
		return;
	sfg_console_session_end(session, "it is signed out");
	sfg_answer(request, MHD_HTTP_NO_CONTENT, NULL, "", 0);
	set_cookie(request, "");
	sfg_answer_send(request);
}

/* GET /console/session */
void
sfg_console_who(SfgRequest *request)
{
	const SfgConsoleSession *session = sfg_console_session_of(request);

	if (session == NULL)
	{
		sfg_answer_error(request, MHD_HTTP_UNAUTHORIZED, "sign in first");
		return;
	}
	answer_session(request, session, NULL);
	sfg_answer_send(request);
}

/*
 * How often one may try to sign in.
 *
 * Tries are counted before the database is asked: at most MOST_TRIES within
 * WINDOW for a role from an address, so that one client cannot keep a role from
 * signing in elsewhere, and at most MOST_ALONE for a role from all addresses, and
 * from an address for all roles.  One that succeeds does not count, nor one of
 * which the database did not say whether the password is good.  The table has a
 * fixed size; the oldest entry makes room.
 */

#define MOST_TRIES	10
#define MOST_ALONE	100
#define WINDOW		60000
#define ENTRIES		2048

/* The tries of a role, from an address, or of both together */
typedef struct Entry
{
	unsigned char key[SFG_DIGEST_SIZE]; /* a digest: names have any length */
	int64_t		since;			/* 0: the entry is free */
	int			tries;
} Entry;

static Entry entries[ENTRIES];

/* Find the entry of a name, or make one. */
static Entry *
find(char kind, const char *name)
{
	char	   *text = psprintf("%c%s", kind, name);
	unsigned char key[SFG_DIGEST_SIZE];
	Entry	   *oldest = &entries[0];
	int64_t		now = sfc_now();

	sfg_sha256(text, strlen(text), key);
	free(text);
	for (Entry *entry = entries; entry < entries + ENTRIES; entry++)
	{
		if (entry->since != 0 && now - entry->since >= WINDOW)
			entry->since = 0;
		if (entry->since != 0 && memcmp(entry->key, key, sizeof(key)) == 0)
			return entry;
		if (entry->since < oldest->since)
			oldest = entry;
	}
	memcpy(oldest->key, key, sizeof(key));
	oldest->since = now;
	oldest->tries = 0;
	return oldest;
}

/* Count a try more or less, if no number has reached its limit; false: one has. */
static bool
count(const char *role, const char *address, int n)
{
	char	   *both = psprintf("%s %s", address, role);
	const struct
	{
		char		kind;
		const char *name;
		int			most;
	}			limits[] = {{'b', both, MOST_TRIES}, {'a', address, MOST_ALONE}, {'r', role, MOST_ALONE}};
	bool		allowed = true;

	for (size_t i = 0; i < lengthof(limits) && n > 0 && allowed; i++)
		allowed = find(limits[i].kind, limits[i].name)->tries < limits[i].most;
	for (size_t i = 0; i < lengthof(limits) && allowed; i++)
	{
		Entry	   *entry = find(limits[i].kind, limits[i].name);

		entry->tries = Max(entry->tries + n, 0);
	}
	free(both);
	return allowed;
}

/* Count a try; false: there were too many. */
static bool
may_try_sign_in(const char *role, const char *address)
{
	return count(role, address, 1);
}

/* A try was good, or the database has not judged it: do not count it. */
static void
forget_try(const char *role, const char *address)
{
	count(role, address, -1);
}
