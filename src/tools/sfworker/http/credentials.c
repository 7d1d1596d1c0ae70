/*
 * credentials.c
 *		What a connection adds to requests: headers, a user name and a password, or a token of OAuth 2.0.
 *
 * Tokens come by the grant "client_credentials" (RFC 6749, section 4.4).  One is kept
 * in memory until shortly before it expires, and all requests of the connection use it.
 * It is nowhere written down.
 */
#include "postgres_fe.h"

#include "common/base64.h"

#include "tools/client/json_text.h"
#include "tools/client/loop.h"
#include "tools/sfworker/http/fetch.h"

/* Milliseconds before its end, from which on a token is not used any more */
#define TOKEN_MARGIN 10000

/* The token of a connection */
typedef struct Token
{
	const SfwSection *connection;
	char	   *header;			/* "Authorization: Bearer ..."; NULL: there is none */
	int64_t		until;			/* 0: the server did not say */
	struct Token *next;
} Token;

static Token *tokens;

/* Find the entry for the token of a connection. */
static Token *
token_of(const SfwSection *connection)
{
	Token	   *token = tokens;

	while (token != NULL && token->connection != connection)
		token = token->next;
	if (token == NULL)
	{
		token = pg_malloc0(sizeof(Token));
		token->connection = connection;
		token->next = tokens;
		tokens = token;
	}
	return token;
}

/* Make the header of a user name and a password. */
static char *
basic_header(const char *user, const char *password)
{
	char	   *plain = psprintf("%s:%s", user, password);
	int			length = (int) strlen(plain);
	int			size = pg_b64_enc_len(length) + 1;
	char	   *encoded = pg_malloc0((size_t) size);
	char	   *header;
	int			written;

#if PG_VERSION_NUM >= 180000
	written = pg_b64_encode((const uint8 *) plain, length, encoded, size);
#else
	written = pg_b64_encode(plain, length, encoded, size);
#endif
	header = psprintf("Authorization: Basic %.*s", written, encoded);
	free(plain);
	free(encoded);
	return header;
}

/* Add a header that only the first host gets. */
static void
add_secret(SfwFetch *fetch, const char *header)
{
	fetch->secret_headers = curl_slist_append(fetch->secret_headers, header);
}

/* Add what a connection adds to a request; false: it needs a token first. */
bool
sfw_credentials_add(const SfwSection *connection, SfwFetch *fetch)
{
	Token	   *token = connection->oauth_url == NULL ? NULL : token_of(connection);

	if (token != NULL && (token->header == NULL || (token->until != 0 && sfc_now() > token->until - TOKEN_MARGIN)))
		return false;
	for (SimpleStringListCell *header = connection->headers.head; header != NULL; header = header->next)
		add_secret(fetch, header->val);
	if (token != NULL)
		add_secret(fetch, token->header);
	else if (connection->username != NULL)
	{
		char	   *header = basic_header(connection->username, connection->password);

		add_secret(fetch, header);
		free(header);
	}
	return true;
}

/* Append a parameter to a form. */
static void
put_field(PQExpBuffer form, const char *name, const char *value)
{
	char	   *encoded = curl_easy_escape(NULL, value, 0);

	appendPQExpBuffer(form, "%s%s=%s", form->len > 0 ? "&" : "", name, encoded);
	curl_free(encoded);
}

/* Make the request for a token, which is still to be begun. */
SfwFetch *
sfw_credentials_ask(const SfwSection *connection)
{
	SfwFetch   *fetch = sfw_fetch_new();
	PQExpBufferData form;
	char	   *header = NULL;

	fetch->method = pg_strdup("POST");
	fetch->endpoint = pg_strdup(connection->oauth_url);
	fetch->time_limit = sfw_config.http_timeout;
	initPQExpBuffer(&form);
	put_field(&form, "grant_type", "client_credentials");
	for (SimpleStringListCell *parameter = connection->parameters.head; parameter != NULL; parameter = parameter->next)
	{
		char	   *name = pnstrdup(parameter->val, strcspn(parameter->val, "="));

		put_field(&form, name, parameter->val + strlen(name) + 1);
		free(name);
	}
	if (connection->oauth_in_body)
	{
		put_field(&form, "client_id", connection->oauth_client);
		put_field(&form, "client_secret", connection->oauth_secret);
	}
	else
	{
		/* The standard has both encoded as in a form first. */
		char	   *client = curl_easy_escape(NULL, connection->oauth_client, 0);
		char	   *secret = curl_easy_escape(NULL, connection->oauth_secret, 0);

		header = basic_header(client, secret);
		add_secret(fetch, header);
		curl_free(client);
		curl_free(secret);
	}
	fetch->headers = curl_slist_append(fetch->headers, "Content-Type: application/x-www-form-urlencoded");
	fetch->headers = curl_slist_append(fetch->headers, "Accept: application/json");
	fetch->body = sfc_buffer_data(&form);
	free(header);
	return fetch;
}

/* Tell whether a text can stand in a header as a token. */
static bool
is_token(const char *text)
{
	for (const char *p = text; *p != '\0'; p++)
	{
		if ((unsigned char) *p <= 0x20 || (unsigned char) *p >= 0x7f)
			return false;
	}
	return *text != '\0';
}

/* Keep the token in the answer to such a request; gives why there is none, or NULL. */
char *
sfw_credentials_store(const SfwSection *connection, const SfwFetch *answer)
{
	Token	   *token = token_of(connection);
	SfcJson		body;
	SfcJson		value;
	char	   *text;

	if (answer->refused != NULL || answer->problem != NULL)
		return pg_strdup(answer->refused != NULL ? answer->refused : answer->problem);
	if (answer->status < 200 || answer->status > 299)
		return psprintf("its token server answered with status %ld", answer->status);
	if (answer->too_large || !sfc_json_parse(answer->response.data, answer->response.len, &body) ||
		!sfc_json_get(body, "access_token", &value) || sfc_json_type(value) != '"')
		return pg_strdup("its token server answered without an access_token");
	text = sfc_json_text(value);
	if (!is_token(text))
	{
		free(text);
		return pg_strdup("its token server answered with an access_token that cannot be sent");
	}
	free(token->header);
	token->header = psprintf("Authorization: Bearer %s", text);
	free(text);
	token->until = 0;
	if (sfc_json_get(body, "expires_in", &value))
	{
		text = sfc_json_text(value);
		/* One that lives shorter than the margin still serves the request that asked for it. */
		if (atol(text) > 0)
			token->until = sfc_now() + Max(atol(text) * (int64_t) 1000, TOKEN_MARGIN + 1000);
		free(text);
	}
	return NULL;
}

/* Forget the token of a connection, which a server did not accept. */
void
sfw_credentials_forget(const SfwSection *connection)
{
	Token	   *token = token_of(connection);

	free(token->header);
	token->header = NULL;
}
