/*
 * start_key.h
 *		Keys of starts: the option "start_key" of a state machine, and of a start.
 *
 * The executions that were started with one key of a machine are a line, by the time at which they have entered it:
 * that of the start, but later than that of the start before.  A row of _sfflow.start_key per key is there to be
 * locked, and has the last of these times; a row of _sfflow.keyed_start per execution has its key, its time and place.
 *
 * A start locks the row of its key, and waits for it: so starts of one key come one after the other, in the order of
 * their commits.  A worker never waits for it: before a new execution begins, and before one goes on after a
 * redrive, the worker tries the lock, and leaves the execution alone for a moment if it does not get it.  It has
 * the lock until its slice has committed.  So what a start finds waiting waits: the start may replace it
 * (run/execution/replace.c).  A start that a worker makes itself, by a task, by a rule or by a schedule, waits for a
 * moment only, and is made later if the lock does not come.
 *
 *	debounce	one waits per key.  None is kept from running.
 *	single		one waits per key, besides those that were redriven; one runs.
 *	fifo		one runs per key, the first of the line.
 *
 * What may not run yet is parked (store/branch/park.h), under the lock.  Where an execution leaves its line, the first
 * that waits is made due, under the lock as well.  The transaction that ends an execution tries that lock.  If
 * another session has it, the place becomes ENDED, which is committed with the end, and a worker sweeps such
 * rows until it has the lock.
 *
 * A redrive locks the key only if its row may be gone, so one that has left may wait again at any time.  So what
 * a slice has let begin keeps others from that before its row says so (SfDraft.line), and what finds another one
 * waiting before it has that one be due.
 */
#ifndef SF_FEATURE_START_KEY_H
#define SF_FEATURE_START_KEY_H

#include "base/value/one_of.h"
#include "db/table.h"
#include "expr/expr.h"
#include "store/feature.h"

/* Characters of a key, at most */
#define SF_MAX_START_KEY	256

/*
 * Places in a line, in the order of an execution's life:
 *
 *	WAITS			it has not begun, and may be replaced
 *	WAITS_AGAIN		it may not be replaced: it was redriven, or a parent waits for it
 *	RUNS
 *	BLOCKS			it has failed, and keeps those behind it from running
 *	ENDED			it has ended, and the next one has not been told
 *	LEFT			it has left the line, and may be redriven
 *	LEFT_FOR_GOOD	it has, and may not
 *
 * The numbers are stored.
 */
#define SF_LINE_PLACE_LIST(X) \
	X(WAITS, 0) \
	X(WAITS_AGAIN, 1) \
	X(RUNS, 2) \
	X(BLOCKS, 3) \
	X(ENDED, 4) \
	X(LEFT, 5) \
	X(LEFT_FOR_GOOD, 6)

#define SF_LINE_PLACE_ENUM(sym, number) SF_LINE_PLACE_##sym = number,
typedef enum SfLinePlace
{
	SF_LINE_PLACE_LIST(SF_LINE_PLACE_ENUM)
} SfLinePlace;

/*
 * Groups of places.  SQL has them too, and indexes are of WAITING, of BEGUN and of ENDED: queries that are to use one
 * read the view of its rows (sql/parts/feature/start_key.sql).
 *
 *	WAITING		it is to begin
 *	BEGUN		it may be redriven, or has not ended
 *	LEFT		it stands in the line no more
 *	BLOCKING	none of those that wait may run
 *	STANDING	it has begun, and stands in the line
 */
#define SF_LINE_PLACES_WAITING	SF_LINE_PLACE_WAITS, SF_LINE_PLACE_WAITS_AGAIN
#define SF_LINE_PLACES_BEGUN	SF_LINE_PLACE_RUNS, SF_LINE_PLACE_BLOCKS, SF_LINE_PLACE_ENDED, SF_LINE_PLACE_LEFT
#define SF_LINE_PLACES_LEFT	SF_LINE_PLACE_LEFT, SF_LINE_PLACE_LEFT_FOR_GOOD
#define SF_LINE_PLACES_BLOCKING	SF_LINE_PLACE_RUNS, SF_LINE_PLACE_BLOCKS
#define SF_LINE_PLACES_STANDING	SF_LINE_PLACE_RUNS, SF_LINE_PLACE_BLOCKS, SF_LINE_PLACE_ENDED

