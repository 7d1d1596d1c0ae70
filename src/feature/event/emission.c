/*
 * emission.c
 *		Rows of events that were emitted, and of who has received them.
 *
 * Only sweeps, which have the lock of the key alone, write receipts and floors, and say that an event is given.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/timestamp.h"
#include "utils/xid8.h"

#include "base/error/errors.h"
#include "base/name/name.h"
#include "copy/instance.h"
#include "db/direct.h"
#include "feature/event/event_by_key.h"
#include "feature/rule/watcher.h"

/* Events that are looked through for a wait that begins: a sweep sees to the others */
#define PROBED		64

/* Events that are looked through at once for the first one that an execution has not received */
#define SOUGHT		64

/* Columns of _sfflow.event_receipt */
#define RECEIPT_COLUMNS	4

/* Rows that a sweep changes at once */
#define SWEPT		1000

/* When the row of an event that is over may go: when its id may be used again, if it was given one */
#define FORGET_AT(expires_at) \
	"GREATEST(" expires_at ", CASE WHEN e.id IS NOT NULL THEN e.emitted_at +" \
	" (SELECT t.remember_ids FROM _sfflow.event_type t WHERE t.event_type_no = e.event_type_no) END)"

/* Events that may be given, in the order in which they were emitted */
static const SfIndex live = {"emission", "emission_live"};

/* --- who receives an event --- */

#define DELIVER_WORD(sym, word) word,
static const char *const deliver_words[] = {SF_RECEIVERS_LIST(DELIVER_WORD)};

/* Read a column that says who receives an event. */
SfReceivers
sf_receivers_read(HeapTuple tuple, TupleDesc desc, int column)
{
	return sf_row_word(tuple, desc, column, deliver_words, lengthof(deliver_words));
}

/* Read an argument that says who receives an event. */
SfReceivers
sf_receivers_parse(const char *text)
{
	return (SfReceivers) sf_argument_word("deliver", text, deliver_words, lengthof(deliver_words));
}

/* The word for a query that writes who receives an event, or looks for it. */
SfArg
sf_receivers_arg(SfReceivers deliver)
{
	return SF_TEXT(deliver_words[deliver]);
}

/* --- receipts --- */

/* Has an execution a receipt of an event? */
bool
sf_emission_is_received(int64 execution_no, int64 event_no)
{
	static const SfIndex by_key = {"event_receipt", "event_receipt_pkey"};

	return sf_rows_read_now(&by_key, 1, NULL, NULL, SF_INT8(execution_no), SF_INT8(event_no)) > 0;
}

/* Read a floor. */
static void
read_floor(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_event_type_no, COL_key, COL_floor};
	*(int64 *) arg = sf_row_number(tuple, desc, COL_floor, 0);
}

/* The number up to which an execution has received all events of a key on this node; 0: there is none. */
int64
sf_emission_floor(int64 execution_no, const SfEventType *type, const char *key)
{
	static const SfIndex by_key = {"event_floor", "event_floor_pkey"};
	int64		floor = 0;

	(void) sf_rows_read_now(&by_key, 1, read_floor, &floor, SF_INT8(execution_no),
							SF_INT4(type->event_type_no), SF_TEXT(key));
	return floor;
}

/*
 * Tell whether there may be an event now that an execution has not received, whatever the snapshot of the transaction.
 * Whether it has expired, and what the wait wants of it, is for the sweep to find out.
 */
bool
sf_emission_may_be_for(int64 execution_no, const SfEventType *type, const char *key)
{
	List	   *numbers = NIL;

	(void) sf_rows_read_behind(&live, PROBED, sf_row_append_number, &numbers,
							   SF_INT4(type->event_type_no), SF_TEXT(key),
							   SF_INT8(sf_emission_floor(execution_no, type, key)));
	foreach_ptr(const int64, number, numbers)
		if (!sf_emission_is_received(execution_no, *number))
			return true;
	return list_length(numbers) == PROBED;
}

