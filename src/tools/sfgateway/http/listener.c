/*
 * listener.c
 *		Sockets, the HTTP library in the event loop, deadlines of clients.
 *
 * The library waits in an epoll of its own, whose descriptor the loop watches.
 * Its timeouts count idleness only, and a client that sends a byte now and then
 * is never idle.  So each connection also has a deadline: a client must have
 * sent a whole request, or taken its whole answer, in time.
 *
 * The library cannot exchange the certificate of a daemon.  So a new certificate gets
 * a daemon of its own at the same socket.  The one before takes no more connections,
 * ends those that it has with their next answer, and is stopped when the last one has ended.
 *
 * The listener for health has connections of its own: it also answers when all
 * others are in use.
 */
#include "postgres_fe.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/client/log.h"
#include "tools/sfgateway/database/database.h"
#include "tools/sfgateway/gateway_config.h"
#include "tools/sfgateway/http/http_request.h"
#include "tools/sfgateway/http/listener.h"

/* Bytes for the header of a request, and what the library keeps beside it */
#define MEMORY_LIMIT (32 * 1024)

/* Bytes of a body where only a few are expected */
#define SMALL_BODY	16384

/* Bytes of larger bodies in memory, of all requests; at least one has room */
#define MOST_BUFFERED ((size_t) 64 * 1024 * 1024)

/* Milliseconds after which a large body that is not there yet may be given up */
#define SLOW_BODY	5000

/* Bytes of a file with a certificate or a key that are too many */
#define TLS_FILE_MAX ((size_t) 256 * 1024)

#define HEALTH_CONNECTIONS 16
#define CHECK_INTERVAL 500
#define LOG_INTERVAL 10000

static char tls_priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

/* A socket that listens */
typedef struct Listener
{
	struct MHD_Daemon *daemon;
	bool		for_health;		/* serves what is always served alone */
	bool		retired;		/* takes no more connections */
	int			socket_fd;		/* a copy, for the daemon that follows */
	int			fd;				/* of the library's epoll */
	SfcTimer	timer;
	dlist_node	node;
} Listener;

static dlist_head listeners = DLIST_STATIC_INIT(listeners);
static Listener *main_listener; /* the one that takes connections at the setting listen */
static bool tls;
static size_t buffered;			/* bytes of large bodies */
static bool connection_ended;	/* since the library ran last */
static bool stopping;			/* no request is handled any more */
static dlist_head clients = DLIST_STATIC_INIT(clients);
static SfcTimer check_timer;

/* The descriptor of a client's connection. */
static int
descriptor(const SfgClient *client)
{
	return MHD_get_connection_info(client->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* ---------------------------------------------------------------- requests */

/* Answer a request whose header is refused. */
static enum MHD_Result
refuse(SfgRequest *request, unsigned status, const char *message, bool close)
{
	sfg_answer_error(request, status, message);
	if (close)
		sfg_answer_header(request, "Connection", "close");
	return sfg_request_handle(request);
}

/* The most bytes that the body of a request may have. */
static size_t
most_bytes(const SfgRequest *request)
{
	return request->route->large ? sfg_config.max_body : SMALL_BODY;
}

/*
 * End the connection that has been sending a large body for the longest time, if it is slow: it makes room for
 * others.
 */
static void
end_slow_body(void)
{
	SfgClient  *slowest = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &clients)
	{
		SfgClient  *client = dlist_container(SfgClient, node, iter.cur);

		if (client->request != NULL && client->request->reserved > 0 &&
			client->request->phase == SFG_REQUEST_READING &&
			(slowest == NULL || client->request->begun_at < slowest->request->begun_at))
			slowest = client;
	}
	if (slowest != NULL && sfc_now() - slowest->request->begun_at > SLOW_BODY)
		shutdown(descriptor(slowest), SHUT_RDWR);
}

/* Go on with a request whose body is large, unless its client is unknown or memory is full. */
static enum MHD_Result
begin_large(SfgRequest *request, size_t bytes)
{
	if (!request->route->check(request))
	{
		sfg_answer_header(request, "Connection", "close");
		return sfg_request_handle(request);
	}
	if (buffered + bytes > Max(MOST_BUFFERED, sfg_config.max_body))
	{
		end_slow_body();
		return refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, "too many large requests at the same time", true);
	}
	buffered += bytes;
	request->reserved = bytes;
	return MHD_YES;
}

