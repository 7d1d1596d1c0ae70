/*
 * lookup.c
 *		Addresses of names of hosts.
 *
 * libpq looks a name up while it begins to connect, and does not return before: a name server that does not answer
 * would stop the whole loop.  So a name is looked up here first, by a thread that does nothing else, and libpq gets
 * addresses.
 *
 * All lookups of a name that is searched for already wait for the same search.  A lookup that has waited for as long as
 * its owner says ends without an address.  The search goes on, because its thread cannot be ended, until the
 * system gives up, and further lookups wait for it, too.  So a name takes one thread, however often it is looked up.
 * There are MOST_SEARCHES at most; until one of them ends, a lookup of another name ends at once, without an address.
 */
#include "postgres_fe.h"

#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "tools/client/hosts.h"

/* Names that are looked up at the same time: one for each node that sfgateway works for, and some */
#define MOST_SEARCHES 80

/* A name that is looked up; its thread has it until its address has come by the pipe */
typedef struct Search
{
	char	   *name;
	struct addrinfo *found;
	int			error;			/* of getaddrinfo() */
	dlist_head	lookups;		/* that wait for it */
	dlist_node	node;
} Search;

static dlist_head searches = DLIST_STATIC_INIT(searches);
static int	n_searches;
static dlist_head refused = DLIST_STATIC_INIT(refused); /* lookups without a search, until they are told */
static int	ended[2] = {-1, -1};	/* a pipe, by which threads give their searches back */

/* End a wait. */
static void
answer(SfcLookup *lookup, const struct addrinfo *found, const char *problem)
{
	sfc_lookup_forget(lookup);
	lookup->done(lookup->arg, found, problem);
}

/* Searches have ended: tell those that wait for them. */
static void
searches_ended(int fd, short revents, void *arg)
{
	Search	   *search;

	while (read(fd, &search, sizeof(search)) == sizeof(search))
	{
		const char *problem = search->error != 0 ? gai_strerror(search->error) : NULL;

		dlist_delete(&search->node);
		n_searches--;
		while (!dlist_is_empty(&search->lookups))
			answer(dlist_head_element(SfcLookup, node, &search->lookups), search->found, problem);
		if (search->found != NULL)
			freeaddrinfo(search->found);
		free(search->name);
		free(search);
	}
}

/* Look a name up: all that a thread does. */
static void *
look_up(void *arg)
{
	Search	   *search = arg;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};

	search->error = getaddrinfo(search->name, NULL, &hints, &search->found);
	/* The pipe has room for many more than there are threads, and the loop wakes by it. */
	while (write(ended[1], &search, sizeof(search)) < 0 && errno == EINTR)
		;
	return NULL;
}

/* Start the thread of a search, to which no signal comes; false: the system has none. */
static bool
start_thread(Search *search)
{
	pthread_t	thread;
	sigset_t	all;
	sigset_t	before;
	bool		started;

	if (ended[0] < 0)
	{
		if (pipe2(ended, O_CLOEXEC | O_NONBLOCK) != 0)
			return false;
		sfc_loop_watch(ended[0], POLLIN, searches_ended, NULL);
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, NULL, look_up, search) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_detach(thread);
	return started;
}

/* Find the search for a name, or begin one; NULL: there are too many. */
static Search *
find_or_begin(const char *name)
{
	Search	   *search;
	dlist_iter	iter;

	dlist_foreach(iter, &searches)
	{
		search = dlist_container(Search, node, iter.cur);
		if (strcmp(search->name, name) == 0)
			return search;
	}
	if (n_searches >= MOST_SEARCHES)
		return NULL;
	search = pg_malloc0(sizeof(Search));
	search->name = pg_strdup(name);
	dlist_init(&search->lookups);
	if (!start_thread(search))
	{
		free(search->name);
		free(search);
		return NULL;
	}
	dlist_push_tail(&searches, &search->node);
	n_searches++;
	return search;
}

/* A lookup has waited for as long as it may. */
static void
too_late(void *arg)
{
	answer(arg, NULL, "no name server has answered in time");
}

/* A lookup has no search. */
static void
refuse(void *arg)
{
	answer(arg, NULL, "too many names are looked up at the same time");
}

/*
 * Look the name of a host up, for some milliseconds at most; done is called later than here, unless the lookup is
 * forgotten before.
 */
void
sfc_lookup_begin(SfcLookup *lookup, const char *name, int64_t patience, SfcLookupDone done, void *arg)
{
	Search	   *search = find_or_begin(name);

	lookup->done = done;
	lookup->arg = arg;
	dlist_push_tail(search != NULL ? &search->lookups : &refused, &lookup->node);
	if (search != NULL)
		sfc_timer_set(&lookup->timer, patience, too_late, lookup);
	else
		sfc_timer_set(&lookup->timer, 0, refuse, lookup);
}

/* Do not wait for a name any more; a lookup that does not wait stays as it is. */
void
sfc_lookup_forget(SfcLookup *lookup)
{
	if (lookup->node.next == NULL)
		return;
	sfc_timer_clear(&lookup->timer);
	dlist_delete(&lookup->node);
	lookup->node = (dlist_node) {0};
}
