/*
 * job.c
 *		Derive the jobs of an execution.
 *
 * A job is a Task state within certain iterations of the Maps around it; the
 * pair is its key.  Four passes:
 *
 *	1.	Events, in order: what happened to each job, and which iterations of
 *		each Map began.  A later visit of the same job replaces an earlier one.
 *	2.	Branches: a job at which a live branch stands is running, whatever its
 *		last event says.  A failed branch gives its error to a job whose
 *		events do not name it.  A task that committed when its execution, or
 *		the state around it, had been stopped has its outcome in the branch
 *		only, until a redrive goes on from it.
 *	3.	Rows: a Task outside of Maps has one row, a Task within a Map one row
 *		per iteration that began.
 *	4.	A job that was never reached is "entry" if a live branch can still come
 *		to it (job_reach.c), else "skip".  A job that failed before a redrive
 *		is "entry" if a live branch can come to it again, and in a net else "skip".
 *
 * If the machine keeps no history, only the branches tell which jobs run, are
 * about to begin, or have failed.  Other jobs are unknown and have no row.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "asl/event_types.h"
#include "report/job.h"
#include "report/job_reach.h"
#include "report/label.h"
#include "report/place.h"
#include "store/program_cache.h"
#include "json/json.h"

typedef struct JobEntry
{
	SfPlaceKey	key;			/* Task state, iterations */
	SfJob		job;
} JobEntry;

/* The iterations of one Map that began, each with the indexes around it */
typedef struct MapRun
{
	int			depth;			/* indexes an iteration has */
	int			n;
	int			size;
	int		  **iterations;
} MapRun;

