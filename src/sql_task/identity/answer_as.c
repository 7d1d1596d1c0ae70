/*
 * answer_as.c
 *		Work for another role in the middle of a client's session.
 *
 * The session goes on to serve other roles, as the connections of sfgateway do.  What
 * code of a role leaves in it must not reach the next one.  The security context keeps
 * that code from setting another role.  Advisory locks of the session end with the work,
 * or with the (sub)transaction that its error ends.  What identity.c forgets between
 * owners is forgotten when another role comes.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"

#include "sql_task/identity/guest.h"
#include "sql_task/sql_task.h"
#include "sql_task/sql_task_internal.h"

/* The subtransaction in which work goes on whose locks end with it; invalid: none does */
static SubTransactionId working_in = InvalidSubTransactionId;

/* Release the advisory locks that the work took for the session. */
static void
release_locks(void)
{
	if (working_in != InvalidSubTransactionId)
		LockReleaseSession(USER_LOCKMETHOD);
	working_in = InvalidSubTransactionId;
}

/* Release them when an error has ended the transaction. */
static void
at_end(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT)
		release_locks();
}

/* Release them when an error has ended the subtransaction in which the work began. */
static void
at_sub_end(SubXactEvent event, SubTransactionId id, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB && id == working_in)
		release_locks();
}

/*
 * Do work within the statement_timeout of the caller.  PostgreSQL's own fires once, and
 * code that catches it would run on; a task's timer repeats.
 */
static void
work_in_time(void (*work) (void *arg), void *arg)
{
	SfTimer		timer;

	sf_timer_set(&timer, StatementTimeout);
	sf_timer_start(&timer);
	PG_TRY();
	{
		work(arg);
	}
	PG_FINALLY();
	{
		sf_timer_stop(&timer);
	}
	PG_END_TRY();
	sf_timer_check(&timer);
}

/* Do work that the login of the session has not asked for itself. */
static void
work_relayed(void (*work) (void *arg), void *arg)
{
	bool		before = sf_role_set_relayed(true);

	PG_TRY();
	{
		work_in_time(work, arg);
	}
	PG_FINALLY();
	{
		(void) sf_role_set_relayed(before);
	}
	PG_END_TRY();
}

/*
 * Do work as a role.  What only reads cannot write, whatever code it reaches.  Locks that
 * the session held before stay, and then those of the work do, too: PostgreSQL does not
 * tell them apart.  After an error the end of the (sub)transaction restores the identity,
 * and whether it can write.
 */
void
sf_identity_work_as(Oid role, bool only_reads, void (*work) (void *arg), void *arg)
{
	static bool registered = false;
	SfRoleSwitch before = sf_role_current();
	bool		read_only = XactReadOnly;

	if (!registered)
	{
		RegisterXactCallback(at_end, NULL);
		RegisterSubXactCallback(at_sub_end, NULL);
		registered = true;
	}
	sf_identity_forget_other(role);
	if (!sf_guest_holds_advisory_lock())
		working_in = GetCurrentSubTransactionId();
	SetUserIdAndSecContext(role, SECURITY_LOCAL_USERID_CHANGE);
	XactReadOnly = read_only || only_reads;
	work_relayed(work, arg);
	XactReadOnly = read_only;
	release_locks();
	sf_role_restore(before);
}
