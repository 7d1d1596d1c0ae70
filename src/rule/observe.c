/*
 * observe.c
 *		Match changes of statuses with the rules, and insert deliveries.
 *
 * Rules are few and change rarely, so every session has a copy of them, compiled
 * (store/table_copy.c).  It takes changes in when it begins a transaction at the latest.  Without a rule, a change costs
 * one test (sf_observe_wants).
 *
 * A rule sees an event if its owner may READ the state machine when the change is
 * written.  This is asked only of events that match.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/acl.h"

#include "base/subtransaction.h"
#include "base/uuid.h"
#include "rule/observe.h"
#include "rule/pattern.h"
#include "rule/status_event.h"
#include "store/delivery.h"
#include "store/privilege.h"
#include "store/rule.h"
#include "store/table_copy.h"

/* The cause of a delivery that would make a chain too long */
#define TOO_LONG	"The event comes from an execution that a chain of %d rules has led to."

/* A rule as this session has compiled it */
typedef struct Watch
{
	int64		rule_no;
	Oid			owner;
	const Jsonb *source;		/* while it is compiled */
	SfPattern  *pattern;
	bool		wants_payload;	/* its pattern looks at input or output */
	int			kinds;			/* of changes that may match, as bits */
} Watch;

SfOrigin	sf_observe_origin = {0, 0};

static void load(void);

/* The session's watches, a copy of the table */
static SfTableCopy copy = {.table = "rule",.load = load,.is_latest = true};
static List *watches = NIL;
static int	wanted = 0;			/* the kinds that they want, as bits */

/* --- the cache --- */

/* Compile a pattern. */
static bool
compile(void *arg)
{
	Watch	   *watch = arg;
	MemoryContext old = MemoryContextSwitchTo(copy.context);

	watch->pattern = sf_pattern_compile(watch->source);
	MemoryContextSwitchTo(old);
	return true;
}

/* Add a watch for a rule; a rule that another version of sfflow has stored may not compile. */
static void
add_watch(const SfRule *rule)
{
	static const char *const detail_types[] = {
#define DETAIL_TYPE(sym, source, detail_type) detail_type,
		SF_CHANGE_LIST(DETAIL_TYPE)
	};
	MemoryContext old = MemoryContextSwitchTo(copy.context);
	Watch	   *watch = palloc0(sizeof(Watch));
	ErrorData  *error;

	watch->rule_no = rule->rule_no;
	watch->owner = rule->owner;
	watch->source = rule->pattern;
	MemoryContextSwitchTo(old);
	error = sf_subtransaction_run(compile, NULL, watch);
	if (error != NULL)
	{
		ereport(LOG,
				(errmsg("rule \"%s\" matches nothing: %s", rule->name, error->message)));
		return;
	}
	MemoryContextSwitchTo(copy.context);
	watch->wants_payload = sf_pattern_names(watch->pattern, "input") ||
		sf_pattern_names(watch->pattern, "output");
	for (size_t i = 0; i < lengthof(detail_types); i++)
		if (sf_pattern_may_match(watch->pattern, "detail-type", detail_types[i]))
			watch->kinds |= 1 << i;
	wanted |= watch->kinds;
	watches = lappend(watches, watch);
	MemoryContextSwitchTo(old);
}

/* Read the rules. */
static void
load(void)
{
	ListCell   *lc;

	watches = NIL;
	wanted = 0;
	foreach(lc, sf_rule_read_all())
		add_watch(lfirst(lc));
}

/* Does a rule want to know of changes of a kind? */
bool
sf_observe_wants(SfChangeKind kind)
{
	sf_table_copy_refresh(&copy);
	return (wanted & (1 << kind)) != 0;
}

/* --- deliveries --- */

/* Insert the delivery of an event to a rule, or a dead one where that would make a chain too long. */
static void
insert_delivery(const Watch *watch, int depth, char *event_id, Jsonb *event)
{
	SfDelivery	delivery = {
		.rule_no = watch->rule_no,
		.event_id = event_id,
		.owner = watch->owner,
		.depth = depth + 1,
		.due_at = GetCurrentTimestamp(),
		.created_at = GetCurrentTransactionStartTimestamp(),
		.failed_at = DT_NOBEGIN,
		.event = event
	};

	if (delivery.depth > SF_MAX_CHAIN)
	{
		delivery.failed_at = delivery.due_at;
		delivery.due_at = DT_NOEND;
		delivery.error = "Sfflow.RuleChainTooLong";
		delivery.cause = psprintf(TOO_LONG, SF_MAX_CHAIN);
	}
	else
		sf_hooks.delivery_due();
	sf_delivery_insert(&delivery);
}

