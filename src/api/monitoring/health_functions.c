/*
 * health_functions.c
 *		The functions behind sf_workers and sf_health, and sf_version.
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"

#include "api/columns.h"
#include "base/settings.h"
#include "base/version/schema.h"
#include "copy/instance.h"
#include "db/table.h"
#include "quota/quota.h"
#include "store/feature.h"
#include "worker/fault/fault.h"
#include "worker/process/process.h"
#include "worker/shared_memory/shared.h"

/* These answer also where the schema is not the library's. */
PG_FUNCTION_INFO_V1(sfflow_health);
PG_FUNCTION_INFO_V1(sfflow_sf_version);

/* How long sf_health reports a background worker that was refused */
#define RECENT_MS		(5 * 60 * 1000)

/* Most owners that the row about quotas names */
#define REFUSALS_SHOWN	10

#define KIND_NAME(sym, name) name,
static const char *const kind_names[] = {SF_PROCESS_KIND_LIST(KIND_NAME)};

#define STATUS_NAME(sym, name) name,
static const char *const status_names[] = {SF_PROCESS_STATUS_LIST(STATUS_NAME)};

/* --- sf_workers --- */

/* Copy the processes that concern this database; returns their number. */
static int
copy_processes(SfProcess *processes)
{
	int			count = 0;

	LWLockAcquire(sf_shared_lock, LW_SHARED);
	for (int i = 0; i < sf_shared->nprocesses; i++)
	{
		const SfProcess *process = &sf_shared->processes[i];

		if (process->status != SF_PROCESS_STATUS_FREE &&
			(i == SF_LAUNCHER_PROCESS || process->database == MyDatabaseId))
			processes[count++] = *process;
	}
	LWLockRelease(sf_shared_lock);
	return count;
}

/*
 * Return the processes of this database, and the launcher: pid, role, state,
 * execution_no, branch_no, state's name (for members of its owner), since, steps,
 * whether a task occupies it.
 */
