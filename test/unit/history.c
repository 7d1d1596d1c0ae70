/*
 * history.c
 *		Pack events and unpack them again, without a server or a database.
 *
 * This library is linked with store/history/history_codec.o and preloaded into the
 * program "postgres", as handlers.c is.  It packs histories that are written
 * down here and random ones (the seed is SFFLOW_HISTORY), reads them and
 * compares.  Then it damages rows, byte by byte and at random: reading them has
 * to end with a problem, or with events, and never with a crash.  The bodies are
 * read from memory that ends with them, so that a sanitizer sees a byte too many.
 * Output: TAP.
 */
#include "postgres.h"

#include <unistd.h>

#include "common/pg_prng.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"
#include "utils/timeout.h"

#include "store/history/history_codec.h"
#include "store/history/history_event_types.h"

#define TIME	INT64CONST(800000000000000)
#define EVENTS	3000
#define MAX_ROWS	EVENTS

/* A history, and the rows that it was packed into */
typedef struct History
{
	const char *name;
	int			n;
	SfHistoryEvent events[EVENTS];
	int			nrows;
	const SfHistoryRow *rows[MAX_ROWS];
} History;

static int	tests = 0;
static int	failures = 0;

/* Print the result of a test. */
static void
result(bool ok, const char *name)
{
	printf("%s %d - %s\n", ok ? "ok" : "not ok", ++tests, name);
	failures += !ok;
}

/* --- packing and comparing --- */

/* Pack a history as sf_history_event_write() does. */
static void
pack(History *h)
{
	h->nrows = 0;
	for (int i = 0; i < h->n;)
	{
		SfHistoryPacker *packer = palloc(sizeof(SfHistoryPacker));

		sf_history_pack_begin(packer, &h->events[i]);
		do
			sf_history_pack_add(packer, &h->events[i++]);
		while (i < h->n && sf_history_pack_fits(packer, &h->events[i]));
		h->rows[h->nrows++] = sf_history_pack_end(packer);
	}
}

/* Two documents, which may be NULL, with the same bytes. */
static bool
same_document(const Jsonb *a, const Jsonb *b)
{
	return a == NULL || b == NULL ? a == b :
		VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0;
}

/* Tell whether the event that a reader has read is the one that was packed. */
static bool
same_event(const SfHistoryEvent *packed, SfHistoryReader *reader)
{
	const SfHistoryEvent *event = &reader->event;
	const Jsonb *payload = packed->payload_from != 0 ? NULL : packed->payload;
	bool		ok;

	ok = event->execution_no == packed->execution_no && event->id == packed->id &&
		event->previous_id == packed->previous_id && event->version == packed->version &&
		event->type == packed->type && event->state == packed->state &&
		event->payload_from == packed->payload_from && event->at == packed->at &&
		event->niterations == packed->niterations &&
		(event->niterations == 0 ||
		 memcmp(event->iterations, packed->iterations, event->niterations * sizeof(int)) == 0) &&
		(payload == NULL || reader->payload_document >= 0) &&
		(packed->extra == NULL) == (reader->extra_document < 0);
	if (ok && payload != NULL)
		ok = same_document(payload, sf_history_document(reader, reader->payload_document));
	if (ok && packed->extra != NULL)
		ok = same_document(packed->extra, sf_history_document(reader, reader->extra_document));
	if (!ok)
		printf("# event %d differs: got id %d, previous %d, type %d, state %d, payload_from %d, %d iterations\n",
			   packed->id, event->id, event->previous_id, event->type, event->state,
			   event->payload_from, event->niterations);
	return ok;
}

/* Pack a history, read it, and compare; the number of its bytes. */
static int
round_trip(History *h)
{
	int			place = 0;
	int			bytes = 0;
	bool		ok = true;

	pack(h);
	for (int i = 0; ok && i < h->nrows; i++)
	{
		SfHistoryReader reader;

		ok = sf_history_begin(&reader, h->rows[i]) && h->rows[i]->first_id == h->events[place].id;
		while (ok && sf_history_try_next(&reader))
			ok = same_event(&h->events[place++], &reader);
		if (reader.problem != NULL)
			printf("# row %d: %s\n", i, reader.problem);
		ok = ok && reader.problem == NULL && sf_history_check_documents(&reader);
		bytes += VARSIZE_ANY_EXHDR(h->rows[i]->body);
	}
	if (!ok || place != h->n)
	{
		printf("# %d of %d events are read\n", place, h->n);
		result(false, h->name);
		return -1;
	}
	return bytes;
}

/* --- histories --- */

/* Add an event that follows the last one, a microsecond later. */
static SfHistoryEvent *
add_event(History *h, int type, int state)
{
	SfHistoryEvent *event = &h->events[h->n++];

	memset(event, 0, sizeof(SfHistoryEvent));
	event->execution_no = 7;
	event->version = 1;
	event->id = h->n;
	event->previous_id = h->n - 1;
	event->type = type;
	event->state = state;
	event->at = TIME + h->n;
	return event;
}

