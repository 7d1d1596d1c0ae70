/*
 * event_by_key.h
 *		Events by key: their types, those that were emitted (emissions), and the waits for them.
 *
 * An emission and a wait meet by an event type and a key, in whichever order they commit:
 *
 *	1. Emit: the transaction has its number before it draws that of the event, and inserts the row, "fresh".  It takes
 *	   no lock of the key and reads no wait.
 *	2. Wait: where the slice writes its rows, it locks the key shared until its commit, sees by the latest snapshot
 *	   whether an event is alive that the execution has not received, and inserts the wait, "ripe" if so.  It takes no
 *	   event itself.
 *	3. Sweep, a transaction of its own without user code: lock the key alone; read which events are fresh; then lock the
 *	   branches that wait and the rows of their waits, passing over locked ones (a stop deletes rows of waits whose
 *	   branches it passes over), and give each its oldest event.  Then the events that were read
 *	   first are fresh no more, unless a wait was passed over, and waits that got nothing are ripe no more.  So a wait
 *	   that is not ripe has been matched with all events that are not fresh: a pass over a key matches it with fresh
 *	   ones, and a ripe one with all.  A pass may take several sweeps, each of which sees what was fresh when the
 *	   pass began; what comes later is fresh, or ripe, for the next one, which follows at once.
 *	4. Fresh and ripe are in the tables: a wake-up may get lost, the poll finds the rows.
 *
 * A sweep has the lock alone.  So each wait of the key has either committed, and the sweep sees it; or it takes the
 * lock after the sweep, and sees the event.  A sweep waits for no row, so there is no circle.
 *
 * An execution receives an event at most once: a row of event_receipt, or the floor of its event type and key, at or
 * above the number of the event.  A floor rises to an event only when all transactions have ended that may have
 * drawn a lower number.  One that was moved keeps the floors of each other node where it has been, in
 * event_floor_of_node, for it may come back.
 */
#ifndef SF_FEATURE_EVENT_BY_KEY_H
#define SF_FEATURE_EVENT_BY_KEY_H

#include "fmgr.h"

#include "base/time/clock.h"
#include "db/keyed_cache.h"
#include "json/json.h"
#include "run/apply/apply.h"
#include "store/feature.h"

/* The kind of the alert that no execution has received events of a type */
#define SF_ALERT_KIND_UNRECEIVED_EVENT	"unreceived_event"

/* --- event_type.c: types of events --- */

/* Who receives an event of those that wait for it; rows have the words */
#define SF_RECEIVERS_LIST(X) \
	X(ALL, "all") \
	X(ONE, "one")

#define SF_RECEIVERS_ENUM(sym, word) SF_RECEIVERS_##sym,
typedef enum SfReceivers
{
	SF_RECEIVERS_LIST(SF_RECEIVERS_ENUM)
} SfReceivers;

/* What backends keep of a row of _sfflow.event_type */
typedef struct SfEventType
{
	int			event_type_no;
	char	   *name;
	Oid			owner;
	Interval	ttl;
	SfReceivers deliver;
	bool		alerts;			/* of events that end and that no execution has received */
} SfEventType;

extern SfKeyedCache sf_event_type_cache;

/*
 * Tell whether there may be types of events, as far as this transaction has taken in what others have changed.
 * Costs some nanoseconds where there is none.
 */
static inline bool
sf_event_type_may_be(void)
{
	return sf_keyed_cache_may_be(&sf_event_type_cache);
}

extern const SfEventType *sf_event_type_find(const char *name);
extern const SfEventType *sf_event_type_by_number(int event_type_no);
extern const SfEventType *sf_event_type_keep(const char *name);
extern const SfEventType *sf_event_type_keep_to_emit(const char *name);
extern const SfEventType *sf_event_type_require(const char *text, int privilege);
extern void sf_event_type_require_emit(const char *name, Oid owner);
extern Oid	sf_event_type_require_own(const char *name);
extern Oid	sf_event_type_set_owner(const char *name, Oid owner);
extern bool sf_event_type_insert(const char *name, SfArg ttl, SfArg remember, SfReceivers deliver, SfArg alert);
extern void sf_event_type_delete(int event_type_no);
extern void sf_event_type_notice(SfNotice *notice, const char *name);
extern const char *sf_event_type_alert_target(const char *text);
extern int64 sf_event_type_acknowledge(const SfAcknowledge *what);

