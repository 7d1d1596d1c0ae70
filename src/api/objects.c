/*
 * objects.c
 *		Find state machines, executions and activities for a caller, and check
 *		its rights.
 *
 * A caller without any right on an object gets the error for an object that does
 * not exist.  The error for a caller that has a right on it, but not the one that
 * it needs, names the missing right.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/objects.h"
#include "base/public_name.h"
#include "base/closest.h"
#include "base/errors.h"
#include "store/names.h"

/* A kind of object: its name in messages, the view that lists it, its error */
typedef struct ObjectKind
{
	const char *noun;
	const char *view;
	int			missing;
} ObjectKind;

static const ObjectKind state_machines = {
	"state machine", "sf_state_machines", ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST
};
static const ObjectKind activities = {
	"activity", "sf_activities", ERRCODE_SF_ACTIVITY_DOES_NOT_EXIST
};

/* How a kind of object is called. */
static const ObjectKind *
describe_kind(char kind)
{
	return kind == SF_OBJECT_ACTIVITY ? &activities : &state_machines;
}

/* errdetail() of an error that may conceal the object. */
int
sf_object_errdetail_missing(void)
{
	if (sf_privilege_is_administrator())
		return 0;
	return errdetail("Or role \"%s\" has no right on it.",
					 GetUserNameFromId(GetUserId(), false));
}

/* Find the nearest name that the caller may know. */
static SfClosest
closest_known(char kind, const char *name)
{
	SfClosest	closest = sf_closest_begin(name);
	List	   *names = sf_names_of_objects(kind);

	foreach_ptr(const SfNamed, object, names)
	{
		if (sf_closest_is_better(&closest, object->name) &&
			sf_privilege_check(kind, object->name, object->owner, SF_PRIVILEGE_ANY))
			sf_closest_offer(&closest, object->name);
	}
	return closest;
}

/* errhint() of an error for a role that has no right: how to give it. */
int
sf_object_errhint_grant(char kind, const char *name, SfPrivilege needed)
{
	return errhint("A member of its owner can give it: SELECT sf_grant('%s', %s, %s).",
				   sf_privilege_name(needed),
				   quote_literal_cstr(kind == SF_OBJECT_ACTIVITY ?
									  psprintf("activity:%s", name) : name),
				   quote_literal_cstr(GetUserNameFromId(GetUserId(), false)));
}

/* Raise the error for an object that does not exist, as far as the caller may know. */
void
sf_object_missing(char kind, const char *name)
{
	const ObjectKind *k = describe_kind(kind);
	SfClosest	closest = closest_known(kind, name);

	ereport(ERROR,
			(errcode(k->missing),
			 errmsg("%s \"%s\" does not exist", k->noun, name),
			 sf_object_errdetail_missing(),
			 sf_closest_errhint(&closest,
								psprintf("The view %s lists those that there are for you.", k->view))));
}

/* Raise the error that the caller lacks a right on an object that it knows. */
static void
deny(char kind, const char *name, SfPrivilege needed)
{
	const ObjectKind *k = describe_kind(kind);

	if (needed == SF_PRIVILEGE_OWN)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of %s \"%s\"", k->noun, name)));
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for %s \"%s\"", k->noun, name),
			 sf_object_errhint_grant(kind, name, needed)));
}

/* Tell whether the caller may know of an object; raise when it only lacks the right. */
static bool
may_use(char kind, const char *name, Oid owner, SfPrivilege needed)
{
	if (sf_privilege_check(kind, name, owner, needed))
		return true;
	if (sf_privilege_check(kind, name, owner, SF_PRIVILEGE_ANY))
		deny(kind, name, needed);
	return false;
}

/* Raise unless the caller has a right on an object that exists. */
void
sf_object_require(char kind, const char *name, Oid owner, SfPrivilege needed)
{
	if (!may_use(kind, name, owner, needed))
		sf_object_missing(kind, name);
}

