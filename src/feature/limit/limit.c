/*
 * limit.c
 *		Limits: the table, and a cache of it in each backend.
 *
 * Each backend keeps those of what it works with, as it does of the holds (feature/hold/hold.c), and
 * takes changes in before it begins a step.  Where there is no limit a step costs a look at a flag.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/xid8.h"

#include "base/error/debug_point.h"
#include "base/version/compat.h"
#include "feature/limit/limit.h"
#include "feature/limit/limit_rate.h"
#include "feature/limit/limit_slot.h"
#include "run/apply/apply.h"
#include "store/role/privilege.h"

/* Slots above a limit that was lowered are sought during this, and then until none is in use */
#define LOWERED_MS				60000

/* The words of kinds */
static const char *const kind_words[] = {SF_OBJECT_LIST(SF_OBJECT_WORD)};

#define ROW SfLimit
SF_ROW_TYPE(row_type, SF_RUN_LIMIT_COLUMNS, run_limit, 1);
#undef ROW

/* --- the cache --- */

/* Append a row to a list. */
static void
read_limit(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **limits = arg;
	SfLimit    *limit = palloc0(sizeof(SfLimit));
	SfError		error;

	sf_row_read(&row_type, tuple, desc, row_type.ncolumns, limit);
	if (limit->key != NULL)
		limit->key_path = sf_expr_compile(limit->key, SF_EXPR_PATH | SF_EXPR_INPUT, &error);
	*limits = lappend(*limits, limit);
}

/* Order limits: executions, states; by number. */
static int
compare_limits(const ListCell *a, const ListCell *b)
{
	const SfLimit *x = lfirst(a);
	const SfLimit *y = lfirst(b);

	if (sf_limit_is_of_executions(x) != sf_limit_is_of_executions(y))
		return sf_limit_is_of_executions(x) ? -1 : 1;
	return x->limit_no < y->limit_no ? -1 : x->limit_no > y->limit_no;
}

SfKeyedCache sf_limit_cache = {
	.cache = {.table = "run_limit",.load = sf_keyed_cache_begin,.is_latest = true},
	.index = {"run_limit", "run_limit_pkey"},
	.read = sf_keyed_cache_find,
	.rows = {
		.by = {
			[SF_CACHE_BY_NUMBER] = {"run_limit_pkey", INT8OID},
			[SF_CACHE_BY_OWNER] = {"run_limit_machine", INT4OID},
			[SF_CACHE_BY_NAME] = {"run_limit_target", TEXTOID}
		},
		.append = read_limit,
		.compare = compare_limits
	}
};

/* Tell whether there are limits now. */
bool
sf_limit_is_any(void)
{
	return sf_keyed_cache_is_any(&sf_limit_cache);
}

/*
 * The limits of a machine and of its states that there are now, a List of SfLimit, those of its
 * executions first: valid until the next call of this kind.
 */
const List *
sf_limit_of_machine(int machine_no)
{
	return sf_keyed_cache_get(&sf_limit_cache, &(SfCacheKey) {.by = SF_CACHE_BY_OWNER,.number = machine_no});
}

/* The limits of a resource or an activity, likewise. */
const List *
sf_limit_of_name(SfObjectKind kind, const char *name)
{
	return sf_keyed_cache_get(&sf_limit_cache, &(SfCacheKey) {.by = SF_CACHE_BY_NAME,.kind = sf_object_kind_name(kind),.name = name});
}

/* Find a limit by its number; NULL: there is none now. */
const SfLimit *
sf_limit_by_number(int64 limit_no)
{
	return sf_list_first(sf_keyed_cache_get(&sf_limit_cache, &(SfCacheKey) {.by = SF_CACHE_BY_NUMBER,.number = limit_no}));
}

/* --- the table --- */

/* What identifies a limit, as arguments $1 to $6; without an owner, those of all owners */
#define SAME \
	" l.kind = $1 AND l.name = $2 AND l.state IS NOT DISTINCT FROM $3 AND l.key IS NOT DISTINCT FROM $4" \
	" AND l.in_definition = $5"
