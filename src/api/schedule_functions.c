/*
 * schedule_functions.c
 *		sf_schedule(), sf_unschedule(), and what pg_cron calls at each run.
 *
 * A schedule is a job of pg_cron, made as the calling role, whose command is
 * _sfflow.run_schedule.  That finds out which match of the expression the run
 * is for, and names the execution by it: a run that is delivered twice finds
 * the execution there.
 *
 * pg_cron reads its schedules in one zone.  For a schedule in another one, the
 * job's expression covers every time at which there may be a match
 * (sf_cron_cover), and the run looks whether there is one just now.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "api/cron.h"
#include "api/objects.h"
#include "api/placeholder.h"
#include "api/schedule_functions.h"
#include "api/scheduler.h"
#include "base/public_name.h"
#include "base/compat.h"
#include "base/errors.h"
#include "base/name.h"
#include "store/instance.h"
#include "store/schedule.h"
#include "store/table.h"

PG_FUNCTION_INFO_V1(sfflow_sf_schedule);
PG_FUNCTION_INFO_V1(sfflow_sf_unschedule);
PG_FUNCTION_INFO_V1(sfflow_run_schedule);
PG_FUNCTION_INFO_V1(sfflow_run_schedule_given);
PG_FUNCTION_INFO_V1(sfflow_schedule_next);
PG_FUNCTION_INFO_V1(sfflow_schedule_latest);
PG_FUNCTION_INFO_V1(sfflow_schedule_zone);

/* Parse an expression or raise. */
static void
parse_cron(const char *text, SfCron *cron)
{
	char	   *problem = NULL;

	if (!sf_cron_parse(text, cron, &problem))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_SCHEDULE),
				 errmsg("invalid schedule: \"%s\"", text),
				 problem == NULL ? 0 : errdetail("%s", problem),
				 errhint("A schedule is \"minute hour day month weekday\", @daily and the like, or \"N seconds\".")));
}

/* Load a zone (NULL: pg_cron's) or raise. */
static pg_tz *
load_zone(const char *name)
{
	pg_tz	   *zone = name == NULL ? sf_scheduler_zone() : pg_tzset(name);

	if (zone == NULL || !pg_tz_acceptable(zone))
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("time zone \"%s\" not recognized", name)));
	return zone;
}

/* Tell whether pg_cron reads schedules in this zone by itself. */
static bool
is_scheduler_zone(pg_tz *zone)
{
	return strcmp(pg_get_timezone_name(zone),
				  pg_get_timezone_name(sf_scheduler_zone())) == 0;
}

/* The expression for pg_cron. */
static const char *
job_expression(const SfSchedule *s, const SfCron *cron)
{
	pg_tz	   *zone = load_zone(s->timezone);

	if (cron->seconds > 0 || is_scheduler_zone(zone))
		return s->schedule;
	return sf_cron_cover(cron, zone, sf_scheduler_zone(), GetCurrentTimestamp());
}

/* Find the state machine of a schedule ("machine", or "machine/version"). */
static SfMachine *
find_machine(const char *text)
{
	char	   *name = pstrdup(text);
	char	   *slash = strchr(name, '/');
	SfMachine  *machine;

	if (slash != NULL)
		*slash = '\0';
	machine = sf_machine_read(name, 0, false);
	if (machine == NULL)
		sf_object_missing(SF_OBJECT_STATE_MACHINE, name);
	return machine;
}

