/*
 * apply_rows.c
 *		Write single rows at once, and not with a draft.
 */
#include "postgres.h"

#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "run/apply/apply.h"
#include "store/alert/alert.h"
#include "store/branch/due.h"
#include "store/role/owner.h"

/* Insert an execution; false when its id is taken. */
bool
sf_apply_insert(SfExecution *execution)
{
	return sf_execution_insert(execution);
}

/* Insert executions of one machine; inserted tells which ids were not taken. */
void
sf_apply_insert_all(SfExecution *const *executions, int n, bool *inserted)
{
	sf_execution_insert_all(executions, n, inserted);
}

/* Write one branch. */
void
sf_apply_branch(SfBranch *branch)
{
	sf_branch_write(list_make1(branch));
}

/* Write branches. */
void
sf_apply_branches(List *branches)
{
	sf_branch_write(branches);
}

/* Note a call of sf_start that found the execution. */
void
sf_apply_request(const SfExecution *execution, SfStartOutcome outcome,
				 bool input_differs)
{
	sf_execution_note_request(execution, outcome, input_differs);
}

/* Give an execution, whose row the caller has locked, other labels. */
void
sf_apply_labels(SfExecution *execution, Jsonb *labels)
{
	sf_transition_execution_relabel(execution, labels);
	sf_execution_write_labels(execution);
}

/* Note that an execution that has failed goes on. */
void
sf_apply_note_resumed(const SfExecution *execution)
{
	int			times = sf_alert_close(execution->execution_no);

	if (times > 0)
		sf_notice_failure(execution, times, SF_ALERT_CLEARED);
}

/* Delete a branch, unless it is locked, whose execution went with its machine. */
void
sf_apply_orphan(SfBranchKey key)
{
	sf_branch_delete_orphan(key);
}

/* Give a branch to the role that owns its machine now. */
bool
sf_apply_set_owner(SfBranchKey key, Oid from, Oid to)
{
	return sf_owner_set_branch(key, from, to);
}

/* Have an owner's work be due that the wall clock, set back, shows as ahead. */
void
sf_apply_set_back(Oid owner, TimestampTz now, int64 by)
{
	sf_branch_set_back(owner, now, by);
}

/* Make due what an object that is gone has parked in no queue; returns how many branches. */
int64
sf_apply_unpark_object(const char *feature, int64 object_no)
{
	return sf_park_unpark_object(feature, object_no);
}

/* Make due what is in the queues of an object that is gone. */
void
sf_apply_unpark_queues(const char *feature, int64 object_no)
{
	sf_park_unpark_queues(feature, object_no);
}

/* Make due what a feature has parked of an execution; false: not all, since a session works on some of it. */
bool
sf_apply_unpark_next(const char *feature, int64 execution_no)
{
	int64		parked = sf_park_count(feature, execution_no);

	return parked == 0 || sf_park_unpark_next(feature, execution_no) == parked;
}

/* Make due what waits in a queue for what an execution, or its parent, has by now. */
void
sf_apply_unpark_within(SfQueue queue, int64 execution_no)
{
	sf_park_unpark_within(queue, execution_no);
}

/* Make due what children of an execution's Distributed Maps wait for in queues, which the Map may have. */
void
sf_apply_unpark_items(int64 execution_no)
{
	sf_park_unpark_items(execution_no);
}

/* Branches that have come from another node are of the owners of their machines here, and ask anew what parks them. */
void
sf_apply_arrived(SfArg executions, const Jsonb *parked)
{
	sf_park_unpark_arrived(parked);
	sf_owner_set_of(executions);
}

/* Make a branch due that waits in a queue, if it does; false: another session has it locked. */
bool
sf_apply_recall(SfBranchKey key)
{
	SfBranch   *branch = sf_branch_read(key, SF_LOCK_SKIP);

	if (branch != NULL && sf_branch_is_parked(branch) && sf_park_leave_queue(branch))
	{
		sf_branch_come_at(branch, GetCurrentTimestamp());
		sf_apply_branch(branch);
	}
	return branch != NULL;
}

/* Make a branch due later. */
void
sf_apply_put_off(SfBranchKey key, int ms)
{
	PushActiveSnapshot(GetTransactionSnapshot());
	sf_branch_put_off(key, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms));
	PopActiveSnapshot();
}

/*
 * Ask for the end of an execution as ABORTED: the slice that claims its STOP
 * branch ends it.  This waits for no lock.
 */
void
sf_apply_stop_request(int64 execution_no, Oid owner, TimestampTz due, char *cause)
{
	SfBranch   *stop = sf_branch_make_stop(execution_no, owner, due, cause);

	if (sf_branch_read(stop->key, SF_LOCK_NONE) == NULL)
		sf_branch_write(list_make1(stop));
}

/* Take such requests back; waits for a worker that is about to carry one out. */
void
sf_apply_take_back_stops(const List *executions)
{
	sf_branch_delete_stops(executions);
}

/* Delete every branch of an execution, and the items of its Maps, at once. */
void
sf_apply_delete_all(const SfExecution *execution)
{
	sf_branch_delete_all(execution->execution_no);
	sf_map_item_delete_all(execution->execution_no);
}
