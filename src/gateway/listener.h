/*
 * listener.h
 *		Sockets, the HTTP library in the event loop, deadlines of clients.
 */
#ifndef SFG_LISTENER_H
#define SFG_LISTENER_H

#include <stdbool.h>

extern bool sfg_listeners_start(char **problem);
extern void sfg_listeners_resume(void);
extern bool sfg_listeners_are_tls(void);
extern void sfg_listeners_renew(void);
extern void sfg_listeners_drain(void);
extern bool sfg_listeners_are_idle(void);
extern void sfg_listeners_stop(void);

#endif							/* SFG_LISTENER_H */
