/*
 * hosts.c
 *		Names of hosts as a test has them, to be preloaded into a program (LD_PRELOAD).
 *
 *		dead...		no name server answers for ten minutes
 *		slow		127.0.0.1, after two seconds
 *		two			127.0.0.9 and 127.0.0.1
 *		none		there is none
 *
 * Behind each follows .test.  All others are the system's.  Each name that is looked up becomes a line of the file
 * HOSTS_LOG, "thread NAME", or "main NAME" if the first thread of the process did it; each option of TCP that is set,
 * "tcp OPTION VALUE".  Addresses that are to be read alone are not in the file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int (*GetAddrInfo) (const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found);
typedef int (*SetSockOpt) (int fd, int level, int option, const void *value, socklen_t len);

/* Write a line. */
static void
note(const char *kind, const char *what)
{
	char		line[300];
	int			n = snprintf(line, sizeof(line), "%s %s\n", kind, what);
	int			fd = getenv("HOSTS_LOG") != NULL ? open(getenv("HOSTS_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;

	if (fd < 0 || write(fd, line, (size_t) n) != n)
		_exit(96);
	close(fd);
}

/* Look a name up. */
int
getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
	GetAddrInfo next = (GetAddrInfo) dlsym(RTLD_NEXT, "getaddrinfo");
	struct addrinfo *first = NULL;
	int			error;

	if (name == NULL || (hints != NULL && (hints->ai_flags & AI_NUMERICHOST)))
		return next(name, service, hints, found);
	note(gettid() == getpid() ? "main" : "thread", name);
	if (strncmp(name, "dead", 4) == 0)
	{
		sleep(600);
		return EAI_AGAIN;
	}
	if (strcmp(name, "none.test") == 0)
		return EAI_NONAME;
	if (strcmp(name, "slow.test") == 0)
		sleep(2);
	else if (strcmp(name, "two.test") == 0 && (error = next("127.0.0.9", service, hints, &first)) != 0)
		return error;
	error = next(strstr(name, ".test") != NULL ? "127.0.0.1" : name, service, hints, found);
	if (first != NULL && error == 0)
	{
		first->ai_next = *found;
		*found = first;
	}
	return error;
}

/* Set an option of a socket. */
int
setsockopt(int fd, int level, int option, const void *value, socklen_t len)
{
	SetSockOpt	next = (SetSockOpt) dlsym(RTLD_NEXT, "setsockopt");
	char		what[64];
	const char *name = option == TCP_KEEPIDLE ? "idle" : option == TCP_KEEPINTVL ? "interval" :
		option == TCP_KEEPCNT ? "count" : option == TCP_USER_TIMEOUT ? "user_timeout" : NULL;

	if (level == IPPROTO_TCP && name != NULL)
	{
		snprintf(what, sizeof(what), "%s %d", name, *(const int *) value);
		note("tcp", what);
	}
	return next(fd, level, option, value, len);
}