#define TARGET	SAME " AND ($6 IS NULL OR l.for_owner = $6)"
#define TARGET_ARGS(limit) \
	SF_TEXT(sf_object_kind_name((limit)->kind)), SF_TEXT((limit)->name), SF_TEXT((limit)->state), \
	SF_TEXT((limit)->key), SF_BOOL((limit)->in_definition), \
	sf_query_arg(REGROLEOID, ObjectIdGetDatum((limit)->for_owner), !OidIsValid((limit)->for_owner))

/* What sf_limit_set finds of an earlier limit */
typedef struct Earlier
{
	int64		limit_no;
	int			max_running;
	int			highest;
} Earlier;

/* Read an earlier limit. */
static void
read_earlier(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_limit_no = 1, COL_max_running, COL_highest};
	Earlier    *earlier = arg;

	earlier->limit_no = sf_row_number(tuple, desc, COL_limit_no, 0);
	earlier->max_running = sf_row_number(tuple, desc, COL_max_running, 0);
	earlier->highest = sf_row_number(tuple, desc, COL_highest, 0);
}

/* What the insertion or update of a limit returns */
typedef struct Written
{
	int64		limit_no;		/* 0: nothing was written */
	bool		is_first;		/* of its owner */
} Written;

/* Read what was written. */
static void
read_written(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_limit_no = 1, COL_is_first};
	*(Written *) arg = (Written) {sf_row_number(tuple, desc, COL_limit_no, 0),
	sf_row_number(tuple, desc, COL_is_first, 0)};
}

/* Lock the earlier limit of the same target and key, of the current user. */
static Earlier
lock_earlier(const SfLimit *limit)
{
	static SfPlan find = SF_PLAN(
		"SELECT l.limit_no, l.max_running, l.highest FROM _sfflow.run_limit l WHERE" SAME
		" AND l.for_owner IS NOT DISTINCT FROM $6 FOR UPDATE");
	Earlier		earlier = {0};

	sf_db_read(&find, read_earlier, &earlier, TARGET_ARGS(limit));
	return earlier;
}

/*
 * Up to which number slots of a limit may be in use that is set in place of an earlier one.  If that
 * had none, the transactions that have taken some under a still earlier one may have them yet.
 */
static int
highest_beside(const SfLimit *limit, const Earlier *earlier)
{
	if (!sf_limit_has_slots(limit) || earlier->limit_no == 0)
		return limit->max_running;
	if (earlier->max_running == SF_NO_SLOTS)
		return Max(limit->max_running, sf_limit_slot_highest(earlier->limit_no));
	return Max(limit->max_running, Max(earlier->max_running, earlier->highest));
}

/*
 * Insert a limit, or update the earlier one, which the caller has locked.  Nothing is written if
 * another session has inserted one that the caller has not seen: this waits for it, and then locks it.
 */
static Written
write_limit(const SfLimit *limit, const Earlier *earlier, bool counts_anew)
{
	static SfPlan insert = SF_PLAN(
		"INSERT INTO _sfflow.run_limit (kind, name, state, key, in_definition, for_owner, machine_no,"
		" max_running, highest, rate, per, fails, set_at, set_by, counted, uncounted_at, roles_hash)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, pg_catalog.clock_timestamp(), $13, $14,"
		" pg_catalog.clock_timestamp(),"
		" (SELECT o.roles_hash FROM _sfflow.run_limit o WHERE o.for_owner = $6 AND o.roles_hash IS NOT NULL LIMIT 1))"
		" ON CONFLICT (kind, name, state, key, in_definition, for_owner)"
		" DO UPDATE SET max_running = excluded.max_running, highest = excluded.highest,"
		" rate = excluded.rate, per = excluded.per, fails = excluded.fails,"
		" set_at = excluded.set_at, set_by = excluded.set_by,"
		SF_LIMIT_COUNT_AGAIN("excluded.counted AND ($8 IS NULL OR run_limit.counted)")
		" WHERE run_limit.limit_no = $15"
		" RETURNING limit_no, for_owner IS NOT NULL AND roles_hash IS NULL AS is_first");
	Written		written = {0};

	sf_db_read(&insert, read_written, &written, TARGET_ARGS(limit),
			   sf_query_arg(INT4OID, Int32GetDatum(limit->machine_no), limit->machine_no == SF_NO_MACHINE),
			   sf_query_arg(INT4OID, Int32GetDatum(limit->max_running), !sf_limit_has_slots(limit)),
			   SF_INT4(highest_beside(limit, earlier)),
			   sf_query_arg(FLOAT8OID, Float8GetDatum(limit->rate), !sf_limit_has_rate(limit)),
			   sf_query_arg(INT8OID, Int64GetDatum(limit->per), !sf_limit_has_rate(limit)), SF_BOOL(limit->fails),
			   SF_TEXT(GetUserNameFromId(GetUserId(), false)),
			   SF_BOOL(!counts_anew), SF_INT8(earlier->limit_no));
	return written;
}

