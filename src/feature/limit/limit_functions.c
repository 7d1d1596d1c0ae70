/*
 * limit_functions.c
 *		sf_set_limit(), sf_drop_limit().
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "expr/expr.h"
#include "feature/limit/limit.h"
#include "feature/limit/limit_gate.h"
#include "feature/limit/limit_rate.h"
#include "store/audit/audit.h"

/* The number of a slot is part of a lock's number */
#define MAX_RUNNING	1000000
#define MAX_RATE	1000000.0

/* What a call is about */
typedef struct Target
{
	SfLimit		limit;
	const char *text;			/* as given */
	SfObjectKind kind;			/* of the object, for the audit: SF_OBJECT_… */
	const char *object;			/* its name */
} Target;

/* Take a target that is a machine, or "machine/state". */
static void
parse_machine(Target *target, const char *text)
{
	char	   *state;
	SfMachine  *machine;

	if (text[strcspn(text, ":/")] == ':')
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("a limit is of a state machine, a state, an activity or a resource"),
				 errdetail("The target is \"%s\".", target->text)));
	machine = sf_object_machine_or_state(text, SF_RIGHT_OPERATE, &state);
	if (state != NULL)
		sf_object_require_state(machine->machine_no, machine->current_version, machine->name, state);
	sf_object_lock_machine(machine->machine_no, machine->name);
	target->kind = SF_OBJECT_STATE_MACHINE;
	target->object = machine->name;
	target->limit.kind = SF_OBJECT_STATE_MACHINE;
	target->limit.name = machine->name;
	target->limit.machine_no = machine->machine_no;
	target->limit.state = state;
}

/*
 * Is a text the name of an event or a worklist that the caller owns?  Then it is kept from being dropped.  Raises if it
 * is that of another.
 */
static bool
is_own_object(const char *text)
{
	const SfFeatureObject *object = sf_feature_object_of(text);
	const char *name;

	if (object == NULL || (object->kind != SF_OBJECT_EVENT && object->kind != SF_OBJECT_WORKLIST))
		return false;
	name = sf_feature_object_name(object, text);
	(void) object->require_own(name);
	(void) sf_object_lock_own(object->kind, name, SF_NAMED_LOCK_KEEP);
	return true;
}

/*
 * Read the argument target, and check the caller's right.  A limit of a resource by a role
 * that is no administrator is for this role's machines.
 */
static void
parse_target(Target *target, const char *text)
{
	memset(target, 0, sizeof(*target));
	target->text = text;
	if (strncmp(text, "activity:", 9) == 0 || sf_public_name_to_id(SF_NAME_ACTIVITY, text) != text)
	{
		target->kind = SF_OBJECT_ACTIVITY;
		target->object = target->limit.name = sf_arg_activity(text, SF_RIGHT_OWNER)->name;
		target->limit.kind = SF_OBJECT_ACTIVITY;
		(void) sf_object_lock_own(SF_OBJECT_ACTIVITY, target->object, SF_NAMED_LOCK_KEEP);
	}
	else if (sf_object_is_resource(text) || is_own_object(text))
	{
		target->kind = SF_OBJECT_ALL;
		target->object = "*";
		target->limit.name = pstrdup(text);
		target->limit.kind = SF_OBJECT_RESOURCE;
		target->limit.for_owner = sf_privilege_is_administrator() ? InvalidOid : GetUserId();
	}
	else
		parse_machine(target, sf_public_name_to_id(SF_NAME_STATE_MACHINE, text));
}

/* Read the argument key, a path, or NULL. */
static char *
parse_key(FunctionCallInfo fcinfo, int n)
{
	char	   *key = sf_arg_text_or_null(fcinfo, n);
	SfError		error;

	if (key != NULL &&
		sf_expr_compile(key, SF_EXPR_PATH | SF_EXPR_REFERENCE | SF_EXPR_INPUT, &error) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument key must be a path into the input, such as $.tenant"),
				 errdetail("It is \"%s\".", key)));
	return key;
}

/* Read the arguments rate and per. */
static void
parse_rate(FunctionCallInfo fcinfo, SfLimit *limit)
{
	limit->per = sf_arg_duration_ms(fcinfo, 4, "per") * 1000;
	if (limit->per <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument per must be at least a millisecond")));
	if (PG_ARGISNULL(3))
		return;
	limit->rate = PG_GETARG_FLOAT8(3);
	/* so that NaN is refused, too */
	if (!(limit->rate > 0 && limit->rate <= MAX_RATE && limit->per / limit->rate >= 1))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument rate must be greater than 0 and at most 1000000 per second")));
	if (limit->per / limit->rate > SF_LIMIT_MAX_INTERVAL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument rate is too small: one would begin less often than every 1000 years")));
	if (!sf_limit_rate_is_shared())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a rate is counted in shared memory"),
				 errhint("Add sfflow to shared_preload_libraries.")));
}

