/*
 * exits.c
 *		A worker that ends in the middle of a turn.
 *
 * A task can end its process without a crash of the server: by an error of
 * level FATAL, or by a signal that it sends to itself.  It would do so each time
 * it is run.  So the branch is noted as a suspect (poison.c) that is run by
 * itself from then on, while all others go on; after sfflow.max_crashes such
 * ends in a row it fails.
 *
 * An end that is not the task's doing is not counted: one that the postmaster
 * asks for (a shutdown), one for a command that needs the database for itself,
 * and one that another process asks for, which is an administrator's.  The sender
 * of SIGTERM tells them apart.  A signal of a program that the task has started
 * counts as the task's own: such a program is in the session of this process,
 * since each backend leads a session of its own.
 */
#include "postgres.h"

#include <signal.h>
#include <unistd.h>

#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/pmsignal.h"
#include "tcop/tcopprot.h"

#include "base/settings.h"
#include "worker/exits.h"
#include "worker/poison.h"
#include "worker/slot.h"

/* Another process has asked this one to end */
static volatile sig_atomic_t asked_to_end = false;

/* This end was noted as a branch's */
static bool is_branchs = false;

/* Handle SIGTERM: note whether it comes from outside. */
static void
handle_terminate(int signal_number, siginfo_t *info, void *context)
{
	int			save_errno = errno;

	if (info->si_pid != MyProcPid && getsid(info->si_pid) != MyProcPid)
		asked_to_end = true;
	errno = save_errno;
	die(signal_number);
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
	const SfSlot *slot = sf_slot_mine;
	SfSuspect	suspect;

	if (!slot || slot->leave || asked_to_end || !PostmasterIsAlive())
		return;
	if (!sf_poison_turn_exit(sf_slot_number(), slot->in_step ? &slot->key : NULL, &suspect))
		return;
	is_branchs = true;
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

/* Tell whether this process ends by the doing of a branch, which was noted. */
bool
sf_exits_is_branchs(void)
{
	return is_branchs;
}