/*
 * Set a limit of the current user, in place of an earlier one of the same target and key.  What
 * another session has set meanwhile is not overwritten unseen, for slots above its limit may be in use.
 */
SfLimitSet
sf_limit_set(const SfLimit *limit)
{
	SfLimitSet	set = {0};
	Written		written;
	Earlier		earlier;

	if (sf_limit_has_rate(limit))
		sf_limit_rate_begin();
	do
	{
		CHECK_FOR_INTERRUPTS();
		earlier = lock_earlier(limit);
		set.counts_anew = sf_limit_has_slots(limit) && earlier.max_running == SF_NO_SLOTS;
		written = write_limit(limit, &earlier, set.counts_anew);
	} while (written.limit_no == 0);
	set.limit_no = written.limit_no;
	set.is_new = earlier.limit_no == 0;
	sf_privilege_anchor(limit->for_owner);
	if (written.is_first)
		sf_limit_note_owner(limit->for_owner);
	if (!set.is_new && !sf_limit_has_slots(limit))
		sf_limit_slot_delete_of_limit(set.limit_no);
	sf_db_invalidate("run_limit");
	/* what waits may begin; what runs without slots is counted */
	if (!set.is_new || set.counts_anew)
		sf_hooks.scan_at(GetCurrentTimestamp());
	return set;
}

/* Note that slots up to a number may be in use. */
void
sf_limit_raise_highest(int64 limit_no, int highest)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.run_limit l SET highest = $2 WHERE l.limit_no = $1 AND l.highest < $2");

	if (sf_db_execute(&plan, SF_INT8(limit_no), SF_INT4(highest)) > 0)
		sf_db_invalidate("run_limit");
}

/* Append a limit that was lowered: what identifies it, and its numbers. */
static void
read_lowered(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **lowered = arg;
	Earlier    *limit = palloc(sizeof(Earlier));

	read_earlier(tuple, desc, limit);
	*lowered = lappend(*lowered, limit);
}

/*
 * A while after limits were lowered: note of those that have no slot in use above them any
 * more that this is so.  One that another session has locked has its turn later.
 */
void
sf_limit_lower_highest(void)
{
	static SfPlan find = SF_PLAN(
		"SELECT l.limit_no, l.max_running, l.highest FROM _sfflow.run_limit l"
		" WHERE l.highest > l.max_running AND l.set_at < $1");
	/* those who give slots above a limit have locked it: what they have given is seen behind the lock */
	static SfPlan lock = SF_PLAN(
		"SELECT 1::pg_catalog.int8 FROM _sfflow.run_limit l WHERE l.limit_no = $1"
		" AND l.max_running = $2 AND l.highest = $3 FOR UPDATE SKIP LOCKED");
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.run_limit l SET highest = l.max_running WHERE l.limit_no = $1");
	TimestampTz until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), -LOWERED_MS);
	List	   *lowered = sf_db_list(&find, read_lowered, SF_ARGS(SF_TIME(until)));

	foreach_ptr(const Earlier, limit, lowered)
	{
		if (sf_limit_slot_highest(limit->limit_no) > limit->max_running)
			continue;
		SF_DEBUG_POINT("limit-lowered");
		if (sf_db_number(&lock, 0, SF_INT8(limit->limit_no), SF_INT4(limit->max_running),
						 SF_INT4(limit->highest)) > 0 &&
			sf_limit_slot_highest(limit->limit_no) <= limit->max_running)
		{
			sf_db_execute(&plan, SF_INT8(limit->limit_no));
			sf_db_invalidate("run_limit");
		}
	}
}

