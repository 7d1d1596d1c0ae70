/*
 * limit_slot.c
 *		Slots of limits: locks by number, and the rows of those that are taken for longer
 *		than a transaction.
 *
 * A limit of n has the slots 1 to n for each value of its key.  A transaction takes one
 * with a lock that it never waits for, and then looks for the slot's row, also one that
 * another transaction has inserted or deleted and that has not ended: if there is a row,
 * the slot is taken.  What occupies the slot and ends within the transaction writes nothing:
 * the lock ends with the transaction, also when the process dies.  What outlives it
 * inserts the slot's row before the commit, while the number is still locked; so nothing
 * waits for another transaction.  To release such a slot its row is deleted.
 *
 * After the commit, the locks are released before the queues are told that there is room:
 * PostgreSQL would release them a little later, and a worker that looks at once would find
 * the slot taken.
 *
 * When a limit is lowered, or set while something runs, slots above the limit are in use.
 * Until they are free again (SfLimit.highest), a slot is only taken while fewer than
 * max_running are, of all numbers; a lock keeps two transactions from counting at
 * the same time.  What is locked above the limit is read from the lock table, once
 * in each process, for it only gets less; and those that are free below it are tried, one more
 * than are in use above.  That costs what is in use, and not what the limit once allowed, nor
 * what is locked for other reasons.
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/pg_prng.h"

#include "base/memory/xact_array.h"
#include "feature/limit/limit_slot.h"
#include "feature/limit/limit_slot_lock.h"
#include "store/branch/noted_queue.h"
#include "store/execution/status.h"

/* A slot that was taken for nothing has its queue tried again after this */
#define SLOT_RECHECK_MS			100

/* Numbers that are tried by chance before the rows are read */
#define MAX_GUESSES	3

/* Slots that this transaction has locked (base/memory/xact_array.c) */
static SfXactSlot *xact_slots = NULL;
static int	nxact_slots = 0;
static int	xact_slots_size = 0;

/* Queues to be told at the end of the transaction that there may be room */
typedef struct Wake
{
	SfQueue		queue;
	Oid			owner;
} Wake;

static Wake *wakes = NULL;
static int	nwakes = 0;
static int	wakes_size = 0;

/* --- the transaction --- */

/*
 * A slot is free again: tell its queue.  If nothing has taken it, what waits was locked by
 * others; to look again at once would find the same.
 */
static void
wake_queue(const SfXactSlot *slot)
{
	if (slot->used)
		sf_queue_wake_if_waiting(slot->queue, InvalidOid);
	else
		sf_queue_wake_later(slot->queue, sf_tick_plus_ms(sf_tick_now(), SLOT_RECHECK_MS));
}

/*
 * The transaction ends: release the locks, then tell the queues.  After a rollback what
 * waited still waits.  A prepared transaction keeps its locks.  Its end tells no queue, but
 * has a worker look at all of them, which finds the room (worker/session/prepared.c).
 */
static void
on_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT)
	{
		for (int i = 0; i < nxact_slots; i++)
			sf_limit_slot_lock_release(xact_slots[i].queue, xact_slots[i].slot);
		for (int i = 0; i < nxact_slots; i++)
			wake_queue(&xact_slots[i]);
		for (int i = 0; i < nwakes; i++)
		{
			/* since it was noted, another process may have found the queue empty */
			if (OidIsValid(wakes[i].owner))
				sf_queue_note_waiting(wakes[i].queue, wakes[i].owner);
			sf_queue_wake_if_waiting(wakes[i].queue, wakes[i].owner);
		}
	}
	nxact_slots = nwakes = 0;
	xact_slots = sf_xact_array_recycle(xact_slots, &xact_slots_size);
	wakes = sf_xact_array_recycle(wakes, &wakes_size);
}

/*
 * A subtransaction ends.  Of one that is rolled back the slots stay locked.  Each is free for
 * others to take in this transaction, unless it has a row again, which the subtransaction had
 * deleted: may_have_row has that checked.
 */
