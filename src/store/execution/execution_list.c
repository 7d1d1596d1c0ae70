/*
 * execution_list.c
 *		Pages of executions, newest first.
 *
 * Each query below begins with the rows that its name says and goes on to the
 * executions.  The rows of a machine come in the order of time from an index;
 * several machines are merged.  Which query is used:
 *
 *		by_parent	the executions of a parent are asked for
 *		by_name		few executions have the prefix (SF_LIST_PROBE at most)
 *		labelled	labels are asked for and RUNNING, FAILED, TIMED_OUT or ABORTED: two indexes side by side
 *		SfLabelled.plan	labels are asked for, and few executions have one of them, or no status helps
 *		by_error	an error is asked for
 *		by_status	RUNNING, FAILED, TIMED_OUT, ABORTED: the table of open executions
 *		not_begun	RUNNING, too, when few branches are due
 *		by_machine	all others: nearly every execution has succeeded
 *
 * Only by_machine may read executions that the list does not have.  Where it
 * replaces another query, so many executions are in the list that the next one
 * is near.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/guc.h"

#include "base/name/name.h"
#include "db/index_walk.h"
#include "store/branch/branch.h"
#include "store/execution/execution.h"
#include "store/execution/execution_list.h"
#include "store/execution/open_execution.h"
#include "store/state_machine/machine.h"

#define ROW SfListedExecution
SF_RESULT_TYPE(listed_type, SF_LISTED_FIELDS);
#undef ROW
#define ROW SfListedMachine
SF_RESULT_TYPE(machine_type, SF_LISTED_MACHINE_FIELDS);

/* Machines that are merged row by row; of more, first the newest part is tried */
#define FEW_MACHINES	8

/* How far back the newest part reaches at first, how it grows, and where it ends */
#define FIRST_WINDOW	USECS_PER_MINUTE
#define WINDOW_GROWTH	16
#define LAST_WINDOW		(1000 * USECS_PER_DAY)

#define OPEN \
	"_sfflow.open_execution o JOIN _sfflow.execution e" \
	" ON e.execution_no = o.execution_no"

/* At most SF_LIST_PROBE executions whose names have the prefix; $11 sorts behind all names */
#define NAMED \
	" FROM _sfflow.state_machine s CROSS JOIN LATERAL (SELECT e.* FROM _sfflow.execution e" \
	"  WHERE e.machine_no = s.machine_no" \
	"  AND e.execution_id >= pg_catalog.concat(s.name, ':', $8) COLLATE \"C\"" \
	"  AND e.execution_id <= pg_catalog.concat(s.name, ':', $8, $11) COLLATE \"C\"" \
	"  ORDER BY e.execution_id LIMIT " SF_LIST_PROBE_TEXT ") e" \
	" WHERE s.machine_no = ANY ($1)"

/* Root branches that are due by $12, or parked, or start later: those that have not begun, and few others */
#define DUE_ROOTS \
	" FROM (SELECT b.execution_no FROM _sfflow.branch b" \
	"  WHERE b.branch_no = " SF_BRANCH_ROOT_TEXT " AND b.owner = ANY (SELECT s.owner" \
	"   FROM _sfflow.state_machine s WHERE s.machine_no = ANY ($1))" \
	"  AND b.due_at < $12" \
	" UNION ALL SELECT w.execution_no FROM _sfflow.parked w JOIN _sfflow.branch b" \
	"  ON b.execution_no = w.execution_no AND b.branch_no = w.branch_no" \
	"  WHERE w.branch_no = " SF_BRANCH_ROOT_TEXT " AND b.place = $20" \
	" UNION ALL SELECT d.execution_no FROM _sfflow.delayed_start d JOIN _sfflow.branch b" \
	"  ON b.execution_no = d.execution_no AND b.branch_no = " SF_BRANCH_ROOT_TEXT " AND b.due_at >= $12" \
	"  WHERE d.start_at >= $12) b"

static SfPlan by_parent = SF_PLAN(
	"SELECT " SF_LIST_COLUMNS " FROM" SF_LIST_FROM_NEWEST("_sfflow.execution e", "e", "e.parent_execution_no = $9"
										  " AND e.machine_no = ANY ($1) AND "));

