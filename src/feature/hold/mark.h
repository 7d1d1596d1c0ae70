/*
 * mark.h
 *		Rows of _sfflow.mark: jobs that sf_mark has marked.
 */
#ifndef SF_FEATURE_MARK_H
#define SF_FEATURE_MARK_H

#include "store/branch/branch.h"
#include "store/history/mark_outcome.h"

typedef struct SfMark
{
	SfMarkOutcome outcome;
	Jsonb	   *output;			/* or NULL */
	Jsonb	   *details;		/* for the history: job, outcome, role, reason */
	char	   *job_id;			/* sf_mark_list */
} SfMark;

extern bool sf_mark_may_be(void);
extern void sf_mark_put(int64 execution_no, const char *job_id, const SfMark *mark);
extern bool sf_mark_take(int64 execution_no, const char *job_id, SfMark *mark);
extern List *sf_mark_list(int64 execution_no);
extern void sf_mark_delete_of(int64 execution_no);

#endif							/* SF_FEATURE_MARK_H */
