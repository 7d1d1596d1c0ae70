/*
 * schedule_functions.c
 *		sf_schedule(), sf_unschedule(), and the function that pg_cron calls.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/compat.h"
#include "base/version/schema.h"
#include "copy/instance.h"
#include "feature/schedule/calendar.h"
#include "feature/schedule/pg_cron.h"
#include "feature/schedule/schedule.h"
#include "json/json.h"
#include "store/audit/audit.h"
#include "store/feature.h"
#include "store/role/owner.h"

/* Find the state machine of a schedule, which is named "name" or "name/version". */
static SfMachine *
find_machine(const char *text)
{
	char	   *name = pstrdup(text);
	char	   *slash = strchr(name, '/');
	SfMachine  *machine;

	if (slash != NULL)
		*slash = '\0';
	machine = sf_machine_read(name, SF_NO_VERSION, false);
	if (machine == NULL)
		sf_object_missing(SF_OBJECT_STATE_MACHINE, name);
	return machine;
}

/* Tell whether runs begin here; a warning says so when they are the original's. */
static bool
may_run(const char *schedule)
{
	sf_instance_refuse_upgrade("a schedule");
	if (sf_instance_takes_work())
		return true;
	sf_instance_tell(WARNING, sf_instance_status(),
					 psprintf("schedule \"%s\" starts nothing: the database is not driven",
							  schedule));
	return false;
}

/* Raise the error for a schedule that the current user cannot know of. */
static void pg_attribute_noreturn()
schedule_missing(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("schedule \"%s\" does not exist", name),
			 sf_object_errdetail_missing()));
}

/* Tell whether the current user is a member of a schedule's owner, or may READ its machine. */
bool
sf_schedule_is_visible(const SfSchedule *schedule)
{
	char	   *name = pnstrdup(schedule->state_machine, strcspn(schedule->state_machine, "/"));
	SfMachine  *machine;

	if (sf_privilege_is_owner(schedule->owner))
		return true;
	machine = sf_machine_read(name, SF_NO_VERSION, false);
	return machine != NULL &&
		sf_privilege_check(SF_OBJECT_STATE_MACHINE, name, machine->owner,
						   SF_RIGHT_READ);
}

/* Find a schedule that the current user may know of, or raise. */
SfSchedule *
sf_schedule_find_visible(const char *name)
{
	SfSchedule *schedule = sf_schedule_read(name, SF_LOCK_NONE);

	if (schedule == NULL || !sf_schedule_is_visible(schedule))
		schedule_missing(name);
	return schedule;
}

/* Raise unless the current user may change a schedule. */
static void
require_schedule_owner(const SfSchedule *schedule)
{
	if (sf_privilege_is_owner(schedule->owner))
		return;
	if (sf_schedule_is_visible(schedule))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of schedule \"%s\"", schedule->name)));
	schedule_missing(schedule->name);
}

/* Raise unless there is a schedule that the current user may change; its owner. */
Oid
sf_schedule_require_own(const char *name)
{
	const SfSchedule *schedule = sf_schedule_read(name, SF_LOCK_NONE);

	if (schedule == NULL)
		schedule_missing(name);
	require_schedule_owner(schedule);
	return schedule->owner;
}

/*
 * Find a schedule that the current user may change, or raise.  Its name and then its row are locked until the end of
 * the transaction, and it is the caller's then.
 */
SfSchedule *
sf_schedule_lock_own(const char *name, SfNamedLock how)
{
	SfSchedule *schedule;

	(void) sf_schedule_require_own(name);
	(void) sf_object_lock_own(SF_OBJECT_SCHEDULE, name, how);
	schedule = sf_schedule_read(name, SF_LOCK_WAIT);
	if (schedule == NULL)
		schedule_missing(name);
	require_schedule_owner(schedule);
	return schedule;
}

/* Append an argument to a call, if it is given, by its name. */
static void
append_argument(StringInfo buf, const char *name, const char *value)
{
	if (value != NULL)
		appendStringInfo(buf, ", %s => %s", name, quote_literal_cstr(value));
}

/* Write a time for a call; NULL if there is none. */
static const char *
time_literal(TimestampTz at)
{
	return TIMESTAMP_NOT_FINITE(at) ? NULL : sf_timestamp_print(at);
}

