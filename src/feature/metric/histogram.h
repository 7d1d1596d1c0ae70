/*
 * histogram.h
 *		Durations counted in fixed buckets, so that histograms can be added and
 *		percentiles need no scan.
 *
 * Durations are microseconds.  Below 16 each has a bucket of its own; above, each
 * power of two is divided into 16 buckets, so that a percentile is off by less
 * than 4 %.  Durations of more than four years count as four years.
 *
 * As stored: for each bucket that is not empty, two varints: how many buckets
 * after the one before it, and the count.
 */
#ifndef SF_FEATURE_HISTOGRAM_H
#define SF_FEATURE_HISTOGRAM_H

/* Four bits after the highest one, for durations of up to 47 bits */
#define SF_HISTOGRAM_BUCKETS	704

typedef struct SfHistogram
{
	int64		counts[SF_HISTOGRAM_BUCKETS];
} SfHistogram;

extern void sf_histogram_count(SfHistogram *histogram, int64 us);
extern void sf_histogram_add(SfHistogram *histogram, const bytea *stored);
extern bytea *sf_histogram_store(const SfHistogram *histogram);
extern int64 sf_histogram_total(const SfHistogram *histogram);
extern int64 sf_histogram_below(const SfHistogram *histogram, int64 us);
extern double sf_histogram_percentile(const SfHistogram *histogram, double fraction);

#endif							/* SF_FEATURE_HISTOGRAM_H */
