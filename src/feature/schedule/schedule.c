/*
 * schedule.c
 *		Rows of _sfflow.schedule, schedule_run and pending_run, and the words in them.
 */
#include "postgres.h"

#include "base/name/name.h"
#include "feature/schedule/noted_runs.h"
#include "feature/schedule/schedule.h"
#include "store/feature.h"
#include "store/role/owner.h"

/* The words of options */
#define OPTION_WORD(sym, word) word,
static const char *const on_closed_words[] = {SF_ON_CLOSED_LIST(OPTION_WORD)};
static const char *const missed_words[] = {SF_MISSED_LIST(OPTION_WORD)};
static const char *const overlap_words[] = {SF_OVERLAP_LIST(OPTION_WORD)};

#define ROW SfSchedule
SF_ROW_TYPE(row_type, SF_SCHEDULE_COLUMNS, schedule, 1);
#undef ROW
#define ROW SfPendingRun
SF_ROW_TYPE(pending_run_type, SF_PENDING_RUN_COLUMNS, pending_run, 2);

/* The words of outcomes: in rows, and in events */
#define ROW_WORD(sym, word, event_word) word,
static const char *const outcome_words[] = {SF_RUN_OUTCOME_LIST(ROW_WORD)};

#define EVENT_WORD(sym, word, event_word) event_word,
static const char *const event_words[] = {SF_RUN_OUTCOME_LIST(EVENT_WORD)};

/* What the outcome of a run is in an event; NULL: the call was for no run. */
const char *
sf_schedule_outcome_in_event(SfRunOutcome outcome)
{
	return event_words[outcome];
}

/* Find a schedule by name. */
SfSchedule *
sf_schedule_read(const char *name, SfLock lock)
{
	static SfPlan plans[] = SF_PLANS_BY_LOCK(
		"SELECT " SF_SCHEDULE_COLUMNS(SF_SELECT) "1 FROM _sfflow.schedule s"
		" WHERE s.name = $1");

	return sf_db_row(&plans[lock], &row_type, SF_TEXT(name));
}

/* Insert a schedule, or put it in the place of the one with its name. */
void
sf_schedule_write(const SfSchedule *schedule)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.schedule AS s"
		" (name, owner, cron, state_machine, input, timezone, calendar, on_closed, starts,"
		" ends, missed, overlap, cron_job_id, changed_at, created_at)"
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,"
		" pg_catalog.clock_timestamp(), pg_catalog.now())"
		" ON CONFLICT (name) DO UPDATE SET owner = excluded.owner,"
		" cron = excluded.cron, state_machine = excluded.state_machine,"
		" input = excluded.input, timezone = excluded.timezone,"
		" calendar = excluded.calendar, on_closed = excluded.on_closed,"
		" starts = excluded.starts, ends = excluded.ends, missed = excluded.missed,"
		" overlap = excluded.overlap, cron_job_id = excluded.cron_job_id,"
		" changed_at = excluded.changed_at, handled_until = NULL, missed_at = NULL");

	sf_db_execute(&plan, SF_TEXT(schedule->name), SF_ROLE(schedule->owner), SF_TEXT(schedule->cron),
				  SF_TEXT(schedule->state_machine), SF_JSONB(schedule->input), SF_TEXT(schedule->timezone),
				  SF_TEXT(schedule->calendar), SF_TEXT(on_closed_words[schedule->on_closed]),
				  SF_TIME_OR_NULL(schedule->starts, DT_NOBEGIN), SF_TIME_OR_NULL(schedule->ends, DT_NOEND),
				  SF_TEXT(missed_words[schedule->missed]), SF_TEXT(overlap_words[schedule->overlap]),
				  SF_INT8(schedule->cron_job_id));
	SF_TELL(on_object_changed, SF_OBJECT_SCHEDULE, schedule->name);
}

/* Note a schedule's owner, and its job of pg_cron; which of its runs were missed stays as it is. */
void
sf_schedule_write_owner(const SfSchedule *schedule)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.schedule s SET owner = $2, cron_job_id = $3 WHERE s.name = $1");

	sf_db_execute(&plan, SF_TEXT(schedule->name), SF_ROLE(schedule->owner), SF_INT8(schedule->cron_job_id));
	SF_TELL(on_object_changed, SF_OBJECT_SCHEDULE, schedule->name);
}

/* Delete a schedule. */
void
sf_schedule_delete(const char *name)
{
	static SfPlan plans[] = {
		SF_PLAN("DELETE FROM _sfflow.schedule_run r WHERE r.schedule = $1"),
		SF_PLAN("DELETE FROM _sfflow.pending_run w WHERE w.schedule = $1"),
		SF_PLAN("DELETE FROM _sfflow.schedule s WHERE s.name = $1")
	};

	for (size_t i = 0; i < lengthof(plans); i++)
		sf_db_execute(&plans[i], SF_TEXT(name));
}

/* List the names of all schedules. */
List *
sf_schedule_names(void)
{
	static SfPlan plan = SF_PLAN("SELECT s.name FROM _sfflow.schedule s ORDER BY s.name");

	return sf_db_list(&plan, sf_row_append_text, NULL, 0);
}

