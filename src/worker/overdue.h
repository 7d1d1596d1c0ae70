/*
 * overdue.h
 *		What the launcher watches: turns, keys, time limits, the clock.
 */
#ifndef SF_WORKER_OVERDUE_H
#define SF_WORKER_OVERDUE_H

#include "base/clock.h"

extern SfTick sf_overdue_check(void);
extern void sf_overdue_check_clock(void);

#endif							/* SF_WORKER_OVERDUE_H */
