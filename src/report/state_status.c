/*
 * state_status.c
 *		Derive the status of every state of an execution.
 *
 * The events say, in order, what happened to each state within certain
 * iterations of the Maps around it; the last event decides.  A state without
 * events is "entry" if it can still be entered, else "skip".
 *
 * This holds for states whose events the machine's history keeps.  For other
 * states only the branches tell whether they run, are about to begin, or have
 * failed; otherwise they are "unknown".  So are the states inside a
 * Distributed Map, which other executions run.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "asl/event_types.h"
#include "report/job_reach.h"
#include "report/label.h"
#include "report/place.h"
#include "store/program_cache.h"
#include "report/state_status.h"
#include "graph/graph.h"

typedef struct VisitEntry
{
	SfPlaceKey	key;			/* state, iterations */
	SfGraphStatus status;
} VisitEntry;

typedef struct Visits
{
	const SfProgram *program;
	MemoryContext context;		/* of the table; reset at a restart */
	HTAB	   *table;			/* VisitEntry */
} Visits;

/* Forget everything, at the beginning and when the execution restarts. */
static void
forget(Visits *v)
{
	MemoryContextReset(v->context);
	v->table = sf_place_hash("sfflow visits", sizeof(VisitEntry), v->context);
}

/* Find what is known of the state of an event within its iterations. */
static VisitEntry *
find_visit(Visits *v, const SfEvent *event)
{
	bool		found;
	VisitEntry *entry = sf_place_enter(v->table, event->state, event->iterations,
									   event->niterations, v->context, &found);

	if (!found)
		entry->status = SF_GRAPH_ENTRY;
	return entry;
}

/* Follow one event. */
static void
follow_event(const SfEvent *event, void *arg)
{
	Visits	   *v = arg;
	VisitEntry *visit;

	if (event->type == SF_EVENT_EXECUTION_STARTED)
		forget(v);
	if (event->state < 0 || event->state >= v->program->nstates ||
		!sf_event_type_is_of_state(event->type))
		return;

	visit = find_visit(v, event);
	switch (sf_event_type_meaning(event->type))
	{
		case SF_MEANS_ENTERED:
		case SF_MEANS_SCHEDULED:	/* again, when a retry or a redrive begins */
		case SF_MEANS_STARTED:
			visit->status = v->program->states[event->state].type == SF_STATE_FAIL ?
				SF_GRAPH_FAILURE : SF_GRAPH_RUNNING;
			break;
		case SF_MEANS_EXITED:
			/* a caught failure leaves the state too, and stays a failure */
			if (visit->status != SF_GRAPH_FAILURE)
				visit->status = SF_GRAPH_SUCCESS;
			break;
		case SF_MEANS_FAILED:
		case SF_MEANS_TIMED_OUT:
		case SF_MEANS_ABORTED:
			visit->status = SF_GRAPH_FAILURE;
			break;
		default:
			break;
	}
}

/* Tell how much a status counts when several iterations share a state. */
static int
weight(int status)
{
	switch (status)
	{
		case SF_GRAPH_FAILURE:
			return 3;
		case SF_GRAPH_RUNNING:
			return 2;
		case SF_GRAPH_SUCCESS:
			return 1;
		case SF_GRAPH_ENTRY:
			return 0;
		default:
			return -1;
	}
}

/* Add a status to those that a state has; the weightiest stays. */
static void
add_status(int *sum, int status)
{
	if (weight(status) > weight(*sum))
		*sum = status;
}

/* Put the visits of all iterations together. */
static void
combine_visits(Visits *v, bool running, int *statuses)
{
	HASH_SEQ_STATUS scan;
	VisitEntry *visit;

	hash_seq_init(&scan, v->table);
	while ((visit = hash_seq_search(&scan)) != NULL)
	{
		/* a visit that had not ended when the execution did has failed */
		if (visit->status == SF_GRAPH_RUNNING && !running)
			visit->status = SF_GRAPH_FAILURE;
		add_status(&statuses[visit->key.number], visit->status);
	}
}

