/*
 * visits.c
 *		One fold of the events of an execution: what happened in each of its states, and when.
 *
 * Each entry into a state is a visit, and a visit has an attempt per try: a retry begins
 * another one, and so does a redrive that goes on inside of a Parallel, Map or JobNet.
 * Events of an instance come in order, so that the instance's latest attempt is the one that an
 * event belongs to.
 *
 * When a Parallel, Map or JobNet is retried, its history has no event that the attempt has
 * failed, only another ...Started: the attempt before ended with the last event within it.
 * Nor has it one when an execution that was redriven goes on with them.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/value/iterations.h"
#include "json/json.h"
#include "report/visits.h"
#include "store/history/history_event_types.h"

/* --- instances --- */

/* Hash an instance. */
static uint32
hash_instance(const void *key, Size keysize)
{
	const SfStateInstanceKey *instance = key;

	return hash_combine(hash_uint32((uint32) instance->number),
						hash_bytes((const unsigned char *) instance->iterations,
								   sizeof(int) * instance->niterations));
}

/* Compare instances: 0 when they are the same. */
static int
compare_instances(const void *a, const void *b, Size keysize)
{
	const SfStateInstanceKey *x = a;
	const SfStateInstanceKey *y = b;

	return x->number != y->number ||
		!sf_same_iterations(x->iterations, x->niterations, y->iterations, y->niterations);
}

/* Make a hash table whose entries begin with an SfStateInstanceKey. */
HTAB *
sf_visits_hash(const char *name, Size entry_size, MemoryContext context)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(SfStateInstanceKey);
	control.entrysize = entry_size;
	control.hash = hash_instance;
	control.match = compare_instances;
	control.hcxt = context;
	return hash_create(name, 256, &control,
					   HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
}

/*
 * Find what is around a new instance; NULL: nothing in this execution.  The last index is that
 * of the iteration of a Map; a Distributed Map gives its executions none.
 */
static SfStateInstance *
find_around(SfVisits *visits, const SfStateInstanceKey *key, bool is_iteration)
{
	int			owner = visits->program->scopes[visits->program->states[key->number].scope].owner_state;

	if (is_iteration)
		return sf_visits_instance(visits, key->number, key->iterations, key->niterations - 1, false);
	if (owner == SF_NO_STATE)
		return NULL;
	if (visits->program->states[owner].type != SF_STATE_MAP)
		return sf_visits_instance(visits, owner, key->iterations, key->niterations, false);
	return key->niterations == 0 ? NULL :
		sf_visits_instance(visits, owner, key->iterations, key->niterations, true);
}

/*
 * Find what is known of a state within iterations, or of an iteration of a Map state; of a
 * new one also what is around it.
 */
SfStateInstance *
sf_visits_instance(SfVisits *visits, int state, const int *iterations, int niterations,
				   bool is_iteration)
{
	SfStateInstanceKey key = {state, niterations, (int *) iterations};
	bool		found;
	SfStateInstance *instance = hash_search(visits->instances, &key, HASH_ENTER, &found);

	if (found)
		return instance;
	memset((char *) instance + sizeof(SfStateInstanceKey), 0, sizeof(SfStateInstance) - sizeof(SfStateInstanceKey));
	if (niterations > 0)
		instance->key.iterations = memcpy(MemoryContextAlloc(visits->context, sizeof(int) * niterations),
										  iterations, sizeof(int) * niterations);
	instance->is_iteration = is_iteration;
	instance->since = DT_NOBEGIN;
	instance->stopped_at = DT_NOEND;
	instance->items = SF_NO_ITEMS;
	instance->around = find_around(visits, &instance->key, is_iteration);
	return instance;
}

/* --- visits --- */

/* End an attempt, if it lasts. */
static void
close_attempt(SfVisit *visit, TimestampTz at, SfVisitEnd end)
{
	if (visit == NULL || visit->to != DT_NOEND)
		return;
	visit->to = at;
	visit->end = end;
}

/* What is in an instance runs, for the first time or again. */
static void
set_running(SfStateInstance *instance)
{
	instance->end = SF_VISIT_END_RUNS;
	instance->stopped_at = DT_NOEND;
	instance->output_event = 0;
	instance->error = instance->cause = NULL;
}