typedef struct Derivation
{
	const SfStatusExecution *execution;
	const SfProgram *program;
	MemoryContext context;		/* of the hash tables; reset at a restart */
	HTAB	   *jobs;			/* JobEntry */
	HTAB	   *begun;			/* SfPlaceKey of Map state, iteration included */
	MapRun	   *maps;			/* by state number */
	int			redriven;		/* event of the last redrive; 0: none */
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

/* Forget everything, at the beginning and when the execution restarts. */
static void
forget(void *arg)
{
	Derivation *d = arg;

	MemoryContextReset(d->context);
	d->redriven = 0;
	d->jobs = sf_place_hash("sfflow jobs", sizeof(JobEntry), d->context);
	d->begun = sf_place_hash("sfflow iterations", sizeof(SfPlaceKey), d->context);
	d->maps = MemoryContextAllocZero(d->context,
									 sizeof(MapRun) * d->program->nstates);
}

/* Note that an iteration of a Map, and those around it, began. */
static void
note_iteration(Derivation *d, int map, const int *iterations, int n)
{
	while (map >= 0 && n > 0)
	{
		MapRun	   *run = &d->maps[map];
		bool		found;
		SfPlaceKey *entry = sf_place_enter(d->begun, map, iterations, n,
										   d->context, &found);

		if (found)
			return;
		if (run->n == run->size)
		{
			run->size = Max(16, run->size * 2);
			run->iterations = run->iterations == NULL ?
				MemoryContextAlloc(d->context, sizeof(int *) * run->size) :
				repalloc_huge(run->iterations, sizeof(int *) * run->size);
		}
		run->depth = n;
		run->iterations[run->n++] = entry->iterations;
		map = sf_label_enclosing_map(d->program, d->program->states[map].scope);
		n--;
	}
}

/* Find the job of a Task within iterations, or make it, not reached yet. */
static SfJob *
find_job(Derivation *d, int state, const int *iterations, int n)
{
	bool		found;
	JobEntry   *entry = sf_place_enter(d->jobs, state, iterations, n, d->context,
									   &found);

	if (!found)
	{
		memset(&entry->job, 0, sizeof(SfJob));
		entry->job.state = state;
		entry->job.niterations = n;
		entry->job.iterations = entry->key.iterations;
		entry->job.started_at = DT_NOBEGIN;
		entry->job.stopped_at = DT_NOEND;
		note_iteration(d, sf_label_enclosing_map(d->program,
												 d->program->states[state].scope),
					   entry->key.iterations, n);
	}
	return &entry->job;
}

/* A job runs, for the first time or again. */
static void
set_running(SfJob *job, TimestampTz at)
{
	if (!job->reached)
		job->started_at = at;
	job->reached = true;
	job->status = SF_JOB_RUNNING;
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
	job->status = SF_JOB_FAILURE;
	job->stopped_at = at;
	job->error = error;
	job->cause = cause;
}

/* Read a string of an event's details, to live as long as the derivation. */
static const char *
event_string(Derivation *d, const SfEvent *event, const char *key)
{
	char	   *value = event->extra ? sf_json_get_cstring(event->extra, key) : NULL;

	return value ? MemoryContextStrdup(d->context, value) : NULL;
}

/* An operator has settled a job: it is so from now on, and when a branch comes to it. */
static void
set_marked(Derivation *d, SfJob *job, const SfEvent *event)
{
	job->marked = event_string(d, event, "outcome");
	if (job->marked == NULL)
		return;
	job->mark_pending = true;
	job->error = job->cause = NULL;
	if (strcmp(job->marked, "failure") == 0)
	{
		set_failure(job, event->at, "Sfflow.Marked", event_string(d, event, "reason"));
		return;
	}
	job->reached = true;
	job->status = strcmp(job->marked, "skip") == 0 ? SF_JOB_SKIP : SF_JOB_SUCCESS;
	job->stopped_at = event->at;
}

/* A job was left: it has succeeded, unless its failure was caught or it was settled otherwise. */
static void
set_left(SfJob *job, const SfEvent *event)
{
	if (job->marked != NULL && strcmp(job->marked, "skip") == 0)
		job->status = SF_JOB_SKIP;
	else if (job->marked != NULL && strcmp(job->marked, "failure") == 0)
		job->status = SF_JOB_FAILURE;
	else if (job->status != SF_JOB_FAILURE)
		job->status = SF_JOB_SUCCESS;
	job->marked = NULL;
	job->mark_pending = false;
	job->reached = true;
	job->stopped_at = event->at;
	job->output_event = SF_PAYLOAD_EVENT(event);
}

/* Follow what an event says about the Task at which it happened. */
static void
follow_task_event(Derivation *d, const SfEvent *event)
{
	SfJob	   *job = find_job(d, event->state, event->iterations,
							   event->niterations);

	job->last_event = event->id;
	switch (sf_event_type_meaning(event->type))
	{
		case SF_MEANS_ENTERED:
			job->reached = false;	/* a new visit begins */
			job->mark_pending = false;	/* that it takes effect is an event of its own */
			set_running(job, event->at);
			job->input_event = SF_PAYLOAD_EVENT(event);
			break;
		case SF_MEANS_SCHEDULED:
			set_running(job, event->at);
			job->attempts++;
			job->marked = NULL;
			break;
		case SF_MEANS_FAILED:
		case SF_MEANS_TIMED_OUT:
			set_failure(job, event->at, event_string(d, event, "error"),
						event_string(d, event, "cause"));
			break;
		case SF_MEANS_ABORTED:
			if (job->status == SF_JOB_RUNNING)
				set_failure(job, event->at, NULL, "aborted");
			break;
		case SF_MEANS_MARKED:
			set_marked(d, job, event);
			break;
		case SF_MEANS_EXITED:
			set_left(job, event);
			break;
		default:
			break;
	}
}

/* Pass 1: follow one event. */
static void
follow_event(const SfEvent *event, void *arg)
{
	Derivation *d = arg;
	const SfState *state;

	if (event->type == SF_EVENT_EXECUTION_STARTED)
		forget(d);
	else if (event->type == SF_EVENT_EXECUTION_REDRIVEN)
		d->redriven = event->id;
	if (event->state < 0 || event->state >= d->program->nstates)
		return;
	state = &d->program->states[event->state];
	if (state->type == SF_STATE_TASK)
		follow_task_event(d, event);
	else if (event->type == SF_EVENT_MAP_ITERATION_STARTED)
		note_iteration(d, event->state, event->iterations, event->niterations);
}

/* Is the outcome of a task kept in its branch for a redrive, where no slice takes it up? */
bool
sf_job_keeps_outcome(const SfBranch *branch, bool running)
{
	return branch->phase == SF_PHASE_ANSWERED && (!running || branch->due_at == DT_NOEND);
}

/* A job ended as the branch says, and the history does not tell yet. */
static void
set_outcome(Derivation *d, SfJob *job, const SfBranch *branch)
{
	if (branch->failing)
	{
		set_failure(job, DT_NOEND, branch->error, branch->cause);
		return;
	}
	set_running(job, branch->entered_at);
	job->status = SF_JOB_SUCCESS;
}

/* Pass 2: follow a branch. */
static void
follow_branch(Derivation *d, const SfBranch *branch)
{
	SfJob	   *job;

	note_iteration(d, sf_label_enclosing_map(d->program, branch->scope),
				   branch->iterations, branch->niterations);
	if (branch->state < 0 || branch->state >= d->program->nstates ||
		d->program->states[branch->state].type != SF_STATE_TASK)
		return;
	job = find_job(d, branch->state, branch->iterations, branch->niterations);
	if (job->mark_pending)
		return;
	if (sf_job_keeps_outcome(branch, d->execution->status == SF_STATUS_RUNNING))
	{
		set_outcome(d, job, branch);
		return;
	}
	switch (branch->phase)
	{
		case SF_PHASE_RUN:
		case SF_PHASE_ANNOUNCED:
		case SF_PHASE_ANSWERED:
		case SF_PHASE_EXTERNAL:
			if (d->execution->status == SF_STATUS_RUNNING)
				set_running(job, branch->entered_at);
			break;
		case SF_PHASE_ENTER:
			job->next = d->execution->status == SF_STATUS_RUNNING;
			break;
		case SF_PHASE_FAILED:
			if (job->error == NULL)
				set_failure(job, job->stopped_at, branch->error, branch->cause);
			break;
		default:
			break;
	}
}

/* A job will be visited again: forget its last visit, except for the input. */
static void
set_entry(SfJob *job)
{
	set_running(job, DT_NOBEGIN);
	job->status = SF_JOB_ENTRY;
}

/* Tell whether a state is a job of a net, or within one. */
static bool
is_in_net(const SfProgram *program, int state)
{
	while (state >= 0 && program->states[state].type != SF_STATE_JOBNET)
		state = program->scopes[program->states[state].scope].owner_state;
	return state >= 0;
}

/* Settle the status of a job, once all is known. */
static void
settle(Derivation *d, SfJobReach *reach, SfJob *job)
{
	bool		runs = d->execution->status == SF_STATUS_RUNNING;

	if (job->status == SF_JOB_RUNNING && !runs)
		set_failure(job, DT_NOEND, d->execution->error,
					d->execution->error == NULL && d->execution->cause == NULL ?
					"aborted" : d->execution->cause);
	else if (job->status == SF_JOB_FAILURE && runs &&
			 job->last_event < d->redriven &&
			 sf_job_reach_test(reach, job->state, job->iterations, job->niterations))
		set_entry(job);
	else if (job->status == SF_JOB_FAILURE && job->last_event < d->redriven &&
			 is_in_net(d->program, job->state))
	{
		/* the redrive has decided on it anew */
		set_entry(job);
		job->status = SF_JOB_SKIP;
	}
	else if (job->status == SF_JOB_ENTRY &&
			 !sf_job_reach_test(reach, job->state, job->iterations, job->niterations))
		job->status = SF_JOB_SKIP;
}

/* Order the iterations of a Map of a depth by their indexes. */
static int
compare_iterations(const void *a, const void *b, void *depth)
{
	const int  *x = *(int *const *) a;
	const int  *y = *(int *const *) b;
	int			i;

	for (i = 0; i < *(int *) depth; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Passes 3 and 4 for one row. */
static List *
append_row(Derivation *d, SfJobReach *reach, List *rows, int state,
		   const int *iterations, int n)
{
	SfJob	   *job = find_job(d, state, iterations, n);

	if (d->no_history && !job->reached && !job->next)
		return rows;
	settle(d, reach, job);
	return lappend(rows, job);
}

/* Pass 3: make the rows, in document order. */
static List *
make_rows(Derivation *d, SfJobReach *reach)
{
	List	   *rows = NIL;
	int			state;
	int			i;

	for (state = 0; state < d->program->nstates; state++)
	{
		MapRun	   *run = &d->maps[state];

		if (d->program->states[state].type == SF_STATE_MAP && run->n > 1)
			qsort_arg(run->iterations, run->n, sizeof(int *),
					  compare_iterations, &run->depth);
	}
	for (state = 0; state < d->program->nstates; state++)
	{
		const SfState *s = &d->program->states[state];
		int			map;

		if (s->type != SF_STATE_TASK ||
			sf_label_distributed_map(d->program, s->scope) != d->execution->map_state)
			continue;
		map = sf_label_enclosing_map(d->program, s->scope);
		if (map < 0)
			rows = append_row(d, reach, rows, state, NULL, 0);
		else
			for (i = 0; i < d->maps[map].n; i++)
			{
				CHECK_FOR_INTERRUPTS();
				rows = append_row(d, reach, rows, state,
								  d->maps[map].iterations[i], d->maps[map].depth);
			}
	}
	return rows;
}

/* Has a job failed by itself, or was it aborted with another one? */
static bool
is_failed(const SfJob *job, bool by_itself)
{
	return job->status == SF_JOB_FAILURE && (job->error != NULL) == by_itself;
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
		if (((SfJob *) lfirst(lc))->status == SF_JOB_FAILURE)
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
sf_job_list(const SfStatusExecution *execution, const SfProgram *program)
{
	Derivation	d = {.execution = execution, .program = program};
	List	   *branches = sf_branch_scan(execution->execution_no, program);
	List	   *rows;
	ListCell   *lc;

	d.context = AllocSetContextCreate(CurrentMemoryContext, "sfflow jobs",
									  ALLOCSET_DEFAULT_SIZES);
	d.no_history = sf_program_cache_find(execution->machine_no,
										 execution->version)->history == SF_HISTORY_NONE;
	sf_status_scan(execution, program, forget, follow_event, &d);
	foreach(lc, branches)
		follow_branch(&d, lfirst(lc));
	rows = make_rows(&d, sf_job_reach_make(execution, program, branches));
	put_errors_first(rows);
	return rows;
}
