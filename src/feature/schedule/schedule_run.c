/*
 * schedule_run.c
 *		What the runs of a schedule are: when, under which name, with which input.
 *
 * A schedule is a job of pg_cron, made as the calling role, whose command is
 * _sfflow.run_schedule.  That function finds the match of the expression that
 * the run is for and names the execution by it.  If pg_cron delivers a run
 * twice, the second one finds the execution of the first.
 *
 * pg_cron reads all its schedules in one time zone, and knows no calendars.  For a
 * schedule in another zone or with a calendar, the job's expression covers every time
 * of a possible match (sf_cron_cover), and the run checks whether it is one.
 *
 * pg_cron records the runs that it begins, sfflow those that ended.  A run that
 * neither has recorded was missed: the server was down, or pg_cron does not
 * work.  Only the expression tells that it was due.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/value/encoding.h"
#include "copy/instance.h"
#include "feature/schedule/calendar.h"
#include "feature/schedule/noted_runs.h"
#include "feature/schedule/pg_cron.h"
#include "feature/schedule/schedule.h"
#include "store/feature.h"
#include "store/role/owner.h"
#include "store/state_machine/machine.h"

static Jsonb *fill_placeholders(const Jsonb *input, const char *const *values);

/* What is shown of a schedule, and alerts, have a due run as missed after that time, when sweeps have had theirs */
#define MISSED_AFTER_MS		(5 * 60 * 1000)

/* Tell whether pg_cron reads its schedules in this zone. */
static bool
is_scheduler_zone(pg_tz *zone)
{
	return strcmp(pg_get_timezone_name(zone),
				  pg_get_timezone_name(sf_pg_cron_zone())) == 0;
}

/*
 * Tell whether pg_cron calls at the matches of the expression alone.  Otherwise it
 * calls at more times, and each call checks whether it is meant.
 */
static bool
is_called_at_matches(const SfSchedule *schedule, const SfCron *cron, pg_tz *zone)
{
	return cron->kind == SF_CRON_KIND_INTERVAL || (schedule->calendar == NULL && is_scheduler_zone(zone));
}

/* Return the expression of the pg_cron job, in pg_cron's zone. */
const char *
sf_schedule_job_expression(const SfSchedule *schedule, const SfCron *cron)
{
	pg_tz	   *zone = sf_schedule_zone(schedule->timezone);

	if (is_called_at_matches(schedule, cron, zone))
		return schedule->cron;
	return sf_cron_cover(sf_cron_fields(cron), zone, sf_pg_cron_zone(), GetCurrentTimestamp());
}