/* Raise 42501: the caller may not create state machines and activities. */
void
sf_deny_create(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied to create state machines and activities"),
			 errhint("A superuser can give the right: SELECT sf_grant('CREATE', '*', %s).",
					 quote_literal_cstr(GetUserNameFromId(GetUserId(), false)))));
}

/* Cut the version off a machine's name; 0: there is none. */
static int
split_version(char *name)
{
	char	   *slash = strchr(name, '/');
	char	   *end;
	long		number;

	if (slash == NULL)
		return 0;
	*slash = '\0';
	errno = 0;
	number = strtol(slash + 1, &end, 10);
	if (end == slash + 1 || *end != '\0' || errno != 0 || number < 1 ||
		number > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST),
				 errmsg("\"%s\" is not a version of state machine \"%s\"",
						slash + 1, name),
				 errhint("A version is a number, as in \"%s/1\".", name)));
	return (int) number;
}

/*
 * Find a machine by "machine", "machine/3" or an ARN, with that version.  Raises
 * SF003 if it does not exist or the caller has no right on it, and 42501 if the
 * caller has a right, but not the one that is needed.
 */
SfMachine *
sf_arg_machine(const char *text, SfPrivilege needed)
{
	char	   *name = pstrdup(sf_public_name_to_id(SF_NAME_STATE_MACHINE, text));
	int			version = split_version(name);
	SfMachine  *machine = sf_machine_read(name, version, false);
	SfMachine  *current = machine != NULL || version == 0 ? machine :
		sf_machine_read(name, 0, false);

	/* also for a missing machine, so that the time does not tell them apart */
	if (!may_use(SF_OBJECT_STATE_MACHINE, name,
				 current == NULL ? InvalidOid : current->owner, needed) ||
		current == NULL)
		sf_object_missing(SF_OBJECT_STATE_MACHINE, name);
	if (machine == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST),
				 errmsg("state machine \"%s\" has no version %d", name, version)));
	return machine;
}

/* Raise the error for an execution that is not there, or may not be known. */
static void
execution_missing(const char *id, const char *machine, bool known)
{
	SfClosest	closest = sf_closest_begin(id);

	if (known)
		foreach_ptr(char, name, sf_names_of_executions(machine, id))
			sf_closest_offer(&closest, name);
	ereport(ERROR,
			(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
			 errmsg("execution \"%s\" does not exist", id),
			 sf_object_errdetail_missing(),
			 sf_closest_errhint(&closest, strchr(id, ':') != NULL ? NULL :
								"An execution id is \"machine:name\".")));
}

/* Find an execution by id or ARN, likewise (SF005); it is locked after the check. */
SfExecution *
sf_arg_execution(const char *text, SfLock lock, SfPrivilege needed)
{
	const char *id = sf_public_name_to_id(SF_NAME_EXECUTION, text);
	char	   *name = pnstrdup(id, strcspn(id, ":/"));
	SfExecution *execution = sf_execution_find(id, SF_LOCK_NONE);
	SfMachine  *machine = sf_machine_read(name, 0, false);
	bool		known = may_use(SF_OBJECT_STATE_MACHINE, name,
								machine == NULL ? InvalidOid : machine->owner,
								needed);

	if (known && execution != NULL && lock != SF_LOCK_NONE)
		execution = sf_execution_find(id, lock);
	if (!known || execution == NULL)
		execution_missing(id, name, known);
	return execution;
}

/* Find an activity by name, "activity:name" or ARN, likewise (SF018). */
SfActivity *
sf_arg_activity(const char *text, SfPrivilege needed)
{
	const char *name = sf_public_name_to_id(SF_NAME_ACTIVITY, text);
	SfActivity *activity;

	if (strncmp(name, "activity:", 9) == 0)
		name += 9;
	activity = sf_activity_read(name);
	if (!may_use(SF_OBJECT_ACTIVITY, name,
				 activity == NULL ? InvalidOid : activity->owner, needed) ||
		activity == NULL)
		sf_object_missing(SF_OBJECT_ACTIVITY, name);
	return activity;
}
