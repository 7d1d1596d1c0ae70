/*
 * feature_start.h
 *		What features give an execution that is to begin: a place in a line, labels, a trace.
 */
#ifndef SF_STORE_FEATURE_START_H
#define SF_STORE_FEATURE_START_H

#include "asl/program.h"
#include "base/error/errors.h"
#include "store/branch/branch.h"
#include "store/execution/execution.h"

/* What comes of an execution that is to begin */
typedef enum SfBegan
{
	SF_BEGAN_NOT,				/* its id is taken */
	SF_BEGAN_NEW,
	SF_BEGAN_REPLACED,			/* one that waits has its input */
	SF_BEGAN_KEPT				/* one that waits has kept its own */
} SfBegan;

/* How an execution that is there begins anew: each time in one of these ways */
typedef enum SfAnew
{
	SF_ANEW_RESTARTED,			/* it had ended, and has the input of another start */
	SF_ANEW_REPLACED,			/* it had not begun, begins later, and has the input of another start */
	SF_ANEW_REWOUND				/* it had ended, and goes on from a state, as if nothing had come after that */
} SfAnew;

/*
 * Lines of executions, which are one feature's, that compiles options of machines.  In one are those whose version has
 * such options (compiled; else NULL), or whose start has the option.
 */
typedef struct SfFeatureLine
{
	const char *start_option;

	/*
	 * An execution is to begin: it enters a line.  If one that waits takes its place, that one's number and id are put
	 * into it.
	 */
	SfBegan		(*enter) (SfExecution *execution, const void *compiled);

	/* ... and gives its place up, since its id was taken. */
	void		(*give_up) (const SfExecution *execution);

	/*
	 * There is one of this id, which is about to begin anew (restarts), or to be replaced, with what is wanted: it
	 * enters a line again.
	 */
	void		(*reenter) (const SfExecution *there, SfExecution *wanted, const void *compiled, bool restarts);

	/*
	 * An execution, no item of a Distributed Map, of a version with such options has begun, or goes on after a redrive,
	 * let by admit: rows are written.
	 */
	void		(*on_begun) (const SfExecution *execution, const void *compiled);
} SfFeatureLine;

/* Labels, which are one feature's, that compiles options of machines (compiled; or NULL) */
typedef struct SfFeatureLabels
{
	/* Give an execution, which is written next, those that its version and its start say.  False: *error. */
	bool		(*give) (SfExecution *execution, const void *compiled, SfError *error);

	/* Those that the execution of an item of a Distributed Map gets of its parent; NULL: none */
	Jsonb	   *(*of_item) (const SfExecution *parent, const void *compiled);

	/* Those in the row of an execution have changed; before: those that it had, or NULL. */
	void		(*on_changed) (const SfExecution *execution, const Jsonb *before);
} SfFeatureLabels;

/* Traces, which are one feature's */
typedef struct SfFeatureTraces
{
	/*
	 * The context that what a branch does in a state passes on: traceparent and, after a blank, tracestate.  The
	 * execution is part of a trace.  by_worker: what a worker of an activity does.
	 */
	char	   *(*context_of) (const SfExecution *execution, const SfBranch *branch, const SfState *state,
							   bool by_worker);
} SfFeatureTraces;

#endif							/* SF_STORE_FEATURE_START_H */