static void
on_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	int			level = GetCurrentTransactionNestLevel();

	if (event != SUBXACT_EVENT_ABORT_SUB && event != SUBXACT_EVENT_COMMIT_SUB)
		return;
	for (int i = 0; i < nxact_slots; i++)
	{
		if (xact_slots[i].level < level)
			continue;
		if (event == SUBXACT_EVENT_ABORT_SUB)
		{
			xact_slots[i].occupant.kind = SF_OCCUPANT_NONE;
			xact_slots[i].may_have_row = true;
		}
		xact_slots[i].level = level - 1;
	}
}

/* Register the callbacks of transactions, once. */
static void
watch_transactions(void)
{
	static bool registered = false;

	if (registered)
		return;
	RegisterXactCallback(on_transaction, NULL);
	RegisterSubXactCallback(on_subtransaction, NULL);
	registered = true;
}

/* Have a queue told at the commit that there may be room, or (with an owner) that something waits. */
void
sf_limit_slot_wake_at_commit(SfQueue queue, Oid owner)
{
	watch_transactions();
	for (int i = nwakes - 1; i >= 0 && i >= nwakes - 16; i--)
		if (sf_queue_equals(wakes[i].queue, queue))
		{
			if (OidIsValid(owner))
				wakes[i].owner = owner;
			return;
		}
	wakes = sf_xact_array_grow(wakes, nwakes, &wakes_size, sizeof(Wake));
	wakes[nwakes++] = (Wake) {queue, owner};
}

/* --- taking --- */

/* Lock a free slot of those that are not known to be taken; 0: none is free. */
static int
search(SfQueue queue, int max, const Bitmapset *known)
{
	int			first = pg_prng_uint64_range(&pg_global_prng_state, 0, max - 1);

	for (int i = 0; i < max; i++)
	{
		int			slot = (first + i) % max + 1;

		if (!bms_is_member(slot, known) && sf_limit_slot_lock_free(queue, slot))
			return slot;
	}
	return 0;
}

/* Lock a free slot; 0: none is free. */
static int
lock_any(const SfLimit *limit, SfQueue queue)
{
	int			max = limit->max_running;
	Bitmapset  *rows;
	int			slot;

	if (limit->highest > max)
		return sf_limit_slot_lock_counting(limit, queue);
	for (int i = 0; i < MAX_GUESSES; i++)
	{
		slot = pg_prng_uint64_range(&pg_global_prng_state, 1, max);
		if (sf_limit_slot_lock_free(queue, slot))
			return slot;
	}
	rows = sf_limit_slot_rows(queue);
	slot = bms_num_members(rows) < max ? search(queue, max, rows) : 0;
	bms_free(rows);
	return slot;
}

/* The greatest slot of a limit that is in use, of all queues; 0: none is. */
int
sf_limit_slot_highest(int64 limit_no)
{
	int			n;
	SfLockedSlot *locked = sf_limit_slot_lock_list(limit_no, 0, &n);
	Bitmapset  *slots = sf_limit_slot_rows_of(limit_no);
	int			highest;

	for (int i = 0; i < n; i++)
		slots = bms_add_member(slots, locked[i].slot);
	highest = Max(bms_prev_member(slots, -1), 0);
	bms_free(slots);
	return highest;
}

/* Lock a free slot for this transaction; NULL: none is free. */
SfXactSlot *
sf_limit_slot_take(const SfLimit *limit, SfQueue queue)
{
	int			slot;

	watch_transactions();
	xact_slots = sf_xact_array_grow(xact_slots, nxact_slots, &xact_slots_size, sizeof(SfXactSlot));
	slot = lock_any(limit, queue);
	if (slot == 0)
		return NULL;
	xact_slots[nxact_slots] = (SfXactSlot) {.queue = queue,.slot = slot,.level = GetCurrentTransactionNestLevel()};
	return &xact_slots[nxact_slots++];
}

/* Release a slot that nothing has used. */
void
sf_limit_slot_unlock(SfXactSlot *slot)
{
	SfXactSlot	unlocked = *slot;

	sf_limit_slot_lock_release(slot->queue, slot->slot);
	*slot = xact_slots[--nxact_slots];
	wake_queue(&unlocked);
}

/* The slots that this transaction has locked; a change of their number moves them. */
SfXactSlot *
sf_limit_xact_slots(int *n)
{
	*n = nxact_slots;
	return xact_slots;
}

