/*
 * deadline_functions.c
 *		sf_set_deadline(), sf_drop_deadline().
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "feature/deadline/deadline.h"
#include "feature/schedule/calendar.h"
#include "store/audit/audit.h"
#include "store/role/owner.h"
#include "store/state_machine/program_cache.h"

/* What a target that is a schedule begins with */
#define OF_SCHEDULE		"schedule:"

/* Arguments, in order */
enum
{
	ARG_TARGET, ARG_START_BY, ARG_END_BY, ARG_TIMEZONE, ARG_CALENDAR
};

/* --- targets --- */

/* Take a target that is a schedule, which stays locked: it is not dropped meanwhile. */
static void
parse_schedule(SfDeadline *deadline, const char *text)
{
	SfSchedule *schedule = sf_schedule_lock_own(text + strlen(OF_SCHEDULE), SF_NAMED_LOCK_KEEP);

	deadline->kind = SF_DEADLINE_KIND_SCHEDULE;
	deadline->schedule = schedule->name;
	deadline->target = psprintf(OF_SCHEDULE "%s", schedule->name);
	deadline->timezone = schedule->timezone;
}

/* Raise unless the current version of a machine has a Task, and a history that tells of it. */
static void
require_job(const SfMachine *machine, const char *job)
{
	SfClosest	closest = sf_closest_begin(job);
	const SfProgram *program = sf_program_cache_get(machine->machine_no, machine->current_version);
	int			state = sf_program_find_state(program, job);

	if (sf_program_cache_find(machine->machine_no, machine->current_version)->history == SF_HISTORY_LEVEL_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("a job of state machine \"%s\" cannot have a deadline", machine->name),
				 errdetail("The machine keeps no history, which would tell when its jobs began and ended.")));
	if (state != SF_NO_STATE && program->states[state].type == SF_STATE_TASK)
		return;
	for (int i = 0; i < program->nstates; i++)
		if (program->states[i].type == SF_STATE_TASK)
			sf_closest_offer(&closest, program->states[i].name);
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("state machine \"%s\" has no Task \"%s\"", machine->name, job),
			 sf_closest_errhint(&closest, NULL)));
}

/* Take a target that is a machine, or "machine/job". */
static SfMachine *
parse_machine(SfDeadline *deadline, const char *text)
{
	SfMachine  *machine = sf_object_machine_or_state(text, SF_RIGHT_OPERATE, &deadline->job);

	deadline->kind = deadline->job == NULL ? SF_DEADLINE_KIND_MACHINE : SF_DEADLINE_KIND_JOB;
	deadline->machine_no = machine->machine_no;
	deadline->target = deadline->kind == SF_DEADLINE_KIND_MACHINE ? machine->name :
		psprintf("%s/%s", machine->name, deadline->job);
	return machine;
}

/* Take the target of a call; the machine, or NULL if it is a schedule. */
static SfMachine *
parse_target(SfDeadline *deadline, const char *text)
{
	memset(deadline, 0, sizeof(*deadline));
	if (strncmp(text, OF_SCHEDULE, strlen(OF_SCHEDULE)) != 0)
		return parse_machine(deadline, text);
	parse_schedule(deadline, text);
	return NULL;
}

/* Find a target whose deadline the caller may change, or raise; returns its full name. */
const char *
sf_deadline_alert_target(const char *text)
{
	SfDeadline	deadline;

	/* a type of events has no deadline */
	if (strncmp(text, "event:", 6) == 0)
		return NULL;
	(void) parse_target(&deadline, text);
	return deadline.target;
}

/* Record an action on a deadline. */
static void
note(const SfDeadline *deadline, const SfMachine *machine, const char *action, const char *start_by,
	 const char *end_by)
{
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	if (start_by != NULL)
		sf_json_add_string(&json, "start_by", start_by);
	if (end_by != NULL)
		sf_json_add_string(&json, "end_by", end_by);
	sf_audit_note(action, machine == NULL ? SF_OBJECT_SCHEDULE : SF_OBJECT_STATE_MACHINE,
				  machine == NULL ? deadline->schedule : machine->name, deadline->target, NULL,
				  start_by == NULL && end_by == NULL ? NULL : sf_json_end(&json));
}

