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
#include "utils/timestamp.h"

#include "asl/event_types.h"
#include "report/job.h"
#include "report/job_reach.h"
#include "report/label.h"
#include "report/place.h"
#include "store/program_cache.h"
#include "report/state_status.h"
#include "store/map_run.h"

/* A state within certain iterations, or an iteration of a Map state */
typedef struct VisitEntry
{
	SfPlaceKey	key;			/* state, iterations */
	bool		is_iteration;	/* ... the last of which is its own */
	struct VisitEntry *around;	/* Parallel, Map or JobNet state; NULL: none */
	SfGraphStatus status;
	bool		aborted;		/* it has not failed by itself */
	int			visits;
	int			attempts;
	int64		duration;		/* of the visits, as far as they have ended */
	TimestampTz entered_at;		/* DT_NOBEGIN: not in the state */
	int			last_event;		/* its last one; 0: it has none */
	int			touched;		/* last event of it or within it */
	TimestampTz touched_at;
	int64		niterations;	/* that its last attempt has begun with; -1: no Map */
} VisitEntry;

typedef struct Visits
{
	const SfProgram *program;
	MemoryContext context;		/* of the table; reset at a restart */
	HTAB	   *table;			/* VisitEntry */
	int			redriven;		/* event of the last redrive; 0: none */
	TimestampTz redriven_at;
} Visits;

/* Forget everything, at the beginning and when the execution restarts. */
static void
forget(void *arg)
{
	Visits	   *v = arg;

	MemoryContextReset(v->context);
	v->redriven = 0;
	v->table = sf_place_hash("sfflow visits", sizeof(VisitEntry), v->context);
}

/* Find what is known of a state within iterations; of a new one also what is around it. */
static VisitEntry *
find_place(Visits *v, const SfPlaceKey *key, bool is_iteration)
{
	bool		found;
	VisitEntry *entry = sf_place_enter(v->table, key->number, key->iterations, key->niterations,
									   v->context, &found);
	SfPlaceKey	around = *key;

	if (found)
		return entry;
	memset((char *) entry + sizeof(SfPlaceKey), 0, sizeof(VisitEntry) - sizeof(SfPlaceKey));
	entry->is_iteration = is_iteration;
	entry->status = SF_GRAPH_ENTRY;
	entry->entered_at = DT_NOBEGIN;
	entry->niterations = -1;
	if (is_iteration)
		around.niterations--;
	if (is_iteration || sf_place_around(v->program, key, &around))
		entry->around = find_place(v, &around, false);
	return entry;
}

/* Does an event begin a Parallel, Map or JobNet, for the first time or once more? */
static bool
begins_children(const SfEvent *event)
{
	return event->type == SF_EVENT_PARALLEL_STATE_STARTED ||
		event->type == SF_EVENT_MAP_STATE_STARTED || event->type == SF_EVENT_JOBNET_STATE_STARTED;
}

/*
 * A visit lasts beyond the redrive of the execution: it goes on with it.  The time in which the
 * execution did not run does not count.
 */
static void
go_on_after_redrive(Visits *v, VisitEntry *visit)
{
	if (visit->entered_at == DT_NOBEGIN || visit->touched >= v->redriven)
		return;
	visit->duration += visit->touched_at - visit->entered_at;
	visit->entered_at = v->redriven_at;
	visit->touched = v->redriven;
	if (sf_state_has_children(&v->program->states[visit->key.number]))
		visit->attempts++;
}

/* Something happens within a place, and so within what is around it. */
static void
touch(Visits *v, VisitEntry *visit, const SfEvent *event)
{
	for (; visit != NULL; visit = visit->around)
	{
		go_on_after_redrive(v, visit);
		visit->touched = event->id;
		visit->touched_at = event->at;
	}
}

/* Find what is known of the state of an event within its iterations. */
static VisitEntry *
find_visit(Visits *v, const SfEvent *event, bool is_iteration)
{
	SfPlaceKey	key = {event->state, event->niterations, (int *) event->iterations};
	VisitEntry *entry = find_place(v, &key, is_iteration);

	entry->last_event = event->id;
	return entry;
}

/* Follow an event of an iteration, which names the Map. */
static void
follow_iteration(Visits *v, const SfEvent *event, SfEventMeaning meaning)
{
	VisitEntry *iteration = find_visit(v, event, true);

	touch(v, iteration, event);
	iteration->status = meaning == SF_MEANS_SUCCEEDED ? SF_GRAPH_SUCCESS :
		meaning == SF_MEANS_FAILED ? SF_GRAPH_FAILURE : SF_GRAPH_RUNNING;
}

/* Note with how many items a Map begins. */
static void
note_items(VisitEntry *visit, const SfEvent *event)
{
	Jsonb	   *length = event->extra == NULL ? NULL : sf_json_get(event->extra, "length");
	JsonbValue	number;

	if (length == NULL)
		return;
	sf_json_root(length, &number);
	sf_json_to_int64(&number, &visit->niterations);
}

