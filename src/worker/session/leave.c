/*
 * leave.c
 *		Making way for commands that want a database to themselves.
 *
 * DROP DATABASE, RENAME, SET TABLESPACE and CREATE DATABASE ... TEMPLATE fail
 * while another session is connected.  Before one of them runs, the workers of
 * that database are asked to leave, and no new one is started until the command's
 * transaction has committed or rolled back.  Idle workers leave at once, others
 * after their slice.  A process that is still there after SF_LEAVE_GRACE_MS is
 * terminated, which rolls its task back.
 *
 * ALTER and DROP EXTENSION need the tables to themselves and do the same to their
 * own database.  Afterwards the database is looked at again.
 */
#include "postgres.h"

#include <signal.h>

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/ipc.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/syscache.h"
#include "utils/wait_event.h"

#include "base/time/timing.h"
#include "base/version/compat.h"
#include "db/table.h"
#include "worker/launcher/launcher.h"
#include "worker/process/process.h"
#include "worker/session/await.h"
#include "worker/shared_memory/shared.h"

static ProcessUtility_hook_type previous_utility_hook = NULL;

/* The database that this transaction wants to itself */
static Oid	emptied = InvalidOid;

/* ... to drop it */
static bool dropping = false;

/* Let workers into the database again, or forget it when it is gone. */
static void
let_in(bool gone)
{
	SfDatabase *database;
	Oid			oid = emptied;
	bool		last;

	if (!OidIsValid(oid))
		return;
	database = sf_shared_lock_database(oid);
	emptied = InvalidOid;
	last = database && database->leaving > 0 && --database->leaving == 0;
	if (last && gone)
		database->oid = InvalidOid;
	else if (last)
	{
		database->status = SF_DATABASE_UNKNOWN;
		database->registrations++;
		sf_shared_want_scan(database);
		database->failures = 0;
		database->not_before = SF_TICK_AT_ONCE;
		sf_shared_wake_launcher();
	}
	LWLockRelease(sf_shared_lock);
	if (gone)
		sf_databases_clear(oid);
}

/*
 * The transaction is over, for this session at least: what is prepared keeps its locks, for
 * which workers wait as others do.
 */
static void
on_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
	{
		let_in(dropping && event == XACT_EVENT_COMMIT);
		dropping = false;
	}
}

/* The process is over. */
static void
on_exit_of_process(int code, Datum arg)
{
	let_in(false);
}

/* Ask the processes in a database to go, or make them; returns their number. */
static int
ask_to_leave(Oid oid, bool insist)
{
	int			count = 0;

	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	sf_foreach_process(process)
	{
		if (process->status == SF_PROCESS_STATUS_FREE || process->database != oid)
			continue;
		count++;
		process->is_to_leave = true;
		if (insist && process->pid != 0)
			kill(process->pid, SIGTERM);
		else
			sf_shared_wake_process(process);
	}
	LWLockRelease(sf_shared_lock);
	return count;
}

/* Mark a database as to be left; false when no process can be in it. */
static bool
close_database(Oid oid)
{
	SfDatabase *database = sf_shared_lock_database(oid);

	if (database)
	{
		database->leaving++;
		emptied = oid;
	}
	LWLockRelease(sf_shared_lock);
	return database != NULL;
}

/* Have the workers of a database leave, until this transaction is over. */
static void
empty_database(Oid oid)
{
	static bool registered = false;
	SfTick		start = sf_tick_now();
	bool		insisted = false;

	if (!OidIsValid(oid) || OidIsValid(emptied))
		return;
	if (!registered)
		before_shmem_exit(on_exit_of_process, (Datum) 0);
	registered = true;
	if (!close_database(oid))
		return;

	ConditionVariablePrepareToSleep(&sf_shared->process_ended);
	for (;;)
	{
		SfTick		now = sf_tick_now();
		bool		insist = !insisted &&
			now >= sf_tick_plus_ms(start, SF_LEAVE_GRACE_MS);

		insisted = insisted || insist;
		if (ask_to_leave(oid, insist) == 0 ||
			now >= sf_tick_plus_ms(start, SF_LEAVE_WAIT_MS))
			break;
		(void) ConditionVariableTimedSleep(&sf_shared->process_ended, SF_LEAVE_RECHECK_MS,
										   PG_WAIT_EXTENSION);
	}
	ConditionVariableCancelSleep();
}

