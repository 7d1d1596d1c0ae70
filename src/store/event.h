/*
 * event.h
 *		Rows of _sfflow.event.
 */
#ifndef SF_STORE_EVENT_H
#define SF_STORE_EVENT_H

#include "nodes/pg_list.h"
#include "store/row.h"

/* Columns of _sfflow.event; see sql/parts/10-tables.sql. */
#define SF_EVENT_COLUMNS(X) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(int, id, INT4, NOT_NULL) \
	X(int, previous_id, INT4, NOT_NULL) \
	X(int, type, INT2, NOT_NULL)	/* SfEventType */ \
	X(int, state, INT4, NULL_IS(-1))	/* number of a state */ \
	X(int, payload_from, INT4, NULL_IS(0))	/* event that holds the same payload */ \
	X(TimestampTz, at, TIMESTAMPTZ, NOT_NULL) \
	X(int *, iterations, INT4_ARRAY, NULLABLE) \
	X(Jsonb *, payload, JSONB, NULLABLE) \
	X(Jsonb *, extra, JSONB, NULLABLE)

/*
 * One event of a history.  Until it is written, previous_id and payload_from
 * may be provisional (negative), and execution_no is not set.
 */
typedef struct SfEvent
{
	SF_EVENT_COLUMNS(SF_FIELD)
} SfEvent;

/* The event that holds the payload of an event: itself, or an earlier one */
#define SF_PAYLOAD_EVENT(event) \
	((event)->payload_from != 0 ? (event)->payload_from : (event)->id)

typedef void (*SfEventVisitor) (const SfEvent *event, void *arg);

extern void sf_event_write(List *events);

/* previous_id of an event, 0 when there is no such event. */
extern int	sf_event_previous(int64 execution_no, int id);

/*
 * Input with which a state was entered last, in the branch with these Map
 * indexes; NULL when the history does not say.  Follows payload_from.
 */
extern Jsonb *sf_event_last_input(int64 execution_no, int state,
								  const int *iterations, int niterations);

extern void sf_event_scan(int64 execution_no, bool with_payload,
						  SfEventVisitor visitor, void *arg);

#endif							/* SF_STORE_EVENT_H */
