/*
 * archive_s3.c
 *		An archive in a bucket of S3, or of a store that has its API.
 *
 * An object is put in one request, signed by Signature Version 4 with the SHA-256 of its bytes, so that the store
 * refuses what has changed on the way.  A batch is far smaller than the 5 GB that one request may have.
 */
#include "postgres_fe.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <unistd.h>

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/sfworker/archive/archive.h"
#include "tools/sfworker/config.h"

/* Attempts to put an object, and milliseconds before the second one; each pause is twice as long as the one before */
#define ATTEMPTS	5
#define FIRST_PAUSE	500

/* Seconds without a byte after which a request has failed */
#define STALLED		60

static struct
{
	char	   *base;			/* URL that a key follows, with its slash */
	char	   *sigv4;
	char	   *credentials;
	char	   *token_header;	/* or NULL */
	CURL	   *curl;
}			s3;

/* The value of the first variable of the environment that is there and not empty, else a text. */
static const char *
setting(const char *first, const char *second, const char *otherwise)
{
	const char *value = getenv(first);

	if (value == NULL || *value == '\0')
		value = getenv(second);
	return value == NULL || *value == '\0' ? otherwise : value;
}

/* Tell whether a text has only characters that a signed URL has as they are. */
static bool
is_plain(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";

	return text[strspn(text, plain)] == '\0' && strstr(text, "//") == NULL && strstr(text, "./") == NULL;
}

/* Set the URL that keys follow, of a bucket and a prefix that is empty or ends with a slash. */
static void
set_base(const char *bucket, const char *prefix, const char *region)
{
	const char *endpoint = setting("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", NULL);
	size_t		len = endpoint == NULL ? 0 : strlen(endpoint);

	free(s3.base);
	if (endpoint == NULL && strchr(bucket, '.') == NULL)
		s3.base = psprintf("https://%s.s3.%s.amazonaws.com/%s", bucket, region, prefix);
	else if (endpoint == NULL)
		s3.base = psprintf("https://s3.%s.amazonaws.com/%s/%s", region, bucket, prefix);
	else
		s3.base = psprintf("%.*s/%s/%s", (int) (endpoint[len - 1] == '/' ? len - 1 : len), endpoint, bucket, prefix);
}

