/*
 * prepared.c
 *		Waking workers when a prepared transaction ends.
 *
 * PREPARE TRANSACTION drops the notices of the transaction (worker/session/wake.c): shared memory
 * would not have them after a crash.  What the transaction made due, or locked, concerns the
 * workers when COMMIT PREPARED or ROLLBACK PREPARED ends it, in any session.  Which
 * prepared transactions have written tables of the extension is known by their locks,
 * which a crash leaves them.  If there is one before such a command, a worker reads the
 * due index after it.  Other prepared transactions wake no worker.
 */
#include "postgres.h"

#include "access/twophase.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "tcop/utility.h"

#include "db/table.h"
#include "store/feature.h"
#include "worker/process/process.h"
#include "worker/session/await.h"

static ProcessUtility_hook_type previous_utility_hook = NULL;

/* Does a command end a prepared transaction? */
static bool
ends_prepared(Node *statement)
{
	TransactionStmtKind kind;

	if (!IsA(statement, TransactionStmt))
		return false;
	kind = ((TransactionStmt *) statement)->kind;
	return kind == TRANS_STMT_COMMIT_PREPARED || kind == TRANS_STMT_ROLLBACK_PREPARED;
}

/* Is a transaction prepared?  One that was so at the start of the server has no backend. */
static bool
is_prepared(VirtualTransactionId vxid)
{
	bool		more;

	return VirtualTransactionIdIsRecoveredPreparedXact(vxid) ||
		TransactionIdIsValid(TwoPhaseGetXidByVirtualXID(vxid, &more));
}

/* Has a prepared transaction written a table? */
static bool
is_written(Oid relation)
{
	LOCKTAG		tag;
	VirtualTransactionId *writers;

	if (!OidIsValid(relation))
		return false;
	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relation);
	writers = GetLockConflicts(&tag, ShareLock, NULL);
	for (int i = 0; VirtualTransactionIdIsValid(writers[i]); i++)
		if (is_prepared(writers[i]))
			return true;
	return false;
}

/* Has a prepared transaction of this database written a table of the extension? */
static bool
writes_tables(void)
{
	Oid			branch;

	if (!IsTransactionState() || !OidIsValid(MyDatabaseId))
		return false;
	branch = sf_db_relation("branch");
	if (!OidIsValid(branch) || is_written(branch))
		return OidIsValid(branch);
	SF_TABLES(table)
		if (is_written(sf_db_relation(table->name)))
			return true;
	return false;
}

/* Run a utility command. */
static void
process_utility(PlannedStmt *planned, const char *query, bool read_only_tree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *environment, DestReceiver *dest,
				QueryCompletion *completion)
{
	bool		wakes = ends_prepared(planned->utilityStmt) && writes_tables();

	if (previous_utility_hook)
		previous_utility_hook(planned, query, read_only_tree, context, params,
							  environment, dest, completion);
	else
		standard_ProcessUtility(planned, query, read_only_tree, context, params,
								environment, dest, completion);
	if (wakes)
		sf_wake_scan();
}

/* See the ends of prepared transactions. */
void
sf_prepared_init(void)
{
	previous_utility_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
