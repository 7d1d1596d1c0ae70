/*
 * span.c
 *		Derive from the events when an execution was in its states.
 *
 * A place is a state within certain iterations of the Maps around it.  Each entry
 * is a visit, and a visit has an attempt per try of the state: a retry begins another
 * one, and so does a redrive that goes on inside of a Parallel, Map or JobNet.  Events of a
 * place come in order, so that the place's latest span is the one that an event belongs to.
 *
 * When a Parallel, Map or JobNet is retried, its history has no event that the attempt has
 * failed, only another ...Started: the attempt before ended with the last event within it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "asl/event_types.h"
#include "report/place.h"
#include "report/span.h"

typedef struct SpanPlace
{
	SfPlaceKey	key;			/* state, iterations */
	struct SpanPlace *around;	/* Parallel, Map or JobNet state; NULL: none */
	SfSpan	   *latest;
	bool		begun;			/* the latest attempt has had its first event */
	int			touched;		/* last event at this place or within it */
	TimestampTz touched_at;
} SpanPlace;

typedef struct Spans
{
	const SfProgram *program;
	MemoryContext result;		/* of the spans */
	MemoryContext context;		/* of the table; reset at a restart */
	HTAB	   *table;			/* SpanPlace */
	List	   *spans;
	int			redriven;		/* event of the redrive by which it runs; 0: none */
	TimestampTz redriven_at;
} Spans;

/* Forget everything, at the beginning and when the execution restarts. */
static void
forget(void *arg)
{
	Spans	   *s = arg;

	MemoryContextReset(s->context);
	s->table = sf_place_hash("sfflow spans", sizeof(SpanPlace), s->context);
	s->spans = NIL;
	s->redriven = 0;
}

/* End a span. */
static void
close_span(SfSpan *span, TimestampTz at, SfGraphStatus status)
{
	if (span->to != DT_NOEND)
		return;
	span->to = at;
	span->status = status;
}

/* End all spans that last, when the execution ends. */
static void
close_all(Spans *s, TimestampTz at)
{
	foreach_ptr(SfSpan, span, s->spans)
	{
		CHECK_FOR_INTERRUPTS();
		close_span(span, at, SF_GRAPH_FAILURE);
	}
}

/* Begin a span at a place: another attempt, or another visit. */
static void
open_span(Spans *s, SpanPlace *place, const SfEvent *event, TimestampTz from, bool is_visit)
{
	MemoryContext old = MemoryContextSwitchTo(s->result);
	SfSpan	   *span = palloc0(sizeof(SfSpan));
	const SfSpan *before = place->latest;

	span->state = place->key.number;
	span->niterations = place->key.niterations;
	if (span->niterations > 0)
		span->iterations = memcpy(palloc(sizeof(int) * span->niterations),
								  place->key.iterations, sizeof(int) * span->niterations);
	span->visit = before == NULL ? 1 : before->visit + (is_visit ? 1 : 0);
	span->attempt = before == NULL || is_visit ? 1 : before->attempt + 1;
	span->first_event = span->last_event = event->id;
	span->from = from;
	span->to = DT_NOEND;
	span->status = SF_GRAPH_RUNNING;
	place->latest = span;
	place->begun = !is_visit;
	s->spans = lappend(s->spans, span);
	MemoryContextSwitchTo(old);
}

/* Find a place; a new one with those around it. */
static SpanPlace *
find_place(Spans *s, const SfPlaceKey *key)
{
	bool		found;
	SpanPlace  *place = sf_place_enter(s->table, key->number, key->iterations, key->niterations,
									   s->context, &found);
	SfPlaceKey	around;

	if (found)
		return place;
	memset((char *) place + sizeof(SfPlaceKey), 0, sizeof(SpanPlace) - sizeof(SfPlaceKey));
	if (sf_place_around(s->program, key, &around))
		place->around = find_place(s, &around);
	return place;
}

/* Has the latest attempt ended before the redrive by which the execution runs? */
static bool
ended_before_redrive(const Spans *s, const SpanPlace *place)
{
	return place->latest != NULL && place->latest->to != DT_NOEND && place->touched < s->redriven;
}

/*
 * Something happens within a Parallel, Map or JobNet, and within those around it.  If the
 * execution was redriven since their last event, it goes on with them, which no event of
 * their own tells.
 */
static void
touch(Spans *s, SpanPlace *place, const SfEvent *event)
{
	if (place == NULL)
		return;
	touch(s, place->around, event);
	if (ended_before_redrive(s, place))
		open_span(s, place, event, s->redriven_at, false);
	place->touched = event->id;
	place->touched_at = event->at;
}

