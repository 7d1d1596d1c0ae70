/*
 * night_functions.c
 *		sf_night(), sf_progress(): one night at a glance, and one execution.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "api/columns.h"
#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "report/report.h"
#include "store/execution/execution_list.h"
#include "store/feature.h"
#include "store/state_machine/program_cache.h"
#include "store/statistics/usual.h"

/* Executions of all machines that a night without masses lists */
#define MOST_LISTED		5000

/* A machine of the night, with what was asked of it so far */
typedef struct NightMachine
{
	int			machine_no;
	const char *name;
	bool		usual_known;
	int64		usual_us;		/* of its executions, or SF_NO_DURATION */
	bool		jobs_known;
	List	   *jobs;			/* SfUsualJob */
	int			version;		/* of remaining */
	SfRemaining *remaining;
} NightMachine;

/* A line of the night */
typedef struct NightRow
{
	TimestampTz planned_at;
	const char *target;
	const char *status;			/* the column state */
	TimestampTz started_at;		/* DT_NOBEGIN: not yet */
	TimestampTz ended_at;		/* the same */
	int64		took_us;		/* or SF_NO_DURATION */
	int64		usual_us;		/* or SF_NO_DURATION */
	TimestampTz expected_end;	/* DT_NOEND: not known */
	const char *detail;
	const char *next;
} NightRow;

/* --- values --- */

/* Add a time to the second. */
static void
add_second(SfColumns *row, TimestampTz at)
{
	sf_columns_time(row, TIMESTAMP_NOT_FINITE(at) ? at :
					at - (at % USECS_PER_SEC + USECS_PER_SEC) % USECS_PER_SEC);
}

/* Add a duration to the tenth of a second, or SF_NO_DURATION. */
static void
add_duration(SfColumns *row, int64 us)
{
	sf_columns_duration(row, us, USECS_PER_SEC / 10);
}

/* When something that takes so long from a time on will be over. */
static TimestampTz
end_after(TimestampTz from, int64 us)
{
	return !sf_duration_is_known(us) || !IS_VALID_TIMESTAMP(from + us) ? DT_NOEND : from + us;
}

/* --- machines --- */

/* What executions of a machine usually take, or SF_NO_DURATION. */
static int64
usual_of(NightMachine *machine)
{
	if (machine == NULL)
		return SF_NO_DURATION;
	if (!machine->usual_known)
		machine->usual_us = sf_usual_execution_us(machine->machine_no);
	machine->usual_known = true;
	return machine->usual_us;
}

/* What is left of executions of a version of a machine. */
static SfRemaining *
remaining_of(NightMachine *machine, const SfProgram *program, int version)
{
	if (!machine->jobs_known)
		machine->jobs = sf_usual_jobs(machine->machine_no);
	machine->jobs_known = true;
	if (machine->remaining == NULL || machine->version != version)
		machine->remaining = sf_remaining_begin(program, machine->jobs, SF_NO_STATE);
	machine->version = version;
	return machine->remaining;
}

/* List the machines that the caller may read. */
static List *
readable_machines(void)
{
	List	   *machines = NIL;

	foreach_ptr(const SfListedMachine, listed, sf_execution_list_machines(SF_ALL_MACHINES, InvalidOid))
	{
		NightMachine *machine;

		if (!sf_privilege_check(SF_OBJECT_STATE_MACHINE, listed->name, listed->owner,
								SF_RIGHT_READ))
			continue;
		machine = palloc0(sizeof(NightMachine));
		machine->machine_no = listed->machine_no;
		machine->name = listed->name;
		machines = lappend(machines, machine);
	}
	return machines;
}

/* Find a machine by its number; NULL: none. */
static NightMachine *
find_machine(List *machines, int machine_no)
{
	foreach_ptr(NightMachine, m, machines)
		if (m->machine_no == machine_no)
			return m;
	return NULL;
}

/* Find the machine whose name is the first part of a text; NULL: none. */
static NightMachine *
find_named_machine(List *machines, const char *text)
{
	foreach_ptr(NightMachine, m, machines)
	{
		size_t		length = strlen(m->name);

		if (strncmp(m->name, text, length) == 0 && (text[length] == '\0' || text[length] == '/'))
			return m;
	}
	return NULL;
}

/* --- executions --- */

