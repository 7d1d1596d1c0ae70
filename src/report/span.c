/*
 * span.c
 *		Derive from the events when an execution was in its states.
 *
 * A place is a state within certain iterations of the Maps around it.  Each entry
 * is a visit, and a visit has an attempt per try of the state: a retry begins another
 * one, and so does a redrive that goes on inside of a Parallel or Map.  Events of a place
 * come in order, so that the place's latest span is the one that an event belongs to.
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
	SfSpan	   *latest;
} SpanPlace;

typedef struct Spans
{
	const SfProgram *program;
	MemoryContext result;		/* of the spans */
	MemoryContext context;		/* of the table; reset at a restart */
	HTAB	   *table;			/* SpanPlace */
	List	   *spans;
	int			redriven;		/* event of the last redrive; 0: none since it began */
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
	s->spans = lappend(s->spans, span);
	MemoryContextSwitchTo(old);
}

/* Find a place. */
static SpanPlace *
find_place(Spans *s, const SfEvent *event)
{
	bool		found;
	SpanPlace  *place = sf_place_enter(s->table, event->state, event->iterations,
									   event->niterations, s->context, &found);

	if (!found)
		place->latest = NULL;
	return place;
}

/* Does an event begin an attempt, unless one lasts at its place? */
static bool
begins_attempt(const SfEvent *event, SfEventMeaning meaning)
{
	return meaning == SF_MEANS_SCHEDULED || event->type == SF_EVENT_PARALLEL_STATE_STARTED ||
		event->type == SF_EVENT_MAP_STATE_STARTED;
}

/*
 * Begin an attempt for an event that ends one, where none lasts, if the execution was
 * redriven since: what is inside a Parallel or Map goes on without an event of its own.
 */
static void
open_after_redrive(Spans *s, SpanPlace *place, const SfEvent *event)
{
	const SfSpan *before = place->latest;

	if (before == NULL || (before->to != DT_NOEND && before->last_event < s->redriven))
		open_span(s, place, event, before == NULL ? event->at : s->redriven_at, before == NULL);
}

/* Follow an event of a state. */
static void
follow_state(Spans *s, const SfEvent *event, SfEventMeaning meaning)
{
	SpanPlace  *place = find_place(s, event);

	if (meaning == SF_MEANS_ENTERED)
		open_span(s, place, event, event->at, true);
	else if (begins_attempt(event, meaning) &&
			 (place->latest == NULL || place->latest->to != DT_NOEND))
		open_span(s, place, event, event->at, false);
	else
		open_after_redrive(s, place, event);
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
			return;
		default:
			break;
	}
	if (event->state >= 0 && event->state < s->program->nstates &&
		sf_event_type_is_of_state(event->type))
		follow_state(s, event, meaning);
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
