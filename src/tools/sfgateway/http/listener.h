/*
 * listener.h
 *		Sockets, the HTTP library in the event loop, deadlines of clients.
 */
#ifndef SFG_LISTENER_H
#define SFG_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "tools/sfgateway/http/http_request.h"

extern bool sfg_listeners_start(char **problem);
extern void sfg_listeners_resume(void);
extern bool sfg_listeners_are_tls(void);
extern void sfg_listeners_renew(void);
extern void sfg_listeners_drain(void);
extern bool sfg_listeners_are_idle(void);
extern void sfg_listeners_stop(void);

/* --- addresses of sockets --- */

extern int	sfg_address_listen(const char *address, bool *loopback, char **problem);
extern bool sfg_address_is_loopback(const struct sockaddr *address);
extern void sfg_address_print_network(const struct sockaddr *address, char *text, size_t size);
extern void sfg_address_print(const struct sockaddr *address, char *text, size_t size);

/* --- what is served at which path --- */

extern const SfgRoute *sfg_route_find(const char *method, const char *path, bool health, const char **allowed);

/* --- pages for programs that watch the gateway and the workflows --- */

extern void sfg_not_ready(void);

#endif							/* SFG_LISTENER_H */
