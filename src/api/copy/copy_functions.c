/*
 * copy_functions.c
 *		sf_enable, sf_set_node, sf_disable: whether this copy of the database is driven.
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "base/version/schema.h"
#include "copy/copy_decision.h"
#include "copy/instance.h"
#include "copy/load_guard.h"
#include "db/table.h"
#include "store/audit/audit.h"
#include "store/role/privilege.h"

/* It answers also where the schema is not the library's. */
PG_FUNCTION_INFO_V1(sfflow_note_load);

/* Let a superuser or the extension's owner pass. */
static void
check_operator(const char *function)
{
	if (!superuser() && !has_privs_of_role(GetUserId(), sf_db_owner()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", function),
				 errdetail("Only a superuser or the owner of the extension may call it.")));
}

/* sf_enable(): drive this copy of the database. */
SF_SQL_FUNCTION(sfflow_sf_enable)
{
	check_operator("sf_enable");
	sf_privilege_anchor_all();
	sf_instance_enable();
	sf_audit_note("enable", SF_OBJECT_ALL, "*", "*", NULL, NULL);
	PG_RETURN_VOID();
}

/* sf_set_node(node): draw the numbers of a node. */
SF_SQL_FUNCTION(sfflow_sf_set_node)
{
	int			node = PG_ARGISNULL(0) ? SF_NO_NODE : PG_GETARG_INT32(0);

	check_operator("sf_set_node");
	if (node < 0 || node > SF_MAX_NODE)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument node must be from 0 to %d", SF_MAX_NODE)));
	sf_instance_set_node(node);
	sf_audit_note("set_node", SF_OBJECT_ALL, "*", "*", NULL, NULL);
	PG_RETURN_VOID();
}

/* sf_disable(): stop driving this database. */
SF_SQL_FUNCTION(sfflow_sf_disable)
{
	check_operator("sf_disable");
	sf_instance_disable();
	sf_audit_note("disable", SF_OBJECT_ALL, "*", "*", NULL, NULL);
	PG_RETURN_VOID();
}

/*
 * Trigger: rows were inserted, not by sfflow.  Also into tables of another schema: a dump
 * of it is loaded there before they are updated.
 */
Datum
sfflow_note_load(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function note_load was not called by a trigger")));
	if (!sf_load_guard_is_moving())
		sf_instance_stop("rows were loaded into the tables of _sfflow, as from a dump, so that nothing runs twice");
	return PointerGetDatum(NULL);
}

/*
 * Apply the rules that recognize a copied data directory, for tests.  Arguments:
 * own, kind, standby.signal, recovery.signal, a recovery target, backup_label,
 * shut down in recovery.  Result: the kind that the directory gets, and "new id"
 * if its id changes.
 */
SF_SQL_FUNCTION(sfflow_decide_copy)
{
	char	   *kind = text_to_cstring(PG_GETARG_TEXT_PP(1));
	SfCopyFacts facts = {0};
	SfCopyDecision decision;

	facts.own = PG_GETARG_BOOL(0);
	if (!sf_copy_kind_of(kind, &facts.kind))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("kind of data directory \"%s\" does not exist", kind)));
	facts.standby_signal = PG_GETARG_BOOL(2);
	facts.recovery_signal = PG_GETARG_BOOL(3);
	facts.recovery_target = PG_GETARG_BOOL(4);
	facts.backup_label = PG_GETARG_BOOL(5);
	facts.shut_down_in_recovery = PG_GETARG_BOOL(6);
	decision = sf_copy_decide(&facts);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s%s", sf_copy_kind_name(decision.kind),
											  decision.keep_id ? "" : ", new id")));
}
