/*
 * state_status.c
 *		Derive the status of every state of an execution.
 *
 * The events say what happened to each state within certain iterations of the
 * Maps around it (visits.c).  A state without events is "entry" if it can still
 * be entered, else "skip".
 *
 * This holds for states whose events the machine's history keeps.  For other
 * states only the branches tell whether they run, are about to begin, or have
 * failed; otherwise they are "unknown".  So are the states inside a
 * Distributed Map, which other executions run.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "report/job.h"
#include "report/report.h"
#include "report/visits.h"
#include "store/map_run/map_run.h"
#include "store/state_machine/program_cache.h"

/* The status of a state by what became of its last visit. */
static SfGraphStatus
status_of_end(SfVisitEnd end)
{
	switch (end)
	{
		case SF_VISIT_END_NONE:
			return SF_GRAPH_ENTRY;
		case SF_VISIT_END_RUNS:
			return SF_GRAPH_RUNNING;
		case SF_VISIT_END_LEFT:
		case SF_VISIT_END_SKIPPED:
			return SF_GRAPH_SUCCESS;
		case SF_VISIT_END_CUT_OFF:
		case SF_VISIT_END_FAILED:
		case SF_VISIT_END_ABORTED:
			return SF_GRAPH_FAILURE;
	}
	return SF_GRAPH_FAILURE;
}

/* Tell how much a status counts when several iterations share a state. */
static int
weight(SfGraphStatus status)
{
	switch (status)
	{
		case SF_GRAPH_FAILURE:
			return 4;
		case SF_GRAPH_RUNNING:
			return 3;
		case SF_GRAPH_SUCCESS:
			return 2;
		case SF_GRAPH_ENTRY:
			return 1;
		case SF_GRAPH_SKIP:
		case SF_GRAPH_UNKNOWN:
			return 0;
	}
	return 0;
}

/*
 * Add a status to those that a state has; the weightiest stays.  A state is aborted if all
 * its failures are.
 */
static void
add_status(SfGraphFacts *facts, SfGraphStatus status, bool aborted)
{
	if (status == SF_GRAPH_FAILURE)
		facts->aborted = aborted && (facts->aborted || facts->status != SF_GRAPH_FAILURE);
	if (weight(status) > weight(facts->status))
		facts->status = status;
}

/* Add an iteration to those of its Map. */
static void
add_iteration(SfGraphFacts *facts, const SfStateInstance *iteration)
{
	if (iteration->end == SF_VISIT_END_LEFT)
		facts->iterations_succeeded++;
	else if (iteration->end == SF_VISIT_END_FAILED)
		facts->iterations_failed++;
}

/* Add the visits of a state within certain iterations to those within others. */
static void
add_visits(SfGraphFacts *facts, const SfStateInstance *instance, bool lasts)
{
	int64		duration = sf_visits_duration(instance, lasts);

	facts->visits += instance->visits;
	facts->attempts += instance->attempts;
	if (sf_duration_is_known(duration))
		facts->duration = (sf_duration_is_known(facts->duration) ? facts->duration : 0) + duration;
	if (instance->items != SF_NO_ITEMS)
		facts->iterations = (facts->iterations == SF_NO_ITERATIONS ? 0 : facts->iterations) + instance->items;
}

/* Tell what a branch says about the state at which it stands. */
static SfGraphStatus
branch_status(const SfBranch *branch, bool running)
{
	switch (branch->phase)
	{
		case SF_PHASE_ENTER:
			return running ? SF_GRAPH_ENTRY : SF_GRAPH_UNKNOWN;
		case SF_PHASE_RUN:
		case SF_PHASE_NET:
		case SF_PHASE_WAIT:
		case SF_PHASE_JOIN:
		case SF_PHASE_ANNOUNCED:
		case SF_PHASE_ANSWERED:
		case SF_PHASE_EXTERNAL:
		case SF_PHASE_MAP_WRITE:
		case SF_PHASE_MAP_ANSWERED:
			return running ? SF_GRAPH_RUNNING : SF_GRAPH_UNKNOWN;
		case SF_PHASE_FAILED:
			return SF_GRAPH_FAILURE;
		case SF_PHASE_DONE:
		case SF_PHASE_ABORTED:
		case SF_PHASE_KEPT:
		case SF_PHASE_TIMEOUT:
		case SF_PHASE_STOP:
			return SF_GRAPH_UNKNOWN;
	}
	return SF_GRAPH_UNKNOWN;
}

