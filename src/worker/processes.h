/*
 * processes.h
 *		Starting workers and noticing that they have ended; in the launcher.
 */
#ifndef SF_WORKER_PROCESSES_H
#define SF_WORKER_PROCESSES_H

#include "worker/shared.h"

extern void sf_processes_init(void);
extern bool sf_processes_start(Oid database, SfRole role, bool first, SfErrand errand);
extern bool sf_processes_any(void);
extern bool sf_processes_keep_standby(void);
extern void sf_processes_send_keeper(Oid database);
extern SfSlot *sf_processes_reserve_slot(Oid database, SfRole role, SfErrand errand);
extern SfTick sf_processes_retry_at(void);
extern void sf_processes_reap(void);
extern void sf_processes_clear(void);

#endif							/* SF_WORKER_PROCESSES_H */
