/*
 * otlp_post.c
 *		Sending spans to a collector over HTTP.
 *
 * A request is kept as it is sent, encoded and compressed, until the next one: it may have
 * to be sent again.  libcurl keeps the connection.  It follows no redirect, which
 * would take the headers of the settings elsewhere, and uses no proxy.
 *
 * The specification of OTLP has 429, 502, 503 and 504 sent again, and everything else
 * not.  A request is given up here only for what it holds (400, 413, 422): a
 * token that has expired, or a path that is not served yet, costs no spans, which wait in the
 * database until an operator has seen to it.
 */
#include "postgres_fe.h"

#include <unistd.h>
#include <zlib.h>

#include "tools/client/transfer.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/otlp/otlp_internal.h"

/* Bytes of an answer that are read */
#define ANSWER_MAX (64 * 1024)

/* The longest wait that a collector may ask for, in milliseconds */
#define RETRY_AFTER_MAX (3600 * 1000)

static PQExpBufferData body;	/* as it is sent; without data: none */
static PQExpBufferData said;	/* by the collector */
static CURL *easy;
static struct curl_slist *headers;
static char curl_problem[CURL_ERROR_SIZE];
static void (*on_done) (const SfgOtlpAnswer *answer);

/* ---------------------------------------------------------------- settings */

/* Tell whether a header of the settings is one: a name, a colon, a value. */
bool
sfg_otlp_check_header(const char *header)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t		name = strspn(header, token);

	if (name == 0 || header[name] != ':' || header[name + 1 + strspn(header + name + 1, " \t")] == '\0')
		return false;
	for (const char *c = header; *c != '\0'; c++)
	{
		if (iscntrl((unsigned char) *c) && *c != '\t')
			return false;
	}
	return true;
}

/* Tell whether a part of a URL is there. */
static bool
has_part(CURLU *url, CURLUPart part)
{
	char	   *text = NULL;
	bool		there = curl_url_get(url, part, &text, 0) == CURLUE_OK && *text != '\0';

	curl_free(text);
	return there;
}

/*
 * Bring the URL of the settings into the form that is asked for: without a path it gets that of
 * traces.  False: *problem says why it is none.
 */
static bool
normalize_url(char **problem)
{
	CURLU	   *url = curl_url();
	char	   *text = NULL;
	bool		good = false;

	if (strncmp(sfg_config.otlp, "http://", 7) != 0 && strncmp(sfg_config.otlp, "https://", 8) != 0)
		*problem = psprintf("otlp: \"%s\" does not begin with http:// or https://", sfg_config.otlp);
	else if (curl_url_set(url, CURLUPART_URL, sfg_config.otlp, 0) != CURLUE_OK)
		*problem = psprintf("otlp: \"%s\" is no URL", sfg_config.otlp);
	else if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
		*problem = pg_strdup("otlp: the URL has a user or a password; give otlp-header = Authorization: ...");
	else
		good = true;
	if (good && curl_url_get(url, CURLUPART_PATH, &text, 0) == CURLUE_OK && strcmp(text, "/") == 0)
		curl_url_set(url, CURLUPART_PATH, "/v1/traces", 0);
	curl_free(text);
	if (good && curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK)
	{
		free(sfg_config.otlp);
		sfg_config.otlp = pg_strdup(text);
		curl_free(text);
	}
	curl_url_cleanup(url);
	return good;
}

/* Check that a file of the settings can be read. */
static bool
is_readable(const char *key, const char *file, char **problem)
{
	if (file == NULL || access(file, R_OK) == 0)
		return true;
	*problem = psprintf("%s: cannot read \"%s\": %s", key, file, strerror(errno));
	return false;
}