/* Note that executions have received events, a List of SfReceipt. */
void
sf_emission_note_receipts(const SfEventType *type, const List *receipts)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.event_receipt (execution_no, event_no, depth)"
		" SELECT r.execution_no, r.event_no, r.depth"
		" FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2), pg_catalog.unnest($3))"
		" r(execution_no, event_no, depth)");
	static SfPlan received = SF_PLAN(
		"UPDATE _sfflow.emission e SET receipt_noted = true"
		" WHERE e.event_no = ANY ($1) AND NOT e.receipt_noted");
	List	   *executions = NIL;
	List	   *numbers = NIL;
	List	   *depths = NIL;

	foreach_ptr(SfReceipt, receipt, receipts)
	{
		int64	   *depth = palloc(sizeof(int64));

		*depth = receipt->depth;
		executions = lappend(executions, &receipt->execution_no);
		numbers = lappend(numbers, &receipt->event_no);
		depths = lappend(depths, depth);
	}
	if (receipts != NIL)
		sf_db_execute(&plan, sf_query_int8s(executions), sf_query_int8s(numbers), sf_query_int8s(depths));
	if (receipts != NIL && type->alerts)
		sf_db_execute(&received, sf_query_int8s(numbers));
}

/* An event has started an execution, which no other transaction sees yet: it has received the event. */
void
sf_emission_note_start(int64 execution_no, const SfEventType *type, const char *key, const char *id)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.event_receipt (execution_no, event_no, by_start)"
		" SELECT $1, e.event_no, true FROM _sfflow.emission e WHERE e.event_type_no = $2 AND e.key = $3 AND e.id = $4"
		" UNION ALL SELECT $1, e.event_no, true FROM _sfflow.emission e WHERE e.event_type_no = $2 AND e.key = $3"
		" AND e.id IS NULL AND e.event_no::pg_catalog.text = pg_catalog.substr($4, 4)"
		" AND pg_catalog.starts_with($4, 'sf-') ON CONFLICT DO NOTHING");

	sf_db_execute(&plan, SF_INT8(execution_no), SF_INT4(type->event_type_no), SF_TEXT(key), SF_TEXT(id));
}

/* How many rules have led to what an execution has received. */
int
sf_emission_depth_of_received(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT GREATEST((SELECT pg_catalog.max(r.depth) FROM _sfflow.event_receipt r WHERE r.execution_no = $1),"
		" (SELECT pg_catalog.max(f.depth) FROM _sfflow.event_floor f WHERE f.execution_no = $1),"
		" (SELECT pg_catalog.max(n.depth) FROM _sfflow.event_floor_of_node n WHERE n.execution_no = $1))");

	return sf_event_type_may_be() ? (int) sf_db_number(&plan, 0, SF_INT8(execution_no)) : 0;
}

/* The first event of a key, behind a floor, that an execution may still receive; PG_INT64_MAX: there is none. */
static int64
first_missing(int64 execution_no, const SfEventType *type, const char *key, int64 floor, TimestampTz now)
{
	bool		last = false;

	while (!last)
	{
		List	   *events = sf_emission_read(type, key, &floor, now, SOUGHT, &last);

		CHECK_FOR_INTERRUPTS();
		foreach_ptr(const SfEmission, event, events)
			if (!sf_emission_is_received(execution_no, event->event_no))
				return event->event_no;
	}
	return PG_INT64_MAX;
}

/* A receipt, with what its event says */
typedef struct Received
{
	ItemPointerData tid;
	int64		event_no;
	int			depth;
	int			event_type_no;
	char	   *key;
	int64		horizon;
} Received;

/* Append a receipt to a list. */
static void
read_receipt(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_event_no, COL_depth};
	List	  **receipts = arg;
	Received   *received = palloc0(sizeof(Received));

	received->tid = tuple->t_self;
	received->event_no = sf_row_number(tuple, desc, COL_event_no, 0);
	received->depth = (int) sf_row_number(tuple, desc, COL_depth, 0);
	*receipts = lappend(*receipts, received);
}

/* Columns of emission */
enum {COL_event_no = 1, COL_event_type_no, COL_key, COL_id, COL_deliver, COL_receipt_noted, COL_horizon,
	COL_ttl, COL_expires_at, COL_forget_at, COL_depth, COL_status, COL_alert, COL_emitted_at, COL_payload};