/* Values of the placeholders for one run. */
static void
placeholder_values(const char *schedule, TimestampTz scheduled,
				   const char *values[SF_PLACEHOLDER_COUNT])
{
	char	   *time = sf_timestamp_print(scheduled);
	char	   *seed = psprintf("%s %s %u", schedule, time, MyDatabaseId);
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	pg_cryptohash_ctx *sha = pg_cryptohash_create(PG_SHA256);
	char	   *id = palloc(17);
	char	   *fraction = strchr(time, '.');
	int			i;

	/* The same for a run that is delivered twice. */
	if (sha == NULL || pg_cryptohash_init(sha) < 0 ||
		pg_cryptohash_update(sha, (uint8 *) seed, strlen(seed)) < 0 ||
		pg_cryptohash_final(sha, digest, sizeof(digest)) < 0)
		elog(ERROR, "could not compute SHA-256");
	pg_cryptohash_free(sha);
	for (i = 0; i < 8; i++)
		snprintf(id + 2 * i, 3, "%02x", digest[i]);
	/* "2025-02-05T02:00:00.000Z" without the fraction, as the service has it */
	if (fraction != NULL)
		strcpy(fraction, "Z");
	values[SF_PLACEHOLDER_EXECUTION_ID] = id;
	values[SF_PLACEHOLDER_SCHEDULED_TIME] = time;
	values[SF_PLACEHOLDER_SCHEDULE_ARN] = sf_public_name(SF_NAME_SCHEDULE, schedule);
	values[SF_PLACEHOLDER_ATTEMPT_NUMBER] = "1";
}

/* Name the execution of a run: schedule-20250205T020000Z. */
static char *
run_name(TimestampTz scheduled)
{
	char	   *time = sf_timestamp_print(scheduled);
	char	   *name = palloc(64);
	char	   *p = name + sprintf(name, "schedule-");

	for (; *time != '.'; time++)
		if (*time != '-' && *time != ':')
			*p++ = *time;
	strcpy(p, "Z");
	return name;
}

/*
 * Find the match that a run now is for; false when this is a time at which
 * pg_cron calls but the expression, in its own zone, does not match.
 */
static bool
find_match(const SfSchedule *s, TimestampTz *scheduled)
{
	SfCron		cron;
	SfCron		cover;
	char	   *problem;
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz called;
	pg_tz	   *zone = load_zone(s->timezone);

	parse_cron(s->schedule, &cron);
	if (!sf_cron_latest(&cron, now, zone, scheduled))
		return false;
	if (cron.seconds > 0 || is_scheduler_zone(zone))
		return true;
	return sf_cron_parse(job_expression(s, &cron), &cover, &problem) &&
		sf_cron_latest(&cover, now, sf_scheduler_zone(), &called) &&
		called == *scheduled;
}

/* Tell whether runs begin here; a warning says so when they are the original's. */
static bool
may_run(const char *schedule)
{
	sf_instance_refuse_upgrade("a schedule");
	if (sf_instance_takes_work())
		return true;
	sf_instance_tell(WARNING, sf_instance_state(),
					 psprintf("schedule \"%s\" starts nothing: the database is not driven",
							  schedule));
	return false;
}

/* Call sf_start as the schedule's owner. */
static char *
start(const SfSchedule *s, TimestampTz scheduled)
{
	SfMachine  *machine = find_machine(s->state_machine);
	const char *values[SF_PLACEHOLDER_COUNT];
	Oid			types[3] = {TEXTOID, JSONBOID, TEXTOID};
	Datum		args[3];
	char		nulls[4] = "   ";
	MemoryContext caller = CurrentMemoryContext;
	char	   *execution_id;
	SfStoreIdentity saved;
	int			rc;

	placeholder_values(s->name, scheduled, values);
	args[0] = CStringGetTextDatum(s->state_machine);
	args[1] = JsonbPGetDatum(sf_placeholder_fill(s->input, values));
	args[2] = CStringGetTextDatum(run_name(scheduled));
	nulls[2] = machine->execution_id_path != NULL ? 'n' : ' ';
	sf_store_enter_as(&saved, s->owner);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	rc = SPI_execute_with_args("SELECT _sfflow.start_scheduled($1, $2, $3)", 3,
							   types, args, nulls, false, 1);
	if (rc != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "SPI_execute_with_args failed: %s", SPI_result_code_string(rc));
	execution_id = MemoryContextStrdup(caller,
									   SPI_getvalue(SPI_tuptable->vals[0],
													SPI_tuptable->tupdesc, 1));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	sf_store_leave(&saved);
	return execution_id;
}