/* Check the header of a request, and choose what to do. */
static enum MHD_Result
begin(const Listener *listener, SfgRequest *request, const char *method, const char *version)
{
	const char *problem = sfg_framing_problem(request->connection, method, version);
	const char *length;
	size_t		bytes;
	const char *allowed = NULL;

	if (problem != NULL)
		return refuse(request, MHD_HTTP_BAD_REQUEST, problem, true);
	request->route = sfg_route_find(request->method, request->path, listener->for_health, &allowed);
	if (request->route == NULL && allowed != NULL)
	{
		sfg_answer_error(request, MHD_HTTP_METHOD_NOT_ALLOWED, "this method is not allowed here");
		sfg_answer_header(request, "Allow", allowed);
		return sfg_request_handle(request);
	}
	if (request->route == NULL)
		return refuse(request, MHD_HTTP_NOT_FOUND, "there is nothing here", false);
	length = sfg_request_header(request, "Content-Length");
	bytes = length == NULL ? 0 : strlen(length) > 12 ? SIZE_MAX : strtoull(length, NULL, 10);
	if (bytes > most_bytes(request))
		return refuse(request, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large", true);
	request->until = request->begun_at + sfg_config.statement_timeout + sfg_config.connect_timeout;
	return bytes > SMALL_BODY ? begin_large(request, bytes) : MHD_YES;
}

/* Handle what the library has read of a request. */
static enum MHD_Result
handle_request(void *arg, struct MHD_Connection *connection, const char *url, const char *method,
			   const char *version, const char *data, size_t *size, void **context)
{
	SfgRequest *request = *context;

	if (stopping && (request == NULL || request->phase != SFG_REQUEST_ANSWERED))
		return MHD_NO;
	if (request == NULL)
	{
		SfgClient  *client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;

		*context = request = sfg_request_begin(client, method, url);
		return begin(arg, request, method, version);
	}
	if (*size > 0)
	{
		if (request->body.len + *size > most_bytes(request))
			return MHD_NO;
		appendBinaryPQExpBuffer(&request->body, data, *size);
		*size = 0;
		return PQExpBufferDataBroken(request->body) ? MHD_NO : MHD_YES;
	}
	return sfg_request_handle(request);
}

/* The library is done with a request. */
static void
completed(void *arg, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode code)
{
	SfgRequest *request = *context;

	if (request == NULL)
		return;
	buffered -= request->reserved;
	sfg_request_end(request);
	*context = NULL;
}

/* Keep a path as it was sent: what is not an ordinary character is in no path. */
static size_t
keep_escaped(void *arg, struct MHD_Connection *connection, char *text)
{
	return strlen(text);
}

/* ---------------------------------------------------------------- connections */

/* Log what becomes of too many connections, once within LOG_INTERVAL: it may be of thousands. */
static void
log_crowd(const char *message, const char *address)
{
	static int64_t last;

	if (last != 0 && sfc_now() - last < LOG_INTERVAL)
		return;
	last = sfc_now();
	sfc_log(SFC_LOG_WARNING, message, "peer", address, NULL);
}

/* Count a connection that has begun, and end another one if few are left. */
static void
join_crowd(SfgClient *client)
{
	SfgClient  *old;

	sfg_crowd_join(client, MHD_get_connection_info(client->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
	old = sfg_crowd_choose(client);
	if (old == NULL)
		return;
	log_crowd("few connections are left, those of clients that send nothing end", old->address);
	shutdown(descriptor(old), SHUT_RDWR);
}

/* Tell whether a client may connect; if not, the library ends the connection. */
static enum MHD_Result
admit(void *arg, const struct sockaddr *address, socklen_t len)
{
	const Listener *listener = arg;
	char		text[64];

	if (listener->for_health || sfg_crowd_admits(address))
		return MHD_YES;
	sfg_address_print(address, text, sizeof(text));
	log_crowd("an address has as many connections as it may have", text);
	return MHD_NO;
}

/* A connection begins or ends. */
static void
connection_changes(void *arg, struct MHD_Connection *connection, void **context, enum MHD_ConnectionNotificationCode code)
{
	SfgClient  *client = *context;
	const Listener *listener = arg;

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
	{
		client = pg_malloc0(sizeof(SfgClient));
		client->connection = connection;
		client->listener = arg;
		client->since = sfc_now();
		sfg_address_print(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr,
						  client->address, sizeof(client->address));
		dlist_push_tail(&clients, &client->node);
		*context = client;
		if (!listener->for_health)
			join_crowd(client);
	}
	else if (client != NULL)
	{
		dlist_delete(&client->node);
		if (!listener->for_health)
			sfg_crowd_leave(client);
		free(client);
		*context = NULL;
		connection_ended = true;
	}
}

/* ---------------------------------------------------------------- the library in the loop */

/*
 * Let the library do what there is to do, and come back when it wants.  An answer takes it two rounds: it sends the
 * answer, and then looks for the next request of the connection.  At the limit of connections it takes no more until it
 * runs again after one has ended.  The rest of the loop has its turn after two rounds, whatever clients do.
 */
static void
run(void *arg)
{
	Listener   *listener = arg;
	MHD_UNSIGNED_LONG_LONG timeout = 0;
	bool		comes_back = true;

	for (int round = 0; round < 2 && comes_back && timeout == 0; round++)
	{
		connection_ended = false;
		MHD_run(listener->daemon);
		comes_back = MHD_get_timeout(listener->daemon, &timeout) == MHD_YES;
		if (connection_ended)
		{
			comes_back = true;
			timeout = 0;
		}
	}
	if (comes_back)
		sfc_timer_set(&listener->timer, (int64_t) Min(timeout, 1000), run, listener);
	else
		sfc_timer_clear(&listener->timer);
}

/* Have the library look at connections that were resumed: its epoll does not tell of them. */
void
sfg_listeners_resume(void)
{
	dlist_iter	iter;

	if (!sfg_requests_resumed())
		return;
	dlist_foreach(iter, &listeners)
	{
		run(dlist_container(Listener, node, iter.cur));
	}
}

/* The library's epoll is ready. */
static void
ready(int fd, short revents, void *arg)
{
	run(arg);
}

/* Write a message of the library. */
static void
log_library(void *arg, const char *format, va_list args)
{
	char		message[512];

	vsnprintf(message, sizeof(message), format, args);
	message[strcspn(message, "\n")] = '\0';
	sfc_log(SFC_LOG_DEBUG, "libmicrohttpd", "message", message, NULL);
}

/* Read a file whole; NULL: that is not possible. */
static char *
read_file(const char *path, char **problem)
{
	char	   *text = pg_malloc0(TLS_FILE_MAX);
	FILE	   *file = fopen(path, "re");
	size_t		n = file != NULL ? fread(text, 1, TLS_FILE_MAX, file) : 0;
	const char *reason = NULL;

	if (file == NULL || ferror(file))
		reason = strerror(errno);
	else if (n == 0)
		reason = "it is empty";
	else if (n == TLS_FILE_MAX)
		reason = "it has 256 kB or more";
	if (reason != NULL)
	{
		*problem = psprintf("cannot read \"%s\": %s", path, reason);
		explicit_bzero(text, n);
		free(text);
		text = NULL;
	}
	if (file != NULL)
		fclose(file);
	return text;
}

/* Refuse to serve what others must not read beyond this machine. */
static bool
check_reach(const char *address, char **problem)
{
	if (!tls && !sfg_config.behind_proxy)
		*problem = psprintf("\"%s\" is beyond loopback: give a certificate, or say that a proxy serves https (behind-proxy)",
							address);
	else if (sfg_config.metrics_dsn != NULL && (sfg_config.metrics_token == NULL || *sfg_config.metrics_token == '\0'))
		*problem = psprintf("\"%s\" is beyond loopback: /metrics has names of state machines, give a metrics-token",
							address);
	else
		return true;
	return false;
}

/* Start the library for a listener with a socket; fails if a certificate or its key is not good. */
static bool
start_daemon(Listener *listener, char **problem)
{
	struct MHD_OptionItem tls_options[4] = {{MHD_OPTION_END, 0, NULL}};
	unsigned	flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	unsigned	limit = listener->for_health ? HEALTH_CONNECTIONS : (unsigned) sfg_config.connections;
	char	   *certificate = NULL;
	char	   *key = NULL;
	int			fd = fcntl(listener->socket_fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
	{
		/* Without a socket the library would listen at all addresses. */
		*problem = psprintf("cannot copy the socket that listens: %s", strerror(errno));
		return false;
	}
	if (tls && !listener->for_health)
	{
		certificate = read_file(sfg_config.tls_certificate, problem);
		key = certificate != NULL ? read_file(sfg_config.tls_key, problem) : NULL;
		if (key == NULL)
		{
			free(certificate);
			close(fd);
			return false;
		}
		flags |= MHD_USE_TLS;
		tls_options[0] = (struct MHD_OptionItem) {MHD_OPTION_HTTPS_MEM_CERT, 0, certificate};
		tls_options[1] = (struct MHD_OptionItem) {MHD_OPTION_HTTPS_MEM_KEY, 0, key};
		tls_options[2] = (struct MHD_OptionItem) {MHD_OPTION_HTTPS_PRIORITIES, 0, tls_priorities};
		tls_options[3] = (struct MHD_OptionItem) {MHD_OPTION_END, 0, NULL};
	}
	listener->daemon =
		MHD_start_daemon(flags, 0, admit, listener, handle_request, listener,
						 MHD_OPTION_EXTERNAL_LOGGER, log_library, NULL,
						 MHD_OPTION_LISTEN_SOCKET, fd,
						 MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
						 MHD_OPTION_NOTIFY_CONNECTION, connection_changes, listener,
						 MHD_OPTION_UNESCAPE_CALLBACK, keep_escaped, NULL,
						 MHD_OPTION_CONNECTION_LIMIT, limit,
						 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned) (sfg_config.request_timeout / 1000 + 1),
						 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t) MEMORY_LIMIT,
						 MHD_OPTION_STRICT_FOR_CLIENT, 1,
						 MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
						 MHD_OPTION_ARRAY, tls_options,
						 MHD_OPTION_END);
	free(certificate);
	if (key != NULL)
		explicit_bzero(key, strlen(key));
	free(key);
	if (listener->daemon == NULL)
	{
		*problem = psprintf("cannot serve%s", tls_options[0].option != MHD_OPTION_END ?
							": are the certificate and its key good?" : "");
		return false;
	}
	listener->fd = MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	sfc_loop_watch(listener->fd, POLLIN, ready, listener);
	dlist_push_tail(&listeners, &listener->node);
	return true;
}

/* Serve at an address; NULL: that is not possible. */
static Listener *
start(const char *address, bool health, char **problem)
{
	bool		loopback = false;
	Listener   *listener = pg_malloc0(sizeof(Listener));

	listener->for_health = health;
	listener->socket_fd = sfg_address_listen(address, &loopback, problem);
	if (listener->socket_fd < 0 || (!loopback && !health && !check_reach(address, problem)) ||
		!start_daemon(listener, problem))
		return NULL;
	sfc_log(SFC_LOG_INFO, "listening", "address", address, "tls", tls && !health ? "on" : "off", NULL);
	return listener;
}

/* Stop the library for a listener, whose connections are not suspended. */
static void
stop(Listener *listener)
{
	sfc_timer_clear(&listener->timer);
	sfc_loop_watch(listener->fd, 0, NULL, NULL);
	MHD_stop_daemon(listener->daemon);
	dlist_delete(&listener->node);
	free(listener);
}

/* Take no more connections at a listener, and end those that it has: at once, or with the answer of their request. */
static void
retire(Listener *listener)
{
	int			fd = MHD_quiesce_daemon(listener->daemon);
	dlist_iter	iter;

	if (fd >= 0)
		close(fd);
	listener->retired = true;
	dlist_foreach(iter, &clients)
	{
		SfgClient  *client = dlist_container(SfgClient, node, iter.cur);

		if (client->listener != listener)
			continue;
		client->closing = true;
		/* One that has had no answer yet may still shake hands, or send its first request. */
		if (client->request == NULL && client->answered)
			shutdown(descriptor(client), SHUT_RD);
	}
}

/* The connections of a listener. */
static unsigned
n_connections(const Listener *listener)
{
	return MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
}

/* Stop listeners that have retired and served their last connection. */
static void
stop_retired(void)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &listeners)
	{
		Listener   *listener = dlist_container(Listener, node, iter.cur);

		if (listener->retired && listener != main_listener && n_connections(listener) == 0)
			stop(listener);
	}
}

