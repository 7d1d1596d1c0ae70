/*
 * job.c
 *		Derive the jobs of an execution.
 *
 * A job is a Task state within certain iterations of the Maps around it; the
 * pair is its key.  Four passes:
 *
 *	1.	Events: what happened at each job's last visit, and which iterations of
 *		each Map began (visits.c).
 *	2.	Branches: a job at which a live branch stands is running, whatever its
 *		last event says.  A failed branch gives its error to a job whose
 *		events do not name it.  A task that committed when its execution, or
 *		the state around it, had been stopped has its outcome in the branch
 *		only, until a redrive goes on from it.
 *	3.	Rows: a Task outside of Maps has one row, a Task within a Map one row
 *		per iteration that began.
 *	4.	A job that was never reached is "entry" if a live branch can still come
 *		to it (state_reach.c), else "skip".  A job that failed before a redrive
 *		is "entry" if a live branch can come to it again, and in a net else "skip".
 *
 * If the machine keeps no history, only the branches tell which jobs run, are
 * about to begin, or have failed.  Other jobs are unknown and have no row.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "report/job.h"
#include "report/report.h"
#include "report/visits.h"
#include "store/state_machine/program_cache.h"

typedef struct Derivation
{
	const SfExecutionHead *execution;
	const SfProgram *program;
	SfVisits   *visits;
	bool		no_history;		/* branches are all there is */
} Derivation;

/* Name a status as sf_jobs shows it. */
const char *
sf_job_status_name(SfJobStatus status)
{
	static const char *const names[] = {
#define JOB_STATUS_NAME(sym, name) name,
		SF_JOB_STATUS_LIST(JOB_STATUS_NAME)
	};

	return names[status];
}

/* The status of a job, by what became of its last visit. */
static SfJobStatus
status_of_instance(const SfStateInstance *instance)
{
	static const SfJobStatus status_of_mark[] = {
		[SF_MARK_OUTCOME_SUCCESS] = SF_JOB_STATUS_SUCCESS,
		[SF_MARK_OUTCOME_SKIP] = SF_JOB_STATUS_SKIP,
		[SF_MARK_OUTCOME_FAILURE] = SF_JOB_STATUS_FAILURE
	};

	if (instance->marking == SF_MARKING_PENDING)
		return status_of_mark[instance->mark];
	switch (instance->end)
	{
		case SF_VISIT_END_NONE:
			return SF_JOB_STATUS_ENTRY;
		case SF_VISIT_END_RUNS:
			return SF_JOB_STATUS_RUNNING;
		case SF_VISIT_END_LEFT:
			return SF_JOB_STATUS_SUCCESS;
		case SF_VISIT_END_SKIPPED:
			return SF_JOB_STATUS_SKIP;
		case SF_VISIT_END_CUT_OFF:
		case SF_VISIT_END_FAILED:
		case SF_VISIT_END_ABORTED:
			return SF_JOB_STATUS_FAILURE;
	}
	return SF_JOB_STATUS_FAILURE;
}

/* Find the job of a Task within iterations; pass 1 if it is asked for first. */
static SfJob *
find_job(Derivation *derivation, int state, const int *iterations, int n)
{
	SfStateInstance *instance = sf_visits_instance(derivation->visits, state, iterations, n, false);
	SfJob	   *job = instance->job;

	if (job != NULL)
		return job;
	job = instance->job = palloc0(sizeof(SfJob));
	job->state = state;
	job->niterations = n;
	job->iterations = instance->key.iterations;
	job->reached = instance->end != SF_VISIT_END_NONE || instance->marking != SF_MARKING_NONE;
	job->status = status_of_instance(instance);
	job->attempts = instance->attempts;
	job->started_at = instance->latest == NULL ? DT_NOBEGIN : instance->latest->entered_at;
	job->stopped_at = instance->stopped_at;
	job->duration = SF_NO_DURATION;
	job->input_event = instance->input_event;
	job->output_event = instance->output_event;
	job->last_event = instance->last_event;
	job->error = instance->error;
	job->cause = instance->cause;
	job->marking = instance->marking;
	return job;
}

/* A job runs, for the first time or again. */
static void
set_running(SfJob *job, TimestampTz at)
{
	if (!job->reached)
		job->started_at = at;
	job->reached = true;
	job->status = SF_JOB_STATUS_RUNNING;
	job->stopped_at = DT_NOEND;
	job->output_event = 0;
	job->error = NULL;
	job->cause = NULL;
}

/* A job failed; error and cause may be NULL. */
static void
set_failure(SfJob *job, TimestampTz at, const char *error, const char *cause)
{
	job->reached = true;
	job->status = SF_JOB_STATUS_FAILURE;
	job->stopped_at = at;
	job->error = error;
	job->cause = cause;
}

