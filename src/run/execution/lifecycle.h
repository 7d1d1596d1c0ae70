/*
 * lifecycle.h
 *		Executions begin, are stopped, and go on again.
 *
 * Nothing here asks for rights; all of it happens in the caller's transaction.
 */
#ifndef SF_RUN_LIFECYCLE_H
#define SF_RUN_LIFECYCLE_H

#include "run/apply/apply.h"
#include "store/audit/audit.h"

extern bool sf_lifecycle_label(SfExecution *execution, SfError *error);
extern SfBegan sf_lifecycle_begin(SfExecution *execution);
extern void sf_lifecycle_begin_all(SfExecution *const *executions, int n, SfBegan *began);
extern SfBranch *sf_lifecycle_root(const SfExecution *execution, int state,
								   Jsonb *payload);
extern void sf_lifecycle_restart(SfExecution *execution, const SfExecution *wanted);
extern bool sf_lifecycle_replace(int64 execution_no, const SfExecution *wanted);
extern void sf_lifecycle_stop(SfExecution *execution, const char *error,
							  const char *cause);

/* What a redrive goes on from */
typedef struct SfRedrivenFrom
{
	char	   *states;			/* their names, in quotes, with commas */
	int			nstates;
	bool		only_fails;		/* all of them are Fail states */
} SfRedrivenFrom;

extern void sf_lifecycle_check_redrivable(const SfExecution *execution);
extern int	sf_lifecycle_redrive(SfExecution *execution,
								 const char *from_state, Jsonb *input,
								 SfRedrivenFrom *from);

/* What comes of a redrive that does not wait */
typedef enum SfRedriven
{
	SF_REDRIVE_DONE,
	SF_REDRIVE_BUSY,			/* another session holds a branch */
	SF_REDRIVE_NOTHING_LEFT,	/* it has no branches */
	SF_REDRIVE_FROZEN			/* a feature keeps it as it is */
} SfRedriven;

extern SfRedriven sf_lifecycle_try_redrive(SfExecution *execution, const char **frozen_by);
extern void sf_lifecycle_redrive_item(SfMapRun *map_run, SfExecution *execution);

extern void sf_lifecycle_note_mark(SfExecution *execution, int state, int *iterations,
								   int niterations, Jsonb *details);

/* --- migrate.c: migrate an execution to another version of its machine --- */

extern Jsonb *sf_migrate_execution(SfExecution *execution, int version, const Jsonb *state_map,
								   bool rewinds);

/* --- nested_execution.c: executions that a Task of another execution starts --- */

extern bool sf_nested_start(const SfDraft *draft, const SfBranch *branch, int generation,
							const SfResource *resource, Jsonb *payload,
							Jsonb **output, SfError *error);

/* --- retention.c: purge executions by their age --- */

/* Who sweeps for executions to purge */
typedef enum SfRetentionCaller
{
	SF_RETENTION_BY_WORKER,		/* a worker: each batch has a transaction of its own */
	SF_RETENTION_BY_PROCEDURE,		/* a session, that commits after each batch */
	SF_RETENTION_BY_TRANSACTION	/* a session, in one transaction */
} SfRetentionCaller;

/* What a batch of a sweep has done, each more than the one before */
typedef enum SfRetentionDeed
{
	SF_RETENTION_DEED_LOOKED,		/* nothing but to look */
	SF_RETENTION_DEED_WROTE,			/* it has locked or written something */
	SF_RETENTION_DEED_ARCHIVED		/* it has called an archive function */
} SfRetentionDeed;

/* Where a sweep for executions to purge stands; zero: at the beginning of one of a worker */
typedef struct SfRetention
{
	SfRetentionCaller caller;
	TimestampTz began_at;		/* of a session: when it called */
	bool		audit_done;		/* rows of sf_audit that are old enough are deleted */
	SfAuditBatch audit;			/* ... until here */
	int			machine_no;		/* swept, with all below */
	int			nswept;			/* statuses of the next machine that are swept, of those in retention.c */
	int64		purged;
	int			tried_machine_no;	/* of the last batch, or SF_NO_MACHINE */
	bool		again;			/* to be begun anew: a machine with an archive function has more */
	SfRetentionDeed did;		/* this batch */
	int			lock_level;		/* of sf_brief_locks_begin(), or 0 */
} SfRetention;

struct SfActivity;

/* Takes executions that are old enough to go, a List of int64 *; returns how many more are wanted. */
typedef int (*SfRetentionTake) (const List *numbers, void *arg);

extern bool sf_retention_collect(const struct SfActivity *activity, int wanted, SfRetentionTake take, void *arg);
extern void sf_retention_check(const Jsonb *options);
extern bool sf_retention_batch(SfRetention *sweep);
extern bool sf_retention_skip(SfRetention *sweep);

#endif							/* SF_RUN_LIFECYCLE_H */
