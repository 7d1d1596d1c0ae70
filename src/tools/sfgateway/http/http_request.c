/*
 * http_request.c
 *		A request, from its header to the end of its answer.
 *
 * The library calls the handler of a connection for the header, for each piece
 * of the body and at the body's end.  A route's handler is called at the end.
 * It answers at once, or later; until then the connection is suspended:
 *
 *		READING -> HANDLED -> ANSWERED -> sent
 *			|		  |			  ^ ^
 *			|		  +-> WAITING + |	suspended
 *			+-----------------------+	refused
 *
 * A suspended connection neither times out nor notices that its client left.
 * Most are answered at once; the descriptor of one that waits for longer is
 * watched (sfg_request_watch_client).  A client that closes its half of the
 * connection counts as one that left.
 *
 * An answer is made in three steps: sfg_answer, headers, sfg_answer_send.
 */
#include "postgres_fe.h"

#include <sys/epoll.h>

#include "tools/client/json_text.h"
#include "tools/client/log.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/hashing.h"
#include "tools/sfgateway/http/http_request.h"

/* Scripts, styles and requests of the gateway's own pages only; nothing is put into the page as markup. */
#define SECURITY_POLICY \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';" \
	" base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

/* The status in the log of a request whose client left before the answer, as other servers have it */
#define CLIENT_LEFT 499

/* Bytes of a path in the log, and what stands at its end when it has more */
#define LOGGED_PATH 256
#define CUT			"..."

/* Headers of every answer that a browser may show */
static const struct
{
	const char *name;
	const char *value;
}			page_headers[] = {
	{"Content-Security-Policy", SECURITY_POLICY},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
};

static int	waiting_clients = -1;	/* an epoll of connections: the loop polls one descriptor for them all */
static bool closing;			/* all connections end with their answer */
static bool resumed;			/* connections that the library has not looked at since */

/* Begin a request whose header was read. */
SfgRequest *
sfg_request_begin(SfgClient *client, const char *method, const char *path)
{
	SfgRequest *request = pg_malloc0(sizeof(SfgRequest));

	request->connection = client->connection;
	request->client = client;
	client->request = request;
	sfg_random_uuid(request->id);
	strlcpy(request->method, method, sizeof(request->method));
	request->path = pg_strdup(path);
	client->since = request->begun_at = sfc_now();
	initPQExpBuffer(&request->body);
	return request;
}

/*
 * Write what a client has sent as it may stand in the log: short, and what is no printable character of ASCII
 * as in an address.
 */
static void
put_plain(char *line, size_t size, const char *text)
{
	size_t		len = 0;

	for (const unsigned char *c = (const unsigned char *) text; *c != '\0'; c++)
	{
		bool		plain = *c > ' ' && *c < 0x7F && *c != '"' && *c != '\\';

		if (len + 3 + strlen(CUT) >= size)
		{
			strlcpy(line + len, CUT, size - len);
			return;
		}
		len += (size_t) snprintf(line + len, size - len, plain ? "%c" : "%%%02X", *c);
	}
	line[len] = '\0';
}

/* Log a request that has ended. */
static void
log_request(const SfgRequest *request)
{
	char		status[16];
	char		took[32];
	char		path[LOGGED_PATH];
	char		method[32];
	bool		failed = request->status >= 500 && !request->client_left;

	if (request->route != NULL && request->route->quiet && (request->status < 400 || request->client_left))
		return;
	put_plain(path, sizeof(path), request->path);
	put_plain(method, sizeof(method), request->method);
	snprintf(status, sizeof(status), "%u", request->client_left ? CLIENT_LEFT : request->status);
	snprintf(took, sizeof(took), "%lld", (long long) (sfc_now() - request->begun_at));
	sfc_log(failed ? SFC_LOG_WARNING : SFC_LOG_INFO, "request", "id", request->id, "method", method,
			"path", path, "status", status, "ms", took, "peer", request->client->address,
			"who", *request->who != '\0' ? request->who : NULL,
			"action", *request->what != '\0' ? request->what : NULL, NULL);
}

/* The library is done with a request, answered or not. */
void
sfg_request_end(SfgRequest *request)
{
	if (request->gone != NULL)
		request->gone(request);
	log_request(request);
	sfg_waiting_end(request->waiting);
	sfg_crowd_drop_answer(request->client, request->untaken);
	request->client->request = NULL;
	request->client->answered = true;
	request->client->since = sfc_now();
	explicit_bzero(request->body.data, request->body.maxlen);
	termPQExpBuffer(&request->body);
	if (request->response != NULL)
		MHD_destroy_response(request->response);
	free(request->path);
	free(request->data);
	free(request);
}

