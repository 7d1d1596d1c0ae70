/*
 * history_codec.c
 *		Rows of _sfflow.history as events.
 *
 * src/store/README.md has the format.  Packing and unpacking stand next to each
 * other, field by field, in the order of the bytes.  Unpacking trusts no byte: a
 * row may be damaged, or of a later version of sfflow.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "common/int.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "base/value/iterations.h"
#include "base/version/compat.h"
#include "store/history/history_codec.h"

/* Flags of an event: which fields follow */
#define HAS_PREVIOUS	0x01
#define HAS_TIME		0x02
#define HAS_STATE		0x04
#define PAYLOAD_MASK	0x18
#define PAYLOAD_NONE	0x00
#define PAYLOAD_SAME	0x08	/* that of the last event that has one */
#define PAYLOAD_EARLIER	0x10	/* that of an event that follows */
#define PAYLOAD_NEXT	0x18	/* the next document */
#define HAS_ITERATIONS	0x20
#define HAS_EXTRA		0x40	/* the next document */
#define ALL_FLAGS		0x7f

/* Map states around an event, at most: definitions are not nested deeper */
#define MAX_ITERATIONS	1000

/* Least bytes of an event: type and flags */
#define EVENT_BYTES		2

/* --- numbers --- */

/* Append a number: seven bits per byte, lowest first, the highest bit says that more follow. */
static void
put_number(StringInfo bytes, uint64 number)
{
	for (; number >= 0x80; number >>= 7)
		appendStringInfoCharMacro(bytes, (char) (number | 0x80));
	appendStringInfoCharMacro(bytes, (char) number);
}

/* Append a number that may be negative: 0, -1, 1, -2 … as 0, 1, 2, 3 … */
static void
put_signed(StringInfo bytes, int64 number)
{
	put_number(bytes, ((uint64) number << 1) ^ (uint64) (number >> 63));
}

/* Note why a row cannot be read further; always returns false. */
static bool
fail(SfHistoryReader *reader, const char *problem)
{
	reader->problem = problem;
	return false;
}

/* Raise that a row cannot be read. */
static void
refuse(const SfHistoryReader *reader)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the history of execution_no " INT64_FORMAT " cannot be read from event %d on",
					reader->row->execution_no, reader->row->first_id),
			 errdetail("The row of _sfflow.history is damaged or of a later version: %s.",
					   reader->problem),
			 errhint("sf_check() lists all such rows.")));
}

