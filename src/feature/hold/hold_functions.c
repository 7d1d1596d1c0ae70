/*
 * hold_functions.c
 *		sf_hold(), sf_release().
 */
#include "postgres.h"

#include "miscadmin.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "feature/hold/hold.h"
#include "run/apply/apply.h"
#include "store/audit/audit.h"
#include "store/role/owner.h"

/* What a call is about */
typedef struct Target
{
	SfHold		hold;
	const char *text;			/* as given */
	SfObjectKind kind;			/* of the object, for the audit: SF_OBJECT_… */
	const char *object;			/* its name */
	SfExecution *execution;		/* or NULL */
} Target;

/* Raise that a target has no states. */
static void
refuse_state(const char *target)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("argument state is for a state machine or an execution"),
			 errdetail("The target is \"%s\".", target)));
}

/* Take a target that is an execution. */
static void
parse_execution(Target *target, const char *text, const char *state)
{
	SfExecution *execution = sf_arg_execution(text, SF_LOCK_NONE, SF_RIGHT_OPERATE);

	if (state != NULL)
		sf_object_require_state(execution->machine_no, execution->version, execution->machine_name, state);
	sf_object_lock_machine(execution->machine_no, execution->machine_name);
	target->execution = execution;
	target->object = execution->machine_name;
	target->hold.kind = SF_OBJECT_EXECUTION;
	target->hold.name = execution->execution_id;
	target->hold.machine_no = execution->machine_no;
	target->hold.execution_no = execution->execution_no;
	target->hold.state = state;
}

/*
 * Take a target that is a machine, or "machine/state"; or the item execution of a
 * Distributed Map, "machine/run:index".
 */
static void
parse_machine(Target *target, const char *text, const char *state)
{
	char	   *named;
	SfMachine  *machine = sf_object_machine_or_state(text, SF_RIGHT_OPERATE, &named);

	if (named != NULL && strchr(named, ':') != NULL &&
		sf_execution_find(text, SF_LOCK_NONE) != NULL)
	{
		parse_execution(target, text, state);
		return;
	}
	if (named != NULL && state != NULL)
		refuse_state(text);
	if (named != NULL)
		state = named;
	if (state != NULL)
		sf_object_require_state(machine->machine_no, machine->current_version, machine->name, state);
	sf_object_lock_machine(machine->machine_no, machine->name);
	target->hold.kind = SF_OBJECT_STATE_MACHINE;
	target->hold.name = target->object = machine->name;
	target->hold.machine_no = machine->machine_no;
	target->hold.state = state;
}

/* Take a target that has no states. */
static void
parse_object(Target *target, SfObjectKind kind, const char *name, const char *state)
{
	if (state != NULL)
		refuse_state(target->text);
	target->hold.kind = kind;
	target->hold.name = target->object = name;
	target->kind = kind;
}

/* Take a target that is an object without states that the caller owns; keep it from being dropped. */
static void
parse_own(Target *target, SfObjectKind kind, const char *name, const char *state)
{
	parse_object(target, kind, name, state);
	(void) sf_object_lock_own(kind, name, SF_NAMED_LOCK_KEEP);
}

/*
 * Read the arguments target and state, and check the caller's right.  A hold of a
 * resource by a role that is no administrator is for this role's machines.
 */
static Target
parse_target(FunctionCallInfo fcinfo)
{
	Target		target = {.text = sf_arg_text(fcinfo, 0, "target"),.kind = SF_OBJECT_STATE_MACHINE};
	const char *state = sf_arg_text_or_null(fcinfo, 1);
	const SfFeatureObject *object = sf_feature_object_of(target.text);
	const char *id;

	if (object != NULL && sf_hold_is_of_name(object->kind))
	{
		id = sf_feature_object_name(object, target.text);
		(void) object->require_own(id);
		parse_own(&target, object->kind, id, state);
	}
	else if (strncmp(target.text, "activity:", 9) == 0 ||
			 sf_public_name_to_id(SF_NAME_ACTIVITY, target.text) != target.text)
		parse_own(&target, SF_OBJECT_ACTIVITY, sf_arg_activity(target.text, SF_RIGHT_OWNER)->name, state);
	else if (sf_object_is_resource(target.text))
	{
		parse_object(&target, SF_OBJECT_RESOURCE, target.text, state);
		target.kind = SF_OBJECT_ALL;
		target.object = "*";
		target.hold.for_owner = sf_privilege_is_administrator() ? InvalidOid : GetUserId();
	}
	else
	{
		id = sf_public_name_to_id(SF_NAME_EXECUTION, target.text);
		if (id != target.text || target.text[strcspn(target.text, ":/")] == ':')
			parse_execution(&target, id, state);
		else
			parse_machine(&target, sf_public_name_to_id(SF_NAME_STATE_MACHINE, target.text), state);
	}
	return target;
}

