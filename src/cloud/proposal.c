/*
 * proposal.c
 *		What a template has beside its state machines: activities, aliases, and the
 *		schedules and rules that start them, each as a statement for sfflow.
 *
 * The statements are proposals, which nothing runs.  Where one cannot do what the
 * template says, it is a comment that tells why.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "cloud/cloud.h"
#include "json/json.h"

/* A schedule or a rule, whether it is a resource or an event of a machine of SAM */
typedef struct Trigger
{
	const SfTreeNode *resource; /* whose position is told */
	const char *label;			/* type and logical id */
	const char *name;
	const char *source;			/* of the events that its times make */
	const char *expression;		/* times; NULL: it waits for events */
	const char *zone;
	const char *starts;
	const char *ends;
	const SfTreeNode *pattern;	/* of events */
	const char *bus;
	bool		is_disabled;
	List	   *targets;		/* Target */
} Trigger;

/* What a trigger calls */
typedef struct Target
{
	const char *machine;		/* with its alias or version; NULL: it is no machine */
	const char *arn;
	const char *input;			/* JSON text; NULL: the event */
	const char *change;			/* what it does to the event; NULL: nothing */
	const char *template;		/* JSON text: that, as the input of a rule of sfflow; NULL: it has none */
} Target;

/* Add a proposal. */
static void
propose(List **proposals, const char *kind, const char *name, const char *label, const SfTreeNode *at, const char *sql)
{
	SfCloudProposal *proposal = palloc(sizeof(SfCloudProposal));

	proposal->kind = kind;
	proposal->name = name;
	proposal->resource = label;
	proposal->location = sf_tree_location(at);
	proposal->sql = sql;
	*proposals = lappend(*proposals, proposal);
}

/* Evaluate a member of an object as text; NULL: there is none. */
static char *
text_member(SfCloud *template, const SfTreeNode *object, const char *name)
{
	const SfTreeNode *member = sf_tree_member(object, name);
	SfTreeNode *value = member == NULL ? NULL : sf_cloud_value(template, member);

	return value == NULL ? NULL : sf_cloud_text(template, value);
}

/* Make a text, of which the template can be another's, a comment: all of its lines. */
static char *
comment(const char *text)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoString(&buf, "-- ");
	for (; *text != '\0'; text++)
	{
		appendStringInfoChar(&buf, *text);
		if (*text == '\n' || *text == '\r')
			appendStringInfoString(&buf, "-- ");
	}
	return buf.data;
}

/* Make a name of sfflow: what it cannot hold is a hyphen. */
static char *
allowed_name(const char *text)
{
	char	   *name = pnstrdup(text, pg_mbcliplen(text, strlen(text), 75));

	for (char *c = name; *c != '\0'; c++)
	{
		if (strchr("<>{}[]?*\"#%\\^|~$&,;:/` \t\n", *c) != NULL)
			*c = '-';
	}
	return name;
}

/* Find the machine in an ARN: "name", or "name/alias"; NULL: it is that of something else. */
static char *
machine_of(const char *arn)
{
	const char *name = strstr(arn, ":stateMachine:");
	char	   *machine;
	char	   *colon;

	if (name == NULL)
		return NULL;
	machine = pstrdup(name + strlen(":stateMachine:"));
	colon = strchr(machine, ':');
	if (colon != NULL)
		*colon = '/';
	return machine;
}

/* Write the statement that imports a machine whose definition is in a file. */
char *
sf_cloud_propose_definition(const char *id, const char *file)
{
	return psprintf("SELECT sf_import(definition, jsonb_build_object(%s, %s));",
					quote_literal_cstr(psprintf("%s.Definition", id)), quote_literal_cstr(psprintf("text of %s", file)));
}

/* --- activities and aliases --- */

/* Propose an alias, which names the current version. */
static void
propose_alias(List **proposals, const char *machine, const char *alias, const char *label, const SfTreeNode *at)
{
	propose(proposals, "alias", psprintf("%s/%s", machine, alias), label, at,
			psprintf("SELECT sf_set_alias(%s, %s, jsonb_build_object(version, 100)) FROM sf_state_machines WHERE state_machine = %s AND is_current;",
					 quote_literal_cstr(machine), quote_literal_cstr(alias), quote_literal_cstr(machine)));
}

