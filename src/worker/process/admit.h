/*
 * admit.h
 *		Sharing processes: how many of them may be in the code of one owner.
 */
#ifndef SF_WORKER_ADMIT_H
#define SF_WORKER_ADMIT_H

#include "run/slice/slice.h"
#include "worker/shared_memory/shared.h"

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

#endif							/* SF_WORKER_ADMIT_H */
