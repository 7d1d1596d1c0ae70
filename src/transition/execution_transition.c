/*
 * execution_transition.c
 *		What becomes of an execution: one function for each transition of its row.
 *
 * No other code changes these columns of an execution that is in the table: docs/architecture.md has a table of the
 * functions, which test/lint/door compares with the code.  The caller has locked the row and writes it afterwards
 * (sf_drafts_write, sf_apply_labels).
 */
#include "postgres.h"

#include "transition/transition.h"

/* Its first step begins. */
void
sf_transition_execution_begin(SfExecution *execution, TimestampTz at)
{
	execution->started_at = at;
}

/* It ends. */
void
sf_transition_execution_end(SfExecution *execution, const SfExecutionEnd *end, TimestampTz now)
{
	execution->status = end->status;
	execution->output = end->output;
	execution->error = unconstify(char *, end->error.name);
	execution->cause = unconstify(char *, end->error.cause);
	execution->stopped_at = now;
}

/* Forget how it ended. */
static void
clear_end(SfExecution *execution)
{
	execution->status = SF_STATUS_RUNNING;
	execution->stopped_at = DT_NOBEGIN;
	execution->output = NULL;
	execution->error = execution->cause = NULL;
}

/* It has ended without success and goes on.  It did not run in between. */
void
sf_transition_execution_redrive(SfExecution *execution, TimestampTz now)
{
	if (execution->stopped_at != DT_NOBEGIN)
		execution->idle_us += Max(now - execution->stopped_at, 0);
	clear_end(execution);
	execution->redrive_count++;
	execution->last_redriven_at = now;
}

/* It becomes the one that a start asks for.  Its id, its number and its history stay. */
static void
copy_start(SfExecution *execution, const SfExecution *wanted)
{
	execution->version = wanted->version;
	execution->qualifier = wanted->qualifier;
	execution->start.options = wanted->start.options;
	execution->start.at = wanted->start.at;
	execution->input = wanted->input;
	execution->labels = wanted->labels;
	execution->trace = wanted->trace;
	execution->row.is_started_anew = true;
}

/* It has ended and begins anew, as a start asks for it. */
void
sf_transition_execution_restart(SfExecution *execution, const SfExecution *wanted)
{
	clear_end(execution);
	execution->started_at = execution->last_redriven_at = DT_NOBEGIN;
	execution->idle_us = 0;
	copy_start(execution, wanted);
}

/* It has not begun, and becomes what another start asks for. */
void
sf_transition_execution_replace(SfExecution *execution, const SfExecution *wanted)
{
	copy_start(execution, wanted);
}

/* It goes on in another version of its machine. */
void
sf_transition_execution_migrate(SfExecution *execution, int version)
{
	execution->version = version;
}

/* It gets other labels. */
void
sf_transition_execution_relabel(SfExecution *execution, Jsonb *labels)
{
	execution->labels = labels;
}

/* Its history has further events. */
void
sf_transition_execution_add_events(SfExecution *execution, int last_event_id)
{
	execution->last_event_id = last_event_id;
}
