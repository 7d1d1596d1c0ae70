/*
 * rule_functions.c
 *		sf_create_rule(), sf_drop_rule(), sf_redeliver(), sf_discard_deliveries(),
 *		sf_test_event_pattern(), and for rules of the stand-in of EventBridge the making of inputs.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/definition/definitions.h"
#include "api/execution/executions.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/compat.h"
#include "base/version/schema.h"
#include "feature/rule/pattern.h"
#include "feature/rule/rule.h"
#include "feature/rule/watcher.h"
#include "quota/quota.h"
#include "sql_task/function/function.h"
#include "store/audit/audit.h"
#include "store/feature.h"
#include "store/role/owner.h"

/* --- rules of the caller --- */

/* Raise unless the current user may change a rule, NULL: there is none of that name. */
static void
require_owner(const SfRule *rule, const char *name)
{
	if (rule == NULL || !sf_privilege_is_owner(rule->owner))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("rule \"%s\" does not exist", name),
				 sf_object_errdetail_missing(),
				 errhint("The view sf_rules lists those that there are for you.")));
}

/* Find the rule that the first argument names, of the caller. */
static SfRule *
find_rule(FunctionCallInfo fcinfo)
{
	const char *name = sf_arg_text(fcinfo, 0, "name");
	SfRule	   *rule = sf_rule_read(name, SF_LOCK_NONE);

	require_owner(rule, name);
	return rule;
}

/*
 * Lock a rule of the caller until the end of the transaction: it may have got another owner
 * meanwhile.  A rule of another role is not locked.
 */
static SfRule *
lock_rule(const char *name)
{
	SfRule	   *rule = sf_rule_read(name, SF_LOCK_NONE);

	require_owner(rule, name);
	rule = sf_rule_read(name, SF_LOCK_WAIT);
	require_owner(rule, name);
	return rule;
}

/* Record what was done to a rule. */
static void
note_rule(const char *action, SfObjectKind kind, const char *object, const SfRule *rule)
{
	sf_audit_note(action, kind, object, psprintf("rule:%s", rule->name), NULL, NULL);
}

/* --- quotas --- */

/* Raise that a quota of the owner of rules is reached. */
static void pg_attribute_noreturn()
refuse_quota(const SfRule *rule, const char *setting, int quota, const char *what)
{
	const char *owner = GetUserNameFromId(rule->owner, false);

	ereport(ERROR,
			(errcode(ERRCODE_SF_QUOTA_EXCEEDED),
			 errmsg("rule \"%s\" is more than role \"%s\" may have", rule->name, owner),
			 errdetail("%s (%d) is reached: %s.", setting, quota, what),
			 errhint("Drop rules that are not needed. A superuser can raise it: ALTER ROLE %s SET %s = %d.",
					 quote_identifier(owner), setting, 2 * Min(quota, PG_INT32_MAX / 2))));
}

/* Raise if a rule that is new or is put in the place of another one (NULL: none) is more than its owner may have. */
static void
check_quota(const SfRule *rule, const SfRule *old)
{
	const SfQuotas *quotas = sf_quota_of(rule->owner);
	SfRuleUse	others = sf_rule_use(rule, old == NULL ? 0 : old->rule_no, quotas->rules,
									 quotas->rule_bytes);

	if (old == NULL && quotas->rules > 0 && others.rules >= quotas->rules)
		refuse_quota(rule, "sfflow.max_rules_per_owner", quotas->rules,
					 "so many rules may belong to one role");
	if (quotas->rule_bytes > 0 && others.bytes + rule->bytes > quotas->rule_bytes &&
		(old == NULL || rule->bytes > old->bytes))
		refuse_quota(rule, "sfflow.max_rule_bytes_per_owner", quotas->rule_bytes,
					 "so many bytes the patterns and inputs of one role's rules may have, all together");
}

/* How many bytes a document has as text. */
static int64
text_bytes(const Jsonb *document)
{
	return document == NULL ? 0 : (int64) strlen(sf_json_to_cstring(document));
}

/* --- targets --- */

/* Raise unless the caller may execute a function. */
static void
check_function(const char *name)
{
	SfClosest	closest;
	SfFunctionAccess access = sf_function_access(name, &closest);

	if (access == SF_FUNCTION_FORBIDDEN)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function %s", name)));
	if (access == SF_FUNCTION_MISSING)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function %s does not exist", name),
				 sf_closest_errhint(&closest, NULL)));
}

/* Raise unless a name can be that of a channel. */
static void
check_channel(const char *name)
{
	if (name[0] == '\0' || strlen(name) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("the name of the channel to notify must have 1 to %d bytes", NAMEDATALEN - 1)));
}

/* Raise unless the owner of a rule may emit events of a type, and the rule says which. */
static void
check_event(const SfRule *rule, const char *name)
{
	sf_target_events()->require_emit(name, rule->owner);
	sf_target_check_event(rule->input);
}