/* Find the instance of the state at which a branch stands; NULL: nothing has happened there. */
static SfStateInstance *
instance_of_branch(const SfVisits *visits, const SfBranch *branch)
{
	SfStateInstanceKey key = {branch->state, branch->niterations, branch->iterations};
	SfStateInstance *instance = hash_search(visits->instances, &key, HASH_FIND, NULL);

	return instance == NULL || instance->is_iteration ? NULL : instance;
}

/* Tell whether a visit that failed was to be done again by the last redrive. */
static bool
failed_before_redrive(const SfVisits *visits, const SfStateInstance *instance)
{
	return status_of_end(instance->end) == SF_GRAPH_FAILURE && instance->last_event < visits->redriven;
}

/*
 * What has failed has the status of the branch that stands there, which waits for a retry or
 * was redriven.  After a redrive it is "entry" if a branch can come to it.
 */
static void
follow_live_branches(SfVisits *visits, List *branches, SfStateReach *reach)
{
	HASH_SEQ_STATUS scan;
	SfStateInstance *instance;

	foreach_ptr(const SfBranch, branch, branches)
	{
		SfGraphStatus status = branch_status(branch, true);

		instance = instance_of_branch(visits, branch);
		if (instance == NULL || status_of_end(instance->end) != SF_GRAPH_FAILURE)
			continue;
		if (status == SF_GRAPH_ENTRY && failed_before_redrive(visits, instance))
			instance->end = SF_VISIT_END_NONE;
		else if (status == SF_GRAPH_RUNNING)
			instance->end = SF_VISIT_END_RUNS;
	}
	hash_seq_init(&scan, visits->instances);
	while ((instance = hash_seq_search(&scan)) != NULL)
		if (!instance->is_iteration && failed_before_redrive(visits, instance) &&
			sf_reach_test(reach, instance->key.number, instance->key.iterations,
						  instance->key.niterations))
			instance->end = SF_VISIT_END_NONE;
}

/*
 * A task that committed when its execution, or the state around it, had been stopped has its
 * outcome in the branch only, until a redrive goes on from it.
 */
static void
follow_outcomes(const SfVisits *visits, List *branches, bool running)
{
	foreach_ptr(const SfBranch, branch, branches)
	{
		SfStateInstance *instance;

		if (!sf_job_has_stored_outcome(branch, running) ||
			visits->program->states[branch->state].type != SF_STATE_TASK)
			continue;
		instance = instance_of_branch(visits, branch);
		if (instance != NULL)
			instance->end = sf_branch_outcome_failed(branch) ? SF_VISIT_END_FAILED : SF_VISIT_END_LEFT;
	}
}

/* Put the visits of all iterations together. */
static void
combine_visits(SfVisits *visits, bool running, SfGraphFacts *facts)
{
	HASH_SEQ_STATUS scan;
	SfStateInstance *instance;

	hash_seq_init(&scan, visits->instances);
	while ((instance = hash_seq_search(&scan)) != NULL)
	{
		SfVisitEnd	end = sf_visits_end(instance, running);

		if (instance->visits == 0 && instance->end == SF_VISIT_END_NONE)
			continue;			/* only known for what is within it, or for a mark */
		if (instance->is_iteration)
		{
			add_iteration(&facts[instance->key.number], instance);
			continue;
		}
		if (end == SF_VISIT_END_RUNS)
			sf_visits_continue(visits, instance);
		add_visits(&facts[instance->key.number], instance, end == SF_VISIT_END_RUNS);
		add_status(&facts[instance->key.number], status_of_end(end), end == SF_VISIT_END_ABORTED);
	}
}

