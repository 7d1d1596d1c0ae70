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
parse_execution(Target *t, const char *text, const char *state)
{
	SfExecution *execution = sf_arg_execution(text, SF_LOCK_NONE, SF_RIGHT_OPERATE);

	if (state != NULL)
		sf_object_require_state(execution->machine_no, execution->version, execution->machine_name, state);
	sf_object_lock_machine(execution->machine_no, execution->machine_name);
	t->execution = execution;
	t->object = execution->machine_name;
	t->hold.kind = SF_OBJECT_EXECUTION;
	t->hold.name = execution->execution_id;
	t->hold.machine_no = execution->machine_no;
	t->hold.execution_no = execution->execution_no;
	t->hold.state = state == NULL ? "" : state;
}

/*
 * Take a target that is a machine, or "machine/state"; or the child execution of a
 * Distributed Map, "machine/run:index".
 */
static void
parse_machine(Target *t, const char *text, const char *state)
{
	char	   *named;
	SfMachine  *machine = sf_object_machine_or_state(text, SF_RIGHT_OPERATE, &named);

	if (named != NULL && strchr(named, ':') != NULL &&
		sf_execution_find(text, SF_LOCK_NONE) != NULL)
	{
		parse_execution(t, text, state);
		return;
	}
	if (named != NULL && state != NULL)
		refuse_state(text);
	if (named != NULL)
		state = named;
	if (state != NULL)
		sf_object_require_state(machine->machine_no, machine->current_version, machine->name, state);
	sf_object_lock_machine(machine->machine_no, machine->name);
	t->hold.kind = SF_OBJECT_STATE_MACHINE;
	t->hold.name = t->object = machine->name;
	t->hold.machine_no = machine->machine_no;
	t->hold.state = state == NULL ? "" : state;
}

/* Take a target that has no states. */
static void
parse_object(Target *t, SfObjectKind kind, const char *name, const char *state)
{
	if (state != NULL)
		refuse_state(t->text);
	t->hold.kind = kind;
	t->hold.name = t->object = name;
	t->hold.state = "";
	t->kind = kind;
}

/*
 * Read the arguments target and state, and check the caller's right.  A hold of a
 * resource by a role that is no administrator is for this role's machines.
 */
static Target
parse_target(FunctionCallInfo fcinfo)
{
	Target		t = {.text = sf_arg_text(fcinfo, 0, "target"),.kind = SF_OBJECT_STATE_MACHINE};
	const char *state = sf_arg_text_or_null(fcinfo, 1);
	const SfFeatureObject *object = sf_feature_object_of(t.text);
	const char *id;

	if (object != NULL && sf_hold_is_of_name(object->kind))
	{
		id = sf_feature_object_name(object, t.text);
		(void) object->require_own(id);
		parse_object(&t, object->kind, id, state);
	}
	else if (strncmp(t.text, "activity:", 9) == 0 ||
			 sf_public_name_to_id(SF_NAME_ACTIVITY, t.text) != t.text)
		parse_object(&t, SF_OBJECT_ACTIVITY, sf_arg_activity(t.text, SF_RIGHT_OWNER)->name, state);
	else if (sf_object_is_resource(t.text))
	{
		parse_object(&t, SF_OBJECT_RESOURCE, t.text, state);
		t.kind = SF_OBJECT_ALL;
		t.object = "*";
		t.hold.for_owner = sf_privilege_is_administrator() ? InvalidOid : GetUserId();
	}
	else
	{
		id = sf_public_name_to_id(SF_NAME_EXECUTION, t.text);
		if (id != t.text || t.text[strcspn(t.text, ":/")] == ':')
			parse_execution(&t, id, state);
		else
			parse_machine(&t, sf_public_name_to_id(SF_NAME_STATE_MACHINE, t.text), state);
	}
	return t;
}

/* Record a hold, or its end. */
static void
note(const Target *t, const char *action, const char *reason)
{
	SfJsonBuilder b;
	Jsonb	   *details = NULL;

	if (t->hold.state[0] != '\0')
	{
		sf_json_begin_object(&b);
		sf_json_add_string(&b, "state", t->hold.state);
		details = sf_json_finish(&b);
	}
	if (t->execution != NULL)
		sf_audit_note_execution(t->execution, action, reason, details);
	else
		sf_audit_note(action, t->kind, t->object,
					  t->hold.kind == SF_OBJECT_STATE_MACHINE ? t->hold.name : t->text, reason, details);
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
	Target		t = parse_target(fcinfo);
	char	   *reason = sf_arg_text_or_null(fcinfo, 2);

	if (t.execution != NULL && t.execution->status == SF_STATUS_SUCCEEDED)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_CHANGED),
				 errmsg("execution \"%s\" is SUCCEEDED and cannot be held", t.execution->execution_id)));
	if (t.execution != NULL)
	{
		sf_object_keep_execution(t.execution);
		guard_from_purge(t.execution);
	}
	if (!sf_hold_insert(&t.hold, reason))
	{
		ereport(NOTICE, (errmsg("\"%s\" is held already", t.text)));
		PG_RETURN_BOOL(false);
	}
	note(&t, "hold", reason);
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
	Target		t = parse_target(fcinfo);
	List	   *numbers = sf_hold_find(&t.hold, sf_privilege_is_administrator());
	int64		n = 0;
	ListCell   *lc;

	if (numbers == NIL)
	{
		ereport(NOTICE,
				(errmsg("\"%s\" is not held%s", t.text, t.hold.state[0] == '\0' ? "" :
						psprintf(" in state \"%s\"", t.hold.state)),
				 errhint("The view sf_holds lists what is.")));
		PG_RETURN_INT64(0);
	}
	foreach(lc, numbers)
		n += sf_hold_release(*(int64 *) lfirst(lc));
	if (t.hold.kind == SF_OBJECT_ACTIVITY)
		wake_pollers(t.hold.name);
	if (t.hold.kind == SF_OBJECT_EVENT)
		sf_hooks.sweep_soon();
	note(&t, "release", NULL);
	PG_RETURN_INT64(n);
}