/* Write a time as it is in a zone, with the offset: 2025-02-05T02:00:00+01:00. */
static char *
print_local(TimestampTz time, pg_tz *zone)
{
	struct pg_tm tm;
	fsec_t		fraction;
	int			west;			/* seconds */

	if (timestamp2tm(time, &west, &tm, &fraction, NULL, zone) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	return psprintf("%04d-%02d-%02dT%02d:%02d:%02d%c%02d:%02d",
					tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
					west > 0 ? '-' : '+', abs(west) / SECS_PER_HOUR,
					abs(west) / SECS_PER_MINUTE % MINS_PER_HOUR);
}

/* Set the values of the placeholders for one run. */
static void
placeholder_values(const SfSchedule *schedule, TimestampTz scheduled,
				   const char *values[SF_PLACEHOLDER_COUNT])
{
	char	   *local = print_local(scheduled, sf_schedule_zone(schedule->timezone));
	char	   *time = sf_timestamp_print(scheduled);
	char	   *seed = psprintf("%s %s %u", schedule->name, time, MyDatabaseId);
	char	   *id = sf_digest_hex("SHA-256", 7, seed, strlen(seed));
	char	   *fraction = strchr(time, '.');

	/* a run that is delivered twice gets the same id */
	id[16] = '\0';
	/* "2025-02-05T02:00:00.000Z" without the fraction, as the service has it */
	if (fraction != NULL)
		strcpy(fraction, "Z");
	values[SF_PLACEHOLDER_EXECUTION_ID] = id;
	values[SF_PLACEHOLDER_SCHEDULED_TIME] = time;
	values[SF_PLACEHOLDER_SCHEDULE_ARN] = sf_public_name(SF_NAME_SCHEDULE, schedule->name);
	values[SF_PLACEHOLDER_ATTEMPT_NUMBER] = "1";
	values[SF_PLACEHOLDER_LOCAL_TIME] = local;
	values[SF_PLACEHOLDER_LOCAL_DATE] = pnstrdup(local, strcspn(local, "T"));
}

/* Name the execution of a run: schedule-20250205T020000Z. */
char *
sf_schedule_run_name(TimestampTz scheduled)
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
 * Find the time of a schedule that a call of pg_cron at this time is for.  False when
 * pg_cron calls for a time that the schedule does not have.
 */
bool
sf_schedule_find_match(const SfSchedule *schedule, SfTimeSearch *search, TimestampTz now,
					   TimestampTz *scheduled)
{
	SfCron		cover;
	char	   *problem;
	TimestampTz called;

	if (!sf_time_search_latest(search, now, scheduled))
		return false;
	if (is_called_at_matches(schedule, &search->cron, search->zone))
		return sf_cron_latest(&search->cron, now, search->zone, &called) &&
			called == *scheduled;
	return sf_cron_parse(sf_schedule_job_expression(schedule, &search->cron), &cover, &problem) &&
		sf_cron_latest(&cover, now, sf_pg_cron_zone(), &called) &&
		called == *scheduled;
}

/* Tell whether the machine of a schedule names its executions by their input. */
static bool
takes_name_from_input(const SfSchedule *schedule)
{
	char	   *name = pnstrdup(schedule->state_machine, strcspn(schedule->state_machine, "/"));
	SfMachine  *machine = sf_machine_read(name, SF_NO_VERSION, false);

	return machine != NULL && machine->execution_id_path != NULL;
}

/*
 * Start the execution of a run as the schedule's owner; returns its id.  Its
 * name comes from its input or says the time of the run.
 */
char *
sf_schedule_start(const SfSchedule *schedule, TimestampTz scheduled)
{
	const char *values[SF_PLACEHOLDER_COUNT];
	static SfPlan plan = SF_PLAN("SELECT _sfflow.start_scheduled($1, $2, $3)");
	List	   *ids = NIL;

	placeholder_values(schedule, scheduled, values);
	sf_db_run(schedule->owner, &plan, sf_row_append_text, &ids,
			  SF_ARGS(SF_TEXT(schedule->state_machine),
					  SF_JSONB(fill_placeholders(schedule->input, values)),
					  SF_TEXT(takes_name_from_input(schedule) ? NULL : sf_schedule_run_name(scheduled))));
	return sf_list_first(ids);
}

/* Make the pg_cron job of a schedule, as its owner; returns the job's number. */
int64
sf_schedule_add_job(const SfSchedule *schedule, const SfCron *cron)
{
	return sf_pg_cron_schedule(schedule->owner, schedule->name, sf_schedule_job_expression(schedule, cron),
							   psprintf("SELECT _sfflow.run_schedule(%s)",
										quote_literal_cstr(schedule->name)));
}

/* Raise when the schedule's times or input cannot be used. */
void
sf_schedule_check(const SfSchedule *schedule, SfCron *cron)
{
	const char *values[SF_PLACEHOLDER_COUNT];

	*cron = sf_time_search_begin(schedule).cron;
	if (schedule->ends < schedule->starts || schedule->starts == DT_NOEND || schedule->ends == DT_NOBEGIN)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument ends must not be before starts")));
	placeholder_values(schedule, GetCurrentTimestamp(), values);
	(void) fill_placeholders(schedule->input, values);
}

/* The time before which no run of a schedule is expected any more, or was ever. */
TimestampTz
sf_schedule_expected_from(const SfSchedule *schedule, const SfTimeSearch *search)
{
	TimestampTz from = Max(schedule->changed_at, schedule->handled_until);

	return search->calendar == NULL ? from : Max(from, search->calendar->changed_at);
}

/* Find the latest run that was due up to a time and did not come; false: there is none. */
bool
sf_schedule_find_missed(const SfSchedule *schedule, SfTimeSearch *search, TimestampTz until, TimestampTz *last)
{
	return sf_time_search_latest(search, until, last) && *last > sf_schedule_expected_from(schedule, search);
}

/*
 * Find the latest run that was due more than MISSED_AFTER_MS ago and is not recorded, or
 * that was given up since the last one; DT_NOBEGIN: none.
 */
static TimestampTz
missed_run(const SfSchedule *schedule)
{
	SfTimeSearch search = sf_time_search_begin(schedule);
	TimestampTz due;

	return sf_schedule_find_missed(schedule, &search,
								   TimestampTzPlusMilliseconds(GetCurrentTimestamp(), -MISSED_AFTER_MS), &due) ?
		due : schedule->missed_at;
}

/* Say why the times of a schedule cannot be found; NULL: they can. */
char *
sf_schedule_unusable(const SfSchedule *schedule)
{
	if (schedule->timezone != NULL && pg_tzset(schedule->timezone) == NULL)
		return psprintf("time zone \"%s\" not recognized", schedule->timezone);
	if (schedule->calendar != NULL && sf_calendar_read(schedule->calendar) == NULL)
		return psprintf("calendar \"%s\" does not exist", schedule->calendar);
	return NULL;
}

/* The first time of a schedule after its last good run; DT_NOBEGIN: none has come. */
static TimestampTz
first_due_after(const SfSchedule *schedule, TimestampTz good_at)
{
	SfTimeSearch search = sf_time_search_begin(schedule);
	TimestampTz due;

	return sf_time_search_next(&search, Max(schedule->changed_at, good_at), &due) &&
		due <= GetCurrentTimestamp() ? due : DT_NOBEGIN;
}

/*
 * Find why the last run of a schedule failed, which pg_cron or a worker has noted, and since
 * when runs fail.  pg_cron notes no time of a run that could not connect.
 */
static void
find_failure(const SfSchedule *schedule, SfScheduleHealth *health)
{
	TimestampTz good_at;

	health->problem = sf_pg_cron_last_failure(schedule->cron_job_id);
	if (health->problem != NULL)
		good_at = sf_pg_cron_last_success(schedule->cron_job_id);
	else if ((health->problem = sf_schedule_last_failure(schedule->name)) != NULL)
		good_at = sf_schedule_last_success(schedule->name);
	else
		return;
	health->status = SF_SCHEDULE_FAILING;
	health->since = first_due_after(schedule, good_at);
}

/* The word of a status in sf_schedules. */
const char *
sf_schedule_status_name(SfScheduleStatus status)
{
	static const char *const words[] = {
#define STATUS_WORD(sym, word) word,
		SF_SCHEDULE_STATUS_LIST(STATUS_WORD)
	};

	return words[status];
}

/* Say whether the runs of a schedule that should run come. */
static SfScheduleHealth
running_health(const SfSchedule *schedule, bool job_is_there)
{
	SfScheduleHealth health = {SF_SCHEDULE_ACTIVE, NULL, DT_NOBEGIN, false, DT_NOBEGIN};
	char	   *problem = sf_schedule_unusable(schedule);

	if (problem == NULL)
		health.missed_at = missed_run(schedule);
	if (!job_is_there)
	{
		health.status = SF_SCHEDULE_GONE;
		health.problem = "its pg_cron job does not exist";
	}
	else if (problem != NULL)
	{
		health.status = SF_SCHEDULE_FAILING;
		health.problem = problem;
	}
	else
		find_failure(schedule, &health);
	if (health.problem == NULL && health.missed_at != DT_NOBEGIN)
	{
		health.status = SF_SCHEDULE_MISSED;
		health.problem = "pg_cron has not called it";
	}
	/* not only what was missed: workers make up for it, so of a frequent schedule nothing ever is */
	health.is_alert = health.problem != NULL;
	if (health.since == DT_NOBEGIN)
		health.since = health.missed_at;
	return health;
}

/* Say whether the runs of a schedule come, and if not why. */
SfScheduleHealth
sf_schedule_health(const SfSchedule *schedule)
{
	SfCronJobStatus job = sf_pg_cron_job_status(schedule->cron_job_id);
	SfScheduleHealth health = {SF_SCHEDULE_INACTIVE, NULL, DT_NOBEGIN, false, DT_NOBEGIN};

	if (job == SF_CRON_JOB_INACTIVE)
		return health;
	if (!sf_instance_takes_work())
	{
		health.status = SF_SCHEDULE_NOT_DRIVEN;
		health.problem = "a run starts nothing in a database that is not driven";
		return health;
	}
	return running_health(schedule, job == SF_CRON_JOB_ACTIVE);
}

/* --- placeholders for facts about a run in a schedule's input: <aws.scheduler.…> and <sfflow.…> --- */

/* What a "<" begins a placeholder before */
static const char *const prefixes[] = {"aws.scheduler.", "sfflow."};

static const char *const names[] = {
#define PLACEHOLDER_NAME(sym, name) name,
	SF_PLACEHOLDER_LIST(PLACEHOLDER_NAME)
};

/* Find the next placeholder of a text, known or not; NULL: there is none. */
static char *
next_placeholder(char *text)
{
	for (char *begin = strchr(text, '<'); begin != NULL; begin = strchr(begin + 1, '<'))
		for (size_t i = 0; i < lengthof(prefixes); i++)
			if (strncmp(begin + 1, prefixes[i], strlen(prefixes[i])) == 0)
				return begin;
	return NULL;
}

/* List the placeholders, for a hint. */
static char *
list_placeholders(void)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < SF_PLACEHOLDER_COUNT; i++)
		appendStringInfo(&list, "%s<%s>", i > 0 ? ", " : "", names[i]);
	return list.data;
}