/* --- times --- */

/* Read a time of day, as a minute of it; SF_NO_MINUTE: it is null. */
static int
minute_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	TimeADT		time;

	if (PG_ARGISNULL(n))
		return SF_NO_MINUTE;
	time = PG_GETARG_TIMEADT(n);
	if (time % USECS_PER_MINUTE != 0)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument %s must be a time to the minute", name),
				 errdetail("It is %s.", DatumGetCString(DirectFunctionCall1(time_out, TimeADTGetDatum(time)))),
				 errhint("Give a time of day, such as %s => '06:00'; that of a moment is date_trunc('minute', moment)::time.", name)));
	return (int) (time / USECS_PER_MINUTE) % (24 * 60);
}

/* Write a minute of a day; NULL: there is none. */
static char *
print_minute(int minute)
{
	return minute == SF_NO_MINUTE ? NULL : psprintf("%02d:%02d", minute / 60, minute % 60);
}

/* Read the times of day, the zone and the calendar. */
static void
read_times(FunctionCallInfo fcinfo, SfDeadline *deadline)
{
	deadline->start_minute = minute_argument(fcinfo, ARG_START_BY, "start_by");
	deadline->end_minute = minute_argument(fcinfo, ARG_END_BY, "end_by");
	if (deadline->start_minute == SF_NO_MINUTE && deadline->end_minute == SF_NO_MINUTE)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("one of the arguments start_by and end_by must be given"),
				 errhint("Each is a time of day, such as end_by => '06:00'; the argument timezone says where.")));
	if (!PG_ARGISNULL(ARG_TIMEZONE))
		deadline->timezone = sf_arg_text(fcinfo, ARG_TIMEZONE, "timezone");
	else if (deadline->timezone == NULL)
		deadline->timezone = pstrdup(deadline->kind == SF_DEADLINE_KIND_SCHEDULE ?
									 pg_get_timezone_name(sf_schedule_zone(NULL)) :
									 pg_get_timezone_name(session_timezone));
	(void) sf_schedule_zone(deadline->timezone);
	deadline->calendar = sf_arg_text_or_null(fcinfo, ARG_CALENDAR);
	if (deadline->calendar == NULL)
		return;
	sf_calendar_lock(false);
	(void) sf_calendar_require(deadline->calendar);
}

/* sf_set_deadline(target, start_by, end_by, timezone, calendar) */
SF_SQL_FUNCTION(sfflow_sf_set_deadline)
{
	SfDeadline	deadline;
	SfMachine  *machine = parse_target(&deadline, sf_arg_text(fcinfo, ARG_TARGET, "target"));

	if (deadline.kind == SF_DEADLINE_KIND_JOB)
		require_job(machine, deadline.job);
	read_times(fcinfo, &deadline);
	if (machine != NULL)
		sf_object_lock_machine(machine->machine_no, machine->name);
	deadline.set_at = GetCurrentTimestamp();
	deadline.set_by = GetUserNameFromId(GetUserId(), false);
	sf_deadline_write(&deadline);
	note(&deadline, machine, "set deadline", print_minute(deadline.start_minute), print_minute(deadline.end_minute));
	PG_RETURN_VOID();
}

/* sf_drop_deadline(target) */
SF_SQL_FUNCTION(sfflow_sf_drop_deadline)
{
	SfDeadline	deadline;
	SfMachine  *machine = parse_target(&deadline, sf_arg_text(fcinfo, ARG_TARGET, "target"));

	if (!sf_deadline_delete(deadline.target))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("\"%s\" has no deadline", deadline.target),
				 errhint("The view sf_deadlines lists those that there are.")));
	note(&deadline, machine, "drop deadline", NULL, NULL);
	PG_RETURN_VOID();
}

/* Sweep the deadlines that are due as if it was a time; returns when to sweep again. */
SF_SQL_FUNCTION(sfflow_check_deadlines)
{
	TimestampTz next = sf_deadline_watch(PG_GETARG_TIMESTAMPTZ(0));

	if (next == DT_NOEND)
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(next);
}