static SfPlan by_name = SF_PLAN(
	"SELECT " SF_LIST_COLUMNS NAMED " AND " SF_LIST_IN_TIME("e") " AND " SF_LIST_MATCHES SF_LIST_NEWEST("e"));

static SfPlan by_error = SF_PLAN(SF_LIST_OF_MACHINES(OPEN, "o", "o.error = $10 AND "));

static SfPlan by_status = SF_PLAN(SF_LIST_OF_MACHINES(OPEN, "o", "o.status = $2 AND "));

/* Of the executions with the numbers that two indexes have */
static SfPlan labelled = SF_PLAN(
	"SELECT " SF_LIST_COLUMNS " FROM pg_catalog.unnest($21) AS n(no) JOIN _sfflow.execution e ON e.execution_no = n.no"
	" WHERE " SF_LIST_MATCHES SF_LIST_NEWEST("e"));

/* The same without a condition that only the execution fulfils: its row is read for the page alone */
#define OPEN_ALONE(condition) \
	"SELECT " SF_LIST_COLUMNS " FROM (SELECT o.execution_no FROM pg_catalog.unnest($1) AS m(no) CROSS JOIN LATERAL" \
	" (SELECT o.execution_no, o.requested_at FROM _sfflow.open_execution o" \
	"  WHERE o.machine_no = m.no AND " condition SF_LIST_IN_TIME("o") \
	"  ORDER BY o.requested_at DESC FETCH FIRST ($7) ROWS WITH TIES) o" SF_LIST_NEWEST("o") ") o" \
	" JOIN _sfflow.execution e ON e.execution_no = o.execution_no" SF_LIST_NEWEST("e")

static SfPlan by_error_alone = SF_PLAN(OPEN_ALONE("o.error = $10 AND ($2 IS NULL OR o.status = $2) AND "));

static SfPlan by_status_alone = SF_PLAN(OPEN_ALONE("o.status = $2 AND "));

static SfPlan by_machine = SF_PLAN(SF_LIST_OF_MACHINES("_sfflow.execution e", "e", ""));

static SfPlan not_begun = SF_PLAN(
	"SELECT " SF_LIST_COLUMNS " FROM (SELECT b.execution_no" DUE_ROOTS ") b"
	" JOIN _sfflow.execution e ON e.execution_no = b.execution_no"
	" WHERE e.machine_no = ANY ($1) AND e.started_at IS NULL AND "
	SF_LIST_IN_TIME("e") " AND " SF_LIST_MATCHES SF_LIST_NEWEST("e"));

/* How many rows by_name and not_begun would read, as far as SF_LIST_PROBE */
static SfPlan probe_names = SF_PLAN(
	"SELECT pg_catalog.count(*) FROM (SELECT 1" NAMED " LIMIT " SF_LIST_PROBE_TEXT ") r");

static SfPlan probe_due = SF_PLAN(
	"SELECT pg_catalog.count(*) FROM (SELECT 1" DUE_ROOTS " LIMIT " SF_LIST_PROBE_TEXT ") r");

/*
 * What was requested from $4 to $5, and what was requested before and runs: it is open,
 * or has not begun.  Without the items of Distributed Maps.
 */
static SfPlan by_night = SF_PLAN(
	"SELECT " SF_LIST_COLUMNS " FROM pg_catalog.unnest($1) AS m(no) CROSS JOIN LATERAL"
	" (SELECT " SF_LIST_COLUMNS " FROM _sfflow.execution e WHERE e.machine_no = m.no"
	"  AND e.requested_at >= $4 AND e.requested_at < $5 AND e.map_run_no IS NULL) e"
	" UNION ALL SELECT " SF_LIST_COLUMNS " FROM pg_catalog.unnest($1) AS m(no) CROSS JOIN LATERAL"
	" (SELECT " SF_LIST_COLUMNS " FROM _sfflow.open_execution o"
	"  JOIN _sfflow.execution e ON e.execution_no = o.execution_no"
	"  WHERE o.machine_no = m.no AND o.status = $2"
	"  AND o.requested_at < $4 AND e.map_run_no IS NULL) e"
	" UNION ALL SELECT " SF_LIST_COLUMNS " FROM (SELECT b.execution_no" DUE_ROOTS ") b"
	" JOIN _sfflow.execution e ON e.execution_no = b.execution_no"
	" WHERE e.machine_no = ANY ($1) AND e.started_at IS NULL AND e.requested_at < $4"
	" AND e.map_run_no IS NULL");