/* Find a placeholder by its name. */
static int
find_placeholder(const char *name, int len)
{
	for (int i = 0; i < SF_PLACEHOLDER_COUNT; i++)
		if ((int) strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_SCHEDULE),
			 errmsg("unknown placeholder \"<%.*s>\" in the input of a schedule",
					len, name),
			 errhint("There are %s.", list_placeholders())));
}

/* Fill in the placeholders of one string. */
static void
fill_string(JsonbValue *value, const char *const *values)
{
	char	   *text = pnstrdup(value->val.string.val, value->val.string.len);
	char	   *rest = text;
	char	   *begin;
	StringInfoData buf;

	if (next_placeholder(text) == NULL)
		return;
	initStringInfo(&buf);
	while ((begin = next_placeholder(rest)) != NULL)
	{
		char	   *name = begin + 1;
		int			len = strcspn(name, ">");

		appendBinaryStringInfo(&buf, rest, begin - rest);
		appendStringInfoString(&buf, values[find_placeholder(name, len)]);
		rest = name + len;
		if (*rest == '>')
			rest++;
	}
	appendStringInfoString(&buf, rest);
	value->val.string.val = buf.data;
	value->val.string.len = buf.len;
}

/*
 * Replace the placeholders in every string and key of a document by values, by
 * SfPlaceholder.  An unknown placeholder raises SF025.
 */