/* List the numbers of the limits of which not all that runs may have slots: first those behind a number. */
List *
sf_limit_uncounted(int64 behind)
{
	static SfPlan plan = SF_PLAN(
		"SELECT l.limit_no FROM _sfflow.run_limit l WHERE NOT l.counted"
		" ORDER BY l.limit_no <= $1, l.limit_no");

	return sf_db_numbers(&plan, SF_INT8(behind));
}

/* Append what waits within an execution to a list. */
static void
append_within(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_limit_no = 1, COL_queue, COL_execution_no};
	SfWaitsWithin *within = palloc(sizeof(SfWaitsWithin));

	within->queue.object_no = sf_row_number(tuple, desc, COL_limit_no, 0);
	within->queue.hash = sf_row_number(tuple, desc, COL_queue, 0);
	within->execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	*(List **) arg = lappend(*(List **) arg, within);
}

/*
 * List the executions that were redriven and have what some of their branches still wait for: a
 * List of SfWaitsWithin.  A session that had claimed such a branch while the others were
 * told, and was rolled back, leaves it so.
 */
List *
sf_limit_waits_within(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT DISTINCT s.limit_no, s.queue, s.execution_no FROM _sfflow.limit_slot s"
		" JOIN _sfflow.execution e ON e.execution_no = s.execution_no"
		" LEFT JOIN _sfflow.branch j ON j.execution_no = s.execution_no AND j.branch_no = s.branch_no"
		" WHERE e.redrive_count > 0 AND (s.branch_no IS NULL OR j.phase = $1)"
		" AND EXISTS (SELECT FROM (SELECT s.execution_no UNION ALL SELECT c.execution_no FROM _sfflow.execution c"
		"   WHERE j.map_run_no IS NOT NULL AND c.parent_execution_no = s.execution_no) x"
		"  JOIN _sfflow.parked w ON w.execution_no = x.execution_no"
		"  JOIN _sfflow.branch b ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no"
		"  WHERE w.object_no = s.limit_no AND w.queue = s.queue"
		/* another branch that comes to the same state needs a slot for itself */
		"  AND (j.state IS NULL OR b.state <> j.state))");

	return sf_db_list(&plan, append_within, SF_ARGS(SF_INT2(SF_PHASE_JOIN)));
}

/* Delete a limit with its slots, and make due what waits for it. */
static void
delete_number(int64 limit_no)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.run_limit l WHERE l.limit_no = $1 RETURNING l.for_owner");

	List	   *owners = NIL;

	sf_db_read_now(&plan, sf_row_append_number, &owners, SF_INT8(limit_no));
	foreach_ptr(const int64, owner, owners)
		sf_privilege_unanchor((Oid) *owner);
	sf_limit_slot_delete_of_limit(limit_no);
	/* a branch that another transaction is queueing meanwhile is found by the scan that follows (slice_queues.c) */
	sf_apply_unpark_queues("limit", limit_no);
	sf_db_invalidate("run_limit");
	sf_hooks.scan_at(GetCurrentTimestamp());
}

/* Delete the limits of a list of numbers. */
void
sf_limit_delete_numbers(List *numbers)
{
	ListCell   *lc;

	foreach(lc, numbers)
		delete_number(*(int64 *) lfirst(lc));
}

/* Delete the limit of a target and a key; false: there is none. */
bool
sf_limit_delete(const SfLimit *target)
{
	static SfPlan plan = SF_PLAN("SELECT l.limit_no FROM _sfflow.run_limit l WHERE" TARGET " ORDER BY l.limit_no");

	List	   *numbers = sf_db_numbers(&plan, TARGET_ARGS(target));

	sf_limit_delete_numbers(numbers);
	return numbers != NIL;
}

