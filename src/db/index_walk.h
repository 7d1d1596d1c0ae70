/*
 * index_walk.h
 *		Walk the rows of a table back in time by an index, from position to position.
 *
 * The last two columns of the index are a time and an int8, by which its rows differ; the columns before
 * them have one value each in all rows that are walked. Two walks side by side find what two indexes have
 * in common, and pass over what either of them does not have.
 */
#ifndef SF_DB_INDEX_WALK_H
#define SF_DB_INDEX_WALK_H

#include "db/direct.h"

/* Where a row stands: what the last two columns have */
typedef struct SfWalkPosition
{
	TimestampTz time;
	int64		number;
} SfWalkPosition;

/* Compare positions: above 0, the first one is later. */
static inline int
sf_walk_compare(SfWalkPosition a, SfWalkPosition b)
{
	if (a.time != b.time)
		return a.time > b.time ? 1 : -1;
	return (a.number > b.number) - (a.number < b.number);
}

typedef struct SfWalk SfWalk;

/* Begin to walk an index of that many columns; the active snapshot decides which rows there are. */
extern SfWalk *sf_walk_begin(const SfIndex *index, int ncolumns);

/* Walk rows whose columns, all but the last two, have these values. */
#define sf_walk_among(walk, ...) \
	sf_walk_among_by(walk, SF_ARGS(__VA_ARGS__))
extern void sf_walk_among_by(SfWalk *walk, const SfArg *key, int nkeys);

/*
 * Go to the last row that does not stand behind a position; false: there is none.  Of one walk no position is
 * behind the one before.
 */
extern bool sf_walk_to(SfWalk *walk, SfWalkPosition most, SfWalkPosition *found);

extern void sf_walk_end(SfWalk *walk);

#endif							/* SF_DB_INDEX_WALK_H */
