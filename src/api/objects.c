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
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/compat.h"
#include "store/execution/bulk.h"
#include "store/execution/execution.h"
#include "store/execution/execution_list.h"
#include "store/feature.h"
#include "store/state_machine/machine.h"
#include "store/state_machine/names.h"
#include "store/state_machine/program_cache.h"

/* The kinds of objects of the core, as those of features describe themselves */
static const SfFeatureObject state_machines = {
	.prefix = "",.kind = SF_OBJECT_STATE_MACHINE,.noun = "state machine",.view = "sf_state_machines",
	.missing_sqlstate = ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST
};
static const SfFeatureObject activities = {
	.prefix = "activity:",.kind = SF_OBJECT_ACTIVITY,.noun = "activity",.view = "sf_activities",
	.missing_sqlstate = ERRCODE_SF_ACTIVITY_DOES_NOT_EXIST
};

/* A kind of objects that rights are given on. */
static const SfFeatureObject *
describe_kind(SfObjectKind kind)
{
	SF_OBJECTS(object)
		if (object->kind == kind)
			return object;
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
closest_known(SfObjectKind kind, const char *name)
{
	SfClosest	closest = sf_closest_begin(name);
	const SfFeatureObject *k = describe_kind(kind);
	List	   *names = k == &state_machines || k == &activities ? sf_names_of_objects(kind) : NIL;

	foreach_ptr(const SfNamed, object, names)
	{
		if (sf_closest_is_better(&closest, object->name) &&
			sf_privilege_check(kind, object->name, object->owner, SF_RIGHT_ANY))
			sf_closest_offer(&closest, object->name);
	}
	return closest;
}

/* What an object that rights are given on is called as an argument: "activity:name", a machine by its name alone. */
char *
sf_object_target(SfObjectKind kind, const char *name)
{
	return psprintf("%s%s", describe_kind(kind)->prefix, name);
}

/* errhint() of an error for a role that has no right: how to give it. */
int
sf_object_errhint_grant(SfObjectKind kind, const char *name, SfRight needed)
{
	return errhint("A member of its owner can give it: SELECT sf_grant('%s', %s, %s).",
				   sf_privilege_name(sf_right_privilege(needed)),
				   quote_literal_cstr(sf_object_target(kind, name)),
				   quote_literal_cstr(GetUserNameFromId(GetUserId(), false)));
}

/* Raise the error for an object that does not exist, as far as the caller may know. */
void
sf_object_missing(SfObjectKind kind, const char *name)
{
	const SfFeatureObject *k = describe_kind(kind);
	SfClosest	closest = closest_known(kind, name);

	ereport(ERROR,
			(errcode(k->missing_sqlstate),
			 errmsg("%s \"%s\" does not exist", k->noun, name),
			 sf_object_errdetail_missing(),
			 sf_closest_errhint(&closest,
								psprintf("The view %s lists those that there are for you.", k->view))));
}

/* Raise the error that the caller lacks a right on an object that it knows. */
static void
deny(SfObjectKind kind, const char *name, SfRight needed)
{
	const SfFeatureObject *k = describe_kind(kind);

	if (needed == SF_RIGHT_OWNER)
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
may_use(SfObjectKind kind, const char *name, Oid owner, SfRight needed)
{
	if (sf_privilege_check(kind, name, owner, needed))
		return true;
	if (sf_privilege_check(kind, name, owner, SF_RIGHT_ANY))
		deny(kind, name, needed);
	return false;
}

/* Raise unless the caller has a right on an object that exists. */
void
sf_object_require(SfObjectKind kind, const char *name, Oid owner, SfRight needed)
{
	if (!may_use(kind, name, owner, needed))
		sf_object_missing(kind, name);
}

/*
 * Lock an object, which the caller has found and may have locked, until the end of the transaction; its owner as it is
 * now, InvalidOid: it was dropped before the lock.  A state machine is only kept by this.
 */
Oid
sf_object_lock(SfObjectKind kind, const char *name, SfNamedLock how)
{
	if (kind == SF_OBJECT_STATE_MACHINE)
	{
		const SfMachine *machine = sf_machine_read(name, SF_NO_VERSION, false);

		Assert(how == SF_NAMED_LOCK_KEEP);
		if (machine == NULL)
			return InvalidOid;
		sf_machine_lock_starts(machine->machine_no, false);
		if (!sf_machine_exists(machine->machine_no))
			return InvalidOid;
	}
	else
		sf_named_lock(kind, name, how);
	return sf_named_owner_now(kind, name);
}

/* The same; raise unless it is there and the caller's, as it is now. */
Oid
sf_object_lock_own(SfObjectKind kind, const char *name, SfNamedLock how)
{
	Oid			owner = sf_object_lock(kind, name, how);

	sf_object_require(kind, name, owner, SF_RIGHT_OWNER);
	if (!OidIsValid(owner))
		sf_object_missing(kind, name);
	return owner;
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

/* Raise the error for a version that a machine does not have. */
void
sf_object_missing_version(const SfMachine *machine, int version)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST),
			 errmsg("state machine \"%s\" has no version %d", machine->name, version)));
}

