/*
 * interval.c
 *		Durations that users give as intervals.
 */
#include "postgres.h"

#include <math.h>

#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

#include "base/time/interval.h"

/* Microseconds of a month; a year has 12 of them or 365.25 days, as extract(epoch) has it */
static double
us_of_months(int32 months)
{
	return (months / MONTHS_PER_YEAR * DAYS_PER_YEAR + months % MONTHS_PER_YEAR * (double) DAYS_PER_MONTH) *
		USECS_PER_DAY;
}

/*
 * Measure an interval, in microseconds, with 30 days per month and 365.25 days per year; these are a double, which
 * cannot overflow.
 */
SfIntervalLength
sf_interval_measure(const Interval *interval, double *us)
{
	const double longest = SF_MAX_DURATION_YEARS * DAYS_PER_YEAR * USECS_PER_DAY;
	double		parts[] = {us_of_months(interval->month), interval->day * (double) USECS_PER_DAY, (double) interval->time};
	bool		any_long = false;
	bool		any_negative = false;

	*us = 0;
	for (size_t i = 0; i < lengthof(parts); i++)
	{
		*us += parts[i];
		any_long |= fabs(parts[i]) > longest;
		any_negative |= parts[i] < 0;
	}
	if (*us < 0)
		return SF_INTERVAL_NEGATIVE;
	if (any_long && any_negative)
		return SF_INTERVAL_MIXED;
	return any_long || *us > longest ? SF_INTERVAL_LONG : SF_INTERVAL_FITS;
}

/* Read an interval as PostgreSQL does. */
Interval *
sf_interval_parse(const char *text)
{
	return DatumGetIntervalP(DirectFunctionCall3(interval_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
												 Int32GetDatum(-1)));
}