/* May the owner of a rule know of an execution? */
static bool
may_know(const Watch *watch, const SfExecution *execution)
{
	return sf_privilege_check_role(watch->owner, SF_OBJECT_STATE_MACHINE,
								   execution->machine_name, execution->owner,
								   SF_PRIVILEGE_READ);
}

/* A change, with the forms of its event that were needed so far */
typedef struct Observation
{
	const SfChange *change;
	const SfExecution *execution;
	char	   *event_id;
	Jsonb	   *plain;			/* without input and output */
	Jsonb	   *whole;
} Observation;

/* The event, whole or without input and output. */
static Jsonb *
event_of(Observation *o, bool whole)
{
	Jsonb	  **event = whole ? &o->whole : &o->plain;

	if (o->event_id == NULL)
		o->event_id = sf_uuid_v7();
	if (*event == NULL)
		*event = sf_observe_event(o->change, whole ?
								 sf_execution_read(o->execution->execution_no, SF_LOCK_NONE, true) :
								 o->execution, o->event_id, whole);
	return *event;
}

/* Match a change with the rules. */
static void
observe(Observation *o)
{
	ListCell   *lc;

	foreach(lc, watches)
	{
		const Watch *watch = lfirst(lc);
		JsonbValue	event;

		if ((watch->kinds & (1 << o->change->kind)) == 0)
			continue;
		sf_json_root(event_of(o, watch->wants_payload), &event);
		if (sf_pattern_matches(watch->pattern, &event) && may_know(watch, o->execution))
			insert_delivery(watch, sf_rule_depth(o->execution->execution_no,
												 o->execution->parent_execution_no),
							o->event_id, event_of(o, true));
	}
}

/*
 * Match the changes of an execution, a List of SfChange, with the rules.  Its row was
 * written, and the caller commits.
 */
void
sf_observe_changes(const SfExecution *execution, const List *changes)
{
	ListCell   *lc;

	foreach(lc, changes)
	{
		Observation o = {.change = lfirst(lc),.execution = execution};

		if (sf_observe_wants(o.change->kind))
			observe(&o);
	}
}

/* --- what may have no execution --- */

/* May the owner of a rule know of it? */
static bool
may_know_notice(const Watch *watch, const SfNotice *n)
{
	if (OidIsValid(n->owner) && has_privs_of_role(watch->owner, n->owner))
		return true;
	return n->machine != NULL &&
		sf_privilege_check_role(watch->owner, SF_OBJECT_STATE_MACHINE, n->machine,
								n->machine_owner, SF_PRIVILEGE_READ);
}

/* Match a change of a schedule, a deadline or an alert with the rules; the caller commits. */
void
sf_observe_notice(const SfNotice *n)
{
	int			depth = n->execution == NULL ? sf_observe_origin.depth :
		sf_rule_depth(n->execution->execution_no, n->execution->parent_execution_no);
	char	   *event_id = sf_uuid_v7();
	Jsonb	   *event = sf_observe_notice_event(n, event_id);
	JsonbValue	root;
	ListCell   *lc;

	if (!sf_observe_wants(n->kind))
		return;
	sf_json_root(event, &root);
	foreach(lc, watches)
	{
		const Watch *watch = lfirst(lc);

		if ((watch->kinds & (1 << n->kind)) != 0 &&
			sf_pattern_matches(watch->pattern, &root) && may_know_notice(watch, n))
			insert_delivery(watch, depth, event_id, event);
	}
}

/* --- chains --- */

/* How many rules led to an execution, or to those that it is a child of. */
static int
depth_of(int64 execution_no)
{
	const SfExecution *execution = sf_execution_read(execution_no, SF_LOCK_NONE, false);

	return execution == NULL ? 0 :
		sf_rule_depth(execution_no, execution->parent_execution_no);
}

/*
 * An execution was started: note how many rules led to it, if a target of a rule runs
 * in this session, or a task of an execution that rules have led to.
 */
void
sf_observe_start(const SfExecution *execution)
{
	int			depth = sf_observe_origin.depth;

	if (depth == 0 && sf_observe_origin.execution_no != 0 &&
		(sf_observe_wants(SF_CHANGE_EXECUTION) || sf_observe_wants(SF_CHANGE_JOB)))
		depth = depth_of(sf_observe_origin.execution_no);
	if (depth > 0)
		sf_rule_note_depth(execution->execution_no, depth);
}