/* Raise the error for an alias that a machine does not have. */
void
sf_object_missing_alias(const SfMachine *machine, const char *name)
{
	SfClosest	closest = sf_closest_begin(name);

	foreach_ptr(char, alias, sf_alias_names(machine->machine_no))
		sf_closest_offer(&closest, alias);
	ereport(ERROR,
			(errcode(ERRCODE_SF_STATE_MACHINE_DOES_NOT_EXIST),
			 errmsg("state machine \"%s\" has no version or alias \"%s\"", machine->name, name),
			 sf_closest_errhint(&closest,
								psprintf("It has versions 1 to %d. The view sf_aliases lists its aliases.",
										 machine->current_version))));
}

/* Find the versions that a number or an alias names; returns how many. */
static int
find_routes(const SfMachine *machine, const char *qualifier, SfRoute *routes)
{
	int			n = sf_alias_resolve(machine->machine_no, qualifier, routes);

	if (n == 0)
		sf_object_missing_alias(machine, qualifier);
	if (routes[0].version > machine->current_version)
		sf_object_missing_version(machine, routes[0].version);
	return n;
}

/*
 * Find a machine by "machine", "machine/3", "machine/alias" or an ARN, in its current
 * version, with the versions that follow its name; *n gets how many, 0: none are
 * named.  Raises SF003 if it does not exist or the caller has no right on it, and
 * 42501 if the caller has a right, but not the one that is needed.
 */
SfMachine *
sf_arg_machine_routes(const char *text, SfRight needed, SfRoute *routes, int *n)
{
	char	   *name = pstrdup(sf_public_name_to_id(SF_NAME_STATE_MACHINE, text));
	char	   *slash = strchr(name, '/');
	SfMachine  *machine;

	if (slash != NULL)
		*slash = '\0';
	machine = sf_machine_current(name);
	/* also for a missing machine, so that the time does not tell them apart */
	if (!may_use(SF_OBJECT_STATE_MACHINE, name,
				 machine == NULL ? InvalidOid : machine->owner, needed) ||
		machine == NULL)
		sf_object_missing(SF_OBJECT_STATE_MACHINE, name);
	*n = slash == NULL ? 0 : find_routes(machine, slash + 1, routes);
	return machine;
}

/*
 * List the numbers of machines on which the caller has a right: of one, or of SF_ALL_MACHINES; of an
 * owner, or (InvalidOid) of all.
 */
int *
sf_object_machines(int only, Oid owner, SfRight needed, int *n)
{
	List	   *all = sf_execution_list_machines(only, owner);
	int		   *numbers = palloc(sizeof(int) * Max(1, list_length(all)));
	/* as the views have it: can_read() */
	bool		sees_all = needed == SF_RIGHT_READ && sf_privilege_is_administrator();

	*n = 0;
	foreach_ptr(const SfListedMachine, m, all)
	{
		if (sees_all || sf_privilege_check(SF_OBJECT_STATE_MACHINE, m->name, m->owner, needed))
			numbers[(*n)++] = m->machine_no;
	}
	return numbers;
}

/* Read a version of a machine, which exists unless the machine is being dropped. */
SfMachine *
sf_object_version(const SfMachine *machine, int version)
{
	SfMachine  *found = sf_machine_read(machine->name, version, false);

	if (found == NULL)
		sf_object_missing_version(machine, version);
	return found;
}

/* Find a machine likewise; of an alias, in the version that gets most starts. */
SfMachine *
sf_arg_machine(const char *text, SfRight needed)
{
	SfRoute		routes[SF_ALIAS_MAX_ROUTES];
	int			n;
	SfMachine  *machine = sf_arg_machine_routes(text, needed, routes, &n);
	int			most = 0;

	for (int i = 1; i < n; i++)
		if (routes[i].percent > routes[most].percent)
			most = i;
	return n == 0 ? machine : sf_object_version(machine, routes[most].version);
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
sf_arg_execution(const char *text, SfLock lock, SfRight needed)
{
	const char *id = sf_public_name_to_id(SF_NAME_EXECUTION, text);
	char	   *name = pnstrdup(id, strcspn(id, ":/"));
	SfExecution *execution = sf_execution_find(id, SF_LOCK_NONE);
	SfMachine  *machine = sf_machine_current(name);
	bool		known = may_use(SF_OBJECT_STATE_MACHINE, name,
								machine == NULL ? InvalidOid : machine->owner,
								needed);

	if (known && execution != NULL && lock != SF_LOCK_NONE)
		execution = sf_execution_find(id, lock);
	if (!known || execution == NULL)
		execution_missing(id, name, known);
	return execution;
}

/* Raise that an execution is gone. */
static void pg_attribute_noreturn()
execution_gone(const SfExecution *execution)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
			 errmsg("execution \"%s\" does not exist", execution->execution_id),
			 errdetail("It was purged, or moved to another node, at the same time.")));
}

