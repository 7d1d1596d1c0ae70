/*
 * dropped.h
 *		State machines that were dropped, and their executions.
 */
#ifndef SF_STORE_DROPPED_H
#define SF_STORE_DROPPED_H

#include "store/purge/purge.h"

/* A machine that was dropped and has executions */
typedef struct SfDroppedMachine
{
	int			machine_no;
	TimestampTz requested_at;	/* those requested until then have gone, */
	bool		passed_over;	/* but for some that were locked */
} SfDroppedMachine;

extern List *sf_dropped_find_running(int machine_no, int64 after, int max_rows);
extern void sf_dropped_find(int machine_no, TimestampTz after, int max_rows, SfPurgeBatch *batch);
extern bool sf_dropped_free_id(const char *execution_id);
extern void sf_dropped_note(int machine_no);
extern bool sf_dropped_next(SfDroppedMachine *machine);
extern void sf_dropped_set(const SfDroppedMachine *machine);
extern void sf_dropped_delete(int machine_no);

#endif							/* SF_STORE_DROPPED_H */
