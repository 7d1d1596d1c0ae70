/*
 * flow.h
 *		Where control can go in a program, as far as the definition tells.
 */
#ifndef SF_REPORT_FLOW_H
#define SF_REPORT_FLOW_H

#include "asl/program.h"
#include "nodes/bitmapset.h"

/* Ways out of a state */
#define SF_FLOW_NEXT	0x1		/* Next, Default and the rules of a Choice */
#define SF_FLOW_CATCH	0x2		/* Next of the catchers */
#define SF_FLOW_ALL		(SF_FLOW_NEXT | SF_FLOW_CATCH)

/*
 * Collect the states that directly follow a state into out, which must have
 * room for sf_flow_max_successors(state); returns their number.  A state may
 * stand there twice.
 */
extern int	sf_flow_successors(const SfState *state, int ways, int *out);
extern int	sf_flow_max_successors(const SfState *state);

/*
 * The states of the same scope that control can come to after leaving a state
 * one of the ways; the state itself only where there is a loop.
 */
extern Bitmapset *sf_flow_after(const SfProgram *program, int state, int ways);

/* A pair of Tasks of which one directly precedes the other */
typedef struct SfPrecedence
{
	int			state;
	int			before;			/* -1: nothing precedes it */
} SfPrecedence;

/*
 * For each Task, the Tasks that can have ended last before it is entered,
 * through states of every other type; ordered by both.  What leads into a
 * Parallel or Map leads to the first Tasks within, and the last ones within
 * precede what follows it.  Returns a List of SfPrecedence.
 */
extern List *sf_flow_precedence(const SfProgram *program);

#endif							/* SF_REPORT_FLOW_H */