/* Fill in where a running execution stands. */
static void
fill_standing(NightRow *row, NightMachine *machine, const SfListedExecution *listed, TimestampTz now)
{
	const SfProgram *program = sf_program_cache_try(listed->machine_no, listed->version);
	SfStanding	standing;

	if (program == NULL || machine == NULL)
		return;
	standing = sf_progress_standing(program, remaining_of(machine, program, listed->version),
									listed->execution_no, now);
	row->detail = standing.waiting_on;
	row->next = standing.next;
	row->expected_end = end_after(now, standing.rest_us);
}

/* Make the line of an execution. */
static NightRow *
execution_row(NightMachine *machine, const SfListedExecution *listed, TimestampTz now)
{
	NightRow   *row = palloc0(sizeof(NightRow));

	row->planned_at = listed->requested_at;
	row->target = listed->execution_id;
	row->status = sf_status_name(listed->status);
	row->started_at = listed->started_at;
	row->ended_at = listed->stopped_at;
	row->took_us = sf_execution_took_us(listed->started_at, listed->stopped_at, listed->idle_us, now);
	row->usual_us = usual_of(machine);
	row->expected_end = DT_NOEND;
	row->detail = listed->error;
	if (listed->status == SF_STATUS_RUNNING)
		fill_standing(row, machine, listed, now);
	return row;
}

/* Append the lines of executions. */
static List *
append_executions(List *rows, List *machines, TimestampTz since, TimestampTz until, TimestampTz now)
{
	int		   *numbers = palloc(sizeof(int) * Max(1, list_length(machines)));
	int			n = 0;

	foreach_ptr(const NightMachine, m, machines)
		numbers[n++] = m->machine_no;
	foreach_ptr(const SfListedExecution, e, sf_execution_list_night(numbers, n, since, until))
	{
		CHECK_FOR_INTERRUPTS();
		rows = lappend(rows, execution_row(find_machine(machines, e->machine_no), e, now));
	}
	return rows;
}

/*
 * Take the machines of masses from the list: those with more starts in a time than a number,
 * and those that are too many after the others.  A line per machine stands for its executions.
 */
static List *
take_masses(List **machines, TimestampTz since, TimestampTz until, int most)
{
	List	   *rows = NIL;
	List	   *kept = NIL;
	int			left = MOST_LISTED;

	foreach_ptr(NightMachine, m, *machines)
	{
		int			starts = sf_running_starts(m->machine_no, since, until, Min(most, left) + 1);
		NightRow   *row;

		CHECK_FOR_INTERRUPTS();
		if (starts <= Min(most, left))
		{
			left -= starts;
			kept = lappend(kept, m);
			continue;
		}
		row = palloc0(sizeof(NightRow));
		row->planned_at = since;
		row->target = m->name;
		row->status = "MASS";
		row->started_at = row->ended_at = DT_NOBEGIN;
		row->expected_end = DT_NOEND;
		row->took_us = SF_NO_DURATION;
		row->usual_us = usual_of(m);
		rows = lappend(rows, row);
	}
	*machines = kept;
	return rows;
}

/* --- what is planned --- */

#define PLANNED_WORD(sym, word) word,
static const char *const planned_words[] = {SF_PLANNED_LIST(PLANNED_WORD)};

/* Append the lines of runs that are planned and have no execution. */
static List *
append_planned(List *rows, List *machines, List *runs)
{
	foreach_ptr(const SfPlannedRun, run, runs)
	{
		NightRow   *row = palloc0(sizeof(NightRow));

		row->planned_at = run->at;
		row->target = run->target;
		row->status = planned_words[run->status];
		row->started_at = row->ended_at = DT_NOBEGIN;
		row->took_us = SF_NO_DURATION;
		row->usual_us = usual_of(find_named_machine(machines, run->machine));
		row->expected_end = run->comes ? end_after(run->at, row->usual_us) : DT_NOEND;
		row->detail = run->problem;
		row->next = run->machine;
		rows = lappend(rows, row);
	}
	return rows;
}

/* --- the night --- */

/* A time as an argument; if it is null, another time from now. */
static TimestampTz
time_argument(FunctionCallInfo fcinfo, int n, TimestampTz if_null)
{
	return PG_ARGISNULL(n) ? if_null : PG_GETARG_TIMESTAMPTZ(n);
}