/* Take "s3://bucket/prefix" and the variables of AWS's programs. */
static bool
begin(const char *target, char **problem)
{
	const char *path = target + strlen("s3://");
	size_t		bucket_len = strcspn(path, "/");
	char	   *bucket = pnstrdup(path, bucket_len);
	const char *rest = path[bucket_len] == '\0' ? "" : path + bucket_len + 1;
	char	   *prefix = psprintf("%s%s", rest, *rest == '\0' || rest[strlen(rest) - 1] == '/' ? "" : "/");
	const char *region = setting("AWS_REGION", "AWS_DEFAULT_REGION", "us-east-1");
	const char *key = setting("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID", NULL);
	const char *secret = setting("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", NULL);
	const char *token = setting("AWS_SESSION_TOKEN", "AWS_SESSION_TOKEN", NULL);

	if (bucket_len == 0 || !is_plain(bucket) || !is_plain(prefix))
		*problem = psprintf("\"%s\" is no target such as s3://bucket/prefix of letters, digits and -._~", target);
	else if (key == NULL || secret == NULL)
		*problem = psprintf("%s is not set", key == NULL ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY");
	else
	{
		set_base(bucket, prefix, region);
		free(s3.sigv4);
		free(s3.credentials);
		free(s3.token_header);
		s3.sigv4 = psprintf("aws:amz:%s:s3", region);
		s3.credentials = psprintf("%s:%s", key, secret);
		s3.token_header = token == NULL ? NULL : psprintf("x-amz-security-token: %s", token);
	}
	if (s3.curl == NULL)
	{
		curl_global_init(CURL_GLOBAL_DEFAULT);
		s3.curl = curl_easy_init();
		if (s3.curl == NULL)
			sfc_out_of_memory();
	}
	free(bucket);
	free(prefix);
	return *problem == NULL;
}

/* Make a file that is gone when it is closed. */
static int
make_file(const char *name, char **path, char **problem)
{
	const char *folder = setting("TMPDIR", "TMPDIR", "/tmp");
	char	   *file = psprintf("%s/sfworker-XXXXXX", folder);
	int			fd = mkostemp(file, O_CLOEXEC);

	*path = NULL;
	if (fd < 0)
		*problem = psprintf("cannot write into folder \"%s\": %s", folder, strerror(errno));
	else
		unlink(file);
	free(file);
	return fd;
}

/* Give curl what it is to send. */
static size_t
send_piece(char *buffer, size_t size, size_t n, void *arg)
{
	SfwPacked  *file = arg;
	ssize_t		got;

	do
		got = read(file->fd, buffer, size * n);
	while (got < 0 && errno == EINTR);
	return got < 0 ? CURL_READFUNC_ABORT : (size_t) got;
}

/* Go to an offset of the file, when curl sends it again. */
static int
seek(void *arg, curl_off_t offset, int origin)
{
	SfwPacked  *file = arg;

	return lseek(file->fd, offset, origin) < 0 ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

/* Keep the beginning of an answer. */
static size_t
collect_answer(char *data, size_t size, size_t n, void *arg)
{
	PQExpBuffer answer = arg;

	if (answer->len < 2048)
		appendBinaryPQExpBuffer(answer, data, Min(size * n, 2048));
	return size * n;
}

/* What an answer that is an error says in <Code> and <Message>. */
static char *
explain(long status, const char *answer)
{
	const char *code = strstr(answer, "<Code>");
	const char *message = strstr(answer, "<Message>");

	return psprintf("the store answers %ld%s%.*s%s%.*s", status,
					code == NULL ? "" : " ", code == NULL ? 0 : (int) strcspn(code + 6, "<"),
					code == NULL ? "" : code + 6,
					message == NULL ? "" : ": ", message == NULL ? 0 : (int) strcspn(message + 9, "<"),
					message == NULL ? "" : message + 9);
}

/* Set up the request that puts a file. */
static struct curl_slist *
set_request(const char *url, const char *type, SfwPacked *file)
{
	char	   *sum = psprintf("x-amz-content-sha256: %s", file->sha256);
	char	   *content_type = psprintf("Content-Type: %s", type);
	struct curl_slist *headers = curl_slist_append(NULL, sum);

	headers = curl_slist_append(headers, content_type);
	if (s3.token_header != NULL)
		headers = curl_slist_append(headers, s3.token_header);
	free(sum);
	free(content_type);
	curl_easy_reset(s3.curl);
	curl_easy_setopt(s3.curl, CURLOPT_URL, url);
	curl_easy_setopt(s3.curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(s3.curl, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(s3.curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(s3.curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t) file->bytes);
	curl_easy_setopt(s3.curl, CURLOPT_READFUNCTION, send_piece);
	curl_easy_setopt(s3.curl, CURLOPT_READDATA, file);
	curl_easy_setopt(s3.curl, CURLOPT_SEEKFUNCTION, seek);
	curl_easy_setopt(s3.curl, CURLOPT_SEEKDATA, file);
	curl_easy_setopt(s3.curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(s3.curl, CURLOPT_AWS_SIGV4, s3.sigv4);
	curl_easy_setopt(s3.curl, CURLOPT_USERPWD, s3.credentials);
	curl_easy_setopt(s3.curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(s3.curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(s3.curl, CURLOPT_CONNECTTIMEOUT_MS, (long) sfw_config.connect_timeout);
	curl_easy_setopt(s3.curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(s3.curl, CURLOPT_LOW_SPEED_TIME, (long) STALLED);
	if (sfw_config.ca_file != NULL)
		curl_easy_setopt(s3.curl, CURLOPT_CAINFO, sfw_config.ca_file);
	return headers;
}

/* Send a file once; false: *problem, and *again if another attempt may succeed. */
static bool
put_once(const char *url, const char *type, SfwPacked *file, char **problem, bool *again)
{
	struct curl_slist *headers = set_request(url, type, file);
	char		error[CURL_ERROR_SIZE] = "";
	PQExpBufferData answer;
	CURLcode	code;
	long		status = 0;

	initPQExpBuffer(&answer);
	curl_easy_setopt(s3.curl, CURLOPT_WRITEFUNCTION, collect_answer);
	curl_easy_setopt(s3.curl, CURLOPT_WRITEDATA, &answer);
	curl_easy_setopt(s3.curl, CURLOPT_ERRORBUFFER, error);
	code = lseek(file->fd, 0, SEEK_SET) < 0 ? CURLE_READ_ERROR : curl_easy_perform(s3.curl);
	curl_easy_getinfo(s3.curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	if (code != CURLE_OK)
		*problem = psprintf("cannot reach the store: %s", *error == '\0' ? curl_easy_strerror(code) : error);
	else if (status != 200)
		*problem = explain(status, sfc_buffer_data(&answer));
	*again = code != CURLE_OK || status >= 500 || status == 429 || status == 408;
	termPQExpBuffer(&answer);
	return *problem == NULL;
}

/* Put a file into the bucket, and try again while the store is busy. */
static bool
put(const char *key, const char *type, SfwPacked *file, char **problem)
{
	char	   *url = psprintf("%s%s", s3.base, key);
	int64_t		pause = FIRST_PAUSE;
	bool		again = true;
	bool		ok = false;

	for (int i = 1; !ok && again && i <= ATTEMPTS; i++)
	{
		free(*problem);
		*problem = NULL;
		ok = put_once(url, type, file, problem, &again);
		if (ok || !again || i == ATTEMPTS)
			continue;
		sfc_log(SFC_LOG_WARNING, "putting an object failed, once more", "url", url, "reason", *problem, NULL);
		again = sfw_archive_wait(pause / 2 + random() % (pause / 2 + 1));
		pause *= 2;
	}
	free(url);
	return ok;
}

const SfwStore sfw_store_s3 = {begin, make_file, put};
