/*
 * emission.c
 *		Rows of events that were emitted, and of who has received them.
 *
 * Only looks, which have the lock of the key alone, write receipts and floors, and say that an event is given.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/timestamp.h"

#include "feature/event/event_by_key.h"

/* Events that are looked through for a wait that begins: a look sees to the others */
#define PROBED		64

/* Rows that a sweep changes at once */
#define SWEPT		1000

/* When the row of an event that is over may go: when its id may be used again, if it was given one */
#define FORGET_AT(expires_at) \
	"GREATEST(" expires_at ", CASE WHEN e.id IS NOT NULL THEN e.emitted_at +" \
	" (SELECT t.remember_ids FROM _sfflow.event_type t WHERE t.event_type_no = e.event_type_no) END)"

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
	*(int64 *) arg = sf_row_number(tuple, desc, 4, 0);
}

/* The number up to which an execution has received all events of a key; 0: there is none. */
int64
sf_emission_floor(int64 execution_no, const SfTopic *topic, const char *key)
{
	static const SfIndex by_key = {"event_floor", "event_floor_pkey"};
	int64		floor = 0;

	(void) sf_rows_read_now(&by_key, 1, read_floor, &floor, SF_INT8(execution_no),
							SF_INT4(topic->event_type_no), SF_TEXT(key));
	return floor;
}

/*
 * Tell whether there may be an event now that an execution has not received, whatever the snapshot of the transaction.
 * Whether it has expired, and what the wait wants of it, is for the look to find out.
 */
bool
sf_emission_may_be_for(int64 execution_no, const SfTopic *topic, const char *key)
{
	static const SfIndex alive = {"emitted_event", "emitted_event_alive"};
	List	   *numbers = NIL;
	int64		floor;

	(void) sf_rows_read_now(&alive, PROBED, sf_row_append_number, &numbers,
							SF_INT4(topic->event_type_no), SF_TEXT(key));
	if (numbers == NIL)
		return false;
	floor = sf_emission_floor(execution_no, topic, key);
	foreach_ptr(const int64, number, numbers)
		if (*number > floor && !sf_emission_is_received(execution_no, *number))
			return true;
	return list_length(numbers) == PROBED;
}

/* Note that executions have received events, a List of SfReceipt. */
void
sf_emission_note_receipts(const SfTopic *topic, const List *receipts)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.event_receipt (execution_no, event_no, depth)"
		" SELECT r.execution_no, r.event_no, CASE WHEN r.depth > 0 THEN r.depth END"
		" FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2), pg_catalog.unnest($3))"
		" r(execution_no, event_no, depth)");
	static SfPlan received = SF_PLAN(
		"UPDATE _sfflow.emitted_event e SET received = true WHERE e.event_no = ANY ($1) AND e.received IS NULL");
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
		sf_store_execute(&plan, sf_query_int8s(executions), sf_query_int8s(numbers), sf_query_int8s(depths));
	if (receipts != NIL && topic->alerts)
		sf_store_execute(&received, sf_query_int8s(numbers));
}

/* An event has started an execution, which no other transaction sees yet: it has received the event. */
void
sf_emission_note_start(int64 execution_no, const SfTopic *topic, const char *key, const char *id)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.event_receipt (execution_no, event_no, by_start)"
		" SELECT $1, e.event_no, true FROM _sfflow.emitted_event e WHERE e.event_type_no = $2 AND e.key = $3 AND e.id = $4"
		" UNION ALL SELECT $1, e.event_no, true FROM _sfflow.emitted_event e WHERE e.event_type_no = $2 AND e.key = $3"
		" AND e.id IS NULL AND e.event_no::pg_catalog.text = pg_catalog.substr($4, 4)"
		" AND pg_catalog.starts_with($4, 'sf-') ON CONFLICT DO NOTHING");

	sf_store_execute(&plan, SF_INT8(execution_no), SF_INT4(topic->event_type_no), SF_TEXT(key), SF_TEXT(id));
}

/* How many rules have led to what an execution has received. */
int
sf_emission_depth_of_received(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT GREATEST((SELECT pg_catalog.max(r.depth) FROM _sfflow.event_receipt r WHERE r.execution_no = $1),"
		" (SELECT pg_catalog.max(f.depth) FROM _sfflow.event_floor f WHERE f.execution_no = $1))");

	return sf_topic_may_be() ? (int) sf_store_number(&plan, 0, SF_INT8(execution_no)) : 0;
}

/*
 * Raise the floor of an execution over what it has received without a gap, as far as no transaction can come with a lower
 * number any more; receipts below it are deleted.
 */
