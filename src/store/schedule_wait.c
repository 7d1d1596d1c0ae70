/*
 * schedule_wait.c
 *		Rows of _sfflow.schedule_wait: runs that wait for others to end.
 */
#include "postgres.h"

#include "store/schedule_wait.h"

#define ROW SfScheduleWait
SF_ROW_TYPE(row_type, SF_SCHEDULE_WAIT_COLUMNS, schedule_wait, 2);

/* Have a run wait; false: it does already. */
bool
sf_schedule_wait_add(const char *schedule, TimestampTz scheduled_for, int max_running)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.schedule_wait (schedule, scheduled_for, max_running)"
		" VALUES ($1, $2, $3) ON CONFLICT DO NOTHING");

	return sf_store_execute(&plan, SF_TEXT(schedule), SF_TIME(scheduled_for),
							max_running == 0 ? SF_NULL(INT4OID) : SF_INT4(max_running)) > 0;
}

/* Count the runs of a schedule itself that wait. */
int
sf_schedule_wait_count(const char *schedule)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM _sfflow.schedule_wait w"
		" WHERE w.schedule" SF_EQ "$1 AND w.max_running IS NULL");

	return (int) sf_store_number(&plan, 0, SF_TEXT(schedule));
}

/* List the runs of a schedule that wait: those that have started, then some of the others, the earliest first. */
List *
sf_schedule_wait_read(const char *schedule)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_SCHEDULE_WAIT_COLUMNS(SF_SELECT) "1 FROM _sfflow.schedule_wait w"
		" WHERE w.schedule" SF_EQ "$1 ORDER BY w.execution_id IS NULL,"
		" w.max_running IS NOT NULL, w.scheduled_for LIMIT 1000");

	return sf_store_rows(&plan, &row_type, SF_TEXT(schedule));
}

/* Note the execution that a run has started. */
void
sf_schedule_wait_started(const SfScheduleWait *wait, const char *execution_id)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.schedule_wait w SET execution_id = $3"
		" WHERE w.schedule" SF_EQ "$1 AND w.scheduled_for" SF_EQ "$2");

	sf_store_execute(&plan, SF_TEXT(wait->schedule), SF_TIME(wait->scheduled_for),
					 SF_TEXT(execution_id));
}

/* Forget a run that waits no more. */
void
sf_schedule_wait_delete(const SfScheduleWait *wait)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.schedule_wait w"
		" WHERE w.schedule" SF_EQ "$1 AND w.scheduled_for" SF_EQ "$2");

	sf_store_execute(&plan, SF_TEXT(wait->schedule), SF_TIME(wait->scheduled_for));
}

/* Tell whether runs of any schedule wait, also since this transaction's last change. */
bool
sf_schedule_wait_any(void)
{
	static SfPlan plan = SF_PLAN("SELECT 1 FROM _sfflow.schedule_wait LIMIT 1");

	return sf_store_number(&plan, 0) != 0;
}
