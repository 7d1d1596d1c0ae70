/*
 * deliver.c
 *		Deliver events to the targets of rules.
 *
 * A process claims some deliveries of one owner and commits; then it calls their
 * targets, each in a subtransaction, and deletes the row of a delivery in the
 * transaction of its call (rule.h).  So an event is delivered once, however
 * often servers and processes end.  A delivery that failed, or whose process ended, is
 * tried again by itself.
 */
#include "postgres.h"

#include "commands/async.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "base/error/debug_point.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/settings.h"
#include "base/time/timing.h"
#include "feature/rule/rule.h"
#include "feature/rule/watcher.h"
#include "run/task/deliverer.h"
#include "run/task/origin.h"
#include "run/task/task_runner.h"
#include "store/feature.h"
#include "store/role/privilege.h"
#include "store/task/task.h"

/* Deliveries that are due and could not be claimed are sought again after this */
#define DELIVERY_RECHECK_MS		100

/* Deliveries that are claimed at once: each takes a subtransaction */
#define BATCH			32

/* Steps in which an attempt finds out whether an event matches its rule: some seconds */
#define MAX_STEPS		INT64CONST(100000000)

/* Longest time of a call of a SQL function */
#define CALL_MS			60000

/* A channel gets payloads that are shorter than this */
#define MAX_NOTIFICATION	7900

/* --- claims --- */

/* May code of an owner run now? */
static bool
may_run(const SfDeliveries *batch, Oid owner)
{
	return batch->admit == NULL || batch->admit(owner);
}

/* Claim deliveries of the next owner in turn. */
static List *
claim_new(SfDeliveries *batch, TimestampTz now)
{
	Oid			owner = sf_delivery_next_owner(batch->owner);

	if (!OidIsValid(owner))
		return NIL;
	/* the next one has its turn also when this one may not */
	batch->owner = owner;
	return may_run(batch, owner) ? sf_delivery_claim(owner, now, BATCH) : NIL;
}

/* Claim a delivery that is to be tried again, of the first owner whose code may run. */
static List *
claim_retry(SfDeliveries *batch, TimestampTz now)
{
	List	   *others = NIL;

	for (;;)
	{
		Oid			owner = sf_delivery_retry_owner(now, others);

		if (!OidIsValid(owner))
			return NIL;
		if (may_run(batch, owner))
			return sf_delivery_claim_retry(owner, now);
		others = lappend_oid(others, owner);
	}
}

/*
 * Claim deliveries that are due; false: none could be claimed.  next_due says when
 * another process should look.  The caller commits.
 */
static bool
deliver_claim(SfDeliveries *batch)
{
	MemoryContext old = MemoryContextSwitchTo(batch->context);
	SfTick		soon = sf_tick_plus_ms(sf_tick_now(), DELIVERY_RECHECK_MS);
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz due;

	batch->next = 0;
	batch->claimed = batch->again ? claim_retry(batch, now) : claim_new(batch, now);
	MemoryContextSwitchTo(old);
	due = sf_delivery_next_due();
	batch->others_due = due <= now;
	/* what is due now is another process's, or its owner has its share of processes */
	batch->next_due = due == DT_NOEND ? SF_TICK_NEVER :
		due == DT_NOBEGIN ? soon : Max(soon, sf_tick_of_wall(due));
	return batch->claimed != NIL;
}

/* --- calls --- */

/* A call of a target */
typedef struct Call
{
	const SfDeliveries *batch;
	const SfDelivery *delivery;
	const SfRule *rule;
	SfTarget	target;
	Jsonb	   *input;
	char	   *name;			/* of the execution that the event names; NULL: of rule and event */
} Call;

/*
 * Start an execution as the owner of the rule; what is there already by that name is left as it is, unless the rule
 * says else.
 */
