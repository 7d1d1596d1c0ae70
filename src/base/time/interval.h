/*
 * interval.h
 *		Durations that users give as intervals.
 */
#ifndef SF_BASE_INTERVAL_H
#define SF_BASE_INTERVAL_H

#include "datatype/timestamp.h"

/* Longest duration: a time shifted by it must stay within the calendar */
#define SF_MAX_DURATION_YEARS	1000

/*
 * What an interval is as a duration.  Its months, its days and its time are added to a time one after the other, so
 * each of them must leave it within the calendar, whatever they are together: "-10000 years 3653000 days" is positive.
 */
typedef enum SfIntervalLength
{
	SF_INTERVAL_FITS,			/* it can be added to a time, or subtracted from it */
	SF_INTERVAL_NEGATIVE,
	SF_INTERVAL_LONG,			/* longer than the longest duration, as an infinite one is, or its month, its days or its time are */
	SF_INTERVAL_MIXED			/* ... but not all in the same direction */
} SfIntervalLength;

extern SfIntervalLength sf_interval_measure(const Interval *interval, double *us);
extern Interval *sf_interval_parse(const char *text);

#endif							/* SF_BASE_INTERVAL_H */
