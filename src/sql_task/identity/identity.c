/*
 * identity.c
 *		Running as the owner of a machine, with no other role's rights or state.
 *
 * Three things keep owners apart (the README of sql_task/ has the protocol):
 *
 * The user id is the owner's with SECURITY_LOCAL_USERID_CHANGE, which makes
 * PostgreSQL refuse SET ROLE and SET SESSION AUTHORIZATION.  In a worker it
 * is kept until after the commit, so that code which runs at commit time runs
 * as the owner, too.  In a client's session, which commits later, the task is a guest
 * (guest.c, temp_schema.c): SECURITY_RESTRICTED_OPERATION keeps it from leaving such code
 * behind.
 *
 * Settings live in a GUC nest level, which begins with what the owner would
 * have after connecting and is rolled back as a whole.
 *
 * Session state (cursors, temporary objects, prepared statements) ends with the
 * task; advisory locks end with the transaction of the slice.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/prepare.h"
#include "commands/sequence.h"
#include "common/pg_prng.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc_tables.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "base/error/debug_point.h"
#include "base/role/role.h"
#include "base/version/compat.h"
#include "sql_task/identity/guest.h"
#include "sql_task/sql_task.h"
#include "sql_task/sql_task_internal.h"

/* This session is a worker's: it holds no client's state */
static bool private_session = false;

/* Worker: the owner whose identity is on, and the user id to go back to */
static Oid	assumed = InvalidOid;
static SfRoleSwitch own;

/* Tasks within tasks (a function may call sf_run) */
static int	depth = 0;

/* The owner whose code ran last in this session: a worker's, or one that work is done as (answer_as.c) */
static Oid	last_owner = InvalidOid;

/*
 * The settings of one owner in this database, least specific first.
 * pg_db_role_setting has no invalidation: they are read once a transaction.
 */
typedef struct Setting
{
	char	   *name;
	char	   *value;
} Setting;

static MemoryContext settings_context = NULL;
static List *settings = NIL;
static Oid	settings_owner = InvalidOid;
static LocalTransactionId settings_lxid = InvalidLocalTransactionId;

#if PG_VERSION_NUM < 160000
/* Names of the settings that a worker's session has outside of tasks, as of a transaction */
static List *session_settings = NIL;
static LocalTransactionId session_settings_lxid = InvalidLocalTransactionId;
#endif

/*
 * Declare that this session serves owners only: a background worker of ours.
 * What a task leaves behind in it may be thrown away, and therefore tasks may
 * use temporary tables, cursors and prepared statements.  Without it (a
 * client's session) tasks of another role run as guests, in a security-restricted
 * operation.
 */
void
sf_identity_private_session(void)
{
	private_session = true;
}

/* Raise an error when a role is gone. */
static void
check_role(Oid owner)
{
	if (!SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(owner)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role with OID %u does not exist", owner),
				 errdetail("It is the owner of a state machine that is running.")));
}

/*
 * Tell whether session state that an owner's code leaves may stay: the session is its own.
 * In a security-definer function, in another task and in an answer as another role
 * (answer_as.c) it serves others, too.
 */
static bool
is_at_home(Oid owner, int outer)
{
	if (private_session)
		return owner == assumed;
	return GetSessionUserId() == owner && GetOuterUserId() == owner &&
		(outer & SECURITY_LOCAL_USERID_CHANGE) == 0;
}

/* The security context for an owner's code: restricted in the session of another role. */
static int
sec_context_for(Oid owner, int outer)
{
	int			context = SECURITY_LOCAL_USERID_CHANGE |
		(outer & SECURITY_RESTRICTED_OPERATION);

	if (!is_at_home(owner, outer))
		context |= SECURITY_RESTRICTED_OPERATION;
	return context;
}

/* Tell whether the next task runs in a client's session, or within another task. */
bool
sf_identity_is_in_session(void)
{
	return !private_session || depth > 0;
}

/*
 * Tell whether code of an owner may be running: in a worker also at the commit,
 * where constraints are checked.
 */
bool
sf_identity_is_task(void)
{
	return private_session || depth > 0;
}

/* Tell whether the session's cursors and temporary objects are this task's. */
static bool
owns_session(void)
{
	return private_session && depth == 1;
}

/*
 * Forget what code of another owner left that no transaction undoes: the values of
 * sequences and the seed of random().  It costs too much after each slice.
 */
