/*
 * purge.h
 *		Delete ended executions with all that belongs to them.
 */
#ifndef SF_STORE_PURGE_H
#define SF_STORE_PURGE_H

#include "fmgr.h"

/*
 * Delete at most limit executions that ended before now - older_than (an
 * interval) and whose machine belongs to a role that role is a member of.
 * Returns how many.
 */
extern int64 sf_purge_executions(Datum older_than, Oid role, int64 limit);

#endif							/* SF_STORE_PURGE_H */
