/*
 * overdue.h
 *		What the launcher watches: turns, keys, time limits, the clock.
 */
#ifndef SF_WORKER_OVERDUE_H
#define SF_WORKER_OVERDUE_H

#include "base/clock.h"

/*
 * Notice turns that take too long and keys that were not taken, and have other
 * workers take over.  Returns when to look again.
 */
extern SfTick sf_overdue_look(void);

/*
 * Notice that the clock was set, and log when it was set back; cancel tasks that
 * exceed their time and whose alarm, which follows the wall clock, is late.
 */
extern void sf_overdue_look_at_clock(void);

#endif							/* SF_WORKER_OVERDUE_H */