/* End connections whose clients are too slow, and requests that wait too long. */
static void
check_requests(void *arg)
{
	int64_t		now = sfc_now();
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &clients)
	{
		SfgClient  *client = dlist_container(SfgClient, node, iter.cur);
		SfgRequest *request = client->request;

		if (request != NULL && request->phase == SFG_REQUEST_WAITING)
		{
			if (request->until <= now)
				sfg_request_give_up(request);
			else
				sfg_request_watch_client(request);
		}
		else if (client->since + sfg_config.request_timeout <= now)
			shutdown(descriptor(client), SHUT_RDWR);
	}
	stop_retired();
	sfc_timer_set(&check_timer, CHECK_INTERVAL, check_requests, NULL);
}

/* Serve new connections with the certificate that the files have now; if it is not good, with the one before. */
void
sfg_listeners_renew(void)
{
	Listener   *next;
	char	   *problem = NULL;

	if (!tls || main_listener->retired)
	{
		sfc_log(SFC_LOG_INFO, "there is no certificate to read again", NULL);
		return;
	}
	next = pg_malloc0(sizeof(Listener));
	next->socket_fd = main_listener->socket_fd;
	if (!start_daemon(next, &problem))
	{
		sfc_log(SFC_LOG_ERROR, "the certificate is not renewed", "reason", problem, NULL);
		free(problem);
		free(next);
		return;
	}
	retire(main_listener);
	main_listener = next;
	sfc_log(SFC_LOG_INFO, "the certificate is renewed", NULL);
}

