/*
 * sigv4.c
 *		Signatures of requests, AWS Signature Version 4.
 *
 *		Authorization: AWS4-HMAC-SHA256 Credential=ID/DATE/REGION/states/aws4_request,
 *			SignedHeaders=host;x-amz-date;..., Signature=HEX
 *
 * A client signs a text made of the method, the path, headers that it names and
 * the digest of the body, with a key derived from its secret, the date, the region
 * and the service.  The gateway makes the same text from what it has received.
 * Host, X-Amz-Date and X-Amz-Target must be signed, and the time must be within
 * five minutes of the gateway's.  A request can be sent again within that time, as
 * with the service: clients send the same text twice within one second.
 */
#include "postgres_fe.h"

#include <time.h>

#include "tools/client/json_text.h"
#include "tools/sfgateway/aws_api/aws_api.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/hashing.h"

#define ALGORITHM	"AWS4-HMAC-SHA256"
#define SERVICE		"states"
#define MOST_SECONDS 300

static const SfgRefusal missing = {MHD_HTTP_FORBIDDEN, "MissingAuthenticationTokenException", "Missing Authentication Token"};
static const SfgRefusal incomplete = {MHD_HTTP_FORBIDDEN, "IncompleteSignatureException", "The Authorization header is not valid."};
static const SfgRefusal unsigned_header = {MHD_HTTP_FORBIDDEN, "IncompleteSignatureException",
"Host, X-Amz-Date and X-Amz-Target must be among the signed headers, which must be sorted and part of the request."};
static const SfgRefusal bad_scope = {MHD_HTTP_FORBIDDEN, "InvalidSignatureException",
"The credential must be scoped to the date of the request, a valid region and the service states."};
static const SfgRefusal bad_time = {MHD_HTTP_FORBIDDEN, "InvalidSignatureException",
"Signature expired or not yet valid: the time of the request is more than 5 minutes off."};
static const SfgRefusal bad_signature = {MHD_HTTP_FORBIDDEN, "InvalidSignatureException",
"The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method."};

/* Copy what stands after a key in the Authorization header; false: it is not there, or too long. */
static bool
read_part(const char *header, const char *key, char *value, size_t size)
{
	const char *start = strstr(header, key);
	size_t		len;

	if (start == NULL)
		return false;
	start += strlen(key);
	len = strcspn(start, ", ");
	if (len == 0 || len >= size)
		return false;
	memcpy(value, start, len);
	value[len] = '\0';
	return true;
}

/* Tell whether a name is among the signed headers. */
static bool
is_signed(const SfgSignature *signature, const char *name)
{
	size_t		len = strlen(name);

	for (const char *at = signature->headers; at != NULL; at = strchr(at, ';'))
	{
		at += *at == ';';
		if (strncmp(at, name, len) == 0 && (at[len] == ';' || at[len] == '\0'))
			return true;
	}
	return false;
}

/* Tell whether the time of a request is near the gateway's. */
static bool
is_now(const char *text)
{
	struct tm	when = {.tm_isdst = 0};
	const char *end = strptime(text, "%Y%m%dT%H%M%SZ", &when);
	time_t		now = time(NULL);
	time_t		then;

	if (end == NULL || *end != '\0')
		return false;
	then = timegm(&when);
	return then >= now - MOST_SECONDS && then <= now + MOST_SECONDS;
}

/* Read and check the Authorization header; gives what is wrong, or NULL. */
const SfgRefusal *
sfg_sigv4_read(const SfgRequest *request, SfgSignature *signature)
{
	const char *header = sfg_request_header(request, "Authorization");
	const char *date = sfg_request_header(request, "X-Amz-Date");
	char		credential[300];
	int			end = 0;

	if (header == NULL)
		return &missing;
	if (strncmp(header, ALGORITHM " ", strlen(ALGORITHM) + 1) != 0 ||
		!read_part(header, "Credential=", credential, sizeof(credential)) ||
		!read_part(header, "SignedHeaders=", signature->headers, sizeof(signature->headers)) ||
		!read_part(header, "Signature=", signature->signature, sizeof(signature->signature)) ||
		sscanf(credential, "%128[A-Za-z0-9_]/%8[0-9]/%64[a-z0-9-]/%n",
			   signature->key_id, signature->date, signature->region, &end) != 3)
		return &incomplete;
	if (date == NULL || strlen(date) != sizeof(signature->time) - 1 || !is_signed(signature, "host") ||
		!is_signed(signature, "x-amz-date") || !is_signed(signature, "x-amz-target"))
		return &unsigned_header;
	strlcpy(signature->time, date, sizeof(signature->time));
	if (end == 0 || strcmp(credential + end, SERVICE "/aws4_request") != 0 ||
		strncmp(signature->date, signature->time, strlen(signature->date)) != 0 || strlen(signature->date) != 8 ||
		(sfg_config.region != NULL && strcmp(sfg_config.region, signature->region) != 0))
		return &bad_scope;
	return is_now(signature->time) ? NULL : &bad_time;
}