void
sf_emission_raise_floor(int64 execution_no, const SfTopic *topic, const char *key, TimestampTz now)
{
	static SfPlan plan = SF_PLAN(
		"WITH received AS (SELECT e.event_no, e.horizon, r.depth FROM _sfflow.event_receipt r"
		"  JOIN _sfflow.emitted_event e ON e.event_no = r.event_no"
		"  WHERE r.execution_no = $1 AND e.event_type_no = $2 AND e.key = $3),"
		" missing AS MATERIALIZED (SELECT e.event_no FROM _sfflow.emitted_event e"
		"  WHERE e.event_type_no = $2 AND e.key = $3 AND e.alive"
		"  AND (e.event_type_no, e.key, e.event_no) > ($2, $3, $4)"
		"  AND (e.expires_at IS NULL OR e.expires_at > $5)"
		"  AND NOT EXISTS (SELECT FROM _sfflow.event_receipt r WHERE r.execution_no = $1 AND r.event_no = e.event_no)"
		"  ORDER BY e.event_type_no, e.key, e.event_no LIMIT 1),"
		" risen AS (SELECT pg_catalog.max(r.event_no) AS floor, pg_catalog.max(r.depth) AS depth FROM received r"
		"  WHERE r.event_no < ALL (SELECT m.event_no FROM missing m)"
		"  AND r.horizon <= pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())),"
		" gone AS (DELETE FROM _sfflow.event_receipt d USING risen, received r"
		"  WHERE d.execution_no = $1 AND d.event_no = r.event_no AND r.event_no <= risen.floor)"
		" INSERT INTO _sfflow.event_floor AS f (execution_no, event_type_no, key, floor, depth)"
		" SELECT $1, $2, $3, risen.floor, risen.depth FROM risen WHERE risen.floor IS NOT NULL"
		" ON CONFLICT (execution_no, event_type_no, key) DO UPDATE SET floor = excluded.floor,"
		" depth = GREATEST(f.depth, excluded.depth)");

	sf_store_execute(&plan, SF_INT8(execution_no), SF_INT4(topic->event_type_no), SF_TEXT(key),
					 SF_INT8(sf_emission_floor(execution_no, topic, key)), SF_TIME(now));
}

/* Have an execution that begins anew receive again what it has received. */
void
sf_emission_forget_receipts(int64 execution_no)
{
	static SfPlan receipts = SF_PLAN("DELETE FROM _sfflow.event_receipt r WHERE r.execution_no = $1");
	static SfPlan floors = SF_PLAN("DELETE FROM _sfflow.event_floor f WHERE f.execution_no = $1");

	sf_store_execute(&receipts, SF_INT8(execution_no));
	sf_store_execute(&floors, SF_INT8(execution_no));
}

/* --- events --- */

/* List the numbers of the fresh events of a key. */
List *
sf_emission_fresh(const SfTopic *topic, const char *key)
{
	static const SfIndex fresh = {"emitted_event", "emitted_event_fresh"};
	List	   *numbers = NIL;

	(void) sf_rows_read_now(&fresh, PG_INT32_MAX, sf_row_append_number, &numbers,
							SF_INT4(topic->event_type_no), SF_TEXT(key));
	return numbers;
}

/* Append an event to a list. */
static void
read_emission(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **events = arg;
	SfEmission *event = palloc0(sizeof(SfEmission));

	event->event_no = sf_row_number(tuple, desc, 1, 0);
	event->id = sf_row_text(tuple, desc, 2);
	event->for_one = sf_row_number(tuple, desc, 3, 0) != 0;
	event->emitted_at = sf_row_number(tuple, desc, 4, 0);
	event->payload = sf_row_jsonb(tuple, desc, 5);
	event->depth = sf_row_number(tuple, desc, 6, 0);
	*events = lappend(*events, event);
}

/* List the events of a key that may be given now, behind a number, oldest first. */
List *
sf_emission_read(const SfTopic *topic, const char *key, int64 after, TimestampTz now, int limit)
{
	/* the comparison of rows is for the index of these three columns */
	static SfPlan plan = SF_PLAN(
		"SELECT e.event_no, COALESCE(e.id, 'sf-' || e.event_no), e.deliver = 'one', e.emitted_at, e.payload, e.depth"
		" FROM _sfflow.emitted_event e WHERE e.event_type_no = $1 AND e.key = $2 AND e.alive"
		" AND (e.event_type_no, e.key, e.event_no) > ($1, $2, $3)"
		" AND (e.expires_at IS NULL OR e.expires_at > $4)"
		" ORDER BY e.event_type_no, e.key, e.event_no LIMIT $5");

	return sf_store_list(&plan, read_emission,
						 SF_ARGS(SF_INT4(topic->event_type_no), SF_TEXT(key), SF_INT8(after), SF_TIME(now),
								 SF_INT4(limit)));
}