/* Does an event begin a Parallel, Map or JobNet, for the first time or once more? */
static bool
begins_join(const SfEvent *event)
{
	return event->type == SF_EVENT_PARALLEL_STATE_STARTED ||
		event->type == SF_EVENT_MAP_STATE_STARTED || event->type == SF_EVENT_JOBNET_STATE_STARTED;
}

/* Begin an attempt for an event that is not that of an entry, if none lasts at its place. */
static void
go_on(Spans *s, SpanPlace *place, const SfEvent *event, SfEventMeaning meaning)
{
	bool		begins = meaning == SF_MEANS_SCHEDULED || begins_join(event);

	/* a retry */
	if (begins_join(event) && place->latest != NULL && place->begun)
		close_span(place->latest, place->touched_at, SF_GRAPH_FAILURE);
	if (place->latest == NULL)
		open_span(s, place, event, event->at, !begins);
	else if (begins && place->latest->to != DT_NOEND)
		open_span(s, place, event, event->at, false);
	else if (ended_before_redrive(s, place))
		open_span(s, place, event, s->redriven_at, false);
	place->begun = place->begun || begins;
}

/* Follow an event of a state. */
static void
follow_state(Spans *s, const SfEvent *event, SfEventMeaning meaning)
{
	SfPlaceKey	key = {event->state, event->niterations, (int *) event->iterations};
	SpanPlace  *place = find_place(s, &key);

	touch(s, place->around, event);
	if (meaning != SF_MEANS_ENTERED)
		go_on(s, place, event, meaning);
	else
	{
		if (place->latest != NULL)
			close_span(place->latest, place->touched_at, SF_GRAPH_FAILURE);
		open_span(s, place, event, event->at, true);
	}
	place->touched = event->id;
	place->touched_at = event->at;
	place->latest->last_event = event->id;
	switch (meaning)
	{
		case SF_MEANS_ENTERED:
			if (s->program->states[event->state].type == SF_STATE_FAIL)
				close_span(place->latest, event->at, SF_GRAPH_FAILURE);
			break;
		case SF_MEANS_EXITED:
			close_span(place->latest, event->at, SF_GRAPH_SUCCESS);
			break;
		case SF_MEANS_FAILED:
		case SF_MEANS_TIMED_OUT:
		case SF_MEANS_ABORTED:
			close_span(place->latest, event->at, SF_GRAPH_FAILURE);
			break;
		default:
			break;
	}
}

/* Follow an event within a Map state: of an iteration, or of the run of a Distributed Map. */
static void
follow_map(Spans *s, const SfEvent *event, int niterations)
{
	SfPlaceKey	key = {event->state, niterations, (int *) event->iterations};

	touch(s, find_place(s, &key), event);
}

/* Follow one event. */
static void
follow_event(const SfEvent *event, void *arg)
{
	Spans	   *s = arg;
	SfEventMeaning meaning = sf_event_type_meaning(event->type);

	switch (event->type)
	{
		case SF_EVENT_EXECUTION_STARTED:
			forget(s);
			return;
		case SF_EVENT_EXECUTION_REDRIVEN:
			s->redriven = event->id;
			s->redriven_at = event->at;
			return;
		case SF_EVENT_EXECUTION_FAILED:
		case SF_EVENT_EXECUTION_TIMED_OUT:
		case SF_EVENT_EXECUTION_ABORTED:
			close_all(s, event->at);
			s->redriven = 0;
			return;
		default:
			break;
	}
	if (event->state < 0 || event->state >= s->program->nstates)
		return;
	if (sf_event_type_is_of_state(event->type))
		follow_state(s, event, meaning);
	else if (sf_event_type_is_of_iteration(event->type))
		follow_map(s, event, Max(event->niterations - 1, 0));
	else if (sf_event_type_is_of_map_run(event->type))
		follow_map(s, event, event->niterations);
}

/*
 * List the spans (SfSpan) of an execution since its last start, in the order of their
 * first events.  Only states whose events the machine's history keeps have spans.
 */
List *
sf_span_list(const SfStatusExecution *execution, const SfProgram *program)
{
	Spans		s = {.program = program,.result = CurrentMemoryContext};

	s.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow places",
									  ALLOCSET_DEFAULT_SIZES);
	sf_status_scan(execution, program, forget, follow_event, &s);
	MemoryContextDelete(s.context);
	return s.spans;
}
