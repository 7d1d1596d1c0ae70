/*
 * address.c
 *		Addresses of sockets.
 */
#include "postgres_fe.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include "tools/sfgateway/http/listener.h"

#define BACKLOG 512

/* Tell whether only this machine reaches an address. */
bool
sfg_address_is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return (ntohl(((const struct sockaddr_in *) address)->sin_addr.s_addr) >> 24) == 127;
	return address->sa_family == AF_INET6 &&
		IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *) address)->sin6_addr);
}

/* Make a socket that listens. */
static int
listen_at(const struct addrinfo *info)
{
	int			fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int			on = 1;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (info->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)
	{
		int			saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

/* Listen at HOST:PORT or [HOST]:PORT; gives the socket, or -1. */
int
sfg_address_listen(const char *address, bool *loopback, char **problem)
{
	struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
	struct addrinfo *info = NULL;
	const char *colon = strrchr(address, ':');
	bool		bracketed = *address == '[' && colon != NULL && colon > address && colon[-1] == ']';
	char	   *host;
	int			fd = -1;
	int			error;

	if (colon == NULL)
	{
		*problem = psprintf("\"%s\" is no ADDRESS:PORT", address);
		return -1;
	}
	host = pnstrdup(address + bracketed, (size_t) (colon - address - 2 * bracketed));
	error = getaddrinfo(*host != '\0' ? host : NULL, colon + 1, &hints, &info);
	free(host);
	if (error != 0)
		*problem = psprintf("cannot listen at \"%s\": %s", address, gai_strerror(error));
	else
	{
		*loopback = sfg_address_is_loopback(info->ai_addr);
		fd = listen_at(info);
		if (fd < 0)
			*problem = psprintf("cannot listen at \"%s\": %s", address, strerror(errno));
		freeaddrinfo(info);
	}
	return fd;
}

/* Print an address without its port. */
void
sfg_address_print(const struct sockaddr *address, char *text, size_t size)
{
	const void *bytes = &((const struct sockaddr_in *) address)->sin_addr;

	strlcpy(text, "?", size);
	if (address->sa_family == AF_INET6)
		bytes = &((const struct sockaddr_in6 *) address)->sin6_addr;
	else if (address->sa_family != AF_INET)
		return;
	inet_ntop(address->sa_family, bytes, text, (socklen_t) size);
}

/* Print the network of an address that is one client's: all of IPv4, half of IPv6. */
void
sfg_address_print_network(const struct sockaddr *address, char *text, size_t size)
{
	struct sockaddr_in6 network;

	if (address->sa_family != AF_INET6 || sfg_address_is_loopback(address))
	{
		sfg_address_print(address, text, size);
		return;
	}
	network = *(const struct sockaddr_in6 *) address;
	memset(&network.sin6_addr.s6_addr[8], 0, 8);
	sfg_address_print((const struct sockaddr *) &network, text, size);
}
