/*
 * alone.h
 *		The launcher's process when it is the only one that can be had.
 */
#ifndef SF_WORKER_ALONE_H
#define SF_WORKER_ALONE_H

#include "base/clock.h"
#include "base/compat.h"
#include "nodes/pg_list.h"

extern void sf_alone_begin(List *databases) pg_attribute_noreturn();
extern void sf_alone_start(void);
extern bool sf_alone_has_ended(void);
extern bool sf_alone_may_drive(void);
extern bool sf_alone_is_over(SfTick *until);

#endif							/* SF_WORKER_ALONE_H */
