/*
 * start_line.c
 *		Starts with a key: which execution gets the input, and when it starts.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/hooks.h"
#include "feature/start_key/start_key.h"
#include "run/apply/apply.h"
#include "run/execution/lifecycle.h"
#include "store/branch/park.h"
#include "store/state_machine/program_cache.h"

/* When an execution starts by the option of its version, if its first start was at a time; DT_NOBEGIN: at once. */
static TimestampTz
find_time(const SfStartKeyOption *option, TimestampTz first)
{
	const SfDebounce *debounce;
	TimestampTz at;

	if (option->mode != SF_START_KEY_DEBOUNCE)
		return DT_NOBEGIN;
	debounce = sf_start_key_debounce(option);
	at = GetCurrentTimestamp() + debounce->delay_us;
	return debounce->max_delay_us == SF_NO_MAX_DELAY ? at : Min(at, first + debounce->max_delay_us);
}

/* Have a start take the execution that waits; false: it has been stopped, or is gone. */
static bool
take_waiting(SfExecution *wanted, const SfStartKeyOption *option, int64 execution_no)
{
	SfExecution *there = sf_execution_read(execution_no, SF_LOCK_NONE, true);
	bool		differs;

	if (there == NULL || there->status != SF_STATUS_RUNNING)
		return false;
	differs = !sf_json_is_equal(there->input, wanted->input);
	if (!sf_start_key_keeps_first(option))
	{
		wanted->start.at = find_time(option, there->requested_at);
		if (!sf_lifecycle_replace(execution_no, wanted))
			return false;
		/* should the transaction roll back */
		sf_hooks.branch_locked();
	}
	sf_apply_request(there, sf_start_key_keeps_first(option) ? SF_START_OUTCOME_SKIPPED : SF_START_OUTCOME_REPLACED, differs);
	wanted->execution_no = execution_no;
	wanted->execution_id = there->execution_id;
	wanted->requested_at = there->requested_at;
	return true;
}

/* An execution is to begin: find its key, lock it, and see whether one that waits takes its place. */
SfBegan
sf_start_key_enter_line(SfExecution *execution, const void *option)
{
	const SfStartKeyOption *o = option;
	char	   *key = sf_start_key_eval(execution, o);
	int64		waiting;

	/* where a parent waits for the execution, no other start may have its answer */
	if (key == NULL || o == NULL || (sf_execution_is_waited_for(execution) && o->mode == SF_START_KEY_DEBOUNCE))
		return SF_BEGAN_NEW;
	/* a name that is taken has its own rules; that is decided by the insert */
	if (!execution->start.has_new_uuid && sf_execution_find_head(execution->execution_id) != NULL)
		return SF_BEGAN_NOT;
	sf_start_key_lock(execution->machine_no, key);
	waiting = o->mode == SF_START_KEY_FIFO || sf_execution_is_waited_for(execution) ? 0 :
		sf_start_key_find_waiting(execution->machine_no, key);
	if (waiting != 0 && take_waiting(execution, o, waiting))
		return sf_start_key_keeps_first(o) ? SF_BEGAN_KEPT : SF_BEGAN_REPLACED;
	SF_OF_START(execution, sf_start_key_option) = key;
	execution->start.at = find_time(o, GetCurrentTimestamp());
	return SF_BEGAN_NEW;
}

/*
 * An execution that has entered a line begins, and its root is written next: it is parked if others are before it.
 * Under an old snapshot they may have left since: then it is due, and the worker that comes to it sees.
 */
void
sf_start_key_begins(const SfExecution *execution, SfBranch *root)
{
	const SfStartKeyOption *option;
	const char *key = SF_OF_START(execution, sf_start_key_option);

	if (key == NULL)
		return;
	option = sf_program_cache_find(execution->machine_no, execution->version)->compiled[sf_start_key_option];
	if (option->mode != SF_START_KEY_DEBOUNCE && !IsolationUsesXactSnapshot() && root->due_at <= GetCurrentTimestamp() &&
		!sf_start_key_is_empty(execution->machine_no, key))
		sf_park_in_line(root, "start_key");
	sf_start_key_put(execution->execution_no, execution->machine_no, key,
					 sf_execution_is_waited_for(execution) ? SF_LINE_PLACE_WAITS_AGAIN : SF_LINE_PLACE_WAITS);
}

/* Refuse a start by name that would have another key than the execution has. */
static void
require_same_key(const SfExecution *there, const SfKeyedStart *keyed, const char *key)
{
	if (keyed == NULL ? key == NULL : key != NULL && strcmp(keyed->key, key) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("execution \"%s\" cannot be replaced by a start with another start key", there->execution_id),
			 errdetail("It has %s%s%s, and the call %s%s%s.",
					   keyed == NULL ? "none" : "\"", keyed == NULL ? "" : keyed->key, keyed == NULL ? "" : "\"",
					   key == NULL ? "none" : "\"", key == NULL ? "" : key, key == NULL ? "" : "\""),
			 errhint("Stop it, and start another one.")));
}

/* An execution that has ended (NULL: it has no key) leaves its line, if it keeps its place; false: it does not. */
bool
sf_start_key_leave(const SfKeyedStart *keyed)
{
	if (keyed == NULL || (keyed->place != SF_LINE_PLACE_BLOCKS && keyed->place != SF_LINE_PLACE_ENDED))
		return false;
	/* an old snapshot does not show what waits */
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the line of start key \"%s\" cannot go on under an old snapshot", keyed->key),
				 errhint("Use READ COMMITTED.")));
	sf_start_key_lock(keyed->machine_no, keyed->key);
	sf_start_key_set_place(keyed->execution_no, SF_LINE_PLACE_LEFT);
	if (sf_start_key_advance(keyed->machine_no, keyed->key))
		return true;
	sf_start_key_set_place(keyed->execution_no, SF_LINE_PLACE_ENDED);
	sf_hooks.sweep_soon();
	return true;
}

/* A start names an execution that is there, and that is to begin anew, or to have another input before it begins. */
void
sf_start_key_reenter_line(const SfExecution *there, SfExecution *wanted, const void *option, bool restarts)
{
	const SfStartKeyOption *o = option;
	const SfKeyedStart *keyed = sf_start_key_find(there->execution_no);
	char	   *key = sf_start_key_eval(wanted, o);

	if (!restarts)
	{
		/* a version without the option stands in no line */
		if (o != NULL)
			require_same_key(there, sf_start_key_option_of(there) == NULL ? NULL : keyed, key);
		if (key != NULL && o != NULL)
			wanted->start.at = find_time(o, there->requested_at);
		return;
	}
	(void) sf_start_key_leave(keyed);
	if (key == NULL || o == NULL)
		return;
	sf_start_key_lock(there->machine_no, key);
	if (o->mode != SF_START_KEY_FIFO && sf_start_key_find_waiting(there->machine_no, key) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_EXECUTION_RUNNING),
				 errmsg("execution \"%s\" cannot be restarted: another one waits for the start key \"%s\"",
						there->execution_id, key),
				 errhint("Stop that one first, or start with this input and without the name.")));
	sf_start_key_put(there->execution_no, there->machine_no, key, SF_LINE_PLACE_WAITS);
	wanted->start.at = find_time(o, GetCurrentTimestamp());
}
