/*
 * watched_changes.c
 *		Match changes of statuses with the rules, and insert deliveries.
 *
 * A rule sees an event if its owner may READ the state machine when the change is
 * written.  Only rules of such owners are looked at (watcher.c); the others cost nothing.
 *
 * The rules of one owner may take so many steps of an event (pattern_match.c).  Those for which none are left get a
 * delivery each that is not matched: the worker that makes it finds out whether the event matches (deliver.c).
 */
#include "postgres.h"

#include "access/xact.h"

#include "base/error/debug_point.h"
#include "base/value/random.h"
#include "feature/rule/rule.h"
#include "feature/rule/watcher.h"
#include "run/task/origin.h"

/* The cause of a delivery that would make a chain too long */
#define TOO_LONG	"The event comes from an execution that a chain of %d rules has led to."

/* Steps that the rules of one owner may take to match an event before deliveries do: some hundredths of a second */
#define MAX_STEPS	INT64CONST(1000000)

/* The steps that the rules of an owner may take. */
static int64
steps_of_owner(void)
{
	return SF_DEBUG_MS("rule_steps", (int) MAX_STEPS);
}

/* The error of a delivery that would make a chain too long. */
SfError
sf_watcher_chain_error(void)
{
	return sf_error_make("Sfflow.RuleChainTooLong", psprintf(TOO_LONG, SF_MAX_CHAIN));
}

/* Does a rule want to know of a kind of changes of an execution? */
bool
sf_watcher_wants(SfChangeKind kind, const SfExecution *execution)
{
	int			kinds;

	(void) sf_watcher_of_execution(execution, &kinds);
	return (kinds & (1 << kind)) != 0;
}

/* --- deliveries --- */

/*
 * Insert the delivery of an event to a rule, or a dead one where that would make a chain too long; unmatched: if it
 * matches, which the attempt finds out.
 */
static void
insert_delivery(const SfWatchedRule *watch, int depth, char *event_id, Jsonb *event, bool unmatched)
{
	SfDelivery	delivery = {
		.rule_no = watch->rule_no,
		.event_id = event_id,
		.owner = watch->owner,
		.depth = depth + 1,
		.due_at = GetCurrentTimestamp(),
		.created_at = GetCurrentTransactionStartTimestamp(),
		.failed_at = DT_NOBEGIN,
		.event = event,
		.status = SF_DELIVERY_NEW,
		.unmatched = unmatched
	};

	if (delivery.depth > SF_MAX_CHAIN && !unmatched)
	{
		SfError		error = sf_watcher_chain_error();

		delivery.status = SF_DELIVERY_DEAD;
		delivery.failed_at = delivery.due_at;
		delivery.due_at = DT_NOEND;
		delivery.error = unconstify(char *, error.name);
		delivery.cause = unconstify(char *, error.cause);
	}
	else
		sf_hooks.delivery_due();
	sf_delivery_insert(&delivery);
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
event_of(Observation *observation, bool whole)
{
	Jsonb	  **event = whole ? &observation->whole : &observation->plain;

	if (observation->event_id == NULL)
		observation->event_id = sf_uuid_v7();
	if (*event == NULL)
		*event = sf_watcher_event(observation->change, whole ?
								 sf_execution_read(observation->execution->execution_no, SF_LOCK_NONE, true) :
								 observation->execution, observation->event_id, whole);
	return *event;
}

/* Match a change with the rules of a role. */
static void
observe(Observation *observation, const SfWatcher *watcher)
{
	int64		steps = steps_of_owner();
	ListCell   *lc;

	foreach(lc, watcher->watches)
	{
		const SfWatchedRule *watch = lfirst(lc);
		SfFit		fits;
		JsonbValue	event;

		if ((watch->kinds & (1 << observation->change->kind)) == 0)
			continue;
		sf_json_root(event_of(observation, watch->wants_payload), &event);
		fits = sf_pattern_matches_within(watch->pattern, &event, &steps);
		if (fits != SF_FIT_NO)
			insert_delivery(watch, sf_rule_depth(observation->execution->execution_no,
												 observation->execution->parent_execution_no),
							observation->event_id, event_of(observation, true), fits == SF_FIT_UNKNOWN);
	}
}

/*
 * Match the changes of an execution, a List of SfChange, with the rules.  Its row was
 * written, and the caller commits.
 */
void
sf_watcher_changes(const SfExecution *execution, const List *changes)
{
	int			kinds;
	List	   *watchers = sf_watcher_of_execution(execution, &kinds);
	ListCell   *lc;
	ListCell   *w;

	foreach(lc, changes)
	{
		Observation observation = {.change = lfirst(lc),.execution = execution};

		if ((kinds & (1 << observation.change->kind)) == 0)
			continue;
		foreach(w, watchers)
			observe(&observation, lfirst(w));
	}
}

/* --- what may have no execution --- */

/* Match a notice with the rules of a role; *event (NULL: not yet) is its event. */
static void
observe_notice(const SfNotice *notice, const SfWatcher *watcher, char *event_id, Jsonb **event)
{
	const SfOrigin *rule = sf_origin_of(SF_ORIGIN_RULE);
	int			depth = notice->execution != NULL ?
		sf_rule_depth(notice->execution->execution_no, notice->execution->parent_execution_no) :
		rule != NULL ? sf_origin_rule(rule)->depth : 0;
	int64		steps = steps_of_owner();
	JsonbValue	root;
	ListCell   *lc;

	if ((watcher->kinds & (1 << notice->kind)) == 0)
		return;
	if (*event == NULL)
		*event = sf_watcher_notice_event(notice, event_id);
	sf_json_root(*event, &root);
	foreach(lc, watcher->watches)
	{
		const SfWatchedRule *watch = lfirst(lc);
		SfFit		fits;

		if ((watch->kinds & (1 << notice->kind)) == 0)
			continue;
		fits = sf_pattern_matches_within(watch->pattern, &root, &steps);
		if (fits != SF_FIT_NO)
			insert_delivery(watch, depth, event_id, *event, fits == SF_FIT_UNKNOWN);
	}
}

/* Match a change of a schedule, a deadline or an alert with the rules; the caller commits. */
void
sf_watcher_notice(const SfNotice *notice)
{
	char	   *event_id = sf_uuid_v7();
	Jsonb	   *event = NULL;
	ListCell   *lc;

	foreach(lc, sf_watcher_of_notice(notice))
		observe_notice(notice, lfirst(lc), event_id, &event);
}

/* --- chains --- */

/* How many rules led to an execution, or to those above it. */
static int
depth_of(int64 execution_no)
{
	const SfExecution *execution = sf_execution_read(execution_no, SF_LOCK_NONE, false);

	return execution == NULL ? 0 :
		sf_rule_depth(execution_no, execution->parent_execution_no);
}

/*
 * How many rules led to what this session does now: a target of a rule runs in it, or a task of an execution that rules
 * have led to.
 */
int
sf_watcher_depth(void)
{
	const SfOrigin *rule = sf_origin_of(SF_ORIGIN_RULE);
	const SfOrigin *task = sf_origin_of(SF_ORIGIN_TASK);

	if (rule != NULL)
		return sf_origin_rule(rule)->depth;
	/* also where no rule sees what is started, or emitted: one may see what comes of that */
	return task != NULL && sf_watcher_is_any() ? depth_of(sf_origin_task(task)->execution_no) : 0;
}

/* An execution was started, or has the input of another start: note how many rules led to it. */
void
sf_watcher_start(const SfExecution *execution)
{
	int			depth = sf_watcher_depth();

	if (depth > 0)
		sf_rule_note_depth(execution->execution_no, depth);
}
