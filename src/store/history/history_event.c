/*
 * history_event.c
 *		Events, and the rows of _sfflow.history that hold them.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/value/iterations.h"
#include "store/history/history_codec.h"
#include "store/history/history_event.h"
#include "store/history/history_event_types.h"
#include "store/state_machine/program_cache.h"

SF_COLUMN_NUMBERS(SF_HISTORY_COLUMNS);
#define NCOLUMNS	(COL_end - 1)

#define ROW SfHistoryRow
SF_ROW_TYPE(row_type, SF_HISTORY_COLUMNS, history, 1);

/* --- writing --- */

/* Rows that are inserted together */
typedef struct Batch
{
	SfTable    *table;
	MemoryContext context;		/* of the rows; reset when they are written */
	int			n;
	Datum		values[SF_TABLE_MAX_ROWS * NCOLUMNS];
	bool		nulls[SF_TABLE_MAX_ROWS * NCOLUMNS];
} Batch;

/* Write the rows of a batch. */
static void
flush_rows(Batch *batch)
{
	CHECK_FOR_INTERRUPTS();
	sf_table_insert_rows(batch->table, batch->n, batch->values, batch->nulls);
	batch->n = 0;
	MemoryContextReset(batch->context);
}

/* Pack as many of the events from an index on as a row takes; returns the index after them. */
static int
pack_row(Batch *batch, const List *events, int index)
{
	SfHistoryPacker packer;
	int			total = list_length(events);

	sf_history_pack_begin(&packer, list_nth(events, index));
	do
		sf_history_pack_add(&packer, list_nth(events, index++));
	while (index < total && sf_history_pack_fits(&packer, list_nth(events, index)));
	sf_row_form(&row_type, sf_history_pack_end(&packer),
				batch->values + batch->n * NCOLUMNS, batch->nulls + batch->n * NCOLUMNS);
	batch->n++;
	return index;
}

/*
 * Append events, whose executions and ids are assigned, to histories.  Those of an
 * execution follow each other, by id.
 */
void
sf_history_event_write(List *events)
{
	Batch		batch = {.n = 0};
	MemoryContext old;
	int			index = 0;

	if (events == NIL)
		return;
	batch.table = sf_table_open("history", NCOLUMNS);
	batch.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow history rows",
										  ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(batch.context);
	while (index < list_length(events))
	{
		index = pack_row(&batch, events, index);
		if (batch.n == SF_TABLE_MAX_ROWS || index == list_length(events))
			flush_rows(&batch);
	}
	MemoryContextSwitchTo(old);
	sf_table_close(batch.table);
	MemoryContextDelete(batch.context);
	CommandCounterIncrement();
}

/* --- one event --- */

/*
 * Histories are read by the key's index by hand: a plan that was made when the
 * table was small, or when its statistics were wrong, would read the whole table
 * for each row.
 */

/* Find the row of an event; latest is that of sf_rows_scan_back. */
static void
read_row_of_event(bool latest, int64 execution_no, int id, SfRowReader reader, void *arg)
{
	(void) sf_rows_scan_back(&row_type.key, latest, execution_no, id, 1, reader, arg);
}

/* An event whose predecessor is to be found */
typedef struct Predecessor
{
	int			id;
	int			previous_id;	/* SF_NO_EVENT: not found */
} Predecessor;

/* Look for the predecessor of an event in its row. */
static void
read_previous(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Predecessor *predecessor = arg;
	SfHistoryRow row = {0};
	SfHistoryReader reader;

	sf_row_read(&row_type, tuple, desc, NCOLUMNS, &row);
	(void) sf_history_begin(&reader, &row);
	while (sf_history_try_next(&reader))
		if (reader.event.id == predecessor->id)
			predecessor->previous_id = reader.event.previous_id;
}

/*
 * Find the predecessor of an event; SF_NO_EVENT if there is no such event, or if its row cannot
 * be read: an execution whose history is damaged can be stopped.
 */
