/*
 * event.h
 *		Rows of _sfflow.event.
 */
#ifndef SF_STORE_EVENT_H
#define SF_STORE_EVENT_H

#include "json/json.h"
#include "nodes/pg_list.h"

/*
 * One event of a history.  Until it is written, previous_id and payload_from
 * may be provisional (negative).
 */
typedef struct SfEvent
{
	int64		execution_no;	/* set before it is written */
	int			id;
	int			previous_id;
	int			type;			/* SfEventType */
	int			state;			/* state number, -1: none */
	int			payload_from;	/* event that holds the same payload, 0: none */
	TimestampTz at;
	int			niterations;
	int		   *iterations;
	Jsonb	   *payload;
	Jsonb	   *extra;
} SfEvent;

/* Append events, whose executions and ids are assigned, to histories. */
extern void sf_event_write(List *events);

/* previous_id of an event, 0 when there is no such event. */
extern int	sf_event_previous(int64 execution_no, int id);

/*
 * Input with which a state was entered last, in the branch with these Map
 * indexes; NULL when the history does not say.  Follows payload_from.
 */
extern Jsonb *sf_event_last_input(int64 execution_no, int state,
								  const int *iterations, int niterations);

#endif							/* SF_STORE_EVENT_H */
