/*
 * worker.h
 *		The processes: the launcher and the workers of a database.
 */
#ifndef SF_WORKER_WORKER_H
#define SF_WORKER_WORKER_H

#include "base/compat.h"
#include "postmaster/bgworker.h"

/* What a worker is told: travels in bgw_extra */
typedef struct SfWorkerOrder
{
	int			slot;
	uint32		launch;
} SfWorkerOrder;

/* Entry points of the processes */
extern PGDLLEXPORT void sfflow_launcher_main(Datum arg);
extern PGDLLEXPORT void sfflow_worker_main(Datum arg);
extern void sf_worker_live(int slot, uint32 launch) pg_attribute_noreturn();
extern void sf_launcher_init(void);
extern void sf_leave_init(void);
extern void sf_worker_init(void);

#endif							/* SF_WORKER_WORKER_H */
