/*
 * history_event_functions.c
 *		Rows of _sfflow.history for SQL: their events, or what a query wants to
 *		know of them.
 *
 * The functions read no table.  They are given the columns of a row, so that a
 * query that joins the table has its conditions on the key, its snapshot and its
 * rights.  src/store/history/history_codec.c reads the bytes, which may be any.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"

#include "api/columns.h"
#include "base/version/schema.h"
#include "store/history/history_codec.h"
#include "store/history/history_event_types.h"

/* A set of event types; those that are no number of a byte are in none. */
typedef struct TypeSet
{
	bool		has[PG_UINT8_MAX + 1];
} TypeSet;

/* Read a set of types; an argument that is NULL is the set of all. */
static TypeSet
types_argument(FunctionCallInfo fcinfo, int n)
{
	TypeSet		set;
	Datum	   *types;
	bool	   *nulls;
	int			count;

	memset(&set, PG_ARGISNULL(n), sizeof(set));
	if (PG_ARGISNULL(n))
		return set;
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(n), INT2OID, sizeof(int16), true, TYPALIGN_SHORT,
					  &types, &nulls, &count);
	for (int i = 0; i < count; i++)
		if (!nulls[i] && DatumGetInt16(types[i]) >= 0 && DatumGetInt16(types[i]) <= PG_UINT8_MAX)
			set.has[DatumGetInt16(types[i])] = true;
	return set;
}

/* A pointer argument, which is detoasted when it is needed; NULL where it is null. */
static struct varlena *
pointer_argument(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : (struct varlena *) PG_GETARG_POINTER(n);
}

/* Put an event into the result; it has its documents if the row was given with them. */
static void
put_event(FunctionCallInfo fcinfo, SfHistoryReader *reader)
{
	const SfHistoryEvent *event = &reader->event;
	bool		given = reader->row->documents != NULL;
	bool		holds = given && event->payload_from == SF_NO_EVENT && reader->payload_document != SF_NO_DOCUMENT;
	bool		extra = given && reader->extra_document != SF_NO_DOCUMENT;
	SfColumns	row = {0};

	sf_columns_add(&row, Int32GetDatum(event->id), false);
	sf_columns_add(&row, Int32GetDatum(event->previous_id), false);
	sf_columns_add(&row, Int32GetDatum(event->version), false);
	sf_columns_add(&row, Int16GetDatum(event->type), false);
	sf_columns_add(&row, Int32GetDatum(event->state), event->state == SF_NO_STATE);
	sf_columns_add(&row, Int32GetDatum(event->payload_from), event->payload_from == SF_NO_EVENT);
	sf_columns_time(&row, event->at);
	sf_columns_add(&row, event->niterations == 0 ? (Datum) 0 :
				   sf_int_array_datum(event->iterations, event->niterations),
				   event->niterations == 0);
	sf_columns_jsonb(&row, holds ? sf_history_document(reader, reader->payload_document) : NULL);
	sf_columns_jsonb(&row, extra ? sf_history_document(reader, reader->extra_document) : NULL);
	sf_columns_put(fcinfo, &row);
}

/*
 * Return the events of a row: execution_no, first_id, at, body, documents, types.
 * Without documents (NULL) no event has any; types (NULL: all) are those to return.
 */
SF_SQL_FUNCTION(sfflow_history_events)
{
	SfHistoryRow row = {0};
	SfHistoryReader reader;
	TypeSet		types;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < 4; i++)
		if (PG_ARGISNULL(i))
			return (Datum) 0;
	row.execution_no = PG_GETARG_INT64(0);
	row.first_id = PG_GETARG_INT32(1);
	row.at = PG_GETARG_TIMESTAMPTZ(2);
	row.body = pointer_argument(fcinfo, 3);
	row.documents = pointer_argument(fcinfo, 4);
	types = types_argument(fcinfo, 5);
	(void) sf_history_begin(&reader, &row);
	while (sf_history_next(&reader))
		if (types.has[reader.event.type])
			put_event(fcinfo, &reader);
	return (Datum) 0;
}

/* What schema 1.0 calls it; pg_upgrade looks for that. */
SF_SQL_FUNCTION(sfflow_events)
{
	return sfflow_history_events(fcinfo);
}

/* Return the payload that an event of a row holds: execution_no, first_id, body, documents, id. */
SF_SQL_FUNCTION(sfflow_history_event_payload)
{
	SfHistoryRow row = {.execution_no = PG_GETARG_INT64(0),.first_id = PG_GETARG_INT32(1),
	.body = pointer_argument(fcinfo, 2),.documents = pointer_argument(fcinfo, 3)};
	SfHistoryReader reader;

	(void) sf_history_begin(&reader, &row);
	if (!sf_history_find(&reader, PG_GETARG_INT32(4)) ||
		reader.payload_document == SF_NO_DOCUMENT || reader.event.payload_from != SF_NO_EVENT)
		PG_RETURN_NULL();
	PG_RETURN_JSONB_P(sf_history_document(&reader, reader.payload_document));
}

