/*
 * my_process.h
 *		This process in the shared area: its step, cancel requests, its kind (SfProcessKind).
 */
#ifndef SF_WORKER_MY_PROCESS_H
#define SF_WORKER_MY_PROCESS_H

#include "worker/shared_memory/shared.h"

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
extern void sf_my_process_step_over(void);
extern void sf_my_process_handle_cancel(SIGNAL_ARGS);

#endif							/* SF_WORKER_MY_PROCESS_H */
