/*
 * loop.h
 *		The event loop: descriptors, timers, signals.
 */
#ifndef SFW_LOOP_H
#define SFW_LOOP_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/ilist.h"

typedef void (*SfwReady) (int fd, short revents, void *arg);

/* Set it to zero before its first use. */
typedef struct SfwTimer
{
	int64_t		at;				/* milliseconds as of sfw_now() */
	void		(*fire) (void *arg);
	void	   *arg;
	bool		armed;
	dlist_node	node;			/* in the list of armed timers */
} SfwTimer;

extern int64_t sfw_now(void);

extern void sfw_loop_init(void);
extern void sfw_loop_on_signal(int signo, void (*handle) (void));
extern void sfw_loop_turn(void);

/* Watch a descriptor for events, or change them; without events, stop watching it. */
extern void sfw_loop_watch(int fd, short events, SfwReady ready, void *arg);
extern void sfw_loop_close(int *fd);

extern void sfw_timer_set(SfwTimer *timer, int64_t delay, void (*fire) (void *arg), void *arg);
extern void sfw_timer_clear(SfwTimer *timer);

#endif							/* SFW_LOOP_H */
