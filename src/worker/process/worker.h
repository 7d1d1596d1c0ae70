/*
 * worker.h
 *		The processes: the launcher and the workers of a database.
 */
#ifndef SF_WORKER_WORKER_H
#define SF_WORKER_WORKER_H

#include "postmaster/bgworker.h"

#include "base/version/compat.h"

/* Entry points of the processes */
extern PGDLLEXPORT void sfflow_launcher_main(Datum arg);
extern PGDLLEXPORT void sfflow_worker_main(Datum arg);
extern void sf_worker_live(int process, uint32 launch) pg_attribute_noreturn();
extern void sf_durations_init(void);
extern void sf_leave_init(void);
extern void sf_prepared_init(void);
extern void sf_worker_init(void);

#endif							/* SF_WORKER_WORKER_H */