/* Propose what an alias of a machine needs: its ARN names the machine. */
static void
propose_alias_of(SfCloud *template, List **proposals, const SfTreeNode *resource, const char *label)
{
	char	   *machine = machine_of(sf_cloud_arn(template, resource));
	char	   *slash = machine == NULL ? NULL : strchr(machine, '/');

	if (slash == NULL)
		return;
	*slash = '\0';
	propose_alias(proposals, machine, slash + 1, label, resource);
}

/* --- schedules and rules --- */

/* Write the event that a time makes, as an input whose placeholders sf_schedule fills in. */
static char *
time_event(SfCloud *template, const Trigger *trigger)
{
	bool		is_rule = strcmp(trigger->source, "aws.events") == 0;
	const char *account = sf_cloud_text(template, sf_cloud_reference(template, trigger->resource, "AWS::AccountId"));
	const char *region = sf_cloud_text(template, sf_cloud_reference(template, trigger->resource, "AWS::Region"));
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_string(&json, "id", "<aws.scheduler.execution-id>");
	sf_json_add_string(&json, "time", "<aws.scheduler.scheduled-time>");
	sf_json_add_string(&json, "region", region);
	sf_json_add_string(&json, "source", trigger->source);
	sf_json_add_string(&json, "account", account);
	sf_json_add_string(&json, "version", "0");
	sf_json_open_array(&json, "resources");
	sf_json_add_string(&json, NULL, is_rule ? psprintf("arn:aws:events:%s:%s:rule/%s", region, account, trigger->name) :
					   "<aws.scheduler.schedule-arn>");
	sf_json_close_array(&json);
	sf_json_add_string(&json, "detail-type", "Scheduled Event");
	if (is_rule)
		sf_json_add(&json, "detail", sf_json_empty_object());
	else
		sf_json_add_string(&json, "detail", "{}");
	return sf_json_to_cstring(sf_json_end(&json));
}

/* Append an argument that is a local time. */
static void
append_time(StringInfo sql, const char *name, const char *given, const char *local, const char *zone)
{
	if (given != NULL || local != NULL)
		appendStringInfo(sql, ", %s => %s", name,
						 quote_literal_cstr(given != NULL ? given : psprintf("%s %s", local, zone)));
}

/* Write the statements for the times of a schedule. */
static char *
schedule_statements(SfCloud *template, const Trigger *trigger, const SfCloudTimes *times, const char *name,
					const Target *target)
{
	StringInfoData sql;
	int			n = 0;

	initStringInfo(&sql);
	if (times->days != NULL)
		appendStringInfo(&sql, "SELECT sf_create_calendar(%s, %s, %s); ", quote_literal_cstr(name), times->rule, times->days);
	foreach_ptr(const char, schedule, times->schedules)
	{
		appendStringInfo(&sql, "%sSELECT sf_schedule(%s, %s, %s, %s, %s", n > 0 ? " " : "",
						 quote_literal_cstr(n == 0 ? name : psprintf("%s-%d", name, n + 1)), quote_literal_cstr(schedule),
						 quote_literal_cstr(target->machine),
						 quote_literal_cstr(target->input != NULL ? target->input : time_event(template, trigger)),
						 quote_literal_cstr(trigger->zone));
		if (times->days != NULL)
			appendStringInfo(&sql, ", calendar => %s", quote_literal_cstr(name));
		append_time(&sql, "starts", trigger->starts, times->starts, trigger->zone);
		append_time(&sql, "ends", trigger->ends, times->ends, trigger->zone);
		appendStringInfoString(&sql, ", overlap => 'parallel');");
		n++;
	}
	return sql.data;
}

/* Put the variables of an input template, which stand for values, into quotes: {"a": <b>}. */
static char *
quote_variables(const char *template)
{
	bool		in_string = false;
	StringInfoData buf;

	initStringInfo(&buf);
	for (const char *p = template; *p != '\0'; p++)
	{
		int			length = *p == '<' && !in_string ? strcspn(p, ">") : 0;

		CHECK_FOR_INTERRUPTS();
		if (length > 0 && p[length] == '>')
		{
			appendStringInfo(&buf, "\"%.*s\"", length + 1, p);
			p += length;
			continue;
		}
		if (in_string && *p == '\\' && p[1] != '\0')
			appendStringInfoChar(&buf, *p++);
		in_string ^= *p == '"';
		appendStringInfoChar(&buf, *p);
	}
	return buf.data;
}

