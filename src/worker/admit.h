/*
 * admit.h
 *		Sharing slots: how many processes may be in the code of one owner.
 */
#ifndef SF_WORKER_ADMIT_H
#define SF_WORKER_ADMIT_H

#include "run/slice.h"
#include "worker/shared.h"

/* --- all of these want the lock held exclusively --- */

/*
 * Ask to run short tasks of an owner in the turn that begins.  False: the
 * owner has its share; its tasks are to be announced, not run.
 */
extern bool sf_admit_inline(SfSlot *slot, Oid owner);

/* Ask to run an announced task of an owner; false: the owner has its share. */
extern bool sf_admit_task(SfSlot *slot, Oid owner);

/* Give the admission back; have tasks looked for that waited for it. */
extern void sf_admit_release(SfSlot *slot);

/* The same, when the process of a slot ends. */
extern void sf_admit_end(SfSlot *slot);

/*
 * A task was left because its owner had its share when releases was read: have it
 * looked for when a slot is given back, or at once if one has been.
 */
extern void sf_admit_want(SfDatabase *database, uint32 releases);

/*
 * List the limits of owners that hold slots in this slot's database: how many
 * more tasks they may have (none, if tasks of new owners only are wanted).
 * limits has room for as many as there are slots.
 */
extern int	sf_admit_limits(const SfSlot *slot, bool new_owners_only,
							SfOwnerLimit *limits);

/* Which tasks a process may take on */
typedef enum SfAdmission
{
	SF_ADMIT_NONE,
	SF_ADMIT_NEW_OWNERS,		/* of owners that hold no slot */
	SF_ADMIT_ALL
} SfAdmission;

/* Tell whether a process for a task stands by in a database. */
extern bool sf_admit_task_process_stands_by(Oid database);

/* Which tasks the last worker of a database may take itself. */
extern SfAdmission sf_admit_last_worker(Oid database);

/* Tasks of all owners that may hold a slot at once. */
extern int	sf_admit_max_tasks(void);

/* Tasks of one owner that may hold a slot at once. */
extern int	sf_admit_max_per_owner(void);

#endif							/* SF_WORKER_ADMIT_H */