/* Add what the runs of Distributed Maps say of their items. */
static void
add_map_runs(const SfExecutionHead *execution, const SfProgram *program,
			 SfGraphFacts *facts)
{
	foreach_ptr(const SfMapRun, run, sf_map_run_scan(execution->execution_no))
	{
		SfGraphFacts *map;

		if (!sf_program_has_state(program, run->state))
			continue;
		map = &facts[run->state];
		/* the last run of a state tells how far it is */
		map->iterations = run->total;
		map->iterations_succeeded = run->items_succeeded;
		map->iterations_failed = run->items_failed;
	}
}

/* Add what the branches say. */
static void
follow_branches(List *branches, bool running, const SfProgram *program,
				SfGraphFacts *facts)
{
	foreach_ptr(const SfBranch, branch, branches)
	{
		if (sf_program_has_state(program, branch->state))
			add_status(&facts[branch->state], branch_status(branch, running), false);
	}
}

/* Tell whether control can come to a state in an iteration to come. */
static bool
can_be_reached(const SfProgram *program, SfStateReach *reach, int state,
			   const SfGraphFacts *facts)
{
	int			owner = state;

	while ((owner = program->scopes[program->states[owner].scope].owner_state) != SF_NO_STATE)
	{
		if (program->states[owner].type != SF_STATE_MAP)
			continue;
		if (facts[owner].status == SF_GRAPH_RUNNING)
			return true;
		state = owner;
	}
	return sf_reach_test(reach, state, NULL, 0);
}

/* Tell whether the history would tell of a visit to a state. */
static bool
is_told(const SfProgram *program, const SfState *state, SfHistoryLevel history,
		int map_state)
{
	return (history == SF_HISTORY_LEVEL_ALL ||
			(history == SF_HISTORY_LEVEL_TASKS && state->type == SF_STATE_TASK)) &&
		sf_job_distributed_map(program, state->scope) == map_state;
}

/* Say of all states that nothing is known. */
static SfGraphFacts *
make_facts(const SfProgram *program)
{
	SfGraphFacts *facts = palloc0(sizeof(SfGraphFacts) * program->nstates);

	for (int i = 0; i < program->nstates; i++)
	{
		facts[i].status = SF_GRAPH_UNKNOWN;
		facts[i].duration = SF_NO_DURATION;
		facts[i].iterations = SF_NO_ITERATIONS;
	}
	return facts;
}

/*
 * Derive for each state number what the execution did there.  A state that was
 * visited several times shows the status of its last visit, and the time of
 * all.  Among the iterations of a Map, failure outranks running, and running
 * outranks success.  SF_GRAPH_UNKNOWN: the history has no events of the state,
 * and no branch stands there.
 */
SfGraphFacts *
sf_state_status_list(const SfExecutionHead *execution,
					 const SfProgram *program)
{
	bool		running = execution->status == SF_STATUS_RUNNING;
	SfHistoryLevel history = sf_program_cache_find(execution->machine_no,
												   execution->version)->history;
	List	   *branches = sf_branch_scan(execution->execution_no, program);
	SfGraphFacts *facts = make_facts(program);
	SfVisits   *visits = sf_visits_scan(execution, program, SF_VISITS_INSTANCES);
	SfStateReach *reach = sf_reach_make(execution, program, branches);

	if (running)
		follow_live_branches(visits, branches, reach);
	follow_outcomes(visits, branches, running);
	combine_visits(visits, running, facts);
	MemoryContextDelete(visits->context);
	add_map_runs(execution, program, facts);
	/* a complete history has said it all */
	if (history != SF_HISTORY_LEVEL_ALL)
		follow_branches(branches, running, program, facts);

	for (int i = 0; i < program->nstates; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (facts[i].status == SF_GRAPH_UNKNOWN &&
			is_told(program, &program->states[i], history, execution->map_state))
			facts[i].status = can_be_reached(program, reach, i, facts) ?
				SF_GRAPH_ENTRY : SF_GRAPH_SKIP;
	}
	return facts;
}
