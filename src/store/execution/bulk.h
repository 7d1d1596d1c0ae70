/*
 * bulk.h
 *		Which executions a redrive or a stop of many is for.
 */
#ifndef SF_STORE_BULK_H
#define SF_STORE_BULK_H

#include "datatype/timestamp.h"

#include "json/json.h"
#include "store/execution/status.h"

/* What is asked for; fields that are NULL, 0 or DT_NOBEGIN ask for nothing */
typedef struct SfBulkFilter
{
	const int  *machines;		/* numbers; other machines are left out */
	int			nmachines;
	bool		has_status;		/* that of executions; else all that a redrive, or a stop, may be for */
	SfStatus	status;			/* ... this one */
	const char *error;
	TimestampTz since;
	const Jsonb *labels;		/* that an execution has, all of them, as texts */
	int64		map_run_of;		/* item executions of a run: its execution, */
	int64		map_run_no;		/* ... and its number */
} SfBulkFilter;

/* An execution, as the call's snapshot has it */
typedef struct SfBulkItem
{
	int64		execution_no;
	TimestampTz stopped_at;		/* DT_NOBEGIN: it runs */
} SfBulkItem;

typedef struct SfBulkList
{
	SfBulkItem *items;			/* by number */
	int			n;
	int			size;
} SfBulkList;

extern SfBulkList sf_bulk_ended(const SfBulkFilter *filter);
extern SfBulkList sf_bulk_running(const SfBulkFilter *filter);
extern bool sf_bulk_map_run(const char *uuid, int64 *execution_no, int64 *map_run_no);

#endif							/* SF_STORE_BULK_H */
