/*
 * usual.c
 *		How long the jobs and the executions of a machine usually take.
 *
 * Both are the median of the last ones, so that a night that was slow once does not
 * count, and what became slower for good does soon.
 */
#include "postgres.h"

#include "store/execution/execution_list.h"
#include "store/execution/status.h"
#include "store/statistics/usual.h"

/* Read what a job takes. */
static void
append_job(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_job = 1, COL_us};
	SfUsualJob *job = palloc(sizeof(SfUsualJob));

	job->job = sf_row_text(tuple, desc, COL_job);
	job->us = sf_row_number(tuple, desc, COL_us, 0);
	*(List **) arg = lappend(*(List **) arg, job);
}

/* Order what jobs usually take by their names. */
static int
compare_jobs(const ListCell *a, const ListCell *b)
{
	return strcmp(((const SfUsualJob *) lfirst(a))->job, ((const SfUsualJob *) lfirst(b))->job);
}

/* What the jobs of a machine take, by their last 30 runs: a List of SfUsualJob in the order of names. */
List *
sf_usual_jobs(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT u.job, (u.ms[1] * 1000)::pg_catalog.int8 AS us"
		" FROM _sfflow.job_usual u WHERE u.machine_no = $1");
	List	   *jobs = NIL;

	sf_snapshot_read(&plan, append_job, &jobs, SF_INT4(machine_no));
	list_sort(jobs, compare_jobs);
	return jobs;
}

/* Find what a job usually takes in the list of its machine, microseconds; SF_NO_DURATION: it is not known. */
int64
sf_usual_of_job(const List *usual, const char *job)
{
	int			low = 0,
				high = list_length(usual) - 1;

	while (low <= high)
	{
		int			middle = (low + high) / 2;
		const SfUsualJob *found = list_nth(usual, middle);
		int			order = strcmp(job, found->job);

		if (order == 0)
			return found->us;
		if (order > 0)
			low = middle + 1;
		else
			high = middle - 1;
	}
	return SF_NO_DURATION;
}

/*
 * What an execution of a machine takes, by the last 20 that succeeded among the
 * newest 1,000, microseconds; SF_NO_DURATION: not known.  The items of a Distributed Map
 * do not count.
 */
int64
sf_usual_execution_us(int machine_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT (pg_catalog.date_part('epoch', d.took) * 1000000)::pg_catalog.int8"
		" FROM (SELECT n.stopped_at - n.started_at AS took"
		"  FROM (SELECT e.status, e.map_run_no, e.requested_at, e.started_at, e.stopped_at"
		"   FROM _sfflow.execution e WHERE e.machine_no = $1"
		"   ORDER BY e.requested_at DESC LIMIT 1000) n"
		"  WHERE n.status = $2 AND n.map_run_no IS NULL AND n.started_at IS NOT NULL"
		"  ORDER BY n.requested_at DESC LIMIT 20) d ORDER BY d.took");
	int			level = sf_execution_list_plans_begin();
	List	   *took = sf_db_numbers(&plan, SF_INT4(machine_no), SF_INT2(SF_STATUS_SUCCEEDED));

	sf_execution_list_plans_end(level);
	return took == NIL ? SF_NO_DURATION : Max(0, *(int64 *) list_nth(took, list_length(took) / 2));
}