/* Read the machines of a list, as SfListedMachine: one, or SF_ALL_MACHINES; of an owner (InvalidOid: any). */
List *
sf_execution_list_machines(int only, Oid owner)
{
	static SfPlan plan = SF_PLAN(
		"SELECT m.machine_no, m.name, m.owner FROM _sfflow.state_machine m"
		" WHERE ($1 IS NULL OR m.machine_no = $1)"
		" AND ($2 IS NULL OR m.owner = $2) ORDER BY m.machine_no");

	return sf_snapshot_rows(&plan, &machine_type,
							sf_query_arg(INT4OID, Int32GetDatum(only), only == SF_ALL_MACHINES),
							sf_query_arg(REGROLEOID, ObjectIdGetDatum(owner), !OidIsValid(owner)));
}

/* Find the number of a machine by name, or SF_NO_MACHINE. */
int
sf_execution_list_machine(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT m.machine_no, m.name, m.owner FROM _sfflow.state_machine m WHERE m.name = $1");
	const SfListedMachine *machine = sf_list_first(sf_snapshot_rows(&plan, &machine_type, SF_TEXT(name)));

	return machine == NULL ? SF_NO_MACHINE : machine->machine_no;
}

/* The name that sorts behind all others: of the largest characters, as many as a name may have. */
static const char *
largest_name(void)
{
	const char *largest = GetDatabaseEncoding() == PG_UTF8 ? "\xF4\x8F\xBF\xBF" : "\xFF";
	StringInfoData name;

	initStringInfo(&name);
	for (int i = 0; i < SF_NAME_MAX; i++)
		appendStringInfoString(&name, largest);
	return name.data;
}

/* The arguments of all queries, in order */
#define ARGUMENTS(q) \
	sf_query_arg(INT4ARRAYOID, sf_int_array_datum((q)->machines, (q)->nmachines), false), \
	sf_query_arg(INT2OID, Int16GetDatum((q)->status), !(q)->has_status), \
	SF_TEXT((q)->error), SF_TIME((q)->from), SF_TIME((q)->before.requested_at), \
	SF_INT8((q)->before.execution_no), SF_INT8((q)->max_rows), SF_TEXT((q)->prefix), \
	SF_INT8((q)->parent_execution_no), SF_TEXT(sf_open_execution_error((q)->error)), SF_TEXT(largest_name()), \
	SF_TIME(GetCurrentTimestamp() + USECS_PER_HOUR), \
	sf_query_arg(INT8OID, Int64GetDatum((q)->map_run_no), (q)->map_run_no == SF_NO_MAP_RUN), \
	SF_TEXT((q)->qualifier), \
	sf_query_arg(BOOLOID, BoolGetDatum((q)->redriven == SF_LIST_REDRIVEN), (q)->redriven == SF_LIST_ANY), \
	SF_BOOL((q)->without_items), \
	sf_query_arg(JSONBOID, JsonbPGetDatum((q)->labelled.labels), (q)->labelled.labels == NULL), \
	SF_TEXT((q)->labelled.name), SF_TEXT((q)->labelled.value), SF_INT2(SF_BRANCH_PLACE_PARKED)

/* Run a query for executions. */
static List *
run(SfPlan *plan, const SfListQuery *query)
{
	return sf_snapshot_rows(plan, &listed_type, ARGUMENTS(query));
}

/* Sort positions, the newest first. */
static int
compare_positions(const ListCell *a, const ListCell *b)
{
	return sf_walk_compare(*(const SfWalkPosition *) lfirst(b), *(const SfWalkPosition *) lfirst(a));
}

