/*
 * limit.h
 *		Limits: the table, and a cache of it in each backend.
 */
#ifndef SF_FEATURE_LIMIT_H
#define SF_FEATURE_LIMIT_H

#include "db/keyed_cache.h"
#include "db/row.h"
#include "expr/expr.h"
#include "store/branch/park.h"
#include "store/role/object_kind.h"
#include "store/state_machine/machine.h"

/* What a limit may be of: the words are in a CHECK of its table */
#define SF_OBJECTS_LIMITED SF_OBJECT_STATE_MACHINE, SF_OBJECT_ACTIVITY, SF_OBJECT_RESOURCE

/* What a limit does not limit: how many run at once, and so has slots; how many begin in a time */
#define SF_NO_SLOTS		0
#define SF_NO_RATE		0

/* Columns of _sfflow.run_limit; see sql/parts/feature/limit.sql. */
#define SF_RUN_LIMIT_COLUMNS(X) \
	X(int64, limit_no, INT8, NOT_NULL) \
	X(SfObjectKind, kind, WORD, WORDS(kind_words)) \
	X(char *, name, TEXT, NOT_NULL) \
	X(char *, state, TEXT, NULLABLE)	/* of a machine; NULL: its executions */ \
	X(char *, key, TEXT, NULLABLE)	/* path; NULL: one limit for all */ \
	X(bool, in_definition, BOOL, NOT_NULL) \
	X(int, machine_no, INT4, NULL_IS(SF_NO_MACHINE))	/* none */ \
	X(Oid, for_owner, REGROLE, NULL_IS(InvalidOid))	/* of a resource: for this role's machines; InvalidOid: all */ \
	X(int, max_running, INT4, NULL_IS(SF_NO_SLOTS)) \
	X(int, highest, INT4, NOT_NULL)	/* slots with greater numbers are not in use */ \
	X(double, rate, FLOAT8, NULL_IS(SF_NO_RATE))	/* so many begin in per microseconds */ \
	X(int64, per, INT8, NULL_IS(0))	/* no rate */ \
	X(bool, fails, BOOL, NOT_NULL)	/* what would wait fails */ \
	X(TimestampTz, set_at, TIMESTAMPTZ, NOT_NULL) \
	X(char *, set_by, TEXT, NOT_NULL) \
	X(bool, counted, BOOL, NOT_NULL)	/* all that runs has slots */ \
	X(uint64, horizon, XID8, NULL_IS(0))	/* not known yet */ \
	X(int64, roles_hash, INT8, NULL_IS(0))	/* not known yet */ \
	X(TimestampTz, uncounted_at, TIMESTAMPTZ, NULL_IS(DT_NOBEGIN))	/* when the count of that began last; not known */

/* A limit: a row of the table, and what the cache adds */
typedef struct SfLimit
{
	struct
	{
		SF_RUN_LIMIT_COLUMNS(SF_FIELD)
	};
	SfExpr	   *key_path;		/* of the cache: key, compiled; NULL: none */
} SfLimit;

/* Does a limit have slots, of which each takes one that runs? */
static inline bool
sf_limit_has_slots(const SfLimit *limit)
{
	return limit->max_running != SF_NO_SLOTS;
}

/* Does a limit have a rate, of whose tokens each takes one that begins? */
static inline bool
sf_limit_has_rate(const SfLimit *limit)
{
	return limit->rate != SF_NO_RATE;
}

/* Is a limit one of executions as a whole? */
static inline bool
sf_limit_is_of_executions(const SfLimit *limit)
{
	return limit->kind == SF_OBJECT_STATE_MACHINE && limit->state == NULL;
}

/* --- the cache --- */

extern SfKeyedCache sf_limit_cache;

#define sf_limit_is_current	(sf_limit_cache.cache.is_current)

extern bool sf_limit_is_any(void);
extern const List *sf_limit_of_machine(int machine_no);
extern const List *sf_limit_of_name(SfObjectKind kind, const char *name);
extern const SfLimit *sf_limit_by_number(int64 limit_no);

/*
 * Tell whether there may be limits, as far as the caller has taken in what other sessions
 * have changed (sf_table_cache_accept_changes).
 */
static inline bool
sf_limit_may_be(void)
{
	return sf_keyed_cache_may_be(&sf_limit_cache);
}

/* --- the table --- */

/* Branches of an execution that wait in a queue */
typedef struct SfWaitsWithin
{
	SfQueue		queue;
	int64		execution_no;
} SfWaitsWithin;

/* What setting a limit has come to */
typedef struct SfLimitSet
{
	int64		limit_no;
	bool		is_new;			/* there was none: no slot of this number is in use */
	bool		counts_anew;	/* what runs has no slots, since there was no max_running */
} SfLimitSet;

/*
 * How far the count is of what began before a limit was known everywhere.  No column has this: it is what PostgreSQL
 * says of transactions at the moment of a look.  The row has the facts that this follows from: whether all has slots
 * (counted), which transaction has begun the count (its xmin), and up to which transactions some may have begun what
 * the count has not seen (horizon).  A column would be behind what has happened, and each pass would have to write it.
 */
typedef enum SfCountStage
{
	SF_COUNT_ELSEWHERE,			/* another session counts, or the limit is gone or counted */
	SF_COUNT_UNTOLD,			/* some processes do not know of the limit yet: what sets it begins the count */
	SF_COUNT_FIRST,				/* all know of it now, for the first time: note the transactions that are open */
	SF_COUNT_BETWEEN,			/* some of those are open still */
	SF_COUNT_LAST				/* they have ended: a query finds all that began without the limit */
} SfCountStage;

/*
 * SET of an UPDATE of limits: the count begins anew, at SF_COUNT_UNTOLD, unless nothing is to be counted (counted).
 * The other way, to its end, is sf_limit_set_counted.
 */
#define SF_LIMIT_COUNT_AGAIN(counted) \
	" counted = " counted ", horizon = NULL, uncounted_at = pg_catalog.clock_timestamp()"

extern SfLimitSet sf_limit_set(const SfLimit *limit);
extern bool sf_limit_delete(const SfLimit *target);
extern List *sf_limit_lock_defined(int machine_no);
extern List *sf_limit_uncounted(int64 behind);
extern void sf_limit_delete_numbers(List *numbers);
extern void sf_limit_pass_on(Oid from, Oid to);
extern void sf_limit_delete_of_object(SfObjectKind kind, const char *name);
extern void sf_limit_raise_highest(int64 limit_no, int highest);
extern void sf_limit_lower_highest(void);
extern List *sf_limit_running(const SfLimit *limit, int machine_no);
extern List *sf_limit_waits_within(void);
extern int	sf_limit_lock(int64 limit_no);
extern SfCountStage sf_limit_lock_uncounted(int64 limit_no);
extern void sf_limit_set_counted(int64 limit_no);
extern void sf_limit_set_uncounted(int64 limit_no);

/* --- limit_owner.c --- */

/* A version of a machine of which executions run */
typedef struct SfUsedVersion
{
	int			machine_no;
	int			version;
} SfUsedVersion;

extern List *sf_limit_used_versions(int machine_no, Oid owner);
extern List *sf_limit_slots_of_machine(int machine_no);
extern void sf_limit_note_owner(Oid owner);
extern bool sf_limit_note_roles(void);

#endif							/* SF_FEATURE_LIMIT_H */
