/*
 * http_load.c
 *		Send one request again and again over some connections, and tell how fast it is answered.
 *
 *		http_load PORT CONNECTIONS SECONDS REQUEST [RATE]
 *
 * REQUEST is a file with the bytes of the request.  Each connection, to the
 * loopback, sends it when the last answer has come.  Every answer must have the
 * status 200.  Prints requests a second, and percentiles of the milliseconds from
 * a request to the end of its answer: rate p50 p99.
 *
 * With RATE, so many requests a second are due, at random times as with pgbench
 * --rate, whatever the answers do; a connection that is free takes the next one, and
 * its time counts from when it was due.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_CONNECTIONS 200
#define MOST_ANSWERS	4000000

/* A connection, and as much of an answer as has come */
typedef struct Connection
{
	char		answer[262144];
	size_t		len;
	double		due_at;			/* milliseconds; without a rate, when it was sent */
	int			waits;			/* for that time */
} Connection;

static char request[1048576];
static size_t request_len;
static Connection connections[MOST_CONNECTIONS];
static struct pollfd polled[MOST_CONNECTIONS];
static float took[MOST_ANSWERS];
static size_t n_answers;
static double rate;				/* requests a second; 0: as fast as answers come */
static double next_due;			/* of the request that no connection has taken */

/* Say what is wrong, and end. */
static void
fail(const char *what)
{
	fprintf(stderr, "http_load: %s\n", what);
	exit(1);
}

/* Milliseconds of a clock. */
static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

/* Send the request, which fits into the buffer of a socket. */
static void
send_request(int i)
{
	connections[i].len = 0;
	connections[i].waits = 0;
	if (write(polled[i].fd, request, request_len) != (ssize_t) request_len)
		fail("cannot send the request");
}

/* Have a connection take the next request: it sends it now, or when it is due. */
static void
take_request(int i)
{
	Connection *c = &connections[i];

	c->due_at = now();
	if (rate > 0)
	{
		c->due_at = next_due;
		next_due -= log(1 - drand48()) * 1e3 / rate;
		c->waits = c->due_at > now();
	}
	if (!c->waits)
		send_request(i);
}

/* Send the requests that are due; returns the milliseconds until the next one is. */
static double
send_due(int n)
{
	double		left = 1000;

	for (int i = 0; i < n; i++)
	{
		double		wait = connections[i].due_at - now();

		if (connections[i].waits && wait <= 0)
			send_request(i);
		else if (connections[i].waits && wait < left)
			left = wait;
	}
	return left;
}

/* Connect to the loopback. */
static void
open_connection(int i, int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short) port),
	.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int			one = 1;

	polled[i] = (struct pollfd) {socket(AF_INET, SOCK_STREAM, 0), POLLIN, 0};
	if (connect(polled[i].fd, (struct sockaddr *) &to, sizeof(to)) != 0)
		fail("cannot connect");
	setsockopt(polled[i].fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Tell whether an answer is complete. */
static int
is_complete(const Connection *c)
{
	const char *end = strstr(c->answer, "\r\n\r\n");
	const char *length = strcasestr(c->answer, "\r\nContent-Length:");

	if (end == NULL)
		return 0;
	if (strncmp(c->answer, "HTTP/1.1 200 ", 13) != 0 || length == NULL || length > end)
		fail(c->answer);
	return c->len >= (size_t) (end + 4 - c->answer) + strtoul(length + 17, NULL, 10);
}

/* Read what has come; after a whole answer, ask again. */
static void
read_answer(int i)
{
	Connection *c = &connections[i];
	ssize_t		n = read(polled[i].fd, c->answer + c->len, sizeof(c->answer) - 1 - c->len);

	if (n <= 0)
		fail("the connection was closed, or the answer is too large");
	c->len += (size_t) n;
	c->answer[c->len] = '\0';
	if (!is_complete(c))
		return;
	if (n_answers < MOST_ANSWERS)
		took[n_answers++] = (float) (now() - c->due_at);
	take_request(i);
}

/* Compare two times. */
static int
compare(const void *a, const void *b)
{
	float		x = *(const float *) a;
	float		y = *(const float *) b;

	return (x > y) - (x < y);
}

/* Read the request from its file. */
static void
read_request(const char *path)
{
	FILE	   *file = fopen(path, "r");

	if (file == NULL)
		fail("cannot read the request");
	request_len = fread(request, 1, sizeof(request), file);
	fclose(file);
}

/* Ask for so many seconds. */
int
main(int argc, char **argv)
{
	int			n = argc == 5 || argc == 6 ? atoi(argv[2]) : 0;
	double		begin;
	double		end;

	if (n < 1 || n > MOST_CONNECTIONS)
		fail("usage: http_load PORT CONNECTIONS SECONDS REQUEST [RATE]");
	rate = argc == 6 ? atof(argv[5]) : 0;
	read_request(argv[4]);
	for (int i = 0; i < n; i++)
		open_connection(i, atoi(argv[1]));
	begin = next_due = now();
	end = begin + atof(argv[3]) * 1e3;
	for (int i = 0; i < n; i++)
		take_request(i);
	while (now() < end)
	{
		double		left = send_due(n);
		struct timespec wait = {(time_t) (left / 1e3), (long) (fmod(left, 1e3) * 1e6)};

		if (ppoll(polled, (nfds_t) n, &wait, NULL) < 0)
			fail("cannot wait");
		for (int i = 0; i < n; i++)
		{
			if (polled[i].revents != 0)
				read_answer(i);
		}
	}
	if (n_answers == 0)
		fail("there was no answer");
	end = now();
	qsort(took, n_answers, sizeof(took[0]), compare);
	printf("%.1f %.3f %.3f\n", (double) n_answers * 1e3 / (end - begin),
		   took[n_answers / 2], took[n_answers * 99 / 100]);
	return 0;
}