/* Take an event that is for one; false: it has expired or was withdrawn. */
bool
sf_emission_take(int64 event_no, TimestampTz now)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.emitted_event e SET alive = false, fresh = false, expires_at = COALESCE(e.expires_at, $2),"
		" forget_at = " FORGET_AT("$2") " WHERE e.event_no = $1 AND e.alive");

	return sf_store_execute(&plan, SF_INT8(event_no), SF_TIME(now)) > 0;
}

/* Have an event given to no execution any more; false: it is not there, has expired, or was given to the one that it is for. */
bool
sf_emission_withdraw(const SfTopic *topic, const char *key, const char *id, TimestampTz now)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.emitted_event e SET alive = false, fresh = false, expires_at = COALESCE(e.expires_at, $4),"
		" forget_at = " FORGET_AT("$4") " WHERE e.event_type_no = $1 AND e.key = $2 AND e.alive"
		" AND COALESCE(e.id, 'sf-' || e.event_no) = $3 AND (e.expires_at IS NULL OR e.expires_at > $4)");

	return sf_store_execute(&plan, SF_INT4(topic->event_type_no), SF_TEXT(key), SF_TEXT(id), SF_TIME(now)) > 0;
}

/* A look has seen events: their time to live begins, and (done) it has given them to all that waited. */
void
sf_emission_looked_at(const List *numbers, TimestampTz now, bool done)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.emitted_event e SET fresh = NOT $3, expires_at = COALESCE(e.expires_at, $2 + e.ttl),"
		" forget_at = COALESCE(e.forget_at, " FORGET_AT("$2 + e.ttl") ")"
		" WHERE e.event_no = ANY ($1) AND e.fresh AND ($3 OR e.expires_at IS NULL)");

	if (numbers != NIL)
		sf_store_execute(&plan, sf_query_int8s(numbers), SF_TIME(now), SF_BOOL(done));
}

/* Have events that have expired given no more, and delete those whose ids may be used again; true: there are more. */
bool
sf_emission_sweep(TimestampTz now)
{
	static SfPlan expire = SF_PLAN(
		"UPDATE _sfflow.emitted_event e SET alive = false, unreceived = o.unreceived, forget_at ="
		" CASE WHEN o.unreceived THEN GREATEST(e.forget_at, e.expires_at + o.remember_ids) ELSE e.forget_at END"
		" FROM (SELECT x.event_no, t.remember_ids,"
		"  CASE WHEN t.alert_unreceived AND x.received IS NULL AND NOT EXISTS"
		"   (SELECT FROM _sfflow.event_receipt r WHERE r.event_no = x.event_no AND r.by_start) THEN true END AS unreceived"
		"  FROM _sfflow.emitted_event x"
		"  JOIN _sfflow.event_type t ON t.event_type_no = x.event_type_no"
		"  WHERE x.alive AND NOT x.fresh AND x.expires_at <= $1 ORDER BY x.expires_at LIMIT $2"
		"  FOR UPDATE OF x SKIP LOCKED) o"
		" WHERE e.event_no = o.event_no");
	static SfPlan forget = SF_PLAN(
		"DELETE FROM _sfflow.emitted_event e USING (SELECT x.event_no FROM _sfflow.emitted_event x"
		"  WHERE NOT x.alive AND x.forget_at <= $1 ORDER BY x.forget_at LIMIT $2 FOR UPDATE SKIP LOCKED) o"
		" WHERE e.event_no = o.event_no");
	bool		more = sf_store_execute(&expire, SF_TIME(now), SF_INT4(SWEPT)) == SWEPT;

	return sf_store_execute(&forget, SF_TIME(now), SF_INT4(SWEPT)) == SWEPT || more;
}

/* Acknowledge that no execution has received events of a type that have ended; returns how many there were. */
int64
sf_emission_acknowledge(const SfTopic *topic)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.emitted_event e SET unreceived = false WHERE e.event_type_no = $1 AND e.unreceived");

	return sf_store_execute(&plan, SF_INT4(topic->event_type_no));
}

/* The rows are those of another server, whose numbers of transactions say nothing here: all of these have ended. */
void
sf_emission_adopt(void)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.emitted_event e SET horizon = pg_catalog.pg_current_xact_id() WHERE e.alive");

	sf_store_execute(&plan);
}