static void schedule_missing(const char *name) pg_attribute_noreturn();

/* Raise the error for a schedule that the current user cannot know of. */
static void pg_attribute_noreturn()
schedule_missing(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("schedule \"%s\" does not exist", name),
			 sf_privilege_is_administrator() ? 0 :
			 errdetail("Or role \"%s\" has no right on it.",
					   GetUserNameFromId(GetUserId(), false))));
}

/* May the current user see a schedule? */
bool
sf_schedule_is_visible(const SfSchedule *s)
{
	char	   *name = pnstrdup(s->state_machine, strcspn(s->state_machine, "/"));
	SfMachine  *machine;

	if (sf_privilege_is_owner(s->owner))
		return true;
	machine = sf_machine_read(name, 0, false);
	return machine != NULL &&
		sf_privilege_check(SF_OBJECT_STATE_MACHINE, name, machine->owner,
						   SF_PRIVILEGE_READ);
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
static SfSchedule *
find_schedule(const char *name)
{
	SfSchedule *s = sf_schedule_read(name);

	if (s == NULL)
		schedule_missing(name);
	require_schedule_owner(s);
	return s;
}

/* Write the arguments of a schedule as a call that needs no row of it. */
static char *
given_command(const SfSchedule *s)
{
	return psprintf("SELECT _sfflow.run_schedule(%s, %s, %s, %s, %s)",
					quote_literal_cstr(s->name), quote_literal_cstr(s->schedule),
					quote_literal_cstr(s->state_machine),
					quote_literal_cstr(sf_json_to_cstring(s->input)),
					s->timezone == NULL ? "NULL" : quote_literal_cstr(s->timezone));
}

/* Read the arguments that sf_schedule and a run without a row share. */
static void
read_arguments(FunctionCallInfo fcinfo, SfSchedule *s)
{
	static const char *const argument_names[] = {
		"name", "schedule", "state_machine", "input"
	};
	int			i;

	for (i = 0; i < 4; i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not be null", argument_names[i])));
	memset(s, 0, sizeof(*s));
	s->name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	s->owner = GetUserId();
	s->schedule = text_to_cstring(PG_GETARG_TEXT_PP(1));
	s->state_machine = unconstify(char *, sf_public_name_to_id(SF_NAME_STATE_MACHINE,
															text_to_cstring(PG_GETARG_TEXT_PP(2))));
	s->input = PG_GETARG_JSONB_P(3);
	s->timezone = PG_ARGISNULL(4) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(4));
}

/* Check everything that can be wrong with a schedule before it first runs. */
static void
check_schedule(const SfSchedule *s, SfCron *cron)
{
	const char *values[SF_PLACEHOLDER_COUNT];
	SfMachine  *machine;

	sf_name_check(s->name, "schedule name");
	parse_cron(s->schedule, cron);
	(void) load_zone(s->timezone);
	placeholder_values(s->name, GetCurrentTimestamp(), values);
	(void) sf_placeholder_fill(s->input, values);
	machine = find_machine(s->state_machine);
	sf_object_require(SF_OBJECT_STATE_MACHINE, machine->name, machine->owner,
					  SF_PRIVILEGE_START);
}

/* Make the pg_cron job of a schedule, as its owner. */
static int64
add_job(const SfSchedule *s, const SfCron *cron)
{
	SfStoreIdentity saved;
	int64		job_id;

	sf_store_enter_as(&saved, s->owner);
	job_id = sf_scheduler_add(s->name, job_expression(s, cron),
							  psprintf("SELECT _sfflow.run_schedule(%s)",
									   quote_literal_cstr(s->name)));
	sf_store_leave(&saved);
	return job_id;
}

/*
 * Make a schedule, or replace the one with its name; returns the number of the
 * pg_cron job.
 */
Datum
sfflow_sf_schedule(PG_FUNCTION_ARGS)
{
	SfSchedule	s;
	SfSchedule *old;
	SfCron		cron;

	read_arguments(fcinfo, &s);
	check_schedule(&s, &cron);
	sf_scheduler_require(s.name, job_expression(&s, &cron), given_command(&s));
	if (cron.seconds > 0 && !sf_scheduler_has_seconds())
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_SCHEDULE),
				 errmsg("the installed pg_cron has no schedules of less than a minute"),
				 errhint("It takes pg_cron 1.5.")));
	sf_scheduler_check_login(s.owner);
	old = sf_schedule_read(s.name);
	if (old != NULL)
	{
		require_schedule_owner(old);
		sf_scheduler_remove(old->job_id, old->owner);
	}
	sf_privilege_anchor(s.owner);
	s.job_id = add_job(&s, &cron);
	sf_schedule_write(&s);
	if (old != NULL && old->owner != s.owner)
		sf_privilege_unanchor(old->owner);
	PG_RETURN_INT64(s.job_id);
}