/* Write the arguments of a schedule as a call that needs no row of it. */
static char *
given_command(const SfSchedule *schedule)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT _sfflow.run_schedule(%s, %s, %s, %s, %s",
					 quote_literal_cstr(schedule->name), quote_literal_cstr(schedule->cron),
					 quote_literal_cstr(schedule->state_machine),
					 quote_literal_cstr(sf_json_to_cstring(schedule->input)),
					 schedule->timezone == NULL ? "NULL" : quote_literal_cstr(schedule->timezone));
	append_argument(&buf, "calendar", schedule->calendar);
	if (schedule->calendar != NULL)
		append_argument(&buf, "on_closed", sf_on_closed_name(schedule->on_closed));
	append_argument(&buf, "starts", time_literal(schedule->starts));
	append_argument(&buf, "ends", time_literal(schedule->ends));
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/* Read the arguments that sf_schedule and a run without a row share. */
static void
read_arguments(FunctionCallInfo fcinfo, SfSchedule *schedule)
{
	memset(schedule, 0, sizeof(*schedule));
	schedule->name = sf_arg_text(fcinfo, 0, "name");
	schedule->owner = GetUserId();
	schedule->cron = sf_arg_text(fcinfo, 1, "schedule");
	schedule->state_machine = unconstify(char *, sf_public_name_to_id(SF_NAME_STATE_MACHINE,
																	  sf_arg_text(fcinfo, 2, "state_machine")));
	schedule->input = sf_arg_jsonb(fcinfo, 3, "input");
	schedule->timezone = sf_arg_text_or_null(fcinfo, 4);
	schedule->calendar = sf_arg_text_or_null(fcinfo, 5);
	schedule->on_closed = sf_option_on_closed(sf_arg_text(fcinfo, 6, "on_closed"));
	schedule->starts = PG_ARGISNULL(7) ? DT_NOBEGIN : PG_GETARG_TIMESTAMPTZ(7);
	schedule->ends = PG_ARGISNULL(8) ? DT_NOEND : PG_GETARG_TIMESTAMPTZ(8);
}

/* Check everything that can be wrong with a schedule before it first runs; its machine is not dropped meanwhile. */
static void
check_schedule(const SfSchedule *schedule, SfCron *cron)
{
	SfMachine  *machine;

	sf_name_check(schedule->name, "schedule name");
	sf_schedule_check(schedule, cron);
	machine = find_machine(schedule->state_machine);
	sf_object_require(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner,
					  SF_RIGHT_START);
	sf_object_lock_machine(machine->machine_no, machine->name);
}

/* Record a change of a schedule. */
static void
note_schedule(const char *action, const char *name)
{
	sf_audit_note(action, SF_OBJECT_SCHEDULE, name, psprintf("schedule:%s", name), NULL, NULL);
}

/*
 * Make a schedule, or replace the one with its name; returns the number of the
 * pg_cron job.
 */
SF_SQL_FUNCTION(sfflow_sf_schedule)
{
	SfSchedule	schedule;
	SfSchedule *old;
	SfCron		cron;

	read_arguments(fcinfo, &schedule);
	schedule.missed = sf_option_missed(sf_arg_text(fcinfo, 9, "missed"));
	schedule.overlap = sf_option_overlap(sf_arg_text(fcinfo, 10, "overlap"));
	if (schedule.calendar != NULL)
		sf_calendar_lock(false);
	check_schedule(&schedule, &cron);
	sf_pg_cron_require(schedule.name, sf_schedule_job_expression(&schedule, &cron), given_command(&schedule));
	if (cron.kind == SF_CRON_KIND_INTERVAL && !sf_pg_cron_has_seconds())
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_SCHEDULE),
				 errmsg("the installed pg_cron has no schedules of less than a minute"),
				 errhint("It takes pg_cron 1.5.")));
	sf_pg_cron_check_login(schedule.owner);
	sf_named_lock(SF_OBJECT_SCHEDULE, schedule.name, SF_NAMED_LOCK_CHANGE);
	old = sf_schedule_read(schedule.name, SF_LOCK_WAIT);
	if (old != NULL)
	{
		require_schedule_owner(old);
		sf_pg_cron_unschedule(old->cron_job_id, old->owner);
	}
	sf_privilege_anchor(schedule.owner);
	schedule.cron_job_id = sf_schedule_add_job(&schedule, &cron);
	sf_schedule_write(&schedule);
	note_schedule(old == NULL ? "create" : "replace", schedule.name);
	if (old != NULL && old->owner != schedule.owner)
		sf_privilege_unanchor(old->owner);
	PG_RETURN_INT64(schedule.cron_job_id);
}

/*
 * Give a schedule that the caller owns, and its pg_cron job, to another role;
 * returns the previous owner.
 */