/* Order lines by when they began, or are to begin; what has no time comes last. */
static int
compare_rows(const ListCell *a, const ListCell *b)
{
	const NightRow *x = lfirst(a);
	const NightRow *y = lfirst(b);

	if (x->planned_at != y->planned_at)
		return x->planned_at < y->planned_at ? -1 : 1;
	return strcmp(x->target, y->target);
}

/* Put a line into the result. */
static void
put_row(FunctionCallInfo fcinfo, const NightRow *r)
{
	SfColumns	row = {0};

	add_second(&row, r->planned_at);
	sf_columns_text(&row, r->target);
	sf_columns_text(&row, r->status);
	add_second(&row, r->started_at);
	add_second(&row, r->ended_at);
	add_duration(&row, r->took_us);
	add_duration(&row, r->usual_us);
	add_second(&row, r->expected_end);
	sf_columns_text(&row, r->detail);
	sf_columns_text(&row, r->next);
	sf_columns_put(fcinfo, &row);
}

/*
 * sf_night(since, until, most): the executions that were requested from one time up to another or
 * still run, and the runs of schedules in that time that have no execution.  A machine with more
 * than most starts has one line, of state MASS, instead of theirs; NULL: all are listed.
 */
SF_SQL_FUNCTION(sfflow_sf_night)
{
	int			most = sf_arg_count(fcinfo, 2, "most", 0, 0);
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz since = time_argument(fcinfo, 0, now - 16 * USECS_PER_HOUR);
	TimestampTz until = time_argument(fcinfo, 1, now + 8 * USECS_PER_HOUR);
	List	   *machines = readable_machines();
	List	   *listed = machines;
	List	   *rows = NIL;

	if (TIMESTAMP_NOT_FINITE(since) || TIMESTAMP_NOT_FINITE(until) || since > until)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("arguments since and until must be times, and since must not be after until")));
	InitMaterializedSRF(fcinfo, 0);
	if (most > 0)
		rows = take_masses(&listed, since, until, most);
	rows = append_executions(rows, listed, since, until, now);
	SF_FEATURES(planned_runs, feature)
		rows = append_planned(rows, machines, feature->planned_runs(since, until, now));
	list_sort(rows, compare_rows);
	foreach_ptr(const NightRow, row, rows)
		put_row(fcinfo, row);
	return (Datum) 0;
}

/* --- one execution --- */

/* Add how many jobs are done, and how many there are. */
static void
add_jobs(SfColumns *row, const SfExecution *execution, const SfProgram *program)
{
	SfExecutionHead head;
	int			done;
	int			total;
	bool		known = sf_head_read_visible(execution->execution_no, &head) &&
		sf_progress_count_jobs(&head, program, &done, &total);

	sf_columns_add(row, Int32GetDatum(known ? done : 0), !known);
	sf_columns_add(row, Int32GetDatum(known ? total : 0), !known);
}

/* sf_progress(execution_id): what is done of an execution, and when it is expected to end. */
SF_SQL_FUNCTION(sfflow_sf_progress)
{
	SfExecution *execution = sf_arg_execution(sf_arg_text(fcinfo, 0, "execution_id"), SF_LOCK_NONE,
											  SF_RIGHT_READ);
	const SfProgram *program = sf_program_cache_get(execution->machine_no, execution->version);
	TimestampTz now = GetCurrentTimestamp();
	SfStanding	standing = {NULL, NULL, SF_NO_DURATION};
	SfColumns	row = {0};

	if (execution->status == SF_STATUS_RUNNING)
		standing = sf_progress_standing(program,
										sf_remaining_begin(program, sf_usual_jobs(execution->machine_no), SF_NO_STATE),
										execution->execution_no, now);
	sf_columns_text(&row, sf_status_name(execution->status));
	add_jobs(&row, execution, program);
	add_duration(&row, sf_execution_took_us(execution->started_at, execution->stopped_at, execution->idle_us, now));
	add_duration(&row, sf_usual_execution_us(execution->machine_no));
	add_duration(&row, standing.rest_us);
	add_second(&row, end_after(now, standing.rest_us));
	sf_columns_text(&row, standing.waiting_on);
	sf_columns_text(&row, standing.next);
	return sf_columns_datum(fcinfo, &row);
}
