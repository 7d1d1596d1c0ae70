/*
 * process.h
 *		A process of sfflow: a worker's life, and what the launcher's process has in common with it.
 */
#ifndef SF_WORKER_PROCESS_H
#define SF_WORKER_PROCESS_H

#include "postmaster/bgworker.h"

#include "base/time/clock.h"
#include "base/version/compat.h"
#include "run/slice/slice.h"
#include "worker/shared_memory/shared.h"

/* --- worker.c: a worker of a database --- */

extern PGDLLEXPORT void sfflow_worker_main(Datum arg);
extern void sf_worker_run(int process, uint32 launch) pg_attribute_noreturn();

/* --- my_process.c: its task, cancel requests, its kind (SfProcessKind) --- */

/* NULL in a session */
extern SfProcess *sf_my_process;
extern void sf_my_process_init(void);
extern bool sf_my_process_attach(int number, uint32 launch);
extern bool sf_my_process_awaits_database(bool *wanted);

/* Why this process ends */
typedef enum SfProcessEnd
{
	SF_PROCESS_END_BY_ERROR,	/* unless it is told otherwise, or the exit code is 0 */
	SF_PROCESS_END_PLANNED,
	SF_PROCESS_END_BY_BRANCH	/* a task ended it: exits.c has noted the branch */
} SfProcessEnd;

extern void sf_my_process_set_end(SfProcessEnd end);
extern int	sf_my_process_number(void);

/*
 * What this process does right after the coming commit, so that no other one is
 * woken for work that the commit makes due
 */
extern void sf_my_process_takes_keys_next(void);
extern void sf_my_process_runs_next(SfBranchKey key);
extern bool sf_my_process_will_take_keys(void);
extern bool sf_my_process_will_run(SfBranchKey key);
extern void sf_my_process_attempt_begins(void);
extern void sf_my_process_xact_ends(void);
extern void sf_my_process_task_over(void);
extern void sf_my_process_handle_cancel(SIGNAL_ARGS);

/* --- verdict.c: whether a database is to be worked on --- */

/* Whether this database is to be worked on at all */
typedef enum SfVerdict
{
	SF_VERDICT_MAY_WORK,
	SF_VERDICT_NOT_DRIVEN,		/* another copy, disabled, or of another schema */
	SF_VERDICT_NO_EXTENSION
} SfVerdict;

extern SfVerdict sf_verdict(void);
extern bool sf_verdict_prepare(void);

/* --- admit.c: how many of them may be in the code of one owner --- */

/* --- all of these want the lock held exclusively --- */

extern bool sf_admit_inline(SfProcess *process, Oid owner);
extern bool sf_admit_task(SfProcess *process, Oid owner, bool known_long);
extern bool sf_admit_delivery(SfProcess *process, Oid owner);
extern void sf_admit_release(SfProcess *process);
extern void sf_admit_end(SfProcess *process);
extern void sf_admit_more_tasks(void);
extern void sf_admit_want(SfDatabase *database, SfTasksLeft left, uint32 releases);
extern int	sf_admit_shares(const SfProcess *process, SfOwnerShare *shares);

/* Which tasks a process may take on */
typedef enum SfAdmission
{
	SF_ADMIT_NONE,
	SF_ADMIT_NEW_OWNERS,		/* of owners that occupy no process */
	SF_ADMIT_ALL
} SfAdmission;

extern bool sf_admit_task_process_stands_by(Oid database);
extern SfAdmission sf_admit_last_worker(Oid database);
extern SfTasksLeft sf_admit_takes(SfAdmission admission);
extern int	sf_admit_max_tasks(void);
extern int	sf_admit_max_per_owner(void);

/* --- signals.c: signals and sleep, for the launcher and the workers --- */

extern void sf_signals_unblock(void);
extern bool sf_signals_handle(void);
extern void sf_signals_sleep_until(SfTick until);
extern void sf_signals_restart_at_end(void);
extern void sf_signals_end_process(void) pg_attribute_noreturn();

#endif							/* SF_WORKER_PROCESS_H */
