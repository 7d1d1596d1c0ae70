/*
 * processes.h
 *		Starting workers and noticing that they have ended; in the launcher.
 */
#ifndef SF_WORKER_PROCESSES_H
#define SF_WORKER_PROCESSES_H

#include "worker/shared.h"

/* Prepare; once. */
extern void sf_processes_init(void);

/*
 * Start a process for a database, maybe its first; false when that cannot be
 * done now.
 */
extern bool sf_processes_start(Oid database, SfRole role, bool first, SfErrand errand);

/* Tell whether there is any process but the launcher and the one on standby. */
extern bool sf_processes_any(void);

/*
 * Have a process on standby, without a database: the keeper to be, or the only
 * worker.  False: the postmaster refuses it.
 */
extern bool sf_processes_keep_standby(void);

/* Have the keeper, which runs no user code, advance a database. */
extern void sf_processes_send_keeper(Oid database);

/* Take a slot for the launcher's own process. */
extern SfSlot *sf_processes_take_slot(Oid database, bool suspects);

/* When the postmaster may be asked again, after it refused a process. */
extern SfTick sf_processes_retry_at(void);

/* Free the slots of processes that ended without doing so themselves. */
extern void sf_processes_reap(void);

/* Free the slots that a launcher before this one left behind. */
extern void sf_processes_clear(void);

#endif							/* SF_WORKER_PROCESSES_H */
