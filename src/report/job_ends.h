/*
 * job_ends.h
 *		How the jobs of a net that is under way have ended, and how they still can.
 */
#ifndef SF_REPORT_JOB_ENDS_H
#define SF_REPORT_JOB_ENDS_H

#include "asl/program.h"
#include "store/branch.h"

typedef struct SfJobEnds
{
	int			possible;		/* SF_JOB_END_…: how it can end, or has ended */
	bool		ended;
	bool		can_begin;		/* it has not begun, and still can */
} SfJobEnds;

extern bool sf_job_ends_waits(const SfBranch *job);
extern char *sf_job_ends_check(const SfJobNetState *net, const SfBranch *join,
							   const SfBranch *const *rows);
extern SfJobEnds *sf_job_ends_find(const SfJobNetState *net, const SfBranch *const *rows,
								   bool stopped);

#endif							/* SF_REPORT_JOB_ENDS_H */
