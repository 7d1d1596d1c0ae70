/*
 * history_functions.c
 *		The events of an execution, as the view sf_history and pages have them, and the timeline.
 *
 * Every role with USAGE on the private schema can call the functions
 * directly, so each of them checks that its caller may read the execution, and
 * shows nothing otherwise.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/value/iterations.h"
#include "base/version/schema.h"
#include "graph/graph.h"
#include "report/report.h"
#include "report/visits.h"
#include "store/execution/execution_head.h"
#include "store/history/history_event_types.h"
#include "store/state_machine/program_cache.h"

typedef struct HistoryOutput
{
	FunctionCallInfo fcinfo;	/* the result; or */
	SfHistoryEventPut put;		/* what takes the events, */
	void	   *arg;			/* with this */
	int			machine_no;
	int			version;		/* of the program */
	const SfProgram *program;
	const char *role_arn;
} HistoryOutput;

/* Prepare the output of events of an execution. */
static void
begin_output(HistoryOutput *out, FunctionCallInfo fcinfo, const SfExecutionHead *execution)
{
	out->fcinfo = fcinfo;
	out->put = NULL;
	out->arg = NULL;
	out->machine_no = execution->machine_no;
	out->version = execution->version;
	out->program = sf_program_cache_get(out->machine_no, out->version);
	out->role_arn = sf_program_cache_role(out->machine_no, out->version, execution->owner);
}

/* Tell the name of the state of an event (NULL: it has none), and make its details. */
static Jsonb *
describe(HistoryOutput *out, const SfHistoryEvent *event, const char **state)
{
	/* the events of earlier runs keep the version that a restart has replaced */
	if (event->version != out->version)
		out->program = sf_program_cache_get(out->machine_no, event->version);
	out->version = event->version;
	*state = sf_program_has_state(out->program, event->state) ?
		out->program->states[event->state].name : NULL;
	return sf_history_event_details_make(out->program, event, out->role_arn);
}

/* Add the columns that every event has, and return its details. */
static Jsonb *
add_event(HistoryOutput *out, SfColumns *row, const SfHistoryEvent *event)
{
	const char *state;
	Jsonb	   *details = describe(out, event, &state);

	sf_columns_add(row, Int32GetDatum(event->id), false);
	sf_columns_add(row, Int32GetDatum(event->previous_id), false);
	sf_columns_time(row, event->at);
	sf_columns_text(row, sf_history_event_type_name(event->type));
	sf_columns_text(row, state);
	return details;
}

/* Put one event into the result. */
static void
put_event(const SfHistoryEvent *event, void *arg)
{
	HistoryOutput *out = arg;
	SfColumns	row = {0};
	Jsonb	   *details = add_event(out, &row, event);

	sf_columns_jsonb(&row, details);
	sf_columns_put(out->fcinfo, &row);
}

/* Give one event to what takes it. */
static void
give_event(const SfHistoryEvent *event, void *arg)
{
	HistoryOutput *out = arg;
	const char *state;
	Jsonb	   *details = describe(out, event, &state);

	out->put(event, state, details, out->arg);
}

/*
 * Give the events of an execution to a function, in order, as the view sf_history shows them.  Asks for no rights.  The
 * function runs in a memory context that is reset between calls.
 */
void
sf_object_each_event(const SfExecutionHead *execution, SfHistoryEventPut put, void *arg)
{
	HistoryOutput out;

	begin_output(&out, NULL, execution);
	out.put = put;
	out.arg = arg;
	sf_history_event_scan(execution->execution_no, SF_HISTORY_DOCUMENTS_ALL, give_event, &out);
}

/*
 * Return the history of an execution: id, previous_event_id, timestamp, type,
 * state, details.
 */
SF_SQL_FUNCTION(sfflow_history)
{
	int64		execution_no = PG_GETARG_INT64(0);
	SfExecutionHead execution;
	HistoryOutput out;

	InitMaterializedSRF(fcinfo, 0);
	if (!sf_head_read_visible(execution_no, &execution))
		return (Datum) 0;
	begin_output(&out, fcinfo, &execution);
	sf_history_event_scan(execution_no, SF_HISTORY_DOCUMENTS_ALL, put_event, &out);
	return (Datum) 0;
}

/* --- pages of events, for the console --- */

typedef struct EventPage
{
	HistoryOutput out;
	SfHeadNames *names;			/* once only events of a state are wanted */
	int			after;			/* ids: later than this one ... */
	int			until;			/* ... up to this one */
	int			state;			/* only of this state; SF_NO_STATE: of any */
	const int  *iterations;		/* of that state */
	int			niterations;
	const char *member;			/* of the details; NULL: all of them */
	int			most_bytes;
	int			left;			/* events that fit into the page */
} EventPage;

/* Choose the events of the page. */
static bool
is_on_page(const SfHistoryEvent *event, void *arg)
{
	EventPage  *page = arg;
	SfHistoryEvent translated;

	if (page->left == 0 || event->id <= page->after || event->id > page->until)
		return false;
	if (page->state != SF_NO_STATE)
	{
		event = sf_head_event_now(page->names, event, &translated);
		if (event->state != page->state ||
			!sf_same_iterations(event->iterations, event->niterations, page->iterations, page->niterations))
			return false;
	}
	page->left--;
	return true;
}

/* Put an event of a page into the result, with the beginning of the text of its details. */
static void
put_on_page(const SfHistoryEvent *event, void *arg)
{
	EventPage  *page = arg;
	SfColumns	row = {0};
	Jsonb	   *details = add_event(&page->out, &row, event);
	char	   *text;
	int			length;

	if (page->member != NULL)
		details = sf_json_get(details, page->member);
	text = details == NULL ? NULL : sf_json_to_cstring(details);
	length = text == NULL ? 0 : strlen(text);
	if (length > page->most_bytes)
		text[pg_mbcliplen(text, length, page->most_bytes)] = '\0';
	sf_columns_text(&row, text);
	sf_columns_add(&row, Int32GetDatum(length), text == NULL);
	sf_columns_put(page->out.fcinfo, &row);
}