/* Read what the event of a receipt says. */
static void
read_event_of(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Received   *received = arg;

	received->event_type_no = (int) sf_row_number(tuple, desc, COL_event_type_no, 0);
	received->key = sf_row_text(tuple, desc, COL_key);
	received->horizon = sf_row_number(tuple, desc, COL_horizon, 0);
}

/* List what an execution has received of a key, before an event. */
static List *
list_received(int64 execution_no, const SfEventType *type, const char *key, int64 before)
{
	static const SfIndex by_key = {"event_receipt", "event_receipt_pkey"};
	static const SfIndex by_number = {"emission", "emission_pkey"};
	List	   *receipts = NIL;
	List	   *found = NIL;

	(void) sf_rows_read_now(&by_key, PG_INT32_MAX, read_receipt, &receipts, SF_INT8(execution_no));
	foreach_ptr(Received, r, receipts)
		if (r->event_no < before &&
			sf_rows_read_now(&by_number, 1, read_event_of, r, SF_INT8(r->event_no)) > 0 &&
			r->event_type_no == type->event_type_no && strcmp(r->key, key) == 0)
			found = lappend(found, r);
	return found;
}

/*
 * Raise the floor of an execution, whose branch is locked, over what it has received without a gap, as far as no
 * transaction can come with a lower number any more; receipts below it are deleted.  All rows are found by their keys:
 * a query would read tables that statistics call small.
 */
void
sf_emission_raise_floor(int64 execution_no, const SfEventType *type, const char *key, TimestampTz now)
{
	static SfPlan horizon = SF_PLAN("SELECT pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())");
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.event_floor AS f (execution_no, event_type_no, key, floor, depth)"
		" VALUES ($1, $2, $3, $4, $5)"
		" ON CONFLICT (execution_no, event_type_no, key) DO UPDATE SET floor = excluded.floor,"
		" depth = GREATEST(f.depth, excluded.depth)");
	/* before the events are looked through: a transaction that ends in between has its event seen there */
	int64		oldest_in_progress = sf_db_number(&horizon, 0);
	int64		missing = first_missing(execution_no, type, key, sf_emission_floor(execution_no, type, key), now);
	List	   *received = list_received(execution_no, type, key, missing);
	int64		floor = 0;
	int			depth = 0;
	SfTable    *table;

	foreach_ptr(const Received, r, received)
	{
		if (r->horizon > oldest_in_progress)
			continue;
		floor = Max(floor, r->event_no);
		depth = Max(depth, r->depth);
	}
	if (floor == 0)
		return;
	table = sf_table_open("event_receipt", RECEIPT_COLUMNS);
	foreach_ptr(Received, r, received)
		if (r->event_no <= floor)
			sf_table_delete(table, &r->tid);
	sf_table_close(table);
	CommandCounterIncrement();
	sf_db_execute(&plan, SF_INT8(execution_no), SF_INT4(type->event_type_no), SF_TEXT(key), SF_INT8(floor),
				  SF_INT4(depth));
}

/*
 * Executions have come from another node: their floors are those of that node's events, and say nothing of the events
 * here; those that they had when they left this node are in force again.
 */
void
sf_emission_arrive(SfArg numbers, int from_node)
{
	static SfPlan there = SF_PLAN(
		"WITH f AS (DELETE FROM _sfflow.event_floor x WHERE x.execution_no = ANY ($1) RETURNING x.*)"
		" INSERT INTO _sfflow.event_floor_of_node (execution_no, event_type_no, key, node, floor, depth)"
		" SELECT f.execution_no, f.event_type_no, f.key, $2, f.floor, f.depth FROM f");
	static SfPlan here = SF_PLAN(
		"WITH f AS (DELETE FROM _sfflow.event_floor_of_node x USING _sfflow.instance i"
		"  WHERE x.execution_no = ANY ($1) AND x.node = i.node RETURNING x.*)"
		" INSERT INTO _sfflow.event_floor (execution_no, event_type_no, key, floor, depth)"
		" SELECT f.execution_no, f.event_type_no, f.key, f.floor, f.depth FROM f");

	sf_db_execute(&there, numbers, SF_INT4(from_node));
	sf_db_execute(&here, numbers);
}