/* Give a header of the request, or NULL. */
const char *
sfg_request_header(const SfgRequest *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* The descriptor of the request's connection. */
static int
descriptor(const SfgRequest *request)
{
	return MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* Stop what a request waits for, and answer that it took too long. */
void
sfg_request_give_up(SfgRequest *request)
{
	void		(*gone) (SfgRequest *request) = request->gone;

	request->gone = NULL;
	if (gone != NULL)
		gone(request);
	sfg_answer_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the request took too long");
}

/* Clients of suspended requests have left. */
static void
clients_left(int fd, short revents, void *arg)
{
	struct epoll_event event;

	/* One at a time: to give one up may end another. */
	while (epoll_wait(fd, &event, 1, 0) == 1)
	{
		((SfgRequest *) event.data.ptr)->client_left = true;
		sfg_request_give_up(event.data.ptr);
	}
}

/* Be ready to watch clients of suspended requests. */
void
sfg_clients_watch(void)
{
	waiting_clients = epoll_create1(EPOLL_CLOEXEC);
	if (waiting_clients < 0)
		sfc_out_of_memory();
	sfc_loop_watch(waiting_clients, POLLIN, clients_left, NULL);
}

/* Notice when the client of a suspended request leaves. */
void
sfg_request_watch_client(SfgRequest *request)
{
	struct epoll_event event = {.events = EPOLLRDHUP, .data.ptr = request};

	if (!request->watched)
		request->watched = epoll_ctl(waiting_clients, EPOLL_CTL_ADD, descriptor(request), &event) == 0;
}

/* Suspend a request until it is answered. */
static void
suspend(SfgRequest *request)
{
	request->phase = SFG_REQUEST_WAITING;
	MHD_suspend_connection(request->connection);
}

/* The body is complete, or the request was resumed: handle it, or send its answer. */
enum MHD_Result
sfg_request_handle(SfgRequest *request)
{
	if (request->phase == SFG_REQUEST_READING)
	{
		request->phase = SFG_REQUEST_HANDLED;
		request->route->handle(request);
	}
	if (request->phase != SFG_REQUEST_ANSWERED)
	{
		suspend(request);
		return MHD_YES;
	}
	request->client->since = sfc_now();
	return MHD_queue_response(request->connection, request->status, request->response);
}

/* Begin an answer; its text is copied.  If too many large ones wait for their clients, it is another one. */
void
sfg_answer(SfgRequest *request, unsigned status, const char *type, const char *text, size_t len)
{
	static const char refused[] = "{\"error\":{\"message\":\"too many large answers wait for clients to take them\"}}";

	if (sfg_crowd_add_answer(request->client, len))
		request->untaken = len;
	else
	{
		status = MHD_HTTP_SERVICE_UNAVAILABLE;
		type = "application/json";
		text = refused;
		len = strlen(refused);
	}
	request->status = status;
	request->gone = NULL;
	request->response = MHD_create_response_from_buffer(len, unconstify(char *, text), MHD_RESPMEM_MUST_COPY);
	if (request->response == NULL)
		sfc_out_of_memory();
	if (type != NULL)
		sfg_answer_header(request, "Content-Type", type);
	sfg_answer_header(request, "X-Content-Type-Options", "nosniff");
	if (request->route == NULL || !request->route->for_programs)
	{
		for (size_t i = 0; i < lengthof(page_headers); i++)
			sfg_answer_header(request, page_headers[i].name, page_headers[i].value);
	}
	if (closing || request->client->closing)
		sfg_answer_header(request, "Connection", "close");
}

/* Add a header to an answer. */
void
sfg_answer_header(SfgRequest *request, const char *name, const char *value)
{
	MHD_add_response_header(request->response, name, value);
}

/* Let the answer go. */
void
sfg_answer_send(SfgRequest *request)
{
	SfgRequestPhase before = request->phase;

	if (MHD_get_response_header(request->response, "Cache-Control") == NULL)
		sfg_answer_header(request, "Cache-Control", "no-store");
	request->phase = SFG_REQUEST_ANSWERED;
	if (before != SFG_REQUEST_WAITING)
		return;
	/* The client's time to take the answer begins now, also if the check of requests comes before the library. */
	request->client->since = sfc_now();
	if (request->watched)
		epoll_ctl(waiting_clients, EPOLL_CTL_DEL, descriptor(request), NULL);
	request->watched = false;
	MHD_resume_connection(request->connection);
	resumed = true;
}

/* Tell whether connections were resumed since the last call. */
bool
sfg_requests_resumed(void)
{
	bool		result = resumed;

	resumed = false;
	return result;
}

/* Answer with JSON. */
void
sfg_answer_json(SfgRequest *request, unsigned status, const char *json)
{
	sfg_answer(request, status, "application/json", json, strlen(json));
	sfg_answer_send(request);
}

/* Answer with an error of a message, and of another member if its value is not NULL. */
static void
answer_message(SfgRequest *request, unsigned status, const char *message, const char *key, const char *value)
{
	PQExpBufferData json;

	initPQExpBuffer(&json);
	sfc_json_open(&json, '{');
	sfc_json_put_key(&json, "error");
	sfc_json_open(&json, '{');
	sfc_json_put_key(&json, "message");
	sfc_json_put_string(&json, message);
	if (value != NULL)
	{
		sfc_json_put_key(&json, key);
		sfc_json_put_string(&json, value);
	}
	appendPQExpBufferStr(&json, "}}");
	sfg_answer_json(request, status, sfc_buffer_data(&json));
	termPQExpBuffer(&json);
}

/* Answer with an error that has no more than a message. */
void
sfg_answer_error(SfgRequest *request, unsigned status, const char *message)
{
	answer_message(request, status, message, NULL, NULL);
}

/* Answer with an error of a message, and of a reason that programs read. */
void
sfg_answer_refusal(SfgRequest *request, unsigned status, const char *message, const char *reason)
{
	answer_message(request, status, message, "reason", reason);
}

/* Answer that the database cannot be asked, and since when it is down; NULL: that is not known. */
void
sfg_answer_unavailable(SfgRequest *request, const char *message, const char *down_since)
{
	answer_message(request, MHD_HTTP_SERVICE_UNAVAILABLE, message, "down_since", down_since);
}

/* Have connections end with their answers from now on. */
void
sfg_answers_close(void)
{
	closing = true;
}

/*
 * Refuse requests whose framing two programs may read in two ways.
 *
 * A proxy in front and the library must agree where a request ends; otherwise
 * the rest of one is taken for another request that no proxy has checked.  A
 * request is refused that has
 *
 * a Transfer-Encoding, because no client of the gateway needs one;
 * two of Content-Length, Host, Authorization or another that must be one;
 * a name that is no token, a value with a control character;
 * a line that ends otherwise than with CR LF, a NUL, a folded line.
 *
 * libmicrohttpd 0.9.75 accepts the last ones and does not tell.  But it puts
 * the parts of a header into its buffer one after the other, with a NUL each
 * for the colon, CR and LF, and tells where the parts are and how long the
 * whole header was.  So each byte can be accounted for: if there is one too few
 * or too many between two parts, a line did not end with CR LF, or the library
 * has left something out.
 */

/* A blank and a colon, CR LF, of which the library makes NULs */
#define CRLF 2

/* Headers of which there must not be two */
static const char *const single[] = {
	"Content-Length", "Host", "Authorization", "Content-Type", "Cookie", "Origin", "X-Amz-Date", "Date",
	"X-Amz-Target", "X-Amz-Content-Sha256", "X-CSRF-Token",
};

/* A walk over the headers */
typedef struct Walk
{
	const char *problem;		/* or NULL */
	const char *next;			/* where the next name must stand */
	int			count[lengthof(single)];
} Walk;

/* Tell whether a text is a token, as names of headers are. */
static bool
is_token(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
	{
		bool		alphanumeric = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z') ||
			(text[i] >= '0' && text[i] <= '9');

		if (!alphanumeric && (text[i] == '\0' || strchr("!#$%&'*+-.^_`|~", text[i]) == NULL))
			return false;
	}
	return len > 0 && text[len] == '\0';
}

/* Tell whether a value has no control character but the tab. */
static bool
is_plain(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++)
	{
		unsigned char c = (unsigned char) value[i];

		if ((c < 0x20 && c != '\t') || c == 0x7F)
			return false;
	}
	return true;
}

/* Tell whether all bytes between two positions are blanks. */
static bool
are_blanks(const char *from, const char *to)
{
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	return from == to;
}

/* Check that a header follows the one before, byte by byte. */
static bool
is_next(const Walk *walk, const char *name, size_t name_len, const char *value)
{
	const char *after_colon = name + name_len + 1;

	return name == walk->next && value >= after_colon && are_blanks(after_colon, value);
}

/* Check one header. */
static enum MHD_Result
check_header(void *arg, enum MHD_ValueKind kind, const char *name, size_t name_len, const char *value, size_t value_len)
{
	Walk	   *walk = arg;

	for (size_t i = 0; i < lengthof(single); i++)
	{
		if (pg_strcasecmp(name, single[i]) == 0 && walk->count[i]++ > 0)
			walk->problem = "a header stands twice";
	}
	if (pg_strcasecmp(name, "Transfer-Encoding") == 0)
		walk->problem = "Transfer-Encoding is not supported: send Content-Length";
	else if (!is_token(name, name_len))
		walk->problem = "the name of a header is not valid";
	else if (value == NULL || !is_plain(value, value_len))
		walk->problem = "the value of a header is not valid";
	else if (!is_next(walk, name, name_len, value))
		walk->problem = "a line of the header is not valid";
	else
		walk->next = value + value_len + CRLF;
	return walk->problem == NULL ? MHD_YES : MHD_NO;
}

/* Tell what is wrong with the framing of a request, or NULL. */
const char *
sfg_framing_problem(struct MHD_Connection *connection, const char *method, const char *version)
{
	Walk		walk = {.next = version + strlen("HTTP/1.1") + CRLF};
	const union MHD_ConnectionInfo *size;

	if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
		return "this version of HTTP is not supported";
	if (!is_token(method, strlen(method)))
		return "the method is not valid";
	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, check_header, &walk);
	size = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	if (walk.problem == NULL && (size == NULL || method + size->header_size != walk.next + CRLF))
		walk.problem = "the end of the header is not valid";
	return walk.problem;
}