void
sf_identity_forget_other(Oid owner)
{
	if (last_owner == owner)
		return;
	ResetSequenceCaches();
	DirectFunctionCall1(setseed, Float8GetDatum(pg_prng_double(&pg_global_prng_state)));
	last_owner = owner;
}

/*
 * Take on the owner's identity until sf_identity_drop (SfTaskRunner of
 * task_runner.h): in a transaction of a worker, before the first user code.
 */
void
sf_identity_assume_owner(Oid owner)
{
	SfRoleSwitch before = sf_role_current();

	if (OidIsValid(assumed) && assumed != owner)
		elog(ERROR, "identity of role %u is still on", assumed);
	check_role(owner);
	if (!OidIsValid(assumed))
	{
		own = before;
		assumed = owner;
	}
	if (private_session)
		sf_identity_forget_other(owner);
	SetUserIdAndSecContext(owner, sec_context_for(owner, before.sec_context));
}

/*
 * Lay the identity down that the worker assumed: after the commit (or
 * abort) and outside of any transaction.  Throws away what session state is
 * left.  Cheap when nothing is on.
 */
void
sf_identity_drop(void)
{
	if (!OidIsValid(assumed))
		return;
	sf_role_restore(own);
	assumed = InvalidOid;
	if (!private_session)
		return;
	PortalHashTableDeleteAll();
	DropAllPreparedStatements();
	LockReleaseAll(USER_LOCKMETHOD, true);
}

/* Remember a setting. */
static void
remember_setting(const char *name, const char *value, void *arg)
{
	MemoryContext outer;
	Setting    *setting;

	/* The encoding is about the client, which is another one here. */
	if (pg_strcasecmp(name, "client_encoding") == 0)
		return;
	outer = MemoryContextSwitchTo(settings_context);
	setting = palloc(sizeof(Setting));
	setting->name = pstrdup(name);
	setting->value = pstrdup(value);
	settings = lappend(settings, setting);
	MemoryContextSwitchTo(outer);
}

/* Read what ALTER ROLE and ALTER DATABASE … SET say for an owner. */
static void
read_settings(Oid owner)
{
	if (settings_context == NULL)
		settings_context = AllocSetContextCreate(TopMemoryContext,
												 "sfflow role settings",
												 ALLOCSET_SMALL_SIZES);
	settings_owner = InvalidOid;
	settings = NIL;
	MemoryContextReset(settings_context);

	sf_role_settings_read(owner, remember_setting, NULL);
	settings_owner = owner;
	settings_lxid = SF_MY_LXID;
}

/*
 * The source to name for a setting.  The check of temp_tablespaces raises an
 * error for a tablespace that does not exist, at any error level, unless the
 * setting is of a role.
 */
static GucSource
source_for(const char *name)
{
	return pg_strcasecmp(name, "temp_tablespaces") == 0 ? PGC_S_TEST : PGC_S_SESSION;
}

#if PG_VERSION_NUM < 160000
/* Would RESET ALL reset a setting? */
static bool
is_to_reset(const struct config_generic *setting)
{
	return (setting->context == PGC_SUSET || setting->context == PGC_USERSET) &&
		(setting->flags & GUC_NO_RESET_ALL) == 0 && setting->source > PGC_S_OVERRIDE;
}

/* Find the settings that a worker's session has outside of tasks and that RESET ALL would reset. */
static void
find_session_settings(void)
{
	struct config_generic **all = get_guc_variables();
	int			n = GetNumConfigOptions();
	MemoryContext outer = MemoryContextSwitchTo(TopMemoryContext);

	list_free_deep(session_settings);
	session_settings = NIL;
	for (int i = 0; i < n; i++)
	{
		if (is_to_reset(all[i]))
			session_settings = lappend(session_settings, pstrdup(all[i]->name));
	}
	session_settings_lxid = SF_MY_LXID;
	MemoryContextSwitchTo(outer);
}

/*
 * RESET ALL.  Before PostgreSQL 16 that looks at every setting there is.  In a worker only
 * tasks set any during a transaction, and what they set is undone, so that its next
 * tasks reset the same settings as the first one.
 */
static void
reset_settings(void)
{
	ListCell   *lc;

	if (!owns_session())
	{
		ResetAllOptions();
		return;
	}
	if (session_settings_lxid != SF_MY_LXID)
		find_session_settings();
	foreach(lc, session_settings)
		(void) set_config_option(lfirst(lc), NULL, PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_SET, true, DEBUG1, false);
}
#else
#define reset_settings()	ResetAllOptions()
#endif