/* Tell whether there are schedules. */
bool
sf_schedule_is_any(void)
{
	static SfPlan plan = SF_PLAN("SELECT 1 FROM _sfflow.schedule LIMIT 1");

	return sf_snapshot_run(&plan, NULL, NULL, NULL, 0) > 0;
}

/* Add to the runs of a schedule; of the older ones a thousand stay. */
void
sf_schedule_note(const char *name, SfRunOutcome outcome, TimestampTz scheduled_for,
					 const char *execution_id, const char *message)
{
	static SfPlan insert = SF_PLAN(
		"INSERT INTO _sfflow.schedule_run (schedule, run_at, pid, scheduled_for, execution_id,"
		" outcome, message)"
		" VALUES ($1, pg_catalog.clock_timestamp(), pg_catalog.pg_backend_pid(), $2, $3, $4, $5)"
		" ON CONFLICT DO NOTHING");
	static SfPlan trim = SF_PLAN(
		"DELETE FROM _sfflow.schedule_run r WHERE r.schedule = $1"
		" AND r.run_at <= (SELECT o.run_at FROM _sfflow.schedule_run o"
		"  WHERE o.schedule = $1 ORDER BY o.run_at DESC OFFSET 1000 LIMIT 1)");

	sf_db_execute(&insert, SF_TEXT(name), SF_TIME_OR_NULL(scheduled_for, DT_NOBEGIN),
				  SF_TEXT(execution_id), SF_TEXT(outcome_words[outcome]), SF_TEXT(message));
	sf_db_execute(&trim, SF_TEXT(name));
}

/* Tell whether a run was noted with an outcome. */
bool
sf_schedule_is_noted(const char *name, SfRunOutcome outcome, TimestampTz scheduled_for)
{
	static SfPlan plan = SF_PLAN(
		"SELECT 1 FROM _sfflow.schedule_run r WHERE r.schedule = $1"
		" AND r.scheduled_for = $2 AND r.outcome = $3 LIMIT 1");

	return sf_db_number(&plan, 0, SF_TEXT(name), SF_TIME(scheduled_for),
						SF_TEXT(outcome_words[outcome])) != 0;
}

/* Read a run that did not start. */
static void
append_unstarted(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_at = 1, COL_outcome, COL_message};
	SfUnstartedRun *run = palloc(sizeof(SfUnstartedRun));

	run->at = sf_row_number(tuple, desc, COL_at, DT_NOEND);
	run->outcome = sf_row_word(tuple, desc, COL_outcome, outcome_words, lengthof(outcome_words));
	run->message = sf_row_text(tuple, desc, COL_message);
	*(List **) arg = lappend(*(List **) arg, run);
}

/*
 * List the runs that were noted from one time up to another and have not started, as
 * SfUnstartedRun, but for those that wait.
 */
List *
sf_schedule_unstarted(const char *name, TimestampTz since, TimestampTz until)
{
	static SfPlan plan = SF_PLAN(
		"SELECT COALESCE(r.scheduled_for, r.run_at) AS at, r.outcome, r.message"
		" FROM _sfflow.schedule_run r WHERE r.schedule = $1"
		" AND r.run_at >= $2 AND r.run_at < $3"
		" AND r.outcome = ANY (ARRAY[$4, $5, $6])"
		" AND NOT EXISTS (SELECT FROM _sfflow.schedule_run l WHERE l.schedule = $1"
		"  AND l.run_at > r.run_at AND l.scheduled_for = r.scheduled_for"
		"  AND l.outcome = $7) ORDER BY r.run_at");
	List	   *runs = NIL;

	sf_snapshot_read(&plan, append_unstarted, &runs, SF_TEXT(name), SF_TIME(since), SF_TIME(until),
					 SF_TEXT(outcome_words[SF_RUN_OUTCOME_OVERLAPPED]), SF_TEXT(outcome_words[SF_RUN_OUTCOME_GIVEN_UP]),
					 SF_TEXT(outcome_words[SF_RUN_OUTCOME_FAILED]), SF_TEXT(outcome_words[SF_RUN_OUTCOME_SUCCEEDED]));
	return runs;
}

/* Find the error of the latest run that was noted; NULL: it did not fail. */
char *
sf_schedule_last_failure(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT r.message FROM _sfflow.schedule_run r WHERE r.schedule = $1"
		" ORDER BY r.run_at DESC LIMIT 1");
	List	   *messages = sf_db_texts(&plan, SF_TEXT(name));

	return sf_list_first(messages);
}

/* Find when the latest run was noted that did not fail; DT_NOBEGIN: none. */
TimestampTz
sf_schedule_last_success(const char *name)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.max(r.run_at) FROM _sfflow.schedule_run r WHERE r.schedule = $1"
		" AND r.message IS NULL");

	return sf_db_number(&plan, DT_NOBEGIN, SF_TEXT(name));
}

/* Note the execution that a schedule has started last. */
void
sf_schedule_set_last(const char *name, const char *execution_id)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.schedule SET last_execution_id = $2 WHERE name = $1");

	sf_db_execute(&plan, SF_TEXT(name), SF_TEXT(execution_id));
}