/* Give a schedule and its pg_cron job to another role; the owner before. */
Oid
sf_schedule_set_owner(const char *name, Oid owner)
{
	SfSchedule *s = find_schedule(name);
	Oid			before = s->owner;
	SfCron		cron;

	parse_cron(s->schedule, &cron);
	s->owner = owner;
	if (sf_scheduler_is_here())
	{
		sf_scheduler_check_login(owner);
		sf_scheduler_remove(s->job_id, before);
		s->job_id = add_job(s, &cron);
	}
	sf_schedule_write(s);
	return before;
}

/* Remove a schedule and its pg_cron job. */
Datum
sfflow_sf_unschedule(PG_FUNCTION_ARGS)
{
	SfSchedule *s = find_schedule(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	sf_scheduler_remove(s->job_id, s->owner);
	sf_schedule_delete(s->name);
	sf_privilege_unanchor(s->owner);
	PG_RETURN_VOID();
}

/*
 * Start the execution that a schedule is due for; null when it is due for
 * none.  What the pg_cron job of a schedule calls.
 */
Datum
sfflow_run_schedule(PG_FUNCTION_ARGS)
{
	SfSchedule *s = find_schedule(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	TimestampTz scheduled;
	char	   *execution_id;

	if (!may_run(s->name))
		PG_RETURN_NULL();
	if (!find_match(s, &scheduled))
	{
		sf_schedule_note_skip(s->name);
		PG_RETURN_NULL();
	}
	execution_id = start(s, scheduled);
	sf_schedule_note_run(s->name, scheduled, execution_id);
	PG_RETURN_TEXT_P(cstring_to_text(execution_id));
}

/* The same for a pg_cron job in another database: all of it is in the call. */
Datum
sfflow_run_schedule_given(PG_FUNCTION_ARGS)
{
	SfSchedule	s;
	TimestampTz scheduled;

	read_arguments(fcinfo, &s);
	if (!may_run(s.name) || !find_match(&s, &scheduled))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(start(&s, scheduled)));
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
	parse_cron(text_to_cstring(PG_GETARG_TEXT_PP(0)), &cron);
	if (!search(&cron, PG_GETARG_TIMESTAMPTZ(2),
				load_zone(PG_ARGISNULL(1) ? NULL :
						  text_to_cstring(PG_GETARG_TEXT_PP(1))), &match))
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(match);
}

/* Find the first match of an expression after a time. */
Datum
sfflow_schedule_next(PG_FUNCTION_ARGS)
{
	return search_match(fcinfo, sf_cron_next);
}

/* Find the latest match of an expression at or before a time. */
Datum
sfflow_schedule_latest(PG_FUNCTION_ARGS)
{
	return search_match(fcinfo, sf_cron_latest);
}

/* Tell the zone in which pg_cron reads its schedules. */
Datum
sfflow_schedule_zone(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(sf_scheduler_zone_name()));
}
