/*
 * crashme.c
 *		Ends a server process in the middle of a commit that Citus coordinates, for test/scale/run.
 *
 * Loaded before Citus: its callback is called after that of Citus.  In a transaction that has called crashme_arm(), the
 * file crashme.precommit or crashme.commit in the data directory has the process end by SIGKILL at that moment.
 */
#include "postgres.h"

#include <signal.h>
#include <unistd.h>

#include "access/xact.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static bool armed = false;

/* Have this transaction end the process. */
PG_FUNCTION_INFO_V1(crashme_arm);
Datum
crashme_arm(PG_FUNCTION_ARGS)
{
	armed = true;
	PG_RETURN_VOID();
}

/* Citus has done what it does at this moment. */
static void
on_transaction(XactEvent event, void *arg)
{
	const char *path = event == XACT_EVENT_PRE_COMMIT ? "crashme.precommit" :
		event == XACT_EVENT_COMMIT ? "crashme.commit" : NULL;

	if (path != NULL && armed && access(path, F_OK) == 0)
	{
		unlink(path);
		kill(getpid(), SIGKILL);
		pause();
	}
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
		armed = false;
}

void
_PG_init(void)
{
	RegisterXactCallback(on_transaction, NULL);
}