/* What schema 1.0 calls it; pg_upgrade looks for that. */
SF_SQL_FUNCTION(sfflow_event_payload)
{
	return sfflow_history_event_payload(fcinfo);
}

/* Ids of events of earlier rows whose payloads a row refers to; one that follows itself is there once */
typedef struct Elsewhere
{
	Datum	   *ids;
	int			n;
	int			size;
} Elsewhere;

/* Note that the payload of an event is in an earlier row. */
static void
note_elsewhere(Elsewhere *elsewhere, const SfHistoryReader *reader)
{
	int			id = reader->event.payload_from;

	if (id == 0 || id >= reader->row->first_id ||
		(elsewhere->n > 0 && DatumGetInt32(elsewhere->ids[elsewhere->n - 1]) == id))
		return;
	if (elsewhere->n == elsewhere->size)
	{
		elsewhere->size = Max(16, elsewhere->size * 2);
		elsewhere->ids = elsewhere->ids == NULL ?
			palloc(elsewhere->size * sizeof(Datum)) :
			repalloc(elsewhere->ids, elsewhere->size * sizeof(Datum));
	}
	elsewhere->ids[elsewhere->n++] = Int32GetDatum(id);
}

/*
 * Look at a row for sf_check(): first_id, at, body, documents, and types that do not
 * count as the last.  Returns what is wrong with it; else the number of its events,
 * the type of the last of them that counts, and the events of earlier rows whose
 * payloads it refers to.
 */
SF_SQL_FUNCTION(sfflow_inspect_history)
{
	SfHistoryRow row = {.first_id = PG_GETARG_INT32(0),.at = PG_GETARG_TIMESTAMPTZ(1),
	.body = pointer_argument(fcinfo, 2),.documents = pointer_argument(fcinfo, 3)};
	TypeSet		skipped = types_argument(fcinfo, 4);
	SfHistoryReader reader;
	Elsewhere	elsewhere = {0};
	bool		has_last = false;
	SfHistoryEventType last_type = 0;
	SfColumns	out = {0};

	for (int i = 0; i < 3; i++)
		if (PG_ARGISNULL(i))
			PG_RETURN_NULL();
	if (sf_history_begin(&reader, &row))
		while (sf_history_try_next(&reader))
		{
			if (!skipped.has[reader.event.type])
			{
				has_last = true;
				last_type = reader.event.type;
			}
			note_elsewhere(&elsewhere, &reader);
		}
	if (reader.problem == NULL)
		(void) sf_history_check_documents(&reader);
	sf_columns_text(&out, reader.problem);
	sf_columns_add(&out, Int32GetDatum(reader.count), reader.problem != NULL);
	sf_columns_add(&out, Int16GetDatum(last_type), !has_last || reader.problem != NULL);
	sf_columns_add(&out, PointerGetDatum(construct_array(elsewhere.ids, elsewhere.n, INT4OID,
														 sizeof(int32), true, TYPALIGN_INT)),
				   reader.problem != NULL);
	PG_RETURN_DATUM(sf_columns_datum(fcinfo, &out));
}

/* Return the numbers of the types whose names are LIKE one of the arguments. */
SF_SQL_FUNCTION(sfflow_history_event_types)
{
	Datum	   *patterns;
	Datum		numbers[SF_HISTORY_EVENT_TYPE_COUNT];
	int			npatterns,
				n = 0;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, -1, false, TYPALIGN_INT,
					  &patterns, NULL, &npatterns);
	for (int type = 0; type < SF_HISTORY_EVENT_TYPE_COUNT; type++)
	{
		Datum		name = CStringGetTextDatum(sf_history_event_type_name(type));
		bool		matches = false;

		for (int i = 0; i < npatterns && !matches; i++)
			matches = DatumGetBool(DirectFunctionCall2Coll(textlike, C_COLLATION_OID,
														   name, patterns[i]));
		if (matches)
			numbers[n++] = Int16GetDatum(type);
	}
	PG_RETURN_ARRAYTYPE_P(construct_array(numbers, n, INT2OID, 2, true, TYPALIGN_SHORT));
}

/* What schema 1.0 calls it; pg_upgrade looks for that. */
SF_SQL_FUNCTION(sfflow_event_types)
{
	return sfflow_history_event_types(fcinfo);
}