/* --- event_key_lock.c: locks of keys --- */

/* How a key is locked */
typedef enum SfEventKeyLock
{
	SF_EVENT_KEY_LOCK_SHARED,	/* by waits, until the end of the transaction */
	SF_EVENT_KEY_LOCK_ALONE,	/* by a sweep, which waits for a while */
	SF_EVENT_KEY_LOCK_ALONE_NOW /* by a sweep, which does not wait */
} SfEventKeyLock;

extern bool sf_event_key_lock(int event_type_no, const char *key, SfEventKeyLock how);

/* --- emission.c: events --- */

/*
 * The life of an event:
 *
 *	NEW			no sweep has come to it: its time to live has not begun
 *	SEEN		a sweep has come to it, and has passed over a wait
 *	SWEPT		a sweep has given it to all that waited for it
 *	TAKEN		it was for one, which has received it
 *	WITHDRAWN	by sf_withdraw_event()
 *	EXPIRED		its time to live is over
 *
 * The numbers are stored.
 */
#define SF_EMISSION_LIST(X) \
	X(NEW, 0) \
	X(SEEN, 1) \
	X(SWEPT, 2) \
	X(TAKEN, 3) \
	X(WITHDRAWN, 4) \
	X(EXPIRED, 5)

#define SF_EMISSION_ENUM(sym, number) SF_EMISSION_##sym = number,
typedef enum SfEmissionStatus
{
	SF_EMISSION_LIST(SF_EMISSION_ENUM)
} SfEmissionStatus;

/*
 * Groups of them: those that a sweep has to come to, those that may be given, and those that are given no more.
 * SQL has them too, and indexes are of FRESH, LIVE and ENDED: queries that are to use one read the view of its rows
 * (sql/parts/feature/event.sql).
 */
#define SF_EMISSIONS_FRESH	SF_EMISSION_NEW, SF_EMISSION_SEEN
#define SF_EMISSIONS_LIVE	SF_EMISSION_NEW, SF_EMISSION_SEEN, SF_EMISSION_SWEPT
#define SF_EMISSIONS_ENDED	SF_EMISSION_TAKEN, SF_EMISSION_WITHDRAWN, SF_EMISSION_EXPIRED

/* Whether an event that has expired is an alert, since no execution has received it; the numbers are stored */
#define SF_EVENT_ALERT_LIST(X) \
	X(NONE, 0) \
	X(OPEN, 1) \
	X(ACKNOWLEDGED, 2)

#define SF_EVENT_ALERT_ENUM(sym, number) SF_EVENT_ALERT_##sym = number,
typedef enum SfEventAlert
{
	SF_EVENT_ALERT_LIST(SF_EVENT_ALERT_ENUM)
} SfEventAlert;

/* An event that may be given */
typedef struct SfEmission
{
	int64		event_no;
	char	   *id;
	bool		for_one;
	int			depth;			/* of the chain of rules that has led to it */
	TimestampTz emitted_at;
	Jsonb	   *payload;		/* or NULL */
	Jsonb	   *result;			/* what a wait gets; NULL: not made yet */
} SfEmission;

/* An event that an execution receives */
typedef struct SfReceipt
{
	int64		execution_no;
	int64		event_no;
	int			depth;
} SfReceipt;

extern SfReceivers sf_receivers_read(HeapTuple tuple, TupleDesc desc, int column);
extern SfReceivers sf_receivers_parse(const char *text);
extern SfArg sf_receivers_arg(SfReceivers deliver);
extern bool sf_emission_is_received(int64 execution_no, int64 event_no);
extern int64 sf_emission_floor(int64 execution_no, const SfEventType *type, const char *key);
extern bool sf_emission_may_be_for(int64 execution_no, const SfEventType *type, const char *key);
extern List *sf_emission_fresh(const SfEventType *type, const char *key, int64 behind, int max_rows);
extern bool sf_emission_any_new(const SfEventType *type, const char *key);
extern List *sf_emission_read_fresh(const SfEventType *type, const char *key, int64 *behind, TimestampTz now, int max_rows);
extern List *sf_emission_read(const SfEventType *type, const char *key, int64 *behind, TimestampTz now, int max_rows,
							  bool *last);
