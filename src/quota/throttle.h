/*
 * throttle.h
 *		Starts that a quota refused, until a fold counts them.
 */
#ifndef SF_QUOTA_THROTTLE_H
#define SF_QUOTA_THROTTLE_H

#include "nodes/pg_list.h"

extern void sf_throttle_init(void);
extern void sf_throttle_note(int machine_no, Oid owner);
extern void sf_throttle_forget(Oid database);
extern bool sf_throttle_is_there(void);
extern List *sf_throttle_take(void);

#endif							/* SF_QUOTA_THROTTLE_H */
