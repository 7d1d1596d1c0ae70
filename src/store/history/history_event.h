/*
 * history_event.h
 *		Events, and the rows of _sfflow.history that hold them.
 */
#ifndef SF_STORE_HISTORY_EVENT_H
#define SF_STORE_HISTORY_EVENT_H

#include "nodes/pg_list.h"

#include "asl/program.h"
#include "json/json.h"
#include "store/execution/execution.h"
#include "store/history/history_event_types.h"

/* Columns of _sfflow.history; see sql/parts/store/history.sql. */
#define SF_HISTORY_COLUMNS(X) \
	X(int64, execution_no, INT8, NOT_NULL) \
	X(TimestampTz, at, TIMESTAMPTZ, NOT_NULL) \
	X(int, first_id, INT4, NOT_NULL) \
	X(struct varlena *, body, BYTES, NOT_NULL)	/* history_codec.h */ \
	X(struct varlena *, documents, JSONB_ARRAY, NULLABLE)

/* A row: the events of a slice */
typedef struct SfHistoryRow
{
	SF_HISTORY_COLUMNS(SF_FIELD)
} SfHistoryRow;

/*
 * What stands for an event is its id, and those of a history begin with 1; or, until it is written, a provisional id:
 * those of a slice begin with -1 and go down, in the order in which the events happened.  SF_NO_EVENT stands where
 * there is none.  SF_CHAIN stands in the arguments of a step alone, in place of the event that another one follows:
 * the branch's last one.
 */
#define SF_NO_EVENT	0
#define SF_CHAIN	PG_INT32_MIN

/* Is an event one that waits to be written? */
static inline bool
sf_event_is_provisional(int id)
{
	Assert(id != SF_CHAIN);
	return id < SF_NO_EVENT;
}

/* The provisional id of an event before which so many others wait to be written. */
static inline int
sf_event_provisional_id(int nevents)
{
	return -nevents - 1;
}

/* The id of an event in the history, of which base is the last one that is written. */
static inline int
sf_event_final_id(int id, int base)
{
	return sf_event_is_provisional(id) ? base - id : id;
}

/* The later one of two events; those that wait to be written are later than all others. */
static inline int
sf_event_later(int a, int b)
{
	return sf_event_is_provisional(a) || sf_event_is_provisional(b) ? Min(a, b) : Max(a, b);
}

/*
 * One event of a history.  Until it is written, id, previous_id and payload_from
 * may be provisional, and execution_no and version are not set.
 */
typedef struct SfHistoryEvent
{
	int64		execution_no;
	int			id;
	int			previous_id;
	int			version;		/* of the machine, whose program numbers the states */
	SfHistoryEventType type;
	int			state;			/* number of a state, or SF_NO_STATE */
	int			payload_from;	/* event that has the same payload, or SF_NO_EVENT */
	TimestampTz at;
	const int  *iterations;		/* Map indexes, outermost first */
	int			niterations;
	Jsonb	   *payload;
	Jsonb	   *extra;			/* what else the details hold */
} SfHistoryEvent;

/* The event with which the payload of an event is stored: itself, or an earlier one */
#define SF_PAYLOAD_EVENT(event) \
	((event)->payload_from != SF_NO_EVENT ? (event)->payload_from : (event)->id)

typedef void (*SfHistoryEventVisitor) (const SfHistoryEvent *event, void *arg);
typedef bool (*SfHistoryEventFilter) (const SfHistoryEvent *event, void *arg);

/* Which documents the events of a scan have */
typedef enum SfHistoryDocuments
{
	SF_HISTORY_DOCUMENTS_FEW,	/* extra of failures, timeouts, marks, migrations and MapStateStarted */
	SF_HISTORY_DOCUMENTS_ALL
} SfHistoryDocuments;

extern void sf_history_event_write(List *events);
extern int	sf_history_event_previous(int64 execution_no, int id);
extern Jsonb *sf_history_event_last_input(const SfExecution *execution, const SfState *state,
										  const int *iterations, int niterations);
extern Jsonb *sf_history_event_payload(int64 execution_no, int id);
extern void sf_history_event_scan(int64 execution_no, SfHistoryDocuments documents,
								  SfHistoryEventVisitor visitor, void *arg);
extern void sf_history_event_scan_some(int64 execution_no, SfHistoryEventFilter filter,
									   SfHistoryEventVisitor visitor, void *arg);

/* --- renames.c: names that states get when an execution is migrated to another version --- */

extern Jsonb *sf_renames_of_migration(const Jsonb *details);
extern const char *sf_renames_after(const Jsonb *renames, const char *name);
extern List *sf_renames_before(const Jsonb *renames, const List *names);

#endif							/* SF_STORE_HISTORY_EVENT_H */
