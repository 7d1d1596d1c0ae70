/*
 * redrive_items.c
 *		Run again what has failed in a Distributed Map that tolerated it.
 *
 * The run, the state and the execution have succeeded, and stay so: their
 * output was handed on.  The item executions that did not succeed are redriven as
 * executions; when they end, the run's counters follow (apply_map_run.c), and no
 * branch is told.  Locks: the execution, its runs, then the item executions, which
 * have ended.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "run/apply/apply.h"
#include "run/execution/lifecycle.h"
#include "run/execution/redrive_items.h"
#include "transition/state/map_state.h"

/* Redrive an item execution of a run, unless it runs again or has succeeded by now. */
static void
redrive_unsuccessful(SfMapRun *map_run, int64 item_execution_no)
{
	SfExecution *item_execution = sf_execution_read(item_execution_no, SF_LOCK_WAIT, false);

	if (item_execution != NULL && item_execution->status != SF_STATUS_RUNNING &&
		item_execution->status != SF_STATUS_SUCCEEDED)
		sf_lifecycle_redrive_item(map_run, item_execution);
}

/* Record in the run and in the history that item executions of it run again. */
static void
note_redrive(SfDraft *draft, SfMapRun *map_run)
{
	map_run->redrive_count++;
	sf_apply_map_run(map_run);
	sf_draft_add_event(draft, SF_HISTORY_EVENT_MAP_RUN_REDRIVEN,
					   sf_map_redriven_extra(draft->execution,
											 &draft->program->states[map_run->state],
											 map_run),
					   GetCurrentTimestamp());
}

/* Redrive the item executions of a run (item_execution_no not 0: one of them); how many. */
static int
redrive_run(SfDraft *draft, SfMapRun *map_run, int64 item_execution_no)
{
	const SfExecution *execution = draft->execution;
	List	   *item_executions = sf_map_run_unsuccessful(execution->execution_no, map_run->map_run_no);
	int			begun = 0;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow redriven item", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	foreach_ptr(const int64, no, item_executions)
	{
		CHECK_FOR_INTERRUPTS();
		if (item_execution_no != 0 && item_execution_no != *no)
			continue;
		redrive_unsuccessful(map_run, *no);
		MemoryContextReset(context);
		begun++;
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (begun > 0)
		note_redrive(draft, map_run);
	return begun;
}

/*
 * Run again what has failed in Distributed Maps of an execution that has
 * succeeded all the same, because the failures were tolerated: its item executions
 * that did not succeed, or (item_execution_no not 0) one of them.  The execution, whose
 * row the caller has locked, keeps its status and its output.  Returns how many
 * item executions begin; *from (may be NULL) gets the names of the Map states.
 */
int
sf_redrive_tolerated(SfExecution *execution, int64 item_execution_no, char **from)
{
	SfDraft	   *draft;
	StringInfoData names;
	int			begun = 0;
	ListCell   *lc;

	sf_feature_require_unfrozen(execution);
	draft = sf_draft_make_locked(execution);
	initStringInfo(&names);
	foreach(lc, sf_map_run_tolerant(execution->execution_no))
	{
		SfMapRun   *map_run = sf_map_run_read(execution->execution_no,
											  *(int64 *) lfirst(lc), SF_LOCK_WAIT);
		int			n = redrive_run(draft, map_run, item_execution_no);

		begun += n;
		if (n > 0)
			appendStringInfo(&names, "%s\"%s\"", names.len == 0 ? "" : ", ",
							 draft->program->states[map_run->state].name);
	}
	if (begun > 0)
		sf_drafts_write(list_make1(draft));
	if (from != NULL)
		*from = names.data;
	return begun;
}

/*
 * Run again n item executions of a run whose execution has succeeded all the same; the caller
 * has locked the execution's row.  redrive locks and redrives the i-th of them.  Returns
 * how many begin.
 */
int
sf_redrive_items(SfExecution *parent, int64 map_run_no, int n, SfRedriveItem redrive, void *arg)
{
	SfDraft	   *draft;
	SfMapRun   *map_run;
	int			begun = 0;

	sf_feature_require_unfrozen(parent);
	draft = sf_draft_make_locked(parent);
	map_run = sf_map_run_read(parent->execution_no, map_run_no, SF_LOCK_WAIT);
	for (int i = 0; i < n; i++)
	{
		SfStatus	before;
		const SfExecution *item_execution = redrive(i, &before, arg);

		if (item_execution == NULL)
			continue;
		sf_map_run_count_redriven(map_run, before, item_execution->map_items);
		begun++;
	}
	if (begun > 0)
	{
		note_redrive(draft, map_run);
		sf_drafts_write(list_make1(draft));
	}
	return begun;
}
