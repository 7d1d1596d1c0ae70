/*
 * lifecycle.h
 *		Executions begin, are stopped, and go on again.
 *
 * Nothing here asks for rights; all of it happens in the caller's transaction.
 */
#ifndef SF_RUN_LIFECYCLE_H
#define SF_RUN_LIFECYCLE_H

#include "run/apply/apply.h"

extern bool sf_lifecycle_label(SfExecution *execution, SfError *error);
extern SfBegan sf_lifecycle_begin(SfExecution *execution);
extern void sf_lifecycle_begin_all(SfExecution *const *executions, int n, SfBegan *began);
extern SfBranch *sf_lifecycle_root(const SfExecution *execution, int state,
								   Jsonb *payload);
extern void sf_lifecycle_restart(SfExecution *execution, const SfExecution *wanted);
extern bool sf_lifecycle_replace(int64 execution_no, const SfExecution *wanted);
extern void sf_lifecycle_stop(SfExecution *execution, const char *error,
							  const char *cause);

/* What a redrive goes on from */
typedef struct SfRedrivenFrom
{
	char	   *states;			/* their names, in quotes, with commas */
	int			nstates;
	bool		only_fails;		/* all of them are Fail states */
} SfRedrivenFrom;

extern int	sf_lifecycle_redrive(SfExecution *execution,
								 const char *from_state, Jsonb *input,
								 SfRedrivenFrom *from);

/* What comes of a redrive that does not wait */
typedef enum SfRedriven
{
	SF_REDRIVE_DONE,
	SF_REDRIVE_BUSY,			/* another session holds a branch */
	SF_REDRIVE_NOTHING_LEFT,	/* it has no branches */
	SF_REDRIVE_ARCHIVED			/* a program is writing it into an archive */
} SfRedriven;

extern SfRedriven sf_lifecycle_try_redrive(SfExecution *execution);
extern void sf_lifecycle_redrive_child(SfMapRun *map_run, SfExecution *child);

extern void sf_lifecycle_note_mark(SfExecution *execution, int state, int *iterations,
								   int niterations, Jsonb *details);

/* --- migrate.c: migrate an execution to another version of its machine --- */

extern Jsonb *sf_migrate_execution(SfExecution *execution, int version, const Jsonb *state_map,
								   bool rewinds);

/* --- child_execution.c: executions that a Task of another execution starts --- */

extern bool sf_child_start(const SfDraft *draft, const SfBranch *branch, int generation,
						   const SfResource *resource, Jsonb *payload,
						   Jsonb **output, SfError *error);

/* What a .sync task gets from a child that has succeeded, or its cause. */
extern Jsonb *sf_child_output(const SfExecution *child, const SfResource *resource);
extern char *sf_child_failure(const SfExecution *child);

extern void sf_child_stop(const SfExecution *parent, int64 branch_no);

#endif							/* SF_RUN_LIFECYCLE_H */
