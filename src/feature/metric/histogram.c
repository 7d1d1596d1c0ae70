/*
 * histogram.c
 *		Durations counted in fixed buckets.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "base/value/encoding.h"
#include "base/version/compat.h"
#include "feature/metric/histogram.h"

/* Bits of a duration that tell its bucket, after the highest one */
#define BITS	4
#define PART	(1 << BITS)

/* More are not counted in a bucket, so that no sum overflows. */
#define MOST	(INT64CONST(1) << 50)

/* Longer durations count as this one. */
#define LONGEST	((INT64CONST(1) << 47) - 1)

/* Find the bucket of a duration; one below 0 is a clock that was set back. */
static int
bucket_of(int64 us)
{
	int			highest;

	us = Max(0, Min(us, LONGEST));
	if (us < PART)
		return (int) us;
	highest = pg_leftmost_one_pos64((uint64) us);
	return (highest - BITS + 1) * PART + (int) ((us >> (highest - BITS)) & (PART - 1));
}

/* The least duration of a bucket. */
static double
lower_bound(int bucket)
{
	int			shift = bucket / PART - 1;

	if (bucket < PART)
		return bucket;
	return (double) ((int64) (PART + bucket % PART) << shift);
}

/* Count a duration. */
void
sf_histogram_count(SfHistogram *histogram, int64 us)
{
	histogram->counts[bucket_of(us)]++;
}

/* Add a stored histogram to one in memory; bytes that are none add nothing more. */
void
sf_histogram_add(SfHistogram *histogram, const bytea *stored)
{
	const uint8 *at = (const uint8 *) VARDATA_ANY(stored);
	const uint8 *end = at + VARSIZE_ANY_EXHDR(stored);
	uint64		bucket = 0;
	uint64		skipped;
	uint64		count;

	while (sf_varint_read(&at, end, &skipped) && sf_varint_read(&at, end, &count))
	{
		if (skipped >= SF_HISTOGRAM_BUCKETS || bucket + skipped >= SF_HISTOGRAM_BUCKETS)
			return;
		bucket += skipped;
		histogram->counts[bucket] = Min(histogram->counts[bucket] + (int64) Min(count, MOST), MOST);
	}
}

/* Lay a histogram out as it is stored. */
bytea *
sf_histogram_store(const SfHistogram *histogram)
{
	bytea	   *stored = palloc(VARHDRSZ + 2 * SF_VARINT_MAX * SF_HISTOGRAM_BUCKETS);
	uint8	   *at = (uint8 *) VARDATA(stored);
	int			last = 0;

	for (int i = 0; i < SF_HISTOGRAM_BUCKETS; i++)
	{
		if (histogram->counts[i] == 0)
			continue;
		at = sf_varint_write(at, i - last);
		at = sf_varint_write(at, (uint64) histogram->counts[i]);
		last = i;
	}
	SET_VARSIZE(stored, at - (uint8 *) stored);
	return stored;
}

/* How many durations a histogram has counted. */
int64
sf_histogram_total(const SfHistogram *histogram)
{
	int64		total = 0;

	for (int i = 0; i < SF_HISTOGRAM_BUCKETS; i++)
		total += histogram->counts[i];
	return total;
}

/* How many durations lie in buckets whose least duration is shorter than a time. */
int64
sf_histogram_below(const SfHistogram *histogram, int64 us)
{
	int64		below = 0;

	for (int i = 0; i < SF_HISTOGRAM_BUCKETS && lower_bound(i) < (double) us; i++)
		below += histogram->counts[i];
	return below;
}

/*
 * Estimate a percentile, as percentile_cont() defines it, of a histogram that is not
 * empty: the durations of a bucket count as evenly distributed over it.
 */
double
sf_histogram_percentile(const SfHistogram *histogram, double fraction)
{
	double		rank = fraction * (double) (sf_histogram_total(histogram) - 1);
	double		before = 0;
	int			bucket = 0;

	while (bucket < SF_HISTOGRAM_BUCKETS - 1 &&
		   before + (double) histogram->counts[bucket] <= rank)
		before += (double) histogram->counts[bucket++];
	if (bucket < PART)
		return bucket;
	return lower_bound(bucket) + (lower_bound(bucket + 1) - lower_bound(bucket)) *
		Min((rank - before + 0.5) / (double) Max(histogram->counts[bucket], 1), 1);
}