/* Are there events of this node, or floors over such, whose numbers are above those that a node draws? */
bool
sf_emission_any_above(int node)
{
	static SfPlan plan = SF_PLAN(
		"SELECT 1 WHERE EXISTS (SELECT FROM _sfflow.emission e WHERE e.event_no >= $1)"
		" OR EXISTS (SELECT FROM _sfflow.event_floor f WHERE f.floor >= $1)");

	return sf_db_number(&plan, 0, SF_INT8(SF_NODE_NUMBERS(node + 1))) == 1;
}

/* Have an execution that begins anew receive again what it has received. */
void
sf_emission_delete_receipts(int64 execution_no)
{
	static SfPlan receipts = SF_PLAN("DELETE FROM _sfflow.event_receipt r WHERE r.execution_no = $1");
	static SfPlan floors = SF_PLAN("DELETE FROM _sfflow.event_floor f WHERE f.execution_no = $1");
	static SfPlan floors_of_nodes = SF_PLAN("DELETE FROM _sfflow.event_floor_of_node f WHERE f.execution_no = $1");

	sf_db_execute(&receipts, SF_INT8(execution_no));
	sf_db_execute(&floors, SF_INT8(execution_no));
	sf_db_execute(&floors_of_nodes, SF_INT8(execution_no));
}

/* --- events --- */

/* Those of them that no sweep has given to all that wait, in the same order */
static const SfIndex fresh = {"emission", "emission_fresh"};

/* List the numbers of the fresh events of a key behind one, oldest first, at most max_rows. */
List *
sf_emission_fresh(const SfEventType *type, const char *key, int64 behind, int max_rows)
{
	List	   *numbers = NIL;

	(void) sf_rows_read_behind(&fresh, max_rows, sf_row_append_number, &numbers,
							   SF_INT4(type->event_type_no), SF_TEXT(key), SF_INT8(behind));
	return numbers;
}

/* Fresh events that are looked through for a new one */
typedef struct Newness
{
	int64		behind;			/* the number of the last one that was read */
	bool		any;			/* one of them is new */
} Newness;

/* Read whether a fresh event is new. */
static void
read_newness(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Newness    *newness = arg;

	newness->behind = sf_row_number(tuple, desc, COL_event_no, 0);
	newness->any |= sf_row_number(tuple, desc, COL_status, SF_EMISSION_NEW) == SF_EMISSION_NEW;
}

/* Are there events of a key that no sweep has come to? */
bool
sf_emission_any_new(const SfEventType *type, const char *key)
{
	Newness		newness = {0};

	while (!newness.any &&
		   sf_rows_read_behind(&fresh, SOUGHT, read_newness, &newness, SF_INT4(type->event_type_no), SF_TEXT(key),
							   SF_INT8(newness.behind)) == SOUGHT)
		CHECK_FOR_INTERRUPTS();
	return newness.any;
}

/* Events that are being read */
typedef struct Reading
{
	TimestampTz now;
	int64		behind;			/* the number of the last one that was read */
	List	   *events;			/* SfEmission: those that have not expired */
} Reading;

/* Append an event to a list, unless it has expired. */
static void
read_emission(HeapTuple tuple, TupleDesc desc, void *arg)
{
	Reading    *reading = arg;
	SfEmission *event;

	reading->behind = sf_row_number(tuple, desc, COL_event_no, 0);
	if (sf_row_number(tuple, desc, COL_expires_at, DT_NOEND) <= reading->now)
		return;
	event = palloc0(sizeof(SfEmission));
	event->event_no = reading->behind;
	event->id = sf_row_text(tuple, desc, COL_id);
	if (event->id == NULL)
		event->id = psprintf("sf-" INT64_FORMAT, event->event_no);
	event->for_one = sf_receivers_read(tuple, desc, COL_deliver) == SF_RECEIVERS_ONE;
	event->depth = sf_row_number(tuple, desc, COL_depth, 0);
	event->emitted_at = sf_row_number(tuple, desc, COL_emitted_at, 0);
	event->payload = sf_row_jsonb(tuple, desc, COL_payload);
	reading->events = lappend(reading->events, event);
}

/*
 * List the events of a key that may be given now, oldest first, of at most max_rows behind a number; *behind becomes
 * the number of the last of these, and *last tells that there are no more.
 */
