/*
 * exits.c
 *		A worker that ends in the middle of a turn.
 *
 * A task can end its process without a crash of the server: by an error of
 * level FATAL, or by a signal that it sends to itself.  It would do so each time
 * it runs.  So the branch is noted as a suspect (poison.c) and runs by itself
 * from then on, while all others go on; after sfflow.max_crashes such ends in a
 * row it fails.
 *
 * Ends that the task did not cause are not counted: a shutdown, a command that
 * needs the database for itself, and an administrator's pg_terminate_backend().
 * The sender of SIGTERM tells them apart.  A signal from a program that the task
 * started counts as the task's own: each backend leads a session, and such a
 * program is in it.
 */
#include "postgres.h"

#include <signal.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/pmsignal.h"
#include "tcop/tcopprot.h"

#include "base/settings.h"
#include "worker/fault/fault.h"
#include "worker/process/process.h"

/* Another process has asked this one to end */
static volatile sig_atomic_t asked_to_end = false;

/* Handle SIGTERM: note whether it comes from outside. */
static void
handle_terminate(int signal_number, siginfo_t *info, void *context)
{
	int			save_errno = errno;

	if (info->si_pid != MyProcPid && getsid(info->si_pid) != MyProcPid)
		asked_to_end = true;
	errno = save_errno;
	SF_DIE(signal_number, info);
}

/* Take over SIGTERM. */
void
sf_exits_watch_signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handle_terminate;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGTERM, &action, NULL) < 0)
		elog(ERROR, "could not install a signal handler: %m");
}

/* The process ends: note the branches of its turn, if it is in one. */
static void
note_end(int code, Datum arg)
{
	const SfProcess *process = sf_my_process;
	SfSuspect	suspect;

	if (!process || process->is_to_leave || asked_to_end || !PostmasterIsAlive())
		return;
	if (!sf_poison_turn_exit(sf_my_process_number(), process->in_task ? &process->key : NULL, &suspect))
		return;
	sf_my_process_set_end(SF_PROCESS_END_BY_BRANCH);
	ereport(LOG,
			(errmsg("sfflow worker ends while it runs branch " INT64_FORMAT " of execution " INT64_FORMAT,
					suspect.key.branch_no, suspect.key.execution_no),
			 errdetail("That has happened %d times in a row; after sfflow.max_crashes = %d the branch fails.",
					   suspect.exits, sf_setting_max_crashes)));
}

/* Have the end of the process noted. */
void
sf_exits_watch_end(void)
{
	before_shmem_exit(note_end, (Datum) 0);
}