/* Append the newest positions that two walks have in common to a list, as many as a query wants. */
static List *
append_common(List *positions, SfWalk *open, SfWalk *label, const SfListQuery *query)
{
	SfWalkPosition most = {query->before.requested_at, query->before.execution_no - 1};
	SfWalkPosition at;
	int			left = query->max_rows;

	while (left > 0 && sf_walk_to(open, most, &at) && sf_walk_to(label, at, &most) && most.time >= query->from)
	{
		SfWalkPosition *position;

		if (most.time != at.time || most.number != at.number)
			continue;
		position = palloc(sizeof(SfWalkPosition));
		*position = at;
		positions = lappend(positions, position);
		most.number--;
		left--;
	}
	return positions;
}

/* List the newest positions that have both the status and the label that a query asks for. */
static List *
list_common(const SfListQuery *query)
{
	static const SfIndex by_status_key = {"open_execution", "open_execution_pkey"};
	SfWalk	   *open = sf_walk_begin(&by_status_key, 4);
	SfWalk	   *label = sf_walk_begin(query->labelled.index, 5);
	List	   *positions = NIL;

	for (int i = 0; i < query->nmachines; i++)
	{
		sf_walk_among(open, SF_INT4(query->machines[i]), SF_INT2(query->status));
		sf_walk_among(label, SF_TEXT(query->labelled.name), SF_TEXT(query->labelled.value),
					  SF_INT4(query->machines[i]));
		positions = append_common(positions, open, label, query);
	}
	sf_walk_end(label);
	sf_walk_end(open);
	list_sort(positions, compare_positions);
	return list_truncate(positions, query->max_rows);
}

/*
 * Run a query for executions with the numbers that are found by status and label.  Some of them may not
 * fulfil its other conditions: then it goes on behind the last one.
 */
static List *
run_labelled(SfPlan *plan, const SfListQuery *query)
{
	SfListQuery part = *query;
	List	   *found = NIL;

	for (;;)
	{
		List	   *positions = list_common(&part);
		List	   *numbers = NIL;
		const SfWalkPosition *last;
		ListCell   *lc;

		foreach(lc, positions)
			numbers = lappend(numbers, &((SfWalkPosition *) lfirst(lc))->number);
		if (numbers != NIL)
			found = list_concat(found, sf_snapshot_rows(plan, &listed_type, ARGUMENTS(&part), sf_query_int8s(numbers)));
		if (list_length(positions) < part.max_rows || list_length(found) >= query->max_rows)
			return list_truncate(found, query->max_rows);
		last = llast(positions);
		part.before = (SfListPosition) {last->time, last->number};
	}
}

/* Tell whether a query would read few rows, by the query that counts them. */
static bool
has_few(SfPlan *probe, const SfListQuery *query)
{
	return sf_db_number(probe, 0, ARGUMENTS(query)) < SF_LIST_PROBE;
}

/*
 * Run a query over machines one by one, by a function that runs it.  Of many machines each would give a whole
 * page; so the newest part is read first, then one that reaches further back behind
 * it, until the page is full.
 */
static List *
run_merged_by(List *(*run_part) (SfPlan *, const SfListQuery *), SfPlan *plan, const SfListQuery *query)
{
	SfListQuery part = *query;
	List	   *found = NIL;
	TimestampTz end = Min(query->before.requested_at, GetCurrentTimestamp());

	if (query->nmachines > FEW_MACHINES)
		for (int64 window = FIRST_WINDOW; window < LAST_WINDOW && end - window > query->from;
			 window *= WINDOW_GROWTH)
		{
			part.from = end - window;
			found = list_concat(found, run_part(plan, &part));
			if (list_length(found) >= query->max_rows)
				return found;
			/* behind all that were requested at that time */
			part.before = (SfListPosition) {.requested_at = part.from,.execution_no = 0};
			part.max_rows = query->max_rows - list_length(found);
		}
	part.from = query->from;
	return list_concat(found, run_part(plan, &part));
}

/* The same with a query that finds its rows itself. */
static List *
run_merged(SfPlan *plan, const SfListQuery *query)
{
	return run_merged_by(run, plan, query);
}

