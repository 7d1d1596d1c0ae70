/*
 * admit.h
 *		Sharing slots: how many processes may be in the code of one owner.
 */
#ifndef SF_WORKER_ADMIT_H
#define SF_WORKER_ADMIT_H

#include "run/slice.h"
#include "worker/shared.h"

/* --- all of these want the lock held exclusively --- */

extern bool sf_admit_inline(SfSlot *slot, Oid owner);
extern bool sf_admit_task(SfSlot *slot, Oid owner);
extern bool sf_admit_delivery(SfSlot *slot, Oid owner);
extern void sf_admit_release(SfSlot *slot);
extern void sf_admit_end(SfSlot *slot);
extern void sf_admit_want(SfDatabase *database, SfTasksLeft left, uint32 releases);
extern int	sf_admit_limits(const SfSlot *slot, SfOwnerLimit *limits);

/* Which tasks a process may take on */
typedef enum SfAdmission
{
	SF_ADMIT_NONE,
	SF_ADMIT_NEW_OWNERS,		/* of owners that hold no slot */
	SF_ADMIT_ALL
} SfAdmission;

extern bool sf_admit_task_process_stands_by(Oid database);
extern SfAdmission sf_admit_last_worker(Oid database);
extern SfTasksLeft sf_admit_takes(SfAdmission admission);
extern int	sf_admit_max_tasks(void);
extern int	sf_admit_max_per_owner(void);

#endif							/* SF_WORKER_ADMIT_H */
