/*
 * hold.c
 *		Holds: the table, and a cache of it in each backend.
 *
 * Each backend keeps the holds of what it works with (keyed_cache.c).  PostgreSQL sends the invalidation
 * before COMMIT returns, and every backend takes it in before it begins a step
 * (sf_table_cache_accept_changes).  So a step that begins after the hold's commit sees the hold,
 * and where there is none a step costs a look at a flag.
 *
 * A slice that finds a branch held notes it in the table parked, under a share lock on the
 * hold that it keeps until its commit.  A release takes that lock exclusively.  So it
 * finds every branch that waits, and no branch begins to wait for a hold that is over.
 *
 * A purge that has locked executions, which have ended, has to see the holds of them.  A
 * session that holds an execution takes a share lock (sf_hold_begin_of_execution) and then
 * reads whether the execution runs.  If it does, the session keeps that lock until its
 * commit, and the purge passes over the execution (sf_hold_is_beginning).  If it does not
 * run, the session locks the execution's row, as the purge does.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/inval.h"

#include "db/lock_tag.h"
#include "feature/hold/hold.h"
#include "run/apply/apply.h"
#include "store/history/history_event.h"
#include "store/role/owner.h"
#include "store/role/privilege.h"

/* Columns of _sfflow.hold; see sql/parts/feature/hold.sql. */
#define SF_HOLD_COLUMNS(X) \
	X(int64, hold_no, INT8, NOT_NULL) \
	X(char *, kind, TEXT, NOT_NULL) \
	X(char *, name, TEXT, NOT_NULL) \
	X(char *, state, TEXT, NULLABLE) \
	X(int, machine_no, INT4, NULL_IS(SF_NO_MACHINE)) \
	X(int64, execution_no, INT8, NULL_IS(SF_NO_EXECUTION)) \
	X(Oid, for_owner, REGROLE, NULL_IS(InvalidOid)) \
	X(TimestampTz, held_at, TIMESTAMPTZ, NOT_NULL) \
	X(char *, held_by, TEXT, NOT_NULL) \
	X(char *, reason, TEXT, NULLABLE)
SF_COLUMN_NUMBERS(SF_HOLD_COLUMNS);

/* --- the cache --- */

/* Append a row of the table to a list. */
static void
read_hold(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **holds = arg;
	SfHold	   *hold = palloc(sizeof(SfHold));

	hold->kind = sf_object_kind_of(sf_row_text(tuple, desc, COL_kind));
	hold->hold_no = sf_row_number(tuple, desc, COL_hold_no, 0);
	hold->name = sf_row_text(tuple, desc, COL_name);
	hold->state = sf_row_text(tuple, desc, COL_state);
	hold->machine_no = sf_row_number(tuple, desc, COL_machine_no, SF_NO_MACHINE);
	hold->execution_no = sf_row_number(tuple, desc, COL_execution_no, SF_NO_EXECUTION);
	hold->for_owner = sf_row_number(tuple, desc, COL_for_owner, InvalidOid);
	*holds = lappend(*holds, hold);
}

SfKeyedCache sf_hold_cache = {
	.cache = {.table = "hold",.load = sf_keyed_cache_begin,.is_latest = true},
	.index = {"hold", "hold_pkey"},
	.read = sf_keyed_cache_find,
	.rows = {
		.by = {
			[SF_CACHE_BY_NUMBER] = {"hold_pkey", INT8OID},
			[SF_CACHE_BY_OWNER] = {"hold_machine", INT4OID},
			[SF_CACHE_BY_NAME] = {"hold_target", TEXTOID}
		},
		.append = read_hold
	}
};

/*
 * The holds of a machine, its states and its executions that there are now, a List of SfHold:
 * valid until the next call of this kind.
 */
const List *
sf_hold_of_machine(int machine_no)
{
	return sf_keyed_cache_get(&sf_hold_cache, &(SfCacheKey) {.by = SF_CACHE_BY_OWNER,.number = machine_no});
}

/* The holds of a schedule, an activity or a resource, likewise. */
const List *
sf_hold_of_name(SfObjectKind kind, const char *name)
{
	return sf_keyed_cache_get(&sf_hold_cache, &(SfCacheKey) {.by = SF_CACHE_BY_NAME,.kind = sf_object_kind_name(kind),.name = name});
}