Oid
sf_schedule_set_owner(const char *name, Oid owner)
{
	SfSchedule *schedule = sf_schedule_lock_own(name, SF_NAMED_LOCK_CHANGE);
	Oid			before = schedule->owner;
	SfCron		cron;

	sf_schedule_parse(schedule->cron, &cron);
	schedule->owner = owner;
	if (sf_pg_cron_is_here())
	{
		sf_pg_cron_check_login(owner);
		sf_pg_cron_unschedule(schedule->cron_job_id, before);
		schedule->cron_job_id = sf_schedule_add_job(schedule, &cron);
	}
	sf_schedule_write_owner(schedule);
	return before;
}

/* Remove a schedule and its pg_cron job. */
SF_SQL_FUNCTION(sfflow_sf_unschedule)
{
	SfSchedule *schedule = sf_schedule_lock_own(text_to_cstring(PG_GETARG_TEXT_PP(0)), SF_NAMED_LOCK_DROP);

	sf_pg_cron_unschedule(schedule->cron_job_id, schedule->owner);
	sf_schedule_delete(schedule->name);
	sf_audit_delete_of_object(SF_OBJECT_SCHEDULE, schedule->name);
	SF_TELL(on_object_dropped, SF_OBJECT_SCHEDULE, schedule->name);
	sf_audit_note("drop", SF_OBJECT_ALL, "*", psprintf("schedule:%s", schedule->name), NULL, NULL);
	sf_privilege_unanchor(schedule->owner);
	PG_RETURN_VOID();
}

/* Start the execution for which a schedule is due at a time; null if there is none. */
static Datum
run_schedule(FunctionCallInfo fcinfo, TimestampTz now)
{
	SfSchedule *schedule = sf_schedule_lock_own(text_to_cstring(PG_GETARG_TEXT_PP(0)), SF_NAMED_LOCK_KEEP);
	char	   *execution_id = may_run(schedule->name) ? sf_due_run_called(schedule, now) : NULL;

	if (execution_id == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(execution_id));
}

/* Start the execution for which a schedule is due now: what its pg_cron job calls. */
SF_SQL_FUNCTION(sfflow_run_schedule)
{
	return run_schedule(fcinfo, GetCurrentTimestamp());
}

/* Do the same as if it was another time. */
SF_SQL_FUNCTION(sfflow_run_schedule_at)
{
	return run_schedule(fcinfo, PG_GETARG_TIMESTAMPTZ(1));
}

/* Do the same for a pg_cron job in another database, whose call has all arguments. */
SF_SQL_FUNCTION(sfflow_run_schedule_given)
{
	SfSchedule	schedule;
	SfTimeSearch search;
	TimestampTz scheduled;

	read_arguments(fcinfo, &schedule);
	search = sf_time_search_begin(&schedule);
	if (!may_run(schedule.name) ||
		!sf_schedule_find_match(&schedule, &search, GetCurrentTimestamp(), &scheduled))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(sf_schedule_start(&schedule, scheduled)));
}

/* Sweep all schedules as if it was a time; tells whether runs are left. */
SF_SQL_FUNCTION(sfflow_look_at_schedules)
{
	TimestampTz next;
	SfRunsLeft	left = sf_due_runs_sweep(PG_GETARG_TIMESTAMPTZ(0), &next);

	PG_RETURN_BOOL(left != SF_RUNS_LEFT_NONE || next != DT_NOEND);
}

typedef bool (*CronSearch) (const SfCron *cron, TimestampTz t, pg_tz *zone,
							TimestampTz *out);

/* Search a match by the arguments expression, zone (null: pg_cron's), time. */
static Datum
search_match(FunctionCallInfo fcinfo, CronSearch search)
{
	SfCron		cron;
	TimestampTz match;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2) ||
		TIMESTAMP_NOT_FINITE(PG_GETARG_TIMESTAMPTZ(2)))
		PG_RETURN_NULL();
	sf_schedule_parse(text_to_cstring(PG_GETARG_TEXT_PP(0)), &cron);
	if (!search(&cron, PG_GETARG_TIMESTAMPTZ(2),
				sf_schedule_zone(sf_arg_text_or_null(fcinfo, 1)), &match))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(match);
}

/* Find the first match of an expression after a time. */
SF_SQL_FUNCTION(sfflow_schedule_next)
{
	return search_match(fcinfo, sf_cron_next);
}

/* Find the latest match of an expression at or before a time. */
SF_SQL_FUNCTION(sfflow_schedule_latest)
{
	return search_match(fcinfo, sf_cron_latest);
}

/* Tell the zone in which pg_cron reads its schedules. */
SF_SQL_FUNCTION(sfflow_schedule_zone)
{
	PG_RETURN_TEXT_P(cstring_to_text(sf_pg_cron_zone_name()));
}
