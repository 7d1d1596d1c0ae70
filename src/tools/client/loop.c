/*
 * loop.c
 *		The event loop: descriptors, timers, signals.
 *
 * Everything happens in one thread, between two calls of poll().  A signal's
 * handler only writes the signal's number into a pipe that the loop watches.
 */
#include "postgres_fe.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tools/client/log.h"
#include "tools/client/loop.h"

/* What to call for a descriptor, which is the index */
typedef struct Watch
{
	short		events;			/* 0: the descriptor is not watched */
	unsigned	serial;			/* tells a descriptor from an older one with its number */
	SfcReady	ready;
	void	   *arg;
} Watch;

static Watch *watches;
static int	n_watches;
static unsigned next_serial = 1;

static dlist_head timers = DLIST_STATIC_INIT(timers);	/* armed, in no order, because there are few */

static int	signal_pipe[2] = {-1, -1};
static void (*signal_handlers[NSIG]) (void);

/* Milliseconds of a clock that cannot be set. */
int64_t
sfc_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Note that a signal has come. */
static void
note_signal(SIGNAL_ARGS)
{
	int			saved = errno;
	unsigned char byte = (unsigned char) postgres_signal_arg;

	/* When the pipe is full, a turn of the loop is due already. */
	if (write(signal_pipe[1], &byte, 1) < 0)
		errno = saved;
	errno = saved;
}

/* Handle the signals that have come. */
static void
handle_signals(int fd, short revents, void *arg)
{
	unsigned char bytes[64];
	ssize_t		n = read(fd, bytes, sizeof(bytes));

	for (ssize_t i = 0; i < n; i++)
	{
		if (bytes[i] < NSIG && signal_handlers[bytes[i]] != NULL)
			signal_handlers[bytes[i]] ();
	}
}

/* Make the loop ready for signals. */
void
sfc_loop_init(void)
{
	if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
	{
		fprintf(stderr, "%s: cannot make a pipe: %m\n", program_invocation_short_name);
		exit(1);
	}
	signal(SIGPIPE, SIG_IGN);
	sfc_loop_watch(signal_pipe[0], POLLIN, handle_signals, NULL);
}

/* Have a function called in the loop when a signal has come. */
void
sfc_loop_on_signal(int signo, void (*handle) (void))
{
	signal_handlers[signo] = handle;
	pqsignal(signo, note_signal);
}

/* Watch a descriptor for events, or change them; without events, stop watching it. */
void
sfc_loop_watch(int fd, short events, SfcReady ready, void *arg)
{
	if (fd < 0)
		return;
	while (fd >= n_watches)
	{
		int			more = n_watches == 0 ? 64 : n_watches * 2;

		watches = pg_realloc(watches, sizeof(Watch) * (size_t) more);
		while (n_watches < more)
			watches[n_watches++] = (Watch) {0};
	}
	if (events == 0)
		watches[fd] = (Watch) {0};
	else if (watches[fd].events != 0 && watches[fd].ready == ready && watches[fd].arg == arg)
		watches[fd].events = events;
	else
		watches[fd] = (Watch) {events, next_serial++, ready, arg};
}

/* Close a descriptor and stop watching it. */
void
sfc_loop_close(int *fd)
{
	if (*fd < 0)
		return;
	sfc_loop_watch(*fd, 0, NULL, NULL);
	close(*fd);
	*fd = -1;
}

/* Have a function called after a delay in milliseconds; what the timer was set to before is forgotten. */
void
sfc_timer_set(SfcTimer *timer, int64_t delay, void (*fire) (void *arg), void *arg)
{
	sfc_timer_clear(timer);
	timer->at = sfc_now() + (delay > 0 ? delay : 0);
	timer->fire = fire;
	timer->arg = arg;
	timer->armed = true;
	dlist_push_head(&timers, &timer->node);
}

/* Disarm a timer; one that is not armed stays so. */
void
sfc_timer_clear(SfcTimer *timer)
{
	if (timer->armed)
		dlist_delete(&timer->node);
	timer->armed = false;
}

/* The timer that is due first, or NULL. */
static SfcTimer *
first_timer(void)
{
	SfcTimer   *first = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &timers)
	{
		SfcTimer   *timer = dlist_container(SfcTimer, node, iter.cur);

		if (first == NULL || timer->at < first->at)
			first = timer;
	}
	return first;
}

/* Fire the timers that are due now, one after the other: each may change the list. */
static void
fire_timers(void)
{
	int64_t		now = sfc_now();
	SfcTimer   *timer;

	while ((timer = first_timer()) != NULL && timer->at <= now)
	{
		sfc_timer_clear(timer);
		timer->fire(timer->arg);
	}
}

/* The milliseconds until the next timer, -1 without one. */
static int
time_left(void)
{
	SfcTimer   *timer = first_timer();
	int64_t		left;

	if (timer == NULL)
		return -1;
	left = timer->at - sfc_now();
	return (int) Min(Max(left, 0), 3600000);
}

/* Wait for descriptors, signals and timers, and handle those that are ready. */
void
sfc_loop_turn(void)
{
	static struct pollfd *polled;
	static unsigned *serials;
	static int	room;
	int			n = 0;
	int			ready;

	if (room < n_watches)
	{
		room = n_watches;
		polled = pg_realloc(polled, sizeof(*polled) * (size_t) room);
		serials = pg_realloc(serials, sizeof(*serials) * (size_t) room);
	}
	for (int fd = 0; fd < n_watches; fd++)
	{
		if (watches[fd].events == 0)
			continue;
		polled[n] = (struct pollfd) {fd, watches[fd].events, 0};
		serials[n++] = watches[fd].serial;
	}
	ready = poll(polled, (nfds_t) n, time_left());
	if (ready < 0 && errno != EINTR)
	{
		sfc_log(SFC_LOG_ERROR, "cannot poll", NULL);
		exit(1);
	}
	/* A descriptor that a handler has closed, or reused, is skipped. */
	for (int i = 0; ready > 0 && i < n; i++)
	{
		Watch	   *watch = &watches[polled[i].fd];

		if (polled[i].revents != 0 && watch->events != 0 && watch->serial == serials[i])
			watch->ready(polled[i].fd, polled[i].revents, watch->arg);
	}
	fire_timers();
}
