/*
 * mark.c
 *		Rows of _sfflow.mark: jobs that sf_mark has marked.
 *
 * Each backend knows whether there are any, as it knows the holds (hold.c).  Only if there are any is the table
 * read when a job begins.
 */
#include "postgres.h"

#include "db/keyed_cache.h"
#include "feature/hold/mark.h"

/* After so many jobs without a mark, look whether there are any */
#define MISSES	1000

/* --- whether there are any --- */

static SfKeyedCache cache = {
	.cache = {.table = "mark",.load = sf_keyed_cache_begin,.is_latest = true},
	.index = {"mark", "mark_pkey"}
};

/*
 * Tell whether there may be marks, as far as the caller has taken in what other sessions
 * have changed (sf_table_cache_accept_changes).
 */
bool
sf_mark_may_be(void)
{
	return sf_keyed_cache_is_any(&cache);
}

/* --- the table --- */

/* Mark a job, in place of an earlier mark. */
void
sf_mark_put(int64 execution_no, const char *job_id, const SfMark *mark)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.mark AS m (execution_no, job_id, outcome, output, details)"
		" VALUES ($1, $2, $3, $4, $5) ON CONFLICT (execution_no, job_id) DO UPDATE"
		" SET outcome = excluded.outcome, output = excluded.output, details = excluded.details");

	sf_db_execute(&plan, SF_INT8(execution_no), SF_TEXT(job_id),
				  SF_TEXT(sf_mark_outcome_name(mark->outcome)), SF_JSONB(mark->output),
				  SF_JSONB(mark->details));
	sf_db_invalidate("mark");
}

/* Columns of marks */
enum {COL_outcome = 1, COL_output, COL_details, COL_job_id};

/* Read a mark. */
static void
read_mark(HeapTuple tuple, TupleDesc desc, void *arg)
{
	SfMark	   *mark = arg;

	mark->outcome = sf_mark_outcome_of(sf_row_text(tuple, desc, COL_outcome));
	mark->output = sf_row_jsonb(tuple, desc, COL_output);
	mark->details = sf_row_jsonb(tuple, desc, COL_details);
}

/* Have all backends look again whether there are marks, if there are none now. */
static void
invalidate_after_last(void)
{
	static SfPlan plan = SF_PLAN("SELECT 1 FROM _sfflow.mark m LIMIT 1");

	if (sf_db_run(InvalidOid, &plan, NULL, NULL, NULL, 0) == 0)
		sf_db_invalidate("mark");
}

/* Take the mark of a job away; false: it has none. */
bool
sf_mark_take(int64 execution_no, const char *job_id, SfMark *mark)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.mark m WHERE m.execution_no = $1 AND m.job_id = $2"
		" RETURNING m.outcome, m.output, m.details");
	static int	misses = 0;

	/* marks of others cost a look at the index, which is a tenth of a query */
	if (sf_rows_read_now(&cache.index, 1, NULL, NULL, SF_INT8(execution_no), SF_TEXT(job_id)) == 0 ||
		sf_db_read(&plan, read_mark, mark, SF_INT8(execution_no), SF_TEXT(job_id)) == 0)
	{
		/* the marks may have been purged with their executions */
		if (++misses % MISSES == 0)
			cache.cache.is_current = false;
		return false;
	}
	invalidate_after_last();
	return true;
}

/* Append a mark, with its job, to a list. */
static void
append_mark(HeapTuple tuple, TupleDesc desc, void *arg)
{
	List	  **marks = arg;
	SfMark	   *mark = palloc(sizeof(SfMark));

	read_mark(tuple, desc, mark);
	mark->job_id = sf_row_text(tuple, desc, COL_job_id);
	*marks = lappend(*marks, mark);
}

/* List the marks of an execution (SfMark). */
List *
sf_mark_list(int64 execution_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT m.outcome, m.output, m.details, m.job_id FROM _sfflow.mark m"
		" WHERE m.execution_no = $1");

	return sf_mark_may_be() ? sf_db_list(&plan, append_mark, SF_ARGS(SF_INT8(execution_no))) : NIL;
}

/* Forget the marks of an execution that begins anew, or has succeeded. */
void
sf_mark_delete_of(int64 execution_no)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.mark m WHERE m.execution_no = $1");

	if (sf_mark_may_be() && sf_db_execute(&plan, SF_INT8(execution_no)) > 0)
		invalidate_after_last();
}