/* Read a number. */
static bool
get_number(SfHistoryReader *reader, uint64 *number)
{
	*number = 0;
	for (int shift = 0; reader->next < reader->end && shift < 64; shift += 7)
	{
		uint64		byte = *reader->next++;

		if (shift == 63 && byte > 1)
			return fail(reader, "a number is too large");
		*number |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return fail(reader, "it is too short");
}

/* Read a number that may be negative. */
static bool
get_signed(SfHistoryReader *reader, int64 *number)
{
	uint64		value;

	if (!get_number(reader, &value))
		return false;
	*number = (int64) (value >> 1) ^ -(int64) (value & 1);
	return true;
}

/* Read a difference and add it to an int, which becomes at least that. */
static bool
get_change(SfHistoryReader *reader, int *number, int least)
{
	int64		change;

	if (!get_signed(reader, &change))
		return false;
	if (pg_add_s64_overflow(*number, change, &change) ||
		change < least || change > PG_INT32_MAX)
		return fail(reader, "a number is out of range");
	*number = (int) change;
	return true;
}

/* Read how far before the event that is being read another one is. */
static bool
get_distance(SfHistoryReader *reader, int least, int *id)
{
	uint64		distance;

	if (!get_number(reader, &distance))
		return false;
	if (distance == 0 || distance > (uint64) (reader->event.id - least))
		return fail(reader, "it refers to an event that is not before");
	*id = reader->event.id - (int) distance;
	return true;
}

/* --- documents --- */

/* Add a document to a row. */
static void
put_document(SfHistoryPacker *packer, const Jsonb *document)
{
	if (packer->ndocuments == packer->size)
	{
		packer->size = Max(16, packer->size * 2);
		packer->documents = packer->documents == NULL ?
			palloc(packer->size * sizeof(Datum)) :
			repalloc(packer->documents, packer->size * sizeof(Datum));
	}
	packer->documents[packer->ndocuments++] = JsonbPGetDatum(document);
	packer->document_bytes += VARSIZE(document);
}

/* Take the array of documents apart; false if the body has others. */
static bool
open_documents(SfHistoryReader *reader)
{
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	ArrayType  *array;
	bool	   *nulls;

	if (reader->documents == NULL && reader->row->documents != NULL)
	{
		array = DatumGetArrayTypeP(PointerGetDatum(reader->row->documents));
		deconstruct_array(array, JSONBOID, -1, false, TYPALIGN_INT,
						  &reader->documents, &nulls, &reader->narray);
		if (array_contains_nulls(array))
			reader->narray = 0;
	}
	MemoryContextSwitchTo(old);
	return reader->ndocuments <= reader->narray ||
		fail(reader, "it has more documents than the row");
}

/* Get a document of a row that the reader has come to; it lives as long as the reader. */
Jsonb *
sf_history_document(SfHistoryReader *reader, int number)
{
	if (!open_documents(reader))
		refuse(reader);
	return DatumGetJsonbP(reader->documents[number]);
}

/* Once all events are read: tell whether the row has as many documents as they have. */
bool
sf_history_check_documents(SfHistoryReader *reader)
{
	return open_documents(reader) &&
		(reader->ndocuments == reader->narray ||
		 fail(reader, "it has fewer documents than the row"));
}

/* --- fields --- */

/* Pack the event that an event follows; returns its flags, as the functions below. */
static int
put_previous(SfHistoryPacker *packer, const SfHistoryEvent *event)
{
	Assert(!sf_event_is_provisional(event->previous_id) && event->previous_id < event->id);
	if (event->previous_id == event->id - 1)
		return 0;
	put_number(&packer->events, event->id - event->previous_id);
	return HAS_PREVIOUS;
}

/* Read the event that an event follows; false: the row is damaged, as below. */
static bool
get_previous(SfHistoryReader *reader, int flags)
{
	reader->event.previous_id = reader->event.id - 1;
	return (flags & HAS_PREVIOUS) == 0 ||
		get_distance(reader, SF_NO_EVENT, &reader->event.previous_id);
}

/* Pack the time. */
static int
put_time(SfHistoryPacker *packer, const SfHistoryEvent *event)
{
	if (event->at == packer->last.at)
		return 0;
	put_signed(&packer->events, (int64) ((uint64) event->at - (uint64) packer->last.at));
	return HAS_TIME;
}

/* Read the time. */
static bool
get_time(SfHistoryReader *reader, int flags)
{
	int64		change;

	if ((flags & HAS_TIME) == 0)
		return true;
	if (!get_signed(reader, &change))
		return false;
	reader->event.at = (TimestampTz) ((uint64) reader->event.at + (uint64) change);
	return IS_VALID_TIMESTAMP(reader->event.at) || fail(reader, "a time is out of range");
}

/* Pack the number of the state. */
static int
put_state(SfHistoryPacker *packer, const SfHistoryEvent *event)
{
	if (event->state == packer->last.state)
		return 0;
	put_signed(&packer->events, (int64) event->state - packer->last.state);
	return HAS_STATE;
}

/* Read the number of the state. */
static bool
get_state(SfHistoryReader *reader, int flags)
{
	return (flags & HAS_STATE) == 0 || get_change(reader, &reader->event.state, SF_NO_STATE);
}

/* Pack where the payload is. */
static int
put_payload(SfHistoryPacker *packer, const SfHistoryEvent *event)
{
	if (event->payload_from == SF_NO_EVENT && event->payload == NULL)
		return PAYLOAD_NONE;
	if (event->payload_from == SF_NO_EVENT)
	{
		put_document(packer, event->payload);
		packer->last_payload = event->id;
		return PAYLOAD_NEXT;
	}
	if (event->payload_from == packer->last_payload)
		return PAYLOAD_SAME;
	put_number(&packer->events, event->id - event->payload_from);
	packer->last_payload = event->payload_from;
	return PAYLOAD_EARLIER;
}

/* Note that an event has the payload of another one. */
static bool
refer_to(SfHistoryReader *reader, int from_id)
{
	int			index = from_id - reader->row->first_id;

	reader->last_payload = reader->event.payload_from = from_id;
	if (index < 0)
		return true;
	reader->payload_document = reader->own_documents[index];
	return reader->payload_document != SF_NO_DOCUMENT ||
		fail(reader, "it refers to an event that has no payload of its own");
}

/* Read where the payload is. */
static bool
get_payload(SfHistoryReader *reader, int flags)
{
	int			from_id = reader->last_payload;

	reader->event.payload_from = SF_NO_EVENT;
	reader->payload_document = SF_NO_DOCUMENT;
	reader->own_documents[reader->nread] = SF_NO_DOCUMENT;
	switch (flags & PAYLOAD_MASK)
	{
		case PAYLOAD_NONE:
			return true;
		case PAYLOAD_NEXT:
			reader->payload_document = reader->ndocuments++;
			reader->own_documents[reader->nread] = reader->payload_document;
			reader->last_payload = reader->event.id;
			return true;
		case PAYLOAD_SAME:
			return from_id != 0 ? refer_to(reader, from_id) :
				fail(reader, "it refers to a payload before the first one");
		default:
			return get_distance(reader, 1, &from_id) && refer_to(reader, from_id);
	}
}

/* Pack the indexes of the Map states around, as changes of those of the event before. */
static int
put_iterations(SfHistoryPacker *packer, const SfHistoryEvent *event)
{
	const SfHistoryEvent *last = &packer->last;

	if (sf_same_iterations(event->iterations, event->niterations, last->iterations, last->niterations))
		return 0;
	put_number(&packer->events, event->niterations);
	for (int i = 0; i < event->niterations; i++)
		put_signed(&packer->events, (int64) event->iterations[i] -
				   (i < last->niterations ? last->iterations[i] : 0));
	return HAS_ITERATIONS;
}

/* Make room for indexes. */
static int *
reserve_iterations(SfHistoryReader *reader, int n)
{
	int		   *old = unconstify(int *, reader->event.iterations);
	int		   *iterations;

	if (n <= reader->size)
		return old;
	reader->size = Max(4, n);
	iterations = MemoryContextAlloc(reader->context, reader->size * sizeof(int));
	if (old != NULL)
		memcpy(iterations, old, reader->event.niterations * sizeof(int));
	return iterations;
}

/* Read the indexes of the Map states around. */
static bool
get_iterations(SfHistoryReader *reader, int flags)
{
	uint64		n;
	int		   *iterations;

	if ((flags & HAS_ITERATIONS) == 0)
		return true;
	if (!get_number(reader, &n))
		return false;
	if (n > (uint64) (reader->end - reader->next))
		return fail(reader, "it is too short");
	if (n > MAX_ITERATIONS)
		return fail(reader, "a number is out of range");
	reader->event.iterations = iterations = reserve_iterations(reader, n);
	for (int i = reader->event.niterations; i < (int) n; i++)
		iterations[i] = 0;
	reader->event.niterations = n;
	for (int i = 0; i < (int) n; i++)
		if (!get_change(reader, &iterations[i], 0))
			return false;
	return true;
}

/* Pack what else the details hold. */
static int
put_extra(SfHistoryPacker *packer, const SfHistoryEvent *event)
{
	if (event->extra == NULL)
		return 0;
	put_document(packer, event->extra);
	return HAS_EXTRA;
}

/* Read whether there are further details. */
static bool
get_extra(SfHistoryReader *reader, int flags)
{
	reader->extra_document = (flags & HAS_EXTRA) != 0 ? reader->ndocuments++ : SF_NO_DOCUMENT;
	return true;
}

/* --- packing rows --- */

/* Begin a row in the current memory context, with the event that is added next. */
void
sf_history_pack_begin(SfHistoryPacker *packer, const SfHistoryEvent *first)
{
	memset(packer, 0, sizeof(SfHistoryPacker));
	packer->row.execution_no = first->execution_no;
	packer->row.at = packer->last.at = first->at;
	packer->row.first_id = first->id;
	packer->version = first->version;
	packer->last.id = first->id - 1;
	packer->last.state = SF_NO_STATE;
	initStringInfo(&packer->events);
}

/*
 * Tell whether a row takes the documents of an event.  One that is larger than a row
 * may be stands alone: to read one document is to decompress all of its row.
 */
static bool
documents_fit(const SfHistoryPacker *packer, const SfHistoryEvent *event)
{
	Size		bytes = 0;

	if (event->payload_from == SF_NO_EVENT && event->payload != NULL)
		bytes += VARSIZE(event->payload);
	if (event->extra != NULL)
		bytes += VARSIZE(event->extra);
	return bytes == 0 || packer->document_bytes == 0 ||
		packer->document_bytes + bytes <= SF_HISTORY_MAX_DOCUMENTS;
}

/* Tell whether a row that has events takes another one. */
bool
sf_history_pack_fits(const SfHistoryPacker *packer, const SfHistoryEvent *event)
{
	return event->execution_no == packer->row.execution_no &&
		event->id == packer->last.id + 1 && event->version == packer->version &&
		packer->count < SF_HISTORY_MAX_EVENTS && documents_fit(packer, event);
}

/* Add an event, whose documents stay until the row is written. */
void
sf_history_pack_add(SfHistoryPacker *packer, const SfHistoryEvent *event)
{
	int			offset,
				flags;

	appendStringInfoCharMacro(&packer->events, (char) event->type);
	offset = packer->events.len;
	appendStringInfoCharMacro(&packer->events, 0);
	flags = put_previous(packer, event);
	flags |= put_time(packer, event);
	flags |= put_state(packer, event);
	flags |= put_payload(packer, event);
	flags |= put_iterations(packer, event);
	flags |= put_extra(packer, event);
	packer->events.data[offset] = (char) flags;
	packer->last = *event;
	packer->count++;
}

/* End a row; it lives in the current memory context. */
const SfHistoryRow *
sf_history_pack_end(SfHistoryPacker *packer)
{
	StringInfoData body;

	initStringInfo(&body);
	enlargeStringInfo(&body, VARHDRSZ + packer->events.len + 16);
	body.len = VARHDRSZ;
	appendStringInfoCharMacro(&body, SF_HISTORY_FORMAT);
	put_number(&body, packer->version);
	put_number(&body, packer->count);
	appendBinaryStringInfo(&body, packer->events.data, packer->events.len);
	SET_VARSIZE(body.data, body.len);
	packer->row.body = (struct varlena *) body.data;
	if (packer->ndocuments > 0)
		packer->row.documents = (struct varlena *)
			construct_array(packer->documents, packer->ndocuments, JSONBOID, -1, false,
							TYPALIGN_INT);
	return &packer->row;
}

/* --- unpacking rows --- */

/* Read what stands before the events. */
static bool
get_header(SfHistoryReader *reader)
{
	uint64		version,
				count;

	if (reader->next == reader->end)
		return fail(reader, "it is empty");
	if (*reader->next++ != SF_HISTORY_FORMAT)
		return fail(reader, "its format is not known to this version of sfflow");
	if (!get_number(reader, &version) || !get_number(reader, &count))
		return false;
	if (version > PG_INT32_MAX)
		return fail(reader, "a number is out of range");
	if (count == 0 || count > (uint64) (reader->end - reader->next) / EVENT_BYTES)
		return fail(reader, "it is too short");
	if (reader->row->first_id < 1 || count > (uint64) (PG_INT32_MAX - reader->row->first_id))
		return fail(reader, "the number of an event is out of range");
	reader->event.version = version;
	reader->count = count;
	return true;
}

/*
 * Begin to read a row.  It stays where it is until reading ends, and so do the
 * documents.  Returns false when nothing can be read; then the reader has a problem.
 */
bool
sf_history_begin(SfHistoryReader *reader, const SfHistoryRow *row)
{
	struct varlena *body = PG_DETOAST_DATUM_PACKED(PointerGetDatum(row->body));

	memset(reader, 0, sizeof(SfHistoryReader));
	reader->row = row;
	reader->context = CurrentMemoryContext;
	reader->next = (const unsigned char *) VARDATA_ANY(body);
	reader->end = reader->next + VARSIZE_ANY_EXHDR(body);
	reader->event.execution_no = row->execution_no;
	reader->event.id = row->first_id - 1;
	reader->event.at = row->at;
	reader->event.state = SF_NO_STATE;
	if (!get_header(reader))
		return false;
	reader->own_documents = palloc(reader->count * sizeof(int));
	return true;
}

/* Read the next event; false at the end, or when the reader has a problem. */
bool
sf_history_try_next(SfHistoryReader *reader)
{
	int			flags;

	CHECK_FOR_INTERRUPTS();
	if (reader->problem != NULL)
		return false;
	if (reader->nread == reader->count)
		return reader->next == reader->end ? false : fail(reader, "it is too long");
	if (reader->end - reader->next < EVENT_BYTES)
		return fail(reader, "it is too short");
	reader->event.id++;
	reader->event.type = *reader->next++;
	flags = *reader->next++;
	if ((flags & ~ALL_FLAGS) != 0)
		return fail(reader, "an event has an unknown flag");
	if (!get_previous(reader, flags) || !get_time(reader, flags) ||
		!get_state(reader, flags) || !get_payload(reader, flags) ||
		!get_iterations(reader, flags) || !get_extra(reader, flags))
		return false;
	reader->nread++;
	return true;
}

/* Read the next event; false at the end.  Raises an error when the row is damaged. */
bool
sf_history_next(SfHistoryReader *reader)
{
	if (sf_history_try_next(reader))
		return true;
	if (reader->problem != NULL)
		refuse(reader);
	return false;
}

/* Read up to an event; false if the row ends before it. */
bool
sf_history_find(SfHistoryReader *reader, int id)
{
	while (sf_history_next(reader))
		if (reader->event.id == id)
			return true;
	return false;
}
