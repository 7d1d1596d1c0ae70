/*
 * quota.h
 *		How much an owner of state machines may have running, and start.
 *
 * The limits are settings (base/settings.h); ALTER ROLE … SET gives an owner
 * other values.  Use is counted per owner and database, in shared memory if the
 * library was preloaded, else in this backend alone.  So a start costs no query
 * and locks no row.  The count is approximate: a start that is rolled back counts
 * until the executions are counted in the tables again, and one that is not yet
 * committed then is left out.
 */
#ifndef SF_QUOTA_QUOTA_H
#define SF_QUOTA_QUOTA_H

#include "nodes/pg_list.h"
#include "utils/timestamp.h"

#include "base/settings.h"
#include "base/version/compat.h"

/* Which quota is used up */
typedef enum SfQuotaKind
{
	SF_QUOTA_NONE,
	SF_QUOTA_EXECUTIONS,		/* sfflow.max_executions_per_owner */
	SF_QUOTA_STARTS				/* sfflow.max_starts_per_owner */
} SfQuotaKind;

extern const SfQuotas *sf_quota_of(Oid owner);
extern SfQuotaKind sf_quota_take(Oid owner);
extern void sf_quota_give_back(Oid owner);
extern void sf_quota_raise(SfQuotaKind kind, Oid owner, int machine_no,
						   const char *machine)
			pg_attribute_noreturn();
extern void sf_quota_require(Oid owner, int machine_no, const char *machine);

/*
 * Begin starts that were counted.  After an error they count no more: what is put off is tried again.  No callback at
 * the end of a transaction does the same for starts that the caller rolls back.  Those have used the server like
 * others, and a loop that begins and rolls back would have no quota.
 */
extern void sf_quota_begin(Oid owner, int starts, void (*begin) (void *arg), void *arg);

/* "sfflow.max_… (n) of role "…"", for errors. */
extern char *sf_quota_describe(SfQuotaKind kind, Oid owner);

/*
 * Tell whether another item execution may begin.  It counts as
 * running, but not as a start.
 */
extern bool sf_quota_has_room(Oid owner);
extern void sf_quota_note_item(Oid owner);

/* Refusals of the last minutes in this database, for sf_health */
typedef struct SfQuotaRefusal
{
	Oid			owner;
	SfQuotaKind kind;
	int64		refused;		/* since the first of them */
	TimestampTz last;
} SfQuotaRefusal;

extern int	sf_quota_refusals(SfQuotaRefusal *refusals, int size);
extern void sf_quota_forget(Oid database);
extern void sf_quota_init(void);

/* --- throttled_starts.c: refused by a quota or a limit, until a fold counts them --- */

extern void sf_throttled_init(void);
extern void sf_throttled_note(int machine_no, Oid owner);
extern void sf_throttled_forget(Oid database);
extern bool sf_throttled_is_there(void);
extern List *sf_throttled_take(void);

#endif							/* SF_QUOTA_QUOTA_H */
