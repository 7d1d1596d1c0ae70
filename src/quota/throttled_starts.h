/*
 * throttled_starts.h
 *		Starts that were throttled: refused by a quota or a limit, until a fold counts them.
 */
#ifndef SF_QUOTA_THROTTLED_STARTS_H
#define SF_QUOTA_THROTTLED_STARTS_H

#include "nodes/pg_list.h"

extern void sf_throttled_init(void);
extern void sf_throttled_note(int machine_no, Oid owner);
extern void sf_throttled_forget(Oid database);
extern bool sf_throttled_is_there(void);
extern List *sf_throttled_take(void);

#endif							/* SF_QUOTA_THROTTLED_STARTS_H */