/* Have as many descriptors as connections may need. */
static void
raise_limit_of_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < (rlim_t) sfg_config.connections + 200)
		sfc_log(SFC_LOG_WARNING, "the limit of open files is lower than that of connections", NULL);
}

/* Serve at the addresses of the settings. */
bool
sfg_listeners_start(char **problem)
{
	raise_limit_of_files();
	tls = sfg_config.tls_certificate != NULL;
	main_listener = start(sfg_config.listen, false, problem);
	if (main_listener == NULL)
		return false;
	if (sfg_config.health_listen != NULL && start(sfg_config.health_listen, true, problem) == NULL)
		return false;
	sfg_clients_watch();
	check_requests(NULL);
	return true;
}

/* Tell whether clients of the gateway speak https with it. */
bool
sfg_listeners_are_tls(void)
{
	return tls;
}

/* Take no more connections but for health, and end those that wait for a request. */
void
sfg_listeners_drain(void)
{
	dlist_iter	iter;

	if (!main_listener->retired)
		retire(main_listener);
	close(main_listener->socket_fd);
	sfg_answers_close();
	dlist_foreach(iter, &clients)
	{
		SfgClient  *client = dlist_container(SfgClient, node, iter.cur);

		if (client->request == NULL)
			shutdown(descriptor(client), SHUT_RD);
	}
}

/* Tell whether no client is connected but for health. */
bool
sfg_listeners_are_idle(void)
{
	dlist_iter	iter;
	unsigned	n = 0;

	dlist_foreach(iter, &listeners)
	{
		const Listener *listener = dlist_container(Listener, node, iter.cur);

		n += listener->for_health ? 0 : n_connections(listener);
	}
	return n == 0;
}

/*
 * End all connections.  The library aborts the process if one is suspended, so those are answered before, and nothing
 * is handled that the library reads while it sends these answers.
 */
void
sfg_listeners_stop(void)
{
	dlist_mutable_iter iter;

	stopping = true;
	dlist_foreach_modify(iter, &clients)
	{
		SfgClient  *client = dlist_container(SfgClient, node, iter.cur);

		if (client->request != NULL && client->request->phase == SFG_REQUEST_WAITING)
			sfg_request_give_up(client->request);
	}
	sfc_timer_clear(&check_timer);
	dlist_foreach_modify(iter, &listeners)
	{
		Listener   *listener = dlist_container(Listener, node, iter.cur);

		MHD_run(listener->daemon);
		stop(listener);
	}
}
