/*
 * alone.h
 *		The launcher's process when it is the only one that can be had.
 */
#ifndef SF_WORKER_ALONE_H
#define SF_WORKER_ALONE_H

#include "base/clock.h"
#include "base/compat.h"
#include "nodes/pg_list.h"

/* Give up on starting processes: the next launcher drives databases itself. */
extern void sf_alone_begin(List *databases) pg_attribute_noreturn();

/* This process, the launcher's, drives databases from now on. */
extern void sf_alone_start(void);

/* Tell whether a process can be had again; then this one goes back to launching. */
extern bool sf_alone_has_ended(void);

/* Tell whether this process may drive its database; asks when it is alone. */
extern bool sf_alone_may_drive(void);

/*
 * Tell whether a process that is alone is to end: another database waits, or
 * processes can be had again.  *until: when to ask again, at the latest.
 */
extern bool sf_alone_is_over(SfTick *until);

#endif							/* SF_WORKER_ALONE_H */
