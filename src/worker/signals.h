/*
 * signals.h
 *		Signals and sleep, for the launcher and the workers.
 */
#ifndef SF_WORKER_SIGNALS_H
#define SF_WORKER_SIGNALS_H

#include "base/clock.h"
#include "base/compat.h"

/* Install signal handlers and let signals in; both kinds of process begin so. */
extern void sf_signals_unblock(void);

/*
 * Take in a changed configuration; see to interrupts.  Between turns there is
 * nothing to roll back, so a worker that is to terminate ends without a message.
 */
extern void sf_signals_handle(void);

/* Sleep until the latch is set, at most until a time. */
extern void sf_signals_sleep_until(SfTick until);

/* Have the postmaster start this process again when it ends: it is the launcher's. */
extern void sf_signals_restart_at_end(void);

/* End this process as planned. */
extern void sf_signals_end_process(void) pg_attribute_noreturn();

#endif							/* SF_WORKER_SIGNALS_H */