int
sf_history_event_previous(int64 execution_no, int id)
{
	Predecessor predecessor = {id, SF_NO_EVENT};

	read_row_of_event(true, execution_no, id, read_previous, &predecessor);
	return predecessor.previous_id;
}

/* An event that has a payload of its own */
typedef struct StoredPayload
{
	int			id;
	Jsonb	   *payload;		/* NULL: not found */
} StoredPayload;

/* Look for the payload that an event of a row has. */
static Jsonb *
find_payload(const SfHistoryRow *row, int id)
{
	SfHistoryReader reader;

	(void) sf_history_begin(&reader, row);
	return sf_history_find(&reader, id) && reader.payload_document != SF_NO_DOCUMENT ?
		sf_history_document(&reader, reader.payload_document) : NULL;
}

/* Copy the payload that an event of a row has into the caller's context. */
static void
read_payload(HeapTuple tuple, TupleDesc desc, void *arg)
{
	StoredPayload *stored = arg;
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "sfflow history row",
												  ALLOCSET_DEFAULT_SIZES);
	SfHistoryRow row = {0};
	Jsonb	   *payload;

	MemoryContextSwitchTo(context);
	sf_row_read(&row_type, tuple, desc, NCOLUMNS, &row);
	payload = find_payload(&row, stored->id);
	MemoryContextSwitchTo(caller);
	if (payload != NULL)
	{
		stored->payload = palloc(VARSIZE(payload));
		memcpy(stored->payload, payload, VARSIZE(payload));
	}
	MemoryContextDelete(context);
}

/* Read the payload that an event has, with the snapshot of the query that calls; NULL: it has none. */
Jsonb *
sf_history_event_payload(int64 execution_no, int id)
{
	StoredPayload stored = {.id = id};

	read_row_of_event(false, execution_no, id, read_payload, &stored);
	return stored.payload;
}

/* Rows that a search from the end of a history reads at once */
#define PAGE	16

/* The last event that entered a state, and its payload */
typedef struct LastInput
{
	int			before;			/* rows with a lower first id are to be read */
	bool		begun;			/* the last run begins in what was read */
	const SfExecution *execution;
	MemoryContext context;		/* of the names */
	List	   *names;			/* of the state; before migrations it can have been several */
	int			version;		/* of the last event that was looked at, */
	Bitmapset  *states;			/* and the numbers that they have there */
	const int  *iterations;
	int			niterations;
	int			stored_by;		/* event that has the payload, or SF_NO_EVENT */
} LastInput;

/* Find the numbers that the state has in a version of the machine. */
static void
find_states(LastInput *last, int version)
{
	const SfProgram *program = sf_program_cache_try(last->execution->machine_no, version);
	MemoryContext old = MemoryContextSwitchTo(last->context);

	last->version = version;
	last->states = NULL;
	foreach_ptr(const char, name, last->names)
	{
		int			state = program == NULL ? SF_NO_STATE : sf_program_find_state(program, name);

		if (state != SF_NO_STATE)
			last->states = bms_add_member(last->states, state);
	}
	MemoryContextSwitchTo(old);
}

/*
 * A row that begins with a migration has been read, which no event of the former version is
 * in: the rows before it have the names of before.
 */
static void
go_before_migration(LastInput *last, const Jsonb *details)
{
	MemoryContext old = MemoryContextSwitchTo(last->context);
	Jsonb	   *renames = sf_renames_of_migration(details);

	if (renames != NULL)
		last->names = sf_renames_before(renames, last->names);
	last->version = 0;
	MemoryContextSwitchTo(old);
}

/* Tell whether an event entered the state, and says with which input. */
static bool
is_entry(LastInput *last, const SfHistoryReader *reader)
{
	const SfHistoryEvent *event = &reader->event;

	if (event->version != last->version)
		find_states(last, event->version);
	return event->state != SF_NO_STATE && bms_is_member(event->state, last->states) &&
		sf_history_event_type_meaning(event->type) == SF_MEANS_ENTERED &&
		(event->payload_from != SF_NO_EVENT || reader->payload_document != SF_NO_DOCUMENT) &&
		sf_same_iterations(event->iterations, event->niterations, last->iterations, last->niterations);
}

