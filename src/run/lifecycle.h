/*
 * lifecycle.h
 *		Executions begin, are stopped, and go on again.
 *
 * Nothing here asks for rights; all of it happens in the caller's transaction.
 */
#ifndef SF_RUN_LIFECYCLE_H
#define SF_RUN_LIFECYCLE_H

#include "run/apply.h"

/*
 * Insert a new execution, whose root branch is due at once in the machine's
 * first state.  False: its id is taken.
 */
extern bool sf_lifecycle_begin(SfExecution *execution);

/* A root branch in a top-level state, due at once. */
extern SfBranch *sf_lifecycle_root(const SfExecution *execution, int state,
								   Jsonb *payload);

/*
 * Begin an ended execution anew with another input, in the current version of
 * its machine; its history goes on.  The caller has locked its row.
 */
extern void sf_lifecycle_restart(SfExecution *execution,
								 const SfMachine *machine, Jsonb *input);

/* End a running execution as ABORTED; the caller has locked its row. */
extern void sf_lifecycle_stop(SfExecution *execution, const char *error,
							  const char *cause);

/*
 * Go on with an execution that has not succeeded (3.3 of the design); the
 * caller has locked its row.  from_state NULL: with what did not succeed;
 * input NULL: with the input that the state had.  Returns the redrive count;
 * *from (may be NULL) gets the names of the states that it goes on from.
 */
extern int	sf_lifecycle_redrive(SfExecution *execution,
								 const char *from_state, Jsonb *input,
								 char **from);

/*
 * Run again what has failed in Distributed Maps of an execution that has
 * succeeded all the same, because the failures were tolerated: its children
 * that did not succeed, or (child_no not 0) one of them.  The execution, whose
 * row the caller has locked, keeps its status and its output.  Returns how many
 * children begin; *from (may be NULL) gets the names of the Map states.
 */
extern int	sf_redrive_tolerated(SfExecution *execution, int64 child_no,
								 char **from);

/*
 * Have the execution of a run, whose row is locked, end without its branches:
 * STOPPED, ORPHANED or TIMED_OUT.  Write the run afterwards.
 */
extern void sf_lifecycle_end(SfRun *run, SfStimulusKind why, const SfError *error);

#endif							/* SF_RUN_LIFECYCLE_H */