static void
start_execution(const Call *call)
{
	static SfPlan plan = SF_PLAN("SELECT _sfflow.start_by_rule($1, $2, $3, $4)");
	const SfDelivery *delivery = call->delivery;
	const char *rule = call->rule->name;
	int			room = SF_NAME_MAX - 1 - (int) strlen(delivery->event_id);
	const char *machine = call->target.kind == SF_TARGET_ACTIVITY ?
		sf_target_machine_of(rule) : call->target.name;
	char	   *name = call->name != NULL ? call->name :
		psprintf("%s-%s", pnstrdup(rule, pg_mbcharcliplen(rule, strlen(rule), room)), delivery->event_id);

	(void) sf_db_run(delivery->owner, &plan, NULL, NULL,
					 SF_ARGS(SF_TEXT(machine), SF_JSONB(call->input), SF_TEXT(name),
							 SF_TEXT(sf_rule_if_exists(call->rule))));
}

/* Notify a channel; of an event that is too long, without input and output. */
static void
notify(const Call *call)
{
	char	   *payload = sf_json_to_cstring(call->input);

	if (strlen(payload) > MAX_NOTIFICATION && call->rule->input == NULL)
		payload = sf_json_to_cstring(sf_watcher_event_cut(call->input));
	Async_Notify(call->target.name, payload);
}

/*
 * Raise unless the owner of the rule may give work to an activity.  Otherwise the delivery
 * would count as made, and each execution that it starts would fail.
 */
static void
require_work(const char *name, Oid owner)
{
	const SfActivity *activity = sf_activity_read(name);

	/* what the owner has no right at all on does not exist for it */
	if (activity == NULL ||
		!sf_privilege_check_role(owner, SF_OBJECT_ACTIVITY, name, activity->owner, SF_RIGHT_ANY))
		ereport(ERROR,
				(errcode(ERRCODE_SF_ACTIVITY_DOES_NOT_EXIST),
				 errmsg("activity \"%s\" does not exist", name)));
	if (!sf_privilege_check_role(owner, SF_OBJECT_ACTIVITY, name, activity->owner, SF_RIGHT_WORK))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the owner of the rule has no right to give work to activity \"%s\"", name),
				 errhint("A member of the activity's owner can give it: SELECT sf_grant('WORK', %s, %s).",
						 quote_literal_cstr(psprintf("activity:%s", name)),
						 quote_literal_cstr(GetUserNameFromId(owner, false)))));
}

/* Start an execution, emit an event or notify a channel, in a subtransaction. */
static bool
start_emit_or_notify(void *arg)
{
	const Call *call = arg;

	if (call->target.kind == SF_TARGET_ACTIVITY)
		require_work(call->target.name, call->delivery->owner);
	if (call->target.kind == SF_TARGET_CHANNEL)
		notify(call);
	else if (call->target.kind == SF_TARGET_EVENT)
		sf_target_events()->emit(call->target.name, call->delivery->owner, call->input, call->delivery->event_id);
	else
		start_execution(call);
	return true;
}

/* Call a SQL function as a Task state would. */
static void
call_function(const Call *call, SfTaskOutcome *outcome)
{
	SfTaskCall	task = {
		.execution_id = call->delivery->event_id,
		.resource = &call->target.resource,
		.owner = call->delivery->owner,
		.payload = call->input,
		.attempt = sf_delivery_attempt(call->delivery) - 1,
		.timeout_ms = SF_DEBUG_MS("deliver-call", CALL_MS),
		.in_session = call->batch->in_session,
		.not_first = call->batch->tried > 1
	};

	if (!task.in_session)
		sf_task_runner.assume_identity(task.owner);
	sf_task_runner.run(&task, outcome);
}

/* A worker waits a shorter time for locks until then: the last target that needed one has not got it */
static SfTick waits_briefly_until = SF_TICK_AT_ONCE;

