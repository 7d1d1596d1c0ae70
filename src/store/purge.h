/*
 * purge.h
 *		Delete ended executions with all that belongs to them.
 */
#ifndef SF_STORE_PURGE_H
#define SF_STORE_PURGE_H

#include "datatype/timestamp.h"

extern int64 sf_purge_executions(TimestampTz ended_before, Oid role, int64 limit);

#endif							/* SF_STORE_PURGE_H */