/*
 * Give the limits of a role's machines to another role; one whose target and key that role
 * has limited, too, is deleted.  The scans count the others anew.  All are locked first, in the
 * order of their numbers, as others lock them.
 */
void
sf_limit_pass_on(Oid from, Oid to)
{
	static SfPlan lock = SF_PLAN(
		"SELECT l.limit_no FROM _sfflow.run_limit l WHERE l.for_owner = $1 ORDER BY l.limit_no FOR UPDATE");
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.run_limit l SET for_owner = $2, roles_hash = NULL," SF_LIMIT_COUNT_AGAIN("l.max_running IS NULL")
		" WHERE l.for_owner = $1"
		" AND NOT EXISTS (SELECT FROM _sfflow.run_limit o WHERE o.kind = l.kind"
		"  AND o.name = l.name AND o.key IS NOT DISTINCT FROM l.key"
		"  AND o.in_definition = l.in_definition AND o.for_owner = $2)");
	static SfPlan left = SF_PLAN(
		"SELECT l.limit_no FROM _sfflow.run_limit l WHERE l.for_owner = $1 ORDER BY l.limit_no");

	sf_db_execute(&lock, SF_ROLE(from));
	sf_db_execute(&plan, SF_ROLE(from), SF_ROLE(to));
	sf_limit_note_owner(to);
	sf_db_invalidate("run_limit");
	sf_limit_delete_numbers(sf_db_numbers(&left, SF_ROLE(from)));
}

/* Delete the limits that there are now of an object that is dropped. */
void
sf_limit_delete_of_object(SfObjectKind kind, const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT l.limit_no FROM _sfflow.run_limit l WHERE l.kind = $1 AND l.name = $2"
		" ORDER BY l.limit_no");

	List	   *numbers = NIL;

	sf_snapshot_read_now(&plan, sf_row_append_number, &numbers, SF_TEXT(sf_object_kind_name(kind)), SF_TEXT(name));
	sf_limit_delete_numbers(numbers);
}

/* Lock the limits that the definition of a machine has set, and list their numbers. */
List *
sf_limit_lock_defined(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT l.limit_no FROM _sfflow.run_limit l WHERE l.machine_no = $1 AND l.in_definition"
		" ORDER BY l.limit_no FOR UPDATE");

	return sf_db_numbers(&plan, SF_INT4(machine_no));
}

/* Append a key to a list. */
static void
append_key(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no};
	SfBranchKey *key = palloc(sizeof(SfBranchKey));

	key->execution_no = sf_row_number(tuple, desc, COL_execution_no, 0);
	key->branch_no = sf_row_number(tuple, desc, COL_branch_no, 0);
	*(List **) arg = lappend(*(List **) arg, key);
}

/* Has the occupant b, or o, no slot of the limit $1? */
#define HAS_NO_SLOT(execution, is_branch) \
	" AND NOT EXISTS (SELECT FROM _sfflow.limit_slot s WHERE s.execution_no = " execution \
	" AND s.branch_no" is_branch " AND s.limit_no = $1)"

/*
 * List what runs now of a machine, may occupy slots of a limit, and has none of it: executions that
 * have begun, or branches.
 */
List *
sf_limit_running(const SfLimit *limit, int machine_no)
{
	static SfPlan whole = SF_PLAN(
		"SELECT e.execution_no, 0::pg_catalog.int8 FROM _sfflow.open_execution o"
		" JOIN _sfflow.execution e ON e.execution_no = o.execution_no"
		" WHERE o.machine_no = $2 AND o.status = $3 AND e.map_run_no IS NULL"
		HAS_NO_SLOT("o.execution_no", " IS NULL") " ORDER BY e.execution_no");
	static SfPlan parts = SF_PLAN(
		"SELECT b.execution_no, b.branch_no FROM _sfflow.open_execution o"
		" JOIN _sfflow.branch b ON b.execution_no = o.execution_no"
		" WHERE o.machine_no = $2 AND o.status = $3 AND " SF_LIMIT_SLOT_IS_OF("$4")
		HAS_NO_SLOT("b.execution_no", " = b.branch_no")
		" ORDER BY b.execution_no, b.branch_no");

	if (sf_limit_is_of_executions(limit))
		return sf_db_list(&whole, append_key,
						  SF_ARGS(SF_INT8(limit->limit_no), SF_INT4(machine_no),
								  SF_INT2(SF_STATUS_RUNNING)));
	return sf_db_list(&parts, append_key,
					  SF_ARGS(SF_INT8(limit->limit_no), SF_INT4(machine_no),
							  SF_INT2(SF_STATUS_RUNNING), SF_INT2S(SF_PHASES_INSIDE)));
}

