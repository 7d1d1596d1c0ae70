/*
 * visits.c
 *		One fold of the events of an execution: what happened in each of its states, and when.
 *
 * Each entry into a state is a visit, and a visit has an attempt per try: a retry begins
 * another one, and so does a redrive that goes on inside of a Parallel, Map or JobNet.
 * Events of a place come in order, so that the place's latest attempt is the one that an
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

#include "asl/event_types.h"
#include "json/json.h"
#include "report/visits.h"

/* --- places --- */

/* Hash a place. */
static uint32
place_hash(const void *key, Size keysize)
{
	const SfPlaceKey *place = key;

	return hash_combine(hash_uint32((uint32) place->number),
						hash_bytes((const unsigned char *) place->iterations,
								   sizeof(int) * place->niterations));
}

/* Compare places: 0 when they are the same. */
static int
place_compare(const void *a, const void *b, Size keysize)
{
	const SfPlaceKey *x = a;
	const SfPlaceKey *y = b;

	if (x->number != y->number || x->niterations != y->niterations)
		return 1;
	return x->niterations == 0 ? 0 :
		memcmp(x->iterations, y->iterations, sizeof(int) * x->niterations);
}

/* Make a hash table whose entries begin with an SfPlaceKey. */
HTAB *
sf_place_hash(const char *name, Size entry_size, MemoryContext context)
{
	HASHCTL		control = {0};

	control.keysize = sizeof(SfPlaceKey);
	control.entrysize = entry_size;
	control.hash = place_hash;
	control.match = place_compare;
	control.hcxt = context;
	return hash_create(name, 256, &control,
					   HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
}

/*
 * Find what is around a new place; NULL: nothing in this execution.  The last index is that
 * of the iteration of a Map; a Distributed Map gives its children none.
 */
static SfPlace *
find_around(SfVisits *v, const SfPlaceKey *key, bool is_iteration)
{
	int			owner = v->program->scopes[v->program->states[key->number].scope].owner_state;

	if (is_iteration)
		return sf_visits_place(v, key->number, key->iterations, key->niterations - 1, false);
	if (owner < 0)
		return NULL;
	if (v->program->states[owner].type != SF_STATE_MAP)
		return sf_visits_place(v, owner, key->iterations, key->niterations, false);
	return key->niterations == 0 ? NULL :
		sf_visits_place(v, owner, key->iterations, key->niterations, true);
}

/*
 * Find what is known of a state within iterations, or of an iteration of a Map state; of a
 * new one also what is around it.
 */
SfPlace *
sf_visits_place(SfVisits *v, int state, const int *iterations, int niterations,
				bool is_iteration)
{
	SfPlaceKey	key = {state, niterations, (int *) iterations};
	bool		found;
	SfPlace    *place = hash_search(v->places, &key, HASH_ENTER, &found);

	if (found)
		return place;
	memset((char *) place + sizeof(SfPlaceKey), 0, sizeof(SfPlace) - sizeof(SfPlaceKey));
	if (niterations > 0)
		place->key.iterations = memcpy(MemoryContextAlloc(v->context, sizeof(int) * niterations),
									   iterations, sizeof(int) * niterations);
	place->is_iteration = is_iteration;
	place->since = DT_NOBEGIN;
	place->stopped_at = DT_NOEND;
	place->items = -1;
	place->around = find_around(v, &place->key, is_iteration);
	return place;
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

/* What is at a place runs, for the first time or again. */
static void
set_running(SfPlace *place)
{
	place->end = SF_VISIT_RUNS;
	place->stopped_at = DT_NOEND;
	place->output_event = 0;
	place->error = place->cause = NULL;
}

/* Begin an attempt at a place: another one, or the first one of another visit. */
static void
open_attempt(SfVisits *v, SfPlace *place, const SfEvent *event, TimestampTz from, bool is_visit)
{
	SfVisit    *visit = place->latest;
	SfVisit		next = {
		.place = place->key,
		.visit = visit == NULL ? 1 : visit->visit + (is_visit ? 1 : 0),
		.attempt = visit == NULL || is_visit ? 1 : visit->attempt + 1,
		.first_event = event->id,
		.last_event = event->id,
		.entered_at = visit == NULL || is_visit ? from : visit->entered_at,
		.from = from,
		.to = DT_NOEND,
		.end = SF_VISIT_RUNS,
		.scheduled_at = DT_NOBEGIN,
		.started_at = DT_NOBEGIN
	};
	MemoryContext old = MemoryContextSwitchTo(v->context);

	if (visit == NULL || v->detail >= SF_VISITS_ALL)
		visit = palloc(sizeof(SfVisit));
	if (v->detail >= SF_VISITS_ALL)
		v->list = lappend(v->list, visit);
	*visit = next;
	place->latest = visit;
	place->begun = !is_visit;
	set_running(place);
	MemoryContextSwitchTo(old);
}

/* Count the time of a visit until it ended or was interrupted, and begin to count anew. */
static void
count_time(SfPlace *place, TimestampTz until, TimestampTz since)
{
	if (place->since != DT_NOBEGIN)
		place->duration += until - place->since;
	place->since = since;
}

/*
 * If a visit lasts beyond the redrive of the execution, it goes on with it.  The time in
 * which the execution did not run does not count.
 */
bool
sf_visits_go_on(const SfVisits *v, SfPlace *place)
{
	if (place->since == DT_NOBEGIN || place->touched >= v->redriven)
		return false;
	count_time(place, place->touched_at, v->redriven_at);
	place->touched = v->redriven;
	place->touched_at = v->redriven_at;
	if (sf_state_has_children(&v->program->states[place->key.number]))
		place->attempts++;
	return true;
}

/*
 * How long all visits to a place have taken, microseconds, without the time in which the
 * execution did not run; -1: there was none.  A visit that was not left counts up to now if
 * it lasts, else up to its last event.
 */
int64
sf_visits_duration(const SfPlace *place, bool lasts)
{
	if (place->visits == 0)
		return -1;
	return place->since == DT_NOBEGIN ? place->duration :
		place->duration + Max(0, (lasts ? GetCurrentTimestamp() : place->touched_at) - place->since);
}

/* Something happens within a place, and so within what is around it. */
static void
touch(SfVisits *v, SfPlace *place, const SfEvent *event)
{
	if (place == NULL)
		return;
	touch(v, place->around, event);
	if (sf_visits_go_on(v, place))
		open_attempt(v, place, event, v->redriven_at, false);
	place->touched = event->id;
	place->touched_at = event->at;
}

/* Enter a state: a visit that was not left ended with its last event. */
static void
enter(SfVisits *v, SfPlace *place, const SfEvent *event)
{
	close_attempt(place->latest, place->touched_at, SF_VISIT_FAILED);
	count_time(place, place->touched_at, event->at);
	open_attempt(v, place, event, event->at, true);
	place->visits++;
	place->mark_pending = false;	/* that it takes effect is an event of its own */
	place->input_event = SF_PAYLOAD_EVENT(event);
}

/* Begin an attempt for an event that is not that of an entry, if none lasts at its place. */
static void
go_on(SfVisits *v, SfPlace *place, const SfEvent *event, SfEventMeaning meaning)
{
	bool		begins_join = meaning == SF_MEANS_STARTED &&
		sf_state_has_children(&v->program->states[event->state]);
	bool		begins = meaning == SF_MEANS_SCHEDULED || begins_join;
	int			attempts = place->attempts;
	bool		redriven = sf_visits_go_on(v, place);

	/* a retry */
	if (begins_join && place->begun)
		close_attempt(place->latest, place->touched_at, SF_VISIT_FAILED);
	if (place->latest == NULL)
		open_attempt(v, place, event, event->at, !begins);
	else if (begins && place->latest->to != DT_NOEND)
		open_attempt(v, place, event, event->at, false);
	else if (redriven)
		open_attempt(v, place, event, v->redriven_at, false);
	if (!begins)
		return;
	place->begun = true;
	place->attempts = attempts + 1;
}

/* Read a string of an event's details, to live as long as the visits. */
static const char *
event_string(SfVisits *v, const SfEvent *event, const char *key)
{
	char	   *value = event->extra ? sf_json_get_cstring(event->extra, key) : NULL;

	return value ? MemoryContextStrdup(v->context, value) : NULL;
}

/* A visit has failed; error and cause may be NULL. */
static void
set_failed(SfPlace *place, TimestampTz at, SfVisitEnd end, const char *error, const char *cause)
{
	place->end = end;
	place->stopped_at = at;
	place->error = error;
	place->cause = cause;
	if (place->latest != NULL && place->latest->to == DT_NOEND)
	{
		place->latest->error = error;
		place->latest->cause = cause;
	}
	close_attempt(place->latest, at, end);
}

/*
 * An operator has settled a job, which takes effect when a branch comes to it, or now if
 * one waits there.  This is nothing that the job does, and takes it no time.
 */
static void
set_marked(SfVisits *v, SfPlace *place, const SfEvent *event)
{
	const char *outcome = event_string(v, event, "outcome");

	place->last_event = event->id;
	place->marked = outcome;
	if (outcome == NULL)
		return;
	place->mark_pending = true;
	if (strcmp(outcome, "failure") == 0 && place->since != DT_NOBEGIN)
		set_failed(place, event->at, SF_VISIT_FAILED, NULL, NULL);
	place->stopped_at = event->at;
	place->error = strcmp(outcome, "failure") == 0 ? "Sfflow.Marked" : NULL;
	place->cause = place->error == NULL ? NULL : event_string(v, event, "reason");
}

/* A state was left: with success, unless its failure was caught or it was settled otherwise. */
static void
leave(SfPlace *place, const SfEvent *event)
{
	if (place->marked != NULL)
		place->end = strcmp(place->marked, "skip") == 0 ? SF_VISIT_SKIPPED :
			strcmp(place->marked, "failure") == 0 ? SF_VISIT_FAILED : SF_VISIT_LEFT;
	else if (place->end == SF_VISIT_RUNS)
		place->end = SF_VISIT_LEFT;
	place->marked = NULL;
	place->mark_pending = false;
	place->stopped_at = event->at;
	place->output_event = SF_PAYLOAD_EVENT(event);
	close_attempt(place->latest, event->at, SF_VISIT_LEFT);
	count_time(place, event->at, DT_NOBEGIN);
}

/* --- events --- */

/* Note with how many items a Map begins. */
static void
note_items(SfPlace *map, const SfEvent *event)
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
follow_meaning(SfVisits *v, SfPlace *place, const SfEvent *event, SfEventMeaning meaning)
{
	bool		texts = v->detail == SF_VISITS_TASKS || v->detail == SF_VISITS_SPANS;

	switch (meaning)
	{
		case SF_MEANS_ENTERED:
			if (v->program->states[event->state].type == SF_STATE_FAIL)
				set_failed(place, event->at, SF_VISIT_FAILED, NULL, NULL);
			break;
		case SF_MEANS_SCHEDULED:
			set_running(place);
			place->latest->scheduled_at = event->at;
			place->marked = NULL;
			place->mark_pending = false;
			break;
		case SF_MEANS_STARTED:
			place->latest->started_at = event->at;
			if (event->type == SF_EVENT_MAP_STATE_STARTED)
				note_items(place, event);
			break;
		case SF_MEANS_FAILED:
		case SF_MEANS_TIMED_OUT:
			set_failed(place, event->at, SF_VISIT_FAILED,
					   texts ? event_string(v, event, "error") : NULL,
					   texts ? event_string(v, event, "cause") : NULL);
			break;
		case SF_MEANS_ABORTED:
			if (place->end == SF_VISIT_RUNS)
				set_failed(place, event->at, SF_VISIT_ABORTED, NULL, "aborted");
			break;
		case SF_MEANS_EXITED:
			leave(place, event);
			break;
		default:
			break;
	}
}

/* Follow an event of a state. */
static void
follow_state(SfVisits *v, const SfEvent *event, SfEventMeaning meaning)
{
	SfPlace    *place;

	if (v->detail == SF_VISITS_TASKS && v->program->states[event->state].type != SF_STATE_TASK)
		return;
	place = sf_visits_place(v, event->state, event->iterations, event->niterations, false);
	if (meaning == SF_MEANS_MARKED)
	{
		set_marked(v, place, event);
		return;
	}
	touch(v, place->around, event);
	if (meaning == SF_MEANS_ENTERED)
		enter(v, place, event);
	else
		go_on(v, place, event, meaning);
	place->touched = place->last_event = place->latest->last_event = event->id;
	place->touched_at = event->at;
	follow_meaning(v, place, event, meaning);
}

/* Follow an event of an iteration, which names the Map. */
static void
follow_iteration(SfVisits *v, const SfEvent *event, SfEventMeaning meaning)
{
	SfPlace    *iteration = sf_visits_place(v, event->state, event->iterations,
											event->niterations, true);

	touch(v, iteration, event);
	iteration->last_event = event->id;
	iteration->end = meaning == SF_MEANS_SUCCEEDED ? SF_VISIT_LEFT :
		meaning == SF_MEANS_FAILED ? SF_VISIT_FAILED : SF_VISIT_RUNS;
}

/* Forget everything, at the beginning and when the execution restarts. */
static void
forget(void *arg)
{
	SfVisits   *v = arg;

	MemoryContextReset(v->context);
	v->places = sf_place_hash("sfflow places", sizeof(SfPlace), v->context);
	v->list = NIL;
	v->redriven = 0;
}

/* The execution ends, and with it all that lasts: by itself, or as an operator has stopped it. */
static void
end_all(SfVisits *v, TimestampTz at, bool aborted)
{
	HASH_SEQ_STATUS scan;
	SfPlace    *place;

	hash_seq_init(&scan, v->places);
	while ((place = hash_seq_search(&scan)) != NULL)
	{
		if (place->latest == NULL || place->latest->to != DT_NOEND)
			continue;
		close_attempt(place->latest, at, aborted ? SF_VISIT_ABORTED : SF_VISIT_RUNS);
		place->touched_at = at;
	}
}

/* Follow an event of the execution. */
static void
follow_execution(SfVisits *v, const SfEvent *event, SfEventMeaning meaning)
{
	switch (meaning)
	{
		case SF_MEANS_STARTED:
			forget(v);
			break;
		case SF_MEANS_REDRIVEN:
			v->redriven = event->id;
			v->redriven_at = event->at;
			break;
		case SF_MEANS_FAILED:
		case SF_MEANS_TIMED_OUT:
		case SF_MEANS_ABORTED:
			end_all(v, event->at, meaning == SF_MEANS_ABORTED);
			break;
		default:
			break;
	}
}

/* Follow one event. */
static void
follow_event(const SfEvent *event, void *arg)
{
	SfVisits   *v = arg;
	SfEventMeaning meaning = sf_event_type_meaning(event->type);

	if (event->id > v->until)
		return;
	if (sf_event_type_is_of_execution(event->type))
		follow_execution(v, event, meaning);
	if (event->state < 0 || event->state >= v->program->nstates)
		return;
	if (sf_event_type_is_of_state(event->type))
		follow_state(v, event, meaning);
	else if (sf_event_type_is_of_iteration(event->type) && event->niterations > 0)
		follow_iteration(v, event, meaning);
	else if (sf_event_type_is_of_map_run(event->type))
		touch(v, sf_visits_place(v, event->state, event->iterations, event->niterations, false),
			  event);
}

/*
 * Follow the events of an execution since its last start.  Only states whose events the
 * machine's history keeps have visits.  What is found lives in a memory context below the
 * current one, SfVisits.context.
 */
SfVisits *
sf_visits_scan(const SfStatusExecution *execution, const SfProgram *program,
			   SfVisitsDetail detail)
{
	return sf_visits_scan_until(execution, program, detail, PG_INT32_MAX);
}

/* The same up to an event: as if the execution had no later ones. */
SfVisits *
sf_visits_scan_until(const SfStatusExecution *execution, const SfProgram *program,
					 SfVisitsDetail detail, int until)
{
	SfVisits   *v = palloc0(sizeof(SfVisits));

	v->until = until;
	v->program = program;
	v->detail = detail;
	v->context = AllocSetContextCreate(CurrentMemoryContext, "sfflow visits",
									   ALLOCSET_DEFAULT_SIZES);
	sf_status_scan(execution, program, forget, follow_event, v);
	return v;
}
