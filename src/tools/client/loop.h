/*
 * loop.h
 *		The event loop: descriptors, timers, signals.
 */
#ifndef SFC_LOOP_H
#define SFC_LOOP_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/ilist.h"

typedef void (*SfcReady) (int fd, short revents, void *arg);

/* Set it to zero before its first use. */
typedef struct SfcTimer
{
	int64_t		at;				/* milliseconds as of sfc_now() */
	void		(*fire) (void *arg);
	void	   *arg;
	bool		armed;
	dlist_node	node;			/* in the list of armed timers */
} SfcTimer;

extern int64_t sfc_now(void);

extern void sfc_loop_init(void);
extern void sfc_loop_on_signal(int signo, void (*handle) (void));
extern void sfc_loop_turn(void);

/* Watch a descriptor for events, or change them; without events, stop watching it. */
extern void sfc_loop_watch(int fd, short events, SfcReady ready, void *arg);
extern void sfc_loop_close(int *fd);

extern void sfc_timer_set(SfcTimer *timer, int64_t delay, void (*fire) (void *arg), void *arg);
extern void sfc_timer_clear(SfcTimer *timer);

#endif							/* SFC_LOOP_H */