/*
 * Tell whether a transaction that is seen to have committed has told other processes of what it
 * has changed: its locks are released after that.
 */
static bool
has_told(TransactionId transaction)
{
	return !TransactionIdIsCurrentTransactionId(transaction) &&
		ConditionalXactLockTableWait(transaction SF_XACT_LOCK_EXTRA_ARG);
}

/* Lock a limit against those who count what runs; up to which number slots may be in use, -1: it was dropped. */
int
sf_limit_lock(int64 limit_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT l.highest FROM _sfflow.run_limit l WHERE l.limit_no = $1 FOR NO KEY UPDATE");

	return (int) sf_db_number(&plan, -1, SF_INT8(limit_no));
}

/*
 * Lock a limit of which not all that runs may have slots, and tell how far the count of that is, as SfCountStage says.
 * This is the only place where the columns are read for that.
 */
SfCountStage
sf_limit_lock_uncounted(int64 limit_no)
{
	static SfPlan lock = SF_PLAN(
		"SELECT l.xmin FROM _sfflow.run_limit l WHERE l.limit_no = $1 AND NOT l.counted"
		" FOR UPDATE SKIP LOCKED");
	/* a horizon that is not reached yet may also be one of another server, whose dump was restored */
	static SfPlan see = SF_PLAN(
		"UPDATE _sfflow.run_limit l SET horizon = $2 WHERE l.limit_no = $1"
		" AND (l.horizon IS NULL OR l.horizon > $2)");
	static SfPlan is_reached = SF_PLAN(
		"SELECT 1::pg_catalog.int8 FROM _sfflow.run_limit l WHERE l.limit_no = $1"
		" AND l.horizon <= pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())");
	FullTransactionId next;
	TransactionId written_by = sf_db_number(&lock, InvalidTransactionId, SF_INT8(limit_no));

	if (!TransactionIdIsValid(written_by))
		return SF_COUNT_ELSEWHERE;
	/* the transaction that sets it has everything scanned once it has told of it */
	if (!has_told(written_by))
		return SF_COUNT_UNTOLD;
	/* not the end of a snapshot, which leaves out what began after the last transaction that has ended */
	next = ReadNextFullTransactionId();
	if (sf_db_execute(&see, SF_INT8(limit_no), sf_query_arg(XID8OID, FullTransactionIdGetDatum(next), false)) > 0)
		return SF_COUNT_FIRST;
	return sf_db_number(&is_reached, 0, SF_INT8(limit_no)) != 0 ? SF_COUNT_LAST : SF_COUNT_BETWEEN;
}

/* Not all that runs may have slots of a limit, from here on, and some may have slots in vain. */
void
sf_limit_set_uncounted(int64 limit_no)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.run_limit l SET" SF_LIMIT_COUNT_AGAIN("false")
		" WHERE l.limit_no = $1 AND l.max_running IS NOT NULL");

	sf_db_execute(&plan, SF_INT8(limit_no));
	sf_db_invalidate("run_limit");
	sf_hooks.scan_at(GetCurrentTimestamp());
}

/* All that runs has slots of a limit, from here on. */
void
sf_limit_set_counted(int64 limit_no)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.run_limit l SET counted = true, horizon = NULL WHERE l.limit_no = $1");

	sf_db_execute(&plan, SF_INT8(limit_no));
	sf_db_invalidate("run_limit");
}