List *
sf_emission_read(const SfEventType *type, const char *key, int64 *behind, TimestampTz now, int max_rows, bool *last)
{
	Reading		reading = {now, *behind, NIL};

	*last = sf_rows_read_behind(&live, max_rows, read_emission, &reading, SF_INT4(type->event_type_no), SF_TEXT(key),
								SF_INT8(*behind)) < max_rows;
	*behind = reading.behind;
	return reading.events;
}

/* The same of the fresh events of a key. */
List *
sf_emission_read_fresh(const SfEventType *type, const char *key, int64 *behind, TimestampTz now, int max_rows)
{
	Reading		reading = {now, *behind, NIL};

	(void) sf_rows_read_behind(&fresh, max_rows, read_emission, &reading, SF_INT4(type->event_type_no), SF_TEXT(key),
							   SF_INT8(*behind));
	*behind = reading.behind;
	return reading.events;
}

/* Take an event that is for one; false: it has expired or was withdrawn. */
bool
sf_emission_take(int64 event_no, TimestampTz now)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.emission e SET status = $3, expires_at = COALESCE(e.expires_at, $2),"
		" forget_at = " FORGET_AT("$2") " WHERE e.event_no = $1 AND e.status = ANY ($4)");

	return sf_db_execute(&plan, SF_INT8(event_no), SF_TIME(now), SF_INT2(SF_EMISSION_TAKEN),
						 SF_INT2S(SF_EMISSIONS_LIVE)) > 0;
}

/*
 * Have an event given to no execution any more; false: it is not there, has expired, or was given to the one that
 * it is for.
 */
bool
sf_emission_withdraw(const SfEventType *type, const char *key, const char *id, TimestampTz now)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.emission e SET status = $5, expires_at = COALESCE(e.expires_at, $4),"
		" forget_at = " FORGET_AT("$4") " FROM (SELECT x.event_no FROM _sfflow.live_event x"
		"  WHERE x.event_type_no = $1 AND x.key = $2 AND COALESCE(x.id, 'sf-' || x.event_no) = $3"
		"  AND (x.expires_at IS NULL OR x.expires_at > $4) FOR UPDATE) o"
		" WHERE e.event_no = o.event_no");

	return sf_db_execute(&plan, SF_INT4(type->event_type_no), SF_TEXT(key), SF_TEXT(id), SF_TIME(now),
						 SF_INT2(SF_EMISSION_WITHDRAWN)) > 0;
}

/* A sweep has seen events: their time to live begins, and (done) it has given them to all that waited. */
void
sf_emission_note_swept(const List *numbers, TimestampTz now, bool done)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.emission e SET status = $3, expires_at = COALESCE(e.expires_at, $2 + e.ttl),"
		" forget_at = COALESCE(e.forget_at, " FORGET_AT("$2 + e.ttl") ")"
		" WHERE e.event_no = ANY ($1) AND e.status = ANY ($4)");

	if (numbers != NIL)
		sf_db_execute(&plan, sf_query_int8s(numbers), SF_TIME(now), SF_INT2(done ? SF_EMISSION_SWEPT : SF_EMISSION_SEEN),
					  done ? SF_INT2S(SF_EMISSIONS_FRESH) : SF_INT2S(SF_EMISSION_NEW));
}

