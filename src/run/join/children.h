/*
 * children.h
 *		Children of joins: those that begin, and the jobs of nets that wait for others.
 */
#ifndef SF_RUN_CHILDREN_H
#define SF_RUN_CHILDREN_H

#include "run/draft/draft.h"
#include "transition/state/job_net.h"

/* --- new_children.c: nothing of them is in the tables yet --- */

extern void sf_new_children_count_end(SfDraft *draft, SfBranch *join);
extern void sf_new_children_outputs(const SfDraft *draft, const SfBranch *join,
									SfJoined *joined);
extern int	sf_new_children_last_inner_event(const SfDraft *draft, const SfBranch *join);

/* --- dependents.c: the jobs of a JobNet that end, begin, and are skipped --- */

extern void sf_dependents_count(SfDraft *draft, SfBranch *parent, const List *deltas,
							  TimestampTz now);

/* A net that this slice has begun, or that goes on: its jobs are in memory. */
extern void sf_dependents_note_begun(SfDraft *draft, SfBranch *join, int first);
extern void sf_dependents_load(SfDraft *draft, SfBranch *join);
extern SfBranch *sf_dependents_next(SfDraft *draft, SfBranch *join);
extern void sf_dependents_leave(SfDraft *draft, SfBranch *join, bool are_short);

extern void sf_dependents_give_input(SfDraft *draft, SfBranch *job, const SfBranch *join);
extern Jsonb *sf_dependents_net_jobs(const SfJobNetState *net, int number, SfBranch **rows);
extern void sf_dependents_read_shared(const SfDraft *draft, const SfBranch *branch);
extern Jsonb *sf_dependents_context(SfDraft *draft, const SfBranch *branch);
extern List *sf_dependents_give_rows(const SfProgram *program, List *branches);
extern void sf_dependents_rewind(SfDraft *draft, List *branches);
extern void sf_dependents_begin_ready(SfDraft *draft, SfBranch *join, TimestampTz now);

#endif							/* SF_RUN_CHILDREN_H */
