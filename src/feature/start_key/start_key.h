/*
 * start_key.h
 *		Keys of starts: the option "start_key" of a state machine, and of a start.
 *
 * The executions that were started with one key of a machine are a line, by rank: the time of the start, but later than
 * that of the start before.  A row of _sfflow.start_key per key is there to be locked, and has the last rank; a row of
 * _sfflow.keyed_start per execution has its key, rank and place.
 *
 * A start locks the row of its key, and waits for it: so starts of one key come one after the other, in the order of
 * their commits.  A worker never waits for it: before a new execution begins, and before one goes on after a redrive, the
 * worker tries the lock, and leaves the execution alone for a moment if it does not get it.  It has the lock until its
 * slice has committed.  So what a start finds waiting waits: the start may replace it (run/replace.c).
 *
 *	debounce	one waits per key.  None is kept from running.
 *	single		one waits per key, besides those that were redriven; one runs.
 *	fifo		one runs per key, the first of the line.
 *
 * What may not run yet is parked (store/park.h), under the lock.  Where an execution leaves its line, the first that waits
 * is made due, under the lock as well.  The transaction that ends an execution tries that lock.  If another session has it, the
 * place becomes ENDED, which is committed with the end, and a worker looks for such rows until it has the lock.
 */
#ifndef SF_FEATURE_START_KEY_H
#define SF_FEATURE_START_KEY_H

#include "db/table.h"
#include "expr/input_value.h"
#include "store/feature.h"

/* Characters of a key, at most */
#define SF_MAX_START_KEY	256

/* Places in a line.  The numbers are stored; indexes are of some of them (sql/parts/start_key.sql). */
typedef enum SfLinePlace
{
	SF_LINE_WAITS = 0,			/* it has not begun, and may be replaced */
	SF_LINE_AGAIN = 1,			/* it waits, and may not be replaced: it was redriven, or a parent waits for it */
	SF_LINE_RUNS = 2,
	SF_LINE_STAYS = 3,			/* it has failed, and keeps those behind it from running */
	SF_LINE_ENDED = 4,			/* it has ended, and the next one has not been told */
	SF_LINE_OVER = 5,			/* it has left, and may be redriven */
	SF_LINE_DONE = 6			/* it has left */
} SfLinePlace;

typedef enum SfKeyMode
{
	SF_STARTKEY_DEBOUNCE,
	SF_STARTKEY_SINGLE,
	SF_STARTKEY_FIFO
} SfKeyMode;

/* The option of a version, compiled */
typedef struct SfKeyOption
{
	SfInputValue *key;			/* NULL: starts name it */
	SfKeyMode	mode;
	int64		delay_us;		/* debounce */
	int64		max_delay_us;	/* ... 0: any */
	bool		keeps;			/* single: the one that waits is not replaced */
	bool		stops;			/* fifo: one that fails keeps its place */
} SfKeyOption;

/* A row of _sfflow.keyed_start */
typedef struct SfKeyed
{
	int64		execution_no;
	int			machine_no;
	char	   *key;
	TimestampTz rank;
	SfLinePlace		place;
} SfKeyed;

/* --- key_option.c --- */

extern int	sf_startkey_option;
extern void *sf_startkey_compile(const Jsonb *options, const SfProgram *program);
extern char *sf_startkey_evaluate(const SfExecution *execution, const SfKeyOption *option);

/* --- keyed_start.c --- */

extern void sf_startkey_lock(int machine_no, const char *key);
extern bool sf_startkey_try_lock(int machine_no, const char *key);
extern SfKeyed *sf_startkey_find(int64 execution_no);
extern int64 sf_startkey_find_waiting(int machine_no, const char *key);
extern bool sf_startkey_is_free(int machine_no, const char *key, TimestampTz rank);
extern bool sf_startkey_is_empty(int machine_no, const char *key);
extern void sf_startkey_put(int64 execution_no, int machine_no, const char *key, SfLinePlace place);
extern void sf_startkey_set_place(int64 execution_no, SfLinePlace place);
extern bool sf_startkey_move(int64 execution_no, SfLinePlace from, SfLinePlace to);
extern bool sf_startkey_settle(int machine_no, const char *key);
extern List *sf_startkey_list_ended(int limit);
extern bool sf_startkey_any_ended(void);
extern bool sf_startkey_keeps(int64 execution_no);

/* --- start_join.c --- */

extern SfBegan sf_startkey_join(SfExecution *execution, const void *option);
extern void sf_startkey_rejoin(const SfExecution *there, SfExecution *wanted, const void *option, bool restarts);
extern bool sf_startkey_leave(const SfKeyed *keyed);
extern void sf_startkey_begins(const SfExecution *execution, SfBranch *root);

#endif							/* SF_FEATURE_START_KEY_H */