/* --- rows --- */

/*
 * What occupies a slot, as its row has it: branch_no is null where the occupant is an execution as a whole, whose key
 * has SF_WHOLE_EXECUTION.  OCCUPANT() writes it, occupant_of() reads it.
 */
#define OCCUPANT(key) \
	SF_INT8((key).execution_no), \
	sf_query_arg(INT8OID, Int64GetDatum((key).branch_no), (key).branch_no == SF_WHOLE_EXECUTION)

/* Read the occupant of a slot. */
static SfBranchKey
occupant_of(HeapTuple tuple, TupleDesc desc, int execution_no, int branch_no)
{
	return (SfBranchKey) {sf_row_number(tuple, desc, execution_no, 0),
		sf_row_number(tuple, desc, branch_no, SF_WHOLE_EXECUTION)};
}

/* Insert the row of a slot. */
void
sf_limit_slot_insert(SfQueue queue, int slot, SfBranchKey occupant)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.limit_slot (limit_no, queue, slot, execution_no, branch_no)"
		" VALUES ($1, $2, $3, $4, $5)");

	sf_db_execute(&plan, SF_INT8(queue.object_no), SF_INT8(queue.hash), SF_INT4(slot), OCCUPANT(occupant));
}

/* Insert the row of a slot that is free; false: none is.  Others see the row, and need no lock to. */
bool
sf_limit_slot_insert_free(const SfLimit *limit, SfQueue queue, SfBranchKey occupant)
{
	int			slot = lock_any(limit, queue);

	if (slot == 0)
		return false;
	sf_limit_slot_insert(queue, slot, occupant);
	sf_limit_slot_lock_release(queue, slot);
	return true;
}

/*
 * Insert the row of the first free slot above those that a limit allows, for what runs already.
 * Returns its number: the caller, who has locked the limit, has it counted.
 */
int
sf_limit_slot_insert_above(const SfLimit *limit, SfQueue queue, SfBranchKey occupant)
{
	Bitmapset  *rows = sf_limit_slot_rows(queue);
	int			slot = limit->max_running + 1;

	while (bms_is_member(slot, rows) || !sf_limit_slot_lock_free(queue, slot))
		slot++;
	sf_limit_slot_insert(queue, slot, occupant);
	sf_limit_slot_lock_release(queue, slot);
	bms_free(rows);
	return slot;
}

/* Read which slots of a queue have rows, in the current memory context, to give slots to many that run already. */
SfUncountedSlots
sf_limit_slots_uncounted(SfQueue queue)
{
	return (SfUncountedSlots) {.rows = sf_limit_slot_rows(queue)};
}

/* Is a slot free, and now locked?  Those that had rows were read once; a lock shows others that have one by now. */
static bool
lock_uncounted(const SfUncountedSlots *slots, SfQueue queue, int slot)
{
	return !bms_is_member(slot, slots->rows) && sf_limit_slot_lock_free(queue, slot);
}

/*
 * Insert the row of a slot for what runs already: of a free one of those that a limit allows, or
 * of the first free one above them.  Each number is tried once, however many slots are given.  If
 * slots above the limit are in use, those below it are left to steps to come, which count.
 * Returns its number: the caller, who has locked the limit, has it counted.
 */
int
sf_limit_slot_insert_uncounted(const SfLimit *limit, SfQueue queue, SfUncountedSlots *slots, SfBranchKey occupant)
{
	int			most = limit->highest > limit->max_running ? 0 : limit->max_running;
	bool		found = false;

	while (!found && slots->tried < most)
		found = lock_uncounted(slots, queue, ++slots->tried);
	slots->tried = found ? slots->tried : Max(slots->tried, limit->max_running);
	while (!found)
		found = lock_uncounted(slots, queue, ++slots->tried);
	sf_limit_slot_insert(queue, slots->tried, occupant);
	sf_limit_slot_lock_release(queue, slots->tried);
	return slots->tried;
}

/* What occupies a slot outlives the transaction. */
void
sf_limit_slot_store(SfXactSlot *slot, SfBranchKey occupant)
{
	sf_limit_slot_insert(slot->queue, slot->slot, occupant);
	slot->may_have_row = true;
	slot->level = GetCurrentTransactionNestLevel();
}

