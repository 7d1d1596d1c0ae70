/*
 * remaining.h
 *		How long a running execution still takes, and which Tasks come next.
 */
#ifndef SF_REPORT_REMAINING_H
#define SF_REPORT_REMAINING_H

#include "asl/program.h"
#include "nodes/bitmapset.h"
#include "store/branch.h"

typedef struct SfRemaining SfRemaining;

extern SfRemaining *sf_remaining_begin(const SfProgram *program, List *usual, int task);
extern int64 sf_remaining_whole(const SfRemaining *r);
extern int64 sf_remaining_of_scope(const SfRemaining *r, int scope);
extern int64 sf_remaining_us(const SfRemaining *r, List *branches, List *runs, TimestampTz now);
extern Bitmapset *sf_remaining_next(const SfProgram *program, List *branches);

#endif							/* SF_REPORT_REMAINING_H */
