/*
 * purge.h
 *		Delete executions with all that belongs to them.
 */
#ifndef SF_STORE_PURGE_H
#define SF_STORE_PURGE_H

#include "store/branch/branch.h"
#include "store/execution/status.h"

extern int64 sf_purge_executions(TimestampTz ended_before, Oid role, int64 max_rows);

/* --- by age, machine by machine --- */

/* What a purge needs to know of a machine */
#define SF_PURGE_MACHINE_FIELDS(X) \
	X(int, machine_no, INT4, NOT_NULL) \
	X(char *, name, TEXT, NOT_NULL) \
	X(Oid, owner, REGROLE, NOT_NULL) \
	X(Jsonb *, options, JSONB, NULLABLE)	/* of its current version */

typedef struct SfPurgeMachine
{
	SF_PURGE_MACHINE_FIELDS(SF_FIELD)
} SfPurgeMachine;

/* How far the purge of a machine's executions of a status has come */
typedef struct SfPurgePosition
{
	TimestampTz requested_at;	/* of the last execution that it has looked at */
	TimestampTz began_at;		/* when it was at the beginning */
	int64		looked_at;		/* executions, since then */
} SfPurgePosition;

/* Executions that a batch has looked at, and locked */
typedef struct SfPurgeBatch
{
	int			looked_at;
	TimestampTz until;			/* requested_at of the last one */
	List	   *numbers;		/* of those to delete: int64 * */
	List	   *ids;			/* ... char * */
} SfPurgeBatch;

/* What a session that purges by age has to itself */
typedef enum SfPurgeLock
{
	SF_PURGE_LOCK_SWEEP,		/* finding what is to go, and deleting it */
	SF_PURGE_LOCK_ARCHIVE		/* calling an archive function */
} SfPurgeLock;

extern SfPurgeMachine *sf_purge_next_machine(int after, const char *archive);
extern SfPurgePosition sf_purge_position(int machine_no, SfStatus status);
extern void sf_purge_set_position(int machine_no, SfStatus status,
								  const SfPurgePosition *position);
extern void sf_purge_find(int machine_no, SfStatus status, TimestampTz ended_before,
						  TimestampTz after, int max_rows, SfPurgeBatch *batch);
extern void sf_purge_read_batch(HeapTuple tuple, TupleDesc desc, void *arg);
extern List *sf_purge_lock_executions(const List *numbers);
extern int64 sf_purge_delete(const List *numbers);
extern int64 sf_purge_delete_dropped(const List *numbers);
extern bool sf_purge_lock(SfPurgeLock lock, bool wait);
extern void sf_purge_unlock(SfPurgeLock lock);

#endif							/* SF_STORE_PURGE_H */
