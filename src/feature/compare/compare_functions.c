/*
 * compare_functions.c
 *		sf_compare(), sf_grid(): two executions beside each other, and the last runs of a
 *		machine.
 *
 * Both show jobs as sf_jobs does (report/job.c), with what they usually take.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "json/json.h"
#include "report/job.h"
#include "report/report.h"
#include "store/execution/execution_list.h"
#include "store/state_machine/program_cache.h"
#include "store/statistics/usual.h"

/* Differences of a payload that are told, and the longest pointer */
#define MOST_DIFFERENCES	20
#define LONGEST_POINTER		1000

/* Runs of a grid */
#define USUAL_RUNS		30
#define MOST_RUNS		1000

/* Add a duration to the millisecond, or SF_NO_DURATION. */
static void
add_duration(SfColumns *row, int64 us)
{
	sf_columns_duration(row, us, USECS_PER_SEC / 1000);
}

/* --- two executions --- */

/* A job of one of them */
typedef struct RunJob
{
	const char *name;
	const SfJob *job;
	int			index;			/* in the order of the execution's jobs */
} RunJob;

/* One of the executions */
typedef struct Run
{
	SfExecutionHead head;
	const SfProgram *program;
	List	   *usual;			/* what the jobs of its machine usually take */
	int			n;
	RunJob	   *jobs;
	RunJob	  **by_name;		/* the same in the order of names */
} Run;

/* Order jobs by their names. */
static int
compare_names(const void *a, const void *b)
{
	return strcmp((*(RunJob *const *) a)->name, (*(RunJob *const *) b)->name);
}

/* Read one of the executions; false: it is not there for the snapshot of the query. */
static bool
read_run(FunctionCallInfo fcinfo, int n, const char *argument, Run *run)
{
	const SfExecution *execution = sf_arg_execution(sf_arg_text(fcinfo, n, argument), SF_LOCK_NONE,
													SF_RIGHT_READ);
	List	   *jobs;

	if (!sf_head_read_visible(execution->execution_no, &run->head))
		return false;
	run->program = sf_program_cache_get(run->head.machine_no, run->head.version);
	run->usual = sf_usual_jobs(run->head.machine_no);
	jobs = sf_job_list(&run->head, run->program);
	run->jobs = palloc(sizeof(RunJob) * Max(1, list_length(jobs)));
	run->by_name = palloc(sizeof(RunJob *) * Max(1, list_length(jobs)));
	foreach_ptr(const SfJob, job, jobs)
	{
		RunJob	   *entry = &run->jobs[run->n];

		entry->name = sf_job_name(run->program, job->state, job->iterations, job->niterations);
		entry->job = job;
		entry->index = run->n;
		run->by_name[run->n++] = entry;
	}
	qsort(run->by_name, run->n, sizeof(RunJob *), compare_names);
	return true;
}

/* Find a job by its name; NULL: the execution has none. */
static const RunJob *
find_job(const Run *run, const char *name)
{
	RunJob		wanted = {.name = name};
	const RunJob *key = &wanted;
	RunJob	  **found = bsearch(&key, run->by_name, run->n, sizeof(RunJob *), compare_names);

	return found == NULL ? NULL : *found;
}

/* What two payloads differ in */
typedef struct Differences
{
	Datum		pointers[MOST_DIFFERENCES];
	char	   *latest;			/* pointer; NULL: none */
	int			n;
	bool	   *cut;			/* there are more, or a pointer is that of what is around a difference */
} Differences;

/* Note a difference; one that lies too deep is told by what is around it. */
static bool
note_difference(const char *pointer, const JsonbValue *before, const JsonbValue *after, void *arg)
{
	Differences *d = arg;
	bool		shortened = strlen(pointer) > LONGEST_POINTER;
	char	   *shown;

	if (d->n == MOST_DIFFERENCES)
	{
		*d->cut = true;
		return false;
	}
	shown = pnstrdup(pointer, LONGEST_POINTER + 1);
	if (shortened)
	{
		*strrchr(shown, '/') = '\0';
		*d->cut = true;
	}
	if (shortened && d->latest != NULL && strcmp(shown, d->latest) == 0)
		return true;
	d->latest = shown;
	d->pointers[d->n++] = CStringGetTextDatum(shown);
	return true;
}