/* Note that runs up to a time need no more care, and which one was given up. */
void
sf_schedule_set_handled(const char *name, TimestampTz until, TimestampTz missed_at)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.schedule"
		" SET handled_until = GREATEST(handled_until, $2), missed_at = $3 WHERE name = $1");

	sf_db_execute(&plan, SF_TEXT(name), SF_TIME(until),
				  SF_TIME_OR_NULL(missed_at, DT_NOBEGIN));
}

/* Fill in the schedule of a notice, if it is there. */
void
sf_schedule_notice(SfNotice *notice, const char *name)
{
	const SfSchedule *schedule = sf_schedule_read(name, SF_LOCK_NONE);

	if (schedule == NULL)
		return;
	notice->owner = schedule->owner;
	notice->resource = sf_public_name(SF_NAME_SCHEDULE, schedule->name);
	sf_notice_set_machine(notice, schedule->state_machine);
}

/* --- runs that wait for others to end --- */

/* Have a run wait; false: one for the same time does already. */
static bool
add_pending(const char *schedule, TimestampTz scheduled_for, SfArg max_running, SfPendingRunKind kind)
{
	static SfPlan plan = SF_PLAN(
		"INSERT INTO _sfflow.pending_run (schedule, scheduled_for, max_running, kind)"
		" VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING");

	return sf_db_execute(&plan, SF_TEXT(schedule), SF_TIME(scheduled_for), max_running, SF_INT2(kind)) > 0;
}

/* Have a run of the schedule itself wait for the one before; false: it does already. */
bool
sf_pending_run_queue(const char *schedule, TimestampTz scheduled_for)
{
	return add_pending(schedule, scheduled_for, SF_NULL(INT4OID), SF_PENDING_RUN_QUEUED);
}

/* Have a run of sf_backfill wait; false: one for the same time does already. */
bool
sf_pending_run_backfill(const char *schedule, TimestampTz scheduled_for, int max_running)
{
	return add_pending(schedule, scheduled_for, SF_INT4(max_running), SF_PENDING_RUN_BACKFILL);
}

/* Count the runs of a schedule itself that wait. */
int
sf_pending_run_count(const char *schedule)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM _sfflow.pending_run w"
		" WHERE w.schedule = $1 AND w.kind = $2");

	return (int) sf_db_number(&plan, 0, SF_TEXT(schedule), SF_INT2(SF_PENDING_RUN_QUEUED));
}

/* List runs of a schedule that wait: those that have started, then some of the others, the earliest of a kind first. */
List *
sf_pending_run_read(const char *schedule)
{
	static SfPlan plan = SF_PLAN(
		"SELECT " SF_PENDING_RUN_COLUMNS(SF_SELECT) "1 FROM _sfflow.pending_run w"
		" WHERE w.schedule = $1"
		" ORDER BY pg_catalog.array_position($2, w.kind), w.scheduled_for LIMIT 1000");

	return sf_db_rows(&plan, &pending_run_type, SF_TEXT(schedule), SF_INT2S(SF_PENDING_RUNS_IN_TURN));
}

/* Note the execution that a run has started. */
void
sf_pending_run_started(const SfPendingRun *pending, const char *execution_id)
{
	static SfPlan plan = SF_PLAN(
		"UPDATE _sfflow.pending_run w SET execution_id = $3, kind = $4"
		" WHERE w.schedule = $1 AND w.scheduled_for = $2");

	sf_db_execute(&plan, SF_TEXT(pending->schedule), SF_TIME(pending->scheduled_for),
				  SF_TEXT(execution_id), SF_INT2(SF_PENDING_RUN_RUNNING));
}

/* Forget a run that waits no more. */
void
sf_pending_run_delete(const SfPendingRun *pending)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.pending_run w"
		" WHERE w.schedule = $1 AND w.scheduled_for = $2");

	sf_db_execute(&plan, SF_TEXT(pending->schedule), SF_TIME(pending->scheduled_for));
}

/* Tell whether runs of any schedule wait, also since this transaction's last change. */
bool
sf_pending_run_is_any(void)
{
	static SfPlan plan = SF_PLAN("SELECT 1 FROM _sfflow.pending_run LIMIT 1");

	return sf_db_number(&plan, 0) != 0;
}

/* --- words --- */

/* Write the option on_closed. */
const char *
sf_on_closed_name(SfOnClosed on_closed)
{
	return on_closed_words[on_closed];
}

/* Read the option on_closed. */
SfOnClosed
sf_option_on_closed(const char *text)
{
	return (SfOnClosed) sf_argument_word("on_closed", text, on_closed_words, lengthof(on_closed_words));
}

/* Read the option missed. */
SfMissed
sf_option_missed(const char *text)
{
	return (SfMissed) sf_argument_word("missed", text, missed_words, lengthof(missed_words));
}

/* Read the option overlap. */
SfOverlap
sf_option_overlap(const char *text)
{
	return (SfOverlap) sf_argument_word("overlap", text, overlap_words, lengthof(overlap_words));
}
