/*
 * ahead.h
 *		What an execution still has to run that has no job of its own yet.
 */
#ifndef SF_REPORT_AHEAD_H
#define SF_REPORT_AHEAD_H

#include "asl/program.h"
#include "store/status.h"

/* A Task in iterations that have not begun, or a Distributed Map with items that are not done */
typedef struct SfAhead
{
	int			state;
	int64		jobs;			/* -1: a Map whose items are not known yet */
} SfAhead;

extern List *sf_ahead_list(const SfStatusExecution *execution, const SfProgram *program);
extern int64 sf_ahead_not_begun(const SfProgram *program, List *branches);
extern bool sf_ahead_is_certain(const SfProgram *program, List *branches, List *tasks);

#endif							/* SF_REPORT_AHEAD_H */
