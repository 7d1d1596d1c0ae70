/*
 * address.h
 *		Addresses of sockets.
 */
#ifndef SFG_ADDRESS_H
#define SFG_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

extern int	sfg_address_listen(const char *address, bool *loopback, char **problem);
extern bool sfg_address_is_loopback(const struct sockaddr *address);
extern void sfg_address_print_network(const struct sockaddr *address, char *text, size_t size);
extern void sfg_address_print(const struct sockaddr *address, char *text, size_t size);

#endif							/* SFG_ADDRESS_H */