/* Check the settings of the exporter, and fill in defaults; false: *problem says what is wrong. */
bool
sfg_otlp_check(char **problem)
{
	if (sfg_config.otlp_protocol == NULL)
		sfg_config.otlp_protocol = pg_strdup("protobuf");
	if (sfg_config.otlp_compression == NULL)
		sfg_config.otlp_compression = pg_strdup("gzip");
	if (sfg_config.otlp_service == NULL)
		sfg_config.otlp_service = pg_strdup("sfflow");
	if (strcmp(sfg_config.otlp_protocol, "protobuf") != 0 && strcmp(sfg_config.otlp_protocol, "json") != 0)
		*problem = psprintf("otlp-protocol is protobuf or json, not \"%s\"", sfg_config.otlp_protocol);
	else if (strcmp(sfg_config.otlp_compression, "gzip") != 0 && strcmp(sfg_config.otlp_compression, "none") != 0)
		*problem = psprintf("otlp-compression is gzip or none, not \"%s\"", sfg_config.otlp_compression);
	else if ((sfg_config.otlp_certificate == NULL) != (sfg_config.otlp_key == NULL))
		*problem = pg_strdup("otlp-certificate and otlp-key belong together");
	else
		return is_readable("otlp-ca-file", sfg_config.otlp_ca_file, problem) &&
			is_readable("otlp-certificate", sfg_config.otlp_certificate, problem) &&
			is_readable("otlp-key", sfg_config.otlp_key, problem) && normalize_url(problem);
	return false;
}

/* ---------------------------------------------------------------- body */

/* Compress a text with gzip. */
static void
compress_body(PQExpBuffer out, const char *text, size_t len)
{
	z_stream	stream = {0};
	size_t		most;

	/* Level 1: a third of the time of the default, for a tenth more bytes. 16 makes the header that of gzip. */
	if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		sfc_out_of_memory();
	most = deflateBound(&stream, len);
	if (!enlargePQExpBuffer(out, most))
		sfc_out_of_memory();
	stream.next_in = (Bytef *) unconstify(char *, text);
	stream.avail_in = (uInt) len;
	stream.next_out = (Bytef *) out->data;
	stream.avail_out = (uInt) most;
	if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
		sfc_out_of_memory();
	out->len = most - stream.avail_out;
	deflateEnd(&stream);
}

/* Tell whether spans are sent as JSON. */
static bool
as_json(void)
{
	return strcmp(sfg_config.otlp_protocol, "json") == 0;
}

/* Tell whether they are compressed. */
static bool
compressed(void)
{
	return strcmp(sfg_config.otlp_compression, "gzip") == 0;
}

/* Make the body of the next request, given as OTLP/JSON. */
void
sfg_otlp_post_load(const char *json, size_t len)
{
	PQExpBufferData encoded;

	termPQExpBuffer(&body);
	initPQExpBuffer(&body);
	initPQExpBuffer(&encoded);
	if (as_json())
		appendBinaryPQExpBuffer(&encoded, json, len);
	else
		sfg_otlp_encode(&encoded, (SfcJson) {json, len});
	sfc_buffer_data(&encoded);
	if (compressed())
		compress_body(&body, encoded.data, encoded.len);
	else
		appendBinaryPQExpBuffer(&body, encoded.data, encoded.len);
	sfc_buffer_data(&body);
	termPQExpBuffer(&encoded);
}

/* ---------------------------------------------------------------- answers */

/* Keep a part of the answer; what is longer is cut off. */
static size_t
on_body(char *data, size_t size, size_t n, void *arg)
{
	size_t		room = ANSWER_MAX - said.len;

	appendBinaryPQExpBuffer(&said, data, Min(size * n, room));
	return size * n;
}

/* Tell what a status means. */
static SfgOtlpAnswer
judge(long status)
{
	SfgOtlpAnswer answer = {.verdict = SFG_OTLP_LATER};

	if (status >= 200 && status <= 299)
		answer.verdict = SFG_OTLP_TAKEN;
	else if (status == 413)
		answer.verdict = SFG_OTLP_TOO_LARGE;
	else if (status == 400 || status == 422)
		answer.verdict = SFG_OTLP_REFUSED;
	else
		answer.needs_operator = status != 429 && status != 502 && status != 503 && status != 504;
	return answer;
}

