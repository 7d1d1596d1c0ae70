/*
 * retention.h
 *		Purge executions by their age.
 */
#ifndef SF_RUN_RETENTION_H
#define SF_RUN_RETENTION_H

#include "store/audit/audit.h"

/* What a sweep has of a machine if no batch has come to one */
#define SF_AT_NO_MACHINE	0

/* Where a sweep for executions to purge stands; zero: at its beginning */
typedef struct SfRetention
{
	bool		in_session;		/* not a worker */
	TimestampTz began_at;		/* ... but a call, at this time */
	bool		one_transaction;	/* the batches share a transaction */
	bool		audit_done;		/* rows of sf_audit that are old enough are deleted */
	SfAuditBatch audit;			/* ... until here */
	int			machine_no;		/* swept, with all below */
	int			nswept;			/* statuses of the next machine that are swept, of those in retention.c */
	int64		purged;
	int			at;				/* machine of the last batch, or SF_AT_NO_MACHINE */
	bool		again;			/* to be begun anew: a machine with an archive function has more */
	bool		ran;			/* this batch has called an archive function */
	bool		wrote;			/* ... or locked or written something */
} SfRetention;

struct SfActivity;

/* Takes executions that are old enough to go, a List of int64 *; returns how many more are wanted. */
typedef int (*SfRetentionTake) (const List *numbers, void *arg);

extern bool sf_retention_collect(const struct SfActivity *activity, int wanted, SfRetentionTake take, void *arg);
extern void sf_retention_check(const Jsonb *options);
extern bool sf_retention_batch(SfRetention *sweep);
extern bool sf_retention_skip(SfRetention *sweep);

#endif							/* SF_RUN_RETENTION_H */