/*
 * Append an object of an input template as the template of a rule: what is one variable
 * becomes its path.  False: a variable stands where a path cannot.
 */
static bool
append_template(StringInfo buf, const SfTreeNode *object, const SfTreeNode *paths)
{
	check_stack_depth();
	appendStringInfoChar(buf, '{');
	SF_TREE_FOREACH(member, object)
	{
		size_t		length = member->kind == SF_TREE_STRING ? strlen(member->string) : 0;
		const char *path = length < 3 || member->string[0] != '<' ? NULL :
			sf_tree_member_string(paths, pnstrdup(member->string + 1, length - 2));

		appendStringInfoString(buf, member == object->first ? "" : ", ");
		escape_json(buf, path == NULL ? member->key : psprintf("%s.$", member->key));
		appendStringInfoString(buf, ": ");
		if (path != NULL)
			escape_json(buf, path);
		else if (member->kind == SF_TREE_OBJECT)
		{
			if (!append_template(buf, member, paths))
				return false;
		}
		else if (strchr(sf_cloud_json(member), '<') != NULL)
			return false;
		else
			appendStringInfoString(buf, sf_cloud_json(member));
	}
	appendStringInfoChar(buf, '}');
	return true;
}

/* Translate an InputTransformer into the input of a rule; NULL: it has no counterpart. */
static char *
translate_transformer(SfCloud *t, const SfTreeNode *transformer)
{
	char	   *template = text_member(t, transformer, "InputTemplate");
	SfParseError error;
	SfTreeNode *object;
	StringInfoData buf;

	if (template == NULL)
		return NULL;
	template = quote_variables(template);
	object = sf_tree_parse(template, strlen(template), &error);
	initStringInfo(&buf);
	if (object == NULL || object->kind != SF_TREE_OBJECT ||
		!append_template(&buf, object, sf_cloud_member(t, transformer, "InputPathsMap")))
		return NULL;
	return buf.data;
}

/* Tell whether a pattern is for events that sfflow itself makes: those of executions. */
static bool
is_own(const SfTreeNode *pattern)
{
	const SfTreeNode *source = sf_tree_member(pattern, "source");

	if (source == NULL || source->kind != SF_TREE_ARRAY)
		return false;
	SF_TREE_FOREACH(value, source)
	{
		if (value->kind == SF_TREE_STRING && strcmp(value->string, "aws.states") == 0)
			return true;
	}
	return false;
}

/* Write the statement for a rule that waits for events. */
static char *
rule_statement(const Trigger *trigger, const char *name, const Target *target)
{
	const char *pattern = quote_literal_cstr(sf_cloud_json(trigger->pattern));
	const char *input = target->input != NULL ? target->input : target->template;

	if (is_own(trigger->pattern))
		return psprintf("SELECT sf_create_rule(%s, %s, %s%s);", quote_literal_cstr(name), pattern,
						quote_literal_cstr(target->machine),
						input == NULL ? "" : psprintf(", %s", quote_literal_cstr(input)));
	return psprintf("SELECT sfflow_aws.put_rule(%s, %s, %s, %s);%s", quote_literal_cstr(name), pattern,
					quote_literal_cstr(target->machine), quote_literal_cstr(trigger->bus),
					target->input == NULL ? "" : " -- without its Input: the event is the input");
}

/* Say what keeps a trigger from being proposed; NULL: nothing does. */
static char *
obstacle(const Trigger *trigger, const Target *target, const SfCloudTimes *times)
{
	Jsonb	   *parsed;

	if (target->machine == NULL)
		return psprintf("it calls %s, which is no state machine", target->arn);
	if (trigger->expression != NULL && times->problem != NULL)
		return psprintf("%s: %s", trigger->expression, times->problem);
	if (target->input != NULL && !sf_json_parse(target->input, strlen(target->input), &parsed))
		return pstrdup("its Input is not JSON");
	if (trigger->expression == NULL && trigger->pattern == NULL)
		return pstrdup("it has neither times nor a pattern");
	return NULL;
}

