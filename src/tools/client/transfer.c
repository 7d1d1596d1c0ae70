/*
 * transfer.c
 *		libcurl in the event loop: its sockets and its timer are the loop's.
 */
#include "postgres_fe.h"

#include <poll.h>

#include "tools/client/loop.h"
#include "tools/client/transfer.h"

/* Whom to tell that a transfer has ended; the private pointer of its handle */
typedef struct Listener
{
	SfcTransferDone done;
	void	   *arg;
} Listener;

static CURLM *multi;
static SfcTimer multi_timer;

/* Give the listener of a handle, NULL if no transfer of it is under way. */
static Listener *
listener_of(CURL *easy)
{
	void	   *listener = NULL;

	curl_easy_getinfo(easy, CURLINFO_PRIVATE, &listener);
	return listener;
}

/* Find the transfers that have ended. */
static void
find_ended(void)
{
	CURLMsg    *message;
	int			left;

	while ((message = curl_multi_info_read(multi, &left)) != NULL)
	{
		const Listener *listener = listener_of(message->easy_handle);

		if (message->msg == CURLMSG_DONE && listener != NULL)
			listener->done(listener->arg, message->data.result);
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
	find_ended();
}

/* libcurl's timer has fired. */
static void
multi_timeout(void *arg)
{
	int			running;

	curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
	find_ended();
}

/* Watch a socket for libcurl, or stop watching it. */
static int
on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
	short		events = 0;

	if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
		events |= POLLIN;
	if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
		events |= POLLOUT;
	sfc_loop_watch(fd, events, socket_ready, NULL);
	return 0;
}

/* Set or clear libcurl's timer. */
static int
on_timer(CURLM *handle, long delay, void *arg)
{
	if (delay < 0)
		sfc_timer_clear(&multi_timer);
	else
		sfc_timer_set(&multi_timer, delay, multi_timeout, NULL);
	return 0;
}

/* Initialize libcurl. */
void
sfc_transfer_init(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
	multi = curl_multi_init();
	curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
}

/*
 * Begin the transfer that a handle is set up for; done is called when it has ended, and later than here.  libcurl looks
 * names up in threads; unless it is told to leave them, the end of a transfer waits for the name server.
 */
void
sfc_transfer_begin(CURL *easy, SfcTransferDone done, void *arg)
{
	Listener   *listener = pg_malloc0(sizeof(Listener));

	*listener = (Listener) {done, arg};
	curl_easy_setopt(easy, CURLOPT_PRIVATE, (void *) listener);
#if LIBCURL_VERSION_NUM >= 0x075700
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
	curl_multi_add_handle(multi, easy);
}

/* Take a handle out of the loop, whether its transfer has ended or not; it is not freed. */
void
sfc_transfer_end(CURL *easy)
{
	Listener   *listener = listener_of(easy);

	if (listener == NULL)
		return;
	curl_multi_remove_handle(multi, easy);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, NULL);
	free(listener);
}