/* Begin an attempt in an instance: another one, or the first one of another visit. */
static void
open_attempt(SfVisits *visits, SfStateInstance *instance, const SfHistoryEvent *event, TimestampTz from, bool is_visit)
{
	SfVisit    *visit = instance->latest;
	SfVisit		next = {
		.instance = instance->key,
		.visit = visit == NULL ? 1 : visit->visit + (is_visit ? 1 : 0),
		.attempt = visit == NULL || is_visit ? 1 : visit->attempt + 1,
		.first_event = event->id,
		.last_event = event->id,
		.entered_at = visit == NULL || is_visit ? from : visit->entered_at,
		.from = from,
		.to = DT_NOEND,
		.end = SF_VISIT_END_RUNS,
		.scheduled_at = DT_NOBEGIN,
		.started_at = DT_NOBEGIN
	};
	MemoryContext old = MemoryContextSwitchTo(visits->context);

	if (visit == NULL || visits->detail >= SF_VISITS_ALL)
		visit = palloc(sizeof(SfVisit));
	if (visits->detail >= SF_VISITS_ALL)
		visits->list = lappend(visits->list, visit);
	*visit = next;
	instance->latest = visit;
	instance->begun = !is_visit;
	set_running(instance);
	MemoryContextSwitchTo(old);
}

/* Count the time of a visit until it ended or was interrupted, and begin to count anew. */
static void
count_time(SfStateInstance *instance, TimestampTz until, TimestampTz since)
{
	if (instance->since != DT_NOBEGIN)
		instance->duration += until - instance->since;
	instance->since = since;
}

/*
 * If a visit lasts beyond the redrive of the execution, it goes on with it.  The time in
 * which the execution did not run does not count.
 */
bool
sf_visits_continue(const SfVisits *visits, SfStateInstance *instance)
{
	if (instance->since == DT_NOBEGIN || instance->touched >= visits->redriven)
		return false;
	count_time(instance, instance->touched_at, visits->redriven_at);
	instance->touched = visits->redriven;
	instance->touched_at = visits->redriven_at;
	if (sf_state_has_children(&visits->program->states[instance->key.number]))
		instance->attempts++;
	return true;
}

/*
 * How long all visits to an instance have taken, microseconds, without the time in which the
 * execution did not run; SF_NO_DURATION: there was none.  A visit that was not left counts up to now if
 * it lasts, else up to its last event.
 */
int64
sf_visits_duration(const SfStateInstance *instance, bool lasts)
{
	if (instance->visits == 0)
		return SF_NO_DURATION;
	return instance->since == DT_NOBEGIN ? Max(0, instance->duration) :
		Max(0, instance->duration) + Max(0, (lasts ? GetCurrentTimestamp() : instance->touched_at) - instance->since);
}

/* Something happens within an instance, and so within what is around it. */
static void
extend_instance(SfVisits *visits, SfStateInstance *instance, const SfHistoryEvent *event)
{
	if (instance == NULL)
		return;
	extend_instance(visits, instance->around, event);
	if (sf_visits_continue(visits, instance))
		open_attempt(visits, instance, event, visits->redriven_at, false);
	instance->touched = event->id;
	instance->touched_at = event->at;
}

/* Enter a state: a visit that was not left ended with its last event. */
static void
enter(SfVisits *visits, SfStateInstance *instance, const SfHistoryEvent *event)
{
	close_attempt(instance->latest, instance->touched_at, SF_VISIT_END_FAILED);
	count_time(instance, instance->touched_at, event->at);
	open_attempt(visits, instance, event, event->at, true);
	instance->visits++;
	if (instance->marking == SF_MARKING_PENDING)
		instance->marking = SF_MARKING_REACHED; /* that it takes effect is an event of its own */
	instance->input_event = SF_PAYLOAD_EVENT(event);
}

/* Begin an attempt for an event that is not that of an entry, if none lasts in its instance. */
static void
continue_attempt(SfVisits *visits, SfStateInstance *instance, const SfHistoryEvent *event, SfHistoryEventMeaning meaning)
{
	bool		begins_join = meaning == SF_MEANS_STARTED &&
		sf_state_has_children(&visits->program->states[event->state]);
	bool		begins = meaning == SF_MEANS_SCHEDULED || begins_join;
	int			attempts = instance->attempts;
	bool		redriven = sf_visits_continue(visits, instance);

	/* a retry */
	if (begins_join && instance->begun)
		close_attempt(instance->latest, instance->touched_at, SF_VISIT_END_FAILED);
	if (instance->latest == NULL)
		open_attempt(visits, instance, event, event->at, !begins);
	else if (begins && instance->latest->to != DT_NOEND)
		open_attempt(visits, instance, event, event->at, false);
	else if (redriven)
		open_attempt(visits, instance, event, visits->redriven_at, false);
	if (!begins)
		return;
	instance->begun = true;
	instance->attempts = attempts + 1;
}

/* Read a string of an event's details, to live as long as the visits. */
static const char *
event_string(SfVisits *visits, const SfHistoryEvent *event, const char *key)
{
	char	   *value = event->extra ? sf_json_get_cstring(event->extra, key) : NULL;

	return value ? MemoryContextStrdup(visits->context, value) : NULL;
}