/* Look for the event in a row; the rows come with the last one first. */
static void
match_entry(HeapTuple tuple, TupleDesc desc, void *arg)
{
	LastInput  *last = arg;
	SfHistoryRow row = {0};
	SfHistoryReader reader;
	Jsonb	   *details = NULL;

	if (last->stored_by != SF_NO_EVENT || last->begun)
		return;
	sf_row_read(&row_type, tuple, desc, NCOLUMNS, &row);
	last->before = row.first_id;
	(void) sf_history_begin(&reader, &row);
	while (sf_history_next(&reader))
	{
		if (reader.event.type == SF_HISTORY_EVENT_EXECUTION_STARTED)
		{
			last->begun = true;
			last->stored_by = SF_NO_EVENT;
		}
		if (reader.event.type == SF_HISTORY_EVENT_EXECUTION_MIGRATED && reader.extra_document != SF_NO_DOCUMENT)
			details = sf_history_document(&reader, reader.extra_document);
		if (is_entry(last, &reader))
			last->stored_by = SF_PAYLOAD_EVENT(&reader.event);
	}
	if (details != NULL)
		go_before_migration(last, details);
}

/* Look for the event page by page, from the end of the history on. */
static void
find_entry(int64 execution_no, LastInput *last)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow history page",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	int			rows;

	do
	{
		rows = sf_rows_scan_back(&row_type.key, true, execution_no, last->before - 1, PAGE,
								 match_entry, last);
		MemoryContextReset(context);
	} while (last->stored_by == SF_NO_EVENT && !last->begun && rows == PAGE);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/*
 * Find the input with which a state was entered last, in the branch with these Map
 * indexes, since the execution began or was restarted; NULL if the history does not
 * say.  In versions from which the execution was migrated the state has the name that the
 * migrations have changed to this one.
 */
Jsonb *
sf_history_event_last_input(const SfExecution *execution, const SfState *state,
							const int *iterations, int niterations)
{
	int64		execution_no = execution->execution_no;
	LastInput	last = {
		.before = PG_INT32_MAX,.execution = execution,.context = CurrentMemoryContext,
		.names = list_make1(unconstify(char *, state->name)),
		.iterations = iterations,.niterations = niterations
	};
	StoredPayload stored = {0};

	find_entry(execution_no, &last);
	stored.id = last.stored_by;
	if (stored.id != SF_NO_EVENT)
		read_row_of_event(true, execution_no, stored.id, read_payload, &stored);
	return stored.payload;
}

/* --- all events --- */

/* Payloads of earlier rows that a scan keeps */
#define KEPT	8

/* A scan of a history */
typedef struct EventScan
{
	SfHistoryDocuments documents;
	SfHistoryEventFilter filter; /* or NULL */
	SfHistoryEventVisitor visitor;
	void	   *arg;
	MemoryContext context;		/* of the scan */
	MemoryContext row_context;	/* reset after each row */
	MemoryContext event_context;	/* reset after each event */
	MemoryContext kept_contexts[KEPT];
	StoredPayload kept[KEPT];
	int			next_kept;
} EventScan;

/* Get the payload that an event of an earlier row has. */
static Jsonb *
earlier_payload(EventScan *scan, int64 execution_no, int id)
{
	int			next = scan->next_kept;
	MemoryContext old;

	for (int i = 0; i < KEPT; i++)
		if (scan->kept[i].id == id)
			return scan->kept[i].payload;
	if (scan->kept_contexts[next] == NULL)
		scan->kept_contexts[next] =
			AllocSetContextCreate(scan->context, "sfflow payload", ALLOCSET_SMALL_SIZES);
	MemoryContextReset(scan->kept_contexts[next]);
	old = MemoryContextSwitchTo(scan->kept_contexts[next]);
	scan->kept[next] = (StoredPayload) {.id = id};
	read_row_of_event(false, execution_no, id, read_payload, &scan->kept[next]);
	MemoryContextSwitchTo(old);
	scan->next_kept = (next + 1) % KEPT;
	return scan->kept[next].payload;
}

