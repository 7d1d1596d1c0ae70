/*
 * lifecycle.h
 *		Executions begin, are stopped, and go on again.
 *
 * Nothing here asks for rights; all of it happens in the caller's transaction.
 */
#ifndef SF_ENGINE_LIFECYCLE_H
#define SF_ENGINE_LIFECYCLE_H

#include "store/execution.h"
#include "store/machine.h"

/* Make a new execution due: its root branch, in the machine's first state. */
extern void sf_lifecycle_begin(SfExecution *execution);

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
 * input NULL: with the input that the state had.  Returns the redrive count.
 */
extern int	sf_lifecycle_redrive(SfExecution *execution,
								 const char *from_state, Jsonb *input);

#endif							/* SF_ENGINE_LIFECYCLE_H */