/* Begin a history. */
static void
begin(History *h, const char *name)
{
	h->name = name;
	h->n = 0;
}

/* Five tasks in a row, each of which returns its input. */
static void
five_tasks(History *h)
{
	static const int types[] = {
		SF_HISTORY_EVENT_TASK_STATE_ENTERED, SF_HISTORY_EVENT_TASK_SCHEDULED, SF_HISTORY_EVENT_TASK_STARTED,
		SF_HISTORY_EVENT_TASK_SUCCEEDED, SF_HISTORY_EVENT_TASK_STATE_EXITED
	};

	begin(h, "five tasks in a row");
	add_event(h, SF_HISTORY_EVENT_EXECUTION_STARTED, -1)->payload = sf_json_int(1);
	for (int state = 0; state < 5; state++)
		for (int i = 0; i < (int) lengthof(types); i++)
		{
			SfHistoryEvent *event = add_event(h, types[i], state);

			event->at = TIME + 1 + state * 10 + i / 3;
			if (types[i] != SF_HISTORY_EVENT_TASK_STARTED)
				event->payload_from = 1;
		}
	add_event(h, SF_HISTORY_EVENT_EXECUTION_SUCCEEDED, -1)->payload_from = 1;
}

/* An event of every type, with and without documents. */
static void
every_type(History *h)
{
	begin(h, "every type");
	for (int type = 0; type < SF_HISTORY_EVENT_TYPE_COUNT; type++)
		for (int i = 0; i < 4; i++)
		{
			SfHistoryEvent *event = add_event(h, type, i - 1);

			if (i % 2 > 0)
				event->payload = sf_json_int(type);
			if (i / 2 > 0)
				event->extra = sf_json_string("extra");
		}
}

/* Numbers at the ends of their ranges. */
static void
extremes(History *h)
{
	static const int depths[][3] = {{0, 0, 0}, {PG_INT32_MAX, PG_INT32_MAX, 0}, {0, PG_INT32_MAX, PG_INT32_MAX}};
	SfHistoryEvent *event;

	begin(h, "extremes");
	for (int i = 0; i < 24; i++)
	{
		event = add_event(h, i % 2 == 0 ? 0 : PG_UINT8_MAX, i % 3 == 0 ? PG_INT32_MAX : -1);
		event->id += PG_INT32_MAX - 30;
		event->previous_id = i % 4 == 0 ? 0 : i % 4 == 1 ? 1 : event->id - 1;
		event->execution_no = PG_INT64_MAX;
		event->version = PG_INT32_MAX;
		event->at = i % 2 == 0 ? MIN_TIMESTAMP : END_TIMESTAMP - 1;
		event->payload_from = i % 5 == 0 ? 1 : 0;
		event->iterations = depths[i % 3];
		event->niterations = i % 4;
		if (event->niterations == 0)
			event->iterations = NULL;
	}
}

/* Rows end where they are full, and where a number is left out or the version changes. */
static void
many_rows(History *h)
{
	char	   *text = palloc0(SF_HISTORY_MAX_DOCUMENTS / 2);

	begin(h, "several rows");
	memset(text, 'x', SF_HISTORY_MAX_DOCUMENTS / 2 - 1);
	for (int i = 0; i < 2500; i++)
	{
		SfHistoryEvent *event = add_event(h, i % SF_HISTORY_EVENT_TYPE_COUNT, i / 100);

		event->id += i < 1200 ? 0 : 10;
		event->previous_id = event->id - 1;
		event->version = i < 1300 ? 1 : 2;
		event->execution_no = i < 1400 ? 7 : 8;
		if (i >= 1500 && i < 1507)
			event->payload = sf_json_string(text);
		else if (i > 1507)
			event->payload_from = 1511 + i % 7;
	}
}

/* A large document beside small ones: three rows, though events without documents may follow it. */
static void
large_document(History *h)
{
	char	   *text = palloc0(SF_HISTORY_MAX_DOCUMENTS + 1);

	begin(h, "a large document");
	memset(text, 'x', SF_HISTORY_MAX_DOCUMENTS);
	for (int i = 0; i < 60; i++)
	{
		SfHistoryEvent *event = add_event(h, i % SF_HISTORY_EVENT_TYPE_COUNT, 0);

		if (i == 20)
			event->payload = sf_json_string(text);
		else if (i % 10 != 9)
			event->payload = i > 20 && i < 30 ? NULL : sf_json_int(i);
	}
}