/* Sort executions, the newest first. */
static int
compare_newest(const ListCell *a, const ListCell *b)
{
	const SfListedExecution *x = lfirst(a);
	const SfListedExecution *y = lfirst(b);

	return sf_walk_compare((SfWalkPosition) {y->requested_at, y->execution_no},
						   (SfWalkPosition) {x->requested_at, x->execution_no});
}

/* Tell whether the row of an open execution shows all that a query asks for but its status or error. */
static bool
asks_no_more(const SfListQuery *query)
{
	return query->prefix == NULL && query->qualifier == NULL && query->redriven == SF_LIST_ANY && !query->without_items &&
		query->labelled.labels == NULL;
}

/* List running executions: those that have begun, and those that have not. */
static List *
list_running(const SfListQuery *query)
{
	List	   *list;

	if (!has_few(&probe_due, query))
		return run_merged(&by_machine, query);
	if (query->labelled.labels != NULL)
		list = run_merged_by(run_labelled, &labelled, query);
	else
		list = run_merged(asks_no_more(query) ? &by_status_alone : &by_status, query);
	list = list_concat(list, run(&not_begun, query));
	list_sort(list, compare_newest);
	return list_truncate(list, query->max_rows);
}

/* Choose the query that finds the executions with the fewest rows read. */
static List *
choose(const SfListQuery *query)
{
	bool		running = query->has_status && query->status == SF_STATUS_RUNNING;
	bool		succeeded = query->has_status && query->status == SF_STATUS_SUCCEEDED;
	bool		failed = query->has_status && !running && !succeeded;

	if (query->parent_execution_no != SF_NO_PARENT)
		return run(&by_parent, query);
	if (query->prefix != NULL && has_few(&probe_names, query))
		return run(&by_name, query);
	if (query->labelled.labels != NULL && failed && query->error == NULL)
		return run_merged_by(run_labelled, &labelled, query);
	if (query->labelled.labels != NULL &&
		(query->labelled.rows < SF_LIST_PROBE || (query->error == NULL && (!query->has_status || succeeded))))
		return run_merged(query->labelled.plan, query);
	if (query->error != NULL)
		return running || succeeded ? NIL :
			run_merged(asks_no_more(query) && strlen(query->error) <= SF_OPEN_ERROR_MAX ?
					   &by_error_alone : &by_error, query);
	if (running)
		return list_running(query);
	if (!failed)
		return run_merged(&by_machine, query);
	return run_merged(asks_no_more(query) ? &by_status_alone : &by_status, query);
}

/*
 * Have the planner use indexes only: statistics of the tables may be old, and a plan
 * that sorts a machine's executions costs seconds.  Where there is no index, the cost of
 * a scan that is to be avoided would have it compiled.  Returns what ends this.
 */
int
sf_execution_list_plans_begin(void)
{
	static const char *const avoided[] = {
		"enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit"
	};
	int			nest = NewGUCNestLevel();

	for (size_t i = 0; i < lengthof(avoided); i++)
		(void) set_config_option(avoided[i], "off", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return nest;
}

/* Let the planner choose again. */
void
sf_execution_list_plans_end(int nest)
{
	AtEOXact_GUC(true, nest);
}

/* Read a page: the newest executions that a query asks for, as SfListedExecution. */
List *
sf_execution_list(const SfListQuery *query)
{
	int			nest = sf_execution_list_plans_begin();
	List	   *list = query->nmachines == 0 ? NIL : choose(query);

	sf_execution_list_plans_end(nest);
	return list;
}

/*
 * Read the executions of machines that were requested from one time up to another, and
 * those that were requested before and run, as SfListedExecution in no order.
 */
List *
sf_execution_list_night(const int *machines, int nmachines, TimestampTz since, TimestampTz until)
{
	SfListQuery query = {
		.machines = machines,
		.nmachines = nmachines,
		.has_status = true,
		.status = SF_STATUS_RUNNING,
		.from = since,
		.before = {until, 0}
	};
	int			nest = sf_execution_list_plans_begin();
	List	   *list = run(&by_night, &query);

	sf_execution_list_plans_end(nest);
	return list;
}
