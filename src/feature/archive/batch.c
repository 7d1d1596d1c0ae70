/*
 * batch.c
 *		Rows of batches of executions that programs write into archives.
 */
#include "postgres.h"

#include "feature/archive/batch.h"

#define ROW SfArchiveBatch
SF_RESULT_TYPE(batch_type, SF_ARCHIVE_BATCH_FIELDS);

#define SELECT_BATCH \
	"SELECT b.batch_no, b.activity_no, b.name, b.executions, b.confirmed_at IS NOT NULL" \
	" FROM _sfflow.archive_batch b "

/* Read a batch; NULL: there is none. */
SfArchiveBatch *
sf_archive_batch_read(int64 batch_no, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(SELECT_BATCH "WHERE b.batch_no = $1");

	return sf_db_row(&plans[lock], &batch_type, SF_INT8(batch_no));
}

/* The numbers of the batches of an activity that are not confirmed, the oldest first. */
List *
sf_archive_batch_unconfirmed(int activity_no)
{
	static SfPlan plan = SF_PLAN(
		"SELECT b.batch_no FROM _sfflow.archive_batch b WHERE b.activity_no = $1 AND b.confirmed_at IS NULL"
		" ORDER BY b.batch_no");

	return sf_db_numbers(&plan, SF_INT4(activity_no));
}

/*
 * Make a batch without executions.  Its name has a number that no other batch has, also in a copy of the database that
 * has the same numbers.
 */
SfArchiveBatch *
sf_archive_batch_make(int activity_no, const char *worker)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.archive_batch AS b (batch_no, activity_no, name, executions, taken_at, worker)"
		" SELECT n, $1, pg_catalog.format('executions-%s-%s', pg_catalog.lpad(n::pg_catalog.text, 10, '0'),"
		"  pg_catalog.left(pg_catalog.replace(pg_catalog.gen_random_uuid()::pg_catalog.text, '-', ''), 12)),"
		"  0, pg_catalog.clock_timestamp(), $2"
		" FROM pg_catalog.nextval('_sfflow.archive_batch_no') n"
		" RETURNING b.batch_no, b.activity_no, b.name, b.executions, b.confirmed_at IS NOT NULL");

	return sf_db_row(&plan, &batch_type, SF_INT4(activity_no), SF_TEXT(worker));
}

/* Put executions, which the caller has locked, into a batch. */
void
sf_archive_batch_add(int64 batch_no, const List *numbers)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.archive_member (execution_no, batch_no)"
		" SELECT n, $1 FROM pg_catalog.unnest($2) n");

	sf_db_execute(&plan, SF_INT8(batch_no), sf_query_int8s(numbers));
}

/* Store how many executions a batch has. */
void
sf_archive_batch_set_size(int64 batch_no, int executions)
{
	static SfPlan plan = SF_PLAN("UPDATE _sfflow.archive_batch b SET executions = $2 WHERE b.batch_no = $1");

	sf_db_execute(&plan, SF_INT8(batch_no), SF_INT4(executions));
}

/* Store that a program has claimed a batch that another one has left. */
void
sf_archive_batch_claim(int64 batch_no, const char *worker)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.archive_batch b SET worker = $2, taken_at = pg_catalog.clock_timestamp()"
		" WHERE b.batch_no = $1");

	sf_db_execute(&plan, SF_INT8(batch_no), SF_TEXT(worker));
}

/* Delete a batch. */
void
sf_archive_batch_delete(int64 batch_no)
{
	static SfPlan plan = SF_PLAN("DELETE FROM _sfflow.archive_batch b WHERE b.batch_no = $1");

	sf_db_execute(&plan, SF_INT8(batch_no));
}

/* The numbers of at most so many executions of a batch, from one number on. */
List *
sf_archive_batch_members(int64 batch_no, int64 after, int most)
{
	static SfPlan plan = SF_PLAN(
		"SELECT a.execution_no FROM _sfflow.archive_member a WHERE a.batch_no = $1 AND a.execution_no > $2"
		" ORDER BY a.execution_no LIMIT $3");

	return sf_db_numbers(&plan, SF_INT8(batch_no), SF_INT8(after), SF_INT4(most));
}

/* The numbers of executions of confirmed batches that could not be deleted then. */
List *
sf_archive_batch_left(void)
{
	static SfPlan plan = SF_PLAN(
		"SELECT a.execution_no FROM _sfflow.archive_member a"
		" JOIN _sfflow.archive_batch b ON b.batch_no = a.batch_no WHERE b.confirmed_at IS NOT NULL");

	return sf_db_list(&plan, sf_row_append_number, NULL, 0);
}

/* The bytes that the histories of executions take, compressed as they are stored. */
int64
sf_archive_batch_bytes(const List *numbers)
{
	static SfPlan plan = SF_PLAN(
		"SELECT coalesce(pg_catalog.sum(pg_catalog.pg_column_size(h.body)"
		"  + coalesce(pg_catalog.pg_column_size(h.documents), 0)), 0)::pg_catalog.int8"
		" FROM _sfflow.history h WHERE h.execution_no = ANY ($1)");

	return sf_db_number(&plan, 0, sf_query_int8s(numbers));
}

/* Store that a batch is in its archive, in a file of so many bytes, which have a checksum. */
void
sf_archive_batch_confirm(int64 batch_no, const char *file, int64 bytes, const char *sha256)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.archive_batch b SET confirmed_at = pg_catalog.clock_timestamp(), file = $2, bytes = $3,"
		" sha256 = $4 WHERE b.batch_no = $1");

	sf_db_execute(&plan, SF_INT8(batch_no), SF_TEXT(file), SF_INT8(bytes), SF_TEXT(sha256));
}

/* Store that all that is due of an activity is in batches; writes at most once per minute. */
void
sf_archive_batch_note_progress(int activity_no)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.archive_progress AS p (activity_no, caught_up_at)"
		" SELECT $1, pg_catalog.clock_timestamp() WHERE NOT EXISTS (SELECT FROM _sfflow.archive_progress q"
		"  WHERE q.activity_no = $1 AND q.caught_up_at > pg_catalog.clock_timestamp() - '1 min'::pg_catalog.interval)"
		" ON CONFLICT (activity_no) DO UPDATE SET caught_up_at = excluded.caught_up_at");

	sf_db_execute(&plan, SF_INT4(activity_no));
}

/* Delete what is known of the archive of an activity. */
void
sf_archive_batch_delete_of(int activity_no)
{
	static SfPlan batches = SF_PLAN("DELETE FROM _sfflow.archive_batch b WHERE b.activity_no = $1");
	static SfPlan progress = SF_PLAN("DELETE FROM _sfflow.archive_progress p WHERE p.activity_no = $1");

	sf_db_execute(&batches, SF_INT4(activity_no));
	sf_db_execute(&progress, SF_INT4(activity_no));
}