/* Is the outcome of a task in its branch, where no slice takes it up? */
bool
sf_job_has_stored_outcome(const SfBranch *branch, bool running)
{
	return running ? branch->phase == SF_PHASE_KEPT : sf_branch_has_outcome(branch);
}

/* A job ended as the branch says, and the history does not tell yet. */
static void
set_outcome(Derivation *derivation, SfJob *job, const SfBranch *branch)
{
	if (sf_branch_outcome_failed(branch))
	{
		set_failure(job, DT_NOEND, branch->error, branch->cause);
		return;
	}
	set_running(job, branch->entered_at);
	job->status = SF_JOB_STATUS_SUCCESS;
}

/* Note that the iteration of a Map in which a branch is has begun. */
static void
note_iteration(Derivation *derivation, const SfBranch *branch)
{
	int			map = sf_job_enclosing_map(derivation->program, branch->scope);

	if (map != SF_NO_STATE && branch->niterations > 0)
		sf_visits_instance(derivation->visits, map, branch->iterations, branch->niterations, true);
}

/* Pass 2: follow a branch. */
static void
follow_branch(Derivation *derivation, const SfBranch *branch)
{
	SfJob	   *job;

	note_iteration(derivation, branch);
	if (!sf_program_has_state(derivation->program, branch->state) ||
		derivation->program->states[branch->state].type != SF_STATE_TASK)
		return;
	job = find_job(derivation, branch->state, branch->iterations, branch->niterations);
	if (job->marking == SF_MARKING_PENDING)
		return;
	if (sf_job_has_stored_outcome(branch, derivation->execution->status == SF_STATUS_RUNNING))
	{
		set_outcome(derivation, job, branch);
		return;
	}
	switch (branch->phase)
	{
		case SF_PHASE_RUN:
		case SF_PHASE_ANNOUNCED:
		case SF_PHASE_ANSWERED:
		case SF_PHASE_EXTERNAL:
			if (derivation->execution->status == SF_STATUS_RUNNING)
				set_running(job, branch->entered_at);
			break;
		case SF_PHASE_ENTER:
			job->is_next = derivation->execution->status == SF_STATUS_RUNNING;
			break;
		case SF_PHASE_FAILED:
			if (job->error == NULL)
				set_failure(job, job->stopped_at, branch->error, branch->cause);
			break;
		case SF_PHASE_WAIT:
		case SF_PHASE_JOIN:
		case SF_PHASE_DONE:
		case SF_PHASE_ABORTED:
		case SF_PHASE_TIMEOUT:
		case SF_PHASE_STOP:
		case SF_PHASE_NET:
		case SF_PHASE_KEPT:
		case SF_PHASE_MAP_WRITE:
		case SF_PHASE_MAP_ANSWERED:
			break;
	}
}

/* A job will be visited again: forget its last visit, except for the input. */
static void
set_entry(SfJob *job)
{
	set_running(job, DT_NOBEGIN);
	job->status = SF_JOB_STATUS_ENTRY;
}

/* Tell whether a state is a job of a net, or within one. */
static bool
is_in_net(const SfProgram *program, int state)
{
	while (state != SF_NO_STATE && program->states[state].type != SF_STATE_JOBNET)
		state = program->scopes[program->states[state].scope].owner_state;
	return state != SF_NO_STATE;
}

/* Decide on the status of a job, once all is known. */
static void
decide_status(Derivation *derivation, SfStateReach *reach, SfJob *job)
{
	bool		runs = derivation->execution->status == SF_STATUS_RUNNING;

	if (job->status == SF_JOB_STATUS_RUNNING && !runs)
		set_failure(job, DT_NOEND, derivation->execution->error,
					derivation->execution->error == NULL && derivation->execution->cause == NULL ?
					"aborted" : derivation->execution->cause);
	else if (job->status == SF_JOB_STATUS_FAILURE && runs &&
			 job->last_event < derivation->visits->redriven &&
			 sf_reach_test(reach, job->state, job->iterations, job->niterations))
		set_entry(job);
	else if (job->status == SF_JOB_STATUS_FAILURE && job->last_event < derivation->visits->redriven &&
			 is_in_net(derivation->program, job->state))
	{
		/* the redrive has decided on it anew */
		set_entry(job);
		job->status = SF_JOB_STATUS_SKIP;
	}
	else if (job->status == SF_JOB_STATUS_ENTRY &&
			 !sf_reach_test(reach, job->state, job->iterations, job->niterations))
		job->status = SF_JOB_STATUS_SKIP;
}

/* Find how long all visits of a job have taken, once its status is decided. */
static int64
duration_of(Derivation *derivation, const SfJob *job)
{
	bool		runs = job->status == SF_JOB_STATUS_RUNNING;
	SfStateInstance *instance = sf_visits_instance(derivation->visits, job->state, job->iterations, job->niterations,
												   false);

	if (job->status == SF_JOB_STATUS_ENTRY)
		return SF_NO_DURATION;
	if (runs)
		(void) sf_visits_continue(derivation->visits, instance);
	if (instance->visits == 0 && runs && !TIMESTAMP_NOT_FINITE(job->started_at))
		return Max(0, GetCurrentTimestamp() - job->started_at);
	return sf_visits_duration(instance, runs);
}

