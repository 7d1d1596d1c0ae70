/*
 * processes.h
 *		Starting workers and noticing that they have ended; in the launcher.
 */
#ifndef SF_WORKER_PROCESSES_H
#define SF_WORKER_PROCESSES_H

#include "utils/timestamp.h"
#include "worker/shared.h"

/* Prepare; once. */
extern void sf_processes_init(void);

/*
 * Start a process for a database, maybe its first; false when that cannot be
 * done now.  probing: it finds out what the database holds; suspects: it runs
 * the suspects of a crash.
 */
extern bool sf_processes_start(Oid database, SfRole role, bool first,
							   bool probing, bool suspects);

/* Start a process that looks at a database, and leaves; false as above. */
extern bool sf_processes_look(Oid database);

/* When the postmaster may be asked again, after it refused a process. */
extern TimestampTz sf_processes_retry_at(void);

/* Free the slots of processes that ended without doing so themselves. */
extern void sf_processes_reap(void);

/* Free the slots that a launcher before this one left behind. */
extern void sf_processes_clear(void);

#endif							/* SF_WORKER_PROCESSES_H */