/* Propose a trigger, once for each target. */
static void
propose_trigger(SfCloud *template, List **proposals, Trigger *trigger)
{
	SfCloudTimes times = {0};
	int			n = 0;

	if (trigger->expression != NULL)
		sf_cloud_read_times(trigger->expression, &times);
	foreach_ptr(const Target, target, trigger->targets)
	{
		const char *kind = trigger->expression != NULL ? "schedule" : is_own(trigger->pattern) ? "rule" : "event";
		char	   *name = allowed_name(n++ == 0 ? trigger->name : psprintf("%s-%d", trigger->name, n));
		char	   *why = obstacle(trigger, target, &times);
		char	   *sql;

		if (why != NULL)
		{
			propose(proposals, kind, NULL, trigger->label, trigger->resource, comment(why));
			continue;
		}
		sql = trigger->expression != NULL ? schedule_statements(template, trigger, &times, name, target) :
			rule_statement(trigger, name, target);
		if (target->change != NULL && (target->template == NULL || strcmp(kind, "rule") != 0))
			sql = psprintf("%s -- without its %s: see the argument input", sql, target->change);
		if (trigger->is_disabled)
			sql = comment(psprintf("disabled: %s", sql));
		propose(proposals, kind, trigger->is_disabled ? NULL : name, trigger->label, trigger->resource, sql);
	}
}

/* Read what a schedule or a rule calls. */
static Target *
read_target(SfCloud *template, const SfTreeNode *node)
{
	Target	   *target = palloc0(sizeof(Target));
	SfTreeNode *arn = sf_cloud_member(template, node, "Arn");
	Jsonb	   *request;

	target->arn = arn == NULL ? "nothing" : sf_cloud_text(template, arn);
	target->machine = machine_of(target->arn);
	target->input = text_member(template, node, "Input");
	target->change = sf_tree_member(node, "InputTransformer") != NULL ? "InputTransformer" :
		sf_tree_member(node, "InputPath") != NULL ? "InputPath" : NULL;
	if (sf_tree_member(node, "InputTransformer") != NULL)
		target->template = translate_transformer(template, sf_tree_member(node, "InputTransformer"));
	/* a call of the SDK has the machine and its input in the request */
	if (strstr(target->arn, ":aws-sdk:sfn:startExecution") != NULL && target->input != NULL &&
		sf_json_parse(target->input, strlen(target->input), &request))
	{
		const char *machine = sf_json_get_cstring(request, "StateMachineArn");

		target->machine = machine == NULL ? NULL : machine_of(machine);
		target->input = sf_json_get_cstring(request, "Input");
	}
	return target;
}

/* Tell whether a trigger is switched off. */
static bool
is_disabled(SfCloud *template, const SfTreeNode *properties)
{
	const char *state = text_member(template, properties, "State");
	const char *enabled = text_member(template, properties, "Enabled");

	return (state != NULL && strcmp(state, "DISABLED") == 0) || (enabled != NULL && strcmp(enabled, "false") == 0);
}

/* Read what triggers of all kinds have. */
static void
read_trigger(SfCloud *template, const SfTreeNode *properties, Trigger *trigger)
{
	char	   *bus = text_member(template, properties, "EventBusName");
	SfTreeNode *pattern = sf_cloud_member(template, properties, "EventPattern");

	trigger->expression = text_member(template, properties, "ScheduleExpression");
	if (trigger->expression == NULL)
		trigger->expression = text_member(template, properties, "Schedule");
	trigger->zone = text_member(template, properties, "ScheduleExpressionTimezone");
	if (trigger->zone == NULL)
		trigger->zone = "UTC";
	trigger->starts = text_member(template, properties, "StartDate");
	trigger->ends = text_member(template, properties, "EndDate");
	trigger->pattern = pattern != NULL ? pattern : sf_cloud_member(template, properties, "Pattern");
	trigger->bus = bus == NULL ? "default" : strrchr(bus, '/') != NULL ? strrchr(bus, '/') + 1 : bus;
	trigger->is_disabled = is_disabled(template, properties);
}