/*
 * Make the machine whose executions are the tasks of an activity that a rule hands
 * out, for the owner of the rule; one that is there already with this definition stays.
 */
static void
make_machine(const SfRule *rule, const char *activity)
{
	SfMachine	machine = {.owner = rule->owner,.options = sf_json_empty_object()};
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "Comment", psprintf("Tasks of rule %s", rule->name));
	sf_json_add_string(&json, "StartAt", "Task");
	sf_json_open_object(&json, "States");
	sf_json_open_object(&json, "Task");
	sf_json_add_string(&json, "Type", "Task");
	sf_json_add_string(&json, "Resource", psprintf("activity:%s", activity));
	sf_json_add_bool(&json, "End", true);
	sf_json_close_object(&json);
	sf_json_close_object(&json);
	machine.name = unconstify(char *, sf_target_machine_of(rule->name));
	machine.definition = sf_json_to_cstring(sf_json_end(&json));
	sf_object_create_machine(&machine, true);
}

/* Raise unless the caller may use a target. */
static void
check_target(const SfRule *rule)
{
	SfTarget	target = sf_target_parse(rule->target);

	switch (target.kind)
	{
		case SF_TARGET_MACHINE:
			if (target.resource.kind == SF_RESOURCE_SQL_QUERY)
				ereport(ERROR,
						(errcode(ERRCODE_SF_INVALID_OPTION),
						 errmsg("argument target must not be \"%s\"", rule->target),
						 errhint("It is a state machine, sql:schema.function, activity:name, event:name or notify:channel.")));
			(void) sf_arg_machine(target.name, SF_RIGHT_START);
			break;
		case SF_TARGET_FUNCTION:
			check_function(target.name);
			break;
		case SF_TARGET_ACTIVITY:
			/* each delivery gives work to it */
			(void) sf_arg_activity(target.name, SF_RIGHT_WORK);
			make_machine(rule, target.name);
			break;
		case SF_TARGET_EVENT:
			check_event(rule, target.name);
			break;
		case SF_TARGET_CHANNEL:
			check_channel(target.name);
			break;
	}
}

/* --- functions --- */

/* Raise unless the caller may create rules. */
static void
require_create(void)
{
	if (!sf_privilege_may_create())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to create rules"),
				 errhint("A superuser can give the right: SELECT sf_grant('CREATE', '*', %s).",
						 quote_literal_cstr(GetUserNameFromId(GetUserId(), false)))));
}

/* Raise that another role has a rule of a name. */
static void pg_attribute_noreturn()
refuse_name(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_OBJECT),
			 errmsg("rule \"%s\" belongs to another role", name)));
}

/* Read what a rule calls the executions that it starts, and what becomes of those that are there. */
static void
read_name(FunctionCallInfo fcinfo, SfRule *rule)
{
	SfTargetKind kind;
	char	   *if_exists;

	if (PG_NARGS() <= 4 || PG_ARGISNULL(4))
		return;
	kind = sf_target_parse(rule->target).kind;
	rule->execution_name = sf_arg_text(fcinfo, 4, "execution_name");
	if_exists = sf_arg_text(fcinfo, 5, "if_exists");
	if (kind != SF_TARGET_MACHINE && kind != SF_TARGET_ACTIVITY)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument execution_name is for a target that starts executions, and \"%s\" does not",
						rule->target)));
	sf_target_check_name(rule->execution_name);
	rule->if_exists = sf_start_if_exists(if_exists);
}

/* Compile the pattern of a rule that takes the place of another one (NULL: of none), whose pattern it may keep. */
static SfPattern *
compile(const SfRule *rule, const SfRule *old)
{
	bool		is_kept = old != NULL &&
		compareJsonbContainers(&rule->pattern->root, &old->pattern->root) == 0;

	return is_kept ? sf_pattern_compile(rule->pattern) : sf_pattern_compile_new(rule->pattern);
}

/*
 * sf_create_rule(name, pattern, target, input [, execution_name, if_exists]): a rule of the caller, or in place of
 * one that it owns.
 */
