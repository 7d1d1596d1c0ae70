/*
 * delayed_start.h
 *		When executions start that are to start later.
 */
#ifndef SF_STORE_DELAYED_START_H
#define SF_STORE_DELAYED_START_H

#include "datatype/timestamp.h"

extern void sf_delayed_start_write(int64 execution_no, TimestampTz at);

#endif							/* SF_STORE_DELAYED_START_H */