/* Tell whether the user has CREATEDB; the core's own function is not in every 15. */
static bool
has_createdb(void)
{
	HeapTuple	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetUserId()));
	bool		has = false;

	if (HeapTupleIsValid(tuple))
	{
		has = ((Form_pg_authid) GETSTRUCT(tuple))->rolcreatedb;
		ReleaseSysCache(tuple);
	}
	return has;
}

/* Tell whether the user may do to a database what needs it empty. */
static bool
may_empty(Oid oid, bool as_template)
{
	HeapTuple	tuple;
	bool		is_template = false;

	if (!OidIsValid(oid))
		return false;
	if (superuser() || SF_OWNS_DATABASE(oid, GetUserId()))
		return true;
	if (!as_template)
		return false;

	/* any role with CREATEDB may copy a template */
	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(oid));
	if (HeapTupleIsValid(tuple))
	{
		is_template = ((Form_pg_database) GETSTRUCT(tuple))->datistemplate;
		ReleaseSysCache(tuple);
	}
	return is_template && has_createdb();
}

/* The value of a command's option, or NULL. */
static const char *
option_value(List *options, const char *name)
{
	ListCell   *cell;

	foreach(cell, options)
	{
		DefElem    *option = lfirst_node(DefElem, cell);

		if (strcmp(option->defname, name) == 0 && option->arg != NULL)
			return defGetString(option);
	}
	return NULL;
}

/* Tell whether a command makes, changes or removes the extension. */
static bool
concerns_extension(Node *statement)
{
	ListCell   *cell;

	switch (nodeTag(statement))
	{
		case T_CreateExtensionStmt:
			return strcmp(((CreateExtensionStmt *) statement)->extname, "sfflow") == 0;
		case T_AlterExtensionStmt:
			return strcmp(((AlterExtensionStmt *) statement)->extname, "sfflow") == 0;
		case T_DropStmt:
			if (((DropStmt *) statement)->removeType != OBJECT_EXTENSION)
				return false;
			foreach(cell, ((DropStmt *) statement)->objects)
			{
				if (strcmp(strVal(lfirst(cell)), "sfflow") == 0)
					return true;
			}
			return false;
		default:
			return false;
	}
}

/* Tell whether the user may change or drop the extension. */
static bool
may_change_extension(void)
{
	return OidIsValid(get_extension_oid("sfflow", true)) &&
		has_privs_of_role(GetUserId(), sf_db_owner());
}

/* Empty the database that a command needs empty. */
static void
prepare_for(Node *statement)
{
	const char *name = NULL;
	bool		as_template = false;
	Oid			oid;

	switch (nodeTag(statement))
	{
		case T_DropdbStmt:
			name = ((DropdbStmt *) statement)->dbname;
			break;
		case T_RenameStmt:
			if (((RenameStmt *) statement)->renameType == OBJECT_DATABASE)
				name = ((RenameStmt *) statement)->subname;
			break;
		case T_AlterDatabaseStmt:
			if (option_value(((AlterDatabaseStmt *) statement)->options, "tablespace"))
				name = ((AlterDatabaseStmt *) statement)->dbname;
			break;
		case T_CreatedbStmt:
			name = option_value(((CreatedbStmt *) statement)->options, "template");
			if (!name)
				name = "template1";
			as_template = true;
			break;
		default:
			break;
	}
	if (!IsTransactionState())
		return;

	/* the tables are locked for this, and a long task holds on to them */
	if (concerns_extension(statement) && !IsA(statement, CreateExtensionStmt) &&
		may_change_extension())
		empty_database(MyDatabaseId);
	if (!name)
		return;
	oid = get_database_oid(name, true);
	if (!may_empty(oid, as_template))
		return;
	empty_database(oid);
	dropping = IsA(statement, DropdbStmt) && emptied == oid;
}

/* Run a utility command, with what goes before and after it here. */
static void
process_utility(PlannedStmt *planned, const char *query, bool read_only_tree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *environment, DestReceiver *dest,
				QueryCompletion *completion)
{
	if (sf_shared)
		prepare_for(planned->utilityStmt);

	if (previous_utility_hook)
		previous_utility_hook(planned, query, read_only_tree, context, params,
							  environment, dest, completion);
	else
		standard_ProcessUtility(planned, query, read_only_tree, context, params,
								environment, dest, completion);

	/* read again: the tree may be a copy that was worked on */
	if (sf_shared && concerns_extension(planned->utilityStmt))
		sf_wake_register();
}

/* Make commands that need a database to themselves work (leave.c). */
void
sf_leave_init(void)
{
	previous_utility_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
	RegisterXactCallback(on_transaction, NULL);
}
