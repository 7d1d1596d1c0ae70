/*
 * watch.h
 *		Keep the time limit of an evaluation while it is in code of PostgreSQL.
 */
#ifndef SF_BASE_WATCH_H
#define SF_BASE_WATCH_H

#include "base/time/clock.h"

/* Do some work that only computes, and end it when the time is up; false: it was. */
extern bool sf_watch_run(SfTick deadline, void (*work) (void *arg), void *arg);

#endif							/* SF_BASE_WATCH_H */