/*
 * Keep an execution, which is not locked, on this node until the end of the transaction, or raise.  It may be purged,
 * unless the caller keeps it from that, too.
 */
void
sf_object_keep_here(const SfExecution *execution)
{
	SF_TELL(keep_here, execution->execution_no);
	if (!sf_execution_is_there(execution->execution_no) &&
		sf_execution_read(execution->execution_no, SF_LOCK_WAIT, false) == NULL)
		execution_gone(execution);
}

/* Keep an execution on this node, and from being purged, until the end of the transaction; false: it is gone. */
bool
sf_object_keep_number(int64 execution_no)
{
	SF_TELL(keep_here, execution_no);
	return sf_execution_keep(execution_no);
}

/* The same; raise if it is gone. */
void
sf_object_keep_execution(const SfExecution *execution)
{
	if (!sf_object_keep_number(execution->execution_no))
		execution_gone(execution);
}

/* Find an activity by name, "activity:name" or ARN, likewise (SF018). */
SfActivity *
sf_arg_activity(const char *text, SfRight needed)
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

/* Raise that there is no Map run of an ARN. */
void
sf_arg_map_run_missing(const char *text)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_EXECUTION_DOES_NOT_EXIST),
			 errmsg("Map run \"%s\" does not exist", text),
			 sf_object_errdetail_missing(),
			 errhint("The column map_run_arn of sf_map_runs has those that there are for you.")));
}

/* Find a Map run by its ARN, and check the caller's right on its machine; its execution and its number. */
void
sf_arg_map_run(const char *text, SfRight needed, int64 *execution_no, int64 *map_run_no)
{
	const char *id = sf_public_name_to_id(SF_NAME_MAP_RUN, text);
	const char *uuid = strrchr(id, ':');
	SfExecution *execution = NULL;

	if (uuid != NULL && sf_bulk_map_run(uuid + 1, execution_no, map_run_no))
		execution = sf_execution_read(*execution_no, SF_LOCK_NONE, false);
	if (execution == NULL ||
		!sf_privilege_check(SF_OBJECT_STATE_MACHINE, execution->machine_name,
							execution->owner, needed))
		sf_arg_map_run_missing(text);
}

/* --- what an operator's action is about: a state machine, a state of it, a resource --- */

/*
 * Find the machine that a target "machine" or "machine/state" names, like sf_arg_machine().
 * *state gets the state, which may not exist; NULL: the target names none.
 */
SfMachine *
sf_object_machine_or_state(const char *text, SfRight needed, char **state)
{
	const char *slash = strchr(text, '/');

	*state = slash == NULL ? NULL : pstrdup(slash + 1);
	return sf_arg_machine(slash == NULL ? text : pnstrdup(text, slash - text), needed);
}

/*
 * Keep a machine from being dropped until the end of the transaction.  Raises SF003 if
 * another session has dropped it since the caller found it.
 */
void
sf_object_lock_machine(int machine_no, const char *name)
{
	sf_machine_lock_starts(machine_no, false);
	if (!sf_machine_exists(machine_no))
		sf_object_missing(SF_OBJECT_STATE_MACHINE, name);
}

/*
 * Lock the row of a machine that the caller owns against other definitions of it, and read it: it may have been
 * dropped, or have got another owner, before the lock.
 */
SfMachine *
sf_object_lock_owned_machine(const SfMachine *machine)
{
	SfMachine  *now = sf_machine_lock_current(machine, false);

	if (now == NULL)
		sf_object_missing(SF_OBJECT_STATE_MACHINE, machine->name);
	sf_object_require(SF_OBJECT_STATE_MACHINE, now->name, now->owner, SF_RIGHT_OWNER);
	return now;
}

/* Raise unless some version of a machine, from this one down, has a state. */
void
sf_object_require_state(int machine_no, int version, const char *machine, const char *state)
{
	SfClosest	closest = sf_closest_begin(state);

	for (int v = version; v > 0; v--)
	{
		const SfProgram *program = sf_program_cache_get(machine_no, v);

		if (sf_program_find_state(program, state) != SF_NO_STATE)
			return;
		for (int i = 0; i < program->nstates; i++)
			sf_closest_offer(&closest, program->states[i].name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("state machine \"%s\" has no state \"%s\"", machine, state),
			 sf_closest_errhint(&closest, NULL)));
}

/* Is a target a resource: "sql:…", or an ARN of nothing that sfflow has? */
bool
sf_object_is_resource(const char *text)
{
	return strncmp(text, "sql:", 4) == 0 ||
		(strncmp(text, "arn:", 4) == 0 &&
		 sf_public_name_to_id(SF_NAME_EXECUTION, text) == text &&
		 sf_public_name_to_id(SF_NAME_STATE_MACHINE, text) == text);
}