SF_SQL_FUNCTION(sfflow_workers)
{
	SfProcess  *processes;
	int			count;

	InitMaterializedSRF(fcinfo, 0);
	if (!sf_shared)
		return (Datum) 0;
	processes = palloc(sizeof(SfProcess) * sf_shared->nprocesses);
	count = copy_processes(processes);
	for (int i = 0; i < count; i++)
	{
		const SfProcess *process = &processes[i];
		SfColumns row = {0};

		sf_columns_add(&row, Int32GetDatum(process->pid), process->pid == 0);
		sf_columns_text(&row, kind_names[process->kind]);
		sf_columns_text(&row, process->is_to_leave ? "leaving" : status_names[process->status]);
		sf_columns_add(&row, Int64GetDatum(process->key.execution_no), !process->in_task);
		sf_columns_add(&row, Int64GetDatum(process->key.branch_no), !process->in_task);
		sf_columns_text(&row, process->in_task && is_member_of_role(GetUserId(), process->owner) ?
					   process->state_name : NULL);
		sf_columns_time(&row, process->since + sf_shared->clock_offset);
		sf_columns_add(&row, Int64GetDatum(process->tasks), false);
		sf_columns_add(&row, BoolGetDatum(sf_shared_is_occupied(process)), false);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* Processes for tasks: what sfflow_task_slots shows, counted under the lock */
typedef struct TaskProcesses
{
	int			processes;
	int			occupied;
	int			max_tasks;
	int			max_per_owner;
	bool		waiting;		/* tasks do, of this database */
	bool		capped;			/* ... whose owner has its share */
} TaskProcesses;

/* Read the numbers. */
static void
count_task_processes(TaskProcesses *processes)
{
	const SfDatabase *database;

	memset(processes, 0, sizeof(*processes));
	database = sf_shared_lock_database(MyDatabaseId);
	processes->processes = sf_shared_max_processes();
	for (int i = 1; i < sf_shared->nprocesses; i++)
	{
		if (sf_shared_is_occupied(&sf_shared->processes[i]))
			processes->occupied++;
	}
	processes->max_tasks = sf_shared_max_tasks();
	processes->max_per_owner = sf_admit_max_per_owner();
	processes->waiting = database && (database->tasks_left & SF_TASKS_LEFT_WANTED) != 0;
	processes->capped = database && (database->tasks_left & SF_TASKS_LEFT_CAPPED) != 0;
	LWLockRelease(sf_shared_lock);
}

/* Say why tasks wait, or NULL. */
static const char *
explain_task_processes(const TaskProcesses *processes)
{
	if (processes->occupied >= processes->processes)
		return "no other task can begin, though timers go off and activities go on: stop an execution, or increase sfflow.max_workers";
	if (processes->capped)
		return psprintf("tasks wait whose owner has its share: %d (sfflow.max_running_tasks_per_owner), %d of them long (sfflow.max_running_tasks)",
						processes->max_per_owner, processes->max_tasks);
	if (processes->waiting && processes->occupied >= processes->max_tasks)
		return psprintf("tasks wait for one of %d to end (sfflow.max_running_tasks)",
						processes->max_tasks);
	return NULL;
}

/* Return the processes for tasks of all databases: how many there may be, how many are occupied, a remark. */
SF_SQL_FUNCTION(sfflow_task_slots)
{
	SfColumns row = {0};
	TaskProcesses processes;

	InitMaterializedSRF(fcinfo, 0);
	if (!sf_shared)
		return (Datum) 0;
	count_task_processes(&processes);
	sf_columns_add(&row, Int32GetDatum(processes.processes), false);
	sf_columns_add(&row, Int32GetDatum(processes.occupied), false);
	sf_columns_text(&row, explain_task_processes(&processes));
	sf_columns_put(fcinfo, &row);
	return (Datum) 0;
}

/* --- sf_health --- */

/* Put one item into the result. */
static void
put(FunctionCallInfo fcinfo, const char *item, bool ok, const char *detail)
{
	SfColumns row = {0};

	sf_columns_text(&row, item);
	sf_columns_add(&row, BoolGetDatum(ok), false);
	sf_columns_text(&row, detail);
	sf_columns_put(fcinfo, &row);
}

/* Report whether this database is driven, and why not. */
static void
put_driven(FunctionCallInfo fcinfo)
{
	SfInstanceStatus status = sf_instance_status();
	bool		ok = status == SF_INSTANCE_DRIVEN || status == SF_INSTANCE_NEW ||
		(status == SF_INSTANCE_STANDBY && RecoveryInProgress());

	if (ok && !sf_shared)
		put(fcinfo, "driven", false,
			"no background workers: sfflow is not in shared_preload_libraries; sf_step, sf_run and sf_run_due work");
	else
		put(fcinfo, "driven", ok, sf_instance_explain(status));
}

/* Show the id that distinguishes this data directory from its copies. */
static void
put_data_directory(FunctionCallInfo fcinfo)
{
	int64		id = sf_instance_file_id();

	if (id == 0)
		put(fcinfo, "data directory", true,
			"no file sfflow.instance of its own: nothing is driven before sf_enable(), or the first state machine");
	else
		put(fcinfo, "data directory", true,
			psprintf("id %016llx, %s", (unsigned long long) id,
					 sf_shared && sf_shared->settled ? sf_copy_kind_name(SF_DIRECTORY_SETTLED) :
					 sf_copy_kind_name(sf_instance_file_kind())));
}

/* Numbers out of shared memory, taken under the lock */
typedef struct Numbers
{
	bool		has_launcher;
	bool		known;			/* this database */
	SfTick		last_turn;
	int			processes;
	int			advancing;
	int			tasks;
	bool		is_refused;		/* in the last minutes */
	bool		alone;			/* the launcher's process does everything */
	bool		databases_exhausted;
} Numbers;

/* Read the numbers. */
static void
read_numbers(Numbers *numbers)
{
	SfDatabase *database;

	memset(numbers, 0, sizeof(*numbers));
	LWLockAcquire(sf_shared_lock, LW_EXCLUSIVE);
	numbers->has_launcher = sf_shared->launcher_procno != SF_NO_LAUNCHER;
	database = sf_shared_find_database(MyDatabaseId);
	numbers->known = database != NULL;
	if (database)
		numbers->last_turn = database->last_turn;
	for (int i = 1; i < sf_shared->nprocesses; i++)
	{
		if (sf_shared->processes[i].status != SF_PROCESS_STATUS_FREE &&
			OidIsValid(sf_shared->processes[i].database))
			numbers->processes++;
	}
	numbers->advancing = sf_shared_count_advancing(InvalidOid);
	numbers->tasks = sf_shared_count_tasks();
	numbers->is_refused = sf_shared->refused_at != SF_TICK_UNSET &&
		sf_shared->refused_at > sf_tick_plus_ms(sf_tick_now(), -RECENT_MS);
	numbers->alone = sf_shared->alone == SF_ALONE_NOW;
	numbers->databases_exhausted = sf_shared->databases_exhausted && !database;
	LWLockRelease(sf_shared_lock);
}

/* Show the launcher and the workers. */
static void
put_workers(FunctionCallInfo fcinfo)
{
	Numbers		numbers;
	int			suspects = sf_poison_count_suspects();

	read_numbers(&numbers);
	put(fcinfo, "launcher", numbers.has_launcher || RecoveryInProgress(),
		numbers.has_launcher ? "running" : "not running");
	put(fcinfo, "worker slots", !numbers.alone && !numbers.is_refused && !numbers.databases_exhausted,
		psprintf("%d of %d processes (sfflow.max_workers), %d of %d advancing (sfflow.workers), %d of %d in long tasks%s%s%s",
				 numbers.processes, sf_setting_max_workers,
				 numbers.advancing, sf_setting_workers,
				 numbers.tasks, sf_shared_max_tasks(),
				 numbers.alone ? "; one process does everything, in one database after the other" : "",
				 numbers.alone || numbers.is_refused ?
				 "; no free background worker slot: increase max_worker_processes" : "",
				 numbers.databases_exhausted ? "; no room for this database: increase sfflow.max_databases" : ""));
	put(fcinfo, "last turn", true,
		numbers.last_turn == SF_TICK_UNSET ? "none since the server started" :
		timestamptz_to_str(numbers.last_turn + sf_shared->clock_offset));
	put(fcinfo, "suspects", suspects == 0,
		suspects == 0 ? "none" :
		psprintf("%d branches that were running in a crash of the server run alone first", suspects));
}

/*
 * Show the last error that no execution shows.  The row is not ok as long as the
 * workers have written nothing since.  If they have nothing to write, they scan
 * the tables once per minute at least, and meet the error again if it persists.
 */
static void
put_last_error(FunctionCallInfo fcinfo)
{
	SfLastError error;
	bool		recent;
	StringInfoData text;

	if (!sf_last_error_read(&error))
	{
		put(fcinfo, "last worker error", true, "none since the server started");
		return;
	}
	recent = error.in_a_row > 0 &&
		error.at > sf_tick_plus_ms(sf_tick_now(), -RECENT_MS);
	initStringInfo(&text);
	appendStringInfo(&text, "%s at %s", unpack_sql_state(error.sqlstate),
					 timestamptz_to_str(error.at + sf_shared->clock_offset));
	if (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
		appendStringInfo(&text, ": %s", error.message);
	if (error.in_a_row > 0)
		appendStringInfo(&text, "; %d in a row, the server log has each", error.in_a_row);
	else
		appendStringInfoString(&text, "; the workers have got on since");
	put(fcinfo, "last worker error", !recent, text.data);
}

/* Report the owners whom a quota refused something recently. */
static void
put_quotas(FunctionCallInfo fcinfo)
{
	SfQuotaRefusal refusals[REFUSALS_SHOWN];
	int			n = sf_quota_refusals(refusals, lengthof(refusals));
	StringInfoData detail;

	initStringInfo(&detail);
	for (int i = 0; i < n; i++)
		appendStringInfo(&detail, "%s%s is reached: " INT64_FORMAT " refused, last at %s",
						 i == 0 ? "" : "; ",
						 sf_quota_describe(refusals[i].kind, refusals[i].owner),
						 refusals[i].refused, timestamptz_to_str(refusals[i].last));
	put(fcinfo, "quotas", n == 0, n == 0 ? "no owner is at one" : detail.data);
}

/* Take a row of a feature. */
static void
put_of_feature(void *arg, const char *item, bool ok, const char *detail)
{
	put(arg, item, ok, detail);
}

/* Show which release the server has loaded, and what to do where the schema is not its own; true if it is. */
static bool
put_version(FunctionCallInfo fcinfo)
{
	const char *advice = sf_schema_advice();

	put(fcinfo, "version", advice == NULL,
		advice == NULL ? psprintf("release %s, schema %d", SFFLOW_VERSION, sf_schema_of_library()) :
		psprintf("the library (release %s) is of schema %d, and this database has schema %d, so nothing runs here: %s",
				 SFFLOW_VERSION, sf_schema_of_library(), sf_schema_of_database(), advice));
	return advice == NULL;
}

/*
 * Return what sf_health shows besides the backlog: item, ok, detail; where the schema is
 * not the library's, the row about that alone.  Name and result stay as they are for ever,
 * since the view of any schema calls it in any library.
 */
Datum
sfflow_health(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	if (!put_version(fcinfo))
		return (Datum) 0;
	put_driven(fcinfo);
	put_data_directory(fcinfo);
	if (sf_shared)
	{
		put_workers(fcinfo);
		put_last_error(fcinfo);
		SF_TELL(put_health, put_of_feature, fcinfo);
	}
	put_quotas(fcinfo);
	return (Datum) 0;
}

/*
 * sf_version(): the release of the library, the number of its schema, that of the
 * database's, and what to do where they differ.  Name and result stay as they are for ever.
 */
Datum
sfflow_sf_version(PG_FUNCTION_ARGS)
{
	SfColumns	row = {0};

	sf_columns_text(&row, SFFLOW_VERSION);
	sf_columns_add(&row, Int32GetDatum(sf_schema_of_library()), false);
	sf_columns_add(&row, Int32GetDatum(sf_schema_of_database()), false);
	sf_columns_text(&row, sf_schema_advice());
	return sf_columns_datum(fcinfo, &row);
}