/* Does an execution wait in its line? */
static inline bool
sf_start_key_place_waits(SfLinePlace place)
{
	return SF_IS_ONE_OF(place, SF_LINE_PLACES_WAITING);
}

/* Has an execution left its line? */
static inline bool
sf_start_key_place_is_left(SfLinePlace place)
{
	return SF_IS_ONE_OF(place, SF_LINE_PLACES_LEFT);
}

typedef enum SfStartKeyMode
{
	SF_START_KEY_DEBOUNCE,
	SF_START_KEY_SINGLE,
	SF_START_KEY_FIFO
} SfStartKeyMode;

/* DEBOUNCE: how long a start waits for others of its key */
typedef struct SfDebounce
{
	int64		delay_us;		/* after the last one */
	int64		max_delay_us;	/* after the first one, or SF_NO_MAX_DELAY */
} SfDebounce;

#define SF_NO_MAX_DELAY		0

/* The option of a version, compiled: sf_start_key_debounce and the like read what its mode has */
typedef struct SfStartKeyOption
{
	SfInputValue *key;			/* NULL: starts name it */
	SfStartKeyMode	mode;
	union
	{
		SfDebounce	debounce;	/* DEBOUNCE */
		bool		keeps_first;	/* SINGLE */
		bool		stops_at_failure;	/* FIFO */
	};
} SfStartKeyOption;

/* How long a start waits. */
static inline const SfDebounce *
sf_start_key_debounce(const SfStartKeyOption *option)
{
	Assert(option->mode == SF_START_KEY_DEBOUNCE);
	return &option->debounce;
}

/* Is the start that waits not replaced by another one? */
static inline bool
sf_start_key_keeps_first(const SfStartKeyOption *option)
{
	return option->mode == SF_START_KEY_SINGLE && option->keeps_first;
}

/* Does an execution that fails keep its place in the line? */
static inline bool
sf_start_key_stops_at_failure(const SfStartKeyOption *option)
{
	return option->mode == SF_START_KEY_FIFO && option->stops_at_failure;
}

/* A row of _sfflow.keyed_start */
typedef struct SfKeyedStart
{
	int64		execution_no;
	int			machine_no;
	char	   *key;
	TimestampTz entered_at;
	SfLinePlace place;
} SfKeyedStart;

/* --- start_key_option.c --- */

extern int	sf_start_key_option;
extern void *sf_start_key_compile(const Jsonb *options, const SfProgram *program);
extern char *sf_start_key_eval(const SfExecution *execution, const SfStartKeyOption *option);
extern const SfStartKeyOption *sf_start_key_option_of(const SfExecution *execution);

/* --- keyed_start.c --- */

extern void sf_start_key_lock(int machine_no, const char *key);
extern bool sf_start_key_try_lock(int machine_no, const char *key);
extern SfKeyedStart *sf_start_key_find(int64 execution_no);
extern int64 sf_start_key_find_waiting(int machine_no, const char *key);
extern bool sf_start_key_is_free(int machine_no, const char *key, TimestampTz entered_at);
extern bool sf_start_key_is_empty(int machine_no, const char *key);
extern void sf_start_key_put(int64 execution_no, int machine_no, const char *key, SfLinePlace place);
extern void sf_start_key_set_place(int64 execution_no, SfLinePlace place);
extern bool sf_start_key_advance(int machine_no, const char *key);
extern void sf_start_key_advance_now(int machine_no, const char *key);
extern List *sf_start_key_lock_ended(int64 after, int max_rows);
extern bool sf_start_key_is_any_ended(void);
extern bool sf_start_key_retains(int64 execution_no);
extern List *sf_start_key_list_tied(SfArg numbers);
extern List *sf_start_key_ties(SfArg numbers, const List *busy);
extern void sf_start_key_depart(SfArg numbers);
extern void sf_start_key_arrive(SfArg numbers);

/* --- start_line.c --- */

extern SfBegan sf_start_key_enter_line(SfExecution *execution, const void *option);
extern void sf_start_key_reenter_line(const SfExecution *there, SfExecution *wanted, const void *option, bool restarts);
extern bool sf_start_key_leave(const SfKeyedStart *keyed);
extern void sf_start_key_begins(const SfExecution *execution, SfBranch *root);

#endif							/* SF_FEATURE_START_KEY_H */