/*
 * Make the settings those of a new connection of the owner.  Settings
 * that cannot change after the start of a session, or no longer exist, are skipped.
 */
static void
apply_settings(Oid owner)
{
	int			encoding = pg_get_client_encoding();

	sf_fatal_settings_pin(true);
	PG_TRY();
	{
		SF_DEBUG_POINT("reset-settings");
		reset_settings();
	}
	PG_FINALLY();
	{
		sf_fatal_settings_pin(false);
	}
	PG_END_TRY();
	if (pg_get_client_encoding() != encoding)
		(void) set_config_option("client_encoding", pg_encoding_to_char(encoding),
								 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SET,
								 true, DEBUG1, false);
	if (settings_owner != owner || settings_lxid != SF_MY_LXID)
		read_settings(owner);
	foreach_ptr(const Setting, setting, settings)
	{
		(void) set_config_option(setting->name, setting->value, PGC_SUSET,
								 source_for(setting->name), GUC_ACTION_SET, true,
								 DEBUG1, false);
	}
}

/*
 * Search the temporary schema last: its tables and types are the session's, and have the
 * names of the owner's, perhaps.  PostgreSQL searches it first unless the path names it.
 */
static void
put_temporary_last(void)
{
	char	   *path = namespace_search_path;
	List	   *schemas;
	ListCell   *lc;

	if (!SplitIdentifierString(pstrdup(path), ',', &schemas))
		return;
	foreach(lc, schemas)
		if (strcmp(lfirst(lc), "pg_temp") == 0)
			return;
	path = schemas == NIL ? "pg_temp" : psprintf("%s, pg_temp", path);
	(void) set_config_option("search_path", path, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SET, true, DEBUG1, false);
}

/*
 * Become the owner for one task: user id, then settings in a nest level of
 * their own.  In the task's subtransaction, whose abort undoes both; then
 * sf_guest_end and sf_identity_abandon do the rest.
 */
void
sf_identity_enter(SfIdentity *identity, Oid owner)
{
	depth++;
	if (depth == 1 && private_session && owner != assumed)
		elog(ERROR, "identity of role %u is not on", owner);
	check_role(owner);
	identity->outer = sf_role_current();
	SetUserIdAndSecContext(owner, sec_context_for(owner, identity->outer.sec_context));
	identity->guc_nest_level = NewGUCNestLevel();
	identity->changes = sf_temp_schema_changes();
	if (InSecurityRestrictedOperation())
		sf_guest_begin(&identity->guest);
	apply_settings(owner);
	if (InSecurityRestrictedOperation() && sf_temp_schema_exists())
		put_temporary_last();
	if (!owns_session() && !InSecurityRestrictedOperation())
		sf_constraints_reset();
}

/*
 * Drop what a task made in the temporary schema.  PostgreSQL marks a transaction that has
 * used a temporary table or pg_temp by its name, but not one that has created something
 * through a search_path or by the schema's real name.
 */
static void
drop_temporary(const SfIdentity *identity)
{
	if ((MyXactFlags & XACT_FLAGS_ACCESSEDTEMPNAMESPACE) != 0 ||
		(sf_temp_schema_exists() && sf_temp_schema_changes() != identity->changes))
		ResetTempTableNamespace();
}

/*
 * End a task that went well: cursors are closed, deferred constraints checked,
 * temporary objects dropped, settings and user id put back.
 */
void
sf_identity_leave(const SfIdentity *identity)
{
	if (owns_session())
	{
		PortalHashTableDeleteAll();
		sf_constraints_end_task();
		drop_temporary(identity);
		DropAllPreparedStatements();
	}
	else
	{
		sf_guest_clear(&identity->guest);
		sf_constraints_check();
		sf_temp_schema_check(&identity->guest);
	}
	AtEOXact_GUC(false, identity->guc_nest_level);
	sf_role_restore(identity->outer);
	depth--;
}

/* How many tasks this session is in: what sf_identity_abandon goes back to. */
int
sf_identity_depth(void)
{
	return depth;
}

/*
 * End a task that failed, after its subtransaction was rolled back, with what
 * that does not undo.
 */
void
sf_identity_abandon(int outer_depth)
{
	if (depth == outer_depth)
		return;
	if (owns_session())
		DropAllPreparedStatements();
	depth = outer_depth;
}
