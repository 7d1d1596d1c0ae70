/*
 * signals.c
 *		Signals and sleep, for the launcher and the workers.
 */
#include "postgres.h"

#include <signal.h>

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/wait_event.h"

#include "base/error/debug_point.h"
#include "base/version/compat.h"
#include "worker/process/process.h"

static int	exit_code = 0;

/* Install signal handlers and let signals in; both kinds of process begin so. */
void
sf_signals_unblock(void)
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	pqsignal(SIGINT, sf_my_process_handle_cancel);
	BackgroundWorkerUnblockSignals();
}

/* Have the postmaster start this process again when it ends: it is the launcher's. */
void
sf_signals_restart_at_end(void)
{
	exit_code = 1;
}

/* End this process as planned. */
void
sf_signals_end_process(void)
{
	sf_my_process_set_end(SF_PROCESS_END_PLANNED);
	proc_exit(exit_code);
}

/* Have no scan of the due index wait longer than sfflow.poll_interval is now. */
static void
shorten_polls(void)
{
	SfTick		limit = sf_shared_next_poll();

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_foreach_database(database)
	{
		database->next_scan = Min(database->next_scan, limit);
		database->next_poll = Min(database->next_poll, limit);
	}
	LWLockRelease(sf_shared_lock);
}

/* Have tasks sought again that this process, or another one, has left by the settings before. */
static void
reconsider_tasks(void)
{
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_admit_more_tasks();
	LWLockRelease(sf_shared_lock);
}

/*
 * Take in a changed configuration (then it returns true); see to interrupts.  Between
 * turns there is nothing to roll back, so a worker that is to terminate ends without a
 * message.
 */
bool
sf_signals_handle(void)
{
	if (ProcDiePending && sf_my_process)
		sf_signals_end_process();
	CHECK_FOR_INTERRUPTS();
	if (!ConfigReloadPending)
		return false;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	shorten_polls();
	reconsider_tasks();
	return true;
}

/* Sleep until the latch is set, at most until a time. */
void
sf_signals_sleep_until(SfTick until)
{
	int64		left = until - sf_tick_now();
	long		ms = (long) Min((left + 999) / 1000, INT64CONST(86400) * 1000);

	if (sf_my_process)
		SF_DEBUG_POINT("sleep");
	if (left > 0)
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
}