/* Does no row have a large document and another one? */
static bool
is_alone(const History *h)
{
	for (int i = 0; i < h->nrows; i++)
	{
		const ArrayType *documents = (const ArrayType *) h->rows[i]->documents;

		if (documents != NULL && VARSIZE(documents) > SF_HISTORY_MAX_DOCUMENTS &&
			ARR_DIMS(documents)[0] != 1)
			return false;
	}
	return true;
}

/* A number of up to so many bits. */
static int64
random_number(int bits)
{
	return (int64) (pg_prng_uint64(&pg_global_prng_state) >> (64 - 1 - pg_prng_uint64_range(&pg_global_prng_state, 0, bits - 1)));
}

/* Give an event random iterations. */
static void
random_iterations(SfHistoryEvent *event)
{
	int		   *iterations = palloc(sizeof(int) * 6);

	event->niterations = random_number(2) + random_number(2);
	for (int i = 0; i < event->niterations; i++)
		iterations[i] = random_number(i % 2 == 0 ? 31 : 4);
	event->iterations = event->niterations == 0 ? NULL : iterations;
}

/* A random history. */
static void
random_history(History *h)
{
	int			n = 1 + random_number(11);
	int		   *holders = palloc(sizeof(int) * n);
	int			nholders = 0;

	begin(h, "random histories");
	for (int i = 0; i < n; i++)
	{
		SfHistoryEvent *event = add_event(h, random_number(8), random_number(5) - 1);

		if (random_number(2) == 0)
			event->previous_id = random_number(31) % event->id;
		if (random_number(2) == 0)
			event->at += random_number(40) - random_number(40);
		if (random_number(2) == 0)
			random_iterations(event);
		if (random_number(3) == 0)
			event->extra = sf_json_int(random_number(60));
		if (random_number(2) == 0)
		{
			event->payload = sf_json_int(i);
			holders[nholders++] = event->id;
		}
		else if (nholders > 0 && random_number(1) == 0)
			event->payload_from = holders[random_number(31) % nholders];
	}
}

/* --- damaged rows --- */

/* Read a row with other bytes to its end, from memory that ends with them. */
static const char *
read_damaged(const SfHistoryRow *row, const char *bytes, int n)
{
	SfHistoryRow damaged = *row;
	SfHistoryReader reader;
	char	   *body = malloc(VARHDRSZ + n);

	SET_VARSIZE(body, VARHDRSZ + n);
	memcpy(body + VARHDRSZ, bytes, n);
	damaged.body = (struct varlena *) body;
	if (sf_history_begin(&reader, &damaged))
		while (sf_history_try_next(&reader))
			if (reader.event.id < row->first_id || reader.event.previous_id < 0 ||
				reader.event.previous_id >= reader.event.id ||
				reader.event.payload_from >= reader.event.id || reader.event.state < -1)
				return NULL;
	if (reader.problem == NULL)
		(void) sf_history_check_documents(&reader);
	free(body);
	return reader.problem == NULL ? "" : reader.problem;
}

/* Cut a row at every place; each time it must be too short. */
static bool
is_refused_when_cut(const SfHistoryRow *row)
{
	int			n = VARSIZE_ANY_EXHDR(row->body);
	bool		ok = true;

	for (int i = 0; i < n; i++)
	{
		const char *problem = read_damaged(row, VARDATA_ANY(row->body), i);

		if (problem == NULL || *problem == '\0')
		{
			printf("# cut after %d of %d bytes: %s\n", i, n, problem == NULL ? "impossible event" : "read");
			ok = false;
		}
	}
	return ok;
}

/* Change bytes of a row at random; whatever comes out, numbers are in their ranges. */
static bool
survives_damage(const SfHistoryRow *row, int rounds)
{
	int			n = VARSIZE_ANY_EXHDR(row->body);
	char	   *bytes = palloc(n + 1);

	for (int i = 0; i < rounds; i++)
	{
		memcpy(bytes, VARDATA_ANY(row->body), n);
		bytes[n] = '\0';
		for (int k = random_number(3); k >= 0; k--)
			bytes[random_number(31) % n] = (char) random_number(8);
		if (read_damaged(row, bytes, n + random_number(1)) == NULL)
			return false;
	}
	return true;
}

/* Test what a row says that is damaged in one way. */
static void
expect_problem(const SfHistoryRow *row, const char *hex, const char *problem)
{
	char		bytes[2048];
	int			n = strlen(hex) / 2;
	const char *got;

	for (int i = 0; i < n; i++)
	{
		unsigned int byte;

		sscanf(hex + 2 * i, "%2x", &byte);
		bytes[i] = (char) byte;
	}
	got = read_damaged(row, bytes, n);
	result(got != NULL && strcmp(got, problem) == 0, psprintf("%.40s: %s", hex, problem));
	if (got == NULL || strcmp(got, problem) != 0)
		printf("# got: %s\n", got == NULL ? "an impossible event" : got);
}