SF_SQL_FUNCTION(sfflow_sf_create_rule)
{
	SfRule		rule = {
		.name = sf_arg_text(fcinfo, 0, "name"),
		.owner = GetUserId(),
		.pattern = sf_arg_jsonb(fcinfo, 1, "pattern"),
		.target = sf_arg_text(fcinfo, 2, "target"),
		.input = sf_arg_jsonb_or_null(fcinfo, 3),
		.if_exists = SF_IF_EXISTS_OF_RULE
	};
	SfPattern  *pattern;
	SfRule	   *old;

	old = sf_rule_read(rule.name, SF_LOCK_NONE);
	sf_name_check(rule.name, "rule name");
	if (old == NULL)
		require_create();
	else if (!sf_privilege_is_owner(old->owner))
		refuse_name(rule.name);
	else
	{
		old = lock_rule(rule.name);
		rule.owner = old->owner;
	}
	rule.bytes = (int) Min(text_bytes(rule.pattern) + text_bytes(rule.input), PG_INT32_MAX);
	check_quota(&rule, old);
	pattern = compile(&rule, old);
	rule.wants_alerts = sf_pattern_may_match(pattern, "detail-type", SF_ALERT_DETAIL_TYPE);
	if (rule.input != NULL)
		sf_target_check_input(rule.input);
	read_name(fcinfo, &rule);
	check_target(&rule);
	sf_privilege_anchor(rule.owner);
	if (!sf_rule_write(&rule, rule.owner))
		refuse_name(rule.name);
	/* alerts that time has opened */
	sf_hooks.scan_at(GetCurrentTimestamp());
	note_rule(old == NULL ? "create" : "replace", SF_OBJECT_RULE, rule.name, &rule);
	PG_RETURN_VOID();
}

/* sf_drop_rule(name): with its deliveries. */
SF_SQL_FUNCTION(sfflow_sf_drop_rule)
{
	SfRule	   *rule = lock_rule(sf_arg_text(fcinfo, 0, "name"));

	sf_rule_delete(rule);
	sf_audit_delete_of_object(SF_OBJECT_RULE, rule->name);
	note_rule("drop", SF_OBJECT_ALL, "*", rule);
	sf_privilege_unanchor(rule->owner);
	PG_RETURN_VOID();
}

/* Give the machine of a rule whose target is an activity to the new owner of the rule. */
static void
pass_machine_on(const SfRule *rule, Oid before)
{
	const SfMachine *machine;

	if (sf_target_parse(rule->target).kind != SF_TARGET_ACTIVITY)
		return;
	machine = sf_machine_read(sf_target_machine_of(rule->name), SF_NO_VERSION, false);
	if (machine == NULL || machine->owner != before)
		return;
	sf_machine_lock(machine->machine_no);
	sf_owner_set_machine(machine->machine_no, rule->owner);
}

/* Give a rule that the caller owns to another role; returns the previous owner. */
Oid
sf_rule_set_owner(const char *name, Oid owner)
{
	SfRule	   *rule = lock_rule(name);
	Oid			before = rule->owner;

	rule->owner = owner;
	(void) sf_rule_write(rule, before);
	pass_machine_on(rule, before);
	return before;
}

/* sf_redeliver(rule, event_id): try dead deliveries anew; how many. */
SF_SQL_FUNCTION(sfflow_sf_redeliver)
{
	const SfRule *rule = find_rule(fcinfo);

	note_rule("redeliver", SF_OBJECT_RULE, rule->name, rule);
	PG_RETURN_INT64(sf_delivery_revive(rule->rule_no, sf_arg_text_or_null(fcinfo, 1)));
}

/* sf_discard_deliveries(rule, event_id): delete dead deliveries; how many. */
SF_SQL_FUNCTION(sfflow_sf_discard_deliveries)
{
	const SfRule *rule = find_rule(fcinfo);

	note_rule("discard deliveries", SF_OBJECT_RULE, rule->name, rule);
	PG_RETURN_INT64(sf_delivery_delete_dead(rule->rule_no, sf_arg_text_or_null(fcinfo, 1)));
}

/* sf_test_event_pattern(pattern, event): does it match? */
SF_SQL_FUNCTION(sfflow_sf_test_event_pattern)
{
	const SfPattern *pattern = sf_pattern_compile(PG_GETARG_JSONB_P(0));
	JsonbValue	event;

	sf_json_root(PG_GETARG_JSONB_P(1), &event);
	PG_RETURN_BOOL(sf_pattern_matches(pattern, &event));
}

/* Check the template of an input (NULL: none) for a target: such that an event has its key. */
SF_SQL_FUNCTION(sfflow_check_rule_input)
{
	const Jsonb *input = sf_arg_jsonb_or_null(fcinfo, 1);

	if (input != NULL)
		sf_target_check_input(input);
	if (!PG_ARGISNULL(0) && sf_target_parse(sf_arg_text(fcinfo, 0, "target")).kind == SF_TARGET_EVENT)
		sf_target_check_event(input);
	PG_RETURN_VOID();
}

/* Make the input of a target from a template and an event. */
SF_SQL_FUNCTION(sfflow_rule_input)
{
	SfRule		rule = {.input = PG_GETARG_JSONB_P(0)};
	SfError		error;
	Jsonb	   *input = sf_target_input(&rule, PG_GETARG_JSONB_P(1), &error);

	if (input == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("the input of the rule cannot be made: %s: %s", error.name, error.cause)));
	PG_RETURN_JSONB_P(input);
}

/* Tell rules of the alerts that time has opened or cleared, as workers do once a minute; true: there are more. */
SF_SQL_FUNCTION(sfflow_check_alerts)
{
	PG_RETURN_BOOL(sf_watcher_tell_time_alerts());
}