/*
 * Return some events of an execution: execution_id, after, until, state and
 * iterations (NULL: of any), member of the details (NULL: all of them), most_bytes of
 * the text of each, most events.
 */
SF_SQL_FUNCTION(sfflow_history_event_page)
{
	SfExecutionHead execution;
	EventPage	page = {0};

	InitMaterializedSRF(fcinfo, 0);
	if (!sf_head_read_visible(sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"), SF_LOCK_NONE,
											   SF_RIGHT_READ)->execution_no, &execution))
		return (Datum) 0;
	begin_output(&page.out, fcinfo, &execution);
	page.after = sf_arg_count(fcinfo, 1, "after", 0, 0);
	page.until = sf_arg_count(fcinfo, 2, "until", 0, PG_INT32_MAX);
	page.state = PG_ARGISNULL(3) ? SF_NO_STATE : PG_GETARG_INT32(3);
	if (page.state != SF_NO_STATE)
		page.names = sf_head_names_read(&execution, page.out.program);
	page.iterations = sf_arg_iterations(fcinfo, 4, &page.niterations);
	page.member = sf_arg_text_or_null(fcinfo, 5);
	page.most_bytes = sf_arg_count(fcinfo, 6, "most_bytes", 0, PG_INT32_MAX);
	page.left = sf_arg_count(fcinfo, 7, "most", 0, PG_INT32_MAX);
	sf_history_event_scan_some(execution.execution_no, is_on_page, put_on_page, &page);
	return (Datum) 0;
}

/* What schema 1.0 calls it; pg_upgrade looks for that. */
SF_SQL_FUNCTION(sfflow_event_page)
{
	return sfflow_history_event_page(fcinfo);
}

/* Does a state take time?  The others do their work at once. */
static bool
takes_time(const SfState *state)
{
	return state->type == SF_STATE_TASK || state->type == SF_STATE_WAIT ||
		sf_state_has_children(state);
}

/* How an attempt has ended: one that lasted when the execution failed has failed. */
static const char *
status_of_attempt(const SfVisit *visit)
{
	if (visit->end == SF_VISIT_END_ABORTED)
		return "aborted";
	return sf_graph_statuses[visit->end == SF_VISIT_END_LEFT ? SF_GRAPH_SUCCESS :
							 visit->end == SF_VISIT_END_RUNS ? SF_GRAPH_RUNNING : SF_GRAPH_FAILURE].name;
}

/* Put one span into the result: an attempt. */
static void
put_span(FunctionCallInfo fcinfo, const SfProgram *program, const SfVisit *visit)
{
	const SfStateInstanceKey *instance = &visit->instance;
	const SfState *state = &program->states[instance->number];
	SfColumns	row = {0};

	sf_columns_add(&row, Int32GetDatum(instance->number), false);
	sf_columns_text(&row, state->name);
	sf_columns_text(&row, sf_state_type_name(state->type));
	sf_columns_add(&row, sf_int_array_datum(instance->iterations, instance->niterations), false);
	sf_columns_text(&row, sf_job_name(program, instance->number, instance->iterations,
									  instance->niterations));
	sf_columns_text(&row, sf_job_branch_name(program, state->scope, instance->iterations,
											 instance->niterations));
	sf_columns_add(&row, Int32GetDatum(visit->visit), false);
	sf_columns_add(&row, Int32GetDatum(visit->attempt), false);
	sf_columns_add(&row, Int32GetDatum(visit->first_event), false);
	sf_columns_add(&row, Int32GetDatum(visit->last_event), false);
	sf_columns_time(&row, visit->from);
	sf_columns_time(&row, visit->to);
	sf_columns_text(&row, status_of_attempt(visit));
	sf_columns_put(fcinfo, &row);
}

/*
 * Return when an execution was in its states: execution_id, state (NULL: all those
 * that take time), whether to tell of iterations of Maps, after (an event), most.
 */
SF_SQL_FUNCTION(sfflow_spans)
{
	const char *name = sf_arg_text_or_null(fcinfo, 1);
	bool		inside = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);
	int			after = sf_arg_count(fcinfo, 3, "after", 0, 0);
	int			most = sf_arg_count(fcinfo, 4, "most", 0, PG_INT32_MAX);
	SfExecutionHead execution;
	const SfProgram *program;
	int			wanted;
	int			last = 0;

	InitMaterializedSRF(fcinfo, 0);
	if (!sf_head_read_visible(sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"), SF_LOCK_NONE,
											   SF_RIGHT_READ)->execution_no, &execution))
		return (Datum) 0;
	program = sf_program_cache_get(execution.machine_no, execution.version);
	wanted = name == NULL ? SF_NO_STATE : sf_program_find_state(program, name);
	foreach_ptr(const SfVisit, visit, sf_visits_scan(&execution, program, SF_VISITS_ALL)->list)
	{
		const SfStateInstanceKey *instance = &visit->instance;

		CHECK_FOR_INTERRUPTS();
		if (most <= 0 && visit->first_event != last)
			break;
		if (visit->first_event <= after || (instance->niterations > 0 && !inside) ||
			(name == NULL ? !takes_time(&program->states[instance->number]) : instance->number != wanted))
			continue;
		put_span(fcinfo, program, visit);
		last = visit->first_event;
		most--;
	}
	return (Datum) 0;
}
