/*
 * successors.h
 *		Which states can follow a state, read off the definition.
 */
#ifndef SF_REPORT_SUCCESSORS_H
#define SF_REPORT_SUCCESSORS_H

#include "nodes/bitmapset.h"

#include "asl/program.h"

/* Ways out of a state */
#define SF_WAY_NEXT	0x1		/* Next, Default and the rules of a Choice */
#define SF_WAY_CATCH	0x2		/* Next of the catchers */
#define SF_WAY_ALL		(SF_WAY_NEXT | SF_WAY_CATCH)

extern int	sf_successors_max(const SfState *state);
extern int	sf_successors_direct(const SfState *state, int ways, int *out);
extern Bitmapset *sf_successors_after(const SfProgram *program, int state, int ways);
extern bool *sf_successors_passed_over(const SfProgram *program);
extern Bitmapset *sf_successors_tasks_after(const SfProgram *program, int state);

/* A pair of Tasks of which one directly precedes the other */
typedef struct SfPrecedence
{
	int			state;
	int			before;			/* SF_NO_STATE: nothing precedes it */
} SfPrecedence;

extern List *sf_successors_precedence(const SfProgram *program);

#endif							/* SF_REPORT_SUCCESSORS_H */