/* Find a hold by its number; NULL: there is none now. */
const SfHold *
sf_hold_by_number(int64 hold_no)
{
	return sf_list_first(sf_keyed_cache_get(&sf_hold_cache, &(SfCacheKey) {.by = SF_CACHE_BY_NUMBER,.number = hold_no}));
}

/* The hold of a schedule, an activity or the like; NULL: there is none. */
const SfHold *
sf_hold_of(SfObjectKind kind, const char *name)
{
	return sf_hold_may_be() ? sf_list_first(sf_hold_of_name(kind, name)) : NULL;
}

/* --- locks --- */

/* The lock of a hold. */
static void
hold_tag(LOCKTAG *tag, int64 hold_no)
{
	*tag = sf_lock_tag("hold", (uint32) hold_no);
}

/*
 * Keep a hold from being released until the end of the transaction, and take in changes.
 * False: a session is releasing it.
 */
bool
sf_hold_share(int64 hold_no)
{
	LOCKTAG		tag;

	hold_tag(&tag, hold_no);
	if (LockAcquire(&tag, ShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return false;
	AcceptInvalidationMessages();
	return true;
}

/* The lock of an execution that is to be held; two of them may have the same. */
static void
execution_tag(LOCKTAG *tag, int64 execution_no)
{
	*tag = sf_lock_tag("parked", (uint32) execution_no);
}

/* Begin to hold an execution. */
void
sf_hold_begin_of_execution(int64 execution_no)
{
	LOCKTAG		tag;

	execution_tag(&tag, execution_no);
	(void) LockAcquire(&tag, ShareLock, false, false);
}

/* Have the execution's row alone keep a purge away. */
void
sf_hold_end_of_execution(int64 execution_no)
{
	LOCKTAG		tag;

	execution_tag(&tag, execution_no);
	(void) LockRelease(&tag, ShareLock, false);
}

/* Is another session holding an execution that ran when it was to be held? */
bool
sf_hold_is_beginning(int64 execution_no)
{
	LOCKTAG		tag;

	execution_tag(&tag, execution_no);
	if (LockAcquire(&tag, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return true;
	(void) LockRelease(&tag, ExclusiveLock, false);
	return false;
}

/* --- the tables --- */

/* The argument of a query for the role that a hold is for. */
static SfArg
for_owner_arg(const SfHold *hold)
{
	return sf_query_arg(REGROLEOID, ObjectIdGetDatum(hold->for_owner), !OidIsValid(hold->for_owner));
}

/* Insert a hold of the current user; false: the target is held already. */
bool
sf_hold_insert(const SfHold *hold, const char *reason)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.hold (kind, name, state, machine_no, execution_no, for_owner,"
		" held_at, held_by, reason)"
		" VALUES ($1, $2, $3, $4, $5, $6, pg_catalog.clock_timestamp(), $7, $8)"
		" ON CONFLICT DO NOTHING");

	if (sf_db_execute(&plan, SF_TEXT(sf_object_kind_name(hold->kind)), SF_TEXT(hold->name),
					  SF_TEXT(hold->state),
					  sf_query_arg(INT4OID, Int32GetDatum(hold->machine_no), hold->machine_no == SF_NO_MACHINE),
					  sf_query_arg(INT8OID, Int64GetDatum(hold->execution_no), hold->execution_no == SF_NO_EXECUTION),
					  for_owner_arg(hold),
					  SF_TEXT(GetUserNameFromId(GetUserId(), false)), SF_TEXT(reason)) == 0)
		return false;
	sf_privilege_anchor(hold->for_owner);
	sf_db_invalidate("hold");
	return true;
}

/*
 * List the numbers of the holds on a target; of a resource, with of_all those of all
 * roles.
 */
List *
sf_hold_find(const SfHold *target, bool of_all)
{
	static SfPlan plan = SF_PLAN(
		"SELECT h.hold_no FROM _sfflow.hold h WHERE h.kind = $1 AND h.name = $2"
		" AND h.state IS NOT DISTINCT FROM $3 AND ($4 OR h.for_owner IS NOT DISTINCT FROM $5)"
		" ORDER BY h.hold_no");

	return sf_db_numbers(&plan, SF_TEXT(sf_object_kind_name(target->kind)), SF_TEXT(target->name),
						 SF_TEXT(target->state), SF_BOOL(of_all), for_owner_arg(target));
}

/*
 * Delete a hold and make the branches due that wait for it; returns how many.  Waits for
 * the slices that note such branches just now.
 */
int64
sf_hold_release(int64 hold_no)
{
	static SfPlan drop = SF_PLAN("DELETE FROM _sfflow.hold h WHERE h.hold_no = $1 RETURNING h.for_owner");
	LOCKTAG		tag;
	List	   *owners = NIL;

	hold_tag(&tag, hold_no);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
	/* all branches that wait have to be seen */
	sf_park_check_unchanged("hold", hold_no);
	sf_db_read_now(&drop, sf_row_append_number, &owners, SF_INT8(hold_no));
	foreach_ptr(const int64, owner, owners)
		sf_privilege_unanchor((Oid) *owner);
	sf_db_invalidate("hold");
	return sf_apply_unpark_object("hold", hold_no);
}

/* Lock the holds of resources for a role's machines, in the order of their numbers, and list these. */
static List *
lock_of_role(Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"SELECT h.hold_no FROM _sfflow.hold h WHERE h.for_owner = $1 ORDER BY h.hold_no FOR UPDATE");

	return sf_db_numbers(&plan, SF_ROLE(owner));
}

/*
 * Have the holds of resources for a role's machines be for another role's; a hold of what
 * is held for that role already ends.
 */
void
sf_hold_pass_on(Oid from, Oid to)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.hold h SET for_owner = $2 WHERE h.for_owner = $1"
		" AND NOT EXISTS (SELECT FROM _sfflow.hold o WHERE o.kind = h.kind"
		"  AND o.name = h.name AND o.for_owner = $2)");
	ListCell   *lc;

	(void) lock_of_role(from);
	sf_db_execute(&plan, SF_ROLE(from), SF_ROLE(to));
	sf_db_invalidate("hold");
	foreach(lc, lock_of_role(from))
		(void) sf_hold_release(*(int64 *) lfirst(lc));
}