/* End the transfer, and release its handle. */
static void
drop_handle(void)
{
	if (easy == NULL)
		return;
	sfc_transfer_end(easy);
	curl_easy_cleanup(easy);
	easy = NULL;
	curl_slist_free_all(headers);
	headers = NULL;
}

/* The request was answered. */
static SfgOtlpAnswer
read_answer(char **reason)
{
	long		status = 0;
	const char *type = NULL;
	curl_off_t	wait = 0;
	SfgOtlpAnswer answer;
	SfgOtlpSaid words;

	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
	curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
	answer = judge(status);
	answer.retry_after = wait > 0 ? (int64_t) Min(wait, RETRY_AFTER_MAX / 1000) * 1000 : 0;
	if (answer.verdict == SFG_OTLP_TAKEN)
	{
		words = sfg_otlp_read_success(said.data, said.len, type != NULL ? type : "");
		answer.rejected = words.rejected;
		*reason = words.message;
		return answer;
	}
	words = sfg_otlp_read_refusal(said.data, said.len, type != NULL ? type : "");
	*reason = psprintf("status %ld%s%s", status, words.message != NULL ? ": " : "",
					   words.message != NULL ? words.message : "");
	free(words.message);
	return answer;
}

/* The transfer has ended. */
static void
transfer_done(void *arg, CURLcode code)
{
	SfgOtlpAnswer answer = {.verdict = SFG_OTLP_LATER};
	char	   *reason = NULL;

	if (code == CURLE_OK)
		answer = read_answer(&reason);
	else
		reason = pg_strdup(*curl_problem != '\0' ? curl_problem : curl_easy_strerror(code));
	answer.reason = reason;
	drop_handle();
	on_done(&answer);
	free(reason);
}

/* ---------------------------------------------------------------- requests */

/* Send the body that was made last; done is called later than here. */
void
sfg_otlp_post_send(void (*done) (const SfgOtlpAnswer *answer))
{
	on_done = done;
	if (said.data == NULL)
		initPQExpBuffer(&said);
	resetPQExpBuffer(&said);
	*curl_problem = '\0';
	headers = curl_slist_append(headers, as_json() ? "Content-Type: " SFG_OTLP_JSON : "Content-Type: " SFG_OTLP_PROTOBUF);
	if (compressed())
		headers = curl_slist_append(headers, "Content-Encoding: gzip");
	/* Send a body at once, without asking the collector first. */
	headers = curl_slist_append(headers, "Expect:");
	for (const SimpleStringListCell *cell = sfg_config.otlp_headers.head; cell != NULL; cell = cell->next)
		headers = curl_slist_append(headers, cell->val);
	easy = curl_easy_init();
	curl_easy_setopt(easy, CURLOPT_URL, sfg_config.otlp);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	if (sfg_config.otlp_ca_file != NULL)
		curl_easy_setopt(easy, CURLOPT_CAINFO, sfg_config.otlp_ca_file);
	if (sfg_config.otlp_certificate != NULL)
	{
		curl_easy_setopt(easy, CURLOPT_SSLCERT, sfg_config.otlp_certificate);
		curl_easy_setopt(easy, CURLOPT_SSLKEY, sfg_config.otlp_key);
	}
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long) sfg_config.otlp_timeout);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long) sfg_config.otlp_timeout);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "sfgateway/" SFW_VERSION);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, curl_problem);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.data);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t) body.len);
	sfc_transfer_begin(easy, transfer_done, NULL);
}

/* Give up the request under way, and release everything. */
void
sfg_otlp_post_drop(void)
{
	drop_handle();
	termPQExpBuffer(&body);
	body = (PQExpBufferData) {0};
	termPQExpBuffer(&said);
	said = (PQExpBufferData) {0};
}