/* Tell what a branch says about the state at which it stands. */
static int
branch_status(const SfBranch *branch, bool running)
{
	switch (branch->phase)
	{
		case SF_PHASE_ENTER:
			return running ? SF_GRAPH_ENTRY : SF_GRAPH_UNKNOWN;
		case SF_PHASE_RUN:
		case SF_PHASE_WAIT:
		case SF_PHASE_JOIN:
		case SF_PHASE_ANNOUNCED:
		case SF_PHASE_ANSWERED:
		case SF_PHASE_EXTERNAL:
			return running ? SF_GRAPH_RUNNING : SF_GRAPH_UNKNOWN;
		case SF_PHASE_FAILED:
			return SF_GRAPH_FAILURE;
		default:
			return SF_GRAPH_UNKNOWN;
	}
}

/* Add what the branches say. */
static void
follow_branches(List *branches, bool running, const SfProgram *program,
				int *statuses)
{
	ListCell   *lc;

	foreach(lc, branches)
	{
		const SfBranch *branch = lfirst(lc);

		if (branch->state >= 0 && branch->state < program->nstates)
			add_status(&statuses[branch->state], branch_status(branch, running));
	}
}

/* Tell whether control can come to a state in an iteration to come. */
static bool
can_be_reached(const SfProgram *program, SfJobReach *reach, int state,
			   const int *statuses)
{
	int			owner = state;

	while ((owner = program->scopes[program->states[owner].scope].owner_state) >= 0)
	{
		if (program->states[owner].type != SF_STATE_MAP)
			continue;
		if (statuses[owner] == SF_GRAPH_RUNNING)
			return true;
		state = owner;
	}
	return sf_job_reach_test(reach, state, NULL, 0);
}

/* Tell whether the history would tell of a visit to a state. */
static bool
is_told(const SfProgram *program, const SfState *state, SfHistoryLevel history,
		int map_state)
{
	return (history == SF_HISTORY_ALL ||
			(history == SF_HISTORY_TASKS && state->type == SF_STATE_TASK)) &&
		sf_label_distributed_map(program, state->scope) == map_state;
}

/*
 * Derive an SfGraphStatus for each state number.  A state that was visited
 * several times shows its last visit.  Among the iterations of a Map, failure
 * outranks running, and running outranks success.  SF_GRAPH_UNKNOWN: the
 * history has no events of the state, and no branch stands there.
 */
int *
sf_state_status_list(const SfStatusExecution *execution,
					 const SfProgram *program)
{
	bool		running = execution->status == SF_STATUS_RUNNING;
	SfHistoryLevel history = sf_program_cache_find(execution->machine_no,
												   execution->version)->history;
	List	   *branches = sf_branch_scan(execution->execution_no);
	int		   *statuses = palloc(sizeof(int) * program->nstates);
	Visits		v = {program, NULL, NULL};
	SfJobReach *reach;
	int			i;

	for (i = 0; i < program->nstates; i++)
		statuses[i] = SF_GRAPH_UNKNOWN;

	v.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow states",
									  ALLOCSET_DEFAULT_SIZES);
	forget(&v);
	sf_event_scan(execution->execution_no, false, follow_event, &v);
	combine_visits(&v, running, statuses);
	MemoryContextDelete(v.context);
	/* a complete history has said it all */
	if (history != SF_HISTORY_ALL)
		follow_branches(branches, running, program, statuses);

	reach = sf_job_reach_make(execution, program, branches);
	for (i = 0; i < program->nstates; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (statuses[i] == SF_GRAPH_UNKNOWN &&
			is_told(program, &program->states[i], history, execution->map_state))
			statuses[i] = can_be_reached(program, reach, i, statuses) ?
				SF_GRAPH_ENTRY : SF_GRAPH_SKIP;
	}
	return statuses;
}