static Jsonb *
fill_placeholders(const Jsonb *input, const char *const *values)
{
	JsonbIterator *it = JsonbIteratorInit(unconstify(JsonbContainer *, &input->root));
	SfJsonbBuild build = {0};
	JsonbValue *result = NULL;
	JsonbValue	value;
	JsonbIteratorToken token;

	while ((token = JsonbIteratorNext(&it, &value, false)) != WJB_DONE)
	{
		if ((token == WJB_KEY || token == WJB_VALUE || token == WJB_ELEM) &&
			value.type == jbvString)
			fill_string(&value, values);
		result = sf_jsonb_push(&build, token,
							   token < WJB_BEGIN_ARRAY ||
								(token == WJB_BEGIN_ARRAY && value.val.array.rawScalar) ?
								&value : NULL);
	}
	return JsonbValueToJsonb(result);
}

/* --- the runs of a schedule that have no execution: those to come, and those that did not start --- */

/* Runs to come that are listed of one schedule */
#define MAX_TO_COME		10

/* Append a run; comes: it is still to come. */
static List *
append_run(List *runs, const SfSchedule *schedule, TimestampTz at, SfPlanned status, bool comes, const char *problem)
{
	SfPlannedRun *run = palloc(sizeof(SfPlannedRun));

	*run = (SfPlannedRun) {
		.at = at,
		.target = psprintf("schedule:%s", schedule->name),
		.machine = schedule->state_machine,
		.status = status,
		.problem = problem,
		.comes = comes
	};
	return lappend(runs, run);
}

