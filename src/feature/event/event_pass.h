/*
 * event_pass.h
 *		Passes over keys of events, which several sweeps of a process may share (event_by_key.h).
 */
#ifndef SF_FEATURE_EVENT_PASS_H
#define SF_FEATURE_EVENT_PASS_H

#include "base/time/clock.h"
#include "feature/event/event_by_key.h"
#include "json/json.h"

/* A wait, as it was read */
typedef struct SfEventWait
{
	SfBranchKey key;
	int			generation;
	bool		ripe;
	TimestampTz since;
	int			max_events;
	bool		gives_array;
	Jsonb	   *filter;
} SfEventWait;

/*
 * A pass over a key: fresh events are matched with all waits, and ripe waits with all events.  Other pairs have been
 * matched before, or the events were not there when the wait began.  Where the time of a sweep is over, a later one
 * of this process goes on.
 */
typedef struct SfEventPass
{
	SfEventKey	event_key;
	Oid			owner;			/* of the type, when the pass began */
	MemoryContext context;		/* has the pass and what it points to */
	TransactionId xid;			/* the last one that has written what it has come to: it counts if that has committed */
	SfTick		at;				/* when that was */

	int64		fresh_from;		/* fresh events are those behind this number, */
	List	   *fresh;			/* ... their numbers, in order */
	bool		more_fresh;		/* there are more of them, for another pass */

	bool		is_begun;		/* a wait was gone through: */
	SfEventWait last;			/* the last one, but for its filter */
	bool		is_within;		/* the next wait was matched with some events: */
	SfEventWait within;			/* it, */
	int64		looked_to;		/* ... and the last one of them */
	bool		skipped;		/* a wait was passed over */
	bool		told;			/* the log says that a filter has taken too many steps */
	bool		is_old;			/* an earlier sweep has begun it, or the one before it */
} SfEventPass;

extern SfEventPass *sf_event_pass_take(const SfEventType *type, const char *key);
extern void sf_event_pass_forget(SfEventPass *pass);
extern void sf_event_pass_note_fresh(SfEventPass *pass, const List *numbers);

#endif							/* SF_FEATURE_EVENT_PASS_H */
