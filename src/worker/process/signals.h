/*
 * signals.h
 *		Signals and sleep, for the launcher and the workers.
 */
#ifndef SF_WORKER_SIGNALS_H
#define SF_WORKER_SIGNALS_H

#include "base/time/clock.h"
#include "base/version/compat.h"

extern void sf_signals_unblock(void);
extern bool sf_signals_handle(void);
extern void sf_signals_sleep_until(SfTick until);
extern void sf_signals_restart_at_end(void);
extern void sf_signals_end_process(void) pg_attribute_noreturn();

#endif							/* SF_WORKER_SIGNALS_H */