/* What is said of a run that came to nothing. */
static SfPlanned
planned_of(SfRunOutcome outcome)
{
	switch (outcome)
	{
		case SF_RUN_OUTCOME_OVERLAPPED:
			return SF_PLANNED_SKIPPED;
		case SF_RUN_OUTCOME_GIVEN_UP:
			return SF_PLANNED_MISSED;
		case SF_RUN_OUTCOME_QUEUED:
			return SF_PLANNED_QUEUED;
		case SF_RUN_OUTCOME_FAILED:
			return SF_PLANNED_FAILED;
		case SF_RUN_OUTCOME_SUCCEEDED:
		case SF_RUN_OUTCOME_NO_MATCH:
			break;
	}
	elog(ERROR, "a run with outcome %d was noted as one that did not start", outcome);
}

/* Append the runs that were noted as ones that did not start. */
static List *
append_unstarted(List *runs, const SfSchedule *schedule, TimestampTz since, TimestampTz until)
{
	foreach_ptr(const SfUnstartedRun, run, sf_schedule_unstarted(schedule->name, since, until))
		runs = append_run(runs, schedule, run->at, planned_of(run->outcome), false, run->message);
	return runs;
}

/* Append the runs that wait for earlier ones. */
static List *
append_pending(List *runs, const SfSchedule *schedule, TimestampTz since, TimestampTz until)
{
	foreach_ptr(const SfPendingRun, pending, sf_pending_run_read(schedule->name))
		if (pending->kind != SF_PENDING_RUN_RUNNING && pending->scheduled_for >= since &&
			pending->scheduled_for < until)
			runs = append_run(runs, schedule, pending->scheduled_for, SF_PLANNED_QUEUED, false,
							  "waits for an earlier run to end");
	return runs;
}

/* Is a run in the list? */
static bool
is_listed(List *runs, TimestampTz at)
{
	foreach_ptr(const SfPlannedRun, run, runs)
		if (run->at == at)
			return true;
	return false;
}

/* Append the runs to come. */
static List *
append_to_come(List *runs, const SfSchedule *schedule, TimestampTz from, TimestampTz until,
			   const char *problem)
{
	SfTimeSearch search = sf_time_search_begin(schedule);
	TimestampTz at = from;

	if (sf_feature_is_held(SF_OBJECT_SCHEDULE, schedule->name))
		problem = "held";
	for (int n = 0; n < MAX_TO_COME && sf_time_search_next(&search, at, &at) && at < until; n++)
		if (!is_listed(runs, at))
			runs = append_run(runs, schedule, at, SF_PLANNED_DUE, true, problem);
	return runs;
}

/*
 * List the runs of a schedule without an execution from one time up to another, as
 * SfPlannedRun: at most ten of those to come.  A schedule that does not run has one of
 * no time, which says why.
 */
List *
sf_planned_runs(const SfSchedule *schedule, TimestampTz since, TimestampTz until, TimestampTz now)
{
	SfScheduleHealth health = sf_schedule_health(schedule);
	List	   *runs = append_unstarted(NIL, schedule, since, until);

	runs = append_pending(runs, schedule, since, until);
	if (health.missed_at >= since && health.missed_at < until && !is_listed(runs, health.missed_at))
		runs = append_run(runs, schedule, health.missed_at, SF_PLANNED_MISSED, false, health.problem);
	if (health.status == SF_SCHEDULE_INACTIVE)
		return append_run(runs, schedule, DT_NOEND, SF_PLANNED_INACTIVE, false, "its pg_cron job is switched off");
	if (health.status == SF_SCHEDULE_GONE || health.status == SF_SCHEDULE_NOT_DRIVEN ||
		sf_schedule_unusable(schedule) != NULL)
		return append_run(runs, schedule, DT_NOEND, SF_PLANNED_FAILING, false, health.problem);
	return append_to_come(runs, schedule, Max(now, since - 1), until,
						  health.status == SF_SCHEDULE_FAILING ? health.problem : NULL);
}