/* Start, emit or notify in a subtransaction; a worker does not wait long for what another transaction has locked. */
static ErrorData *
try_start(const Call *call)
{
	bool		briefly = sf_tick_now() < waits_briefly_until;
	ErrorData  *error;

	if (call->batch->in_session)
		return sf_subtransaction_run(start_emit_or_notify, NULL, unconstify(Call *, call));
	error = sf_subtransaction_run_within(briefly ? SF_NEXT_ROW_LOCK_MS : SF_ROW_LOCK_MS, start_emit_or_notify,
										 unconstify(Call *, call));
	if (error != NULL && error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		waits_briefly_until = sf_tick_plus_ms(sf_tick_now(), SF_LOCKED_PUT_OFF_MS);
	return error;
}

/*
 * Call a target; an error of it is the outcome.  False: another transaction has what it needs, such as the row of
 * a start key, for longer than a worker waits.
 */
static bool
call_target(const Call *call, SfTaskOutcome *outcome)
{
	ErrorData  *error;

	memset(outcome, 0, sizeof(*outcome));
	if (call->target.kind == SF_TARGET_FUNCTION)
	{
		call_function(call, outcome);
		return true;
	}
	error = try_start(call);
	outcome->ok = error == NULL;
	if (error == NULL)
		return true;
	if (error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE && !call->batch->in_session)
		return false;
	outcome->error = sf_error_make(unpack_sql_state(error->sqlerrcode), error->message);
	return true;
}

/* Call the target of a delivery, as what has led to all that it starts; false: it is to be called later. */
static bool
deliver(Call *call, SfTaskOutcome *outcome)
{
	const SfOrigin *outer = sf_origin_innermost;
	SfOrigin	origin = {.kind = SF_ORIGIN_RULE,.outer = outer};
	volatile bool called = true;

	call->input = sf_target_input(call->rule, call->delivery->event, &outcome->error);
	if (call->input == NULL)
		return true;
	call->target = sf_target_parse(call->rule->target);
	if (call->rule->execution_name != NULL &&
		(call->name = sf_target_execution_name(call->rule, call->delivery->event, &outcome->error)) == NULL)
		return true;
	origin.rule.depth = call->delivery->depth;
	if (call->target.kind == SF_TARGET_MACHINE || call->target.kind == SF_TARGET_ACTIVITY)
		origin.rule.event = call->delivery->event;
	sf_origin_innermost = &origin;
	PG_TRY();
	{
		called = call_target(call, outcome);
	}
	PG_FINALLY();
	{
		sf_origin_innermost = outer;
	}
	PG_END_TRY();
	return called;
}

/* Note that a delivery has failed, and whether it is dead. */
static void
note_failure(const SfDelivery *delivery, const SfError *error)
{
	sf_delivery_set_failed(delivery, error, sf_delivery_attempt(delivery) >= sf_setting_rule_attempts);
}

/* Call the target of a delivery that is locked; false: that is for another transaction. */
static bool
attempt(const SfDeliveries *batch, const SfDelivery *delivery, const SfRule *rule, bool *delivered)
{
	const SfError interrupted = sf_error_make("Sfflow.Interrupted",
											  "The server, its process or its transaction ended while the target ran.");
	Call		call = {.batch = batch,.delivery = delivery,.rule = rule};
	SfTaskOutcome outcome = {0};

	if (sf_delivery_attempt(delivery) > sf_setting_rule_attempts)
	{
		/* the last attempt never ended; or more were allowed, and it has failed */
		const SfError before = sf_error_make(delivery->error, delivery->cause);

		note_failure(delivery, before.name == NULL ? &interrupted : &before);
		return true;
	}
	if (!deliver(&call, &outcome))
	{
		sf_delivery_put_off(delivery, SF_LOCKED_PUT_OFF_MS);
		return true;
	}
	if (outcome.serialization_failure && batch->tried > 1)
		return false;
	*delivered = outcome.ok;
	if (outcome.ok)
		sf_delivery_delete(delivery);
	else
		note_failure(delivery, &outcome.error);
	SF_DEBUG_POINT("deliver-called");
	return true;
}

/* Does the event of a delivery match its rule?  The delivery is dead if that takes too long, or a chain ends here. */
static bool
matches_now(const SfDelivery *delivery, const SfRule *rule)
{
	int64		steps = SF_DEBUG_MS("delivery_steps", (int) MAX_STEPS);
	JsonbValue	event;
	SfFit		fits;
	SfError		error;

	sf_json_root(delivery->event, &event);
	fits = sf_pattern_matches_within(sf_pattern_compile(rule->pattern), &event, &steps);
	if (fits == SF_FIT_UNKNOWN)
		error = sf_error_make("Sfflow.PatternTooLarge",
							  "To find out whether the event matches the pattern of the rule takes too long.");
	else if (fits == SF_FIT_YES && delivery->depth > SF_MAX_CHAIN)
		error = sf_watcher_chain_error();
	else
	{
		if (fits == SF_FIT_NO)
			sf_delivery_delete(delivery);
		return fits == SF_FIT_YES;
	}
	sf_delivery_set_failed(delivery, &error, true);
	return false;
}

/* Make a delivery that was claimed; false: that is for another transaction. */
static bool
deliver_claimed(const SfDeliveries *batch, const SfDelivery *delivery, bool *delivered)
{
	const SfRule *rule = sf_rule_read_by_no(delivery->rule_no);

	if (!sf_delivery_lock(delivery))
		return true;
	if (rule == NULL)
		sf_delivery_delete(delivery);
	else if (rule->owner != delivery->owner)
		sf_delivery_pass_on(delivery, rule->owner);
	else if (!delivery->unmatched || matches_now(delivery, rule))
		return attempt(batch, delivery, rule, delivered);
	return true;
}

/* Deliveries of a rule in this transaction */
typedef struct Count
{
	int64		rule_no;
	int			delivered;
} Count;

/* Count a delivery of a rule. */
static List *
add_count(List *counts, int64 rule_no)
{
	Count	   *count;
	ListCell   *lc;

	foreach(lc, counts)
	{
		count = lfirst(lc);
		if (count->rule_no != rule_no)
			continue;
		count->delivered++;
		return counts;
	}
	count = palloc(sizeof(Count));
	*count = (Count) {rule_no, 1};
	return lappend(counts, count);
}

/* Add the counts to the counters of the rules. */
static void
write_counts(List *counts)
{
	foreach_ptr(const Count, count, counts)
		sf_delivery_count(count->rule_no, count->delivered);
}

/* Is there to be no more call of a target? */
static bool
is_time_up(const SfDeliveries *batch)
{
	return batch->until != SF_TICK_UNSET && batch->next > 0 && sf_tick_now() >= batch->until;
}

/* Have what was claimed and not tried claimed anew: others come first. */
static void
give_back(SfDeliveries *batch)
{
	while (batch->next < list_length(batch->claimed))
		sf_delivery_give_back(list_nth(batch->claimed, batch->next++));
}

/*
 * Call the targets of claimed deliveries until the time of a slice is used up; false:
 * there are no more of them.  The caller commits.
 */
static bool
deliver_run(SfDeliveries *batch)
{
	SfTick		until = sf_tick_plus_ms(sf_tick_now(), sf_setting_slice_ms);
	List	   *counts = NIL;

	SF_DEBUG_POINT(batch->again ? "deliver-claimed-again" : "deliver-claimed");
	PushActiveSnapshot(GetTransactionSnapshot());
	batch->tried = 0;
	while (batch->next < list_length(batch->claimed) && !is_time_up(batch) &&
		   (batch->tried == 0 || sf_tick_now() < until))
	{
		const SfDelivery *delivery = list_nth(batch->claimed, batch->next);
		bool		delivered = false;

		CHECK_FOR_INTERRUPTS();
		batch->tried++;
		if (!deliver_claimed(batch, delivery, &delivered))
			break;
		if (delivered)
			counts = add_count(counts, delivery->rule_no);
		batch->delivered += delivered;
		batch->next++;
	}
	if (is_time_up(batch))
		give_back(batch);
	write_counts(counts);
	PopActiveSnapshot();
	return batch->next < list_length(batch->claimed);
}

/*
 * The transaction that tried deliveries has failed: if it was one alone, note why.  Of
 * several, the next attempts will tell, each of which is made by itself.
 */
static void
note_failure_of(const SfDeliveries *batch, const char *cause)
{
	const SfError error = sf_error_make("States.Runtime", cause);

	if (batch->tried == 1)
		note_failure(list_nth(batch->claimed, batch->next - 1), &error);
}

/* Go on behind what a transaction tried that has failed; false: there are no more. */
static bool
deliver_skip(SfDeliveries *batch, int began_at)
{
	batch->next = began_at + Max(batch->tried, 1);
	return batch->next < list_length(batch->claimed);
}

const SfDeliverer sf_delivery_deliverer = {
	.next_due = sf_delivery_next_due,
	.claim = deliver_claim,
	.run = deliver_run,
	.note_failure = note_failure_of,
	.skip = deliver_skip,
};