/* Record a hold, or its end. */
static void
note(const Target *target, const char *action, const char *reason)
{
	SfJsonBuilder json;
	Jsonb	   *details = NULL;

	if (target->hold.state != NULL)
	{
		sf_json_begin_object(&json);
		sf_json_add_string(&json, "state", target->hold.state);
		details = sf_json_end(&json);
	}
	if (target->execution != NULL)
		sf_audit_note_execution(target->execution, action, reason, details);
	else
		sf_audit_note(action, target->kind, target->object,
					  target->hold.kind == SF_OBJECT_STATE_MACHINE ? target->hold.name : target->text, reason, details);
}

/* Keep the execution that is to be held from being purged, or raise if it was. */
static void
guard_from_purge(const SfExecution *execution)
{
	sf_hold_begin_of_execution(execution->execution_no);
	/* as it is now: a purge that began after an old snapshot has not seen the lock */
	if (sf_execution_is_running(execution->execution_no))
		return;
	sf_hold_end_of_execution(execution->execution_no);
	if (sf_execution_read(execution->execution_no, SF_LOCK_WAIT, false) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
				 errmsg("execution \"%s\" does not exist", execution->execution_id),
				 errdetail("It was purged at the same time.")));
}

/* sf_hold(target, state, reason): whether the target was not held before. */
SF_SQL_FUNCTION(sfflow_sf_hold)
{
	Target		target = parse_target(fcinfo);
	char	   *reason = sf_arg_text_or_null(fcinfo, 2);

	if (target.execution != NULL && target.execution->status == SF_STATUS_SUCCEEDED)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("execution \"%s\" is SUCCEEDED and cannot be held", target.execution->execution_id)));
	if (target.execution != NULL)
	{
		sf_object_keep_here(target.execution);
		guard_from_purge(target.execution);
	}
	if (!sf_hold_insert(&target.hold, reason))
	{
		ereport(NOTICE, (errmsg("\"%s\" is held already", target.text)));
		PG_RETURN_BOOL(false);
	}
	note(&target, "hold", reason);
	PG_RETURN_BOOL(true);
}

/* Wake the programs that poll an activity. */
static void
wake_pollers(const char *activity)
{
	SfActivity *a = sf_activity_read(activity);

	if (a != NULL)
		sf_activity_notify(a);
}

/* sf_release(target, state): how many branches go on. */
SF_SQL_FUNCTION(sfflow_sf_release)
{
	Target		target = parse_target(fcinfo);
	List	   *numbers = sf_hold_find(&target.hold, sf_privilege_is_administrator());
	int64		n = 0;
	ListCell   *lc;

	if (numbers == NIL)
	{
		ereport(NOTICE,
				(errmsg("\"%s\" is not held%s", target.text, target.hold.state == NULL ? "" :
						psprintf(" in state \"%s\"", target.hold.state)),
				 errhint("The view sf_holds lists what is.")));
		PG_RETURN_INT64(0);
	}
	foreach(lc, numbers)
		n += sf_hold_release(*(int64 *) lfirst(lc));
	if (target.hold.kind == SF_OBJECT_ACTIVITY)
		wake_pollers(target.hold.name);
	if (target.hold.kind == SF_OBJECT_EVENT)
		sf_hooks.sweep_soon();
	note(&target, "release", NULL);
	PG_RETURN_INT64(n);
}
