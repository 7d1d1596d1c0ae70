/*
 * delay_feature.c
 *		Starts in the future: the options start_at and delay of a start.
 *
 * The root branch of such an execution is due then, and nothing else is different: it can be stopped, held, migrated to
 * another version.  That the time was asked for is noted for lists (store/execution/delayed_start.c).
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "base/error/errors.h"
#include "base/time/interval.h"
#include "base/version/compat.h"
#include "store/execution/delayed_start.h"
#include "store/feature.h"

static const char *const options[] = {"delay", "start_at", NULL};

/* Refuse an option that is not as it has to be. */
static void pg_attribute_noreturn()
refuse(const char *option, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("option %s %s", option, problem)));
}

/* An option as text, also if it is a number; NULL: it is not given. */
static char *
read_option(const Jsonb *given, const char *name, bool *is_number)
{
	Jsonb	   *option = sf_json_get(given, name);
	JsonbValue	value;

	if (option == NULL)
		return NULL;
	sf_json_root(option, &value);
	*is_number = value.type == jbvNumeric;
	if (value.type == jbvNull)
		return NULL;
	if (*is_number)
		return DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value.val.numeric)));
	if (value.type != jbvString)
		refuse(name, psprintf("must be a string, not %s", sf_json_type_name(&value)));
	return pnstrdup(value.val.string.val, value.val.string.len);
}

/* The time of the option start_at, as PostgreSQL reads it. */
static TimestampTz
parse_time(const char *text, bool is_number)
{
	TimestampTz at;

	if (is_number)
		refuse("start_at", "must be a time, as \"2026-02-05 02:00+00\" is");
	at = DatumGetTimestampTz(DirectFunctionCall3(timestamptz_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1)));
	if (TIMESTAMP_NOT_FINITE(at))
		refuse("start_at", "must not be infinite");
	return at;
}

/* The time that is the option delay from now: seconds, or an interval as PostgreSQL reads it. */
static TimestampTz
parse_delay(const char *text, bool is_number)
{
	TimestampTz now = GetCurrentTimestamp();
	const Interval *interval = sf_interval_parse(is_number ? psprintf("%s seconds", text) : text);
	double		us;
	SfIntervalLength length = sf_interval_measure(interval, &us);
	Datum		at;

	if (length == SF_INTERVAL_LONG || length == SF_INTERVAL_MIXED)
		refuse("delay", psprintf("must be at most %d years", SF_MAX_DURATION_YEARS));
	if (length == SF_INTERVAL_NEGATIVE)
		refuse("delay", "must not be negative");
	at = DirectFunctionCall2(timestamptz_pl_interval, TimestampTzGetDatum(now), IntervalPGetDatum(interval));
	if (DatumGetTimestampTz(at) < now)
		refuse("delay", "must not be negative");
	return DatumGetTimestampTz(at);
}

/* When an execution with these options is to start; DT_NOBEGIN: at once. */
static TimestampTz
find_time(const Jsonb *given)
{
	bool		is_number;
	char	   *start_at = read_option(given, "start_at", &is_number);
	bool		is_number_of_seconds;
	char	   *delay = read_option(given, "delay", &is_number_of_seconds);

	if (start_at != NULL && delay != NULL)
		refuse("delay", "must not be given with option start_at");
	if (start_at != NULL)
		return parse_time(start_at, is_number);
	return delay == NULL ? DT_NOBEGIN : parse_delay(delay, is_number_of_seconds);
}

/* Have the root of an execution be due when its start says. */
static void
set_start_time(const SfExecution *execution, TimestampTz *due)
{
	TimestampTz at = execution->start.options == NULL ? DT_NOBEGIN : find_time(execution->start.options);

	at = Max(at, execution->start.at);
	if (at <= *due)
		return;
	sf_delayed_start_write(execution->execution_no, at);
	*due = at;
}

const SfFeature sf_delay_feature = {
	.name = "delay",
	.start_options = options,
	.set_start_time = set_start_time,
};