/* Append a value without blanks around it, and with single ones inside. */
static void
put_trimmed(PQExpBuffer text, const char *value)
{
	const char *blanks = " \t";

	value += strspn(value, blanks);
	while (*value != '\0')
	{
		size_t		len = strcspn(value, blanks);

		appendBinaryPQExpBuffer(text, value, len);
		value += len;
		value += strspn(value, blanks);
		if (*value != '\0')
			appendPQExpBufferChar(text, ' ');
	}
}

/* Append the signed headers; false: one is missing, or they are not sorted. */
static bool
put_headers(PQExpBuffer text, const SfgRequest *request, const SfgSignature *signature)
{
	char	   *names = pg_strdup(signature->headers);
	char	   *rest = names;
	const char *before = "";
	const char *name;
	bool		good = true;

	while (good && (name = strsep(&rest, ";")) != NULL)
	{
		const char *value = sfg_request_header(request, name);

		good = value != NULL && strcmp(before, name) < 0;
		if (good)
		{
			appendPQExpBuffer(text, "%s:", name);
			put_trimmed(text, value);
			appendPQExpBufferChar(text, '\n');
		}
		before = name;
	}
	free(names);
	return good;
}

/* Compute the digest of the canonical request; false: a header is missing. */
static bool
digest_request(const SfgRequest *request, const SfgSignature *signature, char digest[SFG_DIGEST_HEX])
{
	PQExpBufferData text;
	char		body[SFG_DIGEST_HEX];
	bool		good;

	initPQExpBuffer(&text);
	appendPQExpBuffer(&text, "%s\n%s\n\n", request->method, request->path);
	good = put_headers(&text, request, signature);
	sfg_sha256_hex(request->body.data, request->body.len, body);
	appendPQExpBuffer(&text, "\n%s\n%s", signature->headers, body);
	sfg_sha256_hex(sfc_buffer_data(&text), text.len, digest);
	termPQExpBuffer(&text);
	return good;
}

/* Compute HMAC of a text. */
static void
hmac(const unsigned char key[SFG_DIGEST_SIZE], const char *text, unsigned char digest[SFG_DIGEST_SIZE])
{
	sfg_hmac_sha256(key, SFG_DIGEST_SIZE, text, strlen(text), digest);
}

/* Derive the key for a day, a region and the service from a secret, unless that was done last. */
static void
derive_key(const SfgSignature *signature, SfgSecret *secret)
{
	char	   *first;
	unsigned char one[SFG_DIGEST_SIZE];
	unsigned char two[SFG_DIGEST_SIZE];

	if (strcmp(secret->date, signature->date) == 0 && strcmp(secret->region, signature->region) == 0)
		return;
	first = psprintf("AWS4%s", secret->text);
	sfg_hmac_sha256(first, strlen(first), signature->date, strlen(signature->date), one);
	hmac(one, signature->region, two);
	hmac(two, SERVICE, one);
	hmac(one, "aws4_request", secret->key);
	strlcpy(secret->date, signature->date, sizeof(secret->date));
	strlcpy(secret->region, signature->region, sizeof(secret->region));
	explicit_bzero(first, strlen(first));
	explicit_bzero(one, sizeof(one));
	explicit_bzero(two, sizeof(two));
	free(first);
}

/* Verify a signature with the secret of its key; gives what is wrong, or NULL. */
const SfgRefusal *
sfg_sigv4_verify(const SfgRequest *request, const SfgSignature *signature, SfgSecret *secret)
{
	char		digest[SFG_DIGEST_HEX];
	unsigned char mac[SFG_DIGEST_SIZE];
	char		expected[SFG_DIGEST_HEX];
	char	   *text;

	if (!digest_request(request, signature, digest))
		return &unsigned_header;
	derive_key(signature, secret);
	text = psprintf(ALGORITHM "\n%s\n%s/%s/" SERVICE "/aws4_request\n%s",
					signature->time, signature->date, signature->region, digest);
	hmac(secret->key, text, mac);
	sfg_hex(mac, sizeof(mac), expected);
	free(text);
	return sfg_is_same(expected, signature->signature) ? NULL : &bad_signature;
}
