/*
 * allow.h
 *		Which hosts and addresses requests may go to.
 */
#ifndef SFW_ALLOW_H
#define SFW_ALLOW_H

#include <stdbool.h>
#include <sys/socket.h>

extern bool sfw_allow_add(const char *entry, char **problem);

/* Both give NULL when the request is allowed, else the reason in memory of its own. */
extern char *sfw_allow_name(const char *scheme, const char *host, int port);
extern char *sfw_allow_address(const char *host, const struct sockaddr *address, int port);

extern bool sfw_allow_matches(const char *pattern, const char *host);
extern char *sfw_allow_print(const struct sockaddr *address);

#endif							/* SFW_ALLOW_H */