/* A hold whose state has another name now */
typedef struct Renamed
{
	int64		hold_no;
	const char *state;
} Renamed;

/* List the holds of an execution's states that have other names after a migration. */
static List *
list_renamed(int machine_no, int64 execution_no, const Jsonb *renames)
{
	List	   *list = NIL;

	foreach_ptr(const SfHold, hold, sf_hold_of_machine(machine_no))
	{
		const char *state;
		Renamed    *renamed;

		if (hold->execution_no != execution_no || hold->state == NULL)
			continue;
		state = sf_renames_after(renames, hold->state);
		if (strcmp(state, hold->state) == 0)
			continue;
		renamed = palloc(sizeof(Renamed));
		*renamed = (Renamed) {hold->hold_no, state};
		list = lappend(list, renamed);
	}
	return list;
}

/*
 * Have the holds of an execution's states follow a migration; renames as in history_event.h.  Where two states
 * become one that is held, one of the holds ends: the branches that wait for it are due, and wait for the other one.
 */
void
sf_hold_rename_states(int machine_no, int64 execution_no, const Jsonb *renames)
{
	/* names may be exchanged: each gives its own away first; no state has an empty line in its name */
	static SfPlan give_away = SF_PLAN(
		"UPDATE _sfflow.hold h SET state = pg_catalog.format(E'%s\n\n', h.hold_no)"
		" WHERE h.hold_no = $1");
	static SfPlan take = SF_PLAN(
		"UPDATE _sfflow.hold h SET state = $2 WHERE h.hold_no = $1"
		" AND NOT EXISTS (SELECT FROM _sfflow.hold o WHERE o.kind = h.kind"
		"  AND o.name = h.name AND o.state = $2)");
	List	   *renamed = list_renamed(machine_no, execution_no, renames);

	foreach_ptr(Renamed, hold, renamed)
		(void) sf_db_execute(&give_away, SF_INT8(hold->hold_no));
	foreach_ptr(Renamed, hold, renamed)
	{
		if (sf_db_execute(&take, SF_INT8(hold->hold_no), SF_TEXT(hold->state)) == 0)
			(void) sf_hold_release(hold->hold_no);
	}
	if (renamed != NIL)
		sf_db_invalidate("hold");
}

/* List the numbers of the holds that there are of an object now. */
List *
sf_hold_list(SfObjectKind kind, const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT h.hold_no FROM _sfflow.hold h WHERE h.kind = $1 AND h.name = $2"
		" ORDER BY h.hold_no");

	List	   *numbers = NIL;

	sf_snapshot_read_now(&plan, sf_row_append_number, &numbers, SF_TEXT(sf_object_kind_name(kind)), SF_TEXT(name));
	return numbers;
}