/* Add what the payloads of two events differ in; an event that is 0 has none. */
static void
add_differences(SfColumns *row, const Run *a, int event_a, const Run *b, int event_b, bool *cut)
{
	Differences d = {.cut = cut};
	Jsonb	   *before = NULL;
	Jsonb	   *after = NULL;

	if (event_a != 0 && event_b != 0)
	{
		before = sf_history_event_payload(a->head.execution_no, event_a);
		after = sf_history_event_payload(b->head.execution_no, event_b);
	}
	if (before != NULL && after != NULL)
		sf_json_differences(before, after, note_difference, &d);
	sf_columns_add(row, PointerGetDatum(construct_array(d.pointers, d.n, TEXTOID, -1, false, TYPALIGN_INT)),
				   before == NULL || after == NULL);
}

/* What stands for a job in an execution that does not have it */
static const SfJob no_job = {.duration = SF_NO_DURATION};
static const RunJob absent = {.job = &no_job};

/* Put a job into the result, as the executions have it. */
static void
put_pair(FunctionCallInfo fcinfo, const Run *a, const RunJob *x, const Run *b, const RunJob *y)
{
	bool		only_in_a = y == &absent;
	bool		only_in_b = x == &absent;
	const Run  *named = only_in_a ? a : b;
	const RunJob *job = only_in_a ? x : y;
	const SfJob *in_a = x->job;
	const SfJob *in_b = y->job;
	bool		cut = false;
	SfColumns	row = {0};

	sf_columns_text(&row, job->name);
	sf_columns_text(&row, only_in_a ? "a" : only_in_b ? "b" : NULL);
	sf_columns_text(&row, only_in_b ? NULL : sf_job_status_name(in_a->status));
	sf_columns_text(&row, only_in_a ? NULL : sf_job_status_name(in_b->status));
	add_duration(&row, in_a->duration);
	add_duration(&row, in_b->duration);
	add_duration(&row, sf_usual_of_job(named->usual, named->program->states[job->job->state].name));
	sf_columns_add(&row, Int32GetDatum(in_a->attempts), only_in_b);
	sf_columns_add(&row, Int32GetDatum(in_b->attempts), only_in_a);
	sf_columns_text(&row, in_a->error);
	sf_columns_text(&row, in_b->error);
	add_differences(&row, a, in_a->input_event, b, in_b->input_event, &cut);
	add_differences(&row, a, in_a->output_event, b, in_b->output_event, &cut);
	sf_columns_add(&row, BoolGetDatum(cut), false);
	sf_columns_put(fcinfo, &row);
}

/*
 * sf_compare(a, b): each job of two executions, in the order of b; those that only a has
 * stand where a has them.
 */