extern bool sf_emission_take(int64 event_no, TimestampTz now);
extern void sf_emission_note_swept(const List *numbers, TimestampTz now, bool done);
extern void sf_emission_note_receipts(const SfEventType *type, const List *receipts);
extern int64 sf_emission_acknowledge(const SfEventType *type);
extern void sf_emission_note_start(int64 execution_no, const SfEventType *type, const char *key, const char *id);
extern int	sf_emission_depth_of_received(int64 execution_no);
extern void sf_emission_raise_floor(int64 execution_no, const SfEventType *type, const char *key, TimestampTz now);
extern void sf_emission_delete_receipts(int64 execution_no);
extern void sf_emission_arrive(SfArg numbers, int from_node);
extern bool sf_emission_withdraw(const SfEventType *type, const char *key, const char *id, TimestampTz now);
extern bool sf_emission_delete_expired(TimestampTz now);
extern void sf_emission_adopt(void);
extern bool sf_emission_any_above(int node);
extern void sf_emission_delete_type(int event_type_no);
extern int64 sf_emission_insert(const SfEventType *type, const char *key, const char *id, SfReceivers deliver,
								const Interval *ttl, const Jsonb *payload);

/* --- emit_functions.c: arguments, and what rules emit --- */

/* Longest key, in bytes: it stands in indexes */
#define SF_EVENT_KEY_MAX	1024

extern char *sf_emission_text(const JsonbValue *value);
extern SfArg sf_emission_duration(FunctionCallInfo fcinfo, int n, const char *name);
extern void sf_emission_by_rule(const char *name, Oid owner, Jsonb *event, char *id);
extern void sf_emission_starts(const SfExecution *execution);

/* --- awaited_event.c: waits --- */

/* A name and a key that a branch begins to wait for */
typedef struct SfAwaitedEvent
{
	SfFeatureWait wait;
	const char *event_name;
	const char *event_key;
	int			max_events;
	bool		gives_array;	/* of events; else the one event itself */
	Jsonb	   *filter;			/* or NULL */
} SfAwaitedEvent;

extern void sf_awaited_begin(SfDraft *draft, const SfBranch *branch, const SfResource *resource,
							 const SfTaskRequest *request, SfStimulus *stimulus);
extern bool sf_awaited_check(const SfResource *resource, const Jsonb *parameters, SfError *error);
extern void sf_awaited_write(const SfFeatureWait *wait);
extern bool sf_awaited_lock(SfBranchKey key);
extern void sf_awaited_delete(SfBranchKey key);
extern void sf_awaited_delete_of_execution(int64 execution_no);
extern bool sf_awaited_arrive(SfArg numbers);
extern void sf_awaited_delete_left(SfBranchKey key, int generation);
extern void sf_awaited_clear_ripe(SfBranchKey key, int event_type_no, int generation);
extern char *sf_awaited_problem_of(const SfResource *resource);

/* --- match.c: a key --- */

/* A key of a type of events */
typedef struct SfEventKey
{
	int			event_type_no;
	char	   *key;
} SfEventKey;

/* What became of some keys */
typedef struct SfMatchResult
{
	int			budget;			/* answers that may still be given */
	bool		locked;			/* others have some of the keys */
	bool		made_progress;	/* something was given or looked at, or a key is done with */
	bool		left_out;		/* the time was over before all keys were come to, or all of one were matched */
} SfMatchResult;

extern void sf_match_key(const SfEventType *type, const char *key, TimestampTz now, SfTick until,
						 SfMatchResult *result);

/* --- event_pass.c: passes over keys (event_pass.h) --- */

extern int	sf_event_key_compare(const SfEventKey *a, const SfEventKey *b);
extern void sf_event_pass_forget_of(const SfEventKey *event_key);

/* --- event_sweep.c: sweeps --- */

extern SfSweepResult sf_event_sweep(TimestampTz now);
extern bool sf_event_sweep_execution(int64 execution_no);

#endif							/* SF_FEATURE_EVENT_BY_KEY_H */
