/*
 * job_net.h
 *		A JobNet while ends of its jobs are taken into account.
 */
#ifndef SF_TRANSITION_JOB_NET_H
#define SF_TRANSITION_JOB_NET_H

#include "nodes/bitmapset.h"

#include "transition/step.h"

/* Where the jobs of a net are, while their ends are taken into account */
typedef enum SfNetJobsSource
{
	SF_NET_JOBS_STORED,			/* in the tables: those that are needed are read */
	SF_NET_JOBS_IN_MEMORY,		/* all that have rows are in rows */
	SF_NET_JOBS_IN_SLICE		/* the same, and a slice runs them, one after another */
} SfNetJobsSource;

typedef struct SfNet
{
	const SfProgram *program;
	const SfState *state;
	SfBranch   *join;			/* of the net */
	SfNetJobsSource source;
	SfBranch  **rows;			/* by number; NULL: the job has none, or it is not loaded */
	char	   *ends;			/* how they have ended, an SfNetJobEnd each; NULL: not known of all */
	Bitmapset  *ready;			/* numbers of the jobs that wait for room; in a slice, also without a row */
	Bitmapset  *begun;			/* those that have begun, and that no slice has run */
	List	   *changed;		/* SfBranch: rows that were made or changed */
	SfBranch  **shared;			/* by number: the jobs that share rows; NULL: they are not read */
} SfNet;

extern SfNet *sf_net_make(const SfProgram *program, SfBranch *join);
extern int	sf_net_room(const SfNet *net);
extern void sf_net_end(SfNet *net, int job, SfNetJobEnd end, List **skipped);
extern int	sf_net_begin_next(SfNet *net, TimestampTz now);
extern void sf_net_begin(SfNet *net, TimestampTz now);
extern int	sf_net_take_back_begun(SfNet *net);
extern void sf_net_rest_ready(SfNet *net);
extern void sf_net_load_implied(SfNet *net);
extern void sf_net_imply(SfNet *net);
extern void sf_net_make_rows(SfNet *net);
extern bool sf_net_rest(SfNet *net, TimestampTz now);
extern void sf_net_rewind(SfNet *net);
extern const SfNetJob *sf_net_job_with_condition(const SfProgram *program,
												 const SfBranch *branch);

#endif							/* SF_TRANSITION_JOB_NET_H */