/* Note when a state is entered and left, and the attempts in between. */
static void
measure_visit(Visits *v, VisitEntry *visit, const SfEvent *event, SfEventMeaning meaning)
{
	int			attempts = visit->attempts;

	if (meaning == SF_MEANS_ENTERED)
	{
		/* a visit that was not left ended with its last event */
		if (visit->entered_at != DT_NOBEGIN)
			visit->duration += visit->touched_at - visit->entered_at;
		visit->entered_at = DT_NOBEGIN;
	}
	touch(v, visit, event);
	if (meaning == SF_MEANS_ENTERED)
	{
		visit->visits++;
		visit->entered_at = event->at;
	}
	else if (meaning == SF_MEANS_EXITED && visit->entered_at != DT_NOBEGIN)
	{
		visit->duration += event->at - visit->entered_at;
		visit->entered_at = DT_NOBEGIN;
	}
	else if (meaning == SF_MEANS_SCHEDULED || begins_children(event))
		visit->attempts = attempts + 1;
	if (event->type == SF_EVENT_MAP_STATE_STARTED)
		note_items(visit, event);
}

/* Follow one event. */
static void
follow_event(const SfEvent *event, void *arg)
{
	Visits	   *v = arg;
	SfEventMeaning meaning = sf_event_type_meaning(event->type);
	VisitEntry *visit;

	if (event->type == SF_EVENT_EXECUTION_STARTED)
		forget(v);
	else if (event->type == SF_EVENT_EXECUTION_REDRIVEN)
	{
		v->redriven = event->id;
		v->redriven_at = event->at;
	}
	if (event->state < 0 || event->state >= v->program->nstates)
		return;
	if (sf_event_type_is_of_iteration(event->type))
		follow_iteration(v, event, meaning);
	if (!sf_event_type_is_of_state(event->type))
		return;

	visit = find_visit(v, event, false);
	measure_visit(v, visit, event, meaning);
	switch (meaning)
	{
		case SF_MEANS_ENTERED:
		case SF_MEANS_SCHEDULED:	/* again, when a retry or a redrive begins */
		case SF_MEANS_STARTED:
			visit->status = v->program->states[event->state].type == SF_STATE_FAIL ?
				SF_GRAPH_FAILURE : SF_GRAPH_RUNNING;
			visit->aborted = false;
			break;
		case SF_MEANS_SUCCEEDED:
			/* a redrive of what is inside mends a Map or Parallel that failed */
			if (visit->status == SF_GRAPH_FAILURE)
				visit->status = SF_GRAPH_RUNNING;
			break;
		case SF_MEANS_EXITED:
			/* a caught failure leaves the state too, and stays a failure */
			if (visit->status != SF_GRAPH_FAILURE)
				visit->status = SF_GRAPH_SUCCESS;
			break;
		case SF_MEANS_ABORTED:
			visit->aborted = visit->aborted || visit->status != SF_GRAPH_FAILURE;
			visit->status = SF_GRAPH_FAILURE;
			break;
		case SF_MEANS_FAILED:
		case SF_MEANS_TIMED_OUT:
			visit->status = SF_GRAPH_FAILURE;
			visit->aborted = false;
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
add_iteration(SfGraphFacts *facts, const VisitEntry *iteration)
{
	if (iteration->status == SF_GRAPH_SUCCESS)
		facts->iterations_succeeded++;
	else if (iteration->status == SF_GRAPH_FAILURE)
		facts->iterations_failed++;
}

/* Add the visits of a state within certain iterations to those within others. */
static void
add_visits(SfGraphFacts *facts, const VisitEntry *visit, bool running)
{
	facts->visits += visit->visits;
	facts->attempts += visit->attempts;
	if (visit->visits > 0)
		facts->duration = Max(facts->duration, 0) + visit->duration;
	/* a state that failed without being left counts up to its last event */
	if (visit->entered_at != DT_NOBEGIN)
		facts->duration += Max(0, (running && visit->status == SF_GRAPH_RUNNING ?
								   GetCurrentTimestamp() : visit->touched_at) -
							   visit->entered_at);
	if (visit->niterations >= 0)
		facts->iterations = Max(facts->iterations, 0) + visit->niterations;
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

/* Tell whether a visit that failed was to be done again by the last redrive. */
static bool
failed_before_redrive(const Visits *v, const VisitEntry *visit)
{
	return visit->status == SF_GRAPH_FAILURE && visit->last_event < v->redriven;
}

/*
 * After a redrive, what failed before has the status of the branch that stands there
 * again, or is "entry" if one can come to it.
 */
static void
follow_redrive(Visits *v, List *branches, SfJobReach *reach)
{
	HASH_SEQ_STATUS scan;
	VisitEntry *visit;
	ListCell   *lc;

	foreach(lc, branches)
	{
		const SfBranch *branch = lfirst(lc);
		SfPlaceKey	key = {branch->state, branch->niterations, branch->iterations};

		visit = hash_search(v->table, &key, HASH_FIND, NULL);
		if (visit != NULL && !visit->is_iteration && failed_before_redrive(v, visit))
		{
			int			status = branch_status(branch, true);

			if (status != SF_GRAPH_UNKNOWN)
				visit->status = status;
		}
	}
	hash_seq_init(&scan, v->table);
	while ((visit = hash_seq_search(&scan)) != NULL)
		if (!visit->is_iteration && failed_before_redrive(v, visit) &&
			sf_job_reach_test(reach, visit->key.number, visit->key.iterations,
							  visit->key.niterations))
			visit->status = SF_GRAPH_ENTRY;
}

/*
 * A task that committed when its execution, or the state around it, had been stopped has its
 * outcome in the branch only, until a redrive goes on from it.
 */
static void
follow_outcomes(Visits *v, List *branches, bool running)
{
	ListCell   *lc;

	foreach(lc, branches)
	{
		const SfBranch *branch = lfirst(lc);
		SfPlaceKey	key = {branch->state, branch->niterations, branch->iterations};
		VisitEntry *visit;

		if (!sf_job_keeps_outcome(branch, running) ||
			v->program->states[branch->state].type != SF_STATE_TASK)
			continue;
		visit = hash_search(v->table, &key, HASH_FIND, NULL);
		if (visit != NULL && !visit->is_iteration)
		{
			visit->status = branch->failing ? SF_GRAPH_FAILURE : SF_GRAPH_SUCCESS;
			visit->aborted = false;
		}
	}
}

/* Put the visits of all iterations together. */
static void
combine_visits(Visits *v, bool running, SfGraphFacts *facts)
{
	HASH_SEQ_STATUS scan;
	VisitEntry *visit;

	hash_seq_init(&scan, v->table);
	while ((visit = hash_seq_search(&scan)) != NULL)
	{
		if (visit->last_event == 0)
			continue;			/* only known for what is within it */
		if (visit->is_iteration)
		{
			add_iteration(&facts[visit->key.number], visit);
			continue;
		}
		if (running && visit->status == SF_GRAPH_RUNNING)
			go_on_after_redrive(v, visit);
		add_visits(&facts[visit->key.number], visit, running);
		/* a visit that had not ended when the execution did has failed */
		if (visit->status == SF_GRAPH_RUNNING && !running)
			visit->status = SF_GRAPH_FAILURE;
		add_status(&facts[visit->key.number], visit->status, visit->aborted);
	}
}

/* Add what the runs of Distributed Maps say of their items. */
static void
add_map_runs(const SfStatusExecution *execution, const SfProgram *program,
			 SfGraphFacts *facts)
{
	ListCell   *lc;

	foreach(lc, sf_map_run_scan(execution->execution_no))
	{
		const SfMapRun *run = lfirst(lc);
		SfGraphFacts *map;

		if (run->state < 0 || run->state >= program->nstates)
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
	ListCell   *lc;

	foreach(lc, branches)
	{
		const SfBranch *branch = lfirst(lc);

		if (branch->state >= 0 && branch->state < program->nstates)
			add_status(&facts[branch->state], branch_status(branch, running), false);
	}
}

/* Tell whether control can come to a state in an iteration to come. */
static bool
can_be_reached(const SfProgram *program, SfJobReach *reach, int state,
			   const SfGraphFacts *facts)
{
	int			owner = state;

	while ((owner = program->scopes[program->states[owner].scope].owner_state) >= 0)
	{
		if (program->states[owner].type != SF_STATE_MAP)
			continue;
		if (facts[owner].status == SF_GRAPH_RUNNING)
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

/* Say of all states that nothing is known. */
static SfGraphFacts *
make_facts(const SfProgram *program)
{
	SfGraphFacts *facts = palloc0(sizeof(SfGraphFacts) * program->nstates);

	for (int i = 0; i < program->nstates; i++)
	{
		facts[i].status = SF_GRAPH_UNKNOWN;
		facts[i].duration = -1;
		facts[i].iterations = -1;
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
sf_state_status_list(const SfStatusExecution *execution,
					 const SfProgram *program)
{
	bool		running = execution->status == SF_STATUS_RUNNING;
	SfHistoryLevel history = sf_program_cache_find(execution->machine_no,
												   execution->version)->history;
	List	   *branches = sf_branch_scan(execution->execution_no, program);
	SfGraphFacts *facts = make_facts(program);
	Visits		v = {.program = program};
	SfJobReach *reach = sf_job_reach_make(execution, program, branches);
	int			i;

	v.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow states",
									  ALLOCSET_DEFAULT_SIZES);
	sf_status_scan(execution, program, forget, follow_event, &v);
	if (running && v.redriven > 0)
		follow_redrive(&v, branches, reach);
	follow_outcomes(&v, branches, running);
	combine_visits(&v, running, facts);
	MemoryContextDelete(v.context);
	add_map_runs(execution, program, facts);
	/* a complete history has said it all */
	if (history != SF_HISTORY_ALL)
		follow_branches(branches, running, program, facts);

	for (i = 0; i < program->nstates; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (facts[i].status == SF_GRAPH_UNKNOWN &&
			is_told(program, &program->states[i], history, execution->map_state))
			facts[i].status = can_be_reached(program, reach, i, facts) ?
				SF_GRAPH_ENTRY : SF_GRAPH_SKIP;
	}
	return facts;
}