/* A visit has failed; error and cause may be NULL. */
static void
set_failed(SfStateInstance *instance, TimestampTz at, SfVisitEnd end, const char *error, const char *cause)
{
	instance->end = end;
	instance->stopped_at = at;
	instance->error = error;
	instance->cause = cause;
	if (instance->latest != NULL && instance->latest->to == DT_NOEND)
	{
		instance->latest->error = error;
		instance->latest->cause = cause;
	}
	close_attempt(instance->latest, at, end);
}

/*
 * An operator has marked a job, which takes effect when a branch comes to it, or now if
 * one waits there.  This is nothing that the job does, and takes it no time.
 */
static void
set_marked(SfVisits *visits, SfStateInstance *instance, const SfHistoryEvent *event)
{
	const char *outcome = event_string(visits, event, "outcome");
	bool		fails;

	instance->last_event = event->id;
	instance->marking = outcome == NULL ? SF_MARKING_NONE : SF_MARKING_PENDING;
	if (outcome == NULL)
		return;
	instance->mark = sf_mark_outcome_of(outcome);
	fails = instance->mark == SF_MARK_OUTCOME_FAILURE;
	if (fails && instance->since != DT_NOBEGIN)
		set_failed(instance, event->at, SF_VISIT_END_FAILED, NULL, NULL);
	instance->stopped_at = event->at;
	instance->error = fails ? "Sfflow.Marked" : NULL;
	instance->cause = instance->error == NULL ? NULL : event_string(visits, event, "reason");
}

/* A state was left: with success, unless its failure was caught or it was marked otherwise. */
static void
leave(SfStateInstance *instance, const SfHistoryEvent *event)
{
	static const SfVisitEnd end_of_mark[] = {
		[SF_MARK_OUTCOME_SUCCESS] = SF_VISIT_END_LEFT,
		[SF_MARK_OUTCOME_SKIP] = SF_VISIT_END_SKIPPED,
		[SF_MARK_OUTCOME_FAILURE] = SF_VISIT_END_FAILED
	};

	if (instance->marking != SF_MARKING_NONE)
		instance->end = end_of_mark[instance->mark];
	else if (instance->end == SF_VISIT_END_RUNS)
		instance->end = SF_VISIT_END_LEFT;
	instance->marking = SF_MARKING_NONE;
	instance->stopped_at = event->at;
	instance->output_event = SF_PAYLOAD_EVENT(event);
	close_attempt(instance->latest, event->at, SF_VISIT_END_LEFT);
	count_time(instance, event->at, DT_NOBEGIN);
}

/* --- events --- */

/* Note with how many items a Map begins. */
static void
note_items(SfStateInstance *map, const SfHistoryEvent *event)
{
	Jsonb	   *length = event->extra == NULL ? NULL : sf_json_get(event->extra, "length");
	JsonbValue	number;

	if (length == NULL)
		return;
	sf_json_root(length, &number);
	sf_json_to_int64(&number, &map->items);
}

/* Note what an event says has become of the state. */
static void
follow_meaning(SfVisits *visits, SfStateInstance *instance, const SfHistoryEvent *event, SfHistoryEventMeaning meaning)
{
	bool		texts = visits->detail == SF_VISITS_TASKS || visits->detail == SF_VISITS_SPANS;

	switch (meaning)
	{
		case SF_MEANS_ENTERED:
			if (visits->program->states[event->state].type == SF_STATE_FAIL)
				set_failed(instance, event->at, SF_VISIT_END_FAILED, NULL, NULL);
			break;
		case SF_MEANS_SCHEDULED:
			set_running(instance);
			instance->latest->scheduled_at = event->at;
			instance->marking = SF_MARKING_NONE;
			break;
		case SF_MEANS_STARTED:
			instance->latest->started_at = event->at;
			if (event->type == SF_HISTORY_EVENT_MAP_STATE_STARTED)
				note_items(instance, event);
			break;
		case SF_MEANS_FAILED:
		case SF_MEANS_TIMED_OUT:
			set_failed(instance, event->at, SF_VISIT_END_FAILED,
					   texts ? event_string(visits, event, "error") : NULL,
					   texts ? event_string(visits, event, "cause") : NULL);
			break;
		case SF_MEANS_ABORTED:
			if (instance->end == SF_VISIT_END_RUNS)
				set_failed(instance, event->at, SF_VISIT_END_ABORTED, NULL, "aborted");
			break;
		case SF_MEANS_EXITED:
			leave(instance, event);
			break;
		default:
			break;
	}
}