/* Rows of an occupant that are looked through */
typedef struct Search
{
	int64		limit_no;
	int64		hash;
	bool		any_queue;
	bool		found;
} Search;

/* Compare a row with what is looked for. */
static void
compare_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_limit_no = 1, COL_queue};
	Search	   *search = arg;

	if (sf_row_number(tuple, desc, COL_limit_no, 0) == search->limit_no &&
		(search->any_queue || sf_row_number(tuple, desc, COL_queue, 0) == search->hash))
		search->found = true;
}

static const SfIndex by_occupant = {"limit_slot", "limit_slot_occupant"};

/* Does a branch, or an execution as a whole, occupy a slot of a limit, maybe by a row that is not committed? */
bool
sf_limit_slot_has(SfBranchKey occupant, int64 limit_no)
{
	Search		search = {.limit_no = limit_no,.any_queue = true};

	sf_rows_read_dirty(&by_occupant, PG_INT32_MAX, compare_row, &search, OCCUPANT(occupant));
	return search.found;
}

/* Does an execution, or a branch of it, occupy a slot of a queue? */
bool
sf_limit_slot_has_within(int64 execution_no, SfQueue queue)
{
	Search		search = {.limit_no = queue.object_no,.hash = queue.hash};

	sf_rows_read(&by_occupant, PG_INT32_MAX, compare_row, &search, SF_INT8(execution_no));
	return search.found;
}

/* A slot was released: tell its queue at the commit. */
static void
read_released(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_limit_no = 1, COL_queue};
	SfQueue		queue = {sf_row_number(tuple, desc, COL_limit_no, 0), sf_row_number(tuple, desc, COL_queue, 0)};

	sf_limit_slot_wake_at_commit(queue, InvalidOid);
}

/* List the numbers of the limits of which branches of an execution occupy slots. */
List *
sf_limit_slot_limits(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT DISTINCT s.limit_no FROM _sfflow.limit_slot s WHERE s.execution_no = $1"
		" ORDER BY s.limit_no");

	return sf_db_numbers(&plan, SF_INT8(execution_no));
}

/* Release the slots of a branch. */
void
sf_limit_slot_release(SfBranchKey key)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.limit_slot s WHERE s.execution_no = $1 AND s.branch_no = $2"
		" RETURNING s.limit_no, s.queue");

	sf_db_read(&plan, read_released, NULL, SF_BRANCH_KEY(key));
}

/* Release the slots of one limit that a branch has. */
void
sf_limit_slot_release_one(SfBranchKey key, int64 limit_no)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.limit_slot s WHERE s.execution_no = $1 AND s.branch_no = $2"
		" AND s.limit_no = $3 RETURNING s.limit_no, s.queue");

	sf_db_read(&plan, read_released, NULL, SF_BRANCH_KEY(key), SF_INT8(limit_no));
}

/* Append a slot that a branch occupies to a list. */
static void
append_slot_row(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_execution_no = 1, COL_branch_no, COL_limit_no, COL_queue, COL_slot, COL_xmin};
	SfSlotRow  *row = palloc(sizeof(SfSlotRow));

	row->occupant = occupant_of(tuple, desc, COL_execution_no, COL_branch_no);
	row->queue.object_no = sf_row_number(tuple, desc, COL_limit_no, 0);
	row->queue.hash = sf_row_number(tuple, desc, COL_queue, 0);
	row->slot = (int) sf_row_number(tuple, desc, COL_slot, 0);
	row->written_by = (TransactionId) sf_row_number(tuple, desc, COL_xmin, InvalidTransactionId);
	*(List **) arg = lappend(*(List **) arg, row);
}

/* List the slots of a limit that branches occupy: a List of SfSlotRow. */
List *
sf_limit_slot_branches(int64 limit_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT s.execution_no, s.branch_no, s.limit_no, s.queue, s.slot, s.xmin FROM _sfflow.limit_slot s"
		" WHERE s.limit_no = $1"
		" AND s.branch_no IS NOT NULL ORDER BY s.execution_no, s.branch_no");

	return sf_db_list(&plan, append_slot_row, SF_ARGS(SF_INT8(limit_no)));
}