/* Have events that have expired given no more, and delete those whose ids may be used again; true: there are more. */
bool
sf_emission_delete_expired(TimestampTz now)
{
	static SfPlan expire = SF_PLAN(
		"UPDATE _sfflow.emission e SET status = $3, alert = CASE WHEN o.unreceived THEN $4 ELSE e.alert END,"
		" forget_at = CASE WHEN o.unreceived THEN GREATEST(e.forget_at, e.expires_at + o.remember_ids)"
		"  ELSE e.forget_at END"
		" FROM (SELECT x.event_no, t.remember_ids, t.alert_unreceived AND NOT x.receipt_noted AND NOT EXISTS"
		"   (SELECT FROM _sfflow.event_receipt r WHERE r.event_no = x.event_no AND r.by_start) AS unreceived"
		"  FROM _sfflow.swept_event x"
		"  JOIN _sfflow.event_type t ON t.event_type_no = x.event_type_no"
		"  WHERE x.expires_at <= $1 ORDER BY x.expires_at LIMIT $2 FOR UPDATE OF x SKIP LOCKED) o"
		" WHERE e.event_no = o.event_no");
	static SfPlan forget = SF_PLAN(
		"DELETE FROM _sfflow.emission e USING (SELECT x.event_no FROM _sfflow.ended_event x"
		"  WHERE x.forget_at <= $1 ORDER BY x.forget_at LIMIT $2 FOR UPDATE SKIP LOCKED) o"
		" WHERE e.event_no = o.event_no");
	bool		more = sf_db_execute(&expire, SF_TIME(now), SF_INT4(SWEPT), SF_INT2(SF_EMISSION_EXPIRED),
									 SF_INT2(SF_EVENT_ALERT_OPEN)) == SWEPT;

	return sf_db_execute(&forget, SF_TIME(now), SF_INT4(SWEPT)) == SWEPT || more;
}

/* Acknowledge that no execution has received events of a type that have ended; returns how many there were. */
int64
sf_emission_acknowledge(const SfEventType *type)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.emission e SET alert = $2 FROM (SELECT x.event_no FROM _sfflow.unreceived_event x"
		"  WHERE x.event_type_no = $1 FOR UPDATE) o WHERE e.event_no = o.event_no");

	return sf_db_execute(&plan, SF_INT4(type->event_type_no), SF_INT2(SF_EVENT_ALERT_ACKNOWLEDGED));
}

/* The rows are those of another server, whose numbers of transactions say nothing here: all of these have ended. */
void
sf_emission_adopt(void)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.emission e SET horizon = pg_catalog.pg_current_xact_id()"
		" WHERE e.status = ANY ($1)");

	sf_db_execute(&plan, SF_INT2S(SF_EMISSIONS_LIVE));
}

/*
 * Insert an event, and return its number; 0: there is one with this id.  The transaction has its number before it
 * draws that of the event, and the horizon is read after that (event_by_key.h).
 */
int64
sf_emission_insert(const SfEventType *type, const char *key, const char *id, SfReceivers deliver, const Interval *ttl,
				   const Jsonb *payload)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.emission (event_no, event_type_no, key, id, deliver, status, horizon, ttl, depth,"
		" emitted_at, payload)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, pg_catalog.clock_timestamp(), $10)"
		" ON CONFLICT DO NOTHING");
	int64		event_no;

	(void) GetTopTransactionId();
	event_no = sf_sequence_next("event_no");
	if (sf_db_execute(&plan, SF_INT8(event_no), SF_INT4(type->event_type_no), SF_TEXT(key), SF_TEXT(id),
					  sf_receivers_arg(deliver), SF_INT2(SF_EMISSION_NEW),
					  sf_query_arg(XID8OID, FullTransactionIdGetDatum(ReadNextFullTransactionId()), false),
					  sf_query_arg(INTERVALOID, IntervalPGetDatum(ttl), false),
					  SF_INT4(sf_watcher_depth()), SF_JSONB(payload)) == 0)
		return 0;
	return event_no;
}

/* Delete the events of a type, with who has received them: all that there are now, whatever the snapshot. */
void
sf_emission_delete_type(int event_type_no)
{
	static SfPlan floors = SF_PLAN("DELETE FROM _sfflow.event_floor f WHERE f.event_type_no = $1");
	static SfPlan floors_of_nodes = SF_PLAN(
		"DELETE FROM _sfflow.event_floor_of_node f WHERE f.event_type_no = $1");
	static SfPlan receipts = SF_PLAN(
		"DELETE FROM _sfflow.event_receipt r USING _sfflow.emission e"
		" WHERE e.event_type_no = $1 AND r.event_no = e.event_no");
	static SfPlan events = SF_PLAN("DELETE FROM _sfflow.emission e WHERE e.event_type_no = $1");

	sf_db_execute_now(&floors, SF_INT4(event_type_no));
	sf_db_execute_now(&floors_of_nodes, SF_INT4(event_type_no));
	sf_db_execute_now(&receipts, SF_INT4(event_type_no));
	sf_db_execute_now(&events, SF_INT4(event_type_no));
}