/* Follow an event of a state. */
static void
follow_state(SfVisits *visits, const SfHistoryEvent *event, SfHistoryEventMeaning meaning)
{
	SfStateInstance *instance;

	if (visits->detail == SF_VISITS_TASKS && visits->program->states[event->state].type != SF_STATE_TASK)
		return;
	instance = sf_visits_instance(visits, event->state, event->iterations, event->niterations, false);
	if (meaning == SF_MEANS_MARKED)
	{
		set_marked(visits, instance, event);
		return;
	}
	extend_instance(visits, instance->around, event);
	if (meaning == SF_MEANS_ENTERED)
		enter(visits, instance, event);
	else
		continue_attempt(visits, instance, event, meaning);
	instance->touched = instance->last_event = instance->latest->last_event = event->id;
	instance->touched_at = event->at;
	follow_meaning(visits, instance, event, meaning);
}

/* Follow an event of an iteration, which names the Map. */
static void
follow_iteration(SfVisits *visits, const SfHistoryEvent *event, SfHistoryEventMeaning meaning)
{
	SfStateInstance *iteration = sf_visits_instance(visits, event->state, event->iterations,
													event->niterations, true);

	extend_instance(visits, iteration, event);
	iteration->last_event = event->id;
	iteration->end = meaning == SF_MEANS_SUCCEEDED ? SF_VISIT_END_LEFT :
		meaning == SF_MEANS_FAILED ? SF_VISIT_END_FAILED : SF_VISIT_END_RUNS;
}

/* Forget everything, at the beginning and when the execution restarts. */
static void
forget(void *arg)
{
	SfVisits   *visits = arg;

	MemoryContextReset(visits->context);
	visits->instances = sf_visits_hash("sfflow instances", sizeof(SfStateInstance), visits->context);
	visits->list = NIL;
	visits->redriven = 0;
}

/* The execution ends, and with it all that lasts: by itself, or as an operator has stopped it. */
static void
end_all(SfVisits *visits, TimestampTz at, bool aborted)
{
	HASH_SEQ_STATUS scan;
	SfStateInstance *instance;

	hash_seq_init(&scan, visits->instances);
	while ((instance = hash_seq_search(&scan)) != NULL)
	{
		if (instance->latest == NULL || instance->latest->to != DT_NOEND)
			continue;
		close_attempt(instance->latest, at, aborted ? SF_VISIT_END_ABORTED : SF_VISIT_END_CUT_OFF);
		instance->touched_at = at;
	}
}

/* Follow an event of the execution. */
static void
follow_execution(SfVisits *visits, const SfHistoryEvent *event, SfHistoryEventMeaning meaning)
{
	switch (meaning)
	{
		case SF_MEANS_STARTED:
			forget(visits);
			break;
		case SF_MEANS_REDRIVEN:
			visits->redriven = event->id;
			visits->redriven_at = event->at;
			break;
		case SF_MEANS_FAILED:
		case SF_MEANS_TIMED_OUT:
		case SF_MEANS_ABORTED:
			end_all(visits, event->at, meaning == SF_MEANS_ABORTED);
			break;
		default:
			break;
	}
}

/* Follow one event. */
static void
follow_event(const SfHistoryEvent *event, void *arg)
{
	SfVisits   *visits = arg;
	SfHistoryEventMeaning meaning = sf_history_event_type_meaning(event->type);

	if (event->id > visits->until)
		return;
	if (sf_history_event_type_is_of_execution(event->type))
		follow_execution(visits, event, meaning);
	if (!sf_program_has_state(visits->program, event->state))
		return;
	if (sf_history_event_type_is_of_state(event->type))
		follow_state(visits, event, meaning);
	else if (sf_history_event_type_is_of_iteration(event->type) && event->niterations > 0)
		follow_iteration(visits, event, meaning);
	else if (sf_history_event_type_is_of_map_run(event->type))
		extend_instance(visits, sf_visits_instance(visits, event->state, event->iterations, event->niterations, false),
						event);
}

/*
 * Follow the events of an execution since its last start.  Only states whose events the
 * machine's history keeps have visits.  What is found lives in a memory context below the
 * current one, SfVisits.context.
 */
SfVisits *
sf_visits_scan(const SfExecutionHead *execution, const SfProgram *program,
			   SfVisitsDetail detail)
{
	return sf_visits_scan_until(execution, program, detail, PG_INT32_MAX);
}

/* The same up to an event: as if the execution had no later ones. */
SfVisits *
sf_visits_scan_until(const SfExecutionHead *execution, const SfProgram *program,
					 SfVisitsDetail detail, int until)
{
	SfVisits   *visits = palloc0(sizeof(SfVisits));

	visits->until = until;
	visits->program = program;
	visits->detail = detail;
	visits->context = AllocSetContextCreate(CurrentMemoryContext, "sfflow visits",
											ALLOCSET_DEFAULT_SIZES);
	sf_head_scan(execution, program, forget, follow_event, visits);
	return visits;
}
