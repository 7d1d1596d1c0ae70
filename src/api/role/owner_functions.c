/*
 * owner_functions.c
 *		sf_alter_owner(), sf_reassign_owned().
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/compat.h"
#include "base/version/schema.h"
#include "run/gate/gate.h"
#include "store/audit/audit.h"
#include "store/role/owner.h"
#include "store/role/privilege.h"

/* Raise unless a role may be made the owner of something by the caller. */
static void
check_new_owner(Oid role)
{
	const char *name = GetUserNameFromId(role, false);

	if (!SF_CAN_SET_ROLE(GetUserId(), role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be able to SET ROLE \"%s\"", name)));
	if (!sf_privilege_check_role(role, SF_OBJECT_ALL, "*", InvalidOid, SF_RIGHT_CREATE) &&
		!sf_privilege_is_administrator())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\" may not own state machines and activities", name),
				 errhint("A superuser can give it the right: SELECT sf_grant('CREATE', '*', %s).",
						 quote_literal_cstr(name))));
}

/* Record that an object has another owner. */
static void
note_owner(const char *target, SfObjectKind kind, const char *name, Oid before, Oid role)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "from", GetUserNameFromId(before, true));
	sf_json_add_string(&json, "to", GetUserNameFromId(role, false));
	sf_audit_note("alter owner", kind, name, target, NULL, sf_json_end(&json));
}

/*
 * Change the owner of an object that the caller owns; the owner before.  rechecks: what runs and waits of
 * a machine comes under the limits and holds of its new owner; else the caller has that done for all.
 */
static Oid
alter_owner(const char *object, Oid role, bool rechecks)
{
	const SfFeatureObject *of_feature = sf_feature_object_of(object);
	Oid			before;

	if (of_feature != NULL)
	{
		const char *name = sf_feature_object_name(of_feature, object);

		before = of_feature->set_owner(name, role);
		note_owner(object, of_feature->kind, name, before, role);
	}
	else if (strncmp(object, "activity:", 9) == 0)
	{
		SfActivity *activity = sf_arg_activity(object, SF_RIGHT_OWNER);

		before = sf_object_lock_own(SF_OBJECT_ACTIVITY, activity->name, SF_NAMED_LOCK_CHANGE);
		activity = sf_arg_activity(activity->name, SF_RIGHT_OWNER);
		sf_owner_set_activity(activity->activity_no, role);
		note_owner(object, SF_OBJECT_ACTIVITY, activity->name, before, role);
	}
	else
	{
		SfMachine  *machine = sf_arg_machine(object, SF_RIGHT_OWNER);

		sf_machine_lock_waits(machine->machine_no);
		machine = sf_object_lock_owned_machine(machine);
		before = machine->owner;
		sf_owner_set_machine(machine->machine_no, role);
		note_owner(machine->name, SF_OBJECT_STATE_MACHINE, machine->name, before, role);
		if (rechecks)
			sf_gate_recheck_machine(machine->machine_no);
	}
	return before;
}

/* sf_alter_owner(object, new_owner): of a machine, activity:name, schedule:name, calendar:name or rule:name. */
SF_SQL_FUNCTION(sfflow_sf_alter_owner)
{
	char	   *object = sf_arg_text(fcinfo, 0, "object");
	Oid			role = get_role_oid(sf_arg_text(fcinfo, 1, "new_owner"), false);

	check_new_owner(role);
	sf_privilege_anchor(role);
	sf_privilege_unanchor(alter_owner(object, role, true));
	PG_RETURN_VOID();
}

/*
 * Change the owner of objects of a kind; how many.  The caller rechecks them when their holds and limits have
 * followed.
 */
static int64
reassign(const char *prefix, List *names, Oid to)
{
	foreach_ptr(char, name, names)
	{
		CHECK_FOR_INTERRUPTS();
		(void) alter_owner(psprintf("%s%s", prefix, name), to, false);
	}
	return list_length(names);
}

/*
 * sf_reassign_owned(old_role, new_role): give all objects of sfflow that a role
 * owns to another role, and revoke the rights of the old role.  The result is
 * the number of objects.
 */
SF_SQL_FUNCTION(sfflow_sf_reassign_owned)
{
	Oid			from = get_role_oid(sf_arg_text(fcinfo, 0, "old_role"), false);
	Oid			to = get_role_oid(sf_arg_text(fcinfo, 1, "new_role"), false);
	List	   *machines;
	char	   *conflict;
	int64		mappings = 0;
	int64		n;

	if (!has_privs_of_role(GetUserId(), from))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to reassign what role \"%s\" owns",
						GetUserNameFromId(from, false))));
	if (from == to)
		PG_RETURN_INT64(0);
	check_new_owner(to);
	sf_privilege_anchor(to);
	machines = sf_owned_names(SF_OBJECT_STATE_MACHINE, from);
	/* before anything else is locked, for which the transactions that this waits for may wait */
	foreach_ptr(char, machine, machines)
		sf_machine_lock_waits(sf_arg_machine(machine, SF_RIGHT_OWNER)->machine_no);
	n = reassign("", machines, to) +
		reassign("activity:", sf_owned_names(SF_OBJECT_ACTIVITY, from), to);
	SF_OBJECTS(object)
		n += reassign(object->prefix, sf_feature_owned_names(object, from), to);
	SF_TELL(on_owner_changed, from, to);
	conflict = sf_owner_pass_on_mappings(from, to, &mappings);
	if (conflict != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("both roles map the resource \"%s\", to different ones", conflict),
				 errhint("Remove one of the mappings with sf_unmap_resource().")));
	sf_gate_recheck_owner(to);
	(void) sf_privilege_delete_of_role(from);
	sf_privilege_unanchor(from);
	PG_RETURN_INT64(n + mappings);
}
