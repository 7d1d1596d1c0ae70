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

/* Find the state machine of a schedule ("machine", or "machine/version"). */
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
sf_schedule_is_visible(const SfSchedule *s)
{
	char	   *name = pnstrdup(s->state_machine, strcspn(s->state_machine, "/"));
	SfMachine  *machine;

	if (sf_privilege_is_owner(s->owner))
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
	SfSchedule *s = sf_schedule_row_read(name, SF_LOCK_NONE);

	if (s == NULL || !sf_schedule_is_visible(s))
		schedule_missing(name);
	return s;
}

/* Raise unless the current user may change a schedule. */
static void
require_schedule_owner(const SfSchedule *s)
{
	if (sf_privilege_is_owner(s->owner))
		return;
	if (sf_schedule_is_visible(s))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of schedule \"%s\"", s->name)));
	schedule_missing(s->name);
}

/* Find a schedule that the current user may change, or raise. */
SfSchedule *
sf_schedule_find_own(const char *name, SfLock lock)
{
	SfSchedule *s = sf_schedule_row_read(name, lock);

	if (s == NULL)
		schedule_missing(name);
	require_schedule_owner(s);
	return s;
}

/* Raise unless there is a schedule that the current user may change; its owner. */
Oid
sf_schedule_require_own(const char *name)
{
	return sf_schedule_find_own(name, SF_LOCK_NONE)->owner;
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
time_literal(TimestampTz t)
{
	return TIMESTAMP_NOT_FINITE(t) ? NULL : sf_timestamp_print(t);
}

/* Write the arguments of a schedule as a call that needs no row of it. */
static char *
given_command(const SfSchedule *s)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT _sfflow.run_schedule(%s, %s, %s, %s, %s",
					 quote_literal_cstr(s->name), quote_literal_cstr(s->cron),
					 quote_literal_cstr(s->state_machine),
					 quote_literal_cstr(sf_json_to_cstring(s->input)),
					 s->timezone == NULL ? "NULL" : quote_literal_cstr(s->timezone));
	append_argument(&buf, "calendar", s->calendar);
	if (s->calendar != NULL)
		append_argument(&buf, "on_closed", sf_on_closed_name(s->on_closed));
	append_argument(&buf, "starts", time_literal(s->starts));
	append_argument(&buf, "ends", time_literal(s->ends));
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/* Read the arguments that sf_schedule and a run without a row share. */
static void
read_arguments(FunctionCallInfo fcinfo, SfSchedule *s)
{
	memset(s, 0, sizeof(*s));
	s->name = sf_arg_text(fcinfo, 0, "name");
	s->owner = GetUserId();
	s->cron = sf_arg_text(fcinfo, 1, "schedule");
	s->state_machine = unconstify(char *, sf_public_name_to_id(SF_NAME_STATE_MACHINE,
															   sf_arg_text(fcinfo, 2, "state_machine")));
	s->input = sf_arg_jsonb(fcinfo, 3, "input");
	s->timezone = sf_arg_text_or_null(fcinfo, 4);
	s->calendar = sf_arg_text_or_null(fcinfo, 5);
	s->on_closed = sf_option_on_closed(sf_arg_text(fcinfo, 6, "on_closed"));
	s->starts = PG_ARGISNULL(7) ? DT_NOBEGIN : PG_GETARG_TIMESTAMPTZ(7);
	s->ends = PG_ARGISNULL(8) ? DT_NOEND : PG_GETARG_TIMESTAMPTZ(8);
}

/* Check everything that can be wrong with a schedule before it first runs. */
static void
check_schedule(const SfSchedule *s, SfCron *cron)
{
	SfMachine  *machine;

	sf_name_check(s->name, "schedule name");
	sf_schedule_check(s, cron);
	machine = find_machine(s->state_machine);
	sf_object_require(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner,
					  SF_RIGHT_START);
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
	SfSchedule	s;
	SfSchedule *old;
	SfCron		cron;

	read_arguments(fcinfo, &s);
	s.missed = sf_option_missed(sf_arg_text(fcinfo, 9, "missed"));
	s.overlap = sf_option_overlap(sf_arg_text(fcinfo, 10, "overlap"));
	if (s.calendar != NULL)
		sf_calendar_row_lock(false);
	check_schedule(&s, &cron);
	sf_pg_cron_require(s.name, sf_schedule_job_expression(&s, &cron), given_command(&s));
	if (cron.seconds > 0 && !sf_pg_cron_has_seconds())
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_SCHEDULE),
				 errmsg("the installed pg_cron has no schedules of less than a minute"),
				 errhint("It takes pg_cron 1.5.")));
	sf_pg_cron_check_login(s.owner);
	old = sf_schedule_row_read(s.name, SF_LOCK_WAIT);
	if (old != NULL)
	{
		require_schedule_owner(old);
		sf_pg_cron_remove(old->cron_job_id, old->owner);
	}
	sf_privilege_anchor(s.owner);
	s.cron_job_id = sf_schedule_add_job(&s, &cron);
	sf_schedule_row_write(&s);
	note_schedule(old == NULL ? "create" : "replace", s.name);
	if (old != NULL && old->owner != s.owner)
		sf_privilege_unanchor(old->owner);
	PG_RETURN_INT64(s.cron_job_id);
}