SF_SQL_FUNCTION(sfflow_sf_compare)
{
	Run			a = {0};
	Run			b = {0};
	MemoryContext context;
	int			next = 0;		/* job of a that comes next, if only a has it */

	InitMaterializedSRF(fcinfo, 0);
	if (!read_run(fcinfo, 0, "a", &a) || !read_run(fcinfo, 1, "b", &b))
		return (Datum) 0;
	context = AllocSetContextCreate(CurrentMemoryContext, "sfflow compared job", ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i <= b.n; i++)
	{
		const RunJob *y = i < b.n ? &b.jobs[i] : NULL;
		const RunJob *x = y == NULL ? NULL : find_job(&a, y->name);
		int			until = y == NULL ? a.n : x == NULL ? 0 : x->index;
		MemoryContext old = MemoryContextSwitchTo(context);

		for (; next < until; next++)
			if (find_job(&b, a.jobs[next].name) == NULL)
				put_pair(fcinfo, &a, &a.jobs[next], &b, &absent);
		if (y != NULL)
			put_pair(fcinfo, &a, x == NULL ? &absent : x, &b, y);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextDelete(context);
	return (Datum) 0;
}

/* --- the last runs of a machine --- */

/* A Task in a run: its jobs in all iterations */
typedef struct GridJob
{
	int			jobs;
	int			failed;
	SfJobStatus status;			/* the weightiest */
	int			attempts;
	int64		duration;		/* the longest, or SF_NO_DURATION */
} GridJob;

/* How much a status of a job says about all of them. */
static int
weight(SfJobStatus status)
{
	switch (status)
	{
		case SF_JOB_STATUS_FAILURE:
			return 4;
		case SF_JOB_STATUS_RUNNING:
			return 3;
		case SF_JOB_STATUS_ENTRY:
			return 2;
		case SF_JOB_STATUS_SUCCESS:
			return 1;
		case SF_JOB_STATUS_SKIP:
			return 0;
	}
	return 0;
}

/* Sum up the jobs of a run by the numbers of their states. */
static GridJob *
sum_up(const SfExecutionHead *execution, const SfProgram *program)
{
	GridJob    *sums = palloc0(sizeof(GridJob) * program->nstates);

	foreach_ptr(const SfJob, job, sf_job_list(execution, program))
	{
		GridJob    *sum = &sums[job->state];

		if (sum->jobs++ == 0)
		{
			sum->status = job->status;
			sum->duration = SF_NO_DURATION;
		}
		else if (weight(job->status) > weight(sum->status))
			sum->status = job->status;
		sum->failed += job->status == SF_JOB_STATUS_FAILURE ? 1 : 0;
		sum->attempts += job->attempts;
		sum->duration = Max(sum->duration, job->duration);
	}
	return sums;
}

/* Put a job of a run into the result; NULL: the run itself, which has none. */
static void
put_cell(FunctionCallInfo fcinfo, const SfListedExecution *listed, const char *job, const GridJob *sum, int64 usual)
{
	SfColumns	row = {0};

	sf_columns_text(&row, listed->execution_id);
	sf_columns_time(&row, listed->requested_at);
	sf_columns_text(&row, sf_status_name(listed->status));
	add_duration(&row, sf_execution_took_us(listed->started_at, listed->stopped_at, listed->idle_us,
											GetCurrentTimestamp()));
	sf_columns_text(&row, job);
	sf_columns_text(&row, sum == NULL ? NULL : sf_job_status_name(sum->status));
	sf_columns_add(&row, Int32GetDatum(sum == NULL ? 0 : sum->jobs), sum == NULL);
	sf_columns_add(&row, Int32GetDatum(sum == NULL ? 0 : sum->failed), sum == NULL);
	sf_columns_add(&row, Int32GetDatum(sum == NULL ? 0 : sum->attempts), sum == NULL);
	add_duration(&row, sum == NULL ? SF_NO_DURATION : sum->duration);
	add_duration(&row, usual);
	sf_columns_put(fcinfo, &row);
}

/* Put a run into the result: its jobs in the order of the definition, or itself if nothing is known of them. */
static void
put_run(FunctionCallInfo fcinfo, const SfListedExecution *listed, const List *usual)
{
	const SfProgram *program = sf_program_cache_get(listed->machine_no, listed->version);
	SfExecutionHead head;
	GridJob    *sums;
	bool		known = false;

	if (!sf_head_read_visible(listed->execution_no, &head))
		return;
	sums = sum_up(&head, program);
	for (int i = 0; i < program->nstates; i++)
	{
		const char *job = program->states[i].name;

		if (sums[i].jobs == 0)
			continue;
		put_cell(fcinfo, listed, job, &sums[i], sf_usual_of_job(usual, job));
		known = true;
	}
	if (!known)
		put_cell(fcinfo, listed, NULL, NULL, SF_NO_DURATION);
}

/* Read the argument runs. */
static int
runs_argument(FunctionCallInfo fcinfo, int n)
{
	int			runs = sf_arg_count(fcinfo, n, "runs", 1, USUAL_RUNS);

	if (runs > MOST_RUNS)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument runs must be at most %d", MOST_RUNS)));
	return runs;
}

/* sf_grid(state_machine, runs): the jobs of the newest executions of a machine, without items of Distributed Maps. */
SF_SQL_FUNCTION(sfflow_sf_grid)
{
	SfMachine  *machine = sf_arg_machine(sf_arg_text(fcinfo, 0, "state_machine"), SF_RIGHT_READ);
	SfListQuery query = {
		.machines = &machine->machine_no,
		.nmachines = 1,
		.without_items = true,
		.from = DT_NOBEGIN,
		.before = {DT_NOEND, 0},
		.max_rows = runs_argument(fcinfo, 1)
	};
	List	   *usual = sf_usual_jobs(machine->machine_no);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "sfflow run of a grid",
												  ALLOCSET_DEFAULT_SIZES);

	InitMaterializedSRF(fcinfo, 0);
	foreach_ptr(const SfListedExecution, e, sf_execution_list(&query))
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		put_run(fcinfo, e, usual);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	MemoryContextDelete(context);
	return (Datum) 0;
}
