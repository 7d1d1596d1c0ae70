/*
 * limit.h
 *		Limits: the table, a copy of it in each backend, and the branches that wait.
 */
#ifndef SF_STORE_LIMIT_H
#define SF_STORE_LIMIT_H

#include "expr/expr.h"
#include "store/branch.h"
#include "store/keyed_copy.h"

/* Kinds of targets: symbol, name as stored */
#define SF_LIMIT_LIST(X) \
	X(MACHINE, "machine")		/* its executions, or one of its states */ \
	X(RESOURCE, "resource") \
	X(ACTIVITY, "activity")

#define SF_LIMIT_ENUM(sym, name) SF_LIMIT_##sym,
typedef enum SfLimitKind
{
	SF_LIMIT_LIST(SF_LIMIT_ENUM)
} SfLimitKind;

typedef struct SfLimit
{
	int64		limit_no;
	SfLimitKind kind;
	const char *name;
	const char *state;			/* "": of a machine, its executions */
	const char *key;			/* path, "": one limit for all */
	bool		in_definition;
	int			machine_no;		/* 0: none */
	Oid			owner;			/* of a resource; InvalidOid: for all machines */
	int			max_running;	/* 0: no limit */
	int			highest;		/* slots with greater numbers are not in use */
	double		rate;			/* 0: no limit; else begin in per microseconds */
	int64		per;
	bool		fails;			/* what would wait fails */
	TimestampTz set_at;
	bool		counted;		/* all that runs has slots */
	SfExpr	   *key_path;		/* of the copy: key, compiled; NULL: none */
} SfLimit;

/* A queue: what waits for one limit with one value of its key */
typedef struct SfQueue
{
	int64		limit_no;
	int64		hash;			/* of the value */
} SfQueue;

/* Is a limit one of executions as a whole? */
static inline bool
sf_limit_is_of_executions(const SfLimit *limit)
{
	return limit->kind == SF_LIMIT_MACHINE && limit->state[0] == '\0';
}

/* Are two queues the same? */
static inline bool
sf_limit_queue_equals(SfQueue a, SfQueue b)
{
	return a.limit_no == b.limit_no && a.hash == b.hash;
}

/* Does a queue come behind another one in the order of sf_limit_queues? */
static inline bool
sf_limit_queue_is_behind(SfQueue a, SfQueue b)
{
	return a.limit_no > b.limit_no || (a.limit_no == b.limit_no && a.hash > b.hash);
}

/* --- the copy --- */

extern SfKeyedCopy sf_limit_copy;

#define sf_limit_is_current	(sf_limit_copy.copy.is_current)

extern bool sf_limit_any(void);
extern const List *sf_limit_of_machine(int machine_no);
extern const List *sf_limit_of_name(SfLimitKind kind, const char *name);
extern const SfLimit *sf_limit_find(int64 limit_no);

/*
 * Tell whether there may be limits, as far as the caller has taken in what other sessions
 * have changed (sf_hold_accept_changes).
 */
static inline bool
sf_limit_may_be(void)
{
	return sf_keyed_copy_may_be(&sf_limit_copy);
}

/* --- the table --- */

/* Branches of an execution that wait in a queue */
typedef struct SfWaitsWithin
{
	SfQueue		queue;
	int64		execution_no;
} SfWaitsWithin;

extern int64 sf_limit_set(const SfLimit *limit, bool *counts_anew);
extern bool sf_limit_drop(const SfLimit *target);
extern List *sf_limit_defined(int machine_no);
extern List *sf_limit_uncounted(void);
extern int64 sf_limit_greatest(void);
extern void sf_limit_drop_numbers(List *numbers);
extern void sf_limit_pass_on(Oid from, Oid to);
extern void sf_limit_drop_object(SfLimitKind kind, const char *name);
extern void sf_limit_set_highest(int64 limit_no, int highest);
extern void sf_limit_lower_highest(void);
extern List *sf_limit_running(const SfLimit *limit);
extern void sf_limit_release_within(SfQueue queue, int64 execution_no);
extern void sf_limit_release_children(int64 execution_no);
extern List *sf_limit_waits_within(void);
extern int	sf_limit_lock(int64 limit_no);
extern bool sf_limit_lock_uncounted(int64 limit_no, bool *alone);
extern void sf_limit_set_counted(int64 limit_no);

/* --- branches that wait --- */

/* The phases in which a branch waits in a queue */
#define SF_WAITING_PHASES	SF_INT2S(SF_PHASE_ENTER, SF_PHASE_RUN, SF_PHASE_ANNOUNCED)

/* A branch that waits */
typedef struct SfWaiting
{
	SfBranchKey key;
	Oid			owner;
	bool		waits;			/* false: its row is left over */
	bool		announced;		/* its task is announced */
	TimestampTz rank;
	TransactionId made_by;		/* has written its row */
} SfWaiting;

/* Where a branch waits: since when, and in which order */
typedef struct SfRank
{
	TimestampTz rank;			/* 0: none yet */
	TimestampTz since;
} SfRank;

/* How many branches of a queue are read at once */
typedef enum SfHeads
{
	SF_HEADS_FIRST = 1,
	SF_HEADS_FEW = 4,
	SF_HEADS_MANY = 64
} SfHeads;

extern void sf_limit_wait(SfBranchKey key, SfQueue queue, SfRank rank);
extern bool sf_limit_is_waiting(SfBranchKey key);
extern bool sf_limit_unqueue(SfBranch *branch);
extern int	sf_limit_heads(SfQueue queue, const SfWaiting *after, SfWaiting *heads, SfHeads size);
extern void sf_limit_forget_left_over(const SfWaiting *row);
extern bool sf_limit_is_queued(SfQueue queue);
extern int	sf_limit_queues(SfQueue after, SfQueue *queues, Oid *owners, int size);
extern int	sf_limit_waiting_of(int64 execution_no, SfBranchKey *keys, SfQueue *queues, int size);

#endif							/* SF_STORE_LIMIT_H */