/* Tell whether an event is to have its extra. */
static bool
wants_extra(const EventScan *scan, const SfHistoryEvent *event)
{
	SfHistoryEventMeaning meaning = sf_history_event_type_meaning(event->type);

	return scan->documents == SF_HISTORY_DOCUMENTS_ALL || meaning == SF_MEANS_FAILED ||
		meaning == SF_MEANS_TIMED_OUT || meaning == SF_MEANS_MARKED ||
		meaning == SF_MEANS_MIGRATED || event->type == SF_HISTORY_EVENT_MAP_STATE_STARTED;
}

/* Give the event that a reader has read the documents that the scan asks for. */
static void
add_documents(EventScan *scan, SfHistoryReader *reader)
{
	SfHistoryEvent *event = &reader->event;

	event->payload = event->extra = NULL;
	if (reader->extra_document != SF_NO_DOCUMENT && wants_extra(scan, event))
		event->extra = sf_history_document(reader, reader->extra_document);
	if (scan->documents != SF_HISTORY_DOCUMENTS_ALL)
		return;
	if (reader->payload_document != SF_NO_DOCUMENT)
		event->payload = sf_history_document(reader, reader->payload_document);
	else if (event->payload_from != SF_NO_EVENT)
		event->payload = earlier_payload(scan, event->execution_no, event->payload_from);
}

/* Have the events of a row visited. */
static void
visit_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	EventScan  *scan = arg;
	MemoryContext old = MemoryContextSwitchTo(scan->row_context);
	SfHistoryRow row = {0};
	SfHistoryReader reader;

	sf_row_read(&row_type, tuple, desc, NCOLUMNS, &row);
	(void) sf_history_begin(&reader, &row);
	while (sf_history_next(&reader))
	{
		CHECK_FOR_INTERRUPTS();
		if (scan->filter != NULL && !scan->filter(&reader.event, scan->arg))
			continue;
		add_documents(scan, &reader);
		MemoryContextSwitchTo(scan->event_context);
		scan->visitor(&reader.event, scan->arg);
		MemoryContextSwitchTo(scan->row_context);
		MemoryContextReset(scan->event_context);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(scan->row_context);
}

/* Carry a scan out. */
static void
run_scan(EventScan *scan, int64 execution_no)
{
	scan->context = AllocSetContextCreate(CurrentMemoryContext, "sfflow history",
										  ALLOCSET_SMALL_SIZES);
	scan->row_context = AllocSetContextCreate(scan->context, "sfflow history row",
											  ALLOCSET_DEFAULT_SIZES);
	scan->event_context = AllocSetContextCreate(scan->context, "sfflow event",
												ALLOCSET_DEFAULT_SIZES);
	(void) sf_rows_scan(&row_type.key, false, execution_no, PG_INT32_MAX, visit_row, scan);
	MemoryContextDelete(scan->context);
}

/*
 * Visit the events of an execution in order of their ids, with the snapshot of
 * the query that calls (see sf_rows_scan).  If all documents are asked for, an event
 * that names another one for its payload (payload_from) has the payload, too.  The
 * visitor runs in a memory context that is reset between calls.
 */
void
sf_history_event_scan(int64 execution_no, SfHistoryDocuments documents, SfHistoryEventVisitor visitor,
					  void *arg)
{
	EventScan	scan = {.documents = documents,.visitor = visitor,.arg = arg};

	run_scan(&scan, execution_no);
}

/*
 * Visit, with all their documents, the events that a filter lets through.  The filter
 * sees them without documents, so that those of other events are not read.
 */
void
sf_history_event_scan_some(int64 execution_no, SfHistoryEventFilter filter, SfHistoryEventVisitor visitor, void *arg)
{
	EventScan	scan = {
		.documents = SF_HISTORY_DOCUMENTS_ALL,.filter = filter,.visitor = visitor,.arg = arg
	};

	run_scan(&scan, execution_no);
}