/* Delete slots that fulfil a condition, unless another session is giving them back */
#define RELEASE(condition) \
	"WITH free AS MATERIALIZED (SELECT s.limit_no, s.queue, s.slot FROM _sfflow.limit_slot s" \
	" WHERE " condition " FOR UPDATE SKIP LOCKED)" \
	" DELETE FROM _sfflow.limit_slot s USING free f WHERE s.limit_no = f.limit_no" \
	" AND s.queue = f.queue AND s.slot = f.slot RETURNING s.limit_no, s.queue"

/*
 * Give back a slot that the caller has found, and whose branch it has not locked; false: another
 * session is giving it back, or has done so, whether or not the branch has a slot again.
 */
bool
sf_limit_slot_try_release(const SfSlotRow *row)
{
	static SfPlan plan = SF_PLAN(RELEASE(
		"s.limit_no = $1 AND s.queue = $2 AND s.slot = $3"
		" AND s.execution_no = $4 AND s.branch_no = $5 AND s.xmin = $6"));

	return sf_db_run(InvalidOid, &plan, read_released, NULL,
					 SF_ARGS(SF_INT8(row->queue.object_no), SF_INT8(row->queue.hash), SF_INT4(row->slot),
							 SF_BRANCH_KEY(row->occupant),
							 sf_query_arg(XIDOID, TransactionIdGetDatum(row->written_by), false))) > 0;
}

/*
 * An execution ends: release the slots that it occupies as a whole, and those of its
 * branches.  A task that another session still runs keeps its own.
 */
void
sf_limit_slot_release_execution(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(RELEASE(
		"s.execution_no = $1 AND NOT EXISTS ("
		" SELECT FROM _sfflow.branch b WHERE b.execution_no = s.execution_no"
		" AND b.branch_no = s.branch_no AND b.phase = $2)"));

	sf_db_read(&plan, read_released, NULL, SF_INT8(execution_no), SF_INT2(SF_PHASE_ANNOUNCED));
}

/*
 * Executions of a machine that is dropped are deleted: release their slots, but those of branches that
 * are left, whose tasks workers still run.  Once these are deleted their slots are found (sf_limit_slot_reap).
 */
void
sf_limit_slot_release_executions(SfArg numbers)
{
	static SfPlan plan = SF_PLAN(RELEASE(
		"s.execution_no = ANY ($1) AND NOT EXISTS (SELECT FROM _sfflow.branch b"
		" WHERE b.execution_no = s.execution_no AND b.branch_no = s.branch_no)"));

	sf_db_read(&plan, read_released, NULL, numbers);
}

/* Delete the slots of a limit. */
void
sf_limit_slot_delete_of_limit(int64 limit_no)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.limit_slot s WHERE s.limit_no = $1");

	sf_db_execute_now(&plan, SF_INT8(limit_no));
}

/*
 * A machine is dropped, and its limits with it: delete their slots, also those of branches whose tasks workers
 * still run.  Nothing waits for them.
 */
void
sf_limit_slot_delete_of_machine(int machine_no)
{
	static SfPlan plan = SF_PLAN(RELEASE(
		"s.limit_no IN (SELECT l.limit_no FROM _sfflow.run_limit l WHERE l.machine_no = $1)"));

	sf_db_execute(&plan, SF_INT4(machine_no));
}

/*
 * Delete slots whose occupants are gone: a backstop, for each is deleted with what it is
 * for.  Those of a transaction that has not committed are not seen.
 */
void
sf_limit_slot_reap(void)
{
	static SfPlan plan = SF_PLAN(RELEASE(
		"CASE WHEN s.branch_no IS NULL THEN NOT EXISTS (SELECT FROM _sfflow.execution e"
		"  WHERE e.execution_no = s.execution_no AND e.status = $1)"
		" ELSE NOT EXISTS (SELECT FROM _sfflow.branch b WHERE b.execution_no = s.execution_no"
		"  AND b.branch_no = s.branch_no AND " SF_LIMIT_SLOT_IS_OF("$2") ") END"));

	sf_db_read(&plan, read_released, NULL, SF_INT2(SF_STATUS_RUNNING), SF_INT2S(SF_PHASES_INSIDE));
}