/*
 * Give a schedule that the caller owns, and its pg_cron job, to another role;
 * returns the previous owner.
 */
Oid
sf_schedule_set_owner(const char *name, Oid owner)
{
	SfSchedule *s = sf_schedule_find_own(name, SF_LOCK_WAIT);
	Oid			before = s->owner;
	SfCron		cron;

	sf_schedule_parse(s->cron, &cron);
	s->owner = owner;
	if (sf_pg_cron_is_here())
	{
		sf_pg_cron_check_login(owner);
		sf_pg_cron_remove(s->cron_job_id, before);
		s->cron_job_id = sf_schedule_add_job(s, &cron);
	}
	sf_schedule_row_set_owner(s);
	return before;
}

/* Remove a schedule and its pg_cron job. */
SF_SQL_FUNCTION(sfflow_sf_unschedule)
{
	SfSchedule *s = sf_schedule_find_own(text_to_cstring(PG_GETARG_TEXT_PP(0)), SF_LOCK_WAIT);

	sf_pg_cron_remove(s->cron_job_id, s->owner);
	sf_schedule_row_delete(s->name);
	sf_audit_forget(SF_OBJECT_SCHEDULE, s->name);
	SF_TELL(object_dropped, SF_OBJECT_SCHEDULE, s->name);
	sf_audit_note("drop", SF_OBJECT_ALL, "*", psprintf("schedule:%s", s->name), NULL, NULL);
	sf_privilege_unanchor(s->owner);
	PG_RETURN_VOID();
}

/* Start the execution for which a schedule is due at a time; null if there is none. */
static Datum
run_schedule(FunctionCallInfo fcinfo, TimestampTz now)
{
	SfSchedule *s = sf_schedule_find_own(text_to_cstring(PG_GETARG_TEXT_PP(0)), SF_LOCK_WAIT);
	char	   *execution_id = may_run(s->name) ? sf_due_run_called(s, now) : NULL;

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
	SfSchedule	s;
	SfTimeSearch search;
	TimestampTz scheduled;

	read_arguments(fcinfo, &s);
	search = sf_time_search_begin(&s);
	if (!may_run(s.name) ||
		!sf_schedule_find_match(&s, &search, GetCurrentTimestamp(), &scheduled))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(sf_schedule_start(&s, scheduled)));
}

/* Sweep all schedules as if it was a time; tells whether runs are left. */
SF_SQL_FUNCTION(sfflow_look_at_schedules)
{
	bool		put_off;
	SfRunsLeft	left = sf_due_runs_sweep(PG_GETARG_TIMESTAMPTZ(0), &put_off);

	PG_RETURN_BOOL(left != SF_RUNS_LEFT_NONE || put_off);
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