/* Order the iterations of a Map by their indexes. */
static int
compare_iterations(const ListCell *a, const ListCell *b)
{
	const SfStateInstanceKey *x = lfirst(a);
	const SfStateInstanceKey *y = lfirst(b);

	for (int i = 0; i < x->niterations; i++)
		if (x->iterations[i] != y->iterations[i])
			return x->iterations[i] < y->iterations[i] ? -1 : 1;
	return 0;
}

/* List the iterations (SfStateInstanceKey) of each Map that began, by state number, in order. */
static List **
list_iterations(Derivation *derivation)
{
	List	  **begun = palloc0(sizeof(List *) * derivation->program->nstates);
	HASH_SEQ_STATUS scan;
	SfStateInstance *instance;

	hash_seq_init(&scan, derivation->visits->instances);
	while ((instance = hash_seq_search(&scan)) != NULL)
		if (instance->is_iteration)
			begun[instance->key.number] = lappend(begun[instance->key.number], &instance->key);
	for (int state = 0; state < derivation->program->nstates; state++)
		list_sort(begun[state], compare_iterations);
	return begun;
}

/* Passes 3 and 4 for one row. */
static List *
append_row(Derivation *derivation, SfStateReach *reach, List *rows, int state,
		   const int *iterations, int n)
{
	SfJob	   *job = find_job(derivation, state, iterations, n);

	if (derivation->no_history && !job->reached && !job->is_next)
		return rows;
	decide_status(derivation, reach, job);
	job->duration = duration_of(derivation, job);
	return lappend(rows, job);
}

/* Pass 3: make the rows, in document order. */
static List *
make_rows(Derivation *derivation, SfStateReach *reach)
{
	List	  **begun = list_iterations(derivation);
	List	   *rows = NIL;

	for (int state = 0; state < derivation->program->nstates; state++)
	{
		const SfState *s = &derivation->program->states[state];
		int			map = sf_job_enclosing_map(derivation->program, s->scope);

		if (s->type != SF_STATE_TASK ||
			sf_job_distributed_map(derivation->program, s->scope) != derivation->execution->map_state)
			continue;
		if (map == SF_NO_STATE)
			rows = append_row(derivation, reach, rows, state, NULL, 0);
		else
			foreach_ptr(SfStateInstanceKey, iteration, begun[map])
			{
				CHECK_FOR_INTERRUPTS();
				rows = append_row(derivation, reach, rows, state, iteration->iterations,
								  iteration->niterations);
			}
	}
	return rows;
}

/*
 * Has a job failed by itself, or was it aborted with another one?  No status tells that: all others who ask whether a
 * job has failed mean both.
 */
static bool
is_failed(const SfJob *job, bool by_itself)
{
	return job->status == SF_JOB_STATUS_FAILURE && (job->error != NULL) == by_itself;
}

/*
 * Put the jobs that failed by themselves before those that were aborted with them: the first
 * row with a failure is one that tells why.  All others keep their places.
 */
static void
put_errors_first(List *rows)
{
	ListCell   *lc;
	List	   *failed = NIL;
	int			n = 0;

	foreach(lc, rows)
		if (is_failed(lfirst(lc), true))
			failed = lappend(failed, lfirst(lc));
	foreach(lc, rows)
		if (is_failed(lfirst(lc), false))
			failed = lappend(failed, lfirst(lc));
	foreach(lc, rows)
		if (((SfJob *) lfirst(lc))->status == SF_JOB_STATUS_FAILURE)
			lfirst(lc) = list_nth(failed, n++);
	list_free(failed);
}

/*
 * Derive the jobs of an execution from its events since the last start and
 * from its branches; no payload is read.  Returns a List of SfJob, Tasks in
 * document order, then by iteration, but for put_errors_first.  If the machine keeps no history, only
 * jobs at which a branch stands or has failed are in the list.
 */
List *
sf_job_list(const SfExecutionHead *execution, const SfProgram *program)
{
	Derivation	derivation = {.execution = execution, .program = program};
	List	   *branches = sf_branch_scan(execution->execution_no, program);
	List	   *rows;
	ListCell   *lc;

	derivation.no_history = sf_program_cache_find(execution->machine_no,
												  execution->version)->history == SF_HISTORY_LEVEL_NONE;
	derivation.visits = sf_visits_scan(execution, program, SF_VISITS_TASKS);
	foreach(lc, branches)
		follow_branch(&derivation, lfirst(lc));
	rows = make_rows(&derivation, sf_reach_make(execution, program, branches));
	put_errors_first(rows);
	return rows;
}