/* Read the argument on_limit: whether what would wait fails. */
static bool
parse_on_limit(const char *text)
{
	static const char *const words[] = {"queue", "fail"};

	return sf_argument_word("on_limit", text, words, lengthof(words)) == 1;
}

/* What of a limit goes into the audit. */
static Jsonb *
details_of(const SfLimit *limit)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "key", limit->key);
	if (sf_limit_has_slots(limit))
		sf_json_add_int(&json, "max_running", limit->max_running);
	if (sf_limit_has_rate(limit))
		sf_json_add_string(&json, "rate", psprintf("%g per %g s", limit->rate, limit->per / 1e6));
	sf_json_add_string(&json, "on_limit", limit->fails ? "fail" : "queue");
	return sf_json_end(&json);
}

/* sf_set_limit(target, key, max_running, rate, per, on_limit). */
SF_SQL_FUNCTION(sfflow_sf_set_limit)
{
	Target		target;

	parse_target(&target, sf_arg_text(fcinfo, 0, "target"));
	target.limit.key = parse_key(fcinfo, 1);
	target.limit.max_running = PG_ARGISNULL(2) ? 0 : sf_arg_count(fcinfo, 2, "max_running", 1, 0);
	if (target.limit.max_running > MAX_RUNNING)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument max_running must be at most %d", MAX_RUNNING)));
	parse_rate(fcinfo, &target.limit);
	target.limit.fails = parse_on_limit(sf_arg_text(fcinfo, 5, "on_limit"));
	if (!sf_limit_has_slots(&target.limit) && !sf_limit_has_rate(&target.limit))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument max_running or rate must be given"),
				 errhint("sf_drop_limit() removes a limit.")));
	sf_limit_put(&target.limit);
	sf_audit_note("set limit", target.kind, target.object, target.text, NULL, details_of(&target.limit));
	PG_RETURN_VOID();
}

/* sf_drop_limit(target, key): whether there was one. */
SF_SQL_FUNCTION(sfflow_sf_drop_limit)
{
	Target		target;

	parse_target(&target, sf_arg_text(fcinfo, 0, "target"));
	target.limit.key = parse_key(fcinfo, 1);
	if (!sf_limit_delete(&target.limit))
	{
		ereport(NOTICE,
				(errmsg("\"%s\" has no limit%s", target.text,
						target.limit.key == NULL ? "" : psprintf(" with key \"%s\"", target.limit.key)),
				 errhint("The view sf_limits lists what is limited.")));
		PG_RETURN_BOOL(false);
	}
	sf_audit_note("drop limit", target.kind, target.object, target.text, NULL, NULL);
	PG_RETURN_BOOL(true);
}

/* --- for sf_check() --- */

/*
 * Return the limits that apply to a branch where it is: limit_no, queue, whether the limit is of
 * executions, whether it is that of a join around the branch, and whether an execution that waits
 * for this one has a slot, so that the branch needs none.
 */
SF_SQL_FUNCTION(sfflow_branch_limits)
{
	SfBranch   *branch;
	SfDraft    *draft = sf_object_read_branch(fcinfo, &branch);

	InitMaterializedSRF(fcinfo, 0);
	if (draft == NULL)
		return (Datum) 0;
	foreach_ptr(const SfStepLimit, wanted, sf_limit_list_queues(draft, branch))
	{
		SfColumns	row = {0};

		sf_columns_add(&row, Int64GetDatum(wanted->queue.object_no), false);
		sf_columns_add(&row, Int64GetDatum(wanted->queue.hash), false);
		sf_columns_add(&row, BoolGetDatum(sf_limit_is_of_executions(&wanted->limit)), false);
		sf_columns_add(&row, BoolGetDatum(sf_limit_is_for_join(wanted)), false);
		sf_columns_add(&row, BoolGetDatum(sf_limit_shares(draft->execution, wanted->queue)), false);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/*
 * Tell whether a limit with a number applies to a branch that has a slot of its own, where it is.  NULL: the limit has
 * been dropped since the query began, or the branch has gone on.
 */
SF_SQL_FUNCTION(sfflow_is_limited_by)
{
	int64		limit_no = PG_GETARG_INT64(3);
	SfBranch   *branch;
	SfDraft    *draft;

	/* the query still sees a limit that this backend's cache has no more */
	if (sf_limit_by_number(limit_no) == NULL || (draft = sf_object_read_branch(fcinfo, &branch)) == NULL)
		PG_RETURN_NULL();
	foreach_ptr(const SfStepLimit, wanted, sf_limit_list_queues(draft, branch))
		if (wanted->queue.object_no == limit_no && !sf_limit_is_for_join(wanted))
			PG_RETURN_BOOL(true);
	PG_RETURN_BOOL(false);
}
