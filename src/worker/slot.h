/*
 * slot.h
 *		The slot of this process: its step, cancel requests, its role.
 */
#ifndef SF_WORKER_SLOT_H
#define SF_WORKER_SLOT_H

#include "worker/shared.h"

/* NULL in a session */
extern SfSlot *sf_slot_mine;

/* Fill the hooks that concern the running step. */
extern void sf_slot_init(void);

/* Take the slot that the launcher kept; false: it was given up meanwhile. */
extern bool sf_slot_attach(int number, uint32 launch);

/* Wait for a database to be named to this process; false: it is not wanted. */
extern bool sf_slot_await_database(void);

/* Say that this process ends because it is to, whatever its exit code. */
extern void sf_slot_set_done(void);

/* Its number in the shared area. */
extern int	sf_slot_number(void);

/*
 * Say whether this process looks for work right after the coming commit, so
 * that nobody else has to be woken for one branch.
 */
extern void sf_slot_set_goes_on(bool goes_on);
extern bool sf_slot_goes_on(void);

/*
 * Say which announced task this process runs right after the coming commit
 * (NULL: none), so that nobody else is woken for it.
 */
extern void sf_slot_set_own_task(const SfBranchKey *key);
extern bool sf_slot_is_own_task(SfBranchKey key);

/* End the current step; a cancel that comes later hits nothing. */
extern void sf_slot_step_over(void);

/* Handle SIGINT: a cancel request for this step, or an administrator's. */
extern void sf_slot_handle_cancel(int signal_number);

#endif							/* SF_WORKER_SLOT_H */