/* Propose a schedule or a rule that is a resource of its own. */
static void
propose_resource(SfCloud *template, List **proposals, const SfTreeNode *resource, const char *label)
{
	const SfTreeNode *properties = sf_tree_member(resource, "Properties");
	const SfTreeNode *targets = sf_tree_member(properties, "Targets");
	const SfTreeNode *target = sf_tree_member(properties, "Target");
	Trigger		trigger = {.resource = resource, .label = label, .name = sf_cloud_name(template, resource)};

	read_trigger(template, properties, &trigger);
	trigger.source = sf_cloud_is_type(resource, "AWS::Events::Rule") ? "aws.events" : "aws.scheduler";
	if (target != NULL)
		trigger.targets = list_make1(read_target(template, target));
	if (targets != NULL && targets->kind == SF_TREE_ARRAY)
	{
		SF_TREE_FOREACH(target, targets)
			trigger.targets = lappend(trigger.targets, read_target(template, target));
	}
	propose_trigger(template, proposals, &trigger);
}

/* Propose an event of a machine of SAM. */
static void
propose_event(SfCloud *template, List **proposals, const SfTreeNode *machine, const SfTreeNode *event)
{
	const char *type = sf_tree_member_string(event, "Type");
	const SfTreeNode *properties = sf_tree_member(event, "Properties");
	char	   *name = text_member(template, properties, "Name");
	char	   *label = psprintf("Events %s of %s", event->key, machine->key);
	Trigger		trigger = {.resource = event, .label = label};
	Target	   *target = read_target(template, properties);

	if (type == NULL)
		return;
	if (name == NULL)
		name = text_member(template, properties, "RuleName");
	trigger.name = name != NULL ? name : psprintf("%s%s", machine->key, event->key);
	trigger.source = strcmp(type, "ScheduleV2") == 0 ? "aws.scheduler" : "aws.events";
	read_trigger(template, properties, &trigger);
	target->machine = sf_cloud_name(template, machine);
	trigger.targets = list_make1(target);
	if (strcmp(type, "Api") == 0 || strcmp(type, "HttpApi") == 0)
		propose(proposals, "event", NULL, label, event,
				comment(psprintf("an HTTP API: have it call sf_start(%s, ...), or StartExecution of sfgateway",
								 quote_literal_cstr(target->machine))));
	else
		propose_trigger(template, proposals, &trigger);
}

/* Propose the events and the alias of a machine of SAM. */
static void
propose_for_machine(SfCloud *template, List **proposals, const SfTreeNode *machine, const char *label)
{
	const SfTreeNode *properties = sf_tree_member(machine, "Properties");
	const SfTreeNode *events = sf_tree_member(properties, "Events");
	char	   *alias = text_member(template, properties, "AutoPublishAlias");

	if (alias != NULL)
		propose_alias(proposals, sf_cloud_name(template, machine), alias, label,
					  sf_tree_member(properties, "AutoPublishAlias"));
	if (events == NULL || events->kind != SF_TREE_OBJECT)
		return;
	SF_TREE_FOREACH(event, events)
		propose_event(template, proposals, machine, event);
}

/* Propose what one resource needs. */
static void
propose_for(SfCloud *template, List **proposals, const SfTreeNode *resource)
{
	const char *type = sf_tree_member_string(resource, "Type");
	char	   *label = psprintf("%s %s", type == NULL ? "" : type, resource->key);

	if (type == NULL || !sf_cloud_is_there(template, resource))
		return;
	if (strcmp(type, "AWS::StepFunctions::Activity") == 0)
		propose(proposals, "activity", sf_cloud_name(template, resource), label, resource,
				psprintf("SELECT sf_create_activity(%s);", quote_literal_cstr(sf_cloud_name(template, resource))));
	else if (strcmp(type, "AWS::StepFunctions::StateMachineAlias") == 0)
		propose_alias_of(template, proposals, resource, label);
	else if (strcmp(type, "AWS::Events::Rule") == 0 || strcmp(type, "AWS::Scheduler::Schedule") == 0)
		propose_resource(template, proposals, resource, label);
	else if (sf_cloud_is_machine(resource))
		propose_for_machine(template, proposals, resource, label);
}

/* List what a template has beside its machines (SfCloudProposal), in its order. */
List *
sf_cloud_proposals(SfCloud *template)
{
	const SfTreeNode *resources = sf_tree_member(template->root, "Resources");
	List	   *proposals = NIL;

	SF_TREE_FOREACH(resource, resources)
	{
		CHECK_FOR_INTERRUPTS();
		propose_for(template, &proposals, resource);
	}
	return proposals;
}