/* A body of one event that has so many Map indexes, all of them 0. */
static char *
body_of_indexes(int n)
{
	char	   *zeros = palloc0(2 * n + 1);

	memset(zeros, '0', 2 * n);
	return psprintf("0101010020%02x%02x%s", n % 128 + 128, n / 128, zeros);
}

/* Rows that are damaged in one way each: a body that begins with event 1. */
static void
test_problems(void)
{
	SfHistoryRow row = {.execution_no = 7,.at = TIME,.first_id = 1};

	expect_problem(&row, "0101010000", "");
	expect_problem(&row, "", "it is empty");
	expect_problem(&row, "0201010000", "its format is not known to this version of sfflow");
	expect_problem(&row, "0001010000", "its format is not known to this version of sfflow");
	expect_problem(&row, "0101", "it is too short");
	expect_problem(&row, "010100", "it is too short");
	expect_problem(&row, "0101020000", "it is too short");
	expect_problem(&row, "010101000000", "it is too long");
	expect_problem(&row, "01ffffffff0f010000", "a number is out of range");
	expect_problem(&row, "01ffffffffffffffffff02010000", "a number is too large");
	expect_problem(&row, "0101010080", "an event has an unknown flag");
	expect_problem(&row, "010101000102", "it refers to an event that is not before");
	expect_problem(&row, "010101000100", "it refers to an event that is not before");
	expect_problem(&row, "010101000101", "");
	expect_problem(&row, "0101010002ffffffffffffffffff01", "a time is out of range");
	expect_problem(&row, "010101000401", "a number is out of range");
	expect_problem(&row, "01010100040a", "");
	expect_problem(&row, "010102000000040c", "");
	expect_problem(&row, "0101010008", "it refers to a payload before the first one");
	expect_problem(&row, "01010200000010", "it is too short");
	expect_problem(&row, "0101020000001001", "it refers to an event that has no payload of its own");
	expect_problem(&row, "0101020000001002", "it refers to an event that is not before");
	expect_problem(&row, "0101010018", "it has more documents than the row");
	expect_problem(&row, "0101010040", "it has more documents than the row");
	expect_problem(&row, "01010100200101", "a number is out of range");
	expect_problem(&row, "010101002005", "it is too short");
	expect_problem(&row, body_of_indexes(1000), "");
	expect_problem(&row, body_of_indexes(1001), "a number is out of range");
	row.first_id = PG_INT32_MAX;
	expect_problem(&row, "0101010000", "the number of an event is out of range");
	row.first_id = 0;
	expect_problem(&row, "0101010000", "the number of an event is out of range");
}

/* --- all tests --- */

/* Test a history that is written down: reading it, cutting its rows, damaging them. */
static void
test_history(History *h, void (*make) (History *h), int rows, int bytes)
{
	bool		cut = true,
				damage = true;
	int			got;

	make(h);
	got = round_trip(h);
	if (got < 0)
		return;
	result(h->nrows == rows && (bytes == 0 || got == bytes),
		   psprintf("%s: %d events in %d rows, %d bytes", h->name, h->n, h->nrows, got));
	for (int i = 0; i < h->nrows; i++)
	{
		cut &= is_refused_when_cut(h->rows[i]);
		damage &= survives_damage(h->rows[i], 2000);
	}
	result(cut, psprintf("%s: rows that were cut are refused", h->name));
	result(damage, psprintf("%s: damaged rows are read, or refused", h->name));
}

/* Test random histories. */
static void
test_random(History *h, int rounds)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "history",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	bool		ok = true,
				damage = true;

	for (int i = 0; ok && damage && i < rounds; i++)
	{
		random_history(h);
		ok = round_trip(h) >= 0;
		for (int k = 0; k < h->nrows; k++)
			damage &= survives_damage(h->rows[k], 20);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(old);
	if (ok)
		result(true, psprintf("%d random histories", rounds));
	result(damage, "random histories, damaged at random");
}

/* Run the tests in place of the program that this library is loaded into. */
__attribute__((constructor)) static void
run_instead(void)
{
	const char *seed = getenv("SFFLOW_HISTORY");
	History    *h;

	if (seed == NULL)
		return;
	MyProcPid = getpid();
	MemoryContextInit();
	(void) set_stack_base();
	SetDatabaseEncoding(PG_UTF8);
	InitializeTimeouts();
	pg_prng_seed(&pg_global_prng_state, atoi(seed));
	h = MemoryContextAllocHuge(TopMemoryContext, sizeof(History));
	test_history(h, five_tasks, 1, 73);
	test_history(h, every_type, 1, 0);
	test_history(h, extremes, 1, 0);
	test_history(h, many_rows, 11, 0);
	test_history(h, large_document, 3, 0);
	result(is_alone(h), "a large document is alone in its row");
	test_problems();
	test_random(h, 2000);
	printf("1..%d\n", tests);
	fflush(stdout);
	_exit(failures > 0);
}
